#include "nn/channels_last.h"

#include "core/turning.h"

namespace iruka::nn {
namespace {

/// `made` as (images, columns, rows) of x as (images, rows, columns), by compiled loops where the device has them.
bool turned(const Array& x, const Array& made, int64_t rows, int64_t columns) {
  Turning* const turning = x.device().find_service<Turning>();
  return turning && turning->turn(x.data(), made.data(), x.itemsize(), x.shape(0), rows, columns);
}

int64_t pixels_of(const Array& x) { return x.size() / (x.shape(0) * x.shape(1)); }

}  // namespace

Array in_c_order(const Array& x) {
  if (!is_taken_channels_last(x) || x.size() == 0) return x.contiguous();
  const Array made = Array::empty(x.shape(), x.dtype(), x.device());
  return turned(x, made, pixels_of(x), x.shape(1)) ? made : x.contiguous();
}

Array as_channels_last(const Array& x) {
  if (x.ndim() > 2 && x.is_c_contiguous() && !is_channels_last(x) && x.size() > 0) {
    const Array made = empty_channels_last(x.shape(), x.dtype(), x.device());
    if (turned(x, made, x.shape(1), pixels_of(x))) return made;
  }
  return channels_in_front(channels_behind(x).contiguous());
}

}  // namespace iruka::nn
