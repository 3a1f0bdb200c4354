// Loops of uint8 pictures: exact sums of integers. Part of resample_lanes.h.

/// How a sum along a row becomes a number of 6 bits of fraction: directly, or by way of a uint8.
struct ColumnRounding {
  explicit ColumnRounding(const FixedColumns& columns)
      : down(columns.rounds ? 14 : kColumnShift),
        half(1 << (down - 1)),
        up(columns.rounds ? kRowBits : 0),
        least(columns.rounds ? 0 : INT16_MIN),
        most(columns.rounds ? 255 : INT16_MAX) {}
  const int down;
  const int32_t half;
  const int up;
  const int16_t least, most;

  IRUKA_RESAMPLE_INLINE int16_t operator()(int32_t sum) const {
    sum >>= down;
    return static_cast<int16_t>((sum < least ? least : sum > most ? most : sum) << up);
  }
#if defined(__AVX2__)
  IRUKA_RESAMPLE_INLINE __m128i operator()(__m128i numbers) const {
    const __m128i cut = _mm_min_epi16(_mm_max_epi16(numbers, _mm_set1_epi16(least)), _mm_set1_epi16(most));
    return _mm_sll_epi16(cut, _mm_cvtsi32_si128(up));
  }
  IRUKA_RESAMPLE_INLINE __m256i operator()(__m256i numbers) const {
    const __m256i cut = _mm256_min_epi16(_mm256_max_epi16(numbers, _mm256_set1_epi16(least)), _mm256_set1_epi16(most));
    return _mm256_sll_epi16(cut, _mm_cvtsi32_si128(up));
  }
#endif
};

/// One output at a time: any channels and windows.
template <int kChannels>
IRUKA_RESAMPLE_INLINE void fixed_pixels(const FixedColumns& columns, const uint8_t* row, int16_t* result) {
  const ColumnRounding rounding(columns);
  const int taps = 2 * columns.pairs;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const uint8_t* from = row + int64_t{columns.start[x]} * kChannels;
    const int16_t* const weights = columns.weights + x * taps;
    int32_t sum[kChannels];
    for (int32_t& each : sum) each = rounding.half;
    for (int k = 0; k < taps; ++k, from += kChannels)
      for (int c = 0; c < kChannels; ++c) sum[c] += from[c] * weights[k];
    for (int c = 0; c < kChannels; ++c) result[x * kChannels + c] = rounding(sum[c]);
  }
}
/// Blocks of channels.
IRUKA_RESAMPLE_INLINE void fixed_channels(const FixedColumns& columns, const uint8_t* row, int16_t* result) {
  constexpr int kBlock = 64;
  const ColumnRounding rounding(columns);
  const int taps = 2 * columns.pairs;
  const int64_t channels = columns.channels;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int16_t* const weights = columns.weights + x * taps;
    for (int64_t first = 0; first < channels; first += kBlock) {
      const int64_t count = channels - first < kBlock ? channels - first : kBlock;
      const uint8_t* from = row + columns.start[x] * channels + first;
      int32_t sum[kBlock];
      for (int32_t& each : sum) each = rounding.half;
      for (int k = 0; k < taps; ++k, from += channels) {
        const int32_t weight = weights[k];
        if (weight == 0) continue;  // also reads nothing behind a row
        for (int64_t c = 0; c < count; ++c) sum[c] += from[c] * weight;
      }
      int16_t* const to = result + x * channels + first;
      for (int64_t c = 0; c < count; ++c) to[c] = rounding(sum[c]);
    }
  }
}

#if defined(__AVX2__)
/// Adds up the sums over several taps of one pixel, in lanes of `kLanes` channels. Writes 4 numbers, of which those
/// behind the pixel's are overwritten by the next pixel.
template <int kLanes>
IRUKA_RESAMPLE_INLINE void put_window(__m256i sums, const ColumnRounding& rounding, int16_t* to) {
  __m128i total = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  if constexpr (kLanes <= 2) total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
  if constexpr (kLanes == 1) total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1));
  total = _mm_sra_epi32(_mm_add_epi32(total, _mm_set1_epi32(rounding.half)), _mm_cvtsi32_si128(rounding.down));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), rounding(_mm_packs_epi32(total, total)));
}
#endif

#if defined(__AVX512VBMI__) && defined(__AVX512VNNI__)
constexpr int kGroup = 16, kWindow = 64;
constexpr bool kHasWide = true;

