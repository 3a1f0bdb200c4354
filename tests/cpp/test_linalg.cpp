// Products of integers by both devices' methods, and the C++ interface of linear algebra and transforms.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numeric>

#include "emulated_cuda.h"
#include "iruka/fft.h"
#include "iruka/indexing.h"
#include "iruka/linalg.h"
#include "iruka/ops.h"

namespace {

using namespace iruka;
using namespace iruka::test;

/// Distinct numbers whose products overflow small dtypes.
Array counted(const Dims& shape, Dtype dtype) {
  return (multiply(add(arange(count(shape)), 3), 7).astype(dtype)).reshape(shape);
}

/// The product by its definition, modulo 2^64.
std::vector<int64_t> product_of(const Array& a, const Array& b, Dtype dtype) {
  const int64_t m = a.shape(0), k = a.shape(1), n = b.shape(1);
  const auto x = a.to_vector<int64_t>(), y = b.to_vector<int64_t>();
  std::vector<int64_t> sums(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      uint64_t sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += static_cast<uint64_t>(x[static_cast<size_t>(i * k + l)]) *
               static_cast<uint64_t>(y[static_cast<size_t>(l * n + j)]);
      sums[static_cast<size_t>(i * n + j)] = static_cast<int64_t>(sum);
    }
  return Array::from(std::span<const int64_t>(sums), {m, n}).astype(dtype).to_vector<int64_t>();
}

constexpr Dtype kIntegers[] = {Dtype::int8,  Dtype::int16,  Dtype::int32,  Dtype::int64,
                               Dtype::uint8, Dtype::uint16, Dtype::uint32, Dtype::uint64};

TEST(IntegerProducts, OnTheCpu) {
  for (Dtype dtype : kIntegers)
    for (const Dims& size : {Dims{1, 1, 1}, Dims{5, 3, 7}, Dims{70, 300, 130}}) {
      const Array a = counted({size[0], size[1]}, dtype), b = counted({size[1], size[2]}, dtype);
      EXPECT_EQ(matmul(a, b).to_vector<int64_t>(), product_of(a, b, dtype)) << name(dtype) << to_string(size);
      const Array left = counted({size[1], size[0]}, dtype).transpose(), right = b.at(Slice{{}, {}, -1});
      EXPECT_EQ(matmul(left, right).to_vector<int64_t>(), product_of(left, right, dtype)) << name(dtype);
    }
}

using IntegerProductsForCuda = EmulatedDeviceTest;

TEST_F(IntegerProductsForCuda, OnAnEmulatedDevice) {
  for (Dtype dtype : {Dtype::int8, Dtype::uint16, Dtype::int32, Dtype::int64})
    for (const Dims& size : {Dims{1, 1, 1}, Dims{5, 3, 7}, Dims{70, 40, 130}}) {
      const Array a = counted({size[0], size[1]}, dtype), b = counted({size[2], size[1]}, dtype).transpose();
      const Array x = copy_to(emulated_cuda(), a), y = copy_to(emulated_cuda(), b);
      const Array got = copy_to(cpu(), matmul(x, y));
      EXPECT_EQ(got.to_vector<int64_t>(), product_of(a, b, dtype)) << name(dtype) << to_string(size);
    }
  const Array rare = equal(ElementwiseFunction("remainder")(counted({70, 40}, Dtype::int64), 11), 3);
  const Array pairs = matmul(copy_to(emulated_cuda(), rare), copy_to(emulated_cuda(), rare.transpose()));
  EXPECT_EQ(copy_to(cpu(), pairs).to_vector<uint8_t>(), matmul(rare, rare.transpose()).to_vector<uint8_t>());
  const Array a = counted({3, 4, 5}, Dtype::int32), b = counted({3, 5, 2}, Dtype::int32);
  const Array got = copy_to(cpu(), matmul(copy_to(emulated_cuda(), a), copy_to(emulated_cuda(), b)));
  EXPECT_EQ(got.to_vector<int64_t>(), matmul(a, b).to_vector<int64_t>());
}

/// Numbers of no order, well conditioned as matrices; complex ones for complex dtypes.
Array scattered(const Dims& shape, Dtype dtype, double diagonal_term) {
  const Array numbers = arange(0, 2 * count(shape), 1, Dtype::float64);
  const Array wide = iruka::sin(multiply(multiply(numbers, numbers), 0.129898));
  const Array parts = is_complex(dtype) ? wide.view(Dtype::complex128) : wide.at(Slice{0, count(shape), 1});
  Array x = parts.reshape(shape).astype(dtype);
  if (diagonal_term != 0) {
    Array line = diagonal(x, 0, -2, -1);
    line.assign(add(line, diagonal_term).astype(dtype));
  }
  return x;
}

void expect_close(const Array& got, const Array& expected, const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  ASSERT_EQ(got.dtype(), expected.dtype()) << what;
  const bool is_single = real_dtype(got.dtype()) == Dtype::float32;
  const double scale = std::max(1.0, iruka::max(absolute(expected)).item<double>());
  EXPECT_LE(iruka::max(absolute(subtract(got, expected))).item<double>(), (is_single ? 2e-5 : 4e-14) * scale) << what;
}

constexpr Dtype kInexact[] = {Dtype::float32, Dtype::float64, Dtype::complex64, Dtype::complex128};

using SmallMatricesForCuda = EmulatedDeviceTest;

TEST_F(SmallMatricesForCuda, AreMultiplied) {
  for (Dtype dtype : kInexact)
    for (const Dims& size : {Dims{1, 1, 1}, Dims{4, 4, 4}, Dims{3, 16, 5}}) {
      const Array a = scattered({70, size[0], size[1]}, dtype, 0), b = scattered({70, size[1], size[2]}, dtype, 1);
      const std::string what = std::string(name(dtype)) + to_string(size);
      const Array x = copy_to(emulated_cuda(), a), y = copy_to(emulated_cuda(), b);
      expect_close(copy_to(cpu(), matmul(x, y)), matmul(a, b), what);
      const Array turned = copy_to(emulated_cuda(), a.swapaxes(-2, -1)).swapaxes(-2, -1);
      const Slice first{0, 1, 1};
      expect_close(copy_to(cpu(), matmul(turned, y.at(first))), matmul(a, b.at(first)), what);
    }
}

TEST_F(SmallMatricesForCuda, AreSolvedAndInverted) {
  for (Dtype dtype : kInexact)
    for (const Dims& size : {Dims{1, 1, 37}, Dims{3, 2, 1}, Dims{8, 8, 35}, Dims{13, 32, 3}, Dims{32, 3, 2}}) {
      const Array a = scattered({size[2], size[0], size[0]}, dtype, 9), b = scattered({size[0], size[1]}, dtype, 0);
      const std::string what = std::string(name(dtype)) + to_string(size);
      const Array x = copy_to(emulated_cuda(), a), y = copy_to(emulated_cuda(), b);
      const Array got = copy_to(cpu(), linalg::solve(x, y));
      expect_close(matmul(a, got), add(b, zeros(got.shape(), dtype)).astype(dtype), what + " solved");
      const Array unit = matmul(a, copy_to(cpu(), linalg::inv(x)));
      expect_close(unit, add(eye(size[0], {}, 0, dtype), zeros(unit.shape(), dtype)).astype(dtype), what + " inverted");
      expect_close(copy_to(cpu(), linalg::det(x)), linalg::det(a), what + " det");
    }
  Array stack = scattered({40, 5, 5}, Dtype::float64, 1);
  stack.at(33, 2).fill(0);
  const Array x = copy_to(emulated_cuda(), stack);
  EXPECT_THROW(linalg::inv(x), linalg::LinAlgError);
  EXPECT_THROW(linalg::solve(x, copy_to(emulated_cuda(), ones({5}))), linalg::LinAlgError);
  EXPECT_EQ(copy_to(cpu(), linalg::det(x)).at(33).item<double>(), 0);
  EXPECT_NE(copy_to(cpu(), linalg::det(x)).at(32).item<double>(), 0);
}

TEST(Linalg, ErrorsHaveTheirClasses) {
  EXPECT_THROW(linalg::inv(zeros({2, 2})), linalg::LinAlgError);
  EXPECT_THROW(linalg::inv(ones({2, 3})), linalg::LinAlgError);
  EXPECT_THROW(linalg::det(ones({2, 2}, Dtype::float16)), TypeError);
  EXPECT_THROW(matmul(ones({2, 3}), ones({2, 3})), ShapeError);
  EXPECT_THROW(diagonal(ones({2, 3}), 0, 0, 0), ValueError);
  EXPECT_EQ(linalg::det(eye(3)).item<double>(), 1);
}

TEST(Linalg, DiagonalsShareMemory) {
  Array x = zeros({3, 4});
  diagonal(x, 1).fill(2);
  EXPECT_EQ(sum(x).item<double>(), 6);
  EXPECT_EQ(diagonal(x, -5).shape(), (Dims{0}));
}

using Doubles = std::vector<double>;

Array matrix(std::initializer_list<double> values, const Dims& shape) {
  return Array::from(std::span<const double>(values.begin(), values.size()), shape);
}

void expect_near(const Array& got, const Doubles& expected, double tolerance = 1e-12) {
  const Doubles values = got.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], expected[k], tolerance) << k;
}

