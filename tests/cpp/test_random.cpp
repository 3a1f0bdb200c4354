// Random arrays: Random123's known answers, independence of shape and threads, and statistics. Seeds are fixed, so a
// test fails always or never; the stated odds are those of a new seed failing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "iruka/iruka.h"
#include "jit/kernel_headers.h"
#include "ops/random/kernels.h"
#include "ops/random/philox.h"

namespace {

using namespace iruka;

std::vector<double> doubles(const Array& array) { return array.astype(Dtype::float64).to_vector<double>(); }

TEST(Philox, KnownAnswers) {
  // kat_vectors of Random123 1.14: philox4x32 10, counter, key, result.
  const uint32_t vectors[][10] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
       0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
       0x24126ea1},
  };
  // A GPU's form as well, which the precompiled header does not hold: its text, in another namespace.
  std::string gpu;
  for (const auto& [name, text] : jit::kernel_headers())
    if (name == "ops/random/kernels/philox.h") gpu = text;
  ASSERT_NE(gpu, "");
  gpu = "#define __CUDA_ARCH__ 900\n#define random random_of_gpus\n" + gpu + "using namespace iruka::random;\n";
  for (const std::string& form : {ops::random_header("philox"), gpu}) {
    KernelOptions options;
    options.preamble = form;
    const ElementwiseKernel kernel(
        "raw uint32 input", "raw uint32 output",
        "const PhiloxWords w = philox(PhiloxWords{input[0], input[1], input[2], input[3]}, input[4], input[5]);"
        "output[0] = w.w0; output[1] = w.w1; output[2] = w.w2; output[3] = w.w3;",
        "philox", options);
    for (const auto& vector : vectors) {
      const Array input = Array::from(std::span<const uint32_t>(vector, 6), {6}), output = zeros({4}, Dtype::uint32);
      const Argument arguments[] = {input, output};
      kernel.call(arguments, {.size = 1});
      EXPECT_EQ(output.to_vector<uint32_t>(), std::vector<uint32_t>(vector + 6, vector + 10)) << form;
    }
  }
}

TEST(Streams, SeedRepeatsAndDrawsDiffer) {
  random::seed(42);
  const auto first = doubles(random::random({1000})), second = doubles(random::random({1000}));
  EXPECT_NE(first, second);
  random::seed(42);
  EXPECT_EQ(doubles(random::random({10, 100})), first);
  EXPECT_EQ(doubles(random::random({1000})), second);
  random::seed(43);
  EXPECT_NE(doubles(random::random({1000})), first);
}

TEST(Streams, AnOrderIsThatOfARow) {
  for (const int64_t n : {1, 2, 3, 8, 1000}) {
    random::Generator one({11, 5}), other({11, 5});
    const Array order = one.permutation(n), row = other.permuted_rows(arange(n).reshape({1, n}));
    EXPECT_EQ(doubles(order), doubles(row)) << n;
  }
}

TEST(Streams, AnElementDependsOnItsIndexAlone) {
  const int threads = thread_count();
  auto draw = [](int64_t n) {
    random::seed(5);
    std::vector<std::vector<double>> all;
    all.push_back(doubles(random::random({n})));
    all.push_back(doubles(random::normal(0, 1, {n}, Dtype::float32)));
    all.push_back(doubles(random::randint(0, 3'000'000'000, {n})));
    all.push_back(doubles(random::randint(-5, 5, {n}, Dtype::int8)));
    return all;
  };
  set_thread_count(1);
  const auto reference = draw(100003);
  for (const int count : {2, 5}) {
    set_thread_count(count);
    EXPECT_EQ(draw(100003), reference);
  }
  set_thread_count(threads);
  const auto prefix = draw(777);
  for (size_t k = 0; k < prefix.size(); ++k)
    EXPECT_TRUE(std::equal(prefix[k].begin(), prefix[k].end(), reference[k].begin())) << k;
}

/// Largest distance between the empirical distribution and `distribution`, times sqrt(n).
template <class Distribution>
double kolmogorov_smirnov(std::vector<double> values, Distribution distribution) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double distance = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    const double expected = distribution(values[k]);
    distance = std::max({distance, std::abs(expected - static_cast<double>(k) / n),
                         std::abs(expected - static_cast<double>(k + 1) / n)});
  }
  return distance * std::sqrt(n);
}

constexpr double kKolmogorov1e6 = 2.70;  // 2 exp(-2 x^2) = 1e-6: one seed in a million fails

TEST(Statistics, UniformByKolmogorovSmirnovAndMoments) {
  random::seed(1);
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    const auto values = doubles(random::random({200001}, dtype));
    EXPECT_EQ(values.size(), 200001u);
    EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.0);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 1.0);
    EXPECT_LT(kolmogorov_smirnov(values, [](double x) { return x; }), kKolmogorov1e6);
    double mean = 0, lag = 0;
    for (double x : values) mean += x / static_cast<double>(values.size());
    for (size_t k = 1; k < values.size(); ++k)
      lag += (values[k] - 0.5) * (values[k - 1] - 0.5) * 12 / static_cast<double>(values.size());
    EXPECT_NEAR(mean, 0.5, 5 * std::sqrt(1.0 / 12 / 200001));  // five deviations: 6e-7
    EXPECT_NEAR(lag, 0, 5 / std::sqrt(200001.0));
  }
  const auto shifted = doubles(random::uniform(-3, 5, {100000}));
  EXPECT_LT(kolmogorov_smirnov(shifted, [](double x) { return (x + 3) / 8; }), kKolmogorov1e6);
}

