// Which inputs an output along one axis of a picture is made of, for resizes and for crops, flips and pads behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/resampling.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {

/// A step behind a resize along one axis.
struct Selection {
  enum class Kind : uint8_t { crop, flip, pad };
  Kind kind = Kind::crop;
  Border border = Border::constant;
  int64_t first = 0, count = 0;  ///< of a crop; margins of a pad before and behind

  bool operator==(const Selection&) const = default;
};

/// Whether the filter has negative weights.
inline bool overshoots(Filter filter) {
  return filter == Filter::cubic || filter == Filter::lanczos3 || filter == Filter::lanczos4;
}

/// All that the contents of an axis map depend on.
struct AxisRecipe {
  int64_t in = 0, out = 0;       ///< of the resize
  double begin = 0, length = 0;  ///< the part of the input that becomes the output
  bool resizes = false;
  Filter filter = Filter::nearest;
  bool antialias = false;
  Convention convention = Convention::pillow;
  bool halves = false;         ///< a step of a pyramid, whatever the filter
  bool area_enlarges = false;  ///< whether some axis of the picture grows, which OpenCV's area treats otherwise
  bool has_integers = false;   ///< whether weights are wanted as integers, too
  std::vector<Selection> selections;

  bool operator==(const AxisRecipe&) const = default;
  /// Whether outputs may be sums of several inputs.
  bool weighs() const { return resizes && (halves || filter != Filter::nearest); }
  bool overshoots() const { return !halves && image::overshoots(filter); }
  static AxisRecipe unchanged(int64_t extent) {
    AxisRecipe made;
    made.in = made.out = extent;
    return made;
  }
  /// The number of outputs behind all selections.
  int64_t extent() const;
};

/// Maps that were made before are kept for later calls.
std::shared_ptr<const AxisMap> axis_map(const AxisRecipe& recipe);

}  // namespace iruka::image
