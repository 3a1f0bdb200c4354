// Compaction on a GPU: each tile's count, the running sum of the counts, each tile to its place.
#include "core/device.h"
#include "jit/program.h"
#include "ops/index/compaction.h"
#include "ops/kept.h"

namespace iruka::ops {
namespace {

// A thread looks at 16 bytes. Sums of a block go through shared memory, doubling the reach at each step.
constexpr const char* kShared = R"(
struct Arguments {
  const unsigned char* mask;
  ptrdiff_t size, tiles;
  int64_t* counts;
  int64_t* out;
};
struct Bytes { unsigned char at[kBytes]; };
inline Bytes load(const Arguments& a, ptrdiff_t first) {
  Bytes bytes;
  if (first + kBytes <= a.size && ((size_t)(a.mask + first) & 15) == 0) {
    const uint4 word = *(const uint4*)(a.mask + first);
    memcpy(&bytes, &word, kBytes);
  } else {
#pragma unroll
    for (int k = 0; k < kBytes; ++k) bytes.at[k] = first + k < a.size ? a.mask[first + k] : 0;
  }
  return bytes;
}
inline int count(const Bytes& bytes) {
  int total = 0;
#pragma unroll
  for (int k = 0; k < kBytes; ++k) total += bytes.at[k] != 0;
  return total;
}
template <class T> inline T sum_before(T own, T* cells, T& total) {
  const int thread = threadIdx.x;
  cells[thread] = own;
  __syncthreads();
#pragma unroll 1
  for (int reach = 1; reach < kThreads; reach *= 2) {
    const T other = thread >= reach ? cells[thread - reach] : T(0);
    __syncthreads();
    cells[thread] += other;
    __syncthreads();
  }
  total = cells[kThreads - 1];
  return cells[thread] - own;
}
)";

constexpr const char* kCount = R"(
  __shared__ int cells[kThreads];
  int total;
  sum_before(count(load(a, first)), cells, total);
  if (thread == 0) a.counts[blockIdx.x] = total;
)";

// counts[k] becomes the sum of those before it; the last entry the sum of all. One block, a run of counts a thread.
constexpr const char* kScan = R"(
  constexpr int kRun = 16;
  __shared__ int64_t cells[kThreads];
  int64_t before = 0;
  for (ptrdiff_t tile = 0; tile < a.tiles; tile += kThreads * kRun) {
    const ptrdiff_t begin = tile + thread * kRun, end = begin + kRun < a.tiles ? begin + kRun : a.tiles;
    int64_t own = 0, total;
    for (ptrdiff_t k = begin; k < end; ++k) own += a.counts[k];
    int64_t place = before + sum_before(own, cells, total);
    for (ptrdiff_t k = begin; k < end; ++k) {
      const int64_t count = a.counts[k];
      a.counts[k] = place;
      place += count;
    }
    before += total;
    __syncthreads();
  }
  if (thread == 0) a.counts[a.tiles] = before;
)";

// Positions gather in shared memory, so that neighbours in memory are written by neighbouring threads.
constexpr const char* kWrite = R"(
  __shared__ int cells[kThreads];
  __shared__ unsigned short found[kThreads * kBytes];
  const Bytes bytes = load(a, first);
  int total;
  int place = sum_before(count(bytes), cells, total);
#pragma unroll
  for (int k = 0; k < kBytes; ++k)
    if (bytes.at[k] != 0) found[place++] = (unsigned short)(thread * kBytes + k);
  __syncthreads();
  int64_t* out = a.out + a.counts[blockIdx.x];
  for (int k = thread; k < total; k += kThreads) out[k] = tile_begin + found[k];
)";

const char* stage_name(CompactionStage stage) {
  return stage == CompactionStage::count ? "count_true" : stage == CompactionStage::scan ? "scan_counts" : "write_true";
}

std::shared_ptr<const jit::Program> program_for(CompactionStage stage, Device& device) {
  auto& programs =
      made_once([] { return Kept<std::pair<CompactionStage, Device*>, std::shared_ptr<const jit::Program>>(); });
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
  LaunchRange range;
  range.count = stage == CompactionStage::scan ? 1 : tiles;
  range.counts_elements = false;
  range.threads_per_block = kCompactionThreads;
  program_for(stage, mask.device())->launch(block.bytes(), range);
}

}  // namespace

std::string compaction_text(CompactionStage stage) {
  const std::string constants = "constexpr int kThreads = " + std::to_string(kCompactionThreads) +
                                ", kBytes = " + std::to_string(kMaskBytesPerThread) + ";\n";
  return constants + kShared + "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kCompactionThreads) +
         ") iruka_entry(const Arguments a, const ptrdiff_t, const ptrdiff_t) {\n  const int thread = threadIdx.x;\n"
         "  [[maybe_unused]] const ptrdiff_t tile_begin = (ptrdiff_t)blockIdx.x * (kThreads * kBytes), "
         "first = tile_begin + thread * kBytes;\n" +
         (stage == CompactionStage::count  ? kCount
          : stage == CompactionStage::scan ? kScan
                                           : kWrite) +
         "}\n";
}

Array true_positions_gpu(const Array& mask) {
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
