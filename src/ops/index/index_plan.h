// The memory accesses of an index with arrays: which bytes of x belong to each element of the result.
#pragma once

#include <span>
#include <vector>

#include "core/service.h"
#include "iruka/indexing.h"
#include "ops/checks.h"

namespace iruka::ops {

/// One array of indices along one axis of x.
struct IndexOperand {
  Array own;        ///< int32 or int64, as given
  Array positions;  ///< the same in the plan's shape: stride 0 along axes it does not have
  int64_t extent;   ///< of the axis it indexes
  int64_t stride;   ///< of that axis, in bytes
  int axis;         ///< for messages
};

/// Element k of the result is at the address of element k of `base` plus position * stride of each operand.
struct IndexPlan {
  Array base;  ///< x with the result's shape: stride 0 along axes that only index operands have
  std::vector<IndexOperand> operands;
  IndexMode mode = IndexMode::raise;
  bool is_distinct = false;  ///< no two elements are one element of x (but through x's own strides)

  const Dims& shape() const { return base.shape(); }
};

/// Raises IndexError as index() does, but for indices out of bounds.
IndexPlan plan_index(const Array& x, std::span<const AnyIndex> indices);
IndexPlan plan_take(const Array& x, const Array& indices, int axis, IndexMode mode);
IndexPlan plan_along_axis(const char* function, const Array& x, const Array& indices, int64_t axis);

/// The same memory with other extents and strides (bytes).
Array strided_view(const Array& x, Dims shape, Dims strides, int64_t offset);

/// Values to assign, without the leading axes of one element that the target lacks.
Array drop_leading_axes(const Array& values, int ndim);

/// Integers as int32 or int64. Raises IndexError for bools, and ValueError for an array that is not on `device`.
Array as_positions(const Array& indices, const Device& device);

[[noreturn]] void raise_out_of_bounds(int64_t index, int64_t axis, int64_t extent);

/// A device's walk over a plan. Asynchronous devices raise IndexError later.
struct Indexing {
  static constinit const Implementations<const Indexing> implementations;

  /// The chosen elements, C order.
  Array (*gather)(const IndexPlan& plan);
  /// Writes `values`, of base's dtype and shape and sharing no memory with it. On the host, raises IndexError before
  /// anything is written.
  void (*scatter)(const IndexPlan& plan, const Array& values);
  /// Positions of the bytes of `mask` (C-contiguous) that are not 0, int64.
  Array (*true_positions)(const Array& mask);
  /// x[mask] if both are C-contiguous and have the same shape; null: gather() with the positions is used.
  Array (*compress)(const Array& x, const Array& mask);
};

// index_walk.cpp, compaction_cpu.cpp
Array gather_cpu(const IndexPlan& plan);
void scatter_cpu(const IndexPlan& plan, const Array& values);
Array true_positions_cpu(const Array& mask);
Array compress_cpu(const Array& x, const Array& mask);
// index_kernels.cpp, compaction_cuda.cpp
Array gather_cuda(const IndexPlan& plan);
void scatter_cuda(const IndexPlan& plan, const Array& values);
Array true_positions_cuda(const Array& mask);

/// Raises IndexError for the first index outside its axis, operand after operand; CPU only.
void check_bounds_cpu(const IndexPlan& plan);
/// Raises IndexError for an index that a walk found to be out of bounds.
[[noreturn]] void raise_bad_index(const IndexPlan& plan);

/// An int64 array in a GPU's memory, where kernels record the errors that check_indices raises. They call
/// iruka_report() of kernels/cuda/report.h.
Array bad_index_report(Device& device);
/// Called after the launch of a kernel that may record errors. In mode 'immediate', waits and raises them.
void expect_report(Device& device);

}  // namespace iruka::ops
