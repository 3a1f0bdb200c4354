// What a test in another language controls of the driver in software, by ctypes.
#include <algorithm>
#include <vector>

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

// The last launch: blocks, threads, dynamic shared memory, whether it was cooperative; the bytes of its parameters.
IRUKA_CONTROL void fake_driver_last_launch(unsigned* numbers) {
  const iruka::LaunchGrid grid = launches().back().grid;
  for (const unsigned number : {grid.blocks.x, grid.blocks.y, grid.blocks.z, grid.threads.x, grid.threads.y,
                                grid.threads.z, grid.shared_bytes, unsigned{grid.is_cooperative}})
    *numbers++ = number;
}
IRUKA_CONTROL void fake_driver_keep_parameters(const size_t* sizes, size_t count, char* to) {
  set_launch_handler([sizes = std::vector(sizes, sizes + count), to](const Launch&, void** given) {
    char* place = to;
    for (size_t k = 0; k < sizes.size(); ++k) place = std::copy_n(static_cast<char*>(given[k]), sizes[k], place);
    return std::function<void()>();
  });
}
IRUKA_CONTROL void fake_driver_set_parameters(const size_t* sizes, size_t count) {
  std::vector<iruka::ParameterPlace> places;
  for (size_t k = 0; k < count; ++k) places.push_back({8 * k, sizes[k]});
  set_parameters(places);
}
IRUKA_CONTROL void fake_driver_set_global(const char* name, void* address, size_t bytes) {
  set_global(name, address, bytes);
}

}  // extern "C"
