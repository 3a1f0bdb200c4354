// Polynomials as coefficients. Expected values are worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "iruka/iruka.h"

namespace {

using namespace iruka;

using Values = std::vector<int64_t>;
using Doubles = std::vector<double>;

Array vector_of(const Values& values) { return Array::from<int64_t>(values, {static_cast<int64_t>(values.size())}); }
Array reals(const Doubles& values) { return Array::from<double>(values, {static_cast<int64_t>(values.size())}); }
Values values_of(const Array& x) { return x.to_vector<int64_t>(); }

void expect_near(const Array& got, const Doubles& expected) {
  const Doubles values = got.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], expected[k], 1e-12) << k;
}

TEST(Polynomials, Values) {
  EXPECT_EQ(values_of(polyval(vector_of({1, 0, 2}), arange(3))), (Values{2, 3, 6}));
  EXPECT_EQ(polyval(vector_of({1}), ones({2, 0}, Dtype::float32)).shape(), (Dims{2, 0}));
  EXPECT_EQ(values_of(polyval(zeros({0}), arange(2))), (Values{0, 0}));
  EXPECT_EQ(values_of(polyval(vector_of({1, 2, 3, 4}).reshape({2, 2}), vector_of({5, 6}))), (Values{8, 16}));
  EXPECT_THROW(polyval(full({}, 1), arange(2)), TypeError);
}

TEST(Polynomials, Arithmetic) {
  EXPECT_EQ(values_of(polyadd(vector_of({1, 2, 3}), vector_of({4, 5}))), (Values{1, 6, 8}));
  EXPECT_EQ(values_of(polysub(full({}, 7), vector_of({4, 5}))), (Values{-4, 2}));
  EXPECT_EQ(values_of(polymul(vector_of({0, 1, 2}), vector_of({3, 4}))), (Values{3, 10, 8}));
  EXPECT_EQ(values_of(polymul(vector_of({0, 0}), vector_of({3, 4}))), (Values{0, 0}));
  EXPECT_THROW(polymul(ones({2, 2}), ones({2})), ValueError);
  // 3 x^2 + 5 x + 2 = (2 x + 1) (1.5 x + 1.75) + 0.25
  const PolynomialQuotient parts = polydiv(vector_of({3, 5, 2}), vector_of({2, 1}));
  expect_near(parts.quotient, {1.5, 1.75});
  expect_near(parts.remainder, {0.25});
  const PolynomialQuotient none = polydiv(vector_of({2}), vector_of({1, 1}));
  expect_near(none.quotient, {0});
  expect_near(none.remainder, {2});
  EXPECT_EQ(values_of(polyder(vector_of({4, 3, 2, 1}))), (Values{12, 6, 2}));
  EXPECT_EQ(values_of(polyder(vector_of({4, 3, 2, 1}), 2)), (Values{24, 6}));
  EXPECT_EQ(polyder(vector_of({1}), 3).size(), 0);
  expect_near(polyint(vector_of({6, 2})), {3, 2, 0});
  const Array constants = vector_of({4, 5});
  expect_near(polyint(vector_of({6, 2}), 2, &constants), {1, 1, 4, 5});
  EXPECT_THROW(polyder(vector_of({1}), -1), ValueError);
  EXPECT_THROW(polyint(vector_of({1}), 3, &constants), ValueError);
  EXPECT_THROW(polyder(full({}, 1)), TypeError);
}

TEST(Polynomials, Roots) {
  expect_near(poly(vector_of({1, 2, -3})), {1, 0, -7, 6});
  expect_near(poly(Array::from<double>(Doubles{0, 1, -1, 0}, {2, 2})), {1, 0, 1});
  EXPECT_EQ(poly(Array::from<double>(Doubles{0, 1, -1, 0}, {2, 2})).dtype(), Dtype::float64);
  expect_near(poly(zeros({0})), {1});
  expect_near(iruka::sort(roots(vector_of({0, 1, -3, 2, 0}))), {0, 1, 2});
  EXPECT_EQ(roots(vector_of({1, 0, 1})).dtype(), Dtype::complex128);
  EXPECT_EQ(roots(vector_of({0, 0})).size(), 0);
  EXPECT_EQ(values_of(roots(vector_of({5, 0}))), (Values{0}));
  EXPECT_THROW(roots(ones({2, 2})), ValueError);
  EXPECT_THROW(poly(ones({2, 3})), ValueError);
}

TEST(Comparing, EqualAndNearlyEqual) {
  const Array x = reals({1, NAN}), y = reals({1 + 1e-9, NAN});
  EXPECT_FALSE(allclose(x, y));
  EXPECT_TRUE(allclose(x, y, 1e-5, 1e-8, true));
  EXPECT_TRUE(allclose(ones({2, 3}), 1));
  EXPECT_FALSE(allclose(1.0, 1.1));
  EXPECT_TRUE(array_equal(arange(3), reals({0, 1, 2})));
  EXPECT_FALSE(array_equal(arange(3), arange(3).reshape({1, 3})));
  EXPECT_FALSE(array_equal(x, x));
  EXPECT_TRUE(array_equal(x, x, true));
  EXPECT_TRUE(array_equiv(full({}, 1), ones({2, 2})));
  EXPECT_FALSE(array_equiv(ones({2}), ones({3})));
  const Array near = Array::from<std::complex<double>>(std::vector<std::complex<double>>{{2, 1e-14}}, {1});
  EXPECT_EQ(real_if_close(near).dtype(), Dtype::float64);
  EXPECT_EQ(real_if_close(near).item<double>(), 2);
  EXPECT_EQ(real_if_close(near, 2).dtype(), Dtype::complex128);
  EXPECT_EQ(real_if_close(near, 0.5).dtype(), Dtype::float64);
}

}  // namespace
