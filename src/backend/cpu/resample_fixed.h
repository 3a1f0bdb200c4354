// Loops of uint8 pictures: exact sums of integers. Part of resample_lanes.h.

/// How a sum along a row becomes a number of 6 bits of fraction: directly, or by way of a uint8.
struct ColumnRounding {
  explicit IRUKA_RESAMPLE_INLINE ColumnRounding(bool rounds)
      : down(rounds ? 14 : kColumnShift),
        half(1 << (down - 1)),
        up(rounds ? kRowBits : 0),
        least(rounds ? 0 : INT16_MIN),
        most(rounds ? 255 : INT16_MAX) {}
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
  const ColumnRounding rounding(columns.rounds);
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
  const ColumnRounding rounding(columns.rounds);
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
/// Adds up the sums over several taps of a pixel of two rows, in lanes of `kLanes` channels. Writes 4 numbers of each,
/// of which those behind the pixel's are overwritten by the next pixel.
template <int kLanes, bool kRounds>
IRUKA_RESAMPLE_INLINE void put_windows(__m256i first, __m256i second, int16_t* to_first, int16_t* to_second) {
  const ColumnRounding rounding(kRounds);
  const auto total = [&](__m256i sums) __attribute__((always_inline)) {
    __m128i made = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    if constexpr (kLanes <= 2) made = _mm_add_epi32(made, _mm_shuffle_epi32(made, 0x4e));
    if constexpr (kLanes == 1) made = _mm_add_epi32(made, _mm_shuffle_epi32(made, 0xb1));
    return _mm_sra_epi32(_mm_add_epi32(made, _mm_set1_epi32(rounding.half)), _mm_cvtsi32_si128(rounding.down));
  };
  const __m128d numbers = _mm_castsi128_pd(rounding(_mm_packs_epi32(total(first), total(second))));
  _mm_storel_pd(reinterpret_cast<double*>(to_first), numbers);
  _mm_storeh_pd(reinterpret_cast<double*>(to_second), numbers);
}
#endif

#if defined(__AVX512VBMI__) && defined(__AVX512VNNI__)
constexpr int kGroup = 16, kGroupsAtOnce = 1, kWindow = 64, kNumbers = 16;
constexpr bool kHasWide = true;

/// Each group of 16 outputs takes the two bytes of each pair of taps from one or two vectors. The bytes of the next
/// pair lie two pixels further in the same order: in the same vectors where these are near, else in the next ones.
template <int kRows, bool kIsWide, bool kIsNear, bool kRounds>
IRUKA_RESAMPLE_INLINE void fixed_groups(const FixedColumns& columns, const uint8_t* const* rows,
                                        int16_t* const* results) {
  const int pairs = columns.pairs;
  const int64_t step = 2 * columns.channels;
  const __m512i place_step = _mm512_set1_epi8(static_cast<char>(kIsNear ? step : 0));
  __mmask64 low = 0x5555555555555555;  // the upper half of each number is 0
  asm("" : "+k"(low));                 // for a known mask the compiler would take one more instruction
  const ColumnRounding rounding(kRounds);
  const __m128i down = _mm_cvtsi32_si128(rounding.down);
  // Of each sum of two rows the two bytes from bit 8 on.
  static_assert(kColumnShift == 8);
  alignas(64) uint8_t middle_bytes[64];
  for (int k = 0; k < 64; ++k) middle_bytes[k] = static_cast<uint8_t>(4 * (k / 2) + 1 + k % 2);
  const __m512i middle = _mm512_load_si512(middle_bytes);
  const int64_t groups = columns.groups;
  const int32_t* const starts = columns.group_start;
  const uint8_t* const first_places = columns.places;
  const int16_t* weights = columns.group_weights;
  const uint8_t* from[kRows];
  int16_t* to[kRows];
  for (int r = 0; r < kRows; ++r) from[r] = rows[r], to[r] = results[r];
  for (int64_t group = 0; group < groups; ++group) {
    __m512i places = _mm512_loadu_si512(first_places + group * 64);
    int64_t start = starts[group];
    __m512i sum[kRows], bytes[kRows], more[kRows];
    const auto load = [&]() __attribute__((always_inline)) {
      for (int r = 0; r < kRows; ++r) {
        bytes[r] = _mm512_loadu_si512(from[r] + start);
        if constexpr (kIsWide) more[r] = _mm512_loadu_si512(from[r] + start + 64);
      }
    };
    for (int r = 0; r < kRows; ++r) sum[r] = _mm512_set1_epi32(rounding.half);
    if constexpr (kIsNear) load();
    IRUKA_RESAMPLE_KEPT_LOOP
    for (int k = 0; k < pairs; ++k, weights += 32) {
      if constexpr (!kIsNear) load();
      const __m512i weight = _mm512_loadu_si512(weights);
      for (int r = 0; r < kRows; ++r) {
        __m512i values;
        if constexpr (kIsWide)
          values = _mm512_maskz_permutex2var_epi8(low, bytes[r], places, more[r]);
        else
          values = _mm512_maskz_permutexvar_epi8(low, places, bytes[r]);
        sum[r] = _mm512_dpwssd_epi32(sum[r], values, weight);
      }
      if constexpr (kIsNear)
        places = _mm512_add_epi8(places, place_step);
      else
        start += step;
    }
    for (int r = 0; r < kRows; r += 2) {
      const int next = r + 1 < kRows ? r + 1 : r;
      __m512i numbers;
      if constexpr (kRounds) {
        const __m256i first = _mm512_cvtsepi32_epi16(_mm512_sra_epi32(sum[r], down));
        const __m256i second = _mm512_cvtsepi32_epi16(_mm512_sra_epi32(sum[next], down));
        numbers = _mm512_inserti64x4(_mm512_castsi256_si512(rounding(first)), rounding(second), 1);
      } else {
        numbers = _mm512_permutex2var_epi8(sum[r], middle, sum[next]);
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[r] + group * 16), _mm512_castsi512_si256(numbers));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[next] + group * 16), _mm512_extracti64x4_epi64(numbers, 1));
    }
  }
}

