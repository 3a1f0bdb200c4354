// What a load or a store does in each lane.
#pragma once

#include "backend/cpu/spmd/body.h"
#include "llvm/IR/IRBuilder.h"

namespace iruka::cpu_backend::spmd {

struct Access {
  llvm::Value* pointer = nullptr;
  Shape shape;                 ///< of the pointer
  llvm::Type* type = nullptr;  ///< of an element in memory
  int64_t size = 0;            ///< bytes
  llvm::Align align;           ///< of an element
  llvm::AAMDNodes aliases;
  bool has_vector_form = false;
  bool is_own_everywhere = false;  ///< side by side in the lanes' own memory, all of which may be accessed
};

Access access_of(const llvm::Instruction& instruction, const Body& body);

llvm::Value* load_element(llvm::IRBuilder<>& build, const Access& access, llvm::Value* pointer);
/// Stores an element, or a vector of elements.
void store_element(llvm::IRBuilder<>& build, const Access& access, llvm::Value* pointer, llvm::Value* value);

}  // namespace iruka::cpu_backend::spmd
