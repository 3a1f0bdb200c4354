// Frequencies of transforms, and their order.
#include "ops/fft/frequencies.h"

#include "core/once.h"
#include "iruka/fft.h"
#include "iruka/kernel.h"
#include "iruka/rearranging.h"
#include "ops/checks.h"

namespace iruka {
namespace {

void check_length(const char* function, int64_t n) {
  if (n < 1) throw ValueError(std::string(function) + ": n must be positive, but is " + std::to_string(n));
}

/// Half of each axis, towards the end or, for the inverse, the front.
Array half_rolled(const char* function, const Array& x, const std::optional<Dims>& named, bool inverse) {
  const Dims axes = ops::axes_or_all(function, named, x.ndim());
  if (axes.empty()) return x.copy();
  Dims shifts;
  for (const int64_t axis : axes) {
    const int64_t half = x.shape(static_cast<int>(axis)) / 2;
    shifts.push_back(inverse ? -half : half);
  }
  return roll(x, shifts, axes);
}

}  // namespace

Array ops::frequencies(int64_t n, bool is_half, double step) {
  const ElementwiseKernel& kernel = made_once([] {
    return ElementwiseKernel("int64 positive, int64 n, float64 step", "float64 y",
                             "y = double(i < positive ? i : i - n) * step;", "frequencies");
  });
  const int64_t count = !is_half ? n : n < 0 ? 0 : n / 2 + 1, positive = is_half ? count : (n - 1) / 2 + 1;
  Array result = Array::empty({count}, Dtype::float64);
  const auto whole = [](int64_t value) { return Scalar(value).typed(Dtype::int64); };
  if (count > 0) kernel(whole(positive), whole(n), Scalar(step).typed(Dtype::float64), result);
  return result;
}

namespace fft {

Array fftfreq(int64_t n, double spacing) {
  check_length("fftfreq", n);
  return ops::frequencies(n, false, 1 / (static_cast<double>(n) * spacing));
}

Array rfftfreq(int64_t n, double spacing) {
  check_length("rfftfreq", n);
  return ops::frequencies(n, true, 1 / (static_cast<double>(n) * spacing));
}

Array fftshift(const Array& x, const std::optional<Dims>& axes) { return half_rolled("fftshift", x, axes, false); }
Array ifftshift(const Array& x, const std::optional<Dims>& axes) { return half_rolled("ifftshift", x, axes, true); }

}  // namespace fft
}  // namespace iruka
