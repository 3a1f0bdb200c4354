// CUDA devices: their properties, streams, events, graphs, and the pools of device and page-locked memory. Every
// function raises DeviceError if there is no GPU; if a call of the driver fails, the error names the call and the
// driver's error.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "iruka/device.h"
#include "iruka/memory.h"
#include "iruka/stream.h"

namespace iruka::cuda {

/// Whether a GPU can be used; never raises.
IRUKA_API bool is_available();
/// Why no GPU can be used; empty if one can.
IRUKA_API std::string unavailable_reason();
/// The number of GPUs of this process; 0 if none can be used.
IRUKA_API int device_count();
/// The number of a device "cuda:N", -1 for others.
IRUKA_API int device_index(const Device& device);
/// Versions as CUDA counts them: 13000 for 13.0. nvrtc_version() raises where NVRTC is missing.
IRUKA_API int driver_version();
IRUKA_API std::string nvrtc_version();
/// Adds folders of Python packages ("site-packages") in which nvidia-* packages are searched. To be called before the
/// first kernel is compiled.
IRUKA_API void add_package_folders(const std::string* folders, int count);

struct DeviceProperties {
  std::string name;
  int compute_major, compute_minor;
  int multiprocessors;
  int64_t total_bytes, free_bytes, level2_bytes;
  std::string pci_bus_id;  ///< "0000:1B:00.0"
};
IRUKA_API DeviceProperties properties(const Device& device);
/// An attribute by the driver's number for it (CUdevice_attribute).
IRUKA_API int attribute(const Device& device, int which);
/// Waits for all streams of the device.
IRUKA_API void synchronize(Device& device);

// Streams are those of iruka/stream.h. CUDA's own numbers for the default streams serve as handles, too: 1 is the
// legacy default stream, as is null, and 2 the calling thread's own.

/// Whether the stream and the legacy default stream never wait for each other.
IRUKA_API bool is_non_blocking(const Stream& stream);
/// Tells the pool of `memory` that the work now in `stream` uses it: the memory is reused only after that work.
IRUKA_API void record_use(void* memory, const Stream& stream);
/// The same for the work that `stream` has when the memory is released.
IRUKA_API void use_until_release(void* memory, const Stream& stream);

/// Calls `function(argument)` on a thread of the driver, after the work that is now in `stream` and before later work.
/// It must not use CUDA; after an error of the GPU it is not called. Raises DeviceError while the stream is captured.
IRUKA_API void launch_host_function(const Stream& stream, void (*function)(void*), void* argument);

/// Destroys the handle of a Graph.
IRUKA_API void destroy_graph(Device& device, void* graph) noexcept;

/// Recorded work, which may be launched any number of times. It keeps its code and the memory allocated during the
/// capture. Its destructor waits for the device; where the wait fails, the memory is never released.
class IRUKA_API Graph : public DeviceHandle<void*, destroy_graph> {
 public:
  void launch(const Stream& stream) const;

 private:
  friend Graph end_capture(const Stream& stream);
  Graph(Device& device, void* handle) : DeviceHandle(device, handle, true) {}
};

/// From here on, work given to the stream is recorded and not run. Not for the default streams.
IRUKA_API void begin_capture(const Stream& stream);
IRUKA_API Graph end_capture(const Stream& stream);
/// Ends the capture, if there is one, and discards the recorded work.
IRUKA_API void cancel_capture(const Stream& stream) noexcept;
IRUKA_API bool is_capturing(const Stream& stream);

/// The device's pool. A limit of 0 is none.
IRUKA_API PoolStatistics memory_statistics(Device& device);
IRUKA_API size_t free_blocks(Device& device);
IRUKA_API void set_memory_limit(Device& device, size_t bytes);
IRUKA_API void free_all_blocks(Device& device);
IRUKA_API void free_all_blocks(const Stream& stream);

/// Callbacks for the pools' work, as CuPy's MemoryHook: called on the working thread, with no lock held.
/// `pool` is "cuda:0"... or "pinned host memory", `requested` the size that the caller needs, `bytes` the whole block
/// or chunk; `memory` is null where there is none.
class IRUKA_API PoolHook {
 public:
  virtual ~PoolHook() = default;
  /// Before and after each request to a pool.
  virtual void malloc_preprocess(const std::string& /*pool*/, size_t /*requested*/, size_t /*bytes*/) noexcept {}
  virtual void malloc_postprocess(const std::string& /*pool*/, size_t /*requested*/, size_t /*bytes*/,
                                  void* /*memory*/) noexcept {}
  /// Before and after a request that held memory cannot satisfy.
  virtual void alloc_preprocess(const std::string& /*pool*/, size_t /*bytes*/) noexcept {}
  virtual void alloc_postprocess(const std::string& /*pool*/, size_t /*bytes*/, void* /*memory*/) noexcept {}
  /// Before and after a block returns to a pool.
  virtual void free_preprocess(const std::string& /*pool*/, void* /*memory*/, size_t /*bytes*/) noexcept {}
  virtual void free_postprocess(const std::string& /*pool*/, void* /*memory*/, size_t /*bytes*/) noexcept {}

  /// Activates the hook for the calling thread and all pools, after the hooks that are active. Raises ValueError if it
  /// is active.
  void enter();
  /// Deactivates the hook. Raises ValueError if it is not active.
  void leave();
};

/// Page-locked host memory, which copies to and from a GPU at the link's full speed.
IRUKA_API void* allocate_pinned(size_t bytes);
IRUKA_API void release_pinned(void* memory);
/// Tells the pool that the work now in `stream` uses this memory of allocate_pinned(): it is reused only after that
/// work.
IRUKA_API void record_pinned_use(void* memory, const Stream& stream);
IRUKA_API size_t pinned_free_blocks();
IRUKA_API void free_pinned_blocks();

/// Whether `memory` is page-locked host memory of any library: copies from and to it are asynchronous.
IRUKA_API bool is_pinned(const void* memory);
/// The index of the GPU that `memory` is on, or -1. Page-locked memory, which every GPU reaches by its address on the
/// host, counts as that of the GPU for which it was allocated.
IRUKA_API int device_of(const void* memory);

}  // namespace iruka::cuda
