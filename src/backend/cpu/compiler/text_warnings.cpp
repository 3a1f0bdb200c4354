#include "backend/cpu/compiler/text_warnings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/Sema.h"

namespace iruka::cpu_backend {
namespace {

constexpr std::string_view kReported[] = {
    "unused-value", "unused-comparison", "uninitialized", "sometimes-uninitialized",
    "parentheses",  "empty-body",        "unsequenced",   "infinite-recursion",
    "self-assign",  "return-type",       "array-bounds",  "return-stack-address"};

class TextWatcher : public clang::RecursiveASTVisitor<TextWatcher> {
 public:
  TextWatcher(clang::ASTContext& context, const ProgramSource& source, std::vector<Diagnostic>& diagnostics)
      : context_(context),
        manager_(context.getSourceManager()),
        policy_(context.getPrintingPolicy()),
        source_(source),
        diagnostics_(diagnostics) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  // What is not evaluated neither reads nor writes.
  bool TraverseDecltypeTypeLoc(clang::DecltypeTypeLoc, bool = true) { return true; }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; }
  bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr*) { return true; }
  bool TraverseStmt(clang::Stmt* statement, DataRecursionQueue* queue = nullptr) {
    return discarded_.contains(statement) || RecursiveASTVisitor::TraverseStmt(statement, queue);
  }
  bool VisitIfStmt(clang::IfStmt* branch) {
    if (!branch->isConstexpr()) return true;
    if (const auto taken = branch->getNondiscardedCase(context_))
      discarded_.insert(*taken == branch->getThen() ? branch->getElse() : branch->getThen());
    discarded_.erase(nullptr);
    return true;
  }

