#include "nn/fusion.h"

#include <algorithm>
#include <set>

#include "nn/call_cache.h"
#include "nn/channels_last.h"
#include "nn/known_shapes.h"
#include "nn/node_users.h"
#include "nn/pointwise_group.h"
#include "nn/step_memory.h"
#include "ops/views.h"

namespace iruka::nn {

bool is_pointwise(const std::string& op) { return find_pointwise(op) != nullptr; }

bool is_pointwise(const Node& node) {
  const PointwiseRow* const row = find_pointwise(node.op);
  const bool is_known = node.domain.empty() || (node.domain == kOwnDomain && !is_fused(node));
  return row && is_known && pointwise_text(*row, node) && node.outputs.size() == 1;
}

namespace {

constexpr size_t kMostNodes = 64, kMostInputs = 24;

/// Groups of pointwise nodes, made from the last node to the first.
class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph), users_(graph), shapes_(graph) {}

  void run() {
    std::vector<bool> taken(graph_.nodes.size());
    std::vector<Node> made;
    for (size_t k = graph_.nodes.size(); k-- > 0;) {
      if (taken[k]) continue;
      if (!is_pointwise(graph_.nodes[k])) {
        made.push_back(std::move(graph_.nodes[k]));
        continue;
      }
      const std::set<size_t> group = group_of(k);
      for (size_t member : group) taken[member] = true;
      made.push_back(fused(group));
    }
    std::ranges::reverse(made);
    graph_.nodes = std::move(made);
  }

 private:
  /// The node, and all before it of which it is the only user. What is costly and repeated along axes of the result
  /// runs by itself, once for each of its own elements.
  std::set<size_t> group_of(size_t last) {
    std::set<size_t> group{last};
    for (bool grows = true; grows && group.size() < kMostNodes;) {
      grows = false;
      for (const size_t member : std::vector<size_t>(group.rbegin(), group.rend())) {
        for (const std::string& input : graph_.nodes[member].inputs) {
          const size_t* const maker = users_.maker(input);
          if (!maker || group.contains(*maker)) continue;
          if (!is_pointwise(graph_.nodes[*maker]) || users_.is_output(input)) continue;
          if (!std::ranges::all_of(users_.users(input), [&](size_t user) { return group.contains(user); })) continue;
          if (is_by_channel_somewhere(input) || is_costly_repeated(*maker, last)) continue;
          group.insert(*maker);
          if (inputs_of(group).size() > kMostInputs) {
            group.erase(*maker);
            continue;
          }
          grows = true;
        }
      }
    }
    return group;
  }

  bool is_costly_repeated(size_t maker, size_t last) const {
    const Node &node = graph_.nodes[maker], &result = graph_.nodes[last];
    return find_pointwise(node.op)->cost == PointwiseCost::high &&
           shapes_.is_repeated_in(node.outputs[0], result.outputs[0]);
  }

  static bool is_by_channel(const Node& node, size_t place) {
    const PointwiseRow* const row = place > 0 ? find_pointwise(node.op) : nullptr;
    return row && row->is_by_channel;
  }
  /// Whether some node takes the value's elements as numbers for channels, which a group does of its inputs alone.
  bool is_by_channel_somewhere(const std::string& value) {
    return std::ranges::any_of(users_.users(value), [&](size_t user) {
      const std::vector<std::string>& inputs = graph_.nodes[user].inputs;
      return is_by_channel(graph_.nodes[user], 1) && std::find(inputs.begin() + 1, inputs.end(), value) != inputs.end();
    });
  }

  /// An input of a group: a value of the graph around it, and the name that it has within the group.
  struct GroupInput {
    std::string value, name;
    bool is_by_channel;
  };

  /// A value is an input for each way of its use: element by element, and as numbers for channels, once for each node,
  /// as the axis of channels depends on the node.
  std::vector<GroupInput> inputs_of(const std::set<size_t>& group) const {
    std::vector<GroupInput> inputs;
    for (const size_t member : group) {
      const Node& node = graph_.nodes[member];
      for (size_t place = 0; place < node.inputs.size(); ++place) {
        const std::string& value = node.inputs[place];
        const size_t* const maker = users_.maker(value);
        if (value.empty() || (maker && group.contains(*maker))) continue;
        if (is_by_channel(node, place)) {
          inputs.push_back({value, channel_name(member, place), true});
        } else if (std::ranges::none_of(inputs, [&](const GroupInput& input) { return input.name == value; })) {
          inputs.push_back({value, value, false});
        }
      }
    }
    return inputs;
  }
  std::string channel_name(size_t member, size_t place) const {
    std::string name = graph_.nodes[member].outputs[0] + ".channel" + std::to_string(place);
    while (users_.contains(name)) name += "'";
    return name;
  }

  Node fused(const std::set<size_t>& group) {
    Node node{kFused, kOwnDomain, "", {}, graph_.nodes[*group.rbegin()].outputs, {}};
    Graph body;
    for (const GroupInput& input : inputs_of(group)) {
      node.inputs.push_back(input.value);
      body.inputs.push_back({input.name, {}, {}});
    }
    for (const size_t member : group) {
      std::vector<std::string>& inputs = graph_.nodes[member].inputs;
      for (size_t place = 0; place < inputs.size(); ++place) {
        if (!inputs[place].empty() && is_by_channel(graph_.nodes[member], place))
          inputs[place] = channel_name(member, place);
      }
      node.name += (node.name.empty() ? "" : "+") + graph_.nodes[member].op;
      body.nodes.push_back(std::move(graph_.nodes[member]));
    }
    body.outputs.push_back({node.outputs[0], {}, {}});
    node.attributes["body"] = std::make_shared<const Graph>(std::move(body));
    return node;
  }

