#include "jit/raw_launch.h"

#include <cstring>

#include "iruka/error.h"
#include "jit/raw_source.h"

namespace iruka::jit {
namespace {

constexpr Dim3 kMostBlocks{2147483647, 65535, 65535}, kMostThreads{1024, 1024, 64};  // CUDA's

std::string text_of(const Dim3& extents) {
  return std::to_string(extents.x) + " x " + std::to_string(extents.y) + " x " + std::to_string(extents.z);
}

bool is_within(const Dim3& extents, const Dim3& most) {
  return extents.x <= most.x && extents.y <= most.y && extents.z <= most.z;
}

void check_blocks(const std::string& kernel, const LaunchGrid& grid) {
  const Dim3& threads = grid.threads;
  if (!is_within(grid.blocks, kMostBlocks))
    throw ValueError(kernel + "(): a grid has 1 to " + text_of(kMostBlocks) + " blocks, not " + text_of(grid.blocks));
  if (!is_within(threads, kMostThreads))
    throw ValueError(kernel + "(): a block has 1 to " + text_of(kMostThreads) + " threads, not " + text_of(threads));
  if (const uint64_t count = uint64_t{threads.x} * threads.y * threads.z; count > kMostThreadsPerBlock)
    throw ValueError(kernel + "(): a block has at most " + std::to_string(kMostThreadsPerBlock) + " threads, not " +
                     text_of(threads) + " = " + std::to_string(count));
  if (grid.shared_bytes > static_cast<unsigned>(kMostSharedBytes))
    throw ValueError(kernel + "(): a block has at most " + std::to_string(kMostSharedBytes) +
                     " bytes of dynamic shared memory, not " + std::to_string(grid.shared_bytes));
}

void launch_blocks(const Program& program, const Function& function, RawValues& values, const LaunchGrid& grid) {
  const Dim3 &blocks = grid.blocks, &threads = grid.threads;
  const uint64_t count = uint64_t{threads.x} * threads.y * threads.z;
  if (const int most = function.attributes().max_threads_per_block; count > static_cast<uint64_t>(most))
    throw ValueError(program.module().name() + "(): blocks of this kernel have at most " + std::to_string(most) +
                     " threads (__launch_bounds__), not " + text_of(threads) + " = " + std::to_string(count));
  const uint32_t head[] = {blocks.x, blocks.y, blocks.z, grid.shared_bytes};
  static_assert(sizeof(head) == RawSignature::kHeadBytes);
  std::memcpy(values.block(), head, sizeof(head));
  constexpr int64_t kAlone = 20'000;  // others are woken for launches that turn out to take longer
  const ParameterBytes block(values.block(), values.bytes());
  if (grid.is_cooperative) return program.launch(function, {&block, 1}, grid);
  program.launch(
      block, LaunchRange{.count = int64_t{blocks.x} * blocks.y * blocks.z, .counts_elements = false, .alone = kAlone});
}

void launch_grid(const Program& program, const Function& function, RawValues& values, const LaunchGrid& grid) {
  program.launch(function, values.parameters(), grid);
}

std::string text_for_grid(std::string_view code, std::string_view macros, std::span<const std::string> names,
                          const Dim3& /*threads*/) {
  return module_text(code, macros, names);
}

constexpr GridLaunching kBlocks{false, block_text, check_blocks, launch_blocks};
constexpr GridLaunching kGrid{true, text_for_grid, [](const std::string&, const LaunchGrid&) {}, launch_grid};

}  // namespace

constinit const Implementations<const GridLaunching> GridLaunching::implementations{"kernels over blocks of threads",
                                                                                    {&kBlocks, &kGrid}};

}  // namespace iruka::jit
