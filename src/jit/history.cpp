#include "jit/history.h"

#include <mutex>

#include "core/fork.h"
#include "core/once.h"
#include "jit/program.h"

namespace iruka {
namespace {

// Enough for the history of a session, and a bound for a process that compiles for days.
constexpr size_t kMostEvents = 100'000;

struct History {
  ForkSafeMutex mutex;
  std::vector<KernelEvent> events;
};

History& history() {
  return made_once([] { return History(); });
}

}  // namespace

namespace jit {

void record_event(KernelEvent::Kind kind, const std::string& kernel, const std::string& device, double milliseconds) {
  History& all = history();
  std::lock_guard lock(all.mutex);
  if (all.events.size() < kMostEvents) all.events.push_back({kind, kernel, device, milliseconds});
}

}  // namespace jit

std::vector<KernelEvent> kernel_history() {
  History& all = history();
  std::lock_guard lock(all.mutex);
  return all.events;
}

void clear_kernel_history() {
  History& all = history();
  std::lock_guard lock(all.mutex);
  all.events.clear();
}

}  // namespace iruka
