// Reductions over every dtype, axis set and layout, against plain loops in long double or exact integers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <random>

#include "reduction_references.h"

namespace {

using namespace iruka;
using namespace iruka::test;

void check(const Reference& row, const Array& x, const std::vector<bool>& reduced, bool every_axis_by_default = false) {
  Dims axes;
  std::string named;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (reduced[static_cast<size_t>(axis)]) axes.push_back(axis - (axis % 2 ? x.ndim() : 0));  // some negative
  const std::optional<Dims> given = every_axis_by_default ? std::nullopt : std::optional<Dims>(axes);
  const auto got = doubles(ReductionFunction(row.name)(x, given));
  const auto want = groups(x, reduced);
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    const double value = row.formula(want[k]);
    ASSERT_LE(std::abs(got[k] - value), tolerance(row, x.dtype()) * std::max(1.0, std::abs(value)))
        << row.name << " of " << name(x.dtype()) << " " << to_string(x.shape()) << " strides " << to_string(x.strides())
        << " axes " << to_string(axes) << " output " << k;
  }
}

class Reductions : public testing::TestWithParam<Reference> {};

TEST_P(Reductions, EveryDtype) {
  for (Dtype dtype : kReal)
    for (int64_t n : {1, 5, 31, 33, 100, 700}) {
      // Sums of up to 100 stay exact in 8 mantissa bits only when few: bfloat16 and float16 sums get short rows.
      if ((dtype == Dtype::bfloat16 || dtype == Dtype::float16) && n > 33) continue;
      check(GetParam(), numbers({n}, dtype, static_cast<unsigned>(n)), {true}, true);
    }
}

TEST_P(Reductions, EveryAxisSetOfManyLayouts) {
  const Array base = numbers({4, 9, 5, 6}, Dtype::float32);
  const Array views[] = {base,
                         base.transpose(),
                         base.transpose({2, 0, 3, 1}),
                         base.at(Slice{{}, {}, -1}, Slice{}, Slice{{}, {}, -2}),
                         base.at(Ellipsis{}, Slice{1, {}, 2}),
                         base.at(Slice{}, Slice{0, 1, {}}).broadcast_to({4, 9, 5, 6}),
                         base.at(2),
                         base.at(Slice{}, NewAxis{}, 3)};
  for (const Array& view : views)
    for (unsigned mask = 0; mask < 1u << view.ndim(); ++mask) {
      std::vector<bool> reduced;
      for (int axis = 0; axis < view.ndim(); ++axis) reduced.push_back(mask >> axis & 1);
      check(GetParam(), view, reduced);
    }
}

