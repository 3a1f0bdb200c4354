// Perceptrons against a plain loop in double, their messages, and their texts for GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "error_of.h"
#include "iruka/iruka.h"
#include "nn/layers.h"
#include "nn/perceptron_text.h"
#include "nvrtc_testing.h"

namespace iruka::test {
namespace {

using nn::Activation;
using nn::DenseLayer;
using nn::Perceptron;
using Kind = Activation::Kind;
using Numbers = std::vector<double>;

Array random_array(const Dims& shape, unsigned seed, Dtype dtype = Dtype::float32) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<size_t>(count(shape)));
  for (double& value : values) value = normal(generator) / 2;
  return Array::from(std::span<const double>(values), shape).astype(dtype);
}

Numbers numbers_of(const Array& x) { return x.astype(Dtype::float64).to_vector<double>(); }

DenseLayer layer(int64_t inputs, int64_t outputs, std::vector<Activation> activations = {},
                 Dtype dtype = Dtype::float32) {
  const auto seed = static_cast<unsigned>(inputs * 1000 + outputs);
  return {random_array({outputs, inputs}, seed, dtype), random_array({outputs}, seed + 1, dtype),
          std::move(activations)};
}

double apply(const Activation& activation, double x, size_t channel) {
  const Numbers slopes = activation.weight.valid() ? numbers_of(activation.weight) : Numbers();
  const Numbers& p = activation.parameters;
  switch (activation.kind) {
    case Kind::relu: return std::max(x, 0.0);
    case Kind::leaky_relu: return x > 0 ? x : p[0] * x;
    case Kind::gelu: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Kind::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Kind::silu: return x / (1 + std::exp(-x));
    case Kind::tanh: return std::tanh(x);
    case Kind::sigmoid: return 1 / (1 + std::exp(-x));
    case Kind::softplus: return p[0] * x > p[1] ? x : std::log1p(std::exp(p[0] * x)) / p[0];
    case Kind::elu: return x > 0 ? x : p[0] * std::expm1(x);
    case Kind::prelu: return x > 0 ? x : slopes[slopes.size() == 1 ? 0 : channel] * x;
    case Kind::hardswish: return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
    case Kind::softmax: break;
  }
  return x;
}

/// One point.
Numbers expected_of(const std::vector<DenseLayer>& layers, Numbers values) {
  for (const DenseLayer& each : layers) {
    if (each.weight.valid()) {
      const Numbers weight = numbers_of(each.weight);
      Numbers sums = each.bias.valid() ? numbers_of(each.bias) : Numbers(static_cast<size_t>(each.weight.shape(0)));
      for (size_t r = 0; r < sums.size(); ++r)
        for (size_t c = 0; c < values.size(); ++c) sums[r] += weight[r * values.size() + c] * values[c];
      values = sums;
    }
    for (const Activation& activation : each.activations) {
      for (size_t k = 0; k < values.size(); ++k) values[k] = apply(activation, values[k], k);
      if (activation.kind != Kind::softmax) continue;
      double sum = 0;
      for (double& value : values) sum += value = std::exp(value);
      for (double& value : values) value /= sum;
    }
  }
  return values;
}

/// Compares the network's results for the rows of x, which may have any layout.
void check(const std::vector<DenseLayer>& layers, const Array& x, double tolerance = 1e-5,
           const nn::ActivationInput& input = {}) {
  const Perceptron network(layers, input);
  const Array y = network(x);
  const int64_t width = network.in_features();
  const Numbers in = numbers_of(x), out = numbers_of(y);
  ASSERT_EQ(y.shape(y.ndim() - 1), network.out_features());
  for (int64_t point = 0; point < x.size() / width; ++point) {
    const Numbers expected = expected_of(layers, Numbers(in.begin() + point * width, in.begin() + (point + 1) * width));
    double largest = 1e-3;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (size_t k = 0; k < expected.size(); ++k)
      ASSERT_NEAR(out[static_cast<size_t>(point) * expected.size() + k], expected[k], tolerance * largest)
          << "point " << point << ", output " << k;
  }
}

