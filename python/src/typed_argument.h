// What the calls of translated Python functions know of an argument before they read it.
#pragma once

#include <optional>

#include "convert.h"

namespace iruka::python {

/// A NumPy array, an iruka.ndarray or a number, and its dtype; of a number the value.
struct TypedArgument {
  enum class Kind : uint8_t { numpy, array, number } kind;
  Dtype dtype;
  Scalar number{};
};

/// Nothing for another object, a dtype that is none of Iruka's, and an int beyond 64 bits.
std::optional<TypedArgument> typed_argument(PyObject* object);

}  // namespace iruka::python
