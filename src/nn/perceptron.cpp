#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/device.h"
#include "core/precision.h"
#include "iruka/nn.h"
#include "jit/grammar.h"
#include "jit/kernel_call.h"
#include "nn/layered.h"
#include "nn/layers.h"
#include "nn/loop_perceptron.h"
#include "nn/perceptron_text.h"
#include "nn/point_blocks.h"
#include "nn/point_function.h"
#include "nn/points.h"
#include "nn/tensor_perceptron.h"
#include "ops/views.h"

namespace iruka::nn {

namespace {

/// What runs a network of a GPU in a precision in place of the usual kernels; neither where those do.
struct FasterNetwork {
  std::shared_ptr<const TensorPerceptron> kernel;
  std::shared_ptr<const LayeredNetwork> layered;
};

}  // namespace

struct Perceptron::State {
  Plan plan;
  std::vector<DenseLayer> layers;          ///< the arrays of a network that is one kernel are not read again
  bool is_function = false;                ///< of kernels, on every device
  bool has_kernel = false;                 ///< by which points run where no faster network does
  Array weights;                           ///< packed, of a network that is one kernel
  std::vector<ElementwiseKernel> kernels;  ///< for packed and strided points, x's layout first
  mutable CallCache<Precision, FasterNetwork> faster;  ///< of a network that is one kernel
  /// Run until the kernel is compiled, and a network that is too wide for it or too deep; or null.
  std::shared_ptr<const LoopPerceptron> loops;
  LayeredNetwork layered;  ///< of a network with neither kernel nor loops

  const ElementwiseKernel& kernel(PointLayout x, PointLayout y) const {
    return kernels[2 * static_cast<size_t>(x) + static_cast<size_t>(y)];
  }
};

namespace {

/// The arguments of a network's kernel. They refer to arrays of the points.
struct PointCall {
  Points x, y;
  Argument arguments[6];
  CallOptions options;

  PointCall(const Plan& plan, const Array& x_points, const Array& weights, const Array& y_points)
      : x(x_points, packed_alignment(plan)),
        y(y_points, packed_alignment(plan)),
        arguments{x.view, weights, number(x.stride), number(y.stride), number(x.count), y.view} {
    options.size = element_count(plan, x.count);
  }
  PointCall(const PointCall&) = delete;
  PointCall& operator=(const PointCall&) = delete;

