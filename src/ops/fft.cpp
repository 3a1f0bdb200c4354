// Fourier transforms: dtype and length of the input settled, axes brought to what the device's library takes.
#include "iruka/fft.h"

#include <string>

#include "backend/libraries.h"
#include "core/device.h"
#include "iruka/ops.h"

namespace iruka::fft {
namespace {

bool is_single(Dtype dtype) {
  return real_dtype(dtype) == Dtype::float32 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
}

/// The input as the library wants it: of its dtype, `length` long, dense, and with nothing behind the axis where rows
/// are wanted.
Array prepared(const Array& x, Dtype dtype, int axis, int64_t length, bool as_rows) {
  Array input = as_rows ? x.swapaxes(axis, -1) : x;
  const int at = as_rows ? x.ndim() - 1 : axis;
  if (input.shape(at) != length) {
    Dims shape = input.shape();
    shape[at] = length;
    Array resized = Array::empty(shape, dtype, x.device());
    const int64_t kept = std::min(length, input.shape(at));
    const auto part = [&](const Array& whole, int64_t from, int64_t to) {
      const Array turned = whole.swapaxes(at, 0);
      return turned.at(Slice{from, to, 1}).swapaxes(at, 0);
    };
    part(resized, 0, kept).assign(part(input, 0, kept));
    if (kept < length) part(resized, kept, length).fill(0);
    return resized;
  }
  return input.astype(dtype, false).contiguous();
}

/// A copy for cuFFT, which may overwrite what it transforms to real numbers and reads imaginary parts that NumPy does
/// not: those of the first element and, for an even length, of the last.
Array without_stray_parts(const Array& spectrum, int axis, int64_t length) {
  static const ElementwiseFunction real("real");
  const Array result = spectrum.copy();
  const int64_t last = length / 2;
  for (int64_t at : {int64_t{0}, length % 2 == 0 ? last : int64_t{0}}) {
    Array part = result.swapaxes(axis, 0).at(Slice{at, at + 1, 1});
    part.assign(real(part));
  }
  return result;
}

}  // namespace

Array transform(const Array& x, Kind kind, int64_t length, int64_t axis, bool forward, double scale) {
  const int at = normalize_axis("fft", axis, x.ndim());
  if (length < 1)
    throw ValueError("fft: Invalid number of FFT data points (" + std::to_string(length) + ") specified.");
  if (kind == Kind::real_to_complex && iruka::kind(x.dtype()) == iruka::Kind::complex)
    throw TypeError(std::string("rfft: the input must be real, not ") + name(x.dtype()));
  const bool single = is_single(x.dtype());
  const Dtype real = single ? Dtype::float32 : Dtype::float64, complex = single ? Dtype::complex64 : Dtype::complex128;
  const auto which = static_cast<FourierKind>(kind);
  const int64_t half = length / 2 + 1;
  FourierLibrary& library = fourier_library(x.device());
  const bool as_rows = at + 1 < x.ndim() && !library.takes_columns(which, length);
  Array input = prepared(x, kind == Kind::real_to_complex ? real : complex, at,
                         kind == Kind::complex_to_real ? half : length, as_rows);
  const int place = as_rows ? x.ndim() - 1 : at;
  if (x.device().target().is_gpu && input.size() > 0) {
    if (kind == Kind::complex_to_real) input = without_stray_parts(input, place, length);
    if (reinterpret_cast<uintptr_t>(input.data()) % 16 != 0) input = input.copy();  // cuFFT loads whole vectors
  }
  Dims shape = input.shape();
  shape[place] = kind == Kind::real_to_complex ? half : length;
  const Array result = Array::empty(shape, kind == Kind::complex_to_real ? real : complex, x.device());
  if (result.size() > 0) {
    FourierTransform job{which, !single, forward, length, 1, 1, input.data(), result.data()};
    for (int axis = 0; axis < place; ++axis) job.outer *= shape[axis];
    for (int axis = place + 1; axis < x.ndim(); ++axis) job.inner *= shape[axis];
    library.transform(job, library.scales() ? scale : 1.0);
    if (!library.scales() && scale != 1.0) multiply(result, scale, result);
  }
  return as_rows ? result.swapaxes(at, -1) : result;
}

}  // namespace iruka::fft
