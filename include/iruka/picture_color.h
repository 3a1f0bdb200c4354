// Colours of pictures: stages of a Chain (iruka/picture_geometry.h) that see one pixel at a time. The answers are equal
// on every device, bit for bit: no multiplication is fused with an addition.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "iruka/array.h"

namespace iruka::image {

/// Values for uint8, uint16 and floats (float16, float32):
/// rgb, bgr, rgba, gray: 0 to 255, 0 to 65535, 0 to 1.
/// hsv: hue 0 to 179 (half degrees, as OpenCV), 0 to 65535 (a turn is 65536), 0 to 360 degrees; saturation and value as
///   colours.
/// lab: CIE L*a*b* of sRGB under D65. L* 0 to 100 as 0 to 255, 0 to 65535, 0 to 100; a* and b* + 128, (a* + 128) * 257,
///   as they are.
/// ycbcr: JPEG's, of full range; Cb and Cr of grey are 128, 32768, 0.5.
enum class ColorSpace : uint8_t { rgb, bgr, rgba, gray, hsv, lab, ycbcr };

/// By way of rgb, in the picture's dtype. uint8 is computed by libjpeg's integers to gray and ycbcr, by OpenCV's to
/// hsv, everything else in float32. Integers are rounded, ties to even, and saturate; floats are not cut off. A gray
/// result has two axes. Alpha is dropped, and is opaque where there was none. `from` must have the picture's channels.
struct ConvertColor {
  ColorSpace from = ColorSpace::rgb, to = ColorSpace::gray;
};

/// x * factor.
struct Brightness {
  double factor = 1;
};
/// center + (x - center) * factor. The centre is half of white by default: 127.5, 32767.5, 0.5.
struct Contrast {
  double factor = 1;
  std::optional<double> center{};
};
/// gray + (x - gray) * factor of RGB, gray = 0.299 R + 0.587 G + 0.114 B.
struct Saturation {
  double factor = 1;
};
/// Turns the colours of RGB about grey in the plane of I and Q of NTSC's YIQ, red towards yellow.
struct Hue {
  double degrees = 0;
};
/// white * gain * (x / white)^gamma.
struct Gamma {
  double gamma = 1, gain = 1;
};
/// offset + the sum of matrix[output, input] * x[input] over the channels.
struct ColorMatrix {
  std::vector<double> matrix{1};  ///< (outputs, inputs)
  int64_t outputs = 1;
  std::vector<double> offset{0};  ///< one number, or one for each output
};
/// table[x], or table[channel, x]: 256 numbers for uint8, 65536 for uint16. The result has the table's dtype.
struct Lookup {
  Array table;
};

}  // namespace iruka::image
