// The control flow of a lane loop as nested acyclic regions: the body of the lane loop, and the body of each loop in
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace iruka::cpu_backend::spmd {

/// A block of a region, or a whole loop in it.
struct Node {
  static constexpr unsigned kOutside = ~0u;   ///< as a successor: the next round, or out of the region
  llvm::BasicBlock* block = nullptr;          ///< the header where the node is a loop
  llvm::Loop* loop = nullptr;                 ///< null where the node is a block
  unsigned dominator = kOutside;              ///< immediate, in the region
  llvm::SmallVector<unsigned, 2> successors;  ///< each once
  llvm::SmallVector<unsigned, 4> children;    ///< nodes it dominates immediately, in topological order
  llvm::BitVector post_dominators;            ///< nodes that every path from it passes
};

/// Nodes in topological order; the first is the entry and dominates the rest.
struct Region {
  llvm::Loop* loop = nullptr;
  std::vector<Node> nodes;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> index;  ///< by block; a nested loop's blocks give its node
  bool dominates(unsigned a, unsigned b) const;
};

/// A loop whose rounds are elements, in the form that the widener expects. preheader -> header: counter = phi(begin,
/// next); if (counter < end) body else exit body ... -> latch -> header
struct LaneLoop {
  llvm::Loop* loop = nullptr;
  llvm::BasicBlock *preheader = nullptr, *header = nullptr, *body = nullptr, *latch = nullptr, *exit = nullptr;
  llvm::PHINode* counter = nullptr;
  llvm::Value *begin = nullptr, *end = nullptr;
  bool is_remainder = false;   ///< runs over the few elements that another loop has left over
  bool has_threads = false;    ///< elements are threads of a block, which may share variables
  bool must_be_lanes = false;  ///< because the threads exchange values
  llvm::LoopInfo* loops = nullptr;
  llvm::DominatorTree* dominators = nullptr;
  Region body_region;
  llvm::DenseMap<const llvm::Loop*, std::unique_ptr<Region>> regions;  ///< of the loops inside

  const Region& region(const llvm::Loop* inner) const {
    return inner == loop ? body_region : *regions.find(inner)->second;
  }
  bool contains(const llvm::Value* value) const;  ///< an instruction of the body
  bool contains(const llvm::BasicBlock* block) const { return loop->contains(block) && block != header; }
};

/// Fills in the regions. The result is empty, or the reason why the control flow cannot be widened (irreducible), with
/// `culprit`.
std::string build_regions(LaneLoop& loop, llvm::Instruction*& culprit);

}  // namespace iruka::cpu_backend::spmd
