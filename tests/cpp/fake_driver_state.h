// What the driver in software consists of, for the files that it is made of.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "fake_driver.h"

// Each function gets the name that the library has it by, so that the same objects make a libcuda.so.1.
#define IRUKA_FAKE_DECLARE(name, symbol, parameters) \
  extern "C"                                         \
      __attribute__((visibility("default"))) iruka::cuda_backend::CUresult fake_##name parameters __asm__(symbol);
namespace iruka::cuda_backend {
IRUKA_DRIVER_FUNCTIONS(IRUKA_FAKE_DECLARE)
IRUKA_NEWER_DRIVER_FUNCTIONS(IRUKA_FAKE_DECLARE)
}  // namespace iruka::cuda_backend
#undef IRUKA_FAKE_DECLARE

namespace iruka::testing::fake_driver {

constexpr CUresult kInvalidHandle = 400, kCaptureUnsupported = 900, kCaptureRefused = 901;
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
  std::map<uintptr_t, std::vector<std::string>> modules;  ///< the names of their functions, empty for any
  std::vector<std::string> function_names;
  std::vector<ParameterPlace> parameters;
  std::map<int, int> function_attributes = {
      {kMaxThreadsPerBlock, 1024}, {kMaxDynamicSharedSizeBytes, 48 << 10}, {kPreferredSharedMemoryCarveout, -1}};
  std::pair<int, int> last_function_attribute;
  int blocks_per_multiprocessor = 2;
  std::map<std::string, std::pair<CUdeviceptr, size_t>> globals;
  std::string assembled;
  std::map<std::string, std::pair<CUresult, int>> failures;
  std::map<std::string, int64_t> calls;
  std::vector<Launch> launches;
  std::vector<std::string> misuses;
  LaunchHandler handler;
  uintptr_t last_handle = 0x10000;
  uint64_t last_number = 0;
};

State& state();

using Lock = std::unique_lock<std::mutex>;

inline thread_local CUcontext current_context = nullptr;

int device_of_context();
/// Streams 1 and 2, and the null stream as 1, are of the calling thread's context; 2 is of the thread, too.
uintptr_t key_of(CUstream stream);
bool is_legacy(uintptr_t key);

/// Null, and a misuse, where there is none.
Stream* find_stream(CUstream handle);
std::shared_ptr<Event> find_event(CUevent handle);

void push(Stream& stream, Work work);
/// Does what can be done, until nothing can.
void drain();
/// Whether no stream of the device has work left.
bool is_idle(int device);
template <class Condition>
void wait(Lock& lock, Condition&& condition) {
  state().changed.wait(lock, condition);
}

/// The allocation that holds the address, or null.
const std::pair<const char* const, Allocation>* find_allocation(const char* address);
/// Whether a range that begins in an allocation leaves it.
bool leaves(const char* begin, size_t bytes);
CUresult allocate(void** memory, size_t bytes, int device);
CUresult release(const char* memory);
CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle);

const char* name_of(CUresult error);
int attribute_of(int attribute, CUdevice device);

/// The result that the test chose for a call, if any; counts the call.
CUresult begin_call(const char* function);

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

inline const char* as_bytes(CUdeviceptr pointer) { return reinterpret_cast<const char*>(pointer); }

}  // namespace iruka::testing::fake_driver
