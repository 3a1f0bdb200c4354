// Limits of the texts that NVRTC is given. NVRTC has none of its own, and overflows its stack.
#pragma once

#include <string>
#include <string_view>

namespace iruka::cuda_backend {

/// What of the text is too large or too deep, or empty. The limits are those of the CPU's compiler
/// (backend/cpu/compiler/limits.h). Macros are not expanded: one that the text defines counts as what it stands for.
std::string nvrtc_limit_error(std::string_view text);

}  // namespace iruka::cuda_backend
