// What a lane loop is widened from: the loop, what is known of it, and the processor.
#pragma once

#include "backend/cpu/spmd/private_memory.h"
#include "backend/cpu/spmd/region.h"
#include "backend/cpu/spmd/shapes.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"

namespace iruka::cpu_backend::spmd {

/// What the widener needs to know about the processor.
struct WidenTarget {
  const llvm::TargetTransformInfo& costs;
  const llvm::TargetLibraryInfo& library;
  int vector_bytes;         ///< of the widest register
  bool has_mask_registers;  ///< AVX-512: a mask is one bit a lane
  unsigned lane_bits;  ///< of the type that sets the number of lanes; without mask registers a mask's lanes are as wide
};

/// The scalar body and the results of its analyses.
struct Body {
  const LaneLoop& loop;
  const PrivateMemory& memory;
  const LaneAnalysis& analysis;
  const WidenTarget& target;
};

/// The values that one widened copy of the body starts with.
struct BodyStart {
  llvm::Value* counter = nullptr;    ///< of the first lane
  llvm::Value* mask = nullptr;       ///< <W x i1>; null: every lane
  bool is_rest = false;              ///< the copy runs once, after the whole vectors
  llvm::Value* quotient = nullptr;   ///< where rows are split: counter / divisor, 64 bits
  llvm::Value* remainder = nullptr;  ///< counter % divisor of the first lane, 64 bits
};

}  // namespace iruka::cpu_backend::spmd
