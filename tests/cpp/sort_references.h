// Arrays to sort, and what std::stable_sort makes of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "iruka/iruka.h"

namespace iruka::test {

inline constexpr Dtype kSortable[] = {Dtype::bool_,   Dtype::int8,      Dtype::int16,     Dtype::int32,
                                      Dtype::int64,   Dtype::uint8,     Dtype::uint16,    Dtype::uint32,
                                      Dtype::uint64,  Dtype::float16,   Dtype::bfloat16,  Dtype::float32,
                                      Dtype::float64, Dtype::complex64, Dtype::complex128};

/// Random bytes, and in floats every kind of NaN, zero and infinity among ordinary numbers; `distinct` limits how many.
inline Array sortable(const Dims& shape, Dtype dtype, unsigned seed, int distinct = 0) {
  std::mt19937_64 random(seed);
  const Array x = Array::empty(shape, dtype, cpu());
  auto* bytes = static_cast<uint8_t*>(x.data());
  for (int64_t i = 0; i < x.nbytes(); ++i) bytes[i] = static_cast<uint8_t>(random());
  const int64_t size = x.itemsize();
  if (dtype == Dtype::bool_)
    for (int64_t i = 0; i < x.size(); ++i) bytes[i] &= 1;
  for (int64_t i = 0; distinct && i < x.size(); ++i)
    std::memcpy(bytes + i * size, bytes + static_cast<int64_t>(random() % static_cast<uint64_t>(distinct)) * size,
                static_cast<size_t>(size));
  if (!is_inexact(dtype)) return x;
  const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 1.0};
  for (int64_t i = 0; i < x.size(); ++i) {
    if (random() % 4) continue;
    const double re = special[random() % 7], im = is_complex(dtype) ? special[random() % 7] : 0;
    (is_complex(dtype) ? Scalar(std::complex<double>(re, im)) : Scalar(re)).store(dtype, bytes + i * size);
  }
  return x;
}

/// NumPy's order of complex numbers, and of all others.
inline bool comes_before(std::complex<double> a, std::complex<double> b) {
  const auto part_before = [](double x, double y) { return x < y || (x == x && y != y); };
  const auto same = [](double x, double y) { return x == y || (x != x && y != y); };
  const auto has_nan = [](std::complex<double> x) { return (x.real() != x.real()) * 2 + (x.imag() != x.imag()); };
  if (has_nan(a) != has_nan(b)) return has_nan(a) < has_nan(b);
  return part_before(a.real(), b.real()) || (same(a.real(), b.real()) && part_before(a.imag(), b.imag()));
}

template <class Value, class Before>
std::vector<int64_t> stable_order(const std::vector<Value>& values, bool descending, Before before) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const Value &x = values[static_cast<size_t>(a)], &y = values[static_cast<size_t>(b)];
    return descending ? before(y, x) : before(x, y);
  });
  return order;
}

/// The indices that a stable sort of one row gives.
inline std::vector<int64_t> expected_order(const Array& row, bool descending = false) {
  const auto* bytes = static_cast<const uint8_t*>(row.data());
  const auto element = [&](int64_t i) { return Scalar::load(row.dtype(), bytes + i * row.itemsize()); };
  if (row.dtype() == Dtype::uint64 || row.dtype() == Dtype::int64) {
    std::vector<__int128> values;
    for (int64_t i = 0; i < row.size(); ++i)
      values.push_back(row.dtype() == Dtype::uint64 ? __int128{element(i).as_uint64()}
                                                    : __int128{element(i).as_int64()});
    return stable_order(values, descending, std::less<>());
  }
  std::vector<std::complex<double>> values;
  for (int64_t i = 0; i < row.size(); ++i) values.push_back(element(i).as_complex());
  return stable_order(values, descending, comes_before);
}

}  // namespace iruka::test
