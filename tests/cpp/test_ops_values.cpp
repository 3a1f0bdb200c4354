// Values of every elementwise function over every dtype it has, against formulas of the C++ standard library in
// double or long double, or exact integer arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <utility>

#include "iruka/iruka.h"

namespace {

using namespace iruka;
using Real = long double;

const std::vector<Dtype> kFloats{Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};
const std::vector<Dtype> kIntegers{Dtype::int8,  Dtype::int16,  Dtype::int32,  Dtype::int64,
                                   Dtype::uint8, Dtype::uint16, Dtype::uint32, Dtype::uint64};

/// Distance of neighbours near `value` in a dtype.
Real unit_in_last_place(Dtype dtype, Real value) {
  const int bits = dtype == Dtype::float16 ? 11 : dtype == Dtype::bfloat16 ? 8 : dtype == Dtype::float32 ? 24 : 53;
  const int least = dtype == Dtype::float16    ? -24
                    : dtype == Dtype::float64  ? -1074
                    : dtype == Dtype::bfloat16 ? -133
                                               : -149;
  const int exponent = value == 0 ? least : std::ilogb(value) - bits + 1;
  return std::ldexp(Real(1), std::max(exponent, least));
}

Real largest(Dtype dtype) {
  return dtype == Dtype::float16    ? 65504.0L
         : dtype == Dtype::bfloat16 ? 3.3895313892515355e38L
         : dtype == Dtype::float32  ? static_cast<Real>(std::numeric_limits<float>::max())
                                    : static_cast<Real>(std::numeric_limits<double>::max());
}

void expect_close(double got, Real want, Dtype dtype, double ulps, const std::string& where) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << where << ": " << got;
  } else if (std::abs(want) > largest(dtype) * (1 - 0.001L)) {
    EXPECT_TRUE(std::isinf(got) || std::abs(got - want) <= 8 * unit_in_last_place(dtype, want)) << where << ": " << got;
  } else {
    EXPECT_LE(std::abs(static_cast<Real>(got) - want), static_cast<Real>(ulps) * unit_in_last_place(dtype, want))
        << where << ": got " << got << ", want " << static_cast<double>(want);
  }
}

Array as(const std::vector<double>& values, Dtype dtype) {
  return Array::from(std::span<const double>(values), {static_cast<int64_t>(values.size())}).astype(dtype);
}
std::vector<double> doubles(const Array& array) { return array.astype(Dtype::float64).to_vector<double>(); }

const std::vector<double> kAnywhere{0.0,   -0.0, 1,    -1,   0.5,   -0.5, 1.5, 2.5,     -2.5,     3.5,       7,  -7,
                                    10.25, 100,  -100, 1e-3, -1e-3, 0.1,  0.9, 1.0 / 3, INFINITY, -INFINITY, NAN};

struct Unary {
  const char* name;
  std::function<Real(Real)> formula;
  double ulps = 4;
};

const Unary kUnary[] = {
    {"negative", [](Real x) { return -x; }, 0},
    {"positive", [](Real x) { return x; }, 0},
    {"absolute", [](Real x) { return std::abs(x); }, 0},
    {"fabs", [](Real x) { return std::abs(x); }, 0},
    {"sign", [](Real x) { return std::isnan(x) ? x : Real((x > 0) - (x < 0)); }, 0},
    {"square", [](Real x) { return x * x; }, 1},
    {"reciprocal", [](Real x) { return 1 / x; }, 1},
    {"conjugate", [](Real x) { return x; }, 0},
    {"real", [](Real x) { return x; }, 0},
    {"imag", [](Real) { return Real(0); }, 0},
    {"angle", [](Real x) { return std::atan2(Real(0), x); }},
    {"sqrt", [](Real x) { return std::sqrt(x); }, 1},
    {"cbrt", [](Real x) { return std::cbrt(x); }},
    {"rint", [](Real x) { return std::nearbyint(x); }, 0},
    {"floor", [](Real x) { return std::floor(x); }, 0},
    {"ceil", [](Real x) { return std::ceil(x); }, 0},
    {"trunc", [](Real x) { return std::trunc(x); }, 0},
    {"exp", [](Real x) { return std::exp(x); }},
    {"exp2", [](Real x) { return std::exp2(x); }},
    {"expm1", [](Real x) { return std::expm1(x); }},
    {"log", [](Real x) { return std::log(x); }},
    {"log2", [](Real x) { return std::log2(x); }},
    {"log10", [](Real x) { return std::log10(x); }},
    {"log1p", [](Real x) { return std::log1p(x); }},
    {"sin", [](Real x) { return std::sin(x); }},
    {"cos", [](Real x) { return std::cos(x); }},
    {"tan", [](Real x) { return std::tan(x); }},
    {"arcsin", [](Real x) { return std::asin(x); }},
    {"arccos", [](Real x) { return std::acos(x); }},
    {"arctan", [](Real x) { return std::atan(x); }},
    {"sinh", [](Real x) { return std::sinh(x); }},
    {"cosh", [](Real x) { return std::cosh(x); }},
    {"tanh", [](Real x) { return std::tanh(x); }},
    {"arcsinh", [](Real x) { return std::asinh(x); }},
    {"arccosh", [](Real x) { return std::acosh(x); }},
    {"arctanh", [](Real x) { return std::atanh(x); }},
    {"degrees", [](Real x) { return x * (180 / std::numbers::pi_v<Real>); }},
    {"radians", [](Real x) { return x * (std::numbers::pi_v<Real> / 180); }},
};

