// Math functions against long double, intrinsics and NumPy's helpers against their definitions.
#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "prelude_kernel.h"
#include "prelude_texts.h"

namespace iruka::test {
namespace {

using Reference = std::function<long double(long double)>;
struct Function {
  const char* name;
  Reference reference;
  double low, high;  ///< sampled evenly here, specials added
  double ulps = 4;
};

const long double kPi = 3.14159265358979323846264338327950288L;
long double sin_pi(long double x) {
  return std::remainder(x, 2.0L) == std::trunc(std::remainder(x, 2.0L)) ? 0 : std::sin(kPi * std::remainder(x, 2.0L));
}
long double cos_pi(long double x) {
  return std::fabs(std::remainder(x, 1.0L)) == 0.5L ? 0 : std::cos(kPi * std::remainder(x, 2.0L));
}

const std::vector<Function>& functions() {
  static const std::vector<Function> table = {
      {"exp", [](auto x) { return std::exp(x); }, -80, 80},
      {"exp2", [](auto x) { return std::exp2(x); }, -120, 120},
      {"exp10", [](auto x) { return std::pow(10.0L, x); }, -36, 36},
      {"expm1", [](auto x) { return std::expm1(x); }, -20, 40},
      {"log", [](auto x) { return std::log(x); }, 0, 1000},
      {"log2", [](auto x) { return std::log2(x); }, 0, 1000},
      {"log10", [](auto x) { return std::log10(x); }, 0, 1000},
      {"log1p", [](auto x) { return std::log1p(x); }, -0.999, 1000},
      {"sqrt", [](auto x) { return std::sqrt(x); }, 0, 1000, 0.5},
      {"rsqrt", [](auto x) { return 1 / std::sqrt(x); }, 0, 1000, 1.6},
      {"cbrt", [](auto x) { return std::cbrt(x); }, -1000, 1000},
      {"rcbrt", [](auto x) { return 1 / std::cbrt(x); }, 1, 1000},
      {"sin", [](auto x) { return std::sin(x); }, -50, 50},
      {"cos", [](auto x) { return std::cos(x); }, -50, 50},
      {"tan", [](auto x) { return std::tan(x); }, -50, 50},
      {"sinpi", sin_pi, -9, 9},
      {"cospi", cos_pi, -9, 9},
      {"asin", [](auto x) { return std::asin(x); }, -1, 1},
      {"acos", [](auto x) { return std::acos(x); }, -1, 1},
      {"atan", [](auto x) { return std::atan(x); }, -100, 100},
      {"sinh", [](auto x) { return std::sinh(x); }, -80, 80},
      {"cosh", [](auto x) { return std::cosh(x); }, -80, 80},
      {"tanh", [](auto x) { return std::tanh(x); }, -10, 10},
      {"asinh", [](auto x) { return std::asinh(x); }, -1000, 1000},
      {"acosh", [](auto x) { return std::acosh(x); }, 1, 1000},
      {"atanh", [](auto x) { return std::atanh(x); }, -1, 1},
      {"erf", [](auto x) { return std::erf(x); }, -4, 4},
      {"erfc", [](auto x) { return std::erfc(x); }, -4, 8},
      {"normcdf", [](auto x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }, -10, 8},
      {"tgamma", [](auto x) { return std::tgamma(x); }, 0.1, 30, 6},
      {"lgamma", [](auto x) { return std::lgamma(x); }, 3, 100, 6},
      {"fabs", [](auto x) { return std::fabs(x); }, -5, 5, 0},
      {"floor", [](auto x) { return std::floor(x); }, -5, 5, 0},
      {"ceil", [](auto x) { return std::ceil(x); }, -5, 5, 0},
      {"trunc", [](auto x) { return std::trunc(x); }, -5, 5, 0},
      {"rint", [](auto x) { return std::rint(x); }, -5, 5, 0},
      {"nearbyint", [](auto x) { return std::nearbyint(x); }, -5, 5, 0},
      {"round", [](auto x) { return std::round(x); }, -5, 5, 0},
      {"logb", [](auto x) { return std::logb(x); }, -5, 5, 0},
      {"j0", [](auto x) { return ::j0l(x); }, 0, 2},
      {"y1", [](auto x) { return ::y1l(x); }, 0.1, 1.8, 6},
      {"cyl_bessel_i0", [](auto x) { return std::cyl_bessel_i(0.0L, std::fabs(x)); }, -60, 60, 16},
      {"cyl_bessel_i1", [](auto x) { return std::copysign(std::cyl_bessel_i(1.0L, std::fabs(x)), x); }, -60, 60, 16},
  };
  return table;
}

constexpr int kSamples = 1003;  // no multiple of a vector's lanes, so that tails run too

template <class T>
std::vector<T> samples(const Function& f) {
  std::vector<T> x;
  for (int k = 0; k < kSamples; ++k) x.push_back(static_cast<T>(f.low + (f.high - f.low) * k / (kSamples - 1)));
  for (int k = 0; k < 40; ++k)
    x[k * 3 + 1] = static_cast<T>(std::round(x[k * 3 + 1] * 2) / 2);  // whole and half numbers
  return x;
}

template <class T>
void check_functions(const char* c_type, const char* suffix) {
  const auto& table = functions();
  std::vector<T> x, got(table.size() * kSamples);
  std::string body;
  for (size_t f = 0; f < table.size(); ++f) {
    const auto one = samples<T>(table[f]);
    x.insert(x.end(), one.begin(), one.end());
    const std::string at = "[" + std::to_string(f * kSamples) + " + i]";
    body += "z" + at + " = " + table[f].name + suffix + "(x" + at + ");\n";
  }
  run_body("", {std::string("const ") + c_type + "* x", std::string(c_type) + "* z"}, body, {x.data(), got.data()},
           kSamples);
  for (size_t f = 0; f < table.size(); ++f) {
    for (int k = 0; k < kSamples; ++k) {
      const T at = x[f * kSamples + k], value = got[f * kSamples + k];
      const long double want = table[f].reference(at);
      // Near a zero of the function the error is compared with the size of the argument.
      if (std::fabs(want) < 1e-2L * std::numeric_limits<T>::epsilon() * std::fabs(at)) continue;
      ASSERT_LE(ulp_error(value, want), table[f].ulps) << table[f].name << suffix << "(" << at << ") = " << value;
    }
  }
}
TEST(Math, FloatFunctionsAreWithinTheirBound) { check_functions<float>("float", ""); }
TEST(Math, FloatFunctionsByTheirFNames) { check_functions<float>("float", "f"); }
TEST(Math, DoubleFunctionsAreWithinTheirBound) { check_functions<double>("double", ""); }

TEST(Math, InverseErrorFunctionsInvert) {
  const int count = 2001;
  std::vector<double> p(count), z(4 * count);
  for (int k = 0; k < count; ++k) p[k] = (k + 0.5) / count;
  for (int k = 0; k < 100; ++k) p[k] = std::pow(10.0, -3 * (k + 1));  // deep in the tail
  run_body("", {"const double* p", "double* z"},
           "z[4*i] = erfinv(p[i]); z[4*i+1] = erfcinv(p[i]); z[4*i+2] = normcdfinv(p[i]); z[4*i+3] = erfinvf(p[i]);",
           {p.data(), z.data()}, count);
  for (int k = 0; k < count; ++k) {
    // One relative rounding of z moves erf by erf'(z) z: that and nothing more may be missing.
    const long double e = std::erf(static_cast<long double>(z[4 * k])),
                      c = std::erfc(static_cast<long double>(z[4 * k + 1]));
    const long double n = std::erfc(-static_cast<long double>(z[4 * k + 2]) / std::sqrt(2.0L)) / 2;
    const auto slack = [](long double t) { return 1e-15L * (1 + 2 * t * t); };
    EXPECT_NEAR(e, p[k], 2 * (slack(0) * p[k] + 1e-15 * std::exp(-z[4 * k] * z[4 * k]) * std::fabs(z[4 * k]))) << p[k];
    EXPECT_NEAR(c / p[k], 1, slack(z[4 * k + 1])) << p[k];
    EXPECT_NEAR(n / p[k], 1, slack(z[4 * k + 2])) << p[k];
    if (p[k] < 0.9 && p[k] > 1e-36) {
      EXPECT_NEAR(z[4 * k + 3] / z[4 * k], 1, 3e-7) << p[k];
    }
  }
  double edges[9] = {};
  run_body("", {"double* z"},
           "z[0] = erfinv(1.0); z[1] = erfinv(-1.0); z[2] = erfinv(0.0); z[3] = erfinv(1.5); z[4] = erfcinv(0.0);"
           "z[5] = erfcinv(2.0);"
           "z[6] = normcdfinv(0.5); z[7] = normcdfinv(1.0); z[8] = erfinv((double)NAN);",
           {edges}, 1);
  EXPECT_EQ(edges[0], INFINITY);
  EXPECT_EQ(edges[1], -INFINITY);
  EXPECT_EQ(edges[2], 0);
  EXPECT_TRUE(std::isnan(edges[3]));
  EXPECT_EQ(edges[4], INFINITY);
  EXPECT_EQ(edges[5], -INFINITY);
  EXPECT_EQ(edges[6], 0);
  EXPECT_EQ(edges[7], INFINITY);
  EXPECT_TRUE(std::isnan(edges[8]));
}

template <class T>
void check_scaling(const char* c_type) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T tiny = std::numeric_limits<T>::denorm_min(), big = std::numeric_limits<T>::max();
  const std::vector<T> values = {0,
                                 T(-0.0),
                                 1,
                                 T(1.5),
                                 T(-0.7),
                                 tiny,
                                 3 * tiny,
                                 std::numeric_limits<T>::min(),
                                 big,
                                 -big,
                                 INFINITY,
                                 NAN,
                                 std::nextafter(std::numeric_limits<T>::min(), T(0)),
                                 T(8),
                                 T(0.5),
                                 T(-5.5),
                                 T(1e6)};
  const int shifts[] = {0,    1,   -1,   10,    -10,  120,   -120, 127,   -127,       149,
                        -149, 150, 1023, -1023, 1074, -1074, 2000, -2000, 2147483647, -2147483647 - 1};
  const size_t count = values.size();
  std::vector<T> got(3 * count * std::size(shifts));
  std::vector<int> integers(2 * got.size());
  run_body(
      "",
      {std::string("const ") + c_type + "* x", std::string(c_type) + "* z", "int* k", "const int* n",
       "const int* count"},
      "int v = i % *count, s = n[i / *count];"
      "z[3*i] = ldexp(x[v], s); z[3*i+1] = frexp(x[v], &k[2*i]); z[3*i+2] = scalbn(x[v], s); k[2*i+1] = ilogb(x[v]);",
      {values.data(), got.data(), integers.data(), shifts, &count}, static_cast<int64_t>(count * std::size(shifts)));
  for (size_t k = 0; k < count * std::size(shifts); ++k) {
    const T value = values[k % count];
    const int n = shifts[k / count];
    int exponent = 0;
    const T want[] = {std::ldexp(value, n), std::frexp(value, &exponent), std::scalbn(value, n)};
    for (int m = 0; m < 3; ++m) {
      if (std::isnan(want[m]))
        EXPECT_TRUE(std::isnan(got[3 * k + m]));
      else
        EXPECT_EQ(bits_of<Bits>(got[3 * k + m]), bits_of<Bits>(want[m])) << value << " " << n << " " << m;
    }
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(integers[2 * k], exponent) << value;
    EXPECT_TRUE(value == 0 || integers[2 * k + 1] == std::ilogb(value)) << value;
  }
}
TEST(Math, ScalingByPowersOfTwoRoundsOnce) {
  check_scaling<float>("float");
  check_scaling<double>("double");
}

TEST(Math, FunctionsOfTwoArguments) {
  const std::vector<double> values = {0.0, -0.0,   1,     -1,    0.5,      2.5,       -3.75,
                                      7,   1e-300, 1e300, -1e18, INFINITY, -INFINITY, NAN};
  const std::vector<std::pair<const char*, double (*)(double, double)>> table = {
      {"pow", [](double x, double y) { return std::pow(x, y); }},
      {"atan2", [](double x, double y) { return std::atan2(x, y); }},
      {"hypot", [](double x, double y) { return std::hypot(x, y); }},
      {"fmod", [](double x, double y) { return std::fmod(x, y); }},
      {"remainder", [](double x, double y) { return std::remainder(x, y); }},
      {"copysign", [](double x, double y) { return std::copysign(x, y); }},
      {"fmin", [](double x, double y) { return std::fmin(x, y); }},
      {"fmax", [](double x, double y) { return std::fmax(x, y); }},
      {"fdim", [](double x, double y) { return std::fdim(x, y); }},
      {"nextafter", [](double x, double y) { return std::nextafter(x, y); }}};
  const int n = static_cast<int>(values.size());
  std::string body;
  for (size_t f = 0; f < table.size(); ++f) {
    body += "z[" + std::to_string(f * n * n) + " + i] = " + table[f].first + "(x[i / 14], x[i % 14]);\n";
  }
  ASSERT_EQ(n, 14);
  std::vector<double> got(table.size() * n * n);
  run_body("", {"const double* x", "double* z"}, body, {values.data(), got.data()}, n * n);
  for (size_t f = 0; f < table.size(); ++f) {
    for (int k = 0; k < n * n; ++k) {
      const double x = values[k / n], y = values[k % n], value = got[f * n * n + k], want = table[f].second(x, y);
      const std::string name = table[f].first;
      if (name == "fmod" && std::fabs(x) > 1e17 && std::fabs(y) < 1e10)
        continue;  // the vector library's fmod gives up there
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(value)) << name << "(" << x << ", " << y << ")";
      else if (std::isinf(want) || want == 0)
        EXPECT_EQ(value, want) << name << "(" << x << ", " << y << ")";
      else
        EXPECT_NEAR(value / want, 1, 1e-15) << name << "(" << x << ", " << y << ")";
    }
  }
}

