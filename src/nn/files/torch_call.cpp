#include <algorithm>

#include "iruka/device.h"
#include "nn/files/input.h"
#include "nn/files/onnx_tensor.h"
#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

/// Arguments that change nothing of what is computed here.
constexpr std::string_view kIgnored[] = {
    "allow_tf32", "benchmark",  "copy",        "cudnn_enable",  "cudnn_enabled",      "deterministic", "device",
    "generator",  "implicit",   "inplace",     "layout",        "memory_format",      "momentum",      "non_blocking",
    "path",       "pin_memory", "padding_idx", "requires_grad", "scale_grad_by_freq", "sorted",        "sparse",
    "stable",
};

bool is_floating(Dtype dtype) { return kind(dtype) == Kind::floating || kind(dtype) == Kind::complex; }

/// torch's dtype for elements of both.
Dtype promoted(Dtype a, Dtype b) {
  if (a == b || b == Dtype::bool_) return a;
  if (a == Dtype::bool_) return b;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  const bool are_halves = a != b && itemsize(a) == 2 && itemsize(b) == 2;
  if (is_floating(a)) return are_halves ? Dtype::float32 : itemsize(a) > itemsize(b) ? a : b;
  if (itemsize(a) != itemsize(b)) {
    const Dtype larger = itemsize(a) > itemsize(b) ? a : b, smaller = larger == a ? b : a;
    if (kind(larger) == Kind::signed_integer || kind(smaller) == Kind::unsigned_integer) return larger;
  }
  return itemsize(a) == 1 && itemsize(b) == 1 ? Dtype::int16
         : itemsize(a) < 4 && itemsize(b) < 4 ? Dtype::int32
                                              : Dtype::int64;
}

/// What operands of a higher rank and those of a lower one give together.
Dtype combined(std::optional<Dtype> higher, Dtype lower) {
  if (!higher) return lower;
  if (is_floating(*higher)) return *higher;
  return *higher == Dtype::bool_ || is_floating(lower) ? promoted(*higher, lower) : *higher;
}

}  // namespace

int32_t onnx_type_of(Dtype dtype) {
  int32_t type = 0;
  while (onnx_dtype(type) != dtype) ++type;
  return type;
}

Array array_of_scalar(const Scalar& number, Dtype dtype) {
  Array array = Array::empty(Dims(), dtype, cpu());
  number.store(dtype, array.data());
  return array;
}

// Graph and values.

std::string TorchGraph::fresh(const std::string& base) {
  std::string name = base;
  for (int k = 0; !names_.insert(name).second; ++k) name = base + "." + std::to_string(k);
  return name;
}

Names TorchGraph::emit(size_t outputs, const char* op, Names inputs, Attributes attributes) {
  Node node{op, "", base_, std::move(inputs), {}, std::move(attributes)};
  for (size_t k = 0; k < outputs; ++k) node.outputs.push_back(fresh(base_ + "." + op));
  graph_.nodes.push_back(node);
  return node.outputs;
}

std::string TorchGraph::constant(Array array) {
  std::string name = fresh(base_ + ".constant");
  graph_.initializers.emplace(name, std::move(array));
  return name;
}

std::string TorchGraph::rename(const std::string& value, const std::string& base) {
  const auto begin = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(first_);
  const bool is_new = std::any_of(begin, graph_.nodes.end(), [&](const Node& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end();
  });
  if (!is_new) return value;
  const std::string name = fresh(base);
  for (auto node = begin; node != graph_.nodes.end(); ++node) {
    std::replace(node->inputs.begin(), node->inputs.end(), value, name);
    std::replace(node->outputs.begin(), node->outputs.end(), value, name);
  }
  return name;
}

const TorchTensor* TorchValues::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const std::string& TorchValues::root(const std::string& name) const {
  const auto found = bases_.find(name);
  return found == bases_.end() ? name : found->second;
}

void TorchValues::share(const std::string& name, const std::string& base) {
  const std::string shared = root(base);
  bases_[name] = shared;
  const auto change = changes_.find(shared);
  if (change != changes_.end()) up_to_date_[name] = change->second;
}

