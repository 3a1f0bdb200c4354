// Medians of large windows of bytes in constant time: Perreault and Hebert, "Median filtering in constant time" (2007).
// The histogram of a window is that of the window before, with one column more and one less. Part of filter_lanes.h.

using Counts = Lanes<uint16_t, 16>;

void count_row(const uint8_t* added, const uint8_t* removed, int64_t elements, uint16_t* histograms) {
  for (int64_t x = 0; x < elements; ++x, histograms += kHistogram) {
    ++histograms[added[x] >> 4];
    ++histograms[16 + added[x]];
    if (!removed) continue;
    --histograms[removed[x] >> 4];
    --histograms[16 + removed[x]];
  }
}

/// The first place up to which more than `below` are counted. `below` loses what is counted before it.
IRUKA_FILTER_INLINE int place_of(Counts::Vector counts, int& below) {
#if defined(__AVX2__)
  const auto shifted = []<int kBy>(Counts::Vector v) __attribute__((always_inline)) {
    constexpr auto from = [](int k) { return k < kBy ? 16 : k - kBy; };
    return __builtin_shufflevector(v, Counts::Vector{}, from(0), from(1), from(2), from(3), from(4), from(5), from(6),
                                   from(7), from(8), from(9), from(10), from(11), from(12), from(13), from(14),
                                   from(15));
  };
  Counts::Vector sums = counts + shifted.template operator()<1>(counts);
  sums += shifted.template operator()<2>(sums);
  sums += shifted.template operator()<4>(sums);
  sums += shifted.template operator()<8>(sums);
  const auto is_before = sums <= Counts::all(static_cast<uint16_t>(below));
  const int place = __builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8((__m256i)is_before))) / 2;
  alignas(32) uint16_t before[17];
  before[0] = 0;
  Counts::store(sums, before + 1);
  below -= before[place];
  return place;
#else
  int place = 0;
  for (; place < 15 && counts[place] <= below; ++place) below -= counts[place];
  return place;
#endif
}

void median_by_histograms(const uint16_t* histograms, int size, int64_t step, int64_t elements, uint8_t* result) {
  const auto column = [&](int64_t x) __attribute__((always_inline)) { return histograms + x * step * kHistogram; };
  const int half = size * size / 2;
  for (int64_t channel = 0; channel < step; ++channel, histograms += kHistogram) {
    // Fine counts are of the window that begins at column seen[k].
    Counts::Vector coarse{}, fine[16];
    int64_t seen[16];
    for (int64_t& each : seen) each = -size;
    for (int k = 0; k < size - 1; ++k) coarse += Counts::load(column(k));
    for (int64_t x = 0; x * step + channel < elements; ++x) {
      coarse += Counts::load(column(x + size - 1));
      int below = half;
      const int place = place_of(coarse, below);
      const int offset = 16 + 16 * place;
      if (x - seen[place] >= size) {
        Counts::Vector sum{};
        for (int k = 0; k < size; ++k) sum += Counts::load(column(x + k) + offset);
        fine[place] = sum;
      } else {
        for (int64_t k = seen[place]; k < x; ++k)
          fine[place] += Counts::load(column(k + size) + offset) - Counts::load(column(k) + offset);
      }
      seen[place] = x;
      result[x * step + channel] = static_cast<uint8_t>(16 * place + place_of(fine[place], below));
      coarse -= Counts::load(column(x));
    }
  }
}
