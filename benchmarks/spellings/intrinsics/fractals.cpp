// Mandelbrot set and Newton's method: two vectors at a time, so that one fills the other's latency.
#include "lanes.h"

namespace {

constexpr int kVectors = 2, kStep = kVectors * kLanes;

/// block(re, im, found...) for kStep points at a time, of which the last may be copies.
template <int results, class Block>
void in_blocks(const float* re, const float* im, int64_t count, int32_t* const (&to)[results], int64_t threads,
               Block&& block) {
  in_turns(count, threads, 256 * kStep, [&](int64_t i, int64_t end) {
    for (; i < end; i += kStep) {
      alignas(64) float a[kStep] = {}, b[kStep] = {};
      alignas(64) int32_t found[results][kStep];
      const int64_t size = std::min<int64_t>(kStep, end - i);
      std::copy_n(re + i, size, a);
      std::copy_n(im + i, size, b);
      block(a, b, found);
      for (int k = 0; k < results; ++k) std::copy_n(found[k], size, to[k] + i);
    }
  });
}

}  // namespace

extern "C" void mandelbrot(const float* re, const float* im, int64_t most, int64_t count, int32_t* steps,
                           int64_t threads) {
  in_blocks(re, im, count, {steps}, threads, [=](const float* a, const float* b, int32_t (&found)[1][kStep]) {
    Float cr[kVectors], ci[kVectors], x[kVectors], y[kVectors];
    Ints counts[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      cr[v] = load(a + v * kLanes), ci[v] = load(b + v * kLanes);
      x[v] = y[v] = all(0.0f), counts[v] = ints(0);
    }
    for (int64_t k = 0; k < most; ++k) {
      Ints inside[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const Float squared = y[v] * y[v];
        inside[v] = fma(x[v], x[v], squared) <= all(4.0f);
        counts[v] -= inside[v];
        y[v] = fma(x[v] + x[v], y[v], ci[v]);
        x[v] = fms(x[v], x[v], squared) + cr[v];
      }
      if (!is_any(inside[0] | inside[1])) break;
    }
    for (int v = 0; v < kVectors; ++v) store_as(found[0] + v * kLanes, counts[v]);
  });
}

extern "C" void newton(const float* re, const float* im, int64_t most, int64_t count, int32_t* root, int32_t* steps,
                       int64_t threads) {
  in_blocks(re, im, count, {root, steps}, threads, [=](const float* a, const float* b, int32_t (&found)[2][kStep]) {
    Float x[kVectors], y[kVectors];
    Ints counts[kVectors], active[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      x[v] = load(a + v * kLanes), y[v] = load(b + v * kLanes);
      counts[v] = ints(0), active[v] = ints(-1);
    }
    for (int64_t k = 0; k < most; ++k) {
      for (int v = 0; v < kVectors; ++v) {
        const Float sx = fms(x[v], x[v], y[v] * y[v]), sy = (x[v] + x[v]) * y[v];
        const Float fx = fms(sx, x[v], fma(sy, y[v], all(1.0f))), fy = fma(sx, y[v], sy * x[v]);
        active[v] &= fma(fx, fx, fy * fy) >= all(1e-6f);
        counts[v] -= active[v];
        const Float scale = all(1.0f) / (all(3.0f) * fma(sx, sx, sy * sy));
        x[v] = active[v] ? x[v] - fma(fx, sx, fy * sy) * scale : x[v];
        y[v] = active[v] ? y[v] - fms(fy, sx, fx * sy) * scale : y[v];
      }
      if (!is_any(active[0] | active[1])) break;
    }
    for (int v = 0; v < kVectors; ++v) {
      const Ints other = y[v] > all(0.0f) ? ints(1) : ints(2);
      store_as(found[0] + v * kLanes, x[v] > all(0.0f) ? ints(0) : other);
      store_as(found[1] + v * kLanes, counts[v]);
    }
  });
}