void TorchValues::change(const std::string& name, TorchTensor tensor, const std::string& node) {
  changes_[root(name)] = node;
  up_to_date_[name] = node;
  set(name, std::move(tensor));
}

std::string TorchValues::spoiler(const std::string& name) const {
  const auto change = changes_.find(root(name));
  if (change == changes_.end()) return "";
  const auto known = up_to_date_.find(name);
  return known != up_to_date_.end() && known->second == change->second ? "" : change->second;
}

// Arguments.

TorchCall::TorchCall(const JsonPart& node, const TorchOperator& row, TorchGraph& graph, const TorchValues& values,
                     std::vector<TorchTensor> results, std::vector<bool> used)
    : row_(row),
      graph_(graph),
      values_(values),
      label_("the node " + in_quotes(node.find("name") ? node.at("name").text() : "") + " (" +
             in_quotes(node.at("target").text()) + ")"),
      where_(node.where()),
      results_(std::move(results)),
      used_(std::move(used)) {
  for (const JsonPart& input : node.at("inputs").items()) {
    auto [kind, content] = input.at("arg").choice();
    if (kind == "as_none") continue;
    if (kind == "as_optional_tensor") {
      auto inner = content.choice();
      if (inner.first == "as_none") continue;
      kind = inner.first, content = inner.second;
    }
    const std::string& name = input.at("name").text();
    if (!arguments_.try_emplace(name, kind, content).second) input.refuse("gives " + in_quotes(name) + " again");
  }
}

const TorchCall::Argument* TorchCall::find(const char* name) {
  const auto found = arguments_.find(name);
  if (found == arguments_.end()) return nullptr;
  taken_.insert(name);
  return &found->second;
}

const TorchCall::Argument& TorchCall::argument(const char* name) {
  const Argument* const found = find(name);
  if (!found) fail("the argument " + in_quotes(name) + " is left out");
  return *found;
}

bool TorchCall::has(const char* name) const { return arguments_.contains(name); }
bool TorchCall::is_tensor(const char* name) const { return has(name) && arguments_.at(name).first == "as_tensor"; }
bool TorchCall::is_text(const char* name) const { return has(name) && arguments_.at(name).first == "as_string"; }

TorchTensor TorchCall::tensor_of(const JsonPart& part) const {
  const std::string& name = part.at("name").text();
  const TorchTensor* const found = values_.find(name);
  if (!found || found->value.empty()) {
    fail("it uses " + in_quotes(name) + ", which " +
         (found ? "is a result that is not computed here" : "nothing before it gives"));
  }
  if (const std::string spoiler = values_.spoiler(name); !spoiler.empty()) {
    fail("it uses " + in_quotes(name) + ", which shares its elements with what " + in_quotes(spoiler) +
         " changes in place; save the program after run_decompositions(), which leaves no such changes");
  }
  return *found;
}

TorchTensor TorchCall::tensor(const char* name) {
  const auto& [kind, content] = argument(name);
  if (kind != "as_tensor") fail("the argument " + in_quotes(name) + " is no tensor, but of kind " + in_quotes(kind));
  return tensor_of(content);
}

std::optional<TorchTensor> TorchCall::optional_tensor(const char* name) {
  return has(name) ? std::optional(tensor(name)) : std::nullopt;
}

std::vector<std::optional<TorchTensor>> TorchCall::optional_tensors(const char* name) {
  const auto& [kind, content] = argument(name);
  std::vector<std::optional<TorchTensor>> list;
  if (kind == "as_tensors") {
    for (const JsonPart& item : content.items()) list.emplace_back(tensor_of(item));
  } else if (kind == "as_optional_tensors") {
    for (const JsonPart& item : content.items()) {
      const auto [inner, part] = item.choice();
      list.push_back(inner == "as_none" ? std::nullopt : std::optional(tensor_of(part)));
    }
  } else {
    fail("the argument " + in_quotes(name) + " is no list of tensors, but of kind " + in_quotes(kind));
  }
  return list;
}

std::vector<TorchTensor> TorchCall::tensors(const char* name) {
  std::vector<TorchTensor> list;
  for (std::optional<TorchTensor>& tensor : optional_tensors(name)) {
    if (!tensor) fail("the argument " + in_quotes(name) + " has a None among its tensors");
    list.push_back(std::move(*tensor));
  }
  return list;
}

