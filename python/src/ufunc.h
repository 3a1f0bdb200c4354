// The Python objects of elementwise rows, and objects of other libraries among their arguments.
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

/// NumPy's rule for integers beyond 64 bits among the inputs: floats beside a float and in functions of floats; in a
/// comparison with integers, larger or smaller than any; else refused.
HugeInteger huge_integer_rule(const ElementwiseFunction& function, std::span<PyObject* const> inputs);

/// `equal` and `not_equal` of an array and None or text, which no element equals: a new array of bools. Null for all
/// other calls.
PyObject* compare_with_no_number(const ElementwiseFunction& function, std::span<PyObject* const> inputs);

/// The ufunc of that name as the package offers it.
nb::object ufunc_named(const char* name);

/// True if `object` has a type without overrides (`__array_ufunc__`), so that none is searched.
bool is_plain_operand(PyObject* object);

void bind_fuse(nb::module_& module);
void bind_ufunc(nb::module_& module);

}  // namespace iruka::python
