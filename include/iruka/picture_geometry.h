// Geometry of pictures: resize, crop, pad, flip, transpose, warp, and chains of these with normalisation, casts and
// changes of layout, which are one pass over the output. The answers are equal on every device, bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "iruka/array.h"
#include "iruka/border.h"
#include "iruka/picture_color.h"

namespace iruka::image {

/// Where the channels of a picture are: (height, width, channels) or (channels, height, width). A picture of two axes
/// has one channel.
enum class Layout : uint8_t { hwc, chw };

/// `triangular` is `linear` with antialiasing. `lanczos4` is OpenCV's, of eight taps.
enum class Filter : uint8_t { nearest, linear, triangular, area, cubic, lanczos3, lanczos4, gaussian };

/// Whose details a resize follows where libraries differ.
/// pillow: windows are cut at the ends of the picture; cubic has a = -0.5; nearest takes floor((x + 0.5) scale); area
/// gives
///   every pixel in the window the same weight; antialiasing by default.
/// opencv: the pixels at the ends are repeated; cubic has a = -0.75; nearest takes floor(x scale); area weighs pixels
/// by
///   their overlap with the window, and enlarges as INTER_AREA does; no antialiasing by default.
enum class Convention : uint8_t { pillow, opencv };

/// stretch: the given size; not_larger and not_smaller: the largest size of the picture's proportions that lies within,
/// or the smallest that covers, the given one.
enum class Fit : uint8_t { stretch, not_larger, not_smaller };

/// A rectangle in pixels, not necessarily whole ones.
struct Rectangle {
  double y = 0, x = 0, height = 0, width = 0;
};

struct Resize {
  int64_t height = 0, width = 0;
  Filter filter = Filter::linear;
  Fit fit = Fit::stretch;
  std::optional<bool> antialias{};  ///< widen the filter where the picture shrinks; absent: as the convention does
  Convention convention = Convention::pillow;
  std::optional<Rectangle> roi{};  ///< the part that becomes the result; windows also see pixels around it
};

/// A rectangle of pixels. An absent corner puts it in the centre, rounded down.
struct Crop {
  int64_t height = 0, width = 0;
  std::optional<int64_t> y{}, x{};
};

struct Pad {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  Border border = Border::constant;
  std::vector<double> value{0};  ///< of constants: one number, or one for each channel
};

struct Flip {
  bool horizontal = true, vertical = false;
};

/// Rows become columns.
struct Transpose {};

/// (x - mean) * (1 / deviation) in float32, with one rounding each: one number, or one for each channel.
struct Normalize {
  std::vector<double> mean{0}, deviation{1};
};

/// Integers are rounded, ties to even, and saturate; NaN becomes 0.
struct Cast {
  Dtype dtype = Dtype::float32;
};

/// The order of the axes of the result.
struct ToLayout {
  Layout layout = Layout::chw;
};

/// Half the size, rounded up, of the picture smoothed by (1, 4, 6, 4, 1) / 16 along both axes: OpenCV's pyrDown.
struct PyramidDown {};

/// The value at an output (y, x) is that of the picture at the place to which `matrix` takes (x, y, 1): rows give x and
/// y and, for a perspective, the number by which these are divided. Places between pixels are interpolated; `filter` is
/// nearest, linear or cubic.
struct Warp {
  int64_t height = 0, width = 0;  ///< both 0: the picture's
  std::array<double, 9> matrix{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Filter filter = Filter::linear;
  Border border = Border::constant;
  std::vector<double> value{0};
};

/// Turns the picture about its centre, counter-clockwise. Multiples of 90 degrees move pixels without interpolation
/// where the size allows it.
struct Rotate {
  double degrees = 0;
  bool expands = false;  ///< the result is as large as the turned picture; else it has the picture's size
  Filter filter = Filter::linear;
  Border border = Border::constant;
  std::vector<double> value{0};
};

using Stage = std::variant<Resize, Crop, Pad, Flip, Transpose, PyramidDown, Normalize, Cast, ToLayout, Warp, Rotate,
                           ConvertColor, Brightness, Contrast, Saturation, Hue, Gamma, ColorMatrix, Lookup>;

/// Stages that are applied one after the other. Crops, pads, flips, colours, normalisation, casts and changes of layout
/// join the resize or warp before them, and a crop or a cast to float32 joins the resize behind it, in one pass without
/// pictures in between; the bits are those of separate calls.
class IRUKA_API Chain {
 public:
  /// Raises ValueError and TypeError for stages that no picture could pass.
  explicit Chain(std::vector<Stage> stages, Layout layout = Layout::hwc);

  const std::vector<Stage>& stages() const { return stages_; }
  /// Of the pictures that it takes.
  Layout layout() const { return layout_; }

  /// The shape and dtype of the result for a picture. Raises what a call would raise.
  std::pair<Dims, Dtype> result(const Dims& shape, Dtype dtype) const;
  /// How many passes over memory it is for such a picture.
  int64_t passes(const Dims& shape, Dtype dtype) const;

  /// A picture is uint8, uint16, float16 or float32, on any device. Raises TypeError for other dtypes, ShapeError for
  /// other shapes, ValueError for a crop outside of the picture.
  Array operator()(const Array& picture) const;
  /// Fills `out`, which has the result's shape and dtype and any strides, and does not overlap the picture.
  void into(const Array& out, const Array& picture) const;

 private:
  std::vector<Stage> stages_;
  Layout layout_;
};

/// Each chain is applied to the picture of the same number; one chain, to all of them. All run on all threads. `outs`
/// is empty or has arrays to fill, of which invalid ones are made.
IRUKA_API std::vector<Array> apply_chains(std::span<const Chain> chains, std::span<const Array> pictures,
                                          std::span<const Array> outs = {});

/// The same as chains of one stage.
IRUKA_API Array resize(const Array& picture, const Resize& options, Layout layout = Layout::hwc);
IRUKA_API Array warp(const Array& picture, const Warp& options, Layout layout = Layout::hwc);

/// The value at (y, x) is that of the picture at (map_y[y, x], map_x[y, x]), two float32 arrays of the result's height
/// and width on the picture's device.
struct Remap {
  Filter filter = Filter::linear;
  Border border = Border::constant;
  std::vector<double> value{0};
};
IRUKA_API Array remap(const Array& picture, const Array& map_y, const Array& map_x, const Remap& options = {},
                      Layout layout = Layout::hwc);

}  // namespace iruka::image
