#include "nn/files/torch_program.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "nn/files/tensor.h"
#include "nn/files/torch_file.h"
#include "nn/files/torch_json.h"
#include "nn/files/torch_operators.h"
#include "nn/files/torch_state.h"

namespace iruka::nn {
namespace {

constexpr const char* kFormat = "archive_format";
constexpr const char* kOldProgram = "serialized_exported_program.json";
constexpr int64_t kSchema = 8;  ///< the major version that is known
constexpr int64_t kOpset = 24;  ///< of the nodes that programs become

[[noreturn]] void refuse(const std::string& where, const std::string& problem) {
  raise_value_error(where, "torch.export program: " + problem);
}

/// Calls `take` for each name of a tensor or size in an argument.
void for_each_name(const std::string& kind, const JsonPart& part, const std::function<void(const std::string&)>& take) {
  const auto of_choice = [&](const JsonPart& inner) {
    const auto [inner_kind, content] = inner.choice();
    for_each_name(inner_kind, content, take);
  };
  if (kind == "as_tensor") {
    take(part.at("name").text());
  } else if (kind == "as_name") {
    take(part.text());
  } else if (kind == "as_tensors") {
    for (const JsonPart& item : part.items()) take(item.at("name").text());
  } else if (kind == "as_optional_tensors" || kind == "as_sym_ints" || kind == "as_sym_floats" ||
             kind == "as_sym_bools") {
    for (const JsonPart& item : part.items()) {
      if (!item.is_integer()) of_choice(item);
    }
  } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool" || kind == "as_optional_tensor") {
    of_choice(part);
  }
}

/// A result of a node; without a name where it is left out.
struct Given {
  std::string name;
  bool is_tensor;  ///< else a size
};
/// A node of the program, as far as all nodes are alike.
struct ProgramNode {
  JsonPart part;
  std::string target;
  Names uses;
  std::vector<Given> gives;
  bool is_live = false;

  std::string name() const { return gives.empty() || gives[0].name.empty() ? "node" : gives[0].name; }
};

ProgramNode node_of(const JsonPart& part) {
  ProgramNode node{part, part.at("target").text(), {}, {}, false};
  for (const JsonPart& input : part.at("inputs").items()) {
    const auto [kind, content] = input.at("arg").choice();
    for_each_name(kind, content, [&](const std::string& name) { node.uses.push_back(name); });
  }
  for (const JsonPart& output : part.at("outputs").items()) {
    const auto [kind, content] = output.choice();
    if (kind == "as_none") node.gives.push_back({"", false});
    const bool are_tensors = kind.find("tensor") != kind.npos;
    for_each_name(kind, content, [&](const std::string& name) { node.gives.push_back({name, are_tensors}); });
  }
  return node;
}

class ProgramReader {
 public:
  ProgramReader(const nlohmann::json& document, const std::string& place, TorchState& state, const std::string& where)
      : where_(where), root_(document, place, where), state_(state), builder_(graph_) {}

  Graph read() {
    check_version();
    graph_.opsets[""] = kOpset;
    const JsonPart module = root_.at("graph_module"), graph = module.at("graph"), signature = module.at("signature");
    for (auto& [name, meta] : graph.at("tensor_values").fields()) metas_.emplace(name, meta);
    for (const JsonPart& spec : signature.at("input_specs").items()) read_input(spec);
    std::vector<ProgramNode> nodes;
    for (const JsonPart& part : graph.at("nodes").items()) nodes.push_back(node_of(part));
    const Names outputs = read_outputs(signature.at("output_specs"));
    find_live(nodes, outputs);
    check_operators(nodes);
    for (const ProgramNode& node : nodes) {
      if (node.is_live) translate(node);
    }
    for (const std::string& name : outputs) add_output(name);
    check_graph(graph_, where_);
    return std::move(graph_);
  }

 private:
  void check_version() const {
    const JsonPart version = root_.at("schema_version").at("major");
    if (version.integer() == kSchema) return;
    refuse(where_, "its schema is of version " + std::to_string(version.integer()) + "; version " +
                       std::to_string(kSchema) + " is known. Export it again with torch 2.9 or newer");
  }

  TorchTensor described(const std::string& name) const {
    const auto found = metas_.find(name);
    if (found == metas_.end()) refuse(where_, "it says nothing of the tensor " + in_quotes(name));
    return described_tensor(found->second);
  }

  /// The name must be a new one.
  void define(const std::string& name, TorchTensor tensor) {
    if (name.empty()) refuse(where_, "a tensor has no name");
    if (values_.find(name)) refuse(where_, "it gives " + in_quotes(name) + " a second time");
    values_.set(name, std::move(tensor));
  }

