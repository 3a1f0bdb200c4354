// The processor we run on, as LLVM and SLEEF name it.
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
  std::vector<Width> widths;  ///< vector registers that exist here
};

struct Host {
  std::string triple;
  std::string processor;
  std::vector<std::string> features;  ///< "+avx2", "-avx512f"..., sorted
  std::string feature_list;           ///< the same, with commas
  int vector_bytes = 16;
  SleefVariant sleef;
};

/// Found once. Registers the LLVM target, too.
const Host& host();

/// A target machine for `optimization_level` (0 to 3); one per thread and compilation.
std::unique_ptr<llvm::TargetMachine> make_target_machine(int optimization_level, bool fast_math);

}  // namespace iruka::cpu_backend
