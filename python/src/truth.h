// Flags as in NumPy: any object, by its truth value.
#pragma once

#include <nanobind/nanobind.h>

namespace iruka::python {

struct Truth {
  bool value = false;
  operator bool() const { return value; }
};

}  // namespace iruka::python

namespace nanobind::detail {

template <>
struct type_caster<iruka::python::Truth> {
  NB_TYPE_CASTER(iruka::python::Truth, const_name("bool"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    const int is_true = PyObject_IsTrue(source.ptr());
    if (is_true < 0) PyErr_Clear();
    value.value = is_true == 1;
    return is_true >= 0;
  }
  static handle from_cpp(iruka::python::Truth truth, rv_policy, cleanup_list*) noexcept {
    return handle(truth ? Py_True : Py_False).inc_ref();
  }
};

}  // namespace nanobind::detail
