// Fourier transforms: determines dtype and lengths of the input, and arranges the axes for the device's library.
#include "iruka/fft.h"

#include <algorithm>
#include <string>

#include "core/fourier.h"
#include "core/once.h"
#include "iruka/ops.h"

namespace iruka::fft {
namespace {

bool is_single(Dtype dtype) {
  return real_dtype(dtype) == Dtype::float32 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
}

/// The view of `x` from element `from` up to `to` of an axis.
Array part(const Array& x, int axis, int64_t from, int64_t to) {
  return x.swapaxes(axis, 0).at(Slice{from, to, 1}).swapaxes(axis, 0);
}

/// The input for the library: in its dtype, axes cut or zero-padded to `lengths`, contiguous.
Array prepared(const Array& x, Dtype dtype, const Dims& axes, const Dims& lengths) {
  Array kept = x;
  Dims shape = x.shape();
  for (int k = 0; k < axes.size(); ++k) {
    const int axis = static_cast<int>(axes[k]);
    shape[axis] = lengths[k];
    if (lengths[k] < x.shape(axis)) kept = part(kept, axis, 0, lengths[k]);
  }
  if (kept.shape() == shape) return kept.astype(dtype, false).contiguous();
  const Array continued = Array::empty(shape, dtype, x.device());
  Array inside = continued;
  for (int64_t k : axes) {
    const int axis = static_cast<int>(k);
    if (kept.shape(axis) == shape[axis]) continue;
    part(continued, axis, kept.shape(axis), shape[axis]).fill(0);
    inside = part(inside, axis, 0, kept.shape(axis));
  }
  inside.assign(kept);
  return continued;
}

/// A copy, times `scale`, for a library that overwrites its input. It omits the imaginary parts that NumPy does not
/// read: those of a row's first element and, for an even length, of the last.
Array without_stray_parts(const Array& spectrum, int64_t length, double scale) {
  KernelOptions options;
  options.diagnose_early = false;
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("T z, int64 half, int64 last, float64 scale", "T copy",
                             "const long long k = i % half;\n"
                             "copy = T(z.real() * scale, k == 0 || k == last ? 0.0 : z.imag() * scale);",
                             "without_stray_parts", options);
  });
  const int64_t last = length % 2 == 0 ? length / 2 : 0;
  return kernel(spectrum, length / 2 + 1, last, scale);
}

/// All axes, with `axes` last.
Dims moved_last(int ndim, const Dims& axes) {
  Dims order;
  for (int64_t axis = 0; axis < ndim; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
  for (int64_t axis : axes) order.push_back(axis);
  return order;
}

Array moved_back(const Array& x, const Dims& order) {
  Dims inverse(order.size());
  for (int k = 0; k < order.size(); ++k) inverse[static_cast<int>(order[k])] = k;
  return x.transpose(inverse);
}

/// The parameters of one library call on `x` in its memory order: the sizes around its axes.
FourierTransform job_for(const Array& x, Kind kind, const Dims& lengths, const Dims& axes, bool forward) {
  FourierTransform job{static_cast<FourierKind>(kind), !is_single(x.dtype()), forward, lengths.back()};
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (axis > axes.back()) job.inner *= x.shape(axis);
    if (axis < axes[0]) job.outer *= x.shape(axis);
  }
  job.earlier = Dims(lengths.begin(), lengths.size() - 1);
  return job;
}

/// Several different axes in one call of the library, or one.
Array transform_together(const Array& x, Kind kind, const Dims& lengths, const Dims& axes, bool forward, double scale) {
  FourierLibrary& library = x.device().service<FourierLibrary>();
  FourierTransform job = job_for(x, kind, lengths, axes, forward);
  const Dims order = moved_last(x.ndim(), axes);
  const bool is_moved =
      !std::is_sorted(order.begin(), order.end()) && (axes.size() > 1 || !library.prefers_columns(job));
  if (is_moved) {
    Dims last;
    for (int k = 0; k < axes.size(); ++k) last.push_back(x.ndim() - axes.size() + k);
    return moved_back(transform_together(x.transpose(order), kind, lengths, last, forward, scale), order);
  }
  const Dtype real = job.is_double ? Dtype::float64 : Dtype::float32;
  const Dtype complex = job.is_double ? Dtype::complex128 : Dtype::complex64;
  const int64_t half = job.length / 2 + 1;
  Dims stored = lengths;
  if (kind == Kind::complex_to_real) stored[stored.size() - 1] = half;
  Array input = prepared(x, kind == Kind::real_to_complex ? real : complex, axes, stored);
  bool is_scaled = scale == 1 || library.scales();
  if (input.size() > 0) {
    if (kind == Kind::complex_to_real && library.overwrites_input())
      input = without_stray_parts(input, job.length, scale), is_scaled = true;
    if (reinterpret_cast<uintptr_t>(input.data()) % library.alignment() != 0) input = input.copy();
  }
  Dims shape = input.shape();
  shape[static_cast<int>(axes.back())] = kind == Kind::real_to_complex ? half : job.length;
  const Array result = Array::empty(shape, kind == Kind::complex_to_real ? real : complex, x.device());
  if (result.size() > 0) {
    job.in = input.data(), job.out = result.data();
    library.transform(job, library.scales() ? scale : 1.0);
    if (!is_scaled) multiply(result, scale, result);
  }
  return result;
}

