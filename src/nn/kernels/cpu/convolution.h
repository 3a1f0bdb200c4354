// What convolutions of float32 images in C order on a processor with vectors have in common. There are three forms of
// loops: vectors of pixels (convolution_pixels.h), vectors of outputs (convolution_outputs.h), and one channel by
// itself (convolution_depthwise.h). A block of the grid computes some rows of one image and group.
#pragma once

#define IRUKA_INLINE_LAMBDA __attribute__((always_inline))
/// A function in which no constants of other loops take registers.
#define IRUKA_OWN_REGISTERS __attribute__((noinline, hot))
/// Of loops over registers: what is in them becomes registers.
#define IRUKA_UNROLL _Pragma("clang loop unroll(full)")
#define IRUKA_NO_UNROLL _Pragma("clang loop unroll(disable)")
#define IRUKA_SCALAR _Pragma("clang loop vectorize(disable) unroll(disable)")
/// Keeps later loads from taking registers too early. Innermost loops over many registers have bounds that the compiler
/// sees, so that it puts no poll for interrupts between loads and products.
#define IRUKA_IN_ORDER __atomic_signal_fence(__ATOMIC_SEQ_CST)
/// Rounds do not depend on each other.
#define IRUKA_MASKED _Pragma("clang loop vectorize(assume_safety) vectorize_predicate(enable) interleave_count(1)")

namespace iruka::nn {

/// Extents; channels and outputs are those of one group. Two spatial axes: rows and columns. nn/convolution_plan.h has
/// the same structure.
struct Convolution {
  int groups, channels, outputs;
  int in[2], out[2], kernel[2], stride[2], dilation[2], before[2];
  int rows;       ///< of the output that a block computes
  int parts;      ///< blocks that share the outputs of the same rows
  int phases[2];  ///< remainders of the stride that places of the kernel have
  int columns;    ///< of the copy
  int plane;      ///< elements of one remainder of a channel's copy
  int channel;    ///< elements of a channel's copy
  int vectors;    ///< of pixels that a block computes
  int in_row;     ///< vectors of a row, where each row has its own; else 0
  int is_direct;  ///< whether the windows need no copy
};

/// A number as a type.
template <int kValue> struct Number {
  static constexpr int value = kValue;
};
template <class T, T... kValues> struct Numbers {
  template <class Use> static IRUKA_INLINE void give(Use&& use) { (use(Number<kValues>()), ...); }
};
/// Calls `use` with 0, 1... as types.
template <int kCount, class Use> IRUKA_INLINE void repeat(Use&& use) {
  __make_integer_seq<Numbers, int, kCount>::give(use);
}

/// Vectors of kLanes floats.
template <int kLanes> struct Lanes {
  typedef float Vector __attribute__((ext_vector_type(kLanes)));
  typedef float UnalignedVector __attribute__((ext_vector_type(kLanes), aligned(4)));
  typedef unsigned Places __attribute__((ext_vector_type(kLanes)));
  typedef bool Mask __attribute__((ext_vector_type(kLanes)));

  static IRUKA_INLINE Vector load(const float* from) { return *(const UnalignedVector*)from; }
  static IRUKA_INLINE void store(Vector v, float* to) { *(UnalignedVector*)to = v; }

  /// Which of the places first, first + 1... lie in [0, end).
  static IRUKA_INLINE Mask within(int first, int end) {
    Places places;
    IRUKA_UNROLL for (int k = 0; k < kLanes; ++k) places[k] = (unsigned)k;
    return __builtin_convertvector(places + (unsigned)first < (Places)(unsigned)end, Mask);
  }
  /// Zero where the mask is false, where no memory is read.
  static IRUKA_INLINE Vector load(const float* from, Mask mask) {
    return __builtin_masked_load(mask, from, (Vector)0.0f);
  }
  static IRUKA_INLINE void store(Vector v, float* to, Mask mask) { __builtin_masked_store(mask, v, to); }

  /// The lanes of a and b in turn: those of the lower halves, and of the upper ones.
  static IRUKA_INLINE Vector lower(Vector a, Vector b) { return interleaved(a, b, Number<0>()); }
  static IRUKA_INLINE Vector upper(Vector a, Vector b) { return interleaved(a, b, Number<kLanes / 2>()); }
  /// Every other element of two vectors that follow each other.
  static IRUKA_INLINE Vector even(Vector a, Vector b) { return even_of(a, b, Lists<kLanes>()); }

 private:
  template <class T, T... k> struct List {};
  template <int kCount> using Lists = __make_integer_seq<List, int, kCount>;
  template <int kFirst> static IRUKA_INLINE Vector interleaved(Vector a, Vector b, Number<kFirst>) {
    return interleaved_of<kFirst>(a, b, Lists<kLanes>());
  }
  template <int kFirst, int... k> static IRUKA_INLINE Vector interleaved_of(Vector a, Vector b, List<int, k...>) {
    return __builtin_shufflevector(a, b, (kFirst + k / 2 + k % 2 * kLanes)...);
  }
  template <int... k> static IRUKA_INLINE Vector even_of(Vector a, Vector b, List<int, k...>) {
    return __builtin_shufflevector(a, b, (2 * k)...);
  }
};

/// Reads every kStride-th element, 1 or 2, of rows from one column on; zeros outside of rows.
template <int kLanes, int kStride> struct Reader {
  using L = Lanes<kLanes>;
  typename L::Mask masks[kStride];

  IRUKA_INLINE Reader() {}
  IRUKA_INLINE Reader(int first, int columns) {
    IRUKA_UNROLL for (int k = 0; k < kStride; ++k) masks[k] = L::within(first + k * kLanes, columns);
  }
  IRUKA_INLINE typename L::Vector read(const float* from) const {
    if constexpr (kStride == 1)
      return L::load(from, masks[0]);
    else
      return L::even(L::load(from, masks[0]), L::load(from + kLanes, masks[1]));
  }
};

/// Copies `rows` rows of each channel, with zeros for margins, a vector of columns after the other. The first element
/// is that of row `top` and column `left`, the next ones are row_stride and kStride away.
template <int kLanes, int kStride>
IRUKA_INLINE void copy_rows(const Convolution& conv, const float* x, int top, int left, int row_stride, int rows,
                            float* copy) {
  using L = Lanes<kLanes>;
  const int64_t image = (int64_t)conv.in[0] * conv.in[1], line = (int64_t)row_stride * conv.in[1];
  // The first row that is not above `row`.
  const auto before = [&](int row) {
    const int rows_above = row <= top ? 0 : (row - top + row_stride - 1) / row_stride;
    return rows_above < rows ? rows_above : rows;
  };
  const int begin = before(0), end = before(conv.in[0]);
  IRUKA_NO_UNROLL for (int channel = 0; channel < conv.channels; ++channel, x += image, copy += conv.channel) {
    IRUKA_NO_UNROLL for (int q = 0; q < conv.columns; q += kLanes) {
      const Reader<kLanes, kStride> reader(q * kStride + left, conv.in[1]);
      const auto wanted = L::within(0, conv.columns - q);
      const float* from = x + (int64_t)top * conv.in[1] + begin * line + q * kStride + left;
      float* to = copy + q;
      int row = 0;
      IRUKA_NO_UNROLL for (; row < begin; ++row, to += conv.columns) L::store(0, to, wanted);
      IRUKA_NO_UNROLL for (; row < end; ++row, to += conv.columns, from += line)
          L::store(reader.read(from), to, wanted);
      IRUKA_NO_UNROLL for (; row < rows; ++row, to += conv.columns) L::store(0, to, wanted);
    }
  }
}

}  // namespace iruka::nn
