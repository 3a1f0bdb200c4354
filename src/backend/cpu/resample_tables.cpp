#include "backend/cpu/resample_tables.h"

#include <algorithm>
#include <cstdlib>
#include <list>
#include <mutex>

#include "core/device.h"
#include "core/fork.h"
#include "core/once.h"

namespace iruka::cpu_backend {
namespace {

constexpr size_t kMostTables = 64;          ///< that are kept
constexpr int64_t kMostElements = 1 << 18;  ///< outputs of a row for which groups pay
constexpr int64_t kMostWeights = 1 << 22;   ///< of all groups

/// Of each group of `size` outputs the first element that it reads; of all, the longest range of elements that are
/// first taps of a group. Nothing where a range exceeds `most`.
struct GroupStarts {
  std::vector<int32_t> starts;
  int64_t span = 0;
};
GroupStarts group_starts(const int32_t* start, int64_t channels, int64_t outputs, int64_t size, int64_t most) {
  GroupStarts made;
  for (int64_t first = 0; first < outputs; first += size) {
    int64_t least = INT64_MAX, last = 0;
    for (int64_t o = first; o < std::min(first + size, outputs); ++o) {
      const int64_t at = start[o / channels] * channels + o % channels;
      least = std::min(least, at);
      last = std::max(last, at);
    }
    made.span = std::max(made.span, last - least + 1);
    if (made.span > most) return {};
    made.starts.push_back(static_cast<int32_t>(least));
  }
  return made;
}

/// Whether sums of bytes have less than 24 bits, with their sign.
bool has_small_sums(const FixedColumns& columns) {
  constexpr int kMost = (1 << 23) / 255 - 1;
  const int taps = 2 * columns.pairs;
  for (int64_t x = 0; x < columns.pixels; ++x) {
    int sum = 0;
    for (int k = 0; k < taps; ++k) sum += std::abs(columns.weights[x * taps + k]);
    if (sum > kMost) return false;
  }
  return true;
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
    if (loops.numbers > 0 && channels <= 4 && fixed.groups == 0) make_fixed_windows(loops.numbers);
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
  const int64_t together = loops.groups_at_once, kept = (groups + together - 1) / together * together;
  if (kept * size * pairs * 2 > kMostWeights || !has_small_sums(fixed)) return;
  const int64_t reach = loops.window * (loops.has_wide ? 2 : 1);
  auto [starts, span] = group_starts(fixed.start, channels, outputs, size, reach - channels);
  if (starts.empty()) return;
  group_start_ = std::move(starts);
  group_start_.resize(static_cast<size_t>(kept), group_start_.back());
  places_.assign(static_cast<size_t>(kept * size * 4), 0x80);
  fixed_weights_.assign(static_cast<size_t>(kept * size * pairs * 2), 0);
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t g = o / size, pixel = o / channels, lane = o % size;
    const int64_t place = fixed.start[pixel] * channels + o % channels - group_start_[static_cast<size_t>(g)];
    uint8_t* const places = &places_[static_cast<size_t>(o * 4)];
    places[0] = static_cast<uint8_t>(place);
    places[2] = static_cast<uint8_t>(place + channels);
    for (int64_t k = 0; k < pairs; ++k) {
      const int64_t vector = (g / together * pairs + k) * together + g % together;
      int16_t* const weights = &fixed_weights_[static_cast<size_t>((vector * size + lane) * 2)];
      std::copy_n(fixed.weights + pixel * 2 * pairs + 2 * k, 2, weights);
    }
  }
  const int64_t all = span + (map_->taps - 1) * channels;  // bytes of all taps
  fixed.is_near = all <= reach;
  fixed.is_wide = (fixed.is_near ? all : span + channels) > loops.window;
  fixed.group_start = group_start_.data();
  fixed.places = places_.data();
  fixed.group_weights = fixed_weights_.data();
  fixed.groups = groups;
}

void ColumnTables::make_fixed_windows(int64_t numbers) {
  const int64_t lanes = window_lanes(fixed.channels), together = numbers / lanes, pairs = fixed.pairs;
  const int64_t vectors = (pairs + together - 1) / together, size = vectors * numbers * 2;
  if (fixed.pixels * size > kMostWeights) return;
  fixed_weights_.assign(static_cast<size_t>(fixed.pixels * size), 0);
  for (int64_t x = 0; x < fixed.pixels; ++x) {
    int16_t* to = &fixed_weights_[static_cast<size_t>(x * size)];
    for (int64_t pair = 0; pair < pairs; ++pair) {
      for (int64_t lane = 0; lane < lanes; ++lane, to += 2) std::copy_n(fixed.weights + 2 * (x * pairs + pair), 2, to);
    }
  }
  fixed.window_vectors = static_cast<int>(vectors);
  fixed.window_weights = fixed_weights_.data();
}

void ColumnTables::make_float_groups(int64_t window) {
  constexpr int64_t kSize = 16;
  const int64_t channels = real.channels, outputs = real.pixels * channels;
  const int64_t groups = (outputs + kSize - 1) / kSize;
  if (groups * kSize * real.taps > kMostWeights) return;
  group_start_ = group_starts(real.start, channels, outputs, kSize, window).starts;
  if (group_start_.empty()) return;
  float_places_.assign(static_cast<size_t>(groups * kSize), 0);
  group_masks_.assign(static_cast<size_t>(groups * real.taps), 0);
  float_weights_.assign(static_cast<size_t>(groups * kSize * real.taps), 0);
  for (int64_t o = 0; o < outputs; ++o) {
    const int64_t g = o / kSize, pixel = o / channels, lane = o % kSize;
    const int64_t place = real.start[pixel] * channels + o % channels - group_start_[static_cast<size_t>(g)];
    float_places_[static_cast<size_t>(o)] = static_cast<int32_t>(place);
    for (int64_t k = 0; k < real.count[pixel]; ++k) {
      group_masks_[static_cast<size_t>(g * real.taps + k)] |= static_cast<uint16_t>(1U << lane);
      float_weights_[static_cast<size_t>((g * real.taps + k) * kSize + lane)] = real.weights[pixel * real.taps + k];
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
  group_start_ = group_starts(start, pixel_bytes, bytes, kSize, 2 * kSize).starts;
  if (group_start_.empty()) return;
  places_.assign(static_cast<size_t>(groups * kSize), 0);
  for (int64_t o = 0; o < bytes; ++o) {
    const int64_t place = start[o / pixel_bytes] * pixel_bytes + o % pixel_bytes;
    places_[static_cast<size_t>(o)] = static_cast<uint8_t>(place - group_start_[static_cast<size_t>(o / kSize)]);
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
