#include "backend/cpu/spmd/region.h"

#include <algorithm>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

/// Blocks of the lane loop in reverse post-order; the position is a topological order of everything but back edges.
using BlockOrder = llvm::DenseMap<const BasicBlock*, unsigned>;

class RegionBuilder {
 public:
  RegionBuilder(const LaneLoop& lane, const BlockOrder& order) : lane_(lane), order_(order) {}

  Region build(Loop* loop, llvm::ArrayRef<BasicBlock*> blocks) {
    region_ = Region();
    region_.loop = loop;
    add_nodes(blocks);
    connect(blocks);
    find_post_dominators();
    return std::move(region_);
  }

 private:
  /// The loop directly inside the region that holds `block`, or null.
  Loop* nested(const BasicBlock* block) const {
    Loop* inner = lane_.loops->getLoopFor(block);
    if (inner == region_.loop) return nullptr;
    while (inner->getParentLoop() != region_.loop) inner = inner->getParentLoop();
    return inner;
  }

  void add_nodes(llvm::ArrayRef<BasicBlock*> blocks) {
    std::vector<Node>& nodes = region_.nodes;
    for (BasicBlock* block : blocks) {
      Loop* inner = nested(block);
      if (inner && inner->getHeader() != block) continue;
      nodes.emplace_back();
      nodes.back().block = block;
      nodes.back().loop = inner;
    }
    std::sort(nodes.begin(), nodes.end(),
              [&](const Node& a, const Node& b) { return order_.lookup(a.block) < order_.lookup(b.block); });
    for (unsigned k = 0; k < nodes.size(); ++k) region_.index[nodes[k].block] = k;
    for (BasicBlock* block : blocks) {
      if (Loop* inner = nested(block)) region_.index[block] = region_.index.lookup(inner->getHeader());
    }
  }

  /// Successors and dominators. An edge back to the region's entry starts the next round, which is outside of the
  /// region.
  void connect(llvm::ArrayRef<BasicBlock*> blocks) {
    for (BasicBlock* block : blocks) {
      const unsigned from = region_.index.lookup(block);
      for (BasicBlock* to : llvm::successors(block)) {
        const auto found = region_.index.find(to);
        const unsigned target = found == region_.index.end() || found->second == 0 ? Node::kOutside : found->second;
        auto& successors = region_.nodes[from].successors;
        if (target != from && !llvm::is_contained(successors, target)) successors.push_back(target);
      }
    }
    for (unsigned k = 1; k < region_.nodes.size(); ++k) {
      const BasicBlock* dominator = lane_.dominators->getNode(region_.nodes[k].block)->getIDom()->getBlock();
      region_.nodes[k].dominator = region_.index.lookup(dominator);
      region_.nodes[region_.nodes[k].dominator].children.push_back(k);
    }
  }

  void find_post_dominators() {
    const unsigned count = static_cast<unsigned>(region_.nodes.size());
    for (unsigned k = count; k-- > 0;) {
      Node& node = region_.nodes[k];
      const bool leaves = node.successors.empty() || llvm::is_contained(node.successors, Node::kOutside);
      node.post_dominators = llvm::BitVector(count, !leaves);
      if (!leaves) {
        for (unsigned next : node.successors) node.post_dominators &= region_.nodes[next].post_dominators;
      }
      node.post_dominators.set(k);
    }
  }

  const LaneLoop& lane_;
  const BlockOrder& order_;
  Region region_;
};

/// Every back edge must lead to a header that dominates it: otherwise the flow is irreducible.
llvm::Instruction* irreducible_branch(const LaneLoop& lane, const BlockOrder& order) {
  for (const auto& [block, position] : order) {
    if (!lane.contains(block)) continue;
    for (const BasicBlock* to : llvm::successors(block)) {
      if (!lane.contains(to) || order.lookup(to) > position) continue;
      const Loop* loop = lane.loops->getLoopFor(to);
      if (!loop || loop->getHeader() != to || !loop->contains(block)) {
        return const_cast<BasicBlock*>(block)->getTerminator();
      }
    }
  }
  return nullptr;
}

}  // namespace

bool Region::dominates(unsigned a, unsigned b) const {
  while (b > a && b != Node::kOutside) b = nodes[b].dominator;
  return a == b;
}

bool LaneLoop::contains(const llvm::Value* value) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction && contains(instruction->getParent());
}

std::string build_regions(LaneLoop& lane, llvm::Instruction*& culprit) {
  BlockOrder order;
  unsigned position = 0;
  llvm::ReversePostOrderTraversal<llvm::Function*> traversal(lane.header->getParent());
  llvm::DenseMap<Loop*, llvm::SmallVector<BasicBlock*, 8>> blocks;
  llvm::SmallVector<BasicBlock*, 16> own;
  for (BasicBlock* block : traversal) {
    order[block] = position++;
    if (!lane.contains(block) || block == lane.latch) continue;
    Loop* loop = lane.loops->getLoopFor(block);
    if (loop == lane.loop) own.push_back(block);
    for (; loop != lane.loop; loop = loop->getParentLoop()) {
      blocks[loop].push_back(block);
      if (loop->getParentLoop() == lane.loop) own.push_back(block);
    }
  }
  culprit = irreducible_branch(lane, order);
  if (culprit) return "the control flow has a loop with two entries (goto into a loop)";
  RegionBuilder builder(lane, order);
  lane.body_region = builder.build(lane.loop, own);
  for (auto& [loop, members] : blocks) lane.regions[loop] = std::make_unique<Region>(builder.build(loop, members));
  return {};
}

}  // namespace iruka::cpu_backend::spmd
