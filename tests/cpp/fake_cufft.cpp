// A fake cuFFT for Python's tests: it transforms nothing and records the stream and memory of each call.
#include <cstdint>
#include <mutex>
#include <string>

namespace {

constexpr size_t kWorkBytes = 4096;

struct Plan {
  void *stream = nullptr, *work = nullptr;
  bool is_automatic = true;
};

std::mutex mutex;
int last_plan = 0, destroyed_plans = 0;
std::string notes;
Plan plans[1024];

/// "PLAN STREAM WORK", a line for each transform.
int note(int handle) {
  std::lock_guard lock(mutex);
  const Plan& plan = plans[handle];
  notes += std::to_string(handle) + " " + std::to_string(reinterpret_cast<uintptr_t>(plan.stream)) + " " +
           std::to_string(plan.is_automatic ? 0 : reinterpret_cast<uintptr_t>(plan.work)) + "\n";
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cufftCreate(int* handle) {
  std::lock_guard lock(mutex);
  *handle = ++last_plan;
  return 0;
}
int cufftDestroy(int) {
  std::lock_guard lock(mutex);
  return ++destroyed_plans, 0;
}
int cufftSetStream(int handle, void* stream) { return plans[handle].stream = stream, 0; }
int cufftSetAutoAllocation(int handle, int is_automatic) { return plans[handle].is_automatic = is_automatic, 0; }
int cufftSetWorkArea(int handle, void* work) { return plans[handle].work = work, 0; }
int cufftMakePlanMany64(int, int, long long*, long long*, long long, long long, long long*, long long, long long, int,
                        long long, size_t* bytes) {
  *bytes = kWorkBytes;
  return 0;
}
int cufftExecC2C(int handle, void*, void*, int) { return note(handle); }
int cufftExecZ2Z(int handle, void*, void*, int) { return note(handle); }
int cufftExecR2C(int handle, void*, void*) { return note(handle); }
int cufftExecD2Z(int handle, void*, void*) { return note(handle); }
int cufftExecC2R(int handle, void*, void*) { return note(handle); }
int cufftExecZ2D(int handle, void*, void*) { return note(handle); }

int fake_cufft_plans() { return last_plan; }
int fake_cufft_destroyed_plans() { return destroyed_plans; }
const char* fake_cufft_notes() {
  static std::string copy;
  std::lock_guard lock(mutex);
  copy = notes;
  return copy.c_str();
}

}  // extern "C"
#pragma GCC visibility pop
