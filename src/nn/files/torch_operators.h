// ATen's operators as nodes of a graph: a row of a table each, and the call that its function is given.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "nn/files/torch_json.h"
#include "nn/graph.h"

namespace iruka::nn {

using Attributes = std::map<std::string, Attribute>;
using Integers = std::vector<int64_t>;
using Names = std::vector<std::string>;

/// A tensor of a program, or a size that is known in a run alone: then a tensor of one int64 without axes.
struct TorchTensor {
  std::string value;  ///< its name in the graph; empty for a result before it is made
  Dtype dtype = Dtype::float32;
  std::vector<Extent> shape;

  int ndim() const { return static_cast<int>(shape.size()); }
  /// -1 where it is known in a run alone.
  int64_t extent(int axis) const { return shape[static_cast<size_t>(axis)].value; }
};

/// The graph in the making. Names of new values are unlike all others.
class TorchGraph {
 public:
  explicit TorchGraph(Graph& graph) : graph_(graph) {}

  std::string fresh(const std::string& base);
  /// Nodes that are added from now on are named after `base`.
  void begin(const std::string& base) { base_ = base, first_ = graph_.nodes.size(); }
  Names emit(size_t outputs, const char* op, Names inputs, Attributes attributes);
  std::string constant(Array array);
  /// Gives a value that was made since begin() the name `base`, or one like it. Others keep theirs.
  std::string rename(const std::string& value, const std::string& base);

 private:
  Graph& graph_;
  std::string base_;
  size_t first_ = 0;
  std::unordered_set<std::string> names_;
};

/// The tensors that names of the program stand for at a place in it.
class TorchValues {
 public:
  void set(const std::string& name, TorchTensor tensor) { tensors_[name] = std::move(tensor); }
  /// Null where nothing has given it.
  const TorchTensor* find(const std::string& name) const;
  /// `name` shares its elements with `base`.
  void share(const std::string& name, const std::string& base);
  /// `name` was changed in place by a node: it is `tensor` from now on, and all that share its elements are out of
  /// date.
  void change(const std::string& name, TorchTensor tensor, const std::string& node);
  /// What changed the tensor's elements behind its back; empty for a tensor that is up to date.
  std::string spoiler(const std::string& name) const;
  /// The first tensor with the same elements.
  const std::string& root(const std::string& name) const;

 private:
  std::unordered_map<std::string, TorchTensor> tensors_;
  std::unordered_map<std::string, std::string> bases_;
  std::unordered_map<std::string, std::string> changes_;     ///< who changed the elements of a root last
  std::unordered_map<std::string, std::string> up_to_date_;  ///< the change after which a name is right
};

class TorchCall;
struct TorchOperator {
  const char* name;
  /// The graph's values for the results. Fewer of them than there are: others may not be used.
  Names (*convert)(TorchCall&);
  const char* op = "";   ///< the operator of ONNX that rows with a common function differ in
  bool is_view = false;  ///< results may share elements with the first argument
};

/// An argument's integer, or the name of the graph's value that has it.
struct TorchSize {
  int64_t value = 0;
  std::string name;
};

/// A node of a program. Functions take arguments by their names in ATen's signatures, with their defaults there.
class TorchCall {
 public:
  TorchCall(const JsonPart& node, const TorchOperator& row, TorchGraph& graph, const TorchValues& values,
            std::vector<TorchTensor> results, std::vector<bool> used);

  const char* op() const { return row_.op; }
  std::string_view name() const { return row_.name; }

