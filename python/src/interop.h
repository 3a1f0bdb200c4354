// Arrays of other libraries: NumPy, the buffer protocol, DLPack.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "convert.h"

namespace iruka::python {

/// Whether as_array has a chance: NumPy arrays, buffers, __array__, __dlpack__, sequences.
bool is_array_like(PyObject* object);

/// An array of anything array-like. What lies in the CPU's memory comes to `device`, by default the default one: shared
/// where that is the CPU and dtype, alignment and byte order allow, else copied, in this machine's byte order. What
/// lies on a GPU is shared there. Raises TypeError naming a dtype that is not supported.
Array as_array(nb::handle object, Device& device);
Array as_array(nb::handle object);
/// Values for elements of `dtype`: as as_array, but Python numbers in lists must have a place there, as in NumPy.
Array as_elements(nb::handle values, Dtype dtype, Device& device);
/// An array over a NumPy array's memory; nothing where that is not aligned or in the other byte order. Raises TypeError
/// naming a dtype that is not supported.
std::optional<Array> shared_with_numpy(nb::handle array);
/// What out= gives to write into: an iruka.ndarray, or an array over the memory of a NumPy array; nothing for others.
/// Raises TypeError for a NumPy array whose memory cannot be shared.
std::optional<Array> given_output(nb::handle out);
/// An array on the CPU of nested lists or tuples of Python's numbers; nothing for others, which NumPy reads.
std::optional<Array> from_numbers(PyObject* list);
/// Where the first iruka.ndarray among `objects` lies; the default device where there is none.
Device& device_among(std::span<PyObject* const> objects);

/// A NumPy array over the same memory, read-only when the array is; a copy of a GPU array.
nb::object numpy_view(nb::handle array);
/// Why NumPy does not get a GPU's array unasked, in CuPy's words.
extern const char* const kNoImplicitCopy;

/// Py_bf_getbuffer: strides and format, no copy. bfloat16 has no format and raises BufferError.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

/// DLPack, as the Python array API standard (2023.12) words it.
nb::object to_dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy);
nb::tuple dlpack_device_of(const Array& array);
Array from_dlpack(nb::handle object, nb::handle copy);

/// A release function for a Buffer that drops the reference to a Python object on any thread.
std::function<void()> drop_reference(nb::object owner);
/// An array over foreign memory whose first element is at `data`; the buffer spans all its elements.
Array over_memory(void* data, Dtype dtype, const Dims& shape, const Dims& strides, bool writable,
                  std::function<void()> release, Device& device);
/// Before foreign memory is released to its owner, who does not know our streams: waits for the current stream. The
/// default stream is not waited for, because each release would block the host: most owners' work is ordered after it,
/// and the stream `owner` waits for it. DLPack names no stream: docs/cuda.md says what non-blocking streams need.
void finish_foreign_use(Device& device, std::optional<StreamHandle> owner = {}) noexcept;

}  // namespace iruka::python
