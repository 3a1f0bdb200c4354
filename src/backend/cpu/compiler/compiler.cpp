#include "backend/cpu/compiler/compiler.h"

#include <pthread.h>

#include <atomic>
#include <csetjmp>
#include <exception>
#include <functional>
#include <mutex>

#include "backend/cpu/compiler/codegen.h"
#include "backend/cpu/compiler/container.h"
#include "backend/cpu/compiler/frontend.h"
#include "backend/cpu/compiler/host.h"
#include "backend/cpu/compiler/name_expressions.h"
#include "clang/Basic/Stack.h"
#include "core/signal_mask.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"

namespace iruka::cpu_backend {

/// A hash of the sources of this compiler. The build generates this function.
const char* code_version();

namespace {

/// Clang and LLVM recurse as deeply as the text nests; Clang allocates further stacks when this one is full.
constexpr size_t kStackBytes = size_t{256} << 20;

// LLVM's fatal errors must not end the process: they leave the compile thread by a jump instead. The memory of the
// abandoned frames leaks, but the process goes on. None of our frames holds a mutex while LLVM runs.
thread_local std::jmp_buf* fatal_exit = nullptr;
thread_local std::string* fatal_message = nullptr;

void on_fatal_error(void*, const char* reason, bool) {
  // LLVM ends the process if this returns. Outside of the compile thread an exception can leave LLVM's frames.
  if (!fatal_exit) throw DeviceError(std::string("the compiler failed: ") + reason);
  *fatal_message = reason;
  std::longjmp(*fatal_exit, 1);
}

struct Job {
  const std::function<void()>& run;
  std::string fatal;
  std::exception_ptr error;
};

void* run_job(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  clang::noteBottomOfStack();
  std::jmp_buf exit;
  fatal_exit = &exit;
  fatal_message = &job.fatal;
  if (setjmp(exit) == 0) {
    try {
      job.run();
    } catch (...) {
      job.error = std::current_exception();
    }
  }
  fatal_exit = nullptr;
  return nullptr;
}

/// Runs `work` on a thread with a large stack; the result is LLVM's fatal error, or empty. An exception of `work` is
/// rethrown.
std::string run_with_large_stack(const std::function<void()>& work) {
  install_error_handlers();
  Job job{work, {}, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  int failure;
  {
    const SignalsBlocked blocked;
    failure = pthread_create(&thread, &attributes, run_job, &job);
  }
  pthread_attr_destroy(&attributes);
  if (failure) return "cannot start a thread for the compiler";
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
  return job.fatal;
}

/// Collects LLVM's own diagnostics. Without a handler LLVM prints them and exits on errors.
class BackendDiagnostics : public llvm::DiagnosticHandler {
 public:
  explicit BackendDiagnostics(std::vector<Diagnostic>& found) : found_(found) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    std::string message;
    llvm::raw_string_ostream stream(message);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    found_.push_back({Diagnostic::Level::error, "", 0, 0, message});
    return true;
  }

 private:
  std::vector<Diagnostic>& found_;
};

/// Fills in the reason why the body was not widened, if no pass has given one.
void complete_reason(LaneReport& report, const jit::CompileOptions& options) {
  if (report.lanes > 1 || !report.reason.empty()) return;
  report.reason = options.lanes == 1 ? "the option --lanes=1 disables widening"
                  : options.optimization_level < 2
                      ? "the option -O" + std::to_string(options.optimization_level) + " disables widening"
                      : "the text has no loop over elements that could be widened";
}

CompiledProgram compile_to(const ProgramSource& source, Output output) {
  CompiledProgram program;
  jit::CompileOptions options;
  if (!jit::parse_options(source.options, options, program.diagnostics)) return program;
  options.line_tables = source.wants_report || source.runs_blocks;
  LaneReport* const report = source.wants_report ? &program.report : nullptr;
  const std::string fatal = run_with_large_stack([&] {
    llvm::LLVMContext context;
    context.setDiagnosticHandler(std::make_unique<BackendDiagnostics>(program.diagnostics));
    context.setDiscardValueNames(true);
    const auto module = parse(source, options, context, program.diagnostics);
    if (!module) return;
    ProgramSource exporting = source;
    if (!export_named(*module, source, program.names, program.diagnostics)) return;
    for (const auto& [expression, name] : program.names) exporting.exports.push_back(name);
    GeneratedCode generated = generate(*module, exporting, options, output, program.diagnostics, report);
    const bool is_packed = output == Output::object && !generated.code.empty();
    program.code = is_packed ? pack_object({generated.code, generated.lanes, generated.rival_lanes, generated.block})
                             : std::move(generated.code);
  });
  if (!fatal.empty()) {
    program.diagnostics.push_back({Diagnostic::Level::error, "", 0, 0, "the compiler failed: " + fatal});
  }
  program.ok = !has_error(program.diagnostics) && (report || !program.code.empty());
  if (!program.ok) program.code.clear();
  if (report) complete_reason(*report, options);
  return program;
}

std::atomic<CancelPoll> the_cancel_poll{nullptr};

}  // namespace

void install_error_handlers() {
  [[maybe_unused]] static const bool are_installed = [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_fatal_error);
    host();  // here a fatal error is still an exception; a jump would leave the guard of host()'s static locked
    return true;
  }();
}

bool cancel_poll() {
  const CancelPoll poll = the_cancel_poll.load(std::memory_order_acquire);
  return poll && poll();
}

void set_cancel_poll(CancelPoll poll) { the_cancel_poll.store(poll, std::memory_order_release); }

const std::string& compiler_fingerprint() {
  static const std::string& fingerprint =
      *new std::string("llvm " LLVM_VERSION_STRING " code " + std::string(code_version()) + " " + host().processor +
                       " " + host().feature_list + " sleef " + host().sleef.prefix);
  return fingerprint;
}

int host_vector_bytes() { return host().vector_bytes; }

CompiledProgram compile(const ProgramSource& source) { return compile_to(source, Output::object); }

CompiledProgram check(const ProgramSource& source) {
  CompiledProgram program;
  jit::CompileOptions options;
  if (!jit::parse_options(source.options, options, program.diagnostics)) return program;
  const std::string fatal =
      run_with_large_stack([&] { program.ok = parse_only(source, options, program.diagnostics); });
  if (fatal.empty()) return program;
  program.ok = false;
  program.diagnostics.push_back({Diagnostic::Level::error, "", 0, 0, "the compiler failed: " + fatal});
  return program;
}

std::optional<ProgramSource> saturate_narrow_casts(const ProgramSource& source) {
  std::vector<Diagnostic> diagnostics;
  jit::CompileOptions options;
  if (!jit::parse_options(source.options, options, diagnostics)) return {};
  ProgramSource saturating = source;
  bool ok = false;
  const std::string fatal =
      run_with_large_stack([&] { ok = rewrite_narrow_casts(source, options, diagnostics, saturating); });
  return ok && fatal.empty() ? std::optional(std::move(saturating)) : std::nullopt;
}

std::string assembly(const ProgramSource& source) {
  CompiledProgram program = compile_to(source, Output::assembly);
  if (program.ok) return program.code;
  std::string message = "assembly: the text does not compile";
  for (const auto& diagnostic : program.diagnostics) {
    if (diagnostic.level == Diagnostic::Level::error) message += "\n" + diagnostic.message;
  }
  throw CompileError(message);
}

}  // namespace iruka::cpu_backend
