// Buffers and the pools they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "iruka/export.h"

namespace iruka {

class Device;

/// The bytes of a pool, counted in whole blocks. A CPU's block is at most 1/8 larger than the request (a reused large
/// one: 3/8). A GPU's block is a multiple of 512 bytes, or of 2 MiB if it is larger than 1 MiB.
struct PoolStatistics {
  size_t used_bytes = 0;   ///< in arrays that live
  size_t held_bytes = 0;   ///< kept for reuse
  size_t peak_bytes = 0;   ///< most ever used
  size_t limit_bytes = 0;  ///< 0: no limit
  size_t allocations = 0;  ///< requested from the pool
  size_t reuses = 0;       ///< answered from held memory
};

/// Memory on one device, owned by that device's pool or kept alive by a foreign owner.
class IRUKA_API Buffer {
 public:
  static constexpr size_t kHeldBytes = 16;  ///< the largest element

  /// Takes `bytes` from the device's pool; 64-byte aligned. Raises OutOfMemoryError.
  Buffer(Device& device, size_t bytes);
  /// Wraps foreign memory; `release` runs when the last array is destroyed.
  Buffer(Device& device, void* data, size_t bytes, bool writable, std::function<void()> release);
  /// Copies at most kHeldBytes from `element` into this object, for a device whose memory is the host's.
  Buffer(Device& device, const void* element, size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  bool foreign() const { return foreign_; }
  Device& device() const { return device_; }

 private:
  Device& device_;
  void* data_;
  size_t bytes_;
  bool writable_ = true;
  bool foreign_ = false;
  std::function<void()> release_;
  alignas(16) std::byte held_[kHeldBytes];
};

using BufferHandle = std::shared_ptr<Buffer>;

/// The CPU pool: statistics, a limit (0: none), and giving held memory back to the system.
IRUKA_API PoolStatistics memory_statistics();
IRUKA_API void set_memory_limit(size_t bytes);
IRUKA_API void free_held_memory();

}  // namespace iruka
