// The texts of sorts for CUDA compile by NVRTC: dtypes, keys and architectures.
#include "nvrtc_testing.h"
#include "ops/sort/sort_cuda_text.h"
#include "sort_references.h"

namespace {

using namespace iruka;

class CudaSortTexts : public iruka::test::NvrtcArchitectureTest {};

TEST_P(CudaSortTexts, CompileForEveryArchitecture) {
  using ops::SortVariant;
  for (Dtype dtype : iruka::test::kSortable)
    for (const bool has_index : {false, true}) {
      // All for one architecture, some for the others.
      if ((is_complex(dtype) && !has_index) ||
          (GetParam() != 90 && dtype != Dtype::float32 && dtype != Dtype::complex64))
        continue;
      const SortVariant variant{dtype, dtype == Dtype::complex128, has_index, dtype == Dtype::int32,
                                dtype == Dtype::int64};
      for (const std::string& text :
           {sort_short_rows_text(variant), sort_histogram_text(variant), sort_pass_text(variant)}) {
        const std::string ptx = ptx_of(text);
        EXPECT_NE(ptx.find(".visible .entry iruka_entry("), std::string::npos);
        // Keys in local memory would be read and written for every element.
        EXPECT_EQ(ptx.find("ld.local"), std::string::npos) << name(dtype);
        if (dtype == Dtype::float32) EXPECT_TRUE(iruka::test::assembles(ptx, GetParam()));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CudaSortTexts, ::testing::Values(75, 80, 90, 100));

}  // namespace
