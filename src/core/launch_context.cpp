#include "core/launch_context.h"

#include <mutex>

#include "core/fork.h"
#include "iruka/error.h"

namespace iruka {

std::string FailedAssertion::to_string() const {
  std::string text = std::string("the assertion `") + condition + "`";
  if (line > 0) text += std::string(" (") + file + ", line " + std::to_string(line) + ")";
  text += " failed";
  if (element >= 0) text += " at element " + std::to_string(element);
  return text;
}

void LaunchContext::note(const FailedAssertion& failed) noexcept {
  const uint64_t element = failed.element < 0 ? kUnknown : static_cast<uint64_t>(failed.element);
  if (element >= first_.load(std::memory_order_relaxed)) return;
  static constinit ForkSafeMutex mutex;  // one for all launches, because failures are rare
  std::lock_guard lock(mutex);
  if (element >= first_.load(std::memory_order_relaxed)) return;
  failed_ = failed;
  first_.store(element, std::memory_order_relaxed);
}

void LaunchContext::throw_failure() const { throw DeviceError(failed_.to_string()); }

}  // namespace iruka
