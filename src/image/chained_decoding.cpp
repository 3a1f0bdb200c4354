#include "image/chained_decoding.h"

#include <algorithm>
#include <cmath>

#include "image/geometry/plan.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

/// Whether each output is a mean of all inputs that it stands for, so that means of some of them may come first.
bool averages(const Resize& resize) {
  if (resize.filter == Filter::nearest) return false;
  const bool is_widened =
      resize.filter == Filter::triangular || (resize.filter == Filter::area && resize.convention == Convention::opencv);
  return is_widened || resize.antialias.value_or(resize.convention == Convention::pillow);
}

/// The chain's first stage behind `crops`, if it is a resize of a whole picture.
const Resize* first_resize(const Chain& chain, size_t crops) {
  if (chain.stages().size() <= crops) return nullptr;
  const auto* const resize = std::get_if<Resize>(&chain.stages()[crops]);
  return resize && !resize->roi ? resize : nullptr;
}

}  // namespace

ChainedDecoding chained_decoding(const Chain& chain, int64_t height, int64_t width, double gap, bool may_crop,
                                 const std::string& where) {
  if (chain.layout() != Layout::hwc) throw ValueError(where + ": the chain must take pictures of layout HWC");
  ChainedDecoding made{.chain = &chain, .height = height, .width = width};
  if (const auto* const crop =
          may_crop && !chain.stages().empty() ? std::get_if<Crop>(&chain.stages().front()) : nullptr) {
    made.origin = corner(*crop, height, width);
    made.region = {made.origin.first, made.origin.second, crop->height, crop->width};
    made.height = crop->height;
    made.width = crop->width;
  }
  if (gap == 0) return made;
  if (!(gap >= 1)) throw ValueError(where + ": reducing_gap must be 1 or more, not " + std::to_string(gap));
  if (const Resize* const resize = first_resize(chain, made.region ? 1 : 0); resize && averages(*resize)) {
    const auto [down, across] = fitted(*resize, static_cast<double>(made.height), static_cast<double>(made.width));
    const auto least = [&](int64_t extent) {
      constexpr double kMost = 0x1p40;  // beyond which no picture is
      return static_cast<int64_t>(std::min(std::ceil(static_cast<double>(extent) * gap), kMost));
    };
    made.at_least = {least(down), least(across)};
  }
  return made;
}

Chain ChainedDecoding::behind(int64_t divisor) const {
  std::vector<Stage> stages(chain->stages().begin() + (region ? 1 : 0), chain->stages().end());
  if (divisor > 1) {
    // The same part of the picture becomes the same size, although the decoded part ends at whole pixels.
    Resize resize = std::get<Resize>(stages.front());
    std::tie(resize.height, resize.width) = fitted(resize, static_cast<double>(height), static_cast<double>(width));
    resize.fit = Fit::stretch;
    const int64_t y = origin.first % divisor, x = origin.second % divisor;
    const auto divided = [&](int64_t value) { return static_cast<double>(value) / static_cast<double>(divisor); };
    if (y || x || height % divisor || width % divisor)
      resize.roi = {divided(y), divided(x), divided(height), divided(width)};
    stages.front() = resize;
  }
  return Chain(std::move(stages));
}

}  // namespace iruka::image
