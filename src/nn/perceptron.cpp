#include <cstdint>
#include <utility>

#include "core/device.h"
#include "core/layout.h"
#include "core/precision.h"
#include "iruka/nn.h"
#include "jit/grammar.h"
#include "nn/layered.h"
#include "nn/layers.h"
#include "nn/perceptron_text.h"
#include "nn/points.h"
#include "ops/views.h"

namespace iruka::nn {

struct Perceptron::State {
  Plan plan;
  std::vector<DenseLayer> layers;  ///< the arrays of a network that is one kernel are not used again
  bool is_one_kernel = false;
  Array weights;                           ///< packed, of a network that is one kernel
  std::vector<ElementwiseKernel> kernels;  ///< for packed and strided points, x's layout first
  LayeredNetwork layered;

  const ElementwiseKernel& kernel(PointLayout x, PointLayout y) const {
    return kernels[2 * static_cast<size_t>(x) + static_cast<size_t>(y)];
  }
};

namespace {

/// Points of an array, whose features lie along its last axis, as a kernel takes them.
struct Points {
  PointLayout layout;
  Array view;      ///< all numbers, or the first feature of each point
  int64_t stride;  ///< from one feature to the next, in bytes
  int64_t count;

  /// `alignment`: of packed points, in bytes.
  Points(const Array& x, int64_t alignment) : layout(PointLayout::strided) {
    const int last = x.ndim() - 1;
    const int64_t width = x.shape(last), itemsize = x.itemsize();
    stride = width == 1 ? itemsize : x.strides()[last];
    const Array first = ops::slice_at(x, last, 0);
    count = first.size();
    const LoopOperand operands[] = {LoopOperand(&first.shape(), &first.strides())};
    LoopLayout loop(first.shape(), operands);
    loop.merge_axes();
    const bool is_dense = count == 1 || (loop.rank() == 1 && loop.stride(0, 0) == width * itemsize);
    const bool is_aligned = reinterpret_cast<intptr_t>(x.data()) % alignment == 0;
    if (stride == itemsize && is_dense && is_aligned) {
      layout = PointLayout::packed;
      view = x.view(x.dtype(), {count * width}, {itemsize}, x.offset());
    } else {
      view = x.view(x.dtype(), Dims(loop.extents(), loop.rank()), Dims(loop.strides(0), loop.rank()), x.offset());
    }
  }
};

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

void run_kernel(const Perceptron::State& state, const Array& x, const Array& y) {
  const PointCall call(state.plan, x, state.weights, y);
  state.kernel(call.x.layout, call.y.layout).fill(call.arguments, call.options);
}

void run_layers(const Perceptron::State& state, const Array& x, Array y) {
  const int64_t rows = x.size() / state.plan.in_features;
  const Array values = x.astype(state.plan.dtype, false).reshape({rows, state.plan.in_features});
  y.assign(state.layered(values).reshape(y.shape()));
}

PointFunction point_function(const Perceptron::State& state) {
  const Plan& plan = state.plan;
  return {.name = "nn.Perceptron",
          .in_features = plan.in_features,
          .out_features = plan.out_features,
          .dtype = plan.dtype,
          .device = plan.device,
          .points_at_once = state.is_one_kernel ? INT64_MAX : state.layered.rows_at_once(),
          .run = [&state](const Array& x, const Array& y) {
            state.is_one_kernel ? run_kernel(state, x, y) : run_layers(state, x, y);
          }};
}

std::string why_layered(const Perceptron::State& state) {
  return "a network is one kernel up to " + std::to_string(Perceptron::kDeepest) + " layers of " +
         std::to_string(Perceptron::kWidest) + " numbers, but this one has " + std::to_string(state.layers.size()) +
         " layers of up to " + std::to_string(state.plan.widest);
}

}  // namespace

Perceptron::Perceptron(std::vector<DenseLayer> layers, const ActivationInput& input) {
  auto state = std::make_shared<State>();
  state->plan = plan_layers(layers, input);
  state->layers = std::move(layers);
  state->is_one_kernel = state->plan.widest <= kWidest && state->layers.size() <= kDeepest;
  if (state->is_one_kernel) {
    state->weights = pack_weights(state->layers, state->plan);
    for (const PointLayout x : {PointLayout::packed, PointLayout::strided})
      for (const PointLayout y : {PointLayout::packed, PointLayout::strided})
        state->kernels.push_back(point_kernel(state->layers, state->plan, x, y));
  } else {
    state->layered = LayeredNetwork(state->layers, state->plan);
  }
  state_ = std::move(state);
}

int64_t Perceptron::in_features() const { return state_->plan.in_features; }
int64_t Perceptron::out_features() const { return state_->plan.out_features; }
Dtype Perceptron::dtype() const { return state_->plan.dtype; }
Device& Perceptron::device() const { return *state_->plan.device; }
bool Perceptron::is_one_kernel() const { return state_->is_one_kernel; }

Array Perceptron::map(const Array& x, int64_t axis, const MapOptions& options) const {
  const PrecisionScope scope(options.precision);
  return map_points(point_function(*state_), x, axis, options);
}

namespace {

/// Calls `ask(kernel, arguments, options)` for the kernel of points like these.
template <class Ask>
auto ask_kernel(const char* function, const Perceptron::State& state, const Array& x, int64_t axis, Ask&& ask) {
  const int at = features_axis(point_function(state), x, axis);
  if (!state.is_one_kernel) throw ValueError(std::string("nn.Perceptron.") + function + ": " + why_layered(state));
  const Array y = empty_result(state.plan, x, at);
  const PointCall call(state.plan, ops::with_axis_at(x, at, x.ndim() - 1), state.weights,
                       ops::with_axis_at(y, at, y.ndim() - 1));
  return ask(state.kernel(call.x.layout, call.y.layout), call.arguments, call.options);
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
  if (!state.is_one_kernel) throw ValueError("nn.Perceptron.as_function: " + why_layered(state));
  const bool is_by_value = state.plan.is_by_value();
  const WeightsPlace place = is_by_value ? WeightsPlace::by_value : WeightsPlace::memory;
  const std::string type = info(state.plan.dtype).c_type, dtype = iruka::name(state.plan.dtype),
                    network = name + "_network", weights = name + "_weights", pointer = weights_type(state.plan, place);
  DeviceFunction function{name, network_text(name + "_layers", state.layers, state.plan, place)};
  function.preamble += "struct " + network + " {\n  " + pointer + " weights;\n  void operator()(const " + type +
                       "* in, " + type + "* out) const { " + name + "_layers(weights, in, out); }\n};\n";
  function.parameter = is_by_value ? dtype + " " + weights + "[" + std::to_string(state.plan.packed_size()) + "]"
                                   : "raw const " + dtype + " " + weights;
  function.declaration = "[[maybe_unused]] const " + network + " " + name + "{" + pointer + "{&" + weights + "[0]}};";
  function.dtype = state.plan.dtype;
  function.in_features = state.plan.in_features, function.out_features = state.plan.out_features;
  function.weights = is_by_value ? state.weights.to_device(cpu()) : state.weights;
  return function;
}

}  // namespace iruka::nn
