// Dtypes and scalars against NumPy's answers, and 16-bit floats over every value.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "core/float_status.h"
#include "iruka/dtype.h"
#include "iruka/error.h"

namespace iruka {
namespace {

constexpr const char* kCases =
#include "dtype_cases.inc"
    ;

/// The cases whose first word is `kind`, each split into its other words.
std::vector<std::vector<std::string>> cases(const std::string& kind) {
  std::vector<std::vector<std::string>> result;
  std::istringstream lines(kCases);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != kind) continue;
    result.emplace_back();
    while (words >> word) result.back().push_back(word);
  }
  EXPECT_GT(result.size(), 20u) << kind;
  return result;
}

template <class E, class F>
void expect_error(F&& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error with " << part;
  } catch (const E& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Dtype, PromotesAsNumPy) {
  for (const auto& c : cases("promote"))
    EXPECT_STREQ(name(promote(parse_dtype(c[0]), parse_dtype(c[1]))), c[2].c_str()) << c[0] << " with " << c[1];
}

TEST(Dtype, WeakScalarsGiveWayAsInNumPy) {
  for (const auto& c : cases("weak")) {
    const Scalar weak = c[1] == "bool"    ? Scalar(true)
                        : c[1] == "int"   ? Scalar(1)
                        : c[1] == "float" ? Scalar(1.0)
                                          : Scalar(std::complex<double>(0, 1));
    EXPECT_STREQ(name(promote_weak(parse_dtype(c[0]), weak)), c[2].c_str()) << c[0] << " with a " << c[1];
  }
  EXPECT_EQ(promote_weak(Dtype::bfloat16, 1.5), Dtype::bfloat16);
  EXPECT_EQ(promote_weak(Dtype::float32, Scalar(1.5).typed(Dtype::float64)), Dtype::float64);
}

TEST(Dtype, CastsOfTheSameKindAsInNumPy) {
  for (const auto& c : cases("same_kind"))
    EXPECT_EQ(can_cast_same_kind(parse_dtype(c[0]), parse_dtype(c[1])), c[2] == "1") << c[0] << " to " << c[1];
}

TEST(Dtype, ReadsNumPysSpellings) {
  for (const auto& c : cases("name")) {
    if (c[1] == "TypeError")
      EXPECT_THROW(parse_dtype(c[0]), TypeError) << c[0];
    else
      EXPECT_STREQ(name(parse_dtype(c[0])), c[1].c_str()) << c[0];
  }
  EXPECT_THROW(parse_dtype(""), TypeError);
  expect_error<TypeError>([] { parse_dtype(">f4"); }, "big-endian");
  expect_error<TypeError>([] { parse_dtype("float23"); }, "float23");
}

TEST(Dtype, TableIsConsistent) {
  const int sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  for (int i = 0; i < kDtypeCount; ++i) {
    const Dtype dtype = static_cast<Dtype>(i);
    EXPECT_EQ(itemsize(dtype), sizes[i]);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  }
  EXPECT_EQ(real_dtype(Dtype::complex64), Dtype::float32);
  EXPECT_EQ(real_dtype(Dtype::complex128), Dtype::float64);
  EXPECT_EQ(real_dtype(Dtype::int8), Dtype::int8);
}

Scalar integer(const std::string& text) {
  return text[0] == '-' ? Scalar(std::stoll(text)) : Scalar(static_cast<uint64_t>(std::stoull(text)));
}

TEST(Scalar, KnowsWhichIntegersFit) {
  for (const auto& c : cases("fits")) {
    const Dtype dtype = parse_dtype(c[1]);
    EXPECT_EQ(integer(c[0]).fits(dtype), c[2] == "1") << c[0] << " in " << c[1];
    if (c[2] == "1")
      EXPECT_EQ(integer(c[0]).typed(dtype).to_string(), c[0]);
    else
      expect_error<OverflowError>([&] { integer(c[0]).typed(dtype); },
                                  "Python integer " + c[0] + " out of bounds for " + c[1]);
  }
}

