#include "backend/cpu/filtering.h"

#include <algorithm>
#include <deque>

#include "backend/cpu/filter_pass.h"
#include "backend/cpu/strips.h"
#include "core/once.h"

namespace iruka::cpu_backend {
namespace {

/// Elements of a strip, and how many times the height of the window it has at least: rows of the window in front of a
/// strip are read once more.
constexpr int64_t kStripWork = 1 << 16, kWindows = 4;

class CpuFilterings final : public Filterings {
 public:
  void run(std::span<const Filtering> jobs) override {
    std::deque<FilterPass> passes;  // which do not move
    for (const Filtering& job : jobs) passes.emplace_back(job);
    run_in_strips(passes, [](const FilterPass& pass) {
      return std::max(kStripWork / std::max<int64_t>(pass.row_work(), 1), kWindows * pass.window_rows());
    });
  }
};

}  // namespace

Filterings& cpu_filterings() {
  return made_once([] { return CpuFilterings(); });
}

}  // namespace iruka::cpu_backend
