// CUDA devices over a driver in software: copies, streams, events, captures, memory, errors.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <thread>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/nvrtc.h"
#include "error_of.h"
#include "fake_driver_test.h"
#include "iruka/array.h"
#include "iruka/cuda.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"

namespace iruka {
namespace {

namespace fake = testing::fake_driver;
using test::error_of;
using testing::cu;

class CudaDeviceTest : public testing::FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    fake::set_device_count(2);
  }

  static std::vector<int32_t> numbers(size_t count) {
    std::vector<int32_t> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }
  Array on_cpu(const std::vector<int32_t>& values) {
    Array array = Array::empty({static_cast<int64_t>(values.size())}, Dtype::int32, cpu());
    std::copy(values.begin(), values.end(), static_cast<int32_t*>(array.data()));
    return array;
  }
  static std::vector<int32_t> values_of(const Array& array) {
    const auto* first = static_cast<const int32_t*>(array.data());
    return {first, first + array.size()};
  }
};

TEST_F(CudaDeviceTest, IsThereAndTellsOfItself) {
  EXPECT_EQ(cuda::unavailable_reason(), cuda_backend::nvrtc_problem());
  EXPECT_EQ(cuda::is_available(), cuda_backend::nvrtc_problem().empty());
  EXPECT_EQ(cuda::device_count(), 2);
  EXPECT_EQ(cuda::device_index(gpu(1)), 1);
  EXPECT_EQ(cuda::device_index(cpu()), -1);
  EXPECT_EQ(cuda::driver_version(), 13000);
  const cuda::DeviceProperties found = cuda::properties(gpu(1));
  EXPECT_EQ(found.compute_major, 9);
  EXPECT_EQ(found.multiprocessors, 132);
  EXPECT_EQ(found.pci_bus_id, "0000:1C:00.0");
  EXPECT_EQ(found.total_bytes, 1 << 30);
  EXPECT_EQ(cuda::attribute(gpu(), 10), 32);
  EXPECT_THROW(device("cuda:2"), DeviceError);
  EXPECT_THROW(cuda::attribute(cpu(), 10), DeviceError);
}

TEST_F(CudaDeviceTest, CopiesGoThereAndBack) {
  for (const size_t count : {size_t{1}, size_t{1000}, size_t{300'000}, size_t{9'000'001}}) {
    const std::vector<int32_t> values = numbers(count);
    const Array there = on_cpu(values).to_device(gpu());
    EXPECT_EQ(&there.device(), &gpu());
    EXPECT_EQ(cuda::device_of(there.data()), 0);
    EXPECT_EQ(values_of(there.to_device(cpu())), values) << count;
  }
}

TEST_F(CudaDeviceTest, CopiesInPiecesWaitForEarlierWorkAndCanBeInterrupted) {
  const std::vector<int32_t> values = numbers(3'000'000);
  const Array here = on_cpu(values), there = here.to_device(gpu());
  fake::hold(nullptr);
  static std::atomic<bool> wants_to_stop{false};
  set_interrupt_check([]() noexcept { return wants_to_stop.load(); });
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    wants_to_stop = true;
  });
  EXPECT_THROW(there.to_device(cpu()), Interrupted);
  later.join();
  wants_to_stop = false;
  set_interrupt_check(nullptr);
  fake::let_go(nullptr);
  EXPECT_EQ(values_of(there.to_device(cpu())), values);
}

TEST_F(CudaDeviceTest, CopiesInPiecesSayWhatFailed) {
  const std::vector<int32_t> values = numbers(20'000'000);
  const Array here = on_cpu(values);
  for (const char* call : {"cuMemcpyAsync", "cuEventRecord", "cuEventSynchronize", "cuEventQuery"}) {
    fake::fail(call, 700);
    EXPECT_THROW(here.to_device(gpu()), DeviceError) << call;
    const Array there = here.to_device(gpu());
    fake::fail(call, 700);
    EXPECT_THROW(there.to_device(cpu()), DeviceError) << call;
    EXPECT_EQ(values_of(there.to_device(cpu())), values) << call;
  }
  fake::fail("cuMemHostAlloc", 2, 100);
  cuda::free_pinned_blocks();
  EXPECT_THROW(here.to_device(gpu()), OutOfMemoryError);
  fake::fail("cuMemHostAlloc", 2, 0);
}

