#include "image/filters/windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "image/filters/weights.h"
#include "image/geometry/plan.h"
#include "image/numbers.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

using Kind = FilterWindow::Kind;
using Difference = Filtering::Difference;
using Operation = Morphology::Operation;

constexpr int64_t kLargest = 2047;            ///< side of a window
constexpr double kMostBytes = 32767.0 / 255;  ///< the largest sum of weights with which int16 holds sums of bytes
constexpr int64_t kLargestMedian = 255;
constexpr int64_t kMostIterations = 4096;
constexpr int64_t kMostWords = 1 << 15;  ///< uint16 whose sum is below 2^31

void check_size(const std::string& function, int64_t height, int64_t width, bool is_odd = false, int64_t least = 1) {
  const auto is_good = [&](int64_t size) {
    return size >= least && size <= kLargest && (!is_odd || size % 2 || !size);
  };
  if (is_good(height) && is_good(width)) return;
  throw ValueError(function + ": the sides of a window are" + (is_odd ? " odd" : "") + " numbers from 1 to " +
                   std::to_string(kLargest) + ", not (" + std::to_string(height) + ", " + std::to_string(width) + ")");
}
void check_dtype(const std::string& function, Dtype dtype, const std::optional<Dtype>& result = {}) {
  check_picture_dtype(function, dtype);
  if (result && *result != dtype && *result != Dtype::int16 && *result != Dtype::float32)
    throw TypeError(function + ": the dtype of the result is the picture's, " + name(dtype) +
                    ", int16 or float32, not " + name(*result));
}
void check_finite(const std::string& function, const std::vector<double>& weights) {
  for (const double weight : weights) finite_float(function, "weights", weight);
}
void check_positive(const std::string& function, const char* what, double value, bool may_be_zero) {
  if (std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) return;
  throw ValueError(function + ": " + what + " must be finite and " + (may_be_zero ? "not negative" : "positive") +
                   ", not " + number_text(value));
}

/// A window of a size with an anchor.
FilterWindow window_of(const std::string& function, Kind kind, int64_t height, int64_t width,
                       const std::optional<Anchor>& anchor) {
  check_size(function, height, width);
  const Anchor at = anchor.value_or(Anchor{height / 2, width / 2});
  if (at.y < 0 || at.x < 0 || at.y >= height || at.x >= width)
    throw ValueError(function + ": the anchor (" + std::to_string(at.y) + ", " + std::to_string(at.x) +
                     ") is not in a window of (" + std::to_string(height) + ", " + std::to_string(width) + ")");
  FilterWindow made;
  made.kind = kind;
  made.height = static_cast<int32_t>(height);
  made.width = static_cast<int32_t>(width);
  made.anchor_y = static_cast<int32_t>(at.y);
  made.anchor_x = static_cast<int32_t>(at.x);
  return made;
}

std::vector<float> as_floats(const std::vector<double>& values) {
  std::vector<float> made(values.size());
  std::ranges::transform(values, made.begin(), [](double value) { return static_cast<float>(value); });
  return made;
}
/// The same as integers, if all are integers and their absolute sum is at most `most`.
bool as_integers(const std::vector<double>& values, double most, std::vector<int16_t>& made) {
  double sum = 0;
  made.clear();
  for (const double value : values) {
    sum += std::abs(value);
    if (value != std::nearbyint(value) || sum > most) return false;
    made.push_back(static_cast<int16_t>(value));
  }
  return true;
}
double absolute_sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

class Windows {
 public:
  explicit Windows(Dtype dtype) : dtype_(dtype) {}

  void operator()(const Correlation& filter) { correlation("filter2d", filter); }

  void operator()(const Separable& filter) { separable("separable_filter", filter); }

  void operator()(const Gaussian& filter) {
    const char* const function = "gaussian_filter";
    check_dtype(function, dtype_);
    check_positive(function, "sigma", filter.sigma_y, true);
    check_positive(function, "sigma", filter.sigma_x, true);
    check_size(function, filter.height, filter.width, true, 0);
    const int64_t height = size_for(function, filter.height, filter.sigma_y);
    const int64_t width = size_for(function, filter.width, filter.sigma_x);
    if (dtype_ != Dtype::uint8) {
      return separable(function, {.column = gaussian_weights(height, filter.sigma_y),
                                  .row = gaussian_weights(width, filter.sigma_x),
                                  .beyond = filter.beyond});
    }
    FilterWindow window = window_of(function, Kind::fixed, height, width, {});
    window.integer_rows = gaussian_bytes(height, filter.sigma_y);
    window.integer_columns = gaussian_bytes(width, filter.sigma_x);
    add(std::move(window), filter.beyond);
  }

