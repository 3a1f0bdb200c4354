// The public functions of CUDA devices.
#include "iruka/cuda.h"

#include <algorithm>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/library.h"
#include "backend/cuda/nvrtc.h"
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

/// A CUDA device that is the calling thread's meanwhile.
class Active {
 public:
  Active(const Device& device, const char* function) : device_(checked(device, function)), scope_(device_.activate()) {}
  CudaDevice* operator->() const { return &device_; }

 private:
  CudaDevice& device_;
  const ContextScope scope_;
};

CUstream handle(Stream stream) { return static_cast<CUstream>(stream); }
CUevent event_handle(Event event) { return static_cast<CUevent>(event); }

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

Stream create_stream(Device& device, bool non_blocking, int priority) {
  const Active gpu(device, "create_stream");
  CUstream stream = nullptr;
  check(driver().cuStreamCreateWithPriority(&stream, non_blocking ? unsigned{kStreamNonBlocking} : 0u, priority),
        "cuStreamCreateWithPriority", gpu->name());
  return stream;
}

void destroy_stream(Device& device, Stream stream) {
  const Active gpu(device, "destroy_stream");
  gpu->cancel_capture(handle(stream));
  check(driver().cuStreamSynchronize(handle(stream)), "cuStreamSynchronize", gpu->name());
  gpu->pool().forget_stream(stream);
  pinned_pool().forget_stream(stream);
  if (gpu->current_stream() == handle(stream)) gpu->current_stream() = nullptr;
  check(driver().cuStreamDestroy(handle(stream)), "cuStreamDestroy", gpu->name());
}

void synchronize(Device& device, Stream stream) {
  const Active gpu(device, "synchronize");
  refuse_capture(handle(stream), "wait: ");
  check(driver().cuStreamSynchronize(handle(stream)), "cuStreamSynchronize", gpu->name());
  gpu->throw_if_asserted(handle(stream));
}

bool is_done(Device& device, Stream stream) {
  const Active gpu(device, "is_done");
  refuse_capture(handle(stream), "wait: ");
  const CUresult result = driver().cuStreamQuery(handle(stream));
  if (result == kNotReady) return false;
  check(result, "cuStreamQuery", gpu->name());
  return true;
}

Stream current_stream(const Device& device) { return checked(device, "current_stream").current_stream(); }

Stream set_current_stream(Device& device, Stream stream) {
  CUstream& current = checked(device, "set_current_stream").current_stream();
  return std::exchange(current, handle(stream));
}

bool is_non_blocking(Device& device, Stream stream) {
  const Active gpu(device, "is_non_blocking");
  unsigned flags = 0;
  check(driver().cuStreamGetFlags(handle(stream), &flags), "cuStreamGetFlags", gpu->name());
  return flags & kStreamNonBlocking;
}

void record_use(Device& device, void* memory, Stream stream) {
  const Active gpu(device, "record_use");
  gpu->pool().record_use(memory, gpu->pool_stream(handle(stream)), gpu->index());
}

void launch_host_function(Device& device, Stream stream, void (*function)(void*), void* argument) {
  const Active gpu(device, "launch_host_function");
  refuse_capture(handle(stream), "launch_host_function: graphs call no functions; ");  // each launch would call it
  check(driver().cuLaunchHostFunc(handle(stream), function, argument), "cuLaunchHostFunc", gpu->name());
}

Event create_event(Device& device, bool timing, bool blocking) {
  const Active gpu(device, "create_event");
  CUevent event = nullptr;
  check(driver().cuEventCreate(&event, (timing ? unsigned{kEventDefault} : unsigned{kEventNoTiming}) |
                                           (blocking ? unsigned{kEventBlocking} : 0u)),
        "cuEventCreate", gpu->name());
  return event;
}

void destroy_event(Device& device, Event event) {
  const Active gpu(device, "destroy_event");
  check(driver().cuEventDestroy(event_handle(event)), "cuEventDestroy", gpu->name());
}

