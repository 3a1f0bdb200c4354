// Conversions of bytes whose fixed point needs no more than products of int16: the sums of core/kernels/color.h, which
// are exact, by fewer instructions. Part of color_lanes.h.

#if defined(__AVX512BW__)
#define IRUKA_WIDE(name) _mm512_##name
using Integers = __m512i;
#elif defined(__AVX2__)
#define IRUKA_WIDE(name) _mm256_##name
using Integers = __m256i;
#else
#define IRUKA_WIDE(name) _mm_##name
using Integers = __m128i;
#endif
using Words __attribute__((vector_size(sizeof(Integers)))) = int16_t;
using Sums __attribute__((vector_size(sizeof(Integers)))) = int32_t;
using ByteVector __attribute__((vector_size(sizeof(Integers)), aligned(1), may_alias)) = uint8_t;

/// Two weights, for neighbouring words.
IRUKA_INLINE Integers weights(int first, int second) {
  return (Integers)(Sums{} + static_cast<int32_t>((static_cast<uint32_t>(second) << 16) |
                                                  (static_cast<uint32_t>(first) & 0xffff)));
}
/// (a * first.a + b * first.b +- (c * second.a + b * second.b) + offset) >> 16, of which int16 holds the result.
struct WordSum {
  int first_a, first_b, second_a, second_b;
  bool subtracts;
  int offset;
};
template <WordSum kSum> IRUKA_INLINE Words fixed_words(Words a, Words b, Words c) {
  const Integers first = weights(kSum.first_a, kSum.first_b), second = weights(kSum.second_a, kSum.second_b);
  const auto sum = [&](Integers ab, Integers cb) __attribute__((always_inline)) {
    const Sums one = (Sums)IRUKA_WIDE(madd_epi16)(ab, first), other = (Sums)IRUKA_WIDE(madd_epi16)(cb, second);
    return (Integers)(((kSum.subtracts ? one - other : one + other) + kSum.offset) >> 16);
  };
  const Integers low =
      sum(IRUKA_WIDE(unpacklo_epi16)((Integers)a, (Integers)b), IRUKA_WIDE(unpacklo_epi16)((Integers)c, (Integers)b));
  const Integers high =
      sum(IRUKA_WIDE(unpackhi_epi16)((Integers)a, (Integers)b), IRUKA_WIDE(unpackhi_epi16)((Integers)c, (Integers)b));
  return (Words)IRUKA_WIDE(packs_epi32)(low, high);
}
/// (value * factor + 2^15) >> 16
IRUKA_INLINE Words rounded_product(Words value, int factor) {
  const auto factors = (Integers)(Words{} + static_cast<int16_t>(factor));
  const auto high = (Words)IRUKA_WIDE(mulhi_epi16)((Integers)value, factors);
  const auto half = (Words)IRUKA_WIDE(srli_epi16)((Integers)(value * (Words)factors), 15);
  return high + half;
}

/// Weights beyond int16 are shared by two products, or are those of the negative number, subtracted.
template <ColorConversion kConversion> IRUKA_INLINE void convert_word_pixels(const Words* in, Words* out) {
  if constexpr (kConversion == ColorConversion::ycbcr_to_rgb) {
    const Words y = in[0], blue = in[1] - 128, red = in[2] - 128;
    constexpr WordSum kGreen{-22554, 18734, 0, 0, false, 32768};
    out[0] = y + red + rounded_product(red, 91881 - 65536);
    out[1] = y - red + fixed_words<kGreen>(blue, red, Words{});
    out[2] = y + blue + blue + rounded_product(blue, 116130 - 2 * 65536);
  } else {
    const Words r = in[0], g = in[1], b = in[2];
    constexpr WordSum kLuma{19595, 19235, 7471, 19235, false, 32768};
    out[0] = fixed_words<kLuma>(r, g, b);
    if constexpr (kConversion == ColorConversion::rgb_to_ycbcr) {
      constexpr WordSum kBlue{-11059, -21709, -32768, 0, true, 8421375};
      constexpr WordSum kRed{-5329, -27439, -32768, 0, true, 8421375};
      out[1] = fixed_words<kBlue>(r, g, b);
      out[2] = fixed_words<kRed>(b, g, r);
    }
  }
}

