#include "array_slots.h"

#include <array>
#include <string>
#include <vector>

#include "core/once.h"
#include "fixed_list.h"
#include "float_errors.h"
#include "interop.h"
#include "iruka/ops.h"
#include "linalg.h"
#include "ufunc.h"

namespace iruka::python {

namespace {

/// An object of another library may do the whole operation.
PyObject* apply_override(const ElementwiseFunction& function, std::initializer_list<PyObject*> objects, PyObject* out) {
  nb::tuple positional = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(objects.size())));
  Py_ssize_t count = 0;
  for (PyObject* object : objects) PyTuple_SET_ITEM(positional.ptr(), count++, Py_NewRef(object));
  nb::dict keywords;
  if (out) keywords["out"] = nb::make_tuple(nb::handle(out));
  const nb::object ufunc = ufunc_named(function.name());
  return call_override(ufunc.ptr(), "__call__", {objects.begin(), objects.size()}, {}, positional, keywords);
}

/// Whether an in-place operator makes a new object.
bool is_value(PyObject* object) { return array_of(object).is_value(); }

/// Calls a row of the table on operands of an operator; NotImplemented when one is no operand.
PyObject* apply(const ElementwiseFunction& function, std::initializer_list<PyObject*> objects,
                PyObject* out = nullptr) {
  for (PyObject* object : objects) {
    if (is_plain_operand(object)) continue;
    if (wants_operator(object)) Py_RETURN_NOTIMPLEMENTED;
    if (PyObject* result = apply_override(function, objects, out)) return result;
  }
  FixedList<Operand, 2> operands(2);
  FixedList<Argument, 3> arguments(3);
  const std::span<PyObject* const> inputs(objects.begin(), objects.size());
  if (PyObject* result = compare_with_no_number(function, inputs)) return result;
  const HugeInteger huge = huge_integer_rule(function, inputs);
  for (PyObject* object : objects) {
    Operand& operand = operands.add();
    if (!operand.take(object, false, huge, inputs)) Py_RETURN_NOTIMPLEMENTED;
    operand.add_to(arguments);
  }
  nb::object result;
  const Array target = out ? array_of(out) : Array();
  if (out) arguments.add(target);
  const UfuncWatch floats(function, arguments.span());
  if (out) {
    without_gil([&] { function.fill(arguments.span()); });
    result = nb::borrow(out);
  } else {
    std::vector<Array> results = without_gil([&] { return function.call(arguments.span()); });
    result = to_result(std::move(results.front()));
    if (results.size() == 2) result = nb::make_tuple(result, to_result(std::move(results.back())));
  }
  if (const unsigned raised = floats.raised())
    report_ufunc_errors(function, raised, inputs, result.ptr(), nullptr, /*is_operator=*/true);
  return result.release().ptr();
}

// Functions are looked up by name at the first use, so that importing the module builds no kernel.
#define IRUKA_FUNCTION(name) made_once([] { return ElementwiseFunction{name}; })
#define IRUKA_UNARY(slot, name)                                                                          \
  PyObject* slot(PyObject* x) {                                                                          \
    return guarded<>(static_cast<PyObject*>(nullptr), [&] { return apply(IRUKA_FUNCTION(name), {x}); }); \
  }
#define IRUKA_BINARY(slot, name)                                                                            \
  PyObject* slot(PyObject* x, PyObject* y) {                                                                \
    return guarded<>(static_cast<PyObject*>(nullptr), [&] { return apply(IRUKA_FUNCTION(name), {x, y}); }); \
  }                                                                                                         \
  PyObject* inplace_##slot(PyObject* x, PyObject* y) {                                                      \
    return guarded<>(static_cast<PyObject*>(nullptr),                                                       \
                     [&] { return apply(IRUKA_FUNCTION(name), {x, y}, is_value(x) ? nullptr : x); });       \
  }

IRUKA_BINARY(add, "add")
IRUKA_BINARY(subtract, "subtract")
IRUKA_BINARY(multiply, "multiply")
IRUKA_BINARY(divide, "divide")
IRUKA_BINARY(floor_divide, "floor_divide")
IRUKA_BINARY(remainder, "remainder")
IRUKA_BINARY(bitwise_and, "bitwise_and")
IRUKA_BINARY(bitwise_or, "bitwise_or")
IRUKA_BINARY(bitwise_xor, "bitwise_xor")
IRUKA_BINARY(left_shift, "left_shift")
IRUKA_BINARY(right_shift, "right_shift")
IRUKA_UNARY(negative, "negative")
IRUKA_UNARY(positive, "positive")
IRUKA_UNARY(absolute, "absolute")
IRUKA_UNARY(invert, "invert")
#undef IRUKA_UNARY
#undef IRUKA_BINARY

