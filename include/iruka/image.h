// Reading and writing JPEG and PNG. A picture is an array (height, width, channels) or (height, width), uint8 or
// uint16.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iruka/array.h"

namespace iruka::image {

/// How many channels a decoded picture has. `unchanged` keeps what the file holds (grey, grey + alpha, RGB, RGBA).
enum class ColorMode : uint8_t { rgb, gray, rgba, unchanged };

struct DecodeOptions {
  ColorMode mode = ColorMode::rgb;
  int64_t max_pixels = int64_t{1} << 28;
  bool apply_orientation = true;  ///< turn the picture upright by its EXIF tag, as OpenCV does
};
/// A new CPU array, uint8 (a 16-bit PNG under `unchanged`: uint16). Grey has shape (height, width). Alpha is dropped,
/// not blended, under `rgb` and `gray`; grey from colour is Rec. 601 luma. Raises ValueError for bytes that are no JPEG
/// or PNG, are damaged or cut short, or would decode to more than `max_pixels` pixels.
IRUKA_API Array imdecode(std::span<const uint8_t> bytes, const DecodeOptions& options = {});
/// The same from a file. Raises FileError for one that cannot be read.
IRUKA_API Array imread(const std::string& path, const DecodeOptions& options = {});

struct EncodeOptions {
  int quality = 95;     ///< JPEG, 1..100
  int compression = 6;  ///< PNG, 0..9
};
/// `format` is "png" or "jpeg" ("jpg"); the array is uint8 (PNG: also uint16), 2-d or 3-d with 1 to 4 channels (grey,
/// grey + alpha, RGB, RGBA; a JPEG has no alpha). Raises ValueError, ShapeError or TypeError for anything else.
IRUKA_API std::vector<uint8_t> imencode(const std::string& format, const Array& picture,
                                        const EncodeOptions& options = {});
/// The format follows the extension (.png, .jpg, .jpeg). Written to a temporary name and renamed, so that no half
/// picture is left. Raises FileError with the system's reason.
IRUKA_API void imwrite(const std::string& path, const Array& picture, const EncodeOptions& options = {});

}  // namespace iruka::image
