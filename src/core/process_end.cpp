#include "core/process_end.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace iruka {
namespace {

constinit std::array<std::atomic<bool (*)() noexcept>, kEndSteps> actions{};
constinit std::atomic<bool> process_ends{false};

void take_steps(int status, void*) {
  if (process_ends.exchange(true)) return;
  for (const auto& action : actions) {
    const auto run = action.load(std::memory_order_acquire);
    if (!run || run()) continue;
    std::fflush(nullptr);
    ::_exit(status);
  }
}

}  // namespace

void at_process_end(EndStep step, bool (*action)() noexcept) {
  actions[static_cast<size_t>(step)].store(action, std::memory_order_release);
  run_end_steps_before_known_destructors();
}

void run_end_steps_before_known_destructors() {
  // Every part of a compiler is likely to have been used after as many calls.
  constexpr int kMost = 256;
  static constinit std::atomic<int> count{0};
  if (count.load(std::memory_order_relaxed) < kMost && count.fetch_add(1) < kMost) ::on_exit(take_steps, nullptr);
}

}  // namespace iruka
