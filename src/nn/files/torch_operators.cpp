#include "nn/files/torch_operators.h"

#include "core/once.h"

namespace iruka::nn {
namespace {

constexpr std::string_view kAten = "torch.ops.aten.", kPython = "_operator.";

/// "relu_" of "torch.ops.aten.relu_.default"; the whole text of other targets.
std::string_view name_in(std::string_view target) {
  if (!target.starts_with(kAten)) return target;
  const std::string_view rest = target.substr(kAten.size());
  return rest.substr(0, rest.find('.'));
}

const TorchOperator* find_row(std::string_view name) {
  const auto& table = made_once([] {
    std::map<std::string_view, const TorchOperator*> rows;
    for (const std::span<const TorchOperator> list :
         {torch_pointwise_operators(), torch_layer_operators(), torch_shape_operators(), torch_creation_operators(),
          torch_reduction_operators(), torch_recurrent_operators()}) {
      for (const TorchOperator& row : list) rows.emplace(row.name, &row);
    }
    return rows;
  });
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

bool is_in_place(std::string_view target) {
  const std::string_view name = name_in(target);
  return target.starts_with(kAten) && name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
}

const TorchOperator* find_torch_operator(std::string_view target) {
  if (!target.starts_with(kAten) && !target.starts_with(kPython)) return nullptr;
  std::string_view name = name_in(target);
  if (is_in_place(target)) name.remove_suffix(1);
  return find_row(name);
}

int rank_in(std::string_view name) {
  const size_t at = name.find_first_of("123");
  return at == std::string_view::npos ? 0 : name[at] - '0';
}

}  // namespace iruka::nn
