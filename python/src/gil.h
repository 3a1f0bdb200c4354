// The interpreter's lock: given away around long work, taken by threads that are not Python's, and what both do while
// the process ends.
#pragma once

#include <Python.h>

#include <optional>

namespace iruka::python {

/// Whether this thread may take the GIL: at exit it would block for ever. Work that is skipped ends with the process.
bool can_call_python();

/// Notes that a call of this thread begins: Ctrl-C from now on is meant for it.
void note_begin_of_call();

/// Lets other Python threads run meanwhile. Around launches, also of few elements: they may have to compile or loop for
/// long, and this costs less than 0.1 us. Only launches that were measured to be brief do without.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) { note_begin_of_call(); }
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// What `work` returns, which runs without the GIL. It uses arrays of its own, never those inside Python's objects:
/// another thread may give such an object another shape or other memory meanwhile.
template <class Work>
auto without_gil(Work&& work) {
  const GilRelease release;
  return work();
}

/// The same for what runs with the GIL or without it, as destructors do.
class GilReleaseIfHeld {
 public:
  GilReleaseIfHeld() {
    if (can_call_python() && PyGILState_Check()) release_.emplace();
  }

 private:
  std::optional<GilRelease> release_;
};

/// Holds the GIL, on any thread.
class GilHold {
 public:
  GilHold();
  ~GilHold();
  GilHold(const GilHold&) = delete;
  GilHold& operator=(const GilHold&) = delete;

 private:
  PyThreadState* const made_;  ///< of a thread that is not Python's own
  const PyGILState_STATE state_;
};

/// Keeps Python's state of a thread that is not Python's own. Without it each GilHold of the thread makes one, which
/// takes longer than a brief call.
class PythonThread {
 public:
  PythonThread();
  ~PythonThread();
  PythonThread(const PythonThread&) = delete;
  PythonThread& operator=(const PythonThread&) = delete;

 private:
  PyThreadState* const state_;  ///< null: the thread had one
};

}  // namespace iruka::python
