// Highway's vqsort (Wassenberg, Blacher, Giesen and Sanders, "Vectorized and performance-portable Quicksort", 2022) for
// the instruction sets of x86. Highway includes this file once for each of them.
#if defined(__x86_64__)
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ops/sort/vector_sort_table.h"

// clang-format off: foreach_target.h comes first
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/sort/vector_sort_x86.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/vqsort-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace iruka::ops::HWY_NAMESPACE {
#if VQSORT_ENABLED

namespace sorting = hwy::HWY_NAMESPACE;
template <class T>
using Traits = sorting::detail::SharedTraits<sorting::detail::TraitsLane<sorting::detail::OrderAscending<T>>>;

constexpr size_t kShort = 256, kSamples = 16;

template <class T>
void sort(T* numbers, size_t n) {
  if (n > 1) sorting::Sort(sorting::SortTag<T>(), Traits<T>(), numbers, n, numbers);
}

/// Quickselect by Highway's partition, which moves all numbers up to the pivot to the front; if none remain behind, the
/// pivot is the largest.
template <class T>
void select(T* numbers, size_t k, size_t n) {
  const sorting::SortTag<T> tag;
  HWY_ALIGN T buffer[hwy::SortConstants::BufNum<T>(HWY_LANES(T))];
  for (int rounds = 2 * 64; n > kShort && rounds > 0; --rounds) {
    T samples[kSamples];
    const size_t step = n / kSamples;
    for (size_t i = 0; i < kSamples; ++i) samples[i] = numbers[i * step + step / 2];
    std::sort(samples, samples + kSamples);
    const T pivot = samples[std::min(k / step, kSamples - 2)];
    const size_t left = sorting::detail::Partition(tag, Traits<T>(), numbers, n, sorting::Set(tag, pivot), buffer);
    if (left == n) break;
    if (k < left) {
      n = left;
    } else {
      numbers += left, k -= left, n -= left;
    }
  }
  sort(numbers, n);
}

/// Converts in place between floats and integers of the same order. Highway 1.0.3 loses infinities, because it pads
/// with the largest number.
template <class Bits>
void swap_order(Bits* bits, size_t n) {
  const sorting::ScalableTag<Bits> tag;
  const auto others = sorting::Set(tag, std::numeric_limits<Bits>::max());
  size_t i = 0;
  for (; i + sorting::Lanes(tag) <= n; i += sorting::Lanes(tag)) {
    const auto word = sorting::LoadU(tag, bits + i);
    sorting::StoreU(sorting::Xor(word, sorting::And(sorting::BroadcastSignBit(word), others)), tag, bits + i);
  }
  for (; i < n; ++i) bits[i] ^= bits[i] < 0 ? std::numeric_limits<Bits>::max() : 0;
}

/// Calls `order` with the integers that stand for the numbers.
template <class T, class Order>
void in_integers(T* numbers, size_t n, Order order) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    auto* const bits = reinterpret_cast<Bits*>(numbers);
    swap_order(bits, n);
    order(bits);
    swap_order(bits, n);
  } else {
    order(numbers);
  }
}

template <class T>
constexpr VectorSorts<T> vector_sorts() {
  return {[](T* numbers, size_t n) { in_integers(numbers, n, [n](auto* integers) { sort(integers, n); }); },
          [](T* numbers, size_t k, size_t n) {
            in_integers(numbers, n, [k, n](auto* integers) { select(integers, k, n); });
          }};
}

constexpr VectorSortTable kSorts{vector_sorts<int32_t>(),  vector_sorts<uint32_t>(), vector_sorts<int64_t>(),
                                 vector_sorts<uint64_t>(), vector_sorts<float>(),    vector_sorts<double>()};

#endif
}  // namespace iruka::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
/// The seed of Highway's samples, fixed; by default Highway uses random bits of the system.
void hwy::Sorter::Fill24Bytes(const void*, size_t, void* bytes) { std::memcpy(bytes, "the same for every array", 24); }

namespace iruka::ops {

const VectorSortTable &kAvx2Sorts = N_AVX2::kSorts, &kAvx512Sorts = N_AVX3::kSorts;

}  // namespace iruka::ops
#endif
#endif
