// Pictures in and out: JPEG and PNG. A picture is an array (height, width, channels) or (height, width), uint8 or uint16.
#pragma once

#include <span>
#include <string>

#include "iruka/array.h"

namespace iruka::image {

/// How many channels a decoded picture has. `unchanged` keeps what the file holds (grey, grey + alpha, RGB, RGBA).
enum class ColorMode : uint8_t { rgb, gray, rgba, unchanged };

/// Raises FileError for a file that cannot be read, ValueError for bytes that are no JPEG or PNG, are damaged, or
/// would decode to more than `max_pixels` pixels.
struct DecodeOptions {
  ColorMode mode = ColorMode::rgb;
  int64_t max_pixels = int64_t{1} << 28;
};
IRUKA_API Array imdecode(std::span<const uint8_t> bytes, const DecodeOptions& options = {});
IRUKA_API Array imread(const std::string& path, const DecodeOptions& options = {});

struct EncodeOptions {
  int quality = 95;     ///< JPEG, 1..100
  int compression = 6;  ///< PNG, 0..9
};
/// `format` is "png" or "jpeg" ("jpg"); the array is uint8 (PNG: also uint16), 2-d or 3-d with 1 to 4 channels.
IRUKA_API std::vector<uint8_t> imencode(const std::string& format, const Array& picture, const EncodeOptions& options = {});
/// The format follows the extension. Written to a temporary name and renamed, so that no half picture is left.
IRUKA_API void imwrite(const std::string& path, const Array& picture, const EncodeOptions& options = {});

}  // namespace iruka::image