template <int kRows, bool kRounds>
IRUKA_RESAMPLE_INLINE void fixed_any_groups(const FixedColumns& columns, const uint8_t* const* rows,
                                            int16_t* const* results) {
  if (columns.is_near)
    columns.is_wide ? fixed_groups<kRows, true, true, kRounds>(columns, rows, results)
                    : fixed_groups<kRows, false, true, kRounds>(columns, rows, results);
  else
    columns.is_wide ? fixed_groups<kRows, true, false, kRounds>(columns, rows, results)
                    : fixed_groups<kRows, false, false, kRounds>(columns, rows, results);
}

/// Where windows are large, a vector holds the sums over several taps of one pixel of up to 4 channels.
template <int kChannels, int kRows, bool kRounds>
IRUKA_RESAMPLE_INLINE void fixed_windows(const FixedColumns& columns, const uint8_t* const* rows,
                                         int16_t* const* results) {
  constexpr int kLanes = window_lanes(kChannels);
  alignas(64) uint8_t places[64] = {};
  for (int lane = 0; lane < 16; ++lane) {
    const int pair = lane / kLanes, channel = lane % kLanes < kChannels ? lane % kLanes : 0;
    places[4 * lane] = static_cast<uint8_t>(2 * pair * kChannels + channel);
    places[4 * lane + 2] = static_cast<uint8_t>((2 * pair + 1) * kChannels + channel);
  }
  const __m512i place = _mm512_load_si512(places);
  __mmask64 low = 0x5555555555555555;
  asm("" : "+k"(low));
  constexpr int kStep = 2 * (16 / kLanes) * kChannels;  // bytes of the taps in a vector
  const int vectors = columns.window_vectors;
  const int16_t* weights = columns.window_weights;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int64_t start = int64_t{columns.start[x]} * kChannels;
    __m512i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm512_setzero_si512();
    IRUKA_RESAMPLE_KEPT_LOOP
    for (int k = 0; k < vectors; ++k, weights += 32) {
      const __m512i weight = _mm512_loadu_si512(weights);
      for (int r = 0; r < kRows; ++r) {
        const __m512i bytes = _mm512_loadu_si512(rows[r] + start + k * kStep);
        sum[r] = _mm512_dpwssd_epi32(sum[r], _mm512_maskz_permutexvar_epi8(low, place, bytes), weight);
      }
    }
    const auto half = [&](int r) __attribute__((always_inline)) {
      return _mm256_add_epi32(_mm512_castsi512_si256(sum[r]), _mm512_extracti64x4_epi64(sum[r], 1));
    };
    for (int r = 0; r < kRows; r += 2) {
      const int next = r + 1 < kRows ? r + 1 : r;
      put_windows<kLanes, kRounds>(half(r), half(next), results[r] + x * kChannels, results[next] + x * kChannels);
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
  const ColumnRounding rounding(columns.rounds);
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

#elif defined(__AVX2__)
constexpr int kGroup = 4, kGroupsAtOnce = 2, kWindow = 16, kNumbers = 8;
constexpr bool kHasWide = false;

/// Two groups of 4 outputs each take the two bytes of each pair of taps from the 16 bytes of a half of a vector.
template <int kRows, bool kRounds>
IRUKA_RESAMPLE_INLINE void fixed_any_groups(const FixedColumns& columns, const uint8_t* const* rows,
                                            int16_t* const* results) {
  const int pairs = columns.pairs;
  const int64_t step = 2 * columns.channels;
  const ColumnRounding rounding(kRounds);
  const __m128i down = _mm_cvtsi32_si128(rounding.down);
  const auto load = [](const uint8_t* from) __attribute__((always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  const int64_t groups = columns.groups;
  const int32_t* const starts = columns.group_start;
  const uint8_t* const first_places = columns.places;
  const int16_t* weights = columns.group_weights;
  const uint8_t* from[kRows];
  int16_t* to[kRows];
  for (int r = 0; r < kRows; ++r) from[r] = rows[r], to[r] = results[r];
  for (int64_t group = 0; group < groups; group += 2) {
    const __m256i places = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first_places + group * 16));
    int64_t start = starts[group], next = starts[group + 1];
    __m256i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm256_set1_epi32(rounding.half);
    for (int k = 0; k < pairs; ++k, weights += 16, start += step, next += step) {
      const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
      for (int r = 0; r < kRows; ++r) {
        const __m256i bytes = _mm256_set_m128i(load(from[r] + next), load(from[r] + start));
        sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, places), weight));
      }
    }
    for (int r = 0; r < kRows; r += 2) {
      const int second = r + 1 < kRows ? r + 1 : r;
      const __m256i packed = _mm256_packs_epi32(_mm256_sra_epi32(sum[r], down), _mm256_sra_epi32(sum[second], down));
      const __m256i numbers = rounding(_mm256_permute4x64_epi64(packed, 0xd8));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to[r] + group * 4), _mm256_castsi256_si128(numbers));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to[second] + group * 4), _mm256_extracti128_si256(numbers, 1));
    }
  }
}