TEST_F(CudaDeviceTest, BrokenGpusAreAnErrorAndNothingWaits) {
  fake::set_device_count(8);
  fake::fail("cuDevicePrimaryCtxRetain", 214);  // uncorrectable memory
  EXPECT_THROW(device("cuda:7"), DeviceError);
  fake::set_device_count(2);
}

TEST_F(CudaDeviceTest, CopiesBetweenGpusAndKeepsTheOrderOfAxes) {
  const std::vector<int32_t> values = numbers(12);
  const Array turned = on_cpu(values).reshape({3, 4}).transpose();
  const Array there = turned.to_device(gpu(0)).to_device(gpu(1));
  EXPECT_EQ(&there.device(), &gpu(1));
  EXPECT_EQ(there.shape(), (Dims{4, 3}));
  EXPECT_EQ(there.strides(), turned.strides());
  EXPECT_EQ(values_of(there.to_device(cpu())), values);
  EXPECT_EQ(there.to_device(gpu(1)).data(), there.data());
  EXPECT_EQ(Array::empty({0, 3}, Dtype::int8, cpu()).to_device(gpu()).shape(), (Dims{0, 3}));
}

TEST_F(CudaDeviceTest, AssignsAcrossDevices) {
  const std::vector<int32_t> values = numbers(100);
  Array there = Array::empty({100}, Dtype::int32, gpu());
  there.assign(on_cpu(values));
  Array back = Array::empty({100}, Dtype::int32, cpu());
  back.assign(there);
  EXPECT_EQ(values_of(back), values);
}

TEST_F(CudaDeviceTest, PinnedSourcesMayChangeAfterTheCopy) {
  auto* pinned = static_cast<int32_t*>(cuda::allocate_pinned(400));
  EXPECT_TRUE(cuda::is_pinned(pinned));
  std::fill_n(pinned, 100, 7);
  const Array source(std::make_shared<Buffer>(cpu(), pinned, 400, true, nullptr), Dtype::int32, {100}, {4});
  fake::hold(nullptr);
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fake::let_go(nullptr);
  });
  const Array there = source.to_device(gpu());
  std::fill_n(pinned, 100, 8);
  later.join();
  EXPECT_EQ(values_of(there.to_device(cpu())), std::vector<int32_t>(100, 7));
  cuda::release_pinned(pinned);
}

TEST_F(CudaDeviceTest, CallsLeaveTheThreadsContextAsItWas) {
  const auto current = [] {
    cuda_backend::CUcontext context = nullptr;
    fake::table().cuCtxGetCurrent(&context);
    return context;
  };
  const auto use = [&](int index) {
    Device& device = gpu(index);
    const Stream stream(device);
    const Event event(device);
    std::optional<StreamScope> scope(std::in_place, stream);
    const Array there = on_cpu(numbers(1 << 21)).to_device(device);
    if (current()) there.to_device(gpu(1 - index)).to_device(cpu());
    Array(there).fill(1);
    if (cuda_backend::nvrtc_problem().empty()) add(there, there);
    fake::fail("cuMemcpyAsync", 700);
    EXPECT_THROW(there.to_device(cpu()), DeviceError);
    cuda::record_use(there.data(), Stream::default_of(device));
    event.record(stream);
    cuda::begin_capture(stream);
    cuda::end_capture(stream);
    scope.reset();
    device.synchronize();
    cuda::free_all_blocks(device);
    if (!current()) return;  // pinned memory takes the first GPU
    cuda::release_pinned(cuda::allocate_pinned(10));
    cuda::free_pinned_blocks();
  };
  std::thread([&] {  // which has no context yet
    use(1);
    EXPECT_EQ(current(), nullptr);
    use(0);
    const cuda_backend::CUcontext first = current();
    EXPECT_NE(first, nullptr);  // the one that CUDA's runtime takes by default
    use(1);
    EXPECT_EQ(current(), first);
    const auto foreign = reinterpret_cast<cuda_backend::CUcontext>(uintptr_t{2});
    fake::table().cuCtxSetCurrent(foreign);
    use(0);
    EXPECT_EQ(current(), foreign);
  })
      .join();
}

