#include "backend/cpu/compiler/narrow_casts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Lexer.h"

namespace iruka::cpu_backend {
namespace {

/// Bytes of one of the source's files: from the first of one token to the last of another.
struct TextRange {
  size_t file;  ///< 0 is the main file, then come the headers
  unsigned begin, end;
  clang::FileID level;  ///< the file, or an expansion of the macro that has these bytes
  bool is_shared;       ///< with other uses of a macro, or of a header
};

/// Finds the source ranges of expressions in the source's files, through macros.
class TextPlaces {
 public:
  TextPlaces(const clang::SourceManager& manager, const clang::LangOptions& language, const HeaderFiles& headers)
      : manager_(manager), language_(language), headers_(headers) {}

  /// The number of the file that has a place outside of macros; nothing for the prelude.
  std::optional<size_t> file_at(clang::SourceLocation place) const {
    return file_number(manager_.getFileID(manager_.getExpansionLoc(place)));
  }

  /// The text of `range` and nothing else: outside of macros where it makes up whole expansions, else inside of one
  /// macro's. `binds_tightly`: other arguments of that macro may hold operators that take parts of `range` away.
  std::optional<TextRange> find(clang::SourceRange range, bool binds_tightly = false) const {
    if (range.isInvalid()) return {};
    const std::vector<clang::SourceLocation> begins = levels(range.getBegin(), &TextPlaces::start_of_expansion),
                                             ends = levels(range.getEnd(), &TextPlaces::end_of_expansion);
    const auto is_argument = [&](const std::vector<clang::SourceLocation>& places, size_t k) {
      return places[k].isMacroID() && k > 0 && manager_.isMacroArgExpansion(places[k - 1]);
    };
    for (size_t b = begins.size(); b-- > 0;)
      for (size_t e = ends.size(); e-- > 0;) {
        if (manager_.getFileID(begins[b]) != manager_.getFileID(ends[e])) continue;
        if (!binds_tightly || (!is_argument(begins, b) && !is_argument(ends, e))) return spelled(begins[b], ends[e]);
      }
    return {};
  }

  llvm::StringRef text(const TextRange& range) const {
    const llvm::StringRef whole = range.file == 0 ? manager_.getBufferData(manager_.getMainFileID())
                                                  : llvm::StringRef(*(*headers_)[range.file - 1].text);
    return whole.slice(range.begin, range.end);
  }

 private:
  using Climb = bool (TextPlaces::*)(clang::SourceLocation, clang::SourceLocation*) const;

  /// A token's place, then those of the expansions that it begins (or ends), outwards.
  std::vector<clang::SourceLocation> levels(clang::SourceLocation token, Climb climb) const {
    std::vector<clang::SourceLocation> found{token};
    while (token.isMacroID() && (this->*climb)(token, &token)) found.push_back(token);
    return found;
  }

  bool start_of_expansion(clang::SourceLocation token, clang::SourceLocation* outer) const {
    return manager_.isAtStartOfImmediateMacroExpansion(token, outer);
  }
  bool end_of_expansion(clang::SourceLocation token, clang::SourceLocation* outer) const {
    return manager_.isAtEndOfImmediateMacroExpansion(token.getLocWithOffset(length(token)), outer);
  }
  int length(clang::SourceLocation token) const {
    return static_cast<int>(clang::Lexer::MeasureTokenLength(manager_.getSpellingLoc(token), manager_, language_));
  }

  std::optional<size_t> file_number(clang::FileID id) const {
    if (id == manager_.getMainFileID()) return 0;
    const auto entry = manager_.getFileEntryRefForID(id);
    if (!entry || !headers_) return {};
    const auto header = std::ranges::find(*headers_, std::string_view(entry->getName()), &HeaderFile::path);
    if (header == headers_->end()) return {};
    return 1 + static_cast<size_t>(header - headers_->begin());
  }

  std::optional<TextRange> spelled(clang::SourceLocation first, clang::SourceLocation last) const {
    const auto [begin_file, begin] = manager_.getDecomposedSpellingLoc(first);
    const auto [end_file, end] = manager_.getDecomposedSpellingLoc(last);
    const std::optional<size_t> file = file_number(begin_file);
    if (!file || end_file != begin_file || begin > end) return {};
    return TextRange{*file, begin, end + static_cast<unsigned>(length(last)), manager_.getFileID(first),
                     *file > 0 || first.isMacroID()};
  }

