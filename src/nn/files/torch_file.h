// Files of torch.save(): a zip archive with a pickle and storages, or (before torch 1.6) pickles and then storages.
#pragma once

#include "iruka/nn.h"
#include "nn/files/input.h"

namespace iruka::nn {

/// What torch.save() was given, in its structure. Raises ValueError for archives of other kinds, which it names, and
/// for objects other than tensors, containers, numbers and texts.
Value read_torch_zip(const Input& input);
Value read_torch_legacy(const Input& input);

}  // namespace iruka::nn
