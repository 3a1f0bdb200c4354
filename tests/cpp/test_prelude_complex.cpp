// complex<T> against the C library's complex functions in long double, and its special cases against C99's.
#include <complex>
#include <functional>
#include <random>

#include "prelude_kernel.h"

namespace iruka::test {
namespace {

template <class T>
using Complex = std::complex<T>;
using Wide = std::complex<long double>;

struct ComplexFunction {
  const char* name;
  std::function<Wide(Wide)> wide;
  std::function<Complex<double>(Complex<double>)> special;  ///< double, for the table of special cases
  bool part_by_part;  ///< each part is accurate by itself, not only the number as a whole
};
#define IRUKA_ROW(name, parts) \
  {#name, [](Wide z) { return std::name(z); }, [](Complex<double> z) { return std::name(z); }, parts}
const std::vector<ComplexFunction>& functions() {
  static const std::vector<ComplexFunction> table = {
      IRUKA_ROW(exp, true),   IRUKA_ROW(log, true),   IRUKA_ROW(sqrt, true),  IRUKA_ROW(sin, true),
      IRUKA_ROW(cos, true),   IRUKA_ROW(tan, true),   IRUKA_ROW(asin, true),  IRUKA_ROW(acos, true),
      IRUKA_ROW(atan, false), IRUKA_ROW(sinh, true),  IRUKA_ROW(cosh, true),  IRUKA_ROW(tanh, true),
      IRUKA_ROW(asinh, true), IRUKA_ROW(acosh, true), IRUKA_ROW(atanh, false)};
  return table;
}
#undef IRUKA_ROW

template <class T>
std::vector<Complex<T>> evaluate_all(const std::vector<Complex<T>>& x) {
  const std::string type = sizeof(T) == 4 ? "complex<float>" : "complex<double>";
  const size_t n = x.size();
  std::vector<Complex<T>> got(functions().size() * n);
  std::string body;
  for (size_t f = 0; f < functions().size(); ++f) {
    body += "z[" + std::to_string(f * n) + " + i] = " + functions()[f].name + "(x[i]);\n";
  }
  run_body("", {"const " + type + "* x", type + "* z"}, body, {x.data(), got.data()}, static_cast<int64_t>(n));
  return got;
}

/// Points of every size and direction, on the axes, near the branch points +-1, +-i and near |z| = 1.
template <class T>
std::vector<Complex<T>> points() {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> angle(-M_PI, M_PI), exponent(-12, 8), small(-6, -1);
  std::vector<Complex<T>> all;
  for (int k = 0; k < 3000; ++k) {
    const auto z = std::polar(std::pow(2.0, exponent(random)), angle(random));
    all.emplace_back(static_cast<T>(z.real()), static_cast<T>(z.imag()));
  }
  for (int k = 0; k < 1000; ++k) {
    const auto step = std::polar(std::pow(10.0, small(random)), angle(random));
    const Complex<double> around[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {0.6, 0.8}, {-0.8, 0.6}};
    const auto z = around[k % 6] + step;
    all.emplace_back(static_cast<T>(z.real()), static_cast<T>(z.imag()));
  }
  for (int k = 1; k < 100; ++k) {
    all.emplace_back(static_cast<T>(k * 0.37 - 20), T(0));
    all.emplace_back(T(0), static_cast<T>(k * 0.37 - 20));
    all.emplace_back(static_cast<T>(k * 0.37 - 20), T(-0.0));
    all.emplace_back(static_cast<T>(std::pow(10.0, 0.35 * k)), static_cast<T>(-std::pow(10.0, 0.3 * k)));
  }
  return all;
}

template <class T>
void check_accuracy() {
  const auto x = points<T>();
  const auto got = evaluate_all(x);
  for (size_t f = 0; f < functions().size(); ++f) {
    double worst = 0;
    size_t at = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const Wide want = functions()[f].wide(Wide(x[k].real(), x[k].imag()));
      const auto value = got[f * x.size() + k];
      if (!std::isfinite(static_cast<T>(want.real())) || !std::isfinite(static_cast<T>(want.imag()))) continue;
      const double whole = static_cast<double>(std::abs(Wide(value.real(), value.imag()) - want) / std::abs(want) /
                                               std::numeric_limits<T>::epsilon());
      const double parts = std::max(ulp_error<T>(value.real(), want.real()), ulp_error<T>(value.imag(), want.imag()));
      const double error = std::abs(want) == 0 ? std::abs(value) : (functions()[f].part_by_part ? parts : whole);
      if (!(error <= worst)) worst = error, at = k;
    }
    EXPECT_LE(worst, 12) << functions()[f].name << " at (" << x[at].real() << ", " << x[at].imag() << "): ("
                         << got[f * x.size() + at].real() << ", " << got[f * x.size() + at].imag() << ")";
  }
}
TEST(Complex, FloatFunctionsAreAccurate) { check_accuracy<float>(); }
TEST(Complex, DoubleFunctionsAreAccurate) { check_accuracy<double>(); }

bool same_part(double got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  if (want == 0 || std::isinf(want)) return got == want && std::signbit(got) == std::signbit(want);
  return std::fabs(got - want) <= 8e-15 * std::fabs(want);
}

TEST(Complex, SpecialValuesAreThoseOfC99) {
  const double parts[] = {0.0,    -0.0,  1,      -1,      0.5,      -2.5,      800, -800,
                          1e-300, 1e155, -1e200, 1.7e308, INFINITY, -INFINITY, NAN};
  std::vector<Complex<double>> x;
  for (double re : parts) {
    for (double im : parts) x.emplace_back(re, im);
  }
  const auto got = evaluate_all(x);
  for (size_t f = 0; f < functions().size(); ++f) {
    for (size_t k = 0; k < x.size(); ++k) {
      const auto want = functions()[f].special(x[k]), value = got[f * x.size() + k];
      // Where a part is NaN or the sign of an infinity or a zero is free, C99 says "+-": magnitudes must agree.
      const bool free_sign =
          std::isnan(x[k].real()) || std::isnan(x[k].imag()) || std::isinf(x[k].real()) || std::isinf(x[k].imag());
      const auto same = [&](double a, double b) {
        return same_part(a, b) || (free_sign && same_part(std::fabs(a), std::fabs(b)));
      };
      EXPECT_TRUE(same(value.real(), want.real()) && same(value.imag(), want.imag()))
          << functions()[f].name << "(" << x[k].real() << ", " << x[k].imag() << ") = (" << value.real() << ", "
          << value.imag() << "), not (" << want.real() << ", " << want.imag() << ")";
    }
  }
}

TEST(Complex, ArithmeticIsAccurateAndDoesNotOverflowEarly) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> exponent(-150, 150), angle(-M_PI, M_PI);
  const int count = 5000;
  std::vector<Complex<double>> x(count), y(count), got(4 * count);
  for (int k = 0; k < count; ++k) {
    x[k] = std::polar(std::pow(10.0, exponent(random)), angle(random));
    y[k] = std::polar(std::pow(10.0, exponent(random)), angle(random));
  }
  run_body("", {"const complex<double>* x", "const complex<double>* y", "complex<double>* z"},
           "z[4*i] = x[i] + y[i]; z[4*i+1] = x[i] - y[i]; z[4*i+2] = x[i] * y[i]; z[4*i+3] = x[i] / y[i];",
           {x.data(), y.data(), got.data()}, count);
  for (int k = 0; k < count; ++k) {
    const Wide a(x[k].real(), x[k].imag()), b(y[k].real(), y[k].imag());
    const Wide want[] = {a + b, a - b, a * b, a / b};
    for (int op = 0; op < 4; ++op) {
      const Wide value(got[4 * k + op].real(), got[4 * k + op].imag());
      if (std::abs(want[op]) < 1e-300L || std::abs(want[op]) > 1e300L) continue;
      ASSERT_LE(std::abs(value - want[op]) / std::abs(want[op]), 6e-16L) << op << x[k] << y[k];
    }
  }
}

TEST(Complex, DivisionByZeroIsNumpys) {
  const Complex<double> x[] = {{1, 0}, {0, 0}, {1, -2}, {-1, INFINITY}, {NAN, 1}};
  Complex<double> got[5];
  run_body("", {"const complex<double>* x", "complex<double>* z"}, "z[i] = x[i] / complex<double>(0, 0);", {x, got}, 5);
  // NumPy 2: np.array(x) / 0j
  const Complex<double> want[] = {
      {INFINITY, NAN}, {NAN, NAN}, {INFINITY, -INFINITY}, {-INFINITY, INFINITY}, {NAN, INFINITY}};
  for (int k = 0; k < 5; ++k) {
    EXPECT_TRUE(same_part(got[k].real(), want[k].real()) && same_part(got[k].imag(), want[k].imag())) << k << got[k];
  }
}

TEST(Complex, PowersAreNumpys) {
  const Complex<double> x[] = {{2, 1},  {2, 1}, {2, 1}, {0, 0}, {0, 0}, {0, 0},
                               {-8, 0}, {1, 1}, {3, 4}, {0, 0}, {2, -3}};
  const Complex<double> y[] = {{3, 0},       {-2, 0}, {0, 0},   {2, 0}, {-1, 0}, {0, 0},
                               {1.0 / 3, 0}, {1, 2},  {0.5, 0}, {1, 1}, {150, 0}};
  Complex<double> got[11];
  run_body("", {"const complex<double>* x", "const complex<double>* y", "complex<double>* z"},
           "z[i] = pow(x[i], y[i]);", {x, y, got}, 11);
  for (int k = 0; k < 11; ++k) {
    if (k == 4) {
      EXPECT_TRUE(std::isnan(got[k].real()) && std::isnan(got[k].imag())) << k;
      continue;
    }
    const Wide a(x[k].real(), x[k].imag()), b(y[k].real(), y[k].imag());
    const Wide want = k == 3 || k == 9 ? Wide(0) : (k == 2 || k == 5 ? Wide(1) : std::pow(a, b));
    EXPECT_LE(std::abs(Wide(got[k].real(), got[k].imag()) - want), 1e-13L * std::abs(want)) << k << got[k];
  }
  EXPECT_EQ(got[0], Complex<double>(2, 11));
}

TEST(Complex, MixesWithRealNumbersAndOtherPrecisions) {
  const std::string checks = R"(
using iruka::is_same;
using C = complex<float>; using Z = complex<double>;
static_assert(is_same<decltype(C() * 2), C> && is_same<decltype(2 * C()), C> && is_same<decltype(C() + 1.5f), C> &&
is_same<decltype(C() + float16(1)), C>);
static_assert(is_same<decltype(C() * 2.0), Z> && is_same<decltype(C() * Z()), Z> &&
is_same<decltype(1.0f / Z()), Z> && is_same<decltype(pow(C(), 2)), C>);
static_assert(is_same<decltype(abs(C())), float> && is_same<decltype(Z().real()), double> &&
is_same<decltype(exp(C())), C>);
static_assert(sizeof(C) == 8 && sizeof(Z) == 16 && __is_trivial(C) && is_same<thrust::complex<float>, C>);
)";
  Complex<double> z[24];
  run_body(checks, {"complex<double>* z"}, R"(
    complex<float> a(3, 4), b = 2; complex<double> c = a; a = c; b = 1.5; b = float16(2);
    z[0] = a * b + 1; z[1] = 1 / complex<double>(0, 1); z[2] = conj(a); z[3] = abs(a); z[4] = norm(a);
    z[5] = arg(complex<double>(0, 1));
    z[6] = polar(2.0, 0.0); z[7] = proj(complex<double>(-INFINITY, -1.0));
    z[8] = a == 3 || a != complex<float>(3, 4); z[9] = a < complex<float>(3, 5);
    z[10] = real(a) - imag(a); a.real(7); a.imag(8); z[11] = a; a += 1; a *= 2; a -= complex<float>(0, 1); a /= 2.0;
    z[12] = a;
    z[13] = isnan(complex<double>(0, NAN)) + 2 * isinf(complex<double>(0, INFINITY)) + 4 * isfinite(a); z[14] = -a;
    z[15] = 5.0 - c; z[16] = c - 5.0f;
    z[17] = (bool)c && !(bool)complex<float>(0, 0); z[18] = iruka::sign(c);
    z[19] = iruka::maximum(c, complex<double>(3, 5)); z[20] = c / 2;
    z[21] = iruka::minimum(c, complex<double>(NAN, 0));
    z[22] = log2(complex<double>(8, 0)) + log10(complex<double>(100, 0)); z[23] = iruka::square(c);)",
           {z}, 1);
  using D = Complex<double>;
  const D want[] = {{7, 8},  {0, -1}, {3, -4},    5,      25,       M_PI / 2, 2,          {INFINITY, 0},
                    0,       1,       -1,         {7, 8}, {8, 7.5}, 7,        {-8, -7.5}, {2, -4},
                    {-2, 4}, 1,       {0.6, 0.8}, {3, 5}, {1.5, 2}, {NAN, 0}, 5,          {-7, 24}};
  for (int k = 0; k < 24; ++k) {
    EXPECT_TRUE(same_part(z[k].real(), want[k].real()) || z[k].real() == want[k].real()) << k << z[k];
    EXPECT_TRUE(same_part(z[k].imag(), want[k].imag()) || z[k].imag() == want[k].imag()) << k << z[k];
  }
}

}  // namespace
}  // namespace iruka::test