TorchSize TorchCall::size_of(const std::string& kind, const JsonPart& part) const {
  if (kind == "as_int") return {part.integer(), {}};
  if (kind == "as_name") {
    const TorchTensor* const found = values_.find(part.text());
    if (!found || found->ndim() != 0 || found->dtype != Dtype::int64) {
      fail("it uses the size " + in_quotes(part.text()) + ", which nothing before it gives");
    }
    return {0, found->value};
  }
  fail("an argument is no size, but of kind " + in_quotes(kind));
}

TorchSize TorchCall::size(const char* name, std::optional<int64_t> otherwise) {
  if (!has(name) && otherwise) return {*otherwise, {}};
  const auto& [kind, content] = argument(name);
  if (kind != "as_sym_int") return size_of(kind, content);
  const auto [inner, part] = content.choice();
  return size_of(inner, part);
}

std::vector<TorchSize> TorchCall::sizes(const char* name) {
  const auto& [kind, content] = argument(name);
  std::vector<TorchSize> list;
  if (kind == "as_int" || kind == "as_sym_int") return {size(name)};
  if (kind != "as_ints" && kind != "as_sym_ints") {
    fail("the argument " + in_quotes(name) + " is no list of sizes, but of kind " + in_quotes(kind));
  }
  for (const JsonPart& item : content.items()) {
    if (item.is_integer()) {
      list.push_back({item.integer(), {}});
    } else {
      const auto [inner, part] = item.choice();
      list.push_back(size_of(inner, part));
    }
  }
  return list;
}

int64_t TorchCall::integer(const char* name, std::optional<int64_t> otherwise) {
  const TorchSize given = size(name, otherwise);
  if (!given.name.empty()) {
    fail("the argument " + in_quotes(name) + " is a size that is known in a run alone; export with a fixed one");
  }
  return given.value;
}

Integers TorchCall::integers(const char* name, std::optional<Integers> otherwise) {
  if (!has(name) && otherwise) return *otherwise;
  Integers list;
  for (const TorchSize& size : sizes(name)) {
    if (!size.name.empty()) {
      fail("the argument " + in_quotes(name) + " has a size that is known in a run alone; export with fixed ones");
    }
    list.push_back(size.value);
  }
  return list;
}

Scalar TorchCall::number(const char* name, std::optional<Scalar> otherwise) {
  if (!has(name) && otherwise) return *otherwise;
  const auto& [kind, content] = argument(name);
  if (kind == "as_int") return content.integer();
  if (kind == "as_float") return content.number();
  if (kind == "as_bool") return content.flag();
  fail("the argument " + in_quotes(name) + " is no number, but of kind " + in_quotes(kind));
}

std::vector<double> TorchCall::numbers(const char* name) {
  std::vector<double> list;
  for (const JsonPart& item : argument(name).second.items()) list.push_back(item.number());
  return list;
}

bool TorchCall::flag(const char* name, bool otherwise) { return has(name) ? argument(name).second.flag() : otherwise; }

std::string TorchCall::text(const char* name, const char* otherwise) {
  return has(name) ? argument(name).second.text() : otherwise;
}

int TorchCall::checked_axis(int64_t axis, int ndim) const {
  const int64_t most = std::max(ndim, 1);
  if (axis < -most || axis >= most) {
    fail("axis " + std::to_string(axis) + " is out of bounds for " + std::to_string(ndim) + " axes");
  }
  return static_cast<int>(axis < 0 ? axis + most : axis);
}

int TorchCall::axis(const char* name, int ndim, std::optional<int64_t> otherwise) {
  return checked_axis(integer(name, otherwise), ndim);
}

Integers TorchCall::axes(const char* name, int ndim) {
  Integers list;
  for (int64_t given : integers(name, Integers())) list.push_back(checked_axis(given, ndim));
  if (!list.empty()) return list;
  for (int axis = 0; axis < ndim; ++axis) list.push_back(axis);
  return list;
}

void TorchCall::check_arguments() const {
  for (const auto& [name, argument] : arguments_) {
    if (taken_.contains(name) || std::ranges::find(kIgnored, name) != std::end(kIgnored)) continue;
    fail("its argument " + in_quotes(name) + " is not known");
  }
}

