// Arrays that index others: grids, triangles, diagonals, and indices as positions.
#pragma once

#include <span>
#include <vector>

#include "iruka/array.h"
#include "iruka/indexing.h"

namespace iruka {

/// The index of each element of an array of a shape: (ndim, *shape); or arrays that broadcast to that, one an axis.
/// Raise ShapeError for a negative extent.
IRUKA_API Array indices(const Dims& shape, Dtype dtype = Dtype::int64);
IRUKA_API std::vector<Array> sparse_indices(const Dims& shape, Dtype dtype = Dtype::int64);

struct MeshOptions {
  bool is_sparse = false;    ///< of extent 1 along the other arrays' axes
  bool copies = true;        ///< read-only views where false
  bool is_cartesian = true;  ///< whether the first two axes are exchanged
};
/// Coordinate arrays of the grid that vectors span.
IRUKA_API std::vector<Array> meshgrid(std::span<const Array> coordinates, const MeshOptions& options = {});
/// Reshapes vectors so that together they index their cross product. A vector of bools stands for the positions of its
/// true elements. Raises ValueError for an array that is not a vector.
IRUKA_API std::vector<Array> ix_(std::span<const Array> vectors);

/// The indices of the lower and the upper triangle of a matrix, and of the diagonal of an array of equal extents.
IRUKA_API std::vector<Array> tril_indices(int64_t rows, int64_t columns, int64_t k = 0);
IRUKA_API std::vector<Array> triu_indices(int64_t rows, int64_t columns, int64_t k = 0);
IRUKA_API std::vector<Array> diag_indices(int64_t n, int64_t ndim = 2);

/// The positions, in C order (or Fortran's), of the elements with these indices in an array of a shape: int64.
/// `indices` has one array for each axis; the arrays broadcast. `modes`: one for each axis. Raises ValueError for an
/// index outside its axis, a shape of no or too many elements, lists of other lengths; TypeError for indices that are
/// no integers.
IRUKA_API Array ravel_multi_index(std::span<const Array> indices, const Dims& shape, std::span<const IndexMode> modes,
                                  bool is_fortran = false);

}  // namespace iruka
