// libFuzzer over ONNX models: their files are read, and the graphs made models for the CPU. Seeds:
// tests/fuzz/seeds/onnx.
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"
#include "nn/files/onnx.h"
#include "nn/model.h"
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

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  iruka::set_memory_limit(size_t{256} << 20);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Graph graph = read_onnx(Input::from_bytes("fuzz", {data, size}));
    read_arrays(graph);
    model_of(graph, iruka::cpu(), iruka::Precision::float32, "fuzz").to_string();
  } catch (const iruka::Error&) {
  }
  return 0;
}
