// Arrays made like others, beside those of ops.h.
#pragma once

#include <optional>

#include "iruka/array.h"
#include "iruka/ops.h"

namespace iruka {

/// How an array made like another differs from it.
struct LikeOptions {
  std::optional<Dtype> dtype{};
  MemoryOrder order = MemoryOrder::keep;  ///< keep: the other array's order of axes in memory, if the rank is the same
  std::optional<Dims> shape{};
  Device* device = nullptr;  ///< null: that of the other array
};
/// An array with the shape, dtype, order and device of another, uninitialised or full of one value. Raise ShapeError
/// for a negative extent.
IRUKA_API Array empty_like(const Array& x, const LikeOptions& options = {});
IRUKA_API Array zeros_like(const Array& x, const LikeOptions& options = {});
IRUKA_API Array ones_like(const Array& x, const LikeOptions& options = {});
IRUKA_API Array full_like(const Array& x, const Scalar& value, const LikeOptions& options = {});

/// The array itself where it is Fortran-contiguous, else a copy that is.
inline Array asfortranarray(const Array& x) { return x.is_f_contiguous() ? x : x.transpose().copy().transpose(); }
/// The n by n identity matrix.
inline Array identity(int64_t n, Dtype dtype = Dtype::float64) { return eye(n, {}, 0, dtype); }
/// The Vandermonde matrix: its columns are powers of a vector's elements, by default as many as there are elements, the
/// highest power first unless `increasing`. Raises ValueError for an array that is not a vector and for a negative
/// number of columns.
IRUKA_API Array vander(const Array& x, std::optional<int64_t> columns = {}, bool increasing = false);

}  // namespace iruka