TEST(Intrinsics, BitsAndProducts) {
  long long z[40] = {};
  run_body("", {"long long* z"}, kIntrinsicsBody, {z}, 1);
  for (int k = 0; k < 40; ++k) EXPECT_EQ(z[k], kIntrinsicsWant[k]) << k;
}

template <class T, class F>
void check_saturation(const char* integer, const char* floating) {
  const double values[] = {0,     -0.0, 0.9,  -0.9,    -1,       127.5,     128,    -128.9,  -129,
                           255.9, 256,  300,  32767.5, 32768,    -32768.5,  -32769, 65535.5, 65536,
                           1e9,   -1e9, 1e20, -1e20,   INFINITY, -INFINITY, NAN};
  const std::vector<F> x(std::begin(values), std::end(values));
  std::vector<T> z(x.size()), cast(x.size());
  const std::string t = integer;
  run_body("", {std::string("const ") + floating + "* x", t + "* z", t + "* c"},
           "z[i] = iruka::saturate<" + t + ">(x[i]); c[i] = (" + t + ")x[i];", {x.data(), z.data(), cast.data()},
           static_cast<int64_t>(x.size()));
  for (size_t k = 0; k < x.size(); ++k) {
    const long double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const T want = std::isnan(x[k]) ? T(0) : static_cast<T>(std::clamp<long double>(std::trunc(x[k]), least, most));
    EXPECT_EQ(z[k], want) << integer << " of " << x[k];
    EXPECT_EQ(cast[k], want) << integer << " of " << x[k];
  }
}
TEST(Numeric, SaturationIsWhatACastDoes) {
  check_saturation<int8_t, float>("int8_t", "float");
  check_saturation<uint8_t, float>("uint8_t", "float");
  check_saturation<int16_t, double>("int16_t", "double");
  check_saturation<uint16_t, double>("uint16_t", "double");
  check_saturation<int32_t, double>("int32_t", "double");
  check_saturation<uint64_t, float>("uint64_t", "float");
}

