// How a value of the body differs from lane to lane, and where lanes part. The analysis looks at one lane loop: a loop of
// the emitter whose rounds are elements, W of which run side by side.
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

/// uniform: one value for all lanes. linear: the first lane's value plus lane x stride. varying: anything.
/// "All lanes" are those that execute the instruction; the others may hold anything.
struct Shape {
  enum class Kind : uint8_t { unknown, uniform, linear, varying };
  Kind kind = Kind::unknown;
  /// A widened 32-bit value that might wrap around between two lanes; no memory access can tell, other uses can.
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

/// Elements of a row lie together: between two multiples of the divisor, `i / width` is one value and `i % width` advances
/// with the lanes. The loop is cut at those multiples.
struct RowSplit {
  llvm::Value* divisor = nullptr;  ///< defined outside of the loop; null: there is nothing to split at
  llvm::Value* offset = nullptr;   ///< the dividend is the loop's counter plus this (null: 0)
  unsigned bits = 64;              ///< of the type that is divided in
  llvm::DenseSet<const llvm::Instruction*> quotients, remainders;
};

/// How control reaches a node of a region, seen from its dominator.
enum class Reach : uint8_t {
  always,   ///< whenever its dominator is: with the same lanes
  uniform,  ///< by choices that all lanes make together: with the same lanes or not at all
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
  /// Lanes come to the block from different predecessors, or at different times: what its phis hold is blended.
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
  llvm::DenseSet<const llvm::BasicBlock*> partial_;  ///< nodes that lanes reach with fewer lanes than the region began with
  llvm::DenseSet<const llvm::Loop*> divergent_loops_;
};

}  // namespace iruka::cpu_backend::spmd
