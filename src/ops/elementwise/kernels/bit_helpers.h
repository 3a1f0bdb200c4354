#pragma once

namespace iruka::op {

template <class T> inline T invert(T x) { return T(~x); }
inline bool invert(bool x) { return !x; }
template <class T> inline constexpr int width = sizeof(T) * 8;
template <class T> inline T left_shift(T x, T by) { return by >= 0 && by < T(width<T>) ? T(x << by) : T(0); }
template <class T> inline T right_shift(T x, T by) {
  return by >= 0 && by < T(width<T>) ? T(x >> by) : x < 0 ? T(-1) : T(0);
}
template <class T> inline unsigned char bit_count(T x) {
  unsigned long long v = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
  if constexpr (sizeof(T) < 8) v &= (1ull << (sizeof(T) * 8 % 64)) - 1;
  v = v - ((v >> 1) & 0x5555555555555555ull);
  v = (v & 0x3333333333333333ull) + ((v >> 2) & 0x3333333333333333ull);
  v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return (unsigned char)((v * 0x0101010101010101ull) >> 56);
}

}  // namespace iruka::op
