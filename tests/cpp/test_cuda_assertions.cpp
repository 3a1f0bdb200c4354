// Failed assertions of GPU kernels with a fake driver: which wait reports them, how often, and the message.
#include <gtest/gtest.h>

#include <cstring>

#include "backend/cuda/cuda_device.h"
#include "fake_driver_test.h"
#include "iruka/cuda.h"
#include "iruka/error.h"

namespace iruka {
namespace {

namespace fake = testing::fake_driver;
using cuda_backend::AssertionRecord;
using cuda_backend::CUstream;
using testing::cu;

/// A program whose kernel fails at `element` in each launch while it is not negative.
struct Asserting {
  AssertionRecord record{AssertionRecord::kNone, 0, 0, 0, "", ""};
  int64_t element = -1;
  std::shared_ptr<const Module> module;
};

class CudaAssertionsTest : public testing::FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    fake::set_launch_handler([this](const fake::Launch&, void**) -> std::function<void()> {
      return [asserting = launched_] { fail(*asserting); };
    });
    for (Asserting* asserting : {&a_, &b_}) {
      fake::set_global(AssertionRecord::kName, &asserting->record, sizeof(asserting->record));
      asserting->module = gpu().load("code", "entry");
    }
    fake::set_global(AssertionRecord::kName, nullptr, 0);
  }
  void TearDown() override {
    a_.module = b_.module = nullptr;
    gpu().load("code", "entry");  // unloads what was dropped, as the records are about to go
    fake::set_launch_handler(nullptr);
    FakeDriverTest::TearDown();
  }

  static void fail(Asserting& asserting) {
    AssertionRecord& record = asserting.record;
    if (asserting.element < 0 || static_cast<uint64_t>(asserting.element) >= record.element) return;
    record.line = 7;
    std::strcpy(record.file, "operation");
    std::strcpy(record.condition, "x > 0");
    record.element = static_cast<uint64_t>(asserting.element);
    *reinterpret_cast<unsigned*>(record.flag) = 1;
  }

  void launch(Asserting& asserting, const char* kernel, CUstream stream = nullptr, int64_t element = -1) {
    launched_ = &asserting;
    asserting.element = element;
    LaunchContext context(kernel);
    const StreamScope scope(gpu(), stream);
    gpu().launch_grid(context, asserting.module->function("entry"), {}, {});
  }

