#include "nn/files/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "nn/files/tensor.h"

namespace iruka::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "the tensors' bytes are little-endian");

constexpr uint64_t kLargestHeader = 100'000'000;  // the format's limit
constexpr std::string_view kMetadata = "__metadata__";

struct DtypeName {
  std::string_view name;
  Dtype dtype;
};
constexpr std::array kDtypes = {
    DtypeName{"BOOL", Dtype::bool_},    DtypeName{"U8", Dtype::uint8},      DtypeName{"I8", Dtype::int8},
    DtypeName{"U16", Dtype::uint16},    DtypeName{"I16", Dtype::int16},     DtypeName{"F16", Dtype::float16},
    DtypeName{"BF16", Dtype::bfloat16}, DtypeName{"U32", Dtype::uint32},    DtypeName{"I32", Dtype::int32},
    DtypeName{"F32", Dtype::float32},   DtypeName{"U64", Dtype::uint64},    DtypeName{"I64", Dtype::int64},
    DtypeName{"F64", Dtype::float64},   DtypeName{"C64", Dtype::complex64},
};

/// What the header says of one tensor.
struct Entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<int64_t>> shape;
  std::optional<std::vector<int64_t>> offsets;
};

/// Takes the header's tokens from the JSON parser, so that no tree of a hostile header is built.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& where) : where_(where) {}
  std::vector<Entry> take() { return std::move(entries_); }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a bool"); }
  bool number_integer(number_integer_t value) override { return unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(text); }
  bool binary(binary_t&) override { return unexpected("bytes"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!numbers_ || depth_ != 3) return unexpected(std::to_string(value));
    if (value > INT64_MAX) refuse("has the number " + std::to_string(value) + ", which exceeds 63 bits");
    if (numbers_->size() > 2 * static_cast<size_t>(kMaxRank))
      refuse("has more than " + std::to_string(kMaxRank) + " axes");
    numbers_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata_) return true;
    if (depth_ != 2 || field_ != "dtype") return unexpected("the text " + in_quotes(text));
    entries_.back().dtype = text;
    return true;
  }

  bool start_object(size_t) override {
    if (depth_ > 1 || (depth_ == 0 && begun_)) return unexpected("an object");
    begun_ = true;
    ++depth_;
    return true;
  }

  bool key(string_t& text) override {
    if (depth_ == 1) return begin_entry(text);
    if (!in_entry_.insert(text).second) refuse("has two fields " + in_quotes(text));
    field_ = text;
    if (!in_metadata_ && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets") {
      refuse("has the unknown field " + in_quotes(text));
    }
    return true;
  }

  bool end_object() override {
    --depth_;
    return true;
  }

  bool start_array(size_t) override {
    if (depth_ != 2 || in_metadata_ || field_ == "dtype") return unexpected("a list");
    auto& list = field_ == "shape" ? entries_.back().shape : entries_.back().offsets;
    numbers_ = &list.emplace();
    ++depth_;
    return true;
  }

  bool end_array() override {
    numbers_ = nullptr;
    --depth_;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    raise_value_error(where_, "damaged safetensors file: its header is no JSON from byte " +
                                  std::to_string(position + sizeof(uint64_t)) + " on");
  }

 private:
  bool begin_entry(const std::string& name) {
    if (!names_.insert(name).second) {
      raise_value_error(where_, "damaged safetensors file: the name " + in_quotes(name) + " occurs twice");
    }
    in_metadata_ = name == kMetadata;
    in_entry_.clear();
    field_.clear();
    if (!in_metadata_) entries_.push_back({.name = name, .dtype = {}, .shape = {}, .offsets = {}});
    return true;
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    TensorName{where_, in_metadata_ || entries_.empty() ? kMetadata : entries_.back().name}.refuse(problem);
  }

  [[noreturn]] bool unexpected(const std::string& what) const {
    if (depth_ == 0) raise_value_error(where_, "damaged safetensors file: its header is " + what + ", not an object");
    refuse("has " + what + (field_.empty() ? " where its fields should be" : " in its field " + in_quotes(field_)));
  }

  const std::string& where_;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> names_, in_entry_;
  std::string field_;
  std::vector<int64_t>* numbers_ = nullptr;  ///< the list being read
  int depth_ = 0;
  bool begun_ = false, in_metadata_ = false;
};

