// C++ exceptions as Python's.
#include <cstring>

#include "convert.h"
#include "interrupts.h"
#include "iruka/error.h"
#include "iruka/file_error.h"
#include "iruka/linalg.h"
#include "iruka/statistics.h"
#include "raised.h"

namespace iruka::python {

namespace {

/// Sets iruka.errors.NAME; the classes live in Python, where they derive from the built-in ones too.
void set_error(const char* name, const char* message) {
  PyObject* module = PyImport_ImportModule("iruka.errors");
  PyObject* type = module ? PyObject_GetAttrString(module, name) : nullptr;
  // A message may quote a file's name or a compiler's text that is not UTF-8.
  PyObject* text =
      type ? PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(strlen(message)), "backslashreplace") : nullptr;
  if (text) PyErr_SetObject(type, text);
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(module);
}

/// The class has NumPy's attributes, and the function that is named is the one that the user called.
void set_axis_error(const AxisError& error) {
  try {
    const nb::object raised =
        package_attribute("iruka.errors", "_axis_error")(error.axis(), error.ndim(), error.function().c_str());
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  } catch (nb::python_error& failure) {
    failure.restore();
  }
}

/// The class is also the built-in one of errno's number. A path that is not UTF-8 is spelled as os.fsdecode() does.
void set_file_error(const SystemFileError& error) {
  try {
    const nb::object message = nb::steal(
        PyUnicode_DecodeUTF8(error.what(), static_cast<Py_ssize_t>(strlen(error.what())), "backslashreplace"));
    const nb::object path =
        nb::steal(PyUnicode_DecodeFSDefaultAndSize(error.path().data(), static_cast<Py_ssize_t>(error.path().size())));
    const nb::object raised = package_attribute("iruka.errors", "_file_error")(message, error.number(), path);
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  } catch (nb::python_error& failure) {
    failure.restore();
  }
}

void set_iruka_error(const Error& error) {
  const char* name = "Error";
  if (dynamic_cast<const OutOfMemoryError*>(&error)) {
    name = "OutOfMemoryError";
  } else if (dynamic_cast<const DeviceError*>(&error)) {
    name = "DeviceError";
  } else if (dynamic_cast<const linalg::LinAlgError*>(&error)) {
    name = "LinAlgError";
  } else if (dynamic_cast<const ShapeError*>(&error)) {
    name = "ShapeError";
  } else if (dynamic_cast<const ZeroWeightsError*>(&error)) {
    name = "ZeroDivisionError";
  } else if (dynamic_cast<const ValueError*>(&error)) {
    name = "ValueError";
  } else if (dynamic_cast<const TypeError*>(&error)) {
    name = "TypeError";
  } else if (auto* axis = dynamic_cast<const AxisError*>(&error)) {
    return set_axis_error(*axis);
  } else if (dynamic_cast<const IndexError*>(&error)) {
    name = "IndexError";
  } else if (dynamic_cast<const OverflowError*>(&error)) {
    name = "OverflowError";
  } else if (dynamic_cast<const CompileError*>(&error)) {
    name = "CompileError";
  } else if (auto* file = dynamic_cast<const SystemFileError*>(&error)) {
    return set_file_error(*file);
  } else if (dynamic_cast<const FileError*>(&error)) {
    name = "FileError";
  } else if (auto* interrupted = dynamic_cast<const Interrupted*>(&error)) {
    return set_interrupted(*interrupted);
  }
  set_error(name, error.what());
}

/// Of working memory, whose size the library does not know.
void set_memory_error() {
  set_error("OutOfMemoryError", "the system has no memory left for this call's own working space");
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const RaisedByPython& error) {
    error.restore();
  } catch (const StoppedByPython& error) {
    error.restore();
  } catch (const Error& error) {
    set_iruka_error(error);
  } catch (const std::bad_alloc&) {
    set_memory_error();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "an argument has a type that this function does not take");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& exception, void*) {
    try {
      std::rethrow_exception(exception);
    } catch (const RaisedByPython& error) {
      error.restore();
    } catch (const StoppedByPython& error) {
      error.restore();
    } catch (const Error& error) {
      set_iruka_error(error);
    } catch (const std::bad_alloc&) {
      set_memory_error();
    }
  });
  prepare_interrupts();
}

}  // namespace iruka::python
