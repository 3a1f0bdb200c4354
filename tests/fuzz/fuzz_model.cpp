// libFuzzer over models that run: graphs of random operators, loaded as a file's and run twice on the CPU. Errors are
// expected; crashes, hangs, and results that differ from run to run are findings. The bytes choose operators,
// attributes and shapes (random_model.h), so that there are no seeds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"
#include "nn/graph.h"
#include "nn/model.h"
#include "nn_values.h"
#include "random_model.h"

namespace {

using namespace iruka;
using namespace iruka::nn;

/// The sign of a NaN is nobody's.
bool are_same(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.nbytes())) == 0) return true;
  const std::vector<double> x = a.astype(Dtype::float64).to_vector<double>(),
                            y = b.astype(Dtype::float64).to_vector<double>();
  return std::ranges::equal(x, y, [](double p, double q) { return p == q || (p != p && q != q); });
}

std::string text_of(const Array& array) { return std::string(name(array.dtype())) + to_string(array.shape()); }

std::string text_of(const Attribute& attribute) {
  if (const auto* integer = std::get_if<int64_t>(&attribute)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&attribute)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&attribute)) return *text;
  if (const auto* array = std::get_if<Array>(&attribute)) return text_of(*array);
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute))
    return to_string(Dims(integers->data(), static_cast<int>(std::min<size_t>(integers->size(), 8))));
  return "...";
}

void print(const Graph& graph, const std::string& margin) {
  for (const auto& [name, array] : graph.initializers)
    std::fprintf(stderr, "%s%s = %s\n", margin.c_str(), name.c_str(), text_of(array).c_str());
  for (const Node& node : graph.nodes) {
    std::string text = margin;
    for (const std::string& output : node.outputs) text += output + " ";
    text += "= " + node.op;
    for (const std::string& input : node.inputs) text += " " + (input.empty() ? "-" : input);
    for (const auto& [name, attribute] : node.attributes) text += " " + name + "=" + text_of(attribute);
    std::fprintf(stderr, "%s\n", text.c_str());
    for (const GraphHandle& inner : graphs_of(node)) print(*inner, margin + "  ");
  }
  for (const TensorInfo& output : graph.outputs) std::fprintf(stderr, "%s-> %s\n", margin.c_str(), output.name.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  set_memory_limit(size_t{256} << 20);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    Choices choices({data, size});
    const RandomModel made = random_model(choices);
    if (std::getenv("IRUKA_FUZZ_PRINT")) {
      for (size_t k = 0; k < made.inputs.size(); ++k)
        std::fprintf(stderr, "%s: %s\n", made.graph.inputs[k].name.c_str(), text_of(made.inputs[k]).c_str());
      print(made.graph, "");
    }
    check_graph(made.graph, "fuzz");
    const Model model = model_of(made.graph, cpu(), Precision::float32, "fuzz");
    model.to_string();
    const std::vector<Array> first = model.run(made.inputs), second = model.run(made.inputs);
    for (size_t k = 0; k < first.size(); ++k) {
      bytes_of_elements(first[k]);
      if (are_same(first[k], second[k])) continue;
      std::fprintf(stderr, "output %zu differs from run to run:\n%s\n", k, model.to_string().c_str());
      std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
