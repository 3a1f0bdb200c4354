// A biquad filter over time: of neighbouring channels, and of rows, which are turned in registers.
#include "lanes.h"

namespace {

struct Coefficients {
  Float b0, b1, b2, a1, a2;  ///< a1 and a2 with the other sign

  Coefficients(double b0, double b1, double b2, double a1, double a2)
      : b0(all(static_cast<float>(b0))),
        b1(all(static_cast<float>(b1))),
        b2(all(static_cast<float>(b2))),
        a1(all(static_cast<float>(-a1))),
        a2(all(static_cast<float>(-a2))) {}

  Float next(Float in, Float& z1, Float& z2) const {
    const Float out = fma(b0, in, z1);
    z1 = fma(a1, out, fma(b1, in, z2));
    z2 = fma(a2, out, b2 * in);
    return out;
  }
};

struct Single {
  float b0, b1, b2, a1, a2, z1 = 0, z2 = 0;
  float next(float in) {
    const float out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    return out;
  }
};

Single single(double b0, double b1, double b2, double a1, double a2) {
  return {static_cast<float>(b0), static_cast<float>(b1), static_cast<float>(b2), static_cast<float>(a1),
          static_cast<float>(a2)};
}

}  // namespace

extern "C" void iir(const float* x, int64_t steps, int64_t channels, double b0, double b1, double b2, double a1,
                    double a2, float* y, int64_t threads) {
  constexpr int kVectors = 8, kStep = kVectors * kLanes;
  const Coefficients filter(b0, b1, b2, a1, a2);
  in_turns(channels, threads, kStep, [&](int64_t begin, int64_t end) {
    if (end - begin == kStep) {
      Float z1[kVectors], z2[kVectors];
      for (int v = 0; v < kVectors; ++v) z1[v] = z2[v] = all(0.0f);
      for (int64_t t = 0; t < steps; ++t)
        for (int v = 0; v < kVectors; ++v) {
          const int64_t at = t * channels + begin + v * kLanes;
          store(y + at, filter.next(load(x + at), z1[v], z2[v]));
        }
      return;
    }
    for (int64_t c = begin; c < end; ++c) {
      Single one = single(b0, b1, b2, a1, a2);
      for (int64_t t = 0; t < steps; ++t) y[t * channels + c] = one.next(x[t * channels + c]);
    }
  });
}

extern "C" void iir_rows(const float* x, int64_t steps, int64_t channels, double b0, double b1, double b2, double a1,
                         double a2, float* y, int64_t threads) {
  constexpr int kVectors = 2, kStep = kVectors * kLanes;
  const Coefficients filter(b0, b1, b2, a1, a2);
  in_turns(channels, threads, kStep, [&](int64_t begin, int64_t end) {
    alignas(64) float first[kStep] = {}, second[kStep] = {};
    int64_t done = 0;
    if (end - begin == kStep) {
      Float z1[kVectors], z2[kVectors];
      for (int v = 0; v < kVectors; ++v) z1[v] = z2[v] = all(0.0f);
      for (; done + 8 <= steps; done += 8) {
        Float number[kVectors][8];
        for (int v = 0; v < kVectors; ++v) load_turned(x + (begin + v * kLanes) * steps + done, steps, number[v]);
        for (int k = 0; k < 8; ++k)
          for (int v = 0; v < kVectors; ++v) number[v][k] = filter.next(number[v][k], z1[v], z2[v]);
        for (int v = 0; v < kVectors; ++v) store_turned(number[v], y + (begin + v * kLanes) * steps + done, steps);
      }
      for (int v = 0; v < kVectors; ++v) store_as(first + v * kLanes, z1[v]), store_as(second + v * kLanes, z2[v]);
    }
    for (int64_t c = begin; c < end; ++c) {
      Single one = single(b0, b1, b2, a1, a2);
      one.z1 = first[c - begin], one.z2 = second[c - begin];
      for (int64_t t = done; t < steps; ++t) y[c * steps + t] = one.next(x[c * steps + t]);
    }
  });
}