const Array kDiagonal = matrix({3, 0, 0, 0, -4, 0}, {2, 3});  // its singular values are 4 and 3

TEST(Linalg, NormsOfEveryOrder) {
  EXPECT_NEAR(linalg::norm(kDiagonal).item<double>(), 5, 1e-15);
  EXPECT_NEAR(linalg::norm(kDiagonal, 2, Dims{0, 1}).item<double>(), 4, 1e-14);
  EXPECT_NEAR(linalg::norm(kDiagonal, -2, Dims{0, 1}).item<double>(), 3, 1e-14);
  EXPECT_EQ(linalg::norm(kDiagonal, 1, Dims{0, 1}).item<double>(), 4);
  EXPECT_EQ(linalg::norm(kDiagonal, -INFINITY, Dims{0, 1}, true).shape(), (Dims{1, 1}));
  EXPECT_NEAR(linalg::nuclear_norm(kDiagonal).item<double>(), 7, 1e-14);
  EXPECT_EQ(linalg::nuclear_norm(ones({2, 3, 4}), {0, 2}, true).shape(), (Dims{1, 3, 1}));
  EXPECT_EQ(linalg::norm(arange(-3, 1, 1)).item<double>(), std::sqrt(14.0));
  EXPECT_EQ(linalg::norm(ones({2, 2, 2})).item<double>(), std::sqrt(8.0));
  EXPECT_EQ(linalg::vector_norm(kDiagonal, 1).item<double>(), 7);
  expect_near(linalg::vector_norm(ones({2, 3, 4}), 2, Dims{2, 0}), Doubles(3, std::sqrt(8.0)));
  EXPECT_EQ(linalg::vector_norm(ones({2, 3, 4}), 2, Dims{2, 0}, true).shape(), (Dims{1, 3, 1}));
  expect_near(linalg::matrix_norm(ones({5, 2, 2})), Doubles(5, 2));
  EXPECT_THROW(linalg::norm(kDiagonal, 3, Dims{0, 1}), ValueError);
  EXPECT_THROW(linalg::norm(ones({2, 2, 2}), 1), ValueError);
  EXPECT_THROW(linalg::norm(kDiagonal, 1, Dims{0, 0}), ValueError);
  EXPECT_THROW(linalg::norm(kDiagonal, 1, Dims{2}), AxisError);
  EXPECT_THROW(linalg::matrix_norm(ones({2})), linalg::LinAlgError);
}

