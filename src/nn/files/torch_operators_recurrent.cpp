// Recurrent layers: torch's weights in the order of ONNX's gates, a node for each layer.
#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

/// What torch's rnn, gru and lstm have in common.
struct Recurrent {
  const char* op;
  std::vector<size_t> gates;  ///< torch's place of each of ONNX's gates
  Attributes attributes;
};

/// The gates of a weight or bias in ONNX's order.
std::string reordered(TorchCall& call, const Recurrent& kind, const TorchTensor& x) {
  if (kind.gates.size() == 1) return x.value;
  if (x.ndim() == 0 || x.extent(0) < 0 || x.extent(0) % std::ssize(kind.gates) != 0) {
    call.fail("a weight does not have the rows of " + std::to_string(kind.gates.size()) + " gates");
  }
  const Names gates = call.emit(kind.gates.size(), "Split", {x.value}, {{"axis", int64_t{0}}});
  Names ordered;
  for (size_t gate : kind.gates) ordered.push_back(gates[gate]);
  return call.emit("Concat", ordered, {{"axis", int64_t{0}}});
}

class Layers {
 public:
  Layers(TorchCall& call, const Recurrent& kind, const char* params)
      : call_(call), kind_(kind), params_(call.tensors(params)) {
    has_biases_ = call.flag("has_biases", true);
    layers_ = call.integer("num_layers", 1);
    directions_ = call.flag("bidirectional", false) ? 2 : 1;
    if (call.flag("train", false) && call.number("dropout", Scalar(0.0)).as_double() != 0) {
      call.fail("it drops elements at random; call the module's eval() before it is exported");
    }
    call.ignore("dropout");
    const auto each = has_biases_ ? size_t{4} : size_t{2};
    if (layers_ < 1 || layers_ > std::ssize(params_) ||
        params_.size() != static_cast<size_t>(layers_ * directions_) * each) {
      call.fail(std::to_string(params_.size()) + " weights are not those of " + std::to_string(layers_) + " layers");
    }
  }

  /// The output, and the last states of all layers. `states`: the first ones of all layers, one or two.
  Names run(std::string x, const Names& states) {
    const bool is_batch_first = call_.flag("batch_first", false);
    if (is_batch_first) x = call_.transposed(x, {1, 0, 2});
    std::vector<Names> last(states.size());
    for (int64_t layer = 0; layer < layers_; ++layer) {
      const Names results = run_layer(layer, x, states);
      // (steps, directions, batch, hidden) to (steps, batch, directions * hidden)
      x = call_.emit("Reshape", {call_.transposed(results[0], {0, 2, 1, 3}), call_.constant(Integers{0, 0, -1})});
      for (size_t k = 0; k < states.size(); ++k) last[k].push_back(results[1 + k]);
    }
    Names results{is_batch_first ? call_.transposed(x, {1, 0, 2}) : x};
    for (const Names& parts : last) results.push_back(joined(parts));
    return results;
  }

 private:
  std::string joined(const Names& parts) {
    return parts.size() == 1 ? parts[0] : call_.emit("Concat", parts, {{"axis", int64_t{0}}});
  }

  Names run_layer(int64_t layer, const std::string& x, const Names& states) {
    const size_t each = has_biases_ ? 4 : 2;
    Names inputs, recurrent, biases;
    int64_t hidden = 0;
    for (int64_t direction = 0; direction < directions_; ++direction) {
      const auto* const params = &params_[static_cast<size_t>(layer * directions_ + direction) * each];
      if (params[1].ndim() != 2 || params[1].extent(1) < 1) call_.fail("a weight is no matrix of known size");
      hidden = params[1].extent(1);
      inputs.push_back(call_.unsqueezed(reordered(call_, kind_, params[0]), {0}));
      recurrent.push_back(call_.unsqueezed(reordered(call_, kind_, params[1]), {0}));
      if (!has_biases_) continue;
      const Names both{reordered(call_, kind_, params[2]), reordered(call_, kind_, params[3])};
      biases.push_back(call_.unsqueezed(joined(both), {0}));
    }
    Names all{x, joined(inputs), joined(recurrent), has_biases_ ? joined(biases) : "", ""};
    const std::string begin = call_.constant(Integers{layer * directions_}),
                      end = call_.constant(Integers{(layer + 1) * directions_}), axis = call_.constant(Integers{0});
    for (const std::string& state : states) {
      all.push_back(layers_ == 1 ? state : call_.emit("Slice", {state, begin, end, axis}));
    }
    Attributes attributes = kind_.attributes;
    attributes["hidden_size"] = hidden;
    attributes["direction"] = std::string(directions_ == 2 ? "bidirectional" : "forward");
    return call_.emit(1 + states.size(), kind_.op, all, attributes);
  }

  TorchCall& call_;
  const Recurrent& kind_;
  const std::vector<TorchTensor> params_;
  bool has_biases_ = true;
  int64_t layers_ = 1, directions_ = 1;
};

/// Other overloads take sequences of several lengths.
void check_input(TorchCall& call, const TorchTensor& x) {
  if (x.ndim() != 3) call.fail("an input of " + std::to_string(x.ndim()) + " axes is not known");
}

Names of_one_state(TorchCall& call, const Recurrent& kind) {
  const TorchTensor x = call.tensor("input"), state = call.tensor("hx");
  check_input(call, x);
  return Layers(call, kind, "params").run(x.value, {state.value});
}

Names gru(TorchCall& call) { return of_one_state(call, {"GRU", {1, 0, 2}, {{"linear_before_reset", int64_t{1}}}}); }
Names rnn(TorchCall& call) {
  const int64_t directions = call.flag("bidirectional", false) ? 2 : 1;
  const Names activations(static_cast<size_t>(directions), call.op());
  return of_one_state(call, {"RNN", {0}, {{"activations", activations}}});
}

Names lstm(TorchCall& call) {
  const TorchTensor x = call.tensor("input");
  check_input(call, x);
  Names states;
  for (const auto& state : call.tensors("hx")) states.push_back(state.value);
  if (states.size() != 2) call.fail("it has " + std::to_string(states.size()) + " states, not two");
  return Layers(call, {"LSTM", {0, 3, 1, 2}, {}}, "params").run(x.value, states);
}

constexpr TorchOperator kRows[] = {
    {"gru", gru},
    {"lstm", lstm},
    {"rnn_relu", rnn, "Relu"},
    {"rnn_tanh", rnn, "Tanh"},
};

}  // namespace

std::span<const TorchOperator> torch_recurrent_operators() { return kRows; }

}  // namespace iruka::nn
