// The service that counts values of pictures by compiled loops. A GPU has none and counts by a kernel
// (image/kernels/equalize.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/service.h"

namespace iruka {

/// A rectangle of one channel, uint8 or uint16, whose values are added to 256 or 65536 counts.
struct PictureCount {
  const void* source = nullptr;
  int64_t rows = 0, columns = 0;
  int64_t row_bytes = 0, column_bytes = 0;
  bool is_wide = false;  ///< uint16
  int64_t* counts = nullptr;
};

class PictureCounts {
 public:
  static constinit const Implementations<PictureCounts> implementations;
  virtual ~PictureCounts() = default;

  /// All rectangles on all threads. Their counts do not overlap.
  virtual void run(std::span<const PictureCount> rectangles) = 0;
};

}  // namespace iruka
