// Grey of RGB bytes by products of bytes, and a histogram in four tables.
#include "lanes.h"

extern "C" void grey(const uint8_t* picture, int64_t pixels, uint8_t* result, int64_t threads) {
  in_parts(pixels, threads, [=](int64_t i, int64_t end) {
    // Four pixels of 3 bytes become four numbers of 4 bytes.
    const __m128i spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m128i weights = _mm_set1_epi32(38 | 75 << 8 | 15 << 16), half = _mm_set1_epi32(64);
    const auto four = [&](const uint8_t* from) {
      const __m128i colours = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), spread);
      const __m128i sums = _mm_madd_epi16(_mm_maddubs_epi16(colours, weights), _mm_set1_epi16(1));
      return _mm_srli_epi32(_mm_add_epi32(sums, half), 7);
    };
    for (; i + 18 <= end; i += 16) {  // the last load reads four bytes behind its pixels
      const uint8_t* const from = picture + 3 * i;
      const __m128i low = _mm_packs_epi32(four(from), four(from + 12));
      const __m128i high = _mm_packs_epi32(four(from + 24), four(from + 36));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(result + i), _mm_packus_epi16(low, high));
    }
    for (; i < end; ++i)
      result[i] =
          static_cast<uint8_t>((77 * picture[3 * i] + 150 * picture[3 * i + 1] + 29 * picture[3 * i + 2] + 128) >> 8);
  });
}

extern "C" void histogram(const uint8_t* picture, int64_t pixels, int32_t* bins, int64_t threads) {
  std::fill_n(bins, 256, 0);
  in_parts(pixels, threads, [=](int64_t i, int64_t end) {
    int32_t counts[4][256] = {};
    for (; i + 8 <= end; i += 8) {
      uint64_t eight;
      std::memcpy(&eight, picture + i, 8);
      for (int k = 0; k < 8; ++k) ++counts[k % 4][eight >> 8 * k & 255];
    }
    for (; i < end; ++i) ++counts[0][picture[i]];
    for (int k = 0; k < 256; ++k)
      std::atomic_ref(bins[k]).fetch_add(counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k]);
  });
}
