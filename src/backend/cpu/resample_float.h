// Loops of other pictures: sums in float32 by fused multiply-adds, in the order of the taps. Part of resample_lanes.h.

IRUKA_RESAMPLE_INLINE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
IRUKA_RESAMPLE_INLINE int32_t multiply_add(int32_t a, int32_t b, int32_t c) { return a * b + c; }

/// The nearest value of a uint8, ties to even.
IRUKA_RESAMPLE_INLINE float as_byte(float sum) {
  sum = sum > 0.0F ? sum : 0.0F;
  sum = sum < 255.0F ? sum : 255.0F;
  return (sum + 0x1.8p23F) - 0x1.8p23F;
}

/// Pixels of kChannels channels as vectors of kLanes, of which the last ones may be of the next pixel.
template <int kChannels, int kLanes, int kRows>
void float_pixels(const FloatColumns& columns, const float* const* rows, float* const* results) {
  using V = Vectors<float, kLanes>;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int64_t start = int64_t{columns.start[x]} * kChannels;
    const float* const weights = columns.weights + x * columns.taps;
    const int count = columns.count[x];
    typename V::Vector sum[kRows]{};
    for (int k = 0; k < count; ++k) {
      const typename V::Vector weight = weights[k] - typename V::Vector{};
      for (int r = 0; r < kRows; ++r)
        sum[r] = __builtin_elementwise_fma(V::load(rows[r] + start + k * kChannels), weight, sum[r]);
    }
    for (int r = 0; r < kRows; ++r) V::store(sum[r], results[r] + x * kChannels);
  }
}

template <int kRows>
void float_single_pixels(const FloatColumns& columns, const float* const* rows, float* const* results) {
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const int64_t start = columns.start[x];
    const float* const weights = columns.weights + x * columns.taps;
    const int count = columns.count[x];
    float sum[kRows]{};
    for (int k = 0; k < count; ++k)
      for (int r = 0; r < kRows; ++r) sum[r] = multiply_add(rows[r][start + k], weights[k], sum[r]);
    for (int r = 0; r < kRows; ++r) results[r][x] = sum[r];
  }
}

void float_channels(const FloatColumns& columns, const float* row, float* result) {
  constexpr int kLanes = 16;
  using V = Vectors<float, kLanes>;
  const int64_t channels = columns.channels;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    const float* const from = row + columns.start[x] * channels;
    const float* const weights = columns.weights + x * columns.taps;
    const int count = columns.count[x];
    int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      typename V::Vector sum{};
      for (int k = 0; k < count; ++k)
        sum = __builtin_elementwise_fma(V::load(from + k * channels + c), weights[k] - typename V::Vector{}, sum);
      V::store(sum, result + x * channels + c);
    }
    for (; c < channels; ++c) {
      float sum = 0;
      for (int k = 0; k < count; ++k) sum = multiply_add(from[k * channels + c], weights[k], sum);
      result[x * channels + c] = sum;
    }
  }
}

#if defined(__AVX512F__)
constexpr int kFloatWindow = 32;

template <int kRows>
void float_groups(const FloatColumns& columns, const float* const* rows, float* const* results) {
  const int64_t channels = columns.channels;
  const float* weights = columns.group_weights;
  const uint16_t* masks = columns.group_masks;
  for (int64_t group = 0; group < columns.groups; ++group) {
    const __m512i places = _mm512_loadu_si512(columns.places + group * 16);
    const int64_t start = columns.group_start[group];
    __m512 sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = _mm512_setzero_ps();
    for (int k = 0; k < columns.taps; ++k, weights += 16) {
      const __m512 weight = _mm512_loadu_ps(weights);
      const __mmask16 has_tap = *masks++;
      for (int r = 0; r < kRows; ++r) {
        const float* const from = rows[r] + start + k * channels;
        const __m512 values = _mm512_permutex2var_ps(_mm512_loadu_ps(from), places, _mm512_loadu_ps(from + 16));
        sum[r] = _mm512_mask3_fmadd_ps(values, weight, sum[r], has_tap);
      }
    }
    for (int r = 0; r < kRows; ++r) _mm512_storeu_ps(results[r] + group * 16, sum[r]);
  }
}
#else
constexpr int kFloatWindow = 0;

template <int kRows>
void float_groups(const FloatColumns&, const float* const*, float* const*) {}
#endif

template <int kRows>
void float_columns_of(const FloatColumns& columns, const float* const* rows, float* const* results) {
  if (kFloatWindow && columns.groups) return float_groups<kRows>(columns, rows, results);
  switch (columns.channels) {
    case 1: return float_single_pixels<kRows>(columns, rows, results);
    case 2: return float_pixels<2, 2, kRows>(columns, rows, results);
    case 3: return float_pixels<3, 4, kRows>(columns, rows, results);
    case 4: return float_pixels<4, 4, kRows>(columns, rows, results);
    default:
      for (int r = 0; r < kRows; ++r) float_channels(columns, rows[r], results[r]);
  }
}

