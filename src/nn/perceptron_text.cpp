#include "nn/perceptron_text.h"

#include <algorithm>

#include "jit/launch_policy.h"

namespace iruka::nn {
namespace {

const char* const kHeader = "#include \"nn/kernels/perceptron.h\"\n";
const std::string kSpace = "iruka::nn::";

std::string text_of(WeightsPlace place) {
  static constexpr const char* kTexts[] = {"WeightsPlace::memory", "kByValue", "WeightsPlace::shared"};
  return kSpace + kTexts[static_cast<size_t>(place)];
}

std::string at(int64_t place) { return "weights + " + std::to_string(place); }

/// Products of a layer that perceptron.h writes out for a GPU, so that their sums are in registers.
constexpr int64_t kMostWrittenOut = 1024;

/// Whether a layer runs together with the one before it: its sums stay in registers.
bool may_be_second(int64_t outputs, bool is_last) {
  constexpr int64_t kMostSums = 32;
  return is_last && outputs <= kMostSums;
}

class NetworkText {
 public:
  NetworkText(const std::vector<Step>& steps, const Plan& plan, WeightsPlace place)
      : steps_(steps),
        kind_(text_of(place) + ", " + info(plan.dtype).c_type),
        weights_type_(weights_type(plan, place)) {
    for (const Step& step : steps) last_layer_ = step.layer ? &step : last_layer_;
  }

  std::string text(const std::string& name, int64_t in_features) {
    out_ = "template <class V> inline void " + name + "(" + weights_type_ + " weights, const V* in, V* out) {\n";
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
    return k + 1 < steps_.size() && may_be_second(steps_[k + 1].outputs, &steps_[k + 1] == last_layer_);
  }

  /// Activations of the input work in `out` where no layer follows, else in an array of their own.
  void copy_input(int64_t in_features) {
    values_ = last_layer_ ? make_array(in_features) : "out";
    out_ += "for (int k = 0; k < " + std::to_string(in_features) + "; ++k) " + values_ + "[k] = in[k];\n";
  }

  std::string make_array(int64_t width) {
    const std::string array = "values" + std::to_string(arrays_++);
    out_ += "V " + array + "[" + std::to_string(width) + "];\n";
    return array;
  }

  void layer(const Step& step) {
    const std::string to = &step == last_layer_ ? "out" : make_array(step.outputs);
    out_ += kSpace + "dense<" + step.function() + ", " + std::to_string(step.inputs) + ", " +
            std::to_string(step.outputs) + ", " + kind_ + ">(" + at(step.weights) + ", " + at(step.parameters) + ", " +
            values_ + ", " + to + ");\n";
    values_ = to;
  }

  void pair(const Step& first, const Step& second) {
    out_ += kSpace + "dense_pair<" + first.function() + ", " + second.function() + ", " + std::to_string(first.inputs) +
            ", " + std::to_string(first.outputs) + ", " + std::to_string(second.outputs) + ", " + kind_ + ">(" +
            at(first.weights) + ", " + at(first.parameters) + ", " + at(second.weights) + ", " + at(second.parameters) +
            ", " + values_ + ", out);\n";
    values_ = "out";
  }

  void activate(const Step& step) {
    const std::string width = std::to_string(step.outputs);
    if (step.is_softmax())
      out_ += kSpace + "softmax<" + width + ">(" + values_ + ");\n";
    else
      out_ += kSpace + "activate<" + step.function() + ", " + width + ", " + kind_ + ">(" + at(step.parameters) + ", " +
              values_ + ");\n";
  }

