// Two vectors of pixels at a time, so that one's sums fill the other's latency; a row is one unit of work.
#include "threads.h"
#include "vector.h"

namespace {

void count_row(float ci, float step, int64_t width, int64_t limit, int32_t* counts) {
  constexpr int kVectors = 2;
  alignas(64) int32_t found[kVectors * kLanes];
  for (int64_t x = 0; x < width; x += kVectors * kLanes) {
    Float cr[kVectors], zr[kVectors], zi[kVectors];
    Int count[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      cr[v] = fms(counting() + all(static_cast<float>(x + v * kLanes)), all(step), all(2.1f));
      zr[v] = cr[v], zi[v] = all(ci), count[v] = all(0);
    }
    for (int64_t k = 0; k < limit; ++k) {
      Mask inside[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const Float squared = zi[v] * zi[v];
        // Not "not greater": an orbit that overflowed must stay out.
        inside[v] = less(fma(zr[v], zr[v], squared), all(4.0000005f));
        count[v] = count_where(inside[v], count[v]);
        const Float next = fms(zr[v], zr[v], squared) + cr[v];
        zi[v] = fma(zr[v] + zr[v], zi[v], all(ci));
        // A point that left stays outside: its orbit is pinned.
        zr[v] = choose(inside[v], next, all(3.0f));
      }
      if (!any(inside[0]) && !any(inside[1])) break;
    }
    for (int v = 0; v < kVectors; ++v) store(found + v * kLanes, count[v]);
    std::copy_n(found, std::min<int64_t>(kVectors * kLanes, width - x), counts + x);
  }
}

}  // namespace

extern "C" void mandelbrot(int64_t width, int64_t height, int64_t limit, int32_t* counts, int64_t threads) {
  const float step_x = static_cast<float>(3.0 / static_cast<double>(width));
  const float step_y = static_cast<float>(2.4 / static_cast<double>(height));
  in_turns(height, threads, 4, [=](int64_t y, int64_t end) {
    for (; y < end; ++y) count_row(static_cast<float>(y) * step_y - 1.2f, step_x, width, limit, counts + y * width);
  });
}
