// Moments of channels, and how alike two pictures are.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/device.h"
#include "core/picture_levels.h"
#include "image/geometry/plan.h"
#include "image/geometry/run.h"
#include "image/picture_moments.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/picture_statistics.h"
#include "iruka/reduction_kernel.h"
#include "iruka/statistics.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

/// Of two pictures that are compared.
double range_of(const char* function, const Array& a, const Array& b, std::optional<double> range) {
  check_picture_dtype(function, a.dtype());
  if (a.dtype() != b.dtype())
    throw TypeError(std::string(function) + ": pictures of two dtypes, " + name(a.dtype()) + " and " + name(b.dtype()));
  if (a.shape() != b.shape())
    throw ShapeError(std::string(function) + ": pictures of two shapes, " + to_string(a.shape()) + " and " +
                     to_string(b.shape()));
  if (&a.device() != &b.device())
    throw ValueError(std::string(function) + ": pictures on two devices, " + a.device().name() + " and " +
                     b.device().name());
  if (a.size() == 0)
    throw ShapeError(std::string(function) + ": pictures of shape " + to_string(a.shape()) + " have no pixels");
  if (range && !(*range > 0 && std::isfinite(*range)))
    throw ValueError(std::string(function) + ": the range must be positive, not " + std::to_string(*range));
  return range.value_or(color_range(a.dtype()).most);
}

double mean_of(const Array& values) { return reduce(mean, values, {.dtype = Dtype::float64}).item().as_double(); }

const ElementwiseKernel& kernel_of(const std::string& inputs, const std::string& outputs, const std::string& body) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(inputs + "|" + outputs + "|" + body, [&] {
    KernelOptions options;
    options.preamble = "#include \"image/kernels/similarity.h\"\nusing namespace iruka::image;\n";
    options.options = {"--fmad=false"};  // the same bits everywhere
    options.diagnose_early = false;
    return ElementwiseKernel(inputs, outputs, body, "picture_similarity", options);
  });
}

std::vector<double> weights_of(const Ssim& options) {
  if (!options.is_gaussian) {
    if (options.window < 1 || options.window % 2 == 0)
      throw ValueError("ssim: the window must be odd, not " + std::to_string(options.window));
    return std::vector<double>(static_cast<size_t>(options.window), 1.0 / static_cast<double>(options.window));
  }
  if (!(options.sigma > 0 && options.sigma < 1e6))
    throw ValueError("ssim: sigma must be positive, not " + std::to_string(options.sigma));
  const auto radius = static_cast<int64_t>(3.5 * options.sigma + 0.5);
  std::vector<double> weights;
  double all = 0;
  for (int64_t x = -radius; x <= radius; ++x) {
    weights.push_back(std::exp(-0.5 * static_cast<double>(x * x) / (options.sigma * options.sigma)));
    all += weights.back();
  }
  for (double& weight : weights) weight /= all;
  return weights;
}

/// The mean similarity of one channel, (height, width).
double similarity(const Array& a, const Array& b, const Array& weights, double range, double correction) {
  const int64_t taps = weights.size(), height = a.shape(0), width = a.shape(1), rows = height - taps + 1;
  const Array sums = Array::empty({5, rows, width}, Dtype::float64, a.device());
  const int64_t plane = rows * width;
  kernel_of("raw const T a, raw const T b, raw const float64 weights, int32 taps, int64 width, int64 plane",
            "raw float64 sums",
            "double made[kSums];\nsums_down(a, b, weights, taps, width, i, made);\n"
            "for (int k = 0; k < kSums; k++) sums[k * plane + i] = made[k];")
      .fill(std::vector<Argument>{a, b, weights, Scalar(taps), Scalar(width), Scalar(plane), sums}, {.size = plane});
  const Array made = Array::empty({rows, width - taps + 1}, Dtype::float64, a.device());
  const double c1 = 0.01 * range * (0.01 * range), c2 = 0.03 * range * (0.03 * range);
  kernel_of(
      "raw const float64 sums, raw const float64 weights, int32 taps, int64 width, int64 plane, float64 c1, "
      "float64 c2, float64 correction",
      "float64 made", "made = similarity_across(sums, weights, taps, width, plane, c1, c2, correction, i);")
      .fill(std::vector<Argument>{sums, weights, Scalar(taps), Scalar(width), Scalar(plane), Scalar(c1), Scalar(c2),
                                  Scalar(correction), made});
  return mean_of(made);
}

}  // namespace

