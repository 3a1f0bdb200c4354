#include "jit/trial.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

namespace iruka::jit {
namespace {

// Short calls are added up, so that neither the clock nor a stray interrupt decides.
constexpr double kShortestSample = 50'000;
/// Calls of more or less than this many times the usual units say nothing of the usual ones.
constexpr int64_t kLikeness = 2;
/// So many calls unlike the usual ones, and theirs is the usual size.
constexpr int kMostUnusual = 16;
/// Either wins clearly by so much: then half of the samples suffice, or fewer that took so long.
constexpr double kClearMargin = 1.5, kLongTrial = 200e6;

}  // namespace

Trial::Seat Trial::enter(int64_t units) {
  const pid_t self = getpid();
  pid_t seated = seated_.load(std::memory_order_relaxed);
  if (seated == self || !seated_.compare_exchange_strong(seated, self, std::memory_order_acquire)) return {};
  Seat seat(this);
  if (seated != 0) progress_ = {};  // a thread of the parent had it, which did not come along through fork
  if (progress_.is_over || !is_usual(units)) return {};
  return seat;
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

/// By turns as in the sequence of Thue and Morse, 0110 1001, so that data that comes by turns as well favours neither.
size_t Trial::side() const { return std::popcount(progress_.samples) % 2; }

/// The lower quartile: other programs on the machine add to a time and never take away.
double Trial::usual_time(size_t side) const {
  std::array<double, kMostSamples> times = progress_.times[side];
  const size_t count = progress_.samples / 2;
  double* const quartile = times.data() + (count - 1) / 4;
  std::nth_element(times.data(), quartile, times.data() + count);
  return *quartile;
}

bool Trial::is_enough(double ratio) const {
  const size_t count = progress_.samples / 2;
  const bool is_clear = ratio > kClearMargin || ratio * kClearMargin < 1;
  if (count < fewest_ || !is_clear) return count == most_;
  return 2 * count >= most_ || progress_.all_nanoseconds > kLongTrial;
}

std::optional<Trial::Verdict> Trial::add(double nanoseconds, int64_t units) {
  progress_.all_nanoseconds += nanoseconds;
  progress_.nanoseconds += nanoseconds;
  progress_.units += static_cast<double>(units);
  if (progress_.nanoseconds < kShortestSample) return {};
  progress_.times[side()][progress_.samples / 2] = progress_.nanoseconds / progress_.units;
  progress_.nanoseconds = progress_.units = 0;
  // Each pair of turns has both sides.
  if (++progress_.samples % 2 != 0) return {};
  const double ratio = usual_time(0) / usual_time(1);
  if (!is_enough(ratio)) return {};
  progress_.is_over = true;
  return Verdict{programs_[is_scalar_faster(ratio) ? 1 : 0], ratio, progress_.all_nanoseconds * 1e-6};
}

}  // namespace iruka::jit