TEST(Scalar, PrintsAsPython) {
  for (const auto& c : cases("text")) {
    const Dtype dtype = parse_dtype(c[0]);
    uint64_t bits[2] = {std::stoull(c[1]), c.size() > 3 ? std::stoull(c[2]) : 0};
    EXPECT_EQ(Scalar::load(dtype, bits).to_string(), c.back()) << c[0] << " " << c[1];
  }
  EXPECT_EQ(Scalar(true).to_string(), "True");
  EXPECT_EQ(Scalar().to_string(), "False");
}

TEST(Scalar, TypedRoundsAndSaturates) {
  EXPECT_EQ(Scalar(0.1).typed(Dtype::float32).as_double(), static_cast<double>(0.1f));
  EXPECT_FALSE(Scalar(1).typed(Dtype::int8).weak());
  EXPECT_EQ(Scalar(-3.9).typed(Dtype::int8).as_int64(), -3);
  EXPECT_EQ(Scalar(1e9).typed(Dtype::int8).as_int64(), 127);
  EXPECT_EQ(Scalar(-1e9).typed(Dtype::uint16).as_int64(), 0);
  EXPECT_EQ(Scalar(NAN).typed(Dtype::int64).as_int64(), 0);
  EXPECT_EQ(Scalar(INFINITY).typed(Dtype::int64).as_int64(), INT64_MAX);
  EXPECT_EQ(Scalar(-INFINITY).typed(Dtype::int64).as_int64(), INT64_MIN);
  EXPECT_EQ(Scalar(1e30).as_uint64(), UINT64_MAX);
  EXPECT_EQ(Scalar(70000).typed(Dtype::float16).as_double(), INFINITY);
  EXPECT_EQ(Scalar(UINT64_MAX).dtype(), Dtype::uint64);
  EXPECT_EQ(Scalar(UINT64_MAX).as_int64(), -1);
  EXPECT_EQ(Scalar(UINT64_MAX).as_double(), 18446744073709551616.0);
  EXPECT_TRUE(Scalar(NAN).as_bool());
  EXPECT_TRUE(Scalar(std::complex<double>(0, 2)).as_bool());
  EXPECT_FALSE(Scalar(-0.0).as_bool());
  EXPECT_EQ(Scalar(std::complex<double>(1, 2)).typed(Dtype::complex64).as_complex(), std::complex<double>(1, 2));
  EXPECT_TRUE(Scalar(7).typed(Dtype::bool_).as_bool());
}

TEST(Scalar, IntegersAreRoundedOnce) {
  const int64_t above_tie = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;  // float32: half a step and a bit more
  float single = 0;
  Scalar(above_tie).store(Dtype::float32, &single);
  EXPECT_EQ(single, static_cast<float>((int64_t{1} << 60) + (int64_t{1} << 37)));
  const int64_t above_tie_16 = (int64_t{1} << 62) + (int64_t{1} << 54) + 1;  // bfloat16: steps of 2^55
  uint16_t half = 0;
  Scalar(above_tie_16).store(Dtype::bfloat16, &half);
  EXPECT_EQ(bfloat16_value(half), std::ldexp(1.0, 62) + std::ldexp(1.0, 55));
  Scalar(-above_tie_16).store(Dtype::bfloat16, &half);
  EXPECT_EQ(bfloat16_value(half), -std::ldexp(1.0, 62) - std::ldexp(1.0, 55));
}

TEST(Scalar, StoreWrapsIntegersAndLoadReadsThemBack) {
  uint8_t byte = 0;
  Scalar(300).store(Dtype::uint8, &byte);
  EXPECT_EQ(byte, 44);
  int16_t word = 0;
  Scalar(-40000).store(Dtype::int16, &word);
  EXPECT_EQ(word, 25536);
  uint64_t large = 0;
  Scalar(UINT64_MAX).store(Dtype::uint64, &large);
  EXPECT_EQ(large, UINT64_MAX);
  EXPECT_EQ(Scalar::load(Dtype::uint64, &large).as_uint64(), UINT64_MAX);
  std::complex<float> pair;
  Scalar(std::complex<double>(1.5, -2)).store(Dtype::complex64, &pair);
  EXPECT_EQ(pair, std::complex<float>(1.5f, -2.f));
  Scalar(3).store(Dtype::complex64, &pair);
  EXPECT_EQ(pair, std::complex<float>(3.f, 0.f));
  // Unaligned elements are read and written too.
  alignas(8) char bytes[12] = {};
  Scalar(2.5).store(Dtype::float64, bytes + 1);
  EXPECT_EQ(Scalar::load(Dtype::float64, bytes + 1).as_double(), 2.5);
}

