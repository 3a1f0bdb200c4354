#include "backend/cpu/compiler/cancel_poll.h"

#include "backend/cpu/compiler/symbols.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

namespace iruka::cpu_backend {

llvm::Value* ask_whether_to_stop(llvm::IRBuilder<>& build, llvm::Function& function) {
  llvm::CallInst* asked;
  if (symbol_address(kSavingCancelPollName)) {
    // The call pushes a return address into the red zone, where leaf functions may keep variables.
    function.addFnAttr(llvm::Attribute::NoRedZone);
    auto* type = llvm::FunctionType::get(build.getInt32Ty(), false);
    const std::string text = std::string("call ") + kSavingCancelPollName + "@PLT";
    asked = build.CreateCall(
        llvm::InlineAsm::get(type, text, "={eax},~{dirflag},~{fpsr},~{flags}", /*hasSideEffects=*/true));
  } else {
    asked = build.CreateCall(function.getParent()->getOrInsertFunction(kCancelPollName, build.getInt1Ty()));
    asked->addRetAttr(llvm::Attribute::ZExt);
  }
  asked->setDoesNotThrow();
  asked->setOnlyAccessesInaccessibleMemory();  // values that the loop has loaded stay in registers
  return build.CreateIsNotNull(asked);
}

llvm::BasicBlock* make_return(llvm::Function& function) {
  auto* block = llvm::BasicBlock::Create(function.getContext(), "cancelled", &function);
  llvm::IRBuilder<> build(block);
  llvm::Type* type = function.getReturnType();
  type->isVoidTy() ? build.CreateRetVoid() : build.CreateRet(llvm::Constant::getNullValue(type));
  return block;
}

}  // namespace iruka::cpu_backend
