#include "ops/sort/vector_sort.h"

#include <algorithm>
#include <vector>

#include "core/once.h"
#include "ops/sort/vector_sort_table.h"

namespace iruka::ops {
namespace {

template <class T>
constexpr VectorSorts<T> scalar_sorts() {
  return {[](T* numbers, size_t n) { std::sort(numbers, numbers + n); },
          [](T* numbers, size_t k, size_t n) { std::nth_element(numbers, numbers + k, numbers + n); }};
}

const VectorSortTable& table() {
  return *made_once([] { return vector_sort_tables().back(); });
}

}  // namespace

std::vector<const VectorSortTable*> vector_sort_tables() {
  static constexpr VectorSortTable kScalarSorts{scalar_sorts<int32_t>(), scalar_sorts<uint32_t>(),
                                                scalar_sorts<int64_t>(), scalar_sorts<uint64_t>(),
                                                scalar_sorts<float>(),   scalar_sorts<double>()};
  std::vector<const VectorSortTable*> tables{&kScalarSorts};
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") &&
                        __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw");
  if (has_avx2) tables.push_back(&kAvx2Sorts);
  if (has_avx2 && has_avx512) tables.push_back(&kAvx512Sorts);
#endif
  return tables;
}

template <class T>
void vector_sort(T* numbers, int64_t n) {
  std::get<VectorSorts<T>>(table()).sort(numbers, static_cast<size_t>(n));
}

template <class T>
void vector_select(T* numbers, int64_t k, int64_t n) {
  std::get<VectorSorts<T>>(table()).select(numbers, static_cast<size_t>(k), static_cast<size_t>(n));
}

void vector_select_pairs(uint64_t* keys, uint64_t* values, int64_t k, int64_t n) {
  const auto count = static_cast<size_t>(n);
  std::vector<uint64_t> ordered(keys, keys + n);
  vector_select(ordered.data(), k, n);
  const uint64_t pivot = ordered[static_cast<size_t>(k)];
  // Where the next smaller, equal and larger key goes.
  const auto smaller = static_cast<size_t>(
      std::count_if(ordered.begin(), ordered.begin() + k, [=](uint64_t key) { return key < pivot; }));
  size_t next[3] = {0, smaller, smaller + static_cast<size_t>(std::count(ordered.begin(), ordered.end(), pivot))};
  std::vector<uint64_t> moved(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t to = next[(keys[i] >= pivot) + (keys[i] > pivot)]++;
    ordered[to] = keys[i];
    moved[to] = values[i];
  }
  std::copy(ordered.begin(), ordered.end(), keys);
  std::copy(moved.begin(), moved.end(), values);
}

#define IRUKA_VECTOR_SORTED(T)                \
  template void vector_sort(T* x, int64_t n); \
  template void vector_select(T* x, int64_t k, int64_t n);
IRUKA_VECTOR_SORTED(int32_t)
IRUKA_VECTOR_SORTED(uint32_t)
IRUKA_VECTOR_SORTED(int64_t)
IRUKA_VECTOR_SORTED(uint64_t)
IRUKA_VECTOR_SORTED(float)
IRUKA_VECTOR_SORTED(double)
#undef IRUKA_VECTOR_SORTED

}  // namespace iruka::ops
