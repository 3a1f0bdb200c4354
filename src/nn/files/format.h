// Which format a file is of. Its bytes decide, not its name.
#pragma once

#include "nn/files/input.h"

namespace iruka::nn {

enum class FileFormat : uint8_t { safetensors, torch_zip, torch_legacy, torch_program, onnx };

/// Whether files of a format hold a graph of operators beside weights.
inline bool has_graph(FileFormat format) { return format == FileFormat::onnx || format == FileFormat::torch_program; }

/// Raises ValueError that says what the file is instead.
FileFormat format_of(const Input& input);

}  // namespace iruka::nn
