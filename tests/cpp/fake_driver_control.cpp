// What a test in another language controls of the driver in software, by ctypes.
#include "fake_driver.h"

#define IRUKA_CONTROL __attribute__((visibility("default")))

using namespace iruka::testing::fake_driver;

extern "C" {

// NVRTC requests internal tables from the driver and works without them.
IRUKA_CONTROL CUresult cuGetExportTable(const void** functions, const void*) {
  *functions = nullptr;
  return 500;  // CUDA_ERROR_NOT_FOUND
}

IRUKA_CONTROL void fake_driver_set_device_count(int count) { set_device_count(count); }
IRUKA_CONTROL void fake_driver_set_device_bytes(size_t bytes) { set_device_bytes(bytes); }
IRUKA_CONTROL void fake_driver_hold(CUstream stream) { hold(stream); }
IRUKA_CONTROL void fake_driver_let_go(CUstream stream) { let_go(stream); }
IRUKA_CONTROL void fake_driver_fail(const char* function, int error, int count) { fail(function, error, count); }
IRUKA_CONTROL int64_t fake_driver_calls(const char* function) { return calls(function); }
IRUKA_CONTROL size_t fake_driver_live_device_bytes() { return live_device_bytes(); }
IRUKA_CONTROL size_t fake_driver_live_host_bytes() { return live_host_bytes(); }
IRUKA_CONTROL int fake_driver_launch_count() { return static_cast<int>(launches().size()); }
IRUKA_CONTROL int fake_driver_misuse_count() { return static_cast<int>(misuses().size()); }

}  // extern "C"