  void read_input(const JsonPart& spec) {
    const auto [kind, content] = spec.choice();
    if (kind == "user_input") return read_user_input(content.at("arg"));
    if (kind == "constant_input") return;
    const std::string key = kind + "_name";
    if (kind != "parameter" && kind != "buffer" && kind != "tensor_constant") {
      refuse(where_, "it has an input of the kind " + in_quotes(kind) + ", which is no tensor");
    }
    const std::string &name = content.at("arg").at("name").text(), &full_name = content.at(key.c_str()).text();
    TorchTensor tensor = described(name);
    Array array = state_.at(full_name);
    const bool has_shape = std::ranges::equal(tensor.shape, array.shape(), {}, &Extent::value);
    if (tensor.dtype != array.dtype() || !has_shape) {
      TensorName{where_, full_name}.refuse("is " + std::string(iruka::name(array.dtype())) + " of shape " +
                                           to_string(array.shape()) + ", and the program says something else");
    }
    tensor.value = builder_.fresh(name);
    graph_.initializers.emplace(tensor.value, std::move(array));
    states_.insert(name);
    define(name, std::move(tensor));
  }

  /// Inputs other than tensors are constants, which the nodes have.
  void read_user_input(const JsonPart& argument) {
    const auto [kind, content] = argument.choice();
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_custom_obj") {
      argument.refuse("is an input of the kind " + in_quotes(kind) + "; inputs must be tensors");
    }
    if (kind != "as_tensor") return;
    const std::string& name = content.at("name").text();
    TorchTensor tensor = described(name);
    graph_.inputs.push_back({name, tensor.dtype, tensor.shape});
    tensor.value = builder_.fresh(name);
    define(name, tensor);
    if (tensor.value != name) refuse(where_, "it gives " + in_quotes(name) + " a second time");
  }

  Names read_outputs(const JsonPart& specs) const {
    Names outputs;
    for (const JsonPart& spec : specs.items()) {
      const auto [kind, content] = spec.choice();
      if (kind == "user_input_mutation") continue;  // arrays of the caller stay as they are
      if (kind == "buffer_mutation" || kind == "parameter_mutation") {
        const std::string& name = content.at(kind == "buffer_mutation" ? "buffer_name" : "parameter_name").text();
        refuse(where_, "each run changes " + in_quotes(name) + ", and a model has no state that changes");
      }
      if (kind != "user_output" && kind != "loss_output") {
        refuse(where_, "it has an output of the kind " + in_quotes(kind));
      }
      auto [argument, part] =
          kind == "loss_output" ? std::pair(std::string("as_tensor"), content.at("arg")) : content.at("arg").choice();
      if (argument != "as_tensor") part.refuse("is an output of the kind " + in_quotes(argument) + ", not a tensor");
      outputs.push_back(part.at("name").text());
    }
    if (outputs.empty()) refuse(where_, "it has no outputs");
    return outputs;
  }

  /// Nodes that only check something, and those whose results nothing uses, are left out.
  void find_live(std::vector<ProgramNode>& nodes, const Names& outputs) {
    used_.insert(outputs.begin(), outputs.end());
    for (size_t k = nodes.size(); k-- > 0;) {
      ProgramNode& node = nodes[k];
      node.is_live = is_in_place(node.target) ||
                     std::ranges::any_of(node.gives, [&](const Given& given) { return used_.contains(given.name); });
      if (node.is_live) used_.insert(node.uses.begin(), node.uses.end());
    }
  }

  void check_operators(const std::vector<ProgramNode>& nodes) const {
    std::map<std::string, std::string> missing;
    for (const ProgramNode& node : nodes) {
      if (!node.is_live || find_torch_operator(node.target)) continue;
      std::string& names = missing[node.target];
      names += (names.empty() ? "" : ", ") + in_quotes(node.name());
    }
    if (missing.empty()) return;
    std::string list;
    for (const auto& [target, names] : missing) {
      list += (list.empty() ? "" : "; ") + in_quotes(target) + " (nodes " + names + ")";
    }
    refuse(where_, "these operators are not known: " + list +
                       ". After run_decompositions() a program needs fewer kinds of them");
  }

  void translate(const ProgramNode& node) {
    const TorchOperator& row = *find_torch_operator(node.target);
    std::vector<TorchTensor> results;
    std::vector<bool> used;
    for (const Given& given : node.gives) {
      used.push_back(used_.contains(given.name));
      results.push_back(result_of(given, used.back()));
    }
    if (results.empty()) refuse(where_, "the node of " + in_quotes(node.target) + " has no results");
    builder_.begin(node.name());
    TorchCall call(node.part, row, builder_, values_, results, used);
    const Names made = row.convert(call);
    call.check_arguments();
    for (size_t k = 0; k < node.gives.size(); ++k) {
      if (node.gives[k].name.empty()) continue;
      if (k < made.size()) {
        give(node, row, node.gives[k].name, made[k], results[k]);
      } else {
        define(node.gives[k].name, results[k]);  // without a value
      }
    }
  }

  /// A size is an integer without axes. Tensors that nothing uses need no description.
  TorchTensor result_of(const Given& given, bool is_used) const {
    const bool is_described = given.is_tensor && (is_used || metas_.contains(given.name));
    return is_described ? described(given.name) : TorchTensor{"", Dtype::int64, {}};
  }