std::vector<Activation> all_activations() {
  return {{Kind::relu},
          {Kind::leaky_relu, {0.3}},
          {Kind::gelu},
          {Kind::gelu_tanh},
          {Kind::silu},
          {Kind::tanh},
          {Kind::sigmoid},
          {Kind::softplus, {2, 1.5}},
          {Kind::elu, {0.7}},
          {Kind::prelu, {}, Array::from<float>({0.25f})},
          {Kind::prelu, {}, random_array({7}, 5)},
          {Kind::hardswish},
          {Kind::softmax}};
}

TEST(Perceptron, EveryActivation) {
  const Array x = random_array({33, 5}, 1);
  for (const Activation& activation : all_activations()) {
    SCOPED_TRACE(nn::name(activation.kind));
    check({layer(5, 7, {activation}), layer(7, 3)}, x);
    check({{{}, {}, {activation}}, layer(7, 3)}, random_array({33, 7}, 1));
    check({{{}, {}, {activation, {Kind::tanh}}}}, random_array({33, 7}, 1), 1e-5, {.features = 7});
    check({layer(5, 300, {{Kind::tanh}}), layer(300, 7, {{Kind::relu}, activation})}, x);
  }
}

TEST(Perceptron, WidthsAndDepths) {
  for (const int64_t width : {1, 2, 3, 4, 5, 31, 256, 257})
    check({layer(4, width), layer(width, 6)}, random_array({9, 4}, 2));
  std::vector<DenseLayer> deep(Perceptron::kDeepest, layer(6, 6, {{Kind::elu, {1.0}}}));
  EXPECT_TRUE(Perceptron(deep).is_one_kernel());
  check(deep, random_array({20, 6}, 3));
  deep.push_back(deep.front());
  EXPECT_FALSE(Perceptron(deep).is_one_kernel());
  check(deep, random_array({20, 6}, 3));
}

TEST(Perceptron, DoublesAndLayersWithoutBias) {
  std::vector<DenseLayer> layers = {layer(5, 9, {{Kind::tanh}}, Dtype::float64), layer(9, 2, {}, Dtype::float64)};
  layers[1].bias = {};
  check(layers, random_array({40, 5}, 4, Dtype::float64), 1e-13);
  EXPECT_EQ(Perceptron(layers).dtype(), Dtype::float64);
}

TEST(Perceptron, Layouts) {
  const std::vector<DenseLayer> layers = {layer(5, 9, {{Kind::relu}}), layer(9, 4)};
  const Array x = random_array({6, 8, 5}, 6);
  check(layers, x.at(Slice{.step = -1}, Slice{.step = 2}));
  check(layers, x.transpose({1, 0, 2}));
  check(layers, random_array({5, 6, 8}, 7).transpose({1, 2, 0}));
  check(layers, random_array({1, 5}, 8).broadcast_to({7, 5}));
  check(layers, Array::empty({0, 5}, Dtype::float32));
  const Perceptron network(layers);
  const Array y = network.map(random_array({5, 6}, 9), 0);
  EXPECT_EQ(y.shape(), (Dims{4, 6}));
}

TEST(Perceptron, OutAndProgress) {
  const Perceptron network({layer(3, 2)});
  const Array x = random_array({200000, 3}, 10), expected = network(x);
  Array out = Array::empty({200000, 2}, Dtype::float64);
  std::vector<int64_t> told;
  const Array same = network.map(x, -1, {&out, [&](int64_t done, int64_t all) {
                                           EXPECT_EQ(all, 200000);
                                           told.push_back(done);
                                         }});
  EXPECT_EQ(same.data(), out.data());
  EXPECT_EQ(numbers_of(out), numbers_of(expected));
  ASSERT_GT(told.size(), 1u);
  EXPECT_EQ(told.back(), 200000);
}

