// Launches that come again and again, at half of what a plain launch costs the host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/driver.h"
#include "core/module.h"

namespace iruka::cuda_backend {

/// A launch as a function's graph and the driver take it; refers to what it was made of.
class KernelLaunch {
 public:
  KernelLaunch(std::span<const ParameterBytes> parameters, const LaunchGrid& grid);
  KernelLaunch(const KernelLaunch&) = delete;
  KernelLaunch& operator=(const KernelLaunch&) = delete;

  std::span<const ParameterBytes> parameters() const { return parameters_; }
  const LaunchGrid& grid() const { return grid_; }
  /// A pointer to each parameter; the driver only reads.
  void** pointers() const { return const_cast<void**>(heap_.empty() ? inline_ : heap_.data()); }
  KernelNode node(CUfunction function) const;

 private:
  const std::span<const ParameterBytes> parameters_;
  const LaunchGrid& grid_;
  void* inline_[16];
  std::vector<void*> heap_;  ///< in place of `inline_` where there are more
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
  /// Later launches may make new graphs, which see the function's attributes as they are then.
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
    std::vector<std::byte> parameters;  ///< the graph's, one behind the other
    LaunchGrid grid;                    ///< the graph's

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
