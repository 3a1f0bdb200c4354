// Searches in sorted arrays, and interpolation between sorted points.
#include <gtest/gtest.h>

#include <cmath>

#include "iruka/iruka.h"

namespace {

using namespace iruka;
using Values = std::vector<int64_t>;

Values values_of(const Array& x) { return x.to_vector<int64_t>(); }

TEST(Searching, FirstAndLastPlace) {
  const Array sorted = Array::from<double>({1, 3, 3, 5, NAN}), sought = Array::from<double>({0, 1, 3, 4, 9, NAN});
  EXPECT_EQ(values_of(searchsorted(sorted, sought)), (Values{0, 0, 1, 3, 4, 4}));
  EXPECT_EQ(values_of(searchsorted(sorted, sought, SearchSide::right)), (Values{0, 1, 3, 3, 4, 5}));
  EXPECT_EQ(searchsorted(sorted, 3).item().as_int64(), 1);
  EXPECT_EQ(searchsorted(sorted, 3.5).ndim(), 0);
  EXPECT_EQ(values_of(searchsorted(Array::empty({0}, Dtype::float64), sought)), (Values{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(searchsorted(sorted, Array::empty({0, 2}, Dtype::float64)).shape(), (Dims{0, 2}));
  EXPECT_THROW(searchsorted(zeros({2, 2}), 1), ValueError);
  EXPECT_THROW(searchsorted(zeros({}), 1), ValueError);
}

TEST(Searching, ValuesBetweenThoseOfTheDtype) {
  const Array small = Array::from<int8_t>({-5, 0, 7});
  EXPECT_EQ(values_of(searchsorted(small, Array::from<double>({-4.5, 6.9, 1000}))), (Values{1, 2, 3}));
  EXPECT_EQ(searchsorted(small, 1000).item().as_int64(), 3);
  EXPECT_EQ(searchsorted(small, -1000).item().as_int64(), 0);
  const Array singles = Array::from<float>({0.1f, 0.2f});
  EXPECT_EQ(searchsorted(singles, 0.1).item().as_int64(), 0) << "0.1f is more than 0.1";
  const Array complex = Array::from<std::complex<double>>({{0, 1}, {0, 2}, {1, -1}});
  EXPECT_EQ(searchsorted(complex, std::complex<double>{0, 3}).item().as_int64(), 2);
}

TEST(Searching, StridesAndOrders) {
  const Array x = Array::from<int64_t>({9, 5, 7, 1});
  const Array order = argsort(x);
  EXPECT_EQ(values_of(searchsorted(x, Array::from<int64_t>({1, 6, 9, 10}), SearchSide::left, &order)),
            (Values{0, 2, 3, 4}));
  const Array sorted = Array::from<int64_t>({1, 0, 5, 0, 7, 0}).at(Slice{{}, {}, 2});
  EXPECT_EQ(values_of(searchsorted(sorted, Array::from<int64_t>({7, 6, 1}).at(Slice{{}, {}, -1}))), (Values{0, 2, 2}));
  const Array far = Array::from<int64_t>({0, 1, 2, 4}), few = Array::from<int64_t>({0}), floats = zeros({4});
  EXPECT_THROW(searchsorted(x, 10, SearchSide::left, &far), ValueError) << "the search comes to the last";
  EXPECT_THROW(searchsorted(x, 1, SearchSide::left, &few), ValueError);
  EXPECT_THROW(searchsorted(x, 1, SearchSide::left, &floats), TypeError);
}

TEST(Searching, BinsAscendOrDescend) {
  const Array x = Array::from<double>({0.2, 1.0, 6.4, 3.0, NAN}), up = Array::from<double>({0, 1, 2.5, 4});
  EXPECT_EQ(values_of(digitize(x, up)), (Values{1, 2, 4, 3, 4}));
  EXPECT_EQ(values_of(digitize(x, up, true)), (Values{1, 1, 4, 3, 4}));
  const Array down = Array::from<double>({4, 2.5, 1, 0});
  EXPECT_EQ(values_of(digitize(x, down)), (Values{3, 2, 0, 1, 0}));
  EXPECT_EQ(values_of(digitize(x, down, true)), (Values{3, 3, 0, 1, 0}));
  EXPECT_EQ(values_of(digitize(x, Array::empty({0}, Dtype::float64))), (Values{0, 0, 0, 0, 0}));
  EXPECT_THROW(digitize(x, Array::from<double>({0, 2, 1})), ValueError);
  EXPECT_THROW(digitize(x, zeros({2, 2})), ValueError);
  EXPECT_THROW(digitize(zeros({1}, Dtype::complex64), up), TypeError);
}

TEST(Searching, LinesBetweenPoints) {
  const Array xp = Array::from<int64_t>({1, 2, 4}), fp = Array::from<double>({3, 2, 0});
  const Array x = Array::from<double>({0, 1, 1.5, 2.5, 4, 5});
  EXPECT_EQ(interp(x, xp, fp).to_vector<double>(), (std::vector<double>{3, 3, 2.5, 1.5, 0, 0}));
  EXPECT_EQ(interp(x, xp, fp, {.left = -1, .right = 7}).to_vector<double>(),
            (std::vector<double>{-1, 3, 2.5, 1.5, 0, 7}));
  EXPECT_TRUE(std::isnan(interp(Array::from<double>({NAN}), xp, fp).at(0).item().as_double()));
  const Array turns = Array::from<double>({-180, 190, 350}), angles = Array::from<double>({5, 190, 350});
  EXPECT_EQ(interp(turns, angles, Array::from<double>({5, 10, 3}), {.period = 360.0}).to_vector<double>(),
            (std::vector<double>{5 + 175.0 / 185 * 5, 10, 3}));
  const Array complex = Array::from<std::complex<double>>({{0, 0}, {2, 4}});
  EXPECT_EQ(interp(Array::from<double>({0.5}), Array::from<double>({0, 1}), complex).at(0).item().as_complex(),
            (std::complex<double>{1, 2}));
  EXPECT_EQ(interp(zeros({}), xp, fp).ndim(), 0);
  EXPECT_THROW(interp(x, xp, Array::from<double>({1})), ValueError);
  EXPECT_THROW(interp(x, zeros({0}), zeros({0})), ValueError);
  EXPECT_THROW(interp(x, xp, fp, {.period = 0.0}), ValueError);
  EXPECT_THROW(interp(zeros({1}, Dtype::complex64), xp, fp), TypeError);
}

}  // namespace
