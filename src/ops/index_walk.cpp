// Gather and scatter on the CPU: offsets of a block of pieces first, then the pieces, so that loads wait side by side.
#include "ops/index_walk.h"

#include <atomic>

#include "backend/parallel.h"
#include "iruka/device.h"

namespace iruka::ops {
namespace {

/// Pieces that are worth a thread.
constexpr int64_t kGrain = 16384;

/// Adds position * stride for `count` positions; false where one is out of bounds.
template <IndexMode mode, class I>
bool add_positions(const char* at, int64_t step, int64_t count, const IndexOperand& operand, int64_t* out) {
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
    out[k] += position * stride;
  }
  return !is_bad;
}

template <class I>
bool add_positions(IndexMode mode, const char* at, int64_t step, int64_t count, const IndexOperand& operand,
                   int64_t* out) {
  switch (mode) {
    case IndexMode::raise:
      // A constant stride lets the compiler see a plain array.
      if (step == sizeof(I)) return add_positions<IndexMode::raise, I>(at, sizeof(I), count, operand, out);
      return add_positions<IndexMode::raise, I>(at, step, count, operand, out);
    case IndexMode::wrap:
      return add_positions<IndexMode::wrap, I>(at, step, count, operand, out);
    case IndexMode::clip:
      break;
  }
  return add_positions<IndexMode::clip, I>(at, step, count, operand, out);
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
  const auto is_outside = [extent](int64_t position) { return position < -extent || position >= extent; };
  parallel_for(positions.size(), 4 * kGrain, [&](int64_t begin, int64_t end) {
    bool found = false;
    for (int64_t k = begin; k < end; ++k) found |= is_outside(at[k]);
    if (found) is_bad = true;
  });
  for (int64_t k = 0; is_bad; ++k)
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
    const int64_t first = offset(0, place), step = rank_ ? loop_.stride(0, inner) : 0;
    for (int64_t k = 0; k < run; ++k) out[done + k] = first + k * step;
    for (int k = 0; k < operands_; ++k) {
      const IndexOperand& operand = plan_.operands[static_cast<size_t>(k)];
      const char* at = static_cast<const char*>(operand.positions.data()) + offset(k + 1, place);
      const int64_t inner_step = rank_ ? loop_.stride(k + 1, inner) : 0;
      const auto add = operand.positions.dtype() == Dtype::int32 ? add_positions<int32_t> : add_positions<int64_t>;
      is_good &= add(plan_.mode, at, inner_step, run, operand, out + done);
    }
    done += run;
    next_row(place);
  }
  return is_good;
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

Array gather_cpu(const IndexPlan& plan) {
  Array result = Array::empty(plan.shape(), plan.base.dtype(), plan.base.device());
  if (result.size() == 0) return check_bounds_cpu(plan), result;
  const IndexWalk walk(plan, nullptr);
  const char* base = static_cast<const char*>(plan.base.data());
  char* out = static_cast<char*>(result.data());
  const int64_t bytes = walk.piece_bytes();
  std::atomic<bool> is_bad{false};
  with_piece_size(bytes, [&](auto copy) {
    parallel_for(walk.count(), std::max<int64_t>(1, kGrain * 8 / std::max<int64_t>(bytes, 8)),
                 [&](int64_t begin, int64_t end) {
                   int64_t offsets[IndexWalk::kBlock];
                   for (int64_t at = begin; at < end && !is_bad; at += IndexWalk::kBlock) {
                     const int64_t count = std::min(end - at, IndexWalk::kBlock);
                     if (!walk.offsets(at, count, offsets)) is_bad = true;
                     if (is_bad) return;
                     for (int64_t k = 0; k < count; ++k) copy(out + (at + k) * bytes, base + offsets[k]);
                   }
                 });
  });
  if (is_bad) check_bounds_cpu(plan);
  return result;
}

void scatter_cpu(const IndexPlan& plan, const Array& values) {
  check_bounds_cpu(plan);
  if (plan.base.size() == 0) return;
  const IndexWalk walk(plan, &values);
  const char* from = static_cast<const char*>(values.data());
  char* base = static_cast<char*>(plan.base.data());
  with_piece_size(walk.piece_bytes(), [&](auto copy) {
    const auto write = [&](int64_t begin, int64_t end) {
      int64_t offsets[IndexWalk::kBlock], sources[IndexWalk::kBlock];
      for (int64_t at = begin; at < end; at += IndexWalk::kBlock) {
        const int64_t count = std::min(end - at, IndexWalk::kBlock);
        walk.offsets(at, count, offsets);
        walk.value_offsets(at, count, sources);
        for (int64_t k = 0; k < count; ++k) copy(base + offsets[k], from + sources[k]);
      }
    };
    // In order, for the last of repeated indices to win.
    plan.is_distinct ? parallel_for(walk.count(), kGrain, write) : write(0, walk.count());
  });
}

Array offsets_cpu(const IndexPlan& plan) {
  check_bounds_cpu(plan);
  Array result = Array::empty({plan.base.size()}, Dtype::int64, cpu());
  const IndexWalk walk(plan, nullptr, false);
  auto* out = static_cast<int64_t*>(result.data());
  parallel_for(walk.count(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += IndexWalk::kBlock)
      walk.offsets(at, std::min(end - at, IndexWalk::kBlock), out + at);
  });
  return result;
}

}  // namespace iruka::ops