ChannelMoments channel_moments(const Array& picture, Layout layout) {
  check_picture_dtype("channel_moments", picture.dtype());
  const bool is_batch = picture.ndim() == 4;
  const Array one = is_batch && picture.shape(0) > 0 ? picture.at(0) : picture;
  picture_shape(one.shape(), layout, "channel_moments");
  if (!is_batch && is_integer(one.dtype())) return moments_of_levels(picture, layout);
  if (one.ndim() == 2) return channel_moments(picture.reshape({picture.shape(0), picture.shape(1), 1}), Layout::hwc);
  const int64_t first = (is_batch ? 1 : 0) + (layout == Layout::chw ? 1 : 0);
  const Dims axes{first, first + 1};
  return {reduce(mean, picture, {.axes = axes, .dtype = Dtype::float64}),
          variance(picture, {.axes = axes, .root = true, .dtype = Dtype::float64})};
}

namespace {

/// The sum of the squares of the differences of all values.
double squared_difference(const Array& a, const Array& b) {
  PictureLevels* const levels =
      prefers_kernels() || !is_integer(a.dtype()) ? nullptr : a.device().find_service<PictureLevels>();
  if (levels && a.size() <= UINT32_MAX) {
    const auto has_dense_rows = [](const Array& x) { return x.ndim() > 1 && x.at(0).is_c_contiguous(); };
    const bool has_rows = has_dense_rows(a) && has_dense_rows(b);
    const Array x = has_rows ? a : a.contiguous(), y = has_rows ? b : b.contiguous();
    const int64_t rows = has_rows ? a.shape(0) : 1;
    return static_cast<double>(levels->squared_difference({.a = x.data(),
                                                           .b = y.data(),
                                                           .rows = rows,
                                                           .values = x.size() / rows,
                                                           .a_row = has_rows ? x.strides()[0] : 0,
                                                           .b_row = has_rows ? y.strides()[0] : 0,
                                                           .is_wide = a.dtype() == Dtype::uint16}));
  }
  static constinit ops::PermanentCache<Dtype, ReductionKernel> kernels;
  const ReductionKernel& kernel = kernels.get(a.dtype(), [] {
    return ReductionKernel("T x, T y", "float64 sum", "(double(x) - double(y)) * (double(x) - double(y))", "a + b",
                           "sum = a", "0", "picture_squares");
  });
  return kernel(a, b).item().as_double();
}

}  // namespace

double psnr(const Array& a, const Array& b, std::optional<double> range) {
  const double most = range_of("psnr", a, b, range);
  const double error = squared_difference(a, b) / static_cast<double>(a.size());
  return error == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(most * most / error);
}

double ssim(const Array& a, const Array& b, const Ssim& options, Layout layout) {
  const double range = range_of("ssim", a, b, options.range);
  const PictureShape shape = picture_shape(a.shape(), layout, "ssim");
  const std::vector<double> weights = weights_of(options);
  const int64_t taps = std::ssize(weights);
  if (taps > shape.height || taps > shape.width)
    throw ValueError("ssim: a window of " + std::to_string(taps) + " x " + std::to_string(taps) +
                     " pixels does not fit into a picture of " + std::to_string(shape.height) + " x " +
                     std::to_string(shape.width));
  Array on_host = Array::empty({taps}, Dtype::float64, cpu());
  std::memcpy(on_host.data(), weights.data(), weights.size() * sizeof(double));
  const Array on_device = on_host.to_device(a.device());
  const auto pixels = static_cast<double>(taps * taps);
  const double correction = options.is_sample_covariance ? pixels / (pixels - 1) : 1;
  const auto channel = [&](const Array& picture, int64_t c) {
    return shape.is_flat ? picture : (layout == Layout::chw ? picture : picture.transpose({2, 0, 1})).at(c);
  };
  double all = 0;
  for (int64_t c = 0; c < shape.channels; ++c)
    all += similarity(channel(a, c), channel(b, c), on_device, range, correction);
  return all / static_cast<double>(shape.channels);
}

}  // namespace iruka::image