/// The last entries of `lengths` and `axes`, as many as the library transforms at once. Different axes are sorted by
/// memory order; the axis with half a spectrum stays last.
void take_together(FourierLibrary& library, Kind kind, Dims& lengths, Dims& axes, Dims& lengths_now, Dims& axes_now) {
  std::vector<std::pair<int64_t, int64_t>> taken;  // axis and length, the last one first
  const auto is_taken = [&](int64_t axis) {
    return std::any_of(taken.begin(), taken.end(), [&](const auto& pair) { return pair.first == axis; });
  };
  int left = axes.size();
  for (; left > 0 && std::ssize(taken) < library.most_axes() && !is_taken(axes[left - 1]); --left)
    taken.emplace_back(axes[left - 1], lengths[left - 1]);
  std::sort(taken.begin() + (kind == Kind::real_to_complex ? 1 : 0), taken.end(), std::greater<>());
  lengths = Dims(lengths.begin(), left), axes = Dims(axes.begin(), left);
  lengths_now = Dims(), axes_now = Dims();
  for (auto pair = taken.rbegin(); pair != taken.rend(); ++pair)
    axes_now.push_back(pair->first), lengths_now.push_back(pair->second);
}

void check(const Array& x, Kind kind, const Dims& lengths) {
  for (int64_t length : lengths)
    if (length < 1)
      throw ValueError("fft: Invalid number of FFT data points (" + std::to_string(length) + ") specified.");
  if (kind == Kind::real_to_complex && iruka::kind(x.dtype()) == iruka::Kind::complex)
    throw TypeError(std::string("rfft: the input must be real, not ") + name(x.dtype()));
}

}  // namespace

Array transform(const Array& x, Kind kind, int64_t length, int64_t axis, bool forward, double scale) {
  const int at = normalize_axis("fft", axis, x.ndim());
  check(x, kind, {length});
  return transform_together(x, kind, {length}, {at}, forward, scale);
}

Array transform(const Array& x, Kind kind, const Dims& lengths, const Dims& axes, bool forward, double scale) {
  if (axes.empty() || axes.size() != lengths.size())
    throw ValueError("fft: " + std::to_string(axes.size()) + " axes and " + std::to_string(lengths.size()) +
                     " lengths; at least one axis, and one length for each axis, are needed");
  Dims axes_left, lengths_left = lengths, lengths_now, axes_now;
  for (int64_t axis : axes) axes_left.push_back(normalize_axis("fft", axis, x.ndim()));
  check(x, kind, lengths);
  if (kind == Kind::complex_to_real && axes.size() > 1) {
    Dims earlier_lengths, earlier_axes;  // the first of them first, which shows where an axis is repeated
    for (int k = axes.size() - 2; k >= 0; --k) earlier_lengths.push_back(lengths[k]), earlier_axes.push_back(axes[k]);
    const Array whole = transform(x, Kind::complex, earlier_lengths, earlier_axes, forward, 1);
    return transform_together(whole, kind, {lengths.back()}, {axes_left.back()}, forward, scale);
  }
  Array result = x;
  while (!axes_left.empty()) {
    take_together(x.device().service<FourierLibrary>(), kind, lengths_left, axes_left, lengths_now, axes_now);
    result = transform_together(result, kind, lengths_now, axes_now, forward, axes_left.empty() ? scale : 1.0);
    kind = Kind::complex;
  }
  return result;
}

}  // namespace iruka::fft
