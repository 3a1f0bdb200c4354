// Devices, which hold arrays and run kernels.
#pragma once

#include <stop_token>
#include <string>

#include "iruka/export.h"

namespace iruka {

class Device;

/// The CPU.
IRUKA_API Device& cpu();
/// The device of new arrays: the one of set_default_device() for this thread, else IRUKA_DEVICE, else the first GPU if
/// there is one, else the CPU.
IRUKA_API Device& default_device();
/// Sets the calling thread's default device; null: none of its own. Returns the previous one.
IRUKA_API Device* set_default_device(Device* device);
/// The device named "cpu", "cuda:0"... Raises DeviceError that says what is missing.
IRUKA_API Device& device(const std::string& name);
/// "cpu", "cuda:0"...
IRUKA_API const std::string& device_name(const Device& device);

/// Threads that run CPU kernels, the caller included. Default: the cores this process may use (IRUKA_NUM_THREADS).
IRUKA_API int thread_count();
IRUKA_API void set_thread_count(int count);

/// Called at intervals while a kernel runs; true stops it with Interrupted. The Python module sets it for Ctrl-C.
using InterruptCheck = bool (*)() noexcept;
IRUKA_API void set_interrupt_check(InterruptCheck check);

/// While it exists, `token` can stop the calling thread's work: once a stop is requested, the thread's kernels on the
/// CPU, their compilation and its copies from a GPU raise Interrupted within about 50 ms. Kernels launched on a GPU run
/// to their end. Scopes nest; the innermost counts.
class IRUKA_API StopScope {
 public:
  explicit StopScope(std::stop_token token);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::stop_token token_;
  const std::stop_token* const before_;
};

}  // namespace iruka
