// Shapes as tensors, arrays made of them, and other shapes of the same elements.
#include <algorithm>
#include <cmath>

#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "nn/channels_last.h"
#include "nn/doubles.h"
#include "nn/files/onnx_tensor.h"
#include "nn/operators/operator.h"

namespace iruka::nn {
namespace {

/// Channels that lie last are turned by loops for it; other arrays are copied only where the shape asks for it.
Array reshapeable(const Array& x) { return is_taken_channels_last(x) ? in_c_order(x) : x; }

Results shape(const Call& call) {
  const Dims& all = call[0].shape();
  const auto within = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + all.size() : place, 0, all.size());
  };
  const int64_t start = within(call.integer("start", 0)), end = within(call.integer("end", all.size()));
  return {array_of_integers({all.data() + start, static_cast<size_t>(std::max<int64_t>(end - start, 0))})};
}

Results size(const Call& call) {
  const int64_t count = call[0].size();
  return {array_of_integers({&count, 1}).reshape(Dims())};
}

Results constant(const Call& call) {
  if (auto* value = call.attribute("value")) {
    if (auto* array = std::get_if<Array>(value)) return {*array};
  }
  if (call.attribute("value_int")) {
    const int64_t value = call.integer("value_int", 0);
    return {array_of_integers({&value, 1}).reshape(Dims())};
  }
  if (call.attribute("value_float")) return {full(Dims(), call.number("value_float", 0), Dtype::float32)};
  if (call.attribute("value_ints")) return {array_of_integers(*call.integers("value_ints"))};
  if (call.attribute("value_floats")) {
    const std::vector<double> values = call.numbers("value_floats");
    return {array_of(values, {std::ssize(values)}, Dtype::float32)};
  }
  call.fail("it has no tensor, numbers or integers as its value");
}

Results constant_of_shape(const Call& call) {
  const Dims shape = dims_of(call.integers_of(0));
  const Attribute* const value = call.attribute("value");
  if (!value) return {zeros(shape, Dtype::float32)};
  const auto* const array = std::get_if<Array>(value);
  if (!array || array->size() != 1) call.fail("its value must be a tensor of one number");
  return {full(shape, array->item(), array->dtype())};
}

Results range(const Call& call) {
  const Scalar start = call.number_of(0), limit = call.number_of(1), step = call.number_of(2);
  const Dtype dtype = call[0].dtype();
  if (is_integer(dtype)) return {arange(start.as_int64(), limit.as_int64(), step.as_int64(), dtype)};
  const double first = start.as_double(), by = step.as_double();
  const double steps = std::max(std::ceil((limit.as_double() - first) / by), 0.0);
  if (by == 0 || !(steps < 0x1p53)) {
    call.fail("from " + std::to_string(first) + " to " + std::to_string(limit.as_double()) + " by " +
              std::to_string(by) + " is no range of numbers");
  }
  const auto count = static_cast<int64_t>(steps);
  return {add(multiply(arange(count), by), first).astype(dtype)};
}

Results eye_like(const Call& call) {
  const Array& x = call[0];
  if (x.ndim() != 2) call.fail("the input must be a matrix, but has shape " + to_string(x.shape()));
  const auto type = onnx_dtype(static_cast<int32_t>(call.integer("dtype", 0)));
  return {eye(x.shape(0), x.shape(1), call.integer("k", 0), type.value_or(x.dtype()))};
}

/// The extent that is -1 of an array without elements: what the axes that are not kept leave of those of x.
void find_extent(const Call& call, const Array& x, std::vector<int64_t>& shape, const std::vector<bool>& kept) {
  const auto unknown = std::ranges::find(shape, -1);
  if (unknown == shape.end() || std::ranges::count(shape, -1) > 1) return;
  int64_t all = 1, known = 1;
  bool overflows = false;
  for (size_t axis = 0; axis < static_cast<size_t>(x.ndim()); ++axis) {
    if (axis >= kept.size() || !kept[axis])
      overflows |= __builtin_mul_overflow(all, x.shape(static_cast<int>(axis)), &all);
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!kept[axis] && shape[axis] != -1) overflows |= __builtin_mul_overflow(known, shape[axis], &known);
  }
  if (overflows) call.fail("shape " + to_string(x.shape()) + " has too large extents");
  if (known > 0 && all % known == 0) *unknown = all / known;
}