/// As NumPy's operator, unlike its function: inverses and roots of floats by functions of their own, which are faster
/// and differ at infinities.
PyObject* apply_power(PyObject* x, PyObject* y, PyObject* out) {
  if (is_array(x) && !is_value(x) && is_inexact(array_of(x).dtype())) {
    int overflow = 0;
    if (PyLong_CheckExact(y) && PyLong_AsLongAndOverflow(y, &overflow) == -1 && overflow == 0)
      return apply(IRUKA_FUNCTION("reciprocal"), {x}, out);
    if (PyFloat_CheckExact(y) && PyFloat_AS_DOUBLE(y) == 0.5) return apply(IRUKA_FUNCTION("sqrt"), {x}, out);
  }
  return apply(IRUKA_FUNCTION("power"), {x, y}, out);
}

PyObject* power(PyObject* x, PyObject* y, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return guarded<>(static_cast<PyObject*>(nullptr), [&] { return apply_power(x, y, nullptr); });
}

PyObject* inplace_power(PyObject* x, PyObject* y, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return guarded<>(static_cast<PyObject*>(nullptr), [&] { return apply_power(x, y, is_value(x) ? nullptr : x); });
}

PyObject* divmod(PyObject* x, PyObject* y) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] { return apply(IRUKA_FUNCTION("divmod"), {x, y}); });
}

PyObject* compare(PyObject* x, PyObject* y, int operation) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] {
    const auto& functions = made_once([] {
      return std::array{ElementwiseFunction{"less"},    ElementwiseFunction{"less_equal"},
                        ElementwiseFunction{"equal"},   ElementwiseFunction{"not_equal"},
                        ElementwiseFunction{"greater"}, ElementwiseFunction{"greater_equal"}};
    });
    static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
    return apply(functions[static_cast<size_t>(operation)], {x, y});
  });
}

/// The only element, for Python's conversions, which raise TypeError.
Scalar only_element(const Array& array, const char* function) {
  if (array.size() != 1) {
    throw TypeError(std::string(function) +
                    ": only an array of one element can be converted to a Python scalar, not one of shape " +
                    to_string(array.shape()));
  }
  return item_of(array);
}

int truth(PyObject* self) {
  return guarded(-1, [&]() -> int {
    const Array& array = array_of(self);
    if (array.size() != 1) {
      throw ValueError("the truth value of an array of shape " + to_string(array.shape()) +
                       " is ambiguous; use any() or all()");
    }
    return item_of(array).as_bool();
  });
}

/// int(), float() and index() of the only element, through Python's own scalar.
template <PyObject* (*convert)(PyObject*)>
PyObject* convert_element(PyObject* self) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] {
    const Array& array = array_of(self);
    if (is_complex(array.dtype())) {
      throw TypeError("a complex array cannot be converted to int or float; take its real part");
    }
    nb::object element = from_scalar(only_element(array, "conversion"));
    return convert(element.ptr());
  });
}

PyObject* index_of(PyObject* self) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] {
    const Array& array = array_of(self);
    if (array.ndim() != 0 || !is_integer(array.dtype())) {
      throw TypeError("only a 0-d array of integers can be used as an index, not one of shape " +
                      to_string(array.shape()) + " and dtype " + name(array.dtype()));
    }
    return from_scalar(item_of(array)).release().ptr();
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded(Py_ssize_t{-1}, [&]() -> Py_ssize_t {
    const Array& array = array_of(self);
    if (array.ndim() == 0) throw TypeError("len() of an array without axes");
    return array.shape(0);
  });
}

PyObject* sequence_item(PyObject* self, Py_ssize_t position) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] { return wrap(get_item(array_of(self), position)); });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] { return wrap(get_item(array_of(self), key)); });
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (!value) throw ValueError("elements of an array cannot be deleted");
    set_item(array_of(self), key, value);
    return 0;
  });
}

PyObject* iterate(PyObject* self) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] {
    if (array_of(self).ndim() == 0) throw TypeError("iteration over an array without axes");
    return PySeqIter_New(self);
  });
}

/// As Python hashes a number of that value. A NaN is equal to no other, so its own address does.
Py_hash_t hash(PyObject* self) {
  return guarded(Py_hash_t{-1}, [&]() -> Py_hash_t {
    const Array& array = array_of(self);
    if (!array.is_value()) throw TypeError("unhashable type: 'iruka.ndarray' (an array that may change)");
    const Scalar scalar = item_of(array);
    const std::complex<double> number = scalar.as_complex();
    if (std::isnan(number.real()) || std::isnan(number.imag()))
      return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) / alignof(std::max_align_t));
    return PyObject_Hash(from_scalar(scalar).ptr());
  });
}

