#include "backend/cpu/resampling.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/resample_pass.h"
#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

/// Elements of a strip: so many that computing rows at its borders twice costs little.
constexpr int64_t kStripWork = 1 << 17;

struct Strip {
  const ResamplePass* pass;
  int64_t begin, end;
};

/// Strips of all pictures; one for each picture if there is one thread.
std::vector<Strip> strips_of(const std::deque<ResamplePass>& passes) {
  const bool is_alone = ThreadPool::instance().thread_count() == 1;
  std::vector<Strip> strips;
  for (const ResamplePass& pass : passes) {
    const int64_t rows =
        is_alone ? pass.rows() : std::max<int64_t>(kStripWork / std::max<int64_t>(pass.row_work(), 1), 1);
    for (int64_t begin = 0; begin < pass.rows(); begin += rows)
      strips.push_back({&pass, begin, std::min(begin + rows, pass.rows())});
  }
  return strips;
}

class CpuResamplings final : public Resamplings {
 public:
  void run(std::span<const Resampling> jobs) override {
    std::deque<ResamplePass> passes;  // which do not move
    for (const Resampling& job : jobs) {
      if (job.rows->out > 0 && job.columns->out > 0 && job.all_channels() > 0) passes.emplace_back(job);
    }
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

Resamplings& cpu_resamplings() {
  return made_once([] { return CpuResamplings(); });
}

}  // namespace iruka::cpu_backend
