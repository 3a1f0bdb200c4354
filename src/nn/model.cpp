#include "nn/model.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "core/device.h"
#include "core/precision.h"
#include "nn/call_cache.h"
#include "nn/channels_last.h"
#include "nn/files/graph_file.h"
#include "nn/fusion.h"
#include "nn/graph_perceptron.h"
#include "nn/library_convolution.h"
#include "nn/point_function.h"
#include "nn/program.h"
#include "nn/simplify.h"

namespace iruka::nn {

namespace {

/// The rows that a model is given: their features and dtype, and what it makes of each.
struct RowKind {
  int64_t features;
  Dtype dtype;
  bool operator==(const RowKind&) const = default;
};
struct RowOutput {
  int64_t features;
  Dtype dtype;
};

}  // namespace

struct Model::State {
  State(const Graph& graph, Device& device, Precision wanted)
      : program(graph, graph.opsets, device), precision(wanted) {
    program.collect_constants(constants);
  }

  Program program;
  Precision precision;
  std::optional<Perceptron> perceptron;  ///< what the graph is; runs in its place
  std::set<const Buffer*> constants;     ///< which no output may share
  std::vector<ModelTensor> inputs, outputs;
  mutable CallCache<RowKind, RowOutput> rows;  ///< that map() found by a run, where the graph does not say them

