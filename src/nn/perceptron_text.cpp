#include "nn/perceptron_text.h"

#include <optional>

namespace iruka::nn {
namespace {

const char* const kHeader = "#include \"nn/kernels/perceptron.h\"\n";
const std::string kSpace = "iruka::nn::";

/// What one statement of the function does: a layer with the activation that follows it, or an activation alone.
struct Step {
  std::optional<size_t> layer;
  const Activation* activation = nullptr;
  int64_t inputs = 0, outputs = 0;
  int64_t weights = 0, parameters = 0;

  bool is_softmax() const { return activation && activation->kind == Activation::Kind::softmax; }
  std::string function() const { return kSpace + (activation ? struct_name(*activation) : "Identity"); }
};

std::vector<Step> steps_of(const std::vector<DenseLayer>& layers, const Plan& plan) {
  std::vector<Step> steps;
  for (size_t k = 0; k < layers.size(); ++k) {
    const PackedLayer& packed = plan.layers[k];
    const auto& activations = layers[k].activations;
    size_t next = 0;
    if (layers[k].weight.valid()) {
      Step step{k, nullptr, packed.inputs, packed.outputs, packed.weights, 0};
      if (!activations.empty() && activations[0].kind != Activation::Kind::softmax)
        step.activation = &activations[0], step.parameters = packed.parameters[0], next = 1;
      steps.push_back(step);
    }
    for (; next < activations.size(); ++next)
      steps.push_back({{}, &activations[next], packed.outputs, packed.outputs, 0, packed.parameters[next]});
  }
  return steps;
}

/// The template argument kInArguments.
std::string place_of_weights(const Plan& plan) { return plan.is_by_value() ? kSpace + "kByValue" : "false"; }

std::string at(int64_t place) { return "weights + " + std::to_string(place); }

class NetworkText {
 public:
  NetworkText(const std::vector<Step>& steps, const Plan& plan)
      : steps_(steps),
        type_(info(plan.dtype).c_type),
        place_(place_of_weights(plan)),
        weights_type_(weights_type(plan)) {
    for (const Step& step : steps) last_layer_ = step.layer ? &step : last_layer_;
  }

  std::string text(const std::string& name, int64_t in_features) {
    out_ = "inline void " + name + "(" + weights_type_ + " weights, const " + type_ + "* in, " + type_ + "* out) {\n";
    if (!steps_.empty() && !steps_[0].layer) copy_input(in_features);
    for (size_t k = 0; k < steps_.size(); ++k) {
      const Step& step = steps_[k];
      if (!step.layer)
        activate(step);
      else if (is_pair(k))
        pair(step, steps_[k + 1]), ++k;
      else
        layer(step);
    }
    if (steps_.empty()) copy_input(in_features);
    return out_ + "}\n";
  }

 private:
  /// The last two layers run together.
  bool is_pair(size_t k) const {
    constexpr int64_t kMostSums = 32;  // they stay in registers
    return k + 1 < steps_.size() && &steps_[k + 1] == last_layer_ && steps_[k + 1].outputs <= kMostSums;
  }

  /// Activations of the input work in `out` where no layer follows, else in an array of their own.
  void copy_input(int64_t in_features) {
    values_ = last_layer_ ? make_array(in_features) : "out";
    out_ += "for (int k = 0; k < " + std::to_string(in_features) + "; ++k) " + values_ + "[k] = in[k];\n";
  }

  std::string make_array(int64_t width) {
    const std::string array = "values" + std::to_string(arrays_++);
    out_ += type_ + " " + array + "[" + std::to_string(width) + "];\n";
    return array;
  }

  void layer(const Step& step) {
    const std::string to = &step == last_layer_ ? "out" : make_array(step.outputs);
    out_ += kSpace + "dense<" + step.function() + ", " + std::to_string(step.inputs) + ", " +
            std::to_string(step.outputs) + ", " + place_ + ">(" + at(step.weights) + ", " + at(step.parameters) + ", " +
            values_ + ", " + to + ");\n";
    values_ = to;
  }

  void pair(const Step& first, const Step& second) {
    out_ += kSpace + "dense_pair<" + first.function() + ", " + second.function() + ", " + std::to_string(first.inputs) +
            ", " + std::to_string(first.outputs) + ", " + std::to_string(second.outputs) + ", " + place_ + ">(" +
            at(first.weights) + ", " + at(first.parameters) + ", " + at(second.weights) + ", " + at(second.parameters) +
            ", " + values_ + ", out);\n";
    values_ = "out";
  }

  void activate(const Step& step) {
    const std::string width = std::to_string(step.outputs);
    if (step.is_softmax())
      out_ += kSpace + "softmax<" + width + ">(" + values_ + ");\n";
    else
      out_ += kSpace + "activate<" + step.function() + ", " + width + ", " + place_ + ">(" + at(step.parameters) +
              ", " + values_ + ");\n";
  }

  const std::vector<Step>& steps_;
  const std::string type_, place_, weights_type_;
  const Step* last_layer_ = nullptr;
  std::string values_ = "in", out_;
  int arrays_ = 0;
};

}  // namespace

std::string network_text(const std::string& name, const std::vector<DenseLayer>& layers, const Plan& plan) {
  const std::vector<Step> steps = steps_of(layers, plan);
  return kHeader + NetworkText(steps, plan).text(name, plan.in_features);
}

std::string weights_parameter(const Plan& plan, const std::string& name) {
  const std::string type = iruka::name(plan.dtype);
  return plan.is_by_value() ? type + " " + name + "[" + std::to_string(plan.packed_size()) + "]"
                            : "raw const " + type + " " + name;
}

std::string weights_type(const Plan& plan) {
  return kSpace + "Weights<" + place_of_weights(plan) + ", " + info(plan.dtype).c_type + ">";
}

std::string kernel_name(const Plan& plan) {
  std::string name = "nn_" + std::to_string(plan.in_features);
  for (const PackedLayer& layer : plan.layers) name += "_" + std::to_string(layer.outputs);
  return name;
}

ElementwiseKernel point_kernel(const std::vector<DenseLayer>& layers, const Plan& plan, PointLayout x, PointLayout y) {
  const std::string type = iruka::name(plan.dtype), c_type = info(plan.dtype).c_type;
  const std::string inputs = std::to_string(plan.in_features), outputs = std::to_string(plan.out_features);
  const std::string load = x == PointLayout::packed ? "&x[i * " + inputs + "], in" : "&x[i], x_stride, in";
  const std::string store = y == PointLayout::packed ? "out, &y[i * " + outputs + "]" : "out, &y[i], y_stride";
  KernelOptions options;
  options.preamble = network_text("network", layers, plan);
  options.diagnose_early = false;
  return ElementwiseKernel("raw const T x, " + weights_parameter(plan, "weights") + ", int64 x_stride, int64 y_stride",
                           "raw " + type + " y",
                           c_type + " in[" + inputs + "], out[" + outputs + "];\n" +  //
                               kSpace + "load_point<" + inputs + ">(" + load + ");\n" + "network(" +
                               weights_type(plan) + "{&weights[0]}, in, out);\n" +  //
                               kSpace + "store_point<" + outputs + ">(" + store + ");\n",
                           kernel_name(plan), std::move(options));
}

}  // namespace iruka::nn
