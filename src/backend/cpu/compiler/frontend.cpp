#include "backend/cpu/compiler/frontend.h"

#include <string_view>

#include "backend/cpu/compiler/diagnostics.h"
#include "backend/cpu/compiler/host.h"
#include "backend/cpu/compiler/limits.h"
#include "backend/cpu/compiler/name_expressions.h"
#include "backend/cpu/compiler/narrow_casts.h"
#include "backend/cpu/compiler/text_errors.h"
#include "backend/cpu/compiler/text_warnings.h"
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
#include "clang/Sema/Sema.h"
#include "clang/Serialization/ASTWriter.h"
#include "core/once.h"
#include "jit/kernel_headers.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace iruka::cpu_backend {
namespace {

// No folder of a user's has this name.
constexpr const char* kPreludeFolder = "/<iruka>";
constexpr const char* kPrecompiledFile = "/<iruka>/prelude.pch";

/// How the prelude in front of the text is provided.
enum class Prelude { as_text, precompiled, being_precompiled };

/// A precompiled header is read lazily, so that small kernels compile fast; it exists for C++20 only.
Prelude prelude_for(const jit::CompileOptions& options) {
  return options.standard == 20 && !precompiled_prelude().empty() ? Prelude::precompiled : Prelude::as_text;
}

void set_language(clang::LangOptions& language, const jit::CompileOptions& options, const llvm::Triple& triple) {
  std::vector<std::string> includes;
  clang::LangOptions::setLangDefaults(
      language, clang::Language::CXX, triple, includes,
      options.standard == 23 ? clang::LangStandard::lang_gnucxx23 : clang::LangStandard::lang_gnucxx20);
  language.Exceptions = language.CXXExceptions = 0;
  language.RTTI = language.RTTIData = 0;
  language.MathErrno = 0;
  language.setSignedOverflowBehavior(clang::LangOptionsBase::SOB_Defined);
  language.GNUAsm = 0;  // inline assembly could read files (.incbin) and run any instruction
  language.ThreadsafeStatics = 0;
  language.PICLevel = 2;
  language.Modules = language.CPlusPlusModules = language.ImplicitModules = 0;
  language.NativeHalfType = 1;
  language.Bool = 1;
  language.CXXOperatorNames = 1;
  language.setDefaultFPContractMode(!options.contract   ? clang::LangOptions::FPM_Off
                                    : options.fast_math ? clang::LangOptions::FPM_Fast
                                                        : clang::LangOptions::FPM_On);
  if (options.fast_math) {
    language.AllowFPReassoc = language.NoSignedZero = language.AllowRecip = language.ApproxFunc = 1;
  }
  // These limits keep hostile texts from exhausting memory or stack.
  language.BracketDepth = 200;
  language.InstantiationDepth = 200;
  language.ConstexprCallDepth = 200;
  language.ConstexprStepLimit = 1 << 20;
}

void set_code_generation(clang::CodeGenOptions& generation, const jit::CompileOptions& options) {
  generation.OptimizationLevel = static_cast<unsigned>(options.optimization_level);
  generation.DisableO0ImplyOptNone = 1;
  generation.VectorizeLoop = generation.VectorizeSLP = options.optimization_level >= 2;
  generation.UnrollLoops = options.optimization_level >= 2;
  generation.UnwindTables = 0;
  generation.StrictFloatCastOverflow = 0;
  generation.setFiniteLoops(clang::CodeGenOptions::FiniteLoopsKind::Never);
  generation.RelocationModel = llvm::Reloc::PIC_;
  if (options.line_tables) {
    generation.setDebugInfo(llvm::codegenoptions::DebugLineTablesOnly);
    generation.DebugColumnInfo = 1;
    generation.DwarfVersion = 5;
  }
}

std::shared_ptr<clang::CompilerInvocation> make_invocation(const jit::CompileOptions& options, Prelude prelude) {
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  auto& target = invocation->getTargetOpts();
  target.Triple = host().triple;
  if (prelude == Prelude::being_precompiled) {
    target.CPU = "x86-64";
  } else {
    target.CPU = host().processor;
    target.FeaturesAsWritten = host().features;
  }
  set_language(invocation->getLangOpts(), options, llvm::Triple(host().triple));
  // Templates that the prelude uses are instantiated once with it, not at the end of every text.
  invocation->getLangOpts().PCHInstantiateTemplates = prelude == Prelude::being_precompiled;
  set_code_generation(invocation->getCodeGenOpts(), options);

  auto& headers = invocation->getHeaderSearchOpts();
  headers.UseBuiltinIncludes = headers.UseStandardSystemIncludes = headers.UseStandardCXXIncludes = 0;
  headers.AddPath(kPreludeFolder, clang::frontend::System, /*IsFramework=*/false, /*IgnoreSysRoot=*/true);
  auto& preprocessor = invocation->getPreprocessorOpts();
  if (prelude == Prelude::as_text) preprocessor.Includes.push_back("prelude.h");
  if (prelude == Prelude::precompiled) {
    preprocessor.ImplicitPCHInclude = kPrecompiledFile;
    // The header was compiled for baseline x86-64 and default options, on which nothing in the prelude depends.
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
  }

  auto& diagnostics = invocation->getDiagnosticOpts();
  if (prelude != Prelude::being_precompiled) diagnostics.Warnings = warning_flags(options);
  diagnostics.IgnoreWarnings = options.no_warnings;
  diagnostics.ErrorLimit = 20;
  diagnostics.TemplateBacktraceLimit = 6;
  diagnostics.ConstexprBacktraceLimit = 6;
  return invocation;
}

/// The headers of the kernel language. Compilations share it, because adding a file hashes its content; all of them
/// only read it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> header_file_system() {
  return made_once([] {
    auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    const auto add = [&](const std::string& path, std::string_view content) {
      files->addFileNoOwn(path, 0, llvm::MemoryBufferRef(llvm::StringRef(content.data(), content.size()), path));
    };
    for (const auto& [name, text] : jit::kernel_headers())
      add(std::string(kPreludeFolder) + "/" + std::string(name), text);
    if (!precompiled_prelude().empty()) add(kPrecompiledFile, precompiled_prelude());
    return llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(files);
  });
}

