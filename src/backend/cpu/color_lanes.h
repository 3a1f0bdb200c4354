// The loops of colours. A source file for each instruction set includes this one, within a namespace of its own; so it
// uses no function of the standard library. The arithmetic of a pixel is that of kernels (core/kernels/color.h), of
// which Clang's loop vectoriser makes lanes.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <utility>

#include "backend/cpu/color_job.h"

namespace iruka::cpu_backend::IRUKA_COLOR_TARGET {
namespace {

#define IRUKA_INLINE inline __attribute__((always_inline))

// What core/kernels/color.h takes from the kernel language.
IRUKA_INLINE float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }  // NOLINT
IRUKA_INLINE int __float_as_int(float value) { return __builtin_bit_cast(int, value); }  // NOLINT
IRUKA_INLINE float fmaf(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
IRUKA_INLINE float floorf(float value) { return __builtin_elementwise_floor(value); }

// NOLINTNEXTLINE(misc-include-cleaner): a copy of its functions for this instruction set
#include "core/kernels/color.h"
namespace parts = iruka::image;

/// Calls `use` with the conversion as a constant.
template <class Use>
void with_constant(ColorConversion conversion, Use&& use) {
  switch (conversion) {
#define IRUKA_CASE(name) \
  case ColorConversion::name: return use.template operator()<ColorConversion::name>();
    IRUKA_CASE(reorder)
    IRUKA_CASE(gray_to_rgb)
    IRUKA_CASE(rgb_to_gray)
    IRUKA_CASE(rgb_to_hsv)
    IRUKA_CASE(hsv_to_rgb)
    IRUKA_CASE(rgb_to_lab)
    IRUKA_CASE(lab_to_rgb)
    IRUKA_CASE(rgb_to_ycbcr)
    IRUKA_CASE(ycbcr_to_rgb)
    IRUKA_CASE(rgb_to_rgba)
    IRUKA_CASE(rgba_to_rgb)
#undef IRUKA_CASE
  }
}

/// The nearest value of T, as parts::nearest_up_to has it: the last bits of the sum are the integer.
template <class T>
IRUKA_INLINE T value_of(float v) {
  constexpr float kMost = sizeof(T) == 1 ? 255.0F : 65535.0F;
  v = v > 0.0F ? v : 0.0F;
  v = v < kMost ? v : kMost;
  return static_cast<T>(__float_as_int(v + 12582912.0F));
}
template <>
IRUKA_INLINE float value_of<float>(float v) {
  return v;
}
template <class T>
IRUKA_INLINE T value_of(int v) {
  return static_cast<T>(v);
}

/// The planes of pixels, of which none overlaps another.
template <ColorConversion kConversion, class T, class Number, class Convert>
IRUKA_INLINE void convert_planes(const T* const* inputs, T* const* outputs, int64_t count, Convert convert) {
  constexpr int kInputs = inputs_of(kConversion), kOutputs = outputs_of(kConversion);
  const T* const in0 = inputs[0];
  const T* const in1 = inputs[kInputs > 1 ? 1 : 0];
  const T* const in2 = inputs[kInputs > 2 ? 2 : 0];
  T* const out0 = outputs[0];
  T* const out1 = outputs[kOutputs > 1 ? 1 : 0];
  T* const out2 = outputs[kOutputs > 2 ? 2 : 0];
  T* const out3 = outputs[kOutputs > 3 ? 3 : 0];
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i) {
    const Number in[4] = {static_cast<Number>(in0[i]), static_cast<Number>(in1[i]), static_cast<Number>(in2[i])};
    Number out[4] = {};
    convert(in, out);
    out0[i] = value_of<T>(out[0]);
    if constexpr (kOutputs > 1) out1[i] = value_of<T>(out[1]);
    if constexpr (kOutputs > 2) out2[i] = value_of<T>(out[2]);
    if constexpr (kOutputs > 3) out3[i] = value_of<T>(out[3]);
  }
}

/// What to_light() gives, which is looked up sooner than computed.
struct LightTable {
  float light[256];
  LightTable() {
    for (int level = 0; level < 256; ++level) light[level] = parts::byte_light(level);
  }
};
template <class T>
IRUKA_INLINE void bytes_to_lab(const float (&light)[256], const T* const* inputs, T* const* outputs, int64_t count) {
  const T *const r = inputs[0], *const g = inputs[1], *const b = inputs[2];
  T *const l = outputs[0], *const first = outputs[1], *const second = outputs[2];
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i) {
    int made[3];
    parts::byte_light_to_lab(light[r[i]], light[g[i]], light[b[i]], made);
    l[i] = value_of<T>(made[0]);
    first[i] = value_of<T>(made[1]);
    second[i] = value_of<T>(made[2]);
  }
}

