// The texts of linear algebra for CUDA compile by NVRTC for every architecture.
#include "nvrtc_testing.h"
#include "ops/linalg/operands.h"

namespace {

using namespace iruka;

class IntegerProductTexts : public iruka::test::NvrtcArchitectureTest {};

TEST_P(IntegerProductTexts, CompileForEveryArchitecture) {
  for (const char* type : {"bool", "unsigned char", "unsigned short", "unsigned int", "unsigned long long"}) {
    const std::string ptx = ptx_of(ops::integer_product_text(type));
    EXPECT_NE(ptx.find(".visible .entry iruka_entry("), std::string::npos);
    EXPECT_EQ(ptx.find("ld.local"), std::string::npos) << type;
  }
}

class SmallMatrixTexts : public iruka::test::NvrtcArchitectureTest {};

TEST_P(SmallMatrixTexts, CompileForEveryArchitecture) {
  for (Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::complex64, Dtype::complex128})
    for (const std::string& text : {ops::small_product_text(dtype), ops::small_system_text(dtype, 8, 8),
                                    ops::small_system_text(dtype, 32, 32), ops::small_system_text(dtype, 5, 0)}) {
      const std::string ptx = ptx_of(text);
      EXPECT_NE(ptx.find(".visible .entry iruka_entry("), std::string::npos);
      EXPECT_EQ(ptx.find("ld.local"), std::string::npos) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, SmallMatrixTexts, ::testing::Values(75, 80, 90, 100));
INSTANTIATE_TEST_SUITE_P(Architectures, IntegerProductTexts, ::testing::Values(75, 80, 90, 100));

}  // namespace
