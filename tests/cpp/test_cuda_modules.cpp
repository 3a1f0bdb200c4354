// Modules on a GPU with a fake driver: grids, parameters and attributes as they reach the driver, and their limits.
#include <gtest/gtest.h>

#include <cstring>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/launch_graphs.h"
#include "error_of.h"
#include "fake_driver_test.h"
#include "iruka/cuda.h"
#include "iruka/error.h"
#include "jit/program.h"
#include "launch.h"

namespace iruka {
namespace {

namespace fake = testing::fake_driver;
using test::error_of;

template <class Value>
ParameterBytes bytes(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

class CudaModules : public testing::FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    module_ = gpu().load("code", "several");
  }
  void TearDown() override {
    fake::set_launch_handler(nullptr);
    fake::set_functions({});
    fake::set_parameters({});
    for (const auto& [which, value] : {std::pair{cuda_backend::kMaxThreadsPerBlock, 1024},
                                       {cuda_backend::kSharedSizeBytes, 0},
                                       {cuda_backend::kMaxDynamicSharedSizeBytes, 48 << 10}})
      fake::set_function_attribute(which, value);
    cuda_backend::replace_driver(&fake::table());
    module_.reset();
    gpu().synchronize();
    FakeDriverTest::TearDown();
  }

  const Function& function(const std::string& name = "f") { return module_->function(name); }
  void launch(const LaunchGrid& grid, std::span<const ParameterBytes> parameters = {}) {
    test::launch_grid_on(gpu(), function(), parameters, grid);
  }
  std::string refusal_of(const LaunchGrid& grid) {
    const size_t launched = fake::launches().size();
    const std::string error = error_of<ValueError>([&] { launch(grid); });
    EXPECT_EQ(fake::launches().size(), launched);
    return error;
  }

