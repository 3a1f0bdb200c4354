#include "jit/compile_thread.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "core/float_status.h"
#include "core/fork.h"
#include "core/once.h"
#include "core/process_end.h"
#include "core/signal_mask.h"
#include "core/thread_pool.h"
#include "jit/compile_options.h"

namespace iruka::jit {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kUsualSeconds = 60;
/// The interval between two checks for an interrupt.
constexpr auto kPollInterval = std::chrono::milliseconds(50);

/// Running compilers of this process, including abandoned ones.
std::atomic<int> running_compilers{0};
std::atomic<bool> process_ends{false};

/// Set by the thread that ends the program. Other threads then start no compilers.
std::atomic<bool> only_one_thread_compiles{false};
thread_local bool is_compiling_thread = false;

/// Gives compilers a second to end, because the end of the process destroys what they use. The threads that wait for a
/// compiler cancel it.
void wait_for_compilers() {
  const auto end = Clock::now() + std::chrono::seconds(1);
  while (running_compilers.load() > 0 && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

/// The last step of compilers: threads that outlive the main one start no more of them.
bool end_compilers() noexcept {
  process_ends.store(true);
  wait_for_compilers();
  return running_compilers.load() == 0;
}

const bool is_registered = [] {
  in_child_of_fork([] { running_compilers.store(0); });
  return true;
}();

/// Counts one compiler.
class CountedCompiler {
 public:
  CountedCompiler() { running_compilers.fetch_add(1); }
  CountedCompiler(CountedCompiler&& other) noexcept : counts_(std::exchange(other.counts_, false)) {}
  ~CountedCompiler() {
    if (counts_) running_compilers.fetch_sub(1);
  }

 private:
  bool counts_ = true;
};

double limit_of(const ProgramSource& source) {
  CompileOptions options;
  std::vector<Diagnostic> ignored;
  parse_options(source.options, options, ignored);
  if (options.timeout) return *options.timeout;
  const char* text = std::getenv("IRUKA_COMPILE_TIMEOUT");
  double seconds = 0;
  return text && parse_seconds(text, seconds) ? seconds : kUsualSeconds;
}

std::string in_words(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + (text == "1" ? " second" : " seconds");
}

[[noreturn]] void fail(const ErrorContext& context, double limit) {
  throw CompileError(
      "kernel '" + context.kernel_name + "'" + (context.made_at.empty() ? "" : ", made at " + context.made_at) +
      ": compilation took longer than " + in_words(limit) +
      "; the option --compile-timeout=SECONDS or the environment variable IRUKA_COMPILE_TIMEOUT sets another "
      "limit (0: none)");
}

[[noreturn]] void refuse_in_child(const ErrorContext& context) {
  throw CompileError(
      "kernel '" + context.kernel_name +
      "' cannot be compiled: fork() made this process while an abandoned compilation was running, whose locks may stay "
      "locked here; start the process with the method 'spawn', or call the kernel before the fork");
}

}  // namespace

CompiledProgram within_time_limit(const ProgramSource& source, const ErrorContext& context, CompilerCall call) {
  if (lost_abandoned_work()) refuse_in_child(context);
  const ForkGuard caller_guard;
  made_once([] {
    at_process_end(EndStep::compilers, end_compilers);
    return true;
  });
  const double limit = limit_of(source);
  CountedCompiler counted;
  if (only_one_thread_compiles.load() && !is_compiling_thread) throw CompilersEnded();
  if (process_ends.load())
    throw CompileError("kernel '" + context.kernel_name + "' is not compiled, because the process is exiting");
  ProgramSource copy = source;
  if (!copy.cancelled) copy.cancelled = std::make_shared<std::atomic<bool>>(false);
  const auto cancelled = copy.cancelled;
  std::packaged_task<CompiledProgram()> task([call = std::move(call), copy = std::move(copy)] { return call(copy); });
  std::future<CompiledProgram> result = task.get_future();
  auto ticket = std::make_shared<ForkTicket>();
  // Weak, because a signal handler on this thread may fork: a ticket that this thread kept alive would block fork() for
  // ever.
  const std::weak_ptr<ForkTicket> compiler_ticket = ticket;
  try {
    const SignalsBlocked blocked;
    std::thread([task = std::move(task), counted = std::move(counted), ticket = std::move(ticket)]() mutable {
      const ForkGuard compiler_guard(std::move(ticket));
      {
        const FloatScope defaults;  // a thread inherits its creator's state, in which compilers fold constants
        task();
      }
      run_end_steps_before_known_destructors();
      task = {};
    }).detach();
  } catch (const std::system_error& error) {
    throw CompileError("kernel '" + context.kernel_name + "': cannot start a thread for the compiler: " + error.what());
  }
  const auto wants_to_stop = [] {
    const ForkGuardPause paused;  // should_stop() takes the lock of Python
    return should_stop();
  };
  const auto abandon = [&] {
    cancelled->store(true, std::memory_order_relaxed);
    run_end_steps_before_known_destructors();
    if (const auto held = compiler_ticket.lock()) held->abandon();
  };
  const auto begin = Clock::now();
  while (result.wait_for(kPollInterval) != std::future_status::ready) {
    const std::chrono::duration<double> spent = Clock::now() - begin;
    if (process_ends.load()) cancelled->store(true, std::memory_order_relaxed);
    if (wants_to_stop()) {
      abandon();
      throw_if_stopped();
    }
    if (limit > 0 && spent.count() > limit) {
      abandon();
      fail(context, limit);
    }
  }
  return result.get();
}

void sleep_for_ever() {
  const ForkGuardPause paused;
  for (;;) pause();
}

void end_compilers_of_other_threads() {
  is_compiling_thread = true;
  only_one_thread_compiles.store(true);
  wait_for_compilers();
}

}  // namespace iruka::jit
