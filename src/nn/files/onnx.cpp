// ModelProto, GraphProto, NodeProto, AttributeProto, ValueInfoProto and FunctionProto, by their field numbers.
#include "nn/files/onnx.h"

#include <algorithm>

#include "nn/files/onnx_tensor.h"
#include "nn/files/protobuf.h"

namespace iruka::nn {
namespace {

using protozero::data_view;
using protozero::pbf_reader;

constexpr int kDeepest = 32;                           ///< graphs in attributes of graphs
constexpr uint64_t kMostParts = 1 << 21;               ///< bounds memory: a node of a few bytes takes a hundred here
constexpr uint64_t kLargestModel = uint64_t{1} << 31;  ///< protobuf's own limit

/// AttributeProto.AttributeType.
enum class AttributeType : int32_t {
  undefined,
  number,
  integer,
  text,
  tensor,
  graph,
  numbers,
  integers,
  texts,
  tensors,
  graphs,
  sparse_tensor,
  sparse_tensors,
  type,
  types
};

/// The fields of an attribute, of which its type says which one counts.
struct AttributeFields {
  std::string name, reference, text;
  int32_t type = 0;
  float number = 0;
  int64_t integer = 0;
  std::vector<float> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::vector<data_view> tensor, graph, tensors, graphs;
  /// What files before version 2 of the format leave out: the type of the field that is there.
  int32_t seen = 0;
};

class ModelReader {
 public:
  explicit ModelReader(const Input& input) : where_(input.where()), tensors_(input.path(), input.where()) {}

  Graph read(data_view message) {
    std::vector<data_view> graphs, functions, opsets;
    for (pbf_reader reader(message); reader.next();) {
      switch (reader.tag()) {
        case 7: take(reader, graphs.emplace_back()); break;
        case 8: take(reader, opsets.emplace_back()); break;
        case 25: take(reader, functions.emplace_back()); break;
        default: reader.skip();
      }
      count_part();
    }
    if (graphs.size() != 1) refuse("it has " + std::to_string(graphs.size()) + " graphs, not one");
    Graph graph = read_graph(graphs[0], 0);
    for (const data_view& entry : opsets) graph.opsets.insert(read_opset(entry));
    for (const data_view& function : functions) graph.functions.push_back(read_function(function));
    return graph;
  }

 private:
  Graph read_graph(data_view message, int depth) {
    if (depth > kDeepest) refuse("its graphs are nested more than " + std::to_string(kDeepest) + " deep");
    Graph graph;
    for (pbf_reader reader(message); reader.next();) {
      count_part();
      data_view part;
      switch (reader.tag()) {
        case 1: take(reader, part), graph.nodes.push_back(read_node(part, depth)); break;
        case 2: take(reader, graph.name); break;
        case 5: take(reader, part), add_initializer(graph, part); break;
        case 11: take(reader, part), add_info(part, graph.inputs, true); break;
        case 12: take(reader, part), add_info(part, graph.outputs, true); break;
        case 13: take(reader, part), add_info(part, graph.values, false); break;
        case 15: refuse("it has a sparse initializer, which has no counterpart here; export it as a dense one");
        default: reader.skip();
      }
    }
    std::erase_if(graph.inputs, [&](const TensorInfo& info) { return graph.initializers.contains(info.name); });
    return graph;
  }

  void add_initializer(Graph& graph, data_view message) {
    NamedArray tensor = tensors_.read(message);
    if (tensor.name.empty()) refuse("it has an initializer without a name");
    const auto [place, is_new] = graph.initializers.try_emplace(std::move(tensor.name), std::move(tensor.array));
    if (!is_new) refuse("the initializer " + in_quotes(place->first) + " occurs twice");
  }

  Node read_node(data_view message, int depth) {
    Node node;
    std::string overload;
    std::vector<data_view> attributes;
    for (pbf_reader reader(message); reader.next();) {
      count_part();
      switch (reader.tag()) {
        case 1: take(reader, node.inputs.emplace_back()); break;
        case 2: take(reader, node.outputs.emplace_back()); break;
        case 3: take(reader, node.name); break;
        case 4: take(reader, node.op); break;
        case 5: take(reader, attributes.emplace_back()); break;
        case 7: take(reader, node.domain); break;
        case 8: take(reader, overload); break;
        default: reader.skip();
      }
    }
    if (node.op.empty()) refuse("the node " + in_quotes(node.name) + " names no operator");
    if (!overload.empty()) refuse("the node " + in_quotes(node.name) + " calls the overload " + in_quotes(overload));
    node.domain = canonical(node.domain);
    while (!node.outputs.empty() && node.outputs.back().empty()) node.outputs.pop_back();  // they are left out
    for (const data_view& attribute : attributes) add_attribute(attribute, node.op, depth, node.attributes);
    return node;
  }

