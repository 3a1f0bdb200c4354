// The loop a call runs: extents, and byte strides of every operand, with as few axes as possible.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "iruka/array.h"
#include "iruka/dims.h"

namespace iruka {

/// What one operand brings to a loop. Both outlive the call they are passed to.
struct LoopOperand {
  const Dims* shape;
  const Dims* strides;  ///< bytes
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
  int64_t offset(int operand) const { return offsets()[operand]; }  ///< bytes; not 0 only where an axis was flipped

  const int64_t* extents() const { return storage(); }
  const int64_t* strides(int operand) const { return storage() + pitch_ * (operand + 1); }
  const int64_t* offsets() const { return storage() + pitch_ * (operands_ + 1); }

  /// Drops axes of extent 1 and merges neighbours that every operand walks as one. C order is kept, and the element's
  /// number with it. An empty loop becomes one axis of extent 0.
  void merge_axes();

  /// Sorts axes so that small strides are innermost, operands [first_output, operands()) deciding before the others,
  /// and turns round axes that no operand walks forwards. Call it before merge_axes(), and only where the order of
  /// elements cannot be observed.
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
  identical,  ///< element k of one is element k of the other, and nothing else of it
  partial,    ///< anything else, or too costly to tell
};

/// Exact unless a search over the strides takes more than a few thousand steps; then `partial`.
Overlap overlap(const Array& a, const Array& b);

/// Bytes of which an aligned element's address is a multiple: those of a complex number's parts, else the element's.
inline int64_t alignment(Dtype dtype) { return kind(dtype) == Kind::complex ? itemsize(dtype) / 2 : itemsize(dtype); }
/// Whether all elements are aligned. `data` is the first one's address.
bool is_aligned(const void* data, Dtype dtype, const Dims& shape, const Dims& strides);

}  // namespace iruka
