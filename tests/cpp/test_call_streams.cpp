// The stream of a call: whose order its memory, copies and launch are in, and what becomes of the events that time it.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "host_device.h"
#include "iruka/kernel.h"
#include "iruka/reduction_kernel.h"

namespace iruka {
namespace {

struct Nothing final : Module {
  Nothing() : Module("nothing"), only("nothing") {}
  const Function& function(const std::string&) const override { return only; }
  GlobalVariable global(const std::string&) const override { return {}; }
  Function only;
};

/// A GPU that computes nothing and records each request and its stream.
class StreamedDevice final : public testing::HostDevice {
 public:
  StreamedDevice() {
    target_.name = "cuda";
    target_.kind = DeviceKind::cuda;
    target_.is_host = false;
    target_.needs_alignment = true;
    target_.multiprocessors = 1;
  }
  const std::string& name() const override { return name_; }
  const TargetDescription& target() const override { return target_; }
  void* allocate(size_t bytes) override {
    void* const memory = pool.allocate(bytes);
    allocated[memory] = current;
    return memory;
  }
  void copy(void* to, const void*, size_t) override { copied[to] = current; }
  StreamHandle create_stream(const StreamOptions&) override { return ++streams, &streams; }
  void destroy_stream(StreamHandle) noexcept override { --streams; }
  StreamHandle current_stream() const override { return current; }
  StreamHandle exchange_stream(StreamHandle stream) override { return std::exchange(current, stream); }
  bool is_capturing(StreamHandle) override { return captures; }
  EventHandle create_event(const EventOptions& options) override { return ++events, HostDevice::create_event(options); }
  void destroy_event(EventHandle event) noexcept override { --events, HostDevice::destroy_event(event); }
  void record_event(EventHandle event, StreamHandle stream) override {
    recorded.push_back(stream);
    HostDevice::record_event(event, stream);
  }
  bool is_event_done(EventHandle) override {
    if (fails) throw DeviceError("streamed: an event cannot be asked");
    return false;
  }
  void wait_for_event(StreamHandle stream, EventHandle) override { waited.push_back(stream); }
  CompiledProgram compile(const ProgramSource&) override { return {.ok = true, .code = "nothing"}; }
  std::shared_ptr<const Module> load(std::string_view, const std::string&) override {
    return std::make_shared<Nothing>();
  }
  void launch_grid(LaunchContext&, const Function&, std::span<const ParameterBytes>, const LaunchGrid&) override {
    if (fails) throw DeviceError("streamed: the launch failed");
    launched.push_back(current);
  }

  StreamHandle current = nullptr;
  std::map<void*, StreamHandle> allocated, copied;
  std::vector<StreamHandle> launched, recorded, waited;
  int streams = 0, events = 0;
  bool fails = false, captures = false;

 private:
  const std::string name_ = "streamed";
  TargetDescription target_;
};

StreamedDevice& gpu() {
  static auto& device = *new StreamedDevice;  // programs refer to it as long as the process lives
  return device;
}

const StreamHandle kMain = reinterpret_cast<StreamHandle>(0x10), kOther = reinterpret_cast<StreamHandle>(0x20);

Stream other_stream() { return Stream::foreign(gpu(), kOther); }

ElementwiseKernel kernel(const std::string& name, const std::string& in_params = "float32 x") {
  KernelOptions options;
  options.diagnose_early = false;
  return ElementwiseKernel(in_params, "float32 y", "y = x;", name, options);
}

class CallStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    gpu().exchange_stream(kMain);
    gpu().launched.clear();
    gpu().recorded.clear();
    gpu().waited.clear();
    gpu().fails = gpu().captures = false;
  }
};

TEST_F(CallStreams, OutputsAndTheLaunchBelongToTheStreamOfTheCall) {
  const Stream other = other_stream();
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  EXPECT_EQ(gpu().allocated[x.data()], kMain);
  const Argument arguments[] = {x};
  const Array y = kernel("outputs").call(arguments, {.stream = &other}).front();
  EXPECT_EQ(gpu().allocated[y.data()], kOther);
  EXPECT_EQ(gpu().launched, std::vector{kOther});
  EXPECT_EQ(gpu().current, kMain);
  const Array z = kernel("outputs").call(arguments).front();
  EXPECT_EQ(gpu().allocated[z.data()], kMain);
  EXPECT_EQ(gpu().launched, (std::vector{kOther, kMain}));
}

TEST_F(CallStreams, CopiesOfOverlappingInputsDoToo) {
  const Stream other = other_stream();
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const Array from = x.at(Slice{0, 32, {}}), to = x.at(Slice{16, 48, {}});
  gpu().copied.clear();
  const Argument arguments[] = {from, to};
  kernel("overlap").call(arguments, {.stream = &other});
  ASSERT_EQ(gpu().copied.size(), 1u);
  EXPECT_EQ(gpu().copied.begin()->second, kOther);
  EXPECT_EQ(gpu().allocated[gpu().copied.begin()->first], kOther);
  EXPECT_EQ(gpu().launched, std::vector{kOther});
}

TEST_F(CallStreams, AnErrorBringsTheCurrentStreamBack) {
  const Stream other = other_stream();
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  gpu().fails = true;
  const Argument arguments[] = {x};
  EXPECT_THROW(kernel("failing").call(arguments, {.stream = &other}), DeviceError);
  EXPECT_EQ(gpu().current, kMain);
}

