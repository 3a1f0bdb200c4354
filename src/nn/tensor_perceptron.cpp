#include "nn/tensor_perceptron.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string>

#include "core/device.h"
#include "iruka/cuda.h"
#include "nn/points.h"
#include "ops/permanent_cache.h"

namespace iruka::nn {
namespace {

constexpr int64_t kFeatures = 8, kWarpPoints = 16, kWarp = 32;  // as in kernels/cuda/tensor_perceptron.h
constexpr int64_t kThreads = 256;                               // of a block
/// Instructions of a warpgroup give so many sums of a point.
constexpr int64_t kWarpgroupOutputs = 64;

/// Attributes of a GPU by the driver's numbers.
enum Attribute : int { kComputeMajor = 75, kComputeMinor = 76, kSharedOfMultiprocessor = 81, kSharedOfBlock = 97 };

int64_t padded(int64_t width) { return (width + kFeatures - 1) / kFeatures * kFeatures; }

bool is_by_warpgroups(int64_t outputs) { return padded(outputs) % kWarpgroupOutputs == 0; }

/// The nearest number with 10 bits of mantissa, which is finite where the given one is.
float rounded_to_tf32(double number) {
  constexpr uint32_t kHalf = 1 << 12, kCut = (1 << 13) - 1;
  constexpr double kLargest = 0x1.ffcp127;
  if (!std::isfinite(number)) return static_cast<float>(number);
  const auto narrow = static_cast<float>(std::clamp(number, -kLargest, kLargest));
  return std::bit_cast<float>((std::bit_cast<uint32_t>(narrow) + kHalf) & ~kCut);
}

/// The layers with the places of their numbers: biases and weights with padding, then the parameters of activations.
Plan tensor_plan(const std::vector<DenseLayer>& layers, Plan plan) {
  plan.numbers = 0;
  for (size_t k = 0; k < layers.size(); ++k) {
    PackedLayer& layer = plan.layers[k];
    layer.weights = plan.numbers;
    if (layers[k].weight.valid()) plan.numbers += padded(layer.outputs) * (1 + padded(layer.inputs));
    for (size_t a = 0; a < layers[k].activations.size(); ++a) {
      layer.parameters[a] = plan.numbers;
      plan.numbers += padded(parameter_count(layers[k].activations[a]));
    }
  }
  return plan;
}

/// The most numbers of a point that are alive at once, which registers hold.
int64_t live_numbers(const Plan& plan) {
  int64_t most = 0;
  for (const PackedLayer& layer : plan.layers) most = std::max(most, padded(layer.inputs) + padded(layer.outputs));
  return most;
}

/// One layer's biases and weights. Weights have the order of the function that multiplies by them.
void pack_layer(float* to, const PackedMatrix<float>& from, bool is_by_warpgroups, double scale) {
  const int64_t groups = padded(from.outputs) / kFeatures;
  for (int64_t output = 0; output < from.outputs; ++output) to[output] = from.bias(output);
  to += groups * kFeatures;
  for (int64_t output = 0; output < from.outputs; ++output)
    for (int64_t input = 0; input < from.inputs; ++input) {
      const int64_t lane = output % kFeatures * 4 + input % kFeatures / 2, second = input % 2;
      const int64_t group = input / kFeatures * groups + output / kFeatures;
      to[group * 2 * kWarp + (is_by_warpgroups ? second * kWarp + lane : 2 * lane + second)] =
          rounded_to_tf32(from.weight(output, input) * scale);
    }
}

std::string number(int64_t value) { return std::to_string(value); }

/// The statements of the function network(in, out).
class TensorText {
 public:
  TensorText(const std::vector<Step>& steps, bool has_warpgroups) : steps_(steps), has_warpgroups_(has_warpgroups) {}

  std::string text() {
    out_ = "auto values0 = in;\n";
    for (size_t k = 0, count = 1; k < steps_.size(); k += count) {
      count = repeats(k);
      if (!steps_[k].layer)
        activate(steps_[k]);
      else if (count > 1)
        loop(steps_[k], static_cast<int64_t>(count), steps_[k + 1].weights - steps_[k].weights);
      else
        layer(steps_[k], "");
    }
    return out_ + "out = " + values() + ";\n";
  }

 private:
  std::string values() const { return "values" + number(arrays_); }

