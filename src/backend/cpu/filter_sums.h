// Sums of integers. Part of filter_lanes.h.

using Words = Lanes<uint16_t>;
using Signed = Lanes<int16_t>;
/// As many numbers as there are words in a vector.
template <class T> using WordLanes = Lanes<T, Words::kSize>;

IRUKA_FILTER_INLINE Words::Vector widened(const uint8_t* from) {
  return __builtin_convertvector(WordLanes<uint8_t>::load(from), Words::Vector);
}

/// kTaps is 0 for more than seven.
template <int kTaps>
void integer_rows_of(const uint8_t* const* rows, const int16_t* weights, int any_taps, int64_t elements,
                     uint16_t* sums) {
  const int taps = kTaps > 0 ? kTaps : any_taps;
  fill_row<Words, kTaps == 0 ? 1 : 2>(elements, sums, [&](int64_t x) __attribute__((always_inline)) {
    Words::Vector sum{};
    for (int k = 0; k < taps; ++k) sum += widened(rows[k] + x) * Words::all(static_cast<uint16_t>(weights[k]));
    return sum;
  });
}
/// The same where the weights of neighbours on both sides of the middle are equal.
template <int kTaps>
void symmetric_rows_of(const uint8_t* const* rows, const int16_t* weights, int any_taps, int64_t elements,
                       uint16_t* sums) {
  const int taps = kTaps > 0 ? kTaps : any_taps, half = taps / 2;
  fill_row<Words, kTaps == 0 ? 1 : 2>(elements, sums, [&](int64_t x) __attribute__((always_inline)) {
    Words::Vector sum = widened(rows[half] + x) * Words::all(static_cast<uint16_t>(weights[half]));
    for (int k = 0; k < half; ++k)
      sum += (widened(rows[k] + x) + widened(rows[taps - 1 - k] + x)) * Words::all(static_cast<uint16_t>(weights[k]));
    return sum;
  });
}
IRUKA_FILTER_INLINE bool is_symmetric(const int16_t* weights, int taps) {
  bool made = taps % 2 != 0;
  for (int k = 0; k < taps / 2; ++k) made = made && weights[k] == weights[taps - 1 - k];
  return made;
}
void integer_rows(const uint8_t* const* rows, const int16_t* weights, int taps, int64_t elements, uint16_t* sums) {
  if (is_symmetric(weights, taps)) {
    switch (taps) {
      case 1: return symmetric_rows_of<1>(rows, weights, taps, elements, sums);
      case 3: return symmetric_rows_of<3>(rows, weights, taps, elements, sums);
      case 5: return symmetric_rows_of<5>(rows, weights, taps, elements, sums);
      case 7: return symmetric_rows_of<7>(rows, weights, taps, elements, sums);
      default: return symmetric_rows_of<0>(rows, weights, taps, elements, sums);
    }
  }
  switch (taps) {
    case 2: return integer_rows_of<2>(rows, weights, taps, elements, sums);
    case 3: return integer_rows_of<3>(rows, weights, taps, elements, sums);
    case 5: return integer_rows_of<5>(rows, weights, taps, elements, sums);
    default: return integer_rows_of<0>(rows, weights, taps, elements, sums);
  }
}

template <int kTaps>
void integer_columns_of(const int16_t* row, const int16_t* weights, int any_taps, int64_t step, int64_t elements,
                        int16_t* result) {
  const int taps = kTaps > 0 ? kTaps : any_taps;
  fill_row<Signed, kTaps == 0 ? 1 : 2>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    Signed::Vector sum{};
    for (int k = 0; k < taps; ++k) sum += Signed::load(row + x + k * step) * Signed::all(weights[k]);
    return sum;
  });
}
void integer_columns(const int16_t* row, const int16_t* weights, int taps, int64_t step, int64_t elements,
                     int16_t* result) {
  switch (taps) {
    case 2: return integer_columns_of<2>(row, weights, taps, step, elements, result);
    case 3: return integer_columns_of<3>(row, weights, taps, step, elements, result);
    case 5: return integer_columns_of<5>(row, weights, taps, step, elements, result);
    default: return integer_columns_of<0>(row, weights, taps, step, elements, result);
  }
}

