// Elements chosen among arrays or by masks, and bools packed into bits.
#pragma once

#include <optional>
#include <span>

#include "iruka/array.h"
#include "iruka/indexing.h"
#include "iruka/kernel.h"

namespace iruka {

/// result[i] = choices[a[i]][i], all broadcast, in the dtype of all choices. Raises ValueError for no choices and for a
/// number that none has, TypeError for numbers that are no integers of at most int64's range.
IRUKA_API Array choose(const Array& a, std::span<const Argument> choices, IndexMode mode = IndexMode::raise);
/// Of each element the choice whose condition is the first that holds, else `otherwise`; all broadcast, in the dtype of
/// all choices. Raises ValueError for lists that are empty or of two lengths, TypeError for conditions that are no
/// bools.
IRUKA_API Array select(std::span<const Array> conditions, std::span<const Argument> choices,
                       const Argument& otherwise = 0);

/// The elements, in C order, where a condition of as many elements is not 0.
IRUKA_API Array extract(const Array& condition, const Array& x);
/// x.flat[n] = values.flat[n % size] at every n where mask.flat[n] is not 0. Raises ValueError where mask and x differ
/// in size.
IRUKA_API void putmask(const Array& x, const Array& mask, const Array& values);
/// x[mask] = values, which repeat as needed. Raises ValueError for no values where the mask holds, and where mask and x
/// differ in size.
IRUKA_API void place(const Array& x, const Array& mask, const Array& values);

/// Which bit of a byte the first of eight bools is.
enum class BitOrder : uint8_t { highest_first, lowest_first };
/// Bools or integers (not 0 is 1) as the bits of uint8, eight neighbours along an axis each, of the flattened array
/// without one; 0 fills the last byte. Raises TypeError for other dtypes, AxisError.
IRUKA_API Array packbits(const Array& x, std::optional<int64_t> axis = {}, BitOrder order = BitOrder::highest_first);
/// The bits of uint8 as uint8 of 0 and 1, eight for each along an axis. `count`: how many to give along the axis, zeros
/// behind those that there are; negative: as many less than there are. Raises TypeError for other dtypes, AxisError,
/// ValueError for a count of fewer than none.
IRUKA_API Array unpackbits(const Array& x, std::optional<int64_t> axis = {}, std::optional<int64_t> count = {},
                           BitOrder order = BitOrder::highest_first);

}  // namespace iruka