  void operator()(const Box& filter) {
    const char* const function = "box_filter";
    check_dtype(function, dtype_);
    check_size(function, filter.height, filter.width);
    const int64_t area = filter.height * filter.width;
    const bool has_integers = dtype_ == Dtype::uint8 || (dtype_ == Dtype::uint16 && area <= kMostWords);
    if (!has_integers) {
      const auto equal = [](int64_t size) {
        return std::vector<double>(static_cast<size_t>(size), 1.0 / static_cast<double>(size));
      };
      return separable(function, {.column = equal(filter.height),
                                  .row = equal(filter.width),
                                  .anchor = filter.anchor,
                                  .beyond = filter.beyond});
    }
    FilterWindow window = window_of(function, Kind::box, filter.height, filter.width, filter.anchor);
    window.scale = static_cast<float>(1.0 / static_cast<double>(area));
    add(std::move(window), filter.beyond);
  }

  void operator()(const Median& filter) {
    const char* const function = "median_filter";
    check_dtype(function, dtype_);
    if (filter.size < 1 || filter.size > kLargestMedian || filter.size % 2 == 0)
      throw ValueError(std::string(function) + ": size must be an odd number from 1 to " +
                       std::to_string(kLargestMedian) + ", not " + std::to_string(filter.size));
    FilterWindow window = window_of(function, Kind::median, filter.size, filter.size, {});
    window.is_full = true;
    add(std::move(window), filter.beyond);
  }

  void operator()(const Bilateral& filter) {
    const char* const function = "bilateral_filter";
    check_dtype(function, dtype_);
    check_positive(function, "sigma_color", filter.sigma_color, false);
    check_positive(function, "sigma_space", filter.sigma_space, false);
    const int64_t size = filter.size > 0 ? filter.size : bilateral_size(filter.sigma_space);
    check_size(function, filter.size == 0 ? size : filter.size, size);
    const int64_t radius = std::max<int64_t>(size / 2, 1);
    FilterWindow window = window_of(function, Kind::bilateral, 2 * radius + 1, 2 * radius + 1, {});
    const double to_power = -0.5 / std::log(2.0);
    const auto scale_of = [&](const char* what, double sigma) {
      const double scale = to_power / (sigma * sigma);
      if (std::isfinite(static_cast<float>(scale))) return scale;
      throw ValueError(std::string(function) + ": " + what + " " + number_text(sigma) + " is too small for float32");
    };
    window.scale = static_cast<float>(scale_of("sigma_color", filter.sigma_color));
    const double of_space = scale_of("sigma_space", filter.sigma_space);
    for (int64_t y = -radius; y <= radius; ++y) {
      for (int64_t x = -radius; x <= radius; ++x) {
        if (y * y + x * x > radius * radius) continue;
        const double exponent = static_cast<double>(y * y + x * x) * of_space;
        window.taps.push_back(
            {static_cast<int32_t>(y + radius), static_cast<int32_t>(x + radius), static_cast<float>(exponent)});
      }
    }
    add(std::move(window), filter.beyond);
  }

  void operator()(const Derivative& filter) {
    const bool is_laplacian = filter.kind == Derivative::Kind::laplacian;
    const char* const function = is_laplacian                              ? "laplacian"
                                 : filter.kind == Derivative::Kind::scharr ? "scharr"
                                                                           : "sobel";
    check_dtype(function, dtype_, filter.dtype);
    if (filter.size < 1 || filter.size > 31 || filter.size % 2 == 0)
      throw ValueError(std::string(function) + ": size must be an odd number from 1 to 31, not " +
                       std::to_string(filter.size));
    Dtype dtype = dtype_;
    if (dtype == Dtype::uint8) dtype = Dtype::int16;
    if (dtype == Dtype::uint16) dtype = Dtype::float32;
    dtype = filter.dtype.value_or(dtype);
    if (is_laplacian) return laplacian(filter, dtype);
    const int64_t y = filter.order_y, x = filter.order_x;
    const int64_t size = filter.kind == Derivative::Kind::scharr ? 3 : filter.size;
    const int64_t most = filter.kind == Derivative::Kind::scharr ? 1 : std::max<int64_t>(size, 3) - 1;
    if (y < 0 || x < 0 || y + x == 0 || y > most || x > most || (most == 1 && y + x > 1))
      throw ValueError(std::string(function) + ": the orders (" + std::to_string(y) + ", " + std::to_string(x) +
                       ") must be from 0 to " + std::to_string(most) + ", and " +
                       (most == 1 ? "one of them 1" : "not both 0"));
    Separable made{.dtype = dtype, .beyond = filter.beyond};
    if (filter.kind == Derivative::Kind::scharr) {
      const std::vector<double> smooth{3, 10, 3}, slope{-1, 0, 1};
      made.column = y ? slope : smooth;
      made.row = x ? slope : smooth;
    } else {
      made.column = sobel_weights(size == 1 && y ? 3 : size, y);
      made.row = sobel_weights(size == 1 && x ? 3 : size, x);
    }
    separable(function, made);
  }

