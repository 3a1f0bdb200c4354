// Products of vectors, matrices and arrays; matmul is in linalg.h. Results have the promoted dtype.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iruka/array.h"

namespace iruka {

/// Product over the last axis of a and the last but one of b; of two vectors their inner product. Arrays without axes
/// multiply. Raises ShapeError where the extents differ, as all functions here do.
IRUKA_API Array dot(const Array& a, const Array& b);
/// Product over the last axes of both; arrays without axes multiply.
IRUKA_API Array inner(const Array& a, const Array& b);
/// Inner product of all elements of both in C order, the first ones conjugated.
IRUKA_API Array vdot(const Array& a, const Array& b);
/// Every element of a times every element of b, both flattened: (a.size, b.size).
IRUKA_API Array outer(const Array& a, const Array& b);
/// Inner product along one axis of both, the first conjugated; the other axes broadcast. Raises AxisError.
IRUKA_API Array vecdot(const Array& a, const Array& b, int64_t axis = -1);
/// Matrices (..., m, n) times vectors (..., n): (..., m).
IRUKA_API Array matvec(const Array& matrices, const Array& vectors);
/// Conjugated vectors (..., n) times matrices (..., n, m): (..., m).
IRUKA_API Array vecmat(const Array& vectors, const Array& matrices);
/// Sum of products over pairs of axes: the last `count` of a with the first of b, or those named. Raises AxisError, and
/// ValueError where one axis is named twice or the lists are of unlike lengths.
IRUKA_API Array tensordot(const Array& a, const Array& b, int64_t count = 2);
IRUKA_API Array tensordot(const Array& a, const Array& b, const Dims& axes_a, const Dims& axes_b);
/// Kronecker product: every element of a times all of b, as blocks. Missing axes are added in front.
IRUKA_API Array kron(const Array& a, const Array& b);
/// Cross product along an axis of 2- or 3-element vectors, at `axis` of the result; two 2-element vectors give only the
/// third component. Raises ValueError for other extents, AxisError.
IRUKA_API Array cross(const Array& a, const Array& b, int64_t axis_a = -1, int64_t axis_b = -1, int64_t axis = -1);

/// Steps of einsum(): each contracts the operands at these places of the list, and its result goes to the list's end.
using EinsumPath = std::vector<std::vector<int64_t>>;
/// Sum of products by subscripts: einsum("ij,jk->ik", {a, b}). Operands are contracted two at a time, from left to
/// right unless a path is given, by matmul where a subscript is summed. One operand without a sum gives a view. Raises
/// ValueError where subscripts, shapes and path do not go together.
IRUKA_API Array einsum(std::string_view subscripts, std::span<const Array> operands, const EinsumPath& path = {});
/// The subscripts with letters in place of ellipses, and with those of the result.
IRUKA_API std::string einsum_subscripts(std::string_view subscripts, std::span<const Array> operands);

}  // namespace iruka
