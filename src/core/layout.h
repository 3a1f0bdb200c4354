// The loop a call runs: extents, and byte strides of every operand, with as few axes as possible.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "iruka/array.h"
#include "iruka/dims.h"

namespace iruka {

/// One operand of a loop. Both pointers must be valid during the call they are passed to.
struct LoopOperand {
  LoopOperand() {}  // NOLINT: a list of operands is not cleared before it is filled
  LoopOperand(const int64_t* shape, const int64_t* strides, int rank) : shape(shape), strides(strides), rank(rank) {}
  LoopOperand(const Dims* shape, const Dims* strides) : LoopOperand(shape->data(), strides->data(), shape->size()) {}

  const int64_t *shape, *strides;  ///< strides in bytes
  int rank;
};

/// A loop nest over several operands, outermost axis first. Allocates nothing for 8 operands of rank up to 6.
/// Element [0, 0, ...] of an operand is at its array's data() plus offset(operand).
class LoopLayout {
 public:
  /// Operands broadcast to `shape` (stride 0 along broadcast axes). Raises ShapeError where one does not.
  LoopLayout(const Dims& shape, std::span<const LoopOperand> operands);

  int rank() const { return rank_; }  ///< at least 1: a 0-d loop has one axis of extent 1
  int operands() const { return operands_; }
  int64_t count() const { return count_; }
  int64_t extent(int axis) const { return extents()[axis]; }
  int64_t stride(int operand, int axis) const { return strides(operand)[axis]; }
  int64_t offset(int operand) const { return offsets()[operand]; }  ///< bytes; 0 unless an axis was reversed

  const int64_t* extents() const { return storage(); }
  const int64_t* strides(int operand) const { return storage() + pitch_ * (operand + 1); }
  const int64_t* offsets() const { return storage() + pitch_ * (operands_ + 1); }

  /// Drops axes of extent 1 and merges neighbouring axes that are contiguous in every operand. It keeps C order and
  /// thereby each element's number. An empty loop becomes one axis of extent 0.
  void merge_axes();

  /// Sorts axes so that small strides are innermost, where operands [first_output, operands()) take precedence, and
  /// reverses axes along which no operand has a positive stride. Call it before merge_axes(), and only where the order
  /// of elements cannot be observed.
  void reorder_axes(int first_output);

 private:
  static constexpr int kInline = 6 + 8 * 6 + 8;

  const int64_t* storage() const { return heap_ ? heap_.get() : inline_; }
  int64_t* storage() { return heap_ ? heap_.get() : inline_; }
  int64_t* mutable_strides(int operand) { return storage() + pitch_ * (operand + 1); }
  enum class Order : uint8_t { keep, swap, any };
  Order order_of(int outer, int inner, int first_output) const;
  void swap_axes(int a, int b);
  void flip_axis(int axis);

  int rank_;
  int pitch_;
  int operands_;
  int64_t count_;
  int64_t inline_[kInline];  // extents, strides of each operand, offsets
  std::unique_ptr<int64_t[]> heap_;
};

/// How two arrays share memory.
enum class Overlap : uint8_t {
  none,       ///< no byte is shared
  identical,  ///< element k of one array shares memory with element k of the other only
  partial,    ///< any other overlap, or too costly to decide
};

/// Exact unless a search over the strides takes more than a few thousand steps; then `partial`.
Overlap overlap(const Array& a, const Array& b);
/// The addresses of the first byte that an array with elements touches, and of the one behind the last.
std::pair<uintptr_t, uintptr_t> byte_bounds(const Array& array);

/// The ShapeError of an array of more than 2^63 - 1 bytes.
[[noreturn]] void raise_too_large(const Dims& shape, int64_t itemsize);

/// The alignment of an element in bytes: its size, or that of a complex number's parts.
inline int64_t alignment(Dtype dtype) { return is_complex(dtype) ? itemsize(dtype) / 2 : itemsize(dtype); }
/// Whether all elements are aligned. `data` is the first one's address.
bool is_aligned(const void* data, Dtype dtype, const Dims& shape, const Dims& strides);

}  // namespace iruka