/// Each group of 16 outputs takes the two bytes of each pair of taps from one or two vectors. The bytes of the next
/// pair lie two pixels further in the same order.
template <int kRows, bool kIsWide>
IRUKA_RESAMPLE_INLINE void fixed_groups(const FixedColumns& columns, const uint8_t* const* rows,
                                        int16_t* const* results) {
  const int pairs = columns.pairs;
  const int64_t step = 2 * columns.channels;
  const __mmask64 low = 0x5555555555555555;  // the upper half of each number is 0
  const ColumnRounding rounding(columns);
  const __m128i down = _mm_cvtsi32_si128(rounding.down);
  const int16_t* weights = columns.group_weights;
  for (int64_t group = 0; group < columns.groups; ++group) {
    const __m512i places = _mm512_loadu_si512(columns.places + group * 64);
    const int64_t start = columns.group_start[group];
    __m512i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm512_set1_epi32(rounding.half);
    for (int k = 0; k < pairs; ++k, weights += 32) {
      const __m512i weight = _mm512_loadu_si512(weights);
      for (int r = 0; r < kRows; ++r) {
        const uint8_t* const from = rows[r] + start + k * step;
        const __m512i bytes = _mm512_loadu_si512(from);
        __m512i values;
        if constexpr (kIsWide)
          values = _mm512_maskz_permutex2var_epi8(low, bytes, places, _mm512_loadu_si512(from + 64));
        else
          values = _mm512_maskz_permutexvar_epi8(low, places, bytes);
        sum[r] = _mm512_dpwssd_epi32(sum[r], values, weight);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      const __m256i numbers = _mm512_cvtsepi32_epi16(_mm512_sra_epi32(sum[r], down));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(results[r] + group * 16), rounding(numbers));
    }
  }
}

/// Where windows are large, a vector holds the sums over several taps of one pixel of up to 4 channels.
template <int kChannels, int kRows>
IRUKA_RESAMPLE_INLINE void fixed_windows(const FixedColumns& columns, const uint8_t* const* rows,
                                         int16_t* const* results) {
  constexpr int kLanes = kChannels == 3 ? 4 : kChannels;  // int32 lanes of a pair of taps
  constexpr int kPairs = 16 / kLanes;                     // of taps in a vector
  alignas(64) uint8_t places[64] = {};
  alignas(64) int32_t spread[16];
  for (int lane = 0; lane < 16; ++lane) {
    const int pair = lane / kLanes, channel = lane % kLanes < kChannels ? lane % kLanes : 0;
    places[4 * lane] = static_cast<uint8_t>(2 * pair * kChannels + channel);
    places[4 * lane + 2] = static_cast<uint8_t>((2 * pair + 1) * kChannels + channel);
    spread[lane] = pair;
  }
  const __m512i place = _mm512_load_si512(places), spreading = _mm512_load_si512(spread);
  const ColumnRounding rounding(columns);
  const int pairs = columns.pairs;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int64_t start = int64_t{columns.start[x]} * kChannels;
    const int16_t* const weights = columns.weights + x * 2 * pairs;
    __m512i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm512_setzero_si512();
    for (int k = 0; k < pairs; k += kPairs) {
      const int left = pairs - k;
      const __mmask16 mask = static_cast<__mmask16>(left >= kPairs ? 0xffff >> (16 - kPairs) : (1 << left) - 1);
      const __m512i weight = _mm512_permutexvar_epi32(spreading, _mm512_maskz_loadu_epi32(mask, weights + 2 * k));
      for (int r = 0; r < kRows; ++r) {
        const __m512i bytes = _mm512_loadu_si512(rows[r] + start + 2 * k * kChannels);
        const __m512i values = _mm512_maskz_permutexvar_epi8(0x5555555555555555, place, bytes);
        sum[r] = _mm512_dpwssd_epi32(sum[r], values, weight);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(sum[r]), _mm512_extracti64x4_epi64(sum[r], 1));
      put_window<kLanes>(half, rounding, results[r] + x * kChannels);
    }
  }
}

