// 3x3 mean, convolution and median, 5x5 bilateral filter: vectors inside of the picture, single pixels at its border.
#include "lanes.h"

namespace {

/// The sum over the window, of numbers inside the picture, and their count.
float mean_at(const float* picture, int64_t width, int64_t height, int64_t x, int64_t y) {
  float sum = 0;
  int count = 0;
  for (int64_t v = std::max<int64_t>(y - 1, 0); v < std::min(y + 2, height); ++v)
    for (int64_t u = std::max<int64_t>(x - 1, 0); u < std::min(x + 2, width); ++u)
      sum += picture[v * width + u], ++count;
  return sum / static_cast<float>(count);
}

float convolved_at(const float* picture, const float* taps, int64_t width, int64_t height, int64_t x, int64_t y) {
  float sum = 0;
  for (int64_t k = 0; k < 9; ++k)
    sum += taps[k] * picture[clamped(y + k / 3 - 1, height) * width + clamped(x + k % 3 - 1, width)];
  return sum;
}

uint8_t median_at(const uint8_t* picture, int64_t width, int64_t height, int64_t x, int64_t y) {
  uint8_t window[9];
  for (int64_t k = 0; k < 9; ++k)
    window[k] = picture[clamped(y + k / 3 - 1, height) * width + clamped(x + k % 3 - 1, width)];
  std::nth_element(window, window + 4, window + 9);
  return window[4];
}

inline void order(Bytes& a, Bytes& b) {
  const Bytes low = least(a, b);
  b = most(a, b);
  a = low;
}

Bytes median_of(const uint8_t* above, const uint8_t* middle, const uint8_t* below) {
  Bytes a = load_as<Bytes>(above - 1), b = load_as<Bytes>(above), c = load_as<Bytes>(above + 1);
  Bytes d = load_as<Bytes>(middle - 1), e = load_as<Bytes>(middle), f = load_as<Bytes>(middle + 1);
  Bytes g = load_as<Bytes>(below - 1), h = load_as<Bytes>(below), k = load_as<Bytes>(below + 1);
  order(a, b), order(d, e), order(g, h);
  order(b, c), order(e, f), order(h, k);
  order(a, b), order(d, e), order(g, h);
  const Bytes low = most(most(a, d), g), high = least(least(c, f), k);
  order(b, e), order(e, h), order(b, e);
  return most(least(low, high), least(most(low, high), e));
}

struct Bilateral {
  const float* picture;
  int64_t width, height;
  float by_range;      ///< times the square of a difference: the exponent of 2
  float by_space[25];  ///< exponents of 2

  float at(int64_t x, int64_t y) const {
    const float centre = picture[y * width + x];
    float sum = 0, weights = 0;
    for (int64_t k = 0; k < 25; ++k) {
      const float value = picture[clamped(y + k / 5 - 2, height) * width + clamped(x + k % 5 - 2, width)];
      const float weight = exp2f((value - centre) * (value - centre) * by_range + by_space[k]);
      sum += weight * value;
      weights += weight;
    }
    return sum / weights;
  }

  /// 2^x for x from -126 to 0.
  static Float power(Float x) {
    const Float whole = rounded(x), part = x - whole;
    Float found = all(1.339887440e-3f);
    for (const float next : {9.618437357e-3f, 5.550332548e-2f, 2.402264791e-1f, 6.931471825e-1f, 1.0f})
      found = fma(found, part, all(next));
    return reinterpret_cast<Float>(reinterpret_cast<Ints>(found) + (__builtin_convertvector(whole, Ints) << 23));
  }

  Float many(int64_t x, int64_t y) const {
    const Float centre = load(picture + y * width + x);
    Float sum = all(0.0f), weights = all(0.0f);
    for (int64_t k = 0; k < 25; ++k) {
      const Float value = load(picture + (y + k / 5 - 2) * width + x + k % 5 - 2), difference = value - centre;
      const Float exponent = fma(difference * difference, all(by_range), all(by_space[k]));
      const Float weight = power(max(exponent, all(-126.0f)));
      sum = fma(weight, value, sum);
      weights += weight;
    }
    return sum / weights;
  }
};

}  // namespace

