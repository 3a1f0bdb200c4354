// Loops of warps: places in a picture, and its values there. Part of resample_lanes.h.

/// Where coordinates are cut, which is outside of every picture.
constexpr float kFarthest = 0x1p30F;
/// Bits of a weight for uint8.
constexpr int kWarpBits = 11;
constexpr int32_t kWarpOne = 1 << kWarpBits, kWarpHalf = 1 << (2 * kWarpBits - 1);

void warp_places(const WarpPlaces& places, int64_t pixels, float* y, float* x) {
  const float across_x = places.column[0], across_y = places.column[1], across = places.column[2];
  const float first_x = places.row[0], first_y = places.row[1], first = places.row[2];
  if (!places.divides) {
    for (int64_t i = 0; i < pixels; ++i) {
      const auto at = static_cast<float>(places.start[i]);
      x[i] = multiply_add(at, across_x, first_x);
      y[i] = multiply_add(at, across_y, first_y);
    }
    return;
  }
  for (int64_t i = 0; i < pixels; ++i) {
    const auto at = static_cast<float>(places.start[i]);
    const float scale = 1.0F / multiply_add(at, across, first);
    x[i] = multiply_add(at, across_x, first_x) * scale;
    y[i] = multiply_add(at, across_y, first_y) * scale;
  }
}

IRUKA_RESAMPLE_INLINE int32_t place_at(int64_t place, int64_t extent, BorderRule border) {
  return static_cast<int32_t>(place_within(border, place, extent));
}

IRUKA_RESAMPLE_INLINE float half_value(uint16_t bits) {
  const int32_t rest = (bits & 0x7fff) << 13;
  const float scaled = __builtin_bit_cast(float, rest) * 0x1p112F;
  const int32_t special = rest >= 0x0f800000 ? 0x7f800000 : 0;
  return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, scaled) | special | ((bits & 0x8000) << 16));
}
template <Sample kSample>
IRUKA_RESAMPLE_INLINE float value_at(const char* pixel, int channel) {
  typename Stored<kSample>::Type stored;
  __builtin_memcpy(&stored, pixel + channel * static_cast<int>(sizeof stored), sizeof stored);
  if constexpr (kSample == Sample::float16)
    return half_value(stored);
  else
    return static_cast<float>(stored);
}

/// Keys' cubic convolution with a = -0.75 at four neighbours, from the distance to the second one.
IRUKA_RESAMPLE_INLINE void cubic_weights(float f, float* weights) {
  constexpr float kA = -0.75F;
  const auto outer = [](float t) __attribute__((always_inline)) {
    return multiply_add(multiply_add(multiply_add(kA, t, -5 * kA), t, 8 * kA), t, -4 * kA);
  };
  const auto inner = [](float t) __attribute__((always_inline)) {
    return multiply_add(multiply_add(kA + 2, t, -(kA + 3)) * t, t, 1.0F);
  };
  weights[0] = outer(f + 1);
  weights[1] = inner(f);
  weights[2] = inner(1 - f);
  weights[3] = outer(2 - f);
}

IRUKA_RESAMPLE_INLINE int32_t nearest_integer(float value) {
  return static_cast<int32_t>((value + 0x1.8p23F) - 0x1.8p23F);
}

/// Pixels whose taps are found at once.
constexpr int kWarpBlock = 64;

/// The coordinates of a block along one axis as the first of kTaps neighbours and their weights, floats or integers.
template <int kTaps, class Weight>
struct Taps {
  alignas(64) int32_t first[kWarpBlock];
  alignas(64) Weight weights[kTaps][kWarpBlock];
};

/// The integer below, without the standard library's floor.
IRUKA_RESAMPLE_INLINE int32_t integer_below(float place) {
  place = place > -kFarthest ? place : -kFarthest;  // also NaN
  place = place < kFarthest ? place : kFarthest;
  const auto lower = static_cast<int32_t>(place);
  return lower - (static_cast<float>(lower) > place ? 1 : 0);
}
IRUKA_RESAMPLE_INLINE float part_above(float place, int32_t lower) {
  place = place > -kFarthest ? place : -kFarthest;
  place = place < kFarthest ? place : kFarthest;
  return place - static_cast<float>(lower);
}

