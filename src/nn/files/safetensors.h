// Files of the safetensors format: 8 bytes with the header's size, the header in JSON, the tensors' bytes.
#pragma once

#include "iruka/nn.h"
#include "nn/files/input.h"

namespace iruka::nn {

/// A mapping from name to array, in the order of the header. Raises ValueError for what the format does not allow:
/// gaps, overlaps, wrong sizes, a name that occurs twice, a header of more than 100 MB.
Value read_safetensors(const Input& input);

}  // namespace iruka::nn
