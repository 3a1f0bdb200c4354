// Writes the body of a lane loop for W elements.
#pragma once

#include <string>

#include "backend/cpu/spmd/interleaved.h"
#include "backend/cpu/spmd/shapes.h"
#include "core/device.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace iruka::cpu_backend::spmd {

/// What the widener needs to know about the processor.
struct WidenTarget {
  const llvm::TargetTransformInfo& costs;
  const llvm::TargetLibraryInfo& library;
  int vector_bytes;        ///< of the widest register
  bool has_mask_registers; ///< AVX-512: a mask is one bit a lane
  unsigned lane_bits;      ///< of the type that sets the number of lanes; masks take as many elsewhere
};

/// Values that belong to one copy of the body.
struct BodyStart {
  llvm::Value* counter = nullptr;    ///< of the first lane
  llvm::Value* mask = nullptr;       ///< <W x i1>; null: every lane
  bool is_rest = false;              ///< runs but once behind whole vectors
  llvm::Value* quotient = nullptr;   ///< where rows are split: counter / divisor, 64 bits
  llvm::Value* remainder = nullptr;  ///< counter % divisor of the first lane, 64 bits
};

/// One copy of the body. A value of the body has up to two forms:
///   scalar(v)  the one value of a uniform v, the first lane's of a linear v
///   vector(v)  all lanes' values, <W x T>; of a structure, a structure of vectors
/// The first lane may be inactive; nothing that could trap or touch memory follows from scalar() of a linear value unless
/// the mask is full.
class Widener {
 public:
  Widener(const LaneLoop& loop, const PrivateMemory& memory, const LaneAnalysis& analysis, const WidenTarget& target);

  /// Writes the body behind `block`, which has no terminator; returns the block where it ends, without terminator.
  llvm::BasicBlock* write(llvm::BasicBlock* block, const BodyStart& start);
  /// Locals that are to become registers once all of the function's blocks have terminators.
  llvm::ArrayRef<llvm::AllocaInst*> slots() const { return promotable_; }

 private:
  // values.cpp
  llvm::Value* scalar(llvm::Value* value);
  llvm::Value* vector(llvm::Value* value);
  llvm::Type* widened(llvm::Type* type) const;              ///< <W x T>, or a structure of them
  llvm::Value* splat(llvm::Value* value);
  llvm::Value* lanes_of(llvm::Value* first, int64_t stride); ///< first + lane * stride, for integers and pointers
  llvm::Value* blend(llvm::Value* mask, llvm::Value* chosen, llvm::Value* otherwise);
  void set_scalar(const llvm::Value* value, llvm::Value* form) { scalars_[value] = form; }
  void set_vector(const llvm::Value* value, llvm::Value* form) { vectors_[value] = form; }
  llvm::AllocaInst* new_slot(llvm::Type* type);             ///< a local at the function's entry

  // Masks. null is the full mask everywhere.
  llvm::Value* mask_and(llvm::Value* mask, llvm::Value* condition);  ///< either may be null
  llvm::Value* any(llvm::Value* mask);                       ///< i1; true for the full mask
  llvm::Value* bits_of(llvm::Value* mask);                   ///< iW, bit l is lane l
  llvm::Value* full_mask() const;                            ///< the constant
  llvm::Type* stored_type(llvm::Type* type) const;           ///< how <W x i1> crosses blocks; else the type itself
  void store(llvm::Value* value, llvm::AllocaInst* slot);    ///< packs <W x i1>
  llvm::Value* load(llvm::AllocaInst* slot, llvm::Type* type);
  llvm::Type* mask_type() const;                             ///< <W x i1>

