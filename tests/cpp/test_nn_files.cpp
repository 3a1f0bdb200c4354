// Files of weights and networks read as torch, safetensors and onnx wrote them (tools/make_nn_files.py).
#include <gtest/gtest.h>

#include "error_of.h"
#include "iruka/device.h"
#include "nn/files/graph_file.h"
#include "nn_files.h"

namespace {

using iruka::Array;
using iruka::Dtype;
using iruka::nn::load_weights;
using iruka::nn::Value;
using iruka::test::error_of;
using nn_files::Bytes;
using nn_files::content;
using nn_files::data_path;
using nn_files::Json;
using nn_files::PickleWriter;

class WrittenByTheirLibraries : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WrittenByTheirLibraries, HoldTheSameValues) {
  const auto [name, expected] = GetParam();
  const Json want = nn_files::expected(expected);
  EXPECT_EQ(content(load_weights(data_path(name))), want);
  EXPECT_EQ(content(load_weights(nn_files::read(data_path(name)))), want);
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrittenByTheirLibraries,
    testing::Values(std::pair("dtypes.safetensors", "dtypes.safetensors"), std::pair("tensors.pt", "tensors.pt"),
                    std::pair("tensors_legacy.pt", "tensors_legacy.pt"), std::pair("state_dict.pt", "state_dict.pt"),
                    std::pair("checkpoint.pt", "checkpoint.pt"), std::pair("checkpoint_legacy.pt", "checkpoint.pt"),
                    std::pair("checkpoint_protocol3.pt", "checkpoint.pt"),
                    std::pair("checkpoint_protocol4.pt", "checkpoint.pt"),
                    std::pair("checkpoint_protocol5.pt", "checkpoint.pt")));

Json content_of(const std::vector<iruka::nn::TensorInfo>& list) {
  Json infos = Json::array();
  for (const iruka::nn::TensorInfo& info : list) {
    Json shape = nullptr;
    if (info.shape) {
      shape = Json::array();
      for (const iruka::nn::Extent& extent : *info.shape) {
        extent.symbol.empty() ? shape.push_back(extent.value) : shape.push_back(extent.symbol);
      }
    }
    infos.push_back({{"name", info.name}, {"dtype", info.dtype ? Json(name(*info.dtype)) : Json()}, {"shape", shape}});
  }
  return infos;
}

Json content_of(const iruka::nn::Graph& graph);

Json content_of(const iruka::nn::Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Array>) {
          return content(value);
        } else if constexpr (std::is_same_v<T, iruka::nn::GraphHandle>) {
          return {{"graph", content_of(*value)}};
        } else if constexpr (std::is_same_v<T, iruka::nn::AttributeReference>) {
          return {{"reference", value.name}};
        } else if constexpr (std::is_same_v<T, std::vector<Array>>) {
          Json list = Json::array();
          for (const Array& array : value) list.push_back(content(array));
          return list;
        } else if constexpr (std::is_same_v<T, std::vector<iruka::nn::GraphHandle>>) {
          return nullptr;
        } else {
          return value;
        }
      },
      attribute);
}

Json content_of(const std::vector<iruka::nn::Node>& nodes) {
  Json list = Json::array();
  for (const iruka::nn::Node& node : nodes) {
    Json attributes = Json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = content_of(value);
    list.push_back({{"op", node.op},
                    {"domain", node.domain},
                    {"name", node.name},
                    {"attributes", attributes},
                    {"inputs", node.inputs},
                    {"outputs", node.outputs}});
  }
  return list;
}

/// A graph in the form of tools/make_nn_files.py, without opsets and functions.
Json content_of(const iruka::nn::Graph& graph) {
  Json initializers = Json::object();
  for (const auto& [name, array] : graph.initializers) initializers[name] = content(array);
  return {{"initializers", initializers},
          {"inputs", content_of(graph.inputs)},
          {"outputs", content_of(graph.outputs)},
          {"nodes", content_of(graph.nodes)}};
}

class GraphsOfOnnx : public testing::TestWithParam<const char*> {};

TEST_P(GraphsOfOnnx, AreThoseOfTheLibrary) {
  const std::string name = std::string(GetParam()) + ".onnx";
  const iruka::nn::Graph graph = iruka::nn::load_graph("test", data_path(name));
  Json found = content_of(graph), functions = Json::array();
  found["opsets"] = graph.opsets;
  for (const iruka::nn::Function& function : graph.functions) {
    functions.push_back({{"name", function.name},
                         {"domain", function.domain},
                         {"nodes", content_of(function.nodes)},
                         {"inputs", function.inputs},
                         {"outputs", function.outputs}});
  }
  found["functions"] = functions;
  // Objects without order: names of initializers and attributes are sorted here.
  EXPECT_EQ(nlohmann::json(found), nlohmann::json(nn_files::expected(name)));
}

INSTANTIATE_TEST_SUITE_P(Files, GraphsOfOnnx,
                         testing::Values("perceptron", "dtypes_raw", "dtypes_numbers", "attributes", "external"));

