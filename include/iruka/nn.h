// Trained networks: reading files of weights, none of which is ever executed, and networks that become one kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "iruka/array.h"
#include "iruka/precision.h"
#include "iruka/report.h"

namespace iruka::nn {

struct Item;

/// What a file of weights holds: nothing, a number, a text, bytes, an array, or a list, tuple or mapping of values.
/// Copying one copies no elements of arrays.
class IRUKA_API Value {
 public:
  enum class Kind : uint8_t { none, number, text, bytes, array, list, tuple, mapping };
  struct Bytes {
    std::string data;
  };
  struct Tuple {
    std::vector<Value> values;
  };
  using List = std::vector<Value>;
  using Mapping = std::vector<Item>;  ///< in the file's order

  Value() = default;
  Value(Scalar number);
  Value(std::string text);
  Value(Bytes bytes);
  Value(Array array);
  Value(List list);
  Value(Tuple tuple);
  Value(Mapping mapping);

  Kind kind() const { return static_cast<Kind>(content_.index()); }
  bool is_array() const { return kind() == Kind::array; }
  bool is_mapping() const { return kind() == Kind::mapping; }

  // Each raises TypeError that names the kind where the value is of another.
  const Scalar& number() const;
  const std::string& text() const;
  const std::string& bytes() const;
  const Array& array() const;
  std::span<const Value> values() const;  ///< of a list or tuple
  std::span<const Item> items() const;    ///< of a mapping

  /// What a mapping holds under a name. Raises IndexError that lists names where there is none.
  const Value& at(std::string_view name) const;
  /// The same, null where there is none.
  const Value* find(std::string_view name) const;

 private:
  template <class T>
  const T& get(const char* function, Kind kind) const;

  std::variant<std::monostate, Scalar, std::string, Bytes, std::shared_ptr<const Array>, List, Tuple, Mapping> content_;
};

/// An entry of a mapping. The key is a text or a number.
struct Item {
  Value key, value;
};

/// "none", "number", "text"...
IRUKA_API const char* name(Value::Kind kind);

/// Reads weights: a `.safetensors` file is a mapping from name to array, a `.pt` or `.pth` file has the structure that
/// torch.save() was given, which for a state_dict is such a mapping, too. The content decides which of them it is. A
/// pickle is never executed: only tensors, containers, numbers and texts are built from it. Arrays of one file share
/// its memory as far as alignment allows; those that shared a torch storage still do. Raises FileError for a file that
/// cannot be read, ValueError for one that is damaged, is no file of weights or asks for something else to be built.
IRUKA_API Value load_weights(const std::string& path);
/// The same from a file's bytes, which are copied.
IRUKA_API Value load_weights(std::span<const uint8_t> bytes);
/// The same value with its arrays on `device`; those that share memory still do.
IRUKA_API Value to_device(const Value& value, Device& device);

/// A function of each number that a layer gives, or of all of them (softmax). The formulas are torch's.
struct Activation {
  enum class Kind : uint8_t {
    relu,
    leaky_relu,  ///< parameters: the slope
    gelu,
    gelu_tanh,
    silu,
    tanh,
    sigmoid,
    softplus,  ///< parameters: beta, threshold
    elu,       ///< parameters: alpha
    prelu,     ///< weight: the slope, or one for each channel
    hardswish,
    softmax,
  };
  Kind kind;
  std::vector<double> parameters{};
  Array weight{};
};

/// "relu", "leaky_relu"...
IRUKA_API const char* name(Activation::Kind kind);

/// y = activations(x W^T + b). Without a weight: the activations alone.
struct DenseLayer {
  Array weight{};  ///< (outputs, inputs), as in torch
  Array bias{};    ///< (outputs), or none
  std::vector<Activation> activations{};
};

/// A perceptron as a function for the bodies of kernels: `name(in, out)` with two local arrays of `dtype`, whose
/// extents are checked when the kernel is compiled, or pointers, behind which nothing is. A kernel has `preamble`,
/// `parameter` among its inputs, to which each call gives `weights`, and `declaration` before its body. The weights are
/// an argument, so that the text, and with it the cache of compiled code, depends on shapes alone.
struct DeviceFunction {
  std::string name;
  std::string preamble;     ///< defines the type of `name`
  std::string parameter;    ///< "float32 net_weights[420]"; of larger networks "raw const float32 net_weights"
  std::string declaration;  ///< of the variable `name`
  Dtype dtype = Dtype::float32;
  int64_t in_features = 0, out_features = 0;
  Array weights;  ///< on the host where the parameter is an array by value
};

/// What activations without a layer are for, whose weights would say it.
struct ActivationInput {
  int64_t features = 1;
  Dtype dtype = Dtype::float32;
  Device* device = nullptr;  ///< null: the default one
};

/// How Perceptron::map() runs.
struct MapOptions {
  const Array* out = nullptr;  ///< of the result's shape, and a dtype that the network's may be cast to
  /// Is called after each part of the points with the number that were given to the device and the number of all.
  std::function<void(int64_t done, int64_t all)> progress{};
  Precision precision = Precision::float32;  ///< of products; tf32 runs networks on a GPU's tensor cores
};

/// Fully connected layers with activations between them. Up to 16 layers of at most 256 numbers are one kernel, in
/// which a point's values never leave registers and the first-level cache; on a CPU so are layers of up to 512 numbers
/// that lead from or to at most 32 each. A larger network runs by compiled loops on a CPU, or layer by layer, and so
/// does one on a GPU whose values do not fit its registers. Copying one copies no weights; calls are thread-safe.
class IRUKA_API Perceptron {
 public:
  static constexpr int64_t kWidest = 256;
  static constexpr size_t kDeepest = 16;

