// Recurrent networks: one product for all steps' inputs, and for each step a product and a kernel.
#include <algorithm>
#include <cctype>

#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/rearranging.h"
#include "nn/files/input.h"
#include "nn/operators/operator.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// An activation's text with "x" for its argument, by its name in ONNX in any case.
struct ActivationRow {
  const char* name;
  const char* text;
  int numbers;  ///< of alpha, beta that it takes
  double alpha, beta;
};
constexpr ActivationRow kActivations[] = {
    {"affine", "affine(x, alpha, beta)", 2, 1, 0},
    {"elu", "elu(x, alpha)", 1, 1, 0},
    {"hardsigmoid", "hard_sigmoid(x, alpha, beta)", 2, 0.2, 0.5},
    {"leakyrelu", "leaky_relu(x, alpha)", 1, 0.01, 0},
    {"relu", "relu(x)", 0, 0, 0},
    {"scaledtanh", "scaled_tanh(x, alpha, beta)", 2, 1, 1},
    {"sigmoid", "sigmoid(x)", 0, 0, 0},
    {"softplus", "softplus(x)", 0, 0, 0},
    {"softsign", "softsign(x)", 0, 0, 0},
    {"tanh", "layer_tanh(x)", 0, 0, 0},
    {"thresholdedrelu", "thresholded_relu(x, alpha)", 1, 1, 0},
};

/// What the operators share.
struct Layer {
  int64_t gates, steps, batch, hidden, directions;
  bool is_batch_first, is_reversed;  ///< is_reversed: the only direction is backwards
  Dtype dtype;
  std::string type;
  std::string functions;  ///< lambdas act0, act1... of all directions
  double clip;
};

/// Text of the lambdas act0... that the activations name.
std::string activation_texts(const Call& call, const std::vector<std::string>& defaults, int64_t directions,
                             const std::string& type) {
  std::vector<std::string> names = call.texts("activations");
  if (names.empty()) {
    for (int64_t k = 0; k < directions; ++k) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (std::ssize(names) != directions * std::ssize(defaults))
    call.fail("there are " + std::to_string(names.size()) + " activations");
  const std::vector<double> alphas = call.numbers("activation_alpha"), betas = call.numbers("activation_beta");
  size_t alpha = 0, beta = 0;
  std::string texts;
  for (size_t k = 0; k < names.size(); ++k) {
    std::string lower;
    for (char c : names[k]) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto* const row = std::ranges::find_if(kActivations, [&](const auto& each) { return lower == each.name; });
    if (row == std::end(kActivations)) call.fail("there is no activation " + names[k]);
    const double a = row->numbers > 0 && alpha < alphas.size() ? alphas[alpha++] : row->alpha;
    const double b = row->numbers > 1 && beta < betas.size() ? betas[beta++] : row->beta;
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "const T alpha = T(%a), beta = T(%a);", a, b);
    texts += "[[maybe_unused]] const auto act" + std::to_string(k) + " = [](T x) { " + numbers +
             " (void)alpha, (void)beta; return T(" + row->text + "); };\n";
  }
  return "using namespace iruka; using namespace iruka::nn; using T = " + type + ";\n" + texts;
}

/// The inputs that may be left out: they are cut and walked through as these shapes say.
void check_shapes(const Call& call, const Layer& layer) {
  const auto check = [&](size_t input, const char* name, const Dims& wanted) {
    if (!call.has(input) || call[input].shape() == wanted) return;
    call.fail(std::string(name) + " must have shape " + to_string(wanted) + ", but has " +
              to_string(call[input].shape()));
  };
  const Dims states = layer.is_batch_first ? Dims{layer.batch, layer.directions, layer.hidden}
                                           : Dims{layer.directions, layer.batch, layer.hidden};
  check(3, "B", {layer.directions, 2 * layer.gates * layer.hidden});
  check(4, "sequence_lens", {layer.batch});
  check(5, "initial_h", states);
  if (layer.gates != 4) return;
  check(6, "initial_c", states);
  check(7, "P", {layer.directions, 3 * layer.hidden});
}

