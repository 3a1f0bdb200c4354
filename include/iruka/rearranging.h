// Flipping, rolling, repeating, resizing, splitting, joining, and inserting or deleting elements. The result is a view
// if possible.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "iruka/array.h"
#include "iruka/ops.h"

namespace iruka {

/// View with axes moved to other places; the others keep their order. Raises AxisError; ValueError where one axis is
/// named twice, or source and destination are of unlike lengths.
IRUKA_API Array moveaxis(const Array& x, const Dims& source, const Dims& destination);
/// View with one axis moved before position `start`. Raises AxisError.
IRUKA_API Array rollaxis(const Array& x, int64_t axis, int64_t start = 0);
/// View with the last two axes exchanged. Raises ValueError for fewer than two.
IRUKA_API Array matrix_transpose(const Array& x);
/// Views with at least one, two or three axes: new axes are in front; with three, (n,) becomes (1, n, 1) and (m, n)
/// becomes (m, n, 1).
IRUKA_API Array atleast_1d(const Array& x);
IRUKA_API Array atleast_2d(const Array& x);
IRUKA_API Array atleast_3d(const Array& x);
/// Read-only views in the shape that all arrays broadcast to; the arrays themselves where all have it. Raises
/// ShapeError.
IRUKA_API std::vector<Array> broadcast_arrays(std::span<const Array> arrays);

/// View with the elements reversed along the axes; along all axes if there are none. Raises AxisError.
IRUKA_API Array flip(const Array& x, const std::optional<Dims>& axes = {});
/// flip of the second axis, and of the first. Raise ValueError for fewer axes.
IRUKA_API Array fliplr(const Array& x);
IRUKA_API Array flipud(const Array& x);
/// View turned `times` by 90 degrees from axis `first` towards axis `second`. Raises AxisError, ValueError for one
/// axis.
IRUKA_API Array rot90(const Array& x, int64_t times = 1, int64_t first = 0, int64_t second = 1);
/// A copy whose elements have moved by `shifts` places along the axes; those moved past the end come to the front.
/// Without axes, the flattened array is rolled by one shift. One shift serves all axes; one axis takes all shifts.
/// Raises AxisError, and ValueError if shifts and axes do not match.
IRUKA_API Array roll(const Array& x, const Dims& shifts, const std::optional<Dims>& axes = {});

/// The array repeated repetitions[k] times along axis k. The shorter of shape and repetitions is extended by ones in
/// front. Raises ValueError for a negative number.
IRUKA_API Array tile(const Array& x, const Dims& repetitions);
/// A copy with another shape: the elements in C order, repeated if there are too few; zeros if there are none. Raises
/// ValueError for a negative extent.
IRUKA_API Array resize(const Array& x, const Dims& shape);

/// Views of the parts along an axis: `sections` of nearly equal extent, or those between the given places, which count
/// as a slice's bounds do. Raises AxisError, and ValueError for fewer than one section.
IRUKA_API std::vector<Array> array_split(const Array& x, int64_t sections, int64_t axis = 0);
IRUKA_API std::vector<Array> array_split(const Array& x, std::span<const int64_t> places, int64_t axis = 0);
/// array_split into sections of one extent. Raises ValueError where the axis does not divide.
IRUKA_API std::vector<Array> split(const Array& x, int64_t sections, int64_t axis = 0);
IRUKA_API std::vector<Array> split(const Array& x, std::span<const int64_t> places, int64_t axis = 0);
/// split along the second axis (the first of a vector), the first of at least two, the third. Raise ValueError for
/// fewer axes.
IRUKA_API std::vector<Array> hsplit(const Array& x, int64_t sections);
IRUKA_API std::vector<Array> hsplit(const Array& x, std::span<const int64_t> places);
IRUKA_API std::vector<Array> vsplit(const Array& x, int64_t sections);
IRUKA_API std::vector<Array> vsplit(const Array& x, std::span<const int64_t> places);
IRUKA_API std::vector<Array> dsplit(const Array& x, int64_t sections);
IRUKA_API std::vector<Array> dsplit(const Array& x, std::span<const int64_t> places);
/// Views of the slices along an axis, which they lack. Raises ValueError for a 0-d array, AxisError.
IRUKA_API std::vector<Array> unstack(const Array& x, int64_t axis = 0);

/// Joins arrays along the first, the second (vectors: the first), or the third axis. Raise what concatenate raises.
IRUKA_API Array vstack(std::span<const Array> arrays);
IRUKA_API Array hstack(std::span<const Array> arrays);
IRUKA_API Array dstack(std::span<const Array> arrays);
/// Joins vectors, as columns, and matrices along the second axis.
IRUKA_API Array column_stack(std::span<const Array> arrays);

/// An array, or a list of them: {{a, b}, {c, d}}.
struct Blocks {
  Blocks(Array block) : array(std::move(block)) {}
  Blocks(std::vector<Blocks> blocks) : list(std::move(blocks)), is_list(true) {}
  Blocks(std::initializer_list<Blocks> blocks) : list(blocks), is_list(true) {}

  Array array;
  std::vector<Blocks> list;
  bool is_list = false;
};
/// The array that blocks make: the innermost lists joined along the last axis, the next along the one before. Raises
/// ValueError for an empty list and lists of unequal depth, and what concatenate raises.
IRUKA_API Array block(const Blocks& blocks);

/// `x` followed by `values` along an axis; both flattened without one. Raises what concatenate raises.
IRUKA_API Array append(const Array& x, const Array& values, std::optional<int64_t> axis = {});

/// A copy of x with `values` before place `place` of an axis (of the flattened array without one), or before each of
/// several places, an array of integers or a mask of bools. values broadcast. Many slices may go to one place. Raises
/// IndexError for a place out of bounds or no integer, ShapeError for values that do not broadcast, AxisError.
IRUKA_API Array insert(const Array& x, int64_t place, const Array& values, std::optional<int64_t> axis = {});
IRUKA_API Array insert(const Array& x, const Array& places, const Array& values, std::optional<int64_t> axis = {});
IRUKA_API Array insert(const Array& x, const Slice& places, const Array& values, std::optional<int64_t> axis = {});
/// A copy without the slice at `place` of an axis (of the flattened array without one), or without those at several
/// places, an array of integers or a mask of bools as long as the axis. Raises IndexError for a place out of bounds or
/// no integer, ValueError for a mask of another length, AxisError.
IRUKA_API Array delete_elements(const Array& x, int64_t place, std::optional<int64_t> axis = {});
IRUKA_API Array delete_elements(const Array& x, const Array& places, std::optional<int64_t> axis = {});
IRUKA_API Array delete_elements(const Array& x, const Slice& places, std::optional<int64_t> axis = {});
/// View without the zeros at the front, the back or both ends of the axes (all axes if none are given). Waits for the
/// device. Raises AxisError.
IRUKA_API Array trim_zeros(const Array& x, bool front = true, bool back = true, const std::optional<Dims>& axes = {});

}  // namespace iruka
