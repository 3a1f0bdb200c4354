// Gather and scatter on the CPU: computes the offsets of a block of pieces, then copies the pieces, so that cache
// misses overlap.
#include "ops/index/index_walk.h"

#include <algorithm>
#include <atomic>

#include "core/parallel.h"
#include "iruka/device.h"

namespace iruka::ops {
namespace {

/// The fewest pieces of a thread.
constexpr int64_t kGrain = 16384;
/// Offsets of a row that are worked out once for all rows.
constexpr int64_t kLongestRow = 1 << 16;

/// Where a run of offsets begins, and how far apart they are before positions are added.
struct Line {
  int64_t first, step;
};

/// Adds position * stride for `count` positions to the offsets, or (`is_first`) to the line that base walks. False if a
/// position is out of bounds.
template <IndexMode mode, bool is_first, class I>
bool place_positions(const char* at, int64_t step, int64_t count, const IndexOperand& operand, Line line,
                     int64_t* out) {
  const int64_t extent = operand.extent, stride = operand.stride;
  bool is_bad = false;
  for (int64_t k = 0; k < count; ++k) {
    int64_t position = *reinterpret_cast<const I*>(at + k * step);
    if constexpr (mode == IndexMode::raise) {
      position += position < 0 ? extent : 0;
      is_bad |= static_cast<uint64_t>(position) >= static_cast<uint64_t>(extent);
    } else if constexpr (mode == IndexMode::wrap) {
      if (static_cast<uint64_t>(position) >= static_cast<uint64_t>(extent)) {
        position %= extent;
        position += position < 0 ? extent : 0;
      }
    } else {
      position = position < 0 ? 0 : position >= extent ? extent - 1 : position;
    }
    // Unsigned, as a position that is out of bounds may overflow; its offset is not used.
    const auto moved = static_cast<uint64_t>(position) * static_cast<uint64_t>(stride);
    out[k] = static_cast<int64_t>(static_cast<uint64_t>(is_first ? line.first + k * line.step : out[k]) + moved);
  }
  return !is_bad;
}

template <IndexMode mode, class I>
bool place_positions(bool is_first, const char* at, int64_t step, int64_t count, const IndexOperand& operand, Line line,
                     int64_t* out) {
  if (!is_first) return place_positions<mode, false, I>(at, step, count, operand, line, out);
  // The most common index: with constants the compiler generates a plain array access.
  if (step == sizeof(I) && line.step == 0)
    return place_positions<mode, true, I>(at, sizeof(I), count, operand, {line.first, 0}, out);
  return place_positions<mode, true, I>(at, step, count, operand, line, out);
}

template <class I>
bool place_positions(IndexMode mode, bool is_first, const char* at, int64_t step, int64_t count,
                     const IndexOperand& operand, Line line, int64_t* out) {
  switch (mode) {
    case IndexMode::raise: return place_positions<IndexMode::raise, I>(is_first, at, step, count, operand, line, out);
    case IndexMode::wrap: return place_positions<IndexMode::wrap, I>(is_first, at, step, count, operand, line, out);
    case IndexMode::clip: break;
  }
  return place_positions<IndexMode::clip, I>(is_first, at, step, count, operand, line, out);
}

LoopLayout layout_of(const IndexPlan& plan, const Array* values) {
  std::vector<LoopOperand> operands{{&plan.shape(), &plan.base.strides()}};
  for (const IndexOperand& operand : plan.operands) operands.push_back({&plan.shape(), &operand.positions.strides()});
  if (values) operands.push_back({&values->shape(), &values->strides()});
  LoopLayout loop(plan.shape(), operands);
  loop.merge_axes();
  return loop;
}

template <class I>
void check_operand(const IndexOperand& operand, const Array& positions) {
  const I* at = static_cast<const I*>(positions.data());
  const int64_t extent = operand.extent;
  std::atomic<bool> is_bad{false};
  const auto is_outside = [extent](int64_t position) {
    return static_cast<uint64_t>(position) + static_cast<uint64_t>(extent) >= 2 * static_cast<uint64_t>(extent);
  };
  parallel_for(positions.size(), 4 * kGrain, [&](int64_t begin, int64_t end) {
    bool found = false;
    for (int64_t k = begin; k < end; ++k) found |= is_outside(at[k]);
    if (found) is_bad = true;
  });
  for (int64_t k = 0; is_bad && k < positions.size(); ++k)
    if (is_outside(at[k])) raise_out_of_bounds(at[k], operand.axis, extent);
}

}  // namespace

/// A piece of the walk: the index along each axis.
struct IndexWalk::Place {
  int64_t at[kMaxRank];
};

IndexWalk::IndexWalk(const IndexPlan& plan, const Array* values, bool joins_pieces)
    : plan_(plan),
      loop_(layout_of(plan, values)),
      operands_(static_cast<int>(plan.operands.size())),
      rank_(loop_.rank()),
      count_(loop_.count()),
      piece_bytes_(plan.base.itemsize()) {
  if (!joins_pieces || count_ == 0) return;
  const int last = rank_ - 1;
  for (int k = 1; k <= operands_; ++k)
    if (loop_.stride(k, last) != 0) return;
  if (loop_.stride(0, last) != piece_bytes_ || (values && loop_.stride(operands_ + 1, last) != piece_bytes_)) return;
  piece_bytes_ *= loop_.extent(last);
  count_ /= loop_.extent(last);
  rank_ = last;
}

IndexWalk::Place IndexWalk::place_of(int64_t piece) const {
  Place place{};
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    place.at[axis] = piece % loop_.extent(axis);
    piece /= loop_.extent(axis);
  }
  return place;
}

