// Products of integers by both devices' methods, and the C++ interface of linear algebra and transforms.
#include <gtest/gtest.h>

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
  const Array parts = kind(dtype) == Kind::complex ? wide.view(Dtype::complex128) : wide.at(Slice{0, count(shape), 1});
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