TEST_P(Reductions, LargeShapesThatAreCutIntoChunks) {
  const Dims shapes[] = {{140000},   {50000, 3},    {3, 70000},  {9000, 17},
                         {17, 9000}, {4, 100, 300}, {12000, 12}, {2, 800, 100}};
  for (const Dims& shape : shapes) {
    const Array x = numbers(shape, Dtype::float64);
    for (unsigned mask = 1; mask < 1u << shape.size(); ++mask) {
      std::vector<bool> reduced;
      for (int axis = 0; axis < shape.size(); ++axis) reduced.push_back(mask >> axis & 1);
      check(GetParam(), x, reduced);
      reduced.assign(reduced.rbegin(), reduced.rend());
      check(GetParam(), x.transpose(), reduced);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Reductions, testing::ValuesIn(kReferences),
                         [](const auto& row) { return row.param.name; });

TEST(ReductionTypes, AreNumPys) {
  const std::pair<Dtype, Dtype> sums[] = {{Dtype::bool_, Dtype::int64},     {Dtype::int8, Dtype::int64},
                                          {Dtype::uint8, Dtype::uint64},    {Dtype::int32, Dtype::int64},
                                          {Dtype::uint64, Dtype::uint64},   {Dtype::float16, Dtype::float16},
                                          {Dtype::float32, Dtype::float32}, {Dtype::complex64, Dtype::complex64}};
  for (const auto& [input, output] : sums) {
    EXPECT_EQ(sum(ones({3}, input)).dtype(), output) << name(input);
    EXPECT_EQ(prod(ones({3}, input)).dtype(), output) << name(input);
    EXPECT_EQ(max(ones({3}, input)).dtype(), input);
    EXPECT_EQ(any(ones({3}, input)).dtype(), Dtype::bool_);
    EXPECT_EQ(argmax(ones({3}, input)).dtype(), Dtype::int64);
    EXPECT_EQ(mean(ones({3}, input)).dtype(), is_inexact(input) ? input : Dtype::float64);
  }
  EXPECT_EQ(sum(ones({3}, Dtype::float32), {}, false, Dtype::float64).dtype(), Dtype::float64);
  const Array bytes = full({300}, 1, Dtype::int8);
  EXPECT_EQ(sum(bytes, {}, false, Dtype::int8).item<int64_t>(), 300 - 256);
  EXPECT_EQ(sum(bytes, {}, false, Dtype::float64).item<double>(), 300);
  EXPECT_EQ(mean(bytes, {}, false, Dtype::float32).dtype(), Dtype::float32);
}

TEST(ReductionBool, AnyByteButZeroIsTrueOnce) {
  for (const Dims& shape : {Dims{4}, Dims{4000}, Dims{200000}, Dims{2000, 4}, Dims{40, 100}, Dims{3, 3000}}) {
    const int64_t size = count(shape);
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = std::array<uint8_t, 4>{0, 1, 2, 255}[k % 4];
    std::vector<int64_t> truths;
    for (uint8_t byte : bytes) truths.push_back(byte != 0);
    const Array ones = Array::from(std::span<const int64_t>(truths), shape);
    const Array x = Array::from(std::span<const uint8_t>(bytes), shape).view(Dtype::bool_);
    EXPECT_EQ(sum(x).item<int64_t>(), size / 4 * 3);
    EXPECT_EQ(mean(x).item<double>(), 0.75);
    EXPECT_EQ(argmax(x).item<int64_t>(), 1);
    for (const Array& view : {x, x.at(Ellipsis{}, Slice{{}, {}, 2}), x.at(Ellipsis{}, Slice{{}, {}, -3})}) {
      int64_t trues = 0;
      for (double value : doubles(view)) trues += value != 0;
      EXPECT_EQ(sum(view).item<int64_t>(), trues);
      EXPECT_EQ(prod(view).item<int64_t>(), int64_t{trues == view.size()});
    }
    for (int64_t axis = 0; axis < shape.size(); ++axis) {
      EXPECT_EQ(doubles(sum(x, Dims{axis})), doubles(sum(ones, Dims{axis})));
      EXPECT_EQ(max(x, Dims{axis}).dtype(), Dtype::bool_);
      EXPECT_EQ(doubles(max(x, Dims{axis})), doubles(max(ones, Dims{axis})));
      EXPECT_EQ(doubles(argmin(x, Dims{axis})), doubles(argmin(ones, Dims{axis})));
    }
  }
}

TEST(ReductionShapes, KeepDimsAndNegativeAxes) {
  const Array x = numbers({2, 3, 4}, Dtype::int32);
  EXPECT_EQ(sum(x).shape(), Dims());
  EXPECT_EQ(sum(x, {}, true).shape(), (Dims{1, 1, 1}));
  EXPECT_EQ(sum(x, Dims{-1}, true).shape(), (Dims{2, 3, 1}));
  EXPECT_EQ(sum(x, Dims{0, -1}).shape(), (Dims{3}));
  EXPECT_EQ(sum(Array::from<int32_t>({5}).reshape({})).item<int64_t>(), 5);
  EXPECT_THROW(sum(x, Dims{3}), IndexError);
  EXPECT_THROW(sum(x, Dims{1, 1}), ValueError);
  EXPECT_THROW(sum(x, Dims{1, -2}), ValueError);
}

TEST(ReductionEmpty, IdentityOrError) {
  const Array none = zeros({0, 3});
  EXPECT_EQ(doubles(sum(none, Dims{0})), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(doubles(prod(none, Dims{0})), (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(all(none).item<bool>());
  EXPECT_FALSE(any(none).item<bool>());
  EXPECT_TRUE(std::isnan(mean(none).item<double>()));
  EXPECT_EQ(sum(none, Dims{1}).shape(), (Dims{0}));
  EXPECT_EQ(max(none, Dims{1}).shape(), (Dims{0}));
  auto message = [](auto call) {
    try {
      call();
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([&] { max(none); }), "zero-size array to reduction operation maximum which has no identity");
  EXPECT_EQ(message([&] { min(none, Dims{0}); }),
            "zero-size array to reduction operation minimum which has no identity");
  EXPECT_EQ(message([&] { argmax(none); }), "attempt to get argmax of an empty sequence");
}

TEST(ReductionNan, PropagatesAndTheFirstWins) {
  for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    for (int64_t n : {3, 40, 3000, 200000}) {
      std::vector<double> values(static_cast<size_t>(n), 1.0);
      values[static_cast<size_t>(n / 2)] = NAN;
      values[static_cast<size_t>(n - 1)] = NAN;
      values[0] = -INFINITY;
      const Array x = Array::from(std::span<const double>(values), {n}).astype(dtype);
      for (const Array& view : {x, x.reshape({-1, 1}), x.reshape({1, -1}).broadcast_to({2, n})}) {
        const Dims axis{view.ndim() == 2 && view.shape(0) > 2 ? 0 : view.ndim() - 1};
        EXPECT_TRUE(std::isnan(doubles(min(view, axis))[0])) << n;
        EXPECT_TRUE(std::isnan(doubles(max(view, axis))[0])) << n;
        EXPECT_EQ(argmin(view, axis).to_vector<int64_t>()[0], n / 2);
        EXPECT_EQ(argmax(view, axis).to_vector<int64_t>()[0], n / 2);
        EXPECT_EQ(doubles(ReductionFunction("nanmax")(view, axis))[0], n == 3 ? -INFINITY : 1);
      }
    }
  EXPECT_TRUE(std::isnan(ReductionFunction("nanmin")(full({3}, static_cast<double>(NAN))).item<double>()));
  EXPECT_EQ(argmin(full({40}, static_cast<double>(INFINITY))).item<int64_t>(), 0);
  EXPECT_EQ(argmax(full({5000}, static_cast<double>(-INFINITY))).item<int64_t>(), 0);
  EXPECT_EQ(argmax(full({5000}, INT64_MIN, Dtype::int64)).item<int64_t>(), 0);
}

TEST(ReductionComplex, SumsMeansAndOrder) {
  std::vector<std::complex<double>> values;
  std::complex<double> total = 0;
  for (int k = 0; k < 3001; ++k) {
    values.emplace_back(k % 17 - 8, k % 5);
    total += values.back();
  }
  for (Dtype dtype : {Dtype::complex64, Dtype::complex128}) {
    const Array x = Array::from(std::span<const std::complex<double>>(values), {3001}).astype(dtype);
    EXPECT_EQ(sum(x).item().as_complex(), total);
    EXPECT_NEAR(std::abs(mean(x).item().as_complex() - total / 3001.0), 0, 1e-7);
    EXPECT_EQ(max(x).item().as_complex(), std::complex<double>(8, 4));
    EXPECT_EQ(min(x).item().as_complex(), std::complex<double>(-8, 0));
    EXPECT_EQ(doubles(sum(x.at(Slice{0, 3000, {}}).reshape({1000, 3}).astype(dtype), Dims{0})).size(), 3u);
    EXPECT_TRUE(any(x).item<bool>());
    int64_t first = 0;
    while (values[static_cast<size_t>(first)] != std::complex<double>(8, 4)) ++first;
    EXPECT_EQ(argmax(x).item<int64_t>(), first);
  }
}

TEST(ReductionAccuracy, FloatSumsAreAsGoodAsATree) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values(1 << 22);
  for (double& value : values) value = uniform(random);
  Real exact = 0;
  for (double value : values) exact += value;
  const Array x = Array::from(std::span<const double>(values), {1 << 22});
  // 16 additions in a row, then a tree of depth 18: at most 34 roundings, here of random sign.
  EXPECT_LE(std::abs(static_cast<Real>(sum(x).item<double>()) - exact) / exact, 4 * 2.2e-16L);
  EXPECT_LE(std::abs(static_cast<Real>(sum(x.reshape({2048, 2048}).transpose()).item<double>()) - exact) / exact,
            4 * 2.2e-16L);
  Real exact32 = 0;
  const Array single = x.astype(Dtype::float32);
  for (float value : single.to_vector<float>()) exact32 += value;
  EXPECT_EQ(sum(single).item<float>(), static_cast<float>(exact32));  // carried in float64: one rounding
  EXPECT_EQ(mean(single).item<float>(), static_cast<float>(exact32 / values.size()));
  const Array halves = full({10000}, 0.1, Dtype::float16);
  EXPECT_NEAR(sum(halves).item<double>(), 10000 * 0.0999755859375, 0.5);  // in float16 the sum would stop at 256
}

TEST(ReductionThreads, ResultsDoNotDependOnTheirNumber) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> values(1 << 20);
  for (double& value : values) value = normal(random);
  const Array x = Array::from(std::span<const double>(values), {1024, 1024});
  const int threads = thread_count();
  std::vector<std::vector<double>> results;
  for (int count : {1, 2, 7}) {
    set_thread_count(count);
    std::vector<double> all;
    for (const Array& part :
         {sum(x), sum(x, Dims{0}), sum(x, Dims{1}), mean(x.transpose(), Dims{0}), prod(add(x, 1.0))})
      for (double value : doubles(part)) all.push_back(value);
    results.push_back(all);
  }
  set_thread_count(threads);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(ReductionNames, AreCallable) {
  const auto names = reduction_names();
  EXPECT_GE(names.size(), 12u);
  for (const std::string& name : names) EXPECT_STRNE(ReductionFunction(name.c_str()).documentation(), "");
  EXPECT_THROW(ReductionFunction("no_such_reduction"), ValueError);
}

/// NaN stands for NaN.
void expect_near(const Array& x, const std::vector<double>& expected) {
  const std::vector<double> values = x.to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(expected[k]))
      EXPECT_TRUE(std::isnan(values[k])) << k;
    else if (std::isinf(expected[k]))
      EXPECT_EQ(values[k], expected[k]) << k;
    else
      EXPECT_NEAR(values[k], expected[k], 1e-12) << k;
  }
}

TEST(Moments, VarianceByMeanMaskAndDtype) {
  const Array x = Array::from<double>({1, 2, 4, 3, 5, 4}).reshape({2, 3});
  const Array known = Array::from<double>({2, 3, 4}).reshape({1, 3}), some = greater(x, 1.5);
  expect_near(variance(x, {.axes = Dims{0}, .mean = known}), {1, 2.5, 0});
  expect_near(variance(x, {.where = &some}), {1.04});
  expect_near(variance(x, {.correction = 1, .root = true}), {1.4719601443879746});
  expect_near(variance(x.astype(Dtype::int8), {.axes = Dims{1}, .keepdims = true}), {14.0 / 9, 2.0 / 3});
  EXPECT_EQ(variance(x.astype(Dtype::float16), {.where = &some}).dtype(), Dtype::float16);
  EXPECT_EQ(variance(x.astype(Dtype::float32), {.dtype = Dtype::float64}).dtype(), Dtype::float64);
  expect_near(variance(x.at(Slice{}, 0), {.correction = 2}), {INFINITY});
  expect_near(variance(ones({2}), {.correction = 2}), {NAN});
  EXPECT_EQ(variance(Array::from<std::complex<double>>({{0, 1}, {0, -1}})).item<double>(), 1);
  EXPECT_THROW(variance(x, {.axes = Dims{2}}), AxisError);
}

TEST(Moments, WithoutNan) {
  const Array x = Array::from<double>({1, NAN, 4, 2, 6, NAN}).reshape({2, 3});
  const Array none = Array::from<double>({NAN, NAN, 3, NAN}).reshape({2, 2});
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16}) {
    const Array of = x.astype(dtype);
    expect_near(nanmean(of, {.axes = Dims{0}}), {1.5, 6, 4});
    EXPECT_EQ(nanmean(of).item<double>(), 3.25);
    EXPECT_EQ(nanmean(of).dtype(), dtype);
    expect_near(nanvariance(of, {.axes = Dims{1}, .correction = 1}), {4.5, 8});
    EXPECT_EQ(nanargmax(of).item<int64_t>(), 4);
    EXPECT_EQ(nanargmin(of, 1).to_vector<int64_t>(), (std::vector<int64_t>{0, 0}));
  }
  expect_near(nanvariance(x, {.root = true}), {1.920286436967152});
  expect_near(nanmean(none, {.axes = Dims{1}, .keepdims = true}), {NAN, 3});
  expect_near(nanvariance(none, {.axes = Dims{1}}), {NAN, 0});
  expect_near(nanmean(x.at(Slice{{}, {}, -1}, Slice{{}, {}, 2}), {.axes = Dims{1}}), {2, 2.5});
  EXPECT_EQ(nanmean(Array::from<int8_t>({1, 2})).item<double>(), 1.5);
  EXPECT_EQ(nanvariance(Array::from<int8_t>({1, 2})).item<double>(), 0.25);
  EXPECT_TRUE(std::isnan(nanmean(Array::empty({0}, Dtype::float32)).item<double>()));
  EXPECT_THROW(nanargmin(none, 1), ValueError);
  EXPECT_THROW(nanmean(x, {.dtype = Dtype::int64}), TypeError);
}

TEST(Moments, RangesAndWeightedMeans) {
  EXPECT_EQ(ptp(Array::from<uint8_t>({4, 250, 2})).item<int64_t>(), 248);
  EXPECT_EQ(ptp(zeros({2, 3}), Dims{1}, true).shape(), (Dims{2, 1}));
  EXPECT_THROW(ptp(zeros({0})), ValueError);
  const Array x = Array::from<double>({1, 2, 4, 3, 5, 4}).reshape({2, 3}), weights = Array::from<int64_t>({1, 2, 1});
  expect_near(average(x, weights, Dims{1}).mean, {2.25, 4.25});
  EXPECT_EQ(average(x, weights, Dims{1}, true).weights.shape(), (Dims{1, 1}));
  EXPECT_EQ(average(x, x).mean.item<double>(), 71.0 / 19);
  EXPECT_THROW(average(x, weights), TypeError);
  EXPECT_THROW(average(x, weights, Dims{0}), ValueError);
  EXPECT_THROW(average(x, zeros({3}), Dims{1}), ZeroWeightsError);
}

TEST(Moments, CovarianceAndCorrelation) {
  const Array x = Array::from<double>({1, 2, 4, 3, 5, 4}).reshape({2, 3}), first = x.at(0), second = x.at(1);
  const Array counts = Array::from<int64_t>({1, 2, 1}), shares = Array::from<double>({1, 0.5, 1});
  expect_near(cov(x), {7.0 / 3, 0.5, 0.5, 1});
  expect_near(corrcoef(x), {1, 0.32732683535398854, 0.32732683535398854, 1});
  expect_near(cov(x, {.correction = 0, .fweights = &counts}), {1.1875, 0.1875, 0.1875, 0.6875});
  expect_near(cov(first, {.y = &second, .aweights = &shares}), {2.875, 0.75, 0.75, 0.875});
  expect_near(cov(x, {.rowvar = false}), {2, 3, 0, 3, 4.5, 0, 0, 0, 0});
  EXPECT_EQ(cov(first).ndim(), 0);
  EXPECT_EQ(cov(zeros({0, 3})).shape(), (Dims{0, 0}));
  EXPECT_EQ(cov(x, {.dtype = Dtype::float32}).dtype(), Dtype::float32);
  EXPECT_THROW(cov(zeros({2, 2, 2})), ValueError);
  EXPECT_THROW(cov(x, {.fweights = &shares}), TypeError);
  EXPECT_THROW(cov(x, {.aweights = &x}), ShapeError);
}

}  // namespace
