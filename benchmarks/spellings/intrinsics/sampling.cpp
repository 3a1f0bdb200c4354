// Bilinear resizing by permuted rows, and a warp by gathers.
#include "lanes.h"

extern "C" void resize(const float* picture, int64_t width, int64_t height, int64_t new_width, int64_t new_height,
                       float* result, int64_t threads) {
  const int64_t padded = (new_width + kLanes - 1) / kLanes * kLanes;
  std::vector<int32_t> columns(static_cast<size_t>(padded));
  std::vector<float> parts(static_cast<size_t>(padded));
  const auto place = [](int64_t k, int64_t size, int64_t new_size) {
    const double at = (static_cast<double>(k) + 0.5) * static_cast<double>(size) / static_cast<double>(new_size) - 0.5;
    return std::clamp(at, 0.0, static_cast<double>(size - 1));
  };
  for (int64_t x = 0; x < padded; ++x) {
    const double at = place(x, width, new_width);
    columns[static_cast<size_t>(x)] = static_cast<int32_t>(at);
    parts[static_cast<size_t>(x)] = static_cast<float>(at - std::floor(at));
  }
  in_rows(new_height, threads, [&](int64_t y) {
    const double at = place(y, height, new_height);
    const auto row = static_cast<int64_t>(at);
    const auto part = static_cast<float>(at - static_cast<double>(row));
    const float *above = picture + row * width, *below = picture + clamped(row + 1, height) * width;
    for (int64_t x = 0; x < new_width; x += kLanes) {
      const Ints left = load_as<Ints>(&columns[static_cast<size_t>(x)]);
      const Ints right = left + ((left < ints(static_cast<int>(width - 1))) & 1);
      const Float fx = load(&parts[static_cast<size_t>(x)]);
      const int32_t first = left[0];
      Float a, b, c, d;
      if (right[kLanes - 1] - first < kLanes && first + kLanes <= width) {
        const Float up = load(above + first), down = load(below + first);
        a = permuted(up, left - first), b = permuted(up, right - first);
        c = permuted(down, left - first), d = permuted(down, right - first);
      } else {
        a = gather(above, left), b = gather(above, right), c = gather(below, left), d = gather(below, right);
      }
      const Float high = fma(fx, b - a, a), low = fma(fx, d - c, c);
      const Float found = fma(all(part), low - high, high);
      std::memcpy(result + y * new_width + x, &found,
                  4 * static_cast<size_t>(std::min<int64_t>(kLanes, new_width - x)));
    }
  });
}

extern "C" void warp(const float* picture, int64_t width, int64_t height, double cosine, double sine, float* result,
                     int64_t threads) {
  const auto c = static_cast<float>(cosine), s = static_cast<float>(sine);
  const float half_width = static_cast<float>(width) * 0.5f, half_height = static_cast<float>(height) * 0.5f;
  in_rows(height, threads, [=](int64_t y) {
    const float dy = static_cast<float>(y) - half_height;
    const float begin_u = half_width + 3 * sinf(0.05f * static_cast<float>(y)) - s * dy;
    const float begin_v = half_height + c * dy;
    for (int64_t x = 0; x < width; x += kLanes) {
      const Float dx = floats(counting_ints() + static_cast<int>(x)) - all(half_width);
      const Float u = fma(all(c), dx, all(begin_u)), v = fma(all(s), dx, all(begin_v));
      const Float left = floor(u), top = floor(v), fx = u - left, fy = v - top;
      const Ints x0 = __builtin_convertvector(left, Ints), y0 = __builtin_convertvector(top, Ints);
      const Ints inside = (x0 >= ints(0)) & (x0 < ints(static_cast<int>(width - 1))) & (y0 >= ints(0)) &
                          (y0 < ints(static_cast<int>(height - 1)));
      Float found = all(0.0f);
      if (is_any(inside)) {
        const Ints at = y0 * static_cast<int>(width) + x0;
        const Float p = gather(picture, at, inside), q = gather(picture + 1, at, inside);
        const Float r = gather(picture + width, at, inside), t = gather(picture + width + 1, at, inside);
        const Float high = fma(fx, q - p, p), low = fma(fx, t - r, r);
        found = inside ? fma(fy, low - high, high) : all(0.0f);
      }
      std::memcpy(result + y * width + x, &found, 4 * static_cast<size_t>(std::min<int64_t>(kLanes, width - x)));
    }
  });
}
