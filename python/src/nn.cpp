#include "iruka/nn.h"

#include <nanobind/stl/string.h>

#include "buffer_bytes.h"
#include "convert.h"
#include "device.h"
#include "model.h"
#include "nn/files/format.h"
#include "nn/files/weights.h"
#include "nn/model.h"

namespace iruka::python {

namespace {

/// What errors name.
const char* const kFunction = "nn.load";

nb::object converted(const nn::Value& value);

template <class Items>
nb::list list_of(const Items& items) {
  nb::list list;
  for (const nn::Value& item : items) list.append(converted(item));
  return list;
}

/// Python's own containers, numbers and texts; arrays are iruka.ndarray. The reader has bounded the nesting.
nb::object converted(const nn::Value& value) {
  using Kind = nn::Value::Kind;
  switch (value.kind()) {
    case Kind::none: break;
    case Kind::number: return from_scalar(value.number());
    case Kind::text: return nb::str(value.text().c_str(), value.text().size());
    case Kind::bytes: return nb::bytes(value.bytes().data(), value.bytes().size());
    case Kind::array: return to_python(Array(value.array()));
    case Kind::list: return list_of(value.values());
    case Kind::tuple: return nb::tuple(list_of(value.values()));
    case Kind::mapping: {
      nb::dict dict;
      for (const nn::Item& item : value.items()) dict[converted(item.key)] = converted(item.value);
      return dict;
    }
  }
  return nb::none();
}

/// A model of a file with a graph, else the weights.
nb::object loaded(const nn::Input& input, Device& device, Precision precision) {
  if (nn::has_graph(nn::format_of(input))) {
    return nb::cast(without_gil([&] { return nn::read_model(input, device, precision); }));
  }
  return converted(without_gil([&] { return nn::to_device(nn::read_weights(input), device); }));
}

}  // namespace

void bind_nn(nb::module_& parent) {
  nb::module_ module =
      parent.def_submodule("_nn", "Readers of files, and networks as kernels; iruka.nn gives them defaults.");
  module.def(
      "load_file",
      [](const nb::bytes& path, nb::handle device_like, const std::string& precision) {
        const std::string name(path.c_str(), path.size());  // what os.fsencode gave: it need not be UTF-8
        Device& device = to_device(device_like, "device");
        const Precision wanted = to_precision(precision, kFunction);
        return loaded(without_gil([&] { return nn::Input::from_file(kFunction, name); }), device, wanted);
      },
      nb::arg("path"), nb::arg("device").none(), nb::arg("precision"));
  module.def(
      "load_bytes",
      [](nb::handle data, nb::handle device_like, const std::string& precision, const std::string& name,
         const nb::bytes& path) {
        const std::string folder(path.c_str(), path.size());
        const BufferBytes bytes(data);
        Device& device = to_device(device_like, "device");
        const Precision wanted = to_precision(precision, kFunction);
        return loaded(without_gil([&] { return nn::Input::from_bytes(kFunction, bytes.span(), name, folder); }), device,
                      wanted);
      },
      nb::arg("data"), nb::arg("device").none(), nb::arg("precision"), nb::arg("name"), nb::arg("path"));
  bind_perceptron(module);
  bind_model(module);
}

}  // namespace iruka::python