  const std::vector<Step>& steps_;
  const std::string kind_, weights_type_;  ///< where weights lie, and their type
  const Step* last_layer_ = nullptr;
  std::string values_ = "in", out_;
  int arrays_ = 0;
};

bool has_grid(const Plan& plan) { return plan.device->service<jit::LaunchPolicy>().has_grid; }

/// What a GPU's thread has at once of a point, and how many products a loop has whose results registers hold.
struct Demand {
  int64_t numbers = 0, products = 0;
};
Demand demand_of(const Plan& plan) {
  Demand demand{plan.in_features, 0};
  const size_t count = plan.layers.size();
  for (size_t k = 0; k < count; ++k) {
    const PackedLayer& layer = plan.layers[k];
    if (k + 2 == count && may_be_second(plan.layers[k + 1].outputs, true)) {
      demand.numbers = std::max(demand.numbers, layer.inputs + plan.layers[k + 1].outputs);
      break;
    }
    demand.numbers = std::max(demand.numbers, layer.inputs + layer.outputs);
    demand.products = std::max(demand.products, layer.inputs * layer.outputs);
  }
  return demand;
}

/// A GPU's threads take several points each, as far as their numbers fit the registers, and share the weights of their
/// block. A load of weights serves all of a thread's points.
int64_t points_at_once(const Plan& plan) {
  constexpr int64_t kMostShared = 40 << 10, kBytesOfFour = 400, kBytesOfTwo = 600;  // of registers
  if (!has_grid(plan) || plan.packed_size() * itemsize(plan.dtype) > kMostShared) return 1;
  const int64_t bytes = demand_of(plan).numbers * itemsize(plan.dtype);
  return bytes * 4 <= kBytesOfFour ? 4 : bytes * 2 <= kBytesOfTwo ? 2 : 1;
}

/// What a kernel does with the points of an element.
std::string point_body(const Plan& plan, const std::string& load, const std::string& store) {
  const std::string type = info(plan.dtype).c_type, inputs = std::to_string(plan.in_features),
                    outputs = std::to_string(plan.out_features);
  const std::string load_point = kSpace + "load_point<" + inputs + ">(" + load,
                    store_point = kSpace + "store_point<" + outputs + ">(" + store;
  if (points_at_once(plan) == 1)
    return type + " in[" + inputs + "], out[" + outputs + "];\nconst auto point = i;\n" + load_point +
           "network(&weights[0], in, out);\n" + store_point;
  return kSpace + "several_points<" + std::to_string(points_at_once(plan)) + ", " + inputs + ", " + outputs + ", " +
         type + ">(\n    i, n, count, [&](auto point, " + type + "* in) { " + load_point +
         "},\n    [&](const auto* in, auto* out) { network(" + weights_type(plan, WeightsPlace::shared) +
         "{shared}, in, out); },\n    [&](const " + type + "* out, auto point) { " + store_point + "});\n";
}

}  // namespace

std::string Step::function() const { return kSpace + (activation ? struct_name(*activation) : "Identity"); }

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

std::string weights_type(const Plan& plan, WeightsPlace place) {
  return kSpace + "Weights<" + text_of(place) + ", " + info(plan.dtype).c_type + ">";
}

std::string network_text(const std::string& name, const std::vector<DenseLayer>& layers, const Plan& plan,
                         WeightsPlace place) {
  const std::vector<Step> steps = steps_of(layers, plan);
  return kHeader + NetworkText(steps, plan, place).text(name, plan.in_features);
}

std::string kernel_name(const Plan& plan) {
  std::string name = "nn_" + std::to_string(plan.in_features);
  for (const PackedLayer& layer : plan.layers) name += "_" + std::to_string(layer.outputs);
  return name;
}

int64_t element_count(const Plan& plan, int64_t points) {
  constexpr int64_t kThreads = 2048;  // of a multiprocessor, for one point at a time
  const int64_t at_once = points_at_once(plan);
  if (at_once == 1) return points;
  return std::min((points + at_once - 1) / at_once, plan.device->target().multiprocessors * kThreads / at_once);
}

bool fits_registers(const Plan& plan) {
  constexpr int64_t kMostBytes = 512;  // beyond, the compiler moves numbers to memory
  const Demand demand = demand_of(plan);
  return demand.products <= kMostWrittenOut && demand.numbers * itemsize(plan.dtype) <= kMostBytes;
}

int64_t packed_alignment(const Plan& plan) { return has_grid(plan) ? 16 : 1; }

ElementwiseKernel point_kernel(const std::vector<DenseLayer>& layers, const Plan& plan, PointLayout x, PointLayout y) {
  const std::string type = iruka::name(plan.dtype), c_type = info(plan.dtype).c_type;
  const std::string inputs = std::to_string(plan.in_features), outputs = std::to_string(plan.out_features);
  const bool is_shared = points_at_once(plan) > 1;
  KernelOptions options;
  options.preamble = network_text("network", layers, plan, is_shared ? WeightsPlace::shared : WeightsPlace::memory);
  if (is_shared) {
    const std::string size = std::to_string(plan.packed_size());
    options.loop_prep = "__shared__ __align__(16) " + c_type + " shared[" + size + "];\n" + kSpace + "share_weights<" +
                        size + ">(&weights[0], shared);\n";
  }
  options.diagnose_early = false;
  return ElementwiseKernel(
      "raw const T x, raw const " + type + " weights, int64 x_stride, int64 y_stride, int64 count",
      "raw " + type + " y",
      point_body(plan, x == PointLayout::packed ? "&x[point * " + inputs + "], in);\n" : "&x[point], x_stride, in);\n",
                 y == PointLayout::packed ? "out, &y[point * " + outputs + "]);\n" : "out, &y[point], y_stride);\n"),
      kernel_name(plan), std::move(options));
}

}  // namespace iruka::nn
