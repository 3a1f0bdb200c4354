// A smaller picture, each pixel of which is the mean of a square of pixels.
#pragma once

namespace iruka::image {

/// The element `i` of the result (rows, columns, channels). The last pixels are repeated beyond the picture's ends, as
/// encoders of JPEGs do.
template <int kSide, class Source>
IRUKA_INLINE unsigned char mean_of_block(const Source& picture, ptrdiff_t height, ptrdiff_t width, ptrdiff_t channels,
                                         ptrdiff_t i) {
  const ptrdiff_t columns = (width + kSide - 1) / kSide, pixel = i / channels, channel = i - pixel * channels;
  const ptrdiff_t top = pixel / columns * kSide, left = (pixel - pixel / columns * columns) * kSide;
  int sum = kSide * kSide / 2;
  for (int j = 0; j < kSide; ++j) {
    const ptrdiff_t y = top + j < height ? top + j : height - 1;
    for (int k = 0; k < kSide; ++k) {
      const ptrdiff_t x = left + k < width ? left + k : width - 1;
      sum += picture[(y * width + x) * channels + channel];
    }
  }
  return (unsigned char)(sum / (kSide * kSide));
}

}  // namespace iruka::image
