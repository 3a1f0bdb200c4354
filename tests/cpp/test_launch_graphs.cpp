// Launches as one-node graphs with a fake driver: what runs, with which arguments, and when a graph is not used.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/launch_graphs.h"
#include "fake_driver_test.h"
#include "iruka/cuda.h"
#include "launch.h"

namespace iruka {
namespace {

namespace fake = testing::fake_driver;
using cuda_backend::CUstream;
using cuda_backend::LaunchGraphs;
using testing::cu;

/// What the arguments of each launch said when it ran.
struct Ran {
  int64_t value, begin, end;
  bool operator==(const Ran&) const = default;
};

class LaunchGraphsTest : public testing::FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    fake::set_launch_handler([this](const fake::Launch&, void** parameters) -> std::function<void()> {
      Ran now;
      std::memcpy(&now.value, parameters[0], sizeof(now.value));
      std::memcpy(&now.begin, parameters[1], sizeof(now.begin));
      std::memcpy(&now.end, parameters[2], sizeof(now.end));
      return [this, now] { ran_.push_back(now); };
    });
    module_ = gpu().load("code", "entry");
    launched_ = fake::launches().size();
    graphs_ = fake::calls("cuGraphLaunch");
  }
  void TearDown() override {
    module_.reset();
    gpu().synchronize();
    fake::set_launch_handler(nullptr);
    FakeDriverTest::TearDown();
  }

  void launch(int64_t value, int64_t count = 16, CUstream stream = nullptr) {
    const StreamScope scope(gpu(), stream);
    const int64_t begin = 0;
    const ParameterBytes parameters[] = {bytes(value), bytes(begin), bytes(count)};
    LaunchGrid grid;
    grid.blocks.x = static_cast<unsigned>(count + 255) / 256;
    grid.threads.x = 256;
    test::launch_grid_on(gpu(), module_->function("entry"), parameters, grid);
  }
  static ParameterBytes bytes(const int64_t& value) { return std::as_bytes(std::span(&value, 1)); }
  void warm(CUstream stream = nullptr) {
    for (int k = 0; k < LaunchGraphs::kWorthwhile; ++k) launch(-1, 16, stream);
    gpu().synchronize();
    ran_.clear();
  }
  int64_t graph_launches() const { return fake::calls("cuGraphLaunch") - graphs_; }

  std::vector<Ran> ran_;
  std::shared_ptr<const Module> module_;
  size_t launched_ = 0;
  int64_t graphs_ = 0;
};

TEST_F(LaunchGraphsTest, TakesOverAfterManyLaunchesAndExchangesWhatChanged) {
  warm();
  EXPECT_EQ(graph_launches(), 0);
  const int64_t exchanged = fake::calls("cuGraphExecKernelNodeSetParams");
  for (const int64_t value : {1, 1, 2}) launch(value);
  launch(2, 1000);
  launch(2, 1000);
  EXPECT_EQ(graph_launches(), 5);
  EXPECT_EQ(fake::calls("cuGraphExecKernelNodeSetParams") - exchanged, 2);
  EXPECT_EQ(fake::launches().back().grid.blocks.x, 4u);
  gpu().synchronize();
  EXPECT_EQ(ran_, (std::vector<Ran>{{1, 0, 16}, {1, 0, 16}, {2, 0, 16}, {2, 0, 1000}, {2, 0, 1000}}));
}

TEST_F(LaunchGraphsTest, ChangedArgumentsDoNotReachLaunchesThatWait) {
  warm();
  fake::hold(nullptr);
  for (int64_t value = 0; value < 10; ++value) launch(value);
  fake::let_go(nullptr);
  gpu().synchronize();
  ASSERT_EQ(ran_.size(), 10u);
  for (int64_t value = 0; value < 10; ++value) EXPECT_EQ(ran_[value].value, value);
}

TEST_F(LaunchGraphsTest, EachStreamCountsForItself) {
  warm();
  const Stream stream(gpu(), {.non_blocking = true});
  launch(1, 16, cu(stream));
  EXPECT_EQ(graph_launches(), 0);
  launch(2);
  EXPECT_EQ(fake::launches().back().stream, nullptr);
  for (int k = 0; k <= LaunchGraphs::kWorthwhile; ++k) launch(3, 16, cu(stream));
  EXPECT_GT(graph_launches(), 0);
  EXPECT_EQ(fake::launches().back().stream, cu(stream));
  gpu().synchronize();
}

TEST_F(LaunchGraphsTest, ThreadsOwnStreamsShareNoGraph) {
  warm(cuda_backend::kPerThreadStream);
  launch(1, 16, cuda_backend::kPerThreadStream);
  EXPECT_EQ(graph_launches(), 0);
}

TEST_F(LaunchGraphsTest, CapturedLaunchesArePlain) {
  const Stream stream(gpu(), {.non_blocking = true});
  warm(cu(stream));
  cuda::begin_capture(stream);
  launch(7, 16, cu(stream));
  const cuda::Graph graph = cuda::end_capture(stream);
  EXPECT_EQ(graph_launches(), 0);
  launch(8, 16, cu(stream));
  graph.launch(stream);
  gpu().synchronize();
  EXPECT_EQ(ran_, (std::vector<Ran>{{8, 0, 16}, {7, 0, 16}}));
}

