// Repeated launches as graphs of one kernel, which cost the host half as much as plain launches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/driver.h"
#include "core/module.h"

namespace iruka::cuda_backend {

/// A launch in the form that graphs and the driver need. It refers to the parameters and the grid that it was made
/// from.
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
  std::vector<void*> heap_;  ///< used instead of `inline_` for more parameters
};

/// A launch of a graph with one kernel takes 1.4 microseconds, a launch of the kernel itself 3. So a function that a
/// stream has launched often gets such a graph, whose arguments are replaced when they change. Other launches are
/// plain, and so is one that meets a launch by another thread. A graph costs 20 to 80 microseconds once, and 112 KiB of
/// the GPU's memory; a process makes at most kMostLaunchGraphs.
class LaunchGraphs {
 public:
  /// The number of launches of one function in one stream after which a graph is made.
  static constexpr int kWorthwhile = 64;
  static constexpr int kMostLaunchGraphs = 256;

  explicit LaunchGraphs(CUfunction function) : function_(function) {}
  /// Does not call the driver, which may already be unloaded. If it is not, the owner calls destroy() first.
  ~LaunchGraphs();
  LaunchGraphs(const LaunchGraphs&) = delete;
  LaunchGraphs& operator=(const LaunchGraphs&) = delete;

  /// Launches; false if the caller has to launch. The device must be current on the calling thread, here and in
  /// destroy().
  bool launch(const KernelLaunch& launch, CUstream stream);
  /// Later launches may make new graphs, which see the function's attributes as they are then.
  void destroy();

 private:
  /// A graph of one stream. A launch of a graph waits for the graph's previous launch in any stream, so streams do not
  /// share graphs.
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

  /// The stream's slot, or else a slot without a graph; null if there is none.
  Slot* slot_of(CUstream stream);
  bool make(Slot& slot, const KernelLaunch& launch);
  bool run(Slot& slot, const KernelLaunch& launch, CUstream stream);
  static void destroy(Slot& slot);

  const CUfunction function_;
  std::atomic_flag is_busy_ = ATOMIC_FLAG_INIT;
  Slot slots_[kSlots];
};

}  // namespace iruka::cuda_backend
