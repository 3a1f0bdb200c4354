#include "jit/compile_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace iruka::jit {
namespace {

// Options of nvcc and NVRTC without effect on a CPU. A trailing '=' or '*' accepts any value.
constexpr std::array kForGpus = {
    "--maxrregcount=*",
    "-maxrregcount=*",
    "--gpu-architecture=*",
    "-arch=*",
    "--restrict",
    "-restrict",
    "-lineinfo",
    "--generate-line-info",
    "--device-debug",
    "-G",
    "--ptxas-options=*",
    "-Xptxas*",
    "--extra-device-vectorization",
    "--prec-div=*",
    "-prec-div=*",
    "--prec-sqrt=*",
    "-prec-sqrt=*",
    "--ftz=*",
    "-ftz=*",
    "--device-c",
    "-dc",
    "--relocatable-device-code=*",
    "-rdc=*",
    "-default-device",
    "--device-as-default-execution-space",
    "-g",
    "--dopt=*",
    "-dopt=*",
    "--minimal",
    "-minimal",
    "--jit",
    "-jitify",
};

bool matches(std::string_view pattern, std::string_view option) {
  if (pattern.back() != '*') return option == pattern;
  pattern.remove_suffix(1);
  return option.substr(0, pattern.size()) == pattern;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool is_macro(std::string_view macro, bool may_have_value) {
  const std::string_view name = macro.substr(0, macro.find('='));
  if (name.empty() || (!may_have_value && name.size() != macro.size())) return false;
  if (macro.find('\n') != macro.npos) return false;
  const auto is_word = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), is_word);
}

bool parse_standard(std::string_view value, int& standard) {
  if (!take_prefix(value, "c++") && !take_prefix(value, "gnu++")) return false;
  constexpr std::pair<std::string_view, int> kStandards[] = {{"11", 20}, {"14", 20}, {"1y", 20}, {"17", 20}, {"1z", 20},
                                                             {"20", 20}, {"2a", 20}, {"23", 23}, {"2b", 23}};
  for (const auto& [name, number] : kStandards) {
    if (value == name) {
      standard = number;
      return true;
    }
  }
  return false;
}

bool parse_boolean(std::string_view value, bool& flag) {
  if (value != "true" && value != "false") return false;
  flag = value == "true";
  return true;
}

bool parse_lanes(std::string_view value, int& lanes) {
  for (const int allowed : {0, 1, 2, 4, 8, 16, 32, 64}) {
    if (value != std::to_string(allowed)) continue;
    lanes = allowed;
    return true;
  }
  return false;
}

/// The values that an option accepts, or the options there are, as a hint in the error message.
std::string allowed_values(std::string_view option) {
  if (option.starts_with("--compile-timeout")) return "; --compile-timeout=SECONDS takes a number from 0 (no limit) on";
  if (option.starts_with("-I") || option.starts_with("--include-path")) return "; -I names a folder";
  if (option.starts_with("-std") || option.starts_with("--std")) return "; -std takes c++11, 14, 17, 20 or 23";
  if (!option.starts_with("--lanes"))
    return "; a kernel takes --use_fast_math, --fmad, -D, -U, -I, -std, -O, -W, -w, --lanes, --compile-timeout and "
           "some "
           "of NVRTC's (docs/kernel_language.md, Options)";
  return "; --lanes=N takes 0 (automatic), 1 (scalar), 2, 4, 8, 16, 32 or 64";
}

bool is_warning_name(std::string_view name) {
  return !name.empty() && name.size() < 100 &&
         std::all_of(
             name.begin(), name.end(),
             [](char c) {
               return c == '-' || c == '+' || c == '=' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9');
             });
}

bool parse_option(std::string_view option, CompileOptions& result) {
  std::string_view value = option;
  if (option == "--use_fast_math" || option == "-use_fast_math" || option == "-ffast-math") {
    result.fast_math = true;
    return true;
  }
  if (option == "-w" || option == "--disable-warnings") {
    result.no_warnings = true;
    return true;
  }
  if (option == "-fno-fast-math") {
    result.fast_math = false;
    return true;
  }
  if (take_prefix(value, "-std=") || take_prefix(value, "--std=")) return parse_standard(value, result.standard);
  if (take_prefix(value, "--fmad=") || take_prefix(value, "-fmad=")) return parse_boolean(value, result.contract);
  if (take_prefix(value, "--lanes=")) return parse_lanes(value, result.lanes);
  if (take_prefix(value, "--compile-timeout=")) return parse_seconds(value, result.timeout.emplace());
  if (take_prefix(value, "-ffp-contract=")) {
    result.contract = value != "off";
    return value == "off" || value == "on" || value == "fast";
  }
  if (value.size() == 3 && take_prefix(value, "-O")) {
    result.optimization_level = value[0] - '0';
    return value[0] >= '0' && value[0] <= '3';
  }
  for (const char* prefix : {"--define-macro=", "-D"}) {
    if (!take_prefix(value, prefix)) continue;
    result.macros.emplace_back(value, false);
    return is_macro(value, true);
  }
  for (const char* prefix : {"--undefine-macro=", "-U"}) {
    if (!take_prefix(value, prefix)) continue;
    result.macros.emplace_back(value, true);
    return is_macro(value, false);
  }
  for (const char* prefix : {"--include-path=", "-I=", "-I"}) {
    if (!take_prefix(value, prefix)) continue;
    result.include_folders.emplace_back(value);
    return !value.empty() && value.find('\0') == value.npos;
  }
  if (std::any_of(kForGpus.begin(), kForGpus.end(), [&](const char* known) { return matches(known, option); })) {
    result.gpu_options.emplace_back(option);
    return true;
  }
  if (take_prefix(value, "-W")) {
    result.warnings.emplace_back(value);
    return is_warning_name(value);
  }
  return false;
}

}  // namespace

bool parse_seconds(std::string_view text, double& seconds) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) return false;
  seconds = value;
  return true;
}

bool parse_options(const std::vector<std::string>& options, CompileOptions& result,
                   std::vector<Diagnostic>& diagnostics) {
  bool ok = true;
  for (size_t k = 0; k < options.size(); ++k) {
    std::string option = options[k];
    // "-D NAME" and the like come as two words.
    const bool two_words = option == "-D" || option == "-U" || option == "-I" || option == "--include-path" ||
                           option == "-arch" || option == "-maxrregcount" || option == "--gpu-architecture" ||
                           option == "--maxrregcount" || option == "--std" || option == "-std" || option == "-Xptxas" ||
                           option == "--lanes" || option == "--compile-timeout";
    if (two_words && k + 1 < options.size()) option += (option.size() > 2 ? "=" : "") + options[++k];
    if (parse_option(option, result)) continue;
    ok = false;
    diagnostics.push_back({Diagnostic::Level::error, "options", 0, 0,
                           "unknown compiler option '" + option + "'" + allowed_values(option)});
  }
  return ok;
}

std::vector<std::string> without_time_limit(const std::vector<std::string>& options) {
  std::vector<std::string> kept;
  double seconds;
  for (size_t k = 0; k < options.size(); ++k) {
    std::string_view value = options[k];
    if (take_prefix(value, "--compile-timeout=") && parse_seconds(value, seconds)) continue;
    if (options[k] == "--compile-timeout" && k + 1 < options.size() && parse_seconds(options[k + 1], seconds))
      ++k;
    else
      kept.push_back(options[k]);
  }
  return kept;
}

}  // namespace iruka::jit
