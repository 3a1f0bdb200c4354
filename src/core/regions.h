// The service that finds regions of binary pictures by compiled loops. A GPU has none, it runs kernels
// (image/kernels/regions.h) with the same answers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/service.h"

namespace iruka {

/// A picture of bytes, of which those other than zero are foreground.
struct BinaryPicture {
  const uint8_t* data = nullptr;
  int64_t row_bytes = 0;
  int64_t height = 0, width = 0;
};

enum class DistanceMetric : uint8_t { euclidean, cityblock, chessboard };

/// What is known of a component.
struct ComponentStatistics {
  int64_t area = 0;
  int64_t top = 0, left = 0, bottom = -1, right = -1;  ///< of the pixels within
  int64_t sum_y = 0, sum_x = 0;
};

class Regions {
 public:
  static constinit const Implementations<Regions> implementations;
  virtual ~Regions() = default;

  /// Fills `result`, dense rows of float32 for `euclidean`, else of int32.
  virtual void distances(const BinaryPicture& picture, DistanceMetric metric, void* result) = 0;
  /// Fills `labels`, dense rows, and gives the number of components. `statistics`, unless null, gets those of the
  /// background and of all components.
  virtual int64_t label(const BinaryPicture& picture, bool has_diagonals, int32_t* labels,
                        std::vector<ComponentStatistics>* statistics) = 0;
};

}  // namespace iruka
