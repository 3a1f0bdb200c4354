// ReductionKernel: what it is made of, and what its stages' kernels say of themselves.
#include "iruka/reduction_kernel.h"

#include <algorithm>
#include <utility>

#include "jit/grammar.h"
#include "jit/includes.h"
#include "jit/kernel_state.h"
#include "ops/reduce/reduction_kernel_call.h"

namespace iruka {

namespace ops {
namespace {

constexpr const char* kKind = "ReductionKernel";

void check_parameters(const ReductionTexts& texts) {
  static constexpr const char* kTaken[] = {"_i",           "_j", "_J", "_in_ind", "_out_ind",
                                           "_type_reduce", "a",  "b",  "_slice",  "_step"};
  const auto fail = [&](const Parameter& parameter, const std::string& rule) {
    throw ValueError(std::string(kKind) + " '" + texts.name + "': parameter '" + parameter.name + "': " + rule);
  };
  if (texts.outputs.empty())
    throw ValueError(std::string(kKind) + " '" + texts.name + "': at least one output is needed");
  for (size_t k = 0; k < texts.parameter_count(); ++k) {
    const Parameter& parameter = texts.parameter(k);
    if (std::ranges::find(kTaken, parameter.name) != std::end(kTaken) || parameter.name.starts_with("_reduce_"))
      fail(parameter, "the name '" + parameter.name + "' is reserved in reductions");
    if (k < texts.inputs.size() && !parameter.raw && !parameter.is_const)
      fail(parameter, "only a raw input can be _non_const, because a reduction does not write to elements");
  }
}

/// Whether a text may depend on the order in which elements are reduced.
bool can_see_order(const ReductionTexts& texts) {
  const auto names_place = [](const std::string& text) {
    return std::ranges::any_of(std::initializer_list<const char*>{"_J", "_j", "i", "_in_ind"},
                               [&](const char* word) { return jit::mentions(text, word); });
  };
  const ReductionKernelOptions& options = texts.options;
  const auto hides_place = [&](const std::string& text) {
    return text.find("define") != std::string::npos && names_place(text);
  };
  return names_place(texts.map_expr) || hides_place(options.preamble) ||
         (texts.includes &&
          std::ranges::any_of(texts.includes->originals, [&](const auto& header) { return hides_place(*header); })) ||
         std::ranges::any_of(options.options, names_place);
}

/// Reports invalid C++ when the kernel is made, if all types are concrete.
void diagnose(ReductionKernel::State& state) {
  ReductionStage stage;
  stage.finishes = true;
  std::vector<Dtype> types;
  for (size_t k = 0; k < state.texts.parameter_count(); ++k) {
    const Parameter& parameter = state.texts.parameter(k);
    types.push_back(*parameter.dtype);
    stage.reach.push_back(!parameter.has_elements()       ? Reach::raw
                          : k < state.texts.inputs.size() ? Reach::strided
                                                          : Reach::output);
  }
  const std::shared_ptr<ElementwiseKernel::State> kernel = reduction_stage_kernel(state.texts, stage, types);
  jit::diagnose_early(*kernel);
  state.warnings.add(kernel->warnings.take());
}

/// What `text` says of the kernel of each stage, one after the other.
template <class Text>
std::string of_all_stages(ReductionKernel::State& state, std::span<const Argument> arguments, const ReductionAxes& axes,
                          Text text) {
  std::vector<std::string> texts;
  ReductionCall(state, arguments, axes).for_each_stage([&](ElementwiseKernel::State&, const jit::KernelCall& call) {
    texts.push_back((call.*text)());
  });
  return jit::joined_stages(texts);
}

}  // namespace
}  // namespace ops

ReductionKernel::ReductionKernel(std::string in_params, std::string out_params, std::string map_expr,
                                 std::string reduce_expr, std::string post_map_expr,
                                 std::optional<std::string> identity, std::string name, ReductionKernelOptions options,
                                 std::source_location where)
    : state_(std::make_shared<State>()) {
  jit::check_kernel_name(name, ops::kKind);
  ops::ReductionTexts& texts = state_->texts;
  texts.inputs = jit::parse_parameters(name, in_params, false, ops::kKind);
  texts.outputs = jit::parse_parameters(name, out_params, true, ops::kKind);
  jit::check_names_differ(name, texts.inputs, texts.outputs, ops::kKind);
  texts.name = std::move(name);
  texts.map_expr = std::move(map_expr);
  texts.reduce_expr = std::move(reduce_expr);
  texts.post_map_expr = std::move(post_map_expr);
  texts.identity = std::move(identity);
  texts.options = std::move(options);
  if (texts.options.made_at.empty())
    texts.options.made_at = std::string(where.file_name()) + ":" + std::to_string(where.line());
  ops::check_parameters(texts);
  const std::string* const sources[] = {&texts.map_expr, &texts.reduce_expr, &texts.post_map_expr,
                                        &texts.options.preamble};
  texts.includes = jit::read_includes(sources, texts.options.options);
  state_->front.name = texts.name;
  state_->front.inputs = texts.inputs;
  state_->front.outputs = texts.outputs;
  state_->placeholders = jit::placeholders_of(state_->front);
  state_->sees_order = ops::can_see_order(texts);
  if (state_->texts.options.diagnose_early && state_->placeholders.count == 0) ops::diagnose(*state_);
}

std::vector<Array> ReductionKernel::call(std::span<const Argument> arguments, const ReductionAxes& axes) const {
  return ops::ReductionCall(*state_, arguments, axes).run();
}

std::string ReductionKernel::source(std::span<const Argument> arguments, const ReductionAxes& axes) const {
  return ops::of_all_stages(*state_, arguments, axes, &jit::KernelCall::source);
}

std::string ReductionKernel::assembly(std::span<const Argument> arguments, const ReductionAxes& axes) const {
  return ops::of_all_stages(*state_, arguments, axes, &jit::KernelCall::assembly);
}

KernelReport ReductionKernel::report(std::span<const Argument> arguments, const ReductionAxes& axes) const {
  std::optional<KernelReport> report;
  ops::ReductionCall(*state_, arguments, axes)
      .for_each_stage([&](ElementwiseKernel::State&, const jit::KernelCall& call) {
        if (!report) report = call.report();
      });
  return *std::move(report);
}

std::vector<GeneratedSource> ReductionKernel::generated_sources() const { return state_->stages.generated_sources(); }

std::vector<std::string> ReductionKernel::pop_warnings() const { return state_->warnings.take(); }

const std::string& ReductionKernel::name() const { return state_->texts.name; }
const std::string& ReductionKernel::map_expr() const { return state_->texts.map_expr; }
const std::string& ReductionKernel::reduce_expr() const { return state_->texts.reduce_expr; }
const std::string& ReductionKernel::post_map_expr() const { return state_->texts.post_map_expr; }
const std::optional<std::string>& ReductionKernel::identity() const { return state_->texts.identity; }
const ReductionKernelOptions& ReductionKernel::options() const { return state_->texts.options; }
std::span<const Parameter> ReductionKernel::in_params() const { return state_->texts.inputs; }
std::span<const Parameter> ReductionKernel::out_params() const { return state_->texts.outputs; }

std::string ReductionKernel::to_string() const {
  std::string text = "ReductionKernel " + name() + "(";
  for (size_t k = 0; k < state_->texts.parameter_count(); ++k) {
    const Parameter& parameter = state_->texts.parameter(k);
    text += k == state_->texts.inputs.size() ? ") -> (" : k > 0 ? ", " : "";
    text += parameter.to_string();
  }
  return text + ")";
}

}  // namespace iruka
