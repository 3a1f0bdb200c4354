#include "nn/files/torch_state.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "nn/files/input.h"
#include "nn/files/torch_file.h"

namespace iruka::nn {
namespace {

/// torch's numbers of dtypes in programs.
constexpr std::array kDtypes = {
    std::pair(1, Dtype::uint8),   std::pair(2, Dtype::int8),        std::pair(3, Dtype::int16),
    std::pair(4, Dtype::int32),   std::pair(5, Dtype::int64),       std::pair(6, Dtype::float16),
    std::pair(7, Dtype::float32), std::pair(8, Dtype::float64),     std::pair(10, Dtype::complex64),
    std::pair(12, Dtype::bool_),  std::pair(11, Dtype::complex128), std::pair(13, Dtype::bfloat16),
    std::pair(28, Dtype::uint16),
};
constexpr int64_t kStrided = 7;

Dtype dtype_of(const JsonPart& part) {
  const int64_t number = part.integer();
  const auto found = std::ranges::find(kDtypes, number, [](const auto& row) { return int64_t{row.first}; });
  if (found == kDtypes.end()) part.refuse("is " + std::to_string(number) + ", a type that has no dtype here");
  return found->second;
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, is_letter) && !std::isdigit(static_cast<unsigned char>(text[0]));
}

/// "s0" of "s0" and of SymPy's "Symbol('s0', integer=True)"; empty for an expression of several parts.
std::string symbol_of(std::string_view text) {
  constexpr std::string_view kBegin = "Symbol('";
  if (text.starts_with(kBegin) && text.rfind('(') == kBegin.find('(')) {
    text.remove_prefix(kBegin.size());
    text = text.substr(0, text.find('\''));
  }
  return std::string(is_identifier(text) ? text : std::string_view());
}

Extent extent_of(const JsonPart& part) {
  const auto [kind, content] = part.choice();
  if (kind == "as_int") {
    const int64_t value = content.integer();
    if (value < 0) content.refuse("is the negative extent " + std::to_string(value));
    return {value, {}};
  }
  if (kind != "as_expr") part.refuse("is of the unknown kind " + in_quotes(kind));
  return {-1, symbol_of(content.at("expr_str").text())};
}

std::vector<int64_t> known_integers(const JsonPart& list) {
  std::vector<int64_t> integers;
  for (const JsonPart& part : list.items()) integers.push_back(part.at("as_int").integer());
  return integers;
}

}  // namespace

TorchTensor described_tensor(const JsonPart& meta) {
  constexpr int64_t kMostBytes = int64_t{1} << 47;  // more than processes can address
  TorchTensor tensor;
  tensor.dtype = dtype_of(meta.at("dtype"));
  const JsonPart sizes = meta.at("sizes");
  int64_t bytes = itemsize(tensor.dtype);
  for (const JsonPart& size : sizes.items()) {
    const Extent& extent = tensor.shape.emplace_back(extent_of(size));
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent.value, 1), &bytes) || bytes > kMostBytes)
      size.refuse("is " + std::to_string(extent.value) + ", with which the tensor has more bytes than any memory");
  }
  if (tensor.ndim() > kMaxRank) {
    sizes.refuse("has " + std::to_string(tensor.ndim()) + " axes; an array has " + std::to_string(kMaxRank) +
                 " at most");
  }
  return tensor;
}

TorchState::TorchState(const Input& input, const ZipArchive& archive, const std::string& folder,
                       const std::string& model)
    : input_(input), archive_(archive), folder_(folder) {
  documents_.reserve(2);  // parts of them are kept
  read_table("weights", model);
  read_table("constants", model);
}

void TorchState::read_table(const std::string& kind, const std::string& model) {
  const std::string& where = input_.where();
  const std::string place = "data/" + kind + "/", file = place + model + "_" + kind + "_config.json";
  const ZipEntry* const entry = archive_.find(folder_ + file);
  if (!entry && archive_.find(folder_ + place + model + ".pt")) {
    raise_value_error(where, "is a program that an older torch saved, with its " + kind +
                                 " as a pickle; load it with torch and export it again with torch 2.9 or newer");
  }
  if (!entry && kind == "constants") return;
  if (!entry) raise_value_error(where, "damaged torch.export program: the archive lacks " + in_quotes(file));
  const BufferHandle text = archive_.unpack(*entry);
  documents_.push_back(parse_json({static_cast<const uint8_t*>(text->data()), text->bytes()}, in_quotes(file), where));
  for (auto& [name, part] : JsonPart(documents_.back(), file, where).at("config").fields()) {
    if (entries_.try_emplace(name, Entry{part, place}).second) continue;
    part.refuse("gives " + in_quotes(name) + " a second time");
  }
}

const StorageMemory& TorchState::payload(const TensorName& tensor, const std::string& place) {
  const auto [found, is_new] = payloads_.try_emplace(place);
  if (!is_new) return found->second;
  const ZipEntry* const entry = archive_.find(folder_ + place);
  if (!entry) tensor.refuse("is in " + in_quotes(place) + ", which the archive lacks");
  return found->second = memory_of(input_, archive_, *entry);
}

Array TorchState::at(const std::string& name) {
  const TensorName tensor{input_.where(), name};
  const auto found = entries_.find(name);
  if (found == entries_.end()) tensor.refuse("is not among the archive's weights and constants");
  const auto& [meta, folder] = found->second;
  const std::string& file = meta.at("path_name").text();
  if (file.find('/') != file.npos || file == "..") {
    tensor.refuse("is in " + in_quotes(file) + ", which leaves the folder " + in_quotes(folder));
  }
  const auto is_pickle = meta.find("use_pickle");
  if (is_pickle && is_pickle->flag()) {
    tensor.refuse("is a pickle, of which nothing is executed; export a module whose weights are plain tensors");
  }
  const JsonPart description = meta.at("tensor_meta");
  if (const auto layout = description.find("layout"); layout && layout->integer() != kStrided) {
    tensor.refuse("is sparse or of another layout; export a module whose weights are plain tensors");
  }
  const Dtype dtype = dtype_of(description.at("dtype"));
  const std::vector<int64_t> shape = known_integers(description.at("sizes")),
                             strides = known_integers(description.at("strides"));
  const int64_t offset = description.at("storage_offset").at("as_int").integer();
  const StorageMemory& memory = payload(tensor, folder + file);
  const Array array = array_in_storage(tensor, memory, file, dtype, shape, strides, offset);
  if (dtype == Dtype::bool_ && array.size() > 0 && checked_bools_.insert(folder + file).second) {
    check_bools(tensor, {static_cast<const uint8_t*>(memory.buffer->data()) + memory.offset, memory.size});
  }
  return array;
}

}  // namespace iruka::nn
