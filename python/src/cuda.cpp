// CUDA from Python: streams, events, graphs, page-locked memory. iruka.cuda makes classes of these functions.
#include "cuda.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <thread>

#include "core/device.h"
#include "device.h"
#include "interop.h"
#include "iruka/indexing.h"

namespace iruka::python {

namespace {

/// Polls `is_done`, as the driver's own waits do: for some milliseconds without a pause, since the shortest sleep takes
/// 50 microseconds longer than requested; then with pauses that grow with the time waited.
template <class IsDone>
void poll(IsDone is_done) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kAlone{50}, kLongestPause{500};
  constexpr std::chrono::milliseconds kBusy{5}, kSignals{5};
  const Clock::time_point start = Clock::now();
  Clock::time_point looked = start;
  while (!is_done()) {
    const Clock::time_point now = Clock::now();
    if (now - start < kBusy) {
      if (now - start > kAlone) std::this_thread::yield();
      continue;
    }
    if (now - looked > kSignals) {
      looked = now;
      if (interrupt_requested()) throw Interrupted("interrupted while waiting for the GPU");
    }
    std::this_thread::sleep_for(std::min<Clock::duration>((now - start) / 32, kLongestPause));
  }
}

uintptr_t handle_of(void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
void* pointer_of(uintptr_t handle) { return reinterpret_cast<void*>(handle); }

/// The Python class of page-locked memory, with the buffer protocol.
struct PinnedMemory {
  void* data;
  size_t bytes;
  explicit PinnedMemory(size_t size) : bytes(size) {
    GilRelease release;
    data = cuda::allocate_pinned(size);
  }
  ~PinnedMemory() {
    const GilReleaseIfHeld release;
    cuda::release_pinned(data);
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
};

int get_pinned_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded(-1, [&] {
    auto& memory = instance_of<PinnedMemory>(self);
    return PyBuffer_FillInfo(view, self, memory.data, static_cast<Py_ssize_t>(memory.bytes), /*readonly=*/0, flags);
  });
}

/// The page-locked memory that a NumPy array is a view of, or null.
void* pinned_owner(nb::handle array) {
  nb::object owner = nb::borrow(array);
  while (owner.is_valid() && !owner.is_none()) {
    if (nb::isinstance<PinnedMemory>(owner)) return instance_of<PinnedMemory>(owner.ptr()).data;
    const char* next = PyMemoryView_Check(owner.ptr()) ? "obj" : "base";
    owner = nb::getattr(owner, next, nb::none());
  }
  return nullptr;
}

/// Copies between a GPU's array and a NumPy array of the same shape, dtype and order of axes.
void copy_host(Array gpu, nb::handle numpy, bool to_host, nb::handle stream_object, bool blocking) {
  Array host = as_array(numpy, cpu());
  const std::optional<cuda::Stream> stream = to_stream(stream_object);
  void* const pinned = blocking ? nullptr : pinned_owner(numpy);
  GilRelease release;
  Device& device = gpu.device();
  const StreamScope scope(device, stream);
  const cuda::Stream current = cuda::current_stream(device);
  Array dense = gpu;
  if (host.is_f_contiguous() && !host.is_c_contiguous()) {
    host = host.transpose();
    dense = dense.transpose();
  }
  if (!host.is_c_contiguous()) throw ValueError("the NumPy array must be contiguous");
  const auto bytes = static_cast<size_t>(host.nbytes());
  if (to_host) {
    dense = dense.contiguous();
    if (blocking) wait_for(device, current);  // so that Ctrl-C ends a wait for kernels
    device.copy(host.data(), dense.data(), bytes, nullptr);
  } else {
    device.copy(dense.data(), host.data(), bytes, nullptr);
  }
  if (pinned) cuda::record_pinned_use(device, pinned, current);
  if (blocking) wait_for(device, current);
  if (to_host && blocking) check_indices(device);
}

void bind_streams(nb::module_& module) {
  const auto gpu = [](const PyDevice& device) -> Device& { return *device.device; };
  module.def("cuda_create_stream", [=](const PyDevice& device, bool non_blocking, int priority) {
    GilRelease release;
    return handle_of(cuda::create_stream(gpu(device), non_blocking, priority));
  });
  module.def("cuda_destroy_stream", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    cuda::destroy_stream(gpu(device), stream_from(stream));
  });
  module.def("cuda_synchronize", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    wait_for(gpu(device), stream_from(stream));
  });
  module.def("cuda_is_done", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return cuda::is_done(gpu(device), stream_from(stream));
  });
  module.def("cuda_is_non_blocking", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return cuda::is_non_blocking(gpu(device), stream_from(stream));
  });
  module.def("cuda_current_stream",
             [=](const PyDevice& device) { return handle_of(cuda::current_stream(gpu(device))); });
  module.def("cuda_set_current_stream", [=](const PyDevice& device, uintptr_t stream) {
    return handle_of(cuda::set_current_stream(gpu(device), stream_from(stream)));
  });
  module.def("cuda_create_event", [=](const PyDevice& device, bool timing, bool blocking) {
    GilRelease release;
    return handle_of(cuda::create_event(gpu(device), timing, blocking));
  });
  module.def("cuda_destroy_event", [=](const PyDevice& device, uintptr_t event) {
    GilRelease release;
    cuda::destroy_event(gpu(device), pointer_of(event));
  });
  module.def("cuda_record_event", [=](const PyDevice& device, uintptr_t event, uintptr_t stream) {
    GilRelease release;
    cuda::record_event(gpu(device), pointer_of(event), stream_from(stream));
  });
  module.def("cuda_is_event_done", [=](const PyDevice& device, uintptr_t event) {
    GilRelease release;
    return cuda::is_event_done(gpu(device), pointer_of(event));
  });
  module.def("cuda_synchronize_event", [=](const PyDevice& device, uintptr_t event) {
    GilRelease release;
    poll([&] { return cuda::is_event_done(gpu(device), pointer_of(event)); });
  });
  module.def("cuda_wait_event", [=](const PyDevice& device, uintptr_t stream, uintptr_t event) {
    GilRelease release;
    cuda::wait_event(gpu(device), stream_from(stream), pointer_of(event));
  });
  module.def("cuda_elapsed_milliseconds", [=](const PyDevice& device, uintptr_t begin, uintptr_t end) {
    GilRelease release;
    return cuda::elapsed_milliseconds(gpu(device), pointer_of(begin), pointer_of(end));
  });
  module.def("cuda_begin_capture", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    cuda::begin_capture(gpu(device), stream_from(stream));
  });
  module.def("cuda_end_capture", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return handle_of(cuda::end_capture(gpu(device), stream_from(stream)));
  });
  module.def("cuda_cancel_capture", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    cuda::cancel_capture(gpu(device), stream_from(stream));
  });
  module.def("cuda_is_capturing", [=](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return cuda::is_capturing(gpu(device), stream_from(stream));
  });
  module.def("cuda_launch_graph", [=](const PyDevice& device, uintptr_t graph, uintptr_t stream) {
    GilRelease release;
    cuda::launch_graph(gpu(device), pointer_of(graph), stream_from(stream));
  });
  module.def("cuda_destroy_graph", [=](const PyDevice& device, uintptr_t graph) {
    GilRelease release;
    cuda::destroy_graph(gpu(device), pointer_of(graph));
  });
}