  void give(const ProgramNode& node, const TorchOperator& row, const std::string& name, const std::string& made,
            TorchTensor result) {
    result.value = builder_.rename(made, name);
    if (result.value != made && metas_.contains(name)) {
      graph_.values.push_back({result.value, result.dtype, result.shape});
    }
    define(name, result);
    const bool is_changed = is_in_place(node.target);
    if (node.uses.empty() || (!row.is_view && !is_changed)) return;
    const std::string& first = node.uses[0];
    values_.share(name, first);
    if (!is_changed) return;
    if (states_.contains(values_.root(first))) {
      refuse(where_, "the node " + in_quotes(name) + " changes " + in_quotes(values_.root(first)) +
                         ", and a model has no state that changes");
    }
    values_.change(first, result, name);
    values_.change(name, result, name);
  }

  /// An output has its name in the program, and is no other output's value.
  void add_output(const std::string& name) {
    const TorchTensor* const found = values_.find(name);
    if (!found || found->value.empty()) refuse(where_, "no node gives the output " + in_quotes(name));
    if (const std::string spoiler = values_.spoiler(name); !spoiler.empty()) {
      refuse(where_,
             "the output " + in_quotes(name) + " shares its elements with what " + in_quotes(spoiler) +
                 " changes in place; save the program after run_decompositions(), which leaves no such changes");
    }
    builder_.begin(name);
    std::string value = found->value;
    if (value != name || !outputs_.insert(value).second || graph_.initializers.contains(value)) {
      value = builder_.rename(builder_.emit(1, "Identity", {value}, {}).front(), name);
    }
    graph_.outputs.push_back({value, found->dtype, found->shape});
  }

  const std::string& where_;
  const JsonPart root_;
  TorchState& state_;
  Graph graph_;
  TorchGraph builder_;
  TorchValues values_;
  std::unordered_map<std::string, JsonPart> metas_;
  std::unordered_set<std::string> used_, states_;
  std::set<std::string> outputs_;
};

/// What the names of the archive begin with.
std::string folder_of(const ZipArchive& archive, const std::string& where) {
  std::optional<std::string> folder;
  for (const ZipEntry& entry : archive.entries()) {
    if (entry.name.ends_with(kOldProgram)) {
      raise_value_error(where,
                        "is a program that an older torch saved; load it with torch and export it again with torch "
                        "2.9 or newer");
    }
    const std::string_view name = entry.name;
    const size_t slash = name.rfind('/'), begin = slash == name.npos ? 0 : slash + 1;
    if (name.substr(begin) != kFormat || name.find('/') != slash) continue;
    if (folder) refuse(where, "the archive has two files " + in_quotes(kFormat));
    folder = std::string(name.substr(0, begin));
  }
  if (!folder) refuse(where, "the archive has no file " + in_quotes(kFormat));
  return *folder;
}

/// The name of the one program in the archive.
std::string model_of(const ZipArchive& archive, const std::string& folder, const std::string& where) {
  const std::string models = folder + "models/", suffix = ".json";
  std::vector<std::string> names;
  bool has_code = false;
  for (const ZipEntry& entry : archive.entries()) {
    has_code |= entry.name.starts_with(folder + "data/aotinductor/");
    if (!entry.name.starts_with(models) || !entry.name.ends_with(suffix)) continue;
    if (entry.name.size() < models.size() + suffix.size()) continue;
    names.emplace_back(entry.name.substr(models.size(), entry.name.size() - models.size() - suffix.size()));
  }
  if (names.size() == 1) return names[0];
  if (names.empty() && has_code) {
    refuse(where, "the archive holds compiled code, which is not executed; save the program with torch.export.save()");
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? ": " : ", ") + in_quotes(name);
  refuse(where, "the archive holds " + std::to_string(names.size()) + " programs, not one" + list);
}

}  // namespace

bool is_torch_program(const ZipArchive& archive) {
  return std::ranges::any_of(archive.entries(), [](const ZipEntry& entry) {
    return entry.name.ends_with(kFormat) || entry.name.ends_with("models/model.json") ||
           entry.name.ends_with(kOldProgram);
  });
}

Graph read_torch_program(const Input& input) {
  const std::string& where = input.where();
  const ZipArchive archive(input.bytes(), where);
  const std::string folder = folder_of(archive, where);
  const BufferHandle format = archive.unpack(*archive.find(folder + kFormat));
  const std::string_view kind(static_cast<const char*>(format->data()), format->bytes());
  if (kind != "pt2") refuse(where, "the archive's format is " + in_quotes(kind) + "; 'pt2' can be read");
  check_byte_order(archive, folder, where);
  const std::string model = model_of(archive, folder, where), place = "models/" + model + ".json";
  TorchState state(input, archive, folder, model);
  const BufferHandle text = archive.unpack(*archive.find(folder + place));
  const nlohmann::json document =
      parse_json({static_cast<const uint8_t*>(text->data()), text->bytes()}, in_quotes(place), where);
  return ProgramReader(document, place, state, where).read();
}

}  // namespace iruka::nn