TEST(Statistics, RandomUsesAllItsBits) {
  random::seed(2);
  bool odd53 = false, odd24 = false;
  for (double x : doubles(random::random({1000}))) odd53 |= std::fmod(x * 0x1p53, 2) == 1;
  for (double x : doubles(random::random({1000}, Dtype::float32))) odd24 |= std::fmod(x * 0x1p24, 2) == 1;
  EXPECT_TRUE(odd53);
  EXPECT_TRUE(odd24);
}

TEST(Statistics, NormalByKolmogorovSmirnovAndMoments) {
  random::seed(3);
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    const auto values = doubles(random::normal(2, 3, {200001}, dtype));
    EXPECT_LT(kolmogorov_smirnov(values, [](double x) { return 0.5 * std::erfc(-(x - 2) / 3 / std::sqrt(2.0)); }),
              kKolmogorov1e6);
    double mean = 0, variance = 0;
    const double n = static_cast<double>(values.size());
    for (double x : values) mean += x / n;
    for (double x : values) variance += (x - mean) * (x - mean) / n;
    EXPECT_NEAR(mean, 2, 5 * 3 / std::sqrt(n));
    EXPECT_NEAR(variance, 9, 5 * 9 * std::sqrt(2 / n));
  }
  EXPECT_EQ(doubles(random::normal(4, 0, {3})), (std::vector<double>{4, 4, 4}));
}

/// Chi-square of counts against equal odds, as deviations from its mean.
double chi_square_deviations(const std::vector<double>& values, double low, int bins) {
  std::vector<double> counts(static_cast<size_t>(bins));
  for (double x : values) ++counts.at(static_cast<size_t>(x - low));
  const double expected = static_cast<double>(values.size()) / bins;
  double chi = 0;
  for (double c : counts) chi += (c - expected) * (c - expected) / expected;
  return (chi - (bins - 1)) / std::sqrt(2.0 * (bins - 1));
}

TEST(Statistics, IntegersByChiSquareInEveryDtype) {
  random::seed(4);
  for (const Dtype dtype : {Dtype::int8, Dtype::int16, Dtype::int32, Dtype::int64, Dtype::uint8, Dtype::uint16,
                            Dtype::uint32, Dtype::uint64}) {
    const Array x = random::randint(3, 103, {100003}, dtype);
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_LT(std::abs(chi_square_deviations(doubles(x), 3, 100)), 6);  // about 1e-7 for 99 degrees
  }
  EXPECT_LT(std::abs(chi_square_deviations(doubles(random::randint(0, 2, {100003}, Dtype::bool_)), 0, 2)),
            18);  // (z^2 - 1) / sqrt(2), z = 5
}

TEST(Statistics, FloatsDecideAsDoublesDo) {
  KernelOptions options;
  options.preamble = ops::random_header("gamma") + ops::random_header("binomial");
  const ElementwiseKernel binomial("float64 n, float64 p", "int32 wrong", R"(
    const BinomialPlan plan = binomial_plan(n, p);
    const PhiloxWords w = philox_block(1, 2, i, 0);
    const double u = unit_above_zero<double>(w.w0, w.w1) - 0.5, us = max(0.5 - fabs(u), 1e-9);
    const double k = min(max(floor((2 * plan.a / us + plan.b) * u + n * p + 0.5), 0.0), n);
    const double ratio = unit_above_zero<double>(w.w2, w.w3) * plan.alpha / (plan.a / (us * us) + plan.b);
    wrong = binomial_accepts(plan, k, ratio) != (log(ratio) <= log_binomial(k, n, p) - plan.highest);
  )",
                                   "binomial_decisions", options);
  for (const double n : {40.0, 100.0, 5000.0, 1e6, 1e9, 9e15})
    for (const double p : {0.3, 0.5, 10.5 / n})
      if (n * p >= 10) {
        const Array wrong = zeros({200000}, Dtype::int32);
        const Argument arguments[] = {n, p, wrong};
        binomial.call(arguments);
        EXPECT_EQ(sum(wrong).item<int64_t>(), 0) << n << " " << p;
      }
  const ElementwiseKernel gamma("float64 b", "int32 wrong", R"(
    const PhiloxWords w = philox_block(3, 4, i, 0);
    const double x = normal_pair<double>(w.w0, w.w1, w.w2, 0).first, root = max(1 + x / sqrt(9 * b), 1e-3);
    const double cube = root * root * root, u = word_unit<double>(w.w3);
    wrong = gamma_accepts(x, b, cube, u) != (log(u) < 0.5 * x * x + b * (1 - cube + log(cube)));
  )",
                                "gamma_decisions", options);
  for (const double b : {0.67, 2.0, 50.0, 1e4, 1e9}) {
    const Array wrong = zeros({200000}, Dtype::int32);
    const Argument arguments[] = {b, wrong};
    gamma.call(arguments);
    EXPECT_EQ(sum(wrong).item<int64_t>(), 0) << b;
  }
}

