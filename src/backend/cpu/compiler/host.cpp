#include "backend/cpu/compiler/host.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "iruka/error.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace iruka::cpu_backend {
namespace {

const llvm::Target* x86_target = nullptr;

SleefVariant sleef_variant(bool fma, bool avx, bool avx2, bool avx512, bool sse4) {
  SleefVariant variant;
  variant.prefix = fma && avx2 ? "finz" : "cinz";
  variant.scalar_isa = fma && avx2 ? "purecfma" : "purec";
  if (fma && avx2) {
    variant.widths = {{16, "avx2128"}, {32, "avx2"}};
    if (avx512) variant.widths.push_back({64, "avx512f"});
  } else {
    variant.widths = {{16, sse4 ? "sse4" : "sse2"}};
    if (avx) variant.widths.push_back({32, "avx"});
  }
  return variant;
}

/// Sets options of LLVM that have no other interface. This copy of LLVM is linked into our library only.
void set_llvm_options() {
  constexpr std::pair<const char*, const char*> kOptions[] = {
      // It takes half of a small kernel's compile time, mostly for the scalar rest of loops.
      {"unroll-runtime", "false"},
      // expf(1) must have the same bits as expf(x) for x = 1, not those of this machine's libm.
      {"disable-fp-call-folding", "true"},
  };
  auto& options = llvm::cl::getRegisteredOptions();
  for (const auto& [name, value] : kOptions) {
    const auto found = options.find(name);
    if (found != options.end()) found->second->addOccurrence(0, name, value);
  }
}

/// The widest vectors that IRUKA_CPU_LEVEL allows, in bytes: those of a level of the x86-64 psABI.
int allowed_vector_bytes() {
  const char* text = std::getenv("IRUKA_CPU_LEVEL");
  const std::string_view level = text ? text : "";
  if (level == "x86-64-v2") return 16;
  if (level == "x86-64-v3") return 32;
  if (level.empty() || level == "x86-64-v4") return 64;
  throw DeviceError("IRUKA_CPU_LEVEL is '" + std::string(level) + "'; it may be x86-64-v2, x86-64-v3 or x86-64-v4");
}

bool needs_avx(llvm::StringRef feature) {
  return feature.starts_with("avx") || feature == "fma" || feature == "fma4" || feature == "f16c" || feature == "xop" ||
         feature == "vaes" || feature == "vpclmulqdq";
}

Host find_host() {
  set_llvm_options();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();

  Host host;
  host.triple = "x86_64-unknown-linux-gnu";
  host.processor = llvm::sys::getHostCPUName().str();
  const auto features = llvm::sys::getHostCPUFeatures();
  const int allowed = allowed_vector_bytes();
  const auto has = [&](const char* name) { return features.lookup(name) && (allowed > 16 || !needs_avx(name)); };
  const bool avx512 = allowed == 64 && has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq");
  // Features whose registers saving_cancel_poll() does not save are not used: incomplete AVX-512, and APX. Nor are
  // instructions on float16: its arithmetic is float32's, rounded, and they raise flags for lanes beyond the end.
  const auto is_used = [&](llvm::StringRef name) {
    return name != "egpr" && name != "avx512fp16" && (avx512 || !name.starts_with("avx512")) &&
           (allowed > 16 || !needs_avx(name));
  };
  for (const auto& feature : features) {
    host.features.push_back((feature.second && is_used(feature.first()) ? "+" : "-") + feature.first().str());
  }
  std::sort(host.features.begin(), host.features.end());
  for (const auto& feature : host.features) host.feature_list += (host.feature_list.empty() ? "" : ",") + feature;
  host.vector_bytes = avx512 ? 64 : has("avx") ? 32 : 16;
  host.sleef = sleef_variant(has("fma"), has("avx"), has("avx2"), avx512, has("sse4.1"));

  std::string error;
  x86_target = llvm::TargetRegistry::lookupTarget(llvm::Triple(host.triple), error);
  return host;
}

constexpr size_t kMostIdle = 4;

struct IdleMachines {
  std::mutex mutex;
  std::array<std::vector<std::unique_ptr<llvm::TargetMachine>>, 8> by_kind;
};

IdleMachines& idle_machines() {
  static auto& machines = *new IdleMachines;
  return machines;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(int optimization_level, bool fast_math) {
  const Host& here = host();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = fast_math ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  const auto level = static_cast<llvm::CodeGenOptLevel>(optimization_level);
  return std::unique_ptr<llvm::TargetMachine>(
      x86_target->createTargetMachine(llvm::Triple(here.triple), here.processor, here.feature_list, options,
                                      llvm::Reloc::PIC_, llvm::CodeModel::Small, level, /*JIT=*/true));
}

}  // namespace

const Host& host() {
  static const Host& found = *new Host(find_host());
  return found;
}

TargetMachineLease::TargetMachineLease(int optimization_level, bool fast_math)
    : kind_(std::clamp(optimization_level, 0, 3) * 2 + fast_math) {
  {
    IdleMachines& idle = idle_machines();
    std::lock_guard lock(idle.mutex);
    auto& machines = idle.by_kind[kind_];
    if (!machines.empty()) {
      machine_ = std::move(machines.back());
      machines.pop_back();
    }
  }
  // The mutex is not held here, because a fatal error of LLVM would leave it locked.
  if (!machine_) machine_ = make_target_machine(kind_ / 2, fast_math);
}

TargetMachineLease::~TargetMachineLease() {
  IdleMachines& idle = idle_machines();
  std::lock_guard lock(idle.mutex);
  if (idle.by_kind[kind_].size() < kMostIdle) idle.by_kind[kind_].push_back(std::move(machine_));
}

}  // namespace iruka::cpu_backend
