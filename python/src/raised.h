// An error that a Python function has raised on a thread of the library: it may be raised again, on any thread.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "convert.h"

namespace iruka::python {

class RaisedByPython : public std::exception {
 public:
  /// Takes the error of the calling thread, which holds the GIL.
  explicit RaisedByPython(nb::python_error& error)
      : error_(error.value().inc_ref().ptr(), drop), text_(text_of_error(nb::handle(error.value()))) {
    package_attribute("iruka._pipeline.raised", "without_frames")(nb::handle(error_.get()));
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
    return nb::cast<std::string>(error.type().attr("__name__")) + ": " + text_of(nb::str(error));
  }

  std::shared_ptr<PyObject> error_;
  std::string text_;
};

}  // namespace iruka::python