  void operator()(const Morphology& filter) {
    const char* const function = "morphology";
    check_dtype(function, dtype_);
    check_size(function, filter.height, filter.width);
    const auto area = static_cast<size_t>(filter.height * filter.width);
    if (!filter.element.empty() && filter.element.size() != area)
      throw ShapeError(std::string(function) + ": an element of " + std::to_string(filter.element.size()) +
                       " pixels for (" + std::to_string(filter.height) + ", " + std::to_string(filter.width) + ")");
    if (!filter.element.empty() && std::ranges::all_of(filter.element, [](uint8_t one) { return one == 0; }))
      throw ValueError(std::string(function) + ": the structuring element has no pixels");
    if (filter.iterations < 1 || filter.iterations > kMostIterations)
      throw ValueError(std::string(function) + ": iterations must be 1 to " + std::to_string(kMostIterations) +
                       ", not " + std::to_string(filter.iterations));
    switch (filter.operation) {
      case Operation::erode: return extremes(filter, Kind::least);
      case Operation::dilate: return extremes(filter, Kind::greatest);
      case Operation::open:
      case Operation::top_hat:
        extremes(filter, Kind::least);
        extremes(filter, Kind::greatest);
        if (filter.operation == Operation::top_hat) stages_.back().difference = Difference::other_minus;
        return;
      case Operation::close:
      case Operation::black_hat:
        extremes(filter, Kind::greatest);
        extremes(filter, Kind::least);
        if (filter.operation == Operation::black_hat) stages_.back().difference = Difference::minus_other;
        return;
      case Operation::gradient: return gradient(filter);
    }
  }

  std::vector<FilterStage> finish() { return std::move(stages_); }

 private:
  int64_t size_for(const char* function, int64_t size, double sigma) const {
    if (size > 0) return size;
    if (sigma == 0) throw ValueError(std::string(function) + ": a size or a sigma must be given");
    const double made = std::nearbyint(sigma * (dtype_ == Dtype::uint8 ? 3 : 4) * 2 + 1);
    if (made > static_cast<double>(kLargest))
      throw ValueError(std::string(function) + ": sigma " + number_text(sigma) + " needs a window of more than " +
                       std::to_string(kLargest) + " pixels");
    return static_cast<int64_t>(made) | 1;
  }
  static int64_t bilateral_size(double sigma) {
    return sigma > static_cast<double>(kLargest) ? kLargest + 1
                                                 : 2 * static_cast<int64_t>(std::nearbyint(sigma * 1.5)) + 1;
  }

  void add(FilterWindow window, const Beyond& beyond, std::optional<Dtype> dtype = {}) {
    FilterStage stage{.window = std::make_shared<const FilterWindow>(std::move(window)),
                      .dtype = dtype.value_or(dtype_),
                      .border = beyond.border};
    stage.outside.clear();
    for (const double value : beyond.value) {
      if (std::isnan(value)) throw ValueError("a filter: value must not be NaN");
      stage.outside.push_back(element_of("a filter", "value", value, dtype_));
    }
    if (stage.outside.empty()) throw ValueError("a filter: value must have a number");
    stages_.push_back(std::move(stage));
  }

  void correlation(const char* function, const Correlation& filter) {
    check_dtype(function, dtype_, filter.dtype);
    FilterWindow window = window_of(function, Kind::sum, filter.height, filter.width, filter.anchor);
    if (static_cast<int64_t>(filter.weights.size()) != filter.height * filter.width)
      throw ShapeError(std::string(function) + ": " + std::to_string(filter.weights.size()) +
                       " weights for a window of (" + std::to_string(filter.height) + ", " +
                       std::to_string(filter.width) + ")");
    check_finite(function, filter.weights);
    for (size_t k = 0; k < filter.weights.size(); ++k) {
      const auto weight = static_cast<float>(filter.weights[k]);
      if (weight != 0)
        window.taps.push_back({static_cast<int32_t>(k / static_cast<size_t>(filter.width)),
                               static_cast<int32_t>(k % static_cast<size_t>(filter.width)), weight});
    }
    std::vector<int16_t> integers;
    if (dtype_ == Dtype::uint8 && as_integers(filter.weights, kMostBytes, integers)) window.kind = Kind::integer_sum;
    if (window.taps.empty()) window.taps.push_back({window.anchor_y, window.anchor_x, 0});
    add(std::move(window), filter.beyond, filter.dtype);
  }