void TorchCall::fail(const std::string& problem) const {
  raise_value_error(where_, "torch.export program: " + label_ + ": " + problem);
}

// Values.

std::string TorchCall::constant(const Scalar& number, Dtype dtype) { return constant(array_of_scalar(number, dtype)); }

std::string TorchCall::constant(const Integers& integers) {
  Array array = Array::empty({std::ssize(integers)}, Dtype::int64, cpu());
  std::copy(integers.begin(), integers.end(), static_cast<int64_t*>(array.data()));
  return constant(std::move(array));
}

std::string TorchCall::filled(int64_t count, const Scalar& number, Dtype dtype) {
  constexpr int64_t kMost = 1 << 24;
  if (count < 0 || count > kMost) fail("it needs " + std::to_string(count) + " equal numbers");
  // One element that is repeated: what a file declares takes no memory.
  return constant(array_of_scalar(number, dtype).broadcast_to({count}));
}

std::string TorchCall::constant(const TorchSize& size) {
  return size.name.empty() ? constant(Scalar(size.value), Dtype::int64) : size.name;
}

std::string TorchCall::constant(const std::vector<TorchSize>& sizes) {
  const bool is_known = std::ranges::all_of(sizes, [](const TorchSize& size) { return size.name.empty(); });
  if (is_known) {
    Integers integers;
    for (const TorchSize& size : sizes) integers.push_back(size.value);
    return constant(integers);
  }
  Names parts;
  for (const TorchSize& size : sizes) {
    parts.push_back(size.name.empty() ? constant(Integers{size.value}) : unsqueezed(size.name, {0}));
  }
  return emit("Concat", parts, {{"axis", int64_t{0}}});
}

std::string TorchCall::cast(const std::string& value, Dtype from, Dtype to) {
  return from == to ? value : emit("Cast", {value}, {{"to", int64_t{onnx_type_of(to)}}});
}

std::string TorchCall::operand(const char* name, Dtype dtype) {
  const auto& [kind, content] = argument(name);
  if (kind == "as_tensor") {
    const TorchTensor x = tensor_of(content);
    return cast(x.value, x.dtype, dtype);
  }
  if (kind == "as_sym_int") return cast(constant(size(name)), Dtype::int64, dtype);
  return constant(number(name), dtype);
}

std::pair<int, Dtype> TorchCall::kind_of(const char* name) {
  const auto& [kind, content] = argument(name);
  if (kind == "as_tensor") {
    const TorchTensor x = tensor_of(content);
    return {x.ndim() > 0 ? 2 : 1, x.dtype};
  }
  if (kind == "as_sym_int") return {0, Dtype::int64};
  const Kind number_kind = number(name).kind();
  return {0, number_kind == Kind::floating  ? Dtype::float32
             : number_kind == Kind::boolean ? Dtype::bool_
                                            : Dtype::int64};
}

Dtype TorchCall::common_dtype(const char* first, const char* second) {
  std::optional<Dtype> of_rank[3];
  for (const char* name : {first, second}) {
    const auto [rank, dtype] = kind_of(name);
    of_rank[rank] = of_rank[rank] ? promoted(*of_rank[rank], dtype) : dtype;
  }
  std::optional<Dtype> common;
  for (int rank = 2; rank >= 0; --rank) {
    if (of_rank[rank]) common = combined(common, *of_rank[rank]);
  }
  return *common;
}

std::string TorchCall::unsqueezed(const std::string& value, Integers axes) {
  return axes.empty() ? value : emit("Unsqueeze", {value, constant(axes)});
}
std::string TorchCall::squeezed(const std::string& value, Integers axes) {
  return axes.empty() ? value : emit("Squeeze", {value, constant(axes)});
}
std::string TorchCall::reshaped(const std::string& value, const Integers& shape) {
  return emit("Reshape", {value, constant(shape)}, {{"allowzero", int64_t{1}}});
}
std::string TorchCall::transposed(const std::string& value, Integers order) {
  return emit("Transpose", {value}, {{"perm", std::move(order)}});
}

}  // namespace iruka::nn
