// A pickle as data. The interpreter builds containers, numbers, texts and descriptions of tensors; the few functions
// that files of weights call are known by name, and every other name is refused. Nothing is imported or executed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "iruka/dtype.h"
#include "nn/files/pickle_globals.h"

namespace iruka::nn {

struct Object;

/// Memory that a pickle names by a key and that the file has elsewhere.
struct Storage {
  std::string key;
  std::optional<Dtype> dtype;  ///< none for an untyped storage, whose elements are bytes
  int64_t elements = 0;
  int64_t element_bytes() const { return dtype ? itemsize(*dtype) : 1; }
};

/// A view of a storage; offset and strides count elements. Nothing of it has been checked against the storage.
struct TensorView {
  size_t storage = 0;  ///< the index of Pickle::storages
  Dtype dtype = Dtype::float32;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;
};

/// One object of a pickle. Containers refer to objects of the same Pickle, also to themselves.
struct Object {
  struct None {};
  struct BigInteger {
    std::string_view bytes;  ///< little-endian, two's complement
  };
  struct Bytes {
    std::string data;
  };
  struct Tuple {
    std::vector<const Object*> items;
  };
  struct List {
    std::vector<const Object*> items;
  };
  struct Mapping {
    std::vector<std::pair<const Object*, const Object*>> items;
    bool ordered = false;  ///< an OrderedDict, which may have attributes
  };
  struct StorageIndex {
    size_t value;
  };
  std::variant<None, Scalar, BigInteger, std::string, Bytes, Tuple, List, Mapping, const Global*, StorageIndex,
               TensorView>
      content;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  /// "a list", "a number"...
  const char* kind() const;
};

/// The pickles of one file, which follow each other, and the objects and storages that they name.
class Pickle {
 public:
  Pickle(std::span<const uint8_t> bytes, const std::string& where) : bytes_(bytes), where_(where) {}
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  /// Interprets the next pickle. Raises ValueError for a damaged one, for a global that is not on the list, and for one
  /// of more than 2^22 steps.
  const Object& next();
  /// The first byte after the pickles read so far.
  size_t position() const { return position_; }
  const std::vector<Storage>& storages() const { return storages_; }

 private:
  // Each handles a family of opcodes; false where the opcode is of another one.
  bool push_number(uint8_t opcode);
  bool push_text(uint8_t opcode);
  bool build_container(uint8_t opcode);
  bool add_items(uint8_t opcode);
  bool use_memo(uint8_t opcode);
  bool find_global(uint8_t opcode);
  bool call(uint8_t opcode);
  [[noreturn]] void refuse_opcode(uint8_t opcode);

  void call_global();
  void set_state();
  Object make(const Global& global, const Object::Tuple& arguments);
  Object make_ordered(const Object::Tuple& arguments);
  Object make_bytes(const Object::Tuple& arguments);
  Object make_complex(const Object::Tuple& arguments);
  Object make_device(const Object::Tuple& arguments);
  Object rebuild_tensor(const Global& global, const Object::Tuple& arguments);
  Object rebuild_from_type(const Object::Tuple& arguments);
  Object persistent(const Object& id);

  void charge(uint64_t steps);
  void push(Object object);
  void push_integer(size_t bytes);
  void push_unicode(size_t bytes);
  void push_bytes(size_t bytes);
  const Object& pop();
  Object& top();
  std::vector<const Object*> pop_to_mark();
  std::span<const uint8_t> take(uint64_t count);
  uint64_t take_number(int bytes);
  std::string_view take_line();
  [[noreturn]] void damaged(const std::string& problem) const;
  [[noreturn]] void refuse(const std::string& problem) const;

  std::span<const uint8_t> bytes_;
  const std::string& where_;
  size_t position_ = 0;
  uint64_t steps_ = 0;
  std::deque<Object> objects_;
  std::vector<Object*> stack_;
  std::vector<size_t> marks_;  ///< heights of the stack
  std::unordered_map<uint64_t, Object*> memo_;
  std::vector<Storage> storages_;
  std::unordered_map<std::string, size_t> storage_indices_;
};

}  // namespace iruka::nn
