// The JSON of a torch.export program: every part is checked as it is read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iruka::nn {

/// A document. `name` is what messages call it. Raises ValueError for what is no JSON, nests deeper or has more values
/// than programs do.
nlohmann::json parse_json(std::span<const uint8_t> text, const std::string& name, const std::string& where);

/// A value of a document and the keys that lead to it. Functions raise ValueError that names these.
class JsonPart {
 public:
  JsonPart(const nlohmann::json& json, std::string path, const std::string& where)
      : json_(&json), path_(std::move(path)), where_(&where) {}

  /// A field of an object.
  JsonPart at(const char* key) const;
  /// None where the field is absent or null.
  std::optional<JsonPart> find(const char* key) const;
  /// The elements of a list.
  std::vector<JsonPart> items() const;
  /// All fields of an object.
  std::vector<std::pair<std::string, JsonPart>> fields() const;
  /// The one field that is not null, of an object that stands for one of several kinds.
  std::pair<std::string, JsonPart> choice() const;

  int64_t integer() const;
  double number() const;  ///< also the texts "Infinity", "-Infinity" and "NaN"
  bool flag() const;
  const std::string& text() const;
  bool is_integer() const { return json_->is_number_integer(); }

  [[noreturn]] void refuse(const std::string& problem) const;
  const std::string& path() const { return path_; }
  const std::string& where() const { return *where_; }

 private:
  const nlohmann::json* json_;
  std::string path_;
  const std::string* where_;
};

}  // namespace iruka::nn
