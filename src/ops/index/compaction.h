// Where a mask is true: positions in C order.
#pragma once

#include <string>

#include "iruka/array.h"

namespace iruka::ops {

/// Bytes that a thread of the GPU's texts looks at, and threads of a block.
inline constexpr int kMaskBytesPerThread = 16, kCompactionThreads = 256;
inline constexpr int64_t kMaskTile = int64_t{kMaskBytesPerThread} * kCompactionThreads;

/// Positions of the bytes of `mask` (C-contiguous) that are not 0, int64.
Array true_positions(const Array& mask);

/// The CUDA text of one of three launches. count: true bytes of each tile; scan: their running sum, one block;
/// write: positions of each tile's true bytes.
enum class CompactionStage : uint8_t { count, scan, write };
std::string compaction_text(CompactionStage stage);

}  // namespace iruka::ops
