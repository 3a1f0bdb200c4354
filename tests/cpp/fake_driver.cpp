#include "fake_driver.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

// Each function gets the name that the library has it by, so that the same objects make a libcuda.so.1.
#define IRUKA_FAKE_DECLARE(name, symbol, parameters) \
  extern "C"                                         \
      __attribute__((visibility("default"))) iruka::cuda_backend::CUresult fake_##name parameters __asm__(symbol);
namespace iruka::cuda_backend {
IRUKA_DRIVER_FUNCTIONS(IRUKA_FAKE_DECLARE)
}
#undef IRUKA_FAKE_DECLARE

namespace iruka::testing::fake_driver {
namespace {

constexpr CUresult kInvalidValue = 1, kInvalidHandle = 400, kCaptureUnsupported = 900, kCaptureRefused = 901;
constexpr int kDevices = 8;

struct Event {
  bool has_timing = true;
  uint64_t recorded = 0, finished = 0;  ///< numbers of the last record handed in, and of the last one reached
  std::chrono::steady_clock::time_point time;
  uint64_t capture = 0;
};

struct Work {
  uint64_t number = 0;
  std::function<void()> run;
  std::function<bool()> is_ready = [] { return true; };
  const char *begin[2] = {}, *end[2] = {};  ///< memory that it touches
};

struct Stream {
  bool is_blocking = true;  ///< waits for, and is waited for by, the legacy default stream
  bool is_held = false;
  std::deque<Work> queue;
  uint64_t capture = 0;
  bool is_capture_origin = false;
};

struct Allocation {
  size_t bytes;
  int device;  ///< -1: page-locked host memory
};

struct Graph {
  std::vector<Work> works;
  std::vector<Launch> nodes;  ///< the kernels' launches, for graphs that were not captured
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  int device_count = 2;
  size_t device_bytes = size_t{1} << 30;
  size_t used_bytes[kDevices] = {};
  size_t host_bytes = 0;
  std::map<const char*, Allocation> allocations;
  std::map<uintptr_t, Stream> streams;
  std::map<uintptr_t, std::shared_ptr<Event>> events;
  std::map<uintptr_t, Graph> captures, graphs, executables;
  std::map<uintptr_t, std::string> functions, links;
  std::string assembled;
  std::map<std::string, std::pair<CUresult, int>> failures;
  std::map<std::string, int64_t> calls;
  std::vector<Launch> launches;
  std::vector<std::string> misuses;
  LaunchHandler handler;
  uintptr_t last_handle = 0x10000;
  uint64_t last_number = 0;
};

State& state() {
  static State& made = *new State;
  return made;
}

using Lock = std::unique_lock<std::mutex>;

thread_local CUcontext current_context = nullptr;

int device_of_context() { return static_cast<int>(reinterpret_cast<uintptr_t>(current_context)) - 1; }

/// Streams 1 and 2, and the null stream as 1, are of the calling thread's context.
uintptr_t key_of(CUstream stream) {
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  return handle > 2 ? handle
                    : static_cast<uintptr_t>(std::max(device_of_context(), 0)) * 16 + std::max<uintptr_t>(handle, 1);
}
bool is_legacy(uintptr_t key) { return key < 0x10000 && key % 16 == 1; }

Stream* find_stream(CUstream handle) {
  const uintptr_t key = key_of(handle);
  if (key < 0x10000) return &state().streams[key];
  const auto found = state().streams.find(key);
  if (found != state().streams.end()) return &found->second;
  state().misuses.push_back("a stream that does not exist is used");
  return nullptr;
}

std::shared_ptr<Event> find_event(CUevent handle) {
  const auto found = state().events.find(reinterpret_cast<uintptr_t>(handle));
  if (found != state().events.end()) return found->second;
  state().misuses.push_back("an event that does not exist is used");
  return nullptr;
}

/// Whether no stream that `key` must wait for has older work.
bool is_in_order(uintptr_t key, const Stream& stream, const Work& work) {
  for (const auto& [other_key, other] : state().streams) {
    if (other_key == key || other.queue.empty() || other.queue.front().number > work.number) continue;
    if ((is_legacy(key) && other.is_blocking) || (is_legacy(other_key) && stream.is_blocking)) return false;
  }
  return true;
}

/// Does what can be done, until nothing can.
void drain() {
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& [key, stream] : state().streams)
      while (!stream.queue.empty() && !stream.is_held && stream.queue.front().is_ready() &&
             is_in_order(key, stream, stream.queue.front())) {
        const Work work = std::move(stream.queue.front());
        stream.queue.pop_front();
        work.run();
        moved = true;
      }
  }
  state().changed.notify_all();
}

