// StagedKernel: its texts, and what its kernels say of themselves.
#include "jit/staged_kernel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "jit/grammar.h"
#include "jit/staged_call.h"

namespace iruka {

namespace jit {
namespace {

constexpr const char* kKind = "StagedKernel";

std::string label(const std::string& name) { return std::string(kKind) + " '" + name + "'"; }

void check_names(const std::string& name, const std::vector<Parameter>& parameters) {
  static constexpr const char* kTaken[] = {"_J", "_i", "_slice", "_step"};
  for (const Parameter& parameter : parameters)
    if (std::ranges::find(kTaken, parameter.name) != std::end(kTaken))
      throw ValueError(label(name) + ": parameter '" + parameter.name + "': the name '" + parameter.name +
                       "' is reserved in staged kernels");
}

std::vector<Parameter> parse_intermediates(const std::string& name, const std::string& list) {
  std::vector<Parameter> intermediates = parse_parameters(name, list, true, kKind);
  for (Parameter& parameter : intermediates) {
    if (parameter.raw)
      throw ValueError(label(name) + ": intermediate '" + parameter.name +
                       "': leave out 'raw': stages see an intermediate as a whole array anyway");
    parameter.raw = true;
  }
  return intermediates;
}

/// Both lists, one behind the other.
std::vector<Parameter> joined(std::vector<Parameter> first, const std::vector<Parameter>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The input that says how often a stage runs.
size_t find_count(const KernelText& front, const Stage& stage, const std::string& file) {
  const auto found = std::ranges::find(front.inputs, stage.count_name, &Parameter::name);
  const std::string words = label(front.name) + ": " + file + ": its count '" + stage.count_name + "' ";
  if (found == front.inputs.end()) throw ValueError(words + "is not the name of an input");
  if (!found->has_elements() || !found->is_const || !found->dtype || !is_integer(*found->dtype))
    throw ValueError(words + "must be an input of an integer type, as in 'int32 " + stage.count_name + "', not '" +
                     (found->raw ? "raw " : "") + (found->is_const || found->raw ? "" : "_non_const ") + found->type +
                     " " + found->name + "'");
  return static_cast<size_t>(found - front.inputs.begin());
}

std::vector<StageText> stage_texts(const KernelText& front, std::span<const Stage> stages) {
  if (stages.empty()) throw ValueError(label(front.name) + ": at least one stage is needed");
  std::vector<StageText> texts;
  for (const Stage& stage : stages) {
    StageText text{stage.body, "stage " + std::to_string(texts.size() + 1), stage.count};
    text.elements = stage.elements;
    if (stage.body.find_first_not_of(" \t\r\n") == std::string::npos)
      throw ValueError(label(front.name) + ": " + text.file + " is empty");
    if (stage.count < 0)
      throw ValueError(label(front.name) + ": " + text.file + ": its count must not be negative, not " +
                       std::to_string(stage.count));
    if (!stage.count_name.empty()) text.count_parameter = find_count(front, stage, text.file);
    texts.push_back(std::move(text));
  }
  return texts;
}

KernelOptions kernel_options(const StagedKernelOptions& from, std::shared_ptr<const Includes> includes) {
  KernelOptions options;
  options.preamble = from.preamble;
  options.options = from.options;
  options.reduce_dims = from.reduce_dims;
  options.made_at = from.made_at;
  options.includes = std::move(includes);
  return options;
}

/// The kernels of the stages: all see the same parameters, so that their calls take the same arguments.
class StagesMaker {
 public:
  explicit StagesMaker(StagedKernel::State& state) : state_(state) {
    all_.name = state.front.name;
    all_.inputs = joined(state.front.inputs, state.intermediates);
    all_.outputs = state.front.outputs;
    all_.intermediates = state.intermediates.size();
    all_.is_staged = true;
    all_.preamble = state.options.preamble;
  }

  void make() {
    KernelText text = all_;
    text.stages = stage_texts(state_.front, state_.stages);
    state_.together = make_kernel_state(std::move(text), kernel_options(state_.options, nullptr));
    for (const StageText& stage : state_.texts()) state_.apart.push_back(make_apart(stage));
    note_uses();
    note_writes();
  }

 private:
  std::shared_ptr<ElementwiseKernel::State> make_apart(const StageText& stage) const {
    KernelText text = all_;
    text.operation = stage.body;
    text.operation_file = stage.file;
    text.elements = stage.elements;
    return make_kernel_state(std::move(text), kernel_options(state_.options, state_.together->includes));
  }

  /// Which stage mentions which parameter, as far as their texts show: macros may hide any name.
  void note_uses() {
    KernelText& together = state_.together->text;
    together.uses.assign(all_.parameter_count(), false);
    for (size_t s = 0; s < together.stages.size(); ++s) {
      StageText& stage = together.stages[s];
      for (size_t k = 0; k < all_.parameter_count(); ++k) {
        stage.uses.push_back(can_see(*state_.apart[s], state_.apart[s]->options, all_.parameter(k).name));
        together.uses[k] = together.uses[k] || stage.uses[k];
      }
      state_.apart[s]->text.uses = stage.uses;
      if (stage.count_parameter) together.uses[*stage.count_parameter] = true;
    }
  }

  /// What the compiler warns of: outputs that no stage writes, intermediates that a stage reads first.
  void note_writes() {
    KernelText& together = state_.together->text;
    for (size_t k = all_.inputs.size() - all_.intermediates; k < all_.parameter_count(); ++k) {
      const std::string& name = all_.parameter(k).name;
      const auto mentions = [k](const StageText& stage) { return stage.uses[k]; };
      const auto first = std::ranges::find_if(together.stages, mentions);
      const bool is_mentioned = first != together.stages.end();
      KernelText& apart = state_.apart[is_mentioned ? static_cast<size_t>(first - together.stages.begin()) : 0]->text;
      if (all_.is_output(k)) {
        together.must_write.push_back(name);
        if (std::ranges::count_if(together.stages, mentions) <= 1) apart.must_write.push_back(name);
      } else if (is_mentioned) {
        together.must_write.push_back(first->file + ": " + name);
        apart.must_write.push_back(first->file + ": " + name);
      }
    }
  }

  StagedKernel::State& state_;
  KernelText all_;
};

/// What `text` says of each kernel that a call launches, one after the other.
template <class Text>
std::string of_all_kernels(StagedKernel::State& state, std::span<const Argument> arguments,
                           const StagedCallOptions& options, Text text) {
  std::vector<std::string> texts;
  StagedCall(state, arguments, options).for_each_kernel([&](const KernelCall& call) {
    texts.push_back((call.*text)());
  });
  return joined_stages(texts);
}

}  // namespace
}  // namespace jit

StagedKernel::StagedKernel(std::string in_params, std::string out_params, std::string intermediates,
                           std::vector<Stage> stages, std::string name, StagedKernelOptions options,
                           std::source_location where)
    : state_(std::make_shared<State>()) {
  jit::check_kernel_name(name, jit::kKind);
  jit::KernelText& front = state_->front;
  front.inputs = jit::parse_parameters(name, in_params, false, jit::kKind);
  front.outputs = jit::parse_parameters(name, out_params, true, jit::kKind);
  state_->intermediates = jit::parse_intermediates(name, intermediates);
  const std::vector<Parameter> written = jit::joined(front.outputs, state_->intermediates);
  jit::check_names_differ(name, front.inputs, written, jit::kKind);
  jit::check_names(name, jit::joined(front.inputs, written));
  if (front.inputs.size() + written.size() > jit::kMaxParameters)
    throw ValueError(jit::label(name) + ": more than " + std::to_string(jit::kMaxParameters) + " parameters");
  front.name = std::move(name);
  state_->typed = front;
  state_->typed.outputs = written;
  state_->placeholders = jit::placeholders_of(state_->typed);
  state_->stages = std::move(stages);
  state_->options = std::move(options);
  if (state_->options.made_at.empty())
    state_->options.made_at = std::string(where.file_name()) + ":" + std::to_string(where.line());
  jit::StagesMaker(*state_).make();
  if (state_->placeholders.count > 0 || !state_->options.diagnose_early) return;
  jit::diagnose_early(*state_->together);
  state_->take_warnings(*state_->together);
}

std::vector<Array> StagedKernel::call(std::span<const Argument> arguments, const StagedCallOptions& options) const {
  return jit::StagedCall(*state_, arguments, options).run();
}

std::string StagedKernel::source(std::span<const Argument> arguments, const StagedCallOptions& options) const {
  return jit::of_all_kernels(*state_, arguments, options, &jit::KernelCall::source);
}

std::string StagedKernel::assembly(std::span<const Argument> arguments, const StagedCallOptions& options) const {
  return jit::of_all_kernels(*state_, arguments, options, &jit::KernelCall::assembly);
}

KernelReport StagedKernel::report(std::span<const Argument> arguments, const StagedCallOptions& options) const {
  std::optional<KernelReport> all;
  jit::StagedCall(*state_, arguments, options).for_each_kernel([&](const jit::KernelCall& call) {
    KernelReport one = call.report();
    if (!all) {
      all = std::move(one);
      return;
    }
    if (one.lanes > all->lanes) {
      all->lanes = one.lanes;
      all->reason.clear();
    }
    all->remarks.insert(all->remarks.end(), one.remarks.begin(), one.remarks.end());
    all->texts.insert(all->texts.end(), one.texts.begin(), one.texts.end());
  });
  return *std::move(all);
}

std::vector<GeneratedSource> StagedKernel::generated_sources() const {
  std::vector<GeneratedSource> sources = jit::generated_sources(*state_->together);
  for (const auto& apart : state_->apart)
    std::ranges::move(jit::generated_sources(*apart), std::back_inserter(sources));
  return sources;
}

std::vector<std::string> StagedKernel::pop_warnings() const { return state_->warnings.take(); }

const std::string& StagedKernel::name() const { return state_->front.name; }
std::span<const Stage> StagedKernel::stages() const { return state_->stages; }
const StagedKernelOptions& StagedKernel::options() const { return state_->options; }
std::span<const Parameter> StagedKernel::in_params() const { return state_->front.inputs; }
std::span<const Parameter> StagedKernel::out_params() const { return state_->front.outputs; }
std::span<const Parameter> StagedKernel::intermediates() const { return state_->intermediates; }

std::string StagedKernel::to_string() const {
  std::string between;
  for (const Parameter& parameter : state_->intermediates)
    between += (between.empty() ? "; " : ", ") + parameter.type + " " + parameter.name;
  return "StagedKernel " + name() + "(" + jit::list_parameters(in_params()) + between + ") -> (" +
         jit::list_parameters(out_params()) + ")";
}

}  // namespace iruka