constexpr bool has_words(ColorConversion conversion) {
  return conversion == ColorConversion::rgb_to_gray || conversion == ColorConversion::rgb_to_ycbcr ||
         conversion == ColorConversion::ycbcr_to_rgb;
}
/// Converts whole vectors of pixels. Returns how many pixels these are.
template <ColorConversion kConversion>
int64_t convert_words_of(const uint8_t* const* inputs, uint8_t* const* outputs, int64_t count) {
  constexpr int kSize = sizeof(Integers), kInputs = inputs_of(kConversion), kOutputs = outputs_of(kConversion);
  const uint8_t* const from[] = {inputs[0], inputs[1], inputs[2]};
  uint8_t* const to[] = {outputs[0], outputs[kOutputs > 1 ? 1 : 0], outputs[kOutputs > 2 ? 2 : 0]};
  int64_t i = 0;
  for (; i + kSize <= count; i += kSize) {
    Words low[kInputs], high[kInputs], made_low[kOutputs], made_high[kOutputs];
    for (int c = 0; c < kInputs; ++c) {
      const auto bytes = (Integers)(*reinterpret_cast<const ByteVector*>(from[c] + i));
      low[c] = (Words)IRUKA_WIDE(unpacklo_epi8)(bytes, (Integers)Words{});
      high[c] = (Words)IRUKA_WIDE(unpackhi_epi8)(bytes, (Integers)Words{});
    }
    convert_word_pixels<kConversion>(low, made_low);
    convert_word_pixels<kConversion>(high, made_high);
    for (int c = 0; c < kOutputs; ++c)
      *reinterpret_cast<ByteVector*>(to[c] + i) =
          (ByteVector)IRUKA_WIDE(packus_epi16)((Integers)made_low[c], (Integers)made_high[c]);
  }
  return i;
}
int64_t convert_words(ColorConversion conversion, const uint8_t* const* inputs, uint8_t* const* outputs,
                      int64_t count) {
  switch (conversion) {
    case ColorConversion::rgb_to_gray: return convert_words_of<ColorConversion::rgb_to_gray>(inputs, outputs, count);
    case ColorConversion::rgb_to_ycbcr: return convert_words_of<ColorConversion::rgb_to_ycbcr>(inputs, outputs, count);
    case ColorConversion::ycbcr_to_rgb: return convert_words_of<ColorConversion::ycbcr_to_rgb>(inputs, outputs, count);
    default: return 0;
  }
}

constexpr bool kMixesWords = true;
constexpr int kWordPixels = sizeof(Integers);  ///< of mix_words()
using Floats __attribute__((vector_size(sizeof(Integers)))) = float;

/// The numbers of a vector of bytes, in the order in which unpacking gives them and packing takes them.
IRUKA_INLINE void widen_bytes(const uint8_t* from, Floats (&to)[4]) {
  const auto bytes = (Integers)(*reinterpret_cast<const ByteVector*>(from)), zero = (Integers)Words{};
  const Integers low = IRUKA_WIDE(unpacklo_epi8)(bytes, zero), high = IRUKA_WIDE(unpackhi_epi8)(bytes, zero);
  to[0] = IRUKA_WIDE(cvtepi32_ps)(IRUKA_WIDE(unpacklo_epi16)(low, zero));
  to[1] = IRUKA_WIDE(cvtepi32_ps)(IRUKA_WIDE(unpackhi_epi16)(low, zero));
  to[2] = IRUKA_WIDE(cvtepi32_ps)(IRUKA_WIDE(unpacklo_epi16)(high, zero));
  to[3] = IRUKA_WIDE(cvtepi32_ps)(IRUKA_WIDE(unpackhi_epi16)(high, zero));
}
/// The nearest bytes. What is too small for an integer becomes the least one, which packing saturates to 0.
IRUKA_INLINE void narrow_bytes(const Floats (&from)[4], uint8_t* to) {
  Integers made[4];
#pragma clang loop unroll(full)
  for (int k = 0; k < 4; ++k) made[k] = IRUKA_WIDE(cvtps_epi32)(from[k] > 255.0F ? Floats{} + 255.0F : from[k]);
  *reinterpret_cast<ByteVector*>(to) = (ByteVector)IRUKA_WIDE(packus_epi16)(IRUKA_WIDE(packs_epi32)(made[0], made[1]),
                                                                            IRUKA_WIDE(packs_epi32)(made[2], made[3]));
}

