#include "nn/vector_convolution.h"

#include <algorithm>

#include "core/device.h"
#include "iruka/raw_kernel.h"
#include "nn/call_cache.h"
#include "nn/convolution_plan.h"
#include "nn/fusion.h"
#include "nn/joined_convolution.h"
#include "nn/node_users.h"
#include "nn/pointwise_group.h"
#include "ops/permanent_cache.h"

namespace iruka::nn {
namespace {

constexpr const char* kVectorConvolution = "VectorConvolution";
/// Floats of a vector.
int lanes_of(const Device& device) { return device.target().vector_bytes / 4; }

bool is_cheap(const Node& node) {
  const PointwiseRow* const row = find_pointwise(node.op);
  return row && row->cost == PointwiseCost::low;
}

/// What an input of the pointwise operators is to the kernel.
enum class Extra : uint8_t { result, number, by_channel, element, other };

Extra kind_of(const Array& x, bool is_by_channel, const Dims& shape) {
  const int64_t channels = shape[1];
  if (x.dtype() != Dtype::float32) return Extra::other;
  if (x.size() == 1) return Extra::number;
  if (is_by_channel && x.size() == channels) return Extra::by_channel;
  if (x.shape() == shape) return Extra::element;
  const int axis = x.ndim() - (shape.size() - 1);  // of channels
  const bool is_vector = x.ndim() <= shape.size() && axis >= 0 && x.shape(axis) == channels && x.size() == channels;
  return is_vector ? Extra::by_channel : Extra::other;
}

/// Inputs of such a node before those of the operators behind: x, weights.
constexpr size_t kOwnInputs = 2;

class VectorConvolution {
 public:
  explicit VectorConvolution(const Node& node) : joined_(node, kOwnInputs) {}

  /// Inputs: x, weights, what the operators behind take besides the convolution.
  Results run(const Call& call) const {
    const Array &x = call[0], &weights = call[1];
    if (x.dtype() != Dtype::float32 || x.ndim() != weights.ndim() || x.ndim() > 4 || x.ndim() < 3)
      return joined_.run_apart(call);
    const Call inner(joined_.convolution(), call.opset(), call.device(), {}, {}, 0);
    const int64_t groups = call.integer("group", 1);
    const std::vector<int64_t> own(weights.shape().begin() + 2, weights.shape().end());
    const std::vector<int64_t> kernel = call.integers("kernel_shape").value_or(own);
    if (kernel != own || groups < 1 || weights.shape(1) * groups != x.shape(1) || weights.shape(0) % groups != 0)
      return joined_.run_apart(call);
    const Window window = window_of(inner, x, kernel);
    const ConvolutionSize size{x.shape(0), groups, weights.shape(1), weights.shape(0) / groups};
    const ConvolutionPlan plan = convolution_plan(window, size, lanes_of(call.device()), thread_count());
    const Dims shape = window.shape(x.shape(0), weights.shape(0), window.out);
    std::vector<Extra> kinds;
    std::vector<Array> extras;
    const std::optional<PointwiseGroup>& group = joined_.group();
    for (size_t k = 0; group && k < group->input_count(); ++k) {
      if (joined_.is_value(k)) {
        kinds.push_back(Extra::result);
        extras.emplace_back();
        continue;
      }
      extras.push_back(joined_.input_of(call, k).contiguous());
      kinds.push_back(kind_of(extras.back(), group->is_by_channel(k), shape));
      if (kinds.back() == Extra::other) return joined_.run_apart(call);
    }
    if (!plan.fits) return joined_.run_apart(call);
    const Array result = Array::empty(shape, Dtype::float32, call.device());
    if (result.size() == 0) return {result};
    const RawKernel& made = kernels_.get(
        {plan.kind, kinds}, [&] { return make(kinds, convolution_text(plan.kind, lanes_of(call.device()))); });
    const Array& packed = weights_.get(plan.kind, [&] { return packed_weights(weights, groups, plan.kind); });
    const Array images = x.contiguous();
    std::vector<RawArgument> arguments{images, packed, result, plan.extents};
    for (size_t k = 0; k < kinds.size(); ++k) {
      if (kinds[k] == Extra::number) arguments.emplace_back(extras[k].item());
      if (kinds[k] == Extra::by_channel || kinds[k] == Extra::element) arguments.emplace_back(extras[k]);
    }
    made.launch({.grid = {plan.blocks, 1, 1}, .block = {1, 1, 1}, .shared_bytes = plan.bytes}, arguments);
    return {result};
  }

