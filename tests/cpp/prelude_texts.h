// Texts that every target's prelude must take, with what they compute where that is a constant.
#pragma once

namespace iruka::test {

/// float16 and bfloat16 among other numbers.
inline constexpr const char* kSmallFloatRules = R"(
template <class T> void check(T x, T y) {
  using iruka::is_same;
  static_assert(is_same<decltype(x + y), T> && is_same<decltype(x * 2), T> && is_same<decltype(2u / x), T>);
  static_assert(is_same<decltype(x - true), T> && is_same<decltype(x + 1ll), T> && is_same<decltype(-x), T>);
  static_assert(is_same<decltype(x + 1.0f), float> && is_same<decltype(1.0 * x), double>);
  static_assert(is_same<decltype(sqrt(x)), T> && is_same<decltype(pow(x, 2)), T> &&
  is_same<decltype(pow(x, 2.0f)), float>);
  static_assert(is_same<decltype(max(x, 0)), T> && is_same<decltype(max(x, 1.0f)), float> &&
  is_same<decltype(abs(x)), T>);
  static_assert(sizeof(T) == 2 && alignof(T) == 2 && __is_trivially_copyable(T) && __is_trivial(T));
  T z = x + y; z = x * 2; z = 2 * x; z = sqrt(x); z = 1; z = 2.5; z = 2.5f; z = true; z = 7ull; z = -x;
  float f = x; double d = x; int k = x; bool b = x < 1; b = x < y; b = 0 == x; b = x != 1.5; b = !x;
  z += 1; z += y; z += 1.5f; z -= 2.0; z *= f; z /= 3u; ++z; --z; z++; z--; z = x > y ? x : y;
  z = (T)d; d = (double)x; k = (int)x; z = exp(x); z = fma(x, y, z); z = floor(x); b = isnan(x); b = signbit(x);
  z = fmaf(x, y, z); f = powf(x, y); z = min(x, y); z = max(0, min(x, y)); z = hypot(x, 1);
  if (x) z = 0;
}
template void check(float16, float16);
template void check(bfloat16, bfloat16);
)";

/// Which type a function of mixed numbers has.
inline constexpr const char* kPromotionRules = R"(
using iruka::is_same;
static_assert(is_same<decltype(exp(1)), double> && is_same<decltype(exp(1.0f)), float> &&
is_same<decltype(exp(1.0)), double>);
static_assert(is_same<decltype(sqrt((int16_t)1)), double> && is_same<decltype(pow(1.0f, 2)), float>);
static_assert(is_same<decltype(pow(2, 2)), double> && is_same<decltype(pow(1.0f, 2.0)), double>);
static_assert(is_same<decltype(atan2(1, 2.0f)), float> && is_same<decltype(floor((uint8_t)3)), double>);
static_assert(is_same<decltype(max((uint16_t)1, (uint16_t)2)), int> && is_same<decltype(min(1, 2u)), unsigned>);
static_assert(is_same<decltype(max((int64_t)1, 2)), int64_t> && is_same<decltype(max(1ll, (int64_t)2)), long long>);
static_assert(is_same<decltype(max(1, 2.0f)), float> && is_same<decltype(max(1.0f, 2.0)), double>);
static_assert(is_same<decltype(abs((int8_t)1)), int> && is_same<decltype(abs((int64_t)1)), int64_t> &&
is_same<decltype(abs(1.0f)), float>);
static_assert(is_same<decltype(sinpif(1)), float> && is_same<decltype(rsqrt(4)), double> &&
is_same<decltype(isnan(1)), bool>);
)";

/// Stores to long long z[40].
inline constexpr const char* kIntrinsicsBody = R"(
    z[0] = __popc(0xf0f0u); z[1] = __popcll(~0ull); z[2] = __clz(1); z[3] = __clz(0); z[4] = __clzll(0);
    z[5] = __clzll(1ll << 40);
    z[6] = __ffs(0); z[7] = __ffs(8); z[8] = __ffsll(1ll << 50); z[9] = __brev(1u); z[10] = (long long)__brevll(2ull);
    z[11] = __mul24(-3, 5); z[12] = __umul24(0xff000003u, 7u); z[13] = __mulhi(1 << 30, -8);
    z[14] = __umulhi(~0u, ~0u);
    z[15] = __mul64hi(1ll << 62, -8); z[16] = (long long)__umul64hi(~0ull, ~0ull); z[17] = __sad(-5, 7, 100);
    z[18] = __usad(7u, 5u, 1u);
    z[19] = __byte_perm(0x33221100, 0x77665544, 0x7531); z[20] = __byte_perm(0x80000000u, 0, 0x000b);
    z[21] = __float_as_int(1.0f); z[22] = (long long)(__int_as_float(0x40490fdb) * 1000);
    z[23] = __double_as_longlong(2.0);
    z[24] = __longlong_as_double(0x3ff8000000000000ll) * 10; z[25] = __double2hiint(1.0);
    z[26] = __hiloint2double(0x40080000, 0);
    z[27] = __float2int_rn(2.5f); z[28] = __float2int_rz(-2.9f); z[29] = __float2int_ru(2.1f);
    z[30] = __float2int_rd(-2.1f);
    z[31] = lrint(3.5); z[32] = lround(-2.5f); z[33] = llrintf(2.5f); z[34] = __hadd(2147483647, 2147483647);
    z[35] = __funnelshift_l(0x80000000u, 1u, 1u); z[36] = __funnelshift_r(1u, 2u, 1u); z[37] = __ldg(z + 27);
    z[38] = __fmaf_rn(2, 3, 4);
    assert(z[0] == 8); __stcg(z + 39, 1); z[39] = __fdividef(9.0f, 2.0f) * 10;)";
inline constexpr long long kIntrinsicsWant[40] = {8,
                                                  64,
                                                  31,
                                                  32,
                                                  64,
                                                  23,
                                                  0,
                                                  4,
                                                  51,
                                                  0x80000000ll,
                                                  0x4000000000000000ll,
                                                  -15,
                                                  21,
                                                  -2,
                                                  0xfffffffell,
                                                  -2,
                                                  -2,
                                                  112,
                                                  3,
                                                  0x77553311ll,
                                                  0x80,
                                                  0x3f800000,
                                                  3141,
                                                  0x4000000000000000ll,
                                                  15,
                                                  0x3ff00000,
                                                  3,
                                                  2,
                                                  -2,
                                                  3,
                                                  -3,
                                                  4,
                                                  -3,
                                                  2,
                                                  2147483647,
                                                  3,
                                                  0,
                                                  2,
                                                  10,
                                                  45};

}  // namespace iruka::test
