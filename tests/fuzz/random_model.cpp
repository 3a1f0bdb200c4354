#include "random_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>

#include "iruka/device.h"

namespace iruka::nn {
namespace {

/// An operator and what it may be given.
struct Row {
  const char* op;
  /// A letter for each input. x: floats, y: any value, w: constant floats, n: constant integers, k: one of them, b:
  /// bools. ?: the one before may be left out, *: there may be several of it.
  const char* inputs;
  /// "name=kind", with ! before it what is always given: i an integer, f a number, I integers, F numbers, t a type, T a
  /// tensor, or a text of several.
  const char* attributes = "";
  int outputs = 1;
};

constexpr const char* kUnary[] = {
    "Abs",  "Acos",  "Acosh",   "Asin",      "Asinh",    "Atan",  "Atanh",    "Ceil",     "Cos",  "Cosh", "Erf",
    "Exp",  "Expm1", "Floor",   "HardSwish", "Identity", "IsNaN", "Log",      "Log1p",    "Mish", "Neg",  "Reciprocal",
    "Relu", "Round", "Sigmoid", "Sign",      "Sin",      "Sinh",  "Softplus", "Softsign", "Sqrt", "Tan",  "Tanh"};
constexpr const char* kBinary[] = {"Add",
                                   "Sub",
                                   "Mul",
                                   "Div",
                                   "Pow",
                                   "Max",
                                   "Min",
                                   "Sum",
                                   "Mean",
                                   "Less",
                                   "LessOrEqual",
                                   "Greater",
                                   "GreaterOrEqual",
                                   "Equal",
                                   "PRelu"};
constexpr const char* kReductions[] = {"ReduceSum", "ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",
                                       "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
constexpr const char* kPads = "NOTSET|SAME_UPPER|SAME_LOWER|VALID|ODD";

constexpr Row kRows[] = {
    {"Attention", "xxxb?", "is_causal=i kv_num_heads=i q_num_heads=i scale=f softcap=f"},
    {"ArgMax", "y", "axis=i keepdims=i select_last_index=i"},
    {"ArgMin", "y", "axis=i keepdims=i select_last_index=i"},
    {"AveragePool", "x", "auto_pad=P ceil_mode=i count_include_pad=i dilations=I !kernel_shape=I pads=I strides=I"},
    {"BatchNormalization", "xwwww", "epsilon=f training_mode=i"},
    {"BitShift", "yy", "!direction=LEFT|RIGHT|ODD"},
    {"BitwiseAnd", "yy"},
    {"Cast", "y", "!to=t"},
    {"CastLike", "yy"},
    {"Celu", "x", "alpha=f"},
    {"Clip", "yw?w?", "max=f min=f"},
    {"Compress", "yb", "axis=i"},
    {"Concat", "yy*", "axis=i"},
    {"ConstantOfShape", "n", "value=T"},
    {"Conv", "xww?", "auto_pad=P dilations=I group=i kernel_shape=I pads=I strides=I"},
    {"ConvTranspose", "xww?",
     "auto_pad=P dilations=I group=i kernel_shape=I output_padding=I output_shape=I pads=I strides=I"},
    {"CumProd", "yk", "exclusive=i reverse=i"},
    {"CumSum", "yk", "exclusive=i reverse=i"},
    {"DepthToSpace", "y", "blocksize=i mode=DCR|CRD"},
    {"Dropout", "yw?b?", "", 2},
    {"Einsum", "xx", "!equation=ij,jk->ik|i,i->i|bij,bjk|...i,...i->...|ii->i|ij->j|a->"},
    {"Elu", "x", "alpha=f"},
    {"Expand", "yn"},
    {"EyeLike", "y", "dtype=t k=i"},
    {"Flatten", "y", "axis=i"},
    {"GRU", "xwww?n?w?", "direction=forward|reverse|bidirectional hidden_size=i layout=i linear_before_reset=i", 2},
    {"Gather", "yn", "axis=i"},
    {"GatherElements", "yn", "axis=i"},
    {"GatherND", "yn", "batch_dims=i"},
    {"Gelu", "x", "approximate=none|tanh"},
    {"Gemm", "xww?", "alpha=f beta=f transA=i transB=i"},
    {"GlobalAveragePool", "x"},
    {"GlobalLpPool", "x", "p=i"},
    {"GlobalMaxPool", "x"},
    {"GroupNormalization", "xww", "epsilon=f num_groups=i"},
    {"HardSigmoid", "x", "alpha=f beta=f"},
    {"Hardmax", "x", "axis=i"},
    {"InstanceNormalization", "xww", "epsilon=f"},
    {"IsInf", "x", "detect_negative=i detect_positive=i"},
    {"LRN", "x", "alpha=f beta=f bias=f size=i"},
    {"LSTM", "xwww?n?w?w?w?", "direction=forward|reverse|bidirectional hidden_size=i input_forget=i layout=i", 3},
    {"LayerNormalization", "xww?", "axis=i epsilon=f", 3},
    {"LeakyRelu", "x", "alpha=f"},
    {"LogSoftmax", "x", "axis=i"},
    {"LpNormalization", "x", "axis=i p=i"},
    {"LpPool", "x", "auto_pad=P ceil_mode=i dilations=I !kernel_shape=I p=i pads=I strides=I"},
    {"MatMul", "xx"},
    {"MatMul", "xw"},
    {"MaxPool", "x", "auto_pad=P ceil_mode=i dilations=I !kernel_shape=I pads=I storage_order=i strides=I", 2},
    {"MeanVarianceNormalization", "x", "axes=I"},
    {"Mod", "yy", "fmod=i"},
    {"NonZero", "y"},
    {"Not", "b"},
    {"OneHot", "nkw", "axis=i"},
    {"Or", "bb"},
    {"Pad", "ynw?n?", "mode=constant|edge|reflect|wrap|odd pads=I value=f"},
    {"RMSNormalization", "xw", "axis=i epsilon=f"},
    {"RNN", "xwww?n?w?", "direction=forward|reverse|bidirectional hidden_size=i layout=i", 2},
    {"Range", "kkk"},
    {"Reshape", "yn", "allowzero=i shape=I"},
    {"Resize", "xw?w?n?",
     "antialias=i axes=I coordinate_transformation_mode=half_pixel|asymmetric|align_corners|tf_crop_and_resize|pytorch_"
     "half_pixel|half_pixel_symmetric cubic_coeff_a=f exclude_outside=i extrapolation_value=f "
     "keep_aspect_ratio_policy=stretch|not_larger|not_smaller mode=nearest|linear|cubic nearest_mode=floor|ceil "
     "scales=F"},
    {"ScatterElements", "ynx", "axis=i reduction=none|add|mul|max|min"},
    {"ScatterND", "ynx", "reduction=none|add|mul|max|min"},
    {"Selu", "x", "alpha=f gamma=f"},
    {"Shape", "y", "end=i start=i"},
    {"Shrink", "x", "bias=f lambd=f"},
    {"Size", "y"},
    {"Slice", "ynnn?n?", "axes=I ends=I starts=I"},
    {"Softmax", "x", "axis=i"},
    {"SpaceToDepth", "y", "blocksize=i"},
    {"Split", "yn?", "axis=i num_outputs=i split=I", 2},
    {"Squeeze", "yn?", "axes=I"},
    {"Swish", "x", "alpha=f"},
    {"ThresholdedRelu", "x", "alpha=f"},
    {"Tile", "yn"},
    {"TopK", "yk", "axis=i k=i largest=i sorted=i", 2},
    {"Transpose", "y", "perm=I"},
    {"Trilu", "yk?", "upper=i"},
    {"Unsqueeze", "yn", "axes=I"},
    {"Upsample", "xw", "mode=nearest|linear"},
    {"Where", "byy"},
    {"Xor", "bb"},
};

constexpr double kNumbers[] = {0, 1, 0.5, -1, 2, -0.25, 3, 1e-5, 1e30, -1e30, 100};
constexpr int64_t kExtremes[] = {INT64_MIN, INT64_MAX, int64_t{1} << 40, -(int64_t{1} << 40), 1000, -1000, 65536};
constexpr Dtype kTypes[] = {Dtype::float32, Dtype::int64, Dtype::bool_, Dtype::float64,
                            Dtype::float16, Dtype::int32, Dtype::uint8};
constexpr int kDeepest = 2;

/// Writes one graph; those of its nodes are made by others.
class Writer {
 public:
  Writer(Choices& choices, int depth, int& names) : choices_(choices), depth_(depth), names_(names) {}

  Graph graph_;
  std::vector<Array> arrays_;

  void add_input(Array array, bool is_declared) {
    TensorInfo info{fresh("x"), {}, {}};
    if (is_declared) {
      info.dtype = array.dtype();
      info.shape.emplace();
      for (int64_t extent : array.shape())
        info.shape->push_back(choices_.one_in(3) ? Extent{-1, choices_.one_in(2) ? "n" : ""} : Extent{extent, ""});
    }
    note(info.name, array.dtype());
    graph_.inputs.push_back(std::move(info));
    arrays_.push_back(std::move(array));
  }
  /// A value of the graphs around.
  void add_outer(const std::string& name) { values_.push_back(name); }

  void add_nodes(size_t most) {
    for (size_t k = 0; k < most && !choices_.is_empty(); ++k) add_node();
  }

  void add_outputs(size_t most) {
    const size_t count = 1 + choices_.below(most);
    for (size_t k = 0; k < count; ++k) graph_.outputs.push_back({k ? any() : values_.back(), {}, {}});
  }

  /// A new array of the graph's kind of numbers.
  Array array_of(const Dims& shape, Dtype dtype) {
    Array array = Array::empty(shape, Dtype::float64, cpu());
    auto* const numbers = static_cast<double*>(array.data());
    const size_t pattern = choices_.below(8);
    for (int64_t k = 0; k < array.size(); ++k) {
      const auto place = static_cast<double>(k);
      numbers[k] = pattern == 0   ? 0
                   : pattern == 1 ? std::numeric_limits<double>::quiet_NaN()
                   : pattern == 2 ? 1e30 * (k % 2 ? 1 : -1)
                   : pattern == 3 ? place
                                  : std::sin(place) * static_cast<double>(pattern);
    }
    return array.astype(dtype);
  }
  Dims shape_of_input() {
    static const Dims kShapes[] = {{1, 4, 5, 5}, {2, 4, 6},       {3, 4},       {4}, {},          {2, 3, 4},
                                   {0, 4},       {1, 4, 3, 4, 2}, {2, 4, 1, 1}, {1}, {2, 4, 0, 3}};
    return choices_.of(kShapes);
  }
  Dtype dtype_of_input() { return choices_.one_in(3) ? choices_.of(kTypes) : Dtype::float32; }

 private:
  std::string fresh(const char* base) { return base + std::to_string(names_++); }
  void note(const std::string& name, Dtype dtype) {
    values_.push_back(name);
    if (dtype == Dtype::bool_) bools_.push_back(name);
  }
  /// Mostly one of the newest values.
  std::string any() {
    if (values_.empty()) return "";
    const size_t back =
        choices_.one_in(2) ? choices_.below(values_.size()) : choices_.below(std::min<size_t>(2, values_.size()));
    return values_[values_.size() - 1 - back];
  }
  std::string constant(Array array) {
    std::string name = fresh("c");
    graph_.initializers[name] = std::move(array);
    return name;
  }

  int64_t integer() {
    return choices_.one_in(24) ? choices_.of(kExtremes) : static_cast<int64_t>(choices_.below(8)) - 2;
  }
  std::vector<int64_t> integers() {
    std::vector<int64_t> list(choices_.below(7));
    const bool is_even = choices_.one_in(2);
    for (int64_t& each : list) each = is_even ? 1 + static_cast<int64_t>(choices_.below(3)) : integer();
    return list;
  }

  std::string input(char kind) {
    static const Dims kWeights[] = {{4},        {4, 4, 3, 3}, {4, 1, 3, 3}, {8, 4, 1, 1}, {4, 4}, {4, 4, 2}, {1, 16, 4},
                                    {1, 12, 4}, {1, 4, 4},    {4, 2},       {1},          {},     {2},       {6, 4, 3}};
    switch (kind) {
      case 'w':
        return constant(array_of(choices_.of(kWeights), choices_.one_in(12) ? choices_.of(kTypes) : Dtype::float32));
      case 'n': {
        const std::vector<int64_t> list = integers();
        Array array = Array::from(std::span<const int64_t>(list), {std::ssize(list)}).to_device(cpu());
        return constant(choices_.one_in(6) && array.size() % 2 == 0 ? array.reshape({array.size() / 2, 2}) : array);
      }
      case 'k': {
        const int64_t number = integer();
        return constant(Array::from(std::span<const int64_t>(&number, 1), {1})
                            .to_device(cpu())
                            .reshape(choices_.one_in(2) ? Dims{1} : Dims{}));
      }
      case 'b': return bools_.empty() ? constant(array_of({4}, Dtype::bool_)) : choices_.of(bools_);
      default: return any();
    }
  }
  std::vector<std::string> inputs(std::string_view kinds) {
    std::vector<std::string> list;
    for (size_t k = 0; k < kinds.size(); ++k) {
      const char next = k + 1 < kinds.size() ? kinds[k + 1] : ' ';
      if (kinds[k] == '?' || kinds[k] == '*') continue;
      list.push_back(next == '?' && choices_.one_in(2) ? "" : input(kinds[k]));
      if (next == '*' && choices_.one_in(2)) list.push_back(input(kinds[k]));
    }
    while (!list.empty() && list.back().empty()) list.pop_back();
    return list;
  }

  Attribute attribute(std::string_view kind) {
    if (kind == "i") return integer();
    if (kind == "f") return choices_.one_in(12) ? std::numeric_limits<double>::quiet_NaN() : choices_.of(kNumbers);
    if (kind == "I") return integers();
    if (kind == "F") return std::vector<double>(choices_.below(5), choices_.of(kNumbers));
    if (kind == "t") return static_cast<int64_t>(choices_.below(18));
    if (kind == "T") return array_of({1}, choices_.of(kTypes));
    if (kind == "P") kind = kPads;
    size_t number = choices_.below(static_cast<size_t>(std::count(kind.begin(), kind.end(), '|')) + 1);
    for (; number > 0; --number) kind.remove_prefix(kind.find('|') + 1);
    return std::string(kind.substr(0, kind.find('|')));
  }
  void add_attributes(Node& node, std::string_view list) {
    while (!list.empty()) {
      std::string_view each = list.substr(0, list.find(' '));
      list.remove_prefix(std::min(each.size() + 1, list.size()));
      const bool is_needed = each.starts_with('!');
      each.remove_prefix(is_needed ? 1 : 0);
      const size_t sign = each.find('=');
      if (is_needed || choices_.one_in(3))
        node.attributes[std::string(each.substr(0, sign))] = attribute(each.substr(sign + 1));
    }
  }

  /// A body with inputs of its own, which sees the values so far.
  GraphHandle inner(size_t inputs, size_t outputs, bool has_condition) {
    Writer writer(choices_, depth_ + 1, names_);
    for (const std::string& value : values_) writer.add_outer(value);
    for (size_t k = 0; k < inputs; ++k) {
      const std::string name = fresh("i");
      writer.graph_.inputs.push_back({name, {}, {}});
      writer.add_outer(name);
    }
    writer.add_nodes(2);
    for (size_t k = 0; k < outputs; ++k) {
      const bool is_condition = has_condition && k == 0;
      writer.graph_.outputs.push_back({is_condition ? writer.graph_.inputs[1].name : writer.any(), {}, {}});
      if (choices_.one_in(3)) writer.graph_.outputs.back().dtype = choices_.of(kTypes);
      if (choices_.one_in(3)) writer.graph_.outputs.back().shape = {Extent{2, ""}};
    }
    return std::make_shared<const Graph>(std::move(writer.graph_));
  }

  Node control() {
    Node node{"If", "", fresh("node"), {}, {}, {}};
    const size_t kind = choices_.below(3), states = choices_.below(3), scans = states ? choices_.below(2) : 1;
    if (kind == 0) {
      node.inputs = {constant(array_of({}, Dtype::bool_))};
      node.attributes = {{"then_branch", inner(0, 1, false)}, {"else_branch", inner(0, 1, false)}};
      node.outputs = {fresh("v")};
      return node;
    }
    node.op = kind == 1 ? "Loop" : "Scan";
    if (kind == 1) {
      const auto steps = static_cast<int64_t>(choices_.below(4));
      node.inputs = {constant(Array::from(std::span<const int64_t>(&steps, 1), {1}).to_device(cpu()).reshape(Dims())),
                     ""};
    }
    const size_t elements = kind == 1 ? 0 : 1 + choices_.below(2);
    for (size_t k = 0; k < states + elements; ++k) node.inputs.push_back(any());
    const size_t first = kind == 1 ? 1 : 0;
    node.attributes["body"] = inner(states + elements + 2 * first, states + scans + first, kind == 1);
    const auto list = [&](size_t count, size_t most) {
      std::vector<int64_t> numbers(choices_.one_in(12) ? 3 : count);
      for (int64_t& each : numbers) each = static_cast<int64_t>(choices_.below(most));
      return numbers;
    };
    if (kind == 2 && choices_.one_in(2)) node.attributes["scan_input_axes"] = list(elements, 3);
    if (kind == 2 && choices_.one_in(2)) node.attributes["scan_input_directions"] = list(elements, 2);
    if (kind == 2 && choices_.one_in(2)) node.attributes["scan_output_axes"] = list(scans, 3);
    if (kind == 2) node.attributes["num_scan_inputs"] = static_cast<int64_t>(elements);
    for (size_t k = 0; k < states + scans; ++k) node.outputs.push_back(fresh("v"));
    return node;
  }

  void add_node() {
    const size_t group = choices_.below(8);
    Node node{"", "", fresh("node"), {}, {}, {}};
    if (group == 0) {
      node.op = choices_.of(kUnary), node.inputs = {any()};
    } else if (group == 1) {
      node.op = choices_.of(kBinary), node.inputs = {any(), choices_.one_in(2) ? input('w') : any()};
    } else if (group == 2) {
      node.op = choices_.of(kReductions), node.inputs = inputs("xn?");
      add_attributes(node, "axes=I keepdims=i noop_with_empty_axes=i");
    } else if (group == 3 && depth_ < kDeepest && !values_.empty()) {
      node = control();
    } else {
      const Row& row = choices_.of(kRows);
      node.op = row.op, node.inputs = inputs(row.inputs);
      add_attributes(node, row.attributes);
      const size_t outputs = 1 + choices_.below(static_cast<size_t>(row.outputs));
      for (size_t k = 0; k < outputs; ++k) node.outputs.push_back(fresh("v"));
    }
    if (node.outputs.empty()) node.outputs.push_back(fresh("v"));
    if (node.op != "Loop" && choices_.one_in(32)) spoil(node);  // a loop without a number of steps may not end
    for (const std::string& output : node.outputs) {
      if (!output.empty()) values_.push_back(output);
    }
    graph_.nodes.push_back(std::move(node));
  }

  /// A mistake that a file may have.
  void spoil(Node& node) {
    switch (choices_.below(5)) {
      case 0: node.op = choices_.of(kRows).op; break;
      case 1: node.inputs.push_back(any()); break;
      case 2:
        if (!node.inputs.empty()) choices_.of(node.inputs).clear();
        break;
      case 3:
        if (!node.attributes.empty())
          node.attributes.begin()->second = attribute(choices_.of("iIf") == 'i' ? "i" : "F");
        break;
      default: node.outputs.push_back(fresh("v"));
    }
  }

  Choices& choices_;
  const int depth_;
  int& names_;
  std::vector<std::string> values_, bools_;
};

}  // namespace

RandomModel random_model(Choices& choices) {
  constexpr int64_t kOpsets[] = {18, 23, 13, 11, 9, 7, 28, 21};
  int names = 0;
  Writer writer(choices, 0, names);
  const int64_t opset = choices.of(kOpsets);
  for (size_t k = 1 + choices.below(3); k > 0; --k) {
    const Dims shape = writer.shape_of_input();
    const Dtype dtype = writer.dtype_of_input();
    writer.add_input(writer.array_of(shape, dtype), choices.one_in(2));
  }
  writer.add_nodes(1 + choices.below(6));
  writer.add_outputs(3);
  writer.graph_.opsets[""] = opset;
  return {std::move(writer.graph_), std::move(writer.arrays_)};
}

}  // namespace iruka::nn
