// Indexing with arrays: integer and boolean indices, take and put, and the positions of nonzero elements.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "iruka/array.h"
#include "iruka/ops.h"

namespace iruka {

/// One entry of any index. An Array holds integers or bools; a bool array of k axes takes k axes of what it indexes.
using AnyIndex = std::variant<int64_t, Slice, NewAxis, Ellipsis, Array>;

/// How an index outside its axis is treated: an error, modulo the extent, or clipped to the nearest end (negative ones
/// to 0).
enum class IndexMode : uint8_t { raise, wrap, clip };
/// "raise", "wrap" or "clip". Raises ValueError for anything else.
IRUKA_API IndexMode parse_index_mode(const std::string& mode);

/// x[indices] by NumPy's rules: a view where all entries are basic, else a new array. Raises IndexError for an index
/// outside its axis (on a GPU at the next wait, see check_indices), for masks of another shape and for
/// arrays that do not broadcast, and ValueError for an array on another device than x.
IRUKA_API Array index(const Array& x, std::span<const AnyIndex> indices);
/// x[indices] = values, broadcast and cast. Of repeated indices the last wins on the CPU, any on a GPU. Nothing is
/// written before every index is checked (CPU). The values may be on another device, from which they are
/// copied. Raises what index() raises, ShapeError, and ValueError for a read-only x.
IRUKA_API void assign_index(const Array& x, std::span<const AnyIndex> indices, const Array& values);

/// x's elements at `indices` of the flattened array, or along an axis: shape x.shape[:axis] + indices.shape +
/// x.shape[axis + 1:].
IRUKA_API Array take(const Array& x, const Array& indices, std::optional<int64_t> axis = {},
                     IndexMode mode = IndexMode::raise);
/// x.flat[indices] = values, repeated as needed.
IRUKA_API void put(const Array& x, const Array& indices, const Array& values, IndexMode mode = IndexMode::raise);
/// result[i, j, k] = x[i, indices[i, j, k], k] for axis 1; axes other than `axis` broadcast.
IRUKA_API Array take_along_axis(const Array& x, const Array& indices, int64_t axis);
IRUKA_API void put_along_axis(const Array& x, const Array& indices, const Array& values, int64_t axis);

/// Repeats each slice of x along `axis` (each element of the flattened array without one) `count` times, or the k-th
/// slice counts[k] times. Raises ValueError for a negative count, ShapeError where counts are neither one nor as many
/// as the slices.
IRUKA_API Array repeat(const Array& x, int64_t count, std::optional<int64_t> axis = {});
IRUKA_API Array repeat(const Array& x, const Array& counts, std::optional<int64_t> axis = {});

/// The indices of x's nonzero elements: an int64 array of shape (max(ndim, 1), count), C order. Waits for the device.
IRUKA_API Array nonzero(const Array& x);
/// The same as positions in C order, shape (count,).
IRUKA_API Array flatnonzero(const Array& x);

/// Positions in C order of an array of `shape` as indices: an int64 array of shape (ndim, *positions.shape).
IRUKA_API Array unravel_index(const Array& positions, const Dims& shape);

/// View of the elements at (i, i + offset) of two axes, which become the last one. Raises AxisError, and ValueError for
/// fewer than two axes or one axis named twice.
IRUKA_API Array diagonal(const Array& x, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
/// Bools of shape (rows, columns): true at and below the k-th diagonal.
IRUKA_API Array tri(int64_t rows, int64_t columns, int64_t k = 0);
/// A copy of x with zeros above (tril) or below (triu) the k-th diagonal of the last two axes.
IRUKA_API Array tril(const Array& x, int64_t k = 0);
IRUKA_API Array triu(const Array& x, int64_t k = 0);

/// x[indices] = function(x[indices], values) for each index in turn, so that repeated ones add up (NumPy's ufunc.at).
/// `function` is an elementwise function of one or two inputs and one output; `values` is absent for one of one input.
/// In the order of the indices on the CPU; by atomic operations, in any order, on a GPU.
IRUKA_API void scatter_at(const Array& x, std::span<const AnyIndex> indices, const ElementwiseFunction& function,
                          const Array* values = nullptr);

/// Raises IndexError if a kernel on `device` used an index outside its axis since the last call. Functions that copy
/// elements from a GPU to the host call it; on the CPU indices are checked at once.
IRUKA_API void check_indices(Device& device);
/// Whether every use of index arrays waits for the GPU and checks it, so that the call with the wrong index raises the
/// error. Off by default; IRUKA_CHECK_INDICES=1 turns it on. Returns the previous setting.
IRUKA_API bool set_immediate_index_check(bool immediate);

}  // namespace iruka
