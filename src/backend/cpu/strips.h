// Passes over pictures, divided into strips of rows that threads share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "backend/cpu/blocks.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {

/// should_stop() for loops of many short steps: it reads a clock, so that it is called once in 2^16 elements.
class StopCheck {
 public:
  /// `step_work`: elements of a step, about.
  explicit StopCheck(int64_t step_work) : pause_(std::max<int64_t>((1 << 16) / std::max<int64_t>(step_work, 1), 1)) {}
  bool operator()() {
    if (--left_ > 0) return false;
    left_ = pause_;
    return should_stop();
  }

 private:
  int64_t pause_, left_ = 0;
};

/// Calls `pass.run(begin, end)` for the rows of each pass: in strips of at least `rows_of(pass)` rows, or all rows at
/// once if there is one thread.
template <class Pass, class RowsOf>
void run_in_strips(const std::deque<Pass>& passes, RowsOf&& rows_of) {
  struct Strip {
    const Pass* pass;
    int64_t begin, end;
  };
  const bool is_alone = ThreadPool::instance().thread_count() == 1;
  std::vector<Strip> strips;
  for (const Pass& pass : passes) {
    const int64_t rows = is_alone ? pass.rows() : std::max<int64_t>(rows_of(pass), 1);
    for (int64_t begin = 0; begin < pass.rows(); begin += rows)
      strips.push_back({&pass, begin, std::min(begin + rows, pass.rows())});
  }
  const auto body = [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end && !should_stop();) {
      Strip strip = strips[static_cast<size_t>(k++)];
      // Neighbours become one strip.
      for (; k < end && strips[static_cast<size_t>(k)].pass == strip.pass; ++k)
        strip.end = strips[static_cast<size_t>(k)].end;
      strip.pass->run(strip.begin, strip.end);
    }
  };
  const auto count = static_cast<int64_t>(strips.size());
  if (count == 1) return parallel_for(1, 1, body);
  ThreadPool::instance().run(count, 1, body, {.alone = kAlone});
}

}  // namespace iruka::cpu_backend