TEST(Linalg, WhatSingularValuesTell) {
  expect_near(linalg::svdvals(kDiagonal), {4, 3});
  expect_near(linalg::pinv(kDiagonal), {1.0 / 3, 0, 0, -0.25, 0, 0});
  expect_near(linalg::pinv(kDiagonal, 0.8), {0, 0, 0, -0.25, 0, 0});
  const Array limits = matrix({0.8, 0.1}, {2}), both[] = {kDiagonal, kDiagonal};
  expect_near(linalg::matrix_rank(stack(both), {.relative_tolerance = Argument(limits)}), {1, 2});
  EXPECT_EQ(linalg::pinv(ones({0, 3})).shape(), (Dims{3, 0}));
  EXPECT_EQ(linalg::matrix_rank(kDiagonal).item<int64_t>(), 2);
  EXPECT_EQ(linalg::matrix_rank(kDiagonal, {.tolerance = Argument(3.5)}).item<int64_t>(), 1);
  EXPECT_EQ(linalg::matrix_rank(ones({4, 4}), {.hermitian = true}).item<int64_t>(), 1);
  EXPECT_EQ(linalg::matrix_rank(zeros({3})).item<int64_t>(), 0);
  EXPECT_EQ(linalg::matrix_rank(zeros({2, 0, 3})).shape(), (Dims{2}));
  EXPECT_THROW(linalg::matrix_rank(kDiagonal, {Argument(1.0), Argument(1.0)}), ValueError);
  const Array symmetric = matrix({1, 2, 2, -2}, {2, 2});  // its eigenvalues are 2 and -3
  const linalg::SvdResult parts = linalg::svd_hermitian(symmetric);
  expect_near(parts.s, {3, 2});
  expect_near(matmul(multiply(parts.u, parts.s), parts.vh), {1, 2, 2, -2});
  expect_near(linalg::eigvalsh(symmetric), {-3, 2});
  const auto values = linalg::eigvals(matrix({0, -1, 1, 0}, {2, 2})).to_vector<std::complex<double>>();
  EXPECT_NEAR(std::abs(values[0] * values[0] + 1.0), 0, 1e-14);
  EXPECT_THROW(linalg::eigvals(full({2, 2}, INFINITY)), linalg::LinAlgError);
}