/// `is_inner`: no place is negative or far away.
template <int kTaps, bool is_inner = false, class Weight>
IRUKA_RESAMPLE_INLINE void find_taps(const float* places, int64_t count, Taps<kTaps, Weight>& taps) {
  for (int64_t i = 0; i < count; ++i) {
    const int32_t lower = is_inner ? static_cast<int32_t>(places[i]) : integer_below(places[i]);
    const float rest = is_inner ? places[i] - static_cast<float>(lower) : part_above(places[i], lower);
    float weights[kTaps];
    if constexpr (kTaps == 4) {
      cubic_weights(rest, weights);
    } else {
      weights[0] = 1 - rest;
      weights[1] = rest;
    }
    taps.first[i] = lower - (kTaps == 4 ? 1 : 0);
    if constexpr (static_cast<Weight>(0.5F) != 0) {
      for (int k = 0; k < kTaps; ++k) taps.weights[k][i] = weights[k];
    } else {
      int32_t whole[kTaps], sum = 0;
      for (int k = 0; k < kTaps; ++k) sum += whole[k] = nearest_integer(weights[k] * kWarpOne);
      whole[kTaps == 4 ? 1 : 0] += kWarpOne - sum;
      for (int k = 0; k < kTaps; ++k) taps.weights[k][i] = whole[k];
    }
  }
}

/// Where the first neighbours of the pixels of a block are in memory, and whether all neighbours are within the
/// picture.
struct Inside {
  alignas(64) int32_t offset[kWarpBlock];
  alignas(64) int32_t is_inside[kWarpBlock];
  alignas(64) int32_t is_outside[kWarpBlock];  ///< all neighbours are beyond the picture
  bool are_all, are_none;
};

/// Ranges of places all of whose neighbours are known to be within the picture. Most blocks are told by these alone.
class InnerRange {
 public:
  /// `reach`: bytes that are read of each row.
  template <int kTaps>
  static InnerRange of(const WarpRow& job, int64_t pixel_bytes, int64_t reach) {
    // Numbers up to these are exact in float32, and nearest_integer() takes them.
    constexpr int32_t kMost = kTaps == 1 ? 1 << 22 : 1 << 24;
    InnerRange made;
    made.line_ = static_cast<int32_t>(job.row_bytes);
    made.pixel_ = static_cast<int32_t>(pixel_bytes);
    const int64_t line = job.row_bytes < 0 ? -job.row_bytes : job.row_bytes;
    if (job.height < kTaps || job.width < kTaps || job.height > kMost || job.width > kMost) return made;
    if (line * job.height >= INT32_MAX || line < reach) return made;
    const float first = kTaps == 4 ? 1.0F : 0.0F, behind = kTaps == 1 ? 0.75F : kTaps == 2 ? 1.0F : 2.0F;
    made.low_y_ = made.low_x_ = first;
    made.end_y_ = static_cast<float>(job.height) - behind;
    made.end_x_ = static_cast<float>(job.width) - behind;
    // Loads at the end of the last row in memory may reach too far.
    (job.row_bytes < 0 ? made.low_y_ : made.end_y_) += job.row_bytes < 0 ? 1.0F : -1.0F;
    made.is_constant_ = job.border == kConstantBorder;
    made.height_ = static_cast<float>(job.height) + 2;
    made.width_ = static_cast<float>(job.width) + 2;
    return made;
  }
  bool has(const float* y, const float* x, int64_t count) const {
    return are_all(count, [&](int64_t i) __attribute__((always_inline)) {
      const FloatVector down = Floats::load(y + i), across = Floats::load(x + i);
      return (down >= low_y_) & (down < end_y_) & (across >= low_x_) & (across < end_x_);
    });
  }
  /// Whether all neighbours are constants, since all places lie beyond the same side.
  bool is_far(const float* y, const float* x, int64_t count) const {
    return is_constant_ && (are_below(y, -4.0F, count) || are_below(x, -4.0F, count) || are_above(y, height_, count) ||
                            are_above(x, width_, count));
  }
  void find_offsets(const int32_t* y, const int32_t* x, int64_t count, Inside& inside) const {
    for (int64_t i = 0; i < count; ++i) inside.offset[i] = y[i] * line_ + x[i] * pixel_;
    inside.are_all = true;
    inside.are_none = false;
  }

 private:
  /// Of whole blocks; false for others.
  template <class Test>
  static IRUKA_RESAMPLE_INLINE bool are_all(int64_t count, Test&& test) {
    if (count != kWarpBlock) return false;
    IntVector all = test(0);
    for (int64_t i = kWide; i < kWarpBlock; i += kWide) all &= test(i);
    return __builtin_reduce_and(all) != 0;
  }
  static bool are_below(const float* places, float limit, int64_t count) {
    return are_all(count, [&](int64_t i) __attribute__((always_inline)) { return Floats::load(places + i) < limit; });
  }
  static bool are_above(const float* places, float limit, int64_t count) {
    return are_all(count, [&](int64_t i) __attribute__((always_inline)) { return Floats::load(places + i) > limit; });
  }

  float low_y_ = 1, end_y_ = 0, low_x_ = 1, end_x_ = 0;  // none
  float height_ = 0, width_ = 0;
  int32_t line_ = 0, pixel_ = 0;
  bool is_constant_ = false;
};

