#pragma once

namespace iruka::op {

/// The absolute value, also of the smallest integer, whose own type does not hold it.
template <class T> inline auto unsigned_absolute(T x) {
  using U = iruka::UnsignedOf<T>;
  return x < T(0) ? U(0) - U(x) : U(x);
}
template <class T> inline T gcd(T x, T y) {
  auto a = unsigned_absolute(x), b = unsigned_absolute(y);
  while (b != 0) {
    const auto rest = a % b;
    a = b;
    b = rest;
  }
  return T(a);
}
template <class T> inline T lcm(T a, T b) {
  const auto divisor = unsigned_absolute(gcd(a, b));
  return divisor == 0 ? T(0) : T(unsigned_absolute(a) / divisor * unsigned_absolute(b));
}

}  // namespace iruka::op
