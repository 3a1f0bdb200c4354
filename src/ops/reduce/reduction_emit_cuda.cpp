// Chooses among the templates of kernels/ and writes the types, the row's functions and the entry.
#include "ops/reduce/reduction_emit_cuda.h"

#include "ops/elementwise/cast_text.h"
#include "ops/reduce/reduction_plan_cuda.h"

namespace iruka::ops {
namespace {

using Row = ReductionFunction::Row;

class Emitter {
 public:
  Emitter(const Row& row, const ReductionVariant& variant) : row_(row), variant_(variant) {}

  std::string text() const {
    const std::string arguments = std::to_string(variant_.kept_rank) + ", " + std::to_string(variant_.reduced_rank);
    return headers() + "using namespace iruka::reduction;\n" + types() + row() + "using Reduction = " + reduction() +
           ";\n" +
           grid_entry_text(function() + ", " + arguments + ">", "BlockArguments<" + arguments + ">", kBlockThreads);
  }

 private:
  bool indexed() const { return row_.rule == ResultRule::index; }
  bool moments() const { return row_.rule == ResultRule::moments; }
  bool pairs() const { return carries_pair(row_.rule); }
  bool is_rows() const { return variant_.form == ReductionForm::rows; }
  bool is_short() const { return variant_.form == ReductionForm::short_rows; }
  int64_t lanes() const { return variant_.vector_bytes ? variant_.vector_bytes / itemsize(variant_.types.input) : 1; }

  std::string headers() const {
    std::string text = include_partials(row_);
    if (pairs()) text += include_text("reduce", "pair");
    if (is_rows())
      text += include_text("reduce", indexed() ? "cuda/best_walk" : moments() ? "cuda/moments_walk" : "cuda/sum_walk");
    else if (!is_short())
      text += include_text("reduce", indexed()   ? "cuda/best_columns"
                                     : moments() ? "cuda/moments_columns"
                                                 : "cuda/sum_columns");
    return text + include_text("reduce", is_rows() ? "cuda/rows" : is_short() ? "cuda/short_rows" : "cuda/columns");
  }

  /// The type in which a few elements are added: 32-bit integers if that is exact, float32 if it rounds less than a
  /// pairwise sum.
  std::string narrow_type() const {
    const ReductionTypes& types = variant_.types;
    if (row_.rule == ResultRule::count) return "int";
    const std::string value = computing_type(types.accumulator);
    if (row_.rule == ResultRule::extremes) return "A";
    if (row_.rule == ResultRule::numbers) return "Pair<" + (types.input == Dtype::float32 ? "float" : value) + ", int>";
    const bool adds = row_.has(Row::kAddsElements);
    if (adds && !is_inexact(types.input) && itemsize(types.input) <= 2) return "int";
    if (adds && types.input == Dtype::float32 && types.output == Dtype::float32) return "float";
    return "A";
  }

  std::string accumulator_type() const {
    if (!pairs()) return "Value";
    return row_.rule == ResultRule::numbers ? "Pair<Value, long long>" : "Pair<Value, Value>";
  }

  std::string word_type() const {
    switch (lanes() > 1 ? variant_.vector_bytes : 0) {
      case 16: return "uint4";
      case 8: return "uint2";
      case 4: return "unsigned int";
      case 2: return "unsigned short";
      default: return "In";
    }
  }

  std::string types() const {
    std::string text = "struct Types {\n" + types_text(row_, variant_.types) +
                       using_text("Value", computing_type(variant_.types.accumulator)) +
                       using_text("A", accumulator_type()) + using_text("Narrow", narrow_type()) +
                       using_text("Word", word_type()) +
                       using_text("Index", variant_.is_wide ? "long long" : "unsigned int") +
                       constant_text("int", "kThreads", kBlockThreads) + constant_text("int", "kLanes", lanes()) +
                       constant_text("int", "kLoads", lanes() > 4 || indexed() ? 2 : 4) +
                       constant_text("bool", "kDense", variant_.spacing != 0);
    if (row_.rule == ResultRule::numbers) text += using_text("First", "decltype(Narrow::first)");
    return text + "};\n";
  }

  std::string start() const {
    const Dtype accumulator = variant_.types.accumulator;
    if (row_.rule == ResultRule::numbers) return "static inline A start() { return A(Value(0), 0); }\n";
    if (!pairs()) return "static inline A start() { return " + start_text(row_.start, accumulator) + "; }\n";
    const auto end = [&](const char* name, Start start) {
      return std::string("static inline Value ") + name + "() { using A = Value; return " +
             start_text(start, accumulator) + "; }\n";
    };
    return end("highest", Start::highest) + end("lowest", Start::lowest) +
           "static inline A start() { return A(highest(), lowest()); }\n";
  }

  std::string row() const {
    return "struct Row : Words<Types> {\n" + start() + "static inline Narrow map(C x) { return " + row_.map + "; }\n" +
           combine_text(row_, variant_.types) + "};\n";
  }

  std::string reduction() const {
    const std::string partials = std::string(partials_of(row_)) + "<Row>";
    if (is_short()) return partials;
    const char* kind = indexed() ? "Best" : moments() ? "Moments" : "Sum";
    return kind + std::string(is_rows() ? "Walk<" : "Columns<") + partials + ">";
  }

  std::string function() const {
    const std::string chunked = variant_.is_chunked ? "true" : "false";
    if (is_rows()) return "reduce_rows<Reduction, " + chunked;
    if (is_short()) return "reduce_short_rows<Reduction, " + std::to_string(kTileBytes);
    return std::string("reduce_columns<Reduction, ") +
           (variant_.form == ReductionForm::periodic ? "true, " : "false, ") + chunked;
  }

  const Row& row_;
  const ReductionVariant& variant_;
};

}  // namespace

std::string emit_reduction_cuda(const Row& row, const ReductionVariant& variant) {
  return Emitter(row, variant).text();
}

}  // namespace iruka::ops
