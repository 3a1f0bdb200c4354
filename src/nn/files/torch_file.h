// Files of torch.save(): a zip archive with a pickle and storages, or (before torch 1.6) pickles and then storages.
#pragma once

#include "iruka/nn.h"
#include "nn/files/input.h"
#include "nn/files/tensor.h"
#include "nn/files/zip.h"

namespace iruka::nn {

/// What torch.save() was given, in its structure. Raises ValueError for archives of other kinds, which it names, and
/// for objects other than tensors, containers, numbers and texts.
Value read_torch_zip(const Input& input);
Value read_torch_legacy(const Input& input);

/// Raises ValueError where the archive's numbers are not little-endian. `folder`: what its names begin with.
void check_byte_order(const ZipArchive& archive, const std::string& folder, const std::string& where);
/// The bytes of an entry: a part of the file's buffer, or a copy where that would not be aligned.
StorageMemory memory_of(const Input& input, const ZipArchive& archive, const ZipEntry& entry);

}  // namespace iruka::nn