void push(Stream& stream, Work work) {
  if (stream.capture) {
    state().captures[stream.capture].works.push_back(std::move(work));
    return;
  }
  work.number = ++state().last_number;
  stream.queue.push_back(std::move(work));
  drain();
}

/// What the test wants a call to give, if anything; counts the call.
CUresult begin_call(const char* function) {
  ++state().calls[function];
  const auto found = state().failures.find(function);
  if (found == state().failures.end()) return kSuccess;
  const CUresult error = found->second.first;
  if (--found->second.second <= 0) state().failures.erase(found);
  return error;
}

/// Takes the lock and counts the call; returns from it when it is to fail.
#define BEGIN(function)     \
  Lock lock(state().mutex); \
  if (const CUresult wanted = begin_call(function); wanted != kSuccess) return wanted

template <class Handle>
Handle new_handle() {
  return reinterpret_cast<Handle>(++state().last_handle);
}

template <class Handle>
uintptr_t number(Handle handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

const char* as_bytes(CUdeviceptr pointer) { return reinterpret_cast<const char*>(pointer); }

/// The allocation that holds the address, or none.
const std::pair<const char* const, Allocation>* find_allocation(const char* address) {
  auto next = state().allocations.upper_bound(address);
  if (next == state().allocations.begin()) return nullptr;
  --next;
  return address < next->first + next->second.bytes ? &*next : nullptr;
}

/// Whether a range that begins in an allocation leaves it.
bool leaves(const char* begin, size_t bytes) {
  const auto* found = find_allocation(begin);
  return found && begin + bytes > found->first + found->second.bytes;
}

CUresult allocate(void** memory, size_t bytes, int device) {
  if (bytes == 0) return kInvalidValue;
  size_t& used = device < 0 ? state().host_bytes : state().used_bytes[device];
  if (device >= 0 && used + bytes > state().device_bytes) return kOutOfMemory;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*memory) return kOutOfMemory;
  std::memset(*memory, 0xAB, bytes);  // so that nobody takes new memory for zeros
  used += bytes;
  state().allocations[static_cast<char*>(*memory)] = {bytes, device};
  return kSuccess;
}

CUresult release(const char* memory) {
  const auto found = state().allocations.find(memory);
  if (found == state().allocations.end()) {
    state().misuses.push_back("memory is freed that was not allocated");
    return kInvalidValue;
  }
  const auto [bytes, device] = found->second;
  for (const auto& [key, stream] : state().streams)
    for (const Work& work : stream.queue)
      for (int k = 0; k < 2; ++k)
        if (work.begin[k] < memory + bytes && memory < work.end[k])
          state().misuses.push_back("memory is freed while work that uses it is to come");
  (device < 0 ? state().host_bytes : state().used_bytes[device]) -= bytes;
  state().allocations.erase(found);
  std::free(const_cast<char*>(memory));
  return kSuccess;
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle) {
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (leaves(as_bytes(to), bytes) || leaves(as_bytes(from), bytes)) return kInvalidValue;
  Work work;
  auto* target = const_cast<char*>(as_bytes(to));
  const char* source = as_bytes(from);
  work.begin[0] = target, work.end[0] = target + bytes;
  if (find_allocation(source)) {
    work.begin[1] = source, work.end[1] = source + bytes;
    work.run = [=] { std::memmove(target, source, bytes); };
  } else {  // pageable memory is read before the call returns
    work.run = [target, staged = std::string(source, bytes)] { std::memcpy(target, staged.data(), staged.size()); };
  }
  push(*stream, std::move(work));
  return kSuccess;
}

