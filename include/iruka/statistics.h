// Scans, reductions with options, and variance.
#pragma once

#include <optional>
#include <span>

#include "iruka/array.h"
#include "iruka/ops.h"

namespace iruka {

/// The operation of a scan.
enum class ScanOperation : uint8_t { add, multiply, minimum, maximum };

/// The options of a scan.
struct ScanOptions {
  /// The result's dtype; by default NumPy's: 64 bits for smaller integers in sums and products.
  std::optional<Dtype> dtype{};
  bool skips_nan = false;         ///< NaN counts as the operation's identity
  bool includes_initial = false;  ///< the result begins with the identity and is one element longer
};

/// Combines every prefix along `axis`: cumsum, cumprod, minimum.accumulate, maximum.accumulate. float32 is accumulated
/// in float64. The order of additions depends only on shape and layout, so results do not change from run to run. CUDA:
/// one pass, after Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016). Raises
/// AxisError; ValueError for the initial value of minimum and maximum, which have none.
IRUKA_API Array scan(const Array& x, ScanOperation operation, int64_t axis, const ScanOptions& options = {});

/// The options of a reduction.
struct ReductionOptions {
  std::optional<Dims> axes{};  ///< all of them by default
  bool keepdims = false;
  std::optional<Dtype> dtype{};
  std::optional<Scalar> initial{};  ///< combined with each result
  const Array* where = nullptr;     ///< bool, broadcast against x: the elements that count
};

/// A reduction with NumPy's `initial` and `where`. Raises ValueError where min, max, argmin... need an initial value.
IRUKA_API Array reduce(const ReductionFunction& function, const Array& x, const ReductionOptions& options);

/// The options of variance().
struct VarianceOptions {
  std::optional<Dims> axes{};  ///< all of them by default
  bool keepdims = false;
  double correction = 0;           ///< subtracted from the number of elements
  bool root = false;               ///< the square root of the variance: the standard deviation
  std::optional<Dtype> dtype{};    ///< of the sums for the mean and for the squared distances
  std::optional<Argument> mean{};  ///< where it is known; an array has x's axes
  const Array* where = nullptr;    ///< bool, broadcast against x: the elements that count
};

/// Mean of squared distances from the mean: sum |x - mean|^2 / (n - correction), in one pass over memory (pairs of
/// mean and sum of squares joined as in Chan, Golub and LeVeque, 1979) where neither mean, dtype nor `where` is given.
/// Infinite or NaN where n - correction is not positive. Integers give float64, complex numbers a real result. Raises
/// AxisError.
IRUKA_API Array variance(const Array& x, const VarianceOptions& options = {});
/// The same of the elements that are not NaN. Raises TypeError for a dtype of integers where x has floats.
IRUKA_API Array nanvariance(const Array& x, const VarianceOptions& options = {});

/// The mean of the elements that are not NaN; NaN where there are none. `initial` is not taken. Raises TypeError for a
/// dtype of integers where x has floats.
IRUKA_API Array nanmean(const Array& x, const ReductionOptions& options = {});
/// The index of the first smallest or largest element that is not NaN. Raises ValueError where all are NaN.
IRUKA_API Array nanargmin(const Array& x, std::optional<int64_t> axis = {}, bool keepdims = false);
IRUKA_API Array nanargmax(const Array& x, std::optional<int64_t> axis = {}, bool keepdims = false);
/// Largest minus smallest element. Raises ValueError for an empty axis.
IRUKA_API Array ptp(const Array& x, const std::optional<Dims>& axes = {}, bool keepdims = false);

/// Weights that add up to zero (Python: ZeroDivisionError).
class IRUKA_API ZeroWeightsError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// A weighted mean, and the sums of weights that it was divided by, which broadcast against it.
struct WeightedMean {
  Array mean, weights;
};
/// The mean weighed by `weights`, of x's shape or of the axes'. Raises TypeError for weights of another shape without
/// axes, ValueError where they do not fit, ZeroWeightsError.
IRUKA_API WeightedMean average(const Array& x, const Array& weights, const std::optional<Dims>& axes = {},
                               bool keepdims = false);

/// The options of cov().
struct CovarianceOptions {
  const Array* y = nullptr;         ///< further variables
  bool rowvar = true;               ///< each row is a variable; else each column
  int64_t correction = 1;           ///< subtracted from the number of observations
  const Array* fweights = nullptr;  ///< whole numbers: how often each observation counts
  const Array* aweights = nullptr;  ///< the weight of each observation
  std::optional<Dtype> dtype{};     ///< of the result; float64 or wider by default
};
/// The covariance matrix of variables, 0-d for one. Raises ValueError for more than two axes and negative weights,
/// TypeError for fweights that are no whole numbers, ShapeError for weights that are not as many as observations.
IRUKA_API Array cov(const Array& x, const CovarianceOptions& options = {});
/// Pearson's correlation coefficients of variables, within [-1, 1].
IRUKA_API Array corrcoef(const Array& x, const CovarianceOptions& options = {});

}  // namespace iruka
