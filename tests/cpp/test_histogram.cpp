// Histograms and counts; the expected values are NumPy's.
#include <gtest/gtest.h>

#include "iruka/iruka.h"

namespace {

using namespace iruka;
using Values = std::vector<double>;

Values values_of(const Array& x) { return x.to_vector<double>(); }

TEST(Histograms, BinsByNumberAndEdges) {
  const Array x = Array::from<double>({1, 2, 1, 4, 3.5, 9}), edges = Array::from<int64_t>({0, 1, 2, 9});
  const Histogram four = histogram(x, int64_t{4});
  EXPECT_EQ(values_of(four.counts), (Values{3, 2, 0, 1}));
  EXPECT_EQ(four.counts.dtype(), Dtype::int64);
  EXPECT_EQ(values_of(four.edges), (Values{1, 3, 5, 7, 9}));
  EXPECT_EQ(values_of(histogram(x, edges).counts), (Values{0, 2, 4}));
  EXPECT_EQ(values_of(histogram(x.at(Slice{{}, {}, -2}), edges).counts), (Values{0, 0, 3}));
  EXPECT_EQ(histogram(x, edges).edges.dtype(), Dtype::int64);
  const Array weights = Array::from<int8_t>({1, 2, 3, 4, 5, 6});
  const Histogram sums = histogram(x, int64_t{2}, {.weights = &weights});
  EXPECT_EQ(values_of(sums.counts), (Values{15, 6}));
  EXPECT_EQ(sums.counts.dtype(), Dtype::int8);
  const Histogram density = histogram(x, int64_t{3}, {.range = std::pair<Scalar, Scalar>(1, 4), .density = true});
  for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(values_of(density.counts)[k], k == 1 ? 0.2 : 0.4, 1e-15);
}

TEST(Histograms, EveryDtypeAndNoElements) {
  for (const Dtype dtype :
       {Dtype::bool_, Dtype::int8, Dtype::uint64, Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    const Histogram made = histogram(Array::from<double>({0, 1, 1}).astype(dtype), int64_t{2});
    EXPECT_EQ(values_of(made.counts), (Values{1, 2})) << name(dtype);
    EXPECT_EQ(values_of(made.edges), (Values{0, 0.5, 1})) << name(dtype);
  }
  EXPECT_EQ(histogram(Array::from<float>({0, 1})).edges.dtype(), Dtype::float32);
  EXPECT_EQ(values_of(histogram(zeros({0}), int64_t{2}).counts), (Values{0, 0}));
  EXPECT_EQ(values_of(histogram(full({3}, 5), int64_t{1}).edges), (Values{4.5, 5.5}));
  EXPECT_EQ(histogram(zeros({3}), Array::from<double>({1})).counts.size(), 0);
}

TEST(Histograms, RulesEstimateTheNumberOfBins) {
  Array x = arange(100);
  x = divide(multiply(x, x), 7.0);
  const std::vector<std::pair<const char*, int64_t>> expected = {
      {"auto", 8}, {"doane", 10}, {"fd", 5}, {"rice", 10}, {"scott", 5}, {"sqrt", 10}, {"stone", 17}, {"sturges", 8}};
  for (const auto& [rule, bins] : expected)
    EXPECT_EQ(histogram_bin_edges(x, parse_bin_rule(rule)).size(), bins + 1) << rule;
  EXPECT_EQ(histogram_bin_edges(zeros({4}), BinRule::automatic).size(), 2);
  EXPECT_THROW(parse_bin_rule("best"), ValueError);
}

TEST(Histograms, WrongArgumentsAreRefused) {
  const Array x = Array::from<double>({1, 2}), two = ones({1});
  EXPECT_THROW(histogram(x, int64_t{0}), ValueError);
  EXPECT_THROW(histogram(x, Array::from<double>({2, 1})), ValueError);
  EXPECT_THROW(histogram(x, ones({2, 2})), ValueError);
  EXPECT_THROW(histogram(x, int64_t{2}, {.weights = &two}), ValueError);
  EXPECT_THROW(histogram(x, BinRule::fd, {.weights = &x}), TypeError);
  EXPECT_THROW(histogram(x, int64_t{2}, {.range = std::pair<Scalar, Scalar>(2, 1)}), ValueError);
  EXPECT_THROW(histogram(full({2}, std::numeric_limits<double>::quiet_NaN())), ValueError);
  EXPECT_THROW(histogram(ones({2}, Dtype::complex64)), TypeError);
}

TEST(Histograms, OfPoints) {
  const Array x = Array::from<double>({0, 1, 2, 2}), y = Array::from<double>({0, 1, 1, 3});
  const HistogramDD even = histogram2d(x, y, int64_t{2}, int64_t{2});
  EXPECT_EQ(values_of(even.counts), (Values{1, 0, 2, 1}));
  EXPECT_EQ(values_of(even.edges[1]), (Values{0, 1.5, 3}));
  const HistogramDD density = histogram2d(x, y, int64_t{2}, Array::from<double>({0, 2, 3}), {}, true);
  EXPECT_EQ(values_of(density.counts), (Values{0.125, 0, 0.25, 0.25}));
  const Array three[] = {x, y, x};
  const Bins bins[] = {int64_t{2}, int64_t{2}, int64_t{3}};
  EXPECT_EQ(histogramdd(three, bins).counts.shape(), (Dims{2, 2, 3}));
  EXPECT_THROW(histogramdd(three, std::span(bins).first(2)), ValueError);
  EXPECT_THROW(histogram2d(x, ones({3})), ValueError);
}

TEST(Counts, OfSmallIntegers) {
  const Array x = Array::from<uint8_t>({0, 2, 2}), weights = Array::from<double>({0.5, 1, 2});
  EXPECT_EQ(values_of(bincount(x)), (Values{1, 0, 2}));
  EXPECT_EQ(values_of(bincount(x, &weights, 5)), (Values{0.5, 0, 3, 0, 0}));
  EXPECT_EQ(bincount(zeros({0}, Dtype::int64)).size(), 0);
  EXPECT_THROW(bincount(zeros({0})), TypeError);
  EXPECT_THROW(bincount(weights), TypeError);
  EXPECT_THROW(bincount(Array::from<int64_t>({-1})), ValueError);
  EXPECT_THROW(bincount(x.reshape({3, 1})), ValueError);
  EXPECT_THROW(bincount(x, nullptr, -1), ValueError);
}

}  // namespace
