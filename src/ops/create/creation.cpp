// New arrays: filled, counted, evenly spaced; and arrays joined along an axis.
#include <cmath>
#include <functional>

#include "core/once.h"
#include "iruka/device.h"
#include "iruka/ops.h"
#include "ops/create/joining.h"
#include "ops/elementwise/cast_text.h"
#include "ops/permanent_cache.h"

namespace iruka {
namespace {

/// NumPy rounds after each operation.
KernelOptions rounding_each_time() {
  KernelOptions options;
  options.options = {"--fmad=false"};
  return options;
}

/// start + i * step, in the dtype's computing type and rounded after each operation, as NumPy does.
const ElementwiseKernel& count_kernel(Dtype dtype) {
  static constinit ops::PermanentCache<Dtype, ElementwiseKernel> kernels;
  return kernels.get(dtype, [&] {
    const Dtype computing = ops::computing_dtype(dtype);
    const std::string type = info(computing).c_type, own = name(dtype);
    return ElementwiseKernel(
        own + " start, " + own + " step", own + " y",
        "using Computing = " + type + ";\nconst Computing first = " + ops::cast_text(dtype, computing, "start") +
            ";\nconst Computing way = Computing(Computing(i) * " + ops::cast_text(dtype, computing, "step") +
            ");\nconst Computing sum = Computing(first + way);\ny = " + ops::cast_text(computing, dtype, "sum") + ";",
        "arange", rounding_each_time());
  });
}

/// The result of an operation on Python or NumPy scalars: its dtype is the promoted one, weak if both are.
template <class Operation>
Scalar in_common_dtype(const Scalar& a, const Scalar& b, Operation operation) {
  const Argument both[] = {a, b};
  const Dtype common = result_type(both);
  const bool is_real = kind(common) == Kind::floating;
  auto number = [&](const Scalar& x) { return is_real ? x.as_element(common).as_double() : x.as_double(); };
  const Scalar result = operation(number(a), number(b));
  return a.weak() && b.weak() ? result : result.as_element(is_real ? common : Dtype::float64);
}

/// ceil((stop - start) / step), exact where all three are integers.
int64_t arange_length(const Scalar& start, const Scalar& stop, const Scalar& step, bool integers) {
  if (integers) {
    const __int128 from = start.as_int64(), to = stop.as_int64(), by = step.as_int64();
    if (by == 0) throw ValueError("arange: step must not be 0");
    const __int128 distance = by > 0 ? to - from : from - to, stride = by > 0 ? by : -by;
    const __int128 length = distance <= 0 ? 0 : (distance + stride - 1) / stride;
    if (length > INT64_MAX) throw ValueError("arange: Maximum allowed size exceeded");
    return static_cast<int64_t>(length);
  }
  if (step.as_complex() == 0.0) throw ValueError("arange: step must not be 0");
  auto is_complex = [](const Scalar& x) { return x.kind() == Kind::complex; };
  if (is_complex(start) || is_complex(stop) || is_complex(step)) {
    const std::complex<double> steps = (stop.as_complex() - start.as_complex()) / step.as_complex();
    const double length = std::ceil(std::min(steps.real(), steps.imag()));  // NumPy's rule
    if (!(length < 9e18)) throw ValueError("arange: Maximum allowed size exceeded");
    return length <= 0 ? 0 : static_cast<int64_t>(length);
  }
  const Scalar distance = in_common_dtype(stop, start, std::minus());
  const double length = std::ceil(in_common_dtype(distance, step, std::divides()).as_double());
  if (!(length < 9e18)) throw ValueError("arange: Maximum allowed size exceeded");
  return length <= 0 ? 0 : static_cast<int64_t>(length);
}

bool is_integral(const Scalar& value) { return is_integer(value.dtype()) || value.dtype() == Dtype::bool_; }

/// An element of arange: a float becomes an integer towards zero. Raises OverflowError where an integer does not fit.
Scalar counted(const Scalar& value, Dtype dtype) {
  if (!is_integer(dtype)) return value.as_element(dtype);
  if (is_integral(value)) return value.typed(dtype);
  return (value.as_double() < 0x1p63 ? Scalar(value.as_int64()) : Scalar(value.as_uint64())).typed(dtype);
}

/// start + step, of integers modulo 2**64 in start's dtype.
Scalar second(const Scalar& start, const Scalar& step) {
  if (!is_integral(start) || !is_integral(step)) return in_common_dtype(start, step, std::plus());
  const uint64_t sum = start.as_uint64() + step.as_uint64();
  return start.dtype() == Dtype::uint64 ? Scalar(sum) : Scalar(static_cast<int64_t>(sum));
}

/// start + step - start in `dtype`: NumPy's increment, which includes the rounding of the second element.
Scalar increment(const Scalar& start, const Scalar& step, Dtype dtype) {
  if (is_complex(dtype)) {
    const std::complex<double> first = start.as_element(dtype).as_complex();
    return Scalar(Scalar(first + step.as_complex()).as_element(dtype).as_complex() - first).as_element(dtype);
  }
  const Scalar next = counted(second(start, step), dtype);
  if (kind(dtype) == Kind::floating)
    return Scalar(next.as_double() - start.as_element(dtype).as_double()).as_element(dtype);
  return Scalar(static_cast<int64_t>(next.as_uint64() - counted(start, dtype).as_uint64())).as_element(dtype);
}

/// NumPy's linspace in float64: divided first where the step would underflow to 0, the end exact.
const ElementwiseKernel& linspace_kernel() {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("float64 start, float64 stop, float64 delta, float64 step, int64 parts, bool endpoint",
                             "float64 y",
                             "const double way = step != 0 ? double(i) * step : double(i) / double(parts) * delta;\n"
                             "y = endpoint && i > 0 && i == parts ? stop : start + way;",
                             "linspace", rounding_each_time());
  });
  return kernel;
}

