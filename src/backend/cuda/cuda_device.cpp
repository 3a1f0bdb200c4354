#include "backend/cuda/cuda_device.h"

#include <algorithm>

#include "core/fork.h"
#include "core/once.h"

namespace iruka::cuda_backend {
namespace {

/// Memory of one GPU, for its pool.
class DeviceMemory final : public DriverSource {
 public:
  explicit DeviceMemory(CudaDevice& device) : device_(device) {}

  void* allocate(size_t bytes) noexcept override {
    const AllowedWhileCapturing allowed;
    const ContextScope active = device_.try_to_activate();
    CUdeviceptr memory = 0;
    return active.is_active() && driver().cuMemAlloc(&memory, bytes) == kSuccess ? reinterpret_cast<void*>(memory)
                                                                                 : nullptr;
  }
  void release(void* memory, size_t) noexcept override {
    const AllowedWhileCapturing allowed;
    const ContextScope active = device_.try_to_activate();
    if (active.is_active()) driver().cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  }
  bool synchronize() override {
    device_.finish_all_work();
    return true;
  }
  bool same_capture(StreamHandle origin, StreamHandle stream) noexcept override {
    const uint64_t id = capture_id(origin);
    return id != 0 && id == capture_id(stream);
  }

 private:
  uint64_t capture_id(StreamHandle stream) const {
    const std::optional<CUstream> known = driver_stream(stream);
    const ContextScope active = device_.try_to_activate();
    return known && active.is_active() ? cuda_backend::capture_id(*known) : 0;
  }

  CudaDevice& device_;
};

/// The GPUs found so far.
struct Devices {
  ForkSafeMutex mutex;
  CudaDevice* by_index[kMostDevices] = {};
};

Devices& devices() {
  return made_once([] { return Devices(); });
}

/// A number for the calling thread in the pools' names of its own streams. An address would not do: a later thread
/// could get the same one, and with it memory that the earlier thread's work still uses.
class ThreadNumber {
 public:
  ~ThreadNumber() {
    if (fork_generation_ != fork_generation()) return;  // a child of fork() leaves the GPU alone
    for (CudaDevice* device : made_devices()) device->end_own_stream();
  }
  uint64_t value() const { return value_; }

 private:
  static inline std::atomic<uint64_t> last_{0};
  const int fork_generation_ = fork_generation();
  const uint64_t value_ = ++last_;
};

uint64_t thread_number() {
  static thread_local const ThreadNumber number;
  return number.value();
}

/// No driver's handle has this bit.
constexpr uint64_t kOwnStream = uint64_t{1} << 63;

std::string name_of(int index) { return "cuda:" + std::to_string(index); }

}  // namespace

// The current context is queried each time, because other libraries of the process may change it.
ContextScope::ContextScope(CUcontext context, int device) noexcept {
  constexpr CUresult kInvalidContext = 201;
  const Driver& api = driver();
  result_ = context ? api.cuCtxGetCurrent(&before_) : kInvalidContext;
  if (result_ != kSuccess || before_ == context) return;
  result_ = api.cuCtxSetCurrent(context);
  is_to_restore_ = result_ == kSuccess && (before_ || device > 0);
}

ContextScope::~ContextScope() {
  if (is_to_restore_) driver().cuCtxSetCurrent(before_);
}

bool may_capture(CUstream stream) {
  int status = kNotCapturing;
  return driver().cuStreamIsCapturing(stream, &status) != kSuccess || status != kNotCapturing;
}

uint64_t capture_id(CUstream stream) {
  int status = kNotCapturing;
  uint64_t id = 0;
  const CUresult result = driver().cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr);
  return result == kSuccess && status == kCapturing ? id : 0;
}

void refuse_capture(CUstream stream, const char* reason) {
  int status = kNotCapturing;
  const CUresult result = driver().cuStreamIsCapturing(stream, &status);
  if (result == kSuccess ? status != kNotCapturing : is_capture_error(result))
    throw DeviceError(std::string(reason) + kCaptureAdvice);
}