/// `reach`: bytes that are read of each row.
template <int kTaps>
IRUKA_RESAMPLE_INLINE void find_inside(const WarpRow& job, const int32_t* y, const int32_t* x, int64_t count,
                                       int64_t pixel_bytes, int64_t reach, Inside& inside) {
  const auto line = static_cast<int32_t>(job.row_bytes), pixel = static_cast<int32_t>(pixel_bytes);
  const int64_t below = job.row_bytes > 0 ? (kTaps - 1) * job.row_bytes : 0;
  const int64_t size = (job.row_bytes < 0 ? -job.row_bytes : job.row_bytes) * job.height;
  // Offsets have 32 bits; the pixels of a larger picture are found one by one.
  const bool is_small = size < INT32_MAX;
  const int64_t room = job.source_end - job.source - reach - below;
  const int32_t last = !is_small || room < INT32_MIN ? INT32_MIN
                       : room < INT32_MAX            ? static_cast<int32_t>(room)
                                                     : INT32_MAX;
  const int32_t rows = is_small ? job.height - kTaps : INT32_MIN, columns = job.width - kTaps;
  int32_t all = 1, none = job.border == kConstantBorder;
  for (int64_t i = 0; i < count; ++i) {
    const auto offset = static_cast<int32_t>(static_cast<uint32_t>(y[i]) * static_cast<uint32_t>(line) +
                                             static_cast<uint32_t>(x[i]) * static_cast<uint32_t>(pixel));
    const int32_t is_inside = (y[i] >= 0) & (x[i] >= 0) & (y[i] <= rows) & (x[i] <= columns) & (offset <= last);
    const int32_t is_outside = (y[i] <= -kTaps) | (x[i] <= -kTaps) | (y[i] >= job.height) | (x[i] >= job.width);
    inside.offset[i] = offset;
    inside.is_inside[i] = is_inside;
    inside.is_outside[i] = is_outside;
    all &= is_inside;
    none &= is_outside;
  }
  inside.are_all = all != 0;
  inside.are_none = none != 0;
}

/// Where the neighbours of a place are, null for constants.
template <int kTaps>
struct Neighbours {
  const char* pixels[kTaps][kTaps];
};
template <int kTaps>
Neighbours<kTaps> neighbours_at(const WarpRow& job, int32_t y, int32_t x, int bytes) {
  Neighbours<kTaps> made;
  for (int j = 0; j < kTaps; ++j) {
    const int32_t row = place_at(int64_t{y} + j, job.height, job.border);
    for (int k = 0; k < kTaps; ++k) {
      const int32_t column = place_at(int64_t{x} + k, job.width, job.border);
      made.pixels[j][k] = row < 0 || column < 0 ? nullptr : job.source + row * job.row_bytes + int64_t{column} * bytes;
    }
  }
  return made;
}

/// Pixel `i` of a block, some of whose neighbours may lie beyond the picture.
template <Sample kSample, int kTaps, class Weight, class Result>
void edge_pixel(const WarpRow& job, const Taps<kTaps, Weight>& y, const Taps<kTaps, Weight>& x, int64_t i, Result* to) {
  constexpr int kBytes = sizeof(typename Stored<kSample>::Type);
  const Neighbours<kTaps> near = neighbours_at<kTaps>(job, y.first[i], x.first[i], job.channels * kBytes);
  const auto* const outside = static_cast<const Result*>(job.outside);
  for (int c = 0; c < job.channels; ++c) {
    Weight total = kSample == Sample::uint8 ? kWarpHalf : 0;
    for (int j = 0; j < kTaps; ++j) {
      Weight sum = 0;
      for (int k = 0; k < kTaps; ++k) {
        const char* const pixel = near.pixels[j][k];
        sum = multiply_add(pixel ? static_cast<Weight>(value_at<kSample>(pixel, c)) : static_cast<Weight>(outside[c]),
                           x.weights[k][i], sum);
      }
      total = multiply_add(sum, y.weights[j][i], total);
    }
    if constexpr (kSample == Sample::uint8)
      to[c] = to_uint8(total >> (2 * kWarpBits));
    else
      to[c] = total;
  }
}

