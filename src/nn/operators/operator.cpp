#include "nn/operators/operator.h"

#include <map>

#include "core/once.h"
#include "nn/files/input.h"
#include "nn/program.h"
#include "ops/permanent_cache.h"

namespace iruka::nn {

const Array& Call::operator[](size_t input) const {
  if (!has(input)) fail("input " + std::to_string(input) + " is left out, which the operator needs");
  return inputs_[input];
}

std::vector<int64_t> Call::integers_of(size_t input) const {
  const Array& x = (*this)[input];
  if (!is_integer(x.dtype())) {
    fail("input " + std::to_string(input) + " must have integers, not " + name(x.dtype()));
  }
  return x.astype(Dtype::int64, false).to_vector<int64_t>();
}

Scalar Call::number_of(size_t input) const {
  const Array& x = (*this)[input];
  if (x.size() != 1)
    fail("input " + std::to_string(input) + " must be one number, but has shape " + to_string(x.shape()));
  return x.item();
}

const Attribute* Call::attribute(const char* name) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

namespace {

/// The attribute as a T; null where it is left out.
template <class T>
const T* get(const Call& call, const char* name, const char* kind) {
  const Attribute* const attribute = call.attribute(name);
  if (!attribute) return nullptr;
  const T* const value = std::get_if<T>(attribute);
  if (!value) call.fail("the attribute " + in_quotes(name) + " must be " + kind);
  return value;
}

}  // namespace

int64_t Call::integer(const char* name, int64_t otherwise) const {
  const auto* value = get<int64_t>(*this, name, "an integer");
  return value ? *value : otherwise;
}
double Call::number(const char* name, double otherwise) const {
  const auto* value = get<double>(*this, name, "a number");
  return value ? *value : otherwise;
}
std::string Call::text(const char* name, const char* otherwise) const {
  const auto* value = get<std::string>(*this, name, "a text");
  return value ? *value : otherwise;
}
std::optional<std::vector<int64_t>> Call::integers(const char* name) const {
  const auto* value = get<std::vector<int64_t>>(*this, name, "integers");
  return value ? std::optional(*value) : std::nullopt;
}
std::vector<double> Call::numbers(const char* name) const {
  const auto* value = get<std::vector<double>>(*this, name, "numbers");
  return value ? *value : std::vector<double>();
}
std::vector<std::string> Call::texts(const char* name) const {
  const auto* value = get<std::vector<std::string>>(*this, name, "texts");
  return value ? *value : std::vector<std::string>();
}
std::optional<std::vector<int64_t>> Call::integers(const char* name, size_t input) const {
  if (has(input)) return integers_of(input);
  return integers(name);
}

std::vector<Array> Call::run(const char* graph, std::vector<Array> inputs) const {
  size_t place = 0;  // among the graphs, which are in the order of their attributes' names
  for (const auto& [name, attribute] : node_.attributes) {
    if (name == graph) break;
    if (std::holds_alternative<GraphHandle>(attribute)) ++place;
    if (auto* list = std::get_if<std::vector<GraphHandle>>(&attribute)) place += list->size();
  }
  if (!get<GraphHandle>(*this, graph, "a graph") || place >= graphs_.size()) {
    fail("the attribute " + in_quotes(graph) + " is left out");
  }
  const Program& program = *graphs_[place];
  if (inputs.size() != program.input_count()) {
    fail("its graph takes " + std::to_string(program.input_count()) + " inputs, not " + std::to_string(inputs.size()));
  }
  for (size_t captured : program.captured_inputs()) inputs.push_back(inputs_[captured]);
  std::vector<Array> outputs = program.run(std::move(inputs));
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k].valid()) fail("its graph leaves out output " + std::to_string(k));
  }
  return outputs;
}

void Call::check_broadcast(const Array& x, const char* name, const Dims& shape) const {
  const int missing = shape.size() - x.ndim();
  bool fits = missing >= 0;
  for (int axis = 0; fits && axis < x.ndim(); ++axis)
    fits = x.shape(axis) == 1 || x.shape(axis) == shape[axis + missing];
  if (fits) return;
  throw ShapeError(std::string(name) + " of shape " + to_string(x.shape()) + " does not broadcast to shape " +
                   to_string(shape));
}

int Call::axis(int64_t axis, int ndim) const { return normalize_axis(node_.op.c_str(), axis, ndim); }

void Call::fail(const std::string& problem) const { throw ValueError(problem); }

const Operator* find_operator(std::string_view name) {
  const auto& table = made_once([] {
    std::map<std::string_view, const Operator*> rows;
    for (const std::span<const Operator> list :
         {convolution_operators(), pooling_operators(), matrix_operators(), normalization_operators(),
          reduction_operators(), shape_operators(), rearranging_operators(), indexing_operators(),
          scattering_operators(), resizing_operators(), recurrent_operators(), attention_operators(),
          control_operators()}) {
      for (const Operator& row : list) rows.emplace(row.name, &row);
    }
    return rows;
  });
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

const ElementwiseKernel& kernel_of(const char* header, const std::string& in_params, const std::string& out_params,
                                   const std::string& body, const char* name,
                                   const std::vector<std::string>& compiler_options) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(std::string(header) + "|" + in_params + "|" + out_params + "|" + body, [&] {
    KernelOptions options;
    if (*header) options.preamble = std::string("#include \"nn/kernels/") + header + ".h\"\n";
    options.diagnose_early = false;
    options.options = compiler_options;
    return ElementwiseKernel(in_params, out_params, body, std::string("nn_") + name, options);
  });
}

Array filled_by(const ElementwiseKernel& kernel, std::vector<Argument> arguments, const Dims& shape, Dtype dtype,
                Device& device, std::optional<int64_t> size) {
  const Array result = Array::empty(shape, dtype, device);
  if (result.size() == 0) return result;
  arguments.emplace_back(result);
  kernel.fill(arguments, {.size = size.value_or(result.size())});
  return result;
}

Array array_of_integers(std::span<const int64_t> values) {
  Array array = Array::empty({std::ssize(values)}, Dtype::int64, cpu());
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(array.data()));
  return array;
}

}  // namespace iruka::nn
