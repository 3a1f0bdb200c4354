// Chooses among the templates of kernels/ and writes the types, the row's functions and the entry.
#include "ops/reduce/reduction_emit.h"

#include <algorithm>

#include "ops/elementwise/cast_text.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;

/// The type whose vectors hold the stored elements.
std::string raw_type(Dtype dtype) {
  if (dtype == Dtype::float16) return "_Float16";
  return dtype == Dtype::bfloat16 ? "unsigned short" : computing_type(dtype);
}

class Emitter {
 public:
  Emitter(const Row& row, const ReductionVariant& variant) : row_(row), variant_(variant) {}

  std::string text() const {
    return headers() + "using namespace iruka::reduction;\n" + types() + row() +
           "extern \"C\" void iruka_entry(const unsigned char* block, ptrdiff_t begin, ptrdiff_t end) {\n  " + call() +
           "(block, begin, end);\n}\n";
  }

 private:
  bool is_rows() const { return variant_.form == ReductionForm::rows; }
  bool is_short() const { return variant_.form == ReductionForm::short_rows; }
  bool is_periodic() const { return variant_.form == ReductionForm::periodic; }
  bool indexed() const { return row_.rule == ResultRule::index; }
  bool moments() const { return row_.rule == ResultRule::moments; }
  /// Complex numbers have no vector type.
  bool has_vectors() const { return !is_short() && !is_complex(variant_.types.input); }
  bool joins_by_tree() const {
    return !row_.has(Row::kExact) && computing_dtype(variant_.types.input) == variant_.types.accumulator &&
           is_inexact(variant_.types.accumulator);
  }
  /// Whether float32 may be added in blocks: only where the result is float32 as well.
  bool adds_in_blocks() const {
    return row_.rule == ResultRule::sum && row_.has(Row::kAddsElements) && variant_.types.input == Dtype::float32 &&
           variant_.types.output == Dtype::float32;
  }
  /// Whether the sum counts nonzero elements. Halves are vectors of bits, in which -0 is not zero.
  bool counts_booleans() const {
    const Dtype input = variant_.types.input;
    if (row_.rule == ResultRule::count) return has_vectors() && !is_half(input);
    return row_.rule == ResultRule::sum && row_.has(Row::kAddsElements) && input == Dtype::bool_ &&
           is_integer(variant_.types.accumulator);
  }
  /// Whether rows come in the order of their index, so that the first of equal values is met first.
  bool rows_are_ordered() const { return variant_.reduced_rank <= 1 && has_vectors(); }
  /// Rows need many independent additions; columns need few elements outside of vectors.
  int64_t lanes() const {
    return is_rows() ? 32 : std::min<int64_t>(32, 64 / itemsize(computing_dtype(variant_.types.input)));
  }

  std::string headers() const {
    std::string text = include_partials(row_) + include_text("reduce", is_short()      ? "cpu/elements"
                                                                       : has_vectors() ? "cpu/vectors"
                                                                                       : "cpu/quads");
    if (is_rows())
      text += include_text("reduce", indexed()           ? "cpu/best_accumulator"
                                     : moments()         ? "cpu/moments_accumulator"
                                     : adds_in_blocks()  ? "cpu/narrow_blocks"
                                     : counts_booleans() ? "cpu/counts"
                                     : joins_by_tree()   ? "cpu/tree"
                                                         : "cpu/plain");
    else if (!is_short())
      text += include_text("reduce", moments()            ? "cpu/moments_strip"
                                     : !indexed()         ? "cpu/sum_strip"
                                     : rows_are_ordered() ? "cpu/ordered_best_strip"
                                                          : "cpu/best_strip");
    return text + include_text("reduce", is_rows()       ? "cpu/rows"
                                         : is_short()    ? "cpu/short_rows"
                                         : is_periodic() ? "cpu/periodic"
                                                         : "cpu/columns");
  }

  std::string types() const {
    std::string text = "struct Types {\n" + types_text(row_, variant_.types) +
                       using_text("A", computing_type(variant_.types.accumulator)) + using_text("Narrow", "A") +
                       constant_text("int", "kSpacing", variant_.spacing);
    if (has_vectors())
      text += using_text("Raw", raw_type(variant_.types.input)) + constant_text("int", "kLanes", lanes());
    return text + "};\n";
  }

  std::string row() const {
    std::string text = std::string("struct Row : ") + (has_vectors() ? "Lanes" : "Elements") + "<Types> {\n" +
                       "static IRUKA_INLINE A start() { return " + start_text(row_.start, variant_.types.accumulator) +
                       "; }\nstatic IRUKA_INLINE A map(C x) { return " + row_.map + "; }\n" +
                       combine_text(row_, variant_.types);
    if (has_vectors()) text += std::string("static IRUKA_INLINE VA map(VC x) { return ") + row_.map + "; }\n";
    if (adds_in_blocks() && has_vectors())  // the cast value is added: the map is "cast(...)"
      text += "static constexpr bool kAddsInBlocks = true;\nstatic IRUKA_INLINE VC prepare(VC x) { return " +
              std::string(row_.map).substr(4) + "; }\n";
    return text + "};\n";
  }

  /// The accumulator of a row, or those of a strip of columns.
  std::string accumulator(const std::string& loads) const {
    if (is_rows()) {
      if (indexed()) return "BestAccumulator<" + loads + ">";
      if (moments()) return "MomentsAccumulator<" + loads + ">";
      const char* blocks = adds_in_blocks()    ? "NarrowBlocks"
                           : counts_booleans() ? "Counts"
                           : joins_by_tree()   ? "Tree"
                                               : "Plain";
      return std::string("Accumulator<") + blocks + "<" + loads + ">>";
    }
    const char* strip = moments()            ? is_periodic() ? "PeriodicMomentsStrip" : "MomentsStrip"
                        : !indexed()         ? "SumStrip"
                        : rows_are_ordered() ? "OrderedBestStrip"
                                             : "BestStrip";
    return strip + ("<" + loads) + ", " + std::to_string(is_periodic() ? kPeriodicWidth : kStripWidth) + ">";
  }

  std::string call() const {
    const std::string partials = std::string(partials_of(row_)) + "<Row>";
    if (is_short())
      return "reduce_short_rows<" + partials + ", " + (moments() ? "ShortMoments" : "OneByOne") + ", " +
             std::to_string(variant_.row_length) + ">";
    const char* name = is_rows() ? "reduce_rows" : is_periodic() ? "reduce_periodic" : "reduce_columns";
    return std::string(name) + "<" + accumulator((has_vectors() ? "Vectors<" : "Quads<") + partials + ">") + ", " +
           (variant_.is_chunked ? "true" : "false") + ", " + std::to_string(variant_.kept_rank) + ", " +
           std::to_string(variant_.reduced_rank) + ">";
  }

  const Row& row_;
  const ReductionVariant& variant_;
};

}  // namespace

std::string emit_reduction(const Row& row, const ReductionVariant& variant) { return Emitter(row, variant).text(); }

std::vector<std::string> reduction_options(const ReductionVariant& variant) {
  if (variant.form == ReductionForm::short_rows) return {};
  return {"-O1"};
}

}  // namespace iruka::ops