#if defined(__x86_64__)
#include "backend/cpu/color_words.h"
#else
constexpr bool has_words(ColorConversion) { return false; }
IRUKA_INLINE int64_t add_squared_differences(const uint8_t*, const uint8_t*, int64_t, uint64_t&) { return 0; }
struct ByteSums {
  static constexpr int kMost = 1 << 13;
  uint64_t sums = 0, squares = 0;
  IRUKA_INLINE void add(const uint8_t* from);
  IRUKA_INLINE void add_to(uint64_t& all, uint64_t& all_squares) const { all += sums, all_squares += squares; }
};
constexpr bool kMixesWords = false;
constexpr int kWordPixels = 0;
IRUKA_INLINE void mix_words(const float (&)[3][3], const float (&)[3], const uint8_t* const*, uint8_t* const*) {}
/// Converts no pixels.
int64_t convert_words(ColorConversion, const uint8_t* const*, uint8_t* const*, int64_t) { return 0; }
template <ColorConversion kConversion>
int64_t convert_words_of(const uint8_t* const*, uint8_t* const*, int64_t) {
  return 0;
}
#endif
#include "backend/cpu/color_pixels.h"

/// The same planes behind `done` elements.
template <class T>
struct Behind {
  T* planes[4] = {};
  Behind(T* const* from, int count, int64_t done) {
    for (int c = 0; c < count; ++c) planes[c] = from[c] + done;
  }
};

void convert_bytes(ColorConversion conversion, const uint8_t* const* inputs, uint8_t* const* outputs, int64_t count) {
  if (conversion == ColorConversion::rgb_to_lab && count >= 256)
    return bytes_to_lab(LightTable().light, inputs, outputs, count);
  const int64_t done = convert_words(conversion, inputs, outputs, count);
  if (done == count) return;
  const Behind<const uint8_t> from(inputs, inputs_of(conversion), done);
  const Behind<uint8_t> to(outputs, outputs_of(conversion), done);
  with_constant(conversion, [&]<ColorConversion kConversion>() {
    convert_planes<kConversion, uint8_t, int>(from.planes, to.planes, count - done,
                                              [](const int* in, int* out) __attribute__((always_inline)) {
                                                parts::convert_bytes<static_cast<int>(kConversion)>(in, out);
                                              });
  });
}

void convert_floats(ColorConversion conversion, const ColorRange& range, const float* const* inputs,
                    float* const* outputs, int64_t count) {
  const parts::ColorRange same{range.most, range.half, range.turn, range.light, range.chroma, range.chroma_zero};
  with_constant(conversion, [&]<ColorConversion kConversion>() {
    convert_planes<kConversion, float, float>(inputs, outputs, count,
                                              [&](const float* in, float* out) __attribute__((always_inline)) {
                                                parts::convert_floats<static_cast<int>(kConversion)>(in, out, same);
                                              });
  });
}

void affine(const float* __restrict input, float scale, float offset, float* __restrict output, int64_t count) {
  for (int64_t i = 0; i < count; ++i) output[i] = fmaf(input[i], scale, offset);
}

template <class T>
IRUKA_INLINE void multiply(const T* const* inputs, int64_t channels, const float* row, float offset,
                           T* __restrict output, int64_t count) {
  if (channels == 3) {
    const T *const a = inputs[0], *const b = inputs[1], *const c = inputs[2];
    const float first = row[0], second = row[1], third = row[2];
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i) {
      const float sum = fmaf(first, static_cast<float>(a[i]), offset);
      output[i] = value_of<T>(fmaf(third, static_cast<float>(c[i]), fmaf(second, static_cast<float>(b[i]), sum)));
    }
    return;
  }
  constexpr int64_t kPart = 256;
  for (int64_t first = 0; first < count; first += kPart) {
    const int64_t part = count - first < kPart ? count - first : kPart;
    float sum[kPart];
    for (int64_t i = 0; i < part; ++i) sum[i] = offset;
    for (int64_t k = 0; k < channels; ++k) {
      const T* const from = inputs[k] + first;
      const float factor = row[k];
      for (int64_t i = 0; i < part; ++i) sum[i] = fmaf(factor, static_cast<float>(from[i]), sum[i]);
    }
    for (int64_t i = 0; i < part; ++i) output[first + i] = value_of<T>(sum[i]);
  }
}
void matrix(const float* const* inputs, int64_t channels, const float* row, float offset, float* output,
            int64_t count) {
  multiply(inputs, channels, row, offset, output, count);
}
void matrix_bytes(const uint8_t* const* inputs, int64_t channels, const float* row, float offset, uint8_t* output,
                  int64_t count) {
  multiply(inputs, channels, row, offset, output, count);
}

