#include "device.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <vector>

#include "cuda.h"

namespace iruka::python {

namespace {

int device_id(const PyDevice& self) { return std::max(cuda::device_index(*self.device), 0); }

std::string device_text(const PyDevice& self) {
  const int index = cuda::device_index(*self.device);
  return index < 0 ? "<CPU Device>" : "<CUDA Device " + std::to_string(index) + ">";
}

/// What the calling thread's `with` statements are to bring back, innermost last.
std::vector<Device*>& earlier_devices() {
  static thread_local std::vector<Device*> devices;
  return devices;
}

std::string compute_capability(const PyDevice& self) {
  const cuda::DeviceProperties found = properties_of(self);
  return std::to_string(found.compute_major) + std::to_string(found.compute_minor);
}

nb::tuple mem_info(const PyDevice& self) {
  const cuda::DeviceProperties found = properties_of(self);
  return nb::make_tuple(found.free_bytes, found.total_bytes);
}

void bind_scopes(nb::class_<PyDevice>& type) {
  type.def(
          "__enter__",
          [](nb::handle self) {
            earlier_devices().push_back(set_default_device(instance_of<PyDevice>(self.ptr()).device));
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> Device"), "Arrays are made on this device until the `with` statement ends.")
      .def(
          "__exit__",
          [](const PyDevice&, nb::args) {
            std::vector<Device*>& earlier = earlier_devices();
            if (earlier.empty()) throw DeviceError("Device: left more often than entered");
            set_default_device(earlier.back());
            earlier.pop_back();
          },
          nb::sig("def __exit__(self, *exception) -> None"))
      .def(
          "use", [](const PyDevice& self) { set_default_device(self.device); },
          "Makes this the calling thread's default device.");
}

}  // namespace

cuda::DeviceProperties properties_of(const PyDevice& device) {
  GilRelease release;
  return cuda::properties(*device.device);
}

Device& to_device(nb::handle object, const char* what) {
  if (object.is_none()) return default_device();
  if (nb::isinstance<PyDevice>(object)) return *instance_of<PyDevice>(object.ptr()).device;
  if (nb::isinstance<nb::str>(object)) return device(to_text(object, what));
  if (PyIndex_Check(object.ptr()) && !PyBool_Check(object.ptr()))
    return device("cuda:" + std::to_string(to_int64(object, what)));
  throw TypeError(std::string(what) + " must be a Device, a name as 'cpu' or 'cuda:0', or a GPU's number, not " +
                  describe(object));
}

void bind_device(nb::module_& module) {
  nb::class_<PyDevice> type(
      module, "Device",
      "A place that holds arrays and runs kernels: Device(0) is the first GPU, Device('cpu') the CPU, Device() the "
      "default device. In a `with` statement the default device of the calling thread. Raises DeviceError that says "
      "what is missing.");
  type.def(
          "__init__",
          [](PyDevice* self, nb::handle device) { new (self) PyDevice{&to_device(device, "Device: device")}; },
          nb::arg("device") = nb::none(),
          nb::sig("def __init__(self, device: int | str | Device | None = None) -> None"))
      .def_prop_ro("id", device_id, "Number of the device among those of its kind.")
      .def_prop_ro(
          "name", [](const PyDevice& self) { return device_name(*self.device); }, "'cpu', 'cuda:0'...")
      .def(
          "synchronize",
          [](const PyDevice& self) {
            GilRelease release;
            wait_for_device(*self.device);
          },
          "Waits until all work of the device is done.")
      .def_prop_ro("compute_capability", compute_capability, "Of a GPU, for example '90' for 9.0.")
      .def_prop_ro("mem_info", mem_info, nb::sig("def mem_info(self) -> tuple[int, int]"),
                   "The free and the total memory of a GPU, in bytes.")
      .def_prop_ro(
          "pci_bus_id", [](const PyDevice& self) { return properties_of(self).pci_bus_id; },
          "Of a GPU, for example '0000:1B:00.0'.")
      .def_prop_ro(
          "attributes",
          [](nb::handle self) { return package_attribute("iruka.cuda.runtime", "device_attributes")(self); },
          nb::sig("def attributes(self) -> dict[str, int]"), "The driver's attributes of a GPU, by CUDA's names.")
      .def("__repr__", device_text)
      .def(
          "__eq__",
          [](const PyDevice& self, nb::handle other) {
            return nb::isinstance<PyDevice>(other) && nb::cast<const PyDevice&>(other).device == self.device;
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def(
          "__reduce__", [](nb::handle self) { return nb::make_tuple(self.type(), nb::make_tuple(self.attr("name"))); },
          nb::sig("def __reduce__(self) -> tuple"))
      .def("__hash__", [](const PyDevice& self) { return reinterpret_cast<Py_ssize_t>(self.device) >> 4; });
  bind_scopes(type);
  module.def(
      "device", [](nb::handle name) { return PyDevice{&to_device(name, "device: name")}; }, nb::arg("name"),
      nb::sig("def device(name: str | int | Device) -> Device"),
      "The device of that name. Raises iruka.errors.DeviceError that says what is missing.");
  module.def(
      "default_device", [] { return PyDevice{&default_device()}; },
      "Where arrays are made unless a call says otherwise: what `with` statements and Device.use() chose, else the "
      "environment's IRUKA_DEVICE, else the first GPU if there is one, else the CPU.");
  module.def("get_num_threads", &thread_count, "Threads that run CPU kernels, the caller included.");
  module.def("set_num_threads", &set_thread_count, nb::arg("count"),
             "Sets how many threads run CPU kernels. Raises ValueError for less than 1.");
}

}  // namespace iruka::python