 private:
  RawKernel make(const std::vector<Extra>& kinds, const ConvolutionText& loops) const {
    std::string parameters, body;
    for (size_t k = 0; k < kinds.size(); ++k) {
      const std::string x = "x" + std::to_string(k);
      const bool is_array = kinds[k] == Extra::by_channel || kinds[k] == Extra::element;
      if (kinds[k] != Extra::result)
        parameters += std::string(", ") + (is_array ? "const float* __restrict " : "float ") + x;
      body += PointwiseGroup::declared(k, Dtype::float32) +
              (kinds[k] == Extra::result       ? "value"
               : kinds[k] == Extra::by_channel ? x + "[output]"
               : kinds[k] == Extra::element    ? x + "[index]"
                                               : x) +
              ";\n";
    }
    std::vector<Dtype> dtypes(kinds.size(), Dtype::float32);
    const std::optional<PointwiseGroup>& group = joined_.group();
    if (group) body += group->statements(dtypes);
    body += group ? "return v" + std::to_string(dtypes.size() - 1) + ";\n" : "return value;\n";
    const std::string code =
        "#include \"" + loops.header +
        "\"\n#include \"nn/kernels/pointwise.h\"\n"
        "using namespace iruka; using namespace iruka::nn;\n"
        "extern \"C\" __global__ void nn_convolution(const float* x, const float* weights, float* y, Convolution conv" +
        parameters + ") {\n  extern __shared__ float memory[];\n  " + loops.type +
        "{conv}.run(blockIdx.x, gridDim.x, x, weights, y, memory, [=](float value, [[maybe_unused]] int output, "
        "[[maybe_unused]] int64_t index) {\n" +
        body + "});\n}\n";
    static constinit ops::PermanentCache<std::string, RawKernel> kernels;
    return kernels.get(code, [&] { return RawKernel(code, "nn_convolution", {.options = {"--lanes=1"}}); });
  }

  const JoinedConvolution joined_;
  mutable CallCache<std::pair<ConvolutionKind, std::vector<Extra>>, RawKernel> kernels_;
  mutable CallCache<ConvolutionKind, Array> weights_;  ///< packed
};

/// Convolutions become nodes of their own, and take in the groups behind them.
class Replacement {
 public:
  explicit Replacement(Graph& graph) : graph_(graph), users_(graph), is_gone_(graph.nodes.size()) {}

  void run() {
    for (size_t place = 0; place < graph_.nodes.size(); ++place) {
      Node& node = graph_.nodes[place];
      if (!is_known(node)) continue;
      node.op = kVectorConvolution, node.domain = kOwnDomain;
      join(place);
    }
    std::vector<Node> left;
    for (size_t place = 0; place < graph_.nodes.size(); ++place) {
      if (!is_gone_[place]) left.push_back(std::move(graph_.nodes[place]));
    }
    graph_.nodes = std::move(left);
  }

 private:
  /// Whether the weights are float32 constants for images of one or two axes.
  bool is_known(const Node& node) const {
    if (node.op != "Conv" || !node.domain.empty() || node.inputs.size() != 2 || node.outputs.size() != 1) return false;
    const auto found = graph_.initializers.find(node.inputs[1]);
    if (found == graph_.initializers.end() || found->second.dtype() != Dtype::float32) return false;
    const auto* given = find_attribute<int64_t>(node, "group");
    const int64_t groups = given ? *given : 1;
    const Array& weights = found->second;
    return weights.ndim() >= 3 && weights.ndim() <= 4 && groups >= 1 && weights.shape(0) % groups == 0 &&
           weights.size() > 0;
  }

  /// The place of the pointwise group that alone uses a value, if it is cheap.
  const size_t* cheap_user(const std::string& value) const {
    const std::span<const size_t> users = users_.users(value);
    if (users.size() != 1 || users_.is_output(value) || is_gone_[users[0]]) return nullptr;
    const Node& user = graph_.nodes[users[0]];
    if (!is_fused(user) || std::ranges::count(user.inputs, value) != 1) return nullptr;
    const auto& body = *std::get<GraphHandle>(user.attributes.at("body"));
    return std::ranges::all_of(body.nodes, is_cheap) ? users.data() : nullptr;
  }

  void join(size_t place) {
    const std::string value = graph_.nodes[place].outputs[0];
    const size_t* const user_place = cheap_user(value);
    if (!user_place) return;
    const Node& user = graph_.nodes[*user_place];
    const auto at = static_cast<size_t>(std::ranges::find(user.inputs, value) - user.inputs.begin());
    if (PointwiseGroup(user).is_by_channel(at)) return;
    Node joined = graph_.nodes[place];
    joined.attributes["body"] = user.attributes.at("body");
    joined.attributes["place"] = static_cast<int64_t>(at);
    bool are_known = true;  // where the convolution stands
    for (const std::string& input : user.inputs) {
      if (input == value) continue;
      joined.inputs.push_back(input);
      const size_t* const maker = users_.maker(input);
      are_known = are_known && (!maker || *maker < place);
    }
    joined.outputs = user.outputs;
    // Nodes behind the group use its results alone, so that the node may stand at either place.
    const size_t to = are_known ? place : *user_place;
    for (const std::string& output : joined.outputs) users_.set_maker(output, to);
    is_gone_[are_known ? *user_place : place] = true;
    graph_.nodes[to] = std::move(joined);
  }

  Graph& graph_;
  NodeUsers users_;
  std::vector<bool> is_gone_;
};

}  // namespace

bool is_vector_convolution(const Node& node) { return node.domain == kOwnDomain && node.op == kVectorConvolution; }

std::string vector_convolution_text(const Node& node) {
  const auto body = node.attributes.find("body");
  std::string text;
  if (body == node.attributes.end()) return text;
  for (const Node& inner : std::get<GraphHandle>(body->second)->nodes) text += "+" + inner.op;
  return text;
}

Run vector_convolution_run(const Node& node) {
  return [made = std::make_shared<const VectorConvolution>(node)](const Call& call) { return made->run(call); };
}

void use_vector_convolutions(Graph& graph, Device& device) {
  if (!device.target().is_host) return;
  Replacement(graph).run();
}

}  // namespace iruka::nn