  Graph& graph_;
  const NodeUsers users_;
  const KnownShapes shapes_;
};

/// The dtypes of a group's inputs, on which its kernel depends.
using KernelKey = std::vector<Dtype>;

/// A group of pointwise operators: its kernels, by the dtypes of inputs.
class FusedKernel {
 public:
  explicit FusedKernel(const Node& node) : group_(node) {}

  Results run(const Call& call) const {
    Inputs inputs = with_ranks(call);
    KernelKey key;
    for (const Array& x : inputs.arrays) key.push_back(x.dtype());
    const Made& made = kernels_.get(key, [&] { return make(key); });
    std::vector<Argument> arguments;
    for (size_t k = 0; k < inputs.arrays.size(); ++k) {
      const Array& x = inputs.arrays[k];
      inputs.is_number[k] ? arguments.emplace_back(x.item()) : arguments.emplace_back(x);
    }
    const Array result = empty_result(inputs.shape, made.dtype, call.device(), is_result_channels_last(inputs));
    if (result.size() == 0) return {result};
    arguments.emplace_back(result);
    made.kernel.fill(arguments);
    return {result};
  }

 private:
  struct Made {
    ElementwiseKernel kernel;
    Dtype dtype;
  };
  struct Inputs {
    std::vector<Array> arrays;
    std::vector<bool> is_number;
    Dims shape;  ///< of the result
  };

  /// The inputs: numbers for channels as arrays that broadcast, single numbers of the host as such.
  Inputs with_ranks(const Call& call) const {
    Inputs inputs;
    std::vector<Dims> shapes;  // of all values of the group
    shapes.reserve(call.count() + group_.nodes().size());
    for (size_t k = 0; k < call.count(); ++k) {
      inputs.arrays.push_back(call[k]);
      shapes.push_back(call[k].shape());
    }
    for (size_t k = 0; k < group_.nodes().size(); ++k) shapes.push_back(shape_of(k, shapes, inputs.arrays));
    inputs.shape = shapes.back();
    for (Array& x : inputs.arrays) {
      const bool is_number = x.size() == 1 && &x.device() == &cpu() && inputs.shape.size() > 0;
      inputs.is_number.push_back(is_number);
      if (!is_number) x = x.to_device(call.device());
    }
    return inputs;
  }

  /// Whether the first array of the result's shape has the channels as its fastest axis.
  static bool is_result_channels_last(const Inputs& inputs) {
    const auto first = std::ranges::find_if(inputs.arrays, [&](const Array& x) { return x.shape() == inputs.shape; });
    return first != inputs.arrays.end() && is_taken_channels_last(*first);
  }

  /// The shape of a node's output. Its numbers for channels, among the arrays, get axes that broadcast.
  Dims shape_of(size_t node, const std::vector<Dims>& shapes, std::vector<Array>& arrays) const {
    const PointwiseRow& row = group_.row(node);
    std::vector<const Dims*> inputs;
    for (const std::string& name : group_.nodes()[node].inputs) {
      if (name.empty()) continue;
      const size_t number = group_.number(name);
      if (row.is_by_channel && !inputs.empty())
        arrays[number] = along_channels(arrays[number], *inputs[0]);
      else
        inputs.push_back(&shapes[number]);
    }
    Dims shape = broadcast_shapes(inputs);
    if (row.keeps_shape && !inputs.empty() && shape != *inputs[0])
      throw ShapeError("shape " + to_string(*inputs.back()) + " does not broadcast to the input's, " +
                       to_string(*inputs[0]));
    return shape;
  }

  static Array along_channels(const Array& numbers, const Dims& shape) {
    const int rank = shape.size();
    const int64_t channels = rank < 2 ? 1 : shape[1];
    if (numbers.size() != channels)
      throw ShapeError(std::to_string(numbers.size()) + " numbers for channels do not fit the " +
                       std::to_string(channels) + " channels of shape " + to_string(shape));
    return numbers.reshape(rank < 2 ? Dims{1} : ops::along_axis(rank, 1, channels));
  }

  Made make(const KernelKey& key) const {
    std::vector<Dtype> dtypes = key;
    std::string parameters, text = "using namespace iruka; using namespace iruka::nn;\n";
    for (size_t k = 0; k < key.size(); ++k) {
      const std::string parameter = "x" + std::to_string(k);
      parameters += (k ? ", " : "") + std::string(name(key[k])) + " " + parameter;
      text += PointwiseGroup::declared(k, key[k]) + PointwiseGroup::type_of(key[k]) + "(" + parameter + ");\n";
    }
    text += group_.statements(dtypes);
    const Dtype dtype = dtypes.back();
    text += std::string("y = ") + info(dtype).c_type + "(v" + std::to_string(dtypes.size() - 1) + ");";
    return {kernel_of("pointwise", parameters, std::string(name(dtype)) + " y", text, "pointwise"), dtype};
  }

  PointwiseGroup group_;
  mutable CallCache<KernelKey, Made> kernels_;
};

}  // namespace

void fuse_pointwise(Graph& graph) { Fusion(graph).run(); }

Run fused_run(const Node& node) {
  return [kernel = std::make_shared<const FusedKernel>(node)](const Call& call) { return kernel->run(call); };
}

}  // namespace iruka::nn