void IndexWalk::next_row(Place& place) const {
  if (rank_ == 0) return;
  place.at[rank_ - 1] = 0;
  for (int axis = rank_ - 2; axis >= 0; --axis) {
    if (++place.at[axis] < loop_.extent(axis)) return;
    place.at[axis] = 0;
  }
}

int64_t IndexWalk::offset(int operand, const Place& place) const {
  int64_t offset = 0;
  for (int axis = 0; axis < rank_; ++axis) offset += place.at[axis] * loop_.stride(operand, axis);
  return offset;
}

bool IndexWalk::offsets(int64_t begin, int64_t count, int64_t* out) const {
  Place place = place_of(begin);
  const int inner = rank_ - 1;
  bool is_good = true;
  for (int64_t done = 0; done < count;) {
    const int64_t run = rank_ ? std::min(count - done, loop_.extent(inner) - place.at[inner]) : 1;
    const Line line{offset(0, place), rank_ ? loop_.stride(0, inner) : 0};
    for (int64_t k = 0; operands_ == 0 && k < run; ++k) out[done + k] = line.first + k * line.step;
    for (int k = 0; k < operands_; ++k) {
      const IndexOperand& operand = plan_.operands[static_cast<size_t>(k)];
      const char* at = static_cast<const char*>(operand.positions.data()) + offset(k + 1, place);
      const int64_t inner_step = rank_ ? loop_.stride(k + 1, inner) : 0;
      const auto put = operand.positions.dtype() == Dtype::int32 ? place_positions<int32_t> : place_positions<int64_t>;
      is_good &= put(plan_.mode, k == 0, at, inner_step, run, operand, line, out + done);
    }
    done += run;
    next_row(place);
  }
  return is_good;
}

int64_t IndexWalk::row_length() const {
  if (rank_ < 2) return 0;
  for (int k = 1; k <= operands_; ++k)
    for (int axis = 0; axis < rank_ - 1; ++axis)
      if (loop_.stride(k, axis) != 0) return 0;
  return loop_.extent(rank_ - 1);
}

int64_t IndexWalk::row_offset(int64_t row) const {
  int64_t offset = 0;
  for (int axis = rank_ - 2; axis >= 0; --axis) {
    offset += row % loop_.extent(axis) * loop_.stride(0, axis);
    row /= loop_.extent(axis);
  }
  return offset;
}

