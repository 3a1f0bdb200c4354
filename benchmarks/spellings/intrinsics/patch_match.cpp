// Patches of kVectors * kLanes pixels of A, held in registers and cache, beside one patch of B after the other.
#include "lanes.h"

namespace {

constexpr int kVectors = 4, kNumbers = 27, kStep = kVectors * kLanes;

/// Row k holds the 27 numbers of the patch around pixel k, the edge repeated.
std::vector<float> patches_of(const float* picture, int64_t width, int64_t height) {
  std::vector<float> patches;
  patches.reserve(static_cast<size_t>(height * width * kNumbers));
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t dy = -1; dy <= 1; ++dy)
        for (int64_t dx = -1; dx <= 1; ++dx) {
          const float* pixel = picture + (clamped(y + dy, height) * width + clamped(x + dx, width)) * 3;
          patches.insert(patches.end(), pixel, pixel + 3);
        }
  return patches;
}

/// The nearest of the `count` patches of B for the kStep patches of A in a[number][k].
void nearest_patches(const float (*a)[kStep], const float* b, int64_t count, int32_t* found) {
  Float nearest[kVectors];
  Ints place[kVectors];
  for (int v = 0; v < kVectors; ++v) nearest[v] = all(1e9f), place[v] = ints(0);
  for (int64_t k = 0; k < count; ++k) {
    Float sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = all(0.0f);
    for (int64_t number = 0; number < kNumbers; ++number) {
      const Float other = all(b[k * kNumbers + number]);
      for (int v = 0; v < kVectors; ++v) {
        const Float difference = load(a[number] + v * kLanes) - other;
        sum[v] = fma(difference, difference, sum[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      place[v] = sum[v] < nearest[v] ? ints(static_cast<int>(k)) : place[v];
      nearest[v] = min(sum[v], nearest[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) store_as(found + v * kLanes, place[v]);
}

}  // namespace

extern "C" void patch_match(const float* a, const float* b, int64_t width_a, int64_t height_a, int64_t width_b,
                            int64_t height_b, int32_t* nnf, int64_t threads) {
  const std::vector<float> patches = patches_of(a, width_a, height_a), others = patches_of(b, width_b, height_b);
  in_turns(height_a * width_a, threads, kStep, [&](int64_t begin, int64_t end) {
    alignas(64) float turned[kNumbers][kStep] = {};
    int32_t found[kStep];
    for (int64_t k = begin; k < end; ++k)
      for (int64_t number = 0; number < kNumbers; ++number)
        turned[number][k - begin] = patches[static_cast<size_t>(k * kNumbers + number)];
    nearest_patches(turned, others.data(), height_b * width_b, found);
    for (int64_t k = begin; k < end; ++k) {
      nnf[2 * k] = static_cast<int32_t>(found[k - begin] % width_b);
      nnf[2 * k + 1] = static_cast<int32_t>(found[k - begin] / width_b);
    }
  });
}