/// Two vectors of int32 for the words of one vector: sums[h] belongs to the half that interleaving words makes.
using Sums = Lanes<int32_t>;
#if defined(__AVX512BW__)
using Raw = __m512i;
IRUKA_FILTER_INLINE Raw low_words(Raw a, Raw b) { return _mm512_unpacklo_epi16(a, b); }
IRUKA_FILTER_INLINE Raw high_words(Raw a, Raw b) { return _mm512_unpackhi_epi16(a, b); }
IRUKA_FILTER_INLINE Raw products(Raw a, Raw b) { return _mm512_madd_epi16(a, b); }
IRUKA_FILTER_INLINE Raw packed(Raw a, Raw b) { return _mm512_packs_epi32(a, b); }
#elif defined(__AVX2__)
using Raw = __m256i;
IRUKA_FILTER_INLINE Raw low_words(Raw a, Raw b) { return _mm256_unpacklo_epi16(a, b); }
IRUKA_FILTER_INLINE Raw high_words(Raw a, Raw b) { return _mm256_unpackhi_epi16(a, b); }
IRUKA_FILTER_INLINE Raw products(Raw a, Raw b) { return _mm256_madd_epi16(a, b); }
IRUKA_FILTER_INLINE Raw packed(Raw a, Raw b) { return _mm256_packs_epi32(a, b); }
#elif defined(__x86_64__)
using Raw = __m128i;
IRUKA_FILTER_INLINE Raw low_words(Raw a, Raw b) { return _mm_unpacklo_epi16(a, b); }
IRUKA_FILTER_INLINE Raw high_words(Raw a, Raw b) { return _mm_unpackhi_epi16(a, b); }
IRUKA_FILTER_INLINE Raw products(Raw a, Raw b) { return _mm_madd_epi16(a, b); }
IRUKA_FILTER_INLINE Raw packed(Raw a, Raw b) { return _mm_packs_epi32(a, b); }
#endif

#if defined(__x86_64__)
template <int kPairs>
void fixed_columns_of(const uint16_t* row, const int16_t* weights, int any_pairs, int64_t step, int64_t elements,
                      uint8_t* result) {
  const int pairs = kPairs > 0 ? kPairs : any_pairs;
  const Words::Vector sign = Words::all(0x8000);
  // Words are taken as int16 after 2^15 is subtracted, which the sum of the weights, 256, makes 2^23.
  const Sums::Vector start = Sums::all((1 << 23) + (1 << 15));
  fill_row<WordLanes<uint8_t>>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    Sums::Vector low = start, high = start;
    for (int k = 0; k < pairs; ++k) {
      const uint16_t* const from = row + x + 2 * k * step;
      const Raw a = (Raw)(Words::load(from) ^ sign), b = (Raw)(Words::load(from + step) ^ sign);
      int32_t both;
      __builtin_memcpy(&both, weights + 2 * k, sizeof both);
      const Raw weight = (Raw)Sums::all(both);
      low += (Sums::Vector)products(low_words(a, b), weight);
      high += (Sums::Vector)products(high_words(a, b), weight);
    }
    const Raw words = packed((Raw)(low >> 16), (Raw)(high >> 16));
    return __builtin_convertvector((Words::Vector)words, typename WordLanes<uint8_t>::Vector);
  });
}
#else
template <int>
void fixed_columns_of(const uint16_t* row, const int16_t* weights, int pairs, int64_t step, int64_t elements,
                      uint8_t* result) {
  using Wide = WordLanes<int32_t>;
  fill_row<WordLanes<uint8_t>>(elements, result, [&](int64_t x) __attribute__((always_inline)) {
    Wide::Vector sum = Wide::all(1 << 15);
    for (int k = 0; k < 2 * pairs; ++k)
      sum += __builtin_convertvector(Words::load(row + x + k * step), Wide::Vector) * Wide::all(weights[k]);
    return __builtin_convertvector(sum >> 16, typename WordLanes<uint8_t>::Vector);
  });
}
#endif
void fixed_columns(const uint16_t* row, const int16_t* weights, int taps, int64_t step, int64_t elements,
                   uint8_t* result) {
  const int pairs = taps / 2;
  switch (pairs) {
    case 1: return fixed_columns_of<1>(row, weights, pairs, step, elements, result);
    case 2: return fixed_columns_of<2>(row, weights, pairs, step, elements, result);
    case 3: return fixed_columns_of<3>(row, weights, pairs, step, elements, result);
    case 4: return fixed_columns_of<4>(row, weights, pairs, step, elements, result);
    default: return fixed_columns_of<0>(row, weights, pairs, step, elements, result);
  }
}

