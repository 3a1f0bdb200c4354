// The windows of convolutions and pooling: what attributes say of them.
#pragma once

#include <array>
#include <string>

#include "nn/operators/operator.h"

namespace iruka::nn {

/// Extents of three spatial axes; those that an array lacks are first, and of extent 1.
using Spatial = std::array<int64_t, 3>;

struct Window {
  int rank = 0;  ///< spatial axes of the array
  Spatial in{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, before{}, behind{}, out{1, 1, 1};

  /// The shape of (images, channels) and these extents.
  Dims shape(int64_t images, int64_t channels, const Spatial& extents) const;
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  /// kernel_size(), which may overflow.
  double taps() const {
    return static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]) * static_cast<double>(kernel[2]);
  }
  /// Whether each window is one element and they follow each other.
  bool is_pointwise() const {
    return kernel_size() == 1 && in == out && before == Spatial{} && stride == Spatial{1, 1, 1};
  }
  /// Statements that declare `window` and the type Index, for up to `elements` indices.
  std::string text(int64_t elements) const;
};

/// The window of attributes over x, (N, C, ...) of one to three spatial axes. Raises ValueError for attributes that do
/// not fit it.
Window window_of(const Call& call, const Array& x, const std::vector<int64_t>& kernel);
/// The same of a transposed convolution: x has the window's output, and `in` is the extent of the result.
Window transposed_window_of(const Call& call, const Array& x, const std::vector<int64_t>& kernel);

}  // namespace iruka::nn