TEST_F(CudaDeviceTest, StreamsEventsAndTheirOrder) {
  const int64_t created = fake::calls("cuEventCreate"), destroyed = fake::calls("cuEventDestroy");
  {
    const Stream first(gpu(), {.non_blocking = true}), second(gpu(), {.non_blocking = true});
    const Event event(gpu()), end(gpu());
    EXPECT_TRUE(event.is_done());  // never recorded
    fake::hold(cu(first));
    event.record(first);
    second.wait_for(event);
    EXPECT_FALSE(event.is_done());
    EXPECT_FALSE(second.is_done());
    EXPECT_TRUE(Stream::default_of(gpu()).is_done());
    EXPECT_THROW(elapsed_milliseconds(event, end), DeviceError);
    fake::let_go(cu(first));
    second.synchronize();
    EXPECT_TRUE(event.is_done());
    end.record(first);
    EXPECT_GE(elapsed_milliseconds(event, end), 0);
    fake::hold(cu(second));
    first.wait_for(second);  // by an event of its own
    const Event behind(gpu(), {.timing = false});
    behind.record(second);
    EXPECT_FALSE(first.is_done());
    fake::let_go(cu(second));
    first.synchronize();
  }
  EXPECT_EQ(fake::calls("cuEventCreate") - created, 4);
  EXPECT_EQ(fake::calls("cuEventDestroy") - destroyed, 4);
}

TEST_F(CudaDeviceTest, AStreamOfAnotherLibraryIsNotDestroyed) {
  const int64_t destroyed = fake::calls("cuStreamDestroy");
  {
    const Stream owned(gpu());
    {
      const Stream foreign = Stream::foreign(gpu(), owned.handle());
      const StreamScope scope(foreign);
      Array::empty({10}, Dtype::int8, gpu()).fill(1);
    }
    EXPECT_EQ(fake::calls("cuStreamDestroy"), destroyed);
  }
  EXPECT_EQ(fake::calls("cuStreamDestroy"), destroyed + 1);
}

TEST_F(CudaDeviceTest, CopiesAndFillsFollowTheThreadsStream) {
  const Stream stream(gpu(), {.non_blocking = true});
  Array there = on_cpu(numbers(16)).to_device(gpu());
  gpu().synchronize();
  fake::hold(cu(stream));
  {
    const StreamScope scope(stream);
    there.fill(0);
    EXPECT_FALSE(stream.is_done());
  }
  fake::let_go(cu(stream));
  stream.synchronize();
  EXPECT_EQ(values_of(there.to_device(cpu())), std::vector<int32_t>(16, 0));
}

TEST_F(CudaDeviceTest, MemoryOfOtherStreamsIsNotReusedTooEarly) {
  cuda::free_all_blocks(gpu());  // so that few blocks could be given out
  const Stream stream(gpu(), {.non_blocking = true});
  void* used = nullptr;
  {
    const Array array = Array::empty({1000}, Dtype::int32, gpu());
    used = array.data();
    fake::hold(cu(stream));
    cuda::record_use(used, stream);
  }
  EXPECT_NE(Array::empty({1000}, Dtype::int32, gpu()).data(), used);
  fake::let_go(cu(stream));
  std::vector<Array> arrays;
  bool is_reused = false;
  for (int k = 0; k < 8; ++k) {
    arrays.push_back(Array::empty({1000}, Dtype::int32, gpu()));
    is_reused |= arrays.back().data() == used;
  }
  EXPECT_TRUE(is_reused);
}

TEST_F(CudaDeviceTest, GraphsReplayWhatWasCaptured) {
  const Stream stream(gpu(), {.non_blocking = true});
  std::optional<StreamScope> scope(std::in_place, stream);
  Array there = on_cpu(std::vector<int32_t>(64, 1)).to_device(gpu());
  cuda::begin_capture(stream);
  EXPECT_TRUE(cuda::is_capturing(stream));
  there.fill(0);
  const cuda::Graph graph = cuda::end_capture(stream);
  EXPECT_FALSE(cuda::is_capturing(stream));
  EXPECT_EQ(values_of(there.to_device(cpu())), std::vector<int32_t>(64, 1));
  graph.launch(stream);
  EXPECT_EQ(values_of(there.to_device(cpu())), std::vector<int32_t>(64, 0));
  scope.reset();
  there = Array();
}

