#include "jit/program.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "core/fork.h"
#include "core/narrow_casts.h"
#include "core/once.h"
#include "core/thread_pool.h"
#include "jit/cache.h"
#include "jit/compile_options.h"
#include "jit/compile_thread.h"
#include "jit/diagnose.h"
#include "jit/history.h"
#include "jit/warnings.h"

namespace iruka::jit {
namespace {

/// Programs kept in memory although no kernel may hold them, for kernels that are created again in a loop.
constexpr size_t kMostRecent = 128;
constexpr size_t kMostChecked = 100'000;
constexpr std::string_view kCheck = "check";  ///< the purpose of a key

/// A source that is built or being built. Threads that find the build unfinished wait for it.
struct Pending {
  const std::thread::id builder = std::this_thread::get_id();
  bool done = false;
  bool is_interrupted = false;
  std::weak_ptr<const Program> program;  ///< the kernels hold it, and unload it with the last of them
  std::exception_ptr error;
};

struct KeyHash {
  size_t operator()(const CacheKey& key) const { return key.low; }
};

struct Table {
  ForkSafeMutex mutex;
  std::condition_variable finished;
  std::unordered_map<CacheKey, std::shared_ptr<Pending>, KeyHash> programs;
  size_t sweep_at = 2 * kMostRecent;  ///< the number of entries in `programs` at which sweep() removes the expired ones
  std::deque<std::shared_ptr<const Program>> recent;                       ///< the most recently used is last
  std::unordered_map<CacheKey, std::vector<Diagnostic>, KeyHash> checked;  ///< with their warnings
  std::atomic<uint64_t> generation{0};
};

Table& table() {
  return made_once([] { return Table(); });
}

/// A child of fork has no other threads: their unfinished builds would never end.
const bool is_registered = [] {
  in_child_of_fork([] {
    std::erase_if(table().programs, [](const auto& item) { return !item.second->done; });
    new (&table().finished) std::condition_variable;
  });
  return true;
}();

/// Length-prefixed parts, so that different lists of parts give different texts.
CacheKey key_of(std::string_view fingerprint, const NarrowCasts* casts, const ProgramSource& source,
                std::string_view purpose) {
  std::string text;
  const auto part = [&](std::string_view piece) {
    text += std::to_string(piece.size()) + ":";
    text += piece;
  };
  part(purpose);
  part(fingerprint);
  part(source.entry);
  if (source.runs_blocks) part("blocks");
  for (const std::string& name : source.exports) part(name);
  part("");
  for (const std::string& expression : source.name_expressions) part(expression);
  part("");
  for (const std::string& option : without_time_limit(source.options)) part(option);
  part("");
  for (const std::string& output : source.must_write) part(output);
  part("");
  if (casts && source.may_narrow) part(casts->fingerprint());
  if (source.headers)
    for (const HeaderFile& header : *source.headers) {
      part(header.path);
      part(hash_key(*header.text).hex());
    }
  part(source.text);
  return hash_key(text);
}

CacheKey key_of(Device& device, const ProgramSource& source, std::string_view purpose) {
  return key_of(device.target().fingerprint, device.find_service<NarrowCasts>(), source, purpose);
}

/// The text, in memory that is never given back.
const char* keep(const std::string& text) {
  static constinit ForkSafeMutex mutex;
  auto& kept = made_once([] { return std::unordered_set<std::string>(); });
  std::lock_guard lock(mutex);
  return kept.insert(text).first->c_str();
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The source for `device` to compile; source that Clang cannot parse is unchanged.
ProgramSource with_saturating_casts(Device& device, const ProgramSource& source, const ErrorContext& context) {
  const auto* const casts = device.find_service<NarrowCasts>();
  if (!casts || !source.may_narrow) return source;
  const auto saturating = std::make_shared<ProgramSource>(source);
  const CompiledProgram rewritten = within_time_limit(source, context, [casts, saturating](const ProgramSource& text) {
    std::optional<ProgramSource> made = casts->saturate(text);
    if (made) *saturating = std::move(*made);
    return CompiledProgram{.ok = made.has_value()};
  });
  if (!rewritten.ok) return source;
  saturating->cancelled = source.cancelled;
  return std::move(*saturating);
}

/// Whether both have the same texts.
bool are_same(const ProgramSource& a, const ProgramSource& b) { return a.text == b.text && a.headers == b.headers; }

CompiledProgram compile(Device& device, const ProgramSource& source, const ErrorContext& context) {
  const CompilerCall call = [&device](const ProgramSource& text) { return device.compile(text); };
  const ProgramSource saturating = with_saturating_casts(device, source, context);
  CompiledProgram compiled = within_time_limit(saturating, context, call);
  // An error must show the user's line before casts were rewritten.
  return compiled.ok || are_same(saturating, source) ? compiled : within_time_limit(source, context, call);
}

/// Warnings about the user's own texts.
std::vector<Diagnostic> warnings_about(const std::vector<Diagnostic>& diagnostics, const ErrorContext& context) {
  std::vector<Diagnostic> warnings;
  for (const Diagnostic& said : diagnostics) {
    const bool is_theirs = said.file.empty() || context.text_of(said.file);
    if (said.level == Diagnostic::Level::warning && is_theirs) warnings.push_back(said);
  }
  return warnings;
}

/// The code is loaded beside the module `variables`, if given.
std::shared_ptr<const Program> find_or_compile(Device& device, const CacheKey& key, const ProgramSource& source,
                                               const ErrorContext& context, KernelEvent::Kind kind,
                                               const std::shared_ptr<const Module>& variables = nullptr) {
  const auto load = [&](std::string_view code) {
    return variables ? device.load_beside(code, context.kernel_name, variables)
                     : device.load(code, context.kernel_name);
  };
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<DiskCache> disk = disk_cache();
  std::optional<std::string> code = read_shipped(key);
  if (!code) code = disk->read(key);
  std::vector<Diagnostic> warnings;
  NamePairs names;
  if (std::string_view object; code && unpack_code(*code, warnings, names, object)) {
    try {
      auto program = std::make_shared<const Program>(device, load(object), source.entry, context.kernel_name,
                                                     std::move(warnings), std::move(names));
      record_event(KernelEvent::Kind::loaded_from_disk, context.kernel_name, device.name(), milliseconds_since(start));
      return program;
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const DeviceError&) {
      // The checksum is right but the device rejects it: compile it again and overwrite the entry.
    }
  }
  const CompiledProgram compiled = compile(device, source, context);
  if (!compiled.ok) throw CompileError(describe(compiled.diagnostics, context));
  warnings = warnings_about(compiled.diagnostics, context);
  disk->write(key, pack_code(warnings, compiled.names, compiled.code));
  auto program = std::make_shared<const Program>(device, load(compiled.code), source.entry, context.kernel_name,
                                                 std::move(warnings), compiled.names);
  record_event(kind, context.kernel_name, device.name(), milliseconds_since(start));
  return program;
}

/// Puts `program` last among the recent ones and returns the one that it displaces. The table is locked.
std::shared_ptr<const Program> note_use(Table& all, const std::shared_ptr<const Program>& program) {
  if (!all.recent.empty() && all.recent.back() == program) return nullptr;
  if (const auto found = std::ranges::find(all.recent, program); found != all.recent.end()) all.recent.erase(found);
  all.recent.push_back(program);
  if (all.recent.size() <= kMostRecent) return nullptr;
  auto oldest = std::move(all.recent.front());
  all.recent.pop_front();
  return oldest;
}

/// Removes entries whose programs are unloaded, so that the table does not grow. The table is locked.
void sweep(Table& all) {
  if (all.programs.size() < all.sweep_at) return;
  std::erase_if(all.programs, [](const auto& item) { return item.second->done && item.second->program.expired(); });
  all.sweep_at = 2 * (all.programs.size() + kMostRecent);
}

/// Waits until `other` is done. Ctrl-C ends the wait.
void wait_for(Table& all, const Pending& other, std::unique_lock<std::mutex>& lock) {
  while (!all.finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return other.done; })) {
    lock.unlock();  // should_stop() takes Python's lock
    if (should_stop()) throw_if_stopped();
    lock.lock();
  }
}

/// Runs the build that began as `pending`, and wakes the threads that wait for it.
std::shared_ptr<const Program> finish(Table& all, const CacheKey& key, Pending& pending, auto&& make) {
  std::exception_ptr error;
  bool is_interrupted = false;
  std::shared_ptr<const Program> program, unloaded;  // destroyed without the lock, because unloading takes long
  {
    const ForkGuard guard;
    try {
      program = make();
    } catch (const Interrupted&) {
      error = std::current_exception();
      is_interrupted = true;
    } catch (const CompilersEnded&) {
      error = std::current_exception();
      is_interrupted = true;
    } catch (...) {
      error = std::current_exception();
    }
  }
  {
    std::lock_guard lock(all.mutex);
    pending.done = true;
    pending.program = program;
    pending.error = error;
    pending.is_interrupted = is_interrupted;
    if (program) unloaded = note_use(all, program);
    // A failure is not cached, because its message names the kernel that was called.
    if (error)
      if (const auto item = all.programs.find(key); item != all.programs.end() && item->second.get() == &pending)
        all.programs.erase(item);
    sweep(all);
  }
  all.finished.notify_all();
  if (error) std::rethrow_exception(error);
  return program;
}

std::shared_ptr<const Program> find_or_build(Device& device, const ProgramSource& source, const ErrorContext& context,
                                             KernelEvent::Kind kind) {
  Table& all = table();
  const CacheKey key = key_of(device, source, device.name());
  const auto pending = std::make_shared<Pending>();
  const auto make = [&] { return find_or_compile(device, key, source, context, kind); };
  std::shared_ptr<const Program> unloaded;
  {
    std::unique_lock lock(all.mutex.joined());
    while (const std::shared_ptr<Pending> other = all.programs.try_emplace(key, pending).first->second) {
      if (other == pending) break;
      if (!other->done && other->builder == pending->builder) {
        // A signal handler calls the kernel whose compilation it interrupted on this thread.
        lock.unlock();
        const ForkGuard guard;
        return make();
      }
      wait_for(all, *other, lock);
      if (other->is_interrupted) continue;  // the other thread was interrupted, not this one
      if (other->error) std::rethrow_exception(other->error);
      if (auto program = other->program.lock()) {
        unloaded = note_use(all, program);
        return program;
      }
      // The program was unloaded, because all its handles are gone.
      if (const auto item = all.programs.find(key); item != all.programs.end() && item->second == other)
        all.programs.erase(item);
    }
  }
  return finish(all, key, *pending, make);
}

/// The warnings that `call` gives for a source, unless a source with this key passed before.
std::vector<Diagnostic> check_once(const CacheKey& key, const ProgramSource& source, const ErrorContext& context,
                                   CompilerCall call) {
  Table& all = table();
  {
    std::lock_guard lock(all.mutex);
    if (const auto found = all.checked.find(key); found != all.checked.end()) return found->second;
  }
  std::vector<Diagnostic> warnings;
  {
    const ForkGuard guard;
    const std::shared_ptr<DiskCache> disk = disk_cache();
    std::optional<std::string> known = read_shipped(key);
    if (!known) known = disk->read(key);
    if (known) {
      warnings = decode_warnings(*known);
    } else {
      const CompiledProgram result = within_time_limit(source, context, std::move(call));
      if (!result.ok) throw CompileError(describe(result.diagnostics, context));
      warnings = warnings_about(result.diagnostics, context);
      disk->write(key, encode_warnings(warnings));
    }
  }
  std::lock_guard lock(all.mutex);
  if (all.checked.size() >= kMostChecked) all.checked.clear();  // the disk still has them
  all.checked[key] = warnings;
  return warnings;
}

std::string assembly_within_time_limit(Device& device, const ProgramSource& source) {
  const ForkGuard guard;
  const ErrorContext context{source.file_name, "", "", {}};
  const CompilerCall call = [&device](const ProgramSource& text) {
    CompiledProgram made;
    made.code = device.assembly(text);
    return made;
  };
  const ProgramSource saturating = with_saturating_casts(device, source, context);
  try {
    return within_time_limit(saturating, context, call).code;
  } catch (const CompileError&) {
    if (are_same(saturating, source)) throw;
  }
  return within_time_limit(source, context, call).code;
}

}  // namespace

