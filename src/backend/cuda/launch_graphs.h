// Launches that come again and again, at half of what a plain launch costs the host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/driver.h"

namespace iruka::cuda_backend {

/// One launch of a kernel(arguments, begin, end) over a row of blocks.
struct KernelLaunch {
  std::span<const std::byte> arguments;
  int64_t begin, end;
  unsigned blocks, threads;
};

/// The driver takes a graph of one kernel in 1.4 microseconds where it takes the kernel itself in 3, so that a function
/// which a stream has launched often gets such a graph, whose arguments are exchanged where they changed. Other
/// launches, and any that meets another thread's, go the usual way. A graph costs 20 to 80 microseconds once, and 112
/// KiB of the GPU's memory; a process makes at most kMostLaunchGraphs.
class LaunchGraphs {
 public:
  /// Launches of one function in one stream before a graph is worth its making.
  static constexpr int kWorthwhile = 64;
  static constexpr int kMostLaunchGraphs = 256;

  explicit LaunchGraphs(CUfunction function) : function_(function) {}
  /// Calls no driver, which may be gone: destroy() comes first where it is there.
  ~LaunchGraphs();
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;

  /// Launches, or gives false where the caller has to. The device must be the calling thread's, here and in destroy().
  bool launch(const KernelLaunch& launch, CUstream stream);
  void destroy();

 private:
  /// A graph waits for its own last launch in whatever stream, so that it belongs to one.
  struct Slot {
    CUstream stream = nullptr;
    bool is_taken = false;
    int launches = 0;  ///< of this stream
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec executable = nullptr;
    std::vector<std::byte> arguments;  ///< the graph's, as are the following
    int64_t begin = 0, end = 0;
    unsigned blocks = 0, threads = 0;

    bool holds(const KernelLaunch& launch) const;
    void hold(const KernelLaunch& launch);
  };
  static constexpr size_t kSlots = 4;

  /// The stream's own, or one that no graph is in; null where there is none.
  Slot* slot_of(CUstream stream);
  bool make(Slot& slot, const KernelLaunch& launch);
  bool run(Slot& slot, const KernelLaunch& launch, CUstream stream);
  static void destroy(Slot& slot);

  const CUfunction function_;
  std::atomic_flag is_busy_ = ATOMIC_FLAG_INIT;
  Slot slots_[kSlots];
};

}  // namespace iruka::cuda_backend
