// Reductions with `initial` and `where`, and reductions by any function of two inputs.
#include <map>
#include <mutex>

#include "core/device.h"
#include "iruka/statistics.h"
#include "jit/program.h"
#include "ops/cast_text.h"
#include "ops/elementwise_table.h"
#include "ops/loop_types.h"
#include "ops/reduction.h"

namespace iruka {
namespace ops {
namespace {

using Row = ReductionFunction::Row;

/// The row that does what folding by an elementwise function does.
struct Fold {
  const char *function, *row;
};
constexpr Fold kFolds[] = {
    {"add", "sum"},
    {"multiply", "prod"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"logical_and", "all"},
    {"logical_or", "any"},
    {"logical_xor", "logical_xor"},
    {"bitwise_and", "bitwise_and"},
    {"bitwise_or", "bitwise_or"},
    {"bitwise_xor", "bitwise_xor"},
    {"fmax", "nanmax"},
    {"fmin", "nanmin"},
};

const char* row_of_function(std::string_view name) {
  for (const Fold& fold : kFolds)
    if (name == fold.function) return fold.row;
  return nullptr;
}
const char* function_of_row(std::string_view name) {
  if (name == "nansum") return "add";
  if (name == "nanprod") return "multiply";
  for (const Fold& fold : kFolds)
    if (name == fold.row) return fold.function;
  return nullptr;
}

/// A scalar as an element of `dtype`, no longer weak.
Scalar as_element(const Scalar& value, Dtype dtype) {
  alignas(16) std::byte element[16];
  value.store(dtype, element);
  return Scalar::load(dtype, element);
}

/// Elements that do not count replaced by one that changes nothing.
Array masked(const Row& row, const Array& x, const Array& where, const std::optional<Scalar>& initial) {
  if (where.dtype() != Dtype::bool_)
    throw TypeError("Cannot cast array data from dtype('" + std::string(name(where.dtype())) +
                    "') to dtype('bool') according to the rule 'safe'");
  Scalar neutral(row.start == Start::one);
  if (row.start == Start::ones) neutral = x.dtype() == Dtype::bool_ ? Scalar(true) : Scalar(-1);
  if (!row.has_identity) {
    if (!initial)
      throw ValueError(std::string("reduction operation '") + function_of_row(row.name) +
                       "' does not have an identity, so to use a where mask one has to specify 'initial'");
    neutral = *initial;
  }
  return iruka::where(where.broadcast_to(x.shape()), x, as_element(neutral, x.dtype()));
}

Array masked_mean(const Array& x, const ReductionOptions& options) {
  ReductionOptions sums = options;
  const Dtype inexact = kind(x.dtype()) >= Kind::floating ? x.dtype() : Dtype::float64;
  sums.dtype = options.dtype.value_or(inexact);
  const Array total = reduce(ReductionFunction("sum"), x, sums);
  const Array count = ReductionFunction("sum")(options.where->broadcast_to(x.shape()), options.axes, options.keepdims);
  return divide(total, count.astype(real_dtype(total.dtype())));
}

// --- Folding by any function, one element after another ---

const ElementwiseKernel& sequential_kernel(const ElementwiseFunction::Row& row, Dtype dtype, bool is_scan,
                                           bool is_masked) {
  static std::mutex mutex;
  static auto& kernels = *new std::map<std::string, ElementwiseKernel>;
  static const bool held = (jit::hold_across_fork(mutex), true);
  (void)held;
  const std::string key = std::string(row.name) + name(dtype) + (is_scan ? "s" : "r") + (is_masked ? "m" : "");
  std::lock_guard lock(mutex);
  if (const auto found = kernels.find(key); found != kernels.end()) return found->second;
  const Dtype computing = computing_dtype(dtype);
  KernelOptions options;
  options.diagnose_early = false;
  options.options = {"--fmad=false"};
  options.preamble = std::string("using S = ") + info(dtype).c_type + ";\nusing T = " + info(computing).c_type +
                     ";\nusing R = " + info(real_dtype(computing)).c_type + ";\n" + row.helpers;
  const std::string element = "(T)x[i * n_axis + k]", stored = cast_text(computing, dtype, "a");
  std::string text = is_masked ? "T a = (T)initial;\nint64 k = 0;\n" : "T a = (T)x[i * n_axis];\nint64 k = 1;\n";
  if (is_scan) text += "y[i * n_axis] = " + stored + ";\n";
  text += std::string("for (; k < n_axis; ++k) {\n") + (is_masked ? "if (!m[i * n_axis + k]) continue;\n" : "") +
          "const T in0 = a, in1 = " + element + ";\nT out0;\n" + row.body + "\na = out0;\n" +
          (is_scan ? "y[i * n_axis + k] = " + stored + ";\n" : "") + "}\n";
  if (!is_scan) text += "y = " + stored + ";\n";
  for (size_t at; (at = text.find("int64 ")) != std::string::npos;) text.replace(at, 6, "long long ");
  const std::string in =
      std::string("raw ") + name(dtype) + " x, int64 n_axis, raw bool m, " + name(dtype) + " initial";
  const std::string out = std::string(is_scan ? "raw " : "") + name(dtype) + " y";
  return kernels.emplace(key, ElementwiseKernel(in, out, text, row.name, options)).first->second;
}

const ElementwiseFunction::Row& elementwise_row(const ElementwiseFunction& function) {
  return elementwise_table()[static_cast<size_t>(find_elementwise(function.name()))];
}

void check_binary(const ElementwiseFunction& function, const char* what) {
  if (function.nin() != 2) throw ValueError(std::string(what) + " only supported for binary functions");
  if (function.nout() != 1)
    throw ValueError(std::string(what) + " only supported for functions returning a single value");
}

/// The dtype that a fold runs in: of what the function makes of two elements. Raises TypeError where it takes none.
Dtype fold_dtype(const ElementwiseFunction& function, const Array& x, std::optional<Dtype> dtype) {
  const Array none = Array::empty({0}, dtype.value_or(x.dtype()), x.device());
  return function(none, none).dtype();
}

bool order_counts(std::string_view name) {
  for (const char* function : {"logaddexp", "logaddexp2", "hypot", "gcd", "lcm"})
    if (name == function) return false;
  return true;
}
std::optional<Scalar> identity_of(std::string_view name) {
  if (name == "logaddexp" || name == "logaddexp2") return Scalar(-INFINITY);
  if (name == "hypot" || name == "gcd") return Scalar(0);
  return {};
}

/// x with the reduced axes last, as [result's shape, folded length], and the result's shape.
struct Moved {
  Array x;
  Dims shape, kept;
  int64_t length = 1;

