// What an operator of a graph is: a row of a table, and the call that its function is given.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iruka/device.h"
#include "iruka/kernel.h"
#include "nn/graph.h"

namespace iruka::nn {

class Program;

/// One run of a node. Functions that take attributes and inputs by their names and numbers in ONNX's specification.
class Call {
 public:
  Call(const Node& node, int64_t opset, Device& device, std::span<const Array> inputs,
       std::span<const std::shared_ptr<const Program>> graphs, size_t explicit_inputs)
      : node_(node), opset_(opset), device_(device), inputs_(inputs), graphs_(graphs), explicit_(explicit_inputs) {}

  const std::string& op() const { return node_.op; }
  int64_t opset() const { return opset_; }
  Device& device() const { return device_; }  ///< where the results belong

  /// Inputs that the node itself names, the left out ones included.
  size_t count() const { return explicit_; }
  bool has(size_t input) const { return input < explicit_ && inputs_[input].valid(); }
  /// Raises ValueError for an input that is left out.
  const Array& operator[](size_t input) const;
  /// The integers of a small input, read on the host.
  std::vector<int64_t> integers_of(size_t input) const;
  /// The same of one number.
  Scalar number_of(size_t input) const;

  size_t output_count() const { return node_.outputs.size(); }
  bool wants(size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }

  const Attribute* attribute(const char* name) const;
  int64_t integer(const char* name, int64_t otherwise) const;
  double number(const char* name, double otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::optional<std::vector<int64_t>> integers(const char* name) const;
  std::vector<double> numbers(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  /// The integers of an input in newer operator sets, of an attribute in older ones.
  std::optional<std::vector<int64_t>> integers(const char* name, size_t input) const;

  /// The graph of an attribute, run with its own inputs. All outputs are valid.
  std::vector<Array> run(const char* graph, std::vector<Array> inputs) const;

  /// Raises ShapeError unless x, which messages call `name`, can be repeated to `shape`. Sums and products of arrays
  /// would repeat both.
  void check_broadcast(const Array& x, const char* name, const Dims& shape) const;
  /// A non-negative axis. Raises AxisError.
  int axis(int64_t axis, int ndim) const;
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  const Node& node_;
  const int64_t opset_;
  Device& device_;
  const std::span<const Array> inputs_;
  const std::span<const std::shared_ptr<const Program>> graphs_;
  const size_t explicit_;
};

using Results = std::vector<Array>;
using Run = std::function<Results(const Call&)>;

/// A row of the table.
struct Operator {
  const char* name;
  Results (*run)(const Call&);
  /// Which inputs, one bit each, are numbers that the function reads on the host.
  uint32_t host_inputs = 0;
  /// Makes what runs one node whose second input, its weights, is constant: it prepares them once.
  Run (*run_prepared)() = nullptr;
};

/// Null where there is no such operator of ONNX's own domain.
const Operator* find_operator(std::string_view name);

// The rows, a list for each subject; find_operator() knows them all.
std::span<const Operator> convolution_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> matrix_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> shape_operators();
std::span<const Operator> rearranging_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> scattering_operators();
std::span<const Operator> resizing_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> attention_operators();
std::span<const Operator> control_operators();

/// What keeps a node with graphs from running, such as an attribute that lacks; empty where there is nothing. Their
/// operators rely on it.
std::string control_problem(const Node& node);

/// The kernel of these texts, made once in a process. `preamble` is a header of nn/kernels, without ".h".
const ElementwiseKernel& kernel_of(const char* header, const std::string& in_params, const std::string& out_params,
                                   const std::string& body, const char* name,
                                   const std::vector<std::string>& options = {});
/// A new array that the kernel, whose arrays are all raw, fills: one element of work for each of its elements, or
/// `size` of them.
Array filled_by(const ElementwiseKernel& kernel, std::vector<Argument> arguments, const Dims& shape, Dtype dtype,
                Device& device, std::optional<int64_t> size = {});

/// The dtype in which numbers of a dtype are computed: float32 for smaller floats.
inline Dtype compute_dtype(Dtype dtype) {
  return dtype == Dtype::float16 || dtype == Dtype::bfloat16 ? Dtype::float32 : dtype;
}
inline Dims dims_of(std::span<const int64_t> values) { return {values.data(), static_cast<int>(values.size())}; }
Array array_of_integers(std::span<const int64_t> values);  ///< on the CPU
/// The product of extents from axis `begin` to `end`.
inline int64_t extent_between(const Array& x, int begin, int end) {
  int64_t product = 1;
  for (int axis = begin; axis < end; ++axis) product *= x.shape(axis);
  return product;
}

}  // namespace iruka::nn