int contains(PyObject* self, PyObject* value) {
  PyObject* hits = compare(self, value, Py_EQ);
  if (!hits || hits == Py_NotImplemented) return Py_XDECREF(hits), hits ? 0 : -1;
  int found = guarded(-1, [&]() -> int {
    const Array equal = array_of(hits);
    return without_gil([&] { return iruka::any(equal).item().as_bool(); });
  });
  Py_DECREF(hits);
  return found;
}

}  // namespace

void assign_value(Array target, nb::handle value) {
  Scalar scalar;
  const FloatWatch floats;
  if (is_array(value.ptr())) {
    const Array source = array_of(value.ptr());
    check_elements(source, target.dtype());
    without_gil([&] { target.assign(source); });
  } else if (to_scalar(value.ptr(), scalar, takes_any_integer(target.dtype()))) {
    check_element(scalar, target.dtype());
    without_gil([&] { target.fill(scalar); });
  } else if (is_array_like(value.ptr())) {
    Array source = as_elements(value, target.dtype(), target.device());
    check_elements(source, target.dtype());
    without_gil([&] { target.assign(source); });
  } else {
    throw TypeError("cannot assign " + describe(value) + " to elements of an array");
  }
  if (const unsigned raised = floats.raised()) report_cast_errors(raised, value, target.dtype(), target.device());
}

namespace {

const PyType_Slot kSlots[] = {
    {Py_nb_add, reinterpret_cast<void*>(add)},
    {Py_nb_subtract, reinterpret_cast<void*>(subtract)},
    {Py_nb_multiply, reinterpret_cast<void*>(multiply)},
    {Py_nb_true_divide, reinterpret_cast<void*>(divide)},
    {Py_nb_floor_divide, reinterpret_cast<void*>(floor_divide)},
    {Py_nb_remainder, reinterpret_cast<void*>(remainder)},
    {Py_nb_divmod, reinterpret_cast<void*>(divmod)},
    {Py_nb_power, reinterpret_cast<void*>(power)},
    {Py_nb_and, reinterpret_cast<void*>(bitwise_and)},
    {Py_nb_or, reinterpret_cast<void*>(bitwise_or)},
    {Py_nb_xor, reinterpret_cast<void*>(bitwise_xor)},
    {Py_nb_lshift, reinterpret_cast<void*>(left_shift)},
    {Py_nb_rshift, reinterpret_cast<void*>(right_shift)},
    {Py_nb_inplace_add, reinterpret_cast<void*>(inplace_add)},
    {Py_nb_inplace_subtract, reinterpret_cast<void*>(inplace_subtract)},
    {Py_nb_inplace_multiply, reinterpret_cast<void*>(inplace_multiply)},
    {Py_nb_inplace_true_divide, reinterpret_cast<void*>(inplace_divide)},
    {Py_nb_inplace_floor_divide, reinterpret_cast<void*>(inplace_floor_divide)},
    {Py_nb_inplace_remainder, reinterpret_cast<void*>(inplace_remainder)},
    {Py_nb_inplace_power, reinterpret_cast<void*>(inplace_power)},
    {Py_nb_inplace_and, reinterpret_cast<void*>(inplace_bitwise_and)},
    {Py_nb_inplace_or, reinterpret_cast<void*>(inplace_bitwise_or)},
    {Py_nb_inplace_xor, reinterpret_cast<void*>(inplace_bitwise_xor)},
    {Py_nb_inplace_lshift, reinterpret_cast<void*>(inplace_left_shift)},
    {Py_nb_inplace_rshift, reinterpret_cast<void*>(inplace_right_shift)},
    {Py_nb_negative, reinterpret_cast<void*>(negative)},
    {Py_nb_positive, reinterpret_cast<void*>(positive)},
    {Py_nb_absolute, reinterpret_cast<void*>(absolute)},
    {Py_nb_invert, reinterpret_cast<void*>(invert)},
    {Py_nb_bool, reinterpret_cast<void*>(truth)},
    {Py_nb_int, reinterpret_cast<void*>(convert_element<PyNumber_Long>)},
    {Py_nb_float, reinterpret_cast<void*>(convert_element<PyNumber_Float>)},
    {Py_nb_index, reinterpret_cast<void*>(index_of)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(matrix_multiply)},
    {Py_nb_inplace_matrix_multiply, reinterpret_cast<void*>(inplace_matrix_multiply)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)},
    {Py_sq_length, reinterpret_cast<void*>(length)},
    {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};

}  // namespace

const PyType_Slot* array_slots() { return kSlots; }

}  // namespace iruka::python
