#include "gil.h"

#include <unistd.h>

#include "core/fork.h"

namespace iruka::python {

namespace {

/// The result of `take`, which takes the GIL. While the interpreter ends, Python before 3.14 ends threads that request
/// it with an exception, which foreign C++ frames do not let through, and the process aborts. Such a thread
/// sleeps here until the process ends, as in Python 3.14. Nothing else is thrown. The exception is not an object
/// that a reference could be bound to.
template <class Take>
auto or_sleep(Take&& take) {
  try {
    return take();
  } catch (...) {
    for (;;) pause();
  }
}

/// Python before 3.12 keeps its list of threads locked in a child of a fork() that happens while another thread without
/// the GIL adds itself to the list; so fork() waits for that.
constinit ForkSafeMutex adding_thread;

/// Python's state of this thread, which takes no GIL. Null if the thread has one or Python ends.
PyThreadState* make_thread_state() {
  if (!can_call_python() || PyGILState_GetThisThreadState() != nullptr) return nullptr;
  const std::lock_guard lock(adding_thread);
  return PyThreadState_New(PyInterpreterState_Main());
}

/// The state holds the GIL and is dropped with it.
void drop_thread_state() {
  PyGILState_Release(PyGILState_UNLOCKED);  // PyThreadState_New() counts as a hold
}

}  // namespace

bool can_call_python() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

GilRelease::~GilRelease() {
  or_sleep([this] { PyEval_RestoreThread(state_); });
}

GilHold::GilHold() : made_(make_thread_state()), state_(or_sleep([] { return PyGILState_Ensure(); })) {}

GilHold::~GilHold() {
  PyGILState_Release(made_ ? PyGILState_LOCKED : state_);
  if (made_) drop_thread_state();
}

PythonThread::PythonThread() : state_(make_thread_state()) {}

PythonThread::~PythonThread() {
  if (state_ == nullptr || !can_call_python()) return;
  or_sleep([this] { PyEval_RestoreThread(state_); });
  drop_thread_state();
}

}  // namespace iruka::python
