#include "backend/cpu/resample_tables.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "core/device.h"
#include "core/fork.h"
#include "core/once.h"

namespace iruka::cpu_backend {
namespace {

constexpr size_t kMostTables = 64;          ///< that are kept
constexpr int64_t kMostElements = 1 << 18;  ///< outputs of a row for which groups pay

/// The outputs of a group: the first element that they read, and the range of the elements of their first taps.
struct Group {
  int64_t begin, end;  ///< outputs
  int64_t start, span;
};
Group group_at(const int32_t* start, int64_t channels, int64_t outputs, int64_t first, int64_t size) {
  Group group{first, std::min(first + size, outputs), INT64_MAX, 0};
  int64_t last = 0;
  for (int64_t o = group.begin; o < group.end; ++o) {
    const int64_t at = start[o / channels] * channels + o % channels;
    group.start = std::min(group.start, at);
    last = std::max(last, at);
  }
  group.span = last - group.start + 1;
  return group;
}

}  // namespace

const ResampleLoops& resample_loops() {
#if defined(__x86_64__)
  // Not beyond IRUKA_CPU_LEVEL, which the target respects.
  const int64_t bytes = cpu().target().vector_bytes;
  if (bytes >= 64 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni"))
    return avx512::resample_loops;
  if (bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    return avx2::resample_loops;
#endif
  return baseline::resample_loops;
}

ColumnTables::ColumnTables(std::shared_ptr<const AxisMap> map, int64_t channels, ColumnUse use,
                           const ResampleLoops& loops)
    : map_(std::move(map)) {
  const AxisMap& axis = *map_;
  const int64_t pixels = axis.end - axis.first;
  const int32_t* const start = axis.start.data() + axis.first;
  if (use == ColumnUse::select) {
    if (loops.select_bytes && pixels * channels <= kMostElements) make_selected(channels);
    return;
  }
  if (use == ColumnUse::fixed) {
    fixed = {.pixels = pixels,
             .channels = static_cast<int>(channels),
             .pairs = axis.even_taps() / 2,
             .start = start,
             .weights = axis.fixed.data() + axis.first * axis.even_taps()};
    if (loops.group > 0 && pixels * channels <= kMostElements) make_fixed_groups(loops);
    return;
  }
  real = {.pixels = pixels,
          .channels = channels,
          .taps = axis.taps,
          .start = start,
          .count = axis.count.data() + axis.first,
          .weights = axis.weights.data() + axis.first * axis.taps};
  if (loops.float_window > 0 && pixels * channels <= kMostElements) make_float_groups(loops.float_window);
}

void ColumnTables::make_fixed_groups(const ResampleLoops& loops) {
  const int64_t channels = fixed.channels, outputs = fixed.pixels * channels, size = loops.group, pairs = fixed.pairs;
  const int64_t groups = (outputs + size - 1) / size;
  const int64_t kept = groups + groups % 2;  // loops may take two at once
  group_start_.assign(static_cast<size_t>(kept), 0);
  places_.assign(static_cast<size_t>(kept * size * 4), 0x80);
  fixed_weights_.assign(static_cast<size_t>(kept * size * pairs * 2), 0);
  for (int64_t g = 0; g < groups; ++g) {
    const Group group = group_at(fixed.start, channels, outputs, g * size, size);
    const int64_t reach = group.span + channels;
    fixed.is_wide |= reach > loops.window;
    if (reach > loops.window * (loops.has_wide ? 2 : 1)) return;
    group_start_[static_cast<size_t>(g)] = static_cast<int32_t>(group.start);
    for (int64_t o = group.begin; o < group.end; ++o) {
      const int64_t pixel = o / channels, lane = o - group.begin;
      const int64_t place = fixed.start[pixel] * channels + o % channels - group.start;
      uint8_t* const places = &places_[static_cast<size_t>((g * size + lane) * 4)];
      places[0] = static_cast<uint8_t>(place);
      places[2] = static_cast<uint8_t>(place + channels);
      for (int64_t k = 0; k < pairs; ++k) {
        int16_t* const weights = &fixed_weights_[static_cast<size_t>(((g * pairs + k) * size + lane) * 2)];
        std::copy_n(fixed.weights + pixel * 2 * pairs + 2 * k, 2, weights);
      }
    }
  }
  if (kept > groups) group_start_.back() = group_start_[static_cast<size_t>(groups - 1)];
  fixed.group_start = group_start_.data();
  fixed.places = places_.data();
  fixed.group_weights = fixed_weights_.data();
  fixed.groups = groups;
}

void ColumnTables::make_float_groups(int64_t window) {
  constexpr int64_t kSize = 16;
  const int64_t channels = real.channels, outputs = real.pixels * channels;
  const int64_t groups = (outputs + kSize - 1) / kSize;
  group_start_.assign(static_cast<size_t>(groups), 0);
  float_places_.assign(static_cast<size_t>(groups * kSize), 0);
  group_masks_.assign(static_cast<size_t>(groups * real.taps), 0);
  float_weights_.assign(static_cast<size_t>(groups * kSize * real.taps), 0);
  for (int64_t g = 0; g < groups; ++g) {
    const Group group = group_at(real.start, channels, outputs, g * kSize, kSize);
    if (group.span > window) return;
    group_start_[static_cast<size_t>(g)] = static_cast<int32_t>(group.start);
    for (int64_t o = group.begin; o < group.end; ++o) {
      const int64_t pixel = o / channels, lane = o - group.begin;
      float_places_[static_cast<size_t>(o)] =
          static_cast<int32_t>(real.start[pixel] * channels + o % channels - group.start);
      for (int64_t k = 0; k < real.count[pixel]; ++k) {
        group_masks_[static_cast<size_t>(g * real.taps + k)] |= static_cast<uint16_t>(1U << lane);
        float_weights_[static_cast<size_t>((g * real.taps + k) * kSize + lane)] = real.weights[pixel * real.taps + k];
      }
    }
  }
  real.group_start = group_start_.data();
  real.places = float_places_.data();
  real.group_masks = group_masks_.data();
  real.group_weights = float_weights_.data();
  real.groups = groups;
}

void ColumnTables::make_selected(int64_t pixel_bytes) {
  constexpr int64_t kSize = 64;
  const int32_t* const start = map_->start.data() + map_->first;
  const int64_t bytes = (map_->end - map_->first) * pixel_bytes, groups = (bytes + kSize - 1) / kSize;
  group_start_.assign(static_cast<size_t>(groups), 0);
  places_.assign(static_cast<size_t>(groups * kSize), 0);
  for (int64_t g = 0; g < groups; ++g) {
    const Group group = group_at(start, pixel_bytes, bytes, g * kSize, kSize);
    if (group.span > 2 * kSize) return;
    group_start_[static_cast<size_t>(g)] = static_cast<int32_t>(group.start);
    for (int64_t o = group.begin; o < group.end; ++o)
      places_[static_cast<size_t>(o)] =
          static_cast<uint8_t>(start[o / pixel_bytes] * pixel_bytes + o % pixel_bytes - group.start);
  }
  selected = {.count = bytes, .group_start = group_start_.data(), .places = places_.data()};
}

std::shared_ptr<const ColumnTables> column_tables(const std::shared_ptr<const AxisMap>& map, int64_t channels,
                                                  ColumnUse use) {
  struct Entry {
    uint64_t map;
    int64_t channels;
    ColumnUse use;
    const ResampleLoops* loops;
    std::shared_ptr<const ColumnTables> tables;
  };
  static constinit ForkSafeMutex mutex;
  std::list<Entry>& entries = made_once([] { return std::list<Entry>(); });
  const ResampleLoops& loops = resample_loops();
  const auto is_wanted = [&](const Entry& entry) {
    return entry.map == map->id && entry.channels == channels && entry.use == use && entry.loops == &loops;
  };
  {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find_if(entries, is_wanted);
    if (found != entries.end()) {
      entries.splice(entries.begin(), entries, found);
      return found->tables;
    }
  }
  auto made = std::make_shared<const ColumnTables>(map, channels, use, loops);
  const std::lock_guard lock(mutex);
  entries.push_front({map->id, channels, use, &loops, made});
  if (entries.size() > kMostTables) entries.pop_back();
  return made;
}

}  // namespace iruka::cpu_backend
