// What bindings need of GPUs: streams given by Python objects, waits that Ctrl-C ends, copies to NumPy arrays.
#pragma once

#include "convert.h"
#include "core/device.h"
#include "iruka/cuda.h"

namespace iruka::python {

/// Whether the process reads the device's memory itself, without waiting.
inline bool is_host(const Device& device) { return device.target().is_host; }
/// Whether CUDA's protocols speak of the device: streams, __cuda_array_interface__.
inline bool is_cuda(const Device& device) { return cuda::device_index(device) >= 0; }

/// None gives nothing; an integer or an object with `ptr` or `__cuda_stream__` its stream, the legacy default one as
/// null.
std::optional<cuda::Stream> to_stream(nb::handle object);
/// The number of a stream in CUDA's protocols: 1 is the legacy default stream.
uintptr_t stream_number(cuda::Stream stream);

/// The stream of CUDA's number for it.
inline cuda::Stream stream_from(uintptr_t handle) { return reinterpret_cast<cuda::Stream>(handle > 1 ? handle : 0); }

/// Makes `stream` the calling thread's current one of `device` while it lives; nothing for the CPU or no stream.
class StreamScope {
 public:
  StreamScope(Device& device, std::optional<cuda::Stream> stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Device* device_ = nullptr;
  cuda::Stream before_ = nullptr;
};

/// Waits for the stream without the GIL, which the caller must not hold. Raises Interrupted at Ctrl-C.
void wait_for(Device& device, cuda::Stream stream);
void wait_for_device(Device& device);

/// Makes `later` wait for the work that is now in `earlier`.
void order_streams(Device& device, cuda::Stream earlier, cuda::Stream later);

/// A new NumPy array with a copy of a GPU array's elements, in C or Fortran order.
nb::object download(Array array, bool fortran = false);

/// x.__cuda_array_interface__, version 3 (https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html).
nb::dict cuda_array_interface(Array array);
/// NumPy's protocol of that kind, for arrays on the CPU.
nb::dict array_interface(const Array& array);
/// An array over the memory that such a dict describes.
Array from_cuda_array_interface(nb::handle object);

void bind_cuda(nb::module_& module);
void bind_host_functions(nb::module_& module);
/// Waits for the Python functions that streams are calling, and lets no more in. Called without the GIL.
void end_host_functions();
void bind_memory_hook(nb::module_& module);

}  // namespace iruka::python
