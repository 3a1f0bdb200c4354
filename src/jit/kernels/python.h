// What Python's operators and built-in functions mean, for translated functions.
#pragma once

namespace iruka::python {

template <class T> inline T square(T x) { return wrapping_multiply(x, x); }
template <class T> inline T cube(T x) { return wrapping_multiply(square(x), x); }
template <class T> inline T absolute(T x) { return x < 0 ? wrapping_negate(x) : x; }
inline float absolute(float x) { return fabsf(x); }
inline double absolute(double x) { return fabs(x); }

// min(a, b) and max(a, b) give the first where neither is less, as where one is NaN.
template <class T> inline T first_min(T a, T b) { return b < a ? b : a; }
template <class T> inline T first_max(T a, T b) { return b > a ? b : a; }

// round(x, digits) with 10 to the power of the digits, or of -digits: the decimal number that is nearest to x itself.
// The remainder of the product tells a tie from what only rounds to one.
inline double nearest_integer(double y, double remainder) {
  if (fabs(y - trunc(y)) != 0.5 || remainder == 0) return ::rint(y);
  return remainder > 0 ? ceil(y) : floor(y);
}
inline double rounded_to(double x, double scale) {
  const double y = x * scale;
  return fabs(y) < 0x1p53 ? nearest_integer(y, fma(x, scale, -y)) / scale : x;
}
inline double rounded_above(double x, double scale) {
  const double y = x / scale;
  return fabs(y) < 0x1p53 ? nearest_integer(y, fma(-y, scale, x)) * scale : x;
}

// round(x, -digits) of integers with 10 to the power of the digits: the nearest multiple of it, of two the even one.
inline uint64_t nearest_multiple(uint64_t x, uint64_t unit) {
  const uint64_t above = x % unit, below = x - above, missing = unit - above;
  const bool is_up = above > missing || (above == missing && below / unit % 2 != 0);
  return is_up ? below + unit : below;
}
inline uint64_t rounded_above(uint64_t x, uint64_t unit) { return nearest_multiple(x, unit); }
inline int64_t rounded_above(int64_t x, uint64_t unit) {
  return x < 0 ? (int64_t)(0 - nearest_multiple(0 - (uint64_t)x, unit)) : (int64_t)nearest_multiple((uint64_t)x, unit);
}

inline bool is_close(double a, double b, double relative, double absolute) {
  if (a == b) return true;
  const double difference = fabs(a - b), larger = fmax(fabs(a), fabs(b));
  return larger < INFINITY && (difference <= relative * larger || difference <= absolute);
}

// The integer square root; of a negative number `failed` is 1.
template <class T> inline T isqrt(int64_t& failed, T n) {
  if (n < 0) failed = 1;
  const uint64_t value = n < 0 ? 0 : (uint64_t)n;
  uint64_t root = (uint64_t)fmin(sqrt((double)value), 4294967295.0);
  if (root * root > value) --root;
  if (root < 4294967295u && (root + 1) * (root + 1) <= value) ++root;
  return (T)root;
}

// Comparisons of a signed with an unsigned integer, by their values.
template <class A> constexpr bool is_signed = (A)-1 < (A)0;
template <class A, class B> inline bool less(A a, B b) {
  if constexpr (is_signed<A>) return a < 0 || (uint64_t)a < (uint64_t)b;
  return b >= 0 && (uint64_t)a < (uint64_t)b;
}
template <class A, class B> inline bool equal(A a, B b) {
  if constexpr (is_signed<A>) return a >= 0 && (uint64_t)a == (uint64_t)b;
  return b >= 0 && (uint64_t)a == (uint64_t)b;
}
template <class A, class B> inline bool greater(A a, B b) { return less(b, a); }
template <class A, class B> inline bool less_equal(A a, B b) { return !less(b, a); }
template <class A, class B> inline bool greater_equal(A a, B b) { return !less(a, b); }

// An index of an axis of `extent` elements, from its end where it is negative. Out of bounds, `failed` is -1.
inline int64_t within(int64_t& failed, int64_t index, int64_t extent) {
  const int64_t place = index < 0 ? index + extent : index;
  if (place >= 0 && place < extent) return place;
  failed = failed ? failed : -1;
  return 0;
}

#ifndef __CUDACC_RTC__
// Keeps the least number of an element that failed. The prelude's atomicMin is a template that takes long to compile.
inline void note_failed(int64_t* first, int64_t element) { __atomic_fetch_min(first, element, __ATOMIC_RELAXED); }
#endif

// An index of an array whose places fit int32. GPUs compute with its low 32 bits, CPUs address with 64.
inline auto place([[maybe_unused]] int64_t index, [[maybe_unused]] uint32_t low) {
#ifdef __CUDACC_RTC__
  return (int)low;
#else
  return index;
#endif
}

// The k-th of some numbers; k is not checked.
template <class T, class... Items> inline T kth(int64_t k, Items... items) {
  T result{};
  int64_t place = 0;
  ((result = place++ == k ? (T)items : result), ...);
  return result;
}
template <class T, class... Items> inline T item(int64_t& failed, int64_t index, T first, Items... items) {
  return kth<T>(within(failed, index, 1 + sizeof...(items)), first, items...);
}

// The number of elements of a range, at most the largest int64. Bounds may be as far apart as uint64 counts.
inline int64_t length_of_range(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const uint64_t width = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
  const uint64_t length = (width - 1) / (step > 0 ? (uint64_t)step : 0 - (uint64_t)step) + 1;
  return length < (uint64_t)INT64_MAX ? (int64_t)length : INT64_MAX;
}
inline int64_t item_of_range(int64_t start, int64_t k, int64_t step) {
  return (int64_t)((uint64_t)start + (uint64_t)k * (uint64_t)step);
}

}  // namespace iruka::python
