// The functions that vector_sort.cpp calls: one table for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace iruka::ops {

template <class T>
struct VectorSorts {
  void (*sort)(T*, size_t n);
  void (*select)(T*, size_t k, size_t n);
};

using VectorSortTable = std::tuple<VectorSorts<int32_t>, VectorSorts<uint32_t>, VectorSorts<int64_t>,
                                   VectorSorts<uint64_t>, VectorSorts<float>, VectorSorts<double>>;

extern const VectorSortTable &kAvx2Sorts, &kAvx512Sorts;  ///< only on x86

/// Those that this processor can run, the slowest first.
std::vector<const VectorSortTable*> vector_sort_tables();

}  // namespace iruka::ops
