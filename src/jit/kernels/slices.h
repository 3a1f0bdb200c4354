// The slice of a StagedKernel's element: `_slice` in its bodies.
#pragma once

/// Neighbouring axes that are all of slices, or all across them, are one group. Every second one of the G groups is of
/// slices; the first one if `begins` is 1. Without groups, slices follow each other. Numbers are divided as N.
template <int G, int begins, class N> struct iruka_slice {
  ptrdiff_t size_, first_, place_, number_;
  ptrdiff_t extents_[G];

  /// The slice of element i. `extents`: of the groups.
  IRUKA_INLINE iruka_slice(const ptrdiff_t* extents, ptrdiff_t i) : size_(1), first_(0), place_(0), number_(0) {
    copy<0>(extents);
    locate<G - 1>(i, 1, 1);
  }

  /// The number of elements of each slice.
  IRUKA_INLINE ptrdiff_t size() const { return size_; }
  /// The index `i` of the slice's element k.
  IRUKA_INLINE ptrdiff_t operator[](ptrdiff_t k) const { return first_ + offset<G - 1>(k, 1); }

 private:
  static constexpr bool is_inside(int group) { return group % 2 == 1 - begins; }
  // The outermost group of its kind, whose index is what is left of the number.
  static constexpr bool is_last(int group) { return group < 2; }

  template <int D> IRUKA_INLINE void copy(const ptrdiff_t* extents) {
    if constexpr (D < G) {
      extents_[D] = extents[D];
      copy<D + 1>(extents);
    }
  }
  template <int D> IRUKA_INLINE void locate(ptrdiff_t rest, ptrdiff_t pitch, ptrdiff_t across) {
    if constexpr (D >= 0) {
      const ptrdiff_t at = D == 0 ? rest : (N)rest % (N)extents_[D];
      if constexpr (is_inside(D)) {
        place_ += at * size_;
        size_ *= extents_[D];
      } else {
        number_ += at * across;
        first_ += at * pitch;
        across *= extents_[D];
      }
      locate<D - 1>(D == 0 ? 0 : (N)rest / (N)extents_[D], pitch * extents_[D], across);
    }
  }
  template <int D> IRUKA_INLINE ptrdiff_t offset(ptrdiff_t k, ptrdiff_t pitch) const {
    if constexpr (D < 0) {
      return 0;
    } else if constexpr (!is_inside(D)) {
      return offset<D - 1>(k, pitch * extents_[D]);
    } else if constexpr (is_last(D)) {
      return k * pitch;
    } else {
      return (N)k % (N)extents_[D] * pitch + offset<D - 1>((N)k / (N)extents_[D], pitch * extents_[D]);
    }
  }
};

template <class N> struct iruka_slice<0, 0, N> {
  ptrdiff_t size_, first_, place_, number_;

  /// Element i is the one numbered `within` of a batch of slices, in the batch's slice `slice`; `before` slices lie in
  /// front of the batch.
  IRUKA_INLINE iruka_slice(ptrdiff_t size, ptrdiff_t i, ptrdiff_t within, ptrdiff_t slice, ptrdiff_t before)
      : size_(size), first_(i - (within - slice * size)), place_(within - slice * size), number_(before + slice) {}

  IRUKA_INLINE ptrdiff_t size() const { return size_; }
  IRUKA_INLINE ptrdiff_t operator[](ptrdiff_t k) const { return first_ + k; }
};
