// Histograms, and how often small integers occur.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "iruka/array.h"

namespace iruka {

/// Rules that estimate a number of bins; numpy.histogram_bin_edges names their sources.
enum class BinRule : uint8_t { automatic, doane, fd, rice, scott, sqrt, stone, sturges };
/// "auto", "doane"... Raises ValueError for a name that is no rule.
IRUKA_API BinRule parse_bin_rule(const std::string& name);

/// A number of bins of one width, their edges, or a rule.
using Bins = std::variant<int64_t, Array, BinRule>;
/// The first and the last edge; by default the smallest and the largest element.
using BinRange = std::optional<std::pair<Scalar, Scalar>>;

struct HistogramOptions {
  BinRange range{};
  bool density = false;            ///< counts become a density whose integral is 1
  const Array* weights = nullptr;  ///< of x's shape: how much each element counts
};

/// int64, or sums in the weights' dtype, or float64 for a density; and one edge more than bins.
struct Histogram {
  Array counts, edges;
};
/// How many elements fall into each bin: half-open ones, but for the last. Raises ValueError for edges that descend, a
/// range that is not finite, no bins and weights of another shape, TypeError for complex numbers and for a rule with
/// weights.
IRUKA_API Histogram histogram(const Array& x, const Bins& bins = int64_t{10}, const HistogramOptions& options = {});
/// The edges that histogram() uses.
IRUKA_API Array histogram_bin_edges(const Array& x, const Bins& bins = int64_t{10},
                                    const HistogramOptions& options = {});

struct HistogramDD {
  Array counts;              ///< float64, an axis for each coordinate
  std::vector<Array> edges;  ///< for each coordinate
};
/// Counts of points by their coordinates, vectors of one length and dtype. `bins` and `ranges` have an entry for each
/// coordinate; `ranges` may be empty. Raises what histogram() raises, and ValueError for lists of another length.
IRUKA_API HistogramDD histogramdd(std::span<const Array> coordinates, std::span<const Bins> bins,
                                  std::span<const BinRange> ranges = {}, bool density = false,
                                  const Array* weights = nullptr);
IRUKA_API HistogramDD histogram2d(const Array& x, const Array& y, const Bins& bins_x = int64_t{10},
                                  const Bins& bins_y = int64_t{10}, std::span<const BinRange> ranges = {},
                                  bool density = false, const Array* weights = nullptr);

/// How often each value of a vector of non-negative integers occurs: int64, max(x) + 1 elements or `least`, the larger
/// of both. With `weights`, the sum of the weights of each value's occurrences, float64. Raises TypeError for floats,
/// ValueError for negative elements, another number of axes and weights of another length.
IRUKA_API Array bincount(const Array& x, const Array* weights = nullptr, int64_t least = 0);

}  // namespace iruka