TEST(Linalg, ConditionNumbers) {
  const Array x = matrix({3, 0, 0, -4}, {2, 2});
  EXPECT_NEAR(linalg::cond(x).item<double>(), 4.0 / 3, 1e-14);
  EXPECT_NEAR(linalg::cond(x, -2).item<double>(), 0.75, 1e-14);
  EXPECT_NEAR(linalg::cond(x, 1).item<double>(), 4.0 / 3, 1e-14);
  EXPECT_NEAR(linalg::frobenius_cond(x).item<double>(), 5 * std::hypot(1.0 / 3, 0.25), 1e-14);
  EXPECT_NEAR(linalg::nuclear_cond(x).item<double>(), 7 * (1.0 / 3 + 0.25), 1e-14);
  EXPECT_EQ(linalg::cond(zeros({2, 2})).item<double>(), INFINITY);
  const Array both[] = {x, zeros({2, 2})};
  expect_near(linalg::cond(stack(both), 1).at(0), {4.0 / 3});
  EXPECT_EQ(linalg::cond(stack(both), 1).at(1).item<double>(), INFINITY);
  EXPECT_TRUE(std::isnan(linalg::cond(full({2, 2}, NAN), 1).item<double>()));
  EXPECT_THROW(linalg::cond(zeros({0, 0})), linalg::LinAlgError);
  EXPECT_THROW(linalg::cond(ones({2, 3}), 1), linalg::LinAlgError);
}

TEST(Linalg, LeastSquares) {
  // A line through (0, 1), (1, 2), (2, 4): 1.5 x + 5 / 6, which misses by 1/6, -1/3 and 1/6.
  const Array a = matrix({0, 1, 1, 1, 2, 1}, {3, 2});
  const linalg::LeastSquares line = linalg::lstsq(a, matrix({1, 2, 4}, {3}));
  expect_near(line.x, {1.5, 5.0 / 6});
  expect_near(line.residuals, {1.0 / 6});
  EXPECT_EQ(line.rank, 2);
  EXPECT_EQ(line.singular_values.shape(), (Dims{2}));
  EXPECT_EQ(linalg::lstsq(ones({2, 2}), ones({2, 3})).rank, 1);
  EXPECT_EQ(linalg::lstsq(ones({2, 2}), ones({2, 3})).residuals.shape(), (Dims{0}));
  EXPECT_EQ(linalg::lstsq(ones({0, 2}), ones({0})).x.shape(), (Dims{2}));
  EXPECT_THROW(linalg::lstsq(a, ones({2})), linalg::LinAlgError);
  EXPECT_THROW(linalg::lstsq(ones({2}), ones({2})), linalg::LinAlgError);
}

