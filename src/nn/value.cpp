// What files of weights hold.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "iruka/nn.h"

namespace iruka::nn {
namespace {

/// The first names of a mapping, for a message.
std::string some_names(std::span<const Item> items) {
  constexpr size_t kShown = 8;
  std::string text;
  for (const Item& item : items.first(std::min(items.size(), kShown))) {
    text += text.empty() ? "" : ", ";
    text += item.key.kind() == Value::Kind::text ? "'" + item.key.text() + "'" : item.key.number().to_string();
  }
  if (items.size() > kShown) text += ", ... (" + std::to_string(items.size()) + " in all)";
  return text.empty() ? "nothing" : text;
}

/// Moves buffers, each once, so that arrays that share one still do.
class Mover {
 public:
  explicit Mover(Device& device) : device_(device) {}

  Value move(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::array: return move(value.array());
      case Value::Kind::list: return move(value.values());
      case Value::Kind::tuple: return Value::Tuple{move(value.values())};
      case Value::Kind::mapping: {
        Value::Mapping items;
        for (const Item& item : value.items()) items.push_back({item.key, move(item.value)});
        return items;
      }
      default: return value;
    }
  }

 private:
  Value::List move(std::span<const Value> values) {
    Value::List list;
    for (const Value& value : values) list.push_back(move(value));
    return list;
  }

  Array move(const Array& array) {
    if (&array.device() == &device_) return array;
    if (array.size() == 0) return array.to_device(device_);
    auto [entry, is_new] = moved_.try_emplace(array.buffer().get());
    if (is_new) {
      const auto bytes = static_cast<int64_t>(array.buffer()->bytes());
      entry->second = Array(array.buffer(), Dtype::uint8, {bytes}, {1}).to_device(device_);
    }
    const Array& whole = entry->second;
    return whole.view(array.dtype(), array.shape(), array.strides(), whole.offset() + array.offset());
  }

  Device& device_;
  std::unordered_map<const Buffer*, Array> moved_;
};

}  // namespace

Value::Value(Scalar number) : content_(number) {}
Value::Value(std::string text) : content_(std::move(text)) {}
Value::Value(Bytes bytes) : content_(std::move(bytes)) {}
Value::Value(Array array) : content_(std::make_shared<const Array>(std::move(array))) {}
Value::Value(List list) : content_(std::move(list)) {}
Value::Value(Tuple tuple) : content_(std::move(tuple)) {}
Value::Value(Mapping mapping) : content_(std::move(mapping)) {}

const char* name(Value::Kind kind) {
  constexpr const char* kNames[] = {"none", "number", "text", "bytes", "array", "list", "tuple", "mapping"};
  return kNames[static_cast<int>(kind)];
}

template <class T>
const T& Value::get(const char* function, Kind wanted) const {
  if (const T* const found = std::get_if<T>(&content_)) return *found;
  throw TypeError(std::string("Value::") + function + ": the value is of kind " + name(kind()) + ", not " +
                  name(wanted));
}

const Scalar& Value::number() const { return get<Scalar>("number", Kind::number); }
const std::string& Value::text() const { return get<std::string>("text", Kind::text); }
const std::string& Value::bytes() const { return get<Bytes>("bytes", Kind::bytes).data; }
const Array& Value::array() const { return *get<std::shared_ptr<const Array>>("array", Kind::array); }
std::span<const Value> Value::values() const {
  return kind() == Kind::tuple ? get<Tuple>("values", Kind::tuple).values : get<List>("values", Kind::list);
}
std::span<const Item> Value::items() const { return get<Mapping>("items", Kind::mapping); }

const Value* Value::find(std::string_view name) const {
  for (const Item& item : items()) {
    if (item.key.kind() == Kind::text && item.key.text() == name) return &item.value;
  }
  return nullptr;
}

const Value& Value::at(std::string_view name) const {
  if (const Value* const found = find(name)) return *found;
  throw IndexError("Value::at: there is no '" + std::string(name) + "'; the mapping has " + some_names(items()));
}

Value to_device(const Value& value, Device& device) { return Mover(device).move(value); }

}  // namespace iruka::nn
