#include "iruka/kernel.h"

#include <algorithm>
#include <array>

#include "jit/grammar.h"
#include "jit/kernel_call.h"
#include "jit/kernel_headers.h"
#include "jit/kernel_state.h"
#include "jit/report.h"

namespace iruka {
namespace {

/// Whether `holds` for one of the user's headers.
template <class Holds>
bool holds_in_headers(const ElementwiseKernel::State& state, Holds&& holds) {
  return state.includes &&
         std::ranges::any_of(state.includes->originals, [&](const auto& text) { return holds(*text); });
}

}  // namespace

std::string jit::list_parameters(std::span<const Parameter> parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) {
    if (!text.empty()) text += ", ";
    text += parameter.to_string();
  }
  return text;
}

bool jit::can_see(const ElementwiseKernel::State& state, const KernelOptions& options, std::string_view word) {
  const jit::KernelText& text = state.text;
  const auto hidden = [&](const std::string& macros) {
    return macros.find("define") != macros.npos && jit::mentions(macros, word);
  };
  const auto in_body = [&](const jit::BodyText& text) {
    return jit::mentions(text.body, word) || jit::mentions(text.elements, word);
  };
  return std::ranges::any_of(jit::bodies_of(text), in_body) || jit::mentions(text.loop_prep, word) ||
         jit::mentions(text.after_loop, word) || hidden(text.preamble) || holds_in_headers(state, hidden) ||
         std::ranges::any_of(options.options, [&](const std::string& option) { return jit::mentions(option, word); });
}

namespace {

bool has_raw(const jit::KernelText& text) {
  for (size_t k = 0; k < text.parameter_count(); ++k)
    if (text.parameter(k).raw) return true;
  return false;
}

jit::BodyWeight weight_of(const ElementwiseKernel::State& state) {
  constexpr size_t kGreatDeal = 800;
  const jit::KernelText& text = state.text;
  const auto loops = [](std::string_view code) {
    return std::ranges::any_of(std::array{"for", "while", "goto"},
                               [&](const char* word) { return jit::mentions(code, word); });
  };
  const bool has_frame = !text.loop_prep.empty() || !text.after_loop.empty();
  // The library's own gathers and scatters: an element's place, from indices that are loaded.
  if (jit::mentions(text.operation, "iruka_place_of") && !has_frame && !loops(text.operation))
    return jit::BodyWeight::gather;
  // The length of a preamble does not count: it may have functions that this body does not call.
  const auto helpers = jit::with_included(text.preamble);
  if (!text.stages.empty() || has_raw(text) || has_frame || loops(text.operation) ||
      std::ranges::any_of(helpers, loops) || holds_in_headers(state, loops) || text.operation.size() > kGreatDeal)
    return jit::BodyWeight::heavy;
  const bool calls = jit::has_calls(text.operation) || std::ranges::any_of(helpers, jit::has_calls) ||
                     holds_in_headers(state, jit::has_calls);
  return calls ? jit::BodyWeight::medium : jit::BodyWeight::light;
}

jit::KernelText parse_text(const std::string& in_params, const std::string& out_params, std::string operation,
                           std::string name, const KernelOptions& options) {
  jit::check_kernel_name(name);
  jit::KernelText text;
  text.inputs = jit::parse_parameters(name, in_params, false);
  text.outputs = jit::parse_parameters(name, out_params, true);
  jit::check_names_differ(name, text.inputs, text.outputs);
  if (text.parameter_count() > jit::kMaxParameters)
    throw ValueError("ElementwiseKernel '" + name + "': more than " + std::to_string(jit::kMaxParameters) +
                     " parameters");
  text.name = std::move(name);
  text.operation = std::move(operation);
  text.preamble = options.preamble;
  text.loop_prep = options.loop_prep;
  text.after_loop = options.after_loop;
  for (const Parameter& output : text.outputs) text.must_write.push_back(output.name);
  return text;
}

}  // namespace

