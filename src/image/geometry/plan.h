// A chain for pictures of one shape as passes over memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/resampling.h"
#include "image/geometry/axis_map.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {

/// Pixels of a side. Maps have some numbers for each place.
constexpr int64_t kMostExtent = int64_t{1} << 26;

/// The extents of a picture, whatever its layout.
struct PictureShape {
  int64_t height = 0, width = 0, channels = 1;
  bool is_flat = false;  ///< two axes
  Layout layout = Layout::hwc;

  Dims dims() const;
};
/// Raises ShapeError for a shape that no picture has.
PictureShape picture_shape(const Dims& shape, Layout layout, const char* function);
/// Raises TypeError for a dtype that no picture has.
void check_picture_dtype(const std::string& function, Dtype dtype);

/// One pass: a resize or a warp or neither, then selections along both axes, then steps for each value.
struct PassPlan {
  PictureShape from, to;
  int64_t y = 0, x = 0, height = 0, width = 0;  ///< the part of the source that counts
  Dtype source_dtype = Dtype::uint8, dtype = Dtype::uint8, result_dtype = Dtype::uint8;
  AxisRecipe rows, columns;
  std::optional<Warp> warp;
  std::vector<float> outside{0};  ///< the value of constants
  bool has_outside = false;
  std::vector<PointStep> steps;
  bool is_transposed = false;  ///< rows of the maps are columns of the result

  /// Pillow keeps sums along rows as uint8, which is visible where filters overshoot.
  bool rounds_columns() const {
    return dtype == Dtype::uint8 && columns.resizes && rows.resizes && columns.overshoots() &&
           columns.convention == Convention::pillow;
  }
  bool resamples() const { return rows.resizes || columns.resizes || warp.has_value(); }
};

/// Raises what Chain::operator() raises for such a picture.
std::vector<PassPlan> plan(const Chain& chain, const Dims& shape, Dtype dtype);

/// The height and width that a resize makes of a picture of proportions height : width.
std::pair<int64_t, int64_t> fitted(const Resize& stage, double height, double width);

/// The first pixel, (y, x), of what a crop takes of a picture. Raises ValueError for a part that leaves the picture.
std::pair<int64_t, int64_t> corner(const Crop& stage, int64_t height, int64_t width);

/// Raises ValueError and TypeError for stages that no picture could pass.
void check_stages(const std::vector<Stage>& stages);

}  // namespace iruka::image