TEST(Numeric, FloorDivisionOfSmallIntegers) {
  std::vector<int8_t> quotient(65536), remainder(65536), c_remainder(65536);
  run_body("", {"int8_t* q", "int8_t* r", "int8_t* c"},
           "int8_t a = i / 256 - 128, b = i % 256 - 128; q[i] = iruka::floor_divide(a, b);"
           "r[i] = iruka::remainder(a, b); c[i] = iruka::fmod(a, b);",
           {quotient.data(), remainder.data(), c_remainder.data()}, 65536);
  for (int k = 0; k < 65536; ++k) {
    const int a = k / 256 - 128, b = k % 256 - 128;
    const int q = b == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(a) / b)), r = b == 0 ? 0 : a - q * b;
    ASSERT_EQ(quotient[k], static_cast<int8_t>(q)) << a << " // " << b;
    ASSERT_EQ(remainder[k], static_cast<int8_t>(r)) << a << " % " << b;
    ASSERT_EQ(c_remainder[k], b == 0 ? 0 : a % b) << a << " fmod " << b;
  }
}

TEST(Numeric, FloorDivisionOfFloatsAsNumpy) {
  // np.floor_divide and np.remainder of NumPy 2 for these pairs.
  const double x[] = {7, -7, 7, -7, 0.0, -0.0, 1, -1, INFINITY, 1, -1, 1, 0, NAN, 1e300, 0.3};
  const double y[] = {2, 2, -2, -2, 3, 3, INFINITY, INFINITY, 2, -INFINITY, 0.0, 0.0, 0.0, 1, 1e-300, 0.1};
  const double q[] = {3, -4, -4, 3, 0.0, -0.0, 0.0, -1, NAN, -1, -INFINITY, INFINITY, NAN, NAN, INFINITY, 2};
  const double r[] = {1, 1, -1, -1, 0.0, 0.0, 1, INFINITY, NAN, -INFINITY, NAN, NAN, NAN, NAN, 0, 0.3 - 2 * 0.1};
  std::vector<double> got(32);
  run_body("", {"const double* x", "const double* y", "double* z"},
           "auto d = iruka::divmod(x[i], y[i]); z[2*i] = d.quotient;"
           "z[2*i+1] = d.remainder;",
           {x, y, got.data()}, 16);
  for (int k = 0; k < 16; ++k) {
    if (k == 14) continue;  // the remainder of an enormous quotient is the vector library's affair
    for (int m = 0; m < 2; ++m) {
      const double want = m ? r[k] : q[k];
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got[2 * k + m])) << k;
      else if (std::isinf(want))
        EXPECT_EQ(got[2 * k + m], want) << k;
      else
        EXPECT_NEAR(got[2 * k + m], want, 1e-16) << k << (m ? " remainder" : " quotient");
      EXPECT_TRUE(want != 0 || std::signbit(got[2 * k + m]) == std::signbit(want)) << k;
    }
  }
}