std::shared_ptr<ElementwiseKernel::State> jit::make_kernel_state(KernelText text, KernelOptions options) {
  auto state = std::make_shared<ElementwiseKernel::State>();
  state->text = std::move(text);
  std::vector<const std::string*> texts;
  for (const jit::BodyText& each : jit::bodies_of(state->text)) {
    texts.push_back(&each.body);
    if (!each.elements.empty()) texts.push_back(&each.elements);
  }
  texts.insert(texts.end(), {&options.preamble, &options.loop_prep, &options.after_loop});
  state->includes = options.includes ? options.includes : jit::read_includes(texts, options.options);
  state->text.sees_indexer = can_see(*state, options, "_ind");
  for (const char* member : {"shape", "size", "strides"}) state->text.sees_shapes |= can_see(*state, options, member);
  state->text.asserts = can_see(*state, options, "assert");
  if (state->text.is_staged) {
    const auto sees = [&](const char* name) { return can_see(*state, options, name); };
    const auto is_limited = [](const jit::BodyText& each) { return !each.elements.empty(); };
    state->text.sees_slice =
        sees("_slice") || sees("_J") || sees("_i") || std::ranges::any_of(jit::bodies_of(state->text), is_limited);
    state->text.sees_step = sees("_step");
  }
  state->text.sees_index = state->text.sees_indexer || state->text.asserts || can_see(*state, options, "i") ||
                           state->text.sees_slice || !options.loop_prep.empty() || !options.after_loop.empty() ||
                           !options.reduce_dims;
  const auto note_text = [&](std::string_view text) {
    state->may_fix_values &= std::ranges::none_of(jit::with_included(text), jit::has_open_power);
    state->may_name_narrow_types |= jit::may_name_narrow_types(text);
  };
  for (const std::string* text : texts) note_text(*text);
  if (state->includes)
    for (const auto& header : state->includes->originals) note_text(*header);
  for (const std::string& option : options.options) state->may_name_narrow_types |= jit::may_name_narrow_types(option);
  state->text.weight = weight_of(*state);
  state->options = std::move(options);
  state->placeholders = jit::placeholders_of(state->text);
  return state;
}

namespace {

/// Unknown identifiers in the messages of the front end.
std::vector<std::string> unknown_names(const std::string& diagnostics) {
  std::vector<std::string> names;
  for (const std::string_view words : {"undeclared identifier '", "unknown type name '"}) {
    for (size_t at = diagnostics.find(words); at != diagnostics.npos; at = diagnostics.find(words, at + 1)) {
      const size_t begin = at + words.size();
      names.push_back(diagnostics.substr(begin, diagnostics.find('\'', begin) - begin));
    }
  }
  return names;
}

/// Whether the text to check is a template: of raw arrays, whose rank is open, or an index.
bool is_template(const jit::KernelText& text) { return has_raw(text) || text.sees_indexer; }

/// Whether the errors are about grammar, which is the same for every compiler.
bool is_ungrammatical(const std::string& diagnostics) {
  return diagnostics.find("error: expected") != diagnostics.npos;
}

/// Whether NVRTC, which checks a template only when it is used, does not know one of the names either.
bool is_unknown_to(Device& device, const ElementwiseKernel::State& state, const std::vector<std::string>& names) {
  std::string text = state.text.preamble + "\nvoid iruka_names() {\n";
  for (const std::string& each : names)
    if (!each.starts_with("__")) text += each + ";\n";  // the compilers' own are not all identifiers: __launch_bounds__
  try {
    jit::check(device, state.program_source(text + "}\n", nullptr), state.error_context(nullptr));
    return false;
  } catch (const CompileError& error) {  // overloaded functions are errors too, of another kind
    const std::string message = error.what();
    return std::ranges::any_of(names, [&](const std::string& each) {
      return message.find("identifier \"" + each + "\" is undefined") != message.npos;
    });
  }
}

}  // namespace

/// Invalid C++ is invalid on every device. The front end also finds it in unused templates, in a tenth of the time that
/// NVRTC takes to start. But it also rejects what only a GPU has (clock64, make_float4, __shfl_sync).
void jit::diagnose_early(const ElementwiseKernel::State& state) {
  const jit::ErrorContext context = state.error_context(nullptr);
  const ProgramSource source = state.program_source(jit::emit_check(state.text), nullptr);
  try {
    const std::vector<Diagnostic> warnings = jit::check(FrontEnd::of_all_devices(), source, context);
    // Code under __CUDA_ARCH__ may write the outputs. A body without warnings does not need the default device.
    if (!warnings.empty() &&
        (!can_see(state, state.options, "__CUDA_ARCH__") || default_device().find_service<FrontEnd>()))
      state.warnings.add(warnings, context);
  } catch (const CompileError& error) {
    Device& device = default_device();
    if (device.find_service<FrontEnd>()) throw;
    state.warnings.add(jit::check(device, source, context), context);
    const std::vector<std::string> names = unknown_names(error.what());
    if (names.empty() ? is_template(state.text) && is_ungrammatical(error.what()) : is_unknown_to(device, state, names))
      throw;
  }
}

