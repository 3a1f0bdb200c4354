// What iruka.fuse needs of C++: the key of a call's signature, rows of the elementwise table as text, and kernels that
// round as these rows do.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convert.h"
#include "core/layout.h"
#include "fixed_list.h"
#include "interop.h"
#include "iruka/reduction_kernel.h"
#include "kernel.h"
#include "ops/elementwise/cast_text.h"
#include "ops/elementwise/row_text.h"
#include "ufunc.h"

namespace iruka::python {

namespace {

/// The letter of a number's type, for numbers that become parameters of a kernel; 0 for other objects.
char letter_of_number(PyObject* object) {
  if (PyFloat_CheckExact(object)) return 'f';
  if (PyComplex_CheckExact(object)) return 'c';
  if (!PyLong_CheckExact(object)) return 0;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 ? 'i' : 0;
}

bool is_numpy_number(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), imported.generic) != 0; }

/// Whether the object stands for an array, which the caller converts before it asks again.
bool needs_conversion(PyObject* object) {
  if (PyTuple_Check(object) || PyUnicode_Check(object) || PyCallable_Check(object)) return false;
  return is_array_like(object);
}

/// The arrays of a call and what of their shapes and memory decides how it is fused.
class SignatureWriter {
 public:
  explicit SignatureWriter(size_t most) : arrays_(most) {}

  /// dtype, number of axes, and the first array of the same shape.
  void add_array(const Array& array, bool by_shape) {
    const auto others = arrays_.span();
    size_t same = 0;
    while (same < others.size() && !(others[same]->shape() == array.shape())) ++same;
    text_ += 'a';
    text_ += static_cast<char>(array.dtype());
    text_ += static_cast<char>(array.ndim());
    text_ += static_cast<char>(same);
    for (const int64_t extent : by_shape ? array.shape() : Dims{})
      text_.append(reinterpret_cast<const char*>(&extent), sizeof extent);
    arrays_.add(&array);
  }
  void add(char letter) { text_ += letter; }
  void add(const std::string& text) { text_ += text; }

  /// Which arrays have the shape that all together broadcast to, and whether two of them share memory.
  std::string text() {
    const auto arrays = arrays_.span();
    if (arrays.size() < 2) return std::move(text_);
    int ndim = 0;
    for (const Array* array : arrays) ndim = std::max(ndim, array->ndim());
    for (const Array* array : arrays) text_ += array->ndim() == ndim && holds_others(*array) ? '1' : '0';
    bool shares = false;
    for (size_t k = 0; k < arrays.size() && !shares; ++k)
      for (size_t other = 0; other < k && !shares; ++other)
        shares = arrays[k]->buffer() == arrays[other]->buffer() && overlap(*arrays[k], *arrays[other]) != Overlap::none;
    text_ += shares ? 'w' : '.';
    return std::move(text_);
  }

 private:
  bool holds_others(const Array& whole) const {
    for (const Array* array : arrays_.span()) {
      const int skipped = whole.ndim() - array->ndim();
      for (int axis = 0; axis < array->ndim(); ++axis)
        if (array->shape(axis) != 1 && array->shape(axis) != whole.shape(axis + skipped)) return false;
    }
    return true;
  }

  FixedList<const Array*, 16> arrays_;
  std::string text_;
};

template <class Number>
nb::bytes bits_of(const Number& number) {
  return nb::bytes(&number, sizeof number);
}

/// The class attribute that `name` finds, or null. A class may get it, or lose it, between two calls.
PyObject* class_attribute(PyTypeObject* type, PyObject* name) {
  PyObject* const order = type->tp_mro;
  for (Py_ssize_t k = 0; order && k < PyTuple_GET_SIZE(order); ++k) {
    PyObject* const attributes = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, k))->tp_dict;
    if (!attributes) continue;  // a class of C, whose attributes stay
    if (PyObject* const found = PyDict_GetItemWithError(attributes, name)) return found;
    if (PyErr_Occurred()) throw nb::python_error();
  }
  return nullptr;
}

/// Writes the value of an argument as a hashable object. Numbers are equal where types and bits are, in containers too.
/// Arrays count by dtype and shape, because no fused function may use the elements of those that are no arguments.
/// Other objects count by their equality, and by those attributes whose names occur in the code that traces ran.
class ValueWriter {
 public:
  explicit ValueWriter(nb::frozenset names) : names_(std::move(names)) {}

