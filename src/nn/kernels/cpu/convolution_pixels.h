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
  using L = Lanes<kLanes>;
  using Vector = typename L::Vector;

  const Convolution& conv;

  /// Copies what the windows of rows from `first` on see.
  void copy_input(const float* x, int first, float* copy) const {
    const int rows = conv.plane / conv.columns;
    IRUKA_NO_UNROLL for (int phase = 0; phase < conv.phases[0] * conv.phases[1]; ++phase, copy += conv.plane) {
      const int top = first * conv.stride[0] + phase / conv.phases[1] - conv.before[0];
      const int left = phase % conv.phases[1] - conv.before[1];
      if (conv.stride[1] == 1)
        copy_rows<kLanes, 1>(conv, x, top, left, conv.stride[0], rows, copy);
      else if (conv.stride[1] == 2)
        copy_rows<kLanes, 2>(conv, x, top, left, conv.stride[0], rows, copy);
      else
        copy_elements(x, top, left, rows, copy);
    }
  }

  /// The same for larger strides.
  void copy_elements(const float* x, int top, int left, int rows, float* copy) const {
    IRUKA_NO_UNROLL for (int channel = 0; channel < conv.channels; ++channel, copy += conv.channel) {
      IRUKA_NO_UNROLL for (int each = 0; each < rows; ++each) {
        const int row = top + each * conv.stride[0];
        const bool is_inside = row >= 0 && row < conv.in[0];
        const float* const from = x + ((int64_t)channel * conv.in[0] + row) * conv.in[1];
        IRUKA_SCALAR for (int q = 0; q < conv.columns; ++q) {
          const int column = left + q * conv.stride[1];
          copy[each * conv.columns + q] = is_inside && column >= 0 && column < conv.in[1] ? from[column] : 0;
        }
      }
    }
  }

  /// Where a vector of pixels begins in a channel's copy.
  int begin_of(int vector) const {
    return conv.in_row ? vector / conv.in_row * conv.columns + vector % conv.in_row * kLanes : vector * kLanes;
  }

  /// kCount vectors of pixels for a block of outputs. `offsets`: where the elements for each channel and place of the
  /// kernel begin.
  template <int kCount>
  IRUKA_OWN_REGISTERS void add_up(const float* copy, int first, const float* weights, const int* offsets, int steps,
                                  float* sums) const {
    Vector total[kBlock * kCount];
    IRUKA_UNROLL for (int k = 0; k < kBlock * kCount; ++k) total[k] = 0;
    int64_t begin[kCount];
    IRUKA_UNROLL for (int v = 0; v < kCount; ++v) begin[v] = begin_of(first + v);
    const unsigned rounds = (unsigned)steps & 65535u;  // memory holds no more offsets
    IRUKA_NO_UNROLL for (unsigned round = 0; round < rounds; ++round, weights += kBlock) {
      const float* const x = copy + offsets[round];
      Vector pixels[kCount];
      IRUKA_UNROLL for (int v = 0; v < kCount; ++v) pixels[v] = L::load(x + begin[v]);
      IRUKA_UNROLL for (int b = 0; b < kBlock; ++b) {
        const auto weight = (Vector)weights[b];
        IRUKA_UNROLL for (int v = 0; v < kCount; ++v) total[b * kCount + v] += pixels[v] * weight;
        IRUKA_IN_ORDER;
      }
    }
    const int line = conv.vectors * kLanes;
    sums += first * kLanes;
    IRUKA_UNROLL for (int b = 0; b < kBlock; ++b) {
      IRUKA_UNROLL for (int v = 0; v < kCount; ++v) L::store(total[b * kCount + v], sums + b * line + v * kLanes);
    }
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
