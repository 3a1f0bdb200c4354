#include "nn/pointwise_group.h"

#include <cstdio>

#include "nn/files/onnx_tensor.h"
#include "nn/operators/operator.h"

namespace iruka::nn {
namespace {

std::string hexadecimal(double number) {
  if (number != number) return "NAN";
  if (number - number != 0) return number > 0 ? "INFINITY" : "-INFINITY";
  char text[40];
  std::snprintf(text, sizeof text, "%a", number);
  return text;
}

/// Replaces `$0` and `@name` in an operator's text.
template <class Input, class Number>
std::string substituted(const char* text, Input&& input, Number&& number) {
  std::string made;
  for (const char* at = text; *at;) {
    if (*at == '$') {
      made += input(static_cast<size_t>(at[1] - '0'));
      at += 2;
    } else if (*at == '@') {
      std::string name;
      for (++at; (*at >= 'a' && *at <= 'z') || *at == '_'; ++at) name += *at;
      made += number(name);
    } else {
      made += *at++;
    }
  }
  return made;
}

}  // namespace

PointwiseGroup::PointwiseGroup(const Node& fused) : body_(std::get<GraphHandle>(fused.attributes.at("body"))) {
  for (const TensorInfo& input : body_->inputs) numbers_.emplace(input.name, numbers_.size());
  for (const Node& node : body_->nodes) {
    numbers_.emplace(node.outputs[0], numbers_.size());
    rows_.push_back(find_pointwise(node.op));
  }
}

bool PointwiseGroup::is_by_channel(size_t input) const {
  for (size_t k = 0; k < rows_.size(); ++k) {
    const std::vector<std::string>& names = body_->nodes[k].inputs;
    for (size_t place = 1; rows_[k]->is_by_channel && place < names.size(); ++place) {
      if (!names[place].empty() && number(names[place]) == input) return true;
    }
  }
  return false;
}

std::string PointwiseGroup::statements(std::vector<Dtype>& dtypes) const {
  std::string text;
  for (size_t k = 0; k < rows_.size(); ++k) text += statement(k, dtypes);
  return text;
}

std::string PointwiseGroup::type_of(Dtype dtype) { return info(compute_dtype(dtype)).c_type; }

std::string PointwiseGroup::declared(size_t number, Dtype dtype) {
  return "[[maybe_unused]] const " + type_of(dtype) + " v" + std::to_string(number) + " = ";
}

std::string PointwiseGroup::statement(size_t k, std::vector<Dtype>& dtypes) const {
  const Node& node = body_->nodes[k];
  const PointwiseRow& row = *rows_[k];
  const auto number_at = [&](size_t place) {
    if (place >= node.inputs.size() || node.inputs[place].empty())
      throw ValueError(node.op + " lacks input " + std::to_string(place));
    return numbers_.at(node.inputs[place]);
  };
  const Dtype first = dtypes[number_at(row.result == PointwiseResult::second ? 1 : 0)];
  const std::string type = type_of(first);
  const auto variable = [&](size_t place) { return "v" + std::to_string(number_at(place)); };
  const auto number = [&](const std::string& attribute) {
    return "(" + type + ")" + hexadecimal(pointwise_number(row, node, attribute));
  };
  std::string text = variable(0);
  if (!row.is_variadic) text = substituted(pointwise_text(row, node), variable, number);
  for (size_t place = 1; row.is_variadic && place < node.inputs.size(); ++place) {
    const auto either = [&](size_t which) { return which == 0 ? text : variable(place); };
    text = type + "(" + substituted(row.text, either, number) + ")";
  }
  if (node.op == "Mean") text = "(" + text + ") / " + type + "(" + std::to_string(node.inputs.size()) + ")";
  Dtype result = first;
  if (row.result == PointwiseResult::boolean) result = Dtype::bool_;
  if (row.result == PointwiseResult::cast) {
    result = *onnx_dtype(static_cast<int32_t>(std::get<int64_t>(node.attributes.at("to"))));
    text = std::string(info(result).c_type) + "(" + text + ")";
  }
  dtypes.push_back(result);
  return declared(dtypes.size() - 1, result) + type_of(result) + "(" + text + ");\n";
}

}  // namespace iruka::nn
