// The interface of the codecs: a reader and a writer for each format, and the checks that both need.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "iruka/image.h"

namespace iruka::image {

/// `where` is the prefix of every error message: "imdecode", or "imread: 'photo.jpg'".
Array decode_jpeg(std::span<const uint8_t> bytes, const DecodeOptions& options, const std::string& where);
Array decode_png(std::span<const uint8_t> bytes, const DecodeOptions& options, const std::string& where);

/// A picture ready to be written: rows of `width` pixels one after another, channels innermost.
struct Pixels {
  const uint8_t* data;
  int64_t width, height;
  int channels;
  int sample_bytes;  ///< 1, or 2 in the host's byte order
  int64_t row_bytes() const { return width * channels * sample_bytes; }
};
std::vector<uint8_t> encode_jpeg(const Pixels& pixels, int quality, const std::string& where);
std::vector<uint8_t> encode_png(const Pixels& pixels, int compression, const std::string& where);

/// Raises ValueError when a header promises more pixels than `max_pixels`: this happens before memory is allocated.
void check_size(const std::string& where, const char* format, int64_t width, int64_t height, int64_t max_pixels);

/// A CPU array for decoded pixels: (height, width) for one channel, else (height, width, channels).
Array new_picture(int64_t height, int64_t width, int channels, Dtype dtype);

/// The orientation tag of a TIFF-structured EXIF block, 1 to 8; 1 (upright) where there is none or it is damaged.
int exif_orientation(std::span<const uint8_t> tiff);
/// The picture rotated and mirrored upright, as EXIF's `orientation` says.
Array upright(const Array& picture, int orientation);

/// Rec. 601 luma in libjpeg's fixed point (jccolor.c): within one of the exact value.
inline uint8_t luma(int red, int green, int blue) {
  return static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

}  // namespace iruka::image
