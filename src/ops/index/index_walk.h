// A plan's traversal on the CPU: pieces of memory, as few axes as possible, offsets in blocks.
#pragma once

#include "core/layout.h"
#include "ops/index/index_plan.h"

namespace iruka::ops {

/// Byte offsets of the pieces that a plan chooses. A piece is one element, or a dense run of them that no index cuts.
class IndexWalk {
 public:
  /// `values`, if given, is walked along with the plan; its offsets come from value_offsets().
  IndexWalk(const IndexPlan& plan, const Array* values, bool joins_pieces = true);

  static constexpr int64_t kBlock = 512;  ///< pieces whose offsets fit the first cache level

  int64_t count() const { return count_; }
  int64_t piece_bytes() const { return piece_bytes_; }
  /// Offsets from base's first element of pieces [begin, begin + count). False where an index is out of bounds.
  bool offsets(int64_t begin, int64_t count, int64_t* out) const;
  void value_offsets(int64_t begin, int64_t count, int64_t* out) const;

  /// Whether the plan is one array of indices, which must be within bounds, without further axes of base.
  bool is_line() const {
    return operands_ == 1 && rank_ == 1 && loop_.stride(0, 0) == 0 && plan_.mode == IndexMode::raise;
  }
  /// Bytes between its positions, of which the first is the operand's own first.
  int64_t line_step() const { return loop_.stride(1, 0); }

  /// Pieces of a row, where every row has the same offsets from its own beginning; else 0.
  int64_t row_length() const;
  /// Offset of the beginning of row `row` to base's first element.
  int64_t row_offset(int64_t row) const;

 private:
  struct Place;
  Place place_of(int64_t piece) const;
  void next_row(Place& place) const;
  int64_t offset(int operand, const Place& place) const;

  const IndexPlan& plan_;
  LoopLayout loop_;
  int operands_;
  int rank_;
  int64_t count_;
  int64_t piece_bytes_;
};

/// Copies one piece; `bytes` is a compile-time constant for common sizes.
template <class Use>
void with_piece_size(int64_t bytes, Use&& use) {
  switch (bytes) {
#define IRUKA_PIECE(size) \
  case size: return use([](char* to, const char* from) { __builtin_memcpy(to, from, size); })
    IRUKA_PIECE(1);
    IRUKA_PIECE(2);
    IRUKA_PIECE(3);
    IRUKA_PIECE(4);
    IRUKA_PIECE(6);
    IRUKA_PIECE(8);
    IRUKA_PIECE(12);
    IRUKA_PIECE(16);
    IRUKA_PIECE(24);
    IRUKA_PIECE(32);
    IRUKA_PIECE(64);
#undef IRUKA_PIECE
    default:
      return use([bytes](char* to, const char* from) { __builtin_memcpy(to, from, static_cast<size_t>(bytes)); });
  }
}

}  // namespace iruka::ops
