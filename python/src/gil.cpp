#include "gil.h"

#include <unistd.h>

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

GilHold::GilHold() : state_(or_sleep([] { return PyGILState_Ensure(); })) {}

PythonThread::PythonThread() {
  if (!can_call_python() || PyGILState_GetThisThreadState() != nullptr) return;
  or_sleep([] { return PyGILState_Ensure(); });
  state_ = PyEval_SaveThread();
}

PythonThread::~PythonThread() {
  if (state_ == nullptr || !can_call_python()) return;
  or_sleep([this] { PyEval_RestoreThread(state_); });
  PyGILState_Release(PyGILState_UNLOCKED);  // the last one, which drops the state
}

}  // namespace iruka::python