/// Eight numbers of 64 bits. Loads are faster than a gather.
IRUKA_RESAMPLE_INLINE __m512i load_eight(const void* from, const int32_t* places, int bytes) {
  const auto two = [&](int k) __attribute__((always_inline)) {
    const auto* const start = static_cast<const char*>(from);
    const auto* const first = reinterpret_cast<const double*>(start + int64_t{places[k]} * bytes);
    const auto* const second = reinterpret_cast<const double*>(start + int64_t{places[k + 1]} * bytes);
    return _mm_castpd_si128(_mm_loadh_pd(_mm_load_sd(first), second));
  };
  const __m256i low = _mm256_set_m128i(two(2), two(0)), high = _mm256_set_m128i(two(6), two(4));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// Where outputs are far apart and have few taps, each pixel's pair of taps is loaded by itself, for 8 pixels at once.
template <int kChannels, int kRows, int kPairs>
IRUKA_RESAMPLE_INLINE void fixed_sparse(const FixedColumns& columns, const uint8_t* const* rows,
                                        int16_t* const* results) {
  constexpr int kLanes = kChannels == 3 ? 4 : kChannels;                            // of a pixel
  constexpr int kVectors = kLanes == 4 ? 2 : 1;                                     // for 8 pixels
  constexpr int kPixels = 8 / kVectors < 16 / kLanes ? 8 / kVectors : 16 / kLanes;  // of a vector
  alignas(64) uint8_t places[kVectors][64] = {};
  alignas(64) int32_t spread[kPairs][kVectors][16] = {};
  alignas(64) uint16_t packed[32] = {};
  for (int vector = 0; vector < kVectors; ++vector) {
    for (int lane = 0; lane < kPixels * kLanes; ++lane) {
      const int pixel = vector * kPixels + lane / kLanes, channel = lane % kLanes < kChannels ? lane % kLanes : 0;
      places[vector][4 * lane] = static_cast<uint8_t>(8 * pixel + channel);
      places[vector][4 * lane + 2] = static_cast<uint8_t>(8 * pixel + kChannels + channel);
      for (int pair = 0; pair < kPairs; ++pair) spread[pair][vector][lane] = pixel * kPairs + pair;
    }
  }
  for (int k = 0; k < 8 * kChannels; ++k) packed[k] = static_cast<uint16_t>(k / kChannels * kLanes + k % kChannels);
  const __m512i packing = _mm512_load_si512(packed);
  const ColumnRounding rounding(columns);
  const __m128i down = _mm_cvtsi32_si128(rounding.down);
  int64_t x = 0;
  for (; x + 8 <= columns.pixels; x += 8) {
    const __m512i weights = kPairs == 1 ? _mm512_maskz_loadu_epi32(0xff, columns.weights + 2 * x)
                                        : _mm512_loadu_si512(columns.weights + 4 * x);
    for (int r = 0; r < kRows; ++r) {
      __m512i sum[kVectors];
      for (__m512i& each : sum) each = _mm512_set1_epi32(rounding.half);
      for (int pair = 0; pair < kPairs; ++pair) {
        const __m512i bytes = load_eight(rows[r] + 2 * pair * kChannels, columns.start + x, kChannels);
        for (int vector = 0; vector < kVectors; ++vector) {
          const __m512i place = _mm512_load_si512(places[vector]);
          const __m512i values = _mm512_maskz_permutexvar_epi8(0x5555555555555555, place, bytes);
          const __m512i weight = _mm512_permutexvar_epi32(_mm512_load_si512(spread[pair][vector]), weights);
          sum[vector] = _mm512_dpwssd_epi32(sum[vector], values, weight);
        }
      }
      __m512i numbers = _mm512_castsi256_si512(rounding(_mm512_cvtsepi32_epi16(_mm512_sra_epi32(sum[0], down))));
      if constexpr (kVectors == 2) {
        const __m256i upper = rounding(_mm512_cvtsepi32_epi16(_mm512_sra_epi32(sum[kVectors - 1], down)));
        numbers = _mm512_inserti64x4(numbers, upper, 1);
      }
      if constexpr (kChannels == 3) numbers = _mm512_permutexvar_epi16(packing, numbers);
      _mm512_storeu_si512(results[r] + x * kChannels, numbers);
    }
  }
  if (x == columns.pixels) return;
  FixedColumns rest = columns;
  rest.pixels -= x;
  rest.start += x;
  rest.weights += x * 2 * kPairs;
  for (int r = 0; r < kRows; ++r) fixed_pixels<kChannels>(rest, rows[r], results[r] + x * kChannels);
}

/// Any window of pixels of up to 4 channels.
template <int kChannels, int kRows>
IRUKA_RESAMPLE_INLINE void fixed_far(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results) {
  if (columns.pairs == 1) return fixed_sparse<kChannels, kRows, 1>(columns, rows, results);
  if (columns.pairs == 2) return fixed_sparse<kChannels, kRows, 2>(columns, rows, results);
  fixed_windows<kChannels, kRows>(columns, rows, results);
}

template <int kRows>
void fixed_columns_of(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results) {
  if (columns.groups) {
    columns.is_wide ? fixed_groups<kRows, true>(columns, rows, results)
                    : fixed_groups<kRows, false>(columns, rows, results);
    return;
  }
  switch (columns.channels) {
    case 1: return fixed_far<1, kRows>(columns, rows, results);
    case 2: return fixed_far<2, kRows>(columns, rows, results);
    case 3: return fixed_far<3, kRows>(columns, rows, results);
    case 4: return fixed_far<4, kRows>(columns, rows, results);
    default:
      for (int r = 0; r < kRows; ++r) fixed_channels(columns, rows[r], results[r]);
  }
}

#elif defined(__AVX2__)
constexpr int kGroup = 4, kWindow = 16;
constexpr bool kHasWide = false;

/// Two groups of 4 outputs each take the two bytes of each pair of taps from the 16 bytes of a half of a vector.
template <int kRows>
IRUKA_RESAMPLE_INLINE void fixed_groups(const FixedColumns& columns, const uint8_t* const* rows,
                                        int16_t* const* results) {
  const int pairs = columns.pairs;
  const int64_t step = 2 * columns.channels;
  const ColumnRounding rounding(columns);
  const __m128i down = _mm_cvtsi32_si128(rounding.down);
  const auto load = [](const uint8_t* from) __attribute__((always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  for (int64_t group = 0; group < columns.groups; group += 2) {
    const __m256i places = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns.places + group * 16));
    const int64_t start = columns.group_start[group], next = columns.group_start[group + 1];
    const int16_t* const weights = columns.group_weights + group * pairs * 8;
    __m256i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm256_set1_epi32(rounding.half);
    for (int k = 0; k < pairs; ++k) {
      const auto* const w = reinterpret_cast<const uint8_t*>(weights + k * 8);
      const __m256i weight = _mm256_set_m128i(load(w + int64_t{pairs} * 16), load(w));
      for (int r = 0; r < kRows; ++r) {
        const uint8_t* const from = rows[r] + k * step;
        const __m256i values = _mm256_shuffle_epi8(_mm256_set_m128i(load(from + next), load(from + start)), places);
        sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(values, weight));
      }
    }
    for (int r = 0; r < kRows; ++r) {
      const __m256i numbers = _mm256_sra_epi32(sum[r], down);
      const __m128i packed = _mm_packs_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(results[r] + group * 4), rounding(packed));
    }
  }
}

