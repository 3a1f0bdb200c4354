// Python functions that streams call: Stream.launch_host_func.
#include <condition_variable>
#include <memory>
#include <mutex>

#include "core/fork.h"
#include "core/once.h"
#include "cuda.h"
#include "device.h"

namespace iruka::python {

namespace {

/// Lets the driver's threads into Python until the interpreter begins to end: a thread that asks for the GIL after that
/// never comes back, or takes the process with it. Never destroyed, as those threads live on.
class Gate {
 public:
  static Gate& instance() {
    return made_once([] { return Gate(); });
  }
  bool enter() {
    std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    ++inside_;
    return true;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    --inside_;
    left_.notify_all();
  }
  /// Waits for the functions that run; without the GIL, which they need.
  void close() {
    if (fork_generation_ != fork_generation()) return;  // the threads did not come along into a child of fork()
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    left_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  const int fork_generation_ = fork_generation();
  std::mutex mutex_;
  std::condition_variable left_;
  int inside_ = 0;
  bool is_closed_ = false;
};

/// A Python function that a stream is to call, and its arguments.
struct HostCall {
  nb::object function;
  nb::tuple arguments;
};

/// Runs on a thread of the driver. Functions that come while the process ends are not called.
void run_host_call(void* call) {
  Gate& gate = Gate::instance();
  if (!gate.enter()) return;
  {
    const GilHold hold;
    const std::unique_ptr<HostCall> owner(static_cast<HostCall*>(call));
    const nb::object result = nb::steal(PyObject_CallObject(owner->function.ptr(), owner->arguments.ptr()));
    if (!result.is_valid()) PyErr_WriteUnraisable(owner->function.ptr());
  }
  gate.leave();
}

/// `function(*arguments)` behind the stream's work.
void launch_host_function(const PyDevice& device, uintptr_t stream, nb::object function, nb::tuple arguments) {
  if (!PyCallable_Check(function.ptr()))
    throw TypeError("launch_host_func: the callback must be callable, not " + describe(function));
  auto call = std::make_unique<HostCall>(HostCall{std::move(function), std::move(arguments)});
  GilRelease release;  // a full stream waits, perhaps for an earlier function
  cuda::launch_host_function(Stream::foreign(*device.device, stream_from(stream)), run_host_call, call.get());
  (void)call.release();  // run_host_call deletes it
}

}  // namespace

void bind_host_functions(nb::module_& module) {
  module.def("cuda_launch_host_function", launch_host_function);
  Gate::instance();
}

void end_host_functions() { Gate::instance().close(); }

}  // namespace iruka::python
