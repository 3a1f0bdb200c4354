// The service for pooling by compiled loops. A GPU has none, its pooling is a kernel.
#pragma once

#include <array>
#include <cstdint>

#include "core/service.h"
#include "iruka/dtype.h"

namespace iruka {

/// Pooling of images with the channels last and one to three spatial axes. Arrays are dense. Extents of spatial axes
/// that the images lack are 1, and first.
struct Pooling {
  using Spatial = std::array<int64_t, 3>;
  Dtype dtype = Dtype::float32;
  bool is_mean = false;         ///< else the largest
  bool counts_margins = false;  ///< whether a mean counts places in margins, as zeros
  int64_t images = 0, channels = 0;
  Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, before{}, behind{};
  const void* x = nullptr;  ///< (images, ..., channels)
  void* result = nullptr;
};

class Poolings {
 public:
  static constinit const Implementations<Poolings> implementations;
  virtual ~Poolings() = default;

  /// Fills the result. False for a dtype that it does not have, and where a window sees no element.
  virtual bool pool(const Pooling& pooling) = 0;
};

}  // namespace iruka
