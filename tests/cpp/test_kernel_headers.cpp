// Kernel code that texts include is C++ by itself: every header for the CPU is parsed alone by Clang, every header for
// GPUs by NVRTC and by Clang's declarations of CUDA, and those for both by all. So are the prelude's headers, but for
// the parts of a target, which need one another.
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

/// The headers of which prelude.h consists, without parts of targets and without those for which `without` is true.
std::vector<std::string> prelude(bool (*without)(std::string_view)) {
  std::string targets;
  for (const auto& [name, text] : jit::kernel_headers())
    if (name.starts_with("target_")) targets += text;
  std::vector<std::string> names;
  for (const auto& [name, text] : jit::kernel_headers()) {
    const bool is_part = targets.find("#include \"" + std::string(name) + "\"") != targets.npos;
    if (!jit::is_kernel_code(name) && name != "prelude.h" && !without(name) && !is_part) names.emplace_back(name);
  }
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

/// Code for kernels over blocks alone, whose texts Clang does not rewrite: it has registers of GPUs as operands of
/// assembly, which Clang knows for GPUs alone.
bool is_not_for_clang(std::string_view header) {
  return jit::is_for_cpu(header) || header == "nn/kernels/cuda/tensor_perceptron.h" ||
         header == "image/kernels/cuda/tile_walk.h";
}

TEST(KernelHeaders, ClangParsesThoseForGpus) {
  const auto headers = kernel_code(is_not_for_clang);
  ASSERT_GT(headers.size(), 10u);
  for (const auto& header : headers)
    EXPECT_TRUE(cpu_backend::saturate_narrow_casts(program(including(header)))) << header;
  EXPECT_FALSE(cpu_backend::saturate_narrow_casts(program("int wrong = missing;\n")));
}

/// Parses a text where the prelude would be. C++23 has no precompiled prelude.
CompiledProgram without_prelude(const std::string& text) {
  ProgramSource source = program("", {"--std=c++23"});
  source.headers = std::make_shared<const std::vector<HeaderFile>>(
      std::vector<HeaderFile>{{"/<iruka>/prelude.h", std::make_shared<const std::string>(text)}});
  return cpu_backend::check(source);
}

TEST(KernelHeaders, ClangParsesEachOfThePrelude) {
  auto headers = prelude(jit::is_for_cuda);
  EXPECT_EQ(std::erase(headers, "cooperative_groups.h"), 1u);  // it needs the names of kernels over blocks
  ASSERT_GT(headers.size(), 7u);
  for (const auto& header : headers) {
    const auto checked = without_prelude(including(header));
    EXPECT_TRUE(checked.ok) << header << "\n" << errors(checked.diagnostics);
  }
  EXPECT_FALSE(without_prelude("float16 missing;\n").ok);
}

class KernelHeadersOfGpus : public NvrtcTest {};

TEST_F(KernelHeadersOfGpus, NvrtcParsesThem) {
  for (const auto& header : kernel_code(jit::is_for_cpu)) {
    const std::string ptx = ptx_of(including(header) + "extern \"C\" __global__ void iruka_entry() {}\n");
    EXPECT_NE(ptx.find("iruka_entry"), std::string::npos) << header;
  }
}

TEST_F(KernelHeadersOfGpus, NvrtcParsesEachOfThePrelude) {
  const auto headers = prelude(jit::is_for_cpu);
  ASSERT_GT(headers.size(), 8u);
  const auto parsed = [](const std::string& text) {
    return Nvrtc::find()->compile_whole(text + "extern \"C\" __global__ void iruka_entry() {}\n", 90);
  };
  for (const auto& header : headers) {
    const Nvrtc::Output output = parsed(including(header));
    EXPECT_TRUE(output.ok) << header << "\n" << output.log;
  }
  EXPECT_FALSE(parsed("float16 missing;\n").ok);
}

}  // namespace
}  // namespace iruka::test