const PyType_Slot kPinnedSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_pinned_buffer)}, {0, nullptr}};

void bind_pinned(nb::module_& module) {
  nb::class_<PinnedMemory>(module, "PinnedMemory", nb::type_slots(kPinnedSlots), nb::is_weak_referenceable(),
                           "Page-locked host memory with the buffer protocol; PinnedMemory(bytes) takes it from the "
                           "pinned pool.")
      .def(nb::init<size_t>(), nb::arg("bytes"))
      .def_prop_ro(
          "ptr", [](const PinnedMemory& memory) { return handle_of(memory.data); }, "Address of the first byte.")
      .def("size", [](const PinnedMemory& memory) { return memory.bytes; }, "Bytes.");
  module.def("pinned_free_blocks", [] { return cuda::is_available() ? cuda::pinned_free_blocks() : 0; });
  module.def("free_pinned_blocks", [] {
    if (!cuda::is_available()) return;
    GilRelease release;
    cuda::free_pinned_blocks();
  });
}

nb::dict properties_dict(const PyDevice& device) {
  const cuda::DeviceProperties found = properties_of(device);
  nb::dict result;
  result["name"] = found.name;
  result["major"] = found.compute_major;
  result["minor"] = found.compute_minor;
  result["multiProcessorCount"] = found.multiprocessors;
  result["totalGlobalMem"] = found.total_bytes;
  result["freeGlobalMem"] = found.free_bytes;
  result["l2CacheSize"] = found.level2_bytes;
  result["pciBusId"] = found.pci_bus_id;
  return result;
}

}  // namespace

