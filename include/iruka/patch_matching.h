// Nearest-neighbour fields: for each pixel of a picture, the pixel of another one whose surrounding patch is nearest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "iruka/array.h"
#include "iruka/border.h"

namespace iruka::image {

/// `exact` compares each patch with every other one. `patchmatch` finds near ones: of bytes without a window by trees
/// and propagation (He and Sun, "Computing Nearest-Neighbor Fields via Propagation-Assisted KD-Trees", CVPR 2012), of
/// others by random search and propagation (Barnes, Shechtman, Finkelstein and Goldman, "PatchMatch", ACM Transactions
/// on Graphics 28(3), 2009).
enum class PatchMethod : uint8_t { exact, patchmatch };
IRUKA_API PatchMethod parse_patch_method(const std::string& name);

struct PatchOptions {
  /// Side of a patch in pixels. It begins patch / 2 pixels above and to the left of its pixel, which is thus the
  /// centre, or the one behind the centre where the side is even.
  int64_t patch = 3;
  PatchMethod method = PatchMethod::exact;
  int64_t k = 1;  ///< neighbours of each pixel, 1 to 8, nearest first
  Array mask{};   ///< bool (height, width) of b: the pixels that may be neighbours; all without one
  /// The largest distances between a pixel and its neighbour, in rows and columns.
  std::optional<std::pair<int64_t, int64_t>> window{};
  Border border = Border::edge;  ///< what a patch sees outside of its picture; a constant is 0
  uint64_t seed = 0;             ///< of patchmatch: the same field for a seed on every device
  int64_t iterations = 5;        ///< of patchmatch
  /// Called on the calling thread with the pixels of a that are done, and all of them. What it raises ends the call.
  std::function<void(int64_t, int64_t)> progress{};
};

struct NearestPatches {
  Array field;  ///< int32 (height, width[, k], 2): y and x in b; -1 where there are fewer than k neighbours
  /// (height, width[, k]): sums of squared differences over a patch and its channels. int64 for integers and bool;
  /// float64 for float64, else float32. The largest int64, or infinity, where there is no neighbour.
  Array distances;
};

/// The pictures are (height, width) or (height, width, channels), of any size and the same channels; a pixel without
/// channels is at distance 0 from all. Of patches at the same distance the first in scan order of b is nearer.
///
/// Integers are summed exactly. Floats of 16 bits are widened to float32. Squares of differences are added by fused
/// multiplications: over the channels of a pixel, then, rounded after each addition, over the pixels of a row of the
/// patch from left to right, then over its rows from top to bottom, on every device. A patch at a distance that is NaN
/// or infinite is no neighbour.
///
/// Raises ShapeError, TypeError (complex pictures, a mask that is not bool) and ValueError for arguments that do not
/// fit, also for integers whose distances may exceed 2^61.
IRUKA_API NearestPatches nnf(const Array& a, const Array& b, const PatchOptions& options = {});

/// A picture of the field's size rebuilt from b: the patches that `field`, int32 (height, width, 2), names are laid
/// over one another and averaged in float64; integers are rounded to the nearest, halves to even. Has b's dtype. Pixels
/// without neighbours lay nothing, and a place that no patch covers is 0. Raises IndexError for a field that leaves b.
IRUKA_API Array reconstruct(const Array& field, const Array& b, int64_t patch, Border border = Border::edge);

}  // namespace iruka::image
