// A convolution with vectors of outputs (convolution.h).
//
// A vector of weights is multiplied by one element of the input and added to one pixel's sums, so that no lane is
// wasted whatever the extents of images, strides and dilations are. Registers hold a few pixels for a few vectors of
// outputs, while all channels and places of the kernel are added up. Pixels of a block are done in strips, of which the
// sums are turned around and finished row by row of the result. A block of the grid copies its part of the input with
// margins, except where no window reaches into them.
#pragma once

#include "nn/kernels/cpu/convolution.h"

namespace iruka::nn {

template <int kLanes> struct OutputConvolution {
  using L = Lanes<kLanes>;
  using Vector = typename L::Vector;
  static constexpr int kMost = kLanes >= 16 ? 4 : 2;  ///< vectors of outputs at once
  /// Pixels of a strip, and those by which the last tile may reach further.
  static constexpr int kStrip = 96, kBeyond = 16;

  const Convolution& conv;

  /// The sums, the elements of a pixel that it reads, and a step's vectors of weights fit in the registers.
  static constexpr int pixels_at_once(int vectors) {
    constexpr int kMany[] = {12, 8, 8, 6}, kFew[] = {10, 5};
    return kLanes >= 16 ? kMany[vectors - 1] : kFew[vectors - 1];
  }
  /// Steps at once: weights of few outputs stay in the first-level cache from tile to tile, those of many outputs come
  /// from the second, because longer loops are worth more.
  static constexpr int steps_at_once(int vectors) { return vectors > 2 ? 4096 : 8192 / (vectors * kLanes); }

  /// Adds `steps` products to the sums of kPixels pixels, which begin at `places`; there are no places behind `last`.
  /// `offsets`: where the elements for each channel and place of the kernel lie. `line`: between vectors of weights.
  template <int kVectors, int kPixels>
  IRUKA_OWN_REGISTERS static void add_up(const float* x, const int* places, int last, const float* weights,
                                         int64_t line, const int* offsets, int steps, bool is_first, float* sums) {
    Vector total[kVectors * kPixels];
    if (is_first) {
      IRUKA_UNROLL for (int k = 0; k < kVectors * kPixels; ++k) total[k] = 0;
    } else {
      IRUKA_UNROLL for (int k = 0; k < kVectors * kPixels; ++k) total[k] = L::load(sums + k * kLanes);
    }
    const float* begin[kPixels];
    IRUKA_UNROLL for (int p = 0; p < kPixels; ++p) begin[p] = x + places[p < last ? p : last];
    const unsigned rounds = (unsigned)steps & 8191u;  // of steps_at_once()
    IRUKA_NO_UNROLL for (unsigned round = 0; round < rounds; ++round, weights += kLanes) {
      const int64_t offset = offsets[round];
      __builtin_prefetch(begin[0] + offset + 32);  // of pixels to come: channels are too many streams for processors
      Vector w[kVectors];
      IRUKA_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = L::load(weights + v * line);
      IRUKA_UNROLL for (int p = 0; p < kPixels; ++p) {
        const Vector element = (Vector)begin[p][offset];
        IRUKA_UNROLL for (int v = 0; v < kVectors; ++v) total[p * kVectors + v] += element * w[v];
        IRUKA_IN_ORDER;
      }
    }
    IRUKA_UNROLL for (int k = 0; k < kVectors * kPixels; ++k) L::store(total[k], sums + k * kLanes);
  }

  /// The pixels of a strip in tiles of two sizes, so that few pixels are computed twice.
  template <int kVectors>
  static void add_up_strip(const float* x, const int* places, int pixels, const float* weights, int64_t line,
                           const int* offsets, int steps, float* sums) {
    constexpr int kPixels = pixels_at_once(kVectors), kSteps = steps_at_once(kVectors);
    const int tiles = (pixels + kPixels - 1) / kPixels, smaller = tiles * kPixels - pixels;
    const int chunks = (steps + kSteps - 1) / kSteps;
    IRUKA_NO_UNROLL for (int chunk = 0; chunk < chunks; ++chunk) {
      const int begin = (int)((int64_t)steps * chunk / chunks), end = (int)((int64_t)steps * (chunk + 1) / chunks);
      int pixel = 0;
      IRUKA_NO_UNROLL for (int tile = 0; tile < tiles; ++tile) {
        float* const to = sums + pixel * kVectors * kLanes;
        if (tile < smaller) {
          add_up<kVectors, kPixels - 1>(x, places + pixel, pixels - 1 - pixel, weights + begin * kLanes, line,
                                        offsets + begin, end - begin, chunk == 0, to);
          pixel += kPixels - 1;
        } else {
          add_up<kVectors, kPixels>(x, places + pixel, pixels - 1 - pixel, weights + begin * kLanes, line,
                                    offsets + begin, end - begin, chunk == 0, to);
          pixel += kPixels;
        }
      }
    }
  }

  /// kLanes vectors, `line` apart, become rows that are kStrip apart: log2(kLanes) rounds of shuffles.
  static void turn(const float* from, int64_t line, float* to) {
    Vector rows[kLanes];
    IRUKA_UNROLL for (int k = 0; k < kLanes; ++k) rows[k] = L::load(from + k * line);
    IRUKA_UNROLL for (int count = kLanes / 2; count > 0; count /= 2) {
      Vector made[kLanes];
      IRUKA_UNROLL for (int k = 0; k < kLanes / 2; ++k) {
        made[2 * k] = L::lower(rows[k], rows[k + kLanes / 2]);
        made[2 * k + 1] = L::upper(rows[k], rows[k + kLanes / 2]);
      }
      IRUKA_UNROLL for (int k = 0; k < kLanes; ++k) rows[k] = made[k];
    }
    IRUKA_UNROLL for (int k = 0; k < kLanes; ++k) L::store(rows[k], to + k * kStrip);
  }

  /// Where the element for each channel and place of the kernel lies.
  void find_offsets(int channel_size, int columns, int* offsets) const {
    IRUKA_NO_UNROLL for (int channel = 0; channel < conv.channels; ++channel) {
      IRUKA_NO_UNROLL for (int down = 0; down < conv.kernel[0]; ++down) {
        IRUKA_SCALAR for (int right = 0; right < conv.kernel[1]; ++right)* offsets++ =
            channel * channel_size + down * conv.dilation[0] * columns + right * conv.dilation[1];
      }
    }
  }
  /// Where the window of each pixel begins.
  void find_places(int rows, int columns, int* places) const {
    IRUKA_NO_UNROLL for (int row = 0; row < rows; ++row) {
      IRUKA_SCALAR for (int q = 0; q < conv.out[1]; ++q)* places++ =
          row * conv.stride[0] * columns + q * conv.stride[1];
    }
  }

  /// The rows and outputs that block `unit` computes. finish(value, output, index) gives an element of the result.
  template <class Finish>
  void run(int64_t unit, int64_t, const float* x, const float* weights, float* __restrict y, float* memory,
           Finish&& finish) const {
    const int row_groups = (conv.out[0] + conv.rows - 1) / conv.rows;
    const int64_t part = unit / conv.parts / row_groups;  // image and group
    const int first = (int)(unit / conv.parts % row_groups) * conv.rows, group = (int)(part % conv.groups);
    const int rows = conv.out[0] - first < conv.rows ? conv.out[0] - first : conv.rows;
    const int steps = conv.channels * conv.kernel[0] * conv.kernel[1], pixels = rows * conv.out[1];
    float* const sums = memory;
    float* const turned = sums + (kStrip + kBeyond) * kMost * kLanes;
    int* const offsets = (int*)(turned + kStrip * kLanes);
    int* const places = offsets + steps;
    float* const copy = (float*)(places + conv.rows * conv.out[1]);

    const int image = conv.in[0] * conv.in[1], columns = conv.is_direct ? conv.in[1] : conv.columns;
    find_offsets(conv.is_direct ? image : conv.channel, columns, offsets);
    find_places(rows, columns, places);
    x += part * conv.channels * image;
    const float* const from = conv.is_direct ? x + first * conv.stride[0] * conv.in[1] : copy;
    const int seen = (rows - 1) * conv.stride[0] + (conv.kernel[0] - 1) * conv.dilation[0] + 1;
    if (!conv.is_direct)
      copy_rows<kLanes, 1>(conv, x, first * conv.stride[0] - conv.before[0], -conv.before[1], 1, seen, copy);

    const int vectors = (conv.outputs + kLanes - 1) / kLanes, share = (int)(unit % conv.parts);
    const int begin = vectors * share / conv.parts, end = vectors * (share + 1) / conv.parts;
    const int blocks = (end - begin + kMost - 1) / kMost;
    const int64_t line = (int64_t)steps * kLanes, size = (int64_t)conv.out[0] * conv.out[1];
    weights += group * vectors * line;
    const int64_t result = part * conv.outputs * size + (int64_t)first * conv.out[1];
    IRUKA_NO_UNROLL for (int block = 0; block < blocks; ++block) {
      const int vector = begin + (end - begin) * block / blocks;
      const int count = begin + (end - begin) * (block + 1) / blocks - vector;
      run_block(from, offsets, places, pixels, steps, vector, count, weights + vector * line, sums, turned,
                [&](const float* row, int output, int pixel, int width) IRUKA_INLINE_LAMBDA {
                  const int64_t at = result + output * size + pixel;
                  IRUKA_MASKED for (int k = 0; k < width; ++k) y[at + k] =
                      finish(row[k], group * conv.outputs + output, at + k);
                });
    }
  }

  /// All pixels for `count` vectors of outputs. use(row, output, pixel, width) takes a row of sums.
  template <class Use>
  void run_block(const float* from, const int* offsets, const int* places, int pixels, int steps, int vector, int count,
                 const float* weights, float* sums, float* turned, Use&& use) const {
    const int groups = (pixels + kLanes - 1) / kLanes, strips = (groups * kLanes + kStrip - 1) / kStrip;
    IRUKA_NO_UNROLL for (int strip = 0; strip < strips; ++strip) {
      const int start = groups * strip / strips * kLanes, next = groups * (strip + 1) / strips * kLanes;
      const int width = (next < pixels ? next : pixels) - start;
      repeat<kMost>([&](auto k) IRUKA_INLINE_LAMBDA {
        if (count == k.value + 1)
          add_up_strip<k.value + 1>(from, places + start, width, weights, (int64_t)steps * kLanes, offsets, steps,
                                    sums);
      });
      IRUKA_NO_UNROLL for (int v = 0; v < count; ++v) {
        IRUKA_NO_UNROLL for (int pixel = 0; pixel < width; pixel += kLanes)
            turn(sums + (pixel * count + v) * kLanes, count * kLanes, turned + pixel);
        const int output = (vector + v) * kLanes;
        const int last = conv.outputs - output < kLanes ? conv.outputs - output : kLanes;
        IRUKA_NO_UNROLL for (int b = 0; b < last; ++b) use(turned + b * kStrip, output + b, start, width);
      }
    }
  }
};

}  // namespace iruka::nn