void int16_to_uint8(const int16_t* from, int64_t elements, uint8_t* to) {
  fill_row<WordLanes<uint8_t>>(elements, to, [&](int64_t x) __attribute__((always_inline)) {
    const Signed::Vector v = __builtin_elementwise_min(
        __builtin_elementwise_max(Signed::load(from + x), Signed::Vector{}), Signed::all(255));
    return __builtin_convertvector(v, typename WordLanes<uint8_t>::Vector);
  });
}
void int16_to_float(const int16_t* from, int64_t elements, float* to) {
  using F = Lanes<float>;
  using Few = Lanes<int16_t, F::kSize>;
  fill_row<F>(elements, to, [&](int64_t x) __attribute__((always_inline)) {
    return __builtin_convertvector(Few::load(from + x), F::Vector);
  });
}
/// The nearest integer, ties to even, saturated; 0 for NaN.
void float_to_int16(const float* from, int64_t elements, int16_t* to) {
  using F = Lanes<float>;
  using Few = Lanes<int16_t, F::kSize>;
  fill_row<Few>(elements, to, [&](int64_t x) __attribute__((always_inline)) {
    F::Vector v = F::load(from + x);
    v = v == v ? v : F::Vector{};
    v = v > F::all(-32768.0F) ? v : F::all(-32768.0F);
    v = v < F::all(32767.0F) ? v : F::all(32767.0F);
    const Sums::Vector bits = (Sums::Vector)(v + F::all(0x1.8p23F)) - Sums::all(0x4b400000);
    return __builtin_convertvector(bits, typename Few::Vector);
  });
}

template <class T, class S> IRUKA_FILTER_INLINE typename Lanes<S>::Vector as_sums(const T* from) {
  return __builtin_convertvector(Lanes<T, Lanes<S>::kSize>::load(from), typename Lanes<S>::Vector);
}
/// kCount is 0 for more than three.
template <class T, class S, int kCount>
void add_rows_of(const T* const* rows, int any_count, int64_t elements, S* sums) {
  const int count = kCount > 0 ? kCount : any_count;
  fill_row<Lanes<S>, kCount == 0 ? 1 : 2>(elements, sums, [&](int64_t x) __attribute__((always_inline)) {
    typename Lanes<S>::Vector sum = as_sums<T, S>(rows[0] + x);
    for (int k = 1; k < count; ++k) sum += as_sums<T, S>(rows[k] + x);
    return sum;
  });
}
template <class T, class S>
void add_rows(const T* const* rows, int count, int64_t elements, S* sums) {
  if (count == 2) return add_rows_of<T, S, 2>(rows, count, elements, sums);
  if (count == 3) return add_rows_of<T, S, 3>(rows, count, elements, sums);
  add_rows_of<T, S, 0>(rows, count, elements, sums);
}
template <class T, class S> void slide(const T* added, const T* removed, int64_t elements, S* sums) {
  fill_row<Lanes<S>>(elements, sums, [&](int64_t x) __attribute__((always_inline)) {
    return Lanes<S>::load(sums + x) + as_sums<T, S>(added + x) - as_sums<T, S>(removed + x);
  });
}

/// What `sum` of integers is, times `scale`, rounded to even; it is not beyond the values of T.
template <class T, class S>
IRUKA_FILTER_INLINE typename Lanes<T, Lanes<S>::kSize>::Vector scaled(typename Lanes<S>::Vector sum, float scale) {
  constexpr int kSize = Lanes<S>::kSize;
  using F = Lanes<float, kSize>;
  using I = Lanes<int32_t, kSize>;
  // Sums are below 2^31.
  const typename F::Vector v =
      __builtin_convertvector(__builtin_convertvector(sum, typename I::Vector), typename F::Vector);
  const typename F::Vector shifted = v * F::all(scale) + F::all(0x1.8p23F);
  return __builtin_convertvector((typename I::Vector)shifted, typename Lanes<T, kSize>::Vector);
}

