#include "model.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "buffer_bytes.h"
#include "convert.h"
#include "device.h"
#include "interop.h"
#include "iruka/nn.h"
#include "nn/model.h"
#include "points.h"

namespace iruka::python {

namespace {

std::vector<Array> arrays_of(const nn::Model& model, const nb::list& inputs) {
  std::vector<Array> arrays;
  size_t place = 0;
  for (nb::handle input : inputs) {
    if (!is_array(input.ptr()) && !is_array_like(input.ptr())) {
      const std::string name = place < model.inputs().size() ? " '" + model.inputs()[place].name + "'" : "";
      throw TypeError("nn.Model: input" + name + " must be an array, not " + describe(input.type()));
    }
    arrays.push_back(as_array(input, model.device()));
    ++place;
  }
  return arrays;
}

nb::tuple tensor_tuple(std::span<const nn::ModelTensor> tensors) {
  nb::list list;
  for (const nn::ModelTensor& tensor : tensors) {
    nb::object shape = nb::none();
    if (tensor.shape) {
      nb::list extents;
      for (const auto& extent : *tensor.shape) {
        if (!extent.symbol.empty()) {
          extents.append(nb::str(extent.symbol.c_str(), extent.symbol.size()));
        } else if (extent.value >= 0) {
          extents.append(extent.value);
        } else {
          extents.append(nb::none());
        }
      }
      shape = nb::tuple(extents);
    }
    list.append(nb::make_tuple(nb::str(tensor.name.c_str(), tensor.name.size()),
                               tensor.dtype ? dtype_object(*tensor.dtype) : nb::none(), shape));
  }
  return nb::tuple(list);
}

nb::list run(const nn::Model& model, const nb::list& inputs) {
  const std::vector<Array> arrays = arrays_of(model, inputs);
  nb::list list;
  for (Array& output : without_gil([&] { return model.run(arrays); })) list.append(to_python(std::move(output)));
  return list;
}

nb::list report(const nn::Model& model, const nb::list& inputs) {
  const std::vector<Array> arrays = arrays_of(model, inputs);
  nb::list list;
  for (const nn::ModelStep& step : without_gil([&] { return model.report(arrays); })) {
    list.append(nb::make_tuple(step.name, step.op, step.device, dtype_object(step.dtype), from_dims(step.shape),
                               step.first_ms, step.warm_ms));
  }
  return list;
}

nn::Attribute attribute_of(nb::handle value) {
  if (nb::isinstance<nb::int_>(value)) return nb::cast<int64_t>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  const auto list = nb::cast<nb::list>(nb::list(value));
  if (nb::len(list) > 0 && nb::isinstance<nb::str>(list[0])) return nb::cast<std::vector<std::string>>(list);
  if (nb::len(list) > 0 && nb::isinstance<nb::float_>(list[0])) return nb::cast<std::vector<double>>(list);
  return nb::cast<std::vector<int64_t>>(list);
}

/// A model of nodes (operator, domain, inputs, outputs, attributes) and arrays by name.
nn::Model made(const nb::list& nodes, const nb::dict& arrays, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, nb::handle device, const std::string& precision) {
  nn::Graph graph;
  for (const std::string& name : inputs) graph.inputs.push_back({name, {}, {}});
  for (const std::string& name : outputs) graph.outputs.push_back({name, {}, {}});
  for (const auto& [name, array] : arrays) {
    graph.initializers[nb::cast<std::string>(name)] = checked_array(array, "nn.Module").to_device(cpu());
  }
  for (nb::handle node : nodes) {
    const auto parts = nb::cast<nb::tuple>(node);
    nn::Node& made = graph.nodes.emplace_back();
    made.op = nb::cast<std::string>(parts[0]), made.domain = nb::cast<std::string>(parts[1]);
    made.inputs = nb::cast<std::vector<std::string>>(parts[2]);
    made.outputs = nb::cast<std::vector<std::string>>(parts[3]);
    for (const auto& [name, value] : nb::cast<nb::dict>(parts[4])) {
      made.attributes[nb::cast<std::string>(name)] = attribute_of(value);
    }
  }
  Device& place = to_device(device, "device");
  const Precision wanted = to_precision(precision, "nn.Module");
  return without_gil([&] { return nn::model_of(std::move(graph), place, wanted, "nn.Module"); });
}

constexpr const char* kPrecisions[] = {"float32", "tf32"};  // in the order of Precision

}  // namespace

Precision to_precision(const std::string& name, const char* function) {
  const auto found = std::ranges::find(kPrecisions, name);
  if (found == std::end(kPrecisions))
    throw ValueError(std::string(function) + ": precision must be 'float32' or 'tf32', not '" + name + "'");
  return static_cast<Precision>(found - std::begin(kPrecisions));
}

void bind_model(nb::module_& module) {
  nb::class_<nn::Model>(module, "Model", "A graph of operators on a device; iruka.nn.Model takes arguments by name.")
      .def_prop_ro("inputs", [](const nn::Model& model) { return tensor_tuple(model.inputs()); })
      .def_prop_ro("outputs", [](const nn::Model& model) { return tensor_tuple(model.outputs()); })
      .def_prop_ro("device", [](const nn::Model& model) { return PyDevice{&model.device()}; })
      .def_prop_ro("precision",
                   [](const nn::Model& model) { return kPrecisions[static_cast<size_t>(model.precision())]; })
      .def_prop_ro("note", &nn::Model::note)
      .def_prop_ro("perceptron",
                   [](const nn::Model& model) {
                     const nn::Perceptron* const network = model.perceptron();
                     return network ? nb::cast(*network) : nb::none();
                   })
      .def("run", run, nb::arg("inputs"))
      .def(
          "map",
          [](const nn::Model& model, nb::handle x, int64_t axis, nb::handle out, nb::handle progress) {
            return mapped(model, x, axis, out, progress, model.precision());
          },
          nb::arg("x"), nb::arg("axis"), nb::arg("out").none(), nb::arg("progress").none())
      .def("report", report, nb::arg("inputs"))
      .def("table", &nn::Model::to_string);
  module.def("model", made, nb::arg("nodes"), nb::arg("arrays"), nb::arg("inputs"), nb::arg("outputs"),
             nb::arg("device").none(), nb::arg("precision"));
}

}  // namespace iruka::python
