// What texts include of the kernel code of sorted arrays.
#pragma once

#include "ops/kernel_text.h"

namespace iruka::ops {

/// Includes HEADER.h of kernels/, and names what it declares.
inline std::string order_text(const std::string& header) { return header_text("sort", header, "order"); }

}  // namespace iruka::ops