  /// Whether the argument is given and not None.
  bool has(const char* name) const;
  /// Takes an argument that changes nothing.
  void ignore(const char* name) { taken_.insert(name); }
  TorchTensor tensor(const char* name);
  std::optional<TorchTensor> optional_tensor(const char* name);
  std::vector<TorchTensor> tensors(const char* name);
  std::vector<std::optional<TorchTensor>> optional_tensors(const char* name);
  bool is_tensor(const char* name) const;
  int64_t integer(const char* name, std::optional<int64_t> otherwise = {});
  Integers integers(const char* name, std::optional<Integers> otherwise = {});
  TorchSize size(const char* name, std::optional<int64_t> otherwise = {});
  std::vector<TorchSize> sizes(const char* name);
  Scalar number(const char* name, std::optional<Scalar> otherwise = {});
  std::vector<double> numbers(const char* name);
  bool flag(const char* name, bool otherwise);
  std::string text(const char* name, const char* otherwise);
  bool is_text(const char* name) const;
  /// A non-negative axis among `ndim`.
  int axis(const char* name, int ndim, std::optional<int64_t> otherwise = {});
  /// Non-negative axes; all of them where the argument is left out or empty.
  Integers axes(const char* name, int ndim);
  int checked_axis(int64_t axis, int ndim) const;

  size_t result_count() const { return results_.size(); }
  const TorchTensor& result(size_t k = 0) const { return results_[k]; }
  bool is_used(size_t k) const { return k < used_.size() && used_[k]; }

  std::string emit(const char* op, Names inputs, Attributes attributes = {}) {
    return graph_.emit(1, op, std::move(inputs), std::move(attributes)).front();
  }
  Names emit(size_t outputs, const char* op, Names inputs, Attributes attributes = {}) {
    return graph_.emit(outputs, op, std::move(inputs), std::move(attributes));
  }
  std::string constant(Array array) { return graph_.constant(std::move(array)); }
  std::string constant(const Scalar& number, Dtype dtype);
  std::string constant(const Integers& integers);
  /// The values of a constant, which `count` numbers fill.
  std::string filled(int64_t count, const Scalar& number, Dtype dtype);
  /// One-dimensional integers.
  std::string constant(const std::vector<TorchSize>& sizes);
  /// An integer without axes.
  std::string constant(const TorchSize& size);
  std::string cast(const std::string& value, Dtype from, Dtype to);
  /// A tensor or number, as `dtype`.
  std::string operand(const char* name, Dtype dtype);
  /// torch's dtype of a computation with two arguments, tensors or numbers.
  Dtype common_dtype(const char* first, const char* second);

  std::string unsqueezed(const std::string& value, Integers axes);
  std::string squeezed(const std::string& value, Integers axes);
  std::string reshaped(const std::string& value, const Integers& shape);
  std::string transposed(const std::string& value, Integers order);

  /// Raises ValueError for an argument that the function did not take.
  void check_arguments() const;
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  using Argument = std::pair<std::string, JsonPart>;  ///< its kind and content
  /// Null where it is left out or None.
  const Argument* find(const char* name);
  const Argument& argument(const char* name);
  TorchTensor tensor_of(const JsonPart& part) const;
  TorchSize size_of(const std::string& kind, const JsonPart& part) const;
  /// The rank (0 for a number, 1 for a tensor without axes, 2) and dtype of an argument.
  std::pair<int, Dtype> kind_of(const char* name);

  const TorchOperator& row_;
  TorchGraph& graph_;
  const TorchValues& values_;
  std::string label_;
  const std::string& where_;
  std::map<std::string, Argument> arguments_;
  std::set<std::string> taken_;
  std::vector<TorchTensor> results_;
  std::vector<bool> used_;
};

/// Null where there is no such operator. `target`: "torch.ops.aten.relu.default", "_operator.mul".
const TorchOperator* find_torch_operator(std::string_view target);
/// Whether the target is an operator in place, whose result replaces its first argument.
bool is_in_place(std::string_view target);
/// The number before the "d" of a name such as "conv2d".
int rank_in(std::string_view name);
int32_t onnx_type_of(Dtype dtype);
Array array_of_scalar(const Scalar& number, Dtype dtype);

// The rows, a list for each subject; find_torch_operator() knows them all.
std::span<const TorchOperator> torch_pointwise_operators();
std::span<const TorchOperator> torch_layer_operators();
std::span<const TorchOperator> torch_shape_operators();
std::span<const TorchOperator> torch_creation_operators();
std::span<const TorchOperator> torch_reduction_operators();
std::span<const TorchOperator> torch_recurrent_operators();

}  // namespace iruka::nn