  nb::object value_of(nb::handle value) {
    const RecursionGuard guard;
    PyObject* const object = value.ptr();
    if (PyFloat_CheckExact(object)) return typed(value, bits_of(PyFloat_AS_DOUBLE(object)));
    if (PyComplex_CheckExact(object)) return typed(value, bits_of(PyComplex_AsCComplex(object)));
    if (is_numpy_number(object)) return typed(value, value.attr("tobytes")());
    if (is_constant(object)) return typed(value, nb::borrow(value));
    if (PyTuple_Check(object)) return values_in(value, value);
    if (PyList_Check(object)) return once(value, [&] { return values_in(value, value); });
    if (PyDict_Check(object)) return once(value, [&] { return values_in(value, value.attr("items")()); });
    if (PyAnySet_Check(object)) return typed(value, nb::frozenset(values_in(value, value)[1]));
    if (is_array_like(object) && nb::hasattr(value, "shape"))
      return typed(value,
                   nb::make_tuple(nb::str(nb::getattr(value, "dtype", nb::none())), nb::tuple(value.attr("shape"))));
    return once(value, [&] { return value_of_object(value); });
  }

 private:
  struct RecursionGuard {
    RecursionGuard() {
      if (Py_EnterRecursiveCall(" in an argument of a fused function")) throw nb::python_error();
    }
    ~RecursionGuard() { Py_LeaveRecursiveCall(); }
    RecursionGuard(const RecursionGuard&) = delete;
    RecursionGuard& operator=(const RecursionGuard&) = delete;
  };

  /// Whether the object never changes and has no attributes of its own.
  static bool is_constant(PyObject* object) {
    return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) || PyUnicode_CheckExact(object) ||
           PyBytes_CheckExact(object);
  }

  static nb::tuple typed(nb::handle value, nb::object content) {
    return nb::make_tuple(value.type(), std::move(content));
  }

  nb::tuple values_in(nb::handle container, nb::handle items) {
    nb::list values;
    for (nb::handle item : nb::iter(items)) values.append(value_of(item));
    return typed(container, nb::tuple(values));
  }

  /// Objects may refer to each other in circles: later references are the number of the first.
  template <class Write>
  nb::object once(nb::handle value, Write&& write) {
    const auto found = std::ranges::find(written_, value.ptr(), [](const nb::object& each) { return each.ptr(); });
    if (found != written_.end()) return typed(value, nb::int_(found - written_.begin()));
    written_.push_back(nb::borrow(value));
    return write();
  }

  nb::object value_of_object(nb::handle value) {
    nb::object content = nb::borrow(value);
    if (PyObject_Hash(value.ptr()) == -1) {
      PyErr_Clear();
      content = value_of_unhashable(value);
    }
    return nb::make_tuple(value.type(), std::move(content), attributes_of(value));
  }

  nb::object value_of_unhashable(nb::handle value) {
    if (PySlice_Check(value.ptr()))
      return values_in(value, nb::make_tuple(value.attr("start"), value.attr("stop"), value.attr("step")));
    if (PySequence_Check(value.ptr())) return values_in(value, value);  // a deque, a bytearray
    if (nb::hasattr(value, "__dict__") || nb::hasattr(value, "__slots__")) return nb::none();
    throw TypeError("fuse: an argument holds a " + describe(value.type()) +
                    ", which has no hash; give arrays, numbers, strings, and tuples, lists and dicts of them");
  }

  /// Names and values, of the object itself and of its class.
  nb::object attributes_of(nb::handle object) {
    nb::list values;
    const bool is_class = PyType_Check(object.ptr());
    const nb::object own = is_class ? nb::none() : nb::getattr(object, "__dict__", nb::none());
    const auto type = reinterpret_cast<PyTypeObject*>(is_class ? object.ptr() : object.type().ptr());
    for (nb::handle name : names_) {
      nb::object found;
      if (PyDict_Check(own.ptr())) found = nb::borrow(PyDict_GetItemWithError(own.ptr(), name.ptr()));
      if (!found.is_valid()) {
        if (PyErr_Occurred()) throw nb::python_error();
        found = nb::borrow(class_attribute(type, name.ptr()));
        if (found.is_valid() && Py_TYPE(found.ptr()) == &PyMemberDescr_Type && !is_class)
          found = nb::getattr(object, name, nb::none());  // of __slots__
      }
      if (!found.is_valid()) continue;
      // Code that ran counts by its identity. What it reads has names of its own.
      values.append(nb::make_tuple(name, PyFunction_Check(found.ptr()) ? found : value_of(found)));
    }
    return nb::tuple(values);
  }

  const nb::frozenset names_;
  std::vector<nb::object> written_;
};