  /// How many steps from k on are the same, so that a loop keeps the text short; 1 for a few.
  size_t repeats(size_t k) const {
    constexpr size_t kFewest = 4;
    const Step& first = steps_[k];
    if (!is_rounded_ || !first.layer || first.inputs != first.outputs) return 1;
    size_t count = 1;
    while (k + count < steps_.size() && is_same(first, steps_[k + count])) ++count;
    return count < kFewest ? 1 : count;
  }
  static bool is_same(const Step& a, const Step& b) {
    return b.layer && a.inputs == b.inputs && a.outputs == b.outputs && a.function() == b.function() &&
           (!a.activation || a.parameters - a.weights == b.parameters - b.weights);
  }

  void activate(const Step& step) {
    if (step.is_softmax())
      out_ += "softmax(" + values() + ");\n";
    else
      out_ += "activate<" + step.function() + ">(weights + " + number(step.parameters) + ", " + values() + ");\n";
  }

  /// `ahead`: added to the places of weights.
  void layer(const Step& step, const std::string& ahead) {
    if (!is_rounded_) out_ += "round_to_tf32(" + values() + ");\n";
    is_rounded_ = true;
    const std::string from = values();
    ++arrays_;
    const bool by_warpgroups = has_warpgroups_ && is_by_warpgroups(step.outputs);
    const auto at = [&](int64_t place) { return "weights + " + number(place) + ahead; };
    out_ += "WarpPoints<" + number(step.outputs) + "> " + values() + ";\ndense<" + step.function() + ", " +
            number(step.inputs) + ", " + number(step.outputs) + ", " + (by_warpgroups ? "true" : "false") + ">(" +
            at(step.weights) + ", " + at(step.parameters) + ", " + from + ", " + values() + ");\n";
  }

  void loop(const Step& step, int64_t count, int64_t stride) {
    const std::string before = values();
    out_ += "#pragma unroll 1\nfor (int k = 0; k < " + number(count) + "; ++k) {\n";
    layer(step, " + k * " + number(stride));
    out_ += before + " = " + values() + ";\n}\n";
    --arrays_;
  }

