// A CUDA GPU as a device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/cuda/assertions.h"
#include "backend/cuda/driver.h"
#include "backend/cuda/stream_pool.h"
#include "core/device.h"
#include "core/fork.h"

namespace iruka::cuda_backend {

struct AssemblerOptions;

/// Most GPUs of one process.
inline constexpr int kMostDevices = 64;

/// Lets the thread make calls that the driver otherwise refuses while a stream is captured.
class AllowedWhileCapturing {
 public:
  AllowedWhileCapturing() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  ~AllowedWhileCapturing() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  AllowedWhileCapturing(const AllowedWhileCapturing&) = delete;
  AllowedWhileCapturing& operator=(const AllowedWhileCapturing&) = delete;

 private:
  int mode_ = kCaptureRelaxed;
};

/// Makes a context current on the calling thread, and restores the previous one, on which other libraries of the
/// process rely. A thread without a context keeps the first GPU's, which CUDA's runtime would also choose.
class ContextScope {
 public:
  ContextScope(CUcontext context, int device) noexcept;
  /// Raises DeviceError that names `subject` where the driver refuses.
  ContextScope(CUcontext context, int device, const std::string& subject) : ContextScope(context, device) {
    check(result_, "cuCtxSetCurrent", subject);
  }
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  bool is_active() const { return result_ == kSuccess; }

 private:
  CUcontext before_ = nullptr;
  bool is_to_restore_ = false;
  CUresult result_;
};

/// Whether work for `stream` may become part of a graph; true when in doubt.
bool may_capture(CUstream stream);
/// The driver's number of the capture that work for `stream` joins; 0 where there is none, or in doubt.
uint64_t capture_id(CUstream stream);
/// Raises DeviceError if work for `stream` would become part of a graph, because the driver would then drop the whole
/// capture. The message is `reason` and advice. When in doubt it raises nothing: the next call reports the error.
void refuse_capture(CUstream stream, const char* reason);

/// The driver's handle of the stream with this name in the pools. Nothing for the own stream of another thread.
std::optional<CUstream> driver_stream(StreamHandle stream);

/// The base class of the pools' sources: it implements events by the driver's.
class DriverSource : public BlockSource {
 public:
  void* record(StreamHandle stream, int device) noexcept override;
  bool is_done(void* event) noexcept override {
    const AllowedWhileCapturing allowed;
    return driver().cuEventQuery(static_cast<CUevent>(event)) == kSuccess;
  }
  void release_event(void* event) noexcept override { driver().cuEventDestroy(static_cast<CUevent>(event)); }
};

/// The newest PTX that a driver of that version (12040) assembles: 84 for 8.4.
int ptx_version(int driver_version);
/// Changes the version in PTX to `newest` if it is newer. NVRTC may be newer than the driver, but uses no new features
/// for Iruka's kernels.
void lower_version(std::string& ptx, int newest);

/// Adds the directive that limits the registers of a kernel's thread.
void limit_registers(std::string& ptx, int most);
/// The size of a launch's arguments beside its range. The driver's limit for all is 32764 bytes since CUDA 12.1 and
/// from Volta on, else 4096.
size_t most_argument_bytes(int driver_version, const std::string& nvrtc_version, int compute);

/// What a GPU can launch.
struct GridLimits {
  Dim3 blocks, threads;
  unsigned threads_per_block = 0;
  int shared_bytes = 0;  ///< of a block, static and dynamic
  bool is_cooperative = false;
};

class CudaDevice final : public Device {
 public:
  /// Raises DeviceError where the driver refuses.
  explicit CudaDevice(int index);

  const std::string& name() const override { return name_; }
  const TargetDescription& target() const override;

  void* allocate(size_t bytes) override;  ///< for the calling thread's current stream
  void release(void* memory, size_t bytes) noexcept override;
  /// Between host and device, or within and between devices. Pageable host memory may be reused, or read, on return.
  void copy(void* to, const void* from, size_t bytes) override;
  void fill(void* to, int value, size_t bytes) override;

  StreamHandle create_stream(const StreamOptions& options) override;
  void destroy_stream(StreamHandle stream) noexcept override;
  StreamHandle current_stream() const override { return thread_stream(); }
  StreamHandle exchange_stream(StreamHandle stream) override {
    return std::exchange(thread_stream(), static_cast<CUstream>(stream));
  }
  bool is_stream_done(StreamHandle stream) override;
  void synchronize_stream(StreamHandle stream) override;
  bool is_capturing(StreamHandle stream) override;
  EventHandle create_event(const EventOptions& options) override;
  void destroy_event(EventHandle event) noexcept override;
  void record_event(EventHandle event, StreamHandle stream) override;
  bool is_event_done(EventHandle event) override;
  void synchronize_event(EventHandle event) override;
  void wait_for_event(StreamHandle stream, EventHandle event) override;
  double elapsed_milliseconds(EventHandle begin, EventHandle end) override;
  void synchronize() override;
  /// Waits like synchronize(), but does not raise failed assertions.
  void finish_all_work();

  CompiledProgram compile(const ProgramSource& source) override;
  CompiledProgram check(const ProgramSource& source) override;
  std::string assembly(const ProgramSource& source) override;
  std::shared_ptr<const Module> load(std::string_view code, const std::string& name) override;
  void launch_grid(LaunchContext& context, const Function& function, std::span<const ParameterBytes> parameters,
                   const LaunchGrid& grid) override;