 private:
  static Scalar number(int64_t value) { return Scalar(value).typed(Dtype::int64); }
};

Array empty_result(const Plan& plan, const Array& x, int axis) {
  Dims shape = x.shape();
  shape[axis] = plan.out_features;
  return Array::empty(shape, plan.dtype, *plan.device);
}

/// Whether the device's library of products is installed.
bool has_products(const LayeredNetwork& network, const Plan& plan) {
  Array x = Array::empty({1, plan.in_features}, plan.dtype, *plan.device);
  x.fill(0);
  try {
    network(x);
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

/// Layers whose numbers do not fit a GPU's registers run one after the other, by its library of products.
FasterNetwork make_faster_network(const Perceptron::State& state, Precision precision) {
  if (precision == Precision::tf32 && TensorPerceptron::has_tensor_cores(state.plan)) {
    if (TensorPerceptron::fits(state.plan))
      return {std::make_shared<const TensorPerceptron>(state.layers, state.plan, state.weights), nullptr};
  } else if (fits_registers(state.plan)) {
    return {};
  }
  const std::vector<DenseLayer> layers = unpacked_layers(state.layers, state.plan, state.weights);
  auto layered = std::make_shared<const LayeredNetwork>(layers, state.plan);
  return has_products(*layered, state.plan) ? FasterNetwork{nullptr, std::move(layered)} : FasterNetwork();
}

FasterNetwork faster_network(const Perceptron::State& state, Precision precision) {
  if (!state.is_function || state.plan.device->target().is_host) return {};
  return state.faster.get(precision, [&] { return make_faster_network(state, precision); });
}

/// Until the kernel is compiled, loops that are compiled with the library compute the same bits.
void run_kernel(const Perceptron::State& state, const Array& x, const Array& y) {
  const PointCall call(state.plan, x, state.weights, y);
  const ElementwiseKernel& kernel = state.kernel(call.x.layout, call.y.layout);
  if (!state.loops) return kernel.fill(call.arguments, call.options);
  jit::KernelCall launch(ElementwiseKernel::State::of(kernel), call.arguments, call.options);
  if (launch.is_compiled() || !state.loops->run(x, y)) return launch.run();
  launch.compile_in_background();
}

/// A part of the points, of which a copy may have to be made.
constexpr int64_t kPointsOfLoops = int64_t{1} << 20;

/// Of a network without a kernel.
void run_loops(const Perceptron::State& state, const Array& x, const Array& y) {
  if (state.loops->run(x, y)) return;
  const Array result = Array::empty(y.shape(), y.dtype(), y.device());
  state.loops->run(x.astype(state.plan.dtype), result);
  Array(y).assign(result);
}

void run_layers(const LayeredNetwork& network, const Plan& plan, const Array& x, Array y) {
  const int64_t rows = x.size() / plan.in_features;
  const Array values = x.astype(plan.dtype, false).reshape({rows, plan.in_features});
  y.assign(network(values).reshape(y.shape()));
}

/// What maps points in a precision. It refers to the state.
PointFunction point_function(const Perceptron::State& state, Precision precision) {
  const Plan& plan = state.plan;
  const FasterNetwork faster = faster_network(state, precision);
  const bool has_layers = !state.has_kernel && !state.loops;
  const LayeredNetwork* const layered = has_layers ? &state.layered : faster.layered.get();
  return {.name = "nn.Perceptron",
          .in_features = plan.in_features,
          .out_features = plan.out_features,
          .dtype = plan.dtype,
          .device = plan.device,
          .points_at_once = layered            ? layered->rows_at_once()
                            : state.has_kernel ? INT64_MAX
                                               : kPointsOfLoops,
          .run = [&state, faster, layered](const Array& x, const Array& y) {
            if (layered)
              run_layers(*layered, state.plan, x, y);
            else if (faster.kernel)
              faster.kernel->run(x, y);
            else if (state.plan.device->target().is_host)
              run_in_blocks(x, y, [&state](const Array& part, const Array& result) {
                (state.has_kernel ? run_kernel : run_loops)(state, part, result);
              });
            else
              run_kernel(state, x, y);
          }};
}

/// Whether a processor runs layers that are wider than kWidest as one kernel: its vectors are points, and those of the
/// loops outputs, of which layers with few waste most.
bool is_kernel_on_host(const Perceptron::State& state) {
  constexpr int64_t kWidestOnHost = 512, kNarrow = 32;
  if (!state.plan.device->target().is_host || state.layers.size() > Perceptron::kDeepest) return false;
  return state.plan.widest <= kWidestOnHost && std::ranges::all_of(state.plan.layers, [](const PackedLayer& layer) {
           return std::min(layer.inputs, layer.outputs) <= kNarrow;
         });
}

/// "17 layers of up to 300"
std::string size_of(const Perceptron::State& state) {
  return std::to_string(state.layers.size()) + " layers of up to " + std::to_string(state.plan.widest);
}

}  // namespace

Perceptron::Perceptron(std::vector<DenseLayer> layers, const ActivationInput& input) {
  auto state = std::make_shared<State>();
  state->plan = plan_layers(layers, input);
  state->layers = std::move(layers);
  state->is_function = state->plan.widest <= kWidest && state->layers.size() <= kDeepest;
  state->has_kernel = state->is_function || is_kernel_on_host(*state);
  if (LoopPerceptron::fits(state->layers, state->plan))
    state->loops = std::make_shared<const LoopPerceptron>(state->layers, state->plan);
  if (state->has_kernel) {
    state->weights = pack_weights(state->layers, state->plan);
    for (const PointLayout x : {PointLayout::packed, PointLayout::strided})
      for (const PointLayout y : {PointLayout::packed, PointLayout::strided})
        state->kernels.push_back(point_kernel(state->layers, state->plan, x, y));
  } else if (!state->loops) {
    state->layered = LayeredNetwork(state->layers, state->plan);
  }
  state_ = std::move(state);
}

int64_t Perceptron::in_features() const { return state_->plan.in_features; }
int64_t Perceptron::out_features() const { return state_->plan.out_features; }
Dtype Perceptron::dtype() const { return state_->plan.dtype; }
Device& Perceptron::device() const { return *state_->plan.device; }
bool Perceptron::is_one_kernel() const {
  return state_->has_kernel && !faster_network(*state_, Precision::float32).layered;
}
bool Perceptron::uses_tensor_cores(Precision precision) const {
  if (precision != Precision::tf32 || !TensorPerceptron::has_tensor_cores(state_->plan)) return false;
  const FasterNetwork network = faster_network(*state_, precision);
  return network.kernel || network.layered;
}

Array Perceptron::map(const Array& x, int64_t axis, const MapOptions& options) const {
  const PrecisionScope scope(options.precision);
  return map_points(point_function(*state_, options.precision), x, axis, options);
}

namespace {

/// Calls `ask(kernel, arguments, options)` for the kernel of points like these.
template <class Ask>
auto ask_kernel(const char* function, const Perceptron::State& state, const Array& x, int64_t axis, Ask&& ask) {
  const int at = features_axis(point_function(state, Precision::float32), x, axis);
  if (!state.has_kernel)
    throw ValueError(std::string("nn.Perceptron.") + function + ": this network has no kernel, as it has " +
                     size_of(state) + " numbers");
  const Array y = ops::with_axis_at(empty_result(state.plan, x, at), at, x.ndim() - 1),
              points = ops::with_axis_at(x, at, x.ndim() - 1);
  const auto ask_for = [&](const Array& from, const Array& to) {
    const PointCall call(state.plan, from, state.weights, to);
    return ask(state.kernel(call.x.layout, call.y.layout), call.arguments, call.options);
  };
  if (!state.plan.device->target().is_host) return ask_for(points, y);
  const BlockOfPoints block(points, y);
  return ask_for(block.x, block.y);
}

}  // namespace

KernelReport Perceptron::report(const Array& x, int64_t axis) const {
  return ask_kernel("report", *state_, x, axis, [](const ElementwiseKernel& kernel, auto& arguments, auto options) {
    return kernel.report(arguments, options);
  });
}

std::string Perceptron::source(const Array& x, int64_t axis) const {
  return ask_kernel("source", *state_, x, axis, [](const ElementwiseKernel& kernel, auto& arguments, auto options) {
    return kernel.source(arguments, options);
  });
}

DeviceFunction Perceptron::as_function(const std::string& name) const {
  const State& state = *state_;
  if (!jit::is_identifier(name))
    throw ValueError("nn.Perceptron.as_function: '" + name + "' is no name of a C++ function");
  if (!state.is_function)
    throw ValueError("nn.Perceptron.as_function: kernels call networks of up to " + std::to_string(kDeepest) +
                     " layers of " + std::to_string(kWidest) + " numbers, but this one has " + size_of(state));
  const bool is_by_value = state.plan.is_by_value();
  const WeightsPlace place = is_by_value ? WeightsPlace::by_value : WeightsPlace::memory;
  const std::string type = info(state.plan.dtype).c_type, dtype = iruka::name(state.plan.dtype),
                    network = name + "_network", weights = name + "_weights", pointer = weights_type(state.plan, place);
  DeviceFunction function{name, network_text(name + "_layers", state.layers, state.plan, place)};
  const std::string inputs = std::to_string(state.plan.in_features), outputs = std::to_string(state.plan.out_features);
  function.preamble += "struct " + network + " {\n  " + pointer +
                       " weights;\n  template <class In, class Out> void operator()(In&& in, Out&& out) const {\n"
                       "    static_assert(iruka::nn::kFits<In, " +
                       inputs + "> && iruka::nn::kFits<Out, " + outputs + ">, \"" + name +
                       "(in, out) takes an array of " + inputs + " numbers, and one of " + outputs +
                       " for its results\");\n    const " + type + "* const from = in;\n    " + type +
                       "* const to = out;\n    " + name + "_layers(weights, from, to);\n  }\n};\n";
  function.parameter = is_by_value ? dtype + " " + weights + "[" + std::to_string(state.plan.packed_size()) + "]"
                                   : "raw const " + dtype + " " + weights;
  function.declaration = "[[maybe_unused]] const " + network + " " + name + "{" + pointer + "{&" + weights + "[0]}};";
  function.dtype = state.plan.dtype;
  function.in_features = state.plan.in_features, function.out_features = state.plan.out_features;
  function.weights = is_by_value ? state.weights.to_device(cpu()) : state.weights;
  return function;
}

}  // namespace iruka::nn