  /// The perceptron's outputs in the model's precision.
  Array run_perceptron(const Array& x) const { return perceptron->map(x, -1, {.precision = precision}); }
};

namespace {

ModelTensor tensor_of(const TensorInfo& info) {
  ModelTensor tensor{info.name, info.dtype};
  if (!info.shape) return tensor;
  tensor.shape.emplace();
  for (const Extent& extent : *info.shape) tensor.shape->push_back({extent.value, extent.symbol});
  return tensor;
}

std::string shape_text(const std::vector<ModelTensor::Extent>& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); ++k) {
    const ModelTensor::Extent& extent = shape[k];
    text += (k ? ", " : "") + (!extent.symbol.empty() ? extent.symbol
                               : extent.value < 0     ? "?"
                                                      : std::to_string(extent.value));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

constexpr const char* kFixedBatch =
    "the file has a fixed number of them: export the network with dynamic_axes={'input': {0: 'batch'}}"
    " (torch.onnx.export) or dynamic_shapes (torch.export)";

/// Checks arrays against what a model declares. A symbol is the extent at its first place.
class InputCheck {
 public:
  void check(const ModelTensor& wanted, const Array& given, const Device& device) {
    if (!given.valid()) throw TypeError(label(wanted) + " is no array");
    if (wanted.dtype && given.dtype() != *wanted.dtype) {
      throw TypeError(label(wanted) + " must be " + name(*wanted.dtype) + ", but is " + name(given.dtype()) +
                      "; x.astype('" + name(*wanted.dtype) + "') casts an array");
    }
    if (&given.device() != &device) {
      throw ValueError(label(wanted) + " is on " + given.device().name() + ", but the model is on " + device.name());
    }
    if (!wanted.shape) return;
    if (given.ndim() != static_cast<int>(wanted.shape->size())) refuse(wanted, given, missing_axis(wanted, given));
    for (int axis = 0; axis < given.ndim(); ++axis) {
      const ModelTensor::Extent& extent = (*wanted.shape)[static_cast<size_t>(axis)];
      if (extent.value >= 0 && extent.value != given.shape(axis))
        refuse(wanted, given, axis == 0 && given.ndim() > 1 ? "; " + std::string(kFixedBatch) : "");
      if (extent.symbol.empty()) continue;
      const auto [place, is_new] = symbols_.try_emplace(extent.symbol, given.shape(axis), wanted.name);
      if (place->second.first == given.shape(axis)) continue;
      refuse(wanted, given,
             ", and " + extent.symbol + " is " + std::to_string(place->second.first) + " in " +
                 in_quotes(place->second.second));
    }
  }

 private:
  /// What to do where an axis in front is missing: a point where a batch is wanted, as NumPy's apply_along_axis gives.
  static std::string missing_axis(const ModelTensor& wanted, const Array& given) {
    const size_t axes = wanted.shape->size();
    if (static_cast<size_t>(given.ndim()) + 1 != axes) return "";
    return "; x[None] is a batch of one" +
           std::string(axes != 2 ? ""
                                 : ", and all points of an array are model.map(a, axis), or"
                                   " numpy.apply_along_axis(model, axis, a) where a is an array of Iruka");
  }
  static std::string label(const ModelTensor& wanted) { return "nn.Model: input " + in_quotes(wanted.name); }
  [[noreturn]] static void refuse(const ModelTensor& wanted, const Array& given, const std::string& why) {
    throw ShapeError(label(wanted) + " must have shape " + shape_text(*wanted.shape) + ", but has " +
                     to_string(given.shape()) + why);
  }

  std::map<std::string, std::pair<int64_t, std::string>> symbols_;
};

std::vector<Array> checked(const Model::State& state, std::span<const Array> inputs) {
  if (inputs.size() != state.inputs.size()) {
    std::string names;
    for (const ModelTensor& tensor : state.inputs) names += (names.empty() ? "" : ", ") + tensor.name;
    throw TypeError("nn.Model: it takes " + std::to_string(state.inputs.size()) + " inputs (" + names + "), not " +
                    std::to_string(inputs.size()));
  }
  InputCheck check;
  for (size_t k = 0; k < inputs.size(); ++k) check.check(state.inputs[k], inputs[k], state.program.device());
  return {inputs.begin(), inputs.end()};
}

/// Outputs are arrays of their own: in C order, and no views of inputs, constants or each other.
std::vector<Array> own_outputs(const Model::State& state, std::span<const Array> inputs, std::vector<Array> outputs) {
  std::set<const Buffer*> taken;
  for (const Array& input : inputs) taken.insert(input.buffer().get());
  for (Array& output : outputs) {
    if (!output.valid()) throw ValueError("nn.Model: a node leaves out what is an output of the model");
    output = output.to_device(state.program.device());
    const bool is_own = output.is_c_contiguous() && output.writable() && !output.buffer()->foreign() &&
                        output.buffer()->bytes() <= 2 * static_cast<size_t>(output.nbytes()) + 256;
    const bool is_constant = state.constants.contains(output.buffer().get());
    if (!taken.insert(output.buffer().get()).second || is_constant || !is_own)
      output = is_taken_channels_last(output) ? in_c_order(output) : output.copy();
  }
  return outputs;
}

/// "Conv 3x3", "Bias+Relu".
std::string op_text(const Graph& graph, const Node& node) {
  const auto shortened = [](std::string text) {
    for (const char* own : {kScaleShift, kShift}) {
      for (size_t at = text.find(own); at != std::string::npos; at = text.find(own))
        text.replace(at, std::string(own).size(), own == kShift ? kBias : "Scale");
    }
    return text;
  };
  if (is_fused(node)) return shortened(node.name);
  const auto* given = find_attribute<std::vector<int64_t>>(node, "kernel_shape");
  std::vector<int64_t> kernel = given ? *given : std::vector<int64_t>();
  const bool is_joined = is_library_convolution(node);
  if (kernel.empty() && (is_joined || node.op.starts_with("Conv")) && node.inputs.size() > 1) {
    const auto weight = graph.initializers.find(node.inputs[1]);
    if (weight != graph.initializers.end() && weight->second.ndim() > 2) {
      kernel.assign(weight->second.shape().begin() + 2, weight->second.shape().end());
    }
  }
  std::string text = is_joined ? "Conv" : node.op;
  for (size_t k = 0; k < kernel.size(); ++k) text += (k ? "x" : " ") + std::to_string(kernel[k]);
  return is_joined ? text + shortened(library_convolution_text(node)) : text;
}

std::string table_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t k = 0; k < row.size(); ++k) {
      const std::string space(widths[k] - row[k].size(), ' ');
      line += " " + (k + 1 == row.size() ? space + row[k] : row[k] + space) + (k + 1 == row.size() ? "" : " ");
    }
    text += "\n" + line;
  }
  return text;
}

/// "cpu", "tensor cores of cuda:0".
std::string perceptron_place(const Model::State& state) {
  const std::string device = state.program.device().name();
  return state.perceptron->uses_tensor_cores(state.precision) ? "tensor cores of " + device : device;
}

/// The one step of a model that is a perceptron.
std::vector<ModelStep> report_of(const Model::State& state, const Array& x) {
  const Graph& graph = state.program.graph();
  std::string operators;
  for (const Node& node : graph.nodes) operators += (operators.empty() ? "" : "+") + op_text(graph, node);
  double times[2];
  Array y;
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    y = state.run_perceptron(x);
    y.device().synchronize();
    time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  return {{graph.outputs[0].name, operators, perceptron_place(state), y.dtype(), y.shape(), times[0], times[1]}};
}