  Moved(const char* name, const Array& array, const std::optional<Dims>& axes, bool keepdims) {
    bool reduced[kMaxRank] = {};
    for (int axis = 0; axis < array.ndim(); ++axis) reduced[axis] = !axes;
    if (axes)
      for (int64_t axis : *axes) reduced[normalize_axis(name, axis, array.ndim())] = true;
    Dims order;
    for (int axis = 0; axis < array.ndim(); ++axis) {
      if (!reduced[axis]) order.push_back(axis);
      if (!reduced[axis] || keepdims) shape.push_back(reduced[axis] ? 1 : array.shape(axis));
      if (!reduced[axis]) kept.push_back(array.shape(axis));
    }
    for (int axis = 0; axis < array.ndim(); ++axis)
      if (reduced[axis]) order.push_back(axis), length *= array.shape(axis);
    x = array.transpose(order).contiguous();
  }
};

Array fold_sequentially(const ElementwiseFunction& function, const Array& x, const ReductionOptions& options) {
  const char* name = function.name();
  const Dtype dtype = fold_dtype(function, x, options.dtype);
  const int axes = options.axes ? options.axes->size() : x.ndim();
  if (axes > 1 && order_counts(name))
    throw ValueError(std::string("reduction operation '") + name +
                     "' is not reorderable, so at most one axis may be specified");
  const std::optional<Scalar> initial = options.initial ? options.initial : identity_of(name);
  if (options.where && !initial)
    throw ValueError(std::string("reduction operation '") + name +
                     "' does not have an identity, so to use a where mask one has to specify 'initial'");
  const Moved moved(name, x.astype(dtype, false), options.axes, options.keepdims);
  Array result = Array::empty(moved.shape, dtype, x.device());
  if (result.size() == 0) return result;
  if (moved.length == 0) {
    if (!initial)
      throw ValueError(std::string("zero-size array to reduction operation ") + name + " which has no identity");
    result.fill(*initial);
    return result;
  }
  const bool is_masked = options.where || options.initial;
  Array mask = Array::empty({1}, Dtype::bool_, x.device());
  if (is_masked) {
    Array all = Array::empty({}, Dtype::bool_, x.device());
    all.fill(true);
    mask = Moved(name, (options.where ? *options.where : all).broadcast_to(x.shape()), options.axes, false).x.ravel();
  }
  const Array flat = moved.x.ravel(), target = result.ravel();
  const Argument list[] = {flat, moved.length, mask, as_element(initial.value_or(Scalar(0)), dtype), target};
  sequential_kernel(elementwise_row(function), dtype, false, is_masked).call(list);
  return result;
}

}  // namespace
}  // namespace ops

Array reduce(const ReductionFunction& function, const Array& x, const ReductionOptions& options) {
  using namespace ops;
  if (!options.initial && !options.where) return function(x, options.axes, options.keepdims, options.dtype);
  const Row& row = reduction_row(function.name());
  if (row.rule == ResultRule::mean && options.where) return masked_mean(x, options);
  const char* combine = function_of_row(row.name);
  if (!combine) throw TypeError(std::string(row.name) + "() takes neither 'initial' nor 'where'");
  const Array counted = options.where ? masked(row, x, *options.where, options.initial) : x;
  const Array result = reduce_row(row, counted, options.axes, options.keepdims, options.dtype,
                                  {.may_be_empty = options.initial.has_value()});
  if (!options.initial) return result;
  const Scalar initial = as_element(*options.initial, result.dtype());
  if (counted.size() == 0 && !row.has_identity) {
    Array filled = result;
    filled.fill(initial);
    return filled;
  }
  return ElementwiseFunction(combine)(result, initial);
}

Array reduce_with(const ElementwiseFunction& function, const Array& x, const ReductionOptions& options) {
  using namespace ops;
  check_binary(function, "reduce");
  const char* row = row_of_function(function.name());
  if (!row) return fold_sequentially(function, x, options);
  if (reduction_row(row).rule == ResultRule::same) fold_dtype(function, x, options.dtype);  // raises TypeError
  return reduce(ReductionFunction(row), x, options);
}

Array accumulate_with(const ElementwiseFunction& function, const Array& x, int64_t axis, std::optional<Dtype> dtype) {
  using namespace ops;
  check_binary(function, "accumulate");
  const std::string_view name = function.name();
  const int along = normalize_axis("accumulate", axis, x.ndim());
  if (name == "add") return scan(x, ScanOperation::add, axis, {.dtype = dtype});
  if (name == "multiply") return scan(x, ScanOperation::multiply, axis, {.dtype = dtype});
  if (name == "minimum") return scan(x, ScanOperation::minimum, axis, {.dtype = dtype});
  if (name == "maximum") return scan(x, ScanOperation::maximum, axis, {.dtype = dtype});
  const Dtype computed = fold_dtype(function, x, dtype);
  Array result = Array::empty(x.shape(), computed, x.device());
  if (x.size() == 0) return result;
  const Moved moved(function.name(), x.astype(computed, false), Dims{along}, true);
  const Array flat = moved.x.ravel(), target = Array::empty({x.size()}, computed, x.device()),
              mask = Array::empty({1}, Dtype::bool_, x.device());
  const Argument arguments[] = {flat, moved.length, mask, as_element(Scalar(0), computed), target};
  sequential_kernel(elementwise_row(function), computed, true, false)
      .call(arguments, {.size = x.size() / moved.length});
  Dims order;
  for (int k = 0; k < x.ndim(); ++k)
    if (k != along) order.push_back(k);
  order.push_back(along);
  Array(result.transpose(order)).assign(target.reshape(moved.x.shape()));
  return result;
}

}  // namespace iruka