  const clang::SourceManager& manager_;
  const clang::LangOptions& language_;
  const HeaderFiles& headers_;
};

/// Collects the expressions to wrap. Code for several types, in templates and macros, is wrapped by functions that do
/// nothing for types that need no saturation.
class CastFinder : public clang::DynamicRecursiveASTVisitor {
 public:
  CastFinder(clang::ASTContext& context, const HeaderFiles& headers)
      : context_(context),
        places_(context.getSourceManager(), context.getLangOpts(), headers),
        wrappings_(1 + (headers ? headers->size() : 0)) {
    ShouldVisitTemplateInstantiations = true;
  }

  /// The main file from byte `skipped` on, with what was found.
  std::string rewritten_main_file(size_t skipped) const {
    const clang::SourceManager& manager = context_.getSourceManager();
    return rewritten(0, manager.getBufferData(manager.getMainFileID()), skipped);
  }

  HeaderFiles rewritten_headers(const HeaderFiles& headers) const {
    if (std::ranges::all_of(wrappings_.begin() + 1, wrappings_.end(), &Wrappings::empty)) return headers;
    std::vector<HeaderFile> files = *headers;
    for (size_t k = 0; k < files.size(); ++k)
      if (!wrappings_[k + 1].empty())
        files[k].text = std::make_shared<const std::string>(rewritten(k + 1, *files[k].text, 0));
    return std::make_shared<const std::vector<HeaderFile>>(std::move(files));
  }

  bool TraverseDecl(clang::Decl* decl) override {
    const bool outer = std::exchange(is_instance_, is_instance_ || is_instance(decl));
    clang::DynamicRecursiveASTVisitor::TraverseDecl(decl);
    is_instance_ = outer;
    return true;
  }

  // The visitor sees a generic lambda as it is written; its instances belong to its class.
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) override {
    if (clang::FunctionTemplateDecl* generic = lambda->getLambdaClass()->getDependentLambdaCallOperator())
      for (clang::FunctionDecl* instance : generic->specializations()) TraverseDecl(instance);
    return true;
  }

  // The visitor sees lists as they are written; only the other form has casts.
  bool TraverseInitListExpr(clang::InitListExpr* list) override {
    clang::InitListExpr* const meant = list->isSemanticForm() ? list : list->getSemanticForm();
    for (clang::Stmt* element : meant ? meant->children() : list->children()) TraverseStmt(element);
    return true;
  }

  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) override {
    if (!cast->isPartOfExplicitCast()) wrap_operand(cast, nullptr);
    return true;
  }

  bool VisitExplicitCastExpr(clang::ExplicitCastExpr* cast) override {
    wrap_operand(cast, cast);
    for (auto* part = llvm::dyn_cast<clang::ImplicitCastExpr>(cast->getSubExpr()); part && part->isPartOfExplicitCast();
         part = llvm::dyn_cast<clang::ImplicitCastExpr>(part->getSubExpr()))
      wrap_operand(part, cast);
    return true;
  }

  bool VisitCompoundAssignOperator(clang::CompoundAssignOperator* assignment) override {
    clang::Expr* target = assignment->getLHS();
    const bool narrows = is_narrow(target->getType()) && assignment->getComputationResultType()->isRealFloatingType();
    if (!narrows || target->refersToBitField()) return true;
    if (const auto range = places_.find(target->getSourceRange())) wrap(*range, "iruka::narrow_target(");
    return true;
  }

