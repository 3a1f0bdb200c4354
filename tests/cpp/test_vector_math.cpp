// SLEEF behind the C names: every lane, tail element and scalar gives the same bits, close to the exact value.
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "compile_text.h"

namespace iruka {
namespace {

struct Function {
  const char* name;
  int arity;
  double low, high;  ///< of the first argument
  long double (*exact)(long double, long double);
  double ulps;
};

#define EXACT_1(f) [](long double x, long double) -> long double { return std::f(x); }
#define EXACT_2(f) [](long double x, long double y) -> long double { return std::f(x, y); }
// clang-format off
const Function kFunctions[] = {
    {"exp", 1, -80, 80, EXACT_1(exp), 4},         {"exp2", 1, -120, 120, EXACT_1(exp2), 4},
    {"exp10", 1, -37, 37, [](long double x, long double) -> long double { return powl(10.0L, x); }, 4},
    {"expm1", 1, -20, 80, EXACT_1(expm1), 4},     {"log", 1, 1e-30, 1e30, EXACT_1(log), 4},
    {"log2", 1, 1e-30, 1e30, EXACT_1(log2), 4},   {"log10", 1, 1e-30, 1e30, EXACT_1(log10), 4},
    {"log1p", 1, -0.99, 1e10, EXACT_1(log1p), 4}, {"sin", 1, -1e4, 1e4, EXACT_1(sin), 4},
    {"cos", 1, -1e4, 1e4, EXACT_1(cos), 4},       {"tan", 1, -1e4, 1e4, EXACT_1(tan), 4},
    {"asin", 1, -1, 1, EXACT_1(asin), 4},         {"acos", 1, -1, 1, EXACT_1(acos), 4},
    {"atan", 1, -1e3, 1e3, EXACT_1(atan), 4},     {"atan2", 2, -1e3, 1e3, EXACT_2(atan2), 4},
    {"sinh", 1, -80, 80, EXACT_1(sinh), 4},       {"cosh", 1, -80, 80, EXACT_1(cosh), 4},
    {"tanh", 1, -20, 20, EXACT_1(tanh), 4},       {"asinh", 1, -1e6, 1e6, EXACT_1(asinh), 4},
    {"acosh", 1, 1, 1e6, EXACT_1(acosh), 4},      {"atanh", 1, -0.999, 0.999, EXACT_1(atanh), 4},
    {"pow", 2, 1e-3, 1e3, EXACT_2(pow), 4},       {"cbrt", 1, -1e20, 1e20, EXACT_1(cbrt), 4},
    {"hypot", 2, -1e10, 1e10, EXACT_2(hypot), 4}, {"erf", 1, -6, 6, EXACT_1(erf), 4},
    {"erfc", 1, -6, 9, EXACT_1(erfc), 4},         {"tgamma", 1, 0.1, 30, EXACT_1(tgamma), 4},
    {"lgamma", 1, 3, 1e6, EXACT_1(lgamma), 4},    {"fmod", 2, -1e6, 1e6, EXACT_2(fmod), 0},
};
// clang-format on

template <class T>
std::string c_name(const Function& function) {
  return std::string(function.name) + (sizeof(T) == 4 ? "f" : "");
}

template <class T>
std::string text(const Function& function, const char* pragma = "") {
  const std::string type = sizeof(T) == 4 ? "float" : "double";
  return test::loop_text(
      type, type, type,
      std::string(pragma) + "z = " + c_name<T>(function) + (function.arity == 2 ? "(a, b);" : "(a);"));
}

/// Samples over the function's range, many of them small, and then the special values.
template <class T>
void arguments(const Function& function, std::vector<T>& a, std::vector<T>& b, bool specials) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(function.low, function.high), second(-20, 20), unit(0, 1);
  for (int k = 0; k < 4001; ++k) {
    double x = uniform(random);
    if (k % 3 == 0) x = function.low + (function.high - function.low) * std::pow(unit(random), 8);
    if (k % 7 == 0 && function.low < 0) x *= 1e-5;
    a.push_back(static_cast<T>(x));
    b.push_back(static_cast<T>(second(random)));
  }
  if (!specials) return;
  using Limits = std::numeric_limits<T>;
  const T values[] = {0,
                      T(-0.0),
                      1,
                      -1,
                      2,
                      T(0.5),
                      T(-2.5),
                      1000,
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::min(),
                      Limits::denorm_min(),
                      T(1e10),
                      T(-1e10)};
  for (const T x : values) {
    for (const T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  }
}

template <class T>
bool same_bits(T x, T y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0 || (std::isnan(x) && std::isnan(y));
}

template <class T>
void check_lanes_and_tails() {
  for (const auto& function : kFunctions) {
    std::vector<T> a, b;
    arguments<T>(function, a, b, true);
    const auto object = test::build(test::program(text<T>(function)));
    ASSERT_TRUE(object);
    struct {
      const T *a, *b;
      T* z;
    } block{a.data(), b.data(), nullptr};
    std::vector<T> whole(a.size()), single(a.size());
    block.z = whole.data();
    object->symbols().front().function()(&block, 0, static_cast<int64_t>(a.size()));
    block.z = single.data();
    for (size_t k = 0; k < a.size(); ++k)
      object->symbols().front().function()(&block, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1);
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_TRUE(same_bits(whole[k], single[k]))
          << c_name<T>(function) << "(" << a[k] << ", " << b[k] << "): lane " << whole[k] << ", alone " << single[k];
    }
  }
}

TEST(VectorMath, LanesAndLoneElementsGiveTheSameBits) {
  check_lanes_and_tails<float>();
  check_lanes_and_tails<double>();
}

template <class T>
void check_accuracy() {
  for (const auto& function : kFunctions) {
    std::vector<T> a, b;
    arguments<T>(function, a, b, false);
    const auto z = test::evaluate<T>(text<T>(function), a, b);
    double worst = 0;
    size_t where = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      const long double exact = function.exact(a[k], b[k]);
      const T rounded = static_cast<T>(exact);
      if (std::isinf(rounded) && z[k] == rounded) continue;
      const T magnitude = std::max(std::abs(rounded), std::numeric_limits<T>::min());
      const long double ulp = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
      const auto error = static_cast<double>(std::abs(static_cast<long double>(z[k]) - exact) / ulp);
      if (!(error <= worst)) worst = error, where = k;
    }
    EXPECT_LE(worst, function.ulps) << c_name<T>(function) << "(" << a[where] << ", " << b[where] << ") = " << z[where];
  }
}

