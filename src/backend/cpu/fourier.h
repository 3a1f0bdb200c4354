// Fourier transforms on the CPU.
#pragma once

#include "core/fourier.h"

namespace iruka::cpu_backend {

FourierLibrary& fourier();

}  // namespace iruka::cpu_backend