template <class Condition>
void wait(Lock& lock, Condition&& condition) {
  state().changed.wait(lock, condition);
}

bool is_idle(int device) {
  return std::ranges::all_of(state().streams, [&](const auto& entry) {
    return entry.second.queue.empty() || (entry.first < 0x10000 && static_cast<int>(entry.first / 16) != device);
  });
}

const char* name_of(CUresult error) {
  switch (error) {
    case kSuccess:
      return "CUDA_SUCCESS";
    case kInvalidValue:
      return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case kNoDevice:
      return "CUDA_ERROR_NO_DEVICE";
    case kInvalidHandle:
      return "CUDA_ERROR_INVALID_HANDLE";
    case kNotReady:
      return "CUDA_ERROR_NOT_READY";
    case 700:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kCaptureUnsupported:
      return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case kCaptureRefused:
      return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    default:
      return nullptr;
  }
}

int attribute_of(int attribute, CUdevice device) {
  switch (attribute) {
    case kComputeMajor:
      return 9;
    case kComputeMinor:
      return 0;
    case kMultiprocessors:
      return 132;
    case kLevel2Bytes:
      return 50 << 20;
    case kWarpSize:
      return 32;
    case kMostThreadsPerBlock:
      return 1024;
    case kThreadsPerMultiprocessor:
      return 2048;
    case kSharedBytesPerBlock:
      return 48 << 10;
    case kRegistersPerBlock:
      return 65536;
    case kClockKilohertz:
      return 1980000;
    case kMemoryClockKilohertz:
      return 2619000;
    case kMemoryBusBits:
      return 5120;
    case kPciBus:
      return 0x1B + device;
    default:
      return 0;
  }
}

}  // namespace

const Driver& table() {
  static const Driver made = [] {
    Driver functions;
#define IRUKA_FAKE_FILL(name, symbol, parameters) functions.name = fake_##name;
    IRUKA_DRIVER_FUNCTIONS(IRUKA_FAKE_FILL)
#undef IRUKA_FAKE_FILL
    return functions;
  }();
  return made;
}

void set_device_count(int count) {
  Lock lock(state().mutex);
  state().device_count = std::min(count, kDevices);
}
void set_device_bytes(size_t bytes) {
  Lock lock(state().mutex);
  state().device_bytes = bytes;
}
void set_launch_handler(LaunchHandler handler) {
  Lock lock(state().mutex);
  state().handler = std::move(handler);
}
std::vector<Launch> launches() {
  Lock lock(state().mutex);
  return state().launches;
}
void hold(CUstream stream) {
  Lock lock(state().mutex);
  if (Stream* found = find_stream(stream)) found->is_held = true;
}
void let_go(CUstream stream) {
  Lock lock(state().mutex);
  if (Stream* found = find_stream(stream)) found->is_held = false;
  drain();
}
void fail(const std::string& function, CUresult error, int count) {
  Lock lock(state().mutex);
  state().failures[function] = {error, count};
}
int64_t calls(const std::string& function) {
  Lock lock(state().mutex);
  return state().calls[function];
}
size_t live_device_bytes() {
  Lock lock(state().mutex);
  size_t sum = 0;
  for (const size_t bytes : state().used_bytes) sum += bytes;
  return sum;
}
size_t live_host_bytes() {
  Lock lock(state().mutex);
  return state().host_bytes;
}
std::string assembled() {
  Lock lock(state().mutex);
  return state().assembled;
}
std::vector<std::string> misuses() {
  Lock lock(state().mutex);
  return state().misuses;
}

}  // namespace iruka::testing::fake_driver

using namespace iruka::testing::fake_driver;

