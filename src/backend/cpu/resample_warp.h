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

/// The place within [0, extent) that stands for a place beyond it, or -1 for a constant.
int32_t place_within(int64_t place, int64_t extent, WarpRow::Border border) {
  if (place >= 0 && place < extent) return static_cast<int32_t>(place);
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (border) {
    case WarpRow::Border::constant: return -1;
    case WarpRow::Border::edge: return static_cast<int32_t>(place < 0 ? 0 : extent - 1);
    case WarpRow::Border::wrap: return static_cast<int32_t>(modulo(place, extent));
    case WarpRow::Border::symmetric:
      place = modulo(place, 2 * extent);
      return static_cast<int32_t>(place < extent ? place : 2 * extent - 1 - place);
    case WarpRow::Border::reflect:
      if (extent == 1) return 0;
      place = modulo(place, 2 * extent - 2);
      return static_cast<int32_t>(place < extent ? place : 2 * extent - 2 - place);
  }
  return -1;
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

/// A coordinate as the first of kTaps neighbours and their weights, as floats or integers.
template <int kTaps, class Weight>
struct Taps {
  int32_t first;
  Weight weights[kTaps];
};
template <int kTaps, class Weight>
IRUKA_RESAMPLE_INLINE Taps<kTaps, Weight> taps_at(float place) {
  place = place > -kFarthest ? place : -kFarthest;  // also NaN
  place = place < kFarthest ? place : kFarthest;
  // The integer below, without the standard library's floor.
  auto lower = static_cast<int32_t>(place);
  lower -= static_cast<float>(lower) > place;
  const float rest = place - static_cast<float>(lower);
  Taps<kTaps, Weight> made;
  made.first = lower - (kTaps == 4);
  float weights[kTaps];
  if constexpr (kTaps == 4) {
    cubic_weights(rest, weights);
  } else {
    weights[0] = 1 - rest;
    weights[1] = rest;
  }
  if constexpr (sizeof(Weight) == sizeof(float) && static_cast<Weight>(0.5F) != 0) {
    for (int k = 0; k < kTaps; ++k) made.weights[k] = weights[k];
  } else {
    int32_t sum = 0;
    for (int k = 0; k < kTaps; ++k) sum += made.weights[k] = nearest_integer(weights[k] * kWarpOne);
    made.weights[kTaps == 4 ? 1 : 0] += kWarpOne - sum;
  }
  return made;
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
    const int32_t row = place_within(int64_t{y} + j, job.height, job.border);
    for (int k = 0; k < kTaps; ++k) {
      const int32_t column = place_within(int64_t{x} + k, job.width, job.border);
      made.pixels[j][k] = row < 0 || column < 0 ? nullptr : job.source + row * job.row_bytes + int64_t{column} * bytes;
    }
  }
  return made;
}

/// A pixel some of whose neighbours may lie beyond the picture.
template <int kTaps>
void warp_fixed_pixel(const WarpRow& job, const Taps<kTaps, int32_t>& y, const Taps<kTaps, int32_t>& x, uint8_t* to) {
  const Neighbours<kTaps> near = neighbours_at<kTaps>(job, y.first, x.first, job.channels);
  const auto* const outside = static_cast<const uint8_t*>(job.outside);
  for (int c = 0; c < job.channels; ++c) {
    int32_t total = kWarpHalf;
    for (int j = 0; j < kTaps; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < kTaps; ++k) {
        const char* const pixel = near.pixels[j][k];
        sum += (pixel ? static_cast<uint8_t>(pixel[c]) : outside[c]) * x.weights[k];
      }
      total += sum * y.weights[j];
    }
    to[c] = to_uint8(total >> (2 * kWarpBits));
  }
}
template <Sample kSample, int kTaps>
void warp_float_pixel(const WarpRow& job, const Taps<kTaps, float>& y, const Taps<kTaps, float>& x, float* to) {
  constexpr int kBytes = sizeof(typename Stored<kSample>::Type);
  const Neighbours<kTaps> near = neighbours_at<kTaps>(job, y.first, x.first, job.channels * kBytes);
  const auto* const outside = static_cast<const float*>(job.outside);
  for (int c = 0; c < job.channels; ++c) {
    float total = 0;
    for (int j = 0; j < kTaps; ++j) {
      float sum = 0;
      for (int k = 0; k < kTaps; ++k) {
        const char* const pixel = near.pixels[j][k];
        sum = multiply_add(pixel ? value_at<kSample>(pixel, c) : outside[c], x.weights[k], sum);
      }
      total = multiply_add(sum, y.weights[j], total);
    }
    to[c] = total;
  }
}

