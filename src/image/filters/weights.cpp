#include "image/filters/weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace iruka::image {
namespace {

/// What OpenCV takes for small kernels whose sigma is not given, in 256ths, from the first weight to the middle.
constexpr int kKnown[5][5] = {{256}, {64, 128}, {16, 64, 96}, {8, 28, 56, 72}, {4, 13, 30, 51, 60}};

}  // namespace

std::vector<double> gaussian_weights(int64_t size, double sigma) {
  std::vector<double> weights(static_cast<size_t>(size));
  if (sigma <= 0 && size % 2 && size <= 9) {
    const auto& known = kKnown[size / 2];
    for (int64_t k = 0; k < size; ++k) weights[static_cast<size_t>(k)] = known[std::min(k, size - 1 - k)] / 256.0;
    return weights;
  }
  if (sigma <= 0) sigma = static_cast<double>(size) * 0.15 + 0.35;
  double sum = 0;
  for (int64_t k = 0; k < size; ++k) {
    const auto distance = static_cast<double>(2 * k + 1 - size);
    sum += weights[static_cast<size_t>(k)] = std::exp(distance * distance * (-0.125 / (sigma * sigma)));
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<int16_t> gaussian_bytes(int64_t size, double sigma) {
  const std::vector<double> exact = gaussian_weights(size, sigma);
  std::vector<int16_t> weights(exact.size());
  double error = 0;
  int sum = 0;
  const size_t half = exact.size() / 2;
  for (size_t k = 0; k < half; ++k) {
    const double wanted = exact[k] * 256 + error, rounded = std::nearbyint(wanted);
    error = wanted - rounded;
    weights[k] = weights[exact.size() - 1 - k] = static_cast<int16_t>(rounded);
    sum += 2 * static_cast<int>(rounded);
  }
  weights[half] = static_cast<int16_t>(256 - sum);
  return weights;
}

std::vector<double> sobel_weights(int64_t size, int64_t order) {
  std::vector<double> weights{1};
  for (int64_t k = 1; k < size; ++k) {
    const double earlier = k < size - order ? 1 : -1;
    std::vector<double> next(weights.size() + 1);
    for (size_t j = 0; j < weights.size(); ++j) {
      next[j] += earlier * weights[j];
      next[j + 1] += weights[j];
    }
    weights = std::move(next);
  }
  return weights;
}

}  // namespace iruka::image