/// Where outputs are far apart, a vector holds the sums over several taps of one pixel of up to 4 channels.
template <int kChannels, int kRows>
IRUKA_RESAMPLE_INLINE void fixed_windows(const FixedColumns& columns, const uint8_t* const* rows,
                                         int16_t* const* results) {
  constexpr int kLanes = kChannels == 3 ? 4 : kChannels;  // int32 lanes of a pair of taps
  constexpr int kPairs = 8 / kLanes;                      // of taps in a vector; their pixels lie in 16 bytes
  alignas(32) uint8_t places[32];
  alignas(32) int32_t spread[8];
  for (int lane = 0; lane < 8; ++lane) {
    const int pair = lane / kLanes, channel = lane % kLanes < kChannels ? lane % kLanes : 0;
    places[4 * lane] = static_cast<uint8_t>(2 * pair * kChannels + channel);
    places[4 * lane + 2] = static_cast<uint8_t>((2 * pair + 1) * kChannels + channel);
    places[4 * lane + 1] = places[4 * lane + 3] = 0x80;  // the upper half of each number is 0
    spread[lane] = pair;
  }
  constexpr int32_t kMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  const __m256i place = _mm256_load_si256(reinterpret_cast<const __m256i*>(places));
  const __m256i spreading = _mm256_load_si256(reinterpret_cast<const __m256i*>(spread));
  const ColumnRounding rounding(columns);
  const int pairs = columns.pairs;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int64_t start = int64_t{columns.start[x]} * kChannels;
    const int16_t* const weights = columns.weights + x * 2 * pairs;
    __m256i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm256_setzero_si256();
    for (int k = 0; k < pairs; k += kPairs) {
      const int count = pairs - k < kPairs ? pairs - k : kPairs;
      const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask + 8 - count));
      const __m256i each = _mm256_maskload_epi32(reinterpret_cast<const int*>(weights + 2 * k), mask);
      const __m256i weight = _mm256_permutevar8x32_epi32(each, spreading);
      for (int r = 0; r < kRows; ++r) {
        const uint8_t* const from = rows[r] + start + 2 * k * kChannels;
        const __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, place), weight));
      }
    }
    for (int r = 0; r < kRows; ++r) {
      put_window<kLanes>(sum[r], rounding, results[r] + x * kChannels);
    }
  }
}