/// The headers of the kernel language and of the source, and nothing else: no #include, #embed or pragma can reach the
/// disk.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system_of(const ProgramSource& source) {
  if (!source.headers) return header_file_system();
  auto headers = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const HeaderFile& header : *source.headers)
    headers->addFileNoOwn(header.path, 0, llvm::MemoryBufferRef(*header.text, header.path));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(header_file_system());
  files->pushOverlay(headers);
  return files;
}

/// The text after the user's macros, and before the declarations of name expressions. The macros are text and not
/// options, so that the precompiled prelude can be used.
std::string text_with_macros(const ProgramSource& source, const jit::CompileOptions& options) {
  std::string text;
  for (const auto& [macro, undefine] : options.macros) {
    const size_t equals = macro.find('=');
    const std::string name = macro.substr(0, equals);
    const std::string value = equals == macro.npos ? "1" : macro.substr(equals + 1);
    text += "#undef " + name + "\n";
    if (!undefine) text += "#define " + name + " " + value + "\n";
  }
  if (!text.empty()) text += "#line 1 \"" + source.file_name + "\"\n";
  return text + source.text + name_declarations(source);
}

using MakeConsumer = llvm::function_ref<std::unique_ptr<clang::ASTConsumer>(clang::CompilerInstance&)>;

/// Runs Clang over `text` with the consumer of `make_consumer`; false after an error. `finish` runs while the syntax
/// tree still lives, and returns false after an error of its own.
bool run_clang(const std::string& text, const ProgramSource& source, const jit::CompileOptions& options,
               Prelude prelude, std::vector<Diagnostic>& diagnostics, MakeConsumer make_consumer,
               llvm::function_ref<bool(clang::CompilerInstance&)> finish) {
  const auto is_within_limits = [&](std::string_view checked, const std::string& file, size_t largest) {
    std::string error = text_limit_error(checked, largest);
    if (error.empty()) return true;
    diagnostics.push_back({Diagnostic::Level::error, file, 0, 0, std::move(error)});
    return false;
  };
  if (!is_within_limits(text, source.file_name, kLargestText)) return false;
  if (source.headers)
    for (const HeaderFile& header : *source.headers)
      if (!is_within_limits(*header.text, header.path, kLargestHeader)) return false;
  clang::CompilerInstance compiler(make_invocation(options, prelude));
  compiler.setVirtualFileSystem(file_system_of(source));
  DiagnosticCollector collector(diagnostics, options);
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  if (!compiler.createTarget()) return false;
  compiler.createFileManager();
  compiler.createSourceManager();

  auto& manager = compiler.getSourceManager();
  manager.setMainFileID(manager.createFileID(llvm::MemoryBufferRef(text, source.file_name)));
  const auto kind = prelude == Prelude::being_precompiled ? clang::TU_Prefix : clang::TU_Complete;
  compiler.createPreprocessor(kind);
  compiler.createASTContext();
  auto& preprocessor = compiler.getPreprocessor();
  if (prelude == Prelude::precompiled) {
    compiler.createPCHExternalASTSource(kPrecompiledFile, clang::DisableValidationForModuleKind::All,
                                        /*AllowPCHWithCompilerErrors=*/false, nullptr, false);
    if (!compiler.getASTContext().getExternalSource()) return false;
  } else {
    preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(), compiler.getLangOpts());
  }
  preprocessor.setTokenWatcher(TokenLimiter(preprocessor, source));
  refuse_debug_pragma(preprocessor);
  if (source.headers) limit_includes(preprocessor, source);
  compiler.setASTConsumer(make_consumer(compiler));
  compiler.createSema(kind, nullptr);
  compiler.getSema().TemplateInstCallbacks.push_back(std::make_unique<InstantiationLimiter>(source));
  collector.BeginSourceFile(compiler.getLangOpts(), &preprocessor);
  clang::ParseAST(compiler.getSema());
  collector.EndSourceFile();
  quote_expressions(source, diagnostics);
  if (compiler.getDiagnostics().hasErrorOccurred()) return false;
  if (!options.no_warnings) warn_about_texts(compiler, source, diagnostics);
  return finish(compiler);
}

