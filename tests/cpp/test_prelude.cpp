// The prelude's types: 16-bit floats bit by bit, and which type an expression has.
#include <algorithm>
#include <limits>
#include <random>

#include "prelude_kernel.h"
#include "prelude_texts.h"

namespace iruka::test {
namespace {

struct SmallFormat {
  const char* name;
  int exponent_bits;
};
const SmallFormat kFormats[] = {{"float16", 5}, {"bfloat16", 8}};

bool is_nan(uint16_t bits, int exponent_bits) {
  const int infinity = ((1 << exponent_bits) - 1) << (15 - exponent_bits);
  return (bits & 0x7fff) > infinity;
}

void expect_same(uint16_t got, uint16_t want, int exponent_bits, long double from) {
  if (is_nan(want, exponent_bits))
    EXPECT_TRUE(is_nan(got, exponent_bits)) << "from " << from;
  else
    EXPECT_EQ(got, want) << "from " << static_cast<double>(from);
}

std::vector<uint16_t> all_bits() {
  std::vector<uint16_t> all(65536);
  for (int k = 0; k < 65536; ++k) all[k] = static_cast<uint16_t>(k);
  return all;
}

TEST(SmallFloat, EveryValueWidensExactly) {
  for (const auto& format : kFormats) {
    const auto all = all_bits();
    std::vector<float> got(65536);
    run_body("", {std::string("const ") + format.name + "* x", "float* z"}, "z[i] = x[i];", {all.data(), got.data()},
             65536);
    for (int k = 0; k < 65536; ++k) {
      const long double want = reference_widen(all[k], format.exponent_bits);
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got[k])) << k;
      else
        ASSERT_EQ(bits_of<uint32_t>(got[k]), bits_of<uint32_t>(static_cast<float>(want))) << k;
    }
  }
}

/// Every 16-bit value, the midpoints between neighbours, and the numbers next to these.
template <class T>
std::vector<T> rounding_points(int exponent_bits) {
  std::vector<T> points;
  for (int k = 0; k < 65535; ++k) {
    const auto a = static_cast<T>(reference_widen(static_cast<uint16_t>(k), exponent_bits));
    const auto b = static_cast<T>(reference_widen(static_cast<uint16_t>(k + 1), exponent_bits));
    points.push_back(a);
    if (!std::isfinite(a) || !std::isfinite(b) || (k + 1) % 0x8000 == 0) continue;
    const T middle = a / 2 + b / 2;
    for (T point : {middle, std::nextafter(middle, a), std::nextafter(middle, b)}) points.push_back(point);
  }
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const long double limit = std::ldexp(2.0L - std::ldexp(1.0L, exponent_bits - 16), bias);  // half way to infinity
  for (long double value : {limit, static_cast<long double>(std::nextafter(static_cast<T>(limit), T(0))),
                            static_cast<long double>(std::numeric_limits<T>::max()),
                            static_cast<long double>(std::numeric_limits<T>::denorm_min())}) {
    points.push_back(static_cast<T>(value));
    points.push_back(static_cast<T>(-value));
  }
  return points;
}

template <class T>
void check_narrowing(const char* c_type) {
  for (const auto& format : kFormats) {
    const auto points = rounding_points<T>(format.exponent_bits);
    std::vector<uint16_t> got(points.size());
    run_body("", {std::string("const ") + c_type + "* x", std::string(format.name) + "* z"}, "z[i] = x[i];",
             {points.data(), got.data()}, static_cast<int64_t>(points.size()));
    for (size_t k = 0; k < points.size(); ++k) {
      expect_same(got[k], reference_narrow(points[k], format.exponent_bits), format.exponent_bits, points[k]);
    }
  }
}
TEST(SmallFloat, FloatsRoundToNearestEven) { check_narrowing<float>("float"); }
TEST(SmallFloat, DoublesRoundOnceToNearestEven) { check_narrowing<double>("double"); }

template <class T>
void check_integers(const char* c_type) {
  std::mt19937_64 random(7);
  std::vector<T> values = {0,
                           1,
                           2047,
                           2048,
                           2049,
                           2050,
                           2051,
                           65503,
                           65519,
                           65520,
                           65535,
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max()};
  for (int k = 0; k < 20000; ++k) values.push_back(static_cast<T>(random() >> (random() % 64)));
  // Beside the middle of two bfloat16 values, where a first rounding to double would land on it.
  for (int shift = 0; shift + 10 < static_cast<int>(sizeof(T) * 8); ++shift) {
    for (int odd = 129; odd < 140; ++odd) {
      const T middle = static_cast<T>((static_cast<T>(2 * odd + 1)) << shift);
      for (int beside : {-1, 0, 1}) values.push_back(static_cast<T>(middle + beside));
    }
  }
  for (const auto& format : kFormats) {
    std::vector<uint16_t> got(values.size());
    run_body("", {std::string("const ") + c_type + "* x", std::string(format.name) + "* z"}, "z[i] = x[i];",
             {values.data(), got.data()}, static_cast<int64_t>(values.size()));
    for (size_t k = 0; k < values.size(); ++k) {
      expect_same(got[k], reference_narrow(static_cast<long double>(values[k]), format.exponent_bits),
                  format.exponent_bits, static_cast<long double>(values[k]));
    }
  }
}
TEST(SmallFloat, IntegersRoundOnceToNearestEven) {
  check_integers<int32_t>("int32_t");
  check_integers<uint32_t>("uint32_t");
  check_integers<int64_t>("int64_t");
  check_integers<uint64_t>("uint64_t");
  check_integers<int64_t>("long long");
}