std::optional<CUstream> driver_stream(StreamHandle stream) {
  const auto name = reinterpret_cast<uint64_t>(stream);
  if (!(name & kOwnStream)) return static_cast<CUstream>(stream);
  if ((name & ~kOwnStream) / kMostDevices == thread_number()) return kPerThreadStream;
  return {};
}

void* DriverSource::record(StreamHandle stream, int device) noexcept {
  const std::optional<CUstream> known = driver_stream(stream);
  const CudaDevice* const found = made_device(device);
  if (!known || !found) return nullptr;
  const ContextScope active = found->try_to_activate();
  const AllowedWhileCapturing allowed;
  CUevent event = nullptr;
  if (!active.is_active() || may_capture(*known) || driver().cuEventCreate(&event, kEventNoTiming) != kSuccess)
    return nullptr;
  if (driver().cuEventRecord(event, *known) == kSuccess) return event;
  driver().cuEventDestroy(event);
  return nullptr;
}

CudaDevice::CudaDevice(int index)
    : index_(index), name_(name_of(index)), pool_(name_, std::make_unique<DeviceMemory>(*this), index) {
  const Driver& api = driver();
  cuda_backend::check(api.cuDeviceGet(&handle_, index), "cuDeviceGet", name_);
  cuda_backend::check(api.cuDevicePrimaryCtxRetain(&context_, handle_), "cuDevicePrimaryCtxRetain", name_);
  compute_ = attribute(kComputeMajor) * 10 + attribute(kComputeMinor);
  const auto limit = [&](DeviceAttribute which) { return static_cast<unsigned>(attribute(which)); };
  grid_limits_ = {.blocks = {limit(kMostBlocksX), limit(kMostBlocksY), limit(kMostBlocksZ)},
                  .threads = {limit(kMostThreadsX), limit(kMostThreadsY), limit(kMostThreadsZ)},
                  .threads_per_block = limit(kMostThreadsPerBlock),
                  .shared_bytes = attribute(kMostSharedBytesPerBlock),
                  .is_cooperative = attribute(kCooperativeLaunch) != 0};
}

int CudaDevice::attribute(DeviceAttribute which) const {
  int value = 0;
  cuda_backend::check(driver().cuDeviceGetAttribute(&value, which, handle_), "cuDeviceGetAttribute", name_);
  return value;
}

void CudaDevice::check_not_forked() const {
  if (fork_generation_ != fork_generation())
    throw DeviceError(name_ + " cannot be used in a child of fork(); start the process with the method 'spawn'");
}

CUstream& CudaDevice::thread_stream() const {
  struct Streams {
    CUstream of_device[kMostDevices];
    Streams() {
      const bool is_own = made_once([] {  // the setting at the first use is that of all threads
        const char* setting = std::getenv("IRUKA_CUDA_PER_THREAD_DEFAULT_STREAM");
        return setting && *setting && *setting != '0';
      });
      std::fill_n(of_device, kMostDevices, is_own ? kPerThreadStream : nullptr);
    }
  };
  static thread_local Streams streams;
  return streams.of_device[index_];
}

StreamHandle CudaDevice::pool_stream(CUstream stream) const {
  if (stream != kPerThreadStream) return stream;
  return reinterpret_cast<StreamHandle>(kOwnStream | (thread_number() * kMostDevices + static_cast<uint64_t>(index_)));
}

void CudaDevice::end_own_stream() noexcept {
  const ContextScope active = try_to_activate();
  if (!active.is_active()) return;
  const AllowedWhileCapturing allowed;
  const StreamHandle stream = pool_stream(kPerThreadStream);
  cancel_capture(kPerThreadStream);
  const bool is_done = driver().cuStreamQuery(kPerThreadStream) == kSuccess;
  pool_.forget_stream(stream, is_done);
  pinned_pool().forget_stream(stream, is_done);
  if (is_done) assertions_.forget_stream(static_cast<CUstream>(stream));
}

void* CudaDevice::allocate(size_t bytes) { return pool_.allocate(bytes, pool_stream(thread_stream())); }

void CudaDevice::release(void* memory, size_t) noexcept { pool_.release(memory); }