/// A vector of pixels by a matrix.
IRUKA_INLINE void mix_words(const float (&matrix)[3][3], const float (&offset)[3], const uint8_t* const* inputs,
                            uint8_t* const* outputs) {
  Floats in[3][4];
#pragma clang loop unroll(full)
  for (int c = 0; c < 3; ++c) widen_bytes(inputs[c], in[c]);
#pragma clang loop unroll(full)
  for (int c = 0; c < 3; ++c) {
    Floats sums[4];
#pragma clang loop unroll(full)
    for (int k = 0; k < 4; ++k) {
      sums[k] = Floats{} + offset[c];
#pragma clang loop unroll(full)
      for (int i = 0; i < 3; ++i) sums[k] = __builtin_elementwise_fma(Floats{} + matrix[c][i], in[i][k], sums[k]);
    }
    narrow_bytes(sums, outputs[c]);
  }
}

/// The sums of the bytes of vectors, and of their squares, of which a lane holds those of kMost vectors.
struct ByteSums {
  static constexpr int kMost = 1 << 13;
  using Wide __attribute__((vector_size(sizeof(Integers)))) = uint64_t;
  using Unsigned __attribute__((vector_size(sizeof(Integers)))) = uint32_t;
  Wide sums{};
  Unsigned squares{};

  IRUKA_INLINE void add(const uint8_t* from) {
    const auto bytes = (Integers)(*reinterpret_cast<const ByteVector*>(from)), zero = (Integers)Words{};
    const Integers low = IRUKA_WIDE(unpacklo_epi8)(bytes, zero), high = IRUKA_WIDE(unpackhi_epi8)(bytes, zero);
    sums += (Wide)IRUKA_WIDE(sad_epu8)(bytes, zero);
    squares += (Unsigned)IRUKA_WIDE(madd_epi16)(low, low) + (Unsigned)IRUKA_WIDE(madd_epi16)(high, high);
  }
  IRUKA_INLINE void add_to(uint64_t& all, uint64_t& all_squares) const {
    for (size_t k = 0; k < sizeof(Wide) / sizeof(uint64_t); ++k) all += sums[k];
    for (size_t k = 0; k < sizeof(Unsigned) / sizeof(uint32_t); ++k) all_squares += squares[k];
  }
};

/// Adds the squares of the differences of whole vectors of bytes to `sum`. Returns how many bytes these are.
IRUKA_INLINE int64_t add_squared_differences(const uint8_t* a, const uint8_t* b, int64_t count, uint64_t& sum) {
  constexpr int64_t kMostVectors = 1 << 13;  // a lane adds up to 4 * 255^2 of each
  using Unsigned __attribute__((vector_size(sizeof(Integers)))) = uint32_t;
  const auto zero = (Integers)Words{};
  int64_t i = 0;
  while (count - i >= int64_t{sizeof(Integers)}) {
    const int64_t vectors = (count - i) / int64_t{sizeof(Integers)};
    const int64_t end = i + (vectors < kMostVectors ? vectors : kMostVectors) * int64_t{sizeof(Integers)};
    Unsigned sums{};
    for (; i < end; i += sizeof(Integers)) {
      const auto x = (Integers)(*reinterpret_cast<const ByteVector*>(a + i));
      const auto y = (Integers)(*reinterpret_cast<const ByteVector*>(b + i));
      const auto apart = (Integers)((Sums)IRUKA_WIDE(subs_epu8)(x, y) | (Sums)IRUKA_WIDE(subs_epu8)(y, x));
      const Integers low = IRUKA_WIDE(unpacklo_epi8)(apart, zero), high = IRUKA_WIDE(unpackhi_epi8)(apart, zero);
      sums += (Unsigned)IRUKA_WIDE(madd_epi16)(low, low) + (Unsigned)IRUKA_WIDE(madd_epi16)(high, high);
    }
    for (size_t k = 0; k < sizeof(Integers) / sizeof(uint32_t); ++k) sum += sums[k];
  }
  return i;
}
#undef IRUKA_WIDE
