// The types of a body's raw parameters (CArray) and of the loop's index (CIndexer).
#pragma once

#include "target.h"

/// A strided array of rank N. `a[k]` is element k in C order, whatever the strides. `a[{y, x}]` and `a[idx]` take N
/// indices; idx is an array of integers or a pointer to them. Indices are not checked. Strides are in bytes.
template <class T, int N> struct CArray {
  static constexpr int ndim = N;

  T* data_;
  ptrdiff_t size_;
  ptrdiff_t shape_[N > 0 ? N : 1];
  ptrdiff_t strides_[N > 0 ? N : 1];
  bool contiguous_;  ///< strides are those of C order: element k is data_[k]

  /// N indices of any integer types.
  struct MultiIndex {
    ptrdiff_t at_[N > 0 ? N : 1];
    template <class... I>
      requires(sizeof...(I) == N)
    IRUKA_INLINE MultiIndex(I... at) : at_{(ptrdiff_t)at...} {}
  };

  IRUKA_INLINE ptrdiff_t size() const { return size_; }
  IRUKA_INLINE const ptrdiff_t* shape() const { return shape_; }
  IRUKA_INLINE const ptrdiff_t* strides() const { return strides_; }

  IRUKA_INLINE T& operator[](ptrdiff_t k) { return *element(k); }
  IRUKA_INLINE const T& operator[](ptrdiff_t k) const { return *element(k); }
  IRUKA_INLINE T& operator[](const MultiIndex& index) { return *at_bytes(offset<0>(index.at_)); }
  IRUKA_INLINE const T& operator[](const MultiIndex& index) const { return *at_bytes(offset<0>(index.at_)); }
  template <iruka::Integer I> IRUKA_INLINE T& operator[](const I* index) { return *at_bytes(offset<0>(index)); }
  template <iruka::Integer I> IRUKA_INLINE const T& operator[](const I* index) const {
    return *at_bytes(offset<0>(index));
  }

 private:
  IRUKA_INLINE T* element(ptrdiff_t k) const { return contiguous_ ? data_ + k : at_bytes(offset_of_element<N - 1>(k)); }
  IRUKA_INLINE T* at_bytes(ptrdiff_t offset) const {
    if constexpr (N == 0)
      return data_;
    else
      return (T*)((char*)data_ + offset);
  }
  // Recursion instead of loops lets the optimiser replace the members by registers from the start.
  template <int D, class I> IRUKA_INLINE ptrdiff_t offset(const I* index) const {
    if constexpr (D >= N)
      return 0;
    else
      return (ptrdiff_t)index[D] * strides_[D] + offset<D + 1>(index);
  }
  template <int D> IRUKA_INLINE ptrdiff_t offset_of_element(ptrdiff_t k) const {
    if constexpr (D < 0)
      return 0;
    else if constexpr (D == 0)
      return k * strides_[0];
    else
      return k % shape_[D] * strides_[D] + offset_of_element<D - 1>(k / shape_[D]);
  }
};

/// A raw array that the body may not write to: a const parameter, or a read-only array. It converts to CArray<T, N>&,
/// because many functions read through one; their writes are not detected.
template <class T, int N> struct CConstArray : CArray<T, N> {
  using Base = CArray<T, N>;
  IRUKA_INLINE const T& operator[](ptrdiff_t k) const { return Base::operator[](k); }
  IRUKA_INLINE const T& operator[](const typename Base::MultiIndex& index) const { return Base::operator[](index); }
  template <iruka::Integer I> IRUKA_INLINE const T& operator[](const I* index) const { return Base::operator[](index); }
};

/// The loop's shape and the current element. The multi-index is computed when the body asks for it.
template <int N> struct CIndexer {
  static constexpr int ndim = N;

  ptrdiff_t size_;
  ptrdiff_t shape_[N > 0 ? N : 1];
  ptrdiff_t at_;
  ptrdiff_t index_[N > 0 ? N : 1];

  IRUKA_INLINE ptrdiff_t size() const { return size_; }
  IRUKA_INLINE const ptrdiff_t* shape() const { return shape_; }
  IRUKA_INLINE void set(ptrdiff_t i) { at_ = i; }
  /// The current element's index along each axis, in C order.
  IRUKA_INLINE const ptrdiff_t* get() {
    split<N - 1>(at_);
    return index_;
  }

 private:
  template <int D> IRUKA_INLINE void split(ptrdiff_t i) {
    if constexpr (D == 0) {
      index_[0] = i;
    } else if constexpr (D > 0) {
      index_[D] = i % shape_[D];
      split<D - 1>(i / shape_[D]);
    }
  }
};