  // This reads an element; the reference to the parameter is visited next.
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    if (cast->getCastKind() != clang::CK_LValueToRValue) return true;
    if (const auto* read = variable_of(*cast->getSubExpr())) reads_.insert(read);
    return true;
  }

  // So do these, which write it afterwards.
  bool VisitCompoundAssignOperator(clang::CompoundAssignOperator* update) {
    if (const auto* updated = variable_of(*update->getLHS())) updates_.insert(updated);
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* update) {
    if (!update->isIncrementDecrementOp()) return true;
    if (const auto* updated = variable_of(*update->getSubExpr())) updates_.insert(updated);
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const clang::ValueDecl* named = reference->getDecl();
    if (!named->getIdentifier()) return true;
    if (is_users(named->getLocation()) || !is_users(reference->getLocation())) return true;
    const std::string name = named->getName().str();
    note_early(*reference, name);
    const bool is_output = std::ranges::find(source_.must_write, name) != source_.must_write.end();
    if (is_output) (reads_.contains(reference) ? read_ : written_).insert(name);
    return true;
  }

  bool VisitArraySubscriptExpr(clang::ArraySubscriptExpr* subscript) {
    // A raw array may have decayed to a pointer to its elements.
    const clang::QualType given = subscript->getBase()->IgnoreImplicit()->getType();
    check_index(subscript->getIdx(), given->isArrayType() ? "[y][x]" : "[{y, x}]");
    return true;
  }

  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr* call) {
    const clang::OverloadedOperatorKind sign = call->getOperator();
    if ((call->isAssignmentOp() && sign != clang::OO_Equal) || sign == clang::OO_PlusPlus ||
        sign == clang::OO_MinusMinus)
      if (const auto* updated = variable_of(*call->getArg(0))) updates_.insert(updated);
    if (sign != clang::OO_Subscript || call->getNumArgs() != 2) return true;
    check_index(call->getArg(1), "[{y, x}]");
    check_braces(*call);
    return true;
  }

  // These read elements that are objects, as of float16 and complex<float>.
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    if (call->getMethodDecl() && call->getMethodDecl()->isConst()) note_read_object(*call->getImplicitObjectArgument());
    return true;
  }

  // Several indices at once convert to integers by the constructor of these.
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    if (made->getConstructor()->isCopyConstructor()) note_read_object(*made->getArg(0));
    if (made->getConstructor()->getParent()->getName() != "MultiIndex") return true;
    for (const clang::Expr* index : made->arguments())
      if (index->getType()->isRealFloatingType()) warn_of_float(*index);
    return true;
  }

  /// Warns of outputs that no text writes, where the program contains all of the texts that may write them.
  void finish() {
    for (const std::string& name : source_.must_write) {
      if (written_.contains(name) || name.find(": ") != name.npos) continue;
      const std::string what = read_.contains(name) ? "is read, but nothing is written to it" : "is never written";
      diagnostics_.push_back({Diagnostic::Level::warning, "", 0, 0,
                              "the output '" + name + "' " + what +
                                  ": its elements are uninitialised; assign to it, as in `" + name + " = ...`"});
    }
    for (const auto& [name, read] : early_reads_)
      if (!early_writes_.contains(name)) {
        const std::string variable = name.substr(name.rfind(' ') + 1);
        warn(read, "'" + variable +
                       "' is read, but no stage has written to it: its elements are uninitialised; assign to them "
                       "before, as in `" +
                       variable + "[i] = ...`");
      }
    // Clang's own warning for a comma in brackets would repeat this one.
    std::erase_if(diagnostics_, [this](const Diagnostic& said) {
      return said.message.starts_with("left operand of comma operator") && commas_.contains({said.file, said.line});
    });
  }

 private:
  /// The variable that is `value`, or of which it is an element; null if it is something else.
  static const clang::DeclRefExpr* variable_of(const clang::Expr& value) {
    const clang::Expr* of = value.IgnoreParens();
    if (const auto* call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(of);
        call && call->getOperator() == clang::OO_Subscript)
      of = call->getArg(0)->IgnoreParenImpCasts();
    return llvm::dyn_cast<clang::DeclRefExpr>(of);
  }

  /// An array that is copied, or whose extents are asked for, is not read.
  void note_read_object(const clang::Expr& object) {
    const clang::Expr* element = object.IgnoreParenImpCasts();
    if (!llvm::isa<clang::CXXOperatorCallExpr, clang::ArraySubscriptExpr>(element)) return;
    if (const auto* read = variable_of(*element)) reads_.insert(read);
  }

  /// Notes a use of a variable that has no value before the text of the reference.
  void note_early(const clang::DeclRefExpr& reference, const std::string& variable) {
    const std::string name = place_of(reference.getLocation()).getFilename() + (": " + variable);
    if (std::ranges::find(source_.must_write, name) == source_.must_write.end()) return;
    if (reads_.contains(&reference) || updates_.contains(&reference))
      early_reads_.emplace(name, reference.getLocation());
    else
      early_writes_.insert(name);
  }

  clang::PresumedLoc place_of(clang::SourceLocation location) const {
    return manager_.getPresumedLoc(manager_.getExpansionLoc(location));
  }

  bool is_users(clang::SourceLocation location) const { return cpu_backend::is_users(manager_, location); }

  void warn(clang::SourceLocation location, std::string message) {
    if (!is_users(location) || !told_.insert({location.getRawEncoding(), message}).second) return;
    const clang::PresumedLoc place = place_of(location);
    diagnostics_.push_back({Diagnostic::Level::warning, place.getFilename(), static_cast<int>(place.getLine()),
                            static_cast<int>(place.getColumn()), std::move(message)});
  }

  void warn_of_float(const clang::Expr& index) {
    warn(index.getExprLoc(),
         "an index of type '" + index.getType().getAsString(policy_) +
             "' is truncated to an integer; write the cast, as in a[(int)(...)], if that is intended");
  }

  void check_index(const clang::Expr* index, const char* right) {
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(index))
      if (cast->getCastKind() == clang::CK_FloatingToIntegral) warn_of_float(*cast->getSubExpr());
    const auto* comma = llvm::dyn_cast<clang::BinaryOperator>(index->IgnoreImpCasts());
    if (!comma || comma->getOpcode() != clang::BO_Comma || !is_users(comma->getOperatorLoc())) return;
    const clang::PresumedLoc place = place_of(comma->getOperatorLoc());
    commas_.insert({place.getFilename(), static_cast<int>(place.getLine())});
    warn(comma->getOperatorLoc(),
         std::string("only the expression after the comma is the index: a[y, x] is a[x]; write a") + right);
  }

  /// One index in braces of an array of several axes: an element's number in C order, not the first axis's index.
  void check_braces(const clang::CXXOperatorCallExpr& call) {
    const auto* array =
        llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(call.getArg(0)->getType()->getAsCXXRecordDecl());
    if (!array || (array->getName() != "CArray" && array->getName() != "CConstArray")) return;
    const auto arguments = array->getTemplateArgs().asArray();
    // Another template is a class of the user's.
    if (arguments.size() != 2 || arguments[1].getKind() != clang::TemplateArgument::Integral) return;
    const int64_t axes = arguments[1].getAsIntegral().getExtValue();
    const clang::Expr* index = call.getArg(1);
    if (axes < 2 || !index->getType()->isIntegerType()) return;
    const clang::SourceLocation begin = manager_.getExpansionLoc(index->getBeginLoc());
    if (!is_users(begin) || *manager_.getCharacterData(begin) != '{') return;
    warn(begin, "one index in braces, but the array has " + std::to_string(axes) +
                    " axes: it counts elements in C order, as a[k] does; write a[{" + (axes == 2 ? "y, x" : "z, y, x") +
                    "}] with an index for each axis, or a[k]");
  }

  clang::ASTContext& context_;
  clang::SourceManager& manager_;
  const clang::PrintingPolicy& policy_;
  const ProgramSource& source_;
  std::vector<Diagnostic>& diagnostics_;
  std::set<const clang::DeclRefExpr*> reads_, updates_;
  std::set<const clang::Stmt*> discarded_;  ///< by `if constexpr`
  std::set<std::string> read_, written_;
  std::map<std::string, clang::SourceLocation> early_reads_;  ///< by text and variable
  std::set<std::string> early_writes_;
  std::set<std::pair<unsigned, std::string>> told_;  ///< given already; instances of a template repeat warnings
  std::set<std::pair<std::string, int>> commas_;
};

}  // namespace