  std::shared_ptr<const Module> module_;
};

TEST_F(CudaModules, GridsAndParametersReachTheDriver) {
  struct Point {
    double x, y, z;
  };
  const int8_t flag = -7;
  const Point point{1, 2, 3};
  const float factor = 0.5f;
  int called = 0;
  fake::set_launch_handler([&](const fake::Launch&, void** given) -> std::function<void()> {
    EXPECT_EQ(given[0], &flag);
    EXPECT_EQ(given[1], &point);
    EXPECT_EQ(given[2], &factor);
    ++called;
    return {};
  });
  const LaunchGrid grid{{2, 3, 4}, {8, 4, 2}, 1000};
  const ParameterBytes parameters[] = {bytes(flag), bytes(point), bytes(factor)};
  launch(grid, parameters);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(fake::launches().back().grid, grid);
  EXPECT_EQ(fake::launches().back().function, "f");
}

TEST_F(CudaModules, AnyNumberOfParameters) {
  for (const size_t count : {size_t{0}, size_t{16}, size_t{17}, size_t{300}}) {
    std::vector<int> values(count);
    std::vector<ParameterBytes> parameters;
    for (size_t k = 0; k < count; ++k) {
      values[k] = static_cast<int>(3 * k);
      parameters.push_back(bytes(values[k]));
    }
    std::vector<int> seen;
    fake::set_launch_handler([&](const fake::Launch&, void** given) -> std::function<void()> {
      for (size_t k = 0; k < count; ++k) seen.push_back(*static_cast<int*>(given[k]));
      return {};
    });
    launch({}, parameters);
    EXPECT_EQ(seen, values);
  }
}

TEST_F(CudaModules, ProgramsSpreadUnitsOverBlocks) {
  const jit::Program program(gpu(), module_, "f", "units", {});
  const float argument = 2.5f;
  float seen = 0;
  int64_t begin = -1, end = -1;
  fake::set_launch_handler([&](const fake::Launch&, void** given) -> std::function<void()> {
    seen = *static_cast<float*>(given[0]);
    begin = *static_cast<int64_t*>(given[1]);
    end = *static_cast<int64_t*>(given[2]);
    return {};
  });
  program.launch(bytes(argument), jit::GridRange{1000, 256, 128});
  EXPECT_EQ(fake::launches().back().grid, (LaunchGrid{{4}, {128}}));
  EXPECT_EQ(seen, 2.5f);
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(end, 1000);
  const size_t launched = fake::launches().size();
  program.launch(bytes(argument), jit::GridRange{0, 256, 128});
  EXPECT_EQ(error_of<ValueError>([&] { program.launch(bytes(argument), jit::GridRange{int64_t{1} << 40, 256}); }),
            "cuda:0: a launch of 1099511627776 elements needs 4294967296 blocks; a grid has at most 2147483647");
  EXPECT_EQ(fake::launches().size(), launched);
}

TEST_F(CudaModules, GraphsOfOftenLaunchedFunctionsTakeEveryPartOfAGrid) {
  std::vector<int> seen;
  fake::set_launch_handler([&](const fake::Launch&, void** given) -> std::function<void()> {
    return [&seen, value = *static_cast<int*>(given[0])] { seen.push_back(value); };
  });
  const LaunchGrid grid{{2, 3, 4}, {8, 4, 2}, 1000};
  int value = 0;
  const ParameterBytes parameters[] = {bytes(value)};
  for (int k = 0; k <= cuda_backend::LaunchGraphs::kWorthwhile; ++k) launch(grid, parameters);
  const int64_t graphs = fake::calls("cuGraphLaunch");
  std::vector<LaunchGrid> grids(7, grid);
  grids[0].blocks.y = 5;
  grids[1].blocks.z = 6;
  grids[2].threads.y = 7;
  grids[3].threads.z = 1;
  grids[4].shared_bytes = 2000;
  grids[5].threads.x = 16;
  for (const LaunchGrid& each : grids) {
    launch(each, parameters);
    EXPECT_EQ(fake::launches().back().grid, each);
  }
  value = 9;
  launch(grid, parameters);
  gpu().synchronize();
  EXPECT_EQ(fake::calls("cuGraphLaunch") - graphs, 8);
  EXPECT_EQ(std::vector<int>(seen.end() - 2, seen.end()), (std::vector<int>{0, 9}));
}

TEST_F(CudaModules, CooperativeLaunchesHaveTheirOwnCall) {
  LaunchGrid grid{{264}, {128}, 64, /*is_cooperative=*/true};  // 132 multiprocessors run 2 blocks each
  const int64_t plain = fake::calls("cuLaunchKernel"), cooperative = fake::calls("cuLaunchCooperativeKernel"),
                graphs = fake::calls("cuGraphLaunch");
  for (int k = 0; k < 2 * cuda_backend::LaunchGraphs::kWorthwhile; ++k) launch(grid);
  EXPECT_EQ(fake::launches().back().grid, grid);
  EXPECT_EQ(fake::calls("cuLaunchCooperativeKernel") - cooperative, 2 * cuda_backend::LaunchGraphs::kWorthwhile);
  EXPECT_EQ(fake::calls("cuLaunchKernel") - plain, 0);
  EXPECT_EQ(fake::calls("cuGraphLaunch") - graphs, 0);
  grid.blocks = {265, 2};
  EXPECT_EQ(refusal_of(grid),
            "cuda:0: 'f' cannot be launched cooperatively over 265 x 2 x 1 = 530 blocks of 128 threads and 64 bytes of "
            "dynamic shared memory; the GPU runs at most 264 of them at the same time");
}

TEST_F(CudaModules, GridsBeyondALimitAreRefused) {
  EXPECT_EQ(refusal_of({{0, 1, 1}}),
            "cuda:0: 'f' cannot be launched over 0 x 1 x 1 blocks; a grid has 1 to 2147483647 x 65535 x 65535");
  EXPECT_EQ(refusal_of({{1, 65536, 1}}),
            "cuda:0: 'f' cannot be launched over 1 x 65536 x 1 blocks; a grid has 1 to 2147483647 x 65535 x 65535");
  EXPECT_EQ(refusal_of({{1, 1, 70000}}),
            "cuda:0: 'f' cannot be launched over 1 x 1 x 70000 blocks; a grid has 1 to 2147483647 x 65535 x 65535");
  EXPECT_EQ(refusal_of({{}, {1, 1, 65}}),
            "cuda:0: 'f' cannot be launched with blocks of 1 x 1 x 65 threads; a block has 1 to 1024 x 1024 x 64");
  EXPECT_EQ(refusal_of({{}, {32, 0, 1}}),
            "cuda:0: 'f' cannot be launched with blocks of 32 x 0 x 1 threads; a block has 1 to 1024 x 1024 x 64");
  EXPECT_EQ(refusal_of({{}, {33, 32, 1}}),
            "cuda:0: 'f' cannot be launched with blocks of 33 x 32 x 1 = 1056 threads; its blocks have at most 1024");
  EXPECT_EQ(refusal_of({{}, {32}, 49153}),
            "cuda:0: 'f' cannot be launched with 49153 bytes of dynamic shared memory; its blocks have at most 49152, "
            "which max_dynamic_shared_size_bytes can raise to 232448");
  EXPECT_NO_THROW(launch({{2147483647, 65535, 65535}, {1024, 1, 1}, 49152}));
  fake::set_function_attribute(cuda_backend::kMaxThreadsPerBlock, 256);
  module_ = gpu().load("code", "bounded");
  EXPECT_EQ(refusal_of({{}, {257}}),
            "cuda:0: 'f' cannot be launched with blocks of 257 x 1 x 1 = 257 threads; its blocks have at most 256");
  EXPECT_NO_THROW(launch({{}, {256}}));
}

TEST_F(CudaModules, AttributesAreTheDrivers) {
  for (int which = cuda_backend::kMaxThreadsPerBlock; which <= cuda_backend::kPreferredSharedMemoryCarveout; ++which)
    fake::set_function_attribute(static_cast<cuda_backend::FunctionAttribute>(which), 100 + which);
  const FunctionAttributes found = function().attributes();
  // In the order of CUfunction_attribute.
  EXPECT_EQ(
      (std::vector{found.max_threads_per_block, found.shared_size_bytes, found.const_size_bytes, found.local_size_bytes,
                   found.num_regs, found.ptx_version, found.binary_version, found.cache_mode_ca,
                   found.max_dynamic_shared_size_bytes, found.preferred_shared_memory_carveout}),
      (std::vector{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}));
}

TEST_F(CudaModules, TwoAttributesCanBeSet) {
  fake::set_function_attribute(cuda_backend::kSharedSizeBytes, 448);
  const Function& f = function();
  f.set_max_dynamic_shared_size_bytes(232000);  // 227 KiB less the static ones
  EXPECT_EQ(fake::last_function_attribute(), std::pair(8, 232000));
  EXPECT_EQ(f.attributes().max_dynamic_shared_size_bytes, 232000);
  EXPECT_NO_THROW(launch({{}, {32}, 232000}));
  f.set_max_dynamic_shared_size_bytes(16);
  EXPECT_NE(refusal_of({{}, {32}, 17}), "no error");
  const auto refusal = [&](int bytes) {
    return error_of<ValueError>([&] { f.set_max_dynamic_shared_size_bytes(bytes); });
  };
  EXPECT_EQ(
      refusal(232001),
      "max_dynamic_shared_size_bytes: 'f' cannot have 232001 bytes of dynamic shared memory; a block on cuda:0 has 0 "
      "to 232000, beside the function's 448 static bytes");
  EXPECT_NE(refusal(-1), "no error");

  for (const int percent : {-1, 0, 100}) {
    f.set_preferred_shared_memory_carveout(percent);
    EXPECT_EQ(fake::last_function_attribute(), std::pair(9, percent));
  }
  for (const int percent : {-2, 101})
    EXPECT_EQ(error_of<ValueError>([&] { f.set_preferred_shared_memory_carveout(percent); }),
              "preferred_shared_memory_carveout: " + std::to_string(percent) +
                  " is not a percentage of 0 to 100, nor -1, which leaves the choice to the driver");
  fake::fail("cuFuncSetAttribute", 1);
  EXPECT_THROW(f.set_preferred_shared_memory_carveout(50), DeviceError);
}

TEST_F(CudaModules, GraphsAreMadeAnewWithAChangedAttribute) {
  for (int k = 0; k <= cuda_backend::LaunchGraphs::kWorthwhile; ++k) launch({});
  const int64_t destroyed = fake::calls("cuGraphExecDestroy"), graphs = fake::calls("cuGraphLaunch");
  function().set_preferred_shared_memory_carveout(25);
  EXPECT_EQ(fake::calls("cuGraphExecDestroy") - destroyed, 1);
  launch({});
  EXPECT_EQ(fake::calls("cuGraphLaunch") - graphs, 0);
  for (int k = 0; k <= cuda_backend::LaunchGraphs::kWorthwhile; ++k) launch({});
  EXPECT_GT(fake::calls("cuGraphLaunch") - graphs, 0);
}

TEST_F(CudaModules, ParametersAreTheDrivers) {
  EXPECT_EQ(function().parameters(), std::vector<ParameterPlace>());
  const std::vector<ParameterPlace> places{{0, 8}, {8, 1}, {16, 24}};
  fake::set_parameters(places);
  EXPECT_EQ(function().parameters(), places);
  cuda_backend::Driver old = fake::table();
  old.cuFuncGetParamInfo = nullptr;
  cuda_backend::replace_driver(&old);
  EXPECT_EQ(function().parameters(), std::nullopt);
  cuda_backend::replace_driver(&fake::table());
}

TEST_F(CudaModules, TellWhatTheyHave) {
  fake::set_functions({"scale", "_Z5halveIfEvPT_"});
  module_ = gpu().load("code", "several");
  EXPECT_EQ(function("scale").name(), "scale");
  EXPECT_EQ(&function("scale"), &function("scale"));
  EXPECT_EQ(error_of<DeviceError>([&] { function("turn"); }),
            "module 'several' has no function 'turn'; it has '_Z5halveIfEvPT_', 'scale'");
  int table[5];
  fake::set_global("table", table, sizeof(table));
  EXPECT_EQ(module_->global("table").address, table);
  EXPECT_EQ(module_->global("table").bytes, sizeof(table));
  EXPECT_EQ(error_of<DeviceError>([&] { module_->global("rounds"); }), "module 'several' has no variable 'rounds'");
  cuda_backend::Driver old = fake::table();
  old.cuModuleEnumerateFunctions = nullptr;
  cuda_backend::replace_driver(&old);
  EXPECT_EQ(error_of<DeviceError>([&] { function("turn"); }), "module 'several' has no function 'turn'");
  cuda_backend::replace_driver(&fake::table());
}

TEST_F(CudaModules, AGraphKeepsTheModuleOfAllItsFunctions) {
  const int64_t unloaded = fake::calls("cuModuleUnload");
  const auto unloads = [&] { return fake::calls("cuModuleUnload") - unloaded; };
  const Stream stream(gpu(), {.non_blocking = true});
  {
    cuda::begin_capture(stream);
    {
      const StreamScope scope(stream);
      test::launch_grid_on(gpu(), function("f"), {}, {});
      test::launch_grid_on(gpu(), function("g"), {}, {});
    }
    const cuda::Graph graph = cuda::end_capture(stream);
    module_.reset();
    gpu().synchronize();
    EXPECT_EQ(unloads(), 0);
    graph.launch(stream);
    gpu().synchronize();
  }
  gpu().synchronize();
  EXPECT_EQ(unloads(), 1);
}

}  // namespace
}  // namespace iruka