Dtype dtype_of_entry(const TensorName& tensor, const Entry& entry) {
  if (!entry.dtype || !entry.shape || !entry.offsets) {
    tensor.refuse(std::string("lacks the field '") +
                  (!entry.dtype   ? "dtype"
                   : !entry.shape ? "shape"
                                  : "data_offsets") +
                  "'");
  }
  const auto found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](auto& row) { return row.name == *entry.dtype; });
  if (found != kDtypes.end()) return found->dtype;
  tensor.refuse("is of type " + in_quotes(*entry.dtype) + ", which has no dtype here; save it as F32, F16 or BF16");
}

/// The tensors' ranges must follow each other without gaps and fill the file's data.
void check_ranges(const std::string& where, const std::vector<Entry>& entries, int64_t data_bytes) {
  std::vector<const Entry*> sorted;
  sorted.reserve(entries.size());
  for (const Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return *a->offsets < *b->offsets; });
  int64_t end = 0;
  for (const Entry* entry : sorted) {
    const int64_t begin = (*entry->offsets)[0];
    if (begin != end) {
      TensorName{where, entry->name}.refuse(std::string("begins at byte ") + std::to_string(begin) +
                                            ", and the one before it ends at " + std::to_string(end) +
                                            (begin < end ? ": they overlap" : ": there is a gap"));
    }
    end = (*entry->offsets)[1];
  }
  if (end != data_bytes) {
    raise_value_error(where, "damaged safetensors file: its tensors end at byte " + std::to_string(end) + " of " +
                                 std::to_string(data_bytes) + " bytes of data");
  }
}

}  // namespace

Value read_safetensors(const Input& input) {
  const std::span<const uint8_t> bytes = input.bytes();
  const std::string& where = input.where();
  uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));  // the caller has seen more bytes than that
  const uint64_t rest = bytes.size() - sizeof(header_size);
  if (header_size > kLargestHeader || header_size > rest) {
    raise_value_error(where, "damaged safetensors file: its header has " + std::to_string(header_size) + " bytes; " +
                                 std::to_string(rest) + " follow, and the format allows " +
                                 std::to_string(kLargestHeader));
  }
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + sizeof(header_size), header_size);
  HeaderReader reader(where);
  nlohmann::json::sax_parse(header, &reader);
  const std::vector<Entry> entries = reader.take();

  const auto data = static_cast<int64_t>(sizeof(header_size) + header_size);
  const int64_t data_bytes = static_cast<int64_t>(bytes.size()) - data;
  std::vector<Dtype> dtypes;
  for (const Entry& entry : entries) {
    const TensorName tensor{where, entry.name};
    dtypes.push_back(dtype_of_entry(tensor, entry));
    const int64_t size = count_elements(tensor, *entry.shape, dtypes.back()) * itemsize(dtypes.back());
    const std::vector<int64_t>& offsets = *entry.offsets;
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] - offsets[0] != size) {
      tensor.refuse("needs " + std::to_string(size) + " bytes, and its data_offsets are " +
                    to_string(Dims(offsets.data(), static_cast<int>(std::min<size_t>(offsets.size(), 3)))));
    }
  }
  check_ranges(where, entries, data_bytes);

  Value::Mapping items;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const Dims shape(entry.shape->data(), static_cast<int>(entry.shape->size()));
    const int64_t begin = (*entry.offsets)[0], end = (*entry.offsets)[1];
    if (dtypes[i] == Dtype::bool_) {
      check_bools({where, entry.name},
                  bytes.subspan(static_cast<size_t>(data + begin), static_cast<size_t>(end - begin)));
    }
    items.push_back({entry.name, array_at(input.buffer(), data + begin, dtypes[i], shape)});
  }
  return items;
}

}  // namespace iruka::nn
