#include "core/process_end.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <system_error>
#include <thread>

#include "core/signal_mask.h"

namespace iruka {
namespace {

constinit std::array<std::atomic<bool (*)() noexcept>, kEndSteps> actions{};
constinit std::atomic<bool> process_ends{false};

/// Flushes C streams. The flush blocks while another thread holds a stream's lock, for example to wait for input, so it
/// runs on a thread of its own and gets at most a second.
void flush_streams() {
  std::promise<void> is_done;
  const auto done = is_done.get_future();
  try {
    const SignalsBlocked blocked;
    std::thread([is_done = std::move(is_done)]() mutable {
      std::fflush(nullptr);
      is_done.set_value();
    }).detach();
  } catch (const std::system_error&) {
    return;
  }
  done.wait_for(std::chrono::seconds(1));
}

void take_steps(int status, void*) {
  if (process_ends.exchange(true)) return;
  for (const auto& action : actions) {
    const auto run = action.load(std::memory_order_acquire);
    if (!run || run()) continue;
    flush_streams();
    ::_exit(status);
  }
}

}  // namespace

void at_process_end(EndStep step, bool (*action)() noexcept) {
  actions[static_cast<size_t>(step)].store(action, std::memory_order_release);
  run_end_steps_before_known_destructors();
}

void run_end_steps_before_known_destructors() {
  // After this many calls, every part of a compiler has probably been used.
  constexpr int kMost = 256;
  static constinit std::atomic<int> count{0};
  if (count.load(std::memory_order_relaxed) < kMost && count.fetch_add(1) < kMost) ::on_exit(take_steps, nullptr);
}

}  // namespace iruka
