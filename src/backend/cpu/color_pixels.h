// One step of colours from pixels to pixels, whose channels are neighbours in memory. Part of color_lanes.h. Some
// pixels at a time become planes in the first-level cache, so that reads and writes of the pictures overlap.

#include "backend/cpu/pixel_lanes.h"

/// Pixels of a tile: those of a vector, so that its planes stay in registers.
template <class T>
constexpr int kTilePixels = kPixelVector > 0 ? kPixelVector / int{sizeof(T)} : 16;

/// The planes of a tile, red first or blue first in memory.
template <class T, int kChannels>
struct Tile {
  T planes[kChannels][kTilePixels<T>];

  IRUKA_INLINE void load(const T* from, bool reverses) {
    if constexpr (kChannels == 3 && kPixelVector > 0) {
      typename PixelLanes<T>::Vector parts[3];
      PixelLanes<T>::load(from, parts);
      const auto first = reverses ? parts[2] : parts[0], last = reverses ? parts[0] : parts[2];
      PixelLanes<T>::store_plane(first, planes[0]);
      PixelLanes<T>::store_plane(parts[1], planes[1]);
      PixelLanes<T>::store_plane(last, planes[2]);
    } else {
      for (int x = 0; x < kTilePixels<T>; ++x)
        for (int c = 0; c < kChannels; ++c) planes[c][x] = from[kChannels * x + (reverses && c < 3 ? 2 - c : c)];
    }
  }
  IRUKA_INLINE void store(T* to, bool reverses) const {
    if constexpr (kChannels == 3 && kPixelVector > 0) {
      using L = PixelLanes<T>;
      const auto first = L::load_plane(planes[0]), last = L::load_plane(planes[2]);
      const typename L::Vector parts[3] = {reverses ? last : first, L::load_plane(planes[1]), reverses ? first : last};
      L::store(parts, to);
    } else {
      for (int x = 0; x < kTilePixels<T>; ++x)
        for (int c = 0; c < kChannels; ++c) to[kChannels * x + (reverses && c < 3 ? 2 - c : c)] = planes[c][x];
    }
  }
};

/// The first pixel behind `to` whose place is a multiple of a tile of elements, or 0 where there is none.
template <class T, int kChannels>
IRUKA_INLINE int64_t aligned_pixel(const T* to) {
  constexpr int64_t kElements = kTilePixels<T>;  // a power of two
  constexpr int64_t kInverseOfThree = 43;        // modulo 64
  const int64_t skipped = (0 - static_cast<int64_t>(reinterpret_cast<uint64_t>(to) / sizeof(T))) & (kElements - 1);
  if constexpr (kChannels == 3) return (skipped * kInverseOfThree) & (kElements - 1);
  return skipped % kChannels == 0 ? skipped / kChannels : 0;
}

/// Calls run(pixels, made) for each tile. The pictures do not overlap, so that the first tile may overlap the second,
/// from which on stores are aligned, and the last one the one before it.
template <class T, int kInputs, int kOutputs, class Run>
IRUKA_INLINE void each_tile(const T* from, int64_t count, T* to, Run&& run) {
  constexpr int64_t kPixels = kTilePixels<T>;
  if (count < kPixels) {
    const auto pixels = static_cast<size_t>(count);
    T few[4 * kPixels]{}, made[4 * kPixels];
    __builtin_memcpy(few, from, pixels * kInputs * sizeof(T));
    run(few, made);
    __builtin_memcpy(to, made, pixels * kOutputs * sizeof(T));
    return;
  }
  const int64_t aligned = aligned_pixel<T, kOutputs>(to), last = count - kPixels;
  for (int64_t x = 0; x < last; x = x == 0 && aligned > 0 ? aligned : x + kPixels)
    run(from + kInputs * x, to + kOutputs * x);
  run(from + kInputs * last, to + kOutputs * last);
}

/// Calls convert(inputs, outputs) with the planes of each tile.
template <class T, int kInputs, int kOutputs, class Convert>
IRUKA_INLINE void each_tile_of_planes(const PixelStep& step, const T* from, int64_t count, T* to, Convert&& convert) {
  const bool reverses_inputs = step.reverses_inputs, reverses_outputs = step.reverses_outputs;
  each_tile<T, kInputs, kOutputs>(from, count, to, [&](const T* pixels, T* made) __attribute__((always_inline)) {
    Tile<T, kInputs> source;
    Tile<T, kOutputs> result;
    source.load(pixels, reverses_inputs);
    const T* const inputs[] = {source.planes[0], source.planes[kInputs > 1 ? 1 : 0],
                               source.planes[kInputs > 2 ? 2 : 0]};
    T* const outputs[] = {result.planes[0], result.planes[kOutputs > 1 ? 1 : 0], result.planes[kOutputs > 2 ? 2 : 0],
                          result.planes[kOutputs > 3 ? 3 : 0]};
    convert(inputs, outputs);
    result.store(made, reverses_outputs);
  });
}

