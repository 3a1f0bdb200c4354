#include "nn/known_shapes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "nn/fusion.h"
#include "nn/pointwise_table.h"

namespace iruka::nn {
namespace {

using MaybeShape = std::optional<KnownShape>;
using MaybeIntegers = std::optional<std::vector<int64_t>>;

/// What a rule sees of a node.
class Place {
 public:
  Place(const Graph& graph, const KnownShapes& shapes, const Node& node)
      : graph_(graph), shapes_(shapes), node_(node) {}

  const Node& node() const { return node_; }
  const KnownShape* input(size_t place) const {
    return place < node_.inputs.size() ? shapes_.find(node_.inputs[place]) : nullptr;
  }
  bool has(size_t place) const { return place < node_.inputs.size() && !node_.inputs[place].empty(); }

  int64_t integer(const char* name, int64_t otherwise) const {
    const auto* value = find_attribute<int64_t>(node_, name);
    return value ? *value : otherwise;
  }
  MaybeIntegers integers(const char* name) const {
    const auto* value = find_attribute<std::vector<int64_t>>(node_, name);
    return value ? MaybeIntegers(*value) : std::nullopt;
  }
  /// The integers of a constant input, or of the attribute of older versions.
  MaybeIntegers integers(const char* name, size_t input) const {
    if (!has(input)) return integers(name);
    const auto found = graph_.initializers.find(node_.inputs[input]);
    if (found == graph_.initializers.end() || !is_integer(found->second.dtype()) || found->second.ndim() > 1) return {};
    return found->second.astype(Dtype::int64, false).to_vector<int64_t>();
  }

