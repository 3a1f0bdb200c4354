// Trained networks: reading files of weights. No file is ever executed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "iruka/array.h"

namespace iruka::nn {

struct Item;

/// What a file of weights holds: nothing, a number, a text, bytes, an array, or a list, tuple or mapping of values.
/// Copying one copies no elements of arrays.
class IRUKA_API Value {
 public:
  enum class Kind : uint8_t { none, number, text, bytes, array, list, tuple, mapping };
  struct Bytes {
    std::string data;
  };
  struct Tuple {
    std::vector<Value> values;
  };
  using List = std::vector<Value>;
  using Mapping = std::vector<Item>;  ///< in the file's order

  Value() = default;
  Value(Scalar number);
  Value(std::string text);
  Value(Bytes bytes);
  Value(Array array);
  Value(List list);
  Value(Tuple tuple);
  Value(Mapping mapping);

  Kind kind() const { return static_cast<Kind>(content_.index()); }
  bool is_array() const { return kind() == Kind::array; }
  bool is_mapping() const { return kind() == Kind::mapping; }

  // Each raises TypeError that names the kind where the value is of another.
  const Scalar& number() const;
  const std::string& text() const;
  const std::string& bytes() const;
  const Array& array() const;
  std::span<const Value> values() const;  ///< of a list or tuple
  std::span<const Item> items() const;    ///< of a mapping

  /// What a mapping holds under a name. Raises IndexError that lists names where there is none.
  const Value& at(std::string_view name) const;
  /// The same, null where there is none.
  const Value* find(std::string_view name) const;

 private:
  template <class T>
  const T& get(const char* function, Kind kind) const;

  std::variant<std::monostate, Scalar, std::string, Bytes, std::shared_ptr<const Array>, List, Tuple, Mapping> content_;
};

/// An entry of a mapping. The key is a text or a number.
struct Item {
  Value key, value;
};

/// "none", "number", "text"...
IRUKA_API const char* name(Value::Kind kind);

/// Reads weights: a `.safetensors` file is a mapping from name to array, a `.pt` or `.pth` file has the structure that
/// torch.save() was given, which for a state_dict is such a mapping, too. The content decides which of them it is. A
/// pickle is never executed: only tensors, containers, numbers and texts are built from it. Arrays of one file share
/// its memory as far as alignment allows; those that shared a torch storage still do. Raises FileError for a file that
/// cannot be read, ValueError for one that is damaged, is no file of weights or asks for something else to be built.
IRUKA_API Value load_weights(const std::string& path);
/// The same from a file's bytes, which are copied.
IRUKA_API Value load_weights(std::span<const uint8_t> bytes);
/// The same value with its arrays on `device`; those that share memory still do.
IRUKA_API Value to_device(const Value& value, Device& device);

}  // namespace iruka::nn
