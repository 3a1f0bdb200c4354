#include "image/outputs.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/device.h"
#include "core/layout.h"
#include "iruka/error.h"

namespace iruka::image {

std::vector<Array> apart_from(std::span<const Array> outs, std::span<const Array> pictures) {
  std::vector<Array> made(pictures.begin(), pictures.end());
  using Bounds = std::pair<uintptr_t, uintptr_t>;
  std::vector<Bounds> written;
  for (const Array& out : outs) {
    if (out.valid() && out.size() > 0) written.push_back(byte_bounds(out));
  }
  std::ranges::sort(written);
  // As far as outputs reach that begin there or before.
  std::vector<uintptr_t> ends;
  ends.reserve(written.size());
  for (const Bounds& each : written) ends.push_back(std::max(each.second, ends.empty() ? uintptr_t{0} : ends.back()));
  for (Array& picture : made) {
    if (picture.size() == 0) continue;
    const auto [low, high] = byte_bounds(picture);
    const auto begun = std::ranges::lower_bound(written, high, {}, &Bounds::first) - written.begin();
    if (begun == 0 || ends[static_cast<size_t>(begun - 1)] <= low) continue;
    const auto meets = [&](const Array& out) { return out.valid() && out.may_overlap(picture); };
    if (std::ranges::any_of(outs, meets)) picture = picture.copy();
  }
  return made;
}

void check_out(const std::string& function, const Array& out, const Dims& shape, Dtype dtype, const Array& picture) {
  if (out.dtype() != dtype) throw TypeError(function + "out must be " + name(dtype) + ", not " + name(out.dtype()));
  if (out.shape() != shape)
    throw ShapeError(function + "out must have shape " + to_string(shape) + ", not " + to_string(out.shape()));
  if (&out.device() != &picture.device())
    throw ValueError(function + "out must be on " + picture.device().name() + " as the picture, not on " +
                     out.device().name());
  out.check_writable("out");
}

}  // namespace iruka::image
