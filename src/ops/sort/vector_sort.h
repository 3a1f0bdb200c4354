// Sorting and selection on one thread by Highway's vector instructions for the processor's instruction set; by
// std::sort and std::nth_element if it has none.
#pragma once

#include <cstdint>
#include <type_traits>

namespace iruka::ops {

template <class T>
inline constexpr bool kIsVectorSorted = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Sorts n numbers, none of them NaN. For each T of which kIsVectorSorted is true.
template <class T>
void vector_sort(T* numbers, int64_t n);

/// Moves the number of rank k to its place, with no larger ones before it and no smaller ones after it.
template <class T>
void vector_select(T* numbers, int64_t k, int64_t n);

/// The same by keys, each of which takes its value along; the rest keeps its order but for the place. Takes 16 bytes a
/// pair.
void vector_select_pairs(uint64_t* keys, uint64_t* values, int64_t k, int64_t n);

}  // namespace iruka::ops
