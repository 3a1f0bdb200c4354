// Arrays that a translated function reads and writes: the part of a loop's array that belongs to one of its steps.
#pragma once

#include "carray.h"
#include "jit/kernels/python.h"

namespace iruka::python {

/// A strided array of N axes. Strides are in bytes; indices of rows are checked, and count from the end where they are
/// negative. Elements are written out in the text (expressions.py).
template <class T, int N> struct View {
  char* data;
  int64_t shape[N > 0 ? N : 1];
  int64_t strides[N > 0 ? N : 1];

  inline View<T, N - 1> row(int64_t& failed, int64_t index) const { return row_at(within(failed, index, shape[0])); }
  inline View<T, N - 1> row_at(int64_t index) const {
    View<T, N - 1> result{data + index * strides[0]};
    for (int axis = 1; axis < N; ++axis) {
      result.shape[axis - 1] = shape[axis];
      result.strides[axis - 1] = strides[axis];
    }
    return result;
  }
  inline int64_t size() const {
    int64_t size = 1;
    for (int axis = 0; axis < N; ++axis) size *= shape[axis];
    return size;
  }
  inline void fill(T value) const {
    if constexpr (N == 0) {
      *(T*)data = value;
    } else {
      for (int64_t k = 0; k < shape[0]; ++k) row_at(k).fill(value);
    }
  }
};

// The arrays' own members are used, because compilers take long to instantiate and inline their functions.

/// The last N axes of an array for the step `place` of the loop over the others. A number is an array of one element.
template <int N, bool is_number = false, class T, int M>
inline View<T, is_number ? 1 : N> part_of(const CArray<T, M>& array, int64_t place) {
  View<T, is_number ? 1 : N> result{(char*)array.data_};
  for (int axis = M - N - 1; axis > 0; --axis) {
    result.data += place % array.shape_[axis] * array.strides_[axis];
    place /= array.shape_[axis];
  }
  if constexpr (M > N) result.data += place * array.strides_[0];
  for (int axis = 0; axis < N; ++axis) {
    result.shape[axis] = array.shape_[M - N + axis];
    result.strides[axis] = array.strides_[M - N + axis];
  }
  if constexpr (is_number) result.shape[0] = 1, result.strides[0] = 0;
  return result;
}

/// The number for the step `place` of a loop over all axes.
template <class T, int M> inline T number_of(const CArray<T, M>& array, int64_t place) {
  return *(T*)part_of<0>(array, place).data;
}

}  // namespace iruka::python