 private:
  const Graph& graph_;
  const KnownShapes& shapes_;
  const Node& node_;
};

MaybeShape copied(const KnownShape* shape) { return shape ? MaybeShape(*shape) : std::nullopt; }
bool is_one(const Extent& extent) { return extent.value == 1; }
Extent number(int64_t value) { return {std::max<int64_t>(value, -1), {}}; }

/// A non-negative axis; none where there is no such one.
std::optional<size_t> axis_of(int64_t axis, size_t rank) {
  const auto ndim = static_cast<int64_t>(rank);
  if (axis < -ndim || axis >= ndim) return {};
  return static_cast<size_t>(axis < 0 ? axis + ndim : axis);
}

Extent joined(const Extent& a, const Extent& b) {
  if (is_one(a)) return b;
  if (is_one(b) || a.value >= 0) return a;
  return b.value >= 0 || a.symbol != b.symbol ? Extent{b.value, {}} : a;
}

MaybeShape broadcast(const Place& place) {
  KnownShape shape;
  for (size_t k = 0; k < place.node().inputs.size(); ++k) {
    if (!place.has(k)) continue;
    const KnownShape* const input = place.input(k);
    if (!input) return {};
    if (input->size() > shape.size()) shape.insert(shape.begin(), input->size() - shape.size(), {1, {}});
    const size_t missing = shape.size() - input->size();
    for (size_t axis = 0; axis < input->size(); ++axis)
      shape[missing + axis] = joined(shape[missing + axis], (*input)[axis]);
  }
  return shape;
}

MaybeShape first(const Place& place) { return copied(place.input(0)); }

/// (N, C, 1, ...).
MaybeShape pooled_globally(const Place& place) {
  MaybeShape shape = first(place);
  for (size_t axis = 2; shape && axis < shape->size(); ++axis) (*shape)[axis] = {1, {}};
  return shape;
}

MaybeShape pooled_to_size(const Place& place) {
  MaybeShape shape = first(place);
  const MaybeIntegers size = place.integers("output_size");
  if (!shape || !size || shape->size() != size->size() + 2) return {};
  for (size_t k = 0; k < size->size(); ++k) {
    if ((*size)[k] >= 0) (*shape)[k + 2] = number((*size)[k]);
  }
  return shape;
}

/// Windows of extent 1 without margins and strides keep an axis; what others leave of it is unknown.
KnownShape windowed(const Place& place, KnownShape shape, const std::vector<int64_t>& kernel) {
  const auto is_all = [](const MaybeIntegers& list, int64_t value) {
    return !list || std::ranges::all_of(*list, [&](int64_t each) { return each == value; });
  };
  const bool keeps = is_all(kernel, 1) && is_all(place.integers("strides"), 1) && is_all(place.integers("pads"), 0);
  for (size_t axis = 2; axis < shape.size() && !keeps; ++axis) shape[axis] = {};
  return shape;
}

MaybeShape pooled(const Place& place) {
  MaybeShape shape = first(place);
  const MaybeIntegers kernel = place.integers("kernel_shape");
  if (!shape || !kernel) return shape;
  return windowed(place, *shape, *kernel);
}

MaybeShape convolved(const Place& place) {
  const KnownShape* const weight = place.input(1);
  if (!weight || weight->size() < 3) return {};
  MaybeShape shape = first(place);
  if (!shape || shape->size() != weight->size()) shape = KnownShape(weight->size());
  const bool is_transposed = place.node().op == "ConvTranspose";
  (*shape)[1] = (*weight)[is_transposed ? 1 : 0];
  if (is_transposed && place.integer("group", 1) != 1) (*shape)[1] = {};
  std::vector<int64_t> kernel;
  for (size_t axis = 2; axis < weight->size(); ++axis) kernel.push_back((*weight)[axis].value);
  return windowed(place, *shape, kernel);
}

MaybeShape reduced(const Place& place) {
  const bool is_search = place.node().op.starts_with("Arg"), keeps = place.integer("keepdims", 1) != 0;
  const MaybeShape given = first(place);
  const MaybeIntegers axes =
      is_search ? MaybeIntegers(std::vector{place.integer("axis", 0)}) : place.integers("axes", 1);
  if (!given || (place.has(1) && !axes)) return {};
  std::vector<bool> drops(given->size(), !axes || axes->empty());
  if (drops.size() > 0 && drops[0] && place.integer("noop_with_empty_axes", 0)) return given;
  for (int64_t each : axes.value_or(std::vector<int64_t>())) {
    const auto axis = axis_of(each, given->size());
    if (!axis) return {};
    drops[*axis] = true;
  }
  KnownShape shape;
  for (size_t axis = 0; axis < given->size(); ++axis) {
    if (!drops[axis]) shape.push_back((*given)[axis]);
    if (drops[axis] && keeps) shape.push_back({1, {}});
  }
  return shape;
}

MaybeShape multiplied(const Place& place) {
  const KnownShape *a = place.input(0), *b = place.input(1);
  if (place.node().op == "Gemm") {
    KnownShape shape(2);
    if (a && a->size() == 2) shape[0] = (*a)[place.integer("transA", 0) ? 1 : 0];
    if (b && b->size() == 2) shape[1] = (*b)[place.integer("transB", 0) ? 0 : 1];
    return shape;
  }
  if (!a || !b || a->size() < 2 || b->size() != 2) return {};
  KnownShape shape = *a;
  shape.back() = b->back();
  return shape;
}

MaybeShape reshaped(const Place& place) {
  const MaybeIntegers wanted = place.integers("shape", 1);
  if (!wanted) return {};
  const KnownShape* const given = place.input(0);
  KnownShape shape;
  for (size_t axis = 0; axis < wanted->size(); ++axis) {
    const bool is_kept = (*wanted)[axis] == 0 && !place.integer("allowzero", 0);
    shape.push_back(is_kept ? (given && axis < given->size() ? (*given)[axis] : Extent()) : number((*wanted)[axis]));
  }
  return shape;
}

MaybeShape with_axes(const Place& place) {
  const MaybeShape given = first(place);
  const MaybeIntegers axes = place.integers("axes", 1);
  if (!given || !axes) return {};
  const size_t rank = given->size() + axes->size();
  std::vector<bool> is_new(rank);
  for (int64_t each : *axes) {
    const auto axis = axis_of(each, rank);
    if (!axis || is_new[*axis]) return {};
    is_new[*axis] = true;
  }
  KnownShape shape;
  for (size_t axis = 0, next = 0; axis < rank; ++axis) shape.push_back(is_new[axis] ? Extent{1, {}} : (*given)[next++]);
  return shape;
}

MaybeShape transposed(const Place& place) {
  const MaybeShape given = first(place);
  if (!given) return {};
  const MaybeIntegers order = place.integers("perm");
  if (!order) return KnownShape(given->rbegin(), given->rend());
  KnownShape shape;
  for (int64_t each : *order) {
    const auto axis = axis_of(each, given->size());
    if (!axis) return {};
    shape.push_back((*given)[*axis]);
  }
  return shape;
}

MaybeShape flattened(const Place&) { return KnownShape(2); }

/// Concat and Split: what they make of an axis is left unknown.
MaybeShape along_axis(const Place& place) {
  MaybeShape shape = first(place);
  const auto axis = shape ? axis_of(place.integer("axis", 0), shape->size()) : std::nullopt;
  if (!axis) return {};
  (*shape)[*axis] = {};
  return shape;
}

using Rule = MaybeShape (*)(const Place&);

Rule rule_of(const Node& node) {
  static constexpr std::pair<std::string_view, Rule> kRules[] = {
      {"AdaptiveAveragePool", pooled_to_size},
      {"AdaptiveMaxPool", pooled_to_size},
      {"ArgMax", reduced},
      {"ArgMin", reduced},
      {"AveragePool", pooled},
      {"BatchNormalization", first},
      {"Concat", along_axis},
      {"Conv", convolved},
      {"ConvTranspose", convolved},
      {"Dropout", first},
      {"Flatten", flattened},
      {"Gemm", multiplied},
      {"GlobalAveragePool", pooled_globally},
      {"GlobalLpPool", pooled_globally},
      {"GlobalMaxPool", pooled_globally},
      {"GroupNormalization", first},
      {"InstanceNormalization", first},
      {"LayerNormalization", first},
      {"LogSoftmax", first},
      {"LpPool", pooled},
      {"MatMul", multiplied},
      {"MaxPool", pooled},
      {"RMSNormalization", first},
      {"Reshape", reshaped},
      {"Softmax", first},
      {"Split", along_axis},
      {"Transpose", transposed},
      {"Unsqueeze", with_axes},
  };
  if (const PointwiseRow* row = is_pointwise(node) ? find_pointwise(node.op) : nullptr)
    return row->is_by_channel ? first : broadcast;
  if (node.domain.empty() && node.op.starts_with("Reduce")) return reduced;
  const auto* const found = std::ranges::find(kRules, node.op, &std::pair<std::string_view, Rule>::first);
  return found == std::end(kRules) ? nullptr : found->second;
}

/// The declared shape, with extents of the other where it has none.
MaybeShape both(const MaybeShape& declared, const MaybeShape& followed) {
  if (!declared || !followed || declared->size() != followed->size()) return declared ? declared : followed;
  KnownShape shape = *declared;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].value < 0) shape[axis] = (*followed)[axis];
  }
  return shape;
}

}  // namespace