TEST(Numeric, IntegerHelpers) {
  int64_t z[30] = {};
  run_body("", {"int64_t* z"}, R"(
    using namespace iruka;
    z[0] = power((int8_t)3, (int8_t)5); z[1] = power((int64_t)3, (int64_t)40); z[2] = power(-1, -3);
    z[3] = power(2, -1); z[4] = power(1, -9);
    z[5] = power(0, 0); z[6] = gcd(-12, 18); z[7] = gcd(0, 0); z[8] = lcm(4, -6); z[9] = lcm(0, 5);
    z[10] = gcd((uint8_t)250, (uint8_t)100);
    z[11] = left_shift(1, 31); z[12] = left_shift(1, 32); z[13] = left_shift((int8_t)1, (int8_t)9);
    z[14] = right_shift(-5, 40);
    z[15] = right_shift(5u, 40u); z[16] = right_shift((int64_t)-5, (int64_t)1); z[17] = left_shift(1, -1);
    z[18] = sign(-7); z[19] = sign(3u);
    z[20] = reciprocal(1); z[21] = reciprocal(-1); z[22] = reciprocal(2); z[23] = highest<int8_t>();
    z[24] = lowest<int8_t>();
    z[25] = highest<uint16_t>(); z[26] = lowest<uint16_t>(); z[27] = highest<int64_t>(); z[28] = lowest<int64_t>();
    z[29] = clip(7, 0, 5);)",
           {z}, 1);
  const int64_t want[30] = {-13,       static_cast<int64_t>(12157665459056928801ull),
                            -1,        0,
                            1,         1,
                            6,         0,
                            12,        0,
                            50,        -2147483647 - 1,
                            0,         0,
                            -1,        0,
                            -3,        0,
                            -1,        1,
                            1,         -1,
                            0,         127,
                            -128,      65535,
                            0,         INT64_MAX,
                            INT64_MIN, 5};
  for (int k = 0; k < 30; ++k) EXPECT_EQ(z[k], want[k]) << k;
}

