// __array_ufunc__ of other libraries' objects among the arguments of a ufunc.
#include <string>
#include <vector>

#include "core/once.h"
#include "ufunc.h"

namespace iruka::python {

namespace {

/// The attribute of the object's type; an invalid object where it has none.
nb::object type_attribute(PyObject* object, const char* name) {
  nb::object found = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name));
  if (!found.is_valid()) PyErr_Clear();
  return found;
}

/// The override that an object brings; invalid where it has none, or NumPy's or ours.
nb::object override_of(PyObject* object) {
  if (is_plain_operand(object)) return {};
  nb::object found = type_attribute(object, "__array_ufunc__");
  if (!found.is_valid()) return {};
  const auto attribute_of = [](nb::handle type) { return nb::object(type.attr("__array_ufunc__")).release(); };
  const nb::handle numpys = made_once([=] { return attribute_of(numpy_attribute("ndarray")); });
  const nb::handle ours = made_once([=] { return attribute_of(reinterpret_cast<PyObject*>(array_type)); });
  return found.is(numpys) || found.is(ours) ? nb::object() : found;
}

/// Objects that bring an override, one of each type, subclasses before their bases.
std::vector<PyObject*> overriding(std::span<PyObject* const> inputs, std::span<PyObject* const> outputs) {
  std::vector<PyObject*> found;
  for (const std::span<PyObject* const> group : {inputs, outputs}) {
    for (PyObject* object : group) {
      if (is_plain_operand(object)) continue;
      const nb::object override = override_of(object);
      if (!override.is_valid()) continue;
      if (override.is_none())
        throw TypeError("operand '" + text_of(nb::handle(object).type().attr("__name__")) +
                        "' does not support ufuncs (__array_ufunc__=None)");
      auto is_same = [object](PyObject* other) { return Py_TYPE(other) == Py_TYPE(object); };
      if (std::any_of(found.begin(), found.end(), is_same)) continue;
      auto is_base = [object](PyObject* other) { return PyType_IsSubtype(Py_TYPE(object), Py_TYPE(other)) != 0; };
      found.insert(std::find_if(found.begin(), found.end(), is_base), object);
    }
  }
  return found;
}

/// Arguments as the protocol has them: inputs by position, outputs as a tuple in out=.
std::pair<nb::tuple, nb::dict> normalised(PyObject* ufunc, const char* method, nb::handle positional,
                                          nb::handle keywords) {
  nb::dict named;
  if (keywords.is_valid()) PyDict_Update(named.ptr(), keywords.ptr());
  const Py_ssize_t count = PyTuple_GET_SIZE(positional.ptr());
  Py_ssize_t inputs = count;
  if (std::string_view(method) == "__call__") inputs = instance_of<ElementwiseFunction>(ufunc).nin();
  nb::list first;
  first.append(nb::handle(ufunc));
  first.append(nb::str(method));
  for (Py_ssize_t k = 0; k < inputs; k++) first.append(nb::handle(PyTuple_GET_ITEM(positional.ptr(), k)));
  if (count > inputs) {
    named["out"] = nb::steal(PyTuple_GetSlice(positional.ptr(), inputs, count));
  } else if (named.contains("out")) {
    const nb::object out = named["out"];
    if (out.is_none()) {
      PyDict_DelItemString(named.ptr(), "out");
    } else if (!PyTuple_Check(out.ptr())) {
      named["out"] = nb::make_tuple(out);
    }
  }
  return {nb::tuple(first), named};
}

}  // namespace

bool is_plain_operand(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type == array_type || type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
         type == &PyComplex_Type || type == imported.ndarray || object == Py_None || type == &PyList_Type ||
         type == &PyTuple_Type || PyType_IsSubtype(type, imported.generic);
}

PyObject* call_override(PyObject* ufunc, const char* method, std::span<PyObject* const> inputs,
                        std::span<PyObject* const> outputs, nb::handle positional, nb::handle keywords) {
  bool plain = true;
  for (PyObject* object : inputs) plain &= is_plain_operand(object);
  for (PyObject* object : outputs) plain &= is_plain_operand(object);
  if (plain) return nullptr;
  const std::vector<PyObject*> candidates = overriding(inputs, outputs);
  if (candidates.empty()) return nullptr;
  const auto [arguments, named] = normalised(ufunc, method, positional, keywords);
  std::string types;
  for (PyObject* object : candidates) {
    nb::object bound = nb::handle(object).attr("__array_ufunc__");
    nb::object result = nb::steal(PyObject_Call(bound.ptr(), arguments.ptr(), named.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    if (result.ptr() != Py_NotImplemented) return result.release().ptr();
    types += (types.empty() ? "'" : ", '") + text_of(nb::handle(object).type().attr("__name__")) + "'";
  }
  throw TypeError("operand type(s) all returned NotImplemented from __array_ufunc__(" + describe(ufunc) + ", '" +
                  method + "', ...): " + types);
}

bool wants_operator(PyObject* object) {
  if (is_plain_operand(object)) return false;
  const nb::object ufunc = type_attribute(object, "__array_ufunc__");
  if (ufunc.is_valid()) return ufunc.is_none();
  if (PyType_IsSubtype(Py_TYPE(object), array_type)) return false;
  const nb::object priority = type_attribute(object, "__array_priority__");
  if (!priority.is_valid() || !PyNumber_Check(priority.ptr())) return false;
  const double rank = PyFloat_AsDouble(priority.ptr());
  if (rank == -1 && PyErr_Occurred()) throw nb::python_error();
  return rank > 1000;
}

}  // namespace iruka::python