void IndexWalk::value_offsets(int64_t begin, int64_t count, int64_t* out) const {
  Place place = place_of(begin);
  const int inner = rank_ - 1, values = operands_ + 1;
  for (int64_t done = 0; done < count;) {
    const int64_t run = rank_ ? std::min(count - done, loop_.extent(inner) - place.at[inner]) : 1;
    const int64_t first = offset(values, place), step = rank_ ? loop_.stride(values, inner) : 0;
    for (int64_t k = 0; k < run; ++k) out[done + k] = first + k * step;
    done += run;
    next_row(place);
  }
}

void check_bounds_cpu(const IndexPlan& plan) {
  if (plan.mode != IndexMode::raise) return;
  for (const IndexOperand& operand : plan.operands) {
    const Array own = operand.own.contiguous();
    own.dtype() == Dtype::int32 ? check_operand<int32_t>(operand, own) : check_operand<int64_t>(operand, own);
  }
}

void raise_bad_index(const IndexPlan& plan) {
  check_bounds_cpu(plan);
  throw IndexError("an index is out of bounds: another thread changes the indices");
}

namespace {

// Pieces are copied in separate functions, so that their variables stay in registers despite the byte writes.
template <class Copy>
void gather_block(char* out, int64_t bytes, const char* base, const int64_t* offsets, int64_t count, Copy copy) {
  for (int64_t k = 0; k < count; ++k, out += bytes) copy(out, base + offsets[k]);
}

template <class Copy>
void scatter_block(char* base, const int64_t* offsets, const char* from, int64_t step, int64_t count, Copy copy) {
  for (int64_t k = 0; k < count; ++k, from += step) copy(base + offsets[k], from);
}

template <class Copy>
void scatter_block(char* base, const int64_t* offsets, const char* from, const int64_t* sources, int64_t count,
                   Copy copy) {
  for (int64_t k = 0; k < count; ++k) copy(base + offsets[k], from + sources[k]);
}

/// Computes no offsets in advance. False if a position is out of bounds.
template <class I, class Copy>
bool gather_line(char* out, int64_t bytes, const char* base, const IndexOperand& operand, const char* at, int64_t step,
                 int64_t count, Copy copy) {
  const int64_t extent = operand.extent, stride = operand.stride;
  for (int64_t k = 0; k < count; ++k, at += step, out += bytes) {
    int64_t position = *reinterpret_cast<const I*>(at);
    position += position < 0 ? extent : 0;
    if (static_cast<uint64_t>(position) >= static_cast<uint64_t>(extent)) return false;
    copy(out, base + position * stride);
  }
  return true;
}

/// The reverse.
template <class I, class Copy>
bool scatter_line(char* base, const IndexOperand& operand, const char* at, int64_t step, const char* from,
                  int64_t from_step, int64_t count, Copy copy) {
  const int64_t extent = operand.extent, stride = operand.stride;
  for (int64_t k = 0; k < count; ++k, at += step, from += from_step) {
    int64_t position = *reinterpret_cast<const I*>(at);
    position += position < 0 ? extent : 0;
    if (static_cast<uint64_t>(position) >= static_cast<uint64_t>(extent)) return false;
    copy(base + position * stride, from);
  }
  return true;
}

/// Calls use(at, step, I()) with the positions of a walk that is a line, from piece `begin` on.
template <class Use>
auto with_line(const IndexWalk& walk, const IndexOperand& operand, int64_t begin, Use&& use) {
  const int64_t step = walk.line_step();
  const char* at = static_cast<const char*>(operand.positions.data()) + begin * step;
  return operand.positions.dtype() == Dtype::int32 ? use(at, step, int32_t()) : use(at, step, int64_t());
}

/// The stride between the values of neighbouring pieces, if there is one.
std::optional<int64_t> value_step(const Array& values, int64_t piece_bytes) {
  if (values.is_c_contiguous()) return piece_bytes;
  if (std::ranges::all_of(values.strides(), [](int64_t stride) { return stride == 0; })) return 0;
  return {};
}

}  // namespace