TEST(Numeric, FloatHelpers) {
  double z[40] = {};
  run_body("", {"double* z"}, R"(
    using namespace iruka; double nan = NAN, inf = INFINITY;
    z[0] = sign(nan); z[1] = sign(-2.5); z[2] = heaviside(0.0, 0.5); z[3] = heaviside(-1.0, 0.5);
    z[4] = heaviside(nan, 0.5);
    z[5] = minimum(nan, 1.0); z[6] = minimum(1.0, nan); z[7] = maximum(2.0, 1.0); z[8] = iruka::fmin(nan, 1.0);
    z[9] = iruka::fmax(1.0, nan);
    z[10] = logaddexp(1.0, 2.0); z[11] = logaddexp(1000.0, 1000.0); z[12] = logaddexp(-inf, -inf);
    z[13] = logaddexp(-inf, 3.0);
    z[14] = logaddexp2(1.0, 2.0); z[15] = logaddexp(inf, -inf); z[16] = around(2.5, 0); z[17] = around(1.2345, 2);
    z[18] = around(1250.0, -2);
    z[19] = spacing(1.0); z[20] = spacing(-1.0); z[21] = spacing(0.0); z[22] = spacing(inf); z[23] = sinc(0.0);
    z[24] = sinc(0.5);
    z[25] = deg2rad(180.0); z[26] = rad2deg((double)M_PI); z[27] = square(1.5); z[28] = reciprocal(4.0);
    z[29] = spacing((float16)1);
    z[30] = spacing((bfloat16)1); z[31] = minimum((float16)1, (float16)-2);
    z[32] = floor_divide((float16)-7, (float16)2); z[33] = highest<float16>();
    z[34] = logaddexp(nan, 1.0); z[35] = maximum(inf, nan); z[36] = around((float16)2.345f, 1);
    z[37] = spacing(1.0f); z[38] = clip(5.0, 0.0, 1.0); z[39] = clip(nan, 0.0, 1.0);)",
           {z}, 1);
  const double nan = NAN;
  const double want[40] = {nan,
                           -1,
                           0.5,
                           0,
                           nan,
                           nan,
                           nan,
                           2,
                           1,
                           1,
                           std::log(std::exp(1.0) + std::exp(2.0)),
                           1000 + std::log(2.0),
                           -INFINITY,
                           3,
                           std::log2(6.0),
                           INFINITY,
                           2,
                           1.23,
                           1200,
                           std::ldexp(1.0, -52),
                           -std::ldexp(1.0, -52),
                           4.9406564584124654e-324,
                           nan,
                           1,
                           2 / M_PI,
                           M_PI,
                           180,
                           2.25,
                           0.25,
                           std::ldexp(1.0, -10),
                           std::ldexp(1.0, -7),
                           -2,
                           -4,
                           INFINITY,
                           nan,
                           nan,
                           2.30078125,
                           std::ldexp(1.0, -23),
                           1,
                           nan};
  for (int k = 0; k < 40; ++k) {
    if (std::isnan(want[k]))
      EXPECT_TRUE(std::isnan(z[k])) << k;
    else if (std::isinf(want[k]) || std::fabs(want[k]) < 1e-300)
      EXPECT_EQ(z[k], want[k]) << k;
    else
      EXPECT_NEAR(z[k] / want[k], want[k] == 0 ? 0 : 1, 1e-15) << k;
  }
}

}  // namespace
}  // namespace iruka::test
