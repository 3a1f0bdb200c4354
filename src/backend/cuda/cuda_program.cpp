// From text to machine code.
#include <algorithm>
#include <cstdlib>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/cuda_module.h"
#include "backend/cuda/guard_ptx.h"
#include "backend/cuda/nvrtc.h"
#include "core/once.h"

namespace iruka::cuda_backend {

/// A hash of all sources on which the generated code depends. The build generates this function.
const char* code_version();

namespace {

constexpr int kPtxInput = 1;  ///< CUjitInputType

Diagnostic plain_error(std::string message) { return {Diagnostic::Level::error, "", 0, 0, std::move(message)}; }

/// The newest architecture that NVRTC knows and the device runs: its own, an older one of the same generation, or PTX
/// for the driver to translate ("compute_90"). With `is_specific`, also the instructions that no newer device has
/// ("sm_90a").
std::string architecture_for(int compute, bool is_specific) {
  int best = 0;
  for (const int known : nvrtc_architectures())
    if (known <= compute) best = std::max(best, known);
  if (best == 0)
    throw DeviceError("cuda: NVRTC " + nvrtc_version() + " does not compile for compute capability " +
                      std::to_string(compute / 10) + "." + std::to_string(compute % 10));
  constexpr int kFirstSpecific = 90;
  const char* const suffix = is_specific && best == compute && best >= kFirstSpecific ? "a" : "";
  return (best / 10 == compute / 10 ? "sm_" : "compute_") + std::to_string(best) + suffix;
}

/// Whether a warning of NVRTC is passed on; such warnings nearly always mean an error in the text.
bool is_told(const Diagnostic& said) {
  return said.level != Diagnostic::Level::warning ||
         said.message.find("used before its value is set") != std::string::npos ||
         said.message.find("has no effect") != std::string::npos;
}

/// Options and text to NVRTC; the diagnostics of either land in `program`.
NvrtcOutput run(const ProgramSource& source, int compute, CompiledProgram& program, bool only_check = false) {
  NvrtcOutput output;
  std::vector<std::string> options;
  if (!nvrtc_options(source, architecture_for(compute, source.runs_blocks), options, program.diagnostics))
    return output;
  if (only_check) options.push_back("--fdevice-syntax-only");
  output = run_nvrtc(with_prelude(source.text, source.options), source, options);
  if (!output.log.empty()) program.diagnostics = parse_log(output.log);
  std::erase_if(program.diagnostics, [](const Diagnostic& said) { return !is_told(said); });
  if (!output.ok && !has_error(program.diagnostics)) program.diagnostics.push_back(plain_error(output.log));
  return output;
}

/// The text that is assembled. Launch bounds make assemblers ignore `--maxrregcount`, but not the directive. CUDA's own
/// kernels have CUDA's results of a division by zero.
std::string final_ptx(std::string_view ptx, const ProgramSource& source, const AssemblerOptions& wanted) {
  std::string guarded = source.runs_blocks ? std::string(ptx) : guard_ptx(ptx);
  if (wanted.most_registers > 0) limit_registers(guarded, wanted.most_registers);
  return guarded;
}

}  // namespace

int ptx_version(int driver_version) {
  // CUDA 12.0 to 12.5 count 8.0 to 8.5; 12.6 stays at 8.5; 13.0 begins 9.0.
  const int major = driver_version / 1000, minor = driver_version % 1000 / 10;
  if (major < 13) return 80 + (minor <= 5 ? minor : minor - 1);
  return 90 + minor;
}

void lower_version(std::string& ptx, int newest) {
  constexpr std::string_view kDirective = "\n.version ";
  const size_t at = ptx.find(kDirective);
  if (at == ptx.npos) return;
  const size_t begin = at + kDirective.size(), end = ptx.find('\n', begin);
  const size_t dot = ptx.find('.', begin);
  if (dot == ptx.npos || end == ptx.npos || dot > end) return;
  const int found = std::atoi(ptx.c_str() + begin) * 10 + std::atoi(ptx.c_str() + dot + 1);
  if (found > newest) ptx.replace(begin, end - begin, std::to_string(newest / 10) + "." + std::to_string(newest % 10));
}

void limit_registers(std::string& ptx, int most) {
  const size_t bounds = ptx.find("\n.maxntid ");
  if (bounds != ptx.npos) ptx.insert(bounds, "\n.maxnreg " + std::to_string(most));
}

size_t most_argument_bytes(int driver_version, const std::string& nvrtc_version, int compute) {
  constexpr size_t kUsual = 4096, kLarge = 32764, kRange = 2 * sizeof(int64_t), kAlignment = 16;
  const bool is_large = driver_version >= 12010 && nvrtc_version != "12.0" && compute >= 70;
  return ((is_large ? kLarge : kUsual) - kRange) / kAlignment * kAlignment;
}

const TargetDescription& CudaDevice::target() const {
  static constinit Once<TargetDescription> descriptions[kMostDevices];
  return descriptions[index_].get([this] {
    TargetDescription made;
    made.name = "cuda";
    made.fingerprint = "cuda " + std::to_string(compute_) + " nvrtc " + nvrtc_version() + " code " + code_version() +
                       " driver " + std::to_string(driver_version());
    made.last_level_cache_bytes = static_cast<size_t>(attribute(kLevel2Bytes));
    made.kind = DeviceKind::cuda;
    made.is_host = false;
    made.needs_alignment = true;
    made.multiprocessors = attribute(kMultiprocessors);
    made.most_argument_bytes = most_argument_bytes(driver_version(), nvrtc_version(), compute_);
    return made;
  });
}

std::string CudaDevice::assemble(std::string ptx, const AssemblerOptions& wanted,
                                 std::vector<Diagnostic>& diagnostics) {
  const ContextScope active = activate();
  const AllowedWhileCapturing allowed;
  lower_version(ptx, ptx_version(driver_version()));
  const Driver& api = driver();
  constexpr int kErrorBuffer = 5, kErrorBufferBytes = 6;  // CUjit_option
  char log[4096] = "";
  std::vector<int> options = {kErrorBuffer, kErrorBufferBytes};
  std::vector<void*> values = {log, reinterpret_cast<void*>(sizeof(log))};
  for (const auto& [option, value] : wanted.values) {
    options.push_back(option);
    values.push_back(reinterpret_cast<void*>(value));
  }
  CUlinkState state = nullptr;
  cuda_backend::check(api.cuLinkCreate(static_cast<unsigned>(options.size()), options.data(), values.data(), &state),
                      "cuLinkCreate", name_);
  void* cubin = nullptr;
  size_t size = 0;
  CUresult result = api.cuLinkAddData(state, kPtxInput, const_cast<char*>(ptx.c_str()), ptx.size() + 1, "kernel", 0,
                                      nullptr, nullptr);
  if (result == kSuccess) result = api.cuLinkComplete(state, &cubin, &size);
  std::string code(static_cast<const char*>(cubin), result == kSuccess ? size : 0);
  api.cuLinkDestroy(state);
  if (result != kSuccess)
    diagnostics.push_back(plain_error("the driver's assembler failed: " + describe(result) + "; " + log));
  return code;
}

CompiledProgram CudaDevice::compile(const ProgramSource& source) {
  CompiledProgram program;
  const NvrtcOutput output = run(source, compute_, program);
  if (!output.ok) return program;
  const AssemblerOptions wanted = assembler_options(source.options);
  const std::string final = final_ptx(output.ptx, source, wanted);
  const bool needs_assembler = output.cubin.empty() || final != output.ptx;
  program.code = needs_assembler ? assemble(final, wanted, program.diagnostics) : output.cubin;
  program.ok = !program.code.empty();
  program.names = output.names;
  if (!program.ok || !source.wants_report) return program;
  constexpr int kWarp = 32;
  const CudaModule loaded(*this, program.code, source.file_name);
  const FunctionAttributes attributes = loaded.function(source.entry).attributes();
  program.report.lanes = kWarp;
  program.report.remarks.push_back({Remark::Kind::note, "", 0, 0,
                                    std::to_string(attributes.num_regs) + " registers a thread, " +
                                        std::to_string(attributes.local_size_bytes) + " bytes of local memory"});
  program.code.clear();
  return program;
}

CompiledProgram CudaDevice::check(const ProgramSource& source) {
  CompiledProgram program;
  program.ok = run(source, compute_, program, /*only_check=*/true).ok;
  return program;
}

std::string CudaDevice::assembly(const ProgramSource& source) {
  CompiledProgram program;
  const NvrtcOutput output = run(source, compute_, program);
  if (output.ok) return final_ptx(output.ptx, source, assembler_options(source.options));
  throw CompileError("assembly: the text does not compile: " + output.log);
}

}  // namespace iruka::cuda_backend