template <int kRows>
void fixed_columns_of(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results) {
  if (columns.groups) return fixed_groups<kRows>(columns, rows, results);
  switch (columns.channels) {
    case 1: return fixed_windows<1, kRows>(columns, rows, results);
    case 2: return fixed_windows<2, kRows>(columns, rows, results);
    case 3: return fixed_windows<3, kRows>(columns, rows, results);
    case 4: return fixed_windows<4, kRows>(columns, rows, results);
    default:
      for (int r = 0; r < kRows; ++r) fixed_channels(columns, rows[r], results[r]);
  }
}

#else
constexpr int kGroup = 0, kWindow = 0;
constexpr bool kHasWide = false;

template <int kRows>
void fixed_columns_of(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results) {
  for (int r = 0; r < kRows; ++r) {
    switch (columns.channels) {
      case 1: fixed_pixels<1>(columns, rows[r], results[r]); break;
      case 3: fixed_pixels<3>(columns, rows[r], results[r]); break;
      case 4: fixed_pixels<4>(columns, rows[r], results[r]); break;
      default: fixed_channels(columns, rows[r], results[r]);
    }
  }
}
#endif

void fixed_columns(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results, int count) {
  switch (count) {
    case 1: return fixed_columns_of<1>(columns, rows, results);
    case 2: return fixed_columns_of<2>(columns, rows, results);
    case 3: return fixed_columns_of<3>(columns, rows, results);
    default: return fixed_columns_of<4>(columns, rows, results);
  }
}

IRUKA_RESAMPLE_INLINE int32_t both(const int16_t* weights) {
  int32_t pair;
  __builtin_memcpy(&pair, weights, sizeof pair);
  return pair;
}

void fixed_rows(const int16_t* const* rows, const int16_t* weights, int taps, int64_t count, uint8_t* result) {
  int64_t x = 0;
#if defined(__AVX512VNNI__)
  for (; x < count; x += 32) {
    const int64_t left = count - x;
    __m512i low = _mm512_set1_epi32(kRowHalf), high = low;
    for (int k = 0; k < taps; k += 2) {
      const __m512i weight = _mm512_set1_epi32(both(weights + k));
      const __m512i a = _mm512_loadu_si512(rows[k] + x), b = _mm512_loadu_si512(rows[k + 1] + x);
      low = _mm512_dpwssd_epi32(low, _mm512_unpacklo_epi16(a, b), weight);
      high = _mm512_dpwssd_epi32(high, _mm512_unpackhi_epi16(a, b), weight);
    }
    const __m512i numbers = _mm512_packs_epi32(_mm512_srai_epi32(low, kRowShift), _mm512_srai_epi32(high, kRowShift));
    const __m256i bytes = _mm512_cvtusepi16_epi8(_mm512_max_epi16(numbers, _mm512_setzero_si512()));
    if (left >= 32)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(result + x), bytes);
    else
      _mm256_mask_storeu_epi8(result + x, (1U << left) - 1, bytes);
  }
#elif defined(__AVX2__)
  for (; x + 32 <= count; x += 32) {
    __m256i sum[4];
    for (__m256i& each : sum) each = _mm256_set1_epi32(kRowHalf);
    for (int k = 0; k < taps; k += 2) {
      const __m256i weight = _mm256_set1_epi32(both(weights + k));
      for (int half = 0; half < 2; ++half) {
        const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[k] + x + 16 * half));
        const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[k + 1] + x + 16 * half));
        sum[2 * half] = _mm256_add_epi32(sum[2 * half], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weight));
        sum[2 * half + 1] = _mm256_add_epi32(sum[2 * half + 1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weight));
      }
    }
    for (__m256i& each : sum) each = _mm256_srai_epi32(each, kRowShift);
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(sum[0], sum[1]), _mm256_packs_epi32(sum[2], sum[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(result + x), _mm256_permute4x64_epi64(bytes, 0xd8));
  }
#endif
  constexpr int kBlock = 32;
  for (; x < count; x += kBlock) {
    const int64_t left = count - x < kBlock ? count - x : kBlock;
    int32_t sum[kBlock];
    for (int32_t& each : sum) each = kRowHalf;
    for (int k = 0; k < taps; ++k) {
      const int32_t weight = weights[k];
      const int16_t* const row = rows[k] + x;
      for (int i = 0; i < kBlock; ++i) sum[i] += row[i] * weight;  // rows have room behind their end
    }
    for (int64_t i = 0; i < left; ++i) result[x + i] = to_uint8(sum[i] >> kRowShift);
  }
}