void gamma(const float* __restrict input, float most, float gain, float exponent, float* __restrict output,
           int64_t count) {
  for (int64_t i = 0; i < count; ++i) output[i] = parts::gamma_of(input[i], most, gain, exponent);
}

void lookup_bytes(const uint8_t* __restrict input, const uint8_t* __restrict table, uint8_t* __restrict output,
                  int64_t count) {
  int64_t i = 0;
#if defined(__AVX512VBMI__)
  __m512i part[4];
  for (int k = 0; k < 4; ++k) part[k] = _mm512_loadu_si512(table + 64 * k);
  for (; i + 64 <= count; i += 64) {
    const __m512i at = _mm512_loadu_si512(input + i);
    const __m512i low = _mm512_permutex2var_epi8(part[0], at, part[1]);
    const __m512i high = _mm512_permutex2var_epi8(part[2], at, part[3]);
    _mm512_storeu_si512(output + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high));
  }
#elif defined(__AVX2__)
  // A permutation gives 0 where the highest bit is set, else what the lowest four bits name. Each half of the table has
  // eight parts, of which those up to the right one add up, by exclusive or, to it.
  __m256i part[16];
  for (int k = 0; k < 16; ++k) {
    const __m128i own = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * k));
    const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + 16 * (k - (k % 8 != 0))));
    part[k] = _mm256_broadcastsi128_si256(k % 8 == 0 ? own : _mm_xor_si128(own, last));
  }
  const __m256i step = _mm256_set1_epi8(16);
  for (; i + 32 <= count; i += 32) {
    __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(input + i));
    __m256i high = _mm256_xor_si256(low, _mm256_set1_epi8(-128));
    __m256i made = _mm256_xor_si256(_mm256_shuffle_epi8(part[0], low), _mm256_shuffle_epi8(part[8], high));
#pragma clang loop unroll(full)
    for (int k = 1; k < 8; ++k) {
      low = _mm256_subs_epi8(low, step);
      high = _mm256_subs_epi8(high, step);
      made = _mm256_xor_si256(
          made, _mm256_xor_si256(_mm256_shuffle_epi8(part[k], low), _mm256_shuffle_epi8(part[8 + k], high)));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(output + i), made);
  }
#endif
#pragma clang loop vectorize(disable)
  for (; i < count; ++i) output[i] = table[input[i]];
}

/// Up to kBlended values that were looked up in four tables.
constexpr int64_t kBlended = 256;
template <class T>
IRUKA_INLINE void blend(const T (&levels)[4][kBlended], const float* across, float down, T* output, int64_t count) {
  const float up = 1.0F - down;
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i) {
    const float right = across[i], left = 1.0F - right;
    const float above = static_cast<float>(levels[0][i]) * left + static_cast<float>(levels[1][i]) * right;
    const float below = static_cast<float>(levels[2][i]) * left + static_cast<float>(levels[3][i]) * right;
    output[i] = value_of<T>(above * up + below * down);
  }
}
void blend_tables(const void* input, bool is_wide, const void* const* tables, const float* across, float down,
                  void* output, int64_t count) {
  for (int64_t first = 0; first < count; first += kBlended) {
    const int64_t part = count - first < kBlended ? count - first : kBlended;
    if (is_wide) {
      uint16_t levels[4][kBlended];
      for (int k = 0; k < 4; ++k)
        for (int64_t i = 0; i < part; ++i)
          levels[k][i] = static_cast<const uint16_t*>(tables[k])[static_cast<const uint16_t*>(input)[first + i]];
      blend(levels, across + first, down, static_cast<uint16_t*>(output) + first, part);
    } else {
      uint8_t levels[4][kBlended];
      for (int k = 0; k < 4; ++k)
        lookup_bytes(static_cast<const uint8_t*>(input) + first, static_cast<const uint8_t*>(tables[k]), levels[k],
                     part);
      blend(levels, across + first, down, static_cast<uint8_t*>(output) + first, part);
    }
  }
}