Program::Program(Device& device, std::shared_ptr<const Module> module, const std::string& entry,
                 const std::string& kernel, std::vector<Diagnostic> warnings, NamePairs names)
    : device_(device),
      module_(std::move(module)),
      function_(entry.empty() ? nullptr : &module_->function(entry)),
      kernel_(keep(kernel)),
      warnings_(std::move(warnings)),
      names_(std::move(names)) {}

const std::string& Program::name_in_module(const std::string& name) const {
  const auto found = std::ranges::find(names_, name, &NamePairs::value_type::first);
  return found == names_.end() ? name : found->second;
}

void Program::launch(std::span<const std::byte> arguments, const GridRange& range) const {
  if (range.count <= 0) return;
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  const int64_t blocks = (range.count + range.units_per_block - 1) / range.units_per_block;
  if (blocks > kMostBlocks)
    throw ValueError(device_.name() + ": a launch of " + std::to_string(range.count) + " elements needs " +
                     std::to_string(blocks) + " blocks; a grid has at most " + std::to_string(kMostBlocks));
  const int64_t begin = 0;
  const ParameterBytes parameters[] = {arguments, std::as_bytes(std::span(&begin, 1)),
                                       std::as_bytes(std::span(&range.count, 1))};
  LaunchGrid grid;
  grid.blocks.x = static_cast<unsigned>(blocks);
  grid.threads.x = static_cast<unsigned>(range.threads_per_block);
  grid.shared_bytes = range.shared_bytes;
  launch(*function_, parameters, grid);
}

