// Memory for the results of a program's steps: what one step has read is where the next one writes. So the memory of a
// call is as small as possible, and stays in the processor's caches.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "iruka/array.h"

namespace iruka::nn {

/// Parts of one block of memory on the host, for one call of a program. Made by std::make_shared; arrays keep it alive.
class StepMemory : public std::enable_shared_from_this<StepMemory> {
 public:
  /// `bytes` of `device`: what peak() was in the call before; what does not fit comes from the device's pool.
  StepMemory(Device& device, size_t bytes) : device_(device), bytes_(bytes) {}

  /// Uninitialised, C order.
  Array empty(const Dims& shape, Dtype dtype);
  /// The bytes with which all arrays would have fitted, so far.
  size_t peak() const { return peak_; }
  Device& device() const { return device_; }

 private:
  struct Part {
    size_t begin, end;
  };

  size_t take(size_t bytes);
  void give_back(size_t begin);
  std::byte* block();

  Device& device_;
  size_t bytes_;
  BufferHandle block_;
  std::mutex mutex_;         ///< of what follows
  std::vector<Part> parts_;  ///< in use, in order of their places
  size_t peak_ = 0;
};

/// Sets the calling thread's memory for results, or none (null), while the scope lives. Results in C order that are
/// those of the program, too, come from the pool.
class StepMemoryScope {
 public:
  StepMemoryScope(StepMemory* memory, bool gives_output);
  ~StepMemoryScope();
  StepMemoryScope(const StepMemoryScope&) = delete;
  StepMemoryScope& operator=(const StepMemoryScope&) = delete;

 private:
  const std::pair<StepMemory*, bool> before_;
};

/// An array for the result of a step, in C order or with the channels last. It must not outlive the program's call.
Array empty_result(const Dims& shape, Dtype dtype, Device& device, bool is_channels_last = false);

}  // namespace iruka::nn
