// How the CPU's reductions carry moments: a mean and the squares about it.
#pragma once

namespace iruka::ops {

// var: mean and squared distances of blocks that stay in the nearest cache, joined.
inline constexpr const char* kMomentsAccumulator = R"(
struct Accumulator {
  Moments all = start_moments();
  void row(const char* p, ptrdiff_t n, ptrdiff_t stride) {
    const A pivot = map(element(p, 0, stride));
    constexpr ptrdiff_t kBlock = 1024;
    for (ptrdiff_t i = 0; i < n; i += kBlock) {
      const ptrdiff_t length = n - i < kBlock ? n - i : kBlock;
      const A mean = sum(p + i * stride, length, stride, pivot) / R(length);
      all = combine(all, Moments{pivot, mean, squares(p + i * stride, length, stride, pivot, mean), double(length)});
    }
  }
  Moments result() { return all; }
};
)";

inline constexpr const char* kVectorMoments = R"(
static inline A sum(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot) {
  VA v = start_lanes();
  ptrdiff_t i = 0;
  for (; i <= n - kReach; i += W) v = v + (load(p + i * stride, stride) - (VA)(pivot));
  A value = fold(v);
  for (; i < n; ++i) value = value + (map(element(p, i, stride)) - pivot);
  return value;
}
static inline R squares(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot, A mean) {
  VA v = start_lanes();
  ptrdiff_t i = 0;
  for (; i <= n - kReach; i += W) {
    const VA d = (load(p + i * stride, stride) - (VA)(pivot)) - (VA)(mean);
    v = v + d * d;
  }
  R value = fold(v);
  for (; i < n; ++i) value = value + square_of((map(element(p, i, stride)) - pivot) - mean);
  return value;
}
)";

inline constexpr const char* kScalarMoments = R"(
static inline A sum(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot) {
  A value = start();
  for (ptrdiff_t i = 0; i < n; ++i) value = value + (map(element(p, i, stride)) - pivot);
  return value;
}
static inline R squares(const char* p, ptrdiff_t n, ptrdiff_t stride, A pivot, A mean) {
  R value = R(0);
  for (ptrdiff_t i = 0; i < n; ++i) value = value + square_of((map(element(p, i, stride)) - pivot) - mean);
  return value;
}
)";

// Columns: every row moves the means by a share of its distance from them (Welford, 1962).
inline constexpr const char* kVectorMomentsRows = R"(
static inline void moments_rows(const A* pivots, A* means, R* squares, const char* const* p, int count,
                                ptrdiff_t seen, ptrdiff_t width, ptrdiff_t stride) {
  R share[8];
  for (int k = 0; k < count; ++k) share[k] = R(1) / R(seen + k + 1);
  ptrdiff_t j = 0;
  for (; j <= width - kReach; j += W) {
    VA pivot, mean, square;
    __builtin_memcpy(&pivot, pivots + j, sizeof(pivot));
    __builtin_memcpy(&mean, means + j, sizeof(mean));
    __builtin_memcpy(&square, squares + j, sizeof(square));
    for (int k = 0; k < count; ++k) {
      const VA x = load(p[k] + j * stride, stride) - pivot, d = x - mean;
      mean = mean + d * (VA)(share[k]);
      square = square + d * (x - mean);
    }
    __builtin_memcpy(means + j, &mean, sizeof(mean));
    __builtin_memcpy(squares + j, &square, sizeof(square));
  }
  REST
}
)";

inline constexpr const char* kMomentsRest = R"(for (; j < width; ++j)
    for (int k = 0; k < count; ++k) {
      const A d = (map(element(p[k], j, stride)) - pivots[j]) - means[j];
      means[j] = means[j] + d * share[k];
      squares[j] = squares[j] + square_of(d) * (R(1) - share[k]);
    })";

inline constexpr const char* kScalarMomentsRows = R"(
static inline void moments_rows(const A* pivots, A* means, R* squares, const char* const* p, int count,
                                ptrdiff_t seen, ptrdiff_t width, ptrdiff_t stride) {
  R share[8];
  for (int k = 0; k < count; ++k) share[k] = R(1) / R(seen + k + 1);
  ptrdiff_t j = 0;
  REST
}
)";

}  // namespace iruka::ops
