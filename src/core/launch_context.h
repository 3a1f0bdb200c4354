// What belongs to one launch beside its program, its arguments and its range.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace iruka {

/// An assert() in a kernel's text that failed.
struct FailedAssertion {
  const char* condition;
  const char* file;  ///< the text that contains it, by its name in #line: "operation", "preamble"...
  int line;          ///< 1-based; 0 where the condition is a rule of ours, in no text
  int64_t element;   ///< its index in C order; negative where the text does not know it

  /// "the assertion `x > 0` (operation, line 1) failed at element 3"
  std::string to_string() const;
};

/// How long a thread took for some units of a launch, without waiting for other threads.
struct MeasuredWork {
  int64_t units = 0;  ///< 0: not measured
  int64_t nanoseconds = 0;
};

/// Every launch is given one. It names the kernel in errors, and keeps the failed assertion of the first element:
/// threads of the launch note theirs here, and no other launch sees them.
class LaunchContext {
 public:
  /// `kernel` lives as long as the process.
  explicit LaunchContext(const char* kernel) : kernel_(kernel) {}
  LaunchContext(const LaunchContext&) = delete;
  LaunchContext& operator=(const LaunchContext&) = delete;

  const char* kernel() const { return kernel_; }
  /// What the calling thread did of the launch, as far as the device measured it.
  MeasuredWork work;
  void note(const FailedAssertion& failed) noexcept;
  /// Raises DeviceError that describes the noted assertion, if there is one. Called when the threads are done.
  void throw_if_failed() const {
    if (first_.load(std::memory_order_relaxed) != kNone) throw_failure();
  }

 private:
  static constexpr uint64_t kNone = UINT64_MAX, kUnknown = kNone - 1;
  [[noreturn]] void throw_failure() const;

  const char* const kernel_;
  std::atomic<uint64_t> first_{kNone};  ///< the element of `failed_`
  FailedAssertion failed_;  ///< uninitialised while `first_` is kNone, because every launch constructs this object
};

}  // namespace iruka