  /// "ai.onnx" is another name of the domain "".
  static std::string canonical(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

  void add_attribute(data_view message, const std::string& op, int depth,
                     std::map<std::string, Attribute>& attributes) {
    const AttributeFields fields = read_fields(message);
    const std::string where = "the attribute " + in_quotes(fields.name) + " of " + in_quotes(op);
    Attribute value = attribute_of(fields, where, depth);
    if (fields.name.empty()) refuse("an attribute of " + in_quotes(op) + " has no name");
    if (!attributes.emplace(fields.name, std::move(value)).second) refuse(where + " occurs twice");
  }

  AttributeFields read_fields(data_view message) {
    AttributeFields fields;
    auto seen = [&](AttributeType type) { fields.seen = static_cast<int32_t>(type); };
    for (pbf_reader reader(message); reader.next();) {
      count_part();
      switch (reader.tag()) {
        case 1: take(reader, fields.name); break;
        case 2: take(reader, fields.number), seen(AttributeType::number); break;
        case 3: take(reader, fields.integer), seen(AttributeType::integer); break;
        case 4: take(reader, fields.text), seen(AttributeType::text); break;
        case 5: take(reader, fields.tensor.emplace_back()), seen(AttributeType::tensor); break;
        case 6: take(reader, fields.graph.emplace_back()), seen(AttributeType::graph); break;
        case 7: take_numbers(reader, fields.numbers), seen(AttributeType::numbers); break;
        case 8: take_numbers(reader, fields.integers), seen(AttributeType::integers); break;
        case 9: take(reader, fields.texts.emplace_back()), seen(AttributeType::texts); break;
        case 10: take(reader, fields.tensors.emplace_back()), seen(AttributeType::tensors); break;
        case 11: take(reader, fields.graphs.emplace_back()), seen(AttributeType::graphs); break;
        case 20: take(reader, fields.type); break;
        case 21: take(reader, fields.reference); break;
        default: reader.skip();
      }
    }
    return fields;
  }

  Attribute attribute_of(const AttributeFields& fields, const std::string& where, int depth) {
    if (!fields.reference.empty()) return AttributeReference{fields.reference};
    switch (static_cast<AttributeType>(fields.type ? fields.type : fields.seen)) {
      case AttributeType::number: return static_cast<double>(fields.number);
      case AttributeType::integer: return fields.integer;
      case AttributeType::text: return fields.text;
      case AttributeType::numbers: return std::vector<double>(fields.numbers.begin(), fields.numbers.end());
      case AttributeType::integers: return fields.integers;
      case AttributeType::texts: return fields.texts;
      case AttributeType::tensor: return tensors_.read(only(fields.tensor, where)).array;
      case AttributeType::graph: return graph_handle(only(fields.graph, where), depth);
      case AttributeType::tensors: {
        std::vector<Array> arrays;
        arrays.reserve(fields.tensors.size());
        for (const data_view& tensor : fields.tensors) arrays.push_back(tensors_.read(tensor).array);
        return arrays;
      }
      case AttributeType::graphs: {
        std::vector<GraphHandle> graphs;
        graphs.reserve(fields.graphs.size());
        for (const data_view& graph : fields.graphs) graphs.push_back(graph_handle(graph, depth));
        return graphs;
      }
      case AttributeType::undefined: refuse(where + " has no value");
      default: break;
    }
    refuse(where + " is of type " + std::to_string(fields.type) +
           "; numbers, texts, tensors, graphs and lists of them can be read");
  }

  data_view only(const std::vector<data_view>& views, const std::string& where) const {
    if (views.size() != 1) refuse(where + " has " + std::to_string(views.size()) + " values, not one");
    return views[0];
  }

  GraphHandle graph_handle(data_view message, int depth) {
    return std::make_shared<const Graph>(read_graph(message, depth + 1));
  }

  /// Values between nodes that are no tensors are left out.
  void add_info(data_view message, std::vector<TensorInfo>& list, bool must_be_tensor) {
    TensorInfo info;
    data_view type;
    for (pbf_reader reader(message); reader.next();) {
      switch (reader.tag()) {
        case 1: take(reader, info.name); break;
        case 2: take(reader, type); break;
        default: reader.skip();
      }
    }
    data_view tensor;
    bool is_tensor = false, is_other = false;
    for (pbf_reader reader(type); reader.next();) {
      const bool is_type = reader.tag() != 6;  // a denotation
      is_tensor |= reader.tag() == 1;
      is_other |= is_type && reader.tag() != 1;
      reader.tag() == 1 ? take(reader, tensor) : reader.skip();
    }
    if (is_other && must_be_tensor)
      refuse(in_quotes(info.name) + " is a sequence, map or another value that is no tensor");
    if (is_tensor) read_tensor_type(tensor, info, must_be_tensor);
    if (!is_other) list.push_back(std::move(info));
  }

  void read_tensor_type(data_view message, TensorInfo& info, bool must_have_dtype) {
    int32_t type = 0;
    for (pbf_reader reader(message); reader.next();) {
      data_view shape;
      switch (reader.tag()) {
        case 1: take(reader, type); break;
        case 2: take(reader, shape), info.shape = read_shape(shape, info.name); break;
        default: reader.skip();
      }
    }
    info.dtype = onnx_dtype(type);
    if (info.dtype || !must_have_dtype || type == 0) return;
    refuse(in_quotes(info.name) + " is of type " + onnx_type_name(type) + ", which has no dtype here");
  }

  std::vector<Extent> read_shape(data_view message, const std::string& name) {
    std::vector<Extent> shape;
    for (pbf_reader reader(message); reader.next();) {
      count_part();
      data_view part;
      if (reader.tag() != 1) {
        reader.skip();
        continue;
      }
      take(reader, part);
      Extent& extent = shape.emplace_back();
      bool known = false;
      for (pbf_reader entry(part); entry.next();) {
        switch (entry.tag()) {
          case 1: take(entry, extent.value), known = true; break;
          case 2: take(entry, extent.symbol); break;
          default: entry.skip();
        }
      }
      if (known && extent.value < 0) extent.value = -1;  // some exporters write unknown extents so
      if (shape.size() > static_cast<size_t>(kMaxRank)) refuse(in_quotes(name) + " has more than 32 axes");
    }
    return shape;
  }

  std::pair<std::string, int64_t> read_opset(data_view message) {
    std::pair<std::string, int64_t> opset{"", 0};
    for (pbf_reader reader(message); reader.next();) {
      switch (reader.tag()) {
        case 1: take(reader, opset.first); break;
        case 2: take(reader, opset.second); break;
        default: reader.skip();
      }
    }
    opset.first = canonical(opset.first);
    return opset;
  }

  Function read_function(data_view message) {
    Function function;
    for (pbf_reader reader(message); reader.next();) {
      count_part();
      data_view part;
      switch (reader.tag()) {
        case 1: take(reader, function.name); break;
        case 4: take(reader, function.inputs.emplace_back()); break;
        case 5: take(reader, function.outputs.emplace_back()); break;
        case 6: take(reader, function.attributes.emplace_back()); break;
        case 7: take(reader, part), function.nodes.push_back(read_node(part, 0)); break;
        case 9: take(reader, part), function.opsets.insert(read_opset(part)); break;
        case 10: take(reader, function.domain); break;
        case 11: take(reader, part), add_attribute(part, function.name, 0, function.defaults); break;
        default: reader.skip();
      }
    }
    return function;
  }

  void count_part() {
    if (++parts_ > kMostParts) refuse("it has more than " + std::to_string(kMostParts) + " parts");
  }

  [[noreturn]] void refuse(const std::string& problem) const { raise_value_error(where_, "ONNX model: " + problem); }

  const std::string& where_;
  OnnxTensorReader tensors_;
  uint64_t parts_ = 0;
};

}  // namespace

Graph read_onnx(const Input& input) {
  const std::span<const uint8_t> bytes = input.bytes();
  if (bytes.size() >= kLargestModel) {
    raise_value_error(input.where(),
                      "ONNX model: its " + std::to_string(bytes.size()) + " bytes exceed the format's 2 GiB");
  }
  try {
    Graph graph = ModelReader(input).read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    check_graph(graph, input.where());
    return graph;
  } catch (const protozero::end_of_buffer_exception&) {
    raise_value_error(input.where(), "damaged ONNX model: it is cut short: its " + std::to_string(bytes.size()) +
                                         " bytes end within what they announce");
  } catch (const protozero::exception& error) {
    raise_value_error(input.where(), std::string("damaged ONNX model: ") + error.what());
  }
}

}  // namespace iruka::nn