/// The same for a pixel whose neighbours are all within the picture.
template <int kTaps, int kChannels>
IRUKA_RESAMPLE_INLINE void inner_fixed_pixel(const WarpRow& job, const char* first, const Taps<kTaps, int32_t>& y,
                                             const Taps<kTaps, int32_t>& x, uint8_t* to) {
  int32_t total[kChannels];
  for (int32_t& each : total) each = kWarpHalf;
  for (int j = 0; j < kTaps; ++j) {
    const auto* const row = reinterpret_cast<const uint8_t*>(first + j * job.row_bytes);
    for (int c = 0; c < kChannels; ++c) {
      int32_t sum = 0;
      for (int k = 0; k < kTaps; ++k) sum += row[k * kChannels + c] * x.weights[k];
      total[c] += sum * y.weights[j];
    }
  }
  for (int c = 0; c < kChannels; ++c) to[c] = to_uint8(total[c] >> (2 * kWarpBits));
}
template <Sample kSample, int kTaps, int kChannels>
IRUKA_RESAMPLE_INLINE void inner_float_pixel(const WarpRow& job, const char* first, const Taps<kTaps, float>& y,
                                             const Taps<kTaps, float>& x, float* to) {
  constexpr int kBytes = kChannels * sizeof(typename Stored<kSample>::Type);
  float total[kChannels]{};
  for (int j = 0; j < kTaps; ++j) {
    const char* const row = first + j * job.row_bytes;
    for (int c = 0; c < kChannels; ++c) {
      float sum = 0;
      for (int k = 0; k < kTaps; ++k) sum = multiply_add(value_at<kSample>(row + k * kBytes, c), x.weights[k], sum);
      total[c] = multiply_add(sum, y.weights[j], total[c]);
    }
  }
  for (int c = 0; c < kChannels; ++c) to[c] = total[c];
}

#if defined(__AVX2__)
/// Linear interpolation of up to 4 channels: each row's pair of pixels lies within 8 bytes. Writes 4 bytes.
template <int kChannels>
IRUKA_RESAMPLE_INLINE void inner_linear_bytes(const WarpRow& job, const char* first, const Taps<2, int32_t>& y,
                                              const Taps<2, int32_t>& x, uint8_t* to) {
  alignas(16) int8_t places[16];
  for (int k = 0; k < 16; ++k) {
    const int channel = k / 4;
    places[k] = static_cast<int8_t>(k % 2 || channel >= kChannels ? -1 : channel + (k % 4 / 2) * kChannels);
  }
  const __m128i place = _mm_load_si128(reinterpret_cast<const __m128i*>(places));
  const auto row = [&](const char* from) __attribute__((always_inline)) {
    const __m128i pairs = _mm_shuffle_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), place);
    return _mm_madd_epi16(pairs, _mm_set1_epi32(x.weights[0] | x.weights[1] << 16));
  };
  const __m128i upper = _mm_mullo_epi32(row(first), _mm_set1_epi32(y.weights[0]));
  const __m128i lower = _mm_mullo_epi32(row(first + job.row_bytes), _mm_set1_epi32(y.weights[1]));
  const __m128i sum = _mm_add_epi32(_mm_add_epi32(upper, lower), _mm_set1_epi32(kWarpHalf));
  const __m128i numbers = _mm_srai_epi32(sum, 2 * kWarpBits);
  const __m128i words = _mm_packs_epi32(numbers, numbers);
  const int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  __builtin_memcpy(to, &bytes, sizeof bytes);
}
#endif

