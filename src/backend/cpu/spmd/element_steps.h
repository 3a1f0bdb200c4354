// Addresses in bytes, as several indices and strides give them, become addresses in elements.
#pragma once

#include "llvm/IR/Function.h"

namespace iruka::cpu_backend::spmd {

/// Rewrites an address of a load or store whose last step is a number of bytes, x * 4 for a float32, as the step x in
/// elements. What looks for neighbouring elements then sees one form. Whether the function has changed.
bool step_by_elements(llvm::Function& function);

}  // namespace iruka::cpu_backend::spmd