TEST(SmallFloat, ArithmeticRoundsTheExactResult) {
  std::mt19937 random(3);
  const int count = 40000;
  std::vector<uint16_t> x(count), y(count);
  for (int k = 0; k < count; ++k) x[k] = static_cast<uint16_t>(random()), y[k] = static_cast<uint16_t>(random());
  for (const auto& format : kFormats) {
    std::vector<uint16_t> got(4 * count);
    const std::string type = format.name;
    run_body("", {"const " + type + "* x", "const " + type + "* y", type + "* z"},
             "z[4*i] = x[i] + y[i]; z[4*i+1] = x[i] - y[i]; z[4*i+2] = x[i] * y[i]; z[4*i+3] = x[i] / y[i];",
             {x.data(), y.data(), got.data()}, count);
    for (int k = 0; k < count; ++k) {
      const long double a = reference_widen(x[k], format.exponent_bits),
                        b = reference_widen(y[k], format.exponent_bits);
      // float holds enough bits that its rounding does not show, but for results below float's own range.
      const long double want[] = {a + b, a - b, a * b, a / b};
      for (int op = 0; op < 4; ++op) {
        const bool subnormal_float = want[op] != 0 && std::fabs(want[op]) < std::numeric_limits<float>::min();
        if (subnormal_float) continue;
        expect_same(got[4 * k + op], reference_narrow(want[op], format.exponent_bits), format.exponent_bits, want[op]);
      }
    }
  }
}

TEST(SmallFloat, NegationKeepsNanAndZeroBits) {
  for (const auto& format : kFormats) {
    const auto all = all_bits();
    std::vector<uint16_t> got(65536);
    const std::string type = format.name;
    run_body("", {"const " + type + "* x", type + "* z"}, "z[i] = -x[i];", {all.data(), got.data()}, 65536);
    for (int k = 0; k < 65536; ++k) ASSERT_EQ(got[k], k ^ 0x8000);
  }
}

TEST(SmallFloat, NextAfterStepsThroughEveryValue) {
  for (const auto& format : kFormats) {
    const int infinity = ((1 << format.exponent_bits) - 1) << (15 - format.exponent_bits);
    std::vector<uint16_t> x, up;
    for (int k = 0; k < infinity; ++k) {  // positive values upwards, then the negative ones
      x.push_back(static_cast<uint16_t>(k)), up.push_back(static_cast<uint16_t>(k + 1));
      x.push_back(static_cast<uint16_t>(0x8000 | (k + 1))), up.push_back(static_cast<uint16_t>(0x8000 | k));
    }
    x.push_back(0x8000), up.push_back(1);
    std::vector<uint16_t> got(x.size());
    const std::string type = format.name;
    run_body("", {"const " + type + "* x", type + "* z"}, "z[i] = nextafter(x[i], (" + type + ")INFINITY);",
             {x.data(), got.data()}, static_cast<int64_t>(x.size()));
    EXPECT_EQ(got, up);
  }
}

TEST(SmallFloat, MixesWithOtherNumbersAsCppDoes) {
  int16_t z[2] = {};
  run_body(kSmallFloatRules, {"int16_t* z"},
           "float16 a = 1.5; bfloat16 b = a; a = b; a += b; z[i] = (int)(a * 10) + (int)(a + b);", {z}, 2);
  EXPECT_EQ(z[0], 34);
}

TEST(Promotion, FunctionsOfIntegersAreDouble) {
  double z[7] = {};
  run_body(kPromotionRules, {"double* z"}, R"(
    uint16_t width = 640; int x = 700; int64_t wide = 5;
    z[0] = max(0, min(width - 1, x)); z[1] = max(0, min(-x, width)); z[2] = min(wide, 7);
    z[3] = max(width, wide); z[4] = min(0.5f, 1); z[5] = max(-1.0, (double)NAN); z[6] = abs((int64_t)-1 << 40);)",
           {z}, 1);
  const double want[] = {639, 0, 5, 640, 0.5, -1, std::ldexp(1.0, 40)};
  for (int k = 0; k < 7; ++k) EXPECT_EQ(z[k], want[k]) << k;
}

TEST(Promotion, NoConversionIsAmbiguousForAnyIntegerType) {
  for (const char* type : {"bool", "char", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
                           "uint64_t", "long long", "unsigned long long"}) {
    const std::string t = type;
    double z[2] = {};
    run_body("", {"double* z"},
             t + " a = 1, b = 1; z[0] = sqrt(a) + pow(a, b) + hypot(a, 2.0f) + fabs(a) + exp(0 * a) + max(a, 0) + "
                 "min(1, a) + abs(a) + isnan(a) + fmod(a, 2) + rsqrt(a) + float16(a) + bfloat16(a);",
             {z}, 1);
    EXPECT_NEAR(z[0], 11 + std::sqrt(5.0), 1e-6) << type;
  }
}

}  // namespace
}  // namespace iruka::test
