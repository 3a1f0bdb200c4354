// Elements as lanes: what is called in a body gives each lane the bits that the scalar path gives.
#include <cstdint>
#include <string>
#include <vector>

#include "spmd_testing.h"

namespace iruka::test {
namespace {

const char* const kFloatCalls[] = {
    // The vector math library
    "exp(x)",
    "exp2(x)",
    "exp10(x)",
    "expm1(x)",
    "log(x)",
    "log2(x)",
    "log10(x)",
    "log1p(x)",
    "sin(x)",
    "cos(x)",
    "tan(x)",
    "asin(x)",
    "acos(x)",
    "atan(x)",
    "atan2(x, y)",
    "sinh(x)",
    "cosh(x)",
    "tanh(x)",
    "asinh(x)",
    "acosh(x)",
    "atanh(x)",
    "pow(x, y)",
    "cbrt(x)",
    "hypot(x, y)",
    "erf(x)",
    "erfc(x)",
    "tgamma(x)",
    "lgamma(x)",
    "pow(x, (T)3)",
    "pow(x, (T)k)",
    "exp2((T)k)",
    "pow((T)2, y)",
    // One instruction or a few
    "sqrt(x)",
    "fabs(x)",
    "floor(x)",
    "ceil(x)",
    "trunc(x)",
    "round(x)",
    "rint(x)",
    "nearbyint(x)",
    "copysign(x, y)",
    "fmin(x, y)",
    "fmax(x, y)",
    "fma(x, y, (T)k)",
    "x * y + (T)k",
    "rsqrt(x)",
    "ldexp(x, k)",
    "scalbn(x, 3)",
    "logb(x)",
    "nextafter(x, y)",
    "fdim(x, y)",
    "sinpi(x)",
    "cospi(x)",
    "normcdf(x)",
    "erfinv(x)",
    "(T)ilogb(x)",
    "(T)isnan(x)",
    "(T)lround(x)",
    "(T)signbit(x)",
    // Clang's own
    "OF_CLANG(ldexp)(x, k)",
    "OF_CLANG(powi)(x, k % 9)",
    "OF_CLANG(powi)(x, 3)",
    "OF_CLANG(powi)(x, s)",
    "OF_CLANG(roundeven)(x)",
    "(T)OF_CLANG(lrint)(x)",
    "__builtin_elementwise_minimum(x, y)",
    "__builtin_elementwise_maximum(x, y)",
    "__builtin_elementwise_canonicalize(x)",
    "(T)__builtin_isfpclass(x, 0x3c3)",
    "__builtin_elementwise_exp(x)",
    "__builtin_elementwise_pow(x, y)",
    "__builtin_elementwise_sin(x) + __builtin_elementwise_cos(x)",
    // Lane by lane
    "fmod(x, y)",
    "remainder(x, y)",
    "j0(x)",
    "jn(k % 5, x)",
    "frexp_and_more(x, y)",
    "sine_and_cosine(x)",
    "split_and_sum(x)",
};

const char* const kFloatHelpers = R"(
__device__ T frexp_and_more(T x, T y) { int e; T m = frexp(x, &e); T i; T f = modf(y, &i); return m + (T)e * f - i; }
__device__ T sine_and_cosine(T x) { T s, c; sincos(x, &s, &c); return s - c * 2; }
__device__ T split_and_sum(T x) { int e = 0; T m = OF_CLANG(frexp)(x, &e); T i; T f = OF_CLANG(modf)(x, &i); return m + e + f - i; }
)";

const char* const kIntegerCalls[] = {
    "__builtin_elementwise_abs((S)x)",
    "__builtin_elementwise_min(x, y)",
    "__builtin_elementwise_max(x, y)",
    "__builtin_elementwise_add_sat(x, y)",
    "__builtin_elementwise_sub_sat(x, y)",
    "__builtin_elementwise_popcount(x)",
    "__builtin_elementwise_bitreverse(x)",
    "(T)__builtin_clzg((U)x, 77)",
    "(T)__builtin_ctzg((U)x, 77)",
    "(T)__builtin_popcountg((U)x)",
    "__builtin_elementwise_fshl(x, y, (T)s)",
    "__builtin_elementwise_fshr(x, y, x)",
    "overflows<0>(x, y)",
    "overflows<1>(x, y)",
    "overflows<2>(x, y)",
    "(T)(x < y ? -1 : x > y)",
    "(T)__builtin_parity(x)",
    "(T)__builtin_expect(x > y, 1)",
    "(T)__builtin_constant_p(x)",
    "(T)__ffs(x)",
    "(T)__mulhi(x, y)",
    "(T)__umul64hi(x, y)",
};

const char* const kIntegerHelpers = R"(
template <int kind> __device__ T overflows(T x, T y) {
  T r = 0;
  bool over = kind == 0 ? __builtin_add_overflow(x, y, &r) : kind == 1 ? __builtin_sub_overflow(x, y, &r) : __builtin_mul_overflow(x, y, &r);
  return over ? (T)~r : r;
}
)";