TEST_F(CudaDeviceTest, GraphsDroppedDuringACaptureAreGivenBackAfterIt) {
  const Stream stream(gpu(), {.non_blocking = true}), other(gpu(), {.non_blocking = true});
  gpu().synchronize();
  cuda::free_all_blocks(gpu());
  std::optional<cuda::Graph> dropped;
  {
    const StreamScope scope(stream);
    cuda::begin_capture(stream);
    Array::empty({1 << 20}, Dtype::int32, gpu()).fill(0);
    dropped.emplace(cuda::end_capture(stream));
    dropped->launch(stream);
  }
  fake::hold(cu(stream));
  dropped->launch(stream);
  EXPECT_GT(cuda::memory_statistics(gpu()).held_bytes, 0u);
  const int64_t destroyed = fake::calls("cuGraphExecDestroy"), waits = fake::calls("cuCtxSynchronize");
  cuda::begin_capture(other);
  dropped.reset();
  EXPECT_EQ(fake::calls("cuCtxSynchronize"), waits);  // which would break the capture
  EXPECT_EQ(fake::calls("cuGraphExecDestroy"), destroyed);
  fake::let_go(cu(stream));
  const cuda::Graph graph = cuda::end_capture(other);
  EXPECT_EQ(fake::calls("cuGraphExecDestroy"), destroyed + 1);
  cuda::free_all_blocks(gpu());
  EXPECT_EQ(cuda::memory_statistics(gpu()).held_bytes, 0u);
}

// The driver waits for the GPU where it unloads a program.
TEST_F(CudaDeviceTest, TheEndOfACaptureUnloadsNoProgramThatWasDroppedBefore) {
  const Stream stream(gpu(), {.non_blocking = true});
  gpu().load("code", "entry").reset();
  const int64_t unloaded = fake::calls("cuModuleUnload");
  cuda::begin_capture(stream);
  const cuda::Graph graph = cuda::end_capture(stream);
  EXPECT_EQ(fake::calls("cuModuleUnload"), unloaded);
  gpu().synchronize();
  EXPECT_EQ(fake::calls("cuModuleUnload"), unloaded + 1);
}

TEST_F(CudaDeviceTest, GraphsThatCannotBeWaitedForAreGivenBackLater) {
  const Stream stream(gpu(), {.non_blocking = true});
  cuda::begin_capture(stream);
  std::optional<cuda::Graph> dropped(cuda::end_capture(stream));
  const int64_t destroyed = fake::calls("cuGraphExecDestroy");
  fake::fail("cuCtxSynchronize", 700);
  dropped.reset();
  EXPECT_EQ(fake::calls("cuGraphExecDestroy"), destroyed);
  gpu().synchronize();
  EXPECT_EQ(fake::calls("cuGraphExecDestroy"), destroyed + 1);
}

/// Runs `body(stream)` on a new thread whose current stream is its own.
template <class Body>
void on_own_stream(Device& device, Body&& body) {
  std::thread([&] {
    const Stream own = Stream::foreign(device, cuda_backend::kPerThreadStream);
    device.exchange_stream(own.handle());
    body(own);
  }).join();
}

TEST_F(CudaDeviceTest, ThreadsWithStreamsOfTheirOwnAllocateWhileAnotherCaptures) {
  const Stream stream(gpu(), {.non_blocking = true});
  std::vector<cuda::Graph> graphs;
  cuda::begin_capture(stream);
  on_own_stream(gpu(), [&](const Stream& own) {
    const void* used = Array::empty({1000}, Dtype::int8, gpu()).data();
    EXPECT_EQ(Array::empty({1000}, Dtype::int8, gpu()).data(), used);
    cuda::begin_capture(own);
    on_own_stream(gpu(), [&](const Stream& other) {  // the same handle, but another stream
      EXPECT_NE(Array::empty({1000}, Dtype::int8, gpu()).data(), used);
      EXPECT_THROW(cuda::end_capture(other), ValueError);
      cuda::begin_capture(other);
      graphs.push_back(cuda::end_capture(other));
    });
    const void* captured = Array::empty({1000}, Dtype::int8, gpu()).data();
    EXPECT_NE(captured, used);  // it is the graph's
    graphs.push_back(cuda::end_capture(own));
    EXPECT_EQ(Array::empty({1000}, Dtype::int8, gpu()).data(), used);
  });
  graphs.push_back(cuda::end_capture(stream));
  graphs.clear();
}

