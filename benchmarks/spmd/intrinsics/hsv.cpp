// RGB to HSV: three loads and shuffles take the channels apart, eight pixels at a time, and put them together again.
#include "threads.h"
#include "vector.h"

namespace {

struct Channels {
  __m256 first, second, third;
};

Channels taken_apart(const float* from) {
  const __m256 a = _mm256_loadu2_m128(from + 12, from), b = _mm256_loadu2_m128(from + 16, from + 4);
  const __m256 c = _mm256_loadu2_m128(from + 20, from + 8);            // a: r0 g0 b0 r1, b: g1 b1 r2 g2, c: b2 r3 g3 b3
  const __m256 bc = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(2, 1, 3, 2));  // r2 g2 r3 g3
  const __m256 ab = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 2, 1));  // g0 b0 g1 b1
  return {_mm256_shuffle_ps(a, bc, _MM_SHUFFLE(2, 0, 3, 0)), _mm256_shuffle_ps(ab, bc, _MM_SHUFFLE(3, 1, 2, 0)),
          _mm256_shuffle_ps(ab, c, _MM_SHUFFLE(3, 0, 3, 1))};
}

void put_together(const Channels& x, float* to) {
  const __m256 fs = _mm256_shuffle_ps(x.first, x.second, _MM_SHUFFLE(2, 0, 2, 0));  // f0 f2 s0 s2
  const __m256 st = _mm256_shuffle_ps(x.second, x.third, _MM_SHUFFLE(3, 1, 3, 1));  // s1 s3 t1 t3
  const __m256 tf = _mm256_shuffle_ps(x.third, x.first, _MM_SHUFFLE(3, 1, 2, 0));   // t0 t2 f1 f3
  const __m256 a = _mm256_shuffle_ps(fs, tf, _MM_SHUFFLE(2, 0, 2, 0));              // f0 s0 t0 f1
  const __m256 b = _mm256_shuffle_ps(st, fs, _MM_SHUFFLE(3, 1, 2, 0));              // s1 t1 f2 s2
  const __m256 c = _mm256_shuffle_ps(tf, st, _MM_SHUFFLE(3, 1, 3, 1));              // t2 f3 s3 t3
  _mm256_storeu2_m128(to + 12, to, a);
  _mm256_storeu2_m128(to + 16, to + 4, b);
  _mm256_storeu2_m128(to + 20, to + 8, c);
}

struct Pixel {
  Float hue, saturation, value;
};

Pixel convert(Float r, Float g, Float b) {
  const Float high = max(r, max(g, b)), low = min(r, min(g, b)), range = high - low, none = all(0.0f);
  const Mask red = same(high, r), green = same(high, g);
  const Float difference = choose(red, g - b, choose(green, b - r, r - g));
  const Float turn = choose(red, choose(less(g, b), all(6.0f), none), choose(green, all(2.0f), all(4.0f)));
  const Float hue = (difference / range + turn) * all(60.0f);
  return {choose(less(none, range), hue, none), choose(less(none, high), range / high, none), high};
}

void convert_block(const float* from, float* to) {
#ifdef __AVX512F__
  const Channels a = taken_apart(from), b = taken_apart(from + 24);
  const Pixel x = convert(joined(a.first, b.first), joined(a.second, b.second), joined(a.third, b.third));
  put_together({low(x.hue), low(x.saturation), low(x.value)}, to);
  put_together({high(x.hue), high(x.saturation), high(x.value)}, to + 24);
#else
  const Channels a = taken_apart(from);
  const Pixel x = convert(a.first, a.second, a.third);
  put_together({x.hue, x.saturation, x.value}, to);
#endif
}

}  // namespace

extern "C" void hsv(const float* rgb, int64_t n, float* out, int64_t threads) {
  in_parts(n, threads, [=](int64_t i, int64_t end) {
    for (; i + kLanes <= end; i += kLanes) convert_block(rgb + 3 * i, out + 3 * i);
    if (i == end) return;
    float rest[3 * kLanes] = {}, converted[3 * kLanes];
    std::copy(rgb + 3 * i, rgb + 3 * end, rest);
    convert_block(rest, converted);
    std::copy_n(converted, 3 * (end - i), out + 3 * i);
  });
}