Results reshape(const Call& call) {
  const Array& x = call[0];
  std::vector<int64_t> shape =
      call.has(1) ? call.integers_of(1) : call.integers("shape").value_or(std::vector<int64_t>());
  std::vector<bool> kept(shape.size());
  if (!call.integer("allowzero", 0)) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != 0) continue;
      if (static_cast<int>(axis) >= x.ndim())
        call.fail("there is no axis " + std::to_string(axis) + " to keep of shape " + to_string(x.shape()));
      shape[axis] = x.shape(static_cast<int>(axis));
      kept[axis] = true;
    }
  }
  if (x.size() == 0) find_extent(call, x, shape, kept);
  return {reshapeable(x).reshape(dims_of(shape))};
}

Results flatten(const Call& call) {
  const Array& x = call[0];
  const int64_t given = call.integer("axis", 1), axis = given < 0 ? given + x.ndim() : given;
  if (axis < 0 || axis > x.ndim()) throw AxisError("Flatten", given, x.ndim());
  const int at = static_cast<int>(axis);
  return {reshapeable(x).reshape({extent_between(x, 0, at), extent_between(x, at, x.ndim())})};
}

Results squeeze(const Call& call) {
  const Array& x = call[0];
  const auto axes = call.integers("axes", 1);
  std::vector<bool> drops(static_cast<size_t>(x.ndim()));
  for (int axis = 0; axis < x.ndim(); ++axis) drops[static_cast<size_t>(axis)] = !axes && x.shape(axis) == 1;
  for (int64_t given : axes.value_or(std::vector<int64_t>())) {
    const int axis = call.axis(given, x.ndim());
    if (x.shape(axis) != 1)
      call.fail("axis " + std::to_string(given) + " of shape " + to_string(x.shape()) + " is not 1");
    drops[static_cast<size_t>(axis)] = true;
  }
  Dims shape;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (!drops[static_cast<size_t>(axis)]) shape.push_back(x.shape(axis));
  }
  return {x.reshape(shape)};
}

Results unsqueeze(const Call& call) {
  const Array& x = call[0];
  const std::vector<int64_t> axes = call.integers("axes", 1).value_or(std::vector<int64_t>());
  const int ndim = x.ndim() + static_cast<int>(axes.size());
  Dims shape(ndim, 0);
  for (int64_t given : axes) {
    int64_t& extent = shape[call.axis(given, ndim)];
    if (extent == 1) call.fail("axis " + std::to_string(given) + " is named twice");
    extent = 1;
  }
  int next = 0;
  for (int axis = 0; axis < ndim; ++axis) {
    if (shape[axis] == 0) shape[axis] = x.shape(next++);
  }
  return {x.reshape(shape)};
}

/// Both shapes broadcast.
Results expand(const Call& call) {
  const Dims wanted = dims_of(call.integers_of(1));
  const Dims* const shapes[] = {&call[0].shape(), &wanted};
  return {call[0].broadcast_to(broadcast_shapes(shapes))};
}

Results cast(const Call& call) {
  const auto to = static_cast<int32_t>(call.integer("to", 0));
  const auto dtype = onnx_dtype(to);
  if (!dtype) call.fail("the type " + onnx_type_name(to) + " has no dtype here");
  return {call[0].astype(*dtype)};
}
Results cast_like(const Call& call) { return {call[0].astype(call[1].dtype())}; }

Results identity(const Call& call) { return {call[0]}; }

Results dropout(const Call& call) {
  if (call.has(2) && call.number_of(2).as_bool() && (!call.has(1) || call.number_of(1).as_double() != 0)) {
    call.fail("networks are not trained here, but training_mode is true");
  }
  Results results{call[0]};
  if (call.wants(1)) results.push_back(ones(call[0].shape(), call.opset() < 10 ? call[0].dtype() : Dtype::bool_));
  return results;
}

constexpr uint32_t kAll = ~0u;

constexpr Operator kRows[] = {
    {"Cast", cast},
    {"CastLike", cast_like, 0b10},
    {"Constant", constant},
    {"ConstantOfShape", constant_of_shape, kAll},
    {"Dropout", dropout, 0b110},
    {"Expand", expand, 0b10},
    {"EyeLike", eye_like, kAll},
    {"Flatten", flatten},
    {"Identity", identity},
    {"Range", range, kAll},
    {"Reshape", reshape, 0b10},
    {"Shape", shape, kAll},
    {"Size", size, kAll},
    {"Squeeze", squeeze, 0b10},
    {"Unsqueeze", unsqueeze, 0b10},
};

}  // namespace

std::span<const Operator> shape_operators() { return kRows; }

}  // namespace iruka::nn