void lookup(const void* input, bool is_wide, const float* __restrict table, float* __restrict output, int64_t count) {
  const auto* const bytes = static_cast<const uint8_t*>(input);
  const auto* const words = static_cast<const uint16_t*>(input);
  if (is_wide) {
    for (int64_t i = 0; i < count; ++i) output[i] = table[words[i]];
  } else {
    for (int64_t i = 0; i < count; ++i) output[i] = table[bytes[i]];
  }
}

#if !defined(__x86_64__)
void ByteSums::add(const uint8_t* from) {
  for (int k = 0; k < kTilePixels<uint8_t>; ++k) sums += from[k], squares += uint32_t{from[k]} * from[k];
}
#endif
template <class T>
void sums_of_any(const T* from, int64_t channels, int64_t pixels, uint64_t* sums, uint64_t* squares) {
  for (int64_t x = 0; x < pixels; ++x, from += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      sums[c] += from[c];
      squares[c] += uint64_t{from[c]} * from[c];
    }
  }
}
/// By tiles of up to four channels.
template <class T, int kChannels>
void sums_of_tiles(const T* from, int64_t pixels, uint64_t* sums, uint64_t* squares) {
  constexpr int64_t kPixels = kTilePixels<T>;
  int64_t x = 0;
  while (x + kPixels <= pixels) {
    const int64_t tiles = (pixels - x) / kPixels;
    const int64_t end = x + (tiles < ByteSums::kMost ? tiles : ByteSums::kMost) * kPixels;
    ByteSums made[kChannels];
    for (; x < end; x += kPixels) {
      Tile<T, kChannels> tile;
      tile.load(from + x * kChannels, false);
      for (int c = 0; c < kChannels; ++c) {
        if constexpr (sizeof(T) == 1) {
          made[c].add(tile.planes[c]);
        } else {
          uint32_t sum = 0;
          uint64_t square = 0;
          for (int k = 0; k < kPixels; ++k)
            sum += tile.planes[c][k], square += uint64_t{tile.planes[c][k]} * tile.planes[c][k];
          sums[c] += sum;
          squares[c] += square;
        }
      }
    }
    for (int c = 0; sizeof(T) == 1 && c < kChannels; ++c) made[c].add_to(sums[c], squares[c]);
  }
  sums_of_any(from + x * kChannels, kChannels, pixels - x, sums, squares);
}
template <class T>
void level_sums_of(const T* from, int64_t channels, int64_t pixels, uint64_t* sums, uint64_t* squares) {
  switch (channels) {
    case 1: return sums_of_tiles<T, 1>(from, pixels, sums, squares);
    case 2: return sums_of_tiles<T, 2>(from, pixels, sums, squares);
    case 3: return sums_of_tiles<T, 3>(from, pixels, sums, squares);
    case 4: return sums_of_tiles<T, 4>(from, pixels, sums, squares);
    default: return sums_of_any(from, channels, pixels, sums, squares);
  }
}
void level_sums(const void* from, bool is_wide, int64_t channels, int64_t pixels, uint64_t* sums, uint64_t* squares) {
  if (is_wide) return level_sums_of(static_cast<const uint16_t*>(from), channels, pixels, sums, squares);
  level_sums_of(static_cast<const uint8_t*>(from), channels, pixels, sums, squares);
}

template <class T>
IRUKA_INLINE uint64_t squares_apart(const T* a, const T* b, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t apart = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
    sum += apart * apart;
  }
  return sum;
}
uint64_t squared_difference(const void* a, const void* b, bool is_wide, int64_t count) {
  if (is_wide) return squares_apart(static_cast<const uint16_t*>(a), static_cast<const uint16_t*>(b), count);
  const auto *const x = static_cast<const uint8_t*>(a), *const y = static_cast<const uint8_t*>(b);
  uint64_t sum = 0;
  const int64_t done = add_squared_differences(x, y, count, sum);
  return sum + squares_apart(x + done, y + done, count - done);
}

}  // namespace

// NOLINTBEGIN(misc-definitions-in-headers): one source file of each namespace includes this one
const ColorLoops color_loops{step_of_pixels<uint8_t>,
                             step_of_pixels<uint16_t>,
                             step_of_pixels<float>,
                             convert_bytes,
                             convert_floats,
                             affine,
                             matrix,
                             matrix_bytes,
                             gamma,
                             lookup_bytes,
                             blend_tables,
                             lookup,
                             level_sums,
                             squared_difference};
// NOLINTEND(misc-definitions-in-headers)

}  // namespace iruka::cpu_backend::IRUKA_COLOR_TARGET
