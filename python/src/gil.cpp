#include "gil.h"

#include <unistd.h>

namespace iruka::python {

namespace {

/// What `take` gives, which takes the GIL. While the interpreter ends, Pythons before 3.14 end the threads that ask for
/// it, by way of an exception that C++ frames of others do not let through, and the process aborts: such a thread
/// sleeps here until the process is gone, as it does from 3.14 on. Nothing else is thrown. The exception is no object
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

}  // namespace iruka::python
