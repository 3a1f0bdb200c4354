#include "backend/cpu/spmd/interleaved.h"

#include "backend/cpu/spmd/address.h"
#include "backend/cpu/spmd/memory_types.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;

struct Access {
  Instruction* instruction = nullptr;
  llvm::Type* type = nullptr;
  AddressSum address;
  int64_t size = 0;    ///< bytes
  int64_t stride = 0;  ///< bytes; 0: not an access that can be in a group
};

/// A group under construction; its first member's address is what the others are measured by.
struct OpenGroup {
  AddressSum address;
  InterleavedGroup group;
  int64_t size = 0, lowest = 0, highest = 0;
  bool is_store = false;
};

class GroupSearch {
 public:
  GroupSearch(const LaneAnalysis& analysis, const PrivateMemory& memory, const llvm::DataLayout& layout)
      : analysis_(analysis), memory_(memory), layout_(layout) {}

  std::vector<InterleavedGroup> search(const llvm::BasicBlock& block) {
    for (const Instruction& instruction : block) visit(const_cast<Instruction&>(instruction));
    while (!open_.empty()) close(0);
    return std::move(groups_);
  }

 private:
  void visit(Instruction& instruction) {
    if (instruction.isLifetimeStartOrEnd() || llvm::isa<llvm::AssumeInst>(instruction)) return;
    const bool reads = instruction.mayReadFromMemory(), writes = instruction.mayWriteToMemory();
    if (!reads && !writes && instruction.willReturn()) return;
    const Access access = read(instruction);
    close_others(instruction, access, writes);
    if (access.stride != 0) add(access, writes);
  }

  Access read(Instruction& instruction) const {
    Access access;
    access.instruction = &instruction;
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer || instruction.isAtomic() || instruction.isVolatile()) return access;
    access.type = memory_type(llvm::getLoadStoreType(&instruction));
    access.size = static_cast<int64_t>(layout_.getTypeStoreSize(access.type).getFixedValue());
    const Shape shape = analysis_.shape(pointer);
    access.address = take_apart(pointer, layout_, [&](const llvm::Value* cast) { return analysis_.shape(cast).is_linear(); });
    const int64_t factor = shape.stride / access.size;
    const bool fits = shape.is_linear() && factor >= 2 && factor <= 4 && factor * access.size == shape.stride;
    // A lane's own memory lies otherwise than the addresses say.
    if (fits && has_vector_form(access.type, layout_) && !memory_.layout_of(pointer)) access.stride = shape.stride;
    return access;
  }

  /// Ends the groups that an access must not be carried across.
  void close_others(const Instruction& instruction, const Access& access, bool writes) {
    for (size_t k = open_.size(); k-- > 0;) {
      const OpenGroup& open = open_[k];
      if (!writes && !open.is_store) continue;
      const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      const bool is_simple = pointer && !instruction.isAtomic() && !instruction.isVolatile();
      if (is_simple && memory_.layout_of(pointer) && !memory_.escapes()) continue;
      if (is_simple && access.stride == open.group.factor * open.size && lies_apart(access, open)) continue;
      if (is_simple && belongs(access, open, writes)) continue;
      close(k);
    }
  }

  static bool is_alike(const Access& access, const OpenGroup& open, bool is_store) {
    return access.type == open.group.type && access.stride == open.group.factor * open.size && is_store == open.is_store;
  }

  /// Whether no lane touches with `access` what a lane touches in the group.
  bool lies_apart(const Access& access, const OpenGroup& open) const {
    const auto distance = access.address.minus(open.address);
    if (!distance) return false;
    return llvm::none_of(open.group.members, [&](const InterleavedGroup::Member& member) {
      // In one period; both are lists of places `stride` apart.
      int64_t apart = (*distance - member.channel) % access.stride;
      if (apart < 0) apart += access.stride;
      return apart < open.size || apart + access.size > access.stride;
    });
  }

  bool belongs(const Access& access, const OpenGroup& open, bool is_store) const {
    if (access.stride == 0 || !is_alike(access, open, is_store)) return false;
    const auto distance = access.address.minus(open.address);
    if (!distance || *distance % open.size != 0) return false;
    const int64_t lowest = std::min(open.lowest, *distance), highest = std::max(open.highest, *distance);
    if (highest - lowest >= access.stride) return false;
    return !is_store || llvm::none_of(open.group.members, [&](const auto& member) { return member.channel == *distance; });
  }

  void add(const Access& access, bool is_store) {
    for (OpenGroup& open : open_) {
      if (!belongs(access, open, is_store)) continue;
      const int64_t distance = *access.address.minus(open.address);
      open.lowest = std::min(open.lowest, distance);
      open.highest = std::max(open.highest, distance);
      open.group.members.push_back({access.instruction, distance});
      return;
    }
    OpenGroup open;
    open.address = access.address;
    open.size = access.size;
    open.is_store = is_store;
    open.group.type = access.type;
    open.group.factor = access.stride / access.size;
    open.group.members.push_back({access.instruction, 0});
    open_.push_back(std::move(open));
  }

  /// Until here a member's channel is bytes from the first member.
  void close(size_t k) {
    OpenGroup open = std::move(open_[k]);
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(k));
    InterleavedGroup& group = open.group;
    group.channels = (open.highest - open.lowest) / open.size + 1;
    for (auto& member : group.members) member.channel = (member.channel - open.lowest) / open.size;
    const bool is_covered = static_cast<int64_t>(group.members.size()) == group.factor && group.channels == group.factor;
    if (!open.is_store || is_covered) groups_.push_back(std::move(group));
  }

  const LaneAnalysis& analysis_;
  const PrivateMemory& memory_;
  const llvm::DataLayout& layout_;
  std::vector<OpenGroup> open_;
  std::vector<InterleavedGroup> groups_;
};

}  // namespace

std::vector<InterleavedGroup> find_interleaved_groups(const llvm::BasicBlock& block, const LaneAnalysis& analysis,
                                                      const PrivateMemory& memory) {
  return GroupSearch(analysis, memory, block.getDataLayout()).search(block);
}

}  // namespace iruka::cpu_backend::spmd