Layer layer_of(const Call& call, int64_t gates, const std::vector<std::string>& activations) {
  const Array &x = call[0], &weights = call[1], &recurrent = call[2];
  if (x.ndim() != 3 || weights.ndim() != 3 || recurrent.ndim() != 3) {
    call.fail("X, W and R must have three axes, but have shapes " + to_string(x.shape()) + ", " +
              to_string(weights.shape()) + " and " + to_string(recurrent.shape()));
  }
  const std::string direction = call.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    call.fail("direction must be forward, reverse or bidirectional, not " + in_quotes(direction));
  Layer layer{.gates = gates, .hidden = recurrent.shape(2), .directions = direction == "bidirectional" ? 2 : 1};
  layer.is_batch_first = call.integer("layout", 0) != 0;
  layer.is_reversed = direction == "reverse";
  layer.steps = x.shape(layer.is_batch_first ? 1 : 0);
  layer.batch = x.shape(layer.is_batch_first ? 0 : 1);
  layer.dtype = compute_dtype(x.dtype());
  layer.type = info(layer.dtype).c_type;
  layer.functions = activation_texts(call, activations, layer.directions, layer.type);
  layer.clip = call.number("clip", 0);
  const Dims wanted{layer.directions, gates * layer.hidden, x.shape(2)},
      wanted_r{layer.directions, gates * layer.hidden, layer.hidden};
  if (weights.shape() != wanted || recurrent.shape() != wanted_r) {
    call.fail("W and R must have shapes " + to_string(wanted) + " and " + to_string(wanted_r) + ", but have " +
              to_string(weights.shape()) + " and " + to_string(recurrent.shape()));
  }
  check_shapes(call, layer);
  return layer;
}

/// One direction of a layer, whose steps run one after the other.
struct Direction {
  const Call& call;
  const Layer& layer;
  int64_t number;
  bool is_backward;
  Array inputs;     ///< X W^T + biases: (steps, batch, gates, hidden)
  Array recurrent;  ///< R^T: (hidden, gates * hidden)
  Array lengths;    ///< (batch, 1); not valid where all sequences are whole

  Direction(const Call& the_call, const Layer& the_layer, int64_t the_number)
      : call(the_call), layer(the_layer), number(the_number), is_backward(layer.is_reversed || number == 1) {
    Array x = call[0].astype(layer.dtype, false);
    if (layer.is_batch_first) x = x.swapaxes(0, 1);
    const Array weights = of(1).transpose();
    inputs = matmul(x, weights);
    recurrent = of(2).transpose();
    if (call.has(4)) lengths = call[4].astype(Dtype::int64, false).reshape({layer.batch, 1}).to_device(call.device());
  }

  /// This direction's part of an input.
  Array of(size_t input) const { return ops::slice_at(call[input], 0, number).astype(layer.dtype, false); }
  /// The bias of inputs (0) or of the recurrence (1): (gates * hidden); zeros without any.
  Array bias(int which) const {
    const int64_t width = layer.gates * layer.hidden;
    return call.has(3) ? ops::cut(of(3), 0, which * width, (which + 1) * width) : zeros({width}, layer.dtype);
  }
  /// (batch, hidden); zeros without one.
  Array state(size_t input) const {
    if (!call.has(input)) return zeros({layer.batch, layer.hidden}, layer.dtype);
    return (layer.is_batch_first ? ops::slice_at(call[input], 1, number) : ops::slice_at(call[input], 0, number))
        .astype(layer.dtype);
  }
  int64_t step_at(int64_t k) const { return is_backward ? layer.steps - 1 - k : k; }
  /// The views of gates in (batch, gates * hidden).
  std::vector<Array> gates_of(const Array& x) const {
    std::vector<Array> gates;
    gates.reserve(static_cast<size_t>(layer.gates));
    for (int64_t k = 0; k < layer.gates; ++k) gates.push_back(ops::cut(x, 1, k * layer.hidden, (k + 1) * layer.hidden));
    return gates;
  }
  Array length_of_all() const { return lengths.valid() ? lengths : full({1, 1}, layer.steps, Dtype::int64); }
};

/// A cell's kernel: `names` are its parameters of the layer's dtype, besides those of sequences.
const ElementwiseKernel& cell_kernel(const Layer& layer, const std::vector<std::string>& names,
                                     const std::string& outputs, const std::string& body, const char* kernel_name) {
  std::string parameters = "int64 step, int64 length";
  const std::string type = name(layer.dtype);
  for (const std::string& each : names) parameters += ", " + type + " " + each;
  std::string clip = "const auto clipped = [](T x) { return x; };\n";
  if (layer.clip > 0) {
    char text[96];
    std::snprintf(text, sizeof text, "const auto clipped = [](T x) { return minimum(maximum(x, -T(%a)), T(%a)); };\n",
                  layer.clip, layer.clip);
    clip = text;
  }
  return kernel_of("pointwise", parameters, outputs, layer.functions + clip + body, kernel_name);
}

