#include "backend/cpu/resampling.h"

#include <algorithm>
#include <deque>

#include "backend/cpu/resample_pass.h"
#include "backend/cpu/strips.h"
#include "core/once.h"

namespace iruka::cpu_backend {
namespace {

/// Elements of a strip: so many that computing rows at its borders twice costs little.
constexpr int64_t kStripWork = 1 << 17;

class CpuResamplings final : public Resamplings {
 public:
  void run(std::span<const Resampling> jobs) override {
    std::deque<ResamplePass> passes;  // which do not move
    for (const Resampling& job : jobs) {
      if (job.rows->out > 0 && job.columns->out > 0 && job.all_channels() > 0) passes.emplace_back(job);
    }
    run_in_strips(passes, [](const ResamplePass& pass) { return kStripWork / std::max<int64_t>(pass.row_work(), 1); });
  }

  std::unique_ptr<ResamplingStream> stream(const Resampling& pass) override { return ResamplePass::stream(pass); }
};

}  // namespace

Resamplings& cpu_resamplings() {
  return made_once([] { return CpuResamplings(); });
}

}  // namespace iruka::cpu_backend
