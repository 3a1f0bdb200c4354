// The service for convolutions: cuDNN on a GPU, compiled loops on a CPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/convolution_function.h"
#include "core/service.h"
#include "iruka/array.h"
#include "iruka/dtype.h"
#include "iruka/precision.h"

namespace iruka {

/// A convolution, or a transposed one, of images with one to three spatial axes. All arrays are dense, of one dtype
/// and, but for the images of a library that takes any, of one order of axes in memory. Extents of spatial axes that
/// the images lack are 1, and first.
struct Convolution {
  using Spatial = std::array<int64_t, 3>;
  Dtype dtype = Dtype::float32;  ///< float32, float64, float16 or bfloat16; the last two are summed as float32
  Precision precision = Precision::float32;
  bool is_transposed = false;
  bool is_channels_last = false;  ///< the channels are the fastest axis in memory: of results, images and weights
  bool are_images_channels_last = false;  ///< the same of the images
  int rank = 2;                           ///< spatial axes
  int64_t images = 0, groups = 1;
  int64_t channels = 0, outputs = 0;  ///< of the images and the results, for all groups together
  /// `in` are the extents that the windows move over, `out` the numbers of windows. A transposed convolution's images
  /// have the extents `out`, and its results `in`.
  Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, before{}, behind{};
  const void* x = nullptr;  ///< (images, channels, ...)
  /// What packed() gives, else (outputs, channels / groups, ...), transposed: (channels, outputs / groups, ...).
  const void* weights = nullptr;
  void* result = nullptr;  ///< (images, outputs, ...)
  // What is added to the results, unless null, and then the function of them. For convolutions that are not transposed
  // alone.
  const void* bias = nullptr;      ///< (outputs)
  const void* residual = nullptr;  ///< of the results' shape
  ConvolutionFunction function = ConvolutionFunction::none;
  double numbers[2] = {};  ///< of the function
};

class Convolutions {
 public:
  static constinit const Implementations<Convolutions> implementations;
  virtual ~Convolutions() = default;

  /// Why the library cannot be used, and what to install; empty where it can.
  virtual const std::string& problem() = 0;
  /// Whether convolve() may compute such convolutions.
  virtual bool supports(Dtype dtype, bool is_transposed) const = 0;
  /// Whether channels as the fastest axis are faster.
  virtual bool prefers_channels_last(Dtype dtype, Precision precision) const = 0;
  /// The weights (outputs, channels / groups, ...) of a convolution that is not transposed, in an order of the
  /// library's own. No array where it reads them as they are.
  virtual Array packed(const Array&, int64_t) const { return {}; }
  /// Whether convolve() has the function.
  virtual bool applies(ConvolutionFunction function) const = 0;
  /// Whether the results of a convolution, of which the arrays are not known yet, have the channels last.
  virtual bool gives_channels_last(const Convolution& convolution) const {
    return prefers_channels_last(convolution.dtype, convolution.precision);
  }
  /// Whether images may have another order of axes in memory than weights and results.
  virtual bool takes_any_order() const { return false; }
  /// False where convolve() is known to have nothing for such a convolution, of which the arrays are not known yet.
  virtual bool accepts(const Convolution&) const { return true; }
  /// Computes in the order of the device's other work. False where the library has nothing for such a convolution.
  /// Raises DeviceError where the library is missing or fails.
  virtual bool convolve(const Convolution& convolution) = 0;
};

}  // namespace iruka
