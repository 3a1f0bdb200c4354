#include "nn/step_memory.h"

#include <algorithm>
#include <utility>

#include "core/device.h"
#include "iruka/error.h"
#include "iruka/memory.h"
#include "nn/channels_last.h"

namespace iruka::nn {
namespace {

/// Smaller arrays come from the pool, which is faster for them; many of them fit a cache.
constexpr int64_t kFewestBytes = 64 << 10;
/// Parts begin at multiples of this.
constexpr size_t kAlignment = 64;

/// The memory, and whether the step's results are those of the program.
std::pair<StepMemory*, bool>& thread_memory() {
  static thread_local std::pair<StepMemory*, bool> memory{};
  return memory;
}

}  // namespace

Array StepMemory::empty(const Dims& shape, Dtype dtype) {
  const auto bytes = static_cast<size_t>(count(shape) * itemsize(dtype));
  const size_t begin = take(bytes);
  BufferHandle rest;  // of the pool, where the block is too small
  std::byte* data = nullptr;
  try {
    if (begin + bytes <= bytes_ && block())
      data = block() + begin;
    else
      rest = std::make_shared<Buffer>(device_, bytes), data = static_cast<std::byte*>(rest->data());
    auto release = [memory = shared_from_this(), rest = std::move(rest), begin] { memory->give_back(begin); };
    auto buffer = std::make_shared<Buffer>(device_, data, bytes, true, std::move(release));
    return Array(std::move(buffer), dtype, shape, c_strides(shape, itemsize(dtype)));
  } catch (...) {
    give_back(begin);
    throw;
  }
}

/// The first place with room for `bytes`.
size_t StepMemory::take(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  size_t begin = 0;
  auto next = parts_.begin();
  for (; next != parts_.end() && next->begin < begin + size; ++next) begin = next->end;
  parts_.insert(next, {begin, begin + size});
  peak_ = std::max(peak_, begin + size);
  return begin;
}

void StepMemory::give_back(size_t begin) {
  const std::lock_guard lock(mutex_);
  std::erase_if(parts_, [&](const Part& part) { return part.begin == begin; });
}

/// Null where there is no memory for it.
std::byte* StepMemory::block() {
  if (!block_) {
    try {
      block_ = std::make_shared<Buffer>(device_, bytes_);
    } catch (const OutOfMemoryError&) {
      bytes_ = 0;
      return nullptr;
    }
  }
  return static_cast<std::byte*>(block_->data());
}

StepMemoryScope::StepMemoryScope(StepMemory* memory, bool gives_output)
    : before_(std::exchange(thread_memory(), {memory, gives_output})) {}
StepMemoryScope::~StepMemoryScope() { thread_memory() = before_; }

Array empty_result(const Dims& shape, Dtype dtype, Device& device, bool is_channels_last) {
  const Dims in_memory = is_channels_last ? shape_with_channels_behind(shape) : shape;
  const auto [memory, gives_output] = thread_memory();
  const bool is_kept = gives_output && !is_channels_last;  // what is not in C order is copied
  const bool is_shared = memory && !is_kept && &memory->device() == &device &&
                         count(shape) >= kFewestBytes / static_cast<int64_t>(itemsize(dtype));
  const Array made = is_shared ? memory->empty(in_memory, dtype) : Array::empty(in_memory, dtype, device);
  return is_channels_last ? channels_in_front(made) : made;
}

}  // namespace iruka::nn
