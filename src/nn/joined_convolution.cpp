#include "nn/joined_convolution.h"

#include "nn/fusion.h"

namespace iruka::nn {

JoinedConvolution::JoinedConvolution(const Node& node, size_t own_inputs)
    : convolution_(node), own_inputs_(own_inputs) {
  convolution_.op = "Conv", convolution_.domain = "";
  convolution_.inputs.resize(2), convolution_.outputs.resize(1);
  for (const char* own : {kJoinedBody, kJoinedPlace, kJoinedFunction, kJoinedNumbers})
    convolution_.attributes.erase(own);
  const auto body = node.attributes.find(kJoinedBody);
  if (body == node.attributes.end()) return;
  behind_ = {kFused, kOwnDomain, node.name, {}, node.outputs, {{"body", body->second}}};
  for (const TensorInfo& input : std::get<GraphHandle>(body->second)->inputs) behind_.inputs.push_back(input.name);
  place_ = static_cast<size_t>(std::get<int64_t>(node.attributes.at(kJoinedPlace)));
  group_.emplace(behind_);
  run_behind_ = fused_run(behind_);
}

Results JoinedConvolution::run_apart(const Call& call) const {
  const Array inputs[] = {call[0], call[1]};
  Results results = find_operator("Conv")->run(Call(convolution_, call.opset(), call.device(), inputs, {}, 2));
  if (!group_) return results;
  std::vector<Array> more;
  more.reserve(group_->input_count());
  for (size_t k = 0; k < group_->input_count(); ++k) more.push_back(is_value(k) ? results[0] : input_of(call, k));
  return run_behind_(Call(behind_, call.opset(), call.device(), more, {}, more.size()));
}

}  // namespace iruka::nn
