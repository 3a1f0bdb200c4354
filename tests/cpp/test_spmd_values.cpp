// Elements as lanes: arithmetic of every type, also where C++ leaves it open, and functions of mathematics.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>

#include "prelude_kernel.h"
#include "spmd_testing.h"

namespace iruka::test {
namespace {

// Narrow integers.

TEST(SpmdValues, BytesAndShorts) {
  check(
      {"uint8 p, uint8 q, int8 r, int16 s, uint16 u", "uint8 mean, uint8 sum, int8 product, int16 apart, uint16 high"},
      BODY((uint8_t p, uint8_t q, int8_t r, int16_t s, uint16_t u, uint8_t& mean, uint8_t& sum, int8_t& product,
            int16_t& apart, uint16_t& high),
           {
             mean = (p + q + 1) / 2;
             sum = p + q > 255 ? 255 : p + q;
             product = (int8_t)(r * (int8_t)p);
             apart = s > r ? s - r : r - s;
             high = (uint16_t)((uint32_t)u * (uint16_t)s >> 16);
             if (p > q && r < 0) mean = -p;
             sum ^= r >> 1;
           }),
      [](int64_t n) {
        return operands(plain(wild<uint8_t>(n, 1)), plain(wild<uint8_t>(n, 2)), plain(wild<int8_t>(n, 3)),
                        plain(wild<int16_t>(n, 4)), plain(wild<uint16_t>(n, 5)), out<uint8_t>(n), out<uint8_t>(n),
                        out<int8_t>(n), out<int16_t>(n), out<uint16_t>(n));
      });
}

TEST(SpmdValues, BytesAlone) {
  check({"uint8 p, uint8 q, uint8 t", "uint8 z, bool w"},
        BODY((uint8_t p, uint8_t q, uint8_t t, uint8_t& z, uint8_t& w),
             {
               uint8_t low = p < q ? p : q, high = p < q ? q : p;
               z = high - low;
               if (z > t) z = (z << 1 | z >> 7) ^ p;
               w = z & 1 && p != q;
             }),
        [](int64_t n) {
          return operands(plain(wild<uint8_t>(n, 1)), plain(wild<uint8_t>(n, 2)), scalar(uint8_t{100}), out<uint8_t>(n),
                          as_bool(plain(integers<uint8_t>(n, 3, 0, 1))));
        });
}

TEST(SpmdValues, WidthsMixedInOneBody) {
  check(
      {"int8 p, float64 x, uint64 m, float32 y, bool f", "float64 z, int8 q, uint64 w, float32 v, bool g"},
      BODY(
          (int8_t p, double x, uint64_t m, float y, uint8_t f, double& z, int8_t& q, uint64_t& w, float& v, uint8_t& g),
          {
            z = p * x + (f ? y : -y);
            q = x > y ? p : (int8_t)(m >> 60);
            w = m * 6364136223846793005ull + (uint64_t)(int64_t)p;
            v = (float)(m >> 40) + (float)p + (float)x;
            g = m > 1ull << 63 ? f : p < 0;
          }),
      [](int64_t n) {
        return operands(plain(wild<int8_t>(n, 1)), plain(quarters<double>(n, 2)), plain(wild<uint64_t>(n, 3)),
                        plain(quarters<float>(n, 4)), as_bool(plain(integers<uint8_t>(n, 5, 0, 1))), out<double>(n),
                        out<int8_t>(n), out<uint64_t>(n), out<float>(n), as_bool(plain(integers<uint8_t>(n, 6, 0, 1))));
      });
}

TEST(SpmdValues, SignedAndUnsignedComparisons) {
  check({"int32 p, uint32 q, int64 m, int32 t", "int32 z"},
        BODY((int32_t p, uint32_t q, int64_t m, int32_t t, int32_t& z),
             {
               z = (p < t) + 2 * (q < (uint32_t)t) + 4 * (m < p) + 8 * (m > (int64_t)q) + 16 * ((uint32_t)p > q) +
                   32 * (p >> 31) + 64 * ((int)(q >> 31) == (p < 0)) + 128 * (t < 0) + 256 * (p != t);
             }),
        [](int64_t n) {
          return operands(plain(wild<int32_t>(n, 1)), plain(wild<uint32_t>(n, 2)), plain(wild<int64_t>(n, 3)),
                          scalar(int32_t{-5}), out<int32_t>(n));
        });
}

TEST(SpmdValues, CheckedArithmeticAndBytesTurned) {
  check({"int32 p, int32 q, uint64 m, int16 s", "int32 z, uint64 w, int32 flags, int16 v"},
        BODY((int32_t p, int32_t q, uint64_t m, int16_t s, int32_t& z, uint64_t& w, int32_t& flags, int16_t& v),
             {
               int sum;
               int product;
               uint64_t wide;
               flags = __builtin_add_overflow(p, q, &sum) + 2 * __builtin_mul_overflow(p, q, &product) +
                       4 * __builtin_mul_overflow(m, (uint64_t)s, &wide);
               z = flags & 1 ? sum : product;
               w = wide ^ __builtin_bswap64(m) ^ (uint64_t)((unsigned __int128)m * 0x9E3779B97F4A7C15ull >> 64);
               if (p > 0 && __builtin_sub_overflow(q, p, &sum)) w = 7;
               v = (int16_t)(__builtin_bswap16(s) + __builtin_parity(p) + __builtin_ctz(p | 64));
               z ^= (int)((uint32_t)q << 13 | (uint32_t)q >> 19);
             }),
        [](int64_t n) {
          return operands(plain(wild<int32_t>(n, 1)), plain(integers<int32_t>(n, 2, -70000, 70000)),
                          plain(wild<uint64_t>(n, 3)), plain(wild<int16_t>(n, 4)), out<int32_t>(n), out<uint64_t>(n),
                          out<int32_t>(n), out<int16_t>(n));
        });
}

// Integer division.

template <class T>
T quotient(T p, T q) {
  return q == 0 ? T(0) : static_cast<T>(static_cast<__int128>(p) / static_cast<__int128>(q));
}
template <class T>
T rest(T p, T q) {
  return q == 0 ? T(0) : static_cast<T>(static_cast<__int128>(p) % static_cast<__int128>(q));
}

/// Any values, and the pairs that a processor's division traps on.
template <class T>
std::pair<std::vector<T>, std::vector<T>> dividends_and_divisors(int64_t count) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> p = wild<T>(count, 1), q = wild<T>(count, 2);
  for (size_t k = 0; k < q.size(); ++k) {
    if (k % 3 == 0) q[k] = static_cast<T>(q[k] % 7);
    if (k % 5 == 0) q[k] = 0;
    if (k % 5 == 1) p[k] = Limits::min(), q[k] = static_cast<T>(-1);
  }
  return {p, q};
}

template <class T>
class SpmdIntegers : public testing::Test {};
using Integers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(SpmdIntegers, Integers);

TYPED_TEST(SpmdIntegers, DivisionByAnything) {
  using T = TypeParam;
  check(
      few_lane_choices("T p, T q, T t", "T z, T w, T u, T v, T y"),
      BODY_AND_MEANING("z = p / q; w = p % q; u = p / t; v = p % 7; if (q > 3) y = p % q; else if (q != 0) y = t / q;",
                       (T p, T q, T t, T & z, T & w, T & u, T & v, T & y),
                       {
                         z = quotient(p, q), w = rest(p, q), u = quotient(p, t), v = rest(p, T(7));
                         if (q > 3)
                           y = rest(p, q);
                         else if (q != 0)
                           y = quotient(t, q);
                       }),
      [](int64_t n) {
        auto [p, q] = dividends_and_divisors<T>(n);
        const T divisors[] = {T(0), T(-1), T(10), std::numeric_limits<T>::min()};
        return operands(plain(p), plain(q), scalar(divisors[n % 4]), out<T>(n), out<T>(n), out<T>(n), out<T>(n),
                        out<T>(n));
      });
}

TYPED_TEST(SpmdIntegers, ShiftsByAnything) {
  using T = TypeParam;
  using P = decltype(T() << T());
  constexpr int kWidth = sizeof(P) * 8;
  check(few_lane_choices("T p, int32 by, int32 t", "T left, T right, T fixed"),
        BODY_AND_MEANING("left = p << (decltype(p + 0))by; if (by & 1) right = p >> (decltype(p + 0))by; fixed = p << "
                         "(decltype(p + 0))t;",
                         (T p, int32_t by, int32_t t, T& left, T& right, T& fixed),
                         {
                           const auto shifted = [](T value, int amount) {
                             return amount >= kWidth
                                        ? T(0)
                                        : static_cast<T>(static_cast<unsigned __int128>(P(value)) << amount);
                           };
                           left = shifted(p, by), fixed = shifted(p, t);
                           if (by & 1) right = by >= kWidth ? T(P(p) < 0 ? -1 : 0) : static_cast<T>(P(p) >> by);
                         }),
        [](int64_t n) {
          return operands(plain(wild<T>(n, 1)), plain(integers<int32_t>(n, 2, 0, 70)),
                          scalar(static_cast<int32_t>(n % 67)), out<T>(n), out<T>(n), out<T>(n));
        });
}

TEST(SpmdValues, DivisionInLoopsOfOwnLength) {
  check({"int32 p, int32 q, int64 m", "int32 z, int64 w"},
        BODY_AND_MEANING("int u = p, v = q; int rounds = 0; while (v != 0) { int r = u % v; u = v; v = r; ++rounds; }"
                         "z = u; w = rounds ? m / rounds : m % q;",
                         (int32_t p, int32_t q, int64_t m, int32_t& z, int64_t& w),
                         {
                           int64_t u = p, v = q, rounds = 0;
                           while (v != 0) {
                             const int64_t r = u % v;
                             u = v, v = r, ++rounds;
                           }
                           z = static_cast<int32_t>(u);
                           w = rounds ? m / rounds : 0;
                         }),
        [](int64_t n) {
          auto [p, q] = dividends_and_divisors<int32_t>(n);
          return operands(plain(p), plain(q), plain(wild<int64_t>(n, 3)), out<int32_t>(n), out<int64_t>(n));
        });
}

// Casts from floating numbers.

template <class T, class F>
T saturated(F value) {
  if (std::isnan(value)) return 0;
  const auto exact = static_cast<long double>(value);
  if (exact <= static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (exact >= static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class F>
void check_casts() {
  check({"T x", "int8 a, uint8 b, int16 c, uint16 d, int32 e, uint32 f, int64 g, uint64 h"},
        BODY_AND_MEANING(
            "a = (signed char)x; b = (unsigned char)x; if (x > 0) { c = (short)x; d = (unsigned short)x; } else { e = "
            "(int)x; "
            "f = (unsigned)x; } g = (long)x; h = (unsigned long)x;",
            (F x, int8_t& a, uint8_t& b, int16_t& c, uint16_t& d, int32_t& e, uint32_t& f, int64_t& g, uint64_t& h),
            {
              a = saturated<int8_t>(x), b = saturated<uint8_t>(x);
              if (x > 0)
                c = saturated<int16_t>(x), d = saturated<uint16_t>(x);
              else
                e = saturated<int32_t>(x), f = saturated<uint32_t>(x);
              g = saturated<int64_t>(x), h = saturated<uint64_t>(x);
            }),
        [](int64_t n) {
          return operands(plain(wild<F>(n, 1)), out<int8_t>(n), out<uint8_t>(n), out<int16_t>(n), out<uint16_t>(n),
                          out<int32_t>(n), out<uint32_t>(n), out<int64_t>(n), out<uint64_t>(n));
        });
}

TEST(SpmdValues, FloatsToIntegers) { check_casts<float>(); }
TEST(SpmdValues, DoublesToIntegers) { check_casts<double>(); }

TEST(SpmdValues, IntegersToFloats) {
  check({"int8 a, uint16 b, int32 c, uint32 d, int64 e, uint64 f", "float32 p, float64 q, float32 r, float64 s"},
        BODY((int8_t a, uint16_t b, int32_t c, uint32_t d, int64_t e, uint64_t f, float& p, double& q, float& r,
              double& s),
             {
               p = (float)c;
               q = (double)d + (double)a;
               r = c > 0 ? (float)e : (float)f;
               s = c > 0 ? (double)f : (double)e;
               p += (float)b;
               if (a > 0) r = (float)d;
             }),
        [](int64_t n) {
          return operands(plain(wild<int8_t>(n, 1)), plain(wild<uint16_t>(n, 2)), plain(wild<int32_t>(n, 3)),
                          plain(wild<uint32_t>(n, 4)), plain(wild<int64_t>(n, 5)), plain(wild<uint64_t>(n, 6)),
                          out<float>(n), out<double>(n), out<float>(n), out<double>(n));
        });
}

// Floating numbers.

TEST(SpmdValues, IeeeSpecialsThroughArithmetic) {
  check({"float32 x, float32 y, float64 u, float64 v", "float32 z, float64 w, int32 tests"},
        BODY((float x, float y, double u, double v, float& z, double& w, int32_t& tests),
             {
               z = x / y - y;
               if (!(x < y)) z = -z;
               w = u > v ? u * v : u + v;
               tests = (x < y) + 2 * (x == y) + 4 * (x != x) + 8 * !(u >= v) + 16 * (x > 0) + 32 * (u <= 0);
               float kept = x;
               for (int j = 0; j < 3 && kept == kept; ++j) kept *= kept;
               z = tests & 1 ? kept : z;
             }),
        [](int64_t n) {
          return operands(plain(wild<float>(n, 1)), plain(wild<float>(n, 2)), plain(wild<double>(n, 3)),
                          plain(wild<double>(n, 4)), out<float>(n), out<double>(n), out<int32_t>(n));
        });
}

TEST(SpmdValues, SumsAreNotReordered) {
  check({"int32 k, raw float32 a", "float32 z, float32 w"},
        BODY((int32_t k, CArray<float, 1>& a, float& z, float& w),
             {
               float sum = 0;
               float product = 1;
               for (int j = 0; j < 24; ++j) {
                 sum += a[j] / 3;
                 if (j < k) product *= 1 + a[j] / 64;
               }
               z = sum;
               w = product;
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 1, 0, 24)), raw(quarters<float>(24, 2)), out<float>(n),
                          out<float>(n));
        });
}

TEST(SpmdValues, OneExpressionMayBeFused) {
  const bool has_fma = __builtin_cpu_supports("fma");
  const auto body =
      BODY_AND_MEANING("z = x * y + s; if (x > 0) w = u * v - u; else w = fma(u, v, u); v32 = fmaf(x, x, -y);",
                       (float x, float y, float s, double u, double v, float& z, double& w, float& v32), {
                         z = std::fma(x, y, s);
                         w = std::fma(u, v, x > 0 ? -u : u);
                         v32 = std::fma(x, x, -y);
                       });
  if (!has_fma) GTEST_SKIP() << "the processor has no fused operation";
  check({.in = "float32 x, float32 y, float32 s, float64 u, float64 v",
         .out = "float32 z, float64 w, float32 v32",
         .options = {}},
        body, [](int64_t n) {
          return operands(plain(wild<float>(n, 1)), plain(wild<float>(n, 2)), scalar(0.1f), plain(wild<double>(n, 3)),
                          plain(wild<double>(n, 4)), out<float>(n), out<double>(n), out<float>(n));
        });
}

TEST(SpmdMath, FunctionsThatAreExact) {
  check({"float32 x, float64 u, int32 k", "float32 a, float32 b, float64 c, float64 d, float32 e"},
        BODY_AND_MEANING(
            "a = sqrtf(fabsf(x)) + floorf(x / 3); b = k & 1 ? ceilf(x) : truncf(x) + rintf(x); c = sqrt(u) - round(u);"
            "d = copysign(u, (double)k) + fmod(u, 3.5); if (k > 3) e = ldexpf(x, k - 8); else e = fminf(x / 2, 2.5f) * "
            "fmaxf(x / 2, -1.5f);",
            (float x, double u, int32_t k, float& a, float& b, double& c, double& d, float& e),
            {
              a = std::sqrt(std::fabs(x)) + std::floor(x / 3);
              b = k & 1 ? std::ceil(x) : std::trunc(x) + std::rint(x);
              c = std::sqrt(u) - std::round(u);
              d = std::copysign(u, static_cast<double>(k)) + std::fmod(u, 3.5);
              e = k > 3 ? std::ldexp(x, k - 8) : std::fmin(x / 2, 2.5f) * std::fmax(x / 2, -1.5f);
            }),
        [](int64_t n) {
          return operands(plain(wild<float>(n, 1)), plain(wild<double>(n, 2)), plain(integers<int32_t>(n, 3, -8, 16)),
                          out<float>(n), out<float>(n), out<double>(n), out<double>(n), out<float>(n));
        });
}

/// All choices of lanes give the bits of the first, which is the scalar path; element k is near exact(x[k], y[k]).
template <class T, class Exact>
void check_function(const char* text, Exact exact, double ulps = 4) {
  KernelSpec spec{"T x, T y, int32 k, T s", "T z"};
  spec.lanes = {"--lanes=1", "--lanes=8", ""};
  const LaneKernels kernels(spec, text);
  for (const int64_t n : {1, 3, 7, 8, 9, 16, 31, 70, 2003}) {
    std::vector<T> x = quarters<T>(n, 1), y = quarters<T>(n, 2);
    for (T& value : x) value = std::ldexp(value, -3);
    for (T& value : y) value = std::abs(value) / 4 + T(0.1);
    const auto k = integers<int32_t>(n, 3, 0, 6);
    std::vector<T> first;
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const auto z = kernel(Array::from(std::span<const T>(x), {n}), Array::from(std::span<const T>(y), {n}),
                            Array::from(std::span<const int32_t>(k), {n}), 0.75)
                         .template to_vector<T>();
      if (first.empty()) first = z;
      for (size_t e = 0; e < z.size(); ++e) {
        ASSERT_TRUE(same_element(dtype_of<T>, reinterpret_cast<const std::byte*>(&z[e]),
                                 reinterpret_cast<const std::byte*>(&first[e])))
            << kernel.name() << ", " << n << " elements: " << text << ": " << z[e] << " is not " << first[e] << " at "
            << e;
        if constexpr (!std::is_same_v<Exact, std::nullptr_t>) {
          ASSERT_LE(ulp_error(z[e], exact(x[e], y[e], k[e])), ulps) << text << " of " << x[e] << ", " << y[e];
        }
      }
    }
  }
}

using Wide = long double;

TEST(SpmdMath, Elementary) {
  check_function<float>("z = expf(x);", [](Wide x, Wide, int) { return std::exp(x); });
  check_function<double>("z = exp(x);", [](Wide x, Wide, int) { return std::exp(x); });
  check_function<float>("z = powf(y, x);", [](Wide x, Wide y, int) { return std::pow(y, x); });
  check_function<double>("z = pow(y, x);", [](Wide x, Wide y, int) { return std::pow(y, x); });
  check_function<float>("z = 0; sincosf(x, &z, &z);", [](Wide x, Wide, int) { return std::cos(x); });
  check_function<double>("z = atan2(x, y);", [](Wide x, Wide y, int) { return std::atan2(x, y); });
  check_function<float>("z = cbrtf(x);", [](Wide x, Wide, int) { return std::cbrt(x); });
  check_function<float>("z = erff(x);", [](Wide x, Wide, int) { return std::erf(x); });
}

TEST(SpmdMath, UnderDivergentControl) {
  check_function<float>("if (k > 3) z = sinf(x); else if (k == 1) z = logf(y); else z = tanhf(x);",
                        [](Wide x, Wide y, int k) {
                          return k > 3 ? std::sin(x) : k == 1 ? std::log(y) : std::tanh(x);
                        });
  check_function<double>(
      "z = y; for (int j = 0; j < k; ++j) { if (j == 4) break; z = log1p(z); }",
      [](Wide, Wide y, int k) {
        double z = static_cast<double>(y);
        for (int j = 0; j < std::min(k, 4); ++j) z = static_cast<double>(std::log1p(static_cast<Wide>(z)));
        return static_cast<Wide>(z);
      },
      16);
  check_function<float>(
      "z = x + expf(s); if (k == 2) z = expf(s);",
      [](Wide x, Wide, int k) {
        const auto e = static_cast<float>(std::exp(Wide(0.75)));
        return k == 2 ? Wide(e) : Wide(static_cast<float>(x) + e);
      },
      16);
}

TEST(SpmdMath, WithoutAVectorForm) {
  for (const char* text :
       {"z = j0f(x);", "if (k & 1) z = jnf(k, x); else z = y0f(y);", "z = erfinvf(x / 8);",
        "z = normcdff(x) + rcbrtf(y);", "z = lgammaf(y) + tgammaf(y / 4);", "int q; z = remquof(x, y, &q); z += q;",
        "int e; z = frexpf(x, &e); z += e; float whole; z += modff(y, &whole); z += whole;", "z = cyl_bessel_i0f(x);",
        "z = nextafterf(x, y) + ilogbf(y) + logbf(y);", "z = sinpif(x) * cospif(y);",
        "z = fdimf(x, y) + rhypotf(x, y) + normcdfinvf(y / 20);"})
    check_function<float>(text, nullptr);
}

TEST(SpmdMath, Bits) {
  check({"uint32 p, uint32 q, uint64 m", "int32 a, int32 b, uint32 c, uint32 d, int32 e"},
        BODY_AND_MEANING(
            "a = __popc(p) + __popcll(m) * 100; b = __clz(p & q) + __ffs((int)(p & q & 12)) * 100 + __clzll(m) * 10000;"
            "c = __brev(p) ^ __byte_perm(p, q, 0x4170); d = __umulhi(p, q) + __funnelshift_l(p, q, 7);"
            "if (p > q) e = __mulhi((int)p, (int)q); else e = __hadd((int)p, (int)q);",
            (uint32_t p, uint32_t q, uint64_t m, int32_t& a, int32_t& b, uint32_t& c, uint32_t& d, int32_t& e),
            {
              a = std::popcount(p) + std::popcount(m) * 100;
              const uint32_t low = p & q & 12;
              b = std::countl_zero(p & q) + (low ? std::countr_zero(low) + 1 : 0) * 100 + std::countl_zero(m) * 10000;
              uint32_t reversed = 0;
              for (int bit = 0; bit < 32; ++bit) reversed |= (p >> bit & 1) << (31 - bit);
              c = reversed ^ ((p & 255) | (q >> 24) << 8 | (p >> 8 & 255) << 16 | (q & 255) << 24);
              d = static_cast<uint32_t>(uint64_t{p} * q >> 32) + (q << 7 | p >> 25);
              const auto u = static_cast<int32_t>(p), v = static_cast<int32_t>(q);
              e = static_cast<int32_t>(p > q ? int64_t{u} * v >> 32 : (int64_t{u} + v) >> 1);
            }),
        [](int64_t n) {
          return operands(plain(wild<uint32_t>(n, 1)), plain(wild<uint32_t>(n, 2)), plain(wild<uint64_t>(n, 3)),
                          out<int32_t>(n), out<int32_t>(n), out<uint32_t>(n), out<uint32_t>(n), out<int32_t>(n));
        });
}

// 16-bit floating numbers: every operation is float's, rounded.

template <int exponent_bits>
struct Small {
  using Bits = SmallBits<exponent_bits>;
  static float value(Bits x) { return static_cast<float>(reference_widen(x.bits, exponent_bits)); }
  static Bits rounded(float x) { return {reference_narrow(x, exponent_bits)}; }
  static std::vector<Bits> some(int64_t n, uint64_t seed) {
    const std::vector<uint16_t> bits = wild<uint16_t>(n, seed);
    std::vector<Bits> values;
    // Every other one of a magnitude near 1.
    for (const uint16_t each : bits)
      values.push_back(each % 2 ? Bits{each} : rounded(static_cast<float>(static_cast<int16_t>(each)) / 4096));
    return values;
  }
};

template <int exponent_bits>
void check_small_floats() {
  using S = Small<exponent_bits>;
  using H = SmallBits<exponent_bits>;
  check({"T x, T y, int32 k, raw T a, raw int32 b", "T z, T w, float32 v, int32 u"},
        BODY_AND_MEANING(
            "T sum = x; for (int j = 0; j < k; ++j) { if (a[j] > x) break; sum += a[j] * y; } z = sum;"
            "if (x < y) w = x / y; else if (k == 1) w = -a[i % 6]; v = x * 2.5f; u = b[k] + (x == y) + (int)y;",
            (H x, H y, int32_t k, CArray<H, 1>& a, CArray<int32_t, 1>& b, H& z, H& w, float& v, int32_t& u),
            {
              const float fx = S::value(x), fy = S::value(y);
              H sum = x;
              for (int j = 0; j < k && !(S::value(a[j]) > fx); ++j)
                sum = S::rounded(S::value(sum) + S::value(S::rounded(S::value(a[j]) * fy)));
              z = sum;
              if (fx < fy)
                w = S::rounded(fx / fy);
              else if (k == 1)
                w = {static_cast<uint16_t>(a[i % 6].bits ^ 0x8000)};
              v = fx * 2.5f;
              u = static_cast<int32_t>(static_cast<uint32_t>(b[k]) + (fx == fy) +
                                       static_cast<uint32_t>(saturated<int32_t>(fy)));
            }),
        [](int64_t n) {
          return operands(plain(S::some(n, 1)), plain(S::some(n, 2)), plain(integers<int32_t>(n, 3, 0, 6)),
                          raw(S::some(6, 4)), raw(integers<int32_t>(7, 5, -50, 50)), plain(S::some(n, 6)),
                          plain(S::some(n, 7)), out<float>(n), out<int32_t>(n));
        });
}

TEST(SpmdSmallFloats, Half) { check_small_floats<5>(); }
TEST(SpmdSmallFloats, Brain) { check_small_floats<8>(); }

// Complex numbers.

template <class T>
std::vector<std::complex<T>> complexes(int64_t n, uint64_t seed) {
  const std::vector<T> re = quarters<T>(n, seed), im = quarters<T>(n, seed + 100);
  std::vector<std::complex<T>> all;
  for (size_t k = 0; k < re.size(); ++k) all.emplace_back(re[k], im[k]);
  return all;
}

template <class T>
void check_complex() {
  using C = std::complex<T>;
  const auto body = BODY_AND_MEANING(
      "z = x * y + conj(x); T part = a[i]; if (x.real() > 0) part = a[k] * x - y; w = part;"
      "T orbit = x * decltype(x.real())(0.01); int round = 0; while (round < 20 && norm(orbit) < 4) { orbit = orbit * "
      "orbit + y; ++round; }"
      "u = round; c[i + 1] = T(x.imag(), x.real());",
      (C x, C y, int32_t k, CArray<C, 1>& a, C& z, C& w, int32_t& u, CArray<C, 1>& c), {
        const auto product = [](C p, C q) {
          return C(p.real() * q.real() - p.imag() * q.imag(), p.real() * q.imag() + p.imag() * q.real());
        };
        z = product(x, y) + std::conj(x);
        w = x.real() > 0 ? product(a[k], x) - y : a[i];
        C orbit = {x.real() * T(0.01), x.imag() * T(0.01)};
        int round = 0;
        while (round < 20 && orbit.real() * orbit.real() + orbit.imag() * orbit.imag() < 4) {
          orbit = product(orbit, orbit) + y;
          ++round;
        }
        u = round;
        c[i + 1] = C(x.imag(), x.real());
      });
  check({"T x, T y, int32 k, raw T a", "T z, T w, int32 u, raw T c"}, body, [](int64_t n) {
    auto y = complexes<T>(n, 2);
    for (C& value : y) value /= T(40);
    return operands(plain(complexes<T>(n, 1)), plain(y), plain(integers<int32_t>(n, 3, 0, static_cast<int32_t>(n) - 1)),
                    raw(complexes<T>(n, 4)), plain(complexes<T>(n, 5)), plain(complexes<T>(n, 6)), out<int32_t>(n),
                    raw(complexes<T>(n + 1, 7)));
  });
}

TEST(SpmdComplex, OfFloats) { check_complex<float>(); }
TEST(SpmdComplex, OfDoubles) { check_complex<double>(); }

}  // namespace
}  // namespace iruka::test
