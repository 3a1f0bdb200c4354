// Modules of several functions and variables on the CPU.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "compile_text.h"
#include "error_of.h"
#include "iruka/device.h"
#include "jit/program.h"
#include "launch.h"

namespace iruka {
namespace {

const std::string kText = R"(
struct Arguments { const float* x; float* y; };
static float doubled(float x) { return 2 * x; }
float visible_but_not_exported(float x) { return doubled(x) + 3; }
extern "C" {
int offsets[3] = {10, 20, 30};
long rounds;
void scale(const unsigned char* block, long begin, long end) {
  const auto& a = *reinterpret_cast<const Arguments*>(block);
  for (long k = begin; k < end; ++k) a.y[k] = doubled(a.x[k]);
}
void shift(const unsigned char* block, long begin, long end) {
  const auto& a = *reinterpret_cast<const Arguments*>(block);
  for (long k = begin; k < end; ++k) a.y[k] = a.x[k] + offsets[k % 3];
}
void count(const unsigned char*, long begin, long end) { rounds += end - begin; }
}
template <class T> void halve(const unsigned char* block, long begin, long end) {
  const auto& a = *reinterpret_cast<const Arguments*>(block);
  for (long k = begin; k < end; ++k) a.y[k] = a.x[k] / T(2);
}
template void halve<float>(const unsigned char*, long, long);
)";
const std::string kHalve = "_Z5halveIfEvPKhll";

ProgramSource source_of(std::vector<std::string> exports) {
  ProgramSource source{kText, "", {}, "<test>"};
  source.exports = std::move(exports);
  return source;
}

std::shared_ptr<const Module> load(std::vector<std::string> exports) {
  const CompiledProgram compiled = cpu().compile(source_of(std::move(exports)));
  EXPECT_TRUE(compiled.ok) << test::errors(compiled.diagnostics);
  return cpu().load(compiled.code, "several");
}

std::vector<float> run(const Module& module, const std::string& function, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  struct {
    const float* x;
    float* y;
  } arguments{x.data(), y.data()};
  test::launch_on(cpu(), module.function(function), std::as_bytes(std::span(&arguments, 1)),
                  {static_cast<int64_t>(x.size()), 1, 100});
  return y;
}

TEST(Modules, HaveSeveralFunctions) {
  const auto module = load({"scale", "shift", kHalve, "offsets"});
  std::vector<float> x(1003), doubled(x.size()), shifted(x.size()), halved(x.size());
  std::iota(x.begin(), x.end(), 0.f);
  for (size_t k = 0; k < x.size(); ++k) {
    doubled[k] = x[k] * 2;
    shifted[k] = x[k] + 10.f * static_cast<float>(k % 3 + 1);
    halved[k] = x[k] / 2;
  }
  EXPECT_EQ(run(*module, "scale", x), doubled);
  EXPECT_EQ(run(*module, "shift", x), shifted);
  EXPECT_EQ(run(*module, kHalve, x), halved);
  EXPECT_EQ(&module->function("scale"), &module->function("scale"));
  EXPECT_EQ(module->function("shift").name(), "shift");
}

TEST(Modules, ShareVariablesWithTheHost) {
  const auto module = load({"shift", "count", "offsets", "rounds"}), other = load({"shift", "offsets"});
  const GlobalVariable offsets = module->global("offsets"), rounds = module->global("rounds");
  ASSERT_EQ(offsets.bytes, 3 * sizeof(int));
  ASSERT_EQ(rounds.bytes, sizeof(long));
  int values[3];
  std::memcpy(values, offsets.address, sizeof(values));
  EXPECT_EQ(std::vector<int>(values, values + 3), (std::vector<int>{10, 20, 30}));
  static_cast<int*>(offsets.address)[1] = -5;
  EXPECT_EQ(run(*module, "shift", {1, 2, 3}), (std::vector<float>{11, -3, 33}));
  EXPECT_EQ(run(*other, "shift", {1, 2, 3}), (std::vector<float>{11, 22, 33})) << "each load has its own";
  run(*module, "count", {1, 2, 3, 4});
  run(*module, "count", {1});
  EXPECT_EQ(*static_cast<long*>(rounds.address), 5);
}

TEST(Modules, TellWhatTheyHave) {
  const auto module = load({"shift", "scale", "rounds", "offsets"});
  EXPECT_EQ(test::error_of<DeviceError>([&] { module->function("turn"); }),
            "module 'several' has no function 'turn'; it has 'scale', 'shift'");
  EXPECT_EQ(test::error_of<DeviceError>([&] { module->function("rounds"); }),
            "module 'several' has no function 'rounds'; it has 'scale', 'shift'");
  EXPECT_EQ(test::error_of<DeviceError>([&] { module->global("scale"); }),
            "module 'several' has no variable 'scale'; it has 'offsets', 'rounds'");
  EXPECT_EQ(test::error_of<DeviceError>([&] { load({"scale"})->global("rounds"); }),
            "module 'several' has no variable 'rounds'");
}

TEST(Modules, NeedWhatTheyExport) {
  for (const char* name : {"nothing", "doubled", "_ZL7doubledf"}) {
    const CompiledProgram compiled = cpu().compile(source_of({"scale", name}));
    EXPECT_FALSE(compiled.ok) << name;
    EXPECT_NE(test::errors(compiled.diagnostics).find(name), std::string::npos) << test::errors(compiled.diagnostics);
  }
}

TEST(Modules, AreBuiltForTheirExports) {
  const jit::ErrorContext context{"several", "", "", {}};
  const auto scaling = jit::build(cpu(), source_of({"scale"}), context);
  const auto shifting = jit::build(cpu(), source_of({"shift"}), context);
  EXPECT_EQ(run(scaling->module(), "scale", {4}), std::vector<float>{8});
  EXPECT_EQ(run(shifting->module(), "shift", {4}), std::vector<float>{14});
  EXPECT_THROW(scaling->module().function("shift"), DeviceError);
}

TEST(Modules, FunctionsOfTheCpuRunRanges) {
  const auto module = load({"scale"});
  const Function& scale = module->function("scale");
  for (const std::string& error :
       {test::error_of<DeviceError>([&] { scale.attributes(); }),
        test::error_of<DeviceError>([&] { scale.set_max_dynamic_shared_size_bytes(100); }),
        test::error_of<DeviceError>([&] { scale.set_preferred_shared_memory_carveout(50); })})
    EXPECT_EQ(error, "function 'scale': only functions for a grid of thread blocks have attributes");
  EXPECT_FALSE(scale.parameters());
  EXPECT_EQ(test::error_of<DeviceError>([&] { test::launch_grid_on(cpu(), scale, {}, {}); }),
            "cpu: function 'scale' is launched over ranges, not over a grid of thread blocks");
}

}  // namespace
}  // namespace iruka
