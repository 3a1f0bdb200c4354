#include "backend/cuda/launch_graphs.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>

#include "backend/cuda/cuda_device.h"

namespace iruka::cuda_backend {
namespace {

std::atomic<int> graphs_of_the_process{0};

/// Tries to take a lock; holds it while it lives if no other thread did.
class TryLock {
 public:
  explicit TryLock(std::atomic_flag& flag) : flag_(flag), is_locked_(!flag.test_and_set(std::memory_order_acquire)) {}
  ~TryLock() {
    if (is_locked_) flag_.clear(std::memory_order_release);
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  explicit operator bool() const { return is_locked_; }

 private:
  std::atomic_flag& flag_;
  const bool is_locked_;
};

}  // namespace

KernelLaunch::KernelLaunch(std::span<const ParameterBytes> parameters, const LaunchGrid& grid)
    : parameters_(parameters), grid_(grid) {
  if (parameters.size() > std::size(inline_)) heap_.resize(parameters.size());
  void** to = pointers();
  for (const ParameterBytes& bytes : parameters) *to++ = const_cast<std::byte*>(bytes.data());
}

KernelNode KernelLaunch::node(CUfunction function) const {
  return {.function = function,
          .grid_x = grid_.blocks.x,
          .grid_y = grid_.blocks.y,
          .grid_z = grid_.blocks.z,
          .block_x = grid_.threads.x,
          .block_y = grid_.threads.y,
          .block_z = grid_.threads.z,
          .shared_bytes = grid_.shared_bytes,
          .parameters = pointers()};
}

bool LaunchGraphs::Slot::holds(const KernelLaunch& launch) const {
  if (grid != launch.grid()) return false;
  ParameterBytes held = parameters;
  for (const ParameterBytes& bytes : launch.parameters()) {
    if (bytes.empty()) continue;
    if (bytes.size() > held.size() || std::memcmp(held.data(), bytes.data(), bytes.size()) != 0) return false;
    held = held.subspan(bytes.size());
  }
  return held.empty();
}

void LaunchGraphs::Slot::hold(const KernelLaunch& launch) {
  parameters.clear();
  for (const ParameterBytes& bytes : launch.parameters())
    parameters.insert(parameters.end(), bytes.begin(), bytes.end());
  grid = launch.grid();
}

LaunchGraphs::~LaunchGraphs() {
  for (const Slot& slot : slots_)
    if (slot.executable) --graphs_of_the_process;
}

void LaunchGraphs::destroy() {
  while (is_busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  for (Slot& slot : slots_) {
    destroy(slot);
    slot.launches = 0;
  }
  is_busy_.clear(std::memory_order_release);
}

LaunchGraphs::Slot* LaunchGraphs::slot_of(CUstream stream) {
  for (Slot& slot : slots_)
    if (slot.is_taken && slot.stream == stream) return &slot;
  Slot* found = std::ranges::find(slots_, false, &Slot::is_taken);
  if (found == std::end(slots_)) found = std::ranges::find(slots_, nullptr, &Slot::executable);
  if (found == std::end(slots_)) return nullptr;
  found->stream = stream;
  found->is_taken = true;
  found->launches = 0;
  return found;
}

bool LaunchGraphs::make(Slot& slot, const KernelLaunch& launch) {
  if (graphs_of_the_process.fetch_add(1) >= kMostLaunchGraphs) {
    --graphs_of_the_process;
    return false;
  }
  const Driver& api = driver();
  const KernelNode kernel = launch.node(function_);
  if (api.cuGraphCreate(&slot.graph, 0) != kSuccess) slot.graph = nullptr;
  const bool is_made = slot.graph &&
                       api.cuGraphAddKernelNode(&slot.node, slot.graph, nullptr, 0, &kernel) == kSuccess &&
                       api.cuGraphInstantiate(&slot.executable, slot.graph, 0) == kSuccess;
  if (!is_made) {
    slot.executable = nullptr;
    --graphs_of_the_process;
    return false;
  }
  slot.hold(launch);
  return true;
}

bool LaunchGraphs::run(Slot& slot, const KernelLaunch& launch, CUstream stream) {
  std::optional<AllowedWhileCapturing> allowed;  // the first launch may allocate
  if (!slot.executable) {
    allowed.emplace();
    if (!make(slot, launch)) return false;
  }
  if (!slot.holds(launch)) {
    const KernelNode kernel = launch.node(function_);
    if (driver().cuGraphExecKernelNodeSetParams(slot.executable, slot.node, &kernel) != kSuccess) return false;
    slot.hold(launch);
  }
  return driver().cuGraphLaunch(slot.executable, stream) == kSuccess;
}

void LaunchGraphs::destroy(Slot& slot) {
  if (slot.executable) {
    driver().cuGraphExecDestroy(slot.executable);
    --graphs_of_the_process;
  }
  if (slot.graph) driver().cuGraphDestroy(slot.graph);
  slot.executable = nullptr;
  slot.graph = nullptr;
}

bool LaunchGraphs::launch(const KernelLaunch& launch, CUstream stream) {
  if (stream == kPerThreadStream) return false;    // this handle stands for many streams
  if (launch.grid().is_cooperative) return false;  // a cooperative launch needs another call
  const TryLock lock(is_busy_);
  if (!lock) return false;
  Slot* slot = slot_of(stream);
  if (!slot) return false;
  if (slot->launches < kWorthwhile) {
    ++slot->launches;
    return false;
  }
  const bool is_legacy = stream == nullptr || stream == kLegacyStream;  // this stream cannot be captured
  if (!is_legacy && may_capture(stream)) return false;
  if (run(*slot, launch, stream)) return true;
  // There are too many graphs, no memory for one, or an error of earlier work, which the plain launch reports. A later
  // launch tries again.
  destroy(*slot);
  slot->launches = 0;
  return false;
}

}  // namespace iruka::cuda_backend
