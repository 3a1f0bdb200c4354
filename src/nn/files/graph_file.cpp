#include "nn/files/graph_file.h"

#include "nn/files/format.h"
#include "nn/files/onnx.h"
#include "nn/files/torch_program.h"

namespace iruka::nn {

Graph read_graph(const Input& input) {
  const FileFormat format = format_of(input);
  if (!has_graph(format)) {
    raise_value_error(input.where(), "is a file of weights without a graph; load_weights() reads it");
  }
  return format == FileFormat::onnx ? read_onnx(input) : read_torch_program(input);
}

Graph load_graph(const std::string& function, const std::string& path) {
  return read_graph(Input::from_file(function, path));
}
Graph load_graph(const std::string& function, std::span<const uint8_t> bytes) {
  return read_graph(Input::from_bytes(function, bytes));
}

}  // namespace iruka::nn
