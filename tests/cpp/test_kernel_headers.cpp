// Kernel code that texts include is C++ by itself: every header for the CPU is parsed alone by Clang, every header for
// GPUs by NVRTC and by Clang's declarations of CUDA, and those for both by all.
#include "compile_text.h"
#include "nvrtc_testing.h"

namespace iruka::test {
namespace {

/// Kernel code, without that for which `without` is true.
std::vector<std::string> kernel_code(bool (*without)(std::string_view)) {
  std::vector<std::string> names;
  for (const auto& [name, text] : jit::kernel_headers())
    if (jit::is_kernel_code(name) && !without(name)) names.emplace_back(name);
  return names;
}

std::string including(const std::string& header) { return "#include \"" + header + "\"\n"; }

TEST(KernelHeaders, ClangParsesThoseForTheCpu) {
  const auto headers = kernel_code(jit::is_for_cuda);
  ASSERT_GT(headers.size(), 15u);
  for (const auto& header : headers) {
    const auto checked = cpu_backend::check(program(including(header)));
    EXPECT_TRUE(checked.ok) << header << "\n" << errors(checked.diagnostics);
  }
}

TEST(KernelHeaders, ClangParsesThoseForGpus) {
  const auto headers = kernel_code(jit::is_for_cpu);
  ASSERT_GT(headers.size(), 10u);
  for (const auto& header : headers)
    EXPECT_TRUE(cpu_backend::saturate_narrow_casts(program(including(header)))) << header;
  EXPECT_FALSE(cpu_backend::saturate_narrow_casts(program("int wrong = missing;\n")));
}

class KernelHeadersOfGpus : public NvrtcTest {};

TEST_F(KernelHeadersOfGpus, NvrtcParsesThem) {
  for (const auto& header : kernel_code(jit::is_for_cpu)) {
    const std::string ptx = ptx_of(including(header) + "extern \"C\" __global__ void iruka_entry() {}\n");
    EXPECT_NE(ptx.find("iruka_entry"), std::string::npos) << header;
  }
}

}  // namespace
}  // namespace iruka::test
