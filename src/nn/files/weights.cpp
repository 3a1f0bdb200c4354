#include "nn/files/weights.h"

#include "nn/files/format.h"
#include "nn/files/safetensors.h"
#include "nn/files/torch_file.h"

namespace iruka::nn {

Value read_weights(const Input& input) {
  switch (format_of(input)) {
    case FileFormat::safetensors: return read_safetensors(input);
    case FileFormat::torch_zip: return read_torch_zip(input);
    case FileFormat::torch_legacy: return read_torch_legacy(input);
    case FileFormat::torch_program:
      raise_value_error(input.where(), "is a program of torch.export, a graph of operators; load_model() reads it");
    case FileFormat::onnx: break;
  }
  raise_value_error(input.where(), "is an ONNX model, a graph of operators; load_model() reads it");
}

Value load_weights(const std::string& path) { return read_weights(Input::from_file("load_weights", path)); }
Value load_weights(std::span<const uint8_t> bytes) { return read_weights(Input::from_bytes("load_weights", bytes)); }

}  // namespace iruka::nn