/// kChannels is 0 for more than four.
template <int kTaps, int kChannels>
void warp_fixed(const WarpRow& job) {
  constexpr int kReach = kTaps == 2 && kChannels > 0 ? 8 : kTaps * kChannels;  ///< bytes that are read of a row
  auto* to = static_cast<uint8_t*>(job.result);
  for (int64_t i = 0; i < job.pixels; ++i, to += job.channels) {
    const auto y = taps_at<kTaps, int32_t>(job.y[i]), x = taps_at<kTaps, int32_t>(job.x[i]);
    const bool is_inside = y.first >= 0 && x.first >= 0 && y.first <= job.height - kTaps && x.first <= job.width - kTaps;
    if (kChannels > 0 && is_inside) {
      const char* const first = job.source + y.first * job.row_bytes + int64_t{x.first} * kChannels;
      const char* const last = job.row_bytes > 0 ? first + (kTaps - 1) * job.row_bytes : first;
      if (job.source_end - last >= kReach) {
#if defined(__AVX2__)
        if constexpr (kTaps == 2) {
          inner_linear_bytes<kChannels == 0 ? 1 : kChannels>(job, first, y, x, to);
          continue;
        }
#endif
        inner_fixed_pixel<kTaps, kChannels == 0 ? 1 : kChannels>(job, first, y, x, to);
        continue;
      }
    }
    warp_fixed_pixel<kTaps>(job, y, x, to);
  }
}

template <Sample kSample, int kTaps, int kChannels>
void warp_floats(const WarpRow& job) {
  constexpr int kBytes = sizeof(typename Stored<kSample>::Type);
  auto* to = static_cast<float*>(job.result);
  for (int64_t i = 0; i < job.pixels; ++i, to += job.channels) {
    const auto y = taps_at<kTaps, float>(job.y[i]), x = taps_at<kTaps, float>(job.x[i]);
    const bool is_inside = y.first >= 0 && x.first >= 0 && y.first <= job.height - kTaps && x.first <= job.width - kTaps;
    if (kChannels > 0 && is_inside) {
      const char* const first = job.source + y.first * job.row_bytes + int64_t{x.first} * kChannels * kBytes;
      inner_float_pixel<kSample, kTaps, kChannels == 0 ? 1 : kChannels>(job, first, y, x, to);
    } else {
      warp_float_pixel<kSample, kTaps>(job, y, x, to);
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
      case Sample::uint8: return warp_fixed<kTaps, kChannels>(job);
      case Sample::uint16: return warp_floats<Sample::uint16, kTaps, kChannels>(job);
      case Sample::float16: return warp_floats<Sample::float16, kTaps, kChannels>(job);
      case Sample::float32: return warp_floats<Sample::float32, kTaps, kChannels>(job);
    }
  });
}

/// The pixel whose centre is nearest, of two the one with an even number.
IRUKA_RESAMPLE_INLINE int32_t nearest_place(float place) {
  place = place > -kFarthest ? place : -kFarthest;
  place = place < kFarthest ? place : kFarthest;
  auto lower = static_cast<int32_t>(place);
  lower -= static_cast<float>(lower) > place;
  const float rest = place - static_cast<float>(lower);
  return lower + (rest > 0.5F || (rest == 0.5F && lower % 2 != 0));
}

template <int kBytes>
IRUKA_RESAMPLE_INLINE void warp_nearest_of(const WarpRow& job, int any_bytes) {
  const int bytes = kBytes > 0 ? kBytes : any_bytes;
  auto* to = static_cast<char*>(job.result);
  for (int64_t i = 0; i < job.pixels; ++i, to += bytes) {
    int32_t y = nearest_place(job.y[i]), x = nearest_place(job.x[i]);
    if (y < 0 || y >= job.height) y = place_within(y, job.height, job.border);
    if (x < 0 || x >= job.width) x = place_within(x, job.width, job.border);
    const char* const from = y < 0 || x < 0 ? static_cast<const char*>(job.outside)
                                            : job.source + y * job.row_bytes + int64_t{x} * bytes;
    __builtin_memcpy(to, from, static_cast<size_t>(bytes));
  }
}
void warp_nearest(const WarpRow& job) {
  const int item = job.sample == Sample::uint8 ? 1 : job.sample == Sample::float32 ? 4 : 2, bytes = job.channels * item;
  switch (bytes) {
    case 1: return warp_nearest_of<1>(job, bytes);
    case 2: return warp_nearest_of<2>(job, bytes);
    case 3: return warp_nearest_of<3>(job, bytes);
    case 4: return warp_nearest_of<4>(job, bytes);
    case 12: return warp_nearest_of<12>(job, bytes);
    default: return warp_nearest_of<0>(job, bytes);
  }
}

void warp(const WarpRow& job) {
  switch (job.filter) {
    case WarpRow::Filter::nearest: return warp_nearest(job);
    case WarpRow::Filter::linear: return warp_with<2>(job);
    case WarpRow::Filter::cubic: return warp_with<4>(job);
  }
}