/// The same for a pixel whose neighbours are all within the picture.
#if defined(__AVX2__)
/// A row's neighbours lie within 8 or 16 bytes: pairs of them meet in numbers of 16 bits. Writes 4 bytes.
template <int kTaps, int kChannels>
IRUKA_RESAMPLE_INLINE void inner_fixed_pixel(const WarpRow& job, const char* first, const Taps<kTaps, int32_t>& y,
                                             const Taps<kTaps, int32_t>& x, int64_t i, uint8_t* to) {
  alignas(16) int8_t places[kTaps / 2][16];
  for (int k = 0; k < 16; ++k) {
    const int channel = k / 4;
    for (int pair = 0; pair < kTaps / 2; ++pair) {
      const int place = channel + (2 * pair + k % 4 / 2) * kChannels;
      places[pair][k] = static_cast<int8_t>(k % 2 || channel >= kChannels ? -1 : place);
    }
  }
  __m128i sum = _mm_set1_epi32(kWarpHalf);
  __m128i weights[kTaps / 2];
  for (int pair = 0; pair < kTaps / 2; ++pair) {
    const int32_t both = (x.weights[2 * pair][i] & 0xffff) | x.weights[2 * pair + 1][i] << 16;
    weights[pair] = _mm_set1_epi32(both);
  }
  for (int j = 0; j < kTaps; ++j) {
    const auto* const row = reinterpret_cast<const __m128i*>(first + j * job.row_bytes);
    const __m128i bytes = kTaps * kChannels <= 8 ? _mm_loadl_epi64(row) : _mm_loadu_si128(row);
    __m128i along = _mm_setzero_si128();
    for (int pair = 0; pair < kTaps / 2; ++pair) {
      const __m128i place = _mm_load_si128(reinterpret_cast<const __m128i*>(places[pair]));
      along = _mm_add_epi32(along, _mm_madd_epi16(_mm_shuffle_epi8(bytes, place), weights[pair]));
    }
    sum = _mm_add_epi32(sum, _mm_mullo_epi32(along, _mm_set1_epi32(y.weights[j][i])));
  }
  const __m128i numbers = _mm_srai_epi32(sum, 2 * kWarpBits), words = _mm_packs_epi32(numbers, numbers);
  const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  __builtin_memcpy(to, &bytes, sizeof bytes);
}
#else
template <int kTaps, int kChannels>
IRUKA_RESAMPLE_INLINE void inner_fixed_pixel(const WarpRow& job, const char* first, const Taps<kTaps, int32_t>& y,
                                             const Taps<kTaps, int32_t>& x, int64_t i, uint8_t* to) {
  int32_t total[kChannels];
  for (int32_t& each : total) each = kWarpHalf;
  for (int j = 0; j < kTaps; ++j) {
    const auto* const row = reinterpret_cast<const uint8_t*>(first + j * job.row_bytes);
    for (int c = 0; c < kChannels; ++c) {
      int32_t sum = 0;
      for (int k = 0; k < kTaps; ++k) sum += row[k * kChannels + c] * x.weights[k][i];
      total[c] += sum * y.weights[j][i];
    }
  }
  for (int c = 0; c < kChannels; ++c) to[c] = to_uint8(total[c] >> (2 * kWarpBits));
}
#endif

template <Sample kSample, int kTaps, int kChannels>
IRUKA_RESAMPLE_INLINE void inner_float_pixel(const WarpRow& job, const char* first, const Taps<kTaps, float>& y,
                                             const Taps<kTaps, float>& x, int64_t i, float* to) {
  constexpr int kBytes = kChannels * sizeof(typename Stored<kSample>::Type);
  if constexpr (kSample == Sample::float32 && kChannels >= 3) {
    using V = Vectors<float, 4>;
    typename V::Vector total{};
    for (int j = 0; j < kTaps; ++j) {
      const char* const row = first + j * job.row_bytes;
      typename V::Vector sum{};
      for (int k = 0; k < kTaps; ++k)
        sum = __builtin_elementwise_fma(V::load(reinterpret_cast<const float*>(row + k * kBytes)),
                                        x.weights[k][i] - typename V::Vector{}, sum);
      total = __builtin_elementwise_fma(sum, y.weights[j][i] - typename V::Vector{}, total);
    }
    V::store(total, to);
    return;
  }
  float total[kChannels]{};
  for (int j = 0; j < kTaps; ++j) {
    const char* const row = first + j * job.row_bytes;
    for (int c = 0; c < kChannels; ++c) {
      float sum = 0;
      for (int k = 0; k < kTaps; ++k) sum = multiply_add(value_at<kSample>(row + k * kBytes, c), x.weights[k][i], sum);
      total[c] = multiply_add(sum, y.weights[j][i], total[c]);
    }
  }
  for (int c = 0; c < kChannels; ++c) to[c] = total[c];
}

template <Sample kSample, class Weight, int kLanes>
IRUKA_RESAMPLE_INLINE typename Vectors<Weight, kLanes>::Vector lanes_at(const char* from) {
  using Type = typename Stored<kSample>::Type;
  const auto* const values = reinterpret_cast<const Type*>(from);
  if constexpr (kSample == Sample::float16) {
    typename Vectors<Weight, kLanes>::Vector made;
    for (int lane = 0; lane < kLanes; ++lane) made[lane] = value_at<kSample>(from, lane);
    return made;
  } else {
    return __builtin_convertvector(Vectors<Type, kLanes>::load(values), typename Vectors<Weight, kLanes>::Vector);
  }
}

