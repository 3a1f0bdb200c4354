// Compaction on a GPU: each tile's count, the running sum of the counts, each tile to its place.
#include "core/device.h"
#include "jit/program.h"
#include "ops/index/compaction.h"
#include "ops/index/index_plan.h"
#include "ops/kernel_text.h"
#include "ops/program_cache.h"

namespace iruka::ops {
namespace {

const char* stage_name(CompactionStage stage) {
  return stage == CompactionStage::count ? "count_true" : stage == CompactionStage::scan ? "scan_counts" : "write_true";
}

const jit::Program& program_for(CompactionStage stage, Device& device) {
  static constinit ProgramCache<std::pair<CompactionStage, Device*>> programs;
  return programs.get({stage, &device}, [&] {
    const ProgramSource source{compaction_text(stage), "iruka_entry", {}, std::string("<") + stage_name(stage) + ">"};
    return jit::build(device, source, {stage_name(stage), "bool mask", "", {}});
  });
}

void launch(CompactionStage stage, const Array& mask, const Array& counts, const Array& out) {
  const int64_t tiles = counts.size() - 1;
  jit::ArgumentBlock block;
  block.push(mask.data());
  block.push(mask.size());
  block.push(tiles);
  block.push(counts.data());
  block.push(out.valid() ? out.data() : nullptr);
  jit::GridRange range;
  range.count = stage == CompactionStage::scan ? 1 : tiles;
  range.threads_per_block = kCompactionThreads;
  program_for(stage, mask.device()).launch(block.bytes(), range);
}

}  // namespace

std::string compaction_text(CompactionStage stage) {
  return include_text("index", "cuda/compaction") +
         grid_entry_text(std::string("iruka::compaction::") + stage_name(stage) + "<" +
                             std::to_string(kCompactionThreads) + ", " + std::to_string(kMaskBytesPerThread) + ">",
                         "iruka::compaction::CompactionArguments", kCompactionThreads);
}

Array true_positions_cuda(const Array& mask) {
  Device& device = mask.device();
  if (mask.size() == 0) return Array::empty({0}, Dtype::int64, device);
  const int64_t tiles = (mask.size() + kMaskTile - 1) / kMaskTile;
  const Array counts = Array::empty({tiles + 1}, Dtype::int64, device);
  launch(CompactionStage::count, mask, counts, {});
  launch(CompactionStage::scan, mask, counts, {});
  const Array result = Array::empty({counts.at(tiles).item<int64_t>()}, Dtype::int64, device);
  if (result.size() > 0) launch(CompactionStage::write, mask, counts, result);
  return result;
}

}  // namespace iruka::ops
