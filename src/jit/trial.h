// A trial of two programs that compute the same: calls take turns between them until the faster one is known.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "jit/program.h"

namespace iruka::jit {

class Trial {
 public:
  static constexpr size_t kMostSamples = 32;
  /// The scalar path has to win by 5 %.
  static bool is_scalar_faster(double lanes_per_scalar) { return lanes_per_scalar > 1.05; }

  /// Compares `most` samples (at most kMostSamples) of each program, or `fewest` of long calls where the case is clear.
  Trial(std::shared_ptr<const Program> lanes, std::shared_ptr<const Program> scalar, size_t fewest, size_t most)
      : programs_{std::move(lanes), std::move(scalar)}, fewest_(fewest), most_(most) {}

  struct Leave {
    void operator()(Trial* trial) const { trial->seated_.store(0, std::memory_order_release); }
  };
  /// A call that is measured; one at a time is.
  using Seat = std::unique_ptr<Trial, Leave>;
  /// Null where a call over `units` is not to be measured now.
  Seat enter(int64_t units);

  // For the call that has the seat.
  const Program& program() const { return *programs_[side()]; }
  struct Verdict {
    std::shared_ptr<const Program> program;
    double lanes_per_scalar;  ///< time of the lanes over that of the scalar path
    double milliseconds;      ///< that calls were measured for
  };
  /// Adds the time of the call; the verdict once there is one, which ends the trial.
  std::optional<Verdict> add(double nanoseconds, int64_t units);

 private:
  /// Plain numbers, so that a child of fork may find it half written.
  struct Progress {
    int64_t usual_units = 0;                         ///< of the calls that are compared
    int unusual_calls = 0;                           ///< since the last that was like the others
    double nanoseconds = 0, units = 0;               ///< of the sample under way
    std::array<double, kMostSamples> times[2] = {};  ///< for a unit; of the lanes, of the scalar path
    size_t samples = 0;                              ///< of both
    double all_nanoseconds = 0;
    bool is_over = false;
  };

  size_t side() const;
  bool is_usual(int64_t units);
  double usual_time(size_t side) const;
  bool is_enough(double ratio) const;

  const std::shared_ptr<const Program> programs_[2];
  const size_t fewest_, most_;
  std::atomic<pid_t> seated_{0};  ///< the process whose thread has the seat
  Progress progress_;             ///< belongs to who has the seat
};

}  // namespace iruka::jit
