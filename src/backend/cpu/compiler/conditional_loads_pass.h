// Lets loops that read arrays under a condition become vectors.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Value.h"

namespace iruka::cpu_backend {

/// The call by which the emitter's text tells how many bytes lie behind the pointer of a raw array. Both arguments are
/// values of the entry.
inline constexpr const char* kArrayBytesName = "iruka_array_bytes";

/// The bytes of arrays, by their pointers.
using ArrayBytes = llvm::DenseMap<const llvm::Value*, llvm::Value*>;
/// What the calls in a function tell.
ArrayBytes find_array_bytes(llvm::Function& function);

/// An innermost loop that compares neighbouring elements one after the other, as `a[k] == x && a[k + 1] == y` does,
/// reads some of them only where the first comparison holds. LLVM's vectoriser must then read under a mask, which few
/// processors have for bytes. Here the loop is written twice behind a test of the addresses: where all of them lie
/// inside the arrays, every round reads everything. Runs before the vectorisers.
class ConditionalLoadsPass : public llvm::PassInfoMixin<ConditionalLoadsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

/// Removes the calls, which nothing defines.
void erase_array_bytes(llvm::Module& module);

}  // namespace iruka::cpu_backend
