#include "backend/cpu/spmd/interleaved.h"

#include "backend/cpu/spmd/address.h"
#include "backend/cpu/spmd/memory_types.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {
namespace {

using llvm::Instruction;

/// The largest span that a group reads for one lane.
constexpr int64_t kLargestWindow = 64;

struct Access {
  Instruction* instruction = nullptr;
  llvm::Type* type = nullptr;
  AddressSum address;
  int64_t size = 0;    ///< bytes
  int64_t factor = 0;  ///< elements from lane to lane where one wide access can read all; else 0
  bool can_join = false;
};

/// A group under construction. Distances are in bytes from its first member, channels too until it is closed.
struct OpenGroup {
  AddressSum address;
  InterleavedGroup group;
  int64_t size = 0, lowest = 0, highest = 0;
  bool is_store = false;
  std::vector<int64_t> stores_behind;  ///< distances of the stores that a read must not overtake to join
};

class GroupSearch {
 public:
  GroupSearch(const LaneAnalysis& analysis, const PrivateMemory& memory, const llvm::DataLayout& layout, bool is_full)
      : analysis_(analysis), memory_(memory), layout_(layout), is_full_(is_full) {}

  std::vector<InterleavedGroup> search(const llvm::BasicBlock& block) {
    for (const Instruction& instruction : block) visit(const_cast<Instruction&>(instruction));
    while (!open_.empty()) close(0);
    return std::move(groups_);
  }

 private:
  void visit(Instruction& instruction) {
    if (instruction.isLifetimeStartOrEnd() || llvm::isa<llvm::AssumeInst>(instruction)) return;
    if (!llvm::isGuaranteedToTransferExecutionToSuccessor(&instruction)) {
      while (!open_.empty()) close(0);
      return;
    }
    const bool writes = instruction.mayWriteToMemory();
    if (!writes && !instruction.mayReadFromMemory()) return;
    const Access access = read(instruction, writes);
    close_others(access, writes);
    if (access.can_join) add(access, writes);
  }

  Access read(Instruction& instruction, bool is_store) const {
    Access access;
    access.instruction = &instruction;
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer || instruction.isAtomic() || instruction.isVolatile()) return access;
    access.type = memory_type(llvm::getLoadStoreType(&instruction));
    access.size = static_cast<int64_t>(layout_.getTypeStoreSize(access.type).getFixedValue());
    // In arrays of fewer than 2^31 elements two indices that differ by a constant do so in 64 bits, too.
    access.address = take_apart(pointer, layout_, [&](const llvm::Value* cast) {
      const bool is_wide = llvm::cast<llvm::CastInst>(cast)->getSrcTy()->getIntegerBitWidth() >= 32;
      return (is_wide && analysis_.has_small_arrays()) || analysis_.shape(cast).is_linear();
    });
    // The layout of the lanes' own memory differs from the one that its addresses suggest.
    if (!has_vector_form(access.type, layout_) || memory_.layout_of(pointer)) return access;
    const Shape shape = analysis_.shape(pointer);
    const int64_t factor = shape.stride / access.size;
    const bool is_multiple = shape.is_linear() && factor * access.size == shape.stride;
    if (is_full_ && is_multiple && factor >= 2 && factor <= 4) access.factor = factor;
    const bool is_apart = !shape.is_uniform() && !(is_multiple && (factor == 1 || factor == -1));
    const bool has_pieces = access.size == 4 || access.size == 8;
    access.can_join = access.factor != 0 || (!is_store && is_apart && has_pieces);
    return access;
  }

  /// Closes the groups whose accesses must not move across this one.
  void close_others(const Access& access, bool writes) {
    for (size_t k = open_.size(); k-- > 0;) {
      OpenGroup& open = open_[k];
      if (!writes && !open.is_store) continue;
      if (access.type) {
        const llvm::Value* pointer = llvm::getLoadStorePointerOperand(access.instruction);
        if (memory_.layout_of(pointer) && !memory_.escapes()) continue;
        if (lies_apart(access, open)) {
          if (!open.is_store) open.stores_behind.push_back(*access.address.minus(open.address));
          continue;
        }
        if (belongs(access, open, writes)) continue;
      }
      close(k);
    }
  }

  /// Whether `access` overlaps the group in no lane.
  bool lies_apart(const Access& access, const OpenGroup& open) const {
    if (access.factor == 0 || access.factor != open.group.factor || access.size != open.size) return false;
    const auto distance = access.address.minus(open.address);
    return distance && llvm::none_of(open.group.members, [&](const InterleavedGroup::Member& member) {
             return overlap(*distance, member.channel, open);
           });
  }

  /// Whether two accesses at these distances from the group overlap in some lanes. Both repeat every `factor`
  /// elements, so one period decides.
  static bool overlap(int64_t distance, int64_t other, const OpenGroup& open) {
    const int64_t stride = open.group.factor * open.size;
    const int64_t apart = ((distance - other) % stride + stride) % stride;
    return apart < open.size || apart + open.size > stride;
  }

  bool belongs(const Access& access, const OpenGroup& open, bool is_store) const {
    if (!access.can_join || access.type != open.group.type || is_store != open.is_store) return false;
    if (access.factor != open.group.factor) return false;
    const auto distance = access.address.minus(open.address);
    if (!distance || *distance % open.size != 0) return false;
    const int64_t lowest = std::min(open.lowest, *distance), highest = std::max(open.highest, *distance);
    const int64_t limit = access.factor ? access.factor * access.size : kLargestWindow;
    if (highest - lowest >= limit) return false;
    if (llvm::any_of(open.stores_behind, [&](int64_t store) { return overlap(*distance, store, open); })) return false;
    return !is_store ||
           llvm::none_of(open.group.members, [&](const auto& member) { return member.channel == *distance; });
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
    open.group.factor = access.factor;
    open.group.members.push_back({access.instruction, 0});
    open_.push_back(std::move(open));
  }

  void close(size_t k) {
    OpenGroup open = std::move(open_[k]);
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(k));
    InterleavedGroup& group = open.group;
    group.channels = (open.highest - open.lowest) / open.size + 1;
    for (auto& member : group.members) member.channel = (member.channel - open.lowest) / open.size;
    const bool is_covered =
        static_cast<int64_t>(group.members.size()) == group.factor && group.channels == group.factor;
    if (open.is_store ? is_covered : group.factor || group.channels > 1) groups_.push_back(std::move(group));
  }

  const LaneAnalysis& analysis_;
  const PrivateMemory& memory_;
  const llvm::DataLayout& layout_;
  const bool is_full_;
  std::vector<OpenGroup> open_;
  std::vector<InterleavedGroup> groups_;
};

}  // namespace

std::vector<InterleavedGroup> find_interleaved_groups(const llvm::BasicBlock& block, const LaneAnalysis& analysis,
                                                      const PrivateMemory& memory, bool is_full) {
  return GroupSearch(analysis, memory, block.getDataLayout(), is_full).search(block);
}

}  // namespace iruka::cpu_backend::spmd