/// What decides how a call is fused, as a hashable object: dtypes, numbers of axes, which shapes are equal, types of
/// numbers, and the values of other objects (with their attributes in `attributes`) and of the arguments in `by_value`.
/// None if an argument must become an array first.
nb::object call_signature(nb::tuple arguments, nb::handle names, nb::frozenset by_value, nb::frozenset attributes) {
  const size_t count = nb::len(arguments);
  SignatureWriter writer(count);
  nb::list values;
  const bool any_by_value = nb::len(by_value) > 0;
  for (size_t k = 0; k < count; ++k) {
    PyObject* const object = PyTuple_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(k));
    const bool is_by_value = any_by_value && by_value.contains(nb::int_(k));
    if (is_array(object)) {
      writer.add_array(array_of(object), is_by_value);
      continue;
    }
    Scalar scalar;
    const bool is_typed = is_numpy_number(object) && to_scalar(object, scalar);
    const char letter = letter_of_number(object);
    if ((letter || is_typed) && !is_by_value) {
      writer.add(letter ? letter : 'n');
      if (is_typed) writer.add(static_cast<char>(scalar.dtype()));
      continue;
    }
    if (!letter && !is_typed && needs_conversion(object)) return nb::none();
    writer.add('v');
    values.append(ValueWriter(attributes).value_of(object));
  }
  const std::string text = writer.text();
  const nb::bytes key(text.data(), text.size());
  if (names.is_none() && nb::len(values) == 0) return key;
  return nb::make_tuple(key, names, nb::tuple(values));
}

/// The base class of fused functions: calls the launcher for the call's signature. The derived class makes them.
struct FusedDispatcher {};

PyObject* call_fused(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const nb::handle function = self;
    nb::tuple values = nb::borrow<nb::tuple>(positional);
    nb::object names = nb::none();
    if (keywords && PyDict_GET_SIZE(keywords) > 0) {
      const nb::dict given = nb::borrow<nb::dict>(keywords);
      names = nb::tuple(given.keys());
      values = nb::borrow<nb::tuple>(values + nb::tuple(given.values()));
    }
    const nb::object key = call_signature(values, names, nb::borrow<nb::frozenset>(function.attr("_by_value")),
                                          nb::borrow<nb::frozenset>(function.attr("_attributes")));
    const nb::dict launchers = nb::borrow<nb::dict>(function.attr("_launchers"));
    const nb::object launch = nb::borrow(PyDict_GetItemWithError(launchers.ptr(), key.ptr()));
    if (!launch.is_valid() && PyErr_Occurred()) throw nb::python_error();
    if (launch.is_valid()) return PyObject_CallOneArg(launch.ptr(), values.ptr());
    return nb::object(
               function.attr("_first_call")(nb::handle(positional), keywords ? nb::borrow(keywords) : nb::dict()))
        .release()
        .ptr();
  });
}

const PyType_Slot kFusedSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_fused)}, {0, nullptr}};

/// dtypes by name or as objects, of the arguments of a row.
ops::LoopTypes loop_types_of(const std::vector<nb::object>& dtypes, nb::handle loop) {
  ops::LoopTypes types;
  types.loop = to_dtype(loop);
  for (size_t k = 0; k < dtypes.size(); ++k) types.types[k] = to_dtype(dtypes[k]);
  return types;
}

std::vector<Dtype> dtypes_of(const std::vector<nb::object>& objects) {
  std::vector<Dtype> dtypes;
  dtypes.reserve(objects.size());
  for (const nb::object& object : objects) dtypes.push_back(to_dtype(object));
  return dtypes;
}

