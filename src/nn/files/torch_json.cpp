#include "nn/files/torch_json.h"

#include <limits>

#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr int kDeepest = 128;              ///< graphs within graphs take a dozen levels each
constexpr uint64_t kMostValues = 1 << 22;  ///< bounds memory: a value of two bytes takes some tens here
constexpr const char* kProgram = "damaged torch.export program: ";

std::string of_type(const nlohmann::json& json) { return std::string("is of JSON's type ") + json.type_name(); }

}  // namespace

nlohmann::json parse_json(std::span<const uint8_t> text, const std::string& name, const std::string& where) {
  uint64_t values = 0;
  const auto check = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > kDeepest) {
      raise_value_error(where, kProgram + name + " is nested more than " + std::to_string(kDeepest) + " deep");
    }
    if (++values > kMostValues) {
      raise_value_error(where, kProgram + name + " has more than " + std::to_string(kMostValues) + " values");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), check);
  } catch (const nlohmann::json::parse_error& error) {
    raise_value_error(where, kProgram + name + " is no JSON from byte " + std::to_string(error.byte) + " on");
  } catch (const nlohmann::json::exception&) {
    raise_value_error(where, kProgram + name + " has a number that no JSON may have");
  }
}

void JsonPart::refuse(const std::string& problem) const {
  raise_value_error(*where_, kProgram + in_quotes(path_) + " " + problem);
}

std::optional<JsonPart> JsonPart::find(const char* key) const {
  if (!json_->is_object()) refuse(of_type(*json_) + ", not an object");
  const auto found = json_->find(key);
  if (found == json_->end() || found->is_null()) return std::nullopt;
  return JsonPart(*found, path_ + "." + key, *where_);
}

JsonPart JsonPart::at(const char* key) const {
  std::optional<JsonPart> part = find(key);
  if (!part) refuse("lacks the field " + in_quotes(key));
  return *std::move(part);
}

std::vector<JsonPart> JsonPart::items() const {
  if (!json_->is_array()) refuse(of_type(*json_) + ", not a list");
  std::vector<JsonPart> parts;
  for (const nlohmann::json& item : *json_) {
    parts.emplace_back(item, path_ + "." + std::to_string(parts.size()), *where_);
  }
  return parts;
}

std::vector<std::pair<std::string, JsonPart>> JsonPart::fields() const {
  if (!json_->is_object()) refuse(of_type(*json_) + ", not an object");
  std::vector<std::pair<std::string, JsonPart>> parts;
  for (const auto& [key, value] : json_->items()) {
    parts.emplace_back(key, JsonPart(value, path_ + "." + key, *where_));
  }
  return parts;
}

std::pair<std::string, JsonPart> JsonPart::choice() const {
  std::vector<std::pair<std::string, JsonPart>> all = fields();
  std::erase_if(all, [](const auto& field) { return field.second.json_->is_null(); });
  if (all.size() != 1) refuse("has " + std::to_string(all.size()) + " fields where one tells its kind");
  return std::move(all.front());
}

int64_t JsonPart::integer() const {
  if (!json_->is_number_integer()) refuse(of_type(*json_) + ", not an integer");
  if (json_->is_number_unsigned() && json_->get<uint64_t>() > INT64_MAX) {
    refuse("is the number " + std::to_string(json_->get<uint64_t>()) + ", which exceeds 63 bits");
  }
  return json_->get<int64_t>();
}

double JsonPart::number() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json_->is_number()) return json_->get<double>();
  const std::string& name = text();
  if (name == "Infinity") return kInfinity;
  if (name == "-Infinity") return -kInfinity;
  if (name == "NaN") return std::numeric_limits<double>::quiet_NaN();
  refuse("is " + in_quotes(name) + ", not a number");
}

bool JsonPart::flag() const {
  if (!json_->is_boolean()) refuse(of_type(*json_) + ", not a bool");
  return json_->get<bool>();
}

const std::string& JsonPart::text() const {
  if (!json_->is_string()) refuse(of_type(*json_) + ", not a text");
  return json_->get_ref<const std::string&>();
}

}  // namespace iruka::nn
