// Regions of binary pictures: distances to the nearest background pixel, and connected components.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "iruka/array.h"

namespace iruka::image {

/// euclidean: sqrt(dy^2 + dx^2); cityblock: |dy| + |dx|; chessboard: the greater of |dy| and |dx|.
enum class Metric : uint8_t { euclidean, cityblock, chessboard };

/// How far each pixel is from the nearest pixel that is zero: float32 (height, width) for `euclidean`, the square root
/// of an exact integer; int32 for the others. Where no pixel is zero: infinity, or the largest int32. `picture` is
/// (height, width) of any dtype but complex numbers, on any device. Exact, in time proportional to the number of pixels
/// on a CPU (Meijster, Roerdink and Hesselink, "A general algorithm for computing distance transforms in linear time",
/// 2000). Raises ShapeError for other shapes.
IRUKA_API Array distance_transform(const Array& picture, Metric metric = Metric::euclidean);

/// Components of a picture. Rows of the statistics are components, the first one the background.
struct Components {
  Array labels;  ///< int32 (height, width): 0 for pixels that are zero, else 1, 2, ... by the components' first pixels
  int64_t count = 0;  ///< of components without the background
  Array areas;        ///< int64 (count + 1)
  Array boxes;        ///< int32 (count + 1, 4): y, x, height, width; zeros for an empty background
  Array centroids;    ///< float64 (count + 1, 2): y, x; NaN for an empty background
};

struct ComponentOptions {
  int connectivity = 8;         ///< 4 or 8 neighbours
  bool has_statistics = false;  ///< else the arrays of statistics are invalid
};

/// The components of pixels that are not zero. `picture` as for distance_transform. The numbers are the same on every
/// device. Raises ShapeError for other shapes and for more than 2^31 - 1 pixels, ValueError for another connectivity.
IRUKA_API Components connected_components(const Array& picture, const ComponentOptions& options = {});

}  // namespace iruka::image
