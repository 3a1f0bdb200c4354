// Folds along an axis with any elementwise function of two inputs: generated kernels, one loop for each line.
// Sums and similar functions use the table of reductions, which has more orders of traversal.
#include "iruka/fold.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/device.h"
#include "iruka/statistics.h"
#include "ops/elementwise/cast_text.h"
#include "ops/elementwise/loop_types.h"
#include "ops/permanent_cache.h"
#include "ops/reduce/folding.h"

namespace iruka {
namespace ops {
namespace {

constexpr Folding kFoldings[] = {
    {"add", 0, "sum"},
    {"multiply", 1, "prod"},
    {"maximum", {}, "max"},
    {"minimum", {}, "min"},
    {"logical_and", 1, "all"},
    {"logical_or", 0, "any"},
    {"logical_xor", 0, "logical_xor"},
    {"bitwise_and", -1, "bitwise_and"},
    {"bitwise_or", 0, "bitwise_or"},
    {"bitwise_xor", 0, "bitwise_xor"},
    {"fmax", {}, "nanmax"},
    {"fmin", {}, "nanmin"},
    {"hypot", 0, ""},
    {"gcd", 0, ""},
    {"logaddexp", -INFINITY, ""},
    {"logaddexp2", -INFINITY, ""},
};

using Row = ElementwiseFunction::Row;

/// An array in C order as lines along one axis: element (before, k, after) of [before][length][after].
struct Lines {
  Array memory;  ///< flat
  int64_t before = 1, length = 1, after = 1;

