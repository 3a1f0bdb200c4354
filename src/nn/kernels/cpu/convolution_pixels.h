// A convolution with vectors of pixels (convolution.h).
//
// A block of the grid copies what its windows see into memory of its own, with margins, and with each remainder of a
// stride apart, so that the elements that neighbouring pixels need for one place of the kernel are neighbours. Vectors
// of pixels follow each other through rows of that copy, so that pixels in its margins are computed and dropped, or
// begin anew in each row, whichever takes fewer. Registers hold a few vectors of pixels for a few outputs, while all
// channels and places of the kernel are added up.
#pragma once

#include "nn/kernels/cpu/convolution.h"

namespace iruka::nn {

/// kBlock outputs at once, whose weights are neighbours; kMost vectors of kLanes pixels.
template <int kLanes, int kBlock, int kMost> struct PixelConvolution {
  typedef float Vector __attribute__((ext_vector_type(kLanes)));
  typedef float UnalignedVector __attribute__((ext_vector_type(kLanes), aligned(4)));

  const Convolution& conv;

  void copy_row(const float* from, int phase, float* __restrict to) const {
    const int stride = conv.stride[1], shift = phase - conv.before[1];
    const auto limited = [&](int column) { return column < 0 ? 0 : column > conv.columns ? conv.columns : column; };
    const int begin = limited((-shift + stride - 1) / stride);
    const int end = conv.in[1] > shift ? limited((conv.in[1] - shift + stride - 1) / stride) : 0;
    IRUKA_SCALAR for (int q = 0; q < begin; ++q) to[q] = 0;
    if (stride == 1) {
      IRUKA_MASKED for (int q = begin; q < end; ++q) to[q] = from[q + shift];
    } else {
      int q = begin;
      if (stride == 2) q = copy_pairs(from + shift, to, begin, end);
      IRUKA_MASKED for (int k = q; k < end; ++k) to[k] = from[k * stride + shift];
    }
    IRUKA_SCALAR for (int q = begin > end ? begin : end; q < conv.columns; ++q) to[q] = 0;
  }

  /// Copies every other element by whole vectors; returns the first column that is left.
  static int copy_pairs(const float* from, float* __restrict to, int begin, int end) {
    typedef float Pairs __attribute__((ext_vector_type(2 * kLanes)));
    typedef float UnalignedPairs __attribute__((ext_vector_type(2 * kLanes), aligned(4)));
    int q = begin;
    IRUKA_NO_UNROLL for (; q + kLanes < end; q += kLanes) {  // the last pair's second element may lie outside
      const Pairs both = *(const UnalignedPairs*)(from + 2 * q);
      *(UnalignedVector*)(to + q) = both.even;
    }
    return q;
  }

  /// Copies what the windows of rows from `first` on see.
  void copy_input(const float* x, int first, float* copy) const {
    const int rows = conv.plane / conv.columns, phases = conv.phases[0] * conv.phases[1];
    if (phases == 1 && conv.stride[0] == 1 && conv.stride[1] == 1)
      return copy_rows<kLanes>(conv, x, first - conv.before[0], rows, copy);
    IRUKA_NO_UNROLL for (int each = 0; each < conv.channels * phases; ++each) {
      const float* const image = x + (int64_t)(each / phases) * conv.in[0] * conv.in[1];
      const int phase = each % phases;
      IRUKA_NO_UNROLL for (int row = 0; row < rows; ++row, copy += conv.columns) {
        const int y = (first + row) * conv.stride[0] + phase / conv.phases[1] - conv.before[0];
        if (y < 0 || y >= conv.in[0]) {
          IRUKA_SCALAR for (int q = 0; q < conv.columns; ++q) copy[q] = 0;
        } else {
          copy_row(image + (int64_t)y * conv.in[1], phase % conv.phases[1], copy);
        }
      }
    }
  }

  /// Where a vector of pixels begins in a channel's copy.
  int begin_of(int vector) const {
    return conv.in_row ? vector / conv.in_row * conv.columns + vector % conv.in_row * kLanes : vector * kLanes;
  }

  /// kCount vectors of pixels for a block of outputs. Loops over registers are written out, so that they are registers
  /// from the beginning. `offsets`: where the elements for each channel and place of the kernel begin.
  template <int kCount>
  void add_up(const float* copy, int first, const float* weights, const int* offsets, int steps, float* sums) const {
    Vector total[kBlock * kCount];
    repeat<kBlock * kCount>([&](auto k) IRUKA_INLINE_LAMBDA { total[k.value] = 0; });
    int64_t begin[kCount];
    repeat<kCount>([&](auto v) IRUKA_INLINE_LAMBDA { begin[v.value] = begin_of(first + v.value); });
    IRUKA_NO_UNROLL for (int step = 0; step < steps; ++step, weights += kBlock) {
      const float* const x = copy + offsets[step];
      Vector pixels[kCount];
      repeat<kCount>([&](auto v)
                         IRUKA_INLINE_LAMBDA { pixels[v.value] = *(const UnalignedVector*)(x + begin[v.value]); });
      repeat<kBlock * kCount>([&](auto k) IRUKA_INLINE_LAMBDA {
        total[k.value] += pixels[k.value % kCount] * (Vector)weights[k.value / kCount];
      });
    }
    const int line = conv.vectors * kLanes;
    sums += first * kLanes;
    repeat<kBlock * kCount>([&](auto k) IRUKA_INLINE_LAMBDA {
      *(UnalignedVector*)(sums + k.value / kCount * line + k.value % kCount * kLanes) = total[k.value];
    });
  }

  /// All pixels for a block of outputs, in passes of nearly equal numbers of vectors.
  void add_up_all(const float* copy, const float* weights, const int* offsets, int steps, float* sums) const {
    const int passes = (conv.vectors + kMost - 1) / kMost;
    IRUKA_NO_UNROLL for (int pass = 0; pass < passes; ++pass) {
      const int begin = conv.vectors * pass / passes, count = conv.vectors * (pass + 1) / passes - begin;
      repeat<kMost>([&](auto k) IRUKA_INLINE_LAMBDA {
        if (count == k.value + 1) add_up<k.value + 1>(copy, begin, weights, offsets, steps, sums);
      });
    }
  }

  void find_offsets(int64_t channel_size, int* offsets) const {
    const int taps = conv.kernel[0] * conv.kernel[1];
    IRUKA_NO_UNROLL for (int tap = 0; tap < taps; ++tap) {
      const int down = tap / conv.kernel[1] * conv.dilation[0], right = tap % conv.kernel[1] * conv.dilation[1];
      const int phase = down % conv.stride[0] * conv.phases[1] + right % conv.stride[1];
      const int offset = phase * conv.plane + down / conv.stride[0] * conv.columns + right / conv.stride[1];
      IRUKA_SCALAR for (int channel = 0; channel < conv.channels; ++channel) offsets[channel * taps + tap] =
          offset + channel * (int)channel_size;
    }
  }

  /// The rows that block `unit` of `units` computes. finish(value, output, index) gives an element of the result.
  template <class Finish>
  void run(int64_t unit, int64_t units, const float* x, const float* weights, float* __restrict y, float* memory,
           Finish&& finish) const {
    const int row_groups = (conv.out[0] + conv.rows - 1) / conv.rows, taps = conv.kernel[0] * conv.kernel[1];
    const int first = (int)(unit % row_groups) * conv.rows;
    const int64_t part = unit / row_groups;
    const int group = (int)(part % conv.groups);
    const int rows = conv.out[0] - first < conv.rows ? conv.out[0] - first : conv.rows;
    float* const sums = memory;
    int* const offsets = (int*)(sums + kBlock * conv.vectors * kLanes);
    const int steps = conv.channels * taps;
    float* const copy = (float*)(offsets + steps);
    const int64_t image = (int64_t)conv.in[0] * conv.in[1];
    x += part * conv.channels * image;
    // Windows of one element need no copy, except near the end of the array, behind which vectors would reach.
    const int64_t seen =
        (int64_t)first * conv.in[1] + (conv.channels - 1) * image + begin_of(conv.vectors - 1) + kLanes;
    const bool is_direct = conv.is_direct && seen <= (units / row_groups - part) * conv.channels * image;
    find_offsets(is_direct ? image : conv.channel, offsets);
    if (!is_direct) copy_input(x, first, copy);
    const float* const from_input = is_direct ? x + (int64_t)first * conv.in[1] : copy;
    const int blocks = (conv.outputs + kBlock - 1) / kBlock;
    const int64_t block_size = (int64_t)steps * kBlock;
    weights += group * blocks * block_size;
    IRUKA_NO_UNROLL for (int block = 0; block < blocks; ++block, weights += block_size) {
      add_up_all(from_input, weights, offsets, steps, sums);
      const int last = conv.outputs - block * kBlock < kBlock ? conv.outputs - block * kBlock : kBlock;
      IRUKA_NO_UNROLL for (int b = 0; b < last; ++b) {
        const int output = block * kBlock + b;
        int64_t at = ((part * conv.outputs + output) * conv.out[0] + first) * conv.out[1];
        const float* from = sums + b * conv.vectors * kLanes;
        const int row_of_sums = conv.in_row ? conv.in_row * kLanes : conv.columns;
        IRUKA_NO_UNROLL for (int row = 0; row < rows; ++row, at += conv.out[1], from += row_of_sums)
            IRUKA_MASKED for (int q = 0; q < conv.out[1]; ++q) y[at + q] =
                finish(from[q], group * conv.outputs + output, at + q);
      }
    }
  }
};

}  // namespace iruka::nn
