// Creation, joining, copies, casts, fills, assignment and norms.
#include <gtest/gtest.h>

#include <cmath>

#include "error_of.h"
#include "iruka/iruka.h"

namespace {

using namespace iruka;

std::vector<double> doubles(const Array& array) { return array.astype(Dtype::float64).to_vector<double>(); }

TEST(Creation, ZerosOnesFullEmpty) {
  for (int k = 0; k < kDtypeCount; ++k) {
    const Dtype dtype = static_cast<Dtype>(k);
    EXPECT_EQ(doubles(zeros({2, 3}, dtype)), std::vector<double>(6, 0.0)) << name(dtype);
    EXPECT_EQ(doubles(ones({2, 3}, dtype)), std::vector<double>(6, 1.0)) << name(dtype);
    EXPECT_EQ(empty({4, 0}, dtype).shape(), (Dims{4, 0}));
  }
  EXPECT_EQ(full({2}, 7).dtype(), Dtype::int64);
  EXPECT_EQ(full({2}, 7.5).dtype(), Dtype::float64);
  EXPECT_EQ(full({}, true).dtype(), Dtype::bool_);
  EXPECT_EQ(doubles(full({1000}, -1, Dtype::int16)), std::vector<double>(1000, -1));
  EXPECT_EQ(doubles(full({1000}, 258, Dtype::int16)), std::vector<double>(1000, 258));
  EXPECT_THROW(full({2}, 300, Dtype::uint8), OverflowError);
  EXPECT_THROW(zeros({2, -1}), ShapeError);
}

TEST(Creation, Arange) {
  EXPECT_EQ(arange(5).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(arange(5, 0, -2).to_vector<int64_t>(), (std::vector<int64_t>{5, 3, 1}));
  EXPECT_EQ(arange(3, 3, 1).size(), 0);
  EXPECT_EQ(arange(3, 0, 1).size(), 0);
  EXPECT_EQ(arange(0, 1, 0.1).size(), 10);
  EXPECT_EQ(arange(1, 1.3, 0.1).size(), 4);  // NumPy's well-known surprise: the length is rounded up
  EXPECT_EQ(arange(INT64_MIN, INT64_MAX, INT64_MAX).size(), 3);
  const auto steps = doubles(arange(0.5, 1000, 0.1));
  const double step = (0.5 + 0.1) - 0.5;  // NumPy steps by the difference of the first two elements
  for (size_t k = 0; k < steps.size(); ++k) {
    const double way = static_cast<double>(k) * step;
    ASSERT_EQ(steps[k], 0.5 + way);
  }
  const auto singles = arange(0, 100, 0.1, Dtype::float32).to_vector<float>();
  ASSERT_EQ(singles.size(), 1000u);
  for (size_t k = 0; k < singles.size(); ++k) {
    const float way = static_cast<float>(k) * 0.1f;
    ASSERT_EQ(singles[k], way);
  }
  EXPECT_EQ(arange(0, 300, 1, Dtype::int8).to_vector<int8_t>()[200], static_cast<int8_t>(200));
  EXPECT_EQ(arange(0, 10, 1, Dtype::complex64).dtype(), Dtype::complex64);
  EXPECT_THROW(arange(0, 1, 0), ValueError);
  EXPECT_THROW(arange(0, 1, 0.0), ValueError);
  EXPECT_THROW(arange(0, NAN, 1.0), ValueError);
  EXPECT_THROW(arange(0, INFINITY, 1.0), ValueError);
}

TEST(Creation, Linspace) {
  for (const bool endpoint : {true, false})
    for (const int64_t n : {1, 2, 3, 50, 1001}) {
      const auto values = doubles(linspace(-1.7, 3.1, n, endpoint));
      ASSERT_EQ(static_cast<int64_t>(values.size()), n);
      const double step = (3.1 - -1.7) / static_cast<double>(endpoint ? std::max<int64_t>(n - 1, 1) : n);
      for (int64_t k = 0; k < n; ++k) {
        const double way = static_cast<double>(k) * step;
        const bool last = endpoint && n > 1 && k == n - 1;
        EXPECT_EQ(values[static_cast<size_t>(k)], last ? 3.1 : -1.7 + way) << n << " " << k;
      }
    }
  EXPECT_EQ(linspace(0, 1, 0).size(), 0);
  EXPECT_EQ(linspace(0, 1, 5, true, Dtype::float32).dtype(), Dtype::float32);
  EXPECT_EQ(doubles(linspace(-1, 1, 5, true, Dtype::int32)),
            (std::vector<double>{-1, -1, 0, 0, 1}));  // floor, as NumPy
  EXPECT_EQ(test::error_of<Error>([] { linspace(0, 1, -1); }),
            "linspace: number of samples, -1, must be non-negative.");
}

TEST(Creation, Eye) {
  EXPECT_EQ(doubles(eye(2)), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(doubles(eye(2, 3, 1)), (std::vector<double>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(doubles(eye(3, 2, -1)), (std::vector<double>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(doubles(eye(2, 2, 5)), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(eye(2, {}, 0, Dtype::int8).dtype(), Dtype::int8);
}

TEST(Joining, ConcatenateAndStack) {
  const Array a = arange(6).reshape({2, 3}), b = full({2, 1}, 9.5);
  const Array both[] = {a, b};
  const Array wide = concatenate(both, 1);
  EXPECT_EQ(wide.dtype(), Dtype::float64);
  EXPECT_EQ(doubles(wide), (std::vector<double>{0, 1, 2, 9.5, 3, 4, 5, 9.5}));
  EXPECT_EQ(concatenate(both, -1).shape(), (Dims{2, 4}));
  const Array same[] = {a, a.transpose().transpose()};
  EXPECT_EQ(concatenate(same).shape(), (Dims{4, 3}));
  EXPECT_EQ(stack(same).shape(), (Dims{2, 2, 3}));
  EXPECT_EQ(stack(same, -1).shape(), (Dims{2, 3, 2}));
  EXPECT_EQ(doubles(stack(same, 2)), (std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(test::error_of<Error>([] { concatenate({}); }), "need at least one array to concatenate");
  EXPECT_EQ(test::error_of<Error>([] { stack({}); }), "need at least one array to stack");
  const Array uneven[] = {ones({2, 3}), ones({2, 4})}, ranks[] = {ones({2, 3}), ones({2})}, scalars[] = {ones({})};
  EXPECT_EQ(
      test::error_of<Error>([&] { concatenate(uneven); }),
      "all the input array dimensions except for the concatenation axis must match exactly, but along dimension 1, "
      "the array at index 0 has size 3 and the array at index 1 has size 4");
  EXPECT_THROW(concatenate(ranks), ShapeError);
  EXPECT_EQ(test::error_of<Error>([&] { concatenate(scalars); }), "zero-dimensional arrays cannot be concatenated");
  EXPECT_THROW(stack(uneven), ShapeError);
  EXPECT_THROW(concatenate(both, 2), IndexError);
}

TEST(Casting, EveryPairOfDtypes) {
  // Values every dtype holds, so that any two casts in a row keep them.
  const Array x = Array::from<double>({0, 1, 1, 0, 1});
  for (int from = 0; from < kDtypeCount; ++from)
    for (int to = 0; to < kDtypeCount; ++to) {
      const Array cast = x.astype(static_cast<Dtype>(from)).astype(static_cast<Dtype>(to));
      EXPECT_EQ(cast.dtype(), static_cast<Dtype>(to));
      EXPECT_EQ(doubles(cast), (std::vector<double>{0, 1, 1, 0, 1})) << from << " " << to;
    }
}

TEST(Casting, Semantics) {
  const Array x = Array::from<double>({300.7, -300.7, NAN, INFINITY, -INFINITY, 1e300, 0.5});
  EXPECT_EQ(x.astype(Dtype::int8).to_vector<int8_t>(), (std::vector<int8_t>{127, -128, 0, 127, -128, 127, 0}));
  EXPECT_EQ(x.astype(Dtype::uint8).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 0, 0, 255, 0, 255, 0}));
  EXPECT_EQ(x.astype(Dtype::int64).to_vector<int64_t>(),
            (std::vector<int64_t>{300, -300, 0, INT64_MAX, INT64_MIN, INT64_MAX, 0}));
  EXPECT_EQ(doubles(x.astype(Dtype::bool_)), (std::vector<double>{1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(Array::from<int32_t>({300, -1}).astype(Dtype::uint8).to_vector<uint8_t>(), (std::vector<uint8_t>{44, 255}));
  const Array z = Array::from<std::complex<double>>({{1.5, 2}, {0, 3}, {0, 0}});
  EXPECT_EQ(doubles(z.astype(Dtype::float32)), (std::vector<double>{1.5, 0, 0}));
  EXPECT_EQ(doubles(z.astype(Dtype::bool_)), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(Array::from<double>({1.0 + 0x1p-11 + 0x1p-40}).astype(Dtype::float16).astype(Dtype::float64).item<double>(),
            1 + 0x1p-10);  // one rounding
  const Array same = x.astype(Dtype::float64, false);
  EXPECT_EQ(same.data(), x.data());
  EXPECT_NE(x.astype(Dtype::float64).data(), x.data());
}

TEST(Copying, MakesCOrderAndKeepsValues) {
  const Array x = arange(24).reshape({2, 3, 4}).transpose({2, 0, 1});
  const Array y = x.copy();
  EXPECT_TRUE(y.is_c_contiguous());
  EXPECT_NE(y.data(), x.data());
  EXPECT_EQ(y.to_vector<int64_t>(), x.to_vector<int64_t>());
  EXPECT_EQ(y.contiguous().data(), y.data());
  EXPECT_EQ(x.at(Slice{{}, {}, -1}, 1).copy().to_vector<int64_t>(),
            (std::vector<int64_t>{15, 19, 23, 14, 18, 22, 13, 17, 21, 12, 16, 20}));
  EXPECT_EQ(zeros({0, 4}).copy().shape(), (Dims{0, 4}));
}

TEST(Assigning, BroadcastsCastsAndRefuses) {
  Array x = zeros({2, 3}, Dtype::int32);
  x.assign(Array::from<double>({1.9, -1.9, NAN}));
  EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{1, -1, 0, 1, -1, 0}));
  x.assign(ones({1, 1, 2, 1}));  // leading axes of one element fall away
  EXPECT_EQ(x.to_vector<int32_t>(), std::vector<int32_t>(6, 1));
  x.at(Slice{}, 1).assign(full({}, 5));
  EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{1, 5, 1, 1, 5, 1}));
  EXPECT_EQ(test::error_of<Error>([&] { x.assign(ones({2})); }),
            "could not broadcast input array from shape (2,) into shape (2, 3)");
  EXPECT_EQ(test::error_of<Error>([&] { x.read_only().assign(ones({3})); }), "assignment destination is read-only");
  EXPECT_EQ(test::error_of<Error>([&] { x.read_only().fill(1); }), "assignment destination is read-only");
  EXPECT_THROW(x.fill(INT64_MAX), OverflowError);
  x.at(Slice{}, Slice{{}, {}, 2}).fill(-7);
  EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{-7, 5, -7, -7, 5, -7}));
}

TEST(Assigning, OverlapReadsTheOldValues) {
  for (const int64_t n : {7, 1000, 70001}) {
    Array x = arange(n);
    x.at(Slice{1, {}, {}}).assign(x.at(Slice{{}, n - 1, {}}));
    auto want = arange(n).to_vector<int64_t>();
    for (int64_t k = n - 1; k > 0; --k) want[static_cast<size_t>(k)] = want[static_cast<size_t>(k - 1)];
    EXPECT_EQ(x.to_vector<int64_t>(), want) << n;
    Array y = arange(n);
    y.assign(y.at(Slice{{}, {}, -1}));
    EXPECT_EQ(y.to_vector<int64_t>()[0], n - 1);
    EXPECT_EQ(y.to_vector<int64_t>()[static_cast<size_t>(n - 1)], 0);
  }
  Array square = arange(9).reshape({3, 3});
  square.assign(square.transpose());
  EXPECT_EQ(square.to_vector<int64_t>(), (std::vector<int64_t>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(Norm, VectorAndMatrixOrders) {
  const Array x = Array::from<double>({3, -4, 0, 12});
  EXPECT_EQ(linalg::norm(x).item<double>(), 13);
  EXPECT_EQ(linalg::norm(x, 2).item<double>(), 13);
  EXPECT_EQ(linalg::norm(x, 1).item<double>(), 19);
  EXPECT_EQ(linalg::norm(x, 0).item<double>(), 3);
  EXPECT_EQ(linalg::norm(x, INFINITY).item<double>(), 12);
  EXPECT_EQ(linalg::norm(x, -INFINITY).item<double>(), 0);
  EXPECT_NEAR(linalg::norm(x, 3).item<double>(), std::cbrt(27.0 + 64 + 1728), 1e-14 * 13);
  const Array m = Array::from<double>({1, -2, 3, -4, 5, -6}).reshape({2, 3});
  EXPECT_NEAR(linalg::norm(m).item<double>(), std::sqrt(91.0), 1e-14 * 10);
  EXPECT_NEAR(linalg::norm(m, {}, Dims{0, 1}, true).at(0, 0).item<double>(), std::sqrt(91.0), 1e-14 * 10);
  EXPECT_EQ(linalg::norm(m, 1).item<double>(), 9);
  EXPECT_EQ(linalg::norm(m, -1).item<double>(), 5);
  EXPECT_EQ(linalg::norm(m, INFINITY).item<double>(), 15);
  EXPECT_EQ(linalg::norm(m, -INFINITY).item<double>(), 6);
  EXPECT_EQ(doubles(linalg::norm(m, INFINITY, Dims{0})), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(linalg::norm(m, {}, Dims{1}, true).shape(), (Dims{2, 1}));
  EXPECT_EQ(linalg::norm(m.astype(Dtype::float32)).dtype(), Dtype::float32);
  EXPECT_EQ(linalg::norm(m.astype(Dtype::int8)).dtype(), Dtype::float64);
  const Array z = Array::from<std::complex<double>>({{3, 4}, {0, 12}});
  EXPECT_EQ(linalg::norm(z).item<double>(), 13);
  EXPECT_EQ(linalg::norm(z.astype(Dtype::complex64), 1).dtype(), Dtype::float32);
  EXPECT_EQ(linalg::norm(zeros({0})).item<double>(), 0);
  EXPECT_THROW(linalg::norm(m, 3), ValueError);
  EXPECT_THROW(linalg::norm(ones({2, 2, 2}), 1), ValueError);
}

}  // namespace
