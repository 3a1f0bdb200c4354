#include "jit/raw_kernel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>

#include "core/fork.h"
#include "iruka/file_error.h"
#include "jit/kernel_headers.h"
#include "jit/raw_arguments.h"

namespace iruka {
namespace jit {
namespace {

/// Guards the modules and loaded kernels of all objects, which threads add.
constinit ForkSafeMutex publishing;

const GridLaunching& launching_on(Device& device) { return device.service<GridLaunching>(); }

const LoadedKernel* find_in(const LoadedKernel* list, const Device& device, const Dim3& threads) {
  for (; list; list = list->next)
    if (list->device == &device && (list->threads == threads || list->threads.x == 0)) return list;
  return nullptr;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::shared_ptr<RawCode> make_code(const char* kind, std::string text, std::string path, RawOptions options,
                                   const std::source_location& where) {
  auto made = std::make_shared<RawCode>();
  made->kind = kind;
  made->code_kind = kind_of_code(text);
  made->code = std::move(text);
  made->path = std::move(path);
  made->options = std::move(options);
  if (made->options.made_at.empty())
    made->options.made_at = std::string(where.file_name()) + ":" + std::to_string(where.line());
  if (made->code_kind != CodeKind::cuda) return made;
  made->compiler = split_options(made->options.options);
  std::vector<std::string> folders = made->options.options;
  if (!made->path.empty()) folders.push_back("-I" + std::filesystem::absolute(made->path).parent_path().string());
  const std::string* const texts[] = {&made->code};
  made->includes = read_includes(texts, folders);
  made->has_variables = may_have_variables(made->code);
  if (made->includes)
    for (const auto& header : made->includes->originals) made->has_variables |= may_have_variables(*header);
  return made;
}

void check_name(const std::string& name) {
  const bool is_line = name.find('\n') == name.npos && name.find_first_not_of(" \t") != name.npos;
  if (!is_line) throw ValueError("RawKernel: '" + name + "' is no name of a kernel");
}

unsigned extent_of(const std::string& kernel, const char* what, int64_t extent) {
  if (extent < 1 || extent > std::numeric_limits<int32_t>::max())
    throw ValueError(kernel + "(): " + what + " has 1 to 2147483647 in each dimension, not " + std::to_string(extent));
  return static_cast<unsigned>(extent);
}

Dim3 extents_of(const std::string& kernel, const char* what, const LaunchExtents& extents) {
  return {extent_of(kernel, what, extents.x), extent_of(kernel, what, extents.y), extent_of(kernel, what, extents.z)};
}

LaunchGrid grid_of(const std::string& kernel, const RawLaunch& launch, bool is_cooperative) {
  if (launch.shared_bytes < 0 || launch.shared_bytes > std::numeric_limits<int32_t>::max())
    throw ValueError(kernel + "(): a block has 0 or more bytes of dynamic shared memory, not " +
                     std::to_string(launch.shared_bytes));
  return {extents_of(kernel, "a grid", launch.grid), extents_of(kernel, "a block", launch.block),
          static_cast<unsigned>(launch.shared_bytes), is_cooperative};
}

}  // namespace

std::vector<std::string> RawCode::names(bool only_given) const {
  std::vector<std::string> names = options.name_expressions;
  if (only_given) return names;
  for (std::string& found : kernels_in(code))
    if (std::ranges::find(names, found) == names.end()) names.push_back(std::move(found));
  return names;
}

ErrorContext RawCode::context(const std::string& kernel, const std::vector<std::string>& names) const {
  ErrorContext context{kernel, "", options.made_at, {{kCodeFile, code}, {kNamesFile, joined(names)}}};
  context.includes = includes;
  context.hides_generated = true;
  return context;
}

ProgramSource RawCode::source(const GridLaunching& launching, const std::vector<std::string>& names,
                              const Dim3& threads) const {
  const std::string own = includes ? includes->with_paths(code) : code;
  const bool is_kernel = !launching.has_grid && !names.empty();
  ProgramSource source{launching.text(own, compiler.macros, names, threads), is_kernel ? kBlocksEntry : "",
                       compiler.others, "<" + kind + ">"};
  source.runs_blocks = true;
  if (includes) source.headers = includes->files;
  for (size_t k = 0; k < names.size(); ++k) {
    if (launching.has_grid) source.name_expressions.push_back(names[k]);
    source.name_expressions.push_back(signature_expression(k));
  }
  return source;
}

std::shared_ptr<const Program> RawCode::build(Device& device, const std::vector<std::string>& names,
                                              const Dim3& threads, const std::string& kernel,
                                              std::shared_ptr<const Module> variables) {
  const ErrorContext words = context(kernel, names);
  const ProgramSource own = source(launching_on(device), names, threads);
  const auto program =
      has_variables ? build_alone(device, own, words, std::move(variables)) : jit::build(device, own, words);
  warnings.add(program->warnings(), words);
  return program;
}

std::shared_ptr<const Program> RawCode::load(Device& device) {
  const std::string what = kind == "RawKernel" ? options.name_expressions.front() : kind;
  if (!launching_on(device).has_grid) {
    // The variables of `__device__` and `__constant__`, which all kernels of the module share.
    if (code_kind != CodeKind::cuda)
      throw DeviceError(kind + ": PTX and machine code run on GPUs; for " + device.name() + " give CUDA C++");
    return build(device, {}, {}, what);
  }
  if (code_kind != CodeKind::cuda)
    return std::make_shared<const Program>(device, naming_kernel(what, [&] { return device.load(code, what); }), "",
                                           what, std::vector<Diagnostic>());
  const std::vector<std::string> given = names(true);
  std::vector<std::string> all = kind == "RawKernel" ? given : names(false);
  try {
    return build(device, all, {}, what);
  } catch (const CompileError&) {
    const auto check_names = [&](const std::vector<std::string>& checked) {
      jit::check(device, source(launching_on(device), checked, {}), context(what, checked));
    };
    if (all != given) check_names(given);  // raises the user's own error
    // Declarations that no compiler sees, as under #if 0.
    const size_t absent = std::erase_if(all, [&](const std::string& name) {
      if (std::ranges::find(given, name) != given.end()) return false;
      try {
        check_names({name});
        return false;
      } catch (const CompileError&) {
        return true;
      }
    });
    if (absent == 0) throw;
  }
  return build(device, all, {}, what);
}

std::shared_ptr<const Program> RawCode::module(Device& device) {
  {
    std::lock_guard lock(publishing);
    if (const auto found = modules_.find(&device); found != modules_.end()) return found->second;
  }
  auto made = load(device);
  std::lock_guard lock(publishing);
  return modules_.try_emplace(&device, std::move(made)).first->second;
}

std::shared_ptr<const Program> RawCode::load_for_blocks(Device& device, const std::string& name, const Dim3& threads) {
  std::shared_ptr<const Module> variables;
  if (has_variables || code_kind != CodeKind::cuda) {  // of which the last raises an error
    const auto base = module(device);
    variables = {base, &base->module()};
  }
  return build(device, {name}, threads, name, std::move(variables));
}

void RawCode::check_for_blocks(Device& device, const std::string& name) {
  if (code_kind != CodeKind::cuda) module(device);
  const ErrorContext words = context(name, {name});
  warnings.add(jit::check(device, source(launching_on(device), {name}, {128, 1, 1}), words), words);
}

void RawCode::check_names_for_blocks(Device& device) {
  for (const std::string& name : names(true)) check_for_blocks(device, name);
}

std::unique_ptr<LoadedKernel> RawFunction::load(Device& device, const Dim3& threads) {
  const bool has_grid = launching_on(device).has_grid;
  auto made = std::make_unique<LoadedKernel>();
  made->device = &device;
  if (!has_grid) {
    made->threads = threads;
    made->program = code->load_for_blocks(device, name, threads);
    made->function = &made->program->function(kBlocksEntry);
    made->signature = read_signature(made->program->names().front().second).value_or(RawSignature());
    return made;
  }
  made->threads = {0, 0, 0};
  made->program = code->module(device);
  made->function = naming_kernel(name, [&] { return &made->program->function(name); });
  const NamePairs& pairs = made->program->names();  // a name, then its signature
  for (size_t k = 0; k + 1 < pairs.size(); k += 2)
    if (pairs[k].first == name) made->signature = read_signature(pairs[k + 1].second).value_or(RawSignature());
  if (!made->signature.is_known) made->signature = signature_of_places(made->function->parameters());
  return made;
}

const LoadedKernel& RawFunction::find(Device& device, const Dim3& threads) {
  if (const LoadedKernel* found = find_in(first_.load(std::memory_order_acquire), device, threads)) return *found;
  std::unique_ptr<LoadedKernel> made = load(device, threads);
  std::lock_guard lock(publishing);
  LoadedKernel* const first = first_.load(std::memory_order_relaxed);
  if (const LoadedKernel* found = find_in(first, device, threads)) return *found;
  made->next = first;
  owned_.push_back(std::move(made));
  first_.store(owned_.back().get(), std::memory_order_release);
  return *owned_.back();
}

const LoadedKernel& RawFunction::find_any(Device& device) {
  for (const LoadedKernel* each = first_.load(std::memory_order_acquire); each; each = each->next)
    if (each->device == &device) return *each;
  return find(device, launching_on(device).has_grid ? Dim3{} : Dim3{128, 1, 1});
}

}  // namespace jit

RawKernel::RawKernel(std::string code, std::string name, RawOptions options, std::source_location where) {
  jit::check_name(name);
  options.name_expressions = {name};
  function_ = std::make_shared<jit::RawFunction>(
      jit::make_code("RawKernel", std::move(code), "", std::move(options), where), std::move(name));
}

RawKernel::RawKernel(std::shared_ptr<jit::RawFunction> function) : function_(std::move(function)) {}

void RawKernel::launch(const RawLaunch& launch, std::span<const RawArgument> arguments) const {
  const std::string& own = name();
  Device& device = jit::device_of(own, arguments);
  const LaunchGrid grid = jit::grid_of(own, launch, options().enable_cooperative_groups);
  const jit::GridLaunching& launching = jit::launching_on(device);
  launching.check(own, grid);
  if (const int most = function_->most_dynamic_bytes.load(std::memory_order_relaxed);
      !launching.has_grid && grid.shared_bytes > static_cast<unsigned>(most))
    throw ValueError(own + "(): max_dynamic_shared_size_bytes allows a block " + std::to_string(most) +
                     " bytes of dynamic shared memory, not " + std::to_string(grid.shared_bytes));
  std::optional<StreamScope> scope;
  if (launch.stream) scope.emplace(*launch.stream);
  const jit::LoadedKernel& loaded = function_->find(device, grid.threads);
  jit::RawValues values(own, loaded.signature, arguments, device);
  launching.launch(*loaded.program, *loaded.function, values, grid);
}

void RawKernel::compile(Device& device) const {
  if (jit::launching_on(device).has_grid)
    function_->find(device, {});
  else
    function_->code->check_for_blocks(device, name());
}

const std::string& RawKernel::name() const { return function_->name; }
const std::string& RawKernel::code() const { return function_->code->code; }
const std::string& RawKernel::file_path() const { return function_->code->path; }
const RawOptions& RawKernel::options() const { return function_->code->options; }
std::string RawKernel::to_string() const {
  const jit::RawCode& own = *function_->code;
  const std::optional<std::string> parameters =
      own.code_kind == jit::CodeKind::cuda ? jit::parameters_in(own.code, name()) : std::nullopt;
  return "RawKernel " + name() + (parameters ? "(" + *parameters + ")" : "");
}
std::vector<std::string> RawKernel::pop_warnings() const { return function_->code->warnings.take(); }

FunctionAttributes RawKernel::attributes(Device& device) const {
  FunctionAttributes attributes = function_->find_any(device).function->attributes();
  if (jit::launching_on(device).has_grid) return attributes;
  attributes.max_dynamic_shared_size_bytes = function_->most_dynamic_bytes.load(std::memory_order_relaxed);
  return attributes;
}

void RawKernel::set_max_dynamic_shared_size_bytes(Device& device, int bytes) const {
  if (jit::launching_on(device).has_grid)
    return function_->find(device, {}).function->set_max_dynamic_shared_size_bytes(bytes);
  if (bytes < 0 || bytes > jit::kMostSharedBytes)
    throw ValueError("max_dynamic_shared_size_bytes: a block on " + device.name() + " has 0 to " +
                     std::to_string(jit::kMostSharedBytes) + " bytes of dynamic shared memory, not " +
                     std::to_string(bytes));
  function_->most_dynamic_bytes.store(bytes, std::memory_order_relaxed);
}

void RawKernel::set_preferred_shared_memory_carveout(Device& device, int percent) const {
  if (jit::launching_on(device).has_grid)
    return function_->find(device, {}).function->set_preferred_shared_memory_carveout(percent);
  if (percent < -1 || percent > 100)
    throw ValueError("preferred_shared_memory_carveout: " + std::to_string(percent) +
                     " is not a percentage of 0 to 100, nor -1, which leaves the choice to the device");
}

RawModule::RawModule(std::string code, RawOptions options, std::source_location where)
    : RawModule(jit::make_code("RawModule", std::move(code), "", std::move(options), where)) {}

RawModule::RawModule(std::shared_ptr<jit::RawCode> code)
    : code_(std::move(code)), functions_(std::make_shared<jit::RawFunctions>()) {}

RawModule RawModule::from_file(const std::string& path, RawOptions options, std::source_location where) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw SystemFileError("RawModule: '" + path + "' cannot be read: it is a folder", EISDIR, path);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad())
    throw SystemFileError("RawModule: '" + path + "' cannot be read: " + std::strerror(errno), errno, path);
  return RawModule(jit::make_code("RawModule", std::move(text), path, std::move(options), where));
}

RawKernel RawModule::get_function(const std::string& name) const {
  jit::check_name(name);
  std::lock_guard lock(jit::publishing);
  std::shared_ptr<jit::RawFunction>& function = functions_->by_name[name];
  if (!function) function = std::make_shared<jit::RawFunction>(code_, name);
  return RawKernel(function);
}

Array RawModule::get_global(const std::string& name, Device& device) const {
  const std::shared_ptr<const jit::Program> module = code_->module(device);
  const GlobalVariable variable = module->global(name);
  const auto bytes = static_cast<int64_t>(variable.bytes);
  auto buffer = std::make_shared<Buffer>(device, variable.address, variable.bytes, true, [module] {});
  return Array(std::move(buffer), Dtype::uint8, {bytes}, {1});
}

void RawModule::compile(Device& device) const {
  code_->module(device);
  if (!jit::launching_on(device).has_grid) code_->check_names_for_blocks(device);
}

const std::string& RawModule::code() const { return code_->code; }
const std::string& RawModule::file_path() const { return code_->path; }
const RawOptions& RawModule::options() const { return code_->options; }
std::vector<std::string> RawModule::pop_warnings() const { return code_->warnings.take(); }

}  // namespace iruka
