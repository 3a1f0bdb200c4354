// Models in C++: graphs of operators, made by hand, on the default device.
#include <gtest/gtest.h>

#include <cmath>

#include "error_of.h"
#include "iruka/device.h"
#include "iruka/nn.h"
#include "iruka/ops.h"
#include "nn/model.h"
#include "nn_files.h"

namespace {

using iruka::Array;
using iruka::Dtype;
using iruka::nn::Graph;
using iruka::nn::Model;
using iruka::nn::Node;
using iruka::test::error_of;

Graph graph_of(std::vector<Node> nodes, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  Graph graph;
  graph.nodes = std::move(nodes);
  for (std::string& name : inputs) graph.inputs.push_back({std::move(name), {}, {}});
  for (std::string& name : outputs) graph.outputs.push_back({std::move(name), {}, {}});
  return graph;
}

Model model_of(Graph graph) {
  return iruka::nn::model_of(std::move(graph), iruka::default_device(), iruka::Precision::float32, "test");
}

Array numbers(std::initializer_list<float> values) { return Array::from(values).to_device(iruka::default_device()); }

TEST(Model, ChainsOfPointwiseOperatorsAreOneStep) {
  const Model model = model_of(graph_of({{"Mul", "", "a", {"x", "x"}, {"a"}, {}},
                                         {"Add", "", "b", {"a", "y"}, {"b"}, {}},
                                         {"Relu", "", "c", {"b"}, {"c"}, {}},
                                         {"Neg", "", "d", {"c"}, {"d"}, {}}},
                                        {"x", "y"}, {"d"}));
  const Array x = numbers({1, -2, 3}), y = numbers({-2, 1, 0});
  EXPECT_EQ(model(x, y).to_vector<float>(), (std::vector<float>{0, -5, -9}));
  const Array inputs[] = {x, y};
  const auto steps = model.report(inputs);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].op, "Mul+Add+Relu+Neg");
  EXPECT_EQ(steps[0].shape, (iruka::Dims{3}));
}

TEST(Model, ValuesThatAreUsedTwiceStay) {
  const Model model = model_of(graph_of({{"Exp", "", "", {"x"}, {"a"}, {}},
                                         {"Add", "", "", {"a", "a"}, {"b"}, {}},
                                         {"Sub", "", "", {"a", "b"}, {"c"}, {}}},
                                        {"x"}, {"b", "c"}));
  const Array x = numbers({0, 1});
  const Array inputs[] = {x};
  const auto outputs = model.run(inputs);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_FLOAT_EQ(outputs[0].to_vector<float>()[1], 2 * std::exp(1.0F));
  EXPECT_FLOAT_EQ(outputs[1].to_vector<float>()[0], -1);
}

TEST(Model, ConstantsAreFoldedAndShapesStayOnTheHost) {
  Graph graph = graph_of({{"Shape", "", "", {"x"}, {"shape"}, {}},
                          {"Sub", "", "", {"one", "zero"}, {"two"}, {}},
                          {"Gather", "", "", {"shape", "zero"}, {"first"}, {}},
                          {"Mul", "", "", {"first", "two"}, {"rows"}, {}},
                          {"Concat", "", "", {"rows", "rest"}, {"wanted"}, {{"axis", int64_t{0}}}},
                          {"Reshape", "", "", {"x", "wanted"}, {"y"}, {}}},
                         {"x"}, {"y"});
  graph.initializers["one"] = Array::from<int64_t>({1});
  graph.initializers["zero"] = Array::from<int64_t>({0});
  graph.initializers["rest"] = Array::from<int64_t>({-1});
  const Model model = model_of(std::move(graph));
  const Array x = numbers({1, 2, 3, 4, 5, 6}).reshape({2, 3}), inputs[] = {x};
  EXPECT_EQ(model.run(inputs)[0].shape(), (iruka::Dims{2, 3}));
}

TEST(Model, MissingOperatorsAreNamedTogether) {
  const std::string error = error_of<iruka::Error>([] {
    model_of(
        graph_of({{"Foo", "", "first", {"x"}, {"a"}, {}}, {"Bar", "other", "second", {"a"}, {"b"}, {}}}, {"x"}, {"b"}));
  });
  EXPECT_NE(error.find("Foo (nodes 'first')"), std::string::npos) << error;
  EXPECT_NE(error.find("other.Bar (nodes 'second')"), std::string::npos) << error;
}

TEST(Model, NodesOfTheLibraryItselfAreRefusedInFiles) {
  for (const char* op : {"Pointwise", "LibraryConvolution"}) {
    const std::string error =
        error_of<iruka::Error>([&] { model_of(graph_of({{op, "iruka", "", {"x"}, {"y"}, {}}}, {"x"}, {"y"})); });
    EXPECT_NE(error.find("Iruka has no operators"), std::string::npos) << error;
  }
}