CUevent CudaDevice::take_event() {
  {
    std::lock_guard lock(events_mutex_);
    if (!events_.empty()) {
      const CUevent event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  cuda_backend::check(driver().cuEventCreate(&event, kEventDefault), "cuEventCreate", name_);
  return event;
}

void CudaDevice::give_back(CUevent event) {
  std::lock_guard lock(events_mutex_);
  events_.push_back(event);
}

void CudaDevice::finish_all_work() {
  const ContextScope active = activate();
  cuda_backend::check(driver().cuCtxSynchronize(), "cuCtxSynchronize", name_);
}

void CudaDevice::synchronize() {
  finish_all_work();
  const ContextScope active = activate();
  give_back_dropped();
  assertions_.throw_if_failed();
}

// The pool's capture begins before the driver's and ends after it.
void CudaDevice::begin_capture(CUstream stream) {
  const ContextScope active = activate();
  const StreamHandle name = pool_stream(stream);
  uint64_t graph = 0;
  {
    std::lock_guard lock(graphs_mutex_);
    graph = ++last_graph_;
  }
  pool_.begin_capture(name, graph);
  auto pinned = pinned_pool().without_waits();
  const CUresult result = driver().cuStreamBeginCapture(stream, kCaptureThreadLocal);
  if (result == kSuccess) {
    const uint64_t driver_id = capture_id(stream);
    std::lock_guard lock(graphs_mutex_);
    captures_[name] = {graph, driver_id};
    return;
  }
  pinned.unlock();
  pool_.end_capture(name);
  pool_.release_graph(graph);
  cuda_backend::check(result, "cuStreamBeginCapture", name_);
}

/// False where the stream is not being captured.
bool CudaDevice::finish_capture(CUstream stream, Captured& captured) {
  const StreamHandle name = pool_stream(stream);
  auto pinned = pinned_pool().without_waits();
  {
    std::lock_guard lock(graphs_mutex_);
    const auto found = captures_.find(name);
    if (found == captures_.end()) return false;
    captured.id = found->second.graph;
    captures_.erase(found);
  }
  captured.result = driver().cuStreamEndCapture(stream, &captured.graph);
  pinned.unlock();
  pool_.end_capture(name);
  if (is_giving_back_postponed()) give_back_dropped();
  return true;
}

CUgraphExec CudaDevice::end_capture(CUstream stream) {
  const ContextScope active = activate();
  Captured captured;
  if (!finish_capture(stream, captured))
    throw ValueError(
        "end_capture: the stream is not being captured; an exception that leaves its `with` statement ends a capture");
  CUgraphExec executable = nullptr;
  const char* call = "cuStreamEndCapture";
  CUresult result = captured.result;
  if (result == kSuccess) {
    call = "cuGraphInstantiateWithFlags";
    result = driver().cuGraphInstantiate(&executable, captured.graph, 0);
    driver().cuGraphDestroy(captured.graph);
  }
  if (result != kSuccess) {
    pool_.release_graph(captured.id);
    take_kept(captured.id);
  }
  cuda_backend::check(result, call, name_);
  std::lock_guard lock(graphs_mutex_);
  graphs_[executable] = captured.id;
  return executable;
}

void CudaDevice::cancel_capture(CUstream stream) noexcept {
  const ContextScope active = try_to_activate();
  Captured captured;
  if (!active.is_active() || !finish_capture(stream, captured)) return;
  if (captured.result == kSuccess) driver().cuGraphDestroy(captured.graph);
  pool_.release_graph(captured.id);
  take_kept(captured.id);
}

bool CudaDevice::keep_for_graph(CUstream stream, const std::shared_ptr<const void>& needed) {
  const uint64_t driver_id = capture_id(stream);
  if (driver_id == 0) return false;
  std::lock_guard lock(graphs_mutex_);
  const auto found = std::ranges::find(captures_, driver_id, [](const auto& item) { return item.second.driver_id; });
  if (found == captures_.end()) return false;
  Kept& kept = kept_[found->second.graph];
  if (std::ranges::find(kept, needed) == kept.end()) kept.push_back(needed);
  return true;
}

CudaDevice::Kept CudaDevice::take_kept(uint64_t graph) {
  std::lock_guard lock(graphs_mutex_);
  const auto found = kept_.extract(graph);
  return found ? std::move(found.mapped()) : Kept();
}

bool CudaDevice::is_capturing_any() {
  std::lock_guard lock(graphs_mutex_);
  return !captures_.empty();
}

void CudaDevice::destroy_graph(CUgraphExec graph) {
  check_not_forked();
  Graphs::node_type found;
  {
    std::lock_guard lock(graphs_mutex_);
    found = graphs_.extract(graph);
  }
  if (!found) throw ValueError("destroy_graph: there is no such graph");
  {
    std::lock_guard lock(dropped_mutex_);
    dropped_.graphs.insert(std::move(found));
  }
  give_back_dropped();
}

bool CudaDevice::is_giving_back_postponed() {
  std::lock_guard lock(dropped_mutex_);
  return dropped_.is_postponed;
}

void CudaDevice::give_back_dropped() noexcept {
  const ContextScope active = try_to_activate();
  if (!active.is_active()) return;  // at exit the driver has already released everything
  Dropped dropped;
  {
    std::lock_guard lock(dropped_mutex_);
    std::swap(dropped, dropped_);
  }
  auto& [graphs, modules, was_postponed] = dropped;
  if (graphs.empty() && modules.empty()) return;
  const ForkGuardPause paused;
  bool is_over = graphs.empty() && !assertions_.is_watching(modules);
  try {
    is_over = is_over || pool_.wait_for_device();
  } catch (const Error&) {  // the next wait raises it
  }
  if (!is_over) {
    std::lock_guard lock(dropped_mutex_);
    dropped_.is_postponed = true;
    dropped_.graphs.merge(graphs);
    dropped_.modules.insert(dropped_.modules.end(), modules.begin(), modules.end());
    return;
  }
  const AllowedWhileCapturing allowed;
  for (const auto& [graph, id] : graphs) {
    driver().cuGraphExecDestroy(graph);
    pool_.release_graph(id);
    take_kept(id);
  }
  for (const CUmodule module : modules) {
    assertions_.remove(module);
    driver().cuModuleUnload(module);
  }
}

int cuda_device_count() {
  int count = 0;
  if (!driver_problem().empty() || driver().cuDeviceGetCount(&count) != kSuccess) return 0;
  return std::min(count, kMostDevices);
}

CudaDevice& any_device() {
  const std::vector<CudaDevice*> made = made_devices();
  return made.empty() ? cuda_device(0) : *made.front();
}

CudaDevice* made_device(int index) {
  Devices& all = devices();
  std::lock_guard lock(all.mutex);
  return index >= 0 && index < kMostDevices ? all.by_index[index] : nullptr;
}

std::vector<CudaDevice*> made_devices() {
  Devices& all = devices();
  std::lock_guard lock(all.mutex);
  std::vector<CudaDevice*> made;
  for (CudaDevice* device : all.by_index)
    if (device) made.push_back(device);
  return made;
}

std::string last_kernels(const std::string& name) {
  Devices& all = devices();
  const std::unique_lock lock(all.mutex, std::try_to_lock);  // the lock is held if the error comes from making a device
  if (!lock) return "";
  std::string list;
  for (CudaDevice* device : all.by_index) {
    if (!device || (device->name() != name && name.starts_with("cuda:"))) continue;
    const std::string kernels = device->last_launches().list();
    if (!kernels.empty()) list += (list.empty() ? "" : ", ") + kernels;
  }
  return list;
}

CudaDevice& cuda_device(int index) {
  driver();  // raises DeviceError if there is no driver
  const int count = cuda_device_count();
  if (index < 0 || index >= count)
    throw DeviceError("device: there is no 'cuda:" + std::to_string(index) + "'; this process sees " +
                      std::to_string(count) + " GPU" + (count == 1 ? "" : "s"));
  Devices& all = devices();
  std::lock_guard lock(all.mutex);
  CudaDevice*& device = all.by_index[index];
  if (!device) device = new CudaDevice(index);
  return *device;
}

}  // namespace iruka::cuda_backend
