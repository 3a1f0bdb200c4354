#include "backend/cpu/filtering.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/filter_pass.h"
#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

/// Elements of a strip, and how many times the height of the window it has at least: rows of the window in front of a
/// strip are read once more.
constexpr int64_t kStripWork = 1 << 16, kWindows = 4;

struct Strip {
  const FilterPass* pass;
  int64_t begin, end;
};

std::vector<Strip> strips_of(const std::deque<FilterPass>& passes) {
  const bool is_alone = ThreadPool::instance().thread_count() == 1;
  std::vector<Strip> strips;
  for (const FilterPass& pass : passes) {
    const int64_t least = std::max(kStripWork / std::max<int64_t>(pass.row_work(), 1), kWindows * pass.window_rows());
    const int64_t rows = is_alone ? pass.rows() : std::max<int64_t>(least, 1);
    for (int64_t begin = 0; begin < pass.rows(); begin += rows)
      strips.push_back({&pass, begin, std::min(begin + rows, pass.rows())});
  }
  return strips;
}

class CpuFilterings final : public Filterings {
 public:
  void run(std::span<const Filtering> jobs) override {
    std::deque<FilterPass> passes;  // which do not move
    for (const Filtering& job : jobs) passes.emplace_back(job);
    const std::vector<Strip> strips = strips_of(passes);
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
};

}  // namespace

Filterings& cpu_filterings() {
  return made_once([] { return CpuFilterings(); });
}

}  // namespace iruka::cpu_backend
