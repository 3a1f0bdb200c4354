#include "jit/program.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include "jit/cache.h"
#include "jit/diagnose.h"
#include "jit/history.h"

namespace iruka::jit {
namespace {

/// A text being built, or built. Threads that find it unfinished wait for the one that began it.
struct Pending {
  bool done = false;
  std::shared_ptr<const Program> program;
  std::exception_ptr error;
};

struct KeyHash {
  size_t operator()(const CacheKey& key) const { return key.low; }
};

struct Table {
  std::mutex mutex;
  std::condition_variable finished;
  std::unordered_map<CacheKey, std::shared_ptr<Pending>, KeyHash> programs;
  std::unordered_map<CacheKey, bool, KeyHash> checked;
  std::atomic<uint64_t> generation{0};
  std::shared_mutex building;  // fork waits until no compiler runs, so that a child finds its locks free
  std::vector<std::mutex*> held_across_fork;
};

Table* table_instance = nullptr;

// In a child of fork no other thread lives on: what they were building would never be done.
void forget_unfinished() {
  std::erase_if(table_instance->programs, [](const auto& item) { return !item.second->done; });
}

// A compiling thread takes the other locks while it holds `building`, so that one comes first.
void before_fork() {
  table_instance->building.lock();
  table_instance->mutex.lock();
  for (std::mutex* mutex : table_instance->held_across_fork) mutex->lock();
}

void release_mutexes() {
  for (std::mutex* mutex : table_instance->held_across_fork) mutex->unlock();
  table_instance->mutex.unlock();
}

void after_fork_in_parent() {
  release_mutexes();
  table_instance->building.unlock();
}

void after_fork_in_child() {
  forget_unfinished();
  release_mutexes();
  new (&table_instance->finished) std::condition_variable;
  // Not unlock(): glibc knows the writer by its thread id, and the child's is another one.
  new (&table_instance->building) std::shared_mutex;
}

Table& table() {
  static Table* instance = [] {
    table_instance = new Table;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return table_instance;
  }();
  return *instance;
}

/// Length-prefixed parts, so that no two lists of parts give one text.
CacheKey key_of(const Device& device, const ProgramSource& source, std::string_view purpose) {
  std::string text;
  const auto part = [&](std::string_view piece) { text += std::to_string(piece.size()) + ":"; text += piece; };
  part(purpose);
  part(device.target().fingerprint);
  part(source.entry);
  for (const std::string& option : source.options) part(option);
  part("");
  if (source.wants_saturation) part(cpu().target().fingerprint);  // of the compiler that rewrites the text
  part(source.text);
  return hash_key(text);
}

/// The text, in memory that is never given back.
const char* keep(const std::string& text) {
  static std::mutex& mutex = *new std::mutex;
  static std::unordered_set<std::string>& kept = *new std::unordered_set<std::string>;
  std::lock_guard lock(mutex);
  return kept.insert(text).first->c_str();
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The text that `device` is to compile. GPUs' compilers cast floats to 8 and 16 bits by way of 32, which wraps, so the
/// CPU's, which knows all types, spells those casts out. A text that it cannot judge stays as it is.
ProgramSource with_saturating_casts(const Device& device, const ProgramSource& source) {
  if (!source.wants_saturation || !device.target().is_gpu) return source;
  CompiledProgram checked = cpu().check(source);
  ProgramSource result = source;
  if (checked.ok) result.text = std::move(checked.saturating_text);
  return result;
}

CompiledProgram compile(Device& device, const ProgramSource& source) {
  const ProgramSource saturating = with_saturating_casts(device, source);
  CompiledProgram compiled = device.compile(saturating);
  // An error is to show the user's own line, as it was.
  return compiled.ok || saturating.text == source.text ? compiled : device.compile(source);
}

std::shared_ptr<const Program> find_or_compile(Device& device, const CacheKey& key, const ProgramSource& source,
                                               const Blame& blame, KernelEvent::Kind kind) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<DiskCache> disk = disk_cache();
  std::optional<std::string> code = read_shipped(key);
  if (!code) code = disk->read(key);
  if (code) {
    try {
      auto program = std::make_shared<const Program>(device, device.load(*code, source.entry), blame.kernel_name);
      record_event(KernelEvent::Kind::loaded_from_disk, blame.kernel_name, device.name(), milliseconds_since(start));
      return program;
    } catch (const OutOfMemoryError&) {
      throw;
    } catch (const DeviceError&) {
      // Whole by its checksum, yet refused: compile it anew and overwrite it.
    }
  }
  const CompiledProgram compiled = compile(device, source);
  if (!compiled.ok) throw CompileError(describe(compiled.diagnostics, blame));
  auto program = std::make_shared<const Program>(device, device.load(compiled.code, source.entry), blame.kernel_name);
  record_event(kind, blame.kernel_name, device.name(), milliseconds_since(start));
  disk->write(key, compiled.code);
  return program;
}

}  // namespace

Program::Program(Device& device, std::shared_ptr<const LoadedProgram> loaded, const std::string& kernel)
    : device_(device), loaded_(std::move(loaded)), kernel_(keep(kernel)) {}

std::shared_ptr<const Program> build(Device& device, const ProgramSource& source, const Blame& blame,
                                     KernelEvent::Kind kind) {
  Table& all = table();
  const CacheKey key = key_of(device, source, device.name());
  std::shared_ptr<Pending> pending;
  {
    std::unique_lock lock(all.mutex);
    std::shared_ptr<Pending>& slot = all.programs[key];
    if (slot) {
      pending = slot;
      all.finished.wait(lock, [&] { return pending->done; });
      if (pending->error) std::rethrow_exception(pending->error);
      return pending->program;
    }
    pending = slot = std::make_shared<Pending>();
  }
  std::exception_ptr error;
  std::shared_ptr<const Program> program;
  {
    std::shared_lock building(all.building);
    try {
      program = find_or_compile(device, key, source, blame, kind);
    } catch (...) {
      error = std::current_exception();
    }
  }
  {
    std::lock_guard lock(all.mutex);
    pending->done = true;
    pending->program = program;
    pending->error = error;
    // A failure is not kept: the message belongs to the kernel that asked.
    if (error)
      if (const auto item = all.programs.find(key); item != all.programs.end() && item->second == pending) all.programs.erase(item);
  }
  all.finished.notify_all();
  if (error) std::rethrow_exception(error);
  return program;
}

void check(Device& device, const ProgramSource& source, const Blame& blame) {
  Table& all = table();
  const CacheKey key = key_of(device, source, "check");
  {
    std::lock_guard lock(all.mutex);
    if (all.checked.contains(key)) return;
  }
  {
    std::shared_lock building(all.building);
    const std::shared_ptr<DiskCache> disk = disk_cache();
    if (!read_shipped(key) && !disk->read(key)) {
      const CompiledProgram result = device.check(source);
      if (!result.ok) throw CompileError(describe(result.diagnostics, blame));
      disk->write(key, "");
    }
  }
  std::lock_guard lock(all.mutex);
  all.checked[key] = true;
}

CompiledProgram compile_only(Device& device, const ProgramSource& source, const Blame& blame) {
  std::shared_lock building(table().building);
  CompiledProgram compiled = compile(device, source);
  if (!compiled.ok) throw CompileError(describe(compiled.diagnostics, blame));
  return compiled;
}

std::string assembly(Device& device, const ProgramSource& source) {
  std::shared_lock building(table().building);
  const ProgramSource saturating = with_saturating_casts(device, source);
  try {
    return device.assembly(saturating);
  } catch (const CompileError&) {
    if (saturating.text == source.text) throw;
  }
  return device.assembly(source);
}

void hold_across_fork(std::mutex& mutex) {
  Table& all = table();
  std::lock_guard lock(all.mutex);
  all.held_across_fork.push_back(&mutex);
}

uint64_t cache_generation() { return table().generation.load(std::memory_order_acquire); }

}  // namespace iruka::jit

namespace iruka {

void clear_cache() {
  jit::Table& all = jit::table();
  {
    std::lock_guard lock(all.mutex);
    std::erase_if(all.programs, [](const auto& item) { return item.second->done; });
    all.checked.clear();
    all.generation.fetch_add(1, std::memory_order_acq_rel);
  }
  jit::disk_cache()->clear();
}

std::string cache_directory() { return jit::disk_cache()->directory(); }

}  // namespace iruka
