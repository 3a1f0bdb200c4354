// A trial of two programs that compute the same: calls alternate between them until the faster one is known.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "jit/program.h"

namespace iruka::jit {

/// Where both sides run in a long call: pairs of adjacent slices, spread over the call because its data may vary.
struct Slices {
  /// For a call over `count` units that takes `nanoseconds` with lanes. Slices begin at multiples of `step`.
  Slices(int64_t count, int64_t step, int threads, double nanoseconds);
  /// Where the first of the two begins.
  int64_t begin(int64_t pair) const { return count / (2 * pairs) * (2 * pair + 1) / step * step; }

  int64_t count, step;
  int64_t units = 0;  ///< of a slice
  int64_t pairs = 0;  ///< none: one side runs the whole call
};

class Trial {
 public:
  /// The scalar path has to win by 5 %.
  static bool is_scalar_faster(double lanes_per_scalar) { return lanes_per_scalar > 1.05; }

  Trial(std::shared_ptr<const Program> lanes, std::shared_ptr<const Program> scalar)
      : programs_{std::move(lanes), std::move(scalar)} {}

  struct End {
    void operator()(Trial* trial) const { trial->measuring_generation_.store(0, std::memory_order_release); }
  };
  /// A measured call; there is one at a time.
  using Measurement = std::unique_ptr<Trial, End>;
  /// Null if a call over `units` is not measured now.
  Measurement try_begin(int64_t units);

  // For the call that is measured.
  const Program& program() const { return *programs_[side()]; }
  /// Adds the time of a whole call.
  void add(double nanoseconds, int64_t units);
  /// Starts a new pair of slices, also after a whole or a cancelled call.
  void begin_pair() { progress_.turns += progress_.turns % 2; }
  void add_slice(double nanoseconds, int64_t units);
  struct Verdict {
    std::shared_ptr<const Program> program;
    double lanes_per_scalar;  ///< time of the lanes over that of the scalar path
    double milliseconds;      ///< that were measured
  };
  /// For the end of a call: the verdict once there is one, which ends the trial.
  std::optional<Verdict> verdict();

 private:
  static constexpr size_t kMostTurns = 32;
  struct Sum {
    double nanoseconds = 0, units = 0;
  };
  /// Plain numbers, so that a fork during an update is harmless.
  struct Progress {
    int64_t usual_units = 0;  ///< of the calls that are compared
    int unusual_calls = 0;    ///< since the last that was like the others
    size_t turns = 0;
    Sum sums[2];                                     ///< of the comparison under way; of the lanes, of the scalar path
    std::array<double, kMostTurns / 2> ratios = {};  ///< of comparisons: time of the lanes over that of the scalar path
    size_t ratio_count = 0;
    double all_nanoseconds = 0;
    bool is_over = false;

    void add(size_t side, double nanoseconds, int64_t units);
  };

  size_t side() const;
  bool is_usual(int64_t units);
  double usual_ratio() const;
  bool is_enough(double ratio) const;

  const std::shared_ptr<const Program> programs_[2];
  std::atomic<int> measuring_generation_{0};  ///< 1 + fork_generation() of the process with a measured call; 0: none
  Progress progress_;                         ///< only for the measured call
};

}  // namespace iruka::jit
