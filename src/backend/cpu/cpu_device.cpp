#include "backend/cpu/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/cpu/compiler/compiler.h"
#include "core/float_status.h"
#include "core/fork.h"
#include "core/once.h"
#include "core/thread_pool.h"
#include "jit/emit.h"

namespace iruka::cpu_backend {
namespace {

// Below this, one core copies as fast as several.
constexpr size_t kThreadedCopy = size_t{4} << 20;
constexpr int64_t kPage = 4096;

class CpuFunction final : public Function {
 public:
  CpuFunction(std::string name, EntryFunction entry, int lanes)
      : Function(std::move(name)), entry_(entry), lanes_(lanes) {}
  EntryFunction entry() const { return entry_; }
  int lanes() const { return lanes_; }
  /// Whether it takes memory of the calling thread.
  bool takes_memory() const { return takes_memory_; }

 private:
  const EntryFunction entry_;
  const int lanes_;
  const bool takes_memory_ = name() == kBlocksEntry || name() == jit::kStagesEntryName;
};

class CpuModule final : public Module {
 public:
  CpuModule(std::string_view code, const std::string& name, std::shared_ptr<const CpuModule> variables)
      : Module(name),
        variables_(std::move(variables)),
        object_(std::in_place, code, variables_ ? &*variables_->object_ : nullptr) {
    for (const ExportedSymbol& symbol : object_->symbols())
      if (symbol.is_function) functions_.emplace_back(symbol.name, symbol.function(), object_->lanes());
  }
  ~CpuModule() override {
    const ForkGuard guard;  // the linker has locks of its own
    object_.reset();
  }
  const Function& function(const std::string& name) const override {
    const auto found = std::ranges::find(functions_, name, &Function::name);
    if (found == functions_.end()) throw_missing("function", name, names(true));
    return *found;
  }
  GlobalVariable global(const std::string& name) const override {
    for (const ExportedSymbol& symbol : object_->symbols())
      if (!symbol.is_function && symbol.name == name) return {symbol.address, symbol.bytes};
    throw_missing("variable", name, names(false));
  }
  bool is_uncertain() const override { return object_->is_uncertain(); }

 private:
  std::vector<std::string> names(bool of_functions) const {
    std::vector<std::string> names;
    for (const ExportedSymbol& symbol : object_->symbols())
      if (symbol.is_function == of_functions) names.push_back(symbol.name);
    return names;
  }

  const std::shared_ptr<const CpuModule> variables_;
  std::optional<LinkedObject> object_;
  std::list<CpuFunction> functions_;
};

/// The size of a core's cache `index` as the operating system reports it, or 0.
size_t listed_cache(int index) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  size_t kibibytes = 0;
  return file >> kibibytes ? kibibytes << 10 : 0;
}

// On some virtual machines the C library adds up the caches of all of the host's cores, so it is the last resort.
size_t last_level_cache() {
  size_t largest = 0;
  for (int index = 0; index < 8; ++index) largest = std::max(largest, listed_cache(index));
  if (largest > 0) return largest;
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<size_t>(bytes);
  }
  return size_t{8} << 20;
}

/// The alignment of ranges: whole vectors, so that no lane is idle, and several of them in long loops, because the ends
/// of rows cut vectors short, too.
int64_t range_align(const LaunchRange& range, int lanes) {
  if (lanes == 1 || !range.counts_elements) return range.align;
  const int64_t vectors =
      std::clamp<int64_t>(range.count / (int64_t{64} * lanes * ThreadPool::instance().thread_count()), 1, 4);
  return std::max(range.align, vectors * lanes);
}

// An assertion can be in any function of a text, which need not have the kernel's parameters.
thread_local LaunchContext* current_launch = nullptr;

void note_assertion(const FailedAssertion& failed) noexcept {
  if (current_launch) current_launch->note(failed);
}

/// A call of compiled code on this thread for a launch. Launches nest, because a loop that polls for cancellation may
/// run a signal handler that calls kernels.
void enter(const CpuFunction& function, const void* arguments, int64_t begin, int64_t end, LaunchContext& context) {
  LaunchContext* const outer = std::exchange(current_launch, &context);
  const size_t memory = function.takes_memory() ? memory_mark() : 0;
  function.entry()(arguments, begin, end);
  if (function.takes_memory()) return_memory(memory);  // code that is cancelled ends early
  current_launch = outer;
}

/// Runs the whole range, on this thread alone if waking others would cost more.
void run_ranges(const CpuFunction& function, std::span<const std::byte> arguments, const LaunchRange& range,
                LaunchContext& context) {
  const void* block = arguments.data();
  // Waking a thread costs more than this loop takes, or there is only one range.
  if (range.count <= std::max(range.grain, range.align)) {
    if (range.count <= 0) return;
    {
      const FloatScope floats;
      enter(function, block, range.begin, range.begin + range.count, context);
    }
    throw_if_stopped();
    return;
  }
  context.work = ThreadPool::instance().run(range.count, range_align(range, function.lanes()),
                                            [=, &function, &context, first = range.begin](int64_t begin, int64_t end) {
                                              enter(function, block, first + begin, first + end, context);
                                            },
                                            {.goes_on = range.begin > 0, .alone = range.alone});
}

}  // namespace

CpuDevice::CpuDevice() {
  set_cancel_poll(should_stop);
  set_assertion_sink(note_assertion);
}

const TargetDescription& CpuDevice::target() const {
  return made_once_locked([] {  // locked as in host(), which asks LLVM for the processor
    return TargetDescription{"cpu", compiler_fingerprint(), host_vector_bytes(), last_level_cache()};
  });
}

void CpuDevice::copy(void* to, const void* from, size_t bytes) {
  if (bytes < kThreadedCopy) {
    std::memcpy(to, from, bytes);
    return;
  }
  ThreadPool::instance().run(static_cast<int64_t>(bytes), kPage, [=](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

void CpuDevice::fill(void* to, int value, size_t bytes) {
  if (bytes < kThreadedCopy) {
    std::memset(to, value, bytes);
    return;
  }
  ThreadPool::instance().run(static_cast<int64_t>(bytes), kPage, [=](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(to) + begin, value, static_cast<size_t>(end - begin));
  });
}

CompiledProgram CpuDevice::compile(const ProgramSource& source) { return cpu_backend::compile(source); }

CompiledProgram CpuDevice::check(const ProgramSource& source) { return cpu_backend::check(source); }

std::string CpuDevice::assembly(const ProgramSource& source) { return cpu_backend::assembly(source); }

std::shared_ptr<const Module> CpuDevice::load(std::string_view code, const std::string& name) {
  return std::make_shared<CpuModule>(code, name, nullptr);
}

std::shared_ptr<const Module> CpuDevice::load_beside(std::string_view code, const std::string& name,
                                                     std::shared_ptr<const Module> variables) {
  return std::make_shared<CpuModule>(code, name, std::static_pointer_cast<const CpuModule>(std::move(variables)));
}

void CpuDevice::launch(LaunchContext& context, const Function& function, std::span<const std::byte> arguments,
                       const LaunchRange& range) {
  run_ranges(static_cast<const CpuFunction&>(function), arguments, range, context);
  context.throw_if_failed();
}

CpuDevice& cpu_device() {
  return made_once_locked([] { return CpuDevice(); });
}

}  // namespace iruka::cpu_backend
