// How the values of the body differ from lane to lane, and where lanes diverge. The analysis handles one lane loop: a
// loop of the emitter whose rounds are elements, W of which run side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/spmd/private_memory.h"
#include "backend/cpu/spmd/region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace iruka::cpu_backend::spmd {

/// uniform: one value for all lanes. linear: the first lane's value plus lane x stride. varying: anything. "All lanes"
/// are those that execute the instruction; the others may hold any value.
struct Shape {
  enum class Kind : uint8_t { unknown, uniform, linear, varying };
  Kind kind = Kind::unknown;
  /// An extended 32-bit value that might wrap around between two lanes. Addresses may be computed as if it did not;
  /// other uses may not.
  bool only_as_address = false;
  int64_t stride = 0;  ///< bytes where the value is a pointer

  static Shape uniform() { return {Kind::uniform, false, 0}; }
  static Shape linear(int64_t stride, bool only_as_address = false);  ///< uniform where the stride is 0
  static Shape varying() { return {Kind::varying, false, 0}; }
  bool is_uniform() const { return kind == Kind::uniform; }
  bool is_linear() const { return kind == Kind::linear; }
  bool is_varying() const { return kind == Kind::varying; }
  bool operator==(const Shape&) const = default;
};

/// The loop is split at multiples of a divisor (the length of a row). Between two of them `i / width` is uniform and `i
/// % width` advances with the lanes.
struct RowSplit {
  llvm::Value* divisor = nullptr;  ///< defined outside of the loop; null: the loop is not split
  llvm::Value* offset = nullptr;   ///< the dividend is the loop's counter plus this (null: 0)
  unsigned bits = 64;              ///< of the type of the division
  llvm::DenseSet<const llvm::Instruction*> quotients, remainders;
};

/// How control reaches a node of a region from its dominator.
enum class Reach : uint8_t {
  always,   ///< with its dominator's lanes, always
  uniform,  ///< with its dominator's lanes or with none, by uniform branches
  masked,   ///< with some of the lanes
};

class LaneAnalysis {
 public:
  LaneAnalysis(const LaneLoop& loop, const PrivateMemory& memory, RowSplit split, int lanes, bool small_arrays);

  Shape shape(const llvm::Value* value) const;
  bool is_uniform(const llvm::Value* value) const { return shape(value).is_uniform(); }
  bool is_varying(const llvm::Value* value) const { return shape(value).is_varying(); }
  Reach reach(const llvm::BasicBlock* block) const;
  /// Lanes leave the loop in different rounds.
  bool is_divergent(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  /// Lanes reach the block from different predecessors or in different rounds, so that its phis blend values.
  bool is_blended(const llvm::BasicBlock* block) const { return blended_.contains(block); }
  bool has_varying_branch(const llvm::BasicBlock* block) const;
  const RowSplit& split() const { return split_; }
  int lanes() const { return lanes_; }
  /// Every raw array has fewer than 2^31 elements.
  bool has_small_arrays() const { return small_arrays_; }

 private:
  bool update_shapes();
  bool update_control();
  void update_region(const Region& region);
  bool leaves_partially(const Region& region, const llvm::BasicBlock* from) const;
  Shape transfer(const llvm::Instruction& instruction) const;
  Shape transfer_binary(const llvm::Instruction& instruction) const;
  Shape transfer_cast(const llvm::Instruction& instruction) const;
  Shape transfer_sign_extension(const llvm::Instruction& instruction) const;
  Shape transfer_zero_extension(const llvm::Instruction& instruction) const;
  Shape transfer_address(const llvm::Instruction& instruction) const;
  Shape transfer_phi(const llvm::PHINode& phi) const;

  const LaneLoop& loop_;
  const PrivateMemory& memory_;
  RowSplit split_;
  int lanes_;
  bool small_arrays_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::DenseMap<const llvm::BasicBlock*, Reach> reaches_;
  llvm::DenseSet<const llvm::BasicBlock*> blended_;
  /// Nodes that fewer lanes reach than began the region.
  llvm::DenseSet<const llvm::BasicBlock*> partial_;
  llvm::DenseSet<const llvm::Loop*> divergent_loops_;
};

}  // namespace iruka::cpu_backend::spmd
