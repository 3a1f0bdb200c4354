// Perceptrons on the CPU: float32 or float64.
#pragma once

#include "core/dense_network.h"

namespace iruka::cpu_backend {

DenseNetworks& cpu_dense_networks();

}  // namespace iruka::cpu_backend
