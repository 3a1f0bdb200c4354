// The devices of this process, by name.
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "backend/cpu/cpu_device.h"
#include "backend/cuda/cuda_device.h"
#include "iruka/cuda.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"

namespace iruka {

namespace {

/// The device that set_default_device() chose for this thread.
Device*& thread_device() {
  static thread_local Device* device = nullptr;
  return device;
}

/// The number after "cuda:".
std::optional<int> cuda_index(std::string_view name) {
  if (!name.starts_with("cuda:")) return {};
  name.remove_prefix(5);
  int index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  return error == std::errc() && end == name.data() + name.size() && name[0] != '-' ? std::optional(index)
                                                                                    : std::nullopt;
}

}  // namespace

Device& cpu() { return cpu_backend::cpu_device(); }

Device& device(const std::string& name) {
  if (name == "cpu") return cpu();
  if (name == "cuda") return cuda_backend::cuda_device(0);
  if (const std::optional<int> index = cuda_index(name)) return cuda_backend::cuda_device(*index);
  throw DeviceError("device: there is no device named '" + name + "'; known: 'cpu', 'cuda', 'cuda:0', 'cuda:1'...");
}

Device& default_device() {
  if (Device* own = thread_device()) return *own;
  static constinit std::atomic<Device*> chosen{nullptr};
  if (Device* found = chosen.load(std::memory_order_acquire)) return *found;
  const char* name = std::getenv("IRUKA_DEVICE");
  Device& found = name && *name ? device(name) : cuda::is_available() ? cuda_backend::cuda_device(0) : cpu();
  chosen.store(&found, std::memory_order_release);
  return found;
}

Device* set_default_device(Device* device) { return std::exchange(thread_device(), device); }

const std::string& device_name(const Device& device) { return device.name(); }

PoolStatistics memory_statistics() { return cpu_backend::cpu_device().pool().statistics(); }
void set_memory_limit(size_t bytes) { cpu_backend::cpu_device().pool().set_limit(bytes); }
void free_held_memory() { cpu_backend::cpu_device().pool().free_held(); }

}  // namespace iruka
