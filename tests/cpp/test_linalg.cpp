// Products of integers on both devices' ways, and what only C++ sees of linear algebra and transforms.
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
  const Array a = counted({3, 4, 5}, Dtype::int32), b = counted({3, 5, 2}, Dtype::int32);
  const Array got = copy_to(cpu(), matmul(copy_to(emulated_cuda(), a), copy_to(emulated_cuda(), b)));
  EXPECT_EQ(got.to_vector<int64_t>(), matmul(a, b).to_vector<int64_t>());
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
