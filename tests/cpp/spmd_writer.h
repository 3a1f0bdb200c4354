// Writes random C++ for kernel bodies and helper functions: every value initialised, every index in range, every loop
// bounded, nothing of a NaN visible but that it is one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iruka/dtype.h"
#include "spmd_random.h"

namespace iruka::testing {

inline std::string c_type(Dtype type) { return info(type).c_type; }
inline bool is_float(Dtype type) { return kind(type) == Kind::floating; }

/// A scalar that a text may read, and write where it is writable.
struct Variable {
  std::string text;
  Dtype type;
  bool writable = true;
  int below = 0;  ///< where not 0: the value is always in [0, below)
};

/// Elements `name[k]member` for k in [0, length).
struct LocalArray {
  std::string name, member;
  Dtype type;
  int length;
  bool writable = true;
};

/// A helper function of the preamble. `changes`: the first parameter is a reference.
struct Helper {
  std::string name;
  Dtype result;
  std::vector<Dtype> parameters;
  bool changes = false;
};
/// A helper over elements of a local array: `name(pointer, count, value)`.
struct ArrayHelper {
  std::string name;
  Dtype type;
  bool changes;
};

class Writer {
 public:
  /// `types`: the dtypes that the text prefers.
  Writer(Random& random, std::span<const Dtype> types) : random_(random), types_(types.begin(), types.end()) {}

  // The variables in scope.
  std::vector<Variable> variables;
  std::vector<LocalArray> arrays;
  std::vector<std::function<std::string()>> guards;                     ///< conditions that guard an array read
  std::vector<std::pair<Dtype, std::function<std::string()>>> sources;  ///< reads of raw arrays
  std::vector<std::pair<Dtype, std::function<std::string()>>> atomics;  ///< statements that change a counter
  std::vector<Helper> helpers;
  std::vector<ArrayHelper> array_helpers;
  std::optional<Dtype> returns;  ///< of a helper function; a body returns nothing
  bool in_body = true;
  int budget = 6;  ///< statements still to write; beyond it only the ends of blocks

  const std::string& text() const { return text_; }
  void line(const std::string& text);
  /// `count` random statements, each of which may hold others.
  void statements(int count);
  /// An assignment of something to a writable variable.
  void assign(const Variable& variable);

  /// An expression of exactly this type.
  std::string value(Dtype type, int depth);
  std::string condition(int depth);
  std::string literal(Dtype type);
  /// An int in [0, length).
  std::string index(int length);
  /// `text`, of type `from`, as `to`.
  static std::string converted(const std::string& text, Dtype from, Dtype to);

  Dtype any_type();
  Dtype float_type();
  Dtype integer_type();
  std::string fresh(const char* stem) { return stem + std::to_string(++names_); }

 private:
  std::string leaf(Dtype type);
  std::string integer(Dtype type, int depth);
  std::string floating(Dtype type, int depth);
  std::string complex_number(Dtype type, int depth);
  std::string comparison(int depth);
  std::string choice(Dtype type, int depth);
  std::string call(const Helper& helper, size_t first, int depth);
  std::string small_integer(int limit);
  std::string element(const LocalArray& array);
  const Variable* any_variable(bool writable, std::optional<Dtype> type = {});

  void statement();
  void declare();
  void declare_undecided();
  void declare_array();
  void declare_structure();
  void branch();
  void switch_statement();
  void for_loop();
  void while_loop();
  void leave();
  void change_element();
  void call_statement();
  void pointer_statement();
  void idiom();
  std::string expand(const std::string& text, Dtype real, Dtype integer, Dtype word, const std::string& id);
  /// `opening { statements }`; what is declared inside is forgotten.
  void block(const std::string& opening, int count, std::span<const Variable> extra = {});
  void nested(int count, std::span<const Variable> extra = {});

  Random& random_;
  std::vector<Dtype> types_;
  std::string text_;
  int indent_ = 0, nesting_ = 0, loops_ = 0, names_ = 0;
};

}  // namespace iruka::testing
