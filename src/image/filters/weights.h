// The weights of named filters.
#pragma once

#include <cstdint>
#include <vector>

namespace iruka::image {

/// exp(-d^2 / (2 sigma^2)), divided by the sum.
std::vector<double> gaussian_weights(int64_t size, double sigma);
/// The same as OpenCV rounds them for uint8: integers whose sum is 256. `size` is odd.
std::vector<int16_t> gaussian_bytes(int64_t size, double sigma);
/// A derivative of an order below `size` with binomial smoothing.
std::vector<double> sobel_weights(int64_t size, int64_t order);

}  // namespace iruka::image