TEST(Perceptron, AsFunction) {
  const std::vector<DenseLayer> layers = {layer(3, 6, {{Kind::silu}}), layer(6, 2)};
  const Perceptron network(layers);
  const nn::DeviceFunction net = network.as_function("net");
  const ElementwiseKernel kernel(
      "raw float32 x, " + net.parameter, "raw float32 y",
      net.declaration + " float out[2]; net(&x[i * 3], out); y[2 * i] = out[0]; y[2 * i + 1] = out[1];", "calls_net",
      {.preamble = net.preamble});
  const Array x = random_array({50, 3}, 11), y = Array::empty({50, 2}, Dtype::float32), expected = network(x);
  const Argument arguments[] = {x, net.weights, y};
  kernel.fill(arguments, {.size = 50});
  const Numbers made = numbers_of(y), wanted = numbers_of(expected);
  for (size_t k = 0; k < made.size(); ++k) EXPECT_NEAR(made[k], wanted[k], 1e-6);
}

TEST(Perceptron, Messages) {
  const auto shape_error = [](const std::function<void()>& call) { return error_of<ShapeError>(call); };
  EXPECT_EQ(shape_error([] { Perceptron({layer(3, 4), layer(5, 2)}); }),
            "nn.Perceptron: layer 1: the weight takes 5 numbers, but gets 4");
  EXPECT_EQ(shape_error([] { Perceptron({{random_array({4}, 1), {}, {}}}); }),
            "nn.Perceptron: layer 0: the weight must have shape (outputs, inputs), both at least 1, not shape (4,)");
  EXPECT_EQ(shape_error([] { Perceptron({{random_array({4, 2}, 1), random_array({3}, 1), {}}}); }),
            "nn.Perceptron: layer 0: the bias must have shape (4,), not shape (3,)");
  EXPECT_EQ(shape_error([] { Perceptron({layer(3, 4)})(random_array({2, 5}, 1)); }),
            "nn.Perceptron: expected 3 features along axis -1, but the array has shape (2, 5)");
  EXPECT_EQ(error_of<TypeError>([] { Perceptron({{random_array({4, 2}, 1).astype(Dtype::float16), {}, {}}}); }),
            "nn.Perceptron: layer 0: the weight must be float32 or float64, not float16");
  EXPECT_EQ(error_of<ValueError>([] { Perceptron({layer(3, 4), {{}, {}, {{Kind::relu}}}}); }),
            "nn.Perceptron: layer 1: it has no weight");
  EXPECT_EQ(error_of<ValueError>([] { Perceptron({layer(3, 4, {{Kind::elu}})}); }),
            "nn.Perceptron: layer 0: elu takes 1 parameters, not 0");
  EXPECT_EQ(error_of<ValueError>([] { Perceptron({layer(3, 4)}).as_function("a b"); }),
            "nn.Perceptron.as_function: 'a b' is no name of a C++ function");
}