  /// What `wait` raises; empty where nothing.
  template <class Wait>
  static std::string told_by(Wait&& wait) {
    try {
      wait();
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "";
  }
  static std::string told_by_device() {
    return told_by([] { gpu().synchronize(); });
  }
  static std::string told_by(const Stream& stream) {
    return told_by([&] { stream.synchronize(); });
  }

  Asserting a_, b_, *launched_ = nullptr;
};

TEST_F(CudaAssertionsTest, AreToldOnceInTheWordsOfTheCpu) {
  launch(a_, "first");
  EXPECT_EQ(told_by_device(), "");
  launch(a_, "first", nullptr, 12);
  EXPECT_EQ(told_by_device(), FailedAssertion({"x > 0", "operation", 7, 12}).to_string().insert(0, "kernel 'first': "));
  EXPECT_EQ(told_by_device(), "");
  launch(a_, "first", nullptr, 3);
  EXPECT_NE(told_by_device().find("at element 3"), std::string::npos);
}

TEST_F(CudaAssertionsTest, AreToldByWaitsForTheirStream) {
  const Stream mine(gpu(), {.non_blocking = true}), others(gpu(), {.non_blocking = true});
  launch(a_, "first", cu(mine), 1);
  launch(b_, "second", cu(others), 2);
  EXPECT_NE(told_by(others).find("'second'"), std::string::npos);
  EXPECT_EQ(told_by(others), "");
  EXPECT_NE(told_by(mine).find("'first'"), std::string::npos);
  launch(b_, "second", cu(others), 2);
  EXPECT_NE(told_by_device().find("'second'"), std::string::npos);
}

TEST_F(CudaAssertionsTest, OfSeveralKernelsAreToldOneByOne) {
  launch(a_, "first", nullptr, 1);
  launch(b_, "second", nullptr, 2);
  const std::string one = told_by_device(), other = told_by_device();
  EXPECT_NE(one.find("'first'"), std::string::npos) << one;
  EXPECT_NE(other.find("'second'"), std::string::npos) << other;
  EXPECT_EQ(told_by_device(), "");
}

TEST_F(CudaAssertionsTest, OutliveTheirProgram) {
  launch(a_, "first", nullptr, 1);
  a_.module.reset();
  gpu().load("code", "entry");
  EXPECT_NE(told_by_device().find("'first'"), std::string::npos);
  EXPECT_EQ(told_by_device(), "");
}

TEST_F(CudaAssertionsTest, OfAProgramDroppedDuringACaptureAreToldAfterIt) {
  const Stream stream(gpu(), {.non_blocking = true}), captured(gpu(), {.non_blocking = true});
  fake::hold(cu(stream));
  launch(a_, "first", cu(stream), 1);
  cuda::begin_capture(captured);
  a_.module.reset();
  const int64_t waits = fake::calls("cuCtxSynchronize"), unloaded = fake::calls("cuModuleUnload");
  fake::let_go(cu(stream));
  gpu().load("code", "entry");
  EXPECT_EQ(fake::calls("cuCtxSynchronize"), waits);  // which would break the capture
  EXPECT_EQ(fake::calls("cuModuleUnload"), unloaded);
  const cuda::Graph graph = cuda::end_capture(captured);
  EXPECT_GT(fake::calls("cuModuleUnload"), unloaded);
  EXPECT_NE(told_by(stream).find("'first'"), std::string::npos);
}

TEST_F(CudaAssertionsTest, OfTheDefaultStreamByItsNumberAreToldByWhatWaitsForIt) {
  const Stream blocking(gpu(), StreamOptions{});
  launch(a_, "first", cuda_backend::kLegacyStream, 1);
  EXPECT_NE(told_by(blocking).find("'first'"), std::string::npos);
}

// A kernel that was not waited for may be writing its record.
TEST_F(CudaAssertionsTest, AreToldByTheDefaultStreamWhereItWaitsForTheirs) {
  const Stream blocking(gpu(), StreamOptions{}), other(gpu(), {.non_blocking = true});
  const Stream null = Stream::default_of(gpu());
  launch(a_, "first", cu(other), 1);
  launch(b_, "second", cu(blocking), 2);
  EXPECT_NE(told_by(null).find("'second'"), std::string::npos);
  EXPECT_EQ(told_by(null), "");
  EXPECT_NE(told_by(other).find("'first'"), std::string::npos);
}

TEST_F(CudaAssertionsTest, OfADestroyedStreamAreToldByTheNextWait) {
  const Stream other(gpu(), {.non_blocking = true});
  {
    const Stream stream(gpu(), {.non_blocking = true});
    launch(a_, "first", cu(stream), 1);
  }
  EXPECT_NE(told_by(other).find("'first'"), std::string::npos);
  EXPECT_EQ(told_by_device(), "");
}

TEST_F(CudaAssertionsTest, AreNotOfANewStreamWithAnOldHandle) {
  const Stream stream(gpu(), {.non_blocking = true}), other(gpu(), {.non_blocking = true});
  launch(a_, "first", cu(stream));
  cuda_backend::cuda_device(0).assertions().forget_stream(cu(stream));
  launch(a_, "first", cu(other), 1);
  EXPECT_EQ(told_by(stream), "");
  EXPECT_NE(told_by(other).find("'first'"), std::string::npos);
}

TEST_F(CudaAssertionsTest, ThatNobodyWaitsForCostOthersNothing) {
  const Stream mine(gpu(), {.non_blocking = true}), other(gpu(), {.non_blocking = true});
  launch(a_, "first", cu(other), 1);
  EXPECT_EQ(told_by(mine), "");
  const int64_t copies = fake::calls("cuMemcpyAsync");
  EXPECT_EQ(told_by(mine), "");
  EXPECT_EQ(fake::calls("cuMemcpyAsync"), copies);
  EXPECT_NE(told_by(other).find("'first'"), std::string::npos);
}

TEST_F(CudaAssertionsTest, AreToldLaterWhereTheDriverRefusesToReadThem) {
  launch(a_, "first", nullptr, 1);
  fake::fail("cuMemcpyAsync", 700);
  EXPECT_EQ(told_by_device(), "");
  EXPECT_NE(told_by_device().find("'first'"), std::string::npos);
}

TEST_F(CudaAssertionsTest, LeaveNothingBehindWhereAProgramCannotBeWatched) {
  Device& second = device("cuda:1");
  const int64_t flags = fake::calls("cuMemHostAlloc");
  fake::set_global(AssertionRecord::kName, &a_.record, sizeof(a_.record));
  for (const char* call : {"cuStreamCreateWithPriority", "cuMemHostAlloc", "cuMemcpyAsync"}) {
    const int64_t unloaded = fake::calls("cuModuleUnload"), streams = fake::calls("cuStreamCreateWithPriority");
    fake::fail(call, 2);
    EXPECT_THROW(second.load("code", "entry"), OutOfMemoryError) << call;
    EXPECT_EQ(fake::calls("cuModuleUnload"), unloaded + 1) << call;
    EXPECT_LE(fake::calls("cuStreamCreateWithPriority"), streams + 1);
  }
  fake::set_global(AssertionRecord::kName, nullptr, 0);
  EXPECT_EQ(fake::calls("cuMemHostAlloc"), flags + 2);  // one was refused
}

TEST_F(CudaAssertionsTest, CostAWaitNothingWhereNoneFailed) {
  launch(a_, "first");
  gpu().synchronize();
  const int64_t copies = fake::calls("cuMemcpyAsync");
  gpu().synchronize();
  EXPECT_EQ(fake::calls("cuMemcpyAsync"), copies);
}

}  // namespace
}  // namespace iruka
