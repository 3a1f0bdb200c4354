#include "backend/cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <climits>
#include <string_view>

#include "backend/cuda/driver.h"
#include "backend/cuda/library.h"
#include "backend/cuda/nvrtc_limits.h"
#include "core/once.h"
#include "iruka/error.h"
#include "jit/compile_options.h"
#include "jit/kernel_headers.h"

namespace iruka::cuda_backend {
namespace {

using Program = struct NvrtcProgram*;

struct Nvrtc {
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add_name)(Program, const char* expression) = nullptr;
  int (*lowered_name)(Program, const char* expression, const char** name) = nullptr;
  int (*compile)(Program, int count, const char* const* options) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*architecture_count)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  int (*set_flow_callback)(Program, int (*)(void*, void*), void*) = nullptr;  ///< null before CUDA 12.8
  std::vector<int> known_architectures;
  bool knows_minimal = false;
  std::string version_text;
  std::string problem;

  Nvrtc() {
    void* const library = open();
    if (!library) {
      problem =
          "NVRTC (libnvrtc.so) was not found in CUDA_PATH, in Python packages or by the system: "
          "`pip install nvidia-cuda-nvrtc`, or install the CUDA toolkit";
      return;
    }
    bool complete = true;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      complete &= function != nullptr;
    };
    find(version, "nvrtcVersion");
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(add_name, "nvrtcAddNameExpression");
    find(lowered_name, "nvrtcGetLoweredName");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    find(ptx_size, "nvrtcGetPTXSize");
    find(ptx, "nvrtcGetPTX");
    find(error_text, "nvrtcGetErrorString");
    find(architecture_count, "nvrtcGetNumSupportedArchs");
    find(architectures, "nvrtcGetSupportedArchs");
    if (!complete) {
      problem = "the NVRTC that was found is too old; CUDA 12 is the oldest that serves";
      return;
    }
    set_flow_callback = reinterpret_cast<decltype(set_flow_callback)>(dlsym(library, "nvrtcSetFlowCallback"));
    int major = 0, minor = 0;
    version(&major, &minor);
    int count = 0;
    architecture_count(&count);
    known_architectures.resize(static_cast<size_t>(count));
    architectures(known_architectures.data());
    knows_minimal = major > 12 || (major == 12 && minor >= 8);
    version_text = std::to_string(major) + "." + std::to_string(minor);
  }

 private:
  // Machine code of a newer major version than the driver's would not load.
  static void* open() {
    const int newest = driver_problem().empty() ? driver_version() : 13000;
    std::vector<std::string> names;
    for (int major = std::max(newest / 1000, 12); major >= 12; --major)
      names.push_back("libnvrtc.so." + std::to_string(major));
    return open_library(names);
  }
};

const Nvrtc& found_nvrtc() {
  return made_once_locked([] { return Nvrtc(); });
}

const Nvrtc& nvrtc() {
  const Nvrtc& found = found_nvrtc();
  if (!found.problem.empty()) throw DeviceError("cuda: kernels cannot be compiled: " + found.problem);
  return found;
}

