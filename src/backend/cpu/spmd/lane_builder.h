// An IR builder for W lanes: it knows the place of writing and the lanes that are active there.
#pragma once

#include "backend/cpu/spmd/body.h"
#include "llvm/IR/IRBuilder.h"

namespace iruka::cpu_backend::spmd {

/// Wherever a mask is an argument or a result, null means that all lanes are active.
class LaneBuilder : public llvm::IRBuilder<> {
 public:
  explicit LaneBuilder(const Body& body);

  unsigned lanes() const { return lanes_; }
  llvm::Function& function() const { return function_; }
  const llvm::DataLayout& layout() const { return layout_; }

  llvm::BasicBlock* new_block(const char* name);
  void go_to(llvm::BasicBlock* block);            ///< branches to the block and goes on writing there
  llvm::AllocaInst* new_local(llvm::Type* type);  ///< a local variable, at the entry of the function

  /// The lanes that execute what is being written.
  llvm::Value* mask() const { return mask_; }
  void set_mask(llvm::Value* mask) { mask_ = mask; }
  /// Whether at least one lane is active wherever the code being written runs.
  bool is_guarded() const { return is_guarded_; }
  void set_guarded(bool is_guarded) { is_guarded_ = is_guarded; }
  llvm::Value* is_active(unsigned lane);  ///< i1, of mask()

  llvm::Type* widened(llvm::Type* type) const;  ///< <W x T>, or a structure of such vectors
  llvm::Type* mask_type() const;                ///< <W x i1>
  llvm::Value* full_mask() const;               ///< the constant
  llvm::Value* splat(llvm::Value* value);
  llvm::Value* advancing(llvm::Value* first, int64_t stride);  ///< first + lane * stride, for integers and pointers
  llvm::Value* blend(llvm::Value* mask, llvm::Value* chosen, llvm::Value* otherwise);
  llvm::Value* part_of(llvm::Value* vector, unsigned from, unsigned count);

  llvm::Value* mask_and(llvm::Value* mask, llvm::Value* condition);
  llvm::Value* any(llvm::Value* mask);      ///< i1
  llvm::Value* bits_of(llvm::Value* mask);  ///< iW, bit l is lane l
  llvm::Value* reversed(llvm::Value* mask);

 private:
  const WidenTarget& target_;
  const llvm::DataLayout& layout_;
  llvm::Function& function_;
  llvm::BasicBlock* const exit_;  ///< of the lane loop; new blocks stand before it
  const unsigned lanes_;
  llvm::Value* mask_ = nullptr;
  bool is_guarded_ = true;
};

}  // namespace iruka::cpu_backend::spmd