 private:
  static bool is_instance(const clang::Decl* decl) {
    if (const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl))
      return function->isTemplateInstantiation();
    if (const auto* type = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(decl))
      return clang::isTemplateInstantiation(type->getSpecializationKind());
    if (const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(decl))
      return clang::isTemplateInstantiation(variable->getTemplateSpecializationKind());
    return false;
  }

  bool is_narrow(clang::QualType type) const {
    return !type->isDependentType() && type->isIntegralOrEnumerationType() && !type->isBooleanType() &&
           context_.getTypeSize(type) <= 16;
  }

  const char* integer_name(clang::QualType type) const {
    const bool is_byte = context_.getTypeSize(type) == 8;
    if (type->isSignedIntegerOrEnumerationType()) return is_byte ? "signed char" : "short";
    return is_byte ? "unsigned char" : "unsigned short";
  }

  /// A constant that fits needs no saturation.
  bool is_fitting_constant(const clang::Expr* value, clang::QualType type) const {
    clang::Expr::EvalResult result;
    if (value->isValueDependent() || !value->EvaluateAsRValue(result, context_) || !result.Val.isFloat()) return false;
    llvm::APSInt integer(static_cast<uint32_t>(context_.getTypeSize(type)), type->isUnsignedIntegerOrEnumerationType());
    bool is_exact = false;
    const auto status = result.Val.getFloat().convertToInteger(integer, llvm::APFloat::rmTowardZero, &is_exact);
    return status != llvm::APFloat::opInvalidOp;
  }

  /// `cast` is written as `written` in the text, or implicit if that is null.
  void wrap_operand(clang::CastExpr* cast, clang::ExplicitCastExpr* written) {
    if (cast->getCastKind() != clang::CK_FloatingToIntegral || !is_narrow(cast->getType())) return;
    if (is_fitting_constant(cast->getSubExpr(), cast->getType())) return;
    const bool binds_tightly = written && llvm::isa<clang::CStyleCastExpr>(written);
    const auto range = places_.find(cast->getSubExprAsWritten()->getSourceRange(), binds_tightly);
    if (!range) return;
    if (!is_instance_ && !range->is_shared) {
      const bool is_float = context_.getTypeSize(cast->getSubExpr()->getType()) <= 32;
      wrap(*range,
           std::string("iruka::saturate<") + integer_name(cast->getType()) + (is_float ? ", float>(" : ", double>("));
      return;
    }
    const auto type =
        written ? places_.find(written->getTypeInfoAsWritten()->getTypeLoc().getSourceRange()) : std::nullopt;
    if (type && type->level == range->level)
      wrap(*range, "iruka::narrowed<" + places_.text(*type).str() + ">(");
    else
      wrap(*range, "iruka::narrowing(");
  }

  // Templates come before their instances: what is the same in all of them has been wrapped by its types.
  void wrap(const TextRange& range, std::string before) {
    wrappings_[range.file].try_emplace({range.begin, range.end}, std::move(before));
  }

  using BeginAndEnd = std::pair<size_t, size_t>;
  struct OuterFirst {
    bool operator()(const BeginAndEnd& a, const BeginAndEnd& b) const {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    }
  };
  using Wrappings = std::map<BeginAndEnd, std::string, OuterFirst>;  ///< the text to insert before an expression

  std::string rewritten(size_t file, llvm::StringRef text, size_t skipped) const {
    std::string result;
    size_t at = skipped;
    std::vector<size_t> open;
    const auto copy_to = [&](size_t offset) { result += text.slice(std::exchange(at, offset), offset); };
    const auto close_before = [&](size_t offset) {
      for (; !open.empty() && open.back() <= offset; open.pop_back()) copy_to(open.back()), result += ')';
    };
    for (const auto& [range, before] : wrappings_[file]) {
      const auto& [begin, end] = range;
      if (begin < skipped) continue;
      close_before(begin);
      copy_to(begin);
      result += before;
      open.push_back(end);
    }
    close_before(text.size());
    copy_to(text.size());
    return result;
  }

  clang::ASTContext& context_;
  TextPlaces places_;
  bool is_instance_ = false;
  std::vector<Wrappings> wrappings_;  ///< of each file
};

class CastRewriter : public clang::ASTConsumer {
 public:
  CastRewriter(clang::CompilerInstance& compiler, size_t skipped, ProgramSource& source)
      : places_(compiler.getSourceManager(), compiler.getLangOpts(), source.headers),
        skipped_(skipped),
        source_(source) {}

  // Only the source's declarations are visited, because the whole tree includes the precompiled prelude.
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* decl : group)
      if (places_.file_at(decl->getLocation())) declarations_.push_back(decl);
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    CastFinder finder(context, source_.headers);
    for (clang::Decl* decl : declarations_) finder.TraverseDecl(decl);
    source_.text = finder.rewritten_main_file(skipped_);
    source_.headers = finder.rewritten_headers(source_.headers);
  }

 private:
  const TextPlaces places_;
  const size_t skipped_;
  ProgramSource& source_;
  std::vector<clang::Decl*> declarations_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_cast_rewriter(clang::CompilerInstance& compiler, size_t skipped,
                                                       ProgramSource& source) {
  return std::make_unique<CastRewriter>(compiler, skipped, source);
}

}  // namespace iruka::cpu_backend