/// The upper halves of products.
IRUKA_FILTER_INLINE Words::Vector high_products(Words::Vector a, Words::Vector b) {
#if defined(__AVX512BW__)
  return (Words::Vector)_mm512_mulhi_epu16((Raw)a, (Raw)b);
#elif defined(__AVX2__)
  return (Words::Vector)_mm256_mulhi_epu16((Raw)a, (Raw)b);
#elif defined(__x86_64__)
  return (Words::Vector)_mm_mulhi_epu16((Raw)a, (Raw)b);
#else
  using Wide = WordLanes<uint32_t>;
  const Wide::Vector product = __builtin_convertvector(a, Wide::Vector) * __builtin_convertvector(b, Wide::Vector);
  return __builtin_convertvector(product >> 16, Words::Vector);
#endif
}
/// The same by an integer factor.
IRUKA_FILTER_INLINE WordLanes<uint8_t>::Vector divided(Words::Vector sum, const BoxDivision& division) {
  const Words::Vector high = high_products(sum + Words::all(division.half), Words::all(division.factor));
  return __builtin_convertvector(high >> Words::all(static_cast<uint16_t>(division.shift)), WordLanes<uint8_t>::Vector);
}

/// Fills a row with the quotients of sum(x).
template <class T, class S, class Sum>
IRUKA_FILTER_INLINE void fill_quotients(int64_t elements, const BoxDivision& division, T* result, Sum&& sum) {
  using L = Lanes<T, Lanes<S>::kSize>;
  if constexpr (sizeof(S) == 2) {
    if (division.factor != 0)
      return fill_row<L>(elements, result,
                         [&](int64_t x) __attribute__((always_inline)) { return divided(sum(x), division); });
  }
  fill_row<L>(elements, result,
              [&](int64_t x) __attribute__((always_inline)) { return scaled<T, S>(sum(x), division.scale); });
}

template <class T, class S, int kWidth>
void narrow_across(const S* sums, int64_t step, int64_t elements, const BoxDivision& division, T* result) {
  using L = Lanes<S>;
  fill_quotients<T, S>(elements, division, result, [&](int64_t x) __attribute__((always_inline)) {
    typename L::Vector sum = L::load(sums + x);
    for (int k = 1; k < kWidth; ++k) sum += L::load(sums + x + k * step);
    return sum;
  });
}
/// Sums of 1, 2, 4, ... neighbours, of which those of the bits of the width are added up.
template <class T, class S>
void wide_across(const S* sums, S* const* space, int width, int64_t step, int64_t elements, const BoxDivision& division,
                 T* result) {
  using L = Lanes<S>;
  const S* parts[16];
  int count = 0, done = 0;
  int64_t all = elements + (width - 1) * step;
  for (int span = 1, level = 0; span <= width; span *= 2, ++level) {
    if (width & span) {
      parts[count++] = sums + done * step;
      done += span;
    }
    if (2 * span > width) break;
    all -= span * step;
    S* const next = space[level];
    fill_row<L>((all + L::kSize - 1) / L::kSize * L::kSize, next, [&](int64_t x) __attribute__((always_inline)) {
      return L::load(sums + x) + L::load(sums + x + span * step);
    });
    sums = next;
  }
  fill_quotients<T, S>(elements, division, result, [&](int64_t x) __attribute__((always_inline)) {
    typename L::Vector sum = L::load(parts[0] + x);
    for (int k = 1; k < count; ++k) sum += L::load(parts[k] + x);
    return sum;
  });
}
template <class T, class S>
void across(const S* sums, S* const* space, int width, int64_t step, int64_t elements, const BoxDivision& division,
            T* result) {
  switch (width) {
    case 1: return narrow_across<T, S, 1>(sums, step, elements, division, result);
    case 2: return narrow_across<T, S, 2>(sums, step, elements, division, result);
    case 3: return narrow_across<T, S, 3>(sums, step, elements, division, result);
    case 4: return narrow_across<T, S, 4>(sums, step, elements, division, result);
    case 5: return narrow_across<T, S, 5>(sums, step, elements, division, result);
    case 7: return narrow_across<T, S, 7>(sums, step, elements, division, result);
    default: break;
  }
  // Parts of a row whose sums stay in the fastest cache, if windows are not too wide for that.
  const int64_t wide = 4 * width * step, part = wide < 1024 ? 1024 : wide;
  for (int64_t first = 0; first < elements; first += part)
    wide_across<T, S>(sums + first, space, width, step, elements - first < part ? elements - first : part, division,
                      result + first);
}
