#include "backend/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "backend/cuda/cuda_device.h"
#include "core/once.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

std::atomic<const Driver*> replacement{nullptr};

struct System {
  Driver functions;
  std::string problem;

  System() {
    // Only the system's driver library works; those of toolkits and packages are stubs.
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      problem = "libcuda.so.1 was not found: install NVIDIA's driver";
      return;
    }
    const char* missing = nullptr;
#define IRUKA_DRIVER_FIND(name, symbol, parameters) \
  functions.name = reinterpret_cast<CUresult(*) parameters>(dlsym(library, symbol));
#define IRUKA_DRIVER_NEED(name, symbol, parameters) \
  IRUKA_DRIVER_FIND(name, symbol, parameters)       \
  if (!functions.name) missing = symbol;
    IRUKA_DRIVER_FUNCTIONS(IRUKA_DRIVER_NEED)
    IRUKA_NEWER_DRIVER_FUNCTIONS(IRUKA_DRIVER_FIND)
#undef IRUKA_DRIVER_NEED
#undef IRUKA_DRIVER_FIND
    if (missing) {
      problem = std::string("libcuda.so.1 has no ") + missing +
                ": NVIDIA's driver is too old; CUDA 12 is the oldest that serves";
      return;
    }
    if (const CUresult result = functions.cuInit(0); result != kSuccess) {
      const char* text = nullptr;
      functions.cuGetErrorString(result, &text);
      problem = "cuInit failed with " + std::to_string(result) + ": " + (text ? text : "unknown error");
      if (result == kNoDevice) problem = "the driver finds no GPU (CUDA_VISIBLE_DEVICES may hide it)";
      return;
    }
    int version = 0;
    functions.cuDriverGetVersion(&version);
    if (version < 12000)
      problem = "NVIDIA's driver is for CUDA " + std::to_string(version / 1000) + "." +
                std::to_string(version % 1000 / 10) + "; CUDA 12 is the oldest that serves";
  }
};

const System& system_driver() {
  return made_once_locked([] { return System(); });
}

/// A hint for debugging an error, to append to its message; empty if there is none.
std::string advice(CUresult error, const std::string& subject) {
  constexpr CUresult kCaptureInvalidated = 901;
  if (error == kCaptureInvalidated) return ". A call that a graph cannot contain has ended the capture";
  if (is_capture_error(error)) return std::string(": ") + kCaptureAdvice;
  if (!is_lasting(error)) return "";
  const std::string names = last_kernels(subject);
  constexpr CUresult kAssert = 710;
  std::string words = ". The process cannot use this GPU any more";
  if (error == kAssert) words = ". An assert() of a kernel failed; standard error shows which" + words;
  if (names.empty() || launches_block()) return words;
  return words + ". The cause is probably a kernel launched earlier; the last launches, latest first: " + names +
         ". Set CUDA_LAUNCH_BLOCKING=1 in the environment to get the error from the call that launches the kernel";
}

}  // namespace

bool is_lasting(CUresult error) {
  // Uncorrectable memory errors, then errors of kernels, from an illegal address to a failed launch.
  static constexpr CUresult kLasting[] = {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::ranges::find(kLasting, error) != std::end(kLasting);
}

bool launches_block() {
  return made_once([] {
    const char* setting = std::getenv("CUDA_LAUNCH_BLOCKING");
    return setting && *setting && *setting != '0';
  });
}

const std::string& driver_problem() {
  if (replacement.load(std::memory_order_acquire)) return made_once([] { return std::string(); });
  return system_driver().problem;
}

const Driver& driver() {
  if (const Driver* other = replacement.load(std::memory_order_acquire)) return *other;
  const System& found = system_driver();
  if (!found.problem.empty()) throw DeviceError("cuda: no GPU can be used: " + found.problem);
  return found.functions;
}

int driver_version() {
  int version = 0;
  check(driver().cuDriverGetVersion(&version), "cuDriverGetVersion");
  return version;
}

void replace_driver(const Driver* other) { replacement.store(other, std::memory_order_release); }

std::string describe(CUresult error) {
  const char *name = nullptr, *text = nullptr;
  driver().cuGetErrorName(error, &name);
  driver().cuGetErrorString(error, &text);
  return std::string(name ? name : "CUDA_ERROR") + " (" + std::to_string(error) +
         "): " + (text ? text : "unknown error");
}

MemoryPlace place_of(const void* memory) {
  MemoryPlace place{};
  int attributes[] = {kMemoryType, kDeviceOrdinal};
  void* values[] = {&place.type, &place.device};
  driver().cuPointerGetAttributes(2, attributes, values, reinterpret_cast<CUdeviceptr>(memory));
  return place;
}

void check(CUresult result, const char* call, const std::string& subject) {
  if (result == kSuccess) return;
  const std::string message = std::string("cuda: ") + call + " failed with " + describe(result) +
                              (subject.empty() ? "" : "; " + subject) + advice(result, subject);
  if (result == kOutOfMemory) throw OutOfMemoryError(message);
  throw DeviceError(message);
}

}  // namespace iruka::cuda_backend
