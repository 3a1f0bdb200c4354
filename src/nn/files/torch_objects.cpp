#include "nn/files/torch_objects.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "iruka/device.h"
#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr int kDeepest = 64;
/// Objects that a pickle refers to several times are copied, so a short file could describe an endless value.
constexpr uint64_t kMostValues = 1 << 22;

class Converter {
 public:
  Converter(const std::vector<Storage>& storages, const StorageTable& table, const std::string& where)
      : storages_(storages), table_(table), where_(where) {}

  Value convert(const Object& object) {
    charge(1);
    if (auto* number = object.as<Scalar>()) return *number;
    if (auto* text = object.as<std::string>()) return copied_text(*text);
    if (auto* bytes = object.as<Object::Bytes>()) return Value::Bytes{copied_text(bytes->data)};
    if (auto* tuple = object.as<Object::Tuple>()) return Value::Tuple{convert(tuple->items)};
    if (auto* list = object.as<Object::List>()) return convert(list->items);
    if (auto* mapping = object.as<Object::Mapping>()) return convert(*mapping);
    if (auto* tensor = object.as<TensorView>()) return array_of_view(*tensor);
    if (auto* global = object.as<const Global*>()) return name_of(**global);
    if (auto* integer = object.as<Object::BigInteger>()) {
      refuse("is an integer of " + std::to_string(8 * integer->bytes.size()) + " bits; 64 can be read");
    }
    if (object.as<Object::StorageIndex>()) refuse("is a storage without a tensor");
    return {};
  }

 private:
  void charge(uint64_t values) {
    values_ += values;
    if (values_ > kMostValues) {
      raise_value_error(where_,
                        "the pickle repeats its objects to more than " + std::to_string(kMostValues) + " values");
    }
  }

  const std::string& copied_text(const std::string& text) {
    charge(text.size() / sizeof(Value));
    return text;
  }

  Value::List convert(const std::vector<const Object*>& items) {
    check_depth();
    Value::List list;
    for (size_t i = 0; i < items.size(); ++i) {
      path_.push_back(std::to_string(i));
      list.push_back(convert(*items[i]));
      path_.pop_back();
    }
    return list;
  }

  /// A key that is set again keeps its place and has the last value, as in Python.
  Value convert(const Object::Mapping& mapping) {
    check_depth();
    Value::Mapping items;
    std::unordered_map<std::string, size_t> places;
    for (const auto& [key, value] : mapping.items) {
      auto [name, converted_key] = key_of(*key);
      path_.push_back(name.substr(1));
      Value converted = convert(*value);
      path_.pop_back();
      const auto [place, is_new] = places.try_emplace(std::move(name), items.size());
      if (is_new) {
        items.push_back({std::move(converted_key), std::move(converted)});
      } else {
        items[place->second].value = std::move(converted);
      }
    }
    return items;
  }

  /// A key and a text that is the same for equal keys: a letter for its kind, and the key.
  std::pair<std::string, Value> key_of(const Object& key) {
    charge(1);
    if (auto* text = key.as<std::string>()) return {"t" + copied_text(*text), *text};
    auto* const number = key.as<Scalar>();
    if (!number) refuse(std::string("has a key that is ") + key.kind() + "; texts and numbers can be read");
    return {"n" + number->to_string(), *number};
  }

  Value name_of(const Global& global) {
    if (global.role == Role::dtype) return std::string(global.path());
    refuse("is '" + global.path() + "' itself, which is not a value");
  }

  Array array_of_view(const TensorView& view) {
    const TensorName tensor{where_, "", path_};
    const Storage& storage = storages_[view.storage];
    const StorageMemory& memory = table_[view.storage];
    if (!memory.buffer) tensor.refuse("uses the storage " + in_quotes(storage.key) + ", which the file lacks");
    const Array array =
        array_in_storage(tensor, memory, storage.key, view.dtype, view.shape, view.strides, view.offset);
    const bool has_bools = view.dtype == Dtype::bool_ && array.size() > 0;
    if (has_bools && checked_bools_.emplace(memory.buffer.get(), memory.offset).second) {
      check_bools(tensor, {static_cast<const uint8_t*>(memory.buffer->data()) + memory.offset, memory.size});
    }
    return array;
  }

  void check_depth() const {
    if (path_.size() <= kDeepest) return;
    raise_value_error(where_,
                      "containers are nested more than " + std::to_string(kDeepest) + " deep, or contain themselves");
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    raise_value_error(where_,
                      (path_.empty() ? "what it holds" : "the value " + in_quotes(joined(path_))) + " " + problem);
  }

  const std::vector<Storage>& storages_;
  const StorageTable& table_;
  const std::string& where_;
  std::set<std::pair<const Buffer*, int64_t>> checked_bools_;  ///< memory of bools that was looked through
  std::vector<std::string> path_;                              ///< keys and indices of the value being converted
  uint64_t values_ = 0;
};

}  // namespace

Value to_value(const Object& root, const std::vector<Storage>& storages, const StorageTable& table,
               const std::string& where) {
  return Converter(storages, table, where).convert(root);
}

}  // namespace iruka::nn