TEST(Weights, KeepTheStructureOfTheFile) {
  const Value checkpoint = load_weights(data_path("checkpoint.pt"));
  EXPECT_EQ(checkpoint.at("epoch").number().as_int64(), 3);
  EXPECT_EQ(checkpoint.at("name").text(), "net ü");
  EXPECT_EQ(checkpoint.at("raw").bytes(), std::string("\0\xff", 2));
  EXPECT_EQ(checkpoint.at("size").kind(), Value::Kind::tuple);
  EXPECT_EQ(checkpoint.at("best").kind(), Value::Kind::none);
  EXPECT_EQ(checkpoint.at("state_dict").at("0.weight").array().shape(), (iruka::Dims{4, 3, 3, 3}));
  EXPECT_EQ(checkpoint.at("state_dict").items()[0].key.text(), "0.weight");
  EXPECT_EQ(checkpoint.find("absent"), nullptr);
  EXPECT_EQ(error_of<iruka::IndexError>([&] { checkpoint.at("weights"); }),
            "Value::at: there is no 'weights'; the mapping has 'state_dict', 'optimizer', 'epoch', 'loss', 'name', "
            "'best', 'flags', 'size', ... (14 in all)");
  EXPECT_EQ(error_of<iruka::TypeError>([&] { checkpoint.array(); }),
            "Value::array: the value is of kind mapping, not array");
  EXPECT_EQ(error_of<iruka::TypeError>([&] { checkpoint.at("epoch").at("x"); }),
            "Value::items: the value is of kind number, not mapping");
  EXPECT_EQ(load_weights(nn_files::torch_zip(PickleWriter().raw("]").stop())).kind(), Value::Kind::list);
}

TEST(Weights, ThatShareAStorageShareMemory) {
  for (const char* name : {"tensors.pt", "tensors_legacy.pt"}) {
    const Value tensors = load_weights(data_path(name));
    const Array &base = tensors.at("base").array(), &transposed = tensors.at("transposed").array();
    const Array& part = tensors.at("part").array();
    EXPECT_EQ(base.data(), transposed.data());
    EXPECT_EQ(transposed.strides(), (iruka::Dims{4, 24}));
    EXPECT_EQ(static_cast<char*>(part.data()) - static_cast<char*>(base.data()), 24);
    static_cast<float*>(base.data())[0] = 100;
    EXPECT_EQ(*static_cast<float*>(tensors.at("spread").array().data()), 100);
    EXPECT_TRUE(base.writable());
    // On another device they still do; here it is the same one, where nothing is copied.
    EXPECT_EQ(iruka::nn::to_device(tensors, iruka::cpu()).at("base").array().data(), base.data());
  }
}

TEST(Weights, MoveToTheDefaultDevice) {
  const Value tensors = load_weights(data_path("tensors.pt"));
  const Value moved = iruka::nn::to_device(tensors, iruka::default_device());
  EXPECT_EQ(&moved.at("base").array().device(), &iruka::default_device());
  EXPECT_EQ(moved.at("base").array().buffer(), moved.at("transposed").array().buffer());
  EXPECT_EQ(content(iruka::nn::to_device(moved, iruka::cpu())), content(tensors));
}

TEST(Weights, AreViewsOfOneBufferWhereTheyAreAligned) {
  const Value tensors = load_weights(data_path("dtypes.safetensors"));
  EXPECT_EQ(tensors.at("float32").array().buffer(), tensors.at("int64").array().buffer());
  // Here each tensor but the first begins at an odd byte of the file.
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]},"__metadata__":{"x":"y"}}   )";
  const Bytes values = nn_files::bytes_of<float>({1.5F, -2.5F});
  for (const char* padding : {"", " ", "  ", "   "}) {
    Bytes data = {7};
    nn_files::put(data, values);
    const Value odd = load_weights(nn_files::safetensors(header + padding, data));
    EXPECT_EQ(odd.items().size(), 2U);
    EXPECT_EQ(odd.at("a").array().to_vector<uint8_t>(), std::vector<uint8_t>{7});
    const Array& floats = odd.at("b").array();
    EXPECT_EQ(floats.to_vector<float>(), (std::vector<float>{1.5F, -2.5F}));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(floats.data()) % 4, 0U);
  }
}

TEST(Weights, OfDeflatedArchivesAreUnpacked) {
  const Bytes pickle = PickleWriter().raw("}").text("w").tensor("key", 3, 1, {2}, {1}, "DoubleStorage").raw("s").stop();
  const std::vector<std::pair<std::string, Bytes>> storages = {{"key", nn_files::bytes_of<double>({1, 2, 3})}};
  for (bool deflated : {false, true}) {
    const Value weights = load_weights(nn_files::torch_zip(pickle, storages, deflated));
    EXPECT_EQ(weights.at("w").array().to_vector<double>(), (std::vector<double>{2, 3}));
  }
}

/// What torch no longer writes, but older files have.
TEST(Weights, OfOlderPickles) {
  auto loaded = [](const PickleWriter& writer) { return content(load_weights(nn_files::torch_zip(writer.stop()))); };
  EXPECT_EQ(loaded(PickleWriter()
                       .global("collections", "OrderedDict")
                       .raw("](]")
                       .text("a")
                       .raw("a")
                       .integer(1)
                       .raw("a")
                       .raw("e\x85R")),
            Json::parse(R"({"mapping": [["a", 1]]})"));
  EXPECT_EQ(loaded(PickleWriter().raw("U\x03"
                                      "abc")),
            "abc");
  EXPECT_EQ(loaded(PickleWriter().raw("U\x01\xff")), Json::parse(R"({"bytes": [255]})"));
  EXPECT_EQ(
      loaded(
          PickleWriter().raw("}").text("a").integer(1).raw("s").text("b").integer(2).raw("s").text("a").integer(3).raw(
              "s")),
      Json::parse(R"({"mapping": [["a", 3], ["b", 2]]})"));
  EXPECT_EQ(loaded(PickleWriter().raw("(\x8a\x01\xff\x8a\x02\xff\x7f").raw(std::string_view("\x8a\0", 2)).raw("t")),
            Json::parse(R"({"tuple": [-1, 32767, 0]})"));
  EXPECT_EQ(loaded(PickleWriter().global("torch", "device").raw("(").text("cuda").integer(1).raw("tR")), "cuda:1");
}

}  // namespace
