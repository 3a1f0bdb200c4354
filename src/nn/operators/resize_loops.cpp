#include "nn/operators/resize_loops.h"

#include <algorithm>
#include <vector>

#include "core/parallel.h"

namespace iruka::nn {
namespace {

/// Elements of the result for which a thread pays.
constexpr int64_t kGrain = 1 << 15;

/// A row of the result, along the axis: the weights belong to its elements.
template <int kTaps, class T>
void sum_along(const ResizedAxis& axis, const T* weights, const T* x, T* y) {
  const int64_t taps = kTaps ? kTaps : axis.taps;
  const int64_t* place = axis.places;
  for (int64_t to = 0; to < axis.out; ++to, place += taps, weights += taps) {
    T total = 0;
    for (int64_t tap = 0; tap < taps; ++tap) total += weights[tap] * x[place[tap]];
    y[to] = total;
  }
}
template <class T>
void copy_along(const ResizedAxis& axis, const T* x, T* y) {
  for (int64_t to = 0; to < axis.out; ++to) y[to] = x[axis.places[to]];
}

/// An element of the axis with all that lies behind it: a row of the result shares its weights.
template <int kTaps, class T>
void sum_rows(const ResizedAxis& axis, const int64_t* places, const T* weights, const T* x, T* y) {
  const T* rows[kTaps];
  for (int tap = 0; tap < kTaps; ++tap) rows[tap] = x + places[tap] * axis.inner;
  for (int64_t k = 0; k < axis.inner; ++k) {
    T total = 0;
    for (int tap = 0; tap < kTaps; ++tap) total += weights[tap] * rows[tap][k];
    y[k] = total;
  }
}
template <class T>
void sum_any_rows(const ResizedAxis& axis, const int64_t* places, const T* weights, const T* x, T* y) {
  std::fill_n(y, axis.inner, T(0));
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    const T* const row = x + places[tap] * axis.inner;
    for (int64_t k = 0; k < axis.inner; ++k) y[k] += weights[tap] * row[k];
  }
}

/// Calls `row(from, to, place)` for all rows of the result: those along the axis where nothing lies behind it.
template <class T, class Row>
void for_rows(const ResizedAxis& axis, const Array& x, const Array& result, Row&& row) {
  const bool is_last = axis.inner == 1;
  const int64_t rows = is_last ? axis.outer : axis.outer * axis.out, size = is_last ? axis.out : axis.inner;
  const auto* const from = static_cast<const T*>(x.data());
  auto* const to = static_cast<T*>(result.data());
  parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end && !should_stop(); ++at) {
      const int64_t outer = is_last ? at : at / axis.out;
      row(from + outer * axis.in * axis.inner, to + at * size, is_last ? 0 : at % axis.out);
    }
  });
}

template <class T>
void sum(const ResizedAxis& axis, const Array& x, const Array& result) {
  const std::vector<T> weights(axis.weights, axis.weights + axis.out * axis.taps);
  for_rows<T>(axis, x, result, [&](const T* from, T* to, int64_t place) {
    const int64_t first = place * axis.taps;
    const int64_t* const places = axis.places + first;
    const T* const factors = weights.data() + first;
    if (axis.inner == 1) {
      if (axis.taps == 2) return sum_along<2>(axis, factors, from, to);
      if (axis.taps == 4) return sum_along<4>(axis, factors, from, to);
      return sum_along<0>(axis, factors, from, to);
    }
    if (axis.taps == 2) return sum_rows<2>(axis, places, factors, from, to);
    if (axis.taps == 4) return sum_rows<4>(axis, places, factors, from, to);
    sum_any_rows(axis, places, factors, from, to);
  });
}

template <class T>
void copy(const ResizedAxis& axis, const Array& x, const Array& result) {
  for_rows<T>(axis, x, result, [&](const T* from, T* to, int64_t place) {
    if (axis.inner == 1) return copy_along(axis, from, to);
    std::copy_n(from + axis.places[place] * axis.inner, axis.inner, to);
  });
}

}  // namespace

bool resize_by_loops(const ResizedAxis& axis, const Array& x, const Array& result) {
  if (axis.taps == 1) {
    switch (x.itemsize()) {
      case 1: return copy<uint8_t>(axis, x, result), true;
      case 2: return copy<uint16_t>(axis, x, result), true;
      case 4: return copy<uint32_t>(axis, x, result), true;
      case 8: return copy<uint64_t>(axis, x, result), true;
      default: return false;
    }
  }
  if (x.dtype() == Dtype::float32) return sum<float>(axis, x, result), true;
  if (x.dtype() == Dtype::float64) return sum<double>(axis, x, result), true;
  return false;
}

}  // namespace iruka::nn