/// Exchanges the first colour and the last one, if there are permutations for that.
template <class T>
IRUKA_INLINE bool reverse_pixels(const T* from, int64_t count, T* to) {
  if constexpr (kPixelVector > 0) each_tile<T, 3, 3>(from, count, to, PixelLanes<T>::copy_reversed);
  return kPixelVector > 0;
}

template <class T>
void convert_pixels(const PixelStep& step, const T* from, int64_t count, T* to) {
  const ColorRange& range = step.range;
  const parts::ColorRange same{range.most, range.half, range.turn, range.light, range.chroma, range.chroma_zero};
  with_constant(step.conversion, [&]<ColorConversion kConversion>() {
    constexpr int kInputs = inputs_of(kConversion), kOutputs = outputs_of(kConversion);
    if constexpr (kConversion == ColorConversion::reorder) {
      if (step.reverses_inputs != step.reverses_outputs && reverse_pixels(from, count, to)) return;
    }
    const auto run = [&](auto&& convert) __attribute__((always_inline)) {
      each_tile_of_planes<T, kInputs, kOutputs>(step, from, count, to, convert);
    };
    if constexpr (sizeof(T) == 2 && only_moves(kConversion)) {
      const int white = static_cast<int>(range.most);
      run([&](const T* const* inputs, T* const* outputs) __attribute__((always_inline)) {
        convert_planes<kConversion, T, int>(inputs, outputs, kTilePixels<T>,
                                            [&](const int* in, int* out) __attribute__((always_inline)) {
                                              parts::convert_bytes<static_cast<int>(kConversion)>(in, out);
                                              if constexpr (kOutputs == 4) out[3] = white;
                                            });
      });
    } else if constexpr (sizeof(T) > 1) {
      run([&](const T* const* inputs, T* const* outputs) __attribute__((always_inline)) {
        convert_planes<kConversion, T, float>(inputs, outputs, kTilePixels<T>,
                                              [&](const float* in, float* out) __attribute__((always_inline)) {
                                                parts::convert_floats<static_cast<int>(kConversion)>(in, out, same);
                                              });
      });
    } else if constexpr (kConversion == ColorConversion::rgb_to_lab) {
      const LightTable table;
      run([&](const uint8_t* const* inputs, uint8_t* const* outputs) {
        bytes_to_lab(table.light, inputs, outputs, kTilePixels<T>);
      });
    } else if constexpr (has_words(kConversion)) {
      run([&](const uint8_t* const* inputs, uint8_t* const* outputs) {
        convert_words_of<kConversion>(inputs, outputs, kTilePixels<T>);
      });
    } else {
      run([&](const T* const* inputs, T* const* outputs) __attribute__((always_inline)) {
        convert_planes<kConversion, T, int>(inputs, outputs, kTilePixels<T>,
                                            [](const int* in, int* out) __attribute__((always_inline)) {
                                              parts::convert_bytes<static_cast<int>(kConversion)>(in, out);
                                            });
      });
    }
  });
}

/// A matrix of three by three, and an offset for each output.
template <class T>
void mix_pixels(const PixelStep& step, const T* from, int64_t count, T* to) {
  const PixelStep own = step;  // which no store can change
  float m[3][3];
  __builtin_memcpy(m, own.matrix, sizeof m);
  each_tile_of_planes<T, 3, 3>(
      own, from, count, to, [&](const T* const* inputs, T* const* outputs) __attribute__((always_inline)) {
        static_assert(sizeof(T) > 1 || !kMixesWords || kTilePixels<T> == kWordPixels);
        if constexpr (sizeof(T) == 1 && kMixesWords) return mix_words(m, own.offset, inputs, outputs);
        const T *const x = inputs[0], *const y = inputs[1], *const z = inputs[2];
        T *const r = outputs[0], *const g = outputs[1], *const b = outputs[2];
#pragma clang loop vectorize(assume_safety)
        for (int k = 0; k < kTilePixels<T>; ++k) {
          const auto mixed = [&](int c) __attribute__((always_inline)) {
            const float sum =
                fmaf(m[c][1], static_cast<float>(y[k]), fmaf(m[c][0], static_cast<float>(x[k]), own.offset[c]));
            return value_of<T>(fmaf(m[c][2], static_cast<float>(z[k]), sum));
          };
          r[k] = mixed(0);
          g[k] = mixed(1);
          b[k] = mixed(2);
        }
      });
}

template <class T> void step_of_pixels(const PixelStep& step, const void* from, int64_t count, void* to) {
  const auto* const source = static_cast<const T*>(from);
  step.matrix ? mix_pixels(step, source, count, static_cast<T*>(to))
              : convert_pixels(step, source, count, static_cast<T*>(to));
}
