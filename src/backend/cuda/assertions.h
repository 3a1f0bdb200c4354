// Failed assertions of a GPU's kernels, found where the host waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/driver.h"
#include "core/fork.h"

namespace iruka::cuda_backend {

/// As a program has it in the GPU's memory (jit/prelude/cuda_assertions.h).
struct AssertionRecord {
  static constexpr const char* kName = "_ZN5iruka16assertion_recordIvEE";  ///< iruka::assertion_record<void>
  static constexpr uint64_t kNone = UINT64_MAX, kUnknown = kNone - 1;
  uint64_t element;  ///< kNone: no assertion failed
  uint64_t flag;     ///< the host's address of what is set to 1
  uint32_t lock;
  int32_t line;
  char file[32], condition[200];
};
static_assert(sizeof(AssertionRecord) == 256);

/// One GPU's. A program whose text asserts has a record in the GPU's memory, which holds the failure of the first
/// element; all its records share one flag in the host's memory, so that a wait without failures asks the driver
/// nothing. The GPU's context is the calling thread's whenever a member is called.
class Assertions {
 public:
  /// A module that was loaded: gives its record an address for the flag. False where it has no record.
  bool add(CUmodule module);
  /// A kernel of such a module is launched on `stream`; `kernel` lives as long as the process.
  void note_launch(CUmodule module, const char* kernel, CUstream stream);
  /// The module's work is over, and the module about to be unloaded: its failure is kept.
  void remove(CUmodule module);
  /// The stream's work is over, and the stream about to be destroyed, after which its handle may name another one: the
  /// failures of modules that were launched on no other stream are for every wait.
  void forget_stream(CUstream stream);
  bool is_watching(const std::vector<CUmodule>& modules);

  /// `stream` was waited for. Raises DeviceError that tells of a failure in a kernel that was launched on it; every
  /// failure is raised once.
  void throw_if_failed(CUstream stream) {
    if (has_failed()) throw_failure(&stream);
  }
  /// The whole device was waited for.
  void throw_if_failed() {
    if (has_failed()) throw_failure(nullptr);
  }

 private:
  /// Where a module's kernels were launched.
  struct Launches {
    const char* kernel = "";
    std::vector<CUstream> streams;
    bool is_blocking = false;    ///< on one of the streams that the default stream waits for
    bool is_everywhere = false;  ///< on the default stream, in a graph, or on many streams

    /// Whether a wait for `stream` waits for them.
    bool include(CUstream stream) const;
  };
  struct Watched {
    CUmodule module;
    CUdeviceptr record;
    Launches launches;
    bool has_failed = false;  ///< the record has a failure that was not collected yet
  };
  struct Failure {
    std::string text;
    Launches launches;
  };

  bool is_flag_set() const { return flag_ && __atomic_load_n(flag_, __ATOMIC_ACQUIRE) != 0; }
  bool has_failed() const { return has_untold_.load(std::memory_order_acquire) || is_flag_set(); }
  void throw_failure(const CUstream* stream);
  /// False, with the flag set again, where the driver refuses.
  bool read(const Watched& watched, AssertionRecord& record);
  /// Where the flag is set: finds the records that have failed since, of kernels that may run yet, and clears it.
  void find_failed();
  /// Moves the failure of a record, if it has one, to the list.
  void collect(Watched& watched);
  void note_untold();

  ForkSafeMutex mutex_;
  unsigned* flag_ = nullptr;   ///< in page-locked memory, which the GPU sets
  CUstream stream_ = nullptr;  ///< of copies, which wait for no other stream
  std::vector<Watched> watched_;
  std::vector<Failure> failures_;        ///< not raised yet
  std::atomic<bool> has_untold_{false};  ///< failures, collected or in their records
};

}  // namespace iruka::cuda_backend
