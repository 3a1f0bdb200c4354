static inline float cumulative_normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * abs(d));
  const float polynomial =
      k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.398942280f * exp(-0.5f * d * d) * polynomial;
  return d > 0 ? 1.0f - tail : tail;
}

export void black_scholes(uniform const float price[], uniform const float strike[], uniform const float years[],
                          uniform float rate, uniform float volatility, uniform float call[], uniform float put[],
                          uniform int begin, uniform int end) {
  foreach (i = begin ... end) {
    const float root = volatility * sqrt(years[i]);
    const float d1 = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
    const float d2 = d1 - root;
    const float discounted = strike[i] * exp(-rate * years[i]);
    call[i] = price[i] * cumulative_normal(d1) - discounted * cumulative_normal(d2);
    put[i] = discounted * cumulative_normal(-d2) - price[i] * cumulative_normal(-d1);
  }
}