Dims without_axis(const Dims& shape, int axis) {
  Dims rest;
  for (int k = 0; k < shape.size(); ++k)
    if (k != axis) rest.push_back(shape[k]);
  return rest;
}

void check_joinable(std::span<const Array> arrays, int axis) {
  const Array& first = arrays.front();
  for (size_t k = 1; k < arrays.size(); ++k) {
    const std::string where = std::to_string(k);
    if (arrays[k].ndim() != first.ndim())
      throw ShapeError(
          "all the input array dimensions except for the concatenation axis must match exactly: the array "
          "at index 0 has " +
          std::to_string(first.ndim()) + " dimension(s) and the array at index " + where + " has " +
          std::to_string(arrays[k].ndim()) + " dimension(s)");
    if (without_axis(arrays[k].shape(), axis) == without_axis(first.shape(), axis)) continue;
    int differs = 0;
    while (differs == axis || arrays[k].shape(differs) == first.shape(differs)) ++differs;
    throw ShapeError(
        "all the input array dimensions except for the concatenation axis must match exactly, but along "
        "dimension " +
        std::to_string(differs) + ", the array at index 0 has size " + std::to_string(first.shape(differs)) +
        " and the array at index " + where + " has size " + std::to_string(arrays[k].shape(differs)));
  }
}

/// The part [begin, begin + extent) of an axis.
Array part(const Array& array, int axis, int64_t begin, int64_t extent) {
  std::vector<Index> index(static_cast<size_t>(axis), Slice{});
  index.emplace_back(Slice{begin, begin + extent, {}});
  return array.index(index);
}

}  // namespace

Array empty(const Dims& shape, Dtype dtype) { return Array::empty(shape, dtype); }

Array full(const Dims& shape, const Scalar& value, std::optional<Dtype> dtype) {
  Array result = Array::empty(shape, dtype.value_or(value.dtype()));
  result.fill(value);
  return result;
}

Array zeros(const Dims& shape, Dtype dtype) { return full(shape, false, dtype); }
Array ones(const Dims& shape, Dtype dtype) { return full(shape, true, dtype); }

Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<Dtype> dtype) {
  const Argument scalars[] = {start, stop, step};
  const bool integers = is_integral(start) && is_integral(stop) && is_integral(step);
  const Dtype common = result_type(scalars);
  const Dtype type = dtype.value_or(common == Dtype::bool_ ? Dtype::int64 : common);
  const int64_t length = arange_length(start, stop, step, integers);
  if (type == Dtype::bool_ && length > 2) throw TypeError("arange: no fill-function for data-type bool");
  if (type == Dtype::bool_) return arange(start, stop, step).astype(type);
  Array result = Array::empty({length}, type);
  if (length == 0) return result;
  const Argument arguments[] = {counted(start, type), increment(start, length > 1 ? step : Scalar(0), type), result};
  count_kernel(type).fill(arguments);
  return result;
}