  const std::vector<Step>& steps_;
  const bool has_warpgroups_;
  bool is_rounded_ = false;  ///< whether a layer's text was written
  int arrays_ = 0;
  std::string out_;
};

/// Bytes from one point to the next, and from one feature to the next, as in the kernel.
struct PointStrides {
  int64_t point, feature;
};

PointStrides strides_of(const Points& points, int64_t width) {
  if (points.layout == PointLayout::packed) return {width * points.stride, points.stride};
  return {points.view.ndim() == 0 ? 0 : points.view.strides()[0], points.stride};
}

/// Whether a kernel reaches all points by one stride, at addresses that are multiples of the itemsize.
bool is_regular(const Points& points) {
  const int64_t itemsize = points.view.itemsize();
  if (points.view.ndim() > 1 || points.stride % itemsize != 0) return false;
  const bool is_even = points.view.ndim() == 0 || points.view.strides()[0] % itemsize == 0;
  return is_even && reinterpret_cast<intptr_t>(points.view.data()) % itemsize == 0;
}

constexpr int64_t kAlignment = 16;  // of packed points

}  // namespace

bool TensorPerceptron::has_tensor_cores(const Plan& plan) {
  constexpr int kOldest = 8;  // compute capability
  return plan.dtype == Dtype::float32 && cuda::device_index(*plan.device) >= 0 &&
         cuda::attribute(*plan.device, kComputeMajor) >= kOldest;
}

bool TensorPerceptron::fits(const Plan& plan) {
  constexpr int64_t kMostLive = 320;  // two numbers of 16 points are one register of each lane
  return live_numbers(plan) <= kMostLive;
}

TensorPerceptron::TensorPerceptron(const std::vector<DenseLayer>& layers, const Plan& plan, const Array& weights)
    : plan_(tensor_plan(layers, plan)), steps_(steps_of(layers, plan_)) {
  constexpr int64_t kLiveOfTwoBlocks = 144, kReserved = 1024;  // bytes of a block's shared memory that the driver takes
  const auto attribute = [&](int which) { return cuda::attribute(*plan.device, which); };
  const int64_t bytes = plan_.packed_size() * int64_t{sizeof(float)};
  is_shared_ = bytes <= attribute(kSharedOfBlock);
  // The instructions are Hopper's alone, and take weights from shared memory.
  has_warpgroups_ = is_shared_ && attribute(kComputeMajor) == 9 && attribute(kComputeMinor) == 0;
  const bool fits_twice = live_numbers(plan) <= kLiveOfTwoBlocks &&
                          (!is_shared_ || 2 * (bytes + kReserved) <= attribute(kSharedOfMultiprocessor));
  blocks_ = fits_twice ? 2 : 1;
  // Instructions cut their factors to tf32, which makes numbers smaller by 1 / (2 ln 2) of the last place's weight on
  // average: mantissas have the density 1 / (x ln 2). Factors of the first layer are rounded before.
  constexpr double kCut = 1 / (2 * 0.69314718055994531) / 2048;
  const std::vector<float> from = weights.to_vector<float>();
  std::vector<float> to(static_cast<size_t>(plan_.packed_size()));
  bool is_first = true;
  for (size_t k = 0; k < layers.size(); ++k) {
    const PackedLayer &source = plan.layers[k], &target = plan_.layers[k];
    if (layers[k].weight.valid()) {
      pack_layer(to.data() + target.weights, {from.data() + source.weights, source.inputs, source.outputs},
                 has_warpgroups_ && is_by_warpgroups(target.outputs), is_first ? 1 : 1 + kCut);
      is_first = false;
    }
    for (size_t a = 0; a < layers[k].activations.size(); ++a)
      std::copy_n(from.data() + source.parameters[a], parameter_count(layers[k].activations[a]),
                  to.data() + target.parameters[a]);
  }
  weights_ = Array::from(std::span<const float>(to), {std::ssize(to)}).to_device(*plan.device);
}

RawKernel TensorPerceptron::kernel(const Kind& kind) const {
  const std::string inputs = number(plan_.in_features), outputs = number(plan_.out_features),
                    size = number(plan_.packed_size()), name = kernel_name(plan_) + "_tf32";
  const auto strides = [](const char* given, PointLayout layout, const std::string& width, const char* itemsize) {
    if (layout == PointLayout::strided) return std::string(given);
    return std::string("{") + width + " * " + itemsize + ", " + itemsize + "}";
  };
  const std::string code =
      "#include \"nn/kernels/cuda/tensor_perceptron.h\"\nusing namespace iruka;\nusing namespace iruka::nn;\n"
      "using T = " +
      std::string(info(kind.dtype).c_type) + ";\nextern \"C\" __global__ void __launch_bounds__(" + number(kThreads) +
      ", " + number(blocks_) + ") " + name +
      "(const T* x, PointStrides x_strides, const float* all_weights, float* y, PointStrides y_strides, int64_t count) "
      "{\n" +
      (is_shared_ ? "extern __shared__ __align__(128) float weights[];\nshare_tensor_weights<" + size +
                        ">(all_weights, weights);\n"
                  : std::string("const float* const weights = all_weights;\n")) +
      "points_of_block<" + inputs + ", " + outputs + ">(x, " + strides("x_strides", kind.x, inputs, "sizeof(T)") +
      ", y, " + strides("y_strides", kind.y, outputs, "sizeof(float)") + ", count, [&](const WarpPoints<" + inputs +
      ">& in, WarpPoints<" + outputs + ">& out) {\n" + TensorText(steps_, has_warpgroups_).text() + "});\n}\n";
  static constinit ops::PermanentCache<std::string, RawKernel> kernels;
  const RawKernel& made = kernels.get(code, [&] { return RawKernel(code, name); });
  if (is_shared_)
    made.set_max_dynamic_shared_size_bytes(*plan_.device, static_cast<int>(plan_.packed_size() * sizeof(float)));
  return made;
}

void TensorPerceptron::run(const Array& x, const Array& y) const {
  const Points from(x, kAlignment), to(y, kAlignment);
  if (!is_regular(from)) return run(x.copy(), y);
  if (!is_regular(to)) {
    const Array packed = Array::empty(y.shape(), y.dtype(), y.device());
    run(x, packed);
    Array(y).assign(packed);
    return;
  }
  const RawKernel& made =
      kernels_.get({x.dtype(), from.layout, to.layout}, [&] { return kernel({x.dtype(), from.layout, to.layout}); });
  constexpr int64_t kBlockPoints = kThreads / kWarp * kWarpPoints;
  const int64_t blocks =
      std::min((from.count + kBlockPoints - 1) / kBlockPoints, plan_.device->target().multiprocessors * blocks_);
  const PointStrides from_strides = strides_of(from, plan_.in_features),
                     to_strides = strides_of(to, plan_.out_features);
  const RawArgument arguments[] = {from.view, from_strides, weights_, to.view, to_strides, from.count};
  made.launch({.grid = {blocks, 1, 1},
               .block = {kThreads, 1, 1},
               .shared_bytes = is_shared_ ? plan_.packed_size() * int64_t{sizeof(float)} : 0},
              arguments);
}

}  // namespace iruka::nn
