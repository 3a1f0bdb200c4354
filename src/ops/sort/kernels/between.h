// Values between two neighbours of a sorted array.
#pragma once

namespace iruka::order {

/// The value at `share` of the way from `low` to `high`, as NumPy rounds it.
template <class V>
static inline V between(V low, V high, V share) {
  const V width = high - low;
  const bool is_too_wide = width - width != (V)0 && low - low == (V)0 && high - high == (V)0;
  if (is_too_wide) return (V)(low * ((V)1 - share) + high * share);
  return share >= (V)0.5 ? (V)(high - width * ((V)1 - share)) : (V)(low + width * share);
}

}  // namespace iruka::order
