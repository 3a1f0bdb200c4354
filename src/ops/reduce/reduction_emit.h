// The text of a reduction's kernel.
#pragma once

#include <string>
#include <vector>

#include "ops/reduce/reduction_plan.h"
#include "ops/reduce/reduction_table.h"
#include "ops/reduce/reduction_text.h"

namespace iruka::ops {

/// Everything the text depends on except the row.
struct ReductionVariant {
  ReductionTypes types;
  ReductionForm form;
  int spacing;      ///< elements from one of the inner axis to the next, if 1 or 2; else 0
  bool is_chunked;  ///< whether an output is made from several partial results
  int kept_rank, reduced_rank;
  int64_t row_length;    ///< of the CPU's short_rows, else 0
  int vector_bytes = 0;  ///< CUDA: as BlockShape's
  bool is_wide = false;

  uint64_t key() const {
    uint64_t key = static_cast<uint64_t>(types.input) << 8 | static_cast<uint64_t>(types.accumulator) << 4 |
                   static_cast<uint64_t>(types.output);
    for (const int64_t part :
         {static_cast<int64_t>(form), int64_t{spacing} << 1 | int64_t{is_chunked}, int64_t{kept_rank},
          int64_t{reduced_rank}, row_length, int64_t{vector_bytes} << 1 | int64_t{is_wide}})
      key = key << 6 | static_cast<uint64_t>(part);
    return key;
  }
};

/// Bytes that hold one partial result of any reduction.
inline constexpr int64_t kPartialBytes = 48;

/// Entry: iruka_entry(arguments, begin, end) over units (stage 0), or over outputs whose chunks are to be joined
/// (stage 1). The argument block is, in order: input, output and partial results' addresses; stage; chunks; outputs;
/// count (float64); out_offset; rows; rows_per_chunk; parts; part_length; strips; extent, stride and step of the inner
/// axis; then extents, strides and steps of the outer kept axes, and of the outer reduced axes.
std::string emit_reduction(const ReductionFunction::Row& row, const ReductionVariant& variant);

/// Compiler options for the text. Its inner loops are written as vectors, so LLVM's vectorisers need not run, which
/// halves the compile time. Short rows are vectorised by LLVM.
std::vector<std::string> reduction_options(const ReductionVariant& variant);

}  // namespace iruka::ops
