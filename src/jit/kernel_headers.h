// The headers of the kernel language: the prelude, and kernel code that texts include by its path under src.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace iruka::jit {

/// Name and text of each header. The build makes this function.
std::span<const std::pair<std::string_view, std::string_view>> kernel_headers();

inline bool is_kernel_code(std::string_view header) { return header.find("/kernels/") != header.npos; }
/// Whether a header is only for one device.
inline bool is_for_cpu(std::string_view header) {
  return header.find("/cpu/") != header.npos || header.starts_with("cpu_") || header == "target_cpu.h";
}
inline bool is_for_cuda(std::string_view header) {
  return header.find("/cuda/") != header.npos || header.starts_with("cuda_") || header == "target_cuda.h";
}

/// `text` and the kernel code that it includes, directly or not.
std::vector<std::string_view> with_included(std::string_view text);

}  // namespace iruka::jit
