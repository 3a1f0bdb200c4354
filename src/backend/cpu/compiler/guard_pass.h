// Defines the operations that C++ leaves undefined, before any optimisation.
#pragma once

#include <optional>

#include "llvm/IR/PassManager.h"

namespace llvm {
class CallInst;
class IRBuilderBase;
class Module;
class Value;
}  // namespace llvm

namespace iruka::cpu_backend {

/// Division and remainder by zero give 0, the most negative number divided by -1 wraps; over-long shifts shift
/// everything out; float-to-integer casts saturate and NaN gives 0; bit counts of 0 and abs of the most negative number
/// are defined. Only selects are added, so loops still vectorise. Running off a function's end returns zero, and so
/// does a trap. A scalar division becomes a call of a pure function, so that later passes see it whole, until
/// expand_divisions().
class GuardPass : public llvm::PassInfoMixin<GuardPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }
};

/// In a test, a text that defines this name behaves as on a GPU: casts of floats to 8 and 16 bits go through 32 bits.
inline constexpr const char* kWrapsNarrowCasts = "iruka_wraps_narrow_casts";

/// The opcode (SDiv, UDiv, SRem, URem) of a division that GuardPass has turned into a call; its arguments are the
/// operands.
std::optional<unsigned> division_opcode(const llvm::CallInst& call);

/// A division of frozen operands, vectors or not, with the results that the kernel language defines.
llvm::Value* guarded_division(llvm::IRBuilderBase& build, unsigned opcode, llvm::Value* dividend, llvm::Value* divisor);

/// Replaces the calls that stand for divisions by code.
void expand_divisions(llvm::Module& module);

}  // namespace iruka::cpu_backend