TEST_F(CallStreams, AStreamOfAnotherDeviceIsRefused) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const Stream other = Stream::default_of(cpu());
  const Argument arguments[] = {x};
  EXPECT_THROW(kernel("elsewhere").call(arguments, {.stream = &other}), ValueError);
  EXPECT_TRUE(gpu().launched.empty());
}

TEST_F(CallStreams, StagesOfAReductionAreInItsOrder) {
  const Stream other = other_stream(), elsewhere = Stream::default_of(cpu());
  const Array x = Array::empty({100'000}, Dtype::float32, gpu());
  const ReductionKernel total("T x", "T y", "x", "a + b", "y = a", "0", "total");
  const Argument arguments[] = {x};
  const Array y = total.call(arguments, {.stream = &other}).front();
  EXPECT_EQ(gpu().allocated[y.data()], kOther);
  EXPECT_GE(gpu().launched.size(), 2u);
  for (const StreamHandle stream : gpu().launched) EXPECT_EQ(stream, kOther);
  EXPECT_EQ(gpu().current, kMain);
  EXPECT_THROW(total.call(arguments, {.stream = &elsewhere}), ValueError);
}

// Kernels with integers are timed; the times are read by a later call, which may never come.
TEST_F(CallStreams, EventsOfTimedLaunchesGoWithTheKernel) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const int before = gpu().events;
  {
    const ElementwiseKernel timed = kernel("timed", "float32 x, int32 s");
    for (int k = 0; k < 20; ++k) timed(x, 3 + k);
    EXPECT_EQ(gpu().recorded, (std::vector{kMain, kMain}));  // the first launch's, which is never over
    EXPECT_EQ(gpu().events - before, 2);
  }
  EXPECT_EQ(gpu().events, before);
}

TEST_F(CallStreams, AFailedLaunchIsNotTimed) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const ElementwiseKernel timed = kernel("failing_once", "float32 x, int32 s");
  gpu().fails = true;
  EXPECT_THROW(timed(x, 3), DeviceError);
  gpu().fails = false;
  gpu().recorded.clear();
  timed(x, 3);
  EXPECT_EQ(gpu().recorded.size(), 2u);
  gpu().fails = true;  // an event that cannot be asked is no error of the call, but the launch is
  try {
    timed(x, 3);
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("the launch failed"), std::string::npos) << error.what();
  }
}

TEST_F(CallStreams, CapturedLaunchesAreNotTimed) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  gpu().captures = true;
  kernel("captured", "float32 x, int32 s")(x, 3);
  EXPECT_EQ(gpu().launched.size(), 1u);
  EXPECT_TRUE(gpu().recorded.empty());
}

TEST_F(CallStreams, StreamsAndEventsAreOwnedAndMove) {
  const int streams = gpu().streams, events = gpu().events;
  {
    Stream first(gpu());
    Stream moved = std::move(first);
    EXPECT_TRUE(moved.is_owned());
    EXPECT_FALSE(first.is_owned());
    moved = Stream(gpu(), {.non_blocking = true});
    EXPECT_EQ(gpu().streams - streams, 1);
    moved = Stream::foreign(gpu(), kOther);
    EXPECT_EQ(gpu().streams, streams);
    Event event(gpu()), target(gpu());
    target = std::move(event);
    EXPECT_EQ(gpu().events - events, 1);
    EXPECT_FALSE(Event::foreign(gpu(), target.handle()).is_owned());
  }
  EXPECT_EQ(gpu().streams, streams);
  EXPECT_EQ(gpu().events, events);
}

TEST_F(CallStreams, AStreamWaitsForAnother) {
  const int events = gpu().events;
  Stream::foreign(gpu(), kMain).wait_for(other_stream());
  EXPECT_EQ(gpu().recorded, std::vector{kOther});
  EXPECT_EQ(gpu().waited, std::vector{kMain});
  Stream::foreign(gpu(), kMain).wait_for(Stream::foreign(gpu(), kMain));
  EXPECT_EQ(gpu().waited.size(), 1u);
  EXPECT_EQ(gpu().events, events);
}

TEST_F(CallStreams, AScopeChoosesTheThreadsStream) {
  {
    const StreamScope scope(other_stream());
    EXPECT_EQ(Stream::current(gpu()).handle(), kOther);
    Event event(gpu());
    event.record();
  }
  EXPECT_EQ(gpu().recorded, std::vector{kOther});
  EXPECT_EQ(Stream::current(gpu()).handle(), kMain);
}

TEST(HostStreams, AreAlwaysDone) {
  const Stream stream(cpu()), other = Stream::default_of(cpu());
  const Event begin(cpu()), end(cpu());
  EXPECT_TRUE(stream.is_done());
  EXPECT_TRUE(begin.is_done());
  EXPECT_THROW(elapsed_milliseconds(begin, end), DeviceError);  // never recorded
  begin.record(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  end.record();
  EXPECT_GE(elapsed_milliseconds(begin, end), 2.0);
  stream.wait_for(other);
  stream.wait_for(end);
  stream.synchronize();
  begin.synchronize();
  const StreamScope scope(stream);
  const Event elsewhere(gpu());
  EXPECT_THROW(elsewhere.record(stream), ValueError);
  EXPECT_THROW(elapsed_milliseconds(begin, elsewhere), ValueError);
}

}  // namespace
}  // namespace iruka