std::optional<cuda::Stream> to_stream(nb::handle object) {
  if (object.is_none()) return {};
  nb::object pointer = nb::borrow(object);
  if (nb::hasattr(object, "__cuda_stream__")) {  // (version, handle)
    pointer = nb::object(object.attr("__cuda_stream__")())[1];
  } else if (!PyLong_Check(object.ptr())) {
    pointer = nb::getattr(object, "ptr", nb::none());
  }
  if (!PyLong_Check(pointer.ptr()))
    throw TypeError("stream must be None, an integer or have an attribute ptr, not " + describe(object));
  void* const handle = PyLong_AsVoidPtr(pointer.ptr());
  if (!handle && PyErr_Occurred()) throw nb::python_error();
  return stream_from(handle_of(handle));
}

uintptr_t stream_number(cuda::Stream stream) { return stream ? handle_of(stream) : 1; }

StreamScope::StreamScope(Device& device, std::optional<cuda::Stream> stream) {
  if (!stream || !is_cuda(device)) return;
  before_ = cuda::set_current_stream(device, *stream);
  device_ = &device;
}

StreamScope::~StreamScope() {
  if (!device_) return;
  try {
    cuda::set_current_stream(*device_, before_);
  } catch (const Error&) {  // the device has failed, so nothing can use the stream
  }
}

void wait_for(Device& device, cuda::Stream stream) {
  poll([&] { return cuda::is_done(device, stream); });
  cuda::synchronize(device, stream);  // which reports failed assertions
}

void wait_for_device(Device& device) {
  if (!is_cuda(device)) return device.synchronize();
  wait_for(device, nullptr);  // the streams that wait for one another; Ctrl-C ends it
  wait_for(device, cuda::current_stream(device));
  cuda::synchronize(device);
  check_indices(device);
}

void order_streams(Device& device, cuda::Stream earlier, cuda::Stream later) {
  if (stream_number(earlier) == stream_number(later)) return;
  const cuda::Event event = cuda::create_event(device, /*timing=*/false);
  try {
    cuda::record_event(device, event, earlier);
    cuda::wait_event(device, later, event);
  } catch (...) {
    cuda::destroy_event(device, event);
    throw;
  }
  cuda::destroy_event(device, event);
}

void finish_foreign_use(Device& device, std::optional<void*> owner) noexcept {
  if (!is_cuda(device)) return;
  const GilReleaseIfHeld release;  // arrays die with the GIL and without it
  try {
    const cuda::Stream stream = cuda::current_stream(device);
    if (stream_number(stream) == 1) {
      if (owner) order_streams(device, stream, *owner);
    } else if (!cuda::is_capturing(device, stream)) {
      poll([&] { return cuda::is_done(device, stream); });
    }
  } catch (const Error&) {  // a device that has failed uses nothing any more
  }
}

Scalar item_of(Array array) {
  if (is_host(array.device())) return array.item();
  return without_gil([&] { return array.item(); });
}

nb::object download(Array array, bool fortran) {
  // Memory that the system has to clear first would take several times as long as the copy.
  constexpr int64_t kLarge = 1 << 20;
  nb::object result;
  if (array.nbytes() >= kLarge) {
    const Array host = Array::empty((fortran ? array.transpose() : array).shape(), array.dtype(), cpu());
    result = numpy_view(to_python(fortran ? host.transpose() : host));
  } else {
    result = numpy_attribute("empty")(from_dims(array.shape()), dtype_object(array.dtype()), fortran ? "F" : "C");
  }
  copy_host(array, result, /*to_host=*/true, nb::none(), /*blocking=*/true);
  return result;
}

void bind_cuda(nb::module_& module) {
  module.def("cuda_is_available", [] {
    GilRelease release;
    return cuda::is_available();
  });
  module.def("cuda_unavailable_reason", &cuda::unavailable_reason);
  module.def("cuda_device_count", &cuda::device_count);
  module.def("cuda_driver_version", &cuda::driver_version);
  module.def("cuda_nvrtc_version", &cuda::nvrtc_version);
  module.def("cuda_properties", properties_dict);
  module.def("cuda_attribute", [](const PyDevice& device, int which) {
    GilRelease release;
    return cuda::attribute(*device.device, which);
  });
  module.def("cuda_add_package_folders", [](const std::vector<std::string>& folders) {
    cuda::add_package_folders(folders.data(), static_cast<int>(folders.size()));
  });
  module.def("cuda_copy_host", copy_host, nb::arg("array"), nb::arg("host"), nb::arg("to_host"),
             nb::arg("stream").none(), nb::arg("blocking"),
             "Copies between a GPU's array and a contiguous NumPy array of its shape and dtype.");
  bind_streams(module);
  bind_host_functions(module);
  bind_pinned(module);
}

}  // namespace iruka::python