void Program::launch(const Function& function, std::span<const ParameterBytes> parameters,
                     const LaunchGrid& grid) const {
  LaunchContext context(kernel_);
  device_.launch_grid(context, function, parameters, grid);
  device_.last_launches().note(kernel_);
}

std::shared_ptr<const Program> build(Device& device, const ProgramSource& source, const ErrorContext& context,
                                     KernelEvent::Kind kind) {
  return sleep_where_compilers_ended([&] { return find_or_build(device, source, context, kind); });
}

std::shared_ptr<const Program> build_alone(Device& device, const ProgramSource& source, const ErrorContext& context,
                                           std::shared_ptr<const Module> variables) {
  return sleep_where_compilers_ended([&] {
    const ForkGuard guard;
    return find_or_compile(device, key_of(device, source, device.name()), source, context, KernelEvent::Kind::compiled,
                           variables);
  });
}

std::vector<Diagnostic> check(Device& device, const ProgramSource& source, const ErrorContext& context) {
  return sleep_where_compilers_ended([&] {
    return check_once(key_of(device, source, kCheck), source, context,
                      [&device](const ProgramSource& text) { return device.check(text); });
  });
}

std::vector<Diagnostic> check(const FrontEnd& front_end, const ProgramSource& source, const ErrorContext& context) {
  return sleep_where_compilers_ended([&] {
    return check_once(key_of(front_end.fingerprint(), nullptr, source, kCheck), source, context, front_end.check);
  });
}

CompiledProgram compile_only(Device& device, const ProgramSource& source, const ErrorContext& context) {
  const ForkGuard guard;
  CompiledProgram compiled = sleep_where_compilers_ended([&] { return compile(device, source, context); });
  if (!compiled.ok) throw CompileError(describe(compiled.diagnostics, context));
  return compiled;
}

std::string assembly(Device& device, const ProgramSource& source) {
  return sleep_where_compilers_ended([&] { return assembly_within_time_limit(device, source); });
}

uint64_t cache_generation() { return table().generation.load(std::memory_order_acquire); }

}  // namespace iruka::jit

namespace iruka {

void clear_cache() {
  jit::Table& all = jit::table();
  std::deque<std::shared_ptr<const jit::Program>> unloaded;  // after the lock is given back
  {
    std::lock_guard lock(all.mutex);
    std::erase_if(all.programs, [](const auto& item) { return item.second->done; });
    unloaded.swap(all.recent);
    all.checked.clear();
    all.generation.fetch_add(1, std::memory_order_acq_rel);
  }
  jit::disk_cache()->clear();
}

std::string cache_directory() { return jit::disk_cache()->directory(); }

}  // namespace iruka