/// kLanes channels, from `first` on, of a pixel of any number of channels.
template <Sample kSample, int kTaps, int kLanes, class Weight, class Result>
IRUKA_RESAMPLE_INLINE void inner_lanes(const WarpRow& job, const char* first, const Taps<kTaps, Weight>& y,
                                       const Taps<kTaps, Weight>& x, int64_t i, Result* to) {
  using V = typename Vectors<Weight, kLanes>::Vector;
  const int64_t pixel = job.channels * static_cast<int64_t>(sizeof(typename Stored<kSample>::Type));
  V total{};
  for (int j = 0; j < kTaps; ++j) {
    const char* const row = first + j * job.row_bytes;
    V sum{};
    for (int k = 0; k < kTaps; ++k) {
      const V values = lanes_at<kSample, Weight, kLanes>(row + k * pixel), weight = x.weights[k][i] - V{};
      if constexpr (kSample == Sample::uint8)
        sum += values * weight;
      else
        sum = __builtin_elementwise_fma(values, weight, sum);
    }
    if constexpr (kSample == Sample::uint8)
      total += sum * (y.weights[j][i] - V{});
    else
      total = __builtin_elementwise_fma(sum, y.weights[j][i] - V{}, total);
  }
  if constexpr (kSample == Sample::uint8) {
    total = (total + kWarpHalf) >> (2 * kWarpBits);
    total = __builtin_elementwise_min(__builtin_elementwise_max(total, V{}), V{} + 255);
  }
  Vectors<Result, kLanes>::store(__builtin_convertvector(total, typename Vectors<Result, kLanes>::Vector), to);
}

/// More than four channels in blocks, of which the last one may overlap the one before it.
template <Sample kSample, int kTaps, class Weight, class Result>
IRUKA_RESAMPLE_INLINE void inner_channels(const WarpRow& job, const char* first, const Taps<kTaps, Weight>& y,
                                          const Taps<kTaps, Weight>& x, int64_t i, Result* to) {
  constexpr int64_t kBytes = sizeof(typename Stored<kSample>::Type);
  const int64_t channels = job.channels;
  int64_t c = 0;
  for (; c + 8 <= channels; c += 8) inner_lanes<kSample, kTaps, 8>(job, first + c * kBytes, y, x, i, to + c);
  for (; c < channels; c += 4) {
    const int64_t start = c + 4 <= channels ? c : channels - 4;
    inner_lanes<kSample, kTaps, 4>(job, first + start * kBytes, y, x, i, to + start);
  }
}

