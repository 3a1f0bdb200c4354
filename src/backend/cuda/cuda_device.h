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

/// Lets the thread call what the driver else refuses while a stream is captured.
class AllowedWhileCapturing {
 public:
  AllowedWhileCapturing() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  ~AllowedWhileCapturing() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  AllowedWhileCapturing(const AllowedWhileCapturing&) = delete;
  AllowedWhileCapturing& operator=(const AllowedWhileCapturing&) = delete;

 private:
  int mode_ = kCaptureRelaxed;
};

/// Makes a context the calling thread's, and brings back the one it had: other libraries of the process rely on it. A
/// thread without one keeps the first GPU's, which CUDA's runtime would take too.
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
/// Raises DeviceError where work for `stream` would become part of a graph, `reason` in front of what can be done. The
/// driver would drop all that was captured. Nothing in doubt: the call that follows tells what is wrong.
void refuse_capture(CUstream stream, const char* reason);

/// The driver's handle of a stream that pools know by that name, for the calling thread: nothing for the own stream of
/// another thread.
std::optional<CUstream> driver_stream(StreamHandle stream);

/// What the pools' sources have in common: the driver's events.
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
/// Lets PTX of a newer version say `newest`: NVRTC may be newer than the driver, and uses nothing new for kernels here.
void lower_version(std::string& ptx, int newest);

/// Has PTX say how many registers a thread of its kernel may take.
void limit_registers(std::string& ptx, int most);
/// What a launch may carry beside its range: since CUDA 12.1, and from Volta on, 32764 bytes in all, before that 4096.
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
  /// Waits as synchronize(), and leaves failed assertions to be told of later.
  void finish_all_work();

  CompiledProgram compile(const ProgramSource& source) override;
  CompiledProgram check(const ProgramSource& source) override;
  std::string assembly(const ProgramSource& source) override;
  std::shared_ptr<const Module> load(std::string_view code, const std::string& name) override;
  void launch_grid(LaunchContext& context, const Function& function, std::span<const ParameterBytes> parameters,
                   const LaunchGrid& grid) override;

  /// give_back_dropped() unloads the module. The driver waits for the GPU's work then, and so must not be asked by a
  /// destructor: its thread may hold a lock that this work needs, as Python's.
  void unload_later(CUmodule module) noexcept;

  int index() const { return index_; }
  CUdevice handle() const { return handle_; }
  int attribute(DeviceAttribute which) const;
  const GridLimits& grid_limits() const { return grid_limits_; }
  StreamPool& pool() { return pool_; }
  Assertions& assertions() { return assertions_; }
  /// `stream` was waited for: raises DeviceError where an assertion of its kernels failed.
  void throw_if_asserted(CUstream stream) { assertions_.throw_if_failed(own_name(stream)); }
  /// The device is the calling thread's as long as the result lives.
  [[nodiscard]] ContextScope activate() const {
    check_not_forked();
    return {context_, index_, name_};
  }
  [[nodiscard]] ContextScope try_to_activate() const noexcept { return {context_, index_}; }
  /// The calling thread's stream for this device.
  CUstream& thread_stream() const;
  /// The name of a stream in the pools: the driver's handle, but in place of the one that all threads' own streams
  /// share, one for this device and thread.
  StreamHandle pool_stream(CUstream stream) const;
  CUstream own_name(CUstream stream) const { return static_cast<CUstream>(pool_stream(stream)); }
  /// The calling thread ends, while its own stream may have work left.
  void end_own_stream() noexcept;
  /// Waits until what the stream has to do now is done, and for the default stream what the streams have to do that it
  /// waits for. It asks an event now and then, so that Ctrl-C ends the wait; then it raises Interrupted.
  void wait_for_earlier_work(CUstream stream);
  CUevent take_event();
  void give_back(CUevent event);

  void begin_capture(CUstream stream);
  CUgraphExec end_capture(CUstream stream);
  /// Ends the capture and forgets what it noted down; nothing where there is none.
  void cancel_capture(CUstream stream) noexcept;
  /// Gives the graph and its memory back, at once or, while a stream is captured, after that.
  void destroy_graph(CUgraphExec graph);
  bool is_capturing_any();
  /// What is launched on `stream` needs `needed`, a module or a plan. Where that becomes part of a graph of this
  /// device, the graph holds it from here on; false where it becomes part of somebody else's.
  bool keep_for_graph(CUstream stream, const std::shared_ptr<const void>& needed);

 private:
  struct Captured {
    uint64_t id = 0;  ///< as the pool knows it
    CUgraph graph = nullptr;
    CUresult result = kSuccess;
  };

  using Graphs = std::unordered_map<CUgraphExec, uint64_t>;  ///< with their ids
  struct Dropped {
    Graphs graphs;
    std::vector<CUmodule> modules;
    bool is_postponed = false;  ///< a capture, or an error, was in the way
  };

  /// Raises DeviceError in a child of fork().
  void check_not_forked() const;
  bool finish_capture(CUstream stream, Captured& captured);
  /// Lets this device's copies reach the memory of another, where the link between them can.
  void reach(int other);
  /// Destroys graphs and unloads modules that nobody has any more. Where their work must be waited for, which would
  /// break a capture or fails, they stay for the next call: by load(), by synchronize(), at the end of that capture.
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
    uint64_t driver_id;  ///< by which streams that joined the capture are known
  };
  using Kept = std::vector<std::shared_ptr<const void>>;
  /// What a graph held that is gone, to be dropped without the lock.
  Kept take_kept(uint64_t graph);
  std::unordered_map<StreamHandle, Capture> captures_;
  Graphs graphs_;
  std::unordered_map<uint64_t, Kept> kept_;  ///< for each graph, captured or being captured
  uint64_t last_graph_ = 0;
};

/// The device of that number; made at first use, never destroyed. Raises DeviceError that says what is missing.
CudaDevice& cuda_device(int index);
/// The one of that number, or null where it was not made.
CudaDevice* made_device(int index);
/// Those that were made so far.
std::vector<CudaDevice*> made_devices();
/// Kernels that the device of that name was given last, "'b', 'a'"; those of all devices for another name. Empty in
/// doubt.
std::string last_kernels(const std::string& name);
/// The first that was made; where none was, that of GPU 0, which is made. Raises as cuda_device().
CudaDevice& any_device();
/// GPUs of this process, 0 where none can be used.
int cuda_device_count();
/// Page-locked memory for all devices.
PinnedPool& pinned_pool();

}  // namespace iruka::cuda_backend