TEST_F(CudaDeviceTest, MemoryOfAnEndedThreadIsReusedAfterItsWork) {
  Array::empty({1000}, Dtype::int32, gpu())
      .fill(1);  // its code is loaded before a stream is held, which a load waits for
  gpu().synchronize();
  cuda::free_all_blocks(gpu());
  const Stream stream(gpu(), {.non_blocking = true});
  const Event event(gpu());
  void* used = nullptr;
  const auto allocated = [&] { return Array::empty({1000}, Dtype::int32, gpu()).data(); };
  fake::hold(cu(stream));
  event.record(stream);
  on_own_stream(gpu(), [&](const Stream& own) {
    own.wait_for(event);
    Array array = Array::empty({1000}, Dtype::int32, gpu());
    array.fill(1);
    used = array.data();
  });
  on_own_stream(gpu(), [&](const Stream&) { EXPECT_NE(allocated(), used); });
  fake::let_go(cu(stream));
  cuda::free_all_blocks(gpu());
  EXPECT_EQ(cuda::memory_statistics(gpu()).held_bytes, 0u);
  on_own_stream(gpu(), [&](const Stream&) { used = allocated(); });
  on_own_stream(gpu(), [&](const Stream&) { EXPECT_EQ(allocated(), used); });  // whose work has finished
  on_own_stream(gpu(), [&](const Stream& own) { cuda::begin_capture(own); });
  cuda::free_all_blocks(gpu());  // an ended thread captures nothing
  EXPECT_EQ(cuda::memory_statistics(gpu()).held_bytes, 0u);
}

