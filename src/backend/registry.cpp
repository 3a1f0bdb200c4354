// The devices of this process, by name.
#include <atomic>
#include <cstdlib>

#include "backend/cpu/cpu_device.h"
#include "backend/cpu/thread_pool.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"

namespace iruka {

Device& cpu() { return cpu_backend::cpu_device(); }

Device& device(const std::string& name) {
  if (name == "cpu") return cpu();
  if (name == "cuda" || name.starts_with("cuda:")) {
    throw DeviceError("device: '" + name + "' is not available: this build has no CUDA backend");
  }
  throw DeviceError("device: there is no device named '" + name + "'; known: 'cpu'");
}

Device& default_device() {
  static std::atomic<Device*> chosen{nullptr};
  if (Device* found = chosen.load(std::memory_order_acquire)) return *found;
  const char* name = std::getenv("IRUKA_DEVICE");
  Device& found = name && *name ? device(name) : cpu();
  chosen.store(&found, std::memory_order_release);
  return found;
}

const std::string& device_name(const Device& device) { return device.name(); }

int thread_count() { return cpu_backend::ThreadPool::instance().thread_count(); }

void set_thread_count(int count) {
  if (count < 1) throw ValueError("set_thread_count: the count must be at least 1, not " + std::to_string(count));
  cpu_backend::ThreadPool::instance().set_thread_count(count);
}

void set_interrupt_check(InterruptCheck check) { cpu_backend::set_interrupt_check(check); }

PoolStatistics memory_statistics() { return cpu_backend::cpu_device().pool().statistics(); }
void set_memory_limit(size_t bytes) { cpu_backend::cpu_device().pool().set_limit(bytes); }
void free_held_memory() { cpu_backend::cpu_device().pool().free_held(); }

}  // namespace iruka
