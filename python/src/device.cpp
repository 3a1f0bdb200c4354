#include "device.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace iruka::python {

namespace {

/// The number after the colon of "cuda:1"; 0 for the CPU.
int device_id(const PyDevice& self) {
  const std::string& name = device_name(*self.device);
  size_t colon = name.find(':');
  return colon == std::string::npos ? 0 : std::stoi(name.substr(colon + 1));
}

std::string device_text(const PyDevice& self) {
  std::string name = device_name(*self.device);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  std::replace(name.begin(), name.end(), ':', ' ');
  size_t space = name.find(' ');
  return "<" +
         (space == std::string::npos ? name + " Device" : name.substr(0, space) + " Device" + name.substr(space)) + ">";
}

}  // namespace

void bind_device(nb::module_& module) {
  nb::class_<PyDevice>(module, "Device", "A place that holds arrays and runs kernels; iruka.device('cpu') gives one.")
      .def_prop_ro("id", device_id, "Number of the device among those of its kind.")
      .def_prop_ro(
          "name", [](const PyDevice& self) { return device_name(*self.device); }, "'cpu', 'cuda:0'...")
      .def("__repr__", device_text)
      .def(
          "__eq__",
          [](const PyDevice& self, nb::handle other) {
            return nb::isinstance<PyDevice>(other) && nb::cast<const PyDevice&>(other).device == self.device;
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const PyDevice& self) { return reinterpret_cast<Py_ssize_t>(self.device) >> 4; });
  module.def(
      "device", [](const std::string& name) { return PyDevice{&device(name)}; }, nb::arg("name"),
      "The device of that name. Raises iruka.errors.DeviceError that says what is missing.");
  module.def(
      "default_device", [] { return PyDevice{&default_device()}; },
      "Where arrays are made unless a call says otherwise (the environment's IRUKA_DEVICE, else the CPU).");
  module.def("get_num_threads", &thread_count, "Threads that run CPU kernels, the caller included.");
  module.def("set_num_threads", &set_thread_count, nb::arg("count"),
             "Sets how many threads run CPU kernels. Raises ValueError for less than 1.");
}

}  // namespace iruka::python
