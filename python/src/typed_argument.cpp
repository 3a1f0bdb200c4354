#include "typed_argument.h"

#include "numpy_arrays.h"

namespace iruka::python {

std::optional<TypedArgument> typed_argument(PyObject* object) {
  using enum TypedArgument::Kind;
  if (Py_TYPE(object) == imported.ndarray) {
    const std::optional<Dtype> dtype = native_numpy_dtype(object);
    if (!dtype || *dtype == Dtype::bfloat16) return {};
    return TypedArgument{numpy, *dtype};
  }
  if (Py_TYPE(object) == array_type) return TypedArgument{array, array_of(object).dtype()};
  if (!PyFloat_CheckExact(object) && !PyLong_CheckExact(object) && !PyBool_Check(object) &&
      !PyComplex_CheckExact(object))
    return {};
  Scalar scalar;
  if (is_huge_integer(object) || !to_scalar(object, scalar)) return {};
  return TypedArgument{number, scalar.dtype(), scalar};
}

}  // namespace iruka::python
