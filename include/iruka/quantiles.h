// Medians, quantiles and percentiles.
#pragma once

#include <optional>
#include <string>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka {

/// The position of a quantile among n sorted elements: Hyndman and Fan, "Sample quantiles in statistical packages"
/// (1996), and NumPy's further methods.
enum class QuantileMethod : uint8_t {
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  linear,
  median_unbiased,
  normal_unbiased,
  lower,
  higher,
  midpoint,
  nearest,
};
/// Raises ValueError for a name that is no method.
IRUKA_API QuantileMethod parse_quantile_method(const std::string& name);

struct QuantileOptions {
  std::optional<Dims> axes{};  ///< all of them by default
  QuantileMethod method = QuantileMethod::linear;
  bool keepdims = false;
  const Array* weights = nullptr;  ///< of x's shape, or of the axes'; for inverted_cdf alone
};

/// Values below which shares q of the elements lie: shape q.shape + the kept shape; NaN if an element is NaN. Integers
/// give float64, or their own dtype if the method selects an element; a Python float q keeps x's dtype. Raises
/// ValueError for q outside [0, 1] and for weights that do not fit, TypeError for complex numbers, IndexError if there
/// are no elements, AxisError.
IRUKA_API Array quantile(const Array& x, const Argument& q, const QuantileOptions& options = {});
/// The same with q in percent.
IRUKA_API Array percentile(const Array& x, const Argument& q, const QuantileOptions& options = {});
/// The same of the elements that are not NaN; NaN where there are none.
IRUKA_API Array nanquantile(const Array& x, const Argument& q, const QuantileOptions& options = {});
IRUKA_API Array nanpercentile(const Array& x, const Argument& q, const QuantileOptions& options = {});

/// The middle element, or the mean of the middle two, along axes (all axes if there are none). NaN if an element is NaN
/// or there is none. Integers give float64; complex numbers are in the order of sort(). Raises AxisError.
IRUKA_API Array median(const Array& x, const std::optional<Dims>& axes = {}, bool keepdims = false);
/// The same of the elements that are not NaN; NaN where there are none.
IRUKA_API Array nanmedian(const Array& x, const std::optional<Dims>& axes = {}, bool keepdims = false);

}  // namespace iruka
