// The stream of a call: whose order its memory, copies and launch are in, and what becomes of the events that time it.
#include <gtest/gtest.h>

#include <map>

#include "host_device.h"
#include "iruka/kernel.h"

namespace iruka {
namespace {

struct Nothing final : LoadedProgram {};

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
  void copy(void* to, const void*, size_t, StreamHandle stream) override { copied[to] = stream ? stream : current; }
  StreamHandle exchange_stream(StreamHandle stream) override { return std::exchange(current, stream); }
  void* record(StreamHandle) override {
    if (refused > 0 && --refused == 0) return nullptr;
    ++recorded;
    return this;
  }
  void forget(void*) noexcept override { ++forgotten; }
  double elapsed(void*, void*) override { return -1; }
  CompiledProgram compile(const ProgramSource&) override { return {.ok = true, .code = "nothing"}; }
  std::shared_ptr<const LoadedProgram> load(std::string_view, const std::string&) override {
    return std::make_shared<Nothing>();
  }
  void launch_grid(LaunchContext&, const LoadedProgram&, std::span<const std::byte>, const LaunchGrid&,
                   StreamHandle stream) override {
    if (fails) throw DeviceError("streamed: the launch failed");
    launched.push_back(stream ? stream : current);
  }

  StreamHandle current = nullptr;
  std::map<void*, StreamHandle> allocated, copied;
  std::vector<StreamHandle> launched;
  int recorded = 0, forgotten = 0, refused = 0;
  bool fails = false;

 private:
  const std::string name_ = "streamed";
  TargetDescription target_;
};

StreamedDevice& gpu() {
  static auto& device = *new StreamedDevice;  // programs refer to it as long as the process lives
  return device;
}

const StreamHandle kMain = reinterpret_cast<StreamHandle>(0x10), kOther = reinterpret_cast<StreamHandle>(0x20);

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
    gpu().fails = false;
  }
};

TEST_F(CallStreams, OutputsAndTheLaunchBelongToTheStreamOfTheCall) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  EXPECT_EQ(gpu().allocated[x.data()], kMain);
  const Argument arguments[] = {x};
  const Array y = kernel("outputs").call(arguments, {.stream = kOther}).front();
  EXPECT_EQ(gpu().allocated[y.data()], kOther);
  EXPECT_EQ(gpu().launched, std::vector{kOther});
  EXPECT_EQ(gpu().current, kMain);
  const Array z = kernel("outputs").call(arguments).front();
  EXPECT_EQ(gpu().allocated[z.data()], kMain);
  EXPECT_EQ(gpu().launched, (std::vector{kOther, kMain}));
}

TEST_F(CallStreams, CopiesOfOverlappingInputsDoToo) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const Array from = x.at(Slice{0, 32, {}}), to = x.at(Slice{16, 48, {}});
  gpu().copied.clear();
  const Argument arguments[] = {from, to};
  kernel("overlap").call(arguments, {.stream = kOther});
  ASSERT_EQ(gpu().copied.size(), 1u);
  EXPECT_EQ(gpu().copied.begin()->second, kOther);
  EXPECT_EQ(gpu().allocated[gpu().copied.begin()->first], kOther);
  EXPECT_EQ(gpu().launched, std::vector{kOther});
}

TEST_F(CallStreams, AnErrorBringsTheCurrentStreamBack) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  gpu().fails = true;
  const Argument arguments[] = {x};
  EXPECT_THROW(kernel("failing").call(arguments, {.stream = kOther}), DeviceError);
  EXPECT_EQ(gpu().current, kMain);
}

// Kernels with integers are timed; the times are read by a later call, which may never come.
TEST_F(CallStreams, EventsOfATimedLaunchAreGivenBackWithTheKernel) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const int recorded = gpu().recorded, forgotten = gpu().forgotten;
  for (int k = 0; k < 20; ++k) kernel("timed", "float32 x, int32 s")(x, 3 + k);
  EXPECT_EQ(gpu().recorded - recorded, 40);
  EXPECT_EQ(gpu().forgotten - forgotten, 40);
}

TEST_F(CallStreams, EventsOfALaunchThatIsNotTimedAreGivenBack) {
  const Array x = Array::empty({64}, Dtype::float32, gpu());
  const ElementwiseKernel timed = kernel("half_timed", "float32 x, int32 s");
  const int recorded = gpu().recorded, forgotten = gpu().forgotten;
  gpu().refused = 2;  // the mark behind the launch
  timed(x, 3);
  gpu().fails = true;
  EXPECT_THROW(timed(x, 3), DeviceError);
  EXPECT_EQ(gpu().recorded - recorded, 2);
  EXPECT_EQ(gpu().forgotten - forgotten, 2);
}

}  // namespace
}  // namespace iruka
