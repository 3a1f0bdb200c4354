#include "backend/cpu/compiler/frontend.h"

#include <span>
#include <string_view>

#include "backend/cpu/compiler/diagnostics.h"
#include "backend/cpu/compiler/host.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Parse/ParseAST.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/xxhash.h"

namespace iruka::jit {
std::span<const std::pair<std::string_view, std::string_view>> prelude_files();
}

namespace iruka::cpu_backend {
namespace {

constexpr const char* kPreludeFolder = "/iruka";

clang::LangStandard::Kind standard_kind(int standard) {
  switch (standard) {
    case 11: return clang::LangStandard::lang_gnucxx11;
    case 14: return clang::LangStandard::lang_gnucxx14;
    case 17: return clang::LangStandard::lang_gnucxx17;
    case 23: return clang::LangStandard::lang_gnucxx23;
    default: return clang::LangStandard::lang_gnucxx20;
  }
}

void set_language(clang::LangOptions& language, const CompileOptions& options, const llvm::Triple& triple) {
  std::vector<std::string> includes;
  clang::LangOptions::setLangDefaults(language, clang::Language::CXX, triple, includes,
                                      standard_kind(options.standard));
  language.Exceptions = language.CXXExceptions = 0;
  language.RTTI = language.RTTIData = 0;
  language.MathErrno = 0;
  language.setSignedOverflowBehavior(clang::LangOptionsBase::SOB_Defined);
  language.GNUAsm = 0;  // assembly could read files (.incbin) and do anything at all
  language.ThreadsafeStatics = 0;
  language.PICLevel = 2;
  language.Modules = language.CPlusPlusModules = language.ImplicitModules = 0;
  language.NativeHalfType = 1;
  language.Bool = 1;
  language.setDefaultFPContractMode(!options.contract   ? clang::LangOptions::FPM_Off
                                    : options.fast_math ? clang::LangOptions::FPM_Fast
                                                        : clang::LangOptions::FPM_On);
  if (options.fast_math) {
    language.AllowFPReassoc = language.NoSignedZero = language.AllowRecip = language.ApproxFunc = 1;
  }
  // Limits that keep hostile text from using up memory or stack.
  language.BracketDepth = 200;
  language.InstantiationDepth = 200;
  language.ConstexprCallDepth = 200;
  language.ConstexprStepLimit = 1 << 20;
}

void set_code_generation(clang::CodeGenOptions& generation, const CompileOptions& options) {
  generation.OptimizationLevel = static_cast<unsigned>(options.optimization_level);
  generation.DisableO0ImplyOptNone = 1;
  generation.VectorizeLoop = generation.VectorizeSLP = options.optimization_level >= 2;
  generation.UnrollLoops = options.optimization_level >= 2;
  generation.UnwindTables = 0;
  generation.setFiniteLoops(clang::CodeGenOptions::FiniteLoopsKind::Never);
  generation.StrictReturn = 0;
  generation.RelocationModel = llvm::Reloc::PIC_;
}

std::shared_ptr<clang::CompilerInvocation> make_invocation(const CompileOptions& options) {
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  const llvm::Triple triple(host().triple);
  auto& target = invocation->getTargetOpts();
  target.Triple = host().triple;
  target.CPU = host().processor;
  target.FeaturesAsWritten = host().features;
  set_language(invocation->getLangOpts(), options, triple);
  set_code_generation(invocation->getCodeGenOpts(), options);

  auto& headers = invocation->getHeaderSearchOpts();
  headers.UseBuiltinIncludes = headers.UseStandardSystemIncludes = headers.UseStandardCXXIncludes = 0;
  headers.AddPath(kPreludeFolder, clang::frontend::System, /*IsFramework=*/false, /*IgnoreSysRoot=*/true);
  auto& preprocessor = invocation->getPreprocessorOpts();
  for (const auto& [macro, undefine] : options.macros) {
    undefine ? preprocessor.addMacroUndef(macro) : preprocessor.addMacroDef(macro);
  }
  preprocessor.Includes.push_back("prelude.h");

  auto& diagnostics = invocation->getDiagnosticOpts();
  diagnostics.Warnings = options.warnings;
  diagnostics.IgnoreWarnings = options.no_warnings;
  diagnostics.ErrorLimit = 20;
  diagnostics.TemplateBacktraceLimit = 6;
  diagnostics.ConstexprBacktraceLimit = 6;
  return invocation;
}

/// The prelude's files and nothing else: no #include, #embed or pragma can reach the disk.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> prelude_file_system() {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto& [name, text] : jit::prelude_files()) {
    files->addFileNoOwn(std::string(kPreludeFolder) + "/" + std::string(name), 0,
                        llvm::MemoryBufferRef(llvm::StringRef(text.data(), text.size()), name));
  }
  return files;
}

/// Runs Clang over prelude and text with the consumer that `make_consumer` gives; false after an error.
bool run_clang(const ProgramSource& source, const CompileOptions& options, std::vector<Diagnostic>& diagnostics,
               llvm::function_ref<std::unique_ptr<clang::ASTConsumer>(clang::CompilerInstance&)> make_consumer,
               llvm::function_ref<void()> finish) {
  clang::CompilerInstance compiler(make_invocation(options));
  compiler.setVirtualFileSystem(prelude_file_system());
  DiagnosticCollector collector(diagnostics);
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  if (!compiler.createTarget()) return false;
  compiler.createFileManager();
  compiler.createSourceManager();

  auto& manager = compiler.getSourceManager();
  manager.setMainFileID(manager.createFileID(llvm::MemoryBufferRef(source.text, source.file_name)));
  compiler.createPreprocessor(clang::TU_Complete);
  auto& preprocessor = compiler.getPreprocessor();
  preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(), compiler.getLangOpts());
  compiler.createASTContext();
  compiler.setASTConsumer(make_consumer(compiler));
  compiler.createSema(clang::TU_Complete, nullptr);
  collector.BeginSourceFile(compiler.getLangOpts(), &preprocessor);
  clang::ParseAST(compiler.getSema());
  collector.EndSourceFile();
  if (compiler.getDiagnostics().hasErrorOccurred()) return false;
  finish();
  return true;
}

}  // namespace

std::unique_ptr<llvm::Module> parse(const ProgramSource& source, const CompileOptions& options,
                                    llvm::LLVMContext& context, std::vector<Diagnostic>& diagnostics) {
  clang::CodeGenerator* generator = nullptr;
  std::unique_ptr<llvm::Module> module;
  const auto make_consumer = [&](clang::CompilerInstance& compiler) {
    auto made = clang::CreateLLVMCodeGen(compiler, source.file_name, context);
    generator = made.get();
    return made;
  };
  run_clang(source, options, diagnostics, make_consumer, [&] { module = generator->ReleaseModule(); });
  return module;
}

bool parse_only(const ProgramSource& source, const CompileOptions& options, std::vector<Diagnostic>& diagnostics) {
  const auto make_consumer = [](clang::CompilerInstance&) { return std::make_unique<clang::ASTConsumer>(); };
  return run_clang(source, options, diagnostics, make_consumer, [] {});
}

std::string prelude_hash() {
  uint64_t hash = 0;
  for (const auto& [name, text] : jit::prelude_files()) {
    hash = hash * 0x9E3779B97F4A7C15u + llvm::xxh3_64bits(llvm::StringRef(name.data(), name.size()));
    hash = hash * 0x9E3779B97F4A7C15u + llvm::xxh3_64bits(llvm::StringRef(text.data(), text.size()));
  }
  return llvm::utohexstr(hash, /*LowerCase=*/true);
}

}  // namespace iruka::cpu_backend
