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
  const std::optional<StreamHandle> stream = to_stream(stream_object);
  void* const pinned = blocking ? nullptr : pinned_owner(numpy);
  GilRelease release;
  Device& device = gpu.device();
  std::optional<StreamScope> scope;
  if (stream) scope.emplace(device, *stream);
  const Stream current = Stream::current(device);
  Array dense = gpu;
  if (host.is_f_contiguous() && !host.is_c_contiguous()) {
    host = host.transpose();
    dense = dense.transpose();
  }
  if (!host.is_c_contiguous()) throw ValueError("the NumPy array must be contiguous");
  const auto bytes = static_cast<size_t>(host.nbytes());
  if (to_host) {
    dense = dense.contiguous();
    if (blocking) wait_for(current);  // so that Ctrl-C ends a wait for kernels
    device.copy(host.data(), dense.data(), bytes);
  } else {
    device.copy(dense.data(), host.data(), bytes);
  }
  if (pinned) cuda::record_pinned_use(pinned, current);
  if (blocking) wait_for(current);
  if (to_host && blocking) check_indices(device);
}

/// What a Python object owns of a GPU: its end may wait for the GPU, which may wait for a function in Python, so that
/// it ends without the GIL.
template <class T>
struct Owned {
  std::optional<T> value;
  explicit Owned(T owned) : value(std::move(owned)) {}
  ~Owned() {
    const GilReleaseIfHeld release;
    value.reset();
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};

template <class T>
nb::class_<Owned<T>> bind_owned(nb::module_& module, const char* name, const char* documentation) {
  return nb::class_<Owned<T>>(module, name, documentation)
      .def_prop_ro(
          "ptr", [](const Owned<T>& owned) { return handle_of(owned.value->handle()); }, "The driver's handle.");
}

Stream stream_of(const PyDevice& device, uintptr_t number) {
  return Stream::foreign(*device.device, stream_from(number));
}
Event event_of(const PyDevice& device, uintptr_t handle) { return Event::foreign(*device.device, pointer_of(handle)); }

void bind_owners(nb::module_& module) {
  bind_owned<Stream>(module, "CudaStream", "A stream of a GPU, destroyed after its work.")
      .def(
          "__init__",
          [](Owned<Stream>* self, const PyDevice& device, bool non_blocking, int priority) {
            GilRelease release;
            new (self) Owned<Stream>(Stream(*device.device, {non_blocking, priority}));
          },
          nb::arg("device"), nb::arg("non_blocking"), nb::arg("priority"));
  bind_owned<Event>(module, "CudaEvent", "An event of a GPU.")
      .def(
          "__init__",
          [](Owned<Event>* self, const PyDevice& device, bool timing, bool blocking) {
            GilRelease release;
            new (self) Owned<Event>(Event(*device.device, {timing, blocking}));
          },
          nb::arg("device"), nb::arg("timing"), nb::arg("blocking"));
  bind_owned<cuda::Graph>(module, "CudaGraph", "Captured work of a GPU.")
      .def(
          "launch",
          [](const Owned<cuda::Graph>& graph, uintptr_t stream) {
            GilRelease release;
            graph.value->launch(Stream::foreign(graph.value->device(), stream_from(stream)));
          },
          nb::arg("stream"), "Does the work in a stream of its GPU.");
}

void bind_streams(nb::module_& module) {
  bind_owners(module);
  module.def("cuda_synchronize", [](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    wait_for(stream_of(device, stream));
  });
  module.def("cuda_is_done", [](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return stream_of(device, stream).is_done();
  });
  module.def("cuda_is_non_blocking", [](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return cuda::is_non_blocking(stream_of(device, stream));
  });
  module.def("cuda_current_stream", [](const PyDevice& device) { return handle_of(device.device->current_stream()); });
  module.def("cuda_set_current_stream", [](const PyDevice& device, nb::handle stream) {
    return handle_of(device.device->exchange_stream(to_stream(stream).value_or(nullptr)));
  });
  module.def("cuda_record_event", [](const PyDevice& device, uintptr_t event, uintptr_t stream) {
    GilRelease release;
    event_of(device, event).record(stream_of(device, stream));
  });
  module.def("cuda_is_event_done", [](const PyDevice& device, uintptr_t event) {
    GilRelease release;
    return event_of(device, event).is_done();
  });
  module.def("cuda_synchronize_event", [](const PyDevice& device, uintptr_t event) {
    GilRelease release;
    poll([&] { return event_of(device, event).is_done(); });
  });
  module.def("cuda_wait_event", [](const PyDevice& device, uintptr_t stream, uintptr_t event) {
    GilRelease release;
    stream_of(device, stream).wait_for(event_of(device, event));
  });
  module.def("cuda_elapsed_milliseconds", [](const PyDevice& device, uintptr_t begin, uintptr_t end) {
    GilRelease release;
    return elapsed_milliseconds(event_of(device, begin), event_of(device, end));
  });
  module.def("cuda_begin_capture", [](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    cuda::begin_capture(stream_of(device, stream));
  });
  module.def(
      "cuda_end_capture",
      [](const PyDevice& device, uintptr_t stream) {
        GilRelease release;
        return new Owned<cuda::Graph>(cuda::end_capture(stream_of(device, stream)));
      },
      nb::rv_policy::take_ownership);
  module.def("cuda_cancel_capture", [](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    cuda::cancel_capture(stream_of(device, stream));
  });
  module.def("cuda_is_capturing", [](const PyDevice& device, uintptr_t stream) {
    GilRelease release;
    return cuda::is_capturing(stream_of(device, stream));
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

std::optional<StreamHandle> to_stream(nb::handle object) {
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

uintptr_t stream_number(StreamHandle stream) { return stream ? handle_of(stream) : 1; }

void wait_for(const Stream& stream) {
  poll([&] { return stream.is_done(); });
  stream.synchronize();  // which reports failed assertions
}

void wait_for_device(Device& device) {
  if (!is_cuda(device)) return device.synchronize();
  wait_for(Stream::default_of(device));  // the streams that wait for one another; Ctrl-C ends it
  wait_for(Stream::current(device));
  device.synchronize();
  check_indices(device);
}

void order_streams(Device& device, StreamHandle earlier, StreamHandle later) {
  if (stream_number(earlier) == stream_number(later)) return;
  Stream::foreign(device, later).wait_for(Stream::foreign(device, earlier));
}

void finish_foreign_use(Device& device, std::optional<StreamHandle> owner) noexcept {
  if (!is_cuda(device)) return;
  const GilReleaseIfHeld release;  // arrays die with the GIL and without it
  try {
    const Stream stream = Stream::current(device);
    if (stream_number(stream.handle()) == 1) {
      if (owner) order_streams(device, stream.handle(), *owner);
    } else if (!cuda::is_capturing(stream)) {
      poll([&] { return stream.is_done(); });
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
