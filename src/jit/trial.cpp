#include "jit/trial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "core/fork.h"

namespace iruka::jit {
namespace {

// Short calls are added up, so that neither the clock nor a stray interrupt decides.
constexpr double kShortestSample = 50'000;
/// Calls with units beyond this factor of the usual number are not compared with usual calls.
constexpr int64_t kLikeness = 2;
/// After this number of calls of another size, that size becomes the usual one.
constexpr int kMostUnusual = 16;
/// A side that is faster by this factor wins after half of the turns, or after fewer turns that took this long.
constexpr double kClearMargin = 1.5, kLongTrial = 100e6;
constexpr size_t kFewestRatios = 3;
/// A side that is slower by this factor in two comparisons, whatever disturbs them, loses.
constexpr double kHopeless = 4;
// From this duration on a user would notice a whole call by the slower side, so only slices are compared. A slice takes
// several times as long as threads need to wake.
constexpr double kLongCall = 10e6, kSlice = 100e3;
/// Steps for each thread, so that a slice is shared as evenly as the whole call.
constexpr double kShare = 4;

}  // namespace

// A longer call has more pairs of slices, but they are a smaller part of it: each side runs 2 % of 10 ms, 0.1 % of a
// second.
Slices::Slices(int64_t count, int64_t step, int threads, double nanoseconds) : count(count), step(step) {
  if (nanoseconds < kLongCall) return;
  const auto all = static_cast<double>(count), aligned = static_cast<double>(step);
  const double wanted = std::max(all * kSlice / nanoseconds, kShare * threads * aligned);
  units = static_cast<int64_t>(std::ceil(wanted / aligned)) * step;
  pairs = static_cast<int64_t>(std::cbrt(count / units / 8));
}

Trial::Measurement Trial::try_begin(int64_t units) {
  const int self = fork_generation() + 1;
  int measuring = measuring_generation_.load(std::memory_order_relaxed);
  if (measuring == self || !measuring_generation_.compare_exchange_strong(measuring, self, std::memory_order_acquire))
    return {};
  Measurement measurement(this);
  if (measuring != 0) progress_ = {};  // a thread of the parent process measured; fork() did not copy it
  if (progress_.is_over || !is_usual(units)) return {};
  return measurement;
}

bool Trial::is_usual(int64_t units) {
  if (progress_.usual_units == 0 || progress_.unusual_calls == kMostUnusual) {
    progress_ = {};
    progress_.usual_units = units;
  }
  const bool is_like = units < kLikeness * progress_.usual_units && progress_.usual_units < kLikeness * units;
  progress_.unusual_calls = is_like ? 0 : progress_.unusual_calls + 1;
  return is_like;
}

/// The sides alternate as in the Thue-Morse sequence, 0110 1001, so that data that also alternates favours neither
/// side.
size_t Trial::side() const { return std::popcount(progress_.turns) % 2; }

void Trial::Progress::add(size_t side, double nanoseconds, int64_t units) {
  sums[side].nanoseconds += nanoseconds;
  sums[side].units += static_cast<double>(units);
  all_nanoseconds += nanoseconds;
}

void Trial::add(double nanoseconds, int64_t units) {
  const size_t now = side();
  progress_.add(now, nanoseconds, units);
  if (progress_.sums[now].nanoseconds >= kShortestSample) ++progress_.turns;
}

void Trial::add_slice(double nanoseconds, int64_t units) {
  progress_.add(side(), nanoseconds, units);
  ++progress_.turns;
}

/// The median: other programs on the machine disturb a few comparisons.
double Trial::usual_ratio() const {
  auto ratios = progress_.ratios;
  double* const median = ratios.data() + (progress_.ratio_count - 1) / 2;
  std::nth_element(ratios.data(), median, ratios.data() + progress_.ratio_count);
  return *median;
}

bool Trial::is_enough(double ratio) const {
  const auto all = std::span(progress_.ratios).first(progress_.ratio_count);
  const auto [least, most] = std::ranges::minmax(all);
  if (all.size() == 2 && (least > kHopeless || most * kHopeless < 1)) return true;
  if (progress_.ratio_count < kFewestRatios) return false;
  if (progress_.turns >= kMostTurns) return true;
  const bool is_clear = ratio > kClearMargin || ratio * kClearMargin < 1;
  return is_clear && (progress_.turns >= kMostTurns / 2 || progress_.all_nanoseconds > kLongTrial);
}

std::optional<Trial::Verdict> Trial::verdict() {
  const auto& [lanes, scalar] = progress_.sums;
  if (std::min(lanes.nanoseconds, scalar.nanoseconds) < kShortestSample) return {};
  progress_.ratios[progress_.ratio_count++] = lanes.nanoseconds / lanes.units / (scalar.nanoseconds / scalar.units);
  progress_.sums[0] = progress_.sums[1] = {};
  const double ratio = usual_ratio();
  if (!is_enough(ratio)) return {};
  progress_.is_over = true;
  return Verdict{programs_[is_scalar_faster(ratio) ? 1 : 0], ratio, progress_.all_nanoseconds * 1e-6};
}

}  // namespace iruka::jit