/// A program of NVRTC, destroyed at the end of the scope.
class Compilation {
 public:
  Compilation(const Nvrtc& api, const std::string& text, const ProgramSource& source) : api_(api) {
    const PreludeFiles& prelude = made_once([] { return PreludeFiles(); });
    std::vector<const char*> texts = prelude.texts, names = prelude.names;
    if (source.headers)
      for (const HeaderFile& header : *source.headers) {
        texts.push_back(header.text->c_str());
        names.push_back(header.path.c_str());
      }
    const int result = api.create(&program_, text.c_str(), source.file_name.c_str(), static_cast<int>(texts.size()),
                                  texts.data(), names.data());
    if (result != 0) throw DeviceError(std::string("cuda: nvrtcCreateProgram failed: ") + api.error_text(result));
    for (const std::string& expression : source.name_expressions) api.add_name(program_, expression.c_str());
    if (source.cancelled && api.set_flow_callback)
      api.set_flow_callback(program_, is_cancelled, source.cancelled.get());
  }
  ~Compilation() { api_.destroy(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  int compile(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    return api_.compile(program_, static_cast<int>(texts.size()), texts.data());
  }

  std::string lowered_name(const std::string& expression) const {
    const char* name = nullptr;
    return api_.lowered_name(program_, expression.c_str(), &name) == 0 && name ? name : "";
  }

  std::string read(int (*size_of)(Program, size_t*), int (*get)(Program, char*)) const {
    size_t size = 0;
    if (size_of(program_, &size) != 0 || size == 0) return "";
    std::string bytes(size, '\0');
    get(program_, bytes.data());
    return bytes;
  }

 private:
  struct PreludeFiles {
    std::vector<std::string> storage;
    std::vector<const char*> texts, names;
    PreludeFiles() {
      for (const auto& [name, text] : jit::kernel_headers()) {
        if (jit::is_for_cpu(name)) continue;
        storage.emplace_back(name);
        storage.emplace_back(text);
      }
      for (size_t k = 0; k < storage.size(); k += 2) {
        names.push_back(storage[k].c_str());
        texts.push_back(storage[k + 1].c_str());
      }
    }
  };

  /// Tells NVRTC to stop. The source owns the flag, and lives until the compilation has ended.
  static int is_cancelled(void* flag, void*) {
    return static_cast<const std::atomic<bool>*>(flag)->load(std::memory_order_relaxed) ? 1 : 0;
  }

  const Nvrtc& api_;
  Program program_ = nullptr;
};

/// The generated line behind a body.
constexpr std::string_view kBehindOperation = ";} while (0);";

/// The file of name expressions in a log, and how it quotes one.
constexpr std::string_view kNameFile = "__nv_name_map", kNameLine = "  #pragma nv_mangled_name ";

/// How the line behind an error about an operator begins; the operands' types follow.
constexpr std::string_view kOperands = "operand types are: ";

/// How an error begins that has no line.
constexpr std::string_view kWholeText = "At end of source: error: ";

/// "operation(2): error: ...", "generated(7): warning #68-D: ..." and "At end of source: error: ...".
bool parse_head(std::string_view line, Diagnostic& found) {
  if (line.starts_with(kWholeText)) {
    found.level = Diagnostic::Level::error;
    found.message = line.substr(kWholeText.size());
    return true;
  }
  const size_t colon = line.find("): ");
  const size_t open = line.rfind('(', colon);
  if (colon == line.npos || open == line.npos || open == 0) return false;
  const auto [end, error] = std::from_chars(line.data() + open + 1, line.data() + colon, found.line);
  if (error != std::errc() || end != line.data() + colon) return false;
  found.file = line.substr(0, open);
  std::string_view rest = line.substr(colon + 3);
  constexpr std::pair<std::string_view, Diagnostic::Level> kLevels[] = {
      {"error", Diagnostic::Level::error},
      {"catastrophic error", Diagnostic::Level::error},
      {"warning", Diagnostic::Level::warning},
      {"remark", Diagnostic::Level::note},
      {"note", Diagnostic::Level::note}};
  for (const auto& [name, level] : kLevels) {
    if (!rest.starts_with(name)) continue;
    found.level = level;
    const size_t text = rest.find(": ");
    found.message = text == rest.npos ? rest : rest.substr(text + 2);
    return true;
  }
  return false;
}

/// Whether `text` names a load or store of cuda_caches.h, pastes a name together, or includes a file that is not
/// Iruka's and may do either.
bool may_name_caches(std::string_view text) {
  for (const char* sign : {"__ld", "__st", "##", "%:"})
    if (text.find(sign) != text.npos) return true;
  constexpr std::string_view kInclude = "include";
  for (size_t at = text.find(kInclude); at != text.npos; at = text.find(kInclude, at + 1))
    if (const std::string_view file = text.substr(at + kInclude.size());
        !file.starts_with(" \"ops/") && !file.starts_with(" \"jit/"))
      return true;
  return false;
}

}  // namespace

const std::string& nvrtc_problem() { return found_nvrtc().problem; }

const std::string& nvrtc_version() { return nvrtc().version_text; }

const std::vector<int>& nvrtc_architectures() { return nvrtc().known_architectures; }

NvrtcOutput run_nvrtc(const std::string& text, const ProgramSource& source, const std::vector<std::string>& options) {
  const Nvrtc& api = nvrtc();
  NvrtcOutput output;
  if (const std::string error = nvrtc_limit_error(text); !error.empty()) {
    output.ok = false;
    output.log = std::string(kWholeText) + error + "\n";
    return output;
  }
  Compilation compilation(api, text, source);
  const int result = compilation.compile(options);
  output.ok = result == 0;
  output.log = compilation.read(api.log_size, api.log);
  if (!output.ok && output.log.size() <= 1) output.log = std::string("NVRTC failed: ") + api.error_text(result);
  if (!output.ok) return output;
  output.cubin = compilation.read(api.cubin_size, api.cubin);
  output.ptx = compilation.read(api.ptx_size, api.ptx);
  if (!output.ptx.empty() && output.ptx.back() == '\0') output.ptx.pop_back();
  for (const std::string& expression : source.name_expressions)
    output.names.emplace_back(expression, compilation.lowered_name(expression));
  return output;
}

bool nvrtc_options(const ProgramSource& source, const std::string& architecture, std::vector<std::string>& options,
                   std::vector<Diagnostic>& diagnostics) {
  jit::CompileOptions given;
  if (!jit::parse_options(source.options, given, diagnostics)) return false;
  options = {"--gpu-architecture=" + architecture, "--std=c++20", "--device-as-default-execution-space",
             "--diag-suppress=177,550"};                      // unused variables
  if (nvrtc().knows_minimal) options.push_back("--minimal");  // no textures, no runtime library: a quarter faster
  if (given.fast_math) options.push_back("--use_fast_math");
  options.push_back(std::string("--fmad=") + (given.contract ? "true" : "false"));
  if (given.no_warnings) options.push_back("--disable-warnings");
  for (const auto& [macro, is_undefined] : given.macros)
    options.push_back((is_undefined ? "--undefine-macro=" : "--define-macro=") + macro);
  constexpr std::string_view kPassed[] = {
      "--maxrregcount", "-maxrregcount", "-lineinfo", "--generate-line-info",         "--prec-",
      "-prec-",         "--ftz",         "-ftz",      "--extra-device-vectorization", "--ptxas-options=",
      "-Xptxas="};
  for (const std::string& option : given.gpu_options)
    for (const std::string_view passed : kPassed)
      if (option.starts_with(passed)) options.push_back(option);
  return true;
}

AssemblerOptions assembler_options(const std::vector<std::string>& options) {
  constexpr int kMaxRegisters = 0, kOptimizationLevel = 7, kLineInfo = 13;  // CUjit_option
  constexpr std::pair<std::string_view, int> kKnown[] = {{"maxrregcount=", kMaxRegisters},
                                                         {"O", kOptimizationLevel},
                                                         {"lineinfo", kLineInfo},
                                                         {"generate-line-info", kLineInfo}};
  jit::CompileOptions given;
  std::vector<Diagnostic> ignored;
  jit::parse_options(options, given, ignored);
  AssemblerOptions found;
  for (std::string_view option : given.gpu_options) {
    for (const std::string_view prefix : {"--ptxas-options=", "-Xptxas="})
      if (option.starts_with(prefix)) option.remove_prefix(prefix.size());
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    for (const auto& [name, number] : kKnown) {
      if (!option.starts_with(name)) continue;
      int value = 1;
      std::from_chars(option.data() + name.size(), option.data() + option.size(), value);
      if (number == kMaxRegisters)
        found.most_registers = std::max(value, 1);
      else
        found.values.emplace_back(number, static_cast<uintptr_t>(value));
    }
  }
  return found;
}

std::vector<Diagnostic> parse_log(const std::string& log) {
  std::vector<Diagnostic> diagnostics;
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = std::string_view(log).substr(at, end - at);
    at = end + 1;
    Diagnostic found{};
    if (parse_head(line, found)) {
      diagnostics.push_back(std::move(found));
    } else if (const size_t operands = line.find(kOperands);
               operands != line.npos && !diagnostics.empty() && line.find_first_not_of(' ') == operands) {
      diagnostics.back().message += "; " + std::string(line.substr(operands));
    } else if (line.starts_with(kNameLine) && !diagnostics.empty() && diagnostics.back().file == kNameFile) {
      Diagnostic& said = diagnostics.back();
      const std::string quoted = "name expression '" + std::string(line.substr(kNameLine.size())) + "': ";
      const bool repeats = diagnostics.size() > 1 && diagnostics.end()[-2].message.starts_with(quoted);
      said = {said.level, "", 0, 0, quoted + said.message};
      if (repeats) diagnostics.pop_back();
    } else if (!diagnostics.empty() && diagnostics.back().file == "generated" && line.ends_with(kBehindOperation)) {
      diagnostics.back().file = "operation";  // NVRTC reports what is missing at the text's end in the line behind it
      diagnostics.back().line = INT_MAX;
    } else if (const size_t caret = line.find('^');
               caret != line.npos && !diagnostics.empty() && line.find_first_not_of(' ') == caret) {
      diagnostics.back().column = static_cast<int>(caret) - 1;  // the log indents the source by two
    }
  }
  // One for each operator of the language that does not fit; the error has said so.
  std::erase_if(diagnostics, [](const Diagnostic& each) {
    return each.level == Diagnostic::Level::note && each.message.starts_with("built-in operator");
  });
  if (diagnostics.empty() && !log.empty()) diagnostics.push_back({Diagnostic::Level::error, "", 0, 0, log});
  return diagnostics;
}

std::string with_prelude(const std::string& text, std::span<const std::string> options) {
  const bool needs_caches = may_name_caches(text) || std::ranges::any_of(options, may_name_caches);
  return std::string("#include \"prelude.h\"\n") + (needs_caches ? "#include \"cuda_caches.h\"\n" : "") +
         "#line 1 \"generated\"\n" + text;
}

}  // namespace iruka::cuda_backend
