// The queues and the memory of the driver in software, and what tests control of it.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "fake_driver_state.h"

namespace iruka::testing::fake_driver {

State& state() {
  static State& made = *new State;
  return made;
}

int device_of_context() { return static_cast<int>(reinterpret_cast<uintptr_t>(current_context)) - 1; }

uintptr_t key_of(CUstream stream) {
  static std::atomic<uintptr_t> threads{0};
  static thread_local const uintptr_t thread = ++threads % 256;  // as many streams of their own as keys have room for
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  if (handle > 2) return handle;
  const auto device = static_cast<uintptr_t>(std::max(device_of_context(), 0)) * 16;
  return handle == 2 ? thread * 256 + device + 2 : device + 1;
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

CUresult begin_call(const char* function) {
  ++state().calls[function];
  const auto found = state().failures.find(function);
  if (found == state().failures.end()) return kSuccess;
  const CUresult error = found->second.first;
  if (--found->second.second <= 0) state().failures.erase(found);
  return error;
}

const std::pair<const char* const, Allocation>* find_allocation(const char* address) {
  auto next = state().allocations.upper_bound(address);
  if (next == state().allocations.begin()) return nullptr;
  --next;
  return address < next->first + next->second.bytes ? &*next : nullptr;
}

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
  std::memset(*memory, 0xAB, bytes);  // so that code that expects zeros in new memory fails
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

bool is_idle(int device) {
  return std::ranges::all_of(state().streams, [&](const auto& entry) {
    return entry.second.queue.empty() || (entry.first < 0x10000 && static_cast<int>(entry.first % 256 / 16) != device);
  });
}

const char* name_of(CUresult error) {
  switch (error) {
    case kSuccess: return "CUDA_SUCCESS";
    case kInvalidValue: return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory: return "CUDA_ERROR_OUT_OF_MEMORY";
    case kNoDevice: return "CUDA_ERROR_NO_DEVICE";
    case kInvalidHandle: return "CUDA_ERROR_INVALID_HANDLE";
    case kNotReady: return "CUDA_ERROR_NOT_READY";
    case 700: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kCaptureUnsupported: return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case kCaptureRefused: return "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    default: return nullptr;
  }
}

int attribute_of(int attribute, CUdevice device) {
  switch (attribute) {
    case kComputeMajor: return 9;
    case kComputeMinor: return 0;
    case kMultiprocessors: return 132;
    case kMostThreadsX:
    case kMostThreadsY: return 1024;
    case kMostThreadsZ: return 64;
    case kMostBlocksX: return 2147483647;
    case kMostBlocksY:
    case kMostBlocksZ: return 65535;
    case kCooperativeLaunch: return 1;
    case kMostSharedBytesPerBlock: return 227 << 10;
    case kLevel2Bytes: return 50 << 20;
    case kWarpSize: return 32;
    case kMostThreadsPerBlock: return 1024;
    case kThreadsPerMultiprocessor: return 2048;
    case kSharedBytesPerBlock: return 48 << 10;
    case kRegistersPerBlock: return 65536;
    case kClockKilohertz: return 1980000;
    case kMemoryClockKilohertz: return 2619000;
    case kMemoryBusBits: return 5120;
    case kPciBus: return 0x1B + device;
    default: return 0;
  }
}

const Driver& table() {
  static const Driver made = [] {
    Driver functions;
#define IRUKA_FAKE_FILL(name, symbol, parameters) functions.name = fake_##name;
    IRUKA_DRIVER_FUNCTIONS(IRUKA_FAKE_FILL)
    IRUKA_NEWER_DRIVER_FUNCTIONS(IRUKA_FAKE_FILL)
#undef IRUKA_FAKE_FILL
    return functions;
  }();
  return made;
}

void set_device_count(int count) {
  Lock lock(state().mutex);
  state().device_count = std::min(count, kDevices);
}
void set_global(const std::string& name, void* address, size_t bytes) {
  Lock lock(state().mutex);
  state().globals[name] = {reinterpret_cast<CUdeviceptr>(address), bytes};
}
void set_functions(std::vector<std::string> names) {
  Lock lock(state().mutex);
  state().function_names = std::move(names);
}
void set_parameters(std::vector<ParameterPlace> parameters) {
  Lock lock(state().mutex);
  state().parameters = std::move(parameters);
}
void set_function_attribute(FunctionAttribute which, int value) {
  Lock lock(state().mutex);
  state().function_attributes[which] = value;
}
std::pair<int, int> last_function_attribute() {
  Lock lock(state().mutex);
  return state().last_function_attribute;
}
void set_blocks_per_multiprocessor(int blocks) {
  Lock lock(state().mutex);
  state().blocks_per_multiprocessor = blocks;
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
