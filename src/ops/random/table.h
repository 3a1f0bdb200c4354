// The table of random distributions: one row each.
#pragma once

#include <cmath>
#include <vector>

#include "iruka/array.h"

namespace iruka::ops {

inline constexpr size_t kMaxParameters = 3;

/// A range of real numbers. It never contains NaN.
struct Interval {
  double low = -INFINITY, high = INFINITY;
  bool low_included = true, high_included = true;
  const char* words = "a number";

  bool holds(double value) const {
    return (low_included ? value >= low : value > low) && (high_included ? value <= high : value < high);
  }
};

/// `factors[0] * parameter 0 + factors[1] * parameter 1 + ...` must lie in an interval.
struct DomainRule {
  std::array<int, kMaxParameters> factors;
  Interval interval;
};

/// Where a deviate's randomness comes from.
enum class Source : uint8_t {
  unit,    ///< one word (float32) or two (float64): the row's text sees `half_open`, `u` and `sign` (kernels/units.h)
  normal,  ///< half a pair of normals: the text uses `z` (kernels/normals.h)
  draws,   ///< any number of blocks: the text uses `Draws<T> d` (kernels/draws.h)
};

enum class Result : uint8_t {
  real,    ///< computed as it is stored: T is float or double
  wide,    ///< stored as float or double, computed in double
  integer  ///< any integer dtype, computed in double
};

struct DistributionRow {
  const char* name;
  std::vector<const char*> parameters;
  Source source;
  Result result;
  const char* text;    ///< an expression of the source, the parameters and T
  const char* header;  ///< HEADER.h of kernels/ declares the source and the functions of the text
  std::vector<DomainRule> rules;
  const char* integer_parameters =
      "";                 ///< names of parameters that must be integers, one letter of each position: "02"
  const char* plan = "";  ///< an expression of the parameters; the text then sees its value, `plan`, in their place
};

/// Raises ValueError for a name that no row has.
const DistributionRow& distribution(const std::string& name);

}  // namespace iruka::ops
