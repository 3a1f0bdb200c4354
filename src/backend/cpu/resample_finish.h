// What is done to a row of results: conversions, normalisation, changes of layout. Part of resample_lanes.h.

#include "backend/cpu/pixel_lanes.h"

constexpr int kWide = 16;
using Floats = Vectors<float, kWide>;
using FloatVector = typename Floats::Vector;
using IntVector = typename Vectors<int32_t, kWide>::Vector;

IRUKA_RESAMPLE_INLINE FloatVector all(float value) { return value - FloatVector{}; }

#if defined(__AVX512F__)
IRUKA_RESAMPLE_INLINE FloatVector widen_half(const uint16_t* from) {
  return (FloatVector)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
IRUKA_RESAMPLE_INLINE void narrow_half(FloatVector v, uint16_t* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
}
#elif defined(__F16C__)
IRUKA_RESAMPLE_INLINE FloatVector widen_half(const uint16_t* from) {
  FloatVector made;
  for (int half = 0; half < 2; ++half)
    reinterpret_cast<__m256*>(&made)[half] =
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 8 * half)));
  return made;
}
IRUKA_RESAMPLE_INLINE void narrow_half(FloatVector v, uint16_t* to) {
  for (int half = 0; half < 2; ++half)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 8 * half),
                     _mm256_cvtps_ph(reinterpret_cast<const __m256*>(&v)[half], _MM_FROUND_TO_NEAREST_INT));
}
#else
/// Shifts the bits into place and lets a multiplication by 2^112 set the exponent, also of subnormal numbers.
IRUKA_RESAMPLE_INLINE FloatVector widen_half(const uint16_t* from) {
  const IntVector bits = __builtin_convertvector(Vectors<uint16_t, kWide>::load(from), IntVector);
  const IntVector rest = (bits & 0x7fff) << 13;
  const FloatVector scaled = (FloatVector)rest * all(0x1p112F);
  const IntVector special = (rest >= IntVector{} + 0x0f800000) & 0x7f800000;
  return (FloatVector)((IntVector)scaled | special | ((bits & 0x8000) << 16));
}
IRUKA_RESAMPLE_INLINE void narrow_half(FloatVector v, uint16_t* to) {
  const IntVector bits = (IntVector)v, sign = bits & IntVector{} + static_cast<int32_t>(0x80000000U);
  const IntVector size = bits ^ sign;
  // The sum with 0.5 rounds subnormal results, an addition to the bits the others, each to even.
  const IntVector small = (IntVector)((FloatVector)size + all(0.5F)) - 0x3f000000;
  const IntVector usual = (size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13;
  const IntVector is_small = size < IntVector{} + 0x38800000, is_large = size >= IntVector{} + 0x47800000;
  const IntVector is_nan = size > IntVector{} + 0x7f800000;
  IntVector made = (is_small & small) | (~is_small & usual);
  made = (is_large & 0x7c00) | (~is_large & made);
  made = (is_nan & (0x7e00 | ((size >> 13) & 0x3ff))) | (~is_nan & made);
  made |= (sign >> 16) & 0x8000;
  Vectors<uint16_t, kWide>::store(__builtin_convertvector(made, typename Vectors<uint16_t, kWide>::Vector), to);
}
#endif

/// The nearest integer from 0 to `most`, ties to even; 0 for NaN.
IRUKA_RESAMPLE_INLINE FloatVector rounded(FloatVector v, float most) {
  v = v > 0.0F ? v : FloatVector{};
  v = v < most ? v : all(most);
  const FloatVector shifted = v + all(0x1.8p23F);
  return __builtin_convertvector((IntVector)shifted - 0x4b400000, FloatVector);
}
IRUKA_RESAMPLE_INLINE FloatVector rounded_to(FloatVector v, Sample sample) {
  if (sample == Sample::uint8) return rounded(v, 255.0F);
  if (sample == Sample::uint16) return rounded(v, 65535.0F);
  if (sample == Sample::float32) return v;
  uint16_t halves[kWide];
  narrow_half(v, halves);
  return widen_half(halves);
}

template <Sample kSample> struct Stored {
  using Type = uint8_t;
};
template <> struct Stored<Sample::uint16> {
  using Type = uint16_t;
};
template <> struct Stored<Sample::float16> {
  using Type = uint16_t;
};
template <> struct Stored<Sample::float32> {
  using Type = float;
};

template <Sample kSample>
IRUKA_RESAMPLE_INLINE FloatVector widen(const typename Stored<kSample>::Type* from) {
  using L = Vectors<typename Stored<kSample>::Type, kWide>;
  if constexpr (kSample == Sample::float32)
    return L::load(from);
  else if constexpr (kSample == Sample::float16)
    return widen_half(from);
  else
    return __builtin_convertvector(__builtin_convertvector(L::load(from), IntVector), FloatVector);
}
/// Integers are exact already.
template <Sample kSample>
IRUKA_RESAMPLE_INLINE void narrow(FloatVector v, typename Stored<kSample>::Type* to) {
  using L = Vectors<typename Stored<kSample>::Type, kWide>;
  if constexpr (kSample == Sample::float32)
    L::store(v, to);
  else if constexpr (kSample == Sample::float16)
    narrow_half(v, to);
  else
    L::store(__builtin_convertvector(__builtin_convertvector(v, IntVector), typename L::Vector), to);
}

template <Sample kFrom, Sample kTo>
void finish_row(const Finish& job, const typename Stored<kFrom>::Type* from, int64_t count,
                typename Stored<kTo>::Type* to) {
  const auto vector = [&](const typename Stored<kFrom>::Type* source, int64_t place,
                          typename Stored<kTo>::Type* target) __attribute__((always_inline)) {
    FloatVector v = widen<kFrom>(source);
    for (int k = 0; k < job.step_count; ++k) {
      const FinishStep& step = job.steps[k];
      v = step.rounds ? rounded_to(v, step.sample)
                      : (v - Floats::load(step.mean + place)) * Floats::load(step.scale + place);
    }
    narrow<kTo>(rounded_to(v, kTo == Sample::float16 ? Sample::float32 : kTo), target);
  };
  int64_t i = 0, place = 0;
  const auto next = [&]() __attribute__((always_inline)) {
    i += kWide, place += kWide;
    if (place == job.period) place = 0;
  };
  // A plane has one mean and one scale.
  if (job.step_count == 1 && !job.steps->rounds && job.period == kWide && kTo >= Sample::float16) {
    const FloatVector mean = Floats::load(job.steps->mean), scale = Floats::load(job.steps->scale);
    for (; i + kWide <= count; i += kWide) narrow<kTo>((widen<kFrom>(from + i) - mean) * scale, to + i);
  } else if (job.step_count == 1 && !job.steps->rounds && kTo >= Sample::float16) {
    const float *const mean = job.steps->mean, *const scale = job.steps->scale;
    for (; i + kWide <= count; next())
      narrow<kTo>((widen<kFrom>(from + i) - Floats::load(mean + place)) * Floats::load(scale + place), to + i);
  }
  for (; i + kWide <= count; next()) vector(from + i, place, to + i);
  if (i == count) return;
  typename Stored<kFrom>::Type source[kWide]{};
  typename Stored<kTo>::Type target[kWide];
  const auto left = static_cast<size_t>(count - i);
  __builtin_memcpy(source, from + i, left * sizeof source[0]);
  vector(source, place, target);
  __builtin_memcpy(to + i, target, left * sizeof target[0]);
}

template <Sample kFrom>
void finish_from(const Finish& job, const void* from, int64_t count, void* to) {
  const auto* const source = static_cast<const typename Stored<kFrom>::Type*>(from);
  switch (job.to) {
    case Sample::uint8: return finish_row<kFrom, Sample::uint8>(job, source, count, static_cast<uint8_t*>(to));
    case Sample::uint16: return finish_row<kFrom, Sample::uint16>(job, source, count, static_cast<uint16_t*>(to));
    case Sample::float16: return finish_row<kFrom, Sample::float16>(job, source, count, static_cast<uint16_t*>(to));
    case Sample::float32: return finish_row<kFrom, Sample::float32>(job, source, count, static_cast<float*>(to));
  }
}

void finish(const Finish& job, const void* from, int64_t count, void* to) {
  if (job.from == job.to && job.step_count == 0) {
    const int64_t item = job.to == Sample::uint8 ? 1 : job.to == Sample::float32 ? 4 : 2;
    __builtin_memcpy(to, from, static_cast<size_t>(count * item));
    return;
  }
  switch (job.from) {
    case Sample::uint8: return finish_from<Sample::uint8>(job, from, count, to);
    case Sample::uint16: return finish_from<Sample::uint16>(job, from, count, to);
    case Sample::float16: return finish_from<Sample::float16>(job, from, count, to);
    case Sample::float32: return finish_from<Sample::float32>(job, from, count, to);
  }
}

/// Pixels to planes or back. kCount channels are constants, so that the loops become permutations; 0: any number.
template <class T, bool kSplits, int kCount>
IRUKA_RESAMPLE_INLINE void rearrange(const T* __restrict from, int64_t pixels, int64_t channels, int64_t line,
                                     T* __restrict to) {
  const int64_t count = kCount > 0 ? kCount : channels;
  int64_t x = 0;
  if constexpr (kCount == 3 && kPixelVector > 0) {
    using L = PixelLanes<T>;
    for (; x + L::kPixels <= pixels; x += L::kPixels) {
      typename L::Vector planes[3];
      if constexpr (kSplits) {
        // What is split next is fetched while loops work on these planes.
        for (int k = 0; k < 3; ++k) __builtin_prefetch(reinterpret_cast<const char*>(from + 3 * x) + 3072 + 32 * k);
        L::load(from + 3 * x, planes);
        for (int c = 0; c < 3; ++c) L::store_plane(planes[c], to + c * line + x);
      } else {
        for (int k = 0; k < 3; ++k) __builtin_prefetch(reinterpret_cast<const char*>(to + 3 * x) + 3072 + 32 * k, 1);
        for (int c = 0; c < 3; ++c) planes[c] = L::load_plane(from + c * line + x);
        L::store(planes, to + 3 * x);
      }
    }
  }
  for (; x < pixels; ++x) {
    for (int64_t c = 0; c < count; ++c) {
      const int64_t in_pixels = x * count + c, in_planes = c * line + x;
      to[kSplits ? in_planes : in_pixels] = from[kSplits ? in_pixels : in_planes];
    }
  }
}
template <class T, bool kSplits>
void rearrange_as(const void* source, int64_t pixels, int64_t channels, int64_t line, void* result) {
  const auto* const from = static_cast<const T*>(source);
  auto* const to = static_cast<T*>(result);
  switch (channels) {
    case 2: return rearrange<T, kSplits, 2>(from, pixels, channels, line, to);
    case 3: return rearrange<T, kSplits, 3>(from, pixels, channels, line, to);
    case 4: return rearrange<T, kSplits, 4>(from, pixels, channels, line, to);
    default: return rearrange<T, kSplits, 0>(from, pixels, channels, line, to);
  }
}
template <bool kSplits>
void rearrange_items(const void* from, int64_t pixels, int64_t channels, int itemsize, int64_t line, void* to) {
  switch (itemsize) {
    case 1: return rearrange_as<uint8_t, kSplits>(from, pixels, channels, line, to);
    case 2: return rearrange_as<uint16_t, kSplits>(from, pixels, channels, line, to);
    default: return rearrange_as<uint32_t, kSplits>(from, pixels, channels, line, to);
  }
}

void split(const void* from, int64_t pixels, int64_t channels, int itemsize, int64_t line, void* to) {
  rearrange_items<true>(from, pixels, channels, itemsize, line, to);
}
void join(const void* from, int64_t pixels, int64_t channels, int itemsize, int64_t line, void* to) {
  rearrange_items<false>(from, pixels, channels, itemsize, line, to);
}