TEST(Statistics, WideSpansHaveNoModuloBias) {
  random::seed(6);
  // With a span of three quarters of the word, a modulo would give the lower half of it twice as often.
  const auto narrow = doubles(random::randint(0, int64_t{3} << 30, {100000}));
  const auto wide = doubles(random::randint(INT64_MIN / 2, INT64_MAX / 4 * 3 + INT64_MIN / 2, {100000}));
  EXPECT_LT(kolmogorov_smirnov(narrow, [](double x) { return x / (3.0 * 0x1p30); }), kKolmogorov1e6);
  const double low = -0x1p62, high = 0x1p63 * 0.75 - 0x1p62;
  EXPECT_LT(kolmogorov_smirnov(wide, [&](double x) { return (x - low) / (high - low); }), kKolmogorov1e6);
}

TEST(Integers, FullRangesAndBounds) {
  random::seed(7);
  std::set<int64_t> seen;
  for (int64_t value : random::randint(-128, 128, {20000}, Dtype::int8).astype(Dtype::int64).to_vector<int64_t>())
    seen.insert(value);
  EXPECT_EQ(seen.size(), 256u);
  const auto all = random::randint(0, UINT64_MAX, {10000}, Dtype::uint64, true).to_vector<uint64_t>();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](uint64_t x) { return x >> 63; }) / 500,
            10);  // 5000 expected; 5499 is ten deviations
  const auto whole = doubles(random::randint(INT64_MIN, INT64_MAX, {50000}, Dtype::int64, true));
  EXPECT_LT(kolmogorov_smirnov(whole, [](double x) { return x * 0x1p-64 + 0.5; }), kKolmogorov1e6);
  EXPECT_EQ(random::randint(7, 8, {5}).to_vector<int64_t>(), std::vector<int64_t>(5, 7));
  EXPECT_EQ(random::randint(0, 5, {0}).size(), 0);
  EXPECT_EQ(random::randint(0, 5, {3, 0, 2}).shape(), (Dims{3, 0, 2}));
  EXPECT_THROW(random::randint(5, 5, {1}), ValueError);
  EXPECT_THROW(random::randint(5, 4, {1}), ValueError);
  EXPECT_THROW(random::randint(0, 257, {1}, Dtype::uint8), ValueError);
  EXPECT_THROW(random::randint(-1, 5, {1}, Dtype::uint8), ValueError);
  EXPECT_THROW(random::randint(0, 5, {1}, Dtype::float32), TypeError);
  EXPECT_THROW(random::randint(0.5, 5, {1}), TypeError);
  EXPECT_THROW(random::random({1}, Dtype::int32), TypeError);
  EXPECT_THROW(random::normal(0, -1, {1}), ValueError);
}

TEST(Generator, NormalVectorsHaveTheirCovariance) {
  random::Generator generator(random::State{1, 0});
  const double covariance[] = {4, 1, 1, 2};
  const Array rows = random::covariance_rows(Array::from(std::span<const double>(covariance), {2, 2}));
  const Array square = matmul(rows.transpose(), rows);
  for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(square.ravel().at(k).item<double>(), covariance[k], 1e-12);
  const double center[] = {5, -3};
  const Array mean = Array::from(std::span<const double>(center), {2});
  const Array drawn = generator.multivariate_normal(mean, rows, {100000});
  const Array away = subtract(drawn, mean), found = divide(matmul(away.transpose(), away), 100000.0);
  for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(found.ravel().at(k).item<double>(), covariance[k], 0.1);
  for (int64_t k = 0; k < 2; ++k) EXPECT_NEAR(iruka::mean(drawn, Dims{0}).at(k).item<double>(), center[k], 0.05);
  EXPECT_EQ(generator.multivariate_normal(mean, rows, {3, 0}).shape(), (Dims{3, 0, 2}));
  EXPECT_EQ(generator.multivariate_normal(mean, rows).shape(), (Dims{2}));
  EXPECT_THROW(generator.multivariate_normal(mean, ones({2, 3})), ShapeError);
}

}  // namespace