TEST(Linalg, PowersChainsAndTensors) {
  const Array shear = matrix({1, 1, 0, 1}, {2, 2});
  expect_near(linalg::matrix_power(shear, 5), {1, 5, 0, 1});
  expect_near(linalg::matrix_power(shear, -3), {1, -3, 0, 1});
  expect_near(linalg::matrix_power(shear, 0), {1, 0, 0, 1});
  EXPECT_NE(linalg::matrix_power(shear, 1).buffer(), shear.buffer());
  EXPECT_EQ(linalg::matrix_power(full({1, 1}, 3), 4).item<int64_t>(), 81);
  const Array chain[] = {ones({3}), ones({3, 4}), ones({4, 2}), ones({2})};
  EXPECT_EQ(linalg::multi_dot(chain).item<double>(), 24);
  EXPECT_EQ(linalg::multi_dot(std::span(chain).subspan(1)).shape(), (Dims{3}));
  EXPECT_THROW(linalg::multi_dot(std::span(chain).first(1)), ValueError);
  const Array deep[] = {ones({2, 2, 2}), ones({2, 2})};
  EXPECT_THROW(linalg::multi_dot(deep), linalg::LinAlgError);
  const Array twice = multiply(eye(4), 2).reshape({2, 2, 2, 2});
  expect_near(linalg::tensorsolve(twice, ones({2, 2})), Doubles(4, 0.5));
  EXPECT_EQ(linalg::tensorsolve(twice, ones({2, 2}), Dims{0, 1}).shape(), (Dims{2, 2}));
  expect_near(linalg::tensorinv(twice).reshape({4, 4}).at(0), {0.5, 0, 0, 0});
  EXPECT_THROW(linalg::tensorsolve(twice, ones({3})), linalg::LinAlgError);
  EXPECT_THROW(linalg::tensorinv(twice, 0), ValueError);
}

TEST(Fourier, FrequenciesAndShifts) {
  expect_near(fft::fftfreq(4, 0.5), {0, 0.5, -1, -0.5});
  expect_near(fft::fftfreq(5), {0, 0.2, 0.4, -0.4, -0.2});
  expect_near(fft::rfftfreq(5), {0, 0.2, 0.4});
  expect_near(fft::rfftfreq(4), {0, 0.25, 0.5});
  EXPECT_THROW(fft::fftfreq(0), ValueError);
  const Array x = arange(6).reshape({2, 3});
  EXPECT_EQ(fft::fftshift(x).to_vector<int64_t>(), (std::vector<int64_t>{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(fft::ifftshift(fft::fftshift(x)).to_vector<int64_t>(), x.to_vector<int64_t>());
  EXPECT_EQ(fft::ifftshift(x, Dims{1}).to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 0, 4, 5, 3}));
  EXPECT_EQ(fft::fftshift(zeros({0, 2})).shape(), (Dims{0, 2}));
  EXPECT_THROW(fft::fftshift(x, Dims{2}), AxisError);
}

TEST(Fourier, OneThreadGivesTheSameBits) {
  const Array x = iruka::sin(arange(0, 30030, 1, Dtype::float64));
  const int before = thread_count();
  for (int64_t length : {int64_t{997}, int64_t{4096}, int64_t{30030}, int64_t{30011}}) {
    set_thread_count(1);
    const auto one = fft::transform(x, fft::Kind::complex, length, 0).to_vector<std::complex<double>>();
    set_thread_count(4);
    EXPECT_EQ(fft::transform(x, fft::Kind::complex, length, 0).to_vector<std::complex<double>>(), one) << length;
  }
  set_thread_count(before);
}

}  // namespace