bool is_users(const clang::SourceManager& manager, clang::SourceLocation location) {
  if (location.isInvalid()) return false;
  const clang::SourceLocation expanded = manager.getExpansionLoc(location);
  if (manager.getFileID(expanded) != manager.getMainFileID()) return false;
  const clang::PresumedLoc place = manager.getPresumedLoc(expanded);
  const llvm::StringRef file = place.isValid() ? place.getFilename() : "";
  return !file.empty() && file != "generated" && file.front() != '<';
}

std::vector<std::string> warning_flags(const jit::CompileOptions& options) {
  std::vector<std::string> flags = {"uninitialized", "sometimes-uninitialized", "infinite-recursion", "self-assign"};
  flags.insert(flags.end(), options.warnings.begin(), options.warnings.end());
  return flags;
}

bool is_told(const std::string& group, const jit::CompileOptions& options) {
  if (group.empty()) return true;  // a warning of Iruka itself
  if (std::ranges::find(kReported, group) != std::end(kReported)) return true;
  return std::ranges::any_of(
      options.warnings, [&](const std::string& asked) { return asked == group || asked == "all" || asked == "extra"; });
}

void warn_about_texts(clang::CompilerInstance& compiler, const ProgramSource& source,
                      std::vector<Diagnostic>& diagnostics) {
  clang::ASTContext& context = compiler.getASTContext();
  TextWatcher watcher(context, source, diagnostics);
  // decls() is not used, because it would read the whole precompiled prelude.
  for (clang::Decl* declared : context.getTranslationUnitDecl()->noload_decls())
    if (!declared->isFromASTFile()) watcher.TraverseDecl(declared);
  watcher.finish();
}

}  // namespace iruka::cpu_backend
