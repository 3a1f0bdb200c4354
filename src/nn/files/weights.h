// Reads weights for callers whose errors name another function than load_weights.
#pragma once

#include "iruka/nn.h"
#include "nn/files/input.h"

namespace iruka::nn {

Value read_weights(const Input& input);

}  // namespace iruka::nn
