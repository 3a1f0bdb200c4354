// The articles' programs on the C++ API.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "article_texts.h"
#include "iruka/iruka.h"

namespace {

using iruka::Argument;
using iruka::Array;
using iruka::Dims;
using iruka::Dtype;
using iruka::ElementwiseKernel;
using namespace iruka::test;

ElementwiseKernel kernel_of(const ArticleText& text) {
  return ElementwiseKernel(text.inputs, text.outputs, text.operation, text.name, {.preamble = text.preamble});
}

/// k(arguments..., size=size)
template <class... A>
void run(const ElementwiseKernel& k, int64_t size, const A&... arguments) {
  const Argument list[] = {Argument(arguments)...};
  k.call(list, {.size = size});
  EXPECT_TRUE(k.pop_warnings().empty());
}

Array integers(const Dims& shape, Dtype dtype) {
  return iruka::arange(iruka::count(shape)).reshape(shape).astype(dtype);
}

std::vector<float> random_floats(std::mt19937& random, size_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(Articles, MatAdd) {
  const ElementwiseKernel mat_add_kernel = kernel_of(kMatAdd);
  Array x = integers({3, 3}, Dtype::float32), y = integers({3, 3}, Dtype::float32);
  Array z = mat_add_kernel(x, y);
  EXPECT_EQ(z.dtype(), Dtype::float32);
  EXPECT_EQ(z.shape(), (Dims{3, 3}));
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{0, 2, 4, 6, 8, 10, 12, 14, 16}));

  Array row = integers({3}, Dtype::float32);
  z = mat_add_kernel(x, row);
  EXPECT_EQ(z.shape(), (Dims{3, 3}));
  EXPECT_EQ(z.to_vector<float>(), (std::vector<float>{0, 2, 4, 3, 5, 7, 6, 8, 10}));
}

TEST(Articles, Roll1d) {
  Array x = iruka::random::randint(0, 10, {15}).astype(Dtype::int16);
  Array z = iruka::zeros({15}, Dtype::int16);
  const ElementwiseKernel roll_kernel = kernel_of(kRoll);
  roll_kernel(x, z);
  std::vector<int16_t> want = x.to_vector<int16_t>();
  std::rotate(want.begin(), want.begin() + 1, want.end());
  EXPECT_EQ(z.to_vector<int16_t>(), want);
}

TEST(Articles, Indexing2dElementsAndCount) {
  Array x = iruka::zeros({4, 4}, Dtype::int16), z = iruka::zeros({4, 4}, Dtype::int16);
  const ElementwiseKernel get_index_kernel = kernel_of(kIndexAndCount);
  Array one = iruka::zeros({1}, Dtype::int16);
  EXPECT_THROW(get_index_kernel(x, z, one), iruka::ValueError);  // an output's shape must be the loop's
  Array sizes = iruka::zeros({4, 4}, Dtype::int16);
  get_index_kernel(x, z, sizes);
  std::vector<int16_t> want(16);
  std::iota(want.begin(), want.end(), int16_t{0});
  EXPECT_EQ(z.to_vector<int16_t>(), want);
  EXPECT_EQ(sizes.to_vector<int16_t>(), std::vector<int16_t>(16, 16));
}

TEST(Articles, Indexing2dRowsAndColumns) {
  Array x = iruka::zeros({4, 4}, Dtype::int16);
  const std::vector<int16_t> want = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33};
  const ElementwiseKernel inlined = kernel_of(kRowsAndColumns);
  Array z = iruka::zeros({4, 4}, Dtype::int16);
  inlined(x, x.shape(1), z);
  EXPECT_EQ(z.to_vector<int16_t>(), want);

  const ElementwiseKernel with_functions = kernel_of(kRowsAndColumnsByFunctions);
  z = iruka::zeros({4, 4}, Dtype::int16);
  with_functions(x, x.shape(1), z);
  EXPECT_EQ(z.to_vector<int16_t>(), want);
}

TEST(Articles, Indexing3Channels) {
  Array x = integers({3, 3, 3}, Dtype::int16).transpose({1, 2, 0});
  Array z = iruka::zeros({3, 3, 2}, Dtype::int16);
  const ElementwiseKernel k = kernel_of(kThreeChannels);
  run(k, x.shape(0) * x.shape(1), x, x.shape(1), x.shape(0), z);
  EXPECT_EQ(z.at(iruka::Ellipsis{}, 0).to_vector<int16_t>(), (std::vector<int16_t>{9, 11, 13, 15, 17, 19, 21, 23, 25}));
  EXPECT_EQ(z.at(iruka::Ellipsis{}, 1).to_vector<int16_t>(),
            (std::vector<int16_t>{27, 29, 31, 33, 35, 37, 39, 41, 43}));
}

TEST(Articles, LocalMean) {
  Array x = iruka::ones({200, 200}, Dtype::float32), z = iruka::zeros({200, 200}, Dtype::float32);
  const ElementwiseKernel local_mean = kernel_of(kLocalMean);
  local_mean(x, x.shape(1), x.shape(0), z);
  EXPECT_EQ(z.to_vector<float>(), std::vector<float>(200 * 200, 1.0f));

  // A picture that is not constant, so that a wrong neighbour shows.
  const int height = 9, width = 7;
  Array ramp = integers({height, width}, Dtype::float32), mean = iruka::zeros({height, width}, Dtype::float32);
  local_mean(ramp, ramp.shape(1), ramp.shape(0), mean);
  std::vector<float> got = mean.to_vector<float>();
  for (int y = 0; y < height; ++y) {
    for (int x_ = 0; x_ < width; ++x_) {
      double total = 0;
      int count = 0;
      for (int v = std::max(0, y - 1); v <= std::min(height - 1, y + 1); ++v) {
        for (int u = std::max(0, x_ - 1); u <= std::min(width - 1, x_ + 1); ++u, ++count) total += v * width + u;
      }
      EXPECT_FLOAT_EQ(got[static_cast<size_t>(y * width + x_)], static_cast<float>(total / count));
    }
  }
}

