// Functions on the bits of the stored type S: positive values have the order of their bits. scale() is musl's scalbn.
#pragma once

namespace iruka::op {

template <int Bytes> struct Bits;
template <> struct Bits<2> {
  using type = short;
};
template <> struct Bits<4> {
  using type = int;
};
template <> struct Bits<8> {
  using type = long long;
};
template <class S, class T> inline T next_after(T x, T y) {
  using B = typename Bits<sizeof(S)>::type;
  if (x != x || y != y) return x + y;
  if (x == y) return y;  // zeros may differ in sign, as in C
  B bits = __builtin_bit_cast(B, static_cast<S>(x));
  if (x == T(0))
    bits = y > T(0) ? B(1) : B((B(1) << (sizeof(S) * 8 - 1)) | 1);
  else
    bits = B(bits + ((x < y) == (x > T(0)) ? 1 : -1));
  return static_cast<T>(__builtin_bit_cast(S, bits));
}
template <class S, class T> inline T spacing(T x) {
  if (x - x != T(0)) return x - x;
  const T infinity = T(__builtin_bit_cast(double, 0x7ff0000000000000ll));
  const T distance = next_after<S>(x, x < T(0) ? -infinity : infinity) - x;
  if (sizeof(S) != 2) return distance;
  // For float16 NumPy returns the distance to the next value above.
  return x < T(0) ? next_after<S>(x, infinity) - x : fabs(distance);
}
inline double power_of_two(long long n) { return __builtin_bit_cast(double, (n + 1023) << 52); }
inline double scale(double x, long long n) {
  n = n > 4000 ? 4000 : n < -4000 ? -4000 : n;
  for (int step = 0; step < 2 && n > 1023; ++step, n -= 1023) x *= power_of_two(1023);
  for (int step = 0; step < 2 && n < -1022; ++step, n += 969) x *= power_of_two(-969);
  return x * power_of_two(n > 1023 ? 1023 : n < -1022 ? -1022 : n);
}
inline float scale(float x, long long n) {
  return static_cast<float>(static_cast<double>(x) * power_of_two(n > 600 ? 600 : n < -600 ? -600 : n));
}
inline double split(double x, int& exponent) {
  exponent = 0;
  if (x == 0 || x - x != 0) return x;
  int shift = 0;
  if (fabs(x) < power_of_two(-1022)) x *= power_of_two(54), shift = 54;
  const long long bits = __builtin_bit_cast(long long, x);
  exponent = int((bits >> 52) & 0x7ff) - 1022 - shift;
  return __builtin_bit_cast(double, (bits & ~(0x7ffll << 52)) | (1022ll << 52));
}
inline float split(float x, int& exponent) { return static_cast<float>(split(static_cast<double>(x), exponent)); }

}  // namespace iruka::op