/// A network as a function of one point in a kernel, with its weights by value where they are few.
std::string gpu_text(const std::vector<DenseLayer>& layers) {
  const nn::Plan plan = nn::plan_layers(layers, {});
  const nn::WeightsPlace place = plan.is_by_value() ? nn::WeightsPlace::by_value : nn::WeightsPlace::memory;
  const std::string type = info(plan.dtype).c_type, in = std::to_string(plan.in_features),
                    out = std::to_string(plan.out_features), size = std::to_string(plan.packed_size());
  const std::string weights = plan.is_by_value() ? type + " weights[" + size + "];" : type + "* weights;";
  return nn::network_text("network", layers, plan, place) + "struct Arguments { const " + type + "* x; const " +
         weights + " " + type + "* y; };\nextern \"C\" __global__ void iruka_entry(const Arguments arguments) {\n" +
         "const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + type + " in[" + in + "], out[" + out +
         "];\niruka::nn::load_point<" + in + ">(arguments.x + i * " + in + ", in);\nnetwork(" +
         nn::weights_type(plan, place) + "{&arguments.weights[0]}, in, out);\niruka::nn::store_point<" + out +
         ">(out, arguments.y + i * " + out + ");\n}\n";
}

/// The same for several points a thread, with the weights in shared memory.
std::string shared_text(const std::vector<DenseLayer>& layers, int points) {
  const nn::Plan plan = nn::plan_layers(layers, {});
  const std::string type = info(plan.dtype).c_type, in = std::to_string(plan.in_features),
                    out = std::to_string(plan.out_features), size = std::to_string(plan.packed_size());
  return nn::network_text("network", layers, plan, nn::WeightsPlace::shared) +
         "extern \"C\" __global__ void iruka_entry(const " + type + "* x, const " + type + "* weights, " + type +
         "* y, ptrdiff_t n, ptrdiff_t count) {\nconst ptrdiff_t i = blockIdx.x * (ptrdiff_t)blockDim.x + threadIdx.x;\n"
         "__shared__ __align__(16) " +
         type + " shared[" + size + "];\niruka::nn::share_weights<" + size +
         ">(weights, shared);\nif (i < n) iruka::nn::several_points<" + std::to_string(points) + ", " + in + ", " +
         out + ", " + type + ">(i, n, count, [&](auto point, " + type + "* in) { iruka::nn::load_point<" + in +
         ">(x + point * " + in + ", in); }, [&](const auto* in, auto* out) { network(" +
         nn::weights_type(plan, nn::WeightsPlace::shared) + "{shared}, in, out); }, [&](const " + type +
         "* out, auto point) { iruka::nn::store_point<" + out + ">(out, y + point * " + out + "); });\n}\n";
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class PerceptronTexts : public NvrtcTest {};

TEST_F(PerceptronTexts, SmallNetworksStayInRegisters) {
  for (const auto& layers : {std::vector<DenseLayer>{layer(16, 32, {{Kind::relu}}), layer(32, 4)},
                             {layer(3, 64, {{Kind::relu}}), layer(64, 64, {{Kind::relu}}), layer(64, 3)},
                             {layer(8, 30, {{Kind::gelu}}), layer(30, 7, {{Kind::softmax}})}}) {
    const std::string ptx = ptx_of(gpu_text(layers));
    EXPECT_EQ(ptx.find(".local"), ptx.npos) << gpu_text(layers);
    const bool is_by_value = nn::plan_layers(layers, {}).is_by_value();
    EXPECT_GT(count_of(ptx, is_by_value ? "ld.param" : "ld.global.nc.v4.f32"), 50u);  // the weights
    EXPECT_LT(count_of(ptx, "fma.rn"), 5000u);
    if (!find_ptxas().empty()) {
      EXPECT_TRUE(assembles(ptx, 90));
    }
  }
}

TEST_F(PerceptronTexts, SeveralPointsOfAThreadStayInRegisters) {
  for (const auto& layers : {std::vector<DenseLayer>{layer(16, 32, {{Kind::relu}}), layer(32, 4)},
                             {layer(5, 30, {{Kind::gelu}}), layer(30, 7, {{Kind::softmax}})},
                             {layer(6, 10, {{Kind::tanh}}), layer(10, 9, {{Kind::silu}}), layer(9, 3)}}) {
    for (const int points : {1, 2, 4}) {
      const std::string ptx = ptx_of(shared_text(layers, points));
      EXPECT_EQ(ptx.find(".local"), ptx.npos) << shared_text(layers, points);
      EXPECT_NE(ptx.find("ld.shared.v4.f32"), ptx.npos);
      if (!find_ptxas().empty()) {
        EXPECT_TRUE(assembles(ptx, 90));
      }
    }
  }
}

TEST_F(PerceptronTexts, EveryActivationCompiles) {
  for (const Activation& activation : all_activations()) {
    ptx_of(gpu_text({layer(5, 7, {activation, activation}),
                     layer(7, 3, {activation.weight.valid() ? Activation{Kind::tanh} : activation})}));
  }
}

TEST_F(PerceptronTexts, WideAndDeepOnesCompile) {
  EXPECT_LT(count_of(ptx_of(gpu_text({layer(256, 256, {{Kind::relu}}), layer(256, 256)})), "fma.rn"), 20000u);
  ptx_of(gpu_text(std::vector<DenseLayer>(16, layer(6, 6, {{Kind::tanh}}))));
  ptx_of(gpu_text({layer(5, 9, {{Kind::tanh}}, Dtype::float64), layer(9, 2, {}, Dtype::float64)}));
}

}  // namespace
}  // namespace iruka::test
