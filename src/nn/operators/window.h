// The windows of convolutions and pooling: what attributes say of them.
#pragma once

#include <array>
#include <string>

#include "nn/operators/operator.h"

namespace iruka::nn {

/// Extents of three spatial axes; those that an array lacks are first, and of extent 1.
using Spatial = std::array<int64_t, 3>;

/// The parts of a kernel from nn/kernels/windows.h. Its body computes the element `at` of the result,
/// the place `to`, with `window`, the type Index and the arrays.
struct WindowKernel {
  const char* name;
  std::string inputs, results;  ///< its arrays, all raw; the last result is the one that fill() makes
  std::string body;
  bool fills_input = false;  ///< whether an element of the result is a place of the window's input
  /// Computes all elements of row `i` of the result on a host; empty where the body does so for each.
  std::string row_body;
};

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
  /// A new array of (images, channels) and the spatial extents `out`, or `in`, that a kernel fills. It is in C order,
  /// or has the channels as its fastest axis, if the number of these is given; then the arguments have them last. The
  /// kernel's text depends on what belongs to the network, and not on extents of arrays, except small ones on a host.
  Array fill(const WindowKernel& kernel, const std::vector<Array>& arguments, const Dims& shape,
             std::optional<int64_t> channels_last = {}) const;

 private:
  struct Texts {
    std::string parameters, head;  ///< statements that declare `window` and the type Index
    std::vector<Argument> arguments;
  };
  Texts texts(bool fills_input, bool is_small, bool is_constant, std::optional<int64_t> channels_last) const;
};

/// The window of attributes over x, (N, C, ...) of one to three spatial axes. Raises ValueError for attributes that do
/// not fit it.
Window window_of(const Call& call, const Array& x, const std::vector<int64_t>& kernel);
/// The same of a transposed convolution: x has the window's output, and `in` is the extent of the result.
Window transposed_window_of(const Call& call, const Array& x, const std::vector<int64_t>& kernel);

}  // namespace iruka::nn
