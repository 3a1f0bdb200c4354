// Random numbers from Philox 4x32-10 (Salmon et al., SC 2011): the same seed gives the same numbers on every device
// and for any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "iruka/array.h"
#include "iruka/kernel.h"

namespace iruka::random {

/// The state of a generator: its key, and how many arrays it has drawn. Element k of an array is a pure function of
/// both and of k.
struct State {
  uint64_t key = 0, drawn = 0;  ///< drawn counts modulo 2^48
};

/// The options of a draw.
struct DrawOptions {
  std::optional<Dims> size{};    ///< the parameters' common shape without it
  std::optional<Dtype> dtype{};  ///< float64, or int64 for integers, without it
  std::optional<Array> out{};    ///< filled and returned; any strides
};

/// A stream of random arrays. Calls are thread-safe: each takes a number of its own.
class IRUKA_API Generator {
 public:
  Generator();  ///< from the system's entropy
  explicit Generator(State state) : state_(state) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;
  State state() const;
  void set_state(State state);

  /// The distribution of NumPy's function of this name ("normal", "gamma"...; "standard_normal" is a normal with 0, 1).
  /// Parameters are scalars or arrays that broadcast. Raises ValueError for one outside its domain, ShapeError where
  /// they do not broadcast to the size, TypeError for a dtype that the distribution does not have.
  Array draw(const char* distribution, std::span<const Argument> parameters, const DrawOptions& options = {});
  /// Integers in [low, high), or [low, high] with `endpoint`, without modulo bias; the bounds may be arrays of
  /// integers. Raises ValueError when a range is empty or the dtype cannot hold it.
  Array integers(const Argument& low, const Argument& high, const DrawOptions& options = {}, bool endpoint = false);

  /// The first `count` entries of a random order of 0, 1, ..., n-1, as int64. Exactly uniform up to 1024 entries
  /// (Fisher and Yates, Durstenfeld 1964); above, a bijection of 24 keyed rounds (Mitchell, Stokes, Frank and Holmes,
  /// "Bandwidth-optimal random shuffling for GPUs", 2022), of which at most 2^64 differ for one key and any draw.
  Array permutation(int64_t n, std::optional<int64_t> count = {});
  /// A copy with each row of a matrix in a random order of its own.
  Array permuted_rows(const Array& matrix);

  /// Counts of `trials` over categories: trials (any shape, int64) broadcast with the leading axes of `probabilities`.
  Array multinomial(const Array& trials, const Array& probabilities, const std::optional<Dims>& size);
  /// Counts of `taken` items of an urn with colors[k] items of kind k. Raises ValueError beyond the urn or 10^9.
  Array multivariate_hypergeometric(const Array& colors, int64_t taken, const Dims& size);
  /// Normal vectors mean + z R of shape size + (n,), float64, for independent standard normals z: their covariance is
  /// R'R, see covariance_rows(). mean: (n,); R: (n, n). Raises ShapeError.
  Array multivariate_normal(const Array& mean, const Array& rows, const Dims& size = {});

 private:
  State next();
  State state_;
};

/// The process-wide generator behind the functions below. It starts from system entropy.
IRUKA_API Generator& default_generator();

/// Restarts the process-wide stream.
IRUKA_API void seed(uint64_t value);
/// Uniform in [0, 1), float64 or float32.
IRUKA_API Array random(const Dims& shape, Dtype dtype = Dtype::float64);
/// Integers in [low, high) without modulo bias. Raises ValueError when low >= high or the dtype cannot hold them.
/// With `endpoint`, `high` itself may come too: the only way to a 64-bit dtype's largest value.
IRUKA_API Array randint(const Scalar& low, const Scalar& high, const Dims& shape, Dtype dtype = Dtype::int64,
                        bool endpoint = false);
/// Normal deviates by Box and Muller's transform, float64 or float32.
IRUKA_API Array normal(double mean, double deviation, const Dims& shape, Dtype dtype = Dtype::float64);
/// Uniform in [low, high), float64 or float32; rounding may give `high`.
IRUKA_API Array uniform(double low, double high, const Dims& shape, Dtype dtype = Dtype::float64);

/// R with R'R = covariance, float64, by singular values. Raises LinAlgError for no square matrix.
IRUKA_API Array covariance_rows(const Array& covariance);
/// Slices of `array` along its first axis in the order that `order` (int64, any shape) names: shape order + rest.
IRUKA_API Array take_rows(const Array& array, const Array& order);
/// Where each of `units` falls among the ascending `cumulative` (float64, one axis): its first entry above the unit.
IRUKA_API Array search_cumulative(const Array& cumulative, const Array& units);

}  // namespace iruka::random
