// Which format a file is of. Its bytes decide, not its name.
#pragma once

#include "nn/files/input.h"

namespace iruka::nn {

enum class FileFormat : uint8_t { safetensors, torch_zip, torch_legacy, onnx };

/// Raises ValueError that says what the file is instead.
FileFormat format_of(const Input& input);

}  // namespace iruka::nn