/// The value of a 16-bit float by its definition.
double defined_value(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, all_ones = (1 << exponent_bits) - 1;
  const int exponent = bits >> mantissa_bits & all_ones, mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == all_ones) return mantissa ? NAN : sign * INFINITY;
  const double significand = (exponent ? 1 : 0) + std::ldexp(mantissa, -mantissa_bits);
  return sign * std::ldexp(significand, (exponent ? exponent : 1) - bias);
}

struct Format {
  int exponent_bits, mantissa_bits;
  uint16_t (*bits)(double);
  double (*value)(uint16_t);
  uint16_t infinity;
};
constexpr Format kFloat16{5, 10, float16_bits, float16_value, 0x7c00};
constexpr Format kBfloat16{8, 7, bfloat16_bits, bfloat16_value, 0x7f80};

class SixteenBits : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, SixteenBits, ::testing::Values(kFloat16, kBfloat16));

TEST_P(SixteenBits, EveryValueGoesThereAndBack) {
  const Format& f = GetParam();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const double expected = defined_value(half, f.exponent_bits, f.mantissa_bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(f.value(half)));
      ASSERT_TRUE(std::isnan(f.value(f.bits(f.value(half)))));
      ASSERT_EQ(f.bits(f.value(half)) >> 15, half >> 15);
    } else {
      ASSERT_EQ(f.value(half), expected) << bits;
      ASSERT_EQ(f.bits(expected), half) << bits;
    }
  }
}

TEST_P(SixteenBits, RoundsToNearestEvenBetweenEveryPair) {
  const Format& f = GetParam();
  for (uint16_t low = 0; low < f.infinity; ++low) {
    const double a = f.value(low);
    const uint16_t high = low + 1;
    // Beyond the largest finite value the next one would be a step further on.
    const double b = high == f.infinity ? 2 * a - f.value(low - 1) : f.value(high);
    const double middle = a + (b - a) / 2;
    const uint16_t even = low & 1 ? high : low;
    ASSERT_EQ(f.bits(middle), even) << low;
    ASSERT_EQ(f.bits(std::nextafter(middle, 0.0)), low);
    ASSERT_EQ(f.bits(std::nextafter(middle, INFINITY)), high);
    ASSERT_EQ(f.bits(-middle), even | 0x8000);
  }
  EXPECT_EQ(f.bits(INFINITY), f.infinity);
  EXPECT_EQ(f.bits(-1e300), f.infinity | 0x8000);
  EXPECT_EQ(f.bits(5e-324), 0);
  EXPECT_EQ(f.bits(-5e-324), 0x8000);
}

TEST(Scalar, TellsOfNumbersThatAnIntegerCannotHold) {
  const auto is_told = [](double value, Dtype dtype) {
    take_float_flags();
    Scalar(value).as_element(dtype);
    return (take_float_flags() & kFloatInvalid) != 0;
  };
  EXPECT_FALSE(is_told(-0x1p63, Dtype::int64));
  EXPECT_TRUE(is_told(std::nextafter(-0x1p63, -INFINITY), Dtype::int64));
  EXPECT_FALSE(is_told(std::nextafter(0x1p63, 0), Dtype::int64));
  EXPECT_TRUE(is_told(0x1p63, Dtype::int64));
  EXPECT_FALSE(is_told(-128.5, Dtype::int8));
  EXPECT_TRUE(is_told(-129, Dtype::int8));
  EXPECT_FALSE(is_told(-0.5, Dtype::uint64));
  EXPECT_TRUE(is_told(-1, Dtype::uint64));
  EXPECT_TRUE(is_told(NAN, Dtype::int64));
}

}  // namespace
}  // namespace iruka
