// Buffers: memory from a device's pool, or foreign memory with its owner's release.
#include <cstring>
#include <string>
#include <utility>

#include "core/allocation_budget.h"
#include "core/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"

namespace iruka {
namespace {

void* allocate(Device& device, size_t bytes) {
  size_t& budget = thread_allocation_budget();
  if (bytes > budget) {
    throw OutOfMemoryError("out of memory on " + device.name() + ": requested " + std::to_string(bytes) +
                           " bytes, of a budget that has " + std::to_string(budget) + " left");
  }
  void* const data = device.allocate(bytes);
  if (budget != SIZE_MAX) budget -= bytes;
  return data;
}

}  // namespace

Buffer::Buffer(Device& device, size_t bytes) : device_(device), data_(allocate(device, bytes)), bytes_(bytes) {}

Buffer::Buffer(Device& device, void* data, size_t bytes, bool writable, std::function<void()> release)
    : device_(device), data_(data), bytes_(bytes), writable_(writable), foreign_(true), release_(std::move(release)) {}

Buffer::Buffer(Device& device, const void* element, size_t bytes) : device_(device), data_(held_), bytes_(bytes) {
  std::memcpy(held_, element, bytes);
}

Buffer::~Buffer() {
  if (data_ == held_) return;
  if (!foreign_) {
    device_.release(data_, bytes_);
  } else if (release_) {
    release_();
  }
}

}  // namespace iruka
