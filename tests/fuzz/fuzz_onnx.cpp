// libFuzzer over ONNX models. Seeds: tests/fuzz/seeds/onnx.
#include "iruka/error.h"
#include "nn/files/onnx.h"
#include "nn_values.h"

namespace {

using namespace iruka::nn;

void read_arrays(const Graph& graph) {
  for (const auto& [name, array] : graph.initializers) bytes_of_elements(array);
  for (const Node& node : graph.nodes) {
    for (const auto& [name, attribute] : node.attributes) {
      if (auto* array = std::get_if<iruka::Array>(&attribute)) bytes_of_elements(*array);
      if (auto* inner = std::get_if<GraphHandle>(&attribute)) read_arrays(**inner);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read_arrays(read_onnx(Input::from_bytes("fuzz", {data, size})));
  } catch (const iruka::Error&) {
  }
  return 0;
}
