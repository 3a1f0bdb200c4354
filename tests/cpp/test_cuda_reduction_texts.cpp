// The texts of reductions for CUDA compile by NVRTC: rows, dtypes, forms and architectures.
#include <regex>
#include <set>
#include <string>

#include "nvrtc_testing.h"
#include "ops/reduce/reduction_emit_cuda.h"
#include "ops/reduce/reduction_table.h"

namespace {

using namespace iruka;
using namespace iruka::ops;

const ReductionFunction::Row& row_named(std::string_view name) {
  return *std::ranges::find_if(reduction_table(), [&](const auto& row) { return row.name == name; });
}

/// A row with the dtypes a call settles, and a form with what its plan would choose.
struct Text {
  const char* row;
  ReductionTypes types;
  ReductionForm form;
  int vector_bytes;
  bool is_chunked;
  int kept_rank, reduced_rank;
  bool is_wide = false;

  std::string text() const {
    const bool is_dense = vector_bytes > 0 || form == ReductionForm::short_rows;
    return emit_reduction_cuda(row_named(row),
                               {types, form, is_dense, is_chunked, kept_rank, reduced_rank, 0, vector_bytes, is_wide});
  }
};

constexpr Dtype f16 = Dtype::float16, f32 = Dtype::float32, f64 = Dtype::float64, c64 = Dtype::complex64,
                c128 = Dtype::complex128, i64 = Dtype::int64, u8 = Dtype::uint8, u64 = Dtype::uint64,
                truth = Dtype::bool_, bf16 = Dtype::bfloat16, i16 = Dtype::int16, i32 = Dtype::int32;
constexpr auto rows = ReductionForm::rows, short_rows = ReductionForm::short_rows, columns = ReductionForm::columns,
               periodic = ReductionForm::periodic;

const Text kTexts[] = {
    {"sum", {f32, f64, f32}, rows, 16, true, 0, 0},
    {"sum", {f32, f64, f32}, columns, 16, true, 0, 1},
    {"sum", {f32, f64, f64}, periodic, 16, true, 1, 1},
    {"sum", {u8, u64, u64}, columns, 16, false, 2, 2, true},
    {"prod", {c64, c128, c64}, rows, 0, true, 1, 2},
    {"mean", {f16, f32, f16}, short_rows, 2, false, 1, 0},
    {"mean", {i16, f64, f64}, periodic, 8, false, 0, 1},
    {"min", {c128, c128, c128}, columns, 0, true, 0, 1},
    {"max", {bf16, f32, bf16}, rows, 16, false, 3, 0},
    {"any", {truth, truth, truth}, rows, 16, true, 1, 1},
    {"all", {f64, truth, truth}, short_rows, 8, false, 1, 0},
    {"argmin", {f16, f32, i64}, rows, 16, true, 0, 1, true},
    {"argmax", {truth, truth, i64}, columns, 8, true, 1, 2},
    {"argmax", {i32, i32, i64}, short_rows, 0, false, 1, 0},
    {"count_nonzero", {c64, i64, i64}, columns, 16, true, 0, 1},
    {"nansum", {f32, f64, f32}, rows, 0, false, 2, 1},
    {"nanprod", {f64, f64, f64}, periodic, 16, true, 0, 1},
    {"nanmin", {f32, f32, f32}, columns, 4, false, 1, 1},
    {"nanmax", {bf16, f32, bf16}, columns, 16, true, 0, 1},
    {"var", {f32, f64, f32}, rows, 16, true, 0, 0},
    {"var", {f32, f64, f32}, columns, 16, true, 0, 1},
    {"std", {u8, f64, f64}, periodic, 4, false, 0, 1},
    {"var", {c64, c128, f32}, rows, 16, false, 1, 0},
    {"std", {f16, f32, f16}, short_rows, 2, false, 1, 0},
    {"nanmean", {f32, f64, f32}, rows, 16, true, 0, 0},
    {"nanmean", {c64, c128, c64}, columns, 16, true, 0, 1},
    {"nanmean", {bf16, f32, bf16}, short_rows, 2, false, 1, 0},
    {"nanmean", {f64, f64, f64}, periodic, 16, true, 0, 1},
    {"ptp", {f32, f32, f32}, rows, 16, true, 0, 0},
    {"ptp", {u8, u8, u8}, columns, 8, true, 0, 1},
    {"ptp", {i32, i32, i32}, short_rows, 0, false, 1, 0},
    {"bitwise_xor", {i32, i32, i32}, rows, 16, false, 1, 0},
    {"norm1", {c64, f64, f32}, rows, 16, false, 1, 0},
    {"norm2", {i64, f64, f64}, short_rows, 0, false, 1, 0},
};

class CudaReductionTexts : public iruka::test::NvrtcArchitectureTest {};

TEST_P(CudaReductionTexts, CompileForEveryArchitecture) {
  for (size_t k = 0; k < std::size(kTexts); ++k) {
    // All for one architecture, every third for the others.
    if (GetParam() != 90 && k % 3 != static_cast<size_t>(GetParam() / 5 % 3)) continue;
    const std::string text = kTexts[k].text(), ptx = ptx_of(text);
    EXPECT_NE(ptx.find(".visible .entry iruka_entry("), std::string::npos) << text;
    // Accumulators in local memory would be read and written for every element.
    EXPECT_EQ(ptx.find("ld.local"), std::string::npos) << kTexts[k].row << " " << k;
    const bool loads_vectors = kTexts[k].vector_bytes == 16 && kTexts[k].form != short_rows;
    EXPECT_EQ(std::regex_search(ptx, std::regex(R"(ld\.global\.(v4\.[a-z]+32|v2\.[a-z]+64))")), loads_vectors)
        << kTexts[k].row << " " << k;
  }
}

/// Only elements as they are may be added in a narrower type: their squares or magnitudes may overflow it.
TEST(ReductionTable, SaysWhichRowsAddElements) {
  std::set<std::string> adding;
  for (const auto& row : reduction_table())
    if (row.has(ReductionFunction::Row::kAddsElements)) adding.insert(row.name);
  EXPECT_EQ(adding, (std::set<std::string>{"sum", "mean", "nansum"}));
  ReductionFunction::Row squares = row_named("sum");
  squares.map = "cast(x) * cast(x)";
  squares.traits &= ~ReductionFunction::Row::kAddsElements;
  const ReductionVariant variant{{Dtype::uint16, u64, u64}, rows, true, false, 0, 0, 0, 16, false};
  EXPECT_NE(emit_reduction_cuda(row_named("sum"), variant).find("using Narrow = int;"), std::string::npos);
  EXPECT_EQ(emit_reduction_cuda(squares, variant).find("using Narrow = int;"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Architectures, CudaReductionTexts, ::testing::Values(75, 80, 90, 100));

}  // namespace