bool accept(clang::CompilerInstance&) { return true; }

}  // namespace

std::unique_ptr<llvm::Module> parse(const ProgramSource& source, const jit::CompileOptions& options,
                                    llvm::LLVMContext& context, std::vector<Diagnostic>& diagnostics) {
  clang::CodeGenerator* generator = nullptr;
  std::unique_ptr<llvm::Module> module;
  const auto make_consumer = [&](clang::CompilerInstance& compiler) {
    auto made = clang::CreateLLVMCodeGen(compiler, source.file_name, context);
    generator = made.get();
    return made;
  };
  run_clang(text_with_macros(source, options), source, options, prelude_for(options), diagnostics, make_consumer,
            [&](clang::CompilerInstance& compiler) {
              if (!check_texts(compiler, diagnostics)) return false;
              module = generator->ReleaseModule();
              return true;
            });
  return module;
}

bool parse_only(const ProgramSource& source, const jit::CompileOptions& options, std::vector<Diagnostic>& diagnostics) {
  const auto make_consumer = [](clang::CompilerInstance&) { return std::make_unique<clang::ASTConsumer>(); };
  return run_clang(text_with_macros(source, options), source, options, prelude_for(options), diagnostics, make_consumer,
                   [&](clang::CompilerInstance& compiler) { return check_texts(compiler, diagnostics); });
}

bool rewrite_narrow_casts(const ProgramSource& source, const jit::CompileOptions& options,
                          std::vector<Diagnostic>& diagnostics, ProgramSource& saturating) {
  const std::string text = std::string(kCudaDeclarations) + text_with_macros(source, options);
  const std::string behind = name_declarations(source);  // they make the instances of templates
  const auto make_consumer = [&](clang::CompilerInstance& compiler) {
    return make_cast_rewriter(compiler, text.size() - source.text.size() - behind.size(), saturating);
  };
  if (!run_clang(text, source, options, prelude_for(options), diagnostics, make_consumer, accept)) return false;
  const bool is_whole = saturating.text.ends_with(behind);
  if (is_whole) saturating.text.resize(saturating.text.size() - behind.size());
  return is_whole;
}

std::string precompile_prelude(std::vector<Diagnostic>& diagnostics) {
  const auto buffer = std::make_shared<clang::PCHBuffer>();
  const auto make_consumer = [&](clang::CompilerInstance& compiler) {
    return std::make_unique<clang::PCHGenerator>(compiler.getPreprocessor(), compiler.getModuleCache(),
                                                 kPrecompiledFile,
                                                 /*isysroot=*/"", buffer, compiler.getCodeGenOpts(),
                                                 llvm::ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>(),
                                                 /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  };
  ProgramSource source{"#include \"prelude.h\"\n", "", {}, "prelude"};
  for (const auto& [name, text] : jit::kernel_headers())
    if (jit::is_kernel_code(name) && !jit::is_for_cuda(name)) source.text += "#include \"" + std::string(name) + "\"\n";
  run_clang(source.text, source, jit::CompileOptions{}, Prelude::being_precompiled, diagnostics, make_consumer, accept);
  return buffer->IsComplete ? std::string(buffer->Data.data(), buffer->Data.size()) : std::string();
}

}  // namespace iruka::cpu_backend