/// The loop's dtype, then what each input is cast to and each output has. An input is a tuple of a dtype, for an array,
/// or a number.
nb::tuple operation_types(const std::string& name, nb::tuple inputs, nb::handle dtype, const std::string& casting) {
  const ElementwiseFunction function(name.c_str());
  if (static_cast<int>(nb::len(inputs)) != function.nin())
    throw TypeError(name + "() takes " + std::to_string(function.nin()) + " arguments, not " +
                    std::to_string(nb::len(inputs)));
  bool is_inexact_row = !std::string_view(function.row().loops).starts_with('?') &&
                        !std::string_view(function.row().loops).starts_with('b');
  for (nb::handle input : inputs)
    if (PyTuple_Check(input.ptr())) is_inexact_row |= is_inexact(to_dtype(nb::borrow<nb::tuple>(input)[0]));
  FixedList<Array, ops::kMaxArguments> arrays(nb::len(inputs));
  FixedList<Argument, ops::kMaxArguments> arguments(nb::len(inputs));
  for (nb::handle input : inputs) {
    Scalar scalar;
    if (PyTuple_Check(input.ptr())) {
      arguments.add(arrays.add(Array::empty({}, to_dtype(nb::borrow<nb::tuple>(input)[0]), cpu())));
    } else if (to_scalar(input.ptr(), scalar, is_inexact_row)) {
      arguments.add(scalar);
    } else {
      throw TypeError(name + "(): an argument is neither an array nor a number but " + describe(input.type()));
    }
  }
  CallRules rules;
  rules.dtype = to_optional_dtype(dtype);
  rules.casting = parse_casting(casting);
  std::optional<Dtype> forced;
  if (rules.dtype) forced = ops::forced_loop(function.row(), arguments.span(), rules);
  const ops::LoopTypes types = ops::loop_types(function.row(), arguments.span(), forced, rules.casting);
  nb::list result;
  result.append(nb::str(iruka::name(types.loop)));
  for (int k = 0; k < function.nin() + function.nout(); ++k)
    result.append(nb::str(iruka::name(types.types[static_cast<size_t>(k)])));
  return nb::tuple(result);
}

std::string operation_text(const std::string& name, nb::handle loop, const std::vector<nb::object>& types,
                           const std::vector<nb::object>& own, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& results) {
  const ElementwiseFunction function(name.c_str());
  return ops::operation_text(function.row(), loop_types_of(types, loop), dtypes_of(own), arguments, results);
}

std::string number_text(nb::handle number, nb::handle dtype) {
  Scalar scalar;
  const Dtype to = to_dtype(dtype);
  if (!to_scalar(number.ptr(), scalar, takes_any_integer(to)))
    throw TypeError("expected a number, not " + describe(number.type()));
  return ops::number_text(scalar, to);
}

/// An ElementwiseKernel that rounds each operation, as the functions of the table do.
ElementwiseKernel fused_kernel(std::string in_params, std::string out_params, std::string operation, std::string name,
                               std::string preamble, std::string made_at) {
  KernelOptions options;
  options.preamble = std::move(preamble);
  options.options = {"--fmad=false"};
  options.diagnose_early = false;
  options.made_at = std::move(made_at);
  return {std::move(in_params), std::move(out_params), std::move(operation), std::move(name), std::move(options)};
}

/// The same of a reduction; the arguments are those of ReductionKernel.
ReductionKernel fused_reduction(std::string in_params, std::string out_params, std::string map, std::string reduce,
                                std::string post_map, std::optional<std::string> identity, std::string name,
                                std::string reduce_type, std::string preamble, std::string made_at) {
  ReductionKernelOptions options;
  options.reduce_type = std::move(reduce_type);
  options.preamble = std::move(preamble);
  options.options = {"--fmad=false"};
  options.diagnose_early = false;
  options.made_at = std::move(made_at);
  return {std::move(in_params), std::move(out_params), std::move(map),  std::move(reduce),
          std::move(post_map),  std::move(identity),   std::move(name), std::move(options)};
}

}  // namespace

void bind_fuse(nb::module_& module) {
  nb::class_<FusedDispatcher>(module, "FusedDispatcher", nb::type_slots(kFusedSlots),
                              "Calls _launchers[signature of the call], else the method _first_call(args, kwargs).")
      .def(nb::init<>());
  module.def("_call_signature", call_signature, nb::arg("arguments"), nb::arg("names").none(), nb::arg("by_value"),
             nb::arg("attributes"));
  module.def("_operation_types", operation_types, nb::arg("name"), nb::arg("inputs"), nb::arg("dtype") = nb::none(),
             nb::arg("casting") = "same_kind");
  module.def("_operation_text", operation_text);
  module.def("_operation_preamble",
             [](const std::string& name) { return ops::operation_preamble(ElementwiseFunction(name.c_str()).row()); });
  module.def("_cast_text", [](nb::handle from, nb::handle to, const std::string& value) {
    return ops::cast_text(to_dtype(from), to_dtype(to), value);
  });
  module.def("_number_text", number_text);
  module.def("_can_cast", [](nb::handle from, nb::handle to, const std::string& casting) {
    return can_cast(to_dtype(from), to_dtype(to), parse_casting(casting));
  });
  module.def("_type_text", [](nb::handle dtype) { return std::string(info(to_dtype(dtype)).c_type); });
  module.def("_fused_kernel", fused_kernel);
  module.def("_fused_reduction", fused_reduction, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace iruka::python