void record_event(Device& device, Event event, Stream stream) {
  const Active gpu(device, "record_event");
  check(driver().cuEventRecord(event_handle(event), handle(stream)), "cuEventRecord", gpu->name());
}

bool is_event_done(Device& device, Event event) {
  const Active gpu(device, "is_event_done");
  const CUresult result = driver().cuEventQuery(event_handle(event));
  if (result == kNotReady) return false;
  check(result, "cuEventQuery", gpu->name());
  return true;
}

void synchronize_event(Device& device, Event event) {
  const Active gpu(device, "synchronize_event");
  check(driver().cuEventSynchronize(event_handle(event)), "cuEventSynchronize", gpu->name());
}

void wait_event(Device& device, Stream stream, Event event) {
  const Active gpu(device, "wait_event");
  check(driver().cuStreamWaitEvent(handle(stream), event_handle(event), 0), "cuStreamWaitEvent", gpu->name());
}

double elapsed_milliseconds(Device& device, Event begin, Event end) {
  const Active gpu(device, "elapsed_milliseconds");
  float milliseconds = 0;
  check(driver().cuEventElapsedTime(&milliseconds, event_handle(begin), event_handle(end)), "cuEventElapsedTime",
        gpu->name());
  return milliseconds;
}

void begin_capture(Device& device, Stream stream) { checked(device, "begin_capture").begin_capture(handle(stream)); }

Graph end_capture(Device& device, Stream stream) { return checked(device, "end_capture").end_capture(handle(stream)); }

void cancel_capture(Device& device, Stream stream) noexcept {
  if (CudaDevice* found = as_cuda(device)) found->cancel_capture(handle(stream));
}

bool is_capturing(Device& device, Stream stream) {
  const Active gpu(device, "is_capturing");
  int status = kNotCapturing;
  check(driver().cuStreamIsCapturing(handle(stream), &status), "cuStreamIsCapturing", gpu->name());
  return status != kNotCapturing;
}

void launch_graph(Device& device, Graph graph, Stream stream) {
  const Active gpu(device, "launch_graph");
  check(driver().cuGraphLaunch(static_cast<CUgraphExec>(graph), handle(stream)), "cuGraphLaunch", gpu->name());
  gpu->last_launches().note("a graph");
}

void destroy_graph(Device& device, Graph graph) {
  checked(device, "destroy_graph").destroy_graph(static_cast<CUgraphExec>(graph));
}

PoolStatistics memory_statistics(Device& device) { return checked(device, "memory_statistics").pool().statistics(); }
size_t free_blocks(Device& device) { return checked(device, "free_blocks").pool().free_blocks(); }
void set_memory_limit(Device& device, size_t bytes) { checked(device, "set_memory_limit").pool().set_limit(bytes); }
void free_all_blocks(Device& device) { checked(device, "free_all_blocks").pool().free_all_blocks(); }
void free_all_blocks(Device& device, Stream stream) {
  CudaDevice& gpu = checked(device, "free_all_blocks");
  gpu.pool().free_all_blocks(gpu.pool_stream(handle(stream)));
}

void* allocate_pinned(size_t bytes) {
  any_device();  // says what is missing
  return pinned_pool().allocate(bytes);
}
void release_pinned(void* memory) { pinned_pool().release(memory); }
void record_pinned_use(Device& device, void* memory, Stream stream) {
  const Active gpu(device, "record_pinned_use");
  pinned_pool().record_use(memory, gpu->pool_stream(handle(stream)), gpu->index());
}
size_t pinned_free_blocks() { return pinned_pool().free_blocks(); }
void free_pinned_blocks() { pinned_pool().free_all_blocks(); }

bool is_pinned(const void* memory) {
  return driver_problem().empty() && cuda_device_count() > 0 && place_of(memory).type == kHostMemory;
}

int device_of(const void* memory) {
  if (!driver_problem().empty()) return -1;
  const MemoryPlace place = place_of(memory);
  return place.type == kDeviceMemory ? place.device : -1;
}

}  // namespace iruka::cuda