class UnaryValues : public testing::TestWithParam<Unary> {};

TEST_P(UnaryValues, MatchTheFormulaInEveryFloatDtype) {
  const Unary& row = GetParam();
  for (Dtype dtype : kFloats) {
    const Array x = as(kAnywhere, dtype);
    const auto inputs = doubles(x), got = doubles(ElementwiseFunction(row.name)(x));
    for (size_t k = 0; k < inputs.size(); ++k)
      expect_close(got[k], row.formula(static_cast<Real>(inputs[k])), dtype, std::max(row.ulps, 0.5),
                   std::string(row.name) + "(" + std::to_string(inputs[k]) + ") in " + name(dtype));
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, UnaryValues, testing::ValuesIn(kUnary), [](const auto& row) { return row.param.name; });

Real python_remainder(Real a, Real b) {
  const Real r = std::fmod(a, b);
  if (b == 0 || std::isnan(r)) return r;
  return r != 0 && (r < 0) != (b < 0) ? r + b : std::copysign(r, b);
}

struct Binary {
  const char* name;
  std::function<Real(Real, Real)> formula;
  double ulps = 4;
};

const Binary kBinary[] = {
    {"add", [](Real a, Real b) { return a + b; }, 0.5},
    {"subtract", [](Real a, Real b) { return a - b; }, 0.5},
    {"multiply", [](Real a, Real b) { return a * b; }, 0.5},
    {"divide", [](Real a, Real b) { return a / b; }, 0.501},
    {"fmod", [](Real a, Real b) { return std::fmod(a, b); }, 0.5},
    {"remainder", python_remainder, 1},
    {"power", [](Real a, Real b) { return std::pow(a, b); }},
    {"arctan2", [](Real a, Real b) { return std::atan2(a, b); }},
    {"hypot", [](Real a, Real b) { return std::hypot(a, b); }},
    {"copysign", [](Real a, Real b) { return std::copysign(a, b); }, 0},
    {"maximum", [](Real a, Real b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }, 0},
    {"minimum", [](Real a, Real b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }, 0},
    {"fmax", [](Real a, Real b) { return std::fmax(a, b); }, 0},
    {"fmin", [](Real a, Real b) { return std::fmin(a, b); }, 0},
    {"heaviside", [](Real a, Real b) { return std::isnan(a) ? a
                                              : a == 0      ? b
                                                            : Real(a > 0); }, 0},
    // Near zero the two terms cancel: the error is that of the larger.
    {"logaddexp",
     [](Real a, Real b) {
       return a == b ? a + std::log(Real(2)) : std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
     },
     64},
};

class BinaryValues : public testing::TestWithParam<Binary> {};

TEST_P(BinaryValues, MatchTheFormulaInEveryFloatDtype) {
  const Binary& row = GetParam();
  for (Dtype dtype : kFloats) {
    const Array x = as(kAnywhere, dtype);
    const auto inputs = doubles(x);
    const size_t n = inputs.size();
    const auto got = doubles(ElementwiseFunction(row.name)(x.reshape({-1, 1}), x));
    ASSERT_EQ(got.size(), n * n);
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        expect_close(got[j * n + k], row.formula(inputs[j], inputs[k]), dtype, row.ulps,
                     std::string(row.name) + "(" + std::to_string(inputs[j]) + ", " + std::to_string(inputs[k]) +
                         ") in " + name(dtype));
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, BinaryValues, testing::ValuesIn(kBinary),
                         [](const auto& row) { return row.param.name; });

using Wide = __int128;

Wide floor_divide(Wide a, Wide b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
Wide product(Wide a, Wide b) { return static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
Wide integer_power(Wide base, Wide exponent) {
  Wide result = 1;
  for (Wide k = 0; k < exponent; ++k) result = product(result, base);
  return result;
}
Wide magnitude(Wide a) { return a < 0 ? -a : a; }
Wide divisor(Wide a, Wide b) {
  for (a = magnitude(a), b = magnitude(b); b != 0;) a = std::exchange(b, a % b);
  return a;
}

/// The value as it wraps into the dtype.
Wide wrapped(Wide value, Dtype dtype) {
  const int bits = static_cast<int>(itemsize(dtype)) * 8;
  const Wide modulus = Wide(1) << bits;
  value = ((value % modulus) + modulus) % modulus;
  return kind(dtype) == Kind::signed_integer && value >= modulus / 2 ? value - modulus : value;
}

Wide shifted_right(Wide a, Wide by) { return by < 0 || by > 63 ? (a < 0 ? -1 : 0) : a >> by; }

struct IntegerCase {
  const char* name;
  std::function<Wide(Wide, Wide, Dtype)> formula;
};

const IntegerCase kIntegerCases[] = {
    {"add", [](Wide a, Wide b, Dtype) { return a + b; }},
    {"subtract", [](Wide a, Wide b, Dtype) { return a - b; }},
    {"multiply", [](Wide a, Wide b, Dtype) { return product(a, b); }},
    {"floor_divide", [](Wide a, Wide b, Dtype) { return floor_divide(a, b); }},
    {"remainder", [](Wide a, Wide b, Dtype) { return b == 0 ? 0 : a - b * floor_divide(a, b); }},
    {"fmod", [](Wide a, Wide b, Dtype) { return b == 0 ? 0 : a % b; }},
    {"bitwise_and", [](Wide a, Wide b, Dtype) { return a & b; }},
    {"bitwise_or", [](Wide a, Wide b, Dtype) { return a | b; }},
    {"bitwise_xor", [](Wide a, Wide b, Dtype) { return a ^ b; }},
    {"maximum", [](Wide a, Wide b, Dtype) { return std::max(a, b); }},
    {"minimum", [](Wide a, Wide b, Dtype) { return std::min(a, b); }},
    {"fmax", [](Wide a, Wide b, Dtype) { return std::max(a, b); }},
    {"fmin", [](Wide a, Wide b, Dtype) { return std::min(a, b); }},
    {"gcd", [](Wide a, Wide b, Dtype) { return divisor(a, b); }},
    {"lcm", [](Wide a, Wide b,
               Dtype) { return a == 0 || b == 0 ? Wide(0) : product(magnitude(a) / divisor(a, b), magnitude(b)); }},
    {"left_shift", [](Wide a, Wide b, Dtype d) { return b < 0 || b >= itemsize(d) * 8 ? Wide(0) : a << b; }},
    {"right_shift", [](Wide a, Wide b, Dtype d) { return shifted_right(a, b >= itemsize(d) * 8 ? Wide(100) : b); }},
    {"power", [](Wide a, Wide b, Dtype) { return integer_power(a, b); }},
};

std::vector<Wide> integer_values(Dtype dtype) {
  const bool is_signed = kind(dtype) == Kind::signed_integer;
  const Wide top = (Wide(1) << (itemsize(dtype) * 8 - is_signed)) - 1, bottom = is_signed ? -top - 1 : 0;
  std::vector<Wide> values{0, 1, 2, 3, 7, 8, 31, 64, 100, top, top - 1, top / 2};
  if (is_signed) values.insert(values.end(), {-1, -2, -3, -7, -100, bottom, bottom + 1});
  return values;
}

Array integers(const std::vector<Wide>& values, Dtype dtype) {
  Array result = Array::empty({static_cast<int64_t>(values.size())}, dtype, cpu());
  for (size_t k = 0; k < values.size(); ++k)
    Scalar(static_cast<uint64_t>(values[k]))
        .store(dtype, static_cast<char*>(result.data()) + static_cast<int64_t>(k) * itemsize(dtype));
  return result.to_device(default_device());
}

std::vector<Wide> integers_of(const Array& array) {
  std::vector<Wide> values;
  const Array dense = array.contiguous().to_device(cpu());
  for (int64_t k = 0; k < array.size(); ++k) {
    const Scalar value = Scalar::load(array.dtype(), static_cast<const char*>(dense.data()) + k * array.itemsize());
    values.push_back(kind(array.dtype()) == Kind::signed_integer ? Wide(value.as_int64()) : Wide(value.as_uint64()));
  }
  return values;
}

class IntegerValues : public testing::TestWithParam<IntegerCase> {};

TEST_P(IntegerValues, MatchExactArithmeticInEveryIntegerDtype) {
  const IntegerCase& row = GetParam();
  const bool exponents = std::string_view(row.name) == "power";
  for (Dtype dtype : kIntegers) {
    std::vector<Wide> first = integer_values(dtype), second = first;
    if (exponents) second = {0, 1, 2, 3, 7, 31, 100};
    const auto got =
        integers_of(ElementwiseFunction(row.name)(integers(first, dtype).reshape({-1, 1}), integers(second, dtype)));
    for (size_t j = 0; j < first.size(); ++j)
      for (size_t k = 0; k < second.size(); ++k)
        EXPECT_TRUE(got[j * second.size() + k] == wrapped(row.formula(first[j], second[k], dtype), dtype))
            << row.name << " in " << name(dtype) << " of " << static_cast<int64_t>(first[j]) << ", "
            << static_cast<int64_t>(second[k]) << ": " << static_cast<int64_t>(got[j * second.size() + k]);
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, IntegerValues, testing::ValuesIn(kIntegerCases),
                         [](const auto& row) { return row.param.name; });

TEST(IntegerValues, Unary) {
  for (Dtype dtype : kIntegers) {
    const std::vector<Wide> values = integer_values(dtype);
    const Array x = integers(values, dtype);
    auto check = [&](const char* function, auto formula) {
      const auto got = integers_of(ElementwiseFunction(function)(x));
      for (size_t k = 0; k < values.size(); ++k)
        EXPECT_TRUE(got[k] == wrapped(formula(values[k]), dtype)) << function << " in " << name(dtype) << " at " << k;
    };
    check("negative", [](Wide a) { return -a; });
    check("absolute", [](Wide a) { return a < 0 ? -a : a; });
    check("sign", [](Wide a) { return Wide((a > 0) - (a < 0)); });
    check("square", [](Wide a) { return product(a, a); });
    check("invert", [](Wide a) { return -a - 1; });
    check("reciprocal", [](Wide a) { return Wide(a == 1 ? 1 : a == -1 ? -1 : 0); });
    check("floor", [](Wide a) { return a; });
    const auto counts = integers_of(ElementwiseFunction("bitwise_count")(x));
    for (size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(static_cast<int>(counts[k]),
                std::popcount(static_cast<uint64_t>(values[k] < 0 ? -values[k] : values[k])));
  }
}

std::string truths(const Array& array) {
  std::string text;
  for (uint8_t value : array.astype(Dtype::uint8).to_vector<uint8_t>()) text += value ? '1' : '0';
  return text;
}

TEST(BoolValues, AddIsOrMultiplyIsAnd) {
  const Array a = Array::from<uint8_t>({0, 0, 1, 1}).astype(Dtype::bool_),
              b = Array::from<uint8_t>({0, 1, 0, 1}).astype(Dtype::bool_);
  auto check = [&](const char* function, const char* want) {
    EXPECT_EQ(truths(ElementwiseFunction(function)(a, b)), want) << function;
  };
  check("add", "0111");
  check("multiply", "0001");
  check("bitwise_and", "0001");
  check("bitwise_or", "0111");
  check("bitwise_xor", "0110");
  check("logical_and", "0001");
  check("logical_or", "0111");
  check("logical_xor", "0110");
  check("maximum", "0111");
  check("less", "0100");
  check("equal", "1001");
  EXPECT_EQ(truths(ElementwiseFunction("invert")(a)), "1100");
  EXPECT_EQ(truths(ElementwiseFunction("logical_not")(a)), "1100");
}

TEST(FloatValues, ComparisonsAndClassesInEveryFloatDtype) {
  for (Dtype dtype : kFloats) {
    const Array x = as({1, NAN, INFINITY, -INFINITY, -0.0, 2}, dtype), y = as({1, NAN, 1, 1, 0, 3}, dtype);
    auto check = [&](const char* function, const char* want) {
      EXPECT_EQ(truths(ElementwiseFunction(function)(x, y)), want) << function << name(dtype);
    };
    check("less", "000101");
    check("less_equal", "100111");
    check("greater", "001000");
    check("greater_equal", "101010");
    check("equal", "100010");
    check("not_equal", "011101");
    check("logical_and", "111101");  // NaN is true
    auto classify = [&](const char* function, const char* want) {
      EXPECT_EQ(truths(ElementwiseFunction(function)(x)), want) << function << name(dtype);
    };
    classify("isnan", "010000");
    classify("isinf", "001100");
    classify("isfinite", "100011");
    classify("signbit", "000110");
    EXPECT_EQ(truths(ElementwiseFunction("isclose")(as({1, NAN, INFINITY, 1}, dtype), as({1, NAN, INFINITY, 2}, dtype),
                                                    1e-5, 1e-8, false)),
              "1010");
    EXPECT_EQ(truths(ElementwiseFunction("isclose")(as({1, NAN}, dtype), as({1.5, NAN}, dtype), 0.5, 0.0, true)), "11");
  }
}

TEST(FloatValues, DivisionAsPython) {
  const Array a = as({7, -7, 7, -7, 5, 0, 1}, Dtype::float64), b = as({2, 2, -2, -2, INFINITY, 3, 0}, Dtype::float64);
  EXPECT_EQ(doubles(ElementwiseFunction("floor_divide")(a, b)), (std::vector<double>{3, -4, -4, 3, 0, 0, INFINITY}));
  const Array finite_a = a.at(Slice{0, 6, {}}), finite_b = b.at(Slice{0, 6, {}});
  const Argument arguments[] = {finite_a, finite_b};
  const auto both = ElementwiseFunction("divmod").call(arguments);
  EXPECT_EQ(doubles(both[1]), (std::vector<double>{1, 1, -1, -1, 5, 0}));
}

TEST(FloatValues, FormatFunctions) {
  for (Dtype dtype : kFloats) {
    const Array x = as({1, 1.5, 100, 0.1}, dtype);
    const auto values = doubles(x), spacing = doubles(ElementwiseFunction("spacing")(x));
    const auto next = doubles(ElementwiseFunction("nextafter")(x, Scalar(INFINITY)));
    for (size_t k = 0; k < values.size(); ++k) {
      const double unit = static_cast<double>(unit_in_last_place(dtype, values[k]));
      EXPECT_EQ(spacing[k], unit) << name(dtype);
      EXPECT_EQ(next[k], values[k] + unit) << name(dtype);
    }
    const Array wide = as({8, -0.75, 0, 1e-3, INFINITY}, dtype);
    const Argument one[] = {wide};
    const auto parts = ElementwiseFunction("frexp").call(one);
    EXPECT_EQ(parts[1].dtype(), Dtype::int32);
    const auto wide_values = doubles(wide), mantissa = doubles(parts[0]);
    const auto exponents = parts[1].to_vector<int32_t>();
    for (size_t k = 0; k < mantissa.size(); ++k) {
      int exponent = 0;
      EXPECT_EQ(mantissa[k], std::frexp(wide_values[k], &exponent));
      if (std::isfinite(wide_values[k])) {
        EXPECT_EQ(exponents[k], exponent);
      }
    }
    const auto scaled =
        doubles(ElementwiseFunction("ldexp")(as({1, -3, 0.5, 1}, dtype), Array::from<int32_t>({3, -2, 0, -100000})));
    EXPECT_EQ(scaled, (std::vector<double>{8, -0.75, 0.5, 0}));
    const Array mixed = as({2.75, -2.75, -INFINITY, -3}, dtype);
    const Argument fractional[] = {mixed};
    const auto split = ElementwiseFunction("modf").call(fractional);
    EXPECT_EQ(doubles(split[0]), (std::vector<double>{0.75, -0.75, -0.0, -0.0}));
    EXPECT_TRUE(std::signbit(doubles(split[0])[3]));
    EXPECT_EQ(doubles(split[1]), (std::vector<double>{2, -2, -INFINITY, -3}));
  }
  EXPECT_EQ(ElementwiseFunction("nextafter")(as({0.0}, Dtype::float64), as({-1.0}, Dtype::float64)).item<double>(),
            -5e-324);
  EXPECT_EQ(doubles(ElementwiseFunction("ldexp")(as({5e-324, 1}, Dtype::float64), Array::from<int64_t>({2000, -1074}))),
            (std::vector<double>{std::ldexp(5e-324, 2000), 5e-324}));
}

TEST(FloatValues, ClipAndNanToNum) {
  const Array x = as({-5, 0.5, 5, NAN}, Dtype::float32);
  const auto clipped = doubles(ElementwiseFunction("clip")(x, -1.0, 1.0));
  EXPECT_EQ(clipped[0], -1);
  EXPECT_EQ(clipped[1], 0.5);
  EXPECT_EQ(clipped[2], 1);
  EXPECT_TRUE(std::isnan(clipped[3]));
  EXPECT_EQ(
      doubles(ElementwiseFunction("nan_to_num")(as({NAN, INFINITY, -INFINITY, 2}, Dtype::float64), 1.0, 10.0, -10.0)),
      (std::vector<double>{1, 10, -10, 2}));
  EXPECT_EQ(ElementwiseFunction("sinc")(as({0, 0.5}, Dtype::float64)).to_vector<double>()[0], 1);
}

using Complex = std::complex<double>;

TEST(ComplexValues, MatchTheStandardLibrary) {
  const std::vector<Complex> values{{1, 2}, {-1.5, 0.25}, {0.1, -3}, {2, 0}, {0.25, 1}, {-0.5, -0.5}};
  const std::pair<const char*, Complex (*)(const Complex&)> rows[] = {
      {"exp", std::exp},       {"log", std::log},       {"sqrt", std::sqrt},     {"sin", std::sin},
      {"cos", std::cos},       {"tan", std::tan},       {"sinh", std::sinh},     {"cosh", std::cosh},
      {"tanh", std::tanh},     {"arcsin", std::asin},   {"arccos", std::acos},   {"arctan", std::atan},
      {"arcsinh", std::asinh}, {"arccosh", std::acosh}, {"arctanh", std::atanh}, {"log10", std::log10}};
  for (Dtype dtype : {Dtype::complex64, Dtype::complex128}) {
    const double tolerance = dtype == Dtype::complex64 ? 1e-6 : 1e-14;
    const Array x = Array::from(std::span<const Complex>(values), {6}).astype(dtype);
    auto check = [&](const char* function, const Array& got, auto formula) {
      EXPECT_EQ(got.dtype(), dtype) << function;
      const auto results = got.astype(Dtype::complex128).to_vector<Complex>();
      const auto inputs = x.astype(Dtype::complex128).to_vector<Complex>();
      for (size_t k = 0; k < results.size(); ++k)
        EXPECT_LE(std::abs(results[k] - formula(inputs[k])), tolerance * std::max(1.0, std::abs(formula(inputs[k]))))
            << function << " of " << inputs[k] << " in " << name(dtype) << ": " << results[k];
    };
    for (const auto& [function, formula] : rows) check(function, ElementwiseFunction(function)(x), formula);
    check("square", ElementwiseFunction("square")(x), [](Complex z) { return z * z; });
    check("reciprocal", ElementwiseFunction("reciprocal")(x), [](Complex z) { return 1.0 / z; });
    check("conjugate", ElementwiseFunction("conjugate")(x), [](Complex z) { return std::conj(z); });
    check("sign", ElementwiseFunction("sign")(x), [](Complex z) { return z / std::abs(z); });
    check("expm1", ElementwiseFunction("expm1")(x), [](Complex z) { return std::exp(z) - 1.0; });
    check("log1p", ElementwiseFunction("log1p")(x), [](Complex z) { return std::log(z + 1.0); });
    check("exp2", ElementwiseFunction("exp2")(x), [](Complex z) { return std::pow(Complex(2), z); });
    check("log2", ElementwiseFunction("log2")(x), [](Complex z) { return std::log(z) / std::log(2.0); });
    check("divide", divide(x, std::complex<double>(1, -2)), [](Complex z) { return z / Complex(1, -2); });
    check("power", power(x, 3), [](Complex z) { return z * z * z; });
    check("power", power(x, std::complex<double>(0.5, 1)), [](Complex z) { return std::pow(z, Complex(0.5, 1)); });
    const Array length = absolute(x);
    EXPECT_EQ(length.dtype(), real_dtype(dtype));
    EXPECT_NEAR(doubles(length)[0], std::sqrt(5.0), tolerance * 4);
    EXPECT_NEAR(doubles(ElementwiseFunction("angle")(x))[0], std::atan2(2.0, 1.0), tolerance * 4);
    EXPECT_EQ(doubles(ElementwiseFunction("imag")(x))[0], 2);
    EXPECT_EQ(truths(less(x, std::complex<double>(1, 3))), "111011");  // by real part, then imaginary
    EXPECT_EQ(truths(equal(x, 2)), "000100");
  }
}

}  // namespace