#if defined(__AVX512BW__) && defined(__AVX512VBMI__)
/// Eight numbers of 64 bits. Loads are faster than a gather.
IRUKA_RESAMPLE_INLINE __m512i load_eight(const char* from, const int32_t* offset) {
  const auto two = [&](int k) __attribute__((always_inline)) {
    const auto* const first = reinterpret_cast<const double*>(from + offset[k]);
    const auto* const second = reinterpret_cast<const double*>(from + offset[k + 1]);
    return _mm_castpd_si128(_mm_loadh_pd(_mm_load_sd(first), second));
  };
  const __m256i low = _mm256_set_m128i(two(2), two(0)), high = _mm256_set_m128i(two(6), two(4));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/// Sixteen pixels of one channel, all of whose neighbours are within the picture.
template <int kTaps>
IRUKA_RESAMPLE_INLINE void inner_vector(const WarpRow& job, const Inside& inside, const Taps<kTaps, int32_t>& y,
                                        const Taps<kTaps, int32_t>& x, int64_t i, uint8_t* to) {
  // Bytes 0 and 1, or 2 and 3, of each of sixteen numbers of 64 bits become numbers of 16 bits.
  alignas(64) uint8_t places[kTaps / 2][64];
  for (int pair = 0; pair < kTaps / 2; ++pair)
    for (int k = 0; k < 64; ++k) places[pair][k] = static_cast<uint8_t>(k / 4 * 8 + 2 * pair + k % 4 / 2);
  __m512i sum = _mm512_set1_epi32(kWarpHalf);
  for (int j = 0; j < kTaps; ++j) {
    const char* const row = job.source + j * job.row_bytes;
    const __m512i low = load_eight(row, inside.offset + i), high = load_eight(row, inside.offset + i + 8);
    __m512i along = _mm512_setzero_si512();
    for (int pair = 0; pair < kTaps / 2; ++pair) {
      const __m512i place = _mm512_load_si512(places[pair]);
      const __m512i values = _mm512_maskz_permutex2var_epi8(0x5555555555555555, low, place, high);
      const __m512i weight =
          _mm512_or_si512(_mm512_and_si512(_mm512_load_si512(x.weights[2 * pair] + i), _mm512_set1_epi32(0xffff)),
                          _mm512_slli_epi32(_mm512_load_si512(x.weights[2 * pair + 1] + i), 16));
      along = _mm512_add_epi32(along, _mm512_madd_epi16(values, weight));
    }
    sum = _mm512_add_epi32(sum, _mm512_mullo_epi32(along, _mm512_load_si512(y.weights[j] + i)));
  }
  const __m512i numbers = _mm512_max_epi32(_mm512_srai_epi32(sum, 2 * kWarpBits), _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(numbers));
}
template <int kTaps>
IRUKA_RESAMPLE_INLINE void inner_vector(const WarpRow& job, const Inside& inside, const Taps<kTaps, float>& y,
                                        const Taps<kTaps, float>& x, int64_t i, float* to) {
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  __m512 total = _mm512_setzero_ps();
  for (int j = 0; j < kTaps; ++j) {
    __m512 sum = _mm512_setzero_ps();
    for (int k = 0; k < kTaps; k += 2) {
      const char* const from = job.source + j * job.row_bytes + k * 4;
      const __m512 low = _mm512_castsi512_ps(load_eight(from, inside.offset + i));
      const __m512 high = _mm512_castsi512_ps(load_eight(from, inside.offset + i + 8));
      sum = _mm512_fmadd_ps(_mm512_permutex2var_ps(low, even, high), _mm512_load_ps(x.weights[k] + i), sum);
      sum = _mm512_fmadd_ps(_mm512_permutex2var_ps(low, odd, high), _mm512_load_ps(x.weights[k + 1] + i), sum);
    }
    total = _mm512_fmadd_ps(sum, _mm512_load_ps(y.weights[j] + i), total);
  }
  _mm512_storeu_ps(to, total);
}
constexpr bool kHasWarpVectors = true;
#else
template <int kTaps>
IRUKA_RESAMPLE_INLINE void inner_vector(const WarpRow&, const Inside&, const Taps<kTaps, int32_t>&,
                                        const Taps<kTaps, int32_t>&, int64_t, uint8_t*) {}
template <int kTaps>
IRUKA_RESAMPLE_INLINE void inner_vector(const WarpRow&, const Inside&, const Taps<kTaps, float>&,
                                        const Taps<kTaps, float>&, int64_t, float*) {}
constexpr bool kHasWarpVectors = false;
#endif

template <int kChannels, class T>
IRUKA_RESAMPLE_INLINE void copy_pixel(const void* from, int channels, T* to) {
  __builtin_memcpy(to, from, static_cast<size_t>(kChannels > 0 ? kChannels : channels) * sizeof(T));
}

/// kCount is 0 for any number of channels.
template <int kCount, class T>
IRUKA_RESAMPLE_INLINE void fill_pixels(const void* from, int channels, int64_t pixels, T* to) {
  if constexpr (kCount == 0) {
    for (int64_t i = 0; i < pixels; ++i) copy_pixel<0>(from, channels, to + i * channels);
    return;
  }
  T pixel[kCount == 0 ? 1 : kCount];
  __builtin_memcpy(pixel, from, sizeof pixel);
  for (int64_t i = 0; i < pixels; ++i)
    for (int c = 0; c < kCount; ++c) to[i * kCount + c] = pixel[c];
}

/// A pixel as the result has it: uint8 by integers, else float32.
template <Sample kSample>
struct WarpTypes {
  using Weight = float;
  using Result = float;
};
template <>
struct WarpTypes<Sample::uint8> {
  using Weight = int32_t;
  using Result = uint8_t;
};

template <Sample kSample, int kTaps, int kChannels>
IRUKA_RESAMPLE_INLINE int64_t reach_of(int64_t pixel_bytes) {
  if constexpr (kChannels == 0) return kTaps * pixel_bytes;
  if constexpr (kSample == Sample::uint8) return kTaps * pixel_bytes <= 8 ? 8 : 16;
  return kTaps * pixel_bytes + 4;  // of four lanes, one may be unused
}

/// Where the neighbours of pixels from `begin` on are, and their weights. False where all of them are constants.
template <int kTaps, class Weight>
IRUKA_RESAMPLE_INLINE bool find_block(const WarpRow& job, const InnerRange& inner, int64_t begin, int64_t count,
                                      int64_t pixel_bytes, int64_t reach, Taps<kTaps, Weight>& y,
                                      Taps<kTaps, Weight>& x, Inside& inside) {
  const float* const places_y = job.y + begin;
  const float* const places_x = job.x + begin;
  if (inner.has(places_y, places_x, count)) {
    find_taps<kTaps, true>(places_y, count, y);
    find_taps<kTaps, true>(places_x, count, x);
    inner.find_offsets(y.first, x.first, count, inside);
    return true;
  }
  if (inner.is_far(places_y, places_x, count)) return false;
  find_taps(places_y, count, y);
  find_taps(places_x, count, x);
  find_inside<kTaps>(job, y.first, x.first, count, pixel_bytes, reach, inside);
  return true;
}

/// kChannels is 0 for more than four.
template <Sample kSample, int kTaps, int kChannels>
void warp_between(const WarpRow& job) {
  using Weight = typename WarpTypes<kSample>::Weight;
  using Result = typename WarpTypes<kSample>::Result;
  constexpr bool kHasVectors =
      kHasWarpVectors && kChannels == 1 && (kSample == Sample::uint8 || kSample == Sample::float32);
  const int64_t channels = kChannels == 0 ? job.channels : kChannels;
  const int64_t pixel_bytes = channels * static_cast<int64_t>(sizeof(typename Stored<kSample>::Type));
  const int64_t reach = reach_of<kSample, kTaps, kChannels>(pixel_bytes);
  Taps<kTaps, Weight> y, x;
  Inside inside;
  const InnerRange inner = InnerRange::of<kTaps>(job, pixel_bytes, reach);
  const auto inner_pixel = [&](int64_t i, Result* to) __attribute__((always_inline)) {
    const char* const first = job.source + inside.offset[i];
    if constexpr (kChannels == 0)
      inner_channels<kSample, kTaps>(job, first, y, x, i, to);
    else if constexpr (kSample == Sample::uint8)
      inner_fixed_pixel<kTaps, kChannels>(job, first, y, x, i, to);
    else
      inner_float_pixel<kSample, kTaps, kChannels>(job, first, y, x, i, to);
  };
  for (int64_t begin = 0; begin < job.pixels; begin += kWarpBlock) {
    const int64_t count = job.pixels - begin < kWarpBlock ? job.pixels - begin : kWarpBlock;
    auto* const to = static_cast<Result*>(job.result) + begin * channels;
    if (!find_block<kTaps>(job, inner, begin, count, pixel_bytes, reach, y, x, inside)) {
      fill_pixels<kChannels>(job.outside, job.channels, count, to);
      continue;
    }
    int64_t i = 0;
    if (inside.are_all) {
      if constexpr (kHasVectors)
        for (; i + 16 <= count; i += 16) inner_vector(job, inside, y, x, i, to + i);
      for (; i < count; ++i) inner_pixel(i, to + i * channels);
    }
    if (inside.are_none)
      for (; i < count; ++i) copy_pixel<kChannels>(job.outside, job.channels, to + i * channels);
    for (; i < count; ++i) {
      if (inside.is_inside[i])
        inner_pixel(i, to + i * channels);
      else if (job.border == kConstantBorder && inside.is_outside[i])
        copy_pixel<kChannels>(job.outside, job.channels, to + i * channels);
      else
        edge_pixel<kSample, kTaps>(job, y, x, i, to + i * channels);
    }
  }
}

template <class Use>
IRUKA_RESAMPLE_INLINE void with_channels(int channels, Use&& use) {
  switch (channels) {
    case 1: return use.template operator()<1>();
    case 2: return use.template operator()<2>();
    case 3: return use.template operator()<3>();
    case 4: return use.template operator()<4>();
    default: return use.template operator()<0>();
  }
}

template <int kTaps>
void warp_with(const WarpRow& job) {
  with_channels(job.channels, [&]<int kChannels>() {
    switch (job.sample) {
      case Sample::uint8: return warp_between<Sample::uint8, kTaps, kChannels>(job);
      case Sample::uint16: return warp_between<Sample::uint16, kTaps, kChannels>(job);
      case Sample::float16: return warp_between<Sample::float16, kTaps, kChannels>(job);
      case Sample::float32: return warp_between<Sample::float32, kTaps, kChannels>(job);
    }
  });
}

/// The pixel whose centre is nearest, of two the one with an even number.
IRUKA_RESAMPLE_INLINE int32_t nearest_place(float place) {
  const int32_t lower = integer_below(place);
  const float rest = part_above(place, lower);
  return lower + (rest > 0.5F || (rest == 0.5F && lower % 2 != 0) ? 1 : 0);
}

/// kBytes is 0 for any number, which is copied as two numbers that overlap where it is small.
template <int kBytes>
IRUKA_RESAMPLE_INLINE void copy_bytes(const char* from, int64_t bytes, char* to) {
  const auto copy_ends = [&](auto first, auto last) __attribute__((always_inline)) {
    const int64_t behind = bytes - static_cast<int64_t>(sizeof last);
    __builtin_memcpy(&first, from, sizeof first);
    __builtin_memcpy(&last, from + behind, sizeof last);
    __builtin_memcpy(to, &first, sizeof first);
    __builtin_memcpy(to + behind, &last, sizeof last);
  };
  if constexpr (kBytes > 0)
    __builtin_memcpy(to, from, kBytes);
  else if (bytes >= 8 && bytes <= 16)
    copy_ends(uint64_t{}, uint64_t{});
  else if (bytes >= 4 && bytes < 8)
    copy_ends(uint32_t{}, uint32_t{});
  else
    __builtin_memcpy(to, from, static_cast<size_t>(bytes));
}

/// kWide bytes are read and written of each pixel within the picture.
template <int kBytes, int kWide>
IRUKA_RESAMPLE_INLINE void warp_nearest_of(const WarpRow& job, int any_bytes) {
  const int bytes = kBytes > 0 ? kBytes : any_bytes;
  int32_t y[kWarpBlock], x[kWarpBlock];
  Inside inside;
  const InnerRange inner = InnerRange::of<1>(job, bytes, kWide > 0 ? kWide : bytes);
  for (int64_t begin = 0; begin < job.pixels; begin += kWarpBlock) {
    const int64_t count = job.pixels - begin < kWarpBlock ? job.pixels - begin : kWarpBlock;
    auto* const to = static_cast<char*>(job.result) + begin * bytes;
    if (inner.has(job.y + begin, job.x + begin, count)) {
      for (int64_t i = 0; i < count; ++i) {
        y[i] = nearest_integer(job.y[begin + i]);
        x[i] = nearest_integer(job.x[begin + i]);
      }
      inner.find_offsets(y, x, count, inside);
    } else if (inner.is_far(job.y + begin, job.x + begin, count)) {
      fill_pixels<kBytes>(job.outside, bytes, count, to);
      continue;
    } else {
      for (int64_t i = 0; i < count; ++i) {
        y[i] = nearest_place(job.y[begin + i]);
        x[i] = nearest_place(job.x[begin + i]);
      }
      find_inside<1>(job, y, x, count, bytes, kWide > 0 ? kWide : bytes, inside);
    }
    int64_t i = 0;
    if (inside.are_all) {
      const char* const source = job.source;
      // What is written behind a pixel belongs to the next one, which the last one of a block may not have.
      const int64_t wide = kWide > kBytes ? count - 1 : count;
      for (; i < wide; ++i) copy_bytes<kWide>(source + inside.offset[i], bytes, to + i * bytes);
      for (; i < count; ++i) copy_bytes<kBytes>(source + inside.offset[i], bytes, to + i * bytes);
    }
    for (; i < count; ++i) {
      if (inside.is_inside[i] || (job.border == kConstantBorder && inside.is_outside[i])) {
        const char* const from =
            inside.is_inside[i] ? job.source + inside.offset[i] : static_cast<const char*>(job.outside);
        copy_bytes<kBytes>(from, bytes, to + i * bytes);
        continue;
      }
      const int32_t row = place_at(y[i], job.height, job.border), column = place_at(x[i], job.width, job.border);
      const char* const from = row < 0 || column < 0 ? static_cast<const char*>(job.outside)
                                                     : job.source + row * job.row_bytes + int64_t{column} * bytes;
      copy_bytes<kBytes>(from, bytes, to + i * bytes);
    }
  }
}
void warp_nearest(const WarpRow& job) {
  const int item = job.sample == Sample::uint8 ? 1 : job.sample == Sample::float32 ? 4 : 2, bytes = job.channels * item;
  switch (bytes) {
    case 1: return warp_nearest_of<1, 1>(job, bytes);
    case 2: return warp_nearest_of<2, 2>(job, bytes);
    case 3: return warp_nearest_of<3, 4>(job, bytes);
    case 4: return warp_nearest_of<4, 4>(job, bytes);
    case 6: return warp_nearest_of<6, 8>(job, bytes);
    case 8: return warp_nearest_of<8, 8>(job, bytes);
    case 12: return warp_nearest_of<12, 16>(job, bytes);
    case 16: return warp_nearest_of<16, 16>(job, bytes);
    default: return warp_nearest_of<0, 0>(job, bytes);
  }
}

void warp(const WarpRow& job) {
  switch (job.filter) {
    case WarpRow::Filter::nearest: return warp_nearest(job);
    case WarpRow::Filter::linear: return warp_with<2>(job);
    case WarpRow::Filter::cubic: return warp_with<4>(job);
  }
}