const std::vector<int> kWidths = {2, 8, 64}, kMaskedWidths = {4, 16, 32};

/// Runs groups of calls by the scalar path and widened; `where` is what they stand under.
template <class T>
void check_calls(std::span<const char* const> calls, const std::string& preamble, const std::string& where) {
  constexpr size_t kGroup = 10;
  constexpr int64_t kCount = 3000;
  prepare_process();
  const std::string type = info(dtype_of<T>).name;
  const auto array = [](const auto& values) { return Array::from(std::span(values), {kCount}); };
  const Array x = array(wild<T>(kCount, 1)), y = array(wild<T>(kCount, 2));
  const Array k = array(integers<int32_t>(kCount, 3, -140, 140));
  for (size_t first = 0; first < calls.size(); first += kGroup) {
    std::string out, body = where + " {";
    std::vector<std::string> group;
    for (size_t call = first; call < std::min(first + kGroup, calls.size()); ++call) {
      const std::string z = "z" + std::to_string(group.size());
      out += (out.empty() ? "" : ", ") + type + " " + z;
      body += "\n  " + z + " = " + calls[call] + ";";
      group.emplace_back(calls[call]);
    }
    body += "\n}";
    const auto& widths = where.empty() ? kWidths : kMaskedWidths;
    const auto results = [&](int lanes) {
      const ElementwiseKernel kernel(type + " x, " + type + " y, int32 k, int32 s", out, body, "calls",
                                     {.preamble = preamble, .options = {"--lanes=" + std::to_string(lanes)}});
      std::vector<Array> all;
      std::vector<Argument> arguments = {x, y, k, 5};
      for (size_t output = 0; output < group.size(); ++output) all.push_back(zeros({kCount}, dtype_of<T>));
      for (const Array& array : all) arguments.emplace_back(array);
      kernel.call(arguments, {});
      if (lanes == widths.front()) {
        const KernelReport report = kernel.report(arguments, {});
        EXPECT_EQ(report.lanes, lanes) << report.reason << body;
      }
      return all;
    };
    const std::vector<Array> expected = results(1);
    for (const int lanes : widths) {
      const std::vector<Array> found = results(lanes);
      for (size_t output = 0; output < group.size(); ++output) {
        const auto a = found[output].template to_vector<T>(), b = expected[output].template to_vector<T>();
        for (size_t at = 0; at < a.size(); ++at) {
          const auto* left = reinterpret_cast<const std::byte*>(&a[at]);
          ASSERT_TRUE(same_element(dtype_of<T>, left, reinterpret_cast<const std::byte*>(&b[at])))
              << group[output] << " in " << lanes << " lanes is " << +a[at] << ", not " << +b[at] << " for element "
              << at;
        }
      }
    }
  }
}

const std::string kOfFloats =
    std::string("typedef float T;\n#define OF_CLANG(name) __builtin_##name##f\n") + kFloatHelpers;
const std::string kOfDoubles =
    std::string("typedef double T;\n#define OF_CLANG(name) __builtin_##name\n") + kFloatHelpers;

TEST(SpmdCalls, OfFloats) { check_calls<float>(kFloatCalls, kOfFloats, ""); }
TEST(SpmdCalls, OfDoubles) { check_calls<double>(kFloatCalls, kOfDoubles, ""); }
TEST(SpmdCalls, OfFloatsUnderAMask) { check_calls<float>(kFloatCalls, kOfFloats, "if (k & 1)"); }
TEST(SpmdCalls, OfDoublesUnderAMask) { check_calls<double>(kFloatCalls, kOfDoubles, "if (x < y)"); }

template <class T>
void check_integer_calls() {
  const auto c_type = [](Dtype dtype) { return std::string(info(dtype).c_type); };
  const std::string preamble = "typedef " + c_type(dtype_of<T>) + " T;\ntypedef " +
                               c_type(dtype_of<std::make_unsigned_t<T>>) + " U;\ntypedef " +
                               c_type(dtype_of<std::make_signed_t<T>>) + " S;\n" + kIntegerHelpers;
  check_calls<T>(kIntegerCalls, preamble, "");
  check_calls<T>(kIntegerCalls, preamble, "if (k & 1)");
}

TEST(SpmdCalls, OfIntegers) { check_integer_calls<int32_t>(); }
TEST(SpmdCalls, OfLongIntegers) { check_integer_calls<int64_t>(); }
TEST(SpmdCalls, OfUnsignedIntegers) { check_integer_calls<uint32_t>(); }

}  // namespace
}  // namespace iruka::test
