// The forms that pixels have in files and in arrays, and conversions of rows between them.
#pragma once

#include <cstdint>

#include "iruka/dtype.h"

namespace iruka::image {

/// The samples of a pixel, in their order in memory. Grey, colours and alpha are light; `cmyk` is ink, and `cmyk_light`
/// is the light that the inks transmit, as Adobe's JPEGs store it. `ycbcr` has JFIF's full range.
enum class Color : uint8_t { gray, gray_alpha, rgb, bgr, rgba, ycbcr, cmyk, cmyk_light };

constexpr int channel_count(Color color) {
  switch (color) {
    case Color::gray: return 1;
    case Color::gray_alpha: return 2;
    case Color::rgb:
    case Color::bgr:
    case Color::ycbcr: return 3;
    default: return 4;
  }
}

struct PixelFormat {
  Color color;
  Dtype dtype;  ///< uint8, uint16 or float32

  int channels() const { return channel_count(color); }
  int64_t bytes() const { return channels() * itemsize(dtype); }
  bool operator==(const PixelFormat&) const = default;
};

/// Converts rows of pixels. Alpha is dropped and not blended, and is full where the source has none; grey of colours is
/// Rec. 601 luma in libjpeg's fixed point (jccolor.c), within one of the exact value, and YCbCr is libjpeg's, too; CMYK
/// is converted without a colour profile. Samples are scaled to 8 or 16 bits, rounded to nearest.
class RowConverter {
 public:
  /// From any format to gray, gray_alpha, rgb, bgr, rgba or ycbcr. Other colours, and float32 samples of another dtype,
  /// come with equal formats alone.
  RowConverter(PixelFormat from, PixelFormat to);

  /// Converts `width` pixels. `from` is scratch memory of `scratch_bytes` bytes a pixel, and what it held is lost.
  void operator()(uint8_t* from, uint8_t* to, int64_t width) const;
  int64_t scratch_bytes() const;

 private:
  PixelFormat from_, to_;
  void (*convert_colors_)(const void* from, void* to, int64_t width) = nullptr;  ///< null where colours stay
};

/// `count` packed samples of 1, 2, 4 or 8 bits, the first in the highest bits, as bytes that are multiplied by `scale`.
void unpack_samples(const uint8_t* from, int bits, int scale, uint8_t* to, int64_t count);

/// Undoes the multiplication of colours by alpha, which is each pixel's last sample; for uint8 and uint16.
void divide_by_alpha(uint8_t* row, PixelFormat format, int64_t width);

}  // namespace iruka::image
