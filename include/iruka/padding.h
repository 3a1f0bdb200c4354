// Arrays with margins.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "iruka/array.h"

namespace iruka {

/// What a margin holds: NumPy's modes.
enum class PadMode : uint8_t {
  constant,
  edge,
  empty,  ///< uninitialised
  linear_ramp,
  maximum,
  mean,
  median,
  minimum,
  reflect,
  symmetric,
  wrap,
};
/// Raises ValueError for a name that is no mode.
IRUKA_API PadMode parse_pad_mode(const std::string& name);

/// A value for the margin before an axis and for the one behind it.
template <class T>
using Margins = std::pair<T, T>;

/// A number, or an array without axes, whose value is used without waiting for its device.
using PadValue = std::variant<Scalar, Array>;

/// What pad() fills margins with. Lists have an entry for each axis, or one for all.
struct PadOptions {
  PadMode mode = PadMode::constant;
  std::vector<Margins<PadValue>> values{};  ///< the constants, or the ends of ramps; 0 without any
  /// How many elements at each end a statistic takes; all elements if no number is given.
  std::vector<Margins<std::optional<int64_t>>> lengths{};
  bool is_odd = false;  ///< reflections go on beyond the edge: 2 * edge - element
};

/// A copy of x with margins of the given widths, one pair for each axis or for all. Raises ValueError for negative
/// widths, lists of another length, and where an empty axis has nothing to repeat; OverflowError for a constant that
/// x's dtype cannot hold.
IRUKA_API Array pad(const Array& x, const std::vector<Margins<int64_t>>& widths, const PadOptions& options = {});

}  // namespace iruka
