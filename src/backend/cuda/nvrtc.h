// NVRTC, found at run time: CUDA C++ in, machine code for one architecture out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device.h"

namespace iruka::cuda_backend {

struct NvrtcOutput {
  bool ok = false;
  std::string cubin;  ///< for "sm_90" and the like
  std::string ptx;
  std::string log;
  NamePairs names;  ///< of the source's name expressions
};

/// The reason why no kernel can be compiled; empty if NVRTC works.
const std::string& nvrtc_problem();

/// "13.0"; raises DeviceError that says what to install where NVRTC cannot be found.
const std::string& nvrtc_version();

/// The architectures NVRTC compiles for, as 75, 80, 90...
const std::vector<int>& nvrtc_architectures();

/// Compiles `text`, the source's with the prelude's include in front. Options as NVRTC takes them.
NvrtcOutput run_nvrtc(const std::string& text, const ProgramSource& source, const std::vector<std::string>& options);

/// Translates the user's options to NVRTC's, for machine code of `architecture` ("sm_90"). False if `diagnostics` has
/// an error about an option.
bool nvrtc_options(const ProgramSource& source, const std::string& architecture, std::vector<std::string>& options,
                   std::vector<Diagnostic>& diagnostics);

/// The options for the assembler of PTX, NVRTC's own or the driver's.
struct AssemblerOptions {
  int most_registers = 0;                         ///< of a thread; 0: the assembler chooses
  std::vector<std::pair<int, uintptr_t>> values;  ///< CUjit_option and its value
};
AssemblerOptions assembler_options(const std::vector<std::string>& options);

/// The diagnostics in NVRTC's log, with the places that #line directives give.
std::vector<Diagnostic> parse_log(const std::string& log);

/// A source for NVRTC: the prelude and the text. The user's options decide with the text which parts of the prelude are
/// needed.
std::string with_prelude(const std::string& text, std::span<const std::string> options = {});

}  // namespace iruka::cuda_backend