TEST(Model, NodesThatLackInputsAndOutputs) {
  const Array x = numbers({1, 2});
  for (const char* op : {"Relu", "Add", "Conv", "Gemm", "Where", "Concat", "BatchNormalization", "LSTM", "Einsum"}) {
    EXPECT_NE(error_of<iruka::Error>([&] { model_of(graph_of({{op, "", "n", {}, {"y"}, {}}}, {"x"}, {"y"}))(x); }), "")
        << op;
    const Model unused =
        model_of(graph_of({{op, "", "n", {"x"}, {}, {}}, {"Relu", "", "", {"x"}, {"y"}, {}}}, {"x"}, {"y"}));
    EXPECT_EQ(unused(x).to_vector<float>(), (std::vector<float>{1, 2})) << op;
  }
}

/// tanh(x W) V for rows x of two numbers.
Graph perceptron_graph() {
  Graph graph = graph_of({{"MatMul", "", "", {"x", "w"}, {"a"}, {}},
                          {"Tanh", "", "", {"a"}, {"b"}, {}},
                          {"MatMul", "", "", {"b", "v"}, {"y"}, {}}},
                         {"x"}, {"y"});
  graph.inputs[0].dtype = Dtype::float32;
  graph.inputs[0].shape = {{-1, "batch"}, {2, ""}};
  graph.initializers["w"] = Array::from({1.0F, 0.5F, -1.0F, 2.0F, 0.25F, 3.0F}).reshape({2, 3}).to_device(iruka::cpu());
  graph.initializers["v"] = Array::from({1.0F, 2.0F, 3.0F}).reshape({3, 1}).to_device(iruka::cpu());
  return graph;
}

float wanted(float x, float y) {
  return std::tanh(x + 2 * y) + 2 * std::tanh(0.5F * x + 0.25F * y) + 3 * std::tanh(-x + 3 * y);
}

TEST(Model, MapsPointsAlongAnyAxis) {
  Graph other = perceptron_graph();
  other.nodes[1].op = "Softsign";  // no activation of perceptrons
  const Model model = model_of(perceptron_graph()), by_parts = model_of(std::move(other));
  ASSERT_NE(model.perceptron(), nullptr);
  EXPECT_TRUE(model.perceptron()->is_one_kernel());
  EXPECT_EQ(by_parts.perceptron(), nullptr);
  const Array x = numbers({1, 2, 3, -1, -2, -3}).reshape({2, 1, 3});  // features along axis 0
  const Array y = model.map(x, 0);
  EXPECT_EQ(y.shape(), (iruka::Dims{1, 1, 3}));
  const std::vector<float> got = y.to_vector<float>();
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(got[k], wanted(1.0F + k, -1.0F - k), 1e-5F);
  int64_t done = 0;
  const Array out = Array::empty({3, 1}, Dtype::float64, iruka::default_device());
  const auto progress = [&](int64_t part, int64_t all) { done = part == all ? all : 0; };
  EXPECT_EQ(by_parts.map(x.reshape({2, 3}).transpose(), 1, {.out = &out, .progress = progress}).data(), out.data());
  EXPECT_EQ(done, 3);
  const auto softsign = [](float v) { return v / (1 + std::abs(v)); };
  EXPECT_NEAR(out.to_vector<double>()[0], softsign(-1) + 2 * softsign(0.25F) + 3 * softsign(-4), 1e-5);
}

TEST(Model, MapsNothingButPoints) {
  Graph images = perceptron_graph();
  images.inputs[0].shape = {{2, ""}, {2, ""}};
  const std::string error =
      error_of<iruka::ValueError>([&] { model_of(std::move(images)).map(numbers({1, 2}).reshape({1, 2})); });
  EXPECT_NE(error.find("must make (batch, outputs) of (batch, features)"), std::string::npos) << error;
  EXPECT_NE(error.find("float32 (2, 2)"), std::string::npos) << error;
}

TEST(Model, OfAFile) {
  const Model model = iruka::nn::load_model(nn_files::data_path("perceptron.onnx"));
  ASSERT_EQ(model.inputs().size(), 1U);
  EXPECT_NE(model.to_string().find("Gemm"), std::string::npos) << model.to_string();
  const std::string error = error_of<iruka::Error>([&] { model(numbers({1}), numbers({1})); });
  EXPECT_NE(error.find("it takes 1 inputs"), std::string::npos) << error;
  EXPECT_NE(error_of<iruka::Error>([] { iruka::nn::load_model(nn_files::data_path("dtypes.safetensors")); }), "");
}

}  // namespace