/// Where outputs are far apart, a vector holds the sums over several taps of one pixel of up to 4 channels.
template <int kChannels, int kRows, bool kRounds>
IRUKA_RESAMPLE_INLINE void fixed_windows(const FixedColumns& columns, const uint8_t* const* rows,
                                         int16_t* const* results) {
  constexpr int kLanes = window_lanes(kChannels);
  alignas(32) uint8_t places[32];
  for (int lane = 0; lane < 8; ++lane) {
    const int pair = lane / kLanes, channel = lane % kLanes < kChannels ? lane % kLanes : 0;
    places[4 * lane] = static_cast<uint8_t>(2 * pair * kChannels + channel);
    places[4 * lane + 2] = static_cast<uint8_t>((2 * pair + 1) * kChannels + channel);
    places[4 * lane + 1] = places[4 * lane + 3] = 0x80;  // the upper half of each number is 0
  }
  const __m256i place = _mm256_load_si256(reinterpret_cast<const __m256i*>(places));
  constexpr int kStep = 2 * (8 / kLanes) * kChannels;  // bytes of the taps in a vector, of 16 that are loaded
  const int vectors = columns.window_vectors;
  const int16_t* weights = columns.window_weights;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int64_t start = int64_t{columns.start[x]} * kChannels;
    __m256i sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm256_setzero_si256();
    for (int k = 0; k < vectors; ++k, weights += 16) {
      const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
      for (int r = 0; r < kRows; ++r) {
        const uint8_t* const from = rows[r] + start + k * kStep;
        const __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, place), weight));
      }
    }
    for (int r = 0; r < kRows; r += 2) {
      const int next = r + 1 < kRows ? r + 1 : r;
      put_windows<kLanes, kRounds>(sum[r], sum[next], results[r] + x * kChannels, results[next] + x * kChannels);
    }
  }
}

#else
constexpr int kGroup = 0, kGroupsAtOnce = 1, kWindow = 0, kNumbers = 0;
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

