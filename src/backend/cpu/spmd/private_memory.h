// Local arrays of the body that stay in memory; each lane has its own copy.
#pragma once

#include <cstdint>
#include <string>

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {

struct LaneLoop;

/// The address of lane l's byte o of a local array.
struct PrivateLayout {
  /// Equal elements of `granule` bytes, lanes side by side: (o / granule) * granule * W + l * granule + o % granule.
  /// A uniform index is then a plain vector access. 0: a copy of the array for each lane, l * size + o.
  int64_t granule = 0;
  int64_t size = 0;  ///< bytes, a multiple of the alignment
  /// Bytes from one lane's address to the next lane's.
  int64_t lane_stride() const { return granule ? granule : size; }
};

class PrivateMemory {
 public:
  PrivateMemory() = default;
  /// Finds the locals that belong to an element: allocas that only the loop uses and whose lifetime begins in it.
  explicit PrivateMemory(const LaneLoop& loop);

  const PrivateLayout* find(const llvm::AllocaInst* local) const;
  /// The layout of the local that `pointer` is derived from by address arithmetic alone, or null.
  const PrivateLayout* layout_of(const llvm::Value* pointer) const;
  /// Whether `pointer` is derived, through address arithmetic alone, from a local whose lanes lie side by side; byte
  /// offsets are then to be multiplied by W.
  bool is_side_by_side(const llvm::Value* pointer) const;
  /// Whether `pointer` may point into a lane's own memory.
  bool may_be_private(const llvm::Value* pointer) const;
  /// Whether some local's address is used by anything but address arithmetic, loads and stores.
  bool escapes() const { return escapes_; }
  /// The bytes that the locals of one copy of the body take for `lanes` elements.
  int64_t frame_bytes(int lanes) const;
  const llvm::MapVector<const llvm::AllocaInst*, PrivateLayout>& locals() const { return locals_; }

 private:
  llvm::MapVector<const llvm::AllocaInst*, PrivateLayout> locals_;
  bool escapes_ = false;
};

/// Why elements cannot run side by side: they may write a local that they share, or hold a local of unknown size. An
/// empty string if they can; otherwise `culprit` is the instruction.
std::string shared_local_conflict(const LaneLoop& loop, const PrivateMemory& memory, llvm::Instruction*& culprit);

/// Expands memset, memcpy and memmove of constant length inside of lane loops to loads and stores of elements. True
/// when the function changed.
bool expand_memory_intrinsics(llvm::Function& function);

}  // namespace iruka::cpu_backend::spmd