  /// The weights, float32 or float64 and all of one dtype on one device, are copied. Only the first layer may lack a
  /// weight; `input` counts where no layer has one. Raises ShapeError, TypeError or ValueError, which name the layer,
  /// for weights that do not fit.
  explicit Perceptron(std::vector<DenseLayer> layers, const ActivationInput& input = {});

  int64_t in_features() const;
  int64_t out_features() const;
  Dtype dtype() const;  ///< of the weights, all arithmetic and the results
  Device& device() const;
  /// Whether calls in float32 run one kernel.
  bool is_one_kernel() const;
  /// Whether tensor cores compute its products in that precision. Makes the kernel or the layers that would.
  bool uses_tensor_cores(Precision precision) const;

  /// The network of each point of x, whose last axis has the features. Real dtypes are cast to dtype(). Raises
  /// ShapeError for another number of features, ValueError for an array on another device.
  Array operator()(const Array& x) const { return map(x); }
  /// The same with the features, and the results, along any axis of any layout. Parts of the points run one after the
  /// other where `progress` asks for it, or where the values between layers would take much memory.
  Array map(const Array& x, int64_t axis = -1, const MapOptions& options = {}) const;
  /// How the float32 kernel for points like these runs. Raises ValueError where the network has no kernel.
  KernelReport report(const Array& x, int64_t axis = -1) const;
  /// The generated text of that kernel.
  std::string source(const Array& x, int64_t axis = -1) const;

  /// The network as a function for kernels, with the weights of now. Raises ValueError for a name that is no
  /// identifier, or where the network has more than kDeepest layers or kWidest numbers.
  DeviceFunction as_function(const std::string& name) const;

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

/// What a model says of an input or output. An extent is a number, -1 where any will do, or a symbol that stands for
/// the same number wherever it occurs.
struct ModelTensor {
  struct Extent {
    int64_t value = -1;
    std::string symbol{};
  };
  std::string name;
  std::optional<Dtype> dtype{};                ///< none: any
  std::optional<std::vector<Extent>> shape{};  ///< none: of any rank
  /// "float32 (batch, 3, 224, 224)"
  IRUKA_API std::string to_string() const;
};

/// What one node of a model did in a run.
struct ModelStep {
  std::string name, op;
  std::string device;
  Dtype dtype;  ///< of its first output, as the shape
  Dims shape;
  double first_ms, warm_ms;  ///< of the first run, which may compile, and the second
};

/// A graph of operators, as ONNX describes, that runs on one device. Copying one copies no weights; calls are
/// thread-safe. Loading folds what is constant, writes batch norms into the weights before them, and makes each chain
/// of pointwise operators one kernel.
class IRUKA_API Model {
 public:
  std::span<const ModelTensor> inputs() const;
  std::span<const ModelTensor> outputs() const;
  Device& device() const;
  Precision precision() const;

  /// The outputs for inputs in the order of inputs(), which lie on device(). Raises TypeError for another number of
  /// inputs or dtype, ShapeError for another shape, ValueError for an array on another device, and what an operator
  /// refuses, with the name of its node.
  std::vector<Array> run(std::span<const Array> inputs) const;
  /// The first output.
  template <class... A>
  Array operator()(const A&... inputs) const {
    const Array list[] = {inputs...};
    return std::move(run(list).front());
  }
  /// The model of each point of x, an array of any shape and layout whose features lie along `axis`; the result has the
  /// model's outputs there. For models whose only input has shape (batch, features) with any batch, and whose only
  /// output has shape (batch, outputs), each row of it made of one row of the input. Real dtypes are cast to the
  /// input's. Parts of the points run one after the other; `options.precision` is the model's. Raises ValueError for
  /// other models, and what Perceptron::map() raises.
  Array map(const Array& x, int64_t axis = -1, const MapOptions& options = {}) const;
  /// The network that runs in the graph's place, where the model is one: products with constant weights and
  /// activations alone, as small as one kernel asks. Else null.
  const Perceptron* perceptron() const;
  /// Runs twice and tells what each node did.
  std::vector<ModelStep> report(std::span<const Array> inputs) const;
  /// What keeps the model from running as fast as it could on the device, and what to install; empty where nothing
  /// does.
  std::string note() const;
  /// A table of the nodes, the shapes that the file gives and the numbers of parameters, and note().
  std::string to_string() const;

  struct State;
  explicit Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

/// The model in an ONNX file (operator sets 7 to 28) or an archive of torch.export.save(), on `device` (null: the
/// default one). Its products and convolutions have the given precision. Raises FileError for a file that cannot be
/// read; ValueError for one that is damaged or no model, and one that names every operator that is missing.
IRUKA_API Model load_model(const std::string& path, Device* device = nullptr, Precision precision = Precision::float32);
/// The same of a file's bytes.
IRUKA_API Model load_model(std::span<const uint8_t> bytes, Device* device = nullptr,
                           Precision precision = Precision::float32);

}  // namespace iruka::nn