bool has_fixed_batch(const Model::State& state) {
  const auto& shape = state.inputs.empty() ? std::nullopt : state.inputs[0].shape;
  return state.inputs.size() == 1 && shape && shape->size() == 2 && (*shape)[0].value >= 0;
}

/// Raises ValueError for a model that is no function of the rows of a batch, as far as its shapes say.
void check_maps_points(const Model::State& state) {
  const auto is_batch = [](const std::vector<ModelTensor>& tensors, bool must_be_known) {
    if (tensors.size() != 1) return false;
    const auto& shape = tensors[0].shape;
    return shape ? shape->size() == 2 && (*shape)[0].value < 0 : !must_be_known;
  };
  if (is_batch(state.inputs, true) && is_batch(state.outputs, false)) return;
  const auto listed = [](const std::vector<ModelTensor>& tensors) {
    std::string text;
    for (const ModelTensor& tensor : tensors) text += (text.empty() ? "" : ", ") + tensor.to_string();
    return text;
  };
  throw ValueError("nn.Model.map: the model must make (batch, outputs) of (batch, features) for any batch, but makes " +
                   listed(state.outputs) + " of " + listed(state.inputs) +
                   (has_fixed_batch(state) ? "; " + std::string(kFixedBatch) : ""));
}

/// The largest extent of the constants, about which the values between are as wide.
int64_t widest_extent(const Graph& graph) {
  int64_t widest = 1;
  for (const auto& [name, array] : graph.initializers) {
    for (int64_t extent : array.shape()) widest = std::max(widest, extent);
  }
  return widest;
}

PointFunction point_function(const Model& model, const Model::State& state, const Array& x, int64_t axis) {
  constexpr int64_t kBytesAtOnce = int64_t{64} << 20;
  check_maps_points(state);
  const ModelTensor &input = state.inputs[0], &output = state.outputs[0];
  const Dtype dtype = input.dtype.value_or(x.dtype());
  PointFunction function{"nn.Model.map", (*input.shape)[1].value, -1, dtype, &model.device(), 1, {}};
  if (function.in_features < 0 && x.ndim() > 0)
    function.in_features = x.shape(normalize_axis(function.name, axis, x.ndim()));
  const auto run = [&model, dtype, features = function.in_features](const Array& points, int64_t rows) {
    const bool is_cast = is_inexact(dtype) && !is_complex(dtype);
    return model((is_cast ? points.astype(dtype, false) : points).reshape({rows, features}));
  };
  if (output.shape) function.out_features = (*output.shape)[1].value;
  function.dtype = output.dtype.value_or(dtype);
  if (function.out_features < 0 || !output.dtype) {
    features_axis(function, x, axis);  // before anything runs
    const RowOutput& row = state.rows.get({function.in_features, dtype}, [&] {
      Array one = Array::empty({1, function.in_features}, dtype, model.device());
      one.fill(0);
      const Array result = run(one, 1);
      if (result.ndim() != 2 || result.shape(0) != 1)
        throw ValueError("nn.Model.map: the model must make one row of outputs of each row, but makes shape " +
                         to_string(result.shape()) + " of shape " + to_string(one.shape()));
      return RowOutput{result.shape(1), result.dtype()};
    });
    function.out_features = row.features, function.dtype = row.dtype;
  }
  if (function.in_features == 0 || function.out_features == 0)
    throw ValueError("nn.Model.map: the model makes " + std::to_string(function.out_features) + " outputs of " +
                     std::to_string(function.in_features) + " features; there must be some of both");
  function.points_at_once = std::max<int64_t>(1, kBytesAtOnce / (8 * widest_extent(state.program.graph())));
  function.run = [run, outputs = function.out_features](const Array& points, Array results) {
    const int64_t rows = results.size() / outputs;
    const Array made = run(points, rows);
    if (made.shape() != Dims{rows, outputs})
      throw ValueError("nn.Model.map: the model must make shape " + to_string(Dims{rows, outputs}) + " of " +
                       std::to_string(rows) + " points, but makes " + to_string(made.shape()));
    results.assign(made.reshape(results.shape()));
  };
  return function;
}

}  // namespace

std::string ModelTensor::to_string() const {
  return std::string(dtype ? iruka::name(*dtype) : "any dtype") + " " + (shape ? shape_text(*shape) : "(...)");
}

std::span<const ModelTensor> Model::inputs() const { return state_->inputs; }
std::span<const ModelTensor> Model::outputs() const { return state_->outputs; }
Device& Model::device() const { return state_->program.device(); }

Precision Model::precision() const { return state_->precision; }

