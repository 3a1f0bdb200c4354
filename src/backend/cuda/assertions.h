// Failed assertions of a GPU's kernels, which the host finds when it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/cuda/driver.h"
#include "core/fork.h"

namespace iruka::cuda_backend {

/// The record of a program in the GPU's memory, laid out as in jit/prelude/cuda_assertions.h.
struct AssertionRecord {
  static constexpr const char* kName = "_ZN5iruka16assertion_recordIvEE";  ///< iruka::assertion_record<void>
  static constexpr uint64_t kNone = UINT64_MAX, kUnknown = kNone - 1;
  uint64_t element;  ///< kNone: no assertion failed
  uint64_t flag;     ///< the host's address of the flag, which the kernel sets to 1
  uint32_t lock;
  int32_t line;
  char file[32], condition[200];
};
static_assert(sizeof(AssertionRecord) == 256);

/// The assertions of one GPU. A program whose text has assertions has a record in the GPU's memory, which holds the
/// failure of the first element. All records of the GPU share one flag in the host's memory, so that a wait without
/// failures needs no call of the driver. The GPU's context must be current when a member is called.
class Assertions {
 public:
  /// Writes the flag's address into the record of a module that was just loaded. False if the module has no record.
  bool add(CUmodule module);
  /// Notes that a kernel of a module with a record is launched on `stream`. `kernel` lives as long as the process.
  void note_launch(CUmodule module, const char* kernel, CUstream stream);
  /// Keeps the failure of a module that is about to be unloaded; its work is done.
  void remove(CUmodule module);
  /// Forgets a stream that is about to be destroyed, because its handle may then name another stream; its work is done.
  /// Every wait raises the failures of modules that were launched on no other stream.
  void forget_stream(CUstream stream);
  bool is_watching(const std::vector<CUmodule>& modules);

  /// Called after a wait for `stream`. Raises DeviceError for a failure in a kernel that was launched on it. Each
  /// failure is raised once.
  void throw_if_failed(CUstream stream) {
    if (has_failed()) throw_failure(&stream);
  }
  /// Called after a wait for the whole device.
  void throw_if_failed() {
    if (has_failed()) throw_failure(nullptr);
  }

 private:
  /// The streams on which a module's kernels were launched.
  struct Launches {
    const char* kernel = "";
    std::vector<CUstream> streams;
    bool is_blocking = false;    ///< on a stream that the default stream waits for
    bool is_everywhere = false;  ///< on the default stream, in a graph, or on many streams

    /// Whether a wait for `stream` waits for these launches.
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
  bool has_failed() const { return has_unraised_.load(std::memory_order_acquire) || is_flag_set(); }
  void throw_failure(const CUstream* stream);
  /// If the driver refuses, sets the flag again and returns false.
  bool read(const Watched& watched, AssertionRecord& record);
  /// If the flag is set: clears it and marks the records that have a failure. Their kernels may still be running.
  void find_failed();
  /// Moves the failure of a record, if it has one, to the list.
  void collect(Watched& watched);
  void update_has_unraised();

  ForkSafeMutex mutex_;
  unsigned* flag_ = nullptr;   ///< in page-locked memory; the GPU sets it
  CUstream stream_ = nullptr;  ///< for copies of records; it waits for no other stream
  std::vector<Watched> watched_;
  std::vector<Failure> failures_;          ///< not raised yet
  std::atomic<bool> has_unraised_{false};  ///< failures, collected or in records, were not raised
};

}  // namespace iruka::cuda_backend
