#include "image/patch_search.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/patch_matching.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/padding.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

/// Pixels of a segment, along which candidates are handed on.
constexpr int64_t kSegment = 64;

enum class SearchStep : uint8_t { begin, sweep, all };

/// What a kernel's text depends on.
struct SearchKind {
  Dtype dtype;
  int64_t patch, channels, kept;
  SearchStep step;
  auto operator<=>(const SearchKind&) const = default;
};

/// The dtype in which distances are summed.
Dtype sum_dtype(Dtype dtype, int64_t numbers) {
  if (is_inexact(dtype)) return dtype;
  return itemsize(dtype) == 1 && numbers * 255 * 255 < (int64_t{1} << 31) ? Dtype::int32 : Dtype::int64;
}

const ElementwiseKernel& kernel_of(const SearchKind& kind) {
  static constinit ops::PermanentCache<SearchKind, ElementwiseKernel> kernels;
  return kernels.get(kind, [&] {
    const auto number = [](int64_t value) { return std::to_string(value); };
    const Dtype sum = sum_dtype(kind.dtype, kind.patch * kind.patch * kind.channels);
    const std::string search =
        "PatchSearch<PlainDistance<" + std::string(info(kind.dtype).c_type) + ", " + info(sum).c_type + ", " +
        number(kind.patch) + ", " + number(kind.channels) + ">, " + number(kind.kept) +
        "> search{{&a[0], &b[0], sizes[1], sizes[3]}, {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], "
        "sizes[6]}, &mask[0], &before[0], &labels[0], &distances[0], seed};\n";
    const std::string calls[] = {"search.begin(i, farthest);",
                                 "search.sweep(i, " + number(kSegment) + ", sweep, is_row, is_backward);",
                                 "search.search_all(first + i, farthest);"};
    static constexpr const char* kNames[] = {"image_patch_search_begin", "image_patch_search",
                                             "image_patch_search_all"};
    const auto step = static_cast<size_t>(kind.step);
    const std::string type = name(kind.dtype), distance = name(sum);
    return ElementwiseKernel("raw const " + type + " a, raw const " + type +
                                 " b, raw const bool mask, raw const int32 before, int32 sizes[7], uint64 seed, " +
                                 distance + " farthest, int32 sweep, bool is_row, bool is_backward, int64 first",
                             "raw int32 labels, raw " + distance + " distances", search + calls[step], kNames[step],
                             {.preamble = "#include \"core/kernels/patch_search.h\"\nusing namespace iruka::image;\n",
                              .diagnose_early = false});
  });
}

Array with_border(const Array& picture, const PatchOptions& options) {
  static constexpr PadMode kModes[] = {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::symmetric,
                                       PadMode::wrap};
  if (options.patch == 1) return picture;
  const Margins<int64_t> margins{options.patch / 2, options.patch - 1 - options.patch / 2};
  std::vector<Margins<int64_t>> widths{margins, margins};
  if (picture.ndim() == 3) widths.emplace_back(0, 0);
  return pad(picture, widths, {.mode = kModes[static_cast<size_t>(options.border)]}).contiguous();
}

/// Labels as y and x.
Array field_of(const Array& labels, Dims shape, int64_t width) {
  static constinit ops::PermanentCache<int, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get(0, [] {
    return ElementwiseKernel("raw const int32 labels, int32 width", "raw int32 field",
                             "field[2 * i] = labels[i] < 0 ? -1 : labels[i] / width;\n"
                             "field[2 * i + 1] = labels[i] < 0 ? -1 : labels[i] % width;",
                             "image_patch_field");
  });
  shape.push_back(2);
  const Array field = Array::empty(shape, Dtype::int32, labels.device());
  const Argument arguments[] = {labels, Scalar(width), field};
  kernel.fill(arguments, {.size = labels.size()});
  return field;
}

/// int64, the largest where there is no candidate.
Array distances_of(const Array& labels, const Array& distances, const Dims& shape) {
  static constinit ops::PermanentCache<int, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get(0, [] {
    return ElementwiseKernel("int32 label, T distance", "int64 wide",
                             "wide = label < 0 ? 0x7fffffffffffffffLL : (long long)distance;", "image_patch_distances");
  });
  const Array wide = Array::empty(shape, Dtype::int64, labels.device());
  kernel(labels.reshape(shape), distances.reshape(shape), wide);
  return wide;
}

/// The largest number that distances may have, or infinity.
Scalar farthest_of(Dtype dtype) {
  if (is_inexact(dtype)) return {std::numeric_limits<double>::infinity()};
  return dtype == Dtype::int32 ? Scalar(int64_t{std::numeric_limits<int32_t>::max()})
                               : Scalar(std::numeric_limits<int64_t>::max());
}