namespace iruka::cuda_backend {
extern "C" {

CUresult fake_cuInit(unsigned) {
  BEGIN("cuInit");
  return state().device_count > 0 ? kSuccess : kNoDevice;
}
CUresult fake_cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion");
  *version = 13000;
  return kSuccess;
}
CUresult fake_cuGetErrorName(CUresult error, const char** text) {
  *text = name_of(error);
  return *text ? kSuccess : kInvalidValue;
}
CUresult fake_cuGetErrorString(CUresult error, const char** text) {
  *text = error == kOutOfMemory ? "out of memory" : "an error that a test asked for, or its mistake";
  return kSuccess;
}
CUresult fake_cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount");
  *count = state().device_count;
  return kSuccess;
}
CUresult fake_cuDeviceGet(CUdevice* device, int index) {
  BEGIN("cuDeviceGet");
  *device = index;
  return index < state().device_count ? kSuccess : kInvalidValue;
}
CUresult fake_cuDeviceGetName(char* name, int length, CUdevice) {
  BEGIN("cuDeviceGetName");
  std::strncpy(name, "Device in software", static_cast<size_t>(length));
  return kSuccess;
}
CUresult fake_cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  BEGIN("cuDeviceGetAttribute");
  *value = attribute_of(attribute, device);
  return kSuccess;
}
CUresult fake_cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  BEGIN("cuDeviceCanAccessPeer");
  *can = 1;
  return kSuccess;
}
CUresult fake_cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device) + 1);
  return kSuccess;
}
CUresult fake_cuCtxSetCurrent(CUcontext context) {
  BEGIN("cuCtxSetCurrent");
  current_context = context;
  return kSuccess;
}
CUresult fake_cuCtxGetCurrent(CUcontext* context) {
  *context = current_context;
  return kSuccess;
}
CUresult fake_cuCtxSynchronize() {
  BEGIN("cuCtxSynchronize");
  for (const auto& [key, stream] : state().streams)
    if (stream.capture) return kCaptureUnsupported;
  wait(lock, [device = device_of_context()] { return is_idle(device); });
  return kSuccess;
}
CUresult fake_cuCtxEnablePeerAccess(CUcontext, unsigned) {
  BEGIN("cuCtxEnablePeerAccess");
  return kSuccess;
}
CUresult fake_cuMemGetInfo(size_t* free_bytes, size_t* all_bytes) {
  BEGIN("cuMemGetInfo");
  *all_bytes = state().device_bytes;
  *free_bytes = state().device_bytes - state().used_bytes[std::max(device_of_context(), 0)];
  return kSuccess;
}
CUresult fake_cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  BEGIN("cuMemAlloc");
  if (!current_context) return 201;  // CUDA_ERROR_INVALID_CONTEXT
  void* allocated = nullptr;
  const CUresult result = allocate(&allocated, bytes, device_of_context());
  *memory = reinterpret_cast<CUdeviceptr>(allocated);
  return result;
}
CUresult fake_cuMemFree(CUdeviceptr memory) {
  BEGIN("cuMemFree");
  return release(as_bytes(memory));
}
CUresult fake_cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  BEGIN("cuMemHostAlloc");
  return allocate(memory, bytes, -1);
}
CUresult fake_cuMemFreeHost(void* memory) {
  BEGIN("cuMemFreeHost");
  return release(static_cast<char*>(memory));
}
CUresult fake_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN("cuMemcpyAsync");
  return copy(to, from, bytes, stream);
}
CUresult fake_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream handle) {
  BEGIN("cuMemsetD8Async");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (leaves(as_bytes(to), bytes)) return kInvalidValue;
  auto* target = const_cast<char*>(as_bytes(to));
  Work work;
  work.begin[0] = target, work.end[0] = target + bytes;
  work.run = [=] { std::memset(target, value, bytes); };
  push(*stream, std::move(work));
  return kSuccess;
}
CUresult pointer_attribute(void* value, int attribute, CUdeviceptr pointer) {
  const auto* found = find_allocation(as_bytes(pointer));
  if (!found) return kInvalidValue;
  const int device = found->second.device;
  if (attribute == kMemoryType) {
    *static_cast<unsigned*>(value) = device < 0 ? kHostMemory : kDeviceMemory;
  } else if (attribute == kDeviceOrdinal) {
    *static_cast<int*>(value) = std::max(device, 0);
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}
CUresult fake_cuPointerGetAttributes(unsigned count, int* attributes, void** values, CUdeviceptr pointer) {
  BEGIN("cuPointerGetAttributes");
  for (unsigned k = 0; k < count; ++k)
    if (pointer_attribute(values[k], attributes[k], pointer) != kSuccess) *static_cast<unsigned*>(values[k]) = 0;
  return kSuccess;
}

CUresult fake_cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  BEGIN("cuStreamCreateWithPriority");
  *stream = new_handle<CUstream>();
  state().streams[number(*stream)].is_blocking = !(flags & kStreamNonBlocking);
  return kSuccess;
}
CUresult fake_cuStreamGetFlags(CUstream handle, unsigned* flags) {
  BEGIN("cuStreamGetFlags");
  const Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  *flags = stream->is_blocking ? 0u : unsigned{kStreamNonBlocking};
  return kSuccess;
}
CUresult fake_cuStreamDestroy(CUstream handle) {
  BEGIN("cuStreamDestroy");
  if (!find_stream(handle)) return kInvalidHandle;
  state().streams.erase(number(handle));
  return kSuccess;
}
CUresult fake_cuStreamSynchronize(CUstream handle) {
  BEGIN("cuStreamSynchronize");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (stream->capture) return kCaptureUnsupported;
  wait(lock, [stream] { return stream->queue.empty(); });
  return kSuccess;
}
CUresult fake_cuStreamQuery(CUstream handle) {
  BEGIN("cuStreamQuery");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (stream->capture) return kCaptureUnsupported;
  return stream->queue.empty() ? kSuccess : kNotReady;
}
CUresult fake_cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned) {
  BEGIN("cuStreamWaitEvent");
  Stream* stream = find_stream(handle);
  const std::shared_ptr<Event> event = find_event(event_handle);
  if (!stream || !event) return kInvalidHandle;
  if (event->capture) {  // the stream joins that capture, whose works are in one order here
    stream->capture = event->capture;
    return kSuccess;
  }
  Work work;
  work.is_ready = [event, recorded = event->recorded] { return event->finished >= recorded; };
  work.run = [] {};
  push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuStreamIsCapturing(CUstream handle, int* status) {
  BEGIN("cuStreamIsCapturing");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  *status = stream->capture ? kCapturing : kNotCapturing;
  return kSuccess;
}
CUresult fake_cuStreamGetCaptureInfo(CUstream handle, int* status, uint64_t* id, CUgraph*, const void**, size_t*) {
  BEGIN("cuStreamGetCaptureInfo");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  *status = stream->capture ? kCapturing : kNotCapturing;
  if (id) *id = stream->capture;
  return kSuccess;
}
CUresult fake_cuThreadExchangeStreamCaptureMode(int* mode) {
  BEGIN("cuThreadExchangeStreamCaptureMode");
  static thread_local int own = kCaptureGlobal;
  std::swap(own, *mode);
  return kSuccess;
}
CUresult fake_cuStreamBeginCapture(CUstream handle, int) {
  BEGIN("cuStreamBeginCapture");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (is_legacy(key_of(handle))) return kCaptureUnsupported;
  if (stream->capture) return kInvalidValue;
  stream->capture = ++state().last_handle;
  stream->is_capture_origin = true;
  state().captures[stream->capture];
  return kSuccess;
}
CUresult fake_cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  BEGIN("cuStreamEndCapture");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!stream->capture || !stream->is_capture_origin) return kInvalidValue;
  const uint64_t capture = stream->capture;
  *graph = new_handle<CUgraph>();
  state().graphs[number(*graph)] = std::move(state().captures[capture]);
  state().captures.erase(capture);
  for (auto& [key, other] : state().streams)
    if (other.capture == capture) other.capture = 0, other.is_capture_origin = false;
  for (auto& [key, event] : state().events)
    if (event->capture == capture) event->capture = 0;
  return kSuccess;
}
CUresult fake_cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  BEGIN("cuGraphInstantiate");
  *executable = new_handle<CUgraphExec>();
  state().executables[number(*executable)] = state().graphs[number(graph)];
  return kSuccess;
}
CUresult fake_cuGraphCreate(CUgraph* graph, unsigned) {
  BEGIN("cuGraphCreate");
  *graph = new_handle<CUgraph>();
  state().graphs[number(*graph)];
  return kSuccess;
}
Work work_of(const KernelNode& kernel, Launch& launch) {
  LaunchHandler handler;
  {
    Lock lock(state().mutex);
    launch = {state().functions[number(kernel.function)], kernel.grid_x, kernel.block_x, nullptr};
    handler = state().handler;
  }
  Work work;
  if (handler) work.run = handler(launch, kernel.parameters);
  if (!work.run) work.run = [] {};
  return work;
}
CUresult fake_cuGraphAddKernelNode(CUgraphNode* node, CUgraph handle, const CUgraphNode*, size_t, const KernelNode* kernel) {
  Launch launch;
  Work work = work_of(*kernel, launch);
  BEGIN("cuGraphAddKernelNode");
  const auto graph = state().graphs.find(number(handle));
  if (graph == state().graphs.end()) return kInvalidHandle;
  graph->second.works.push_back(std::move(work));
  graph->second.nodes.push_back(std::move(launch));
  *node = reinterpret_cast<CUgraphNode>(graph->second.nodes.size());
  return kSuccess;
}
CUresult fake_cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const KernelNode* kernel) {
  Launch launch;
  Work work = work_of(*kernel, launch);
  BEGIN("cuGraphExecKernelNodeSetParams");
  const auto found = state().executables.find(number(executable));
  const size_t index = reinterpret_cast<uintptr_t>(node) - 1;
  if (found == state().executables.end() || index >= found->second.nodes.size()) return kInvalidHandle;
  found->second.works[index] = std::move(work);
  found->second.nodes[index] = std::move(launch);
  return kSuccess;
}
CUresult fake_cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  BEGIN("cuGraphLaunch");
  Stream* stream = find_stream(handle);
  const auto found = state().executables.find(number(executable));
  if (!stream || found == state().executables.end()) return kInvalidHandle;
  for (Launch launch : found->second.nodes) {
    launch.stream = handle;
    state().launches.push_back(std::move(launch));
  }
  const std::vector<Work> works = found->second.works;
  for (Work work : works) push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuGraphExecDestroy(CUgraphExec executable) {
  BEGIN("cuGraphExecDestroy");
  return state().executables.erase(number(executable)) ? kSuccess : kInvalidHandle;
}
CUresult fake_cuGraphDestroy(CUgraph graph) {
  BEGIN("cuGraphDestroy");
  return state().graphs.erase(number(graph)) ? kSuccess : kInvalidHandle;
}

