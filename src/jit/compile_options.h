// The compiler options that a user may give, and their effects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device.h"

namespace iruka::jit {

struct CompileOptions {
  int standard = 20;           ///< C++ standard: 20 or 23; the prelude needs 20, so that older ones mean 20
  int optimization_level = 3;  ///< 0 to 3
  bool fast_math = false;      ///< reassociation, reciprocals, approximate functions; NaN and infinity stay honoured
  bool contract = true;        ///< a * b + c may become one FMA
  bool no_warnings = false;
  int lanes = 0;                  ///< elements that run side by side: 0 lets the compiler choose, 1 is the scalar path
  std::optional<double> timeout;  ///< in seconds; 0: none
  bool line_tables = false;       ///< no option: set for a report, whose remarks need places
  std::vector<std::pair<std::string, bool>> macros;  ///< "NAME" or "NAME=value"; true: undefine
  std::vector<std::string> warnings;                 ///< without the "-W"
  std::vector<std::string> include_folders;          ///< as written; jit/includes.h reads them, not the compilers
  std::vector<std::string> gpu_options;              ///< options without effect on a CPU, unchanged
};

/// Reads `options`. An option that is not known is an error diagnostic that names it, and the result is false.
bool parse_options(const std::vector<std::string>& options, CompileOptions& result,
                   std::vector<Diagnostic>& diagnostics);

/// `options` without a time limit, which changes no code. One that is not valid stays, as it is an error.
std::vector<std::string> without_time_limit(const std::vector<std::string>& options);

/// A finite number that is not negative, as a time limit. False leaves `seconds` as it is.
bool parse_seconds(std::string_view text, double& seconds);

}  // namespace iruka::jit
