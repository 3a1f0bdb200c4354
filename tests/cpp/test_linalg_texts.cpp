// The texts of linear algebra for CUDA compile by NVRTC for every architecture.
#include "nvrtc_testing.h"
#include "ops/linalg_operands.h"

namespace {

using namespace iruka;

class IntegerProductTexts : public iruka::test::NvrtcArchitectureTest {};

TEST_P(IntegerProductTexts, CompileForEveryArchitecture) {
  for (const char* type : {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"}) {
    const std::string ptx = ptx_of(ops::integer_product_text(type));
    EXPECT_NE(ptx.find(".visible .entry iruka_entry("), std::string::npos);
    EXPECT_EQ(ptx.find("ld.local"), std::string::npos) << type;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, IntegerProductTexts, ::testing::Values(75, 80, 90, 100));

}  // namespace