/// weight (rows, columns) applied to every row of `input`, in float64.
std::vector<double> linear(const std::vector<double>& input, const std::vector<float>& weight,
                           const std::vector<float>& bias, size_t columns) {
  std::vector<double> output;
  for (size_t at = 0; at < input.size(); at += columns) {
    for (size_t r = 0; r < bias.size(); ++r) {
      double sum = bias[r];
      for (size_t c = 0; c < columns; ++c) sum += static_cast<double>(weight[r * columns + c]) * input[at + c];
      output.push_back(sum);
    }
  }
  return output;
}

TEST(Articles, LinearLayers) {
  const int64_t nx = 16, ny = 12, nz = 10, n = 5, h = 8, o = 3;
  std::mt19937 random(0);
  std::vector<float> a = random_floats(random, nx * ny * nz * n), w1 = random_floats(random, h * n),
                     b1 = random_floats(random, h), w2 = random_floats(random, o * h), b2 = random_floats(random, o);
  const ElementwiseKernel elementwise_linear_layer = kernel_of(kLinearLayer);
  auto array = [](const std::vector<float>& values, const Dims& shape) {
    return Array::from(std::span<const float>(values), shape);
  };
  Array hidden = iruka::zeros({nx, ny, nz, h}, Dtype::float32), output = iruka::zeros({nx, ny, nz, o}, Dtype::float32);
  run(elementwise_linear_layer, nx * ny * nz, array(a, {nx, ny, nz, n}), n, h, array(w1, {h, n}), array(b1, {h}),
      hidden);
  run(elementwise_linear_layer, nx * ny * nz, hidden, h, o, array(w2, {o, h}), array(b2, {o}), output);

  std::vector<double> want = linear(linear({a.begin(), a.end()}, w1, b1, n), w2, b2, h);
  std::vector<float> got = output.to_vector<float>();
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], want[k], 1e-4 + 1e-4 * std::abs(want[k]));
}

TEST(Articles, Basics) {
  Array x = iruka::arange(10).reshape({2, 5});
  EXPECT_EQ(x.dtype(), Dtype::int64);
  EXPECT_EQ(x.shape(), (Dims{2, 5}));
  EXPECT_EQ(x.strides(), (Dims{40, 8}));
  EXPECT_EQ(&x.device(), &iruka::default_device());
  EXPECT_EQ(x.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));

  Array line = iruka::arange(10);
  EXPECT_EQ(iruka::multiply(line, 2).to_vector<int64_t>(), (std::vector<int64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
  Array bell = iruka::exp(iruka::multiply(iruka::power(line, 2), -0.5));
  std::vector<double> got = bell.to_vector<double>();
  for (int k = 0; k < 10; ++k) EXPECT_NEAR(got[static_cast<size_t>(k)] / std::exp(-0.5 * k * k), 1, 1e-12);
  EXPECT_NEAR(iruka::linalg::norm(line).item<double>(), std::sqrt(285.0), 1e-12);
  EXPECT_EQ(iruka::random::normal(5, 2.0, {10}).shape(), (Dims{10}));
}

struct Picture {
  int height, width;
  std::vector<float> samples;

  float clamped(int y, int x, int channel) const {
    y = std::clamp(y, 0, height - 1);
    x = std::clamp(x, 0, width - 1);
    return samples[static_cast<size_t>((y * width + x) * 3 + channel)];
  }
  Array array() const { return Array::from(std::span<const float>(samples), {height, width, 3}); }
};

/// Sum of squares over a patch. The samples are bytes, so it is exact.
double patch_distance(const Picture& a, const Picture& b, int ya, int xa, int yb, int xb, int radius) {
  double sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      for (int c = 0; c < 3; ++c) sum += std::pow(a.clamped(ya + dy, xa + dx, c) - b.clamped(yb + dy, xb + dx, c), 2);
    }
  }
  return sum;
}

TEST(Articles, PatchMatch) {
  std::mt19937 random(3);
  Picture a{13, 11, {}}, b{9, 14, {}};
  for (Picture* picture : {&a, &b}) {
    picture->samples.resize(static_cast<size_t>(picture->height * picture->width * 3));
    for (float& sample : picture->samples) sample = static_cast<float>(random() % 256);
  }
  const ElementwiseKernel get_nnf_kernel = kernel_of(kNearestPatches);
  for (int radius : {0, 1, 2, 3}) {
    Array nnf = iruka::zeros({a.height, a.width, 2}, Dtype::uint16);
    run(get_nnf_kernel, a.height * a.width, a.array(), b.array(), a.width, a.height, b.width, b.height, radius, nnf);
    std::vector<uint16_t> got = nnf.to_vector<uint16_t>();
    for (int y = 0; y < a.height; ++y) {
      for (int x = 0; x < a.width; ++x) {
        int nearest_x = 0, nearest_y = 0;
        double least = INFINITY;
        for (int v = 0; v < b.height; ++v) {
          for (int u = 0; u < b.width; ++u) {
            double distance = patch_distance(a, b, y, x, v, u, radius);
            if (distance < least) least = distance, nearest_x = u, nearest_y = v;
          }
        }
        size_t at = static_cast<size_t>(y * a.width + x) * 2;
        ASSERT_EQ(got[at], nearest_x) << "radius " << radius << ", pixel " << x << ", " << y;
        ASSERT_EQ(got[at + 1], nearest_y) << "radius " << radius << ", pixel " << x << ", " << y;
      }
    }
  }
}

}  // namespace
