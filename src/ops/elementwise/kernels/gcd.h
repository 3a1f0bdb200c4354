#pragma once

namespace iruka::op {

template <int Bytes> struct Magnitude {
  using type = unsigned;
};
template <> struct Magnitude<8> {
  using type = unsigned long long;
};
template <class T> inline auto magnitude(T x) {
  using U = typename Magnitude<sizeof(T)>::type;
  return x < T(0) ? U(0) - U(x) : U(x);
}
template <class T> inline T gcd(T x, T y) {
  auto a = magnitude(x), b = magnitude(y);
  while (b != 0) {
    const auto rest = a % b;
    a = b;
    b = rest;
  }
  return T(a);
}
template <class T> inline T lcm(T a, T b) {
  const auto divisor = magnitude(gcd(a, b));
  return divisor == 0 ? T(0) : T(magnitude(a) / divisor * magnitude(b));
}

}  // namespace iruka::op