#if defined(__AVX2__)
/// By vectors where there are weights for them.
template <int kChannels, int kRows>
IRUKA_RESAMPLE_INLINE void fixed_any_windows(const FixedColumns& columns, const uint8_t* const* rows,
                                             int16_t* const* results) {
  if (columns.window_vectors == 0)
    for (int r = 0; r < kRows; ++r) fixed_pixels<kChannels>(columns, rows[r], results[r]);
  else if (columns.rounds)
    fixed_windows<kChannels, kRows, true>(columns, rows, results);
  else
    fixed_windows<kChannels, kRows, false>(columns, rows, results);
}

/// Any window of pixels of up to 4 channels.
template <int kChannels, int kRows>
IRUKA_RESAMPLE_INLINE void fixed_far(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results) {
#if defined(__AVX512VBMI__) && defined(__AVX512VNNI__)
  if (columns.pairs == 1) return fixed_sparse<kChannels, kRows, 1>(columns, rows, results);
  if (columns.pairs == 2) return fixed_sparse<kChannels, kRows, 2>(columns, rows, results);
#endif
  fixed_any_windows<kChannels, kRows>(columns, rows, results);
}

template <int kRows>
void fixed_columns_of(const FixedColumns& columns, const uint8_t* const* rows, int16_t* const* results) {
  if (columns.groups) {
    columns.rounds ? fixed_any_groups<kRows, true>(columns, rows, results)
                   : fixed_any_groups<kRows, false>(columns, rows, results);
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

#if defined(__AVX512VNNI__)
/// Sums of 32 columns each, not yet cut to the values of uint8.
template <int kBlocks>
IRUKA_RESAMPLE_INLINE void sum_rows(const int16_t* const* rows, const int16_t* weights, int taps, int64_t x,
                                    __m512i (&numbers)[kBlocks]) {
  __m512i low[kBlocks], high[kBlocks];
  for (int block = 0; block < kBlocks; ++block) low[block] = high[block] = _mm512_set1_epi32(kRowHalf);
  IRUKA_RESAMPLE_KEPT_LOOP
  for (int k = 0; k < taps; k += 2) {
    const __m512i weight = _mm512_set1_epi32(both(weights + k));
    const int16_t *const first = rows[k] + x, *const second = rows[k + 1] + x;
    for (int block = 0; block < kBlocks; ++block) {
      const __m512i a = _mm512_loadu_si512(first + 32 * block), b = _mm512_loadu_si512(second + 32 * block);
      low[block] = _mm512_dpwssd_epi32(low[block], _mm512_unpacklo_epi16(a, b), weight);
      high[block] = _mm512_dpwssd_epi32(high[block], _mm512_unpackhi_epi16(a, b), weight);
    }
  }
  // The upper halves of sums, in the order of columns.
  alignas(64) uint16_t places[32];
  for (int k = 0; k < 32; ++k) places[k] = static_cast<uint16_t>(k / 8 * 8 + k % 4 * 2 + 1 + (k % 8 < 4 ? 0 : 32));
  const __m512i place = _mm512_load_si512(places);
  for (int block = 0; block < kBlocks; ++block)
    numbers[block] = _mm512_srai_epi16(_mm512_permutex2var_epi16(low[block], place, high[block]), kRowShift - 16);
}
#endif

void fixed_rows(const int16_t* const* rows, const int16_t* weights, int taps, int64_t count, uint8_t* result) {
  int64_t x = 0;
#if defined(__AVX512VNNI__)
  const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
  for (; x + 64 <= count; x += 64) {
    __m512i numbers[2];
    sum_rows<2>(rows, weights, taps, x, numbers);
    const __m512i bytes = _mm512_packus_epi16(numbers[0], numbers[1]);
    _mm512_storeu_si512(result + x, _mm512_permutexvar_epi64(order, bytes));
  }
  for (; x < count; x += 32) {
    __m512i numbers[1];
    sum_rows<1>(rows, weights, taps, x, numbers);
    const __mmask32 mask = count - x < 32 ? (1U << (count - x)) - 1 : 0xffffffff;
    const __m256i bytes = _mm512_cvtusepi16_epi8(_mm512_max_epi16(numbers[0], _mm512_setzero_si512()));
    _mm256_mask_storeu_epi8(result + x, mask, bytes);
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
