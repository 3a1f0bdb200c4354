// Local variables for what crosses blocks; they become registers once the function is complete.
#pragma once

#include "backend/cpu/spmd/lane_builder.h"

namespace iruka::cpu_backend::spmd {

class Slots {
 public:
  Slots(LaneBuilder& build, const WidenTarget& target);

  /// A slot for values of `type`; a mask is kept in a form that need not be packed.
  llvm::AllocaInst* make(llvm::Type* type);
  void store(llvm::Value* value, llvm::AllocaInst* slot);
  llvm::Value* load(llvm::AllocaInst* slot, llvm::Type* type);
  llvm::ArrayRef<llvm::AllocaInst*> all() const { return all_; }

 private:
  llvm::Type* stored_type(llvm::Type* type) const;

  LaneBuilder& build_;
  const WidenTarget& target_;
  llvm::SmallVector<llvm::AllocaInst*, 32> all_;
};

}  // namespace iruka::cpu_backend::spmd
