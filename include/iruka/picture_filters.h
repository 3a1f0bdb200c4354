// Filters of pictures: windows that move over a picture. The answers are equal on every device, bit for bit, as long as
// no value is NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "iruka/array.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {

/// What lies beyond the ends of a picture. `value` is of constants: one number, or one for each channel.
struct Beyond {
  Border border = Border::reflect;
  std::vector<double> value{0};
};

/// The place of a window: its pixel `y`, `x` lies on the pixel of the result. Absent: the middle, of an even number of
/// pixels the one behind it.
struct Anchor {
  int64_t y = 0, x = 0;
};

/// Sums of the pixels in a window times its weights, which are not mirrored (a correlation, as OpenCV's filter2D), in
/// float32 with one rounding. Zeros cost nothing.
struct Correlation {
  int64_t height = 0, width = 0;
  std::vector<double> weights{};  ///< (height, width)
  std::optional<Anchor> anchor{};
  std::optional<Dtype> dtype{};  ///< of the result: the picture's, int16 or float32; absent: the picture's
  Beyond beyond{};
};

/// The same for weights that are the products of a column and a row. Where these are integers, and all sums of a uint8
/// picture lie within int16, sums are exact; else they are summed in float32 along columns, then along rows.
struct Separable {
  std::vector<double> column{}, row{};
  std::optional<Anchor> anchor{};
  std::optional<Dtype> dtype{};
  Beyond beyond{};
};

/// Weights exp(-d^2 / (2 sigma^2)), whose sum is 1. uint8 pictures have OpenCV's weights of 8 bits and exact sums, so
/// that the result is that of its GaussianBlur; others are summed in float32.
struct Gaussian {
  double sigma_y = 1, sigma_x = 1;  ///< 0: 0.3 ((size - 1) / 2 - 1) + 0.8
  /// Odd numbers; 0: round(6 sigma + 1), or round(8 sigma + 1) for other pictures than uint8, made odd by adding 1.
  int64_t height = 0, width = 0;
  Beyond beyond{};
};

/// The mean of a window. Integers are summed exactly.
struct Box {
  int64_t height = 3, width = 3;
  std::optional<Anchor> anchor{};
  Beyond beyond{};
};

/// The median of a square window of odd size, 1 to 255.
struct Median {
  int64_t size = 3;
  Beyond beyond{.border = Border::edge};
};

/// Means by weights exp(-distance^2 / (2 sigma_space^2) - difference^2 / (2 sigma_color^2)) of pixels up to size / 2
/// away (Tomasi and Manduchi, "Bilateral filtering for gray and color images", 1998). The difference of two pixels is
/// the sum of those of their channels, as in OpenCV's bilateralFilter.
struct Bilateral {
  int64_t size = 5;  ///< 0: from sigma_space: 2 round(1.5 sigma) + 1
  double sigma_color = 1, sigma_space = 1;
  Beyond beyond{};
};

/// The weights of a derivative by name; results of uint8 are int16, and float32 those of uint16, unless `dtype` says
/// otherwise.
struct Derivative {
  enum class Kind : uint8_t { sobel, scharr, laplacian };
  Kind kind = Kind::sobel;
  int64_t order_y = 0, order_x = 1;  ///< of `sobel` and `scharr`
  int64_t size = 3;                  ///< odd, 1 to 31; 1 is 3 x 1 without smoothing
  std::optional<Dtype> dtype{};
  Beyond beyond{};
};

/// Least values (erode) and greatest values (dilate) of the pixels of a structuring element, which is not mirrored, as
/// in OpenCV; and what is made of them.
struct Morphology {
  enum class Operation : uint8_t { erode, dilate, open, close, gradient, top_hat, black_hat };
  Operation operation = Operation::erode;
  int64_t height = 3, width = 3;
  std::vector<uint8_t> element{};  ///< (height, width): which pixels belong to it; empty: all
  std::optional<Anchor> anchor{};
  int64_t iterations = 1;          ///< of each erosion and dilation
  std::optional<Beyond> beyond{};  ///< absent: what lies beyond the picture changes nothing
};

using PictureFilter = std::variant<Correlation, Separable, Gaussian, Box, Median, Bilateral, Derivative, Morphology>;

/// The dtype of the result for a picture. Raises ValueError and TypeError for a filter that has none.
IRUKA_API Dtype filtered_dtype(const PictureFilter& filter, Dtype dtype);

/// The filtered picture: (height, width, channels), (channels, height, width) or (height, width) of uint8, uint16,
/// float16 or float32, on any device. Integers are rounded, ties to even, and saturate. Raises TypeError for other
/// dtypes, ShapeError for other shapes, ValueError for a filter that is none.
IRUKA_API Array filtered(const Array& picture, const PictureFilter& filter, Layout layout = Layout::hwc);
/// The same for pictures of any sizes, on all threads. `outs` is empty or has arrays to fill, of which invalid ones are
/// made.
IRUKA_API std::vector<Array> filtered(std::span<const Array> pictures, const PictureFilter& filter, Layout layout,
                                      std::span<const Array> outs = {});

/// Which pixels a structuring element has, as OpenCV's getStructuringElement.
enum class ElementShape : uint8_t { rectangle, cross, ellipse };
IRUKA_API std::vector<uint8_t> structuring_element(ElementShape shape, int64_t height, int64_t width);

/// The blocks of an array of any axes and dtype, of which reductions over the last axes are block reductions: shape
/// (blocks along each axis..., extents of a block...). Axes that are no multiple of their blocks are padded by `value`
/// at their ends; else the result is a view where the array's strides allow it. Raises ValueError unless `block` has a
/// positive extent for each axis.
IRUKA_API Array block_view(const Array& array, const Dims& block, const Scalar& value = 0);

}  // namespace iruka::image