TEST_F(LaunchGraphsTest, WithoutAGraphLaunchesGoOnPlainly) {
  for (const char* call : {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiate"}) {
    module_ = gpu().load("code", "entry");
    warm();
    fake::fail(call, 2);
    launch(1);
    launch(2);
    EXPECT_EQ(graph_launches(), 0) << call;
    gpu().synchronize();
    EXPECT_EQ(ran_, (std::vector<Ran>{{1, 0, 16}, {2, 0, 16}})) << call;
  }
}

TEST_F(LaunchGraphsTest, WhatAGraphRefusesIsLaunchedPlainly) {
  for (const char* call : {"cuGraphExecKernelNodeSetParams", "cuGraphLaunch"}) {
    module_ = gpu().load("code", "entry");
    warm();
    launch(1);
    const int64_t destroyed = fake::calls("cuGraphExecDestroy");
    fake::fail(call, 2);
    launch(2);
    launch(1);
    EXPECT_EQ(fake::calls("cuGraphExecDestroy") - destroyed, 1) << call;
    gpu().synchronize();
    EXPECT_EQ(ran_, (std::vector<Ran>{{1, 0, 16}, {2, 0, 16}, {1, 0, 16}})) << call;
  }
}

TEST_F(LaunchGraphsTest, AnErrorOfTheLaunchItselfIsTold) {
  warm();
  launch(1);
  fake::fail("cuGraphLaunch", 700);
  fake::fail("cuLaunchKernel", 700);
  EXPECT_THROW(launch(1), DeviceError);
}

TEST_F(LaunchGraphsTest, MoreStreamsThanGraphs) {
  std::vector<Stream> streams;
  for (int k = 0; k < 7; ++k) streams.emplace_back(gpu(), StreamOptions{.non_blocking = true});
  for (int round = 0; round < 2 * LaunchGraphs::kWorthwhile; ++round)
    for (size_t k = 0; k < streams.size(); ++k) launch(static_cast<int64_t>(k), 16, cu(streams[k]));
  gpu().synchronize();
  EXPECT_GE(graph_launches(), 3 * LaunchGraphs::kWorthwhile);
  std::vector<int> counts(streams.size());
  for (const Ran& one : ran_) ++counts[static_cast<size_t>(one.value)];
  EXPECT_EQ(counts, std::vector<int>(streams.size(), 2 * LaunchGraphs::kWorthwhile));
}

TEST_F(LaunchGraphsTest, AnUnloadedModuleTakesItsGraphsAlong) {
  const int64_t destroyed = fake::calls("cuGraphExecDestroy");
  warm();
  launch(1);
  module_.reset();
  EXPECT_EQ(fake::calls("cuGraphExecDestroy") - destroyed, 1);
}

TEST_F(LaunchGraphsTest, AModuleStaysLoadedAsLongAsAGraphHoldsIt) {
  const int64_t unloaded = fake::calls("cuModuleUnload");
  const auto unloads = [&] { return fake::calls("cuModuleUnload") - unloaded; };
  const Stream stream(gpu(), {.non_blocking = true}), joined(gpu(), {.non_blocking = true});
  launch(1, 16, cu(stream));
  module_.reset();
  EXPECT_EQ(unloads(), 0);
  module_ = gpu().load("code", "entry");  // a load unloads what was dropped before
  EXPECT_EQ(unloads(), 1);
  {
    cuda::begin_capture(stream);
    joined.wait_for(stream);
    launch(2, 16, cu(joined));
    const cuda::Graph graph = cuda::end_capture(stream);
    module_.reset();
    module_ = gpu().load("code", "entry");
    EXPECT_EQ(unloads(), 1);
  }
  gpu().synchronize();  // as does a wait for the device
  EXPECT_EQ(unloads(), 2);
  cuda::begin_capture(stream);
  launch(3, 16, cu(stream));
  cuda::cancel_capture(stream);
  module_.reset();
  gpu().synchronize();
  EXPECT_EQ(unloads(), 3);
}

TEST_F(LaunchGraphsTest, AModuleInAGraphOfAnotherLibraryStaysLoaded) {
  const int64_t unloaded = fake::calls("cuModuleUnload");
  const Stream stream(gpu(), {.non_blocking = true});
  fake::table().cuStreamBeginCapture(cu(stream), cuda_backend::kCaptureRelaxed);
  launch(1, 16, cu(stream));
  cuda_backend::CUgraph graph = nullptr;
  fake::table().cuStreamEndCapture(cu(stream), &graph);
  module_.reset();
  gpu().synchronize();
  EXPECT_EQ(fake::calls("cuModuleUnload"), unloaded);
  fake::table().cuGraphDestroy(graph);
}

TEST_F(LaunchGraphsTest, TheProcessMakesOnlySoMany) {
  const int64_t made = fake::calls("cuGraphInstantiate");
  std::vector<std::shared_ptr<const Module>> modules;
  for (int k = 0; k < LaunchGraphs::kMostLaunchGraphs + 5; ++k) {
    modules.push_back(module_ = gpu().load("code", "entry"));
    warm();
    launch(k);
  }
  EXPECT_EQ(fake::calls("cuGraphInstantiate") - made, LaunchGraphs::kMostLaunchGraphs);
  modules.clear();
  module_ = gpu().load("code", "entry");
  warm();
  launch(1);
  EXPECT_EQ(fake::calls("cuGraphInstantiate") - made, LaunchGraphs::kMostLaunchGraphs + 1);
}

TEST_F(LaunchGraphsTest, ThreadsLoseNoLaunch) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([this, thread] {
      for (int k = 0; k < 500; ++k) launch(thread * 500 + k);
    });
  for (std::thread& thread : threads) thread.join();
  gpu().synchronize();
  std::vector<int64_t> values;
  for (const Ran& one : ran_) values.push_back(one.value);
  std::ranges::sort(values);
  std::vector<int64_t> all(2000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(values, all);
}

}  // namespace
}  // namespace iruka
