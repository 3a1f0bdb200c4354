// The elementwise rows as Python sees them, and objects of other libraries among their arguments.
#pragma once

#include <span>

#include "convert.h"
#include "iruka/ops.h"

namespace iruka::python {

/// Calls the __array_ufunc__ of another library's object among `inputs` or `outputs`, as NumPy does: subclasses first,
/// then from left to right. Null where there is none. Raises TypeError where an object refuses ufuncs, or all of them
/// return NotImplemented.
PyObject* call_override(PyObject* ufunc, const char* method, std::span<PyObject* const> inputs,
                        std::span<PyObject* const> outputs, nb::handle positional, nb::handle keywords);

/// Whether the right-hand side of an operator is to have its turn first: it refuses ufuncs, or has none and ranks above
/// iruka.ndarray by __array_priority__.
bool wants_operator(PyObject* object);

/// The ufunc of that name as the package offers it.
nb::object ufunc_named(const char* name);

/// True when `object` is of a type without surprises: no override is looked for.
bool is_plain_operand(PyObject* object);

void bind_ufunc(nb::module_& module);

}  // namespace iruka::python