  int64_t count() const { return before * after; }
};

Lines lines_of(const Array& x, int axis) {
  Lines lines;
  for (int k = 0; k < axis; ++k) lines.before *= x.shape(k);
  for (int k = axis + 1; k < x.ndim(); ++k) lines.after *= x.shape(k);
  lines.length = x.ndim() ? x.shape(axis) : 1;
  lines.memory = x.contiguous().reshape({-1});
  return lines;
}

/// Whether the array with its axes reversed is in C order. It is then folded in that form, without a copy.
bool lies_reversed(const Array& x) { return x.ndim() > 1 && x.is_f_contiguous() && !x.is_c_contiguous(); }

enum class Walk : uint8_t { reduce, accumulate, segments };

KernelOptions options_with(std::string preamble) {
  KernelOptions options;
  options.preamble = std::move(preamble);
  options.diagnose_early = false;
  options.options = {"--fmad=false"};  // as NumPy rounds, and the same on every device
  return options;
}

/// The step as a function of stored values: the accumulator and an element.
std::string step_text(const Row& row, Dtype loop) {
  const Dtype computing = computing_dtype(loop);
  return body_names(row, loop) + "\ninline S step(S a, S b) {\nconst T in0 = " + cast_text(loop, computing, "a") +
         ", in1 = " + cast_text(loop, computing, "b") + ";\nT out0;\n" + row.body + "\nreturn " +
         cast_text(computing, loop, "out0") + ";\n}\n";
}

/// Where line i of [before][length][after] begins, with `pitch` elements from one `before` to the next.
constexpr const char* kLine = "const long long first = i / after * pitch + i % after + offset;\n";

ElementwiseKernel make_fold_kernel(const Row& row, Walk walk, Dtype from, Dtype loop, bool has_initial, bool masked) {
  auto element = [&](const std::string& index) { return cast_text(from, loop, "x[" + index + "]"); };
  const std::string own = name(from), made = name(loop), lines = "int64 length, int64 after, int64 pitch, int64 offset";
  std::string in = "raw const " + own + " x, " + lines, out = made + " y", body = kLine;
  switch (walk) {
    case Walk::reduce:
      if (has_initial) in += ", " + made + " initial";
      if (masked) in += ", raw const bool mask";
      body += "S a = " + (has_initial ? "initial" : element("first")) +
              ";\nfor (long long k = " + (has_initial ? "0" : "1") + "; k < length; ++k) " +
              (masked ? "if (mask[first + k * after]) " : "") + "a = step(a, " + element("first + k * after") +
              ");\ny = a;";
      break;
    case Walk::accumulate:
      out = "raw " + out;
      body += "S a = " + element("first") + ";\ny[first] = a;\nfor (long long k = 1; k < length; ++k) {\na = step(a, " +
              element("first + k * after") + ");\ny[first + k * after] = a;\n}";
      break;
    case Walk::segments:
      in += ", raw const int64 starts, int64 segments";
      body =
          "const long long segment = i / after % segments, begin = starts[segment];\n"
          "const long long end = segment + 1 < segments ? starts[segment + 1] : length;\n"
          "const long long first = i / after / segments * pitch + i % after + offset;\n"
          "S a = " +
          element("first + begin * after") + ";\nfor (long long k = begin + 1; k < end; ++k) a = step(a, " +
          element("first + k * after") + ");\ny = a;";
      break;
  }
  return ElementwiseKernel(in, out, body, row.name + std::string("_fold"), options_with(step_text(row, loop)));
}

const ElementwiseKernel& fold_kernel(const Row& row, Walk walk, Dtype from, Dtype loop, bool has_initial = false,
                                     bool masked = false) {
  static constinit PermanentCache<std::tuple<const Row*, Walk, Dtype, Dtype, bool, bool>, ElementwiseKernel> kernels;
  return kernels.get({&row, walk, from, loop, has_initial, masked},
                     [&] { return make_fold_kernel(row, walk, from, loop, has_initial, masked); });
}

/// The dtype of the fold's loop. The result is the next accumulator, so their dtypes must be equal.
Dtype fold_dtype(const ElementwiseFunction& function, Dtype input, std::optional<Dtype> dtype, const char* method) {
  const Row& row = function.row();
  if (input_count(row) != 2) throw ValueError(std::string(method) + " only supported for binary functions");
  if (output_count(row) != 1)
    throw ValueError(std::string(method) + " only supported for functions returning a single value");
  const std::string_view named = row.name;
  if (!dtype && (named == "add" || named == "multiply") && kind(input) <= Kind::unsigned_integer)
    return kind(input) == Kind::unsigned_integer ? Dtype::uint64 : Dtype::int64;
  const Array like = Array::empty({0}, dtype.value_or(input), cpu());
  const Argument pair[] = {Argument(like), Argument(like)};
  const LoopTypes types = loop_types(row, pair, {});
  const bool is_logical = row.signature[0] == '?';
  const bool gives_dtype = !dtype || types.types[2] == *dtype;
  if (!gives_dtype || types.types[0] != types.types[2] || types.types[1] != types.types[2] ||
      (!is_logical && types.types[0] != types.loop))
    throw TypeError("No loop matching the specified signature and casting was found for ufunc " + std::string(named));
  return types.types[2];
}

/// Lines shorter than this are one loop each, and so are lines of any length if there are enough of them for all
/// threads.
constexpr int64_t kShortLine = 64, kManyLines = 1 << 14;

/// How many pieces to cut each line into.
int64_t pieces_of(const Lines& lines) {
  if (lines.length < kShortLine || lines.count() >= kManyLines) return 1;
  return std::min(lines.length / 16, kManyLines / lines.count());
}

/// One fold for each line, as [before][after].
Array fold_lines(const Row& row, const Lines& lines, Dtype loop) {
  const int64_t pieces = pieces_of(lines), length = lines.length / pieces, whole = length * pieces;
  const ElementwiseKernel& kernel = fold_kernel(row, Walk::reduce, lines.memory.dtype(), loop);
  const int64_t pitch = lines.length * lines.after;
  auto run = [&](int64_t count, int64_t after, int64_t offset) {
    const Array result = Array::empty({lines.before * after}, loop, lines.memory.device());
    kernel(lines.memory, count, after, pitch, offset, result);
    return result;
  };
  // Neighbouring elements belong to different pieces, so that memory is read in order.
  const Array partial = run(length, lines.after * pieces, 0);
  if (pieces == 1) return partial;
  const Array most = fold_lines(row, {partial, lines.before, pieces, lines.after}, loop);
  if (whole == lines.length) return most;
  const Array rest = run(lines.length - whole, lines.after, whole * lines.after);
  return ElementwiseFunction(row.name)(most, rest);
}

Dims without_axis(const Dims& shape, int axis, bool keep) {
  Dims result;
  for (int k = 0; k < shape.size(); ++k)
    if (k != axis || keep) result.push_back(k == axis ? 1 : shape[k]);
  return result;
}

/// Along one axis, which stays with extent 1, of a function whose operands may change places.
Array fold_axis(const Row& row, const Array& x, int axis, Dtype loop) {
  return fold_lines(row, lines_of(x, axis), loop).reshape(without_axis(x.shape(), axis, true));
}

/// Without axes: each element is its own fold.
Array fold_one(const ElementwiseFunction& function, const Array& x, const FoldRules& rules,
               const std::optional<Scalar>& start) {
  const Folding* folding = find_folding(function.row().name);
  const bool changes = rules.initial || (start && folding && !*folding->reduction);  // hypot and gcd give sizes
  const Array folded = changes ? function(*start, x) : x;
  return rules.where ? where(*rules.where, folded, *start) : folded;
}

/// The axes that are folded, sorted; all axes if none are given.
std::vector<int> fold_axes(const char* method, const std::optional<Dims>& axes, int ndim) {
  std::vector<int> result;
  for (int axis = 0; !axes && axis < ndim; ++axis) result.push_back(axis);
  for (int64_t named : axes.value_or(Dims())) {
    if (ndim == 0 && (named == 0 || named == -1)) continue;
    result.push_back(normalize_axis(method, named, ndim));
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) throw ValueError("duplicate value in 'axis'");
  return result;
}

Array drop_axes(Array x, const std::vector<int>& axes, bool keepdims) {
  for (auto axis = axes.rbegin(); !keepdims && axis != axes.rend(); ++axis) x = x.squeeze(*axis);
  return x;
}

std::optional<Scalar> identity_of(const Row& row, const FoldRules& rules, Dtype loop) {
  const std::optional<Scalar> identity = fold_traits(row.name).identity;
  if (!identity || !rules.has_identity) return {};
  return identity->as_element(loop);
}

/// The caller's initial value. Raises what check_element raises.
std::optional<Scalar> initial_of(const FoldRules& rules, Dtype loop) {
  if (!rules.initial) return {};
  check_element(*rules.initial, loop);
  return rules.initial->as_element(loop);
}

/// Raises ValueError where an integer is raised to a negative power. The exponents are all elements but the first of a
/// line, or all of them after `initial`.
void check_powers(const Row& row, const Array& x, int axis, Dtype loop, bool has_initial = false,
                  const Array* mask = nullptr) {
  if (row.rule != Rule::power) return;
  std::vector<Index> rest(static_cast<size_t>(axis), Slice{});
  rest.push_back(Slice{has_initial ? 0 : 1, {}, {}});
  const Array wanted = mask ? mask->broadcast_to(x.shape()).index(rest) : Array();
  check_exponents(Argument(x.index(rest)), loop, mask ? &wanted : nullptr);
}

/// The same for segments, whose first elements are bases.
void check_segment_powers(const Row& row, const Array& x, const Array& starts, int axis, Dtype loop) {
  if (row.rule != Rule::power) return;
  const int64_t length = x.shape(axis);
  std::vector<int64_t> bounds = starts.to_vector<int64_t>();
  bounds.push_back(length);
  Dims shape;
  for (int k = 0; k < x.ndim(); ++k) shape.push_back(k == axis ? length : 1);
  const Array mask = Array::empty(shape, Dtype::bool_, cpu());
  bool* const is_exponent = static_cast<bool*>(mask.data());
  std::fill_n(is_exponent, length, false);
  for (size_t k = 0; k + 1 < bounds.size(); ++k)
    if (bounds[k] + 1 < bounds[k + 1]) std::fill(is_exponent + bounds[k] + 1, is_exponent + bounds[k + 1], true);
  const Array wanted = mask.to_device(x.device());
  check_exponents(Argument(x), loop, &wanted);
}

int64_t folded_length(const Array& x, const std::vector<int>& axes) {
  int64_t length = 1;
  for (int axis : axes) length *= x.shape(axis);
  return length;
}

/// An axis without elements gives the fold's initial value.
Array fold_nothing(const Row& row, const Array& x, const std::vector<int>& axes, Dtype loop,
                   const std::optional<Scalar>& start) {
  Dims shape = x.shape();
  int64_t length = 1;
  for (int axis : axes) length *= std::exchange(shape[axis], 1);
  Array result = Array::empty(shape, loop, x.device());
  if (length > 0) return result;
  if (!start)
    throw ValueError(std::string("zero-size array to reduction operation ") + row.name + " which has no identity");
  result.fill(*start);
  return result;
}

/// The scan that computes the function's accumulate.
std::optional<ScanOperation> scan_operation(std::string_view function) {
  if (function == "add") return ScanOperation::add;
  if (function == "multiply") return ScanOperation::multiply;
  if (function == "minimum") return ScanOperation::minimum;
  if (function == "maximum") return ScanOperation::maximum;
  return {};
}

Array fold_by_reduction(const Folding& folding, const Array& x, const std::vector<int>& axes, Dtype loop) {
  Dims named;
  for (int axis : axes) named.push_back(axis);
  return ReductionFunction(folding.reduction)(x, named, true, loop);
}

/// The fold of the array with its axes reversed, transposed back.
Array fold_reversed(const ElementwiseFunction& function, const Array& x, const std::vector<int>& axes,
                    FoldRules rules) {
  Dims reversed;
  for (int axis : axes) reversed.push_back(x.ndim() - 1 - axis);
  const Array mask = rules.where ? rules.where->broadcast_to(x.shape()).transpose() : Array();
  if (rules.where) rules.where = &mask;
  return fold(function, x.transpose(), reversed, rules).transpose();
}

}  // namespace

Array fold_in_order(const ElementwiseFunction& function, const Array& x, int axis, Dtype loop,
                    const std::optional<Scalar>& initial, const Array* where) {
  const Lines lines = lines_of(x, axis);
  const Array result = Array::empty({lines.count()}, loop, x.device());
  std::vector<Argument> list = {lines.memory, lines.length, lines.after, lines.length * lines.after, int64_t{0}};
  if (initial) list.push_back(Argument(*initial));
  const Array mask = where ? where->broadcast_to(x.shape()).contiguous().reshape({-1}) : Array();
  if (where) list.push_back(mask);
  list.push_back(result);
  fold_kernel(function.row(), Walk::reduce, x.dtype(), loop, initial.has_value(), where != nullptr).fill(list);
  return result.reshape(without_axis(x.shape(), axis, true));
}

const Folding* find_folding(std::string_view function) {
  const auto* found = std::find_if(std::begin(kFoldings), std::end(kFoldings),
                                   [&](const Folding& folding) { return folding.function == function; });
  return found == std::end(kFoldings) ? nullptr : found;
}

Array factors_after(const Array& x, const std::optional<Scalar>& initial) {
  const bool is_infinite = initial && !is_complex(initial->dtype()) && !std::isfinite(initial->as_double());
  return is_infinite && kind(x.dtype()) == Kind::floating ? ElementwiseFunction("sign")(x) : x;
}

const Folding* folding_of_reduction(std::string_view reduction) {
  if (reduction == "nansum" || reduction == "nanprod") reduction.remove_prefix(3);
  const auto* found = std::find_if(std::begin(kFoldings), std::end(kFoldings),
                                   [&](const Folding& folding) { return folding.reduction == reduction; });
  return found == std::end(kFoldings) ? nullptr : found;
}

}  // namespace ops

FoldTraits fold_traits(std::string_view function) {
  const ops::Folding* folding = ops::find_folding(function);
  if (!folding) return {{}, false};
  if (!folding->identity) return {{}, true};
  if (function.starts_with("logical_")) return {Scalar(*folding->identity != 0), true};
  if (std::isinf(*folding->identity)) return {Scalar(*folding->identity), true};
  return {Scalar(static_cast<int64_t>(*folding->identity)), true};
}

Array fold(const ElementwiseFunction& function, const Array& x, std::optional<Dims> named, const FoldRules& given) {
  using namespace ops;
  FoldRules rules = given;
  const Array mask = given.where ? given.where->broadcast_to(x.shape()) : Array();
  if (given.where) rules.where = &mask;
  const Row& row = function.row();
  const Dtype loop = fold_dtype(function, x.dtype(), rules.dtype, "reduce");
  const Folding* folding = find_folding(row.name);
  const std::vector<int> axes = fold_axes(row.name, named, x.ndim());
  if (!folding && axes.size() > 1)
    throw ValueError(std::string("reduction operation '") + row.name +
                     "' is not reorderable, so at most one axis may be specified");
  const std::optional<Scalar> identity = identity_of(row, rules, loop), initial = initial_of(rules, loop);
  const std::optional<Scalar> start = initial ? initial : identity;
  if (rules.where && !start)
    throw ValueError(std::string("reduction operation '") + row.name +
                     "' does not have an identity, so to use a where mask one has to specify 'initial'");
  if (axes.empty() && x.size() > 0) return fold_one(function, x.astype(loop, false), rules, start).astype(loop);
  if (folded_length(x, axes) == 0 || x.size() == 0)
    return drop_axes(fold_nothing(row, x, axes, loop, start), axes, rules.keepdims);
  Array result = x;
  if (lies_reversed(x) && !(folding && *folding->reduction)) return fold_reversed(function, x, axes, rules);
  if (!folding) {
    check_powers(row, x, axes[0], loop, initial.has_value(), rules.where);
    result = fold_in_order(function, x, axes[0], loop, initial, rules.where);
    return drop_axes(result, axes, rules.keepdims);
  }
  // Masked elements are replaced by a value that does not change the result.
  if (rules.where) result = where(*rules.where, x.astype(loop, false), identity ? *identity : *start);
  if (row.name == std::string_view("multiply")) result = factors_after(result, initial);
  if (*folding->reduction) {
    result = fold_by_reduction(*folding, result, axes, loop);
  } else {
    for (int axis : axes) result = fold_axis(row, result, axis, loop);
  }
  const bool is_single = folded_length(x, axes) == 1 && !*folding->reduction;
  if (initial || (is_single && identity)) result = function(*start, result);
  if (rules.where && initial && !*folding->reduction) {
    // A line that is masked completely gives the initial value unchanged; hypot would give its magnitude.
    Dims lines;
    for (const int axis : axes) lines.push_back(axis);
    result = where(ReductionFunction("any")(*rules.where, lines, true), result, *start);
  }
  return drop_axes(result.astype(loop, false), axes, rules.keepdims);
}

Array accumulate(const ElementwiseFunction& function, const Array& x, int64_t axis, std::optional<Dtype> dtype) {
  using namespace ops;
  const Dtype loop = fold_dtype(function, x.dtype(), dtype, "accumulate");
  if (x.ndim() == 0) throw TypeError("cannot accumulate on a scalar");
  const int along = normalize_axis(function.name(), axis, x.ndim());
  // float16 is rounded at each step, which a scan does not do.
  if (const auto operation = scan_operation(function.row().name); operation && !is_half(loop))
    return scan(x, *operation, along, {.dtype = loop});
  if (lies_reversed(x)) return accumulate(function, x.transpose(), x.ndim() - 1 - along, dtype).transpose();
  const Array result = Array::empty(x.shape(), loop, x.device());
  if (x.size() == 0) return result;
  check_powers(function.row(), x, along, loop);
  const Lines lines = lines_of(x, along);
  const ElementwiseKernel& kernel = fold_kernel(function.row(), Walk::accumulate, x.dtype(), loop);
  const Array flat = result.reshape({-1});
  const Argument list[] = {lines.memory, lines.length, lines.after, lines.length * lines.after, int64_t{0}, flat};
  kernel.fill(list, {.size = lines.count()});
  return result;
}

Array fold_segments(const ElementwiseFunction& function, const Array& x, const Array& starts, int64_t axis,
                    std::optional<Dtype> dtype) {
  using namespace ops;
  const Dtype loop = fold_dtype(function, x.dtype(), dtype, "reduceat");
  if (x.ndim() == 0) throw TypeError("cannot reduceat on a scalar");
  const int along = normalize_axis(function.name(), axis, x.ndim());
  const int64_t segments = starts.size(), length = x.shape(along);
  if (segments > 0) {
    const int64_t low = min(starts).item().as_int64(), high = max(starts).item().as_int64();
    if (low < 0 || high >= length)
      throw IndexError("index " + std::to_string(low < 0 ? low : high) + " out-of-bounds in " + function.name() +
                       ".reduceat [0, " + std::to_string(length) + ")");
  }
  if (lies_reversed(x)) return fold_segments(function, x.transpose(), starts, x.ndim() - 1 - along, dtype).transpose();
  Dims shape = x.shape();
  shape[along] = segments;
  const Array result = Array::empty(shape, loop, x.device());
  if (result.size() == 0) return result;
  check_segment_powers(function.row(), x, starts, along, loop);
  const Lines lines = lines_of(x, along);
  fold_kernel(function.row(), Walk::segments, x.dtype(), loop)(lines.memory, lines.length, lines.after,
                                                               lines.length * lines.after, int64_t{0},
                                                               starts.contiguous(), segments, result.reshape({-1}));
  return result;
}

}  // namespace iruka
