// Medians and quantiles beside NumPy's values.
#include <gtest/gtest.h>

#include <cmath>

#include "iruka/iruka.h"
#include "ops/sort/order_statistics.h"

namespace {

using namespace iruka;

const Array& sample() {
  static const Array x = Array::from<double>({7, 1, 4, 9, 2, 2.5, 8});
  return x;
}

void expect_near(const Array& found, const std::vector<double>& expected, const std::string& what = "") {
  const std::vector<double> values = found.astype(Dtype::float64).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(expected[k]))
      EXPECT_TRUE(std::isnan(values[k])) << what << " at " << k;
    else
      EXPECT_NEAR(values[k], expected[k], 1e-14 * std::max(1.0, std::abs(expected[k]))) << what << " at " << k;
  }
}

TEST(Quantiles, EveryMethodGivesNumPysValues) {
  const struct {
    const char* method;
    std::vector<double> expected;
  } cases[] = {
      {"inverted_cdf", {1, 1, 2, 4, 8, 9}},
      {"averaged_inverted_cdf", {1, 1, 2, 4, 8, 9}},
      {"closest_observation", {1, 1, 2, 4, 7, 9}},
      {"interpolated_inverted_cdf", {1, 1, 1.75, 3.25, 7.39, 9}},
      {"hazen", {1, 1.2, 2.125, 4, 7.89, 9}},
      {"weibull", {1, 1, 2, 4, 8.16, 9}},
      {"linear", {1, 1.6, 2.25, 4, 7.62, 9}},
      {"median_unbiased", {1, 16.0 / 15, 25.0 / 12, 4, 7.98, 9}},
      {"normal_unbiased", {1, 1.1, 2.09375, 4, 7.9575, 9}},
      {"lower", {1, 1, 2, 4, 7, 9}},
      {"higher", {1, 2, 2.5, 4, 8, 9}},
      {"midpoint", {1, 1.5, 2.25, 4, 7.5, 9}},
      {"nearest", {1, 2, 2.5, 4, 8, 9}},
  };
  const Array shares = Array::from<double>({0, 0.1, 0.25, 0.5, 0.77, 1});
  const Array percents = Array::from<double>({0, 10, 25, 50, 77, 100});
  for (const auto& each : cases) {
    const QuantileOptions options{.method = parse_quantile_method(each.method)};
    expect_near(quantile(sample(), shares, options), each.expected, each.method);
    expect_near(nanquantile(sample(), shares, options), each.expected, each.method);
    expect_near(percentile(sample(), percents, options), each.expected, each.method);
  }
  EXPECT_THROW(parse_quantile_method("middle"), ValueError);
}

TEST(Quantiles, AxesShapesAndDtypes) {
  const Array x = arange(24).reshape({2, 3, 4});
  const Array found = quantile(x, Array::from<double>({0.5, 1}), {.axes = Dims{0, 2}, .keepdims = true});
  EXPECT_EQ(found.shape(), (Dims{2, 1, 3, 1}));
  expect_near(found, {7.5, 11.5, 15.5, 15, 19, 23});
  EXPECT_EQ(found.dtype(), Dtype::float64);
  EXPECT_EQ(quantile(x.transpose(), 0.5, {.axes = Dims{0}}).shape(), (Dims{3, 2}));
  EXPECT_EQ(quantile(x, 0.5, {.method = QuantileMethod::lower}).dtype(), Dtype::int64);
  EXPECT_EQ(quantile(sample().astype(Dtype::float32), 0.3).dtype(), Dtype::float32);
  EXPECT_EQ(quantile(sample().astype(Dtype::float32), Array::from<double>({0.3})).dtype(), Dtype::float64);
  EXPECT_EQ(quantile(Array::from<double>({5}).reshape({}), 0.3).item().as_double(), 5);
}

TEST(Quantiles, NanIsTheAnswerOrLeftOut) {
  const Array x = Array::from<double>({3, NAN, 1, NAN, NAN, NAN}).reshape({2, 3});
  expect_near(quantile(x, 0.5, {.axes = Dims{1}}), {NAN, NAN});
  expect_near(nanquantile(x, 0.25, {.axes = Dims{1}}), {1.5, NAN});
  expect_near(nanpercentile(x, 25, {.axes = Dims{1}}), {1.5, NAN});
  expect_near(median(x, Dims{1}), {NAN, NAN});
  expect_near(nanmedian(x, Dims{1}), {2, NAN});
  expect_near(nanmedian(x), {2});
}

TEST(Quantiles, MediansOfAllDtypes) {
  expect_near(median(sample()), {4});
  expect_near(median(Array::from<double>({1e308, 1.5e308})), {1.25e308});
  EXPECT_EQ(median(Array::from<int8_t>({1, 2})).dtype(), Dtype::float64);
  EXPECT_EQ(median(sample().astype(Dtype::float16)).dtype(), Dtype::float16);
  EXPECT_TRUE(std::isnan(median(Array::empty({0}, Dtype::float64)).item().as_double()));
  const Array complex = Array::from<std::complex<double>>({{1, 2}, {0, 5}, {1, -2}});
  EXPECT_EQ(median(complex).item().as_complex(), (std::complex<double>{1, -2}));
  expect_near(median(sample().at(Slice{{}, {}, -2})), {5.5});
}

TEST(Quantiles, WeightsGiveTheInverseOfTheirDistribution) {
  const Array x = Array::from<double>({2, 2, 1, 3, 0, 5, NAN, 1, 2, 3, 4, 3, 2, 1, 0}).reshape({3, 5});
  const Array weights = Array::from<double>({1, 0, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0, 3, 0, 1}).reshape({3, 5});
  const std::vector<double> shares = {0, 0.2, 0.5, 0.9, 1},
                            expected = {0, NAN, 0, 0, NAN, 0, 1, NAN, 2, 3, NAN, 2, 3, NAN, 2};
  QuantileOptions options{.axes = Dims{1}, .method = QuantileMethod::inverted_cdf, .weights = &weights};
  expect_near(quantile(x, Array::from<double>({0, 0.2, 0.5, 0.9, 1}), options), expected);
  expect_near(ops::select_weighted(x, weights, shares), expected);
  expect_near(ops::select_weighted_by_functions(x, weights, shares), expected);
  EXPECT_EQ(ops::select_weighted_by_functions(x, weights, {}).shape(), (Dims{0, 3}));
  EXPECT_THROW(ops::select_weighted_by_functions(x, zeros({3, 5}), shares), ValueError);
  const Array axis_weights = Array::from<double>({1, 1, 1, 1, 4});
  options.weights = &axis_weights;
  expect_near(nanquantile(x, 0.5, options), {0, 3, 0});
  options.method = QuantileMethod::linear;
  EXPECT_THROW(quantile(x, 0.5, options), ValueError);
}

TEST(Quantiles, WrongArgumentsAreRefused) {
  EXPECT_THROW(quantile(sample(), 1.5), ValueError);
  EXPECT_THROW(quantile(sample(), NAN), ValueError);
  EXPECT_THROW(percentile(sample(), 101), ValueError);
  EXPECT_THROW(quantile(Array::empty({0}, Dtype::float64), 0.5), IndexError);
  EXPECT_THROW(quantile(zeros({2}, Dtype::complex64), 0.5), TypeError);
  EXPECT_THROW(quantile(zeros({2}, Dtype::bool_), 0.5), TypeError);
  EXPECT_THROW(quantile(sample(), zeros({1, 1, 1})), ValueError);
  EXPECT_THROW(quantile(sample(), 0.5, {.axes = Dims{1}}), AxisError);
}

}  // namespace
