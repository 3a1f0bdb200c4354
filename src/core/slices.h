// Slices as Python clips them.
#pragma once

#include <algorithm>

#include "iruka/array.h"

namespace iruka {

/// First element, step and length of a slice of an axis, clipped as Python clips.
struct ClippedSlice {
  int64_t start, step, length;
};

inline ClippedSlice clip_slice(const Slice& slice, int64_t extent) {
  const int64_t step = slice.step.value_or(1);
  if (step == 0) throw ValueError("index: slice step cannot be zero");
  const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? extent - 1 : extent;
  auto place = [&](const std::optional<int64_t>& end, int64_t absent) {
    if (!end) return absent;
    return std::clamp(*end < 0 ? *end + extent : *end, lowest, highest);
  };
  const int64_t start = place(slice.start, step < 0 ? highest : lowest);
  const int64_t stop = place(slice.stop, step < 0 ? lowest : highest);
  if (step < 0 ? start <= stop : start >= stop) return {0, 1, 0};
  const uint64_t distance = static_cast<uint64_t>(step < 0 ? start - stop : stop - start);
  const uint64_t stride = step < 0 ? -static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  return {start, step, static_cast<int64_t>((distance - 1) / stride) + 1};
}

}  // namespace iruka
