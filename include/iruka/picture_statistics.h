// What is counted or averaged over whole pictures: histograms and what follows from them, moments of channels, and how
// alike two pictures are. On every device.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "iruka/array.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {

/// How often each value occurs, as int64 (channels, bins), or (bins,) for a picture of two axes. Without `bins` these
/// are the 256 or 65536 values of uint8 and uint16; else bins of one width from the first to the last number of
/// `range`, as numpy.histogram counts each channel. The range is 0 to 256, 0 to 65536, or 0 to 1 for floats by default.
/// Raises TypeError for other dtypes, ShapeError for other shapes, ValueError for bins < 1, a range that does not rise,
/// and floats without bins.
IRUKA_API Array histogram(const Array& picture, std::optional<int64_t> bins = {},
                          std::optional<std::pair<double, double>> range = {}, Layout layout = Layout::hwc);

/// The mean and the standard deviation (of the population) of each channel, float64 (channels,). A batch of four axes
/// gives (pictures, channels).
struct ChannelMoments {
  Array mean, deviation;
};
IRUKA_API ChannelMoments channel_moments(const Array& picture, Layout layout = Layout::hwc);

/// The same values spread so that each channel's histogram becomes even: cv2.equalizeHist, bit for bit for uint8. Takes
/// uint8 and uint16. Raises TypeError for other dtypes, ShapeError for other shapes.
IRUKA_API Array equalize(const Array& picture, Layout layout = Layout::hwc);
IRUKA_API void equalize_into(const Array& out, const Array& picture, Layout layout = Layout::hwc);

/// Contrast-limited adaptive histogram equalisation (Zuiderveld, "Graphics Gems IV", 1994) as cv2.CLAHE has it, bit for
/// bit: each channel by tables of `rows` x `columns` tiles, between which is linear interpolation.
struct Clahe {
  double clip_limit = 40;  ///< in units of an even histogram; not positive: none
  int64_t rows = 8, columns = 8;
};
IRUKA_API Array clahe(const Array& picture, const Clahe& options = {}, Layout layout = Layout::hwc);
IRUKA_API void clahe_into(const Array& out, const Array& picture, const Clahe& options = {},
                          Layout layout = Layout::hwc);

/// Peak signal-to-noise ratio in decibels, 10 log10(range^2 / mean squared difference) in float64; infinite for equal
/// pictures. `range` is 255, 65535 or 1 by default. Raises ShapeError for two shapes, TypeError for two dtypes.
IRUKA_API double psnr(const Array& a, const Array& b, std::optional<double> range = {});

/// The mean structural similarity of Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error
/// visibility to structural similarity" (2004), in float64, over all windows that lie within the picture, and over
/// channels.
struct Ssim {
  bool is_gaussian = true;  ///< windows: a Gaussian cut at 3.5 standard deviations, or all pixels of a square alike
  double sigma = 1.5;
  int64_t window = 7;                 ///< the odd side of the square
  std::optional<double> range{};      ///< 255, 65535 or 1 by default
  bool is_sample_covariance = false;  ///< divide by n - 1 instead of n
};
/// Raises what psnr() raises, and ValueError for a window that is even or larger than the picture.
IRUKA_API double ssim(const Array& a, const Array& b, const Ssim& options = {}, Layout layout = Layout::hwc);

}  // namespace iruka::image
