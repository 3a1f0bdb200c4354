// An error that a Python function has raised on a thread of the library: it may be raised again, on any thread.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "convert.h"
#include "iruka/error.h"

namespace iruka::python {

class RaisedByPython : public std::exception {
 public:
  /// Takes the error of the calling thread, which holds the GIL.
  explicit RaisedByPython(nb::python_error& error)
      : error_(error.value().inc_ref().ptr(), drop), text_(text_of_error(nb::handle(error.value()))) {
    try {
      package_attribute("iruka._pipeline.raised", "without_frames")(nb::handle(error_.get()));
    } catch (nb::python_error&) {  // NOLINT(bugprone-empty-catch): they stay
    }
  }
  const char* what() const noexcept override { return text_.c_str(); }
  void restore() const { PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error_.get())), error_.get()); }

 private:
  static void drop(PyObject* error) {
    if (!can_call_python()) return;
    const GilHold hold;
    Py_DECREF(error);
  }
  static std::string text_of_error(nb::handle error) {
    const std::string type = describe(error.type());
    try {
      return nb::cast<std::string>(error.type().attr("__name__")) + ": " + text_of(nb::str(error));
    } catch (const std::exception&) {  // its own __str__ raises
      return type;
    }
  }

  std::shared_ptr<PyObject> error_;
  std::string text_;
};

/// KeyboardInterrupt, SystemExit and the like: they end what runs, and are no errors of a sample.
class StoppedByPython final : public Interrupted {
 public:
  explicit StoppedByPython(const RaisedByPython& raised) : Interrupted(raised.what()), raised_(raised) {}
  void restore() const { raised_.restore(); }

 private:
  RaisedByPython raised_;
};

/// Raises the error of the calling thread, which holds the GIL, for other threads.
[[noreturn]] inline void raise_for_all_threads(nb::python_error& error) {
  const RaisedByPython raised(error);
  if (!PyErr_GivenExceptionMatches(error.value().ptr(), PyExc_Exception)) throw StoppedByPython(raised);
  throw raised;
}

}  // namespace iruka::python
