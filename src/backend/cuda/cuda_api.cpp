// The public functions of CUDA devices.
#include <algorithm>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/library.h"
#include "backend/cuda/nvrtc.h"
#include "iruka/cuda.h"
#include "iruka/error.h"

namespace iruka::cuda {
namespace {

using namespace cuda_backend;

CudaDevice* as_cuda(const Device& device) { return dynamic_cast<CudaDevice*>(const_cast<Device*>(&device)); }

CudaDevice& checked(const Device& device, const char* function) {
  CudaDevice* found = as_cuda(device);
  if (!found) throw DeviceError(std::string("cuda.") + function + ": " + device_name(device) + " is no CUDA device");
  return *found;
}

/// Makes a CUDA device current on the calling thread while it lives.
class Active {
 public:
  Active(const Device& device, const char* function) : device_(checked(device, function)), scope_(device_.activate()) {}
  CudaDevice* operator->() const { return &device_; }

 private:
  CudaDevice& device_;
  const ContextScope scope_;
};

CUstream cu_stream(const Stream& stream) { return static_cast<CUstream>(stream.handle()); }

}  // namespace

bool is_available() { return unavailable_reason().empty(); }

std::string unavailable_reason() {
  if (!driver_problem().empty()) return driver_problem();
  return cuda_device_count() > 0 ? nvrtc_problem() : "the driver finds no GPU";
}

int device_count() { return cuda_device_count(); }

int device_index(const Device& device) {
  const CudaDevice* found = as_cuda(device);
  return found ? found->index() : -1;
}

int driver_version() { return cuda_backend::driver_version(); }

std::string nvrtc_version() { return cuda_backend::nvrtc_version(); }

void add_package_folders(const std::string* folders, int count) {
  cuda_backend::add_package_folders({folders, folders + count});
}

DeviceProperties properties(const Device& device) {
  const Active gpu(device, "properties");
  DeviceProperties found{};
  char name[256] = "";
  check(driver().cuDeviceGetName(name, sizeof(name), gpu->handle()), "cuDeviceGetName", gpu->name());
  found.name = name;
  found.compute_major = gpu->attribute(kComputeMajor);
  found.compute_minor = gpu->attribute(kComputeMinor);
  found.multiprocessors = gpu->attribute(kMultiprocessors);
  found.level2_bytes = gpu->attribute(kLevel2Bytes);
  size_t free_bytes = 0, all_bytes = 0;
  check(driver().cuMemGetInfo(&free_bytes, &all_bytes), "cuMemGetInfo", gpu->name());
  found.free_bytes = static_cast<int64_t>(free_bytes);
  found.total_bytes = static_cast<int64_t>(all_bytes);
  char bus[32];
  snprintf(bus, sizeof(bus), "%04X:%02X:%02X.0", gpu->attribute(kPciDomain), gpu->attribute(kPciBus),
           gpu->attribute(kPciDevice));
  found.pci_bus_id = bus;
  return found;
}

int attribute(const Device& device, int which) {
  return checked(device, "attribute").attribute(static_cast<DeviceAttribute>(which));
}

void synchronize(Device& device) { checked(device, "synchronize").synchronize(); }

bool is_non_blocking(const Stream& stream) {
  const Active gpu(stream.device(), "is_non_blocking");
  unsigned flags = 0;
  check(driver().cuStreamGetFlags(cu_stream(stream), &flags), "cuStreamGetFlags", gpu->name());
  return flags & kStreamNonBlocking;
}

void record_use(void* memory, const Stream& stream) {
  const Active gpu(stream.device(), "record_use");
  gpu->pool().record_use(memory, gpu->pool_stream(cu_stream(stream)), gpu->index());
}

void use_until_release(void* memory, const Stream& stream) {
  const Active gpu(stream.device(), "use_until_release");
  gpu->pool().use_until_release(memory, gpu->pool_stream(cu_stream(stream)), gpu->index());
}

void launch_host_function(const Stream& stream, void (*function)(void*), void* argument) {
  const Active gpu(stream.device(), "launch_host_function");
  // Each launch of the graph would call the function.
  refuse_capture(cu_stream(stream), "launch_host_function: graphs call no functions; ");
  check(driver().cuLaunchHostFunc(cu_stream(stream), function, argument), "cuLaunchHostFunc", gpu->name());
}

void begin_capture(const Stream& stream) { checked(stream.device(), "begin_capture").begin_capture(cu_stream(stream)); }

Graph end_capture(const Stream& stream) {
  return {stream.device(), checked(stream.device(), "end_capture").end_capture(cu_stream(stream))};
}

void cancel_capture(const Stream& stream) noexcept {
  if (CudaDevice* found = as_cuda(stream.device())) found->cancel_capture(cu_stream(stream));
}

bool is_capturing(const Stream& stream) {
  const Active gpu(stream.device(), "is_capturing");
  int status = kNotCapturing;
  check(driver().cuStreamIsCapturing(cu_stream(stream), &status), "cuStreamIsCapturing", gpu->name());
  return status != kNotCapturing;
}

void Graph::launch(const Stream& stream) const {
  const Active gpu(device(), "Graph::launch");
  check(driver().cuGraphLaunch(static_cast<CUgraphExec>(handle()), cu_stream(stream)), "cuGraphLaunch", gpu->name());
  gpu->last_launches().note("a graph");
}

void destroy_graph(Device& device, void* graph) noexcept {
  try {
    checked(device, "Graph").destroy_graph(static_cast<CUgraphExec>(graph));
  } catch (...) {  // the graph's memory stays, because work that may use it cannot be waited for
  }
}

PoolStatistics memory_statistics(Device& device) { return checked(device, "memory_statistics").pool().statistics(); }
size_t free_blocks(Device& device) { return checked(device, "free_blocks").pool().free_blocks(); }
void set_memory_limit(Device& device, size_t bytes) { checked(device, "set_memory_limit").pool().set_limit(bytes); }
void free_all_blocks(Device& device) { checked(device, "free_all_blocks").pool().free_all_blocks(); }
void free_all_blocks(const Stream& stream) {
  CudaDevice& gpu = checked(stream.device(), "free_all_blocks");
  gpu.pool().free_all_blocks(gpu.pool_stream(cu_stream(stream)));
}

void* allocate_pinned(size_t bytes) {
  any_device();  // raises DeviceError if there is no GPU
  return pinned_pool().allocate(bytes);
}
void release_pinned(void* memory) { pinned_pool().release(memory); }
void record_pinned_use(void* memory, const Stream& stream) {
  const Active gpu(stream.device(), "record_pinned_use");
  pinned_pool().record_use(memory, gpu->pool_stream(cu_stream(stream)), gpu->index());
}
size_t pinned_free_blocks() { return pinned_pool().free_blocks(); }
void free_pinned_blocks() { pinned_pool().free_all_blocks(); }

bool is_pinned(const void* memory) {
  return driver_problem().empty() && cuda_device_count() > 0 && place_of(memory).type == kHostMemory;
}

int device_of(const void* memory) {
  if (!driver_problem().empty()) return -1;
  const MemoryPlace place = place_of(memory);
  return place.type == kDeviceMemory || place.type == kHostMemory ? place.device : -1;
}

}  // namespace iruka::cuda
