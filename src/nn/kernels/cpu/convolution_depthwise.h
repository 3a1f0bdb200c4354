// A convolution of one channel by itself (convolution.h), of which the rows are read where they lie: masks stand for
// the margins. Strides of columns are 1 or 2.
#pragma once

#include "nn/kernels/cpu/convolution.h"

namespace iruka::nn {

template <int kLanes> struct DepthwiseConvolution {
  using L = Lanes<kLanes>;
  using Vector = typename L::Vector;

  const Convolution& conv;

  /// The sums of a vector of pixels, of which the windows begin at row `top` and column `left`.
  template <int kStride>
  IRUKA_INLINE Vector sum_of(const float* x, const float* weights, int top, int left) const {
    Vector sum = 0;
    IRUKA_NO_UNROLL for (int down = 0; down < conv.kernel[0]; ++down) {
      const int row = top + down * conv.dilation[0];
      if (row < 0 || row >= conv.in[0]) continue;
      const float* const from = x + (int64_t)row * conv.in[1];
      IRUKA_NO_UNROLL for (int right = 0; right < conv.kernel[1]; ++right) {
        const int column = left + right * conv.dilation[1];
        sum += Reader<kLanes, kStride>(column, conv.in[1]).read(from + column) *
               (Vector)weights[down * conv.kernel[1] + right];
      }
    }
    return sum;
  }

  /// Columns from `column` on of rows [first, end). use(sums, row) takes a vector of pixels.
  template <int kStride, class Use>
  void run_columns(const float* x, const float* weights, int column, int first, int end, Use&& use) const {
    const int left = column * kStride - conv.before[1];
    const int reach = (conv.kernel[0] - 1) * conv.dilation[0];
    if (conv.kernel[0] != 3 || conv.kernel[1] != 3) {
      IRUKA_NO_UNROLL for (int row = first; row < end; ++row)
          use(sum_of<kStride>(x, weights, row * conv.stride[0] - conv.before[0], left), row);
      return;
    }
    // The usual kernel, with masks and weights in registers.
    Reader<kLanes, kStride> readers[3];
    Vector w[9];
    IRUKA_UNROLL for (int right = 0; right < 3; ++right) readers[right] =
        Reader<kLanes, kStride>(left + right * conv.dilation[1], conv.in[1]);
    IRUKA_UNROLL for (int k = 0; k < 9; ++k) w[k] = (Vector)weights[k];
    IRUKA_NO_UNROLL for (int row = first; row < end; ++row) {
      const int top = row * conv.stride[0] - conv.before[0];
      if (top < 0 || top + reach >= conv.in[0]) {
        use(sum_of<kStride>(x, weights, top, left), row);
        continue;
      }
      Vector sum = 0;
      const float* const from = x + (int64_t)top * conv.in[1] + left;
      IRUKA_UNROLL for (int k = 0; k < 9; ++k) {
        const int64_t at = (int64_t)(k / 3 * conv.dilation[0]) * conv.in[1] + k % 3 * conv.dilation[1];
        sum += readers[k % 3].read(from + at) * w[k];
      }
      use(sum, row);
    }
  }

  /// The rows that block `unit` computes. finish(value, output, index) gives an element of the result.
  template <class Finish>
  void run(int64_t unit, int64_t, const float* x, const float* weights, float* __restrict y, float*,
           Finish&& finish) const {
    const int row_groups = (conv.out[0] + conv.rows - 1) / conv.rows;
    const int64_t part = unit / row_groups;  // image and group
    const int first = (int)(unit % row_groups) * conv.rows, group = (int)(part % conv.groups);
    const int end = conv.out[0] - first < conv.rows ? conv.out[0] : first + conv.rows;
    const int taps = conv.kernel[0] * conv.kernel[1];
    x += part * conv.in[0] * conv.in[1];
    IRUKA_NO_UNROLL for (int b = 0; b < conv.outputs; ++b) {
      const int output = group * conv.outputs + b;
      const int64_t result = (part * conv.outputs + b) * conv.out[0] * conv.out[1];
      IRUKA_NO_UNROLL for (int column = 0; column < conv.out[1]; column += kLanes) {
        const int width = conv.out[1] - column < kLanes ? conv.out[1] - column : kLanes;
        const auto use = [&](Vector sums, int row) {
          float values[kLanes];
          L::store(sums, values);
          const int64_t at = result + (int64_t)row * conv.out[1] + column;
          IRUKA_MASKED for (int k = 0; k < width; ++k) y[at + k] = finish(values[k], output, at + k);
        };
        if (conv.stride[1] == 1)
          run_columns<1>(x, weights + output * taps, column, first, end, use);
        else
          run_columns<2>(x, weights + output * taps, column, first, end, use);
      }
    }
  }
};

}  // namespace iruka::nn
