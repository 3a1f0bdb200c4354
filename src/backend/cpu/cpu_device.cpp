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

#include "backend/cpu/blocks.h"
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
  CpuFunction(const ExportedSymbol& symbol, const LinkedObject& object)
      : Function(symbol.name), entry_(symbol.function()), object_(object) {
    if (!runs_blocks()) return;
    const auto found = std::ranges::find(object.symbols(), kGridBlocksEntry, &ExportedSymbol::name);
    if (found != object.symbols().end()) grid_entry_ = found->function();
  }
  EntryFunction entry() const { return entry_; }
  /// Whether it is launched over a grid of thread blocks.
  bool runs_blocks() const { return name() == kBlocksEntry; }
  /// Of blocks that wait for each other; else null.
  EntryFunction grid_entry() const { return grid_entry_; }
  int lanes() const { return object_.lanes(); }
  /// Whether it takes memory of the calling thread.
  bool takes_memory() const { return takes_memory_; }
  FunctionAttributes attributes() const override {
    return runs_blocks() ? object_.attributes() : Function::attributes();
  }

 private:
  const EntryFunction entry_;
  EntryFunction grid_entry_ = nullptr;
  const LinkedObject& object_;
  const bool takes_memory_ = name() == kBlocksEntry || name() == jit::kStagesEntryName;
};

class CpuModule final : public Module {
 public:
  CpuModule(std::string_view code, const std::string& name, std::shared_ptr<const CpuModule> variables)
      : Module(name),
        variables_(std::move(variables)),
        object_(std::in_place, code, variables_ ? &*variables_->object_ : nullptr) {
    for (const ExportedSymbol& symbol : object_->symbols())
      if (symbol.is_function) functions_.emplace_back(symbol, *object_);
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
  int rival_lanes() const override { return object_->rival_lanes(); }

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
                                            {.alone = range.alone});
}

/// Runs all blocks up to a barrier of the grid, then all up to the next.
void run_together(const CpuFunction& function, const void* arguments, int64_t count, LaunchContext& context) {
  constexpr int64_t kMostBlocks = int64_t{1} << 20;
  if (count > kMostBlocks)
    throw ValueError(std::string(context.kernel()) + "(): a cooperative launch on the CPU has at most " +
                     std::to_string(kMostBlocks) + " blocks, not " + std::to_string(count));
  GridBlocks blocks(function.grid_entry(), arguments, count);
  const LoopSequence sequence;
  std::atomic<int64_t> waiting;
  do {
    waiting.store(0, std::memory_order_relaxed);
    ThreadPool::instance().run(count, 1,
                               [&](int64_t begin, int64_t end) {
                                 LaunchContext* const outer = std::exchange(current_launch, &context);
                                 waiting.fetch_add(blocks.run(begin, end), std::memory_order_relaxed);
                                 current_launch = outer;
                               },
                               {.alone = kAlone});
  } while (waiting.load(std::memory_order_relaxed) > 0);
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
  const auto& own = static_cast<const CpuFunction&>(function);
  if (own.grid_entry())
    throw DeviceError(std::string(context.kernel()) + "(): the kernel waits for its whole grid, which needs a " +
                      "cooperative launch; make it with enable_cooperative_groups=True");
  run_ranges(own, arguments, range, context);
  context.throw_if_failed();
}

void CpuDevice::launch_grid(LaunchContext& context, const Function& function,
                            std::span<const ParameterBytes> parameters, const LaunchGrid& grid) {
  const auto& own = static_cast<const CpuFunction&>(function);
  if (!own.runs_blocks())
    throw DeviceError(name() + ": function '" + own.name() +
                      "' is launched over ranges, not over a grid of thread blocks");
  const int64_t count = int64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
  if (own.grid_entry())
    run_together(own, parameters.front().data(), count, context);
  else
    run_ranges(own, parameters.front(), LaunchRange{.count = count, .counts_elements = false}, context);
  context.throw_if_failed();
}

CpuDevice& cpu_device() {
  return made_once_locked([] { return CpuDevice(); });
}

}  // namespace iruka::cpu_backend