jit::ErrorContext ElementwiseKernel::State::error_context(const jit::Signature* signature) const {
  jit::ErrorContext context{text.name, "", options.made_at, {}};
  for (const jit::BodyText& each : jit::bodies_of(text)) {
    context.texts.emplace_back(each.file, each.body);
    if (!each.elements.empty()) context.texts.emplace_back(each.elements_file(), each.elements);
  }
  context.texts.insert(context.texts.end(),
                       {{"preamble", text.preamble}, {"loop_prep", text.loop_prep}, {"after_loop", text.after_loop}});
  context.texts.insert(context.texts.end(), options.embedded_texts.begin(), options.embedded_texts.end());
  context.includes = includes;
  if (!options.argument_types.empty()) {
    context.argument_types = options.argument_types;
    return context;
  }
  for (size_t k = 0; k < text.parameter_count(); ++k) {
    const Parameter& parameter = text.parameter(k);
    if (k > 0) context.argument_types += ", ";
    if (parameter.raw) context.argument_types += "raw ";
    context.argument_types += signature ? iruka::name(signature->operands[k].dtype) : parameter.type;
    if (signature && signature->operands[k].access >= jit::Access::raw_contiguous)
      context.argument_types += "[" + std::to_string(signature->operands[k].rank) + "-d]";
    if (parameter.is_by_value()) context.argument_types += "[" + std::to_string(parameter.extent) + "]";
    context.argument_types += " " + parameter.name;
  }
  return context;
}

ProgramSource ElementwiseKernel::State::program_source(std::string body, const jit::Signature* signature) const {
  ProgramSource source{std::move(body), jit::entry_name(text), options.options, "<" + text.name + ">"};
  if (includes) {
    source.text = includes->with_paths(source.text);
    source.headers = includes->files;
  }
  source.must_write = text.must_write;
  source.must_write.insert(source.must_write.end(), options.must_write.begin(), options.must_write.end());
  if (!signature) return source;
  const auto is_narrow = [](const jit::OperandSignature& operand) {
    return is_integer(operand.dtype) && itemsize(operand.dtype) <= 2;
  };
  source.may_narrow = may_name_narrow_types ||
                      std::any_of(signature->operands, signature->operands + signature->operand_count, is_narrow);
  return source;
}

ElementwiseKernel::ElementwiseKernel(std::string in_params, std::string out_params, std::string operation,
                                     std::string name, KernelOptions options, std::source_location where)
    : state_(jit::make_kernel_state(parse_text(in_params, out_params, std::move(operation), std::move(name), options),
                                    options)) {
  if (state_->options.made_at.empty())
    state_->options.made_at = std::string(where.file_name()) + ":" + std::to_string(where.line());
  if (state_->placeholders.count == 0 && state_->options.diagnose_early) jit::diagnose_early(*state_);
}

std::vector<Array> ElementwiseKernel::call(std::span<const Argument> arguments, const CallOptions& options) const {
  jit::KernelCall call(*state_, arguments, options);
  call.run();
  return call.take_outputs();
}

void ElementwiseKernel::fill(std::span<const Argument> arguments, const CallOptions& options) const {
  jit::KernelCall(*state_, arguments, options).run();
}

const std::string& ElementwiseKernel::name() const { return state_->text.name; }
const std::string& ElementwiseKernel::operation() const { return state_->text.operation; }
const KernelOptions& ElementwiseKernel::options() const { return state_->options; }
std::span<const Parameter> ElementwiseKernel::in_params() const { return state_->text.inputs; }
std::span<const Parameter> ElementwiseKernel::out_params() const { return state_->text.outputs; }

std::string ElementwiseKernel::source(std::span<const Argument> arguments, const CallOptions& options) const {
  return jit::KernelCall(*state_, arguments, options).source();
}

std::string ElementwiseKernel::assembly(std::span<const Argument> arguments, const CallOptions& options) const {
  return jit::KernelCall(*state_, arguments, options).assembly();
}

KernelReport ElementwiseKernel::report(std::span<const Argument> arguments, const CallOptions& options) const {
  return jit::KernelCall(*state_, arguments, options).report();
}

std::vector<GeneratedSource> jit::generated_sources(const ElementwiseKernel::State& state) {
  std::vector<GeneratedSource> sources;
  for (const jit::Signature& signature : state.table.signatures()) {
    GeneratedSource source{{}, jit::emit_kernel(state.text, signature)};
    for (size_t k = 0; k < signature.operand_count; ++k)
      if (const jit::Access access = signature.operands[k].access;
          access != jit::Access::scalar && access != jit::Access::unused && !state.text.is_intermediate(k))
        source.array_dtypes.push_back(signature.operands[k].dtype);
    sources.push_back(std::move(source));
  }
  return sources;
}

std::string jit::joined_stages(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts.front();
  std::string all;
  for (size_t k = 0; k < texts.size(); ++k)
    all += "// stage " + std::to_string(k + 1) + " of " + std::to_string(texts.size()) + "\n" + texts[k];
  return all;
}

std::vector<GeneratedSource> ElementwiseKernel::generated_sources() const { return jit::generated_sources(*state_); }

std::vector<std::string> ElementwiseKernel::pop_warnings() const { return state_->warnings.take(); }

std::string ElementwiseKernel::to_string() const {
  return "ElementwiseKernel " + name() + "(" + jit::list_parameters(in_params()) + ") -> (" +
         jit::list_parameters(out_params()) + ")";
}

}  // namespace iruka
