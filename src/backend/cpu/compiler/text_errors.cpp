#include "backend/cpu/compiler/text_errors.h"

#include "backend/cpu/compiler/symbols.h"
#include "backend/cpu/compiler/text_warnings.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"

namespace iruka::cpu_backend {
namespace {

class TextChecker : public clang::RecursiveASTVisitor<TextChecker> {
 public:
  TextChecker(clang::ASTContext& context, std::vector<Diagnostic>& diagnostics)
      : context_(context), manager_(context.getSourceManager()), diagnostics_(diagnostics) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool is_ok() const { return is_ok_; }

  bool VisitVarDecl(clang::VarDecl* variable) {
    const clang::QualType type = variable->getType();
    if (!variable->hasLocalStorage() || type->isDependentType() || type->isReferenceType() ||
        !type->isConstantSizeType() || type->isIncompleteType() || !is_users(manager_, variable->getLocation()))
      return true;
    const auto bytes = static_cast<uint64_t>(context_.getTypeSizeInChars(type).getQuantity());
    if (bytes > kLargestFrame)
      refuse(variable->getLocation(), "the local variable '" + variable->getNameAsString() + "' takes " +
                                          std::to_string(bytes) + " bytes; at most " + std::to_string(kLargestFrame) +
                                          " are allowed");
    return true;
  }

  // The preamble may have functions that nothing calls, so that only calls in the body are checked.
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* called = call->getDirectCallee();
    if (!called || called->isDefined() || !called->isUsed() || called->getBuiltinID() || called->isPureVirtual() ||
        !is_users(manager_, called->getLocation()) || !is_users(manager_, call->getBeginLoc()))
      return true;
    const std::string name = called->getNameAsString();
    const bool is_known = called->isExternC() && symbol_address(name);
    if (!is_known && file_of(call->getBeginLoc()) != "preamble")
      refuse(call->getBeginLoc(), "a kernel cannot call '" + name + "', which is declared but not defined");
    return true;
  }

 private:
  clang::PresumedLoc place_of(clang::SourceLocation location) const {
    return manager_.getPresumedLoc(manager_.getExpansionLoc(location));
  }
  llvm::StringRef file_of(clang::SourceLocation location) const { return place_of(location).getFilename(); }

  void refuse(clang::SourceLocation location, std::string message) {
    const clang::PresumedLoc place = place_of(location);
    diagnostics_.push_back({Diagnostic::Level::error, place.getFilename(), static_cast<int>(place.getLine()),
                            static_cast<int>(place.getColumn()), std::move(message)});
    is_ok_ = false;
  }

  clang::ASTContext& context_;
  clang::SourceManager& manager_;
  std::vector<Diagnostic>& diagnostics_;
  bool is_ok_ = true;
};

}  // namespace

bool check_texts(clang::CompilerInstance& compiler, std::vector<Diagnostic>& diagnostics) {
  clang::ASTContext& context = compiler.getASTContext();
  TextChecker checker(context, diagnostics);
  for (clang::Decl* declared : context.getTranslationUnitDecl()->noload_decls())  // without the precompiled prelude
    if (!declared->isFromASTFile()) checker.TraverseDecl(declared);
  return checker.is_ok();
}

}  // namespace iruka::cpu_backend
