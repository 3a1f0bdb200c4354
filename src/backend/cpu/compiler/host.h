// The host's processor in the terms of LLVM and SLEEF.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace iruka::cpu_backend {

/// SLEEF's names for this host's instruction sets. The functions of one `prefix` agree bit for bit in every width.
struct SleefVariant {
  const char* prefix;      ///< "finz" (with FMA) or "cinz"
  const char* scalar_isa;  ///< "purecfma" or "purec"
  struct Width {
    int bytes;
    const char* isa;
  };
  std::vector<Width> widths;  ///< the host's vector registers
};

struct Host {
  std::string triple;
  std::string processor;
  std::vector<std::string> features;  ///< "+avx2", "-avx512f"..., sorted
  std::string feature_list;           ///< the same, with commas
  int vector_bytes = 16;
  /// AVX-512: a mask is one bit a lane.
  bool has_mask_registers() const { return vector_bytes >= 64; }
  SleefVariant sleef;
};

/// Found once. Registers the LLVM target, too.
const Host& host();

/// Makes LLVM's fatal errors raise DeviceError, or end the compilation, instead of the process. Call it before any
/// other use of LLVM.
void install_error_handlers();

/// A target machine lent to one compilation. Machines are kept, because building their instruction tables takes longer
/// than compiling a small kernel.
class TargetMachineLease {
 public:
  TargetMachineLease(int optimization_level, bool fast_math);
  ~TargetMachineLease();
  TargetMachineLease(const TargetMachineLease&) = delete;
  TargetMachineLease& operator=(const TargetMachineLease&) = delete;
  llvm::TargetMachine& operator*() const { return *machine_; }
  llvm::TargetMachine* operator->() const { return machine_.get(); }

 private:
  int kind_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace iruka::cpu_backend
