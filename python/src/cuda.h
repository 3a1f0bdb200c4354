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

/// None gives nothing; an integer or an object with `ptr` or `__cuda_stream__` its stream's handle, null for the legacy
/// default one.
std::optional<StreamHandle> to_stream(nb::handle object);
/// The number of a stream in CUDA's protocols: 1 is the legacy default stream.
uintptr_t stream_number(StreamHandle stream);

/// The stream of CUDA's number for it.
inline StreamHandle stream_from(uintptr_t number) { return reinterpret_cast<StreamHandle>(number > 1 ? number : 0); }

/// Waits for the stream without the GIL, which the caller must not hold. Raises Interrupted at Ctrl-C.
void wait_for(const Stream& stream);
void wait_for_device(Device& device);

/// Makes `later` wait for the work that is now in `earlier`.
void order_streams(Device& device, StreamHandle earlier, StreamHandle later);

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