  void separable(const char* function, const Separable& filter) {
    check_dtype(function, dtype_, filter.dtype);
    FilterWindow window =
        window_of(function, Kind::separable, std::ssize(filter.column), std::ssize(filter.row), filter.anchor);
    check_finite(function, filter.column);
    check_finite(function, filter.row);
    const double most = kMostBytes, rows = absolute_sum(filter.column);
    const bool has_integers = dtype_ == Dtype::uint8 && as_integers(filter.column, most, window.integer_rows) &&
                              as_integers(filter.row, most / std::max(rows, 1.0), window.integer_columns);
    if (has_integers) {
      window.kind = Kind::integers;
    } else {
      window.rows = as_floats(filter.column);
      window.columns = as_floats(filter.row);
    }
    add(std::move(window), filter.beyond, filter.dtype);
  }

  void laplacian(const Derivative& filter, Dtype dtype) {
    Correlation made{.height = std::max<int64_t>(filter.size, 3), .dtype = dtype, .beyond = filter.beyond};
    made.width = made.height;
    const std::vector<double> second = sobel_weights(made.height, 2);
    std::vector<double> smooth = sobel_weights(made.height, 0);
    if (filter.size == 1) smooth = {0, 1, 0};
    for (size_t y = 0; y < second.size(); ++y) {
      for (size_t x = 0; x < second.size(); ++x) made.weights.push_back(second[y] * smooth[x] + smooth[y] * second[x]);
    }
    correlation("laplacian", made);
  }

  /// As often as `iterations` says: by one larger window where that is the same.
  void extremes(const Morphology& filter, Kind kind) {
    FilterWindow window = window_of("morphology", kind, filter.height, filter.width, filter.anchor);
    window.is_full = std::ranges::all_of(filter.element, [](uint8_t one) { return one != 0; });
    const bool is_least = kind == Kind::least;
    const double most = dtype_ == Dtype::uint8    ? 255
                        : dtype_ == Dtype::uint16 ? 65535
                                                  : std::numeric_limits<double>::infinity();
    const double neutral = is_least ? most : dtype_ == Dtype::uint8 || dtype_ == Dtype::uint16 ? 0 : -most;
    const Beyond beyond = filter.beyond.value_or(Beyond{.border = Border::constant, .value = {neutral}});
    const auto grown = [&](int64_t size) { return (size - 1) * filter.iterations + 1; };
    int64_t times = filter.iterations;
    if (window.is_full && !filter.beyond && filter.iterations <= kLargest && grown(filter.height) <= kLargest &&
        grown(filter.width) <= kLargest) {
      const auto scale = static_cast<int32_t>(std::exchange(times, 1));
      window.height = (window.height - 1) * scale + 1;
      window.width = (window.width - 1) * scale + 1;
      window.anchor_y *= scale;
      window.anchor_x *= scale;
    }
    for (size_t k = 0; !window.is_full && k < filter.element.size(); ++k) {
      if (filter.element[k])
        window.taps.push_back({static_cast<int32_t>(k) / window.width, static_cast<int32_t>(k) % window.width, 0});
    }
    for (int64_t k = 0; k < times; ++k) add(window, beyond);
  }

  /// The greatest values minus the least values.
  void gradient(const Morphology& filter) {
    extremes(filter, Kind::greatest);
    const size_t dilated = stages_.size();
    extremes(filter, Kind::least);
    stages_[dilated].reads_picture = true;
    stages_.back().difference = Difference::other_minus;
    stages_.back().differs_from_picture = false;
  }

  const Dtype dtype_;
  std::vector<FilterStage> stages_;
};

}  // namespace

std::vector<FilterStage> filter_stages(const PictureFilter& filter, Dtype dtype) {
  Windows windows(dtype);
  std::visit(windows, filter);
  return windows.finish();
}

Dtype filtered_dtype(const PictureFilter& filter, Dtype dtype) { return filter_stages(filter, dtype).back().dtype; }

}  // namespace iruka::image