TEST_F(CudaDeviceTest, ErrorsNameTheCallAndTheCode) {
  const Array array = Array::empty({10}, Dtype::int8, gpu());
  fake::fail("cuMemcpyAsync", 700);
  try {
    array.to_device(cpu());
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    for (const char* part : {"cuMemcpyAsync", "700", "CUDA_ERROR_ILLEGAL_ADDRESS", "cuda:0"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_F(CudaDeviceTest, ErrorsOfALaunchNameTheKernel) {
  if (!cuda_backend::nvrtc_problem().empty()) GTEST_SKIP() << cuda_backend::nvrtc_problem();
  const Array x = Array::empty({10}, Dtype::int32, gpu());
  const ElementwiseKernel plus_one("int32 x", "int32 y", "y = x + 1", "plus_one");
  fake::fail("cuLaunchKernel", 700);
  EXPECT_EQ(error_of<DeviceError>([&] { plus_one(x); })
                .rfind("kernel 'plus_one': cuda: cuLaunchKernel failed with "
                       "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
                       0),
            0u);
  fake::fail("cuLaunchKernel", cuda_backend::kOutOfMemory);  // of local memory
  EXPECT_EQ(error_of<OutOfMemoryError>([&] { plus_one(x); }).rfind("kernel 'plus_one': ", 0), 0u);
  fake::fail("cuLaunchKernel", 700);
  EXPECT_EQ(error_of<DeviceError>([&] { sum(x); }).rfind("kernel 'sum': ", 0), 0u);
}

TEST_F(CudaDeviceTest, OutOfMemoryFreesWhatIsHeldAndThenSaysHowMuch) {
  const int64_t most = 600 << 20;
  {
    Array::empty({most}, Dtype::int8, gpu());
  }
  EXPECT_GT(cuda::memory_statistics(gpu()).held_bytes, 0u);
  const Array larger = Array::empty({700 << 20}, Dtype::int8, gpu());  // fits only without what is held
  try {
    Array::empty({most}, Dtype::int8, gpu());
    FAIL() << "no error";
  } catch (const OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("cuda:0"), std::string::npos) << error.what();
  }
}

TEST_F(CudaDeviceTest, FreeingGivesEverythingBack) {
  {
    const Array array = Array::empty({1000}, Dtype::int8, gpu());
  }
  EXPECT_GT(fake::live_device_bytes(), 0u);
  for (const int index : {0, 1}) cuda::free_all_blocks(gpu(index));
  EXPECT_EQ(fake::live_device_bytes(), 0u);
  cuda::release_pinned(cuda::allocate_pinned(1000));
  cuda::free_pinned_blocks();
  EXPECT_EQ(fake::live_host_bytes(), 0u);
}

TEST_F(CudaDeviceTest, NothingIsFreedWhereADeviceCannotBeWaitedFor) {
  const auto refuse = [] { fake::fail("cuCtxSynchronize", 700); };
  {
    const Array array = Array::empty({1000}, Dtype::int8, gpu());
  }
  refuse();
  EXPECT_NE(error_of<DeviceError>([&] { cuda::free_all_blocks(gpu()); }).find("cuCtxSynchronize"), std::string::npos);
  EXPECT_GT(fake::live_device_bytes(), 0u);
  cuda::release_pinned(cuda::allocate_pinned(1000));
  refuse();
  EXPECT_NE(error_of<DeviceError>([&] { cuda::free_pinned_blocks(); }).find("cuCtxSynchronize"), std::string::npos);
  EXPECT_GT(fake::live_host_bytes(), 0u);
  const Stream stream(gpu(), {.non_blocking = true});
  cuda::begin_capture(stream);
  std::optional<cuda::Graph> graph = cuda::end_capture(stream);
  refuse();
  const int64_t graphs = fake::calls("cuGraphExecDestroy");
  graph.reset();
  EXPECT_EQ(fake::calls("cuGraphExecDestroy"), graphs);
  cuda::free_all_blocks(gpu());
  cuda::free_pinned_blocks();
  EXPECT_EQ(fake::live_host_bytes(), 0u);
}

TEST_F(CudaDeviceTest, PinnedMemoryWaitsForTheDevicesInUse) {
  gpu(0), gpu(1);
  fake::set_device_count(3);
  cuda::release_pinned(cuda::allocate_pinned(1000));
  const int64_t contexts = fake::calls("cuDevicePrimaryCtxRetain"), waits = fake::calls("cuCtxSynchronize");
  cuda::free_pinned_blocks();
  EXPECT_EQ(fake::calls("cuDevicePrimaryCtxRetain"), contexts);
  EXPECT_EQ(fake::calls("cuCtxSynchronize"), waits + 2);
  EXPECT_EQ(fake::live_host_bytes(), 0u);
  fake::set_device_count(2);
}

TEST_F(CudaDeviceTest, PinnedMemoryBelongsToNoContextOfOthers) {
  cuda::free_pinned_blocks();
  const auto foreign = reinterpret_cast<cuda_backend::CUcontext>(uintptr_t{100});
  fake::table().cuCtxSetCurrent(foreign);
  const int64_t before = fake::calls("cuMemHostAlloc");
  cuda::release_pinned(cuda::allocate_pinned(1000));
  EXPECT_EQ(fake::calls("cuMemHostAlloc"), before + 1);
  cuda::free_pinned_blocks();
  cuda_backend::CUcontext now = nullptr;
  fake::table().cuCtxGetCurrent(&now);
  EXPECT_EQ(now, foreign);
  fake::table().cuCtxSetCurrent(nullptr);
}

TEST_F(CudaDeviceTest, PinnedMemoryIsNotWaitedForDuringACapture) {
  const Stream stream(gpu(), {.non_blocking = true});
  cuda::release_pinned(cuda::allocate_pinned(1000));
  cuda::begin_capture(stream);
  const int64_t waits = fake::calls("cuCtxSynchronize");
  cuda::free_pinned_blocks();
  EXPECT_EQ(fake::calls("cuCtxSynchronize"), waits);
  EXPECT_GT(fake::live_host_bytes(), 0u);
  cuda::end_capture(stream);
  cuda::free_pinned_blocks();
  EXPECT_EQ(fake::live_host_bytes(), 0u);
}

/// The work is marked when the block is released, on a thread that may use another device.
TEST_F(CudaDeviceTest, UsesAreMarkedOnTheirOwnDevice) {
  const auto hold_second = [&](bool holds) {
    cuda_backend::CUcontext before = nullptr;
    fake::table().cuCtxGetCurrent(&before);
    fake::table().cuCtxSetCurrent(reinterpret_cast<cuda_backend::CUcontext>(uintptr_t{2}));
    holds ? fake::hold(nullptr) : fake::let_go(nullptr);
    fake::table().cuCtxSetCurrent(before);
  };
  gpu(0), gpu(1);
  cuda_backend::StreamPool& pool = cuda_backend::cuda_device(0).pool();
  const Stream stream(gpu(), {.non_blocking = true});
  void* const memory = pool.allocate(1000, nullptr);
  cuda::begin_capture(stream);
  pool.record_use(memory, /*stream=*/nullptr, /*device=*/1);  // not the stream of that handle which allocated it
  pool.release(memory);
  hold_second(true);
  const cuda::Graph graph = cuda::end_capture(stream);
  void* const other = pool.allocate(1000, nullptr);
  EXPECT_NE(other, memory);
  pool.release(other);
  hold_second(false);
}

TEST_F(CudaDeviceTest, WithoutGpusThereIsNone) {
  fake::set_device_count(0);
  EXPECT_FALSE(cuda::is_available());
  EXPECT_THROW(device("cuda:0"), DeviceError);
  EXPECT_EQ(&default_device(), &cpu());
}

}  // namespace
TEST(CudaProgram, PtxIsLoweredToWhatTheDriverAssembles) {
  EXPECT_EQ(cuda_backend::ptx_version(12000), 80);
  EXPECT_EQ(cuda_backend::ptx_version(12040), 84);
  EXPECT_EQ(cuda_backend::ptx_version(12060), 85);
  EXPECT_EQ(cuda_backend::ptx_version(12080), 87);
  EXPECT_EQ(cuda_backend::ptx_version(13000), 90);
  std::string ptx = "//\n.version 9.0\n.target sm_90\n";
  cuda_backend::lower_version(ptx, 91);
  EXPECT_EQ(ptx, "//\n.version 9.0\n.target sm_90\n");
  cuda_backend::lower_version(ptx, 84);
  EXPECT_EQ(ptx, "//\n.version 8.4\n.target sm_90\n");
}

TEST(CudaProgram, OptionsReachTheDriversAssembler) {
  const auto options = [](std::vector<std::string> given) { return cuda_backend::assembler_options(given); };
  for (const char* option : {"--maxrregcount=40", "-maxrregcount=40", "--ptxas-options=-maxrregcount=40"})
    EXPECT_EQ(options({"-DX", option, "-lineinfo"}).most_registers, 40) << option;
  EXPECT_EQ(options({"--maxrregcount", "40"}).most_registers, 40);
  EXPECT_EQ(options({"--maxrregcount=0"}).most_registers, 1);  // which assemblers raise to the fewest that serve
  using Values = std::vector<std::pair<int, uintptr_t>>;
  EXPECT_EQ(options({"-Xptxas", "-O1", "--generate-line-info"}).values, (Values{{7, 1}, {13, 1}}));
  EXPECT_EQ(options({"-O1", "--ftz=true", "--ptxas-options=-v"}).values, Values());
  EXPECT_EQ(options({"-O1", "--ftz=true", "--ptxas-options=-v"}).most_registers, 0);
}

TEST_F(CudaDeviceTest, AKernelWithFewRegistersIsAssembledByTheDriver) {
  if (!cuda_backend::nvrtc_problem().empty()) GTEST_SKIP() << cuda_backend::nvrtc_problem();
  const ProgramSource source{"extern \"C\" __global__ void __launch_bounds__(64) few(int* x) { *x = 1; }",
                             "few",
                             {"--maxrregcount=40", "--ptxas-options=-O2"},
                             "<few>"};
  ASSERT_TRUE(gpu().compile(source).ok);
  for (const std::string& text : {fake::assembled(), gpu().assembly(source)})
    EXPECT_NE(text.find("\n.maxnreg 40\n.maxntid 64"), std::string::npos) << text;
  EXPECT_NE(fake::assembled().find("option 7: 2\n"), std::string::npos) << fake::assembled();
}

TEST(CudaProgram, LaunchesCarryMoreBytesSinceCuda121) {
  EXPECT_EQ(cuda_backend::most_argument_bytes(12000, "13.0", 90), 4080u);
  EXPECT_EQ(cuda_backend::most_argument_bytes(12010, "12.0", 90), 4080u);
  EXPECT_EQ(cuda_backend::most_argument_bytes(13000, "12.9", 61), 4080u);
  EXPECT_EQ(cuda_backend::most_argument_bytes(13000, "12.1", 70), 32736u);
}

}  // namespace iruka
