// Convolutions by the device's library, where it has one.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "core/convolutions.h"
#include "nn/call_cache.h"
#include "nn/operators/window.h"

namespace iruka::nn {

/// What a convolution's results go through: sums, and then a function.
struct Epilogue {
  Array bias{};      ///< a number for each output, or none
  Array residual{};  ///< an array of the result's shape, or none
  ConvolutionFunction function = ConvolutionFunction::none;
  double numbers[2] = {};  ///< of the function
};

/// What a node keeps of its constant weights: as the library reads them in a precision.
using PreparedWeights = CallCache<Precision, Array>;

/// The device's library of convolutions; null where the device has none, or it was not found.
Convolutions* find_convolutions(Device& device);

/// The convolution, or the transposed one, of a window that fits x and weights, in the precision of the calling thread.
/// Arrays of any layout. The result of narrow floats is float32 where the library has no loops for these. Nothing where
/// the library is missing or has nothing for it. `prepared` belongs to the weights, or is null.
std::optional<Array> convolved_by_library(const Window& window, bool is_transposed, const Array& x,
                                          const Array& weights, int64_t groups, const Epilogue& epilogue = {},
                                          PreparedWeights* prepared = nullptr);

/// The window of a node's last call, which most calls have again; threads may share it.
class KnownWindow {
 public:
  /// `make` gives that of images of `shape`, where it is not known.
  template <class Make>
  Window get(const Dims& shape, Make&& make) {
    std::shared_ptr<const Entry> entry = last_.load(std::memory_order_acquire);
    if (!entry || entry->shape != shape) {
      entry = std::make_shared<const Entry>(shape, make());
      last_.store(entry, std::memory_order_release);
    }
    return entry->window;
  }

 private:
  struct Entry {
    Dims shape;
    Window window;
  };
  std::atomic<std::shared_ptr<const Entry>> last_;
};

/// The same of a call of Conv with constant weights, whose node has `window`. Raises ValueError for attributes and
/// shapes that do not fit each other.
std::optional<Array> convolved_by_library(const Call& call, const Epilogue& epilogue, PreparedWeights& prepared,
                                          KnownWindow& window);

}  // namespace iruka::nn