Array gather_cpu(const IndexPlan& plan) {
  Array result = Array::empty(plan.shape(), plan.base.dtype(), plan.base.device());
  if (result.size() == 0) return check_bounds_cpu(plan), result;
  const IndexWalk walk(plan, nullptr);
  const int64_t bytes = walk.piece_bytes();
  const char* base = static_cast<const char*>(plan.base.data());
  char* out = static_cast<char*>(result.data());
  const int64_t grain = std::max<int64_t>(1, kGrain * 8 / std::max<int64_t>(bytes, 8)), row = walk.row_length();
  std::atomic<bool> is_bad{false};
  const auto gather_blocks = [&](int64_t begin, int64_t end, auto copy) {
    int64_t offsets[IndexWalk::kBlock];
    for (int64_t at = begin; at < end && !is_bad; at += IndexWalk::kBlock) {
      const int64_t count = std::min(end - at, IndexWalk::kBlock);
      if (!walk.offsets(at, count, offsets)) is_bad = true;
      if (!is_bad) gather_block(out + at * bytes, bytes, base, offsets, count, copy);
    }
  };
  with_piece_size(bytes, [&](auto copy) {
    if (walk.is_line()) {
      parallel_for(walk.count(), grain, [&](int64_t begin, int64_t end) {
        const auto gather = [&](const char* at, int64_t step, auto type) {
          return gather_line<decltype(type)>(out + begin * bytes, bytes, base, plan.operands[0], at, step, end - begin,
                                             copy);
        };
        if (!with_line(walk, plan.operands[0], begin, gather)) is_bad = true;
      });
    } else if (row > 0 && row <= kLongestRow) {
      std::vector<int64_t> offsets(static_cast<size_t>(row));
      if (!walk.offsets(0, row, offsets.data())) return is_bad.store(true);
      parallel_for(walk.count() / row, std::max<int64_t>(1, grain / row), [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k)
          gather_block(out + k * row * bytes, bytes, base + walk.row_offset(k), offsets.data(), row, copy);
      });
    } else {
      parallel_for(walk.count(), grain, [&](int64_t begin, int64_t end) { gather_blocks(begin, end, copy); });
    }
  });
  if (is_bad) raise_bad_index(plan);
  return result;
}

void scatter_cpu(const IndexPlan& plan, const Array& values) {
  check_bounds_cpu(plan);
  if (plan.base.size() == 0) return;
  const IndexWalk walk(plan, &values);
  const std::optional<int64_t> step = value_step(values, walk.piece_bytes());
  const char* from = static_cast<const char*>(values.data());
  char* base = static_cast<char*>(plan.base.data());
  std::atomic<bool> is_bad{false};  // if another thread has changed an index since the check
  with_piece_size(walk.piece_bytes(), [&](auto copy) {
    const auto write = [&](int64_t begin, int64_t end) {
      if (walk.is_line() && step) {
        const auto scatter = [&](const char* at, int64_t index_step, auto type) {
          return scatter_line<decltype(type)>(base, plan.operands[0], at, index_step, from + begin * *step, *step,
                                              end - begin, copy);
        };
        if (!with_line(walk, plan.operands[0], begin, scatter)) is_bad = true;
        return;
      }
      int64_t offsets[IndexWalk::kBlock], sources[IndexWalk::kBlock];
      for (int64_t at = begin; at < end; at += IndexWalk::kBlock) {
        const int64_t block = std::min(end - at, IndexWalk::kBlock);
        if (!walk.offsets(at, block, offsets)) return is_bad.store(true);
        if (step) {
          scatter_block(base, offsets, from + at * *step, *step, block, copy);
        } else {
          walk.value_offsets(at, block, sources);
          scatter_block(base, offsets, from, sources, block, copy);
        }
      }
    };
    // In order, for the last of repeated indices to win.
    plan.is_distinct ? parallel_for(walk.count(), kGrain, write) : write(0, walk.count());
  });
  if (is_bad) raise_bad_index(plan);
}

}  // namespace iruka::ops
