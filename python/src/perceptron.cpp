// Networks that become one kernel, for iruka.nn, whose modules are Python.
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "convert.h"
#include "device.h"
#include "interop.h"
#include "iruka/nn.h"
#include "model.h"
#include "points.h"

namespace iruka::python {

namespace {

using Kind = nn::Activation::Kind;

Array optional_array(nb::handle object) { return object.is_none() ? Array() : checked_array(object, "nn.Perceptron"); }

/// (kind, parameters, weight or None); the kind is its number among those of nn::Activation::Kind.
nn::Activation activation_of(nb::handle object) {
  const auto parts = nb::cast<nb::tuple>(object);
  nn::Activation activation{static_cast<Kind>(nb::cast<int>(parts[0]))};
  for (nb::handle number : parts[1]) activation.parameters.push_back(nb::cast<double>(number));
  activation.weight = optional_array(parts[2]);
  return activation;
}

/// (weight or None, bias or None, activations).
nn::DenseLayer layer_of(nb::handle object) {
  const auto parts = nb::cast<nb::tuple>(object);
  nn::DenseLayer layer{optional_array(parts[0]), optional_array(parts[1]), {}};
  for (nb::handle activation : parts[2]) layer.activations.push_back(activation_of(activation));
  return layer;
}

void construct(nb::pointer_and_handle<nn::Perceptron> self, const nb::list& list, int64_t features, nb::handle dtype,
               nb::handle device) {
  std::vector<nn::DenseLayer> layers;
  for (nb::handle layer : list) layers.push_back(layer_of(layer));
  const nn::ActivationInput input{features, to_dtype(dtype), &to_device(device, "device")};
  const GilRelease release;
  new (self.p) nn::Perceptron(std::move(layers), input);
}

nb::object map(const nn::Perceptron& network, nb::handle x, int64_t axis, nb::handle out, nb::handle progress,
               const std::string& precision) {
  return mapped(network, x, axis, out, progress, to_precision(precision, "nn.Module"));
}

nb::object function_of(const nn::Perceptron& network, const std::string& name) {
  nn::DeviceFunction function = network.as_function(name);
  return nb::make_tuple(function.preamble, function.parameter, function.declaration,
                        to_python(function.weights.read_only()));
}

}  // namespace

Array points_of(Device& device, nb::handle x) {
  if (!is_array(x.ptr()) && !is_array_like(x.ptr()))
    throw TypeError("nn: expected an array, not " + describe(x.type()));
  return as_array(x, device);
}

void bind_perceptron(nb::module_& module) {
  nb::list kinds;
  for (int kind = 0; kind <= static_cast<int>(Kind::softmax); ++kind) kinds.append(nn::name(static_cast<Kind>(kind)));
  module.attr("activations") = nb::tuple(kinds);
  nb::class_<nn::Perceptron>(module, "Perceptron", "Layers with their weights of now; iruka.nn makes them.")
      .def("__init__", construct, nb::arg("layers"), nb::arg("features"), nb::arg("dtype"), nb::arg("device").none())
      .def_prop_ro("in_features", &nn::Perceptron::in_features)
      .def_prop_ro("out_features", &nn::Perceptron::out_features)
      .def_prop_ro("dtype", [](const nn::Perceptron& network) { return dtype_object(network.dtype()); })
      .def_prop_ro("is_one_kernel", &nn::Perceptron::is_one_kernel)
      .def_prop_ro("device", [](const nn::Perceptron& network) { return PyDevice{&network.device()}; })
      .def("map", map, nb::arg("x"), nb::arg("axis"), nb::arg("out").none(), nb::arg("progress").none(),
           nb::arg("precision"))
      .def("as_function", function_of, nb::arg("name"))
      .def(
          "report",
          [](const nn::Perceptron& network, nb::handle x, int64_t axis) {
            const Array points = points_of(network.device(), x);
            return without_gil([&] { return network.report(points, axis); });
          },
          nb::arg("x"), nb::arg("axis"))
      .def(
          "source",
          [](const nn::Perceptron& network, nb::handle x, int64_t axis) {
            const Array points = points_of(network.device(), x);
            return without_gil([&] { return network.source(points, axis); });
          },
          nb::arg("x"), nb::arg("axis"));
}

}  // namespace iruka::python