  /// Hands the module to give_back_dropped(), which unloads it. A destructor must not unload it, because the driver
  /// then waits for the GPU's work, and the destructor's thread may hold a lock that this work needs, such as Python's.
  void unload_later(CUmodule module) noexcept;

  int index() const { return index_; }
  CUdevice handle() const { return handle_; }
  int attribute(DeviceAttribute which) const;
  const GridLimits& grid_limits() const { return grid_limits_; }
  StreamPool& pool() { return pool_; }
  Assertions& assertions() { return assertions_; }
  /// Called after a wait for `stream`. Raises DeviceError if an assertion of its kernels failed.
  void throw_if_asserted(CUstream stream) { assertions_.throw_if_failed(own_name(stream)); }
  /// Makes the device current on the calling thread as long as the result lives.
  [[nodiscard]] ContextScope activate() const {
    check_not_forked();
    return {context_, index_, name_};
  }
  [[nodiscard]] ContextScope try_to_activate() const noexcept { return {context_, index_}; }
  /// The calling thread's stream for this device.
  CUstream& thread_stream() const;
  /// The name of a stream in the pools: the driver's handle. All threads' own streams share one handle, so they get a
  /// name for this device and thread instead.
  StreamHandle pool_stream(CUstream stream) const;
  CUstream own_name(CUstream stream) const { return static_cast<CUstream>(pool_stream(stream)); }
  /// Called when the calling thread ends; its own stream may still have work.
  void end_own_stream() noexcept;
  /// Waits until the work that is now in the stream is done; for the default stream also the work of the streams that
  /// it waits for. It polls an event, so that Ctrl-C ends the wait; then it raises Interrupted.
  void wait_for_earlier_work(CUstream stream);
  CUevent take_event();
  void give_back(CUevent event);

  void begin_capture(CUstream stream);
  CUgraphExec end_capture(CUstream stream);
  /// Ends the capture, if there is one, and discards the recorded work.
  void cancel_capture(CUstream stream) noexcept;
  /// Releases the graph and its memory, while a stream is captured only after the capture.
  void destroy_graph(CUgraphExec graph);
  bool is_capturing_any();
  /// Called for a launch on `stream` that needs `needed`, a module or a plan. If the launch becomes part of a graph of
  /// this device, the graph holds `needed` from now on. False if it becomes part of another library's graph.
  bool keep_for_graph(CUstream stream, const std::shared_ptr<const void>& needed);

 private:
  struct Captured {
    uint64_t id = 0;  ///< the graph's number in the pool
    CUgraph graph = nullptr;
    CUresult result = kSuccess;
  };

  using Graphs = std::unordered_map<CUgraphExec, uint64_t>;  ///< with their ids
  struct Dropped {
    Graphs graphs;
    std::vector<CUmodule> modules;
    bool is_postponed = false;  ///< a capture or an error prevented the release
  };

  /// Raises DeviceError in a child of fork().
  void check_not_forked() const;
  bool finish_capture(CUstream stream, Captured& captured);
  /// Enables copies between this device's memory and that of another, if the two are linked.
  void reach(int other);
  /// Destroys graphs and unloads modules that have no handle any more. If that needs a wait that fails or would break a
  /// capture, they stay for the next call: by load(), by synchronize() or at the end of the capture.
  void give_back_dropped() noexcept;
  bool is_giving_back_postponed();
  /// Machine code for PTX, by the driver's own assembler.
  std::string assemble(std::string ptx, const AssemblerOptions& wanted, std::vector<Diagnostic>& diagnostics);

  const int index_;
  const std::string name_;
  const int fork_generation_ = fork_generation();
  CUdevice handle_ = 0;
  CUcontext context_ = nullptr;
  int compute_ = 0;  ///< 90 for 9.0
  GridLimits grid_limits_;
  StreamPool pool_;
  Assertions assertions_;

  std::atomic<bool> reached_[kMostDevices] = {};

  ForkSafeMutex events_mutex_;
  std::vector<CUevent> events_;  ///< not in use

  ForkSafeMutex dropped_mutex_;
  Dropped dropped_;

  ForkSafeMutex graphs_mutex_;
  struct Capture {
    uint64_t graph;
    uint64_t driver_id;  ///< identifies the streams that joined the capture
  };
  using Kept = std::vector<std::shared_ptr<const void>>;
  /// The objects that a destroyed graph held, to be released without the lock.
  Kept take_kept(uint64_t graph);
  std::unordered_map<StreamHandle, Capture> captures_;
  Graphs graphs_;
  std::unordered_map<uint64_t, Kept> kept_;  ///< for each graph, captured or being captured
  uint64_t last_graph_ = 0;
};

/// The device of that number; made at first use, never destroyed. Raises DeviceError that names what is missing.
CudaDevice& cuda_device(int index);
/// The device of that number, or null if it was not made.
CudaDevice* made_device(int index);
/// The devices that were made so far.
std::vector<CudaDevice*> made_devices();
/// The last kernels of the device with this name, "'b', 'a'"; of all devices for any other name. Empty when in doubt.
std::string last_kernels(const std::string& name);
/// The first device that was made, or else GPU 0, which is made now. Raises what cuda_device() raises.
CudaDevice& any_device();
/// GPUs of this process, 0 where none can be used.
int cuda_device_count();
/// Page-locked memory for all devices.
PinnedPool& pinned_pool();

}  // namespace iruka::cuda_backend