TEST(VectorMath, ResultsAreWithinFourUlp) {
  check_accuracy<float>();
  check_accuracy<double>();
}

TEST(VectorMath, LoopsCallTheVectorFunctions) {
  for (const auto& function : kFunctions) {
    if (std::string(function.name) == "fmod") continue;
    for (const bool single : {true, false}) {
      const std::string assembly =
          cpu_backend::assembly(test::program(single ? text<float>(function) : text<double>(function)));
      const int lanes = cpu_backend::host_vector_bytes() / (single ? 4 : 8);
      const std::string name = std::string(function.name) + (single ? "f" : "d") + std::to_string(lanes) + "_";
      const std::string half = std::string(function.name) + (single ? "f" : "d") + std::to_string(lanes / 2) + "_";
      EXPECT_TRUE(assembly.find(name) != std::string::npos || assembly.find(half) != std::string::npos) << name;
    }
  }
}

TEST(VectorMath, SineAndCosineOfOneArgumentKeepTheirBits) {
  const std::vector<float> a = {0.1f, 1.0f, 2.5f, -3.0f, 100.0f}, zero(5);
  const auto sum = test::evaluate<float>(test::loop_text("float", "float", "float", "z = sinf(a) * 2 - cosf(a);"), a,
                                         zero, {"--fmad=false"});
  const auto sine = test::evaluate<float>(test::loop_text("float", "float", "float", "z = sinf(a);"), a, zero);
  const auto cosine = test::evaluate<float>(test::loop_text("float", "float", "float", "z = cosf(a);"), a, zero);
  for (size_t k = 0; k < a.size(); ++k) EXPECT_EQ(sum[k], sine[k] * 2 - cosine[k]) << a[k];
}

TEST(VectorMath, LiteralsGiveTheBitsOfVariables) {
  const std::vector<double> a = {0.7}, b = {2.3};
  const std::vector<float> c = {0.7f}, d = {2.3f};
  for (const auto& function : kFunctions) {
    const bool two = function.arity == 2;
    const std::string x = std::string(function.name) == "acosh" ? "1.7" : "0.7", shift = x == "1.7" ? "1 + " : "";
    const std::string literal = std::string(function.name) + "(" + x + (two ? ", 2.3)" : ")");
    const std::string variable = std::string(function.name) + "(" + shift + "a" + (two ? ", b)" : ")");
    const auto apart = test::evaluate<double>(
        test::loop_text("double", "double", "double", "z = " + variable + " - " + literal + ";"), a, b);
    EXPECT_EQ(apart[0], 0) << function.name;
    const std::string single = std::string(function.name) + "f(" + x + "f" + (two ? ", 2.3f)" : ")");
    const std::string single_variable = std::string(function.name) + "f(" + shift + "a" + (two ? ", b)" : ")");
    const auto single_apart = test::evaluate<float>(
        test::loop_text("float", "float", "float", "z = " + single_variable + " - " + single + ";"), c, d);
    EXPECT_EQ(single_apart[0], 0) << function.name;
  }
}

TEST(VectorMath, RemaindersOfAnyQuotientAreExact) {
  std::vector<double> a = {1e300, 1e300, 5e-324, 1e18, -1e18, 7.5, 1e16}, b = {3e-300, 7, 1e-320, 3, 3, -2, 1e-5};
  std::vector<float> c = {1e38f, 1e38f, 1e-45f, 1e18f, -1e18f, 7.5f, 1e8f}, d = {3e-38f, 7, 1e-44f, 3, 3, -2, 1e-5f};
  const auto wide = test::evaluate<double>(test::loop_text("double", "double", "double", "z = fmod(a, b);"), a, b);
  const auto narrow = test::evaluate<float>(test::loop_text("float", "float", "float", "z = fmodf(a, b);"), c, d);
  for (size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(wide[k], std::fmod(a[k], b[k])) << a[k] << " " << b[k];
    EXPECT_EQ(narrow[k], std::fmod(c[k], d[k])) << c[k] << " " << d[k];
  }
}

}  // namespace
}  // namespace iruka
