// Means by weights that fall with distance and with difference. Part of filter_lanes.h.

/// 2^t for t <= 0, from below -126 on 2^-126: a polynomial of the fraction, within 2.1e-7, times a power of two.
IRUKA_FILTER_INLINE Floats::Vector power_of_two(Floats::Vector t) {
  t = t > Floats::all(-126.0F) ? t : Floats::all(-126.0F);
  const Floats::Vector shifted = t + Floats::all(0x1.8p23F), rest = t - (shifted - Floats::all(0x1.8p23F));
  Floats::Vector p = Floats::all(1.339086331e-3F);
  constexpr float kNext[] = {9.676031768e-3F, 5.550356954e-2F, 2.402210683e-1F, 6.931471825e-1F, 1.0F};
  for (const float next : kNext) p = __builtin_elementwise_fma(p, rest, Floats::all(next));
  return (Floats::Vector)((Integers::Vector)p + (((Integers::Vector)shifted - Integers::all(0x4b400000)) << 23));
}

template <int kChannels> void bilateral_of(const BilateralRow& row) {
  const int channels = kChannels;
  for (int64_t x = 0; x < row.pixels; x += Floats::kSize) {
    Floats::Vector center[kChannels], sum[kChannels], total{};
    for (int c = 0; c < channels; ++c) {
      center[c] = Floats::load(row.rows[row.center_y * channels + c] + row.center_x + x);
      sum[c] = Floats::Vector{};
    }
    for (int k = 0; k < row.taps; ++k) {
      Floats::Vector value[kChannels], difference{};
      for (int c = 0; c < channels; ++c) {
        value[c] = Floats::load(row.rows[row.tap_y[k] * channels + c] + row.tap_x[k] + x);
        difference += __builtin_elementwise_abs(value[c] - center[c]);
      }
      const Floats::Vector weight = power_of_two(
          __builtin_elementwise_fma(difference * difference, Floats::all(row.scale), Floats::all(row.exponents[k])));
      for (int c = 0; c < channels; ++c) sum[c] = __builtin_elementwise_fma(value[c], weight, sum[c]);
      total += weight;
    }
    for (int c = 0; c < channels; ++c) Floats::store(sum[c] / total, row.results[c] + x);
  }
}
/// Sums are where the results will be.
void bilateral_of_many(const BilateralRow& row) {
  for (int64_t x = 0; x < row.pixels; x += Floats::kSize) {
    for (int c = 0; c < row.channels; ++c) Floats::store(Floats::Vector{}, row.results[c] + x);
    Floats::Vector total{};
    for (int k = 0; k < row.taps; ++k) {
      const auto value = [&](int c) __attribute__((always_inline)) {
        return Floats::load(row.rows[row.tap_y[k] * row.channels + c] + row.tap_x[k] + x);
      };
      Floats::Vector difference{};
      for (int c = 0; c < row.channels; ++c) {
        const Floats::Vector center = Floats::load(row.rows[row.center_y * row.channels + c] + row.center_x + x);
        difference += __builtin_elementwise_abs(value(c) - center);
      }
      const Floats::Vector weight = power_of_two(
          __builtin_elementwise_fma(difference * difference, Floats::all(row.scale), Floats::all(row.exponents[k])));
      for (int c = 0; c < row.channels; ++c) {
        float* const sum = row.results[c] + x;
        Floats::store(__builtin_elementwise_fma(value(c), weight, Floats::load(sum)), sum);
      }
      total += weight;
    }
    for (int c = 0; c < row.channels; ++c) Floats::store(Floats::load(row.results[c] + x) / total, row.results[c] + x);
  }
}
void bilateral(const BilateralRow& row) {
  switch (row.channels) {
    case 1: return bilateral_of<1>(row);
    case 2: return bilateral_of<2>(row);
    case 3: return bilateral_of<3>(row);
    case 4: return bilateral_of<4>(row);
    default: return bilateral_of_many(row);
  }
}