CUresult fake_cuEventCreate(CUevent* event, unsigned flags) {
  BEGIN("cuEventCreate");
  *event = new_handle<CUevent>();
  auto made = std::make_shared<Event>();
  made->has_timing = !(flags & kEventNoTiming);
  state().events[number(*event)] = std::move(made);
  return kSuccess;
}
CUresult fake_cuEventRecord(CUevent event_handle, CUstream handle) {
  BEGIN("cuEventRecord");
  Stream* stream = find_stream(handle);
  const std::shared_ptr<Event> event = find_event(event_handle);
  if (!stream || !event) return kInvalidHandle;
  event->capture = stream->capture;
  if (stream->capture) return kSuccess;
  Work work;
  work.run = [event, recorded = ++event->recorded] {
    event->finished = recorded;
    event->time = std::chrono::steady_clock::now();
  };
  push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuEventQuery(CUevent handle) {
  BEGIN("cuEventQuery");
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return kInvalidHandle;
  if (event->capture) return kCaptureUnsupported;
  return event->finished == event->recorded ? kSuccess : kNotReady;
}
CUresult fake_cuEventSynchronize(CUevent handle) {
  BEGIN("cuEventSynchronize");
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return kInvalidHandle;
  if (event->capture) return kCaptureUnsupported;
  wait(lock, [&] { return event->finished == event->recorded; });
  return kSuccess;
}
CUresult fake_cuEventElapsedTime(float* milliseconds, CUevent begin_handle, CUevent end_handle) {
  BEGIN("cuEventElapsedTime");
  const std::shared_ptr<Event> begin = find_event(begin_handle), end = find_event(end_handle);
  if (!begin || !end || !begin->has_timing || !end->has_timing || !begin->recorded || !end->recorded)
    return kInvalidHandle;
  if (begin->finished != begin->recorded || end->finished != end->recorded) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return kSuccess;
}
CUresult fake_cuEventDestroy(CUevent handle) {
  BEGIN("cuEventDestroy");
  if (!find_event(handle)) return kInvalidHandle;
  state().events.erase(number(handle));
  return kSuccess;
}

CUresult fake_cuModuleLoadData(CUmodule* module, const void*) {
  BEGIN("cuModuleLoadData");
  *module = new_handle<CUmodule>();
  return kSuccess;
}
CUresult fake_cuModuleUnload(CUmodule) {
  BEGIN("cuModuleUnload");
  return kSuccess;
}
CUresult fake_cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  BEGIN("cuModuleGetFunction");
  *function = new_handle<CUfunction>();
  state().functions[number(*function)] = name;
  return kSuccess;
}
CUresult fake_cuFuncGetAttribute(int* value, int, CUfunction) {
  BEGIN("cuFuncGetAttribute");
  *value = 0;
  return kSuccess;
}
CUresult fake_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned, unsigned, unsigned block_x, unsigned,
                             unsigned, unsigned, CUstream handle, void** parameters, void**) {
  LaunchHandler handler;
  Launch launch;
  {
    BEGIN("cuLaunchKernel");
    if (!find_stream(handle)) return kInvalidHandle;
    launch = {state().functions[number(function)], grid_x, block_x, handle};
    state().launches.push_back(launch);
    handler = state().handler;
  }
  Work work;
  if (handler) work.run = handler(launch, parameters);
  if (!work.run) work.run = [] {};
  Lock lock(state().mutex);
  if (Stream* stream = find_stream(handle)) push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuLaunchHostFunc(CUstream handle, void (*function)(void*), void* argument) {
  BEGIN("cuLaunchHostFunc");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  const auto is_over = std::make_shared<bool>(false);
  Work call, end;
  call.run = [=] {
    std::thread([=] {  // which takes its time, and locks of its own
      function(argument);
      Lock lock(state().mutex);
      *is_over = true;
      drain();
    }).detach();
  };
  end.is_ready = [is_over] { return *is_over; };
  end.run = [] {};
  push(*stream, std::move(call));
  push(*stream, std::move(end));
  return kSuccess;
}
CUresult fake_cuLinkCreate(unsigned count, int* options, void** values, CUlinkState* link) {
  BEGIN("cuLinkCreate");
  *link = new_handle<CUlinkState>();
  state().links[number(*link)];
  state().assembled.clear();
  for (unsigned k = 0; k < count; ++k)
    state().assembled += "option " + std::to_string(options[k]) + ": " + std::to_string(number(values[k])) + "\n";
  return kSuccess;
}
CUresult fake_cuLinkAddData(CUlinkState link, int, void* data, size_t size, const char*, unsigned, int*, void**) {
  BEGIN("cuLinkAddData");
  state().links[number(link)].assign(static_cast<const char*>(data), size);
  state().assembled += state().links[number(link)];
  return kSuccess;
}
CUresult fake_cuLinkComplete(CUlinkState link, void** cubin, size_t* size) {
  BEGIN("cuLinkComplete");
  std::string& text = state().links[number(link)];
  *cubin = text.data();
  *size = text.size();
  return kSuccess;
}
CUresult fake_cuLinkDestroy(CUlinkState link) {
  BEGIN("cuLinkDestroy");
  return state().links.erase(number(link)) ? kSuccess : kInvalidHandle;
}

}  // extern "C"
}  // namespace iruka::cuda_backend