Array linspace(double start, double stop, int64_t count, bool endpoint, Dtype dtype) {
  if (count < 0) throw ValueError("linspace: number of samples, " + std::to_string(count) + ", must be non-negative.");
  const int64_t parts = endpoint ? count - 1 : count;
  Array result = Array::empty({count}, Dtype::float64);
  if (count == 0) return result.astype(dtype, false);
  const double delta = stop - start;
  const double step = parts > 0 ? delta / static_cast<double>(parts) : NAN;
  auto typed = [](Scalar value, Dtype type) { return Argument(value.as_element(type)); };
  const Argument arguments[] = {typed(start, Dtype::float64),
                                typed(stop, Dtype::float64),
                                typed(delta, Dtype::float64),
                                typed(parts > 0 ? step : delta, Dtype::float64),
                                typed(std::max<int64_t>(parts, 1), Dtype::int64),
                                typed(endpoint, Dtype::bool_),
                                result};
  linspace_kernel().fill(arguments);
  if (is_integer(dtype)) ElementwiseFunction("floor")(result, result);
  return result.astype(dtype, false);
}

Array eye(int64_t rows, std::optional<int64_t> columns, int64_t k, Dtype dtype) {
  const int64_t width = columns.value_or(rows);
  Array result = zeros({rows, width}, dtype);
  const int64_t row = k < 0 ? -k : 0, column = k > 0 ? k : 0;
  const int64_t length = std::min(rows - row, width - column);
  if (length <= 0) return result;
  const int64_t item = result.itemsize();
  Array diagonal(result.buffer(), dtype, {length}, {(width + 1) * item},
                 result.offset() + (row * width + column) * item);
  diagonal.fill(true);
  return result;
}

Dims ops::joined_shape(std::span<const Array> arrays, int64_t named) {
  if (arrays.empty()) throw ValueError("need at least one array to concatenate");
  const Array& first = arrays.front();
  if (first.ndim() == 0) throw ShapeError("zero-dimensional arrays cannot be concatenated");
  const int axis = normalize_axis("concatenate", named, first.ndim());
  check_joinable(arrays, axis);
  Dims shape = first.shape();
  for (const Array& array : arrays.subspan(1))
    if (__builtin_add_overflow(shape[axis], array.shape(axis), &shape[axis]))
      throw ValueError("concatenate: the extents of axis " + std::to_string(axis) +
                       " add up to more than 64 bits hold");
  return shape;
}

ops::Joint ops::stack_joint(std::span<const Array> arrays, int64_t named) {
  if (arrays.empty()) throw ValueError("need at least one array to stack");
  for (const Array& array : arrays)
    if (!(array.shape() == arrays.front().shape()))
      throw ShapeError("all input arrays must have the same shape: " + to_string(arrays.front().shape()) + " and " +
                       to_string(array.shape()));
  const int axis = normalize_axis("stack", named, arrays.front().ndim() + 1);
  Joint joint{.axis = axis};
  for (const Array& array : arrays) joint.parts.push_back(array.expand_dims(axis));
  return joint;
}

Array concatenate(std::span<const Array> arrays, int64_t named) {
  const Dims shape = ops::joined_shape(arrays, named);
  const int axis = normalize_axis("concatenate", named, arrays.front().ndim());
  const std::vector<Argument> all(arrays.begin(), arrays.end());
  Array result = Array::empty(shape, result_type(all), arrays.front().device());
  int64_t begin = 0;
  for (const Array& array : arrays) {
    part(result, axis, begin, array.shape(axis)).assign(array);
    begin += array.shape(axis);
  }
  return result;
}

Array stack(std::span<const Array> arrays, int64_t named) {
  const auto [parts, axis] = ops::stack_joint(arrays, named);
  return concatenate(parts, axis);
}

}  // namespace iruka