std::string act(const Direction& direction, int64_t each, int64_t which) {
  return "act" + std::to_string(direction.number * each + which);
}

/// The results of directions as ONNX's Y, Y_h and Y_c.
Results joined(const Call& call, const Layer& layer, const std::vector<Array>& all,
               const std::vector<std::vector<Array>>& last) {
  Array y = stack(all, 1);  // (steps, directions, batch, hidden)
  if (layer.is_batch_first) y = y.transpose({2, 0, 1, 3});
  Results results{y.astype(call[0].dtype(), false)};
  for (const std::vector<Array>& states : last)
    results.push_back(stack(states, layer.is_batch_first ? 1 : 0).astype(call[0].dtype(), false));
  return results;
}

Results rnn(const Call& call) {
  const Layer layer = layer_of(call, 1, {"Tanh"});
  std::vector<Array> all, last;
  for (int64_t d = 0; d < layer.directions; ++d) {
    Direction direction(call, layer, d);
    direction.inputs = add(add(direction.inputs, direction.bias(0)), direction.bias(1));
    const auto& kernel =
        cell_kernel(layer, {"x", "r", "before"}, std::string(name(layer.dtype)) + " y, " + name(layer.dtype) + " h",
                    "const T made = " + act(direction, 1, 0) +
                        "(clipped(x + r));\nh = step < length ? made : before; y = step < length ? made : T(0);",
                    "rnn_cell");
    Array h = direction.state(5), lengths = direction.length_of_all();
    const Array y = Array::empty({layer.steps, layer.batch, layer.hidden}, layer.dtype, call.device());
    for (int64_t k = 0; k < layer.steps; ++k) {
      const int64_t step = direction.step_at(k);
      const Array r = matmul(h, direction.recurrent), x = ops::slice_at(direction.inputs, 0, step),
                  out = ops::slice_at(y, 0, step);
      const Array next = Array::empty(h.shape(), layer.dtype, call.device());
      const Argument arguments[] = {step, lengths, x, r, h, out, next};
      kernel.fill(arguments);
      h = next;
    }
    all.push_back(y), last.push_back(h);
  }
  return joined(call, layer, all, {last});
}

/// Gates z, r, h.
Results gru(const Call& call) {
  const Layer layer = layer_of(call, 3, {"Sigmoid", "Tanh"});
  const bool is_linear = call.integer("linear_before_reset", 0) != 0;
  const std::string type = name(layer.dtype);
  std::vector<Array> all, last;
  for (int64_t d = 0; d < layer.directions; ++d) {
    Direction direction(call, layer, d);
    direction.inputs = add(direction.inputs, direction.bias(0));
    const std::string f = act(direction, 2, 0), g = act(direction, 2, 1);
    const std::string finish =
        "const T made = (T(1) - z) * candidate + z * before;\nh = step < length ? made : before; y = step < length ? "
        "made : T(0);";
    const std::string update = "const T z = " + f + "(clipped(xz + rz));\n";
    const auto& whole = cell_kernel(layer, {"xz", "xr", "xh", "rz", "rr", "rh", "before"}, type + " y, " + type + " h",
                                    update + "const T reset = " + f + "(clipped(xr + rr));\nconst T candidate = " + g +
                                        "(clipped(xh + reset * rh));\n" + finish,
                                    "gru_cell");
    const auto& reset = cell_kernel(layer, {"xr", "rr", "before"}, type + " y",
                                    "y = " + f + "(clipped(xr + rr)) * before;", "gru_reset");
    const auto& rest =
        cell_kernel(layer, {"xz", "xh", "rz", "rh", "before"}, type + " y, " + type + " h",
                    update + "const T candidate = " + g + "(clipped(xh + rh));\n" + finish, "gru_update");
    const Array bias = direction.bias(1), lengths = direction.length_of_all();
    const Array recurrent = direction.recurrent.contiguous();
    const Array last_gate = ops::cut(recurrent, 1, 2 * layer.hidden, 3 * layer.hidden),
                last_bias = ops::cut(bias, 0, 2 * layer.hidden, 3 * layer.hidden);
    Array h = direction.state(5);
    const Array y = Array::empty({layer.steps, layer.batch, layer.hidden}, layer.dtype, call.device());
    for (int64_t k = 0; k < layer.steps; ++k) {
      const int64_t step = direction.step_at(k);
      const Array out = ops::slice_at(y, 0, step), next = Array::empty(h.shape(), layer.dtype, call.device());
      const std::vector<Array> x = direction.gates_of(ops::slice_at(direction.inputs, 0, step));
      const std::vector<Array> r = direction.gates_of(add(matmul(h, recurrent), bias));
      if (is_linear) {
        const Argument arguments[] = {step, lengths, x[0], x[1], x[2], r[0], r[1], r[2], h, out, next};
        whole.fill(arguments);
      } else {
        const Array kept = reset(step, lengths, x[1], r[1], h);
        const Array rh = add(matmul(kept, last_gate), last_bias);
        const Argument arguments[] = {step, lengths, x[0], x[2], r[0], rh, h, out, next};
        rest.fill(arguments);
      }
      h = next;
    }
    all.push_back(y), last.push_back(h);
  }
  return joined(call, layer, all, {last});
}