void float_columns(const FloatColumns& columns, const float* const* rows, float* const* results, int count) {
  switch (count) {
    case 1: float_columns_of<1>(columns, rows, results); break;
    case 2: float_columns_of<2>(columns, rows, results); break;
    case 3: float_columns_of<3>(columns, rows, results); break;
    default: float_columns_of<4>(columns, rows, results);
  }
  for (int r = 0; columns.rounds && r < count; ++r)
    for (int64_t i = 0; i < columns.pixels * columns.channels; ++i) results[r][i] = as_byte(results[r][i]);
}

/// kTaps is 0 for any number.
template <int kTaps>
void float_rows_of(const float* const* rows, const float* weights, int any_taps, int64_t count, float* result) {
  constexpr int kLanes = 16;
  using V = Vectors<float, kLanes>;
  const int taps = kTaps > 0 ? kTaps : any_taps;
  int64_t x = 0;
  const auto sums = [&]<int kVectors>() __attribute__((always_inline)) {
    for (; x + kVectors * kLanes <= count; x += kVectors * kLanes) {
      typename V::Vector sum[kVectors]{};
      for (int k = 0; k < taps; ++k) {
        const typename V::Vector weight = weights[k] - typename V::Vector{};
        for (int v = 0; v < kVectors; ++v)
          sum[v] = __builtin_elementwise_fma(V::load(rows[k] + x + v * kLanes), weight, sum[v]);
      }
      for (int v = 0; v < kVectors; ++v) V::store(sum[v], result + x + v * kLanes);
    }
  };
  sums.template operator()<4>();  // as many as fused multiplications take time
  sums.template operator()<2>();
  sums.template operator()<1>();
  for (; x < count; ++x) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum = multiply_add(rows[k][x], weights[k], sum);
    result[x] = sum;
  }
}
void float_rows(const float* const* rows, const float* weights, int taps, int64_t count, float* result) {
  switch (taps) {
    case 1: return float_rows_of<1>(rows, weights, taps, count, result);
    case 2: return float_rows_of<2>(rows, weights, taps, count, result);
    case 3: return float_rows_of<3>(rows, weights, taps, count, result);
    case 4: return float_rows_of<4>(rows, weights, taps, count, result);
    case 5: return float_rows_of<5>(rows, weights, taps, count, result);
    case 7: return float_rows_of<7>(rows, weights, taps, count, result);
    case 9: return float_rows_of<9>(rows, weights, taps, count, result);
    default: return float_rows_of<0>(rows, weights, taps, count, result);
  }
}

/// Copies pixels of kBytes bytes by numbers of kWide bytes, of which the last ones are overwritten by the next pixel.
template <int kBytes, int kWide>
IRUKA_RESAMPLE_INLINE void select_wide(const int32_t* start, int64_t pixels, const char* row, char* result) {
  int64_t x = 0;
  for (; x + 1 < pixels; ++x) __builtin_memcpy(result + x * kBytes, row + int64_t{start[x]} * kBytes, kWide);
  if (x < pixels) __builtin_memcpy(result + x * kBytes, row + int64_t{start[x]} * kBytes, kBytes);
}

#if defined(__AVX512VBMI__)
void select_by_groups(const SelectedBytes& bytes, const char* row, char* result) {
  for (int64_t first = 0; first < bytes.count; first += 64) {
    const char* const from = row + bytes.group_start[first / 64];
    const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 64);
    const __m512i made = _mm512_permutex2var_epi8(low, _mm512_loadu_si512(bytes.places + first), high);
    if (bytes.count - first >= 64)
      _mm512_storeu_si512(result + first, made);
    else
      _mm512_mask_storeu_epi8(result + first, (uint64_t{1} << (bytes.count - first)) - 1, made);
  }
}
constexpr auto select_bytes = select_by_groups;
#else
constexpr decltype(ResampleLoops::select_bytes) select_bytes = nullptr;
#endif

void select_pixels(const int32_t* start, int64_t pixels, int bytes, const char* row, char* result) {
  switch (bytes) {
    case 1: return select_wide<1, 1>(start, pixels, row, result);
    case 2: return select_wide<2, 2>(start, pixels, row, result);
    case 3: return select_wide<3, 4>(start, pixels, row, result);
    case 4: return select_wide<4, 4>(start, pixels, row, result);
    case 6: return select_wide<6, 8>(start, pixels, row, result);
    case 8: return select_wide<8, 8>(start, pixels, row, result);
    case 12: return select_wide<12, 16>(start, pixels, row, result);
    case 16: return select_wide<16, 16>(start, pixels, row, result);
    default:
      for (int64_t x = 0; x < pixels; ++x)
        __builtin_memcpy(result + x * bytes, row + int64_t{start[x]} * bytes, static_cast<size_t>(bytes));
  }
}