/// The kernels' arguments.
class Search {
 public:
  Search(const Array& a, const Array& b, const Array& mask, const PatchOptions& options)
      : options_(options),
        device_(a.device()),
        height_(a.shape(0)),
        width_(a.shape(1)),
        b_width_(b.shape(1)),
        kind_{a.dtype(), options.patch, a.ndim() == 3 ? a.shape(2) : 1, options.k, SearchStep::begin},
        sum_(sum_dtype(a.dtype(), options.patch * options.patch * kind_.channels)),
        a_(with_border(a, options)),
        b_(with_border(b, options)),
        mask_(mask.valid() ? mask : Array::empty({1}, Dtype::bool_, device_)),
        before_(Array::empty({1}, Dtype::int32, device_)),
        labels_(Array::empty({height_ * width_ * options.k}, Dtype::int32, device_)),
        distances_(Array::empty(labels_.shape(), sum_, device_)) {
    constexpr int64_t kUnlimited = int64_t{1} << 30;
    const auto [window_y, window_x] = options.window.value_or(std::pair{kUnlimited, kUnlimited});
    const int64_t sizes[] = {height_,
                             width_,
                             b.shape(0),
                             b_width_,
                             std::min(window_y, kUnlimited),
                             std::min(window_x, kUnlimited),
                             mask.valid() ? 1 : 0};
    int32_t narrow[std::size(sizes)];
    std::transform(std::begin(sizes), std::end(sizes), narrow, [](int64_t size) { return static_cast<int32_t>(size); });
    sizes_ = Array::from(std::span<const int32_t>(narrow), {std::ssize(sizes)}).to_device(device_);
  }

  NearestPatches by_sweeps() {
    const int64_t sweeps = 2 * options_.iterations, pixels = height_ * width_;
    run(SearchStep::begin, 0, 0, pixels);
    for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
      if (options_.progress && sweep > 0) options_.progress(pixels * sweep / sweeps, pixels);
      before_ = labels_.copy();
      const bool is_row = sweep % 2 == 0;
      const int64_t lines = is_row ? height_ : width_, length = is_row ? width_ : height_;
      const int64_t segments = lines * ((length + kSegment - 1) / kSegment);
      if (!has_swept(sweep, segments)) run(SearchStep::sweep, sweep, 0, segments);
    }
    return result();
  }

  /// In bands, after which progress is told.
  NearestPatches of_all() {
    constexpr int64_t kBands = 32;
    const int64_t bands = options_.progress ? std::min(kBands, height_) : 1;
    for (int64_t band = 0; band < bands; ++band) {
      const int64_t first = height_ * band / bands * width_, end = height_ * (band + 1) / bands * width_;
      run(SearchStep::all, 0, first, end - first);
      if (band + 1 < bands) options_.progress(end, height_ * width_);
    }
    return result();
  }

 private:
  void run(SearchStep step, int64_t sweep, int64_t first, int64_t size) {
    kind_.step = step;
    const bool is_row = sweep % 2 == 0, is_backward = sweep % 4 >= 2;
    const Argument arguments[] = {
        a_,     b_,          mask_,         before_, sizes_,    Scalar(options_.seed), farthest_of(sum_), Scalar(sweep),
        is_row, is_backward, Scalar(first), labels_, distances_};
    kernel_of(kind_).fill(arguments, {.size = size});
  }

  /// Whether the device has compiled loops that have swept.
  bool has_swept(int64_t sweep, int64_t segments) {
    auto* const loops = device_.find_service<PatchMatchings>();
    if (!loops || sum_ != Dtype::int32) return false;
    PatchSweep job;
    job.patch = kind_.patch;
    job.channels = kind_.channels;
    job.kept = kind_.kept;
    job.a = with_room(a_, a_with_room_);
    job.b = with_room(b_, b_with_room_);
    std::copy_n(static_cast<const int32_t*>(sizes_.data()), std::size(job.sizes), job.sizes);
    job.mask = static_cast<const bool*>(mask_.data());
    job.before = static_cast<const int32_t*>(before_.data());
    job.labels = static_cast<int32_t*>(labels_.data());
    job.distances = static_cast<int32_t*>(distances_.data());
    job.seed = options_.seed;
    job.sweep = sweep;
    job.segment = kSegment;
    job.segments = segments;
    return loops->sweep(kind_.dtype, job);
  }

  /// A copy behind which vectors may be read.
  static const void* with_room(const Array& picture, Array& copy) {
    if (!copy.valid()) {
      copy = Array::empty({picture.nbytes() + PatchSweep::kRoom}, Dtype::uint8, picture.device());
      std::memcpy(copy.data(), picture.data(), static_cast<size_t>(picture.nbytes()));
    }
    return copy.data();
  }

  NearestPatches result() const {
    Dims shape{height_, width_};
    if (options_.k > 1) shape.push_back(options_.k);
    NearestPatches result{field_of(labels_, shape, b_width_),
                          is_inexact(sum_) ? distances_.reshape(shape) : distances_of(labels_, distances_, shape)};
    if (options_.progress) options_.progress(height_ * width_, height_ * width_);
    return result;
  }

  const PatchOptions& options_;
  Device& device_;
  const int64_t height_, width_, b_width_;
  SearchKind kind_;
  const Dtype sum_;
  const Array a_, b_, mask_;
  Array before_, sizes_, a_with_room_, b_with_room_;
  const Array labels_, distances_;
};

}  // namespace

NearestPatches search_patches(const Array& a, const Array& b, const Array& mask, const PatchOptions& options) {
  return Search(a, b, mask, options).by_sweeps();
}

NearestPatches search_all_patches(const Array& a, const Array& b, const Array& mask, const PatchOptions& options) {
  return Search(a, b, mask, options).of_all();
}

Array bordered(const Array& picture, int64_t patch, Border border) {
  PatchOptions options;
  options.patch = patch;
  options.border = border;
  return with_border(picture, options);
}

}  // namespace iruka::image
