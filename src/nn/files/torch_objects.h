// The objects of a pickle as values; descriptions of tensors become arrays over their storages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "iruka/nn.h"
#include "nn/files/pickle.h"
#include "nn/files/tensor.h"

namespace iruka::nn {

using StorageTable = std::vector<StorageMemory>;  ///< one for each of Pickle::storages

/// Raises ValueError for a tensor that leaves its storage, objects that contain themselves or repeat others without
/// end, and what has no counterpart among values.
Value to_value(const Object& root, const std::vector<Storage>& storages, const StorageTable& table,
               const std::string& where);

}  // namespace iruka::nn