KnownShapes::KnownShapes(const Graph& graph) {
  std::unordered_map<std::string, MaybeShape> declared;
  for (const auto* list : {&graph.values, &graph.outputs, &graph.inputs}) {
    for (const TensorInfo& info : *list) {
      if (info.shape) declared[info.name] = *info.shape;
    }
  }
  for (const TensorInfo& input : graph.inputs) {
    if (input.shape) shapes_[input.name] = *input.shape;
  }
  for (const auto& [name, array] : graph.initializers) {
    for (int64_t extent : array.shape()) shapes_[name].push_back(number(extent));
    shapes_[name];
  }
  for (const Node& node : graph.nodes) {
    const Rule rule = rule_of(node);
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const auto found = declared.find(node.outputs[k]);
      const bool follows = rule && (k == 0 || node.op == "Split");
      const MaybeShape shape = both(found == declared.end() ? std::nullopt : found->second,
                                    follows ? rule(Place(graph, *this, node)) : std::nullopt);
      if (shape) shapes_[node.outputs[k]] = *shape;
    }
  }
}

const KnownShape* KnownShapes::find(const std::string& value) const {
  const auto found = shapes_.find(value);
  return found == shapes_.end() ? nullptr : &found->second;
}

bool KnownShapes::is_repeated_in(const std::string& value, const std::string& result) const {
  const KnownShape *small = find(value), *large = find(result);
  if (!small) return false;
  if (!large) return std::ranges::any_of(*small, is_one);
  for (size_t k = 1; k <= large->size(); ++k) {
    const bool may_be_wider = !is_one((*large)[large->size() - k]);
    if (may_be_wider && (k > small->size() || is_one((*small)[small->size() - k]))) return true;
  }
  return false;
}

}  // namespace iruka::nn