/// Gates i, o, f, c.
Results lstm(const Call& call) {
  const Layer layer = layer_of(call, 4, {"Sigmoid", "Tanh", "Tanh"});
  const std::string type = name(layer.dtype);
  const bool couples = call.integer("input_forget", 0) != 0;
  std::vector<Array> all, last_h, last_c;
  for (int64_t d = 0; d < layer.directions; ++d) {
    Direction direction(call, layer, d);
    direction.inputs = add(add(direction.inputs, direction.bias(0)), direction.bias(1));
    const std::string f = act(direction, 3, 0), g = act(direction, 3, 1), h_function = act(direction, 3, 2);
    const auto& kernel = cell_kernel(
        layer, {"xi", "xo", "xf", "xc", "ri", "ro", "rf", "rc", "pi", "po", "pf", "before", "cell"},
        type + " y, " + type + " h, " + type + " c",
        "const T in = " + f + "(clipped(xi + ri + pi * cell));\nconst T keep = " +
            (couples ? "T(1) - in" : f + "(clipped(xf + rf + pf * cell))") + ";\nconst T next = keep * cell + in * " +
            g + "(clipped(xc + rc));\nconst T made = " + f + "(clipped(xo + ro + po * next)) * " + h_function +
            "(next);\nconst bool is_there = step < length;\nh = is_there ? made : before; c = is_there ? next : cell; "
            "y = is_there ? made : T(0);",
        "lstm_cell");
    std::vector<Array> peepholes(3, zeros({1, 1}, layer.dtype));
    for (int64_t k = 0; k < 3 && call.has(7); ++k)
      peepholes[static_cast<size_t>(k)] = ops::cut(direction.of(7), 0, k * layer.hidden, (k + 1) * layer.hidden);
    Array h = direction.state(5), c = direction.state(6), lengths = direction.length_of_all();
    const Array recurrent = direction.recurrent.contiguous();
    const Array y = Array::empty({layer.steps, layer.batch, layer.hidden}, layer.dtype, call.device());
    for (int64_t k = 0; k < layer.steps; ++k) {
      const int64_t step = direction.step_at(k);
      const std::vector<Array> x = direction.gates_of(ops::slice_at(direction.inputs, 0, step)),
                               r = direction.gates_of(matmul(h, recurrent));
      const Array out = ops::slice_at(y, 0, step), next_h = Array::empty(h.shape(), layer.dtype, call.device());
      const Array next_c = Array::empty(h.shape(), layer.dtype, call.device());
      const Argument arguments[] = {step, lengths,      x[0],         x[1],         x[2], x[3], r[0], r[1],   r[2],
                                    r[3], peepholes[0], peepholes[1], peepholes[2], h,    c,    out,  next_h, next_c};
      kernel.fill(arguments);
      h = next_h, c = next_c;
    }
    all.push_back(y), last_h.push_back(h), last_c.push_back(c);
  }
  return joined(call, layer, all, {last_h, last_c});
}

constexpr Operator kRows[] = {
    {"GRU", gru},
    {"LSTM", lstm},
    {"RNN", rnn},
};

}  // namespace

std::span<const Operator> recurrent_operators() { return kRows; }

}  // namespace iruka::nn