extern "C" void mean(const float* picture, int64_t width, int64_t height, float* result, int64_t threads) {
  in_rows(height, threads, [=](int64_t y) {
    float* const to = result + y * width;
    const auto one = [&](int64_t x) { return mean_at(picture, width, height, x, y); };
    if (y == 0 || y == height - 1 || width < 3) {
      for (int64_t x = 0; x < width; ++x) to[x] = one(x);
      return;
    }
    to[0] = one(0);
    stream_row(to, 1, width - 1, one, [&](int64_t x) {
      Float sum = all(0.0f);
      for (int64_t v = y - 1; v <= y + 1; ++v)
        for (int64_t u = x - 1; u <= x + 1; ++u) sum += load(picture + v * width + u);
      return sum * all(1.0f / 9);
    });
    to[width - 1] = one(width - 1);
  });
}

extern "C" void convolve(const float* picture, const float* taps, int64_t width, int64_t height, float* result,
                         int64_t threads) {
  in_rows(height, threads, [=](int64_t y) {
    float* const to = result + y * width;
    const auto one = [&](int64_t x) { return convolved_at(picture, taps, width, height, x, y); };
    const float* rows[3];
    for (int64_t k = 0; k < 3; ++k) rows[k] = picture + clamped(y + k - 1, height) * width;
    Float weights[9];
    for (int k = 0; k < 9; ++k) weights[k] = all(taps[k]);
    to[0] = one(0);
    if (width == 1) return;
    stream_row(to, 1, width - 1, one, [&](int64_t x) {
      Float sum = all(0.0f);
      for (int k = 0; k < 9; ++k) sum = fma(weights[k], load(rows[k / 3] + x + k % 3 - 1), sum);
      return sum;
    });
    to[width - 1] = one(width - 1);
  });
}

extern "C" void median(const uint8_t* picture, int64_t width, int64_t height, uint8_t* result, int64_t threads) {
  in_rows(height, threads, [=](int64_t y) {
    const uint8_t *above = picture + clamped(y - 1, height) * width, *middle = picture + y * width;
    const uint8_t* below = picture + clamped(y + 1, height) * width;
    uint8_t* const to = result + y * width;
    const bool is_wide = width >= kBytes + 2;
    if (is_wide) {
      for (int64_t x = 1; x < width - 1; x += kBytes) {
        const int64_t at = std::min(x, width - 1 - kBytes);
        store_as(to + at, median_of(above + at, middle + at, below + at));
      }
    }
    for (int64_t x = 0; x < width; x += is_wide ? std::max<int64_t>(width - 1, 1) : 1)
      to[x] = median_at(picture, width, height, x, y);
  });
}

extern "C" void bilateral(const float* picture, int64_t width, int64_t height, double sigma_space, double sigma_range,
                          float* result, int64_t threads) {
  const double scale = -0.5 * 1.4426950408889634;
  Bilateral filter{picture, width, height, static_cast<float>(scale / (sigma_range * sigma_range)), {}};
  for (int k = 0; k < 25; ++k) {
    const int dy = k / 5 - 2, dx = k % 5 - 2;
    filter.by_space[k] = static_cast<float>(scale * (dy * dy + dx * dx) / (sigma_space * sigma_space));
  }
  in_rows(height, threads, [=, &filter](int64_t y) {
    float* const to = result + y * width;
    const auto one = [&](int64_t x) { return filter.at(x, y); };
    const bool is_inside = y >= 2 && y < height - 2 && width > 4;
    const int64_t begin = is_inside ? 2 : width, end = is_inside ? width - 2 : width;
    for (int64_t x = 0; x < begin; ++x) to[x] = one(x);
    stream_row(to, begin, end, one, [&](int64_t x) { return filter.many(x, y); });
    for (int64_t x = end; x < width; ++x) to[x] = one(x);
  });
}
