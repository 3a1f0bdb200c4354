#include "ops/reduce/reduction_text.h"

#include "ops/elementwise/cast_text.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;

/// An accumulator's final value, `value`, as the output.
std::string output_text(Dtype accumulator, Dtype output) {
  if (accumulator == Dtype::bool_ && output == Dtype::bool_) return "(value != 0)";
  return cast_text(computing_dtype(accumulator), output, "value");
}

std::string finish_text(const Row& row, const ReductionTypes& types) {
  const bool is_moments = row.rule == ResultRule::moments;
  const char* value = is_moments ? "R" : carries_pair(row.rule) ? "Value" : "A";
  const Dtype result = is_moments ? real_dtype(types.accumulator) : types.accumulator;
  return std::string("template <class P> static IRUKA_INLINE Out finish(P ") + (is_moments ? "m" : "a") +
         ", [[maybe_unused]] double count) {\n  const " + value + " value = " + value + "(" + row.finish +
         ");\n  return " + output_text(result, types.output) + ";\n}\n";
}

}  // namespace

std::string computing_type(Dtype dtype) {
  return dtype == Dtype::bool_ ? "unsigned char" : info(computing_dtype(dtype)).c_type;
}

std::string start_text(Start start, Dtype accumulator) {
  if (start == Start::zero) return "A(0)";
  if (start == Start::one) return "A(1)";
  if (start == Start::ones) return accumulator == Dtype::bool_ ? "A(1)" : "A(~A(0))";
  const bool highest = start == Start::highest;
  const std::string infinity = start == Start::nan ? "NAN" : highest ? "INFINITY" : "-INFINITY";
  if (is_complex(accumulator)) return "A(" + infinity + ", " + infinity + ")";
  if (kind(accumulator) == Kind::floating) return "A(" + infinity + ")";
  if (accumulator == Dtype::bool_) return highest ? "A(1)" : "A(0)";
  if (kind(accumulator) == Kind::unsigned_integer) return highest ? "A(~A(0))" : "A(0)";
  const std::string most = "A((1ull << (sizeof(A) * 8 - 1)) - 1)";
  return highest ? most : "A(-" + most + " - 1)";
}

std::string types_text(const Row& row, const ReductionTypes& types) {
  const bool is_bool = types.input == Dtype::bool_;
  std::string text = using_text("In", is_bool ? "unsigned char" : info(types.input).c_type) +
                     using_text("C", computing_type(types.input)) + using_text("Out", info(types.output).c_type) +
                     constant_text("bool", "kIsTruth", is_bool) +
                     constant_text("bool", "kIsComplex", is_complex(types.input));
  if (row.rule == ResultRule::moments) text += using_text("R", info(real_dtype(types.accumulator)).c_type);
  return text;
}

std::string combine_text(const Row& row, const ReductionTypes& types) {
  std::string text =
      std::string("template <class V> static IRUKA_INLINE V combine(V a, V b) { return ") + row.combine + "; }\n";
  if (row.rule != ResultRule::index) return text + finish_text(row, types);
  return text + "template <class V> static IRUKA_INLINE auto is_before(V b, V a) { return b " +
         (row.start == Start::highest ? "<" : ">") + " a; }\n";
}

const char* partials_of(const Row& row) {
  return row.rule == ResultRule::index ? "Bests" : row.rule == ResultRule::moments ? "Moments" : "Sums";
}

std::string include_partials(const Row& row) {
  return include_text("reduce", row.rule == ResultRule::index     ? "bests"
                                : row.rule == ResultRule::moments ? "moments"
                                                                  : "sums");
}

}  // namespace iruka::ops
