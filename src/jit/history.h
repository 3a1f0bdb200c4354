// The record behind kernel_history().
#pragma once

#include "iruka/kernel.h"

namespace iruka::jit {

void record_event(KernelEvent::Kind kind, const std::string& kernel, const std::string& device, double milliseconds);

}  // namespace iruka::jit