std::string Model::note() const { return library_convolution_note(state_->program.graph(), device()); }

const Perceptron* Model::perceptron() const { return state_->perceptron ? &*state_->perceptron : nullptr; }

std::vector<Array> Model::run(std::span<const Array> inputs) const {
  const PrecisionScope scope(state_->precision);
  if (state_->perceptron) return {state_->run_perceptron(checked(*state_, inputs)[0])};
  return own_outputs(*state_, inputs, state_->program.run(checked(*state_, inputs)));
}

Array Model::map(const Array& x, int64_t axis, const MapOptions& options) const {
  if (const Perceptron* const network = perceptron()) {
    MapOptions of_model = options;
    of_model.precision = state_->precision;
    return network->map(x, axis, of_model);
  }
  return map_points(point_function(*this, *state_, x, axis), x, axis, options);
}

std::vector<ModelStep> Model::report(std::span<const Array> inputs) const {
  std::vector<ModelStep> steps;
  size_t warm = 0;
  const StepListener first = [&](const StepTime& step) {
    const std::string name = step.node->outputs.empty() ? step.node->name : step.node->outputs[0];
    steps.push_back({name, op_text(state_->program.graph(), *step.node), step.device->name(), step.dtype, step.shape,
                     step.milliseconds, 0});
  };
  const StepListener second = [&](const StepTime& step) { steps[warm++].warm_ms = step.milliseconds; };
  const std::vector<Array> arrays = checked(*state_, inputs);
  const PrecisionScope scope(state_->precision);
  if (state_->perceptron) return report_of(*state_, arrays[0]);
  state_->program.run(arrays, &first);
  state_->program.run(arrays, &second);
  return steps;
}

std::string Model::to_string() const {
  const Graph& graph = state_->program.graph();
  std::map<std::string, std::string> shapes;
  for (const auto* list : {&graph.values, &graph.outputs, &graph.inputs}) {
    for (const TensorInfo& info : *list) shapes[info.name] = tensor_of(info).to_string();
  }
  std::vector<std::vector<std::string>> rows{{"name", "operators", "output", "parameters"}};
  for (const TensorInfo& input : graph.inputs) rows.push_back({input.name, "input", shapes[input.name], "0"});
  int64_t total = 0;
  std::set<std::string> counted;
  for (const Node& node : graph.nodes) {
    int64_t parameters = 0;
    for (const std::string& input : node.inputs) {
      if (is_library_convolution(node) && &input == &node.inputs[2]) continue;  // the same numbers again
      const auto found = graph.initializers.find(input);
      if (found != graph.initializers.end() && is_inexact(found->second.dtype()) && counted.insert(input).second)
        parameters += found->second.size();
    }
    total += parameters;
    const std::string name = node.outputs.empty() ? node.name : node.outputs[0];
    rows.push_back({name, op_text(graph, node), shapes.contains(name) ? shapes[name] : "", std::to_string(parameters)});
  }
  const std::string where = perceptron() ? "one kernel on " + perceptron_place(*state_) : "on " + device().name();
  rows.push_back({"", where, "", std::to_string(total)});
  const std::string problem = note();
  return (graph.name.empty() ? "Model" : "Model " + graph.name) + table_of(rows) +
         (problem.empty() ? "" : "\n  " + problem);
}

Model model_of(Graph graph, Device& device, Precision precision, const std::string& where) {
  if (graph.outputs.empty()) throw ValueError(where + ": the graph has no outputs");
  graph = simplified(std::move(graph), where);
  std::optional<Perceptron> perceptron = perceptron_of(graph, device);
  join_pointwise(graph);
  use_library_convolutions(graph, device, precision);
  auto state = std::make_shared<Model::State>(graph, device, precision);
  state->perceptron = std::move(perceptron);
  for (const TensorInfo& input : state->program.graph().inputs) state->inputs.push_back(tensor_of(input));
  for (const TensorInfo& output : state->program.graph().outputs) state->outputs.push_back(tensor_of(output));
  return Model(std::move(state));
}

Model read_model(const Input& input, Device& device, Precision precision) {
  return model_of(read_graph(input), device, precision, input.where());
}

Model load_model(const std::string& path, Device* device, Precision precision) {
  return model_of(load_graph("load_model", path), device ? *device : default_device(), precision, "load_model");
}
Model load_model(std::span<const uint8_t> bytes, Device* device, Precision precision) {
  return model_of(load_graph("load_model", bytes), device ? *device : default_device(), precision, "load_model");
}

}  // namespace iruka::nn
