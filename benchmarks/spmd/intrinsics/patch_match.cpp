// Patches of kVectors * kLanes pixels of A held beside one patch of B after the other. Sums are compared rather than
// means: for whole numbers they order alike.
#include "threads.h"
#include "vector.h"

namespace {

constexpr int kVectors = 4, kNumbers = 27, kStep = kVectors * kLanes;

/// Row k holds the 27 numbers of the patch around pixel k, the edge repeated.
std::vector<float> patches_of(const float* image, int64_t height, int64_t width) {
  std::vector<float> patches;
  patches.reserve(static_cast<size_t>(height * width * kNumbers));
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t dy = -1; dy <= 1; ++dy)
        for (int64_t dx = -1; dx <= 1; ++dx) {
          const int64_t row = std::clamp<int64_t>(y + dy, 0, height - 1),
                        column = std::clamp<int64_t>(x + dx, 0, width - 1);
          for (int64_t c = 0; c < 3; ++c) patches.push_back(image[(row * width + column) * 3 + c]);
        }
  return patches;
}

/// The nearest of the `count` patches of B for kStep patches of A, `stride` floats apart from one number to the next.
void nearest(const float* a, int64_t stride, const float* b, int64_t count, int32_t* found) {
  Float least[kVectors];
  Int place[kVectors];
  for (int v = 0; v < kVectors; ++v) least[v] = all(9e6f), place[v] = all(0);
  for (int64_t k = 0; k < count; ++k) {
    Float sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = all(0.0f);
    for (int64_t number = 0; number < kNumbers; ++number) {
      const Float other = all(b[k * kNumbers + number]);
      for (int v = 0; v < kVectors; ++v) {
        const Float difference = load(a + number * stride + v * kLanes) - other;
        sum[v] = fma(difference, difference, sum[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      const Mask nearer = less(sum[v], least[v]);
      least[v] = choose(nearer, sum[v], least[v]);
      place[v] = choose(nearer, all(static_cast<int>(k)), place[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) store(found + v * kLanes, place[v]);
}

}  // namespace

extern "C" void patch_match(const float* a, const float* b, int64_t height, int64_t width, uint16_t* nnf,
                            int64_t threads) {
  const int64_t count = height * width, padded = (count + kStep - 1) / kStep * kStep;
  const std::vector<float> patches = patches_of(a, height, width), others = patches_of(b, height, width);
  std::vector<float> turned(static_cast<size_t>(padded * kNumbers));
  for (int64_t k = 0; k < count; ++k)
    for (int64_t number = 0; number < kNumbers; ++number)
      turned[static_cast<size_t>(number * padded + k)] = patches[static_cast<size_t>(k * kNumbers + number)];
  in_turns(padded, threads, kStep, [&](int64_t begin, int64_t) {
    int32_t found[kStep];
    nearest(turned.data() + begin, padded, others.data(), count, found);
    for (int64_t k = begin; k < std::min(count, begin + kStep); ++k) {
      nnf[2 * k] = static_cast<uint16_t>(found[k - begin] % width);
      nnf[2 * k + 1] = static_cast<uint16_t>(found[k - begin] / width);
    }
  });
}