  // control.cpp
  // Each writes what its node dominates in the region: a structured form of any reducible flow.
  void write_node(const Region& region, unsigned node, llvm::Value* mask);
  void write_block(llvm::BasicBlock* block, llvm::Value* mask);
  void write_loop(const Region& region, unsigned node, llvm::Value* mask);
  void write_child(const Region& region, unsigned child, llvm::Value* mask);
  void prepare_children(const Region& region, unsigned node);
  void write_terminator(llvm::BasicBlock* block);
  /// For the lanes where `condition` (null: all) holds, or those where it does not.
  void write_edge(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Value* condition, bool is_opposite);
  void write_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Value* condition);
  void load_phis(llvm::BasicBlock* block);
  llvm::AllocaInst* reach_slot(const llvm::BasicBlock* block, bool is_mask);
  llvm::AllocaInst* any_slot(const llvm::BasicBlock* header);  ///< i1: any lane goes round again
  llvm::AllocaInst* phi_slot(const llvm::PHINode& phi);
  bool is_worth_jumping_over(const Region& region, unsigned node) const;
  llvm::BasicBlock* new_block(const char* name);
  void go_to(llvm::BasicBlock* block);  ///< branches there and goes on writing there

  // instructions.cpp
  void write_instruction(llvm::Instruction& instruction);
  void write_uniform(llvm::Instruction& instruction);        ///< a copy on scalars
  void write_linear(llvm::Instruction& instruction);         ///< a copy on the first lane
  void write_varying(llvm::Instruction& instruction);
  void write_address(llvm::GetElementPtrInst& address);

  // memory.cpp
  /// What a load or a store does in each lane.
  struct Access {
    llvm::Value* pointer = nullptr;
    Shape shape;                     ///< of the pointer
    llvm::Type* type = nullptr;      ///< of an element in memory
    int64_t size = 0;                ///< bytes
    llvm::Align align;               ///< of an element
    llvm::AAMDNodes aliases;
    bool has_vector_form = false;
    bool is_own_everywhere = false;  ///< side by side in the lanes' own memory: nothing forbids to touch all of it
  };
  void write_local(llvm::AllocaInst& local);
  void write_load(llvm::LoadInst& load);
  void write_store(llvm::StoreInst& store);
  Access access_of(const llvm::Instruction& instruction) const;
  bool has_vector_form(llvm::Type* type) const;
  llvm::Align lane_memory_align(llvm::Type* element) const;
  llvm::Value* read(const Access& access);
  llvm::Value* load_one(const Access& access, llvm::Value* pointer);
  llvm::Value* load_all(const Access& access, llvm::Value* first);
  llvm::Value* read_neighbours(const Access& access, llvm::Value* first, llvm::Value* mask);
  llvm::Value* read_within_page(const Access& access, llvm::Value* first, llvm::Value* mask);
  void write_lanes(const Access& access, llvm::Value* lanes);
  void store_one(const Access& access, llvm::Value* pointer, llvm::Value* value);
  void write_neighbours(const Access& access, llvm::Value* lanes, llvm::Value* first, llvm::Value* mask);
  llvm::Value* stored_lanes(llvm::Value* value);
  llvm::Value* last_active_value(llvm::Value* value);
  llvm::Value* last_lane_address(const Access& access);
  llvm::Value* reversed(llvm::Value* mask);

  // channels.cpp
  /// What a test said of lanes that often read a row of elements, `step` apart.
  struct RowTest {
    llvm::Value* is_row = nullptr;  ///< i1; null: there is no sense in testing
    llvm::Value* index = nullptr;   ///< the one that varies
    llvm::Value* first = nullptr;   ///< of the first lane
    int64_t step = 0;
  };
  using Channels = llvm::SmallVector<llvm::Value*, 16>;
  void find_groups(llvm::BasicBlock& block);  ///< before the block is written
  bool write_group_member(llvm::Instruction& instruction);
  Access access_of(const InterleavedGroup& group) const;
  llvm::Value* group_address(const InterleavedGroup& group, const InterleavedGroup::Member& member);
  llvm::AAMDNodes group_aliases(const InterleavedGroup& group) const;
  void read_group(const InterleavedGroup& group);
  void write_group(const InterleavedGroup& group);
  Channels read_wide(const Access& access, llvm::Value* first, unsigned factor, unsigned channels);
  llvm::Value* read_span(const Access& access, llvm::Value* first, unsigned factor, unsigned count);
  bool has_pieces(const InterleavedGroup& group) const;
  Channels read_windows(const InterleavedGroup& group);
  Channels read_row(const InterleavedGroup& group, const Access& access, const RowTest& test);
  Channels gather_windows(const InterleavedGroup& group, const Access& access);
  llvm::Value* load_piece(const Access& access, llvm::Value* place, unsigned count);
  llvm::SmallVector<llvm::Value*, 4> transposed(llvm::ArrayRef<llvm::Value*> rows);

  // gather.cpp
  llvm::Value* in_lane(llvm::Value* value, unsigned lane);
  llvm::Value* read_anywhere(const Access& access);
  llvm::Value* gather(const Access& access);
  struct Indexed {
    llvm::Value *base = nullptr, *index = nullptr;  ///< base + index * scale bytes; the index a vector
    uint64_t scale = 1;
  };
  Indexed indexed(const Access& access);
  llvm::Value* gather_by_processor(const Access& access);
  llvm::Value* part_of(llvm::Value* lanes, unsigned from, unsigned count);
  void write_anywhere(const Access& access, llvm::Value* lanes);
  llvm::Value* is_active(unsigned lane);
  llvm::Value* zero_place();

  // neighbours.cpp
  llvm::Value* clamped_in_lane(llvm::Value* value, unsigned lane, llvm::SmallVectorImpl<llvm::Value*>* conditions);
  llvm::Value* only_varying_index(const Access& access) const;
  llvm::Value* advances_by(llvm::Value* index, int64_t step, llvm::Value*& first);
  llvm::Value* advances_everywhere(llvm::Value* index, llvm::Value*& first);
  RowTest test_row(const Access& access);
  llvm::Value* read_maybe_neighbours(const Access& access);
  llvm::Value* with_index(const Access& access, const llvm::Value* index, llvm::Value* first);

  // lane_by_lane.cpp: one lane after another, for what has no vector form
  /// Calls `write` once, to write the work of the lane it is given (i32) inside a loop over the active lanes, lowest first.
  /// Values that the work reads lane by lane are to be had from spilled() before and lane_value() inside.
  void for_each_active_lane(llvm::Value* mask, llvm::function_ref<void(llvm::Value* lane)> write);
  llvm::AllocaInst* spilled(llvm::Value* vector);            ///< memory that holds the vector
  llvm::Value* lane_value(llvm::AllocaInst* spill, llvm::Type* type, llvm::Value* lane);
  llvm::Value* lane_operand(llvm::Value* operand, llvm::ArrayRef<llvm::AllocaInst*> spills, llvm::Value* lane);
  void store_lanes(llvm::Value* vector, llvm::AllocaInst* spill);
  llvm::Value* load_lanes(llvm::AllocaInst* spill, llvm::Type* type);
  llvm::SmallVector<llvm::AllocaInst*, 2> lane_results(llvm::Type* type);
  void write_lane_by_lane(llvm::Instruction& instruction);   ///< a copy of the instruction for every active lane

  // calls.cpp
  void write_call(llvm::CallInst& call);
  void write_math(llvm::CallInst& call);
  void write_intrinsic(llvm::CallInst& call);
  void write_prefetch(llvm::CallInst& call);
  llvm::Value* math(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> arguments);
  void write_division(llvm::Instruction& division, unsigned opcode, llvm::Value* dividend, llvm::Value* divisor);

  const LaneLoop& loop_;
  const PrivateMemory& memory_;
  const LaneAnalysis& analysis_;
  const WidenTarget& target_;
  const llvm::DataLayout& layout_;
  llvm::Function& function_;
  const unsigned lanes_;
  llvm::IRBuilder<> build_;
  llvm::AssumptionCache assumptions_;  ///< reads the function when it is first asked
  BodyStart start_;
  llvm::Value* mask_ = nullptr;  ///< of the block being written; null: all lanes
  bool is_guarded_ = true;       ///< at least one lane is active where code is being written
  llvm::DenseMap<const llvm::Value*, llvm::Value*> scalars_, vectors_;
  llvm::BasicBlock* first_ = nullptr;  ///< where what comes from outside of the loop is spread over the lanes
  /// Whether, or with which lanes, a block is reached; of a loop's header, whether or which lanes go round again.
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> reached_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> any_again_;  ///< of divergent loops, by header
  llvm::DenseMap<const llvm::PHINode*, llvm::AllocaInst*> phi_slots_;
  std::vector<InterleavedGroup> groups_;  ///< of the block being written
  llvm::DenseMap<const llvm::Instruction*, const InterleavedGroup*> group_members_;
  llvm::SmallVector<llvm::AllocaInst*, 32> promotable_;                   ///< slots that become registers at the end
};

}  // namespace iruka::cpu_backend::spmd
