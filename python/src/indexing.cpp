// Keys of x[key] and the functions that choose elements by arrays.
#include "iruka/indexing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "array_slots.h"
#include "cuda.h"
#include "device.h"
#include "float_errors.h"
#include "interop.h"
#include "ops/checks.h"

namespace iruka::python {

namespace {

[[noreturn]] void refuse_index() {
  throw IndexError(
      "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
      "indices");
}

[[noreturn]] void refuse_dtype() { throw IndexError("arrays used as indices must be of integer (or boolean) type"); }

bool is_index_dtype(Dtype dtype) { return dtype == Dtype::bool_ || is_integer(dtype); }

std::optional<int64_t> slice_bound(PyObject* bound) {
  if (bound == Py_None) return {};
  if (!PyIndex_Check(bound)) throw TypeError("slice indices must be integers or None, not " + describe(bound));
  Py_ssize_t value = PyNumber_AsSsize_t(bound, nullptr);  // saturates, as Python's slices do
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

/// Booleans are integers to Python and masks without axes to NumPy.
bool is_boolean(PyObject* entry) { return PyBool_Check(entry) || Py_TYPE(entry) == imported.boolean; }

int64_t integer_index(PyObject* integer) {
  Py_ssize_t value = PyLong_AsSsize_t(integer);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw IndexError("index " + describe(integer) + " does not fit 64 bits");
  }
  return value;
}

/// A value that is read without waiting for a device.
bool is_host_integer(const Array& array) {
  return array.is_value() && is_integer(array.dtype()) && is_host(array.device());
}

bool is_empty_tuple(nb::handle key) { return PyTuple_Check(key.ptr()) && PyTuple_GET_SIZE(key.ptr()) == 0; }

/// An entry that is no array; false for others. A GPU's integers are arrays.
bool to_basic(PyObject* entry, Index& index) {
  if (PyLong_CheckExact(entry)) {
    index = integer_index(entry);
  } else if (PySlice_Check(entry)) {
    auto* slice = reinterpret_cast<PySliceObject*>(entry);
    index = Slice{slice_bound(slice->start), slice_bound(slice->stop), slice_bound(slice->step)};
  } else if (entry == Py_None) {
    index = NewAxis{};
  } else if (entry == Py_Ellipsis) {
    index = iruka::Ellipsis{};
  } else if (is_boolean(entry) || (is_array(entry) && !is_host_integer(array_of(entry))) || !PyIndex_Check(entry)) {
    return false;
  } else {
    nb::object number = nb::steal(PyNumber_Index(entry));  // NumPy's integers and its 0-d integer arrays
    if (!number.is_valid()) return PyErr_Clear(), false;
    index = integer_index(number.ptr());
  }
  return true;
}

Array truth(bool value) {
  Array array = Array::empty({}, Dtype::bool_, cpu());
  array.fill(value);
  return array;
}

/// What an entry of a key, or an argument named indices, is as an array of integers or bools.
Array to_index_array(PyObject* entry, Device& device) {
  if (is_boolean(entry)) return truth(PyObject_IsTrue(entry) == 1);
  if (!is_array_like(entry)) refuse_index();
  const bool has_dtype = is_array(entry) || PyObject_TypeCheck(entry, imported.ndarray);
  Array array;
  try {
    array = as_array(entry, device);
  } catch (const TypeError&) {
    has_dtype ? refuse_dtype() : refuse_index();
  }
  if (is_index_dtype(array.dtype())) return array;
  if (has_dtype) refuse_dtype();
  if (array.size() == 0)  // [] has no dtype of its own
    return without_gil([&] { return array.astype(Dtype::int64); });
  refuse_index();
}

/// A key taken apart: basic as long as no array comes.
struct Key {
  std::vector<Index> basic;
  std::vector<AnyIndex> any;
  bool has_arrays = false;

  Key(nb::handle key, Device& device) {
    if (PyTuple_Check(key.ptr())) {
      const Py_ssize_t size = PyTuple_GET_SIZE(key.ptr());
      basic.reserve(static_cast<size_t>(size));
      for (Py_ssize_t i = 0; i < size; i++) add(PyTuple_GET_ITEM(key.ptr(), i), device);
    } else {
      add(key.ptr(), device);
    }
  }

 private:
  void add(PyObject* entry, Device& device) {
    Index index;
    const bool is_basic = to_basic(entry, index);
    if (is_basic && !has_arrays) return basic.push_back(index);
    if (!has_arrays) {
      has_arrays = true;
      for (const Index& before : basic) any.push_back(widen(before));
    }
    is_basic ? any.push_back(widen(index)) : any.push_back(to_index_array(entry, device));
  }

  static AnyIndex widen(const Index& index) {
    return std::visit([](const auto& value) { return AnyIndex(value); }, index);
  }
};

/// Values to write at positions, as an array of the target's dtype where they are a scalar. Those of NumPy are cast, as
/// arrays are, where an assignment without arrays of positions takes them as elements, which must fit.
Array to_values(nb::handle value, const Array& target) {
  const Dtype dtype = target.dtype();
  Scalar scalar;
  Array values;
  if (is_array(value.ptr())) {
    values = array_of(value.ptr());
  } else if (to_scalar(value.ptr(), scalar, takes_any_integer(dtype))) {
    scalar.weak() ? check_element(scalar, dtype) : warn_of_discarded_imaginary(scalar.dtype(), dtype);
    return filled({}, scalar, dtype, target.device());
  } else if (is_array_like(value.ptr())) {
    values = as_elements(value, dtype, target.device());
  } else {
    throw TypeError("cannot assign " + describe(value) + " to elements of an array");
  }
  warn_of_discarded_imaginary(values.dtype(), dtype);
  return values;
}

/// What take and put take: integers, a single one too; bools count as 0 and 1.
Array to_indices(nb::handle object, Device& device) {
  const bool is_integer = PyIndex_Check(object.ptr()) && !is_array_like(object.ptr()) && !is_boolean(object.ptr());
  const Array indices = is_integer ? as_array(object, device) : to_index_array(object.ptr(), device);
  if (indices.dtype() != Dtype::bool_) return indices;
  return without_gil([&] { return indices.astype(Dtype::int64); });
}

Array operand(nb::handle object, const char* function) { return checked_array(object, function); }

/// Whether a value to assign is an array, a list or another sequence of some axes.
bool has_axes(nb::handle value) {
  if (is_array(value.ptr())) return array_of(value.ptr()).ndim() > 0;
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) return false;
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return true;
  const nb::object ndim = nb::getattr(value, "ndim", nb::none());
  return PyLong_Check(ndim.ptr()) && nb::cast<int64_t>(ndim) > 0;
}

bool names_one_element(const Key& key, const Array& array) {
  if (key.has_arrays || static_cast<int>(key.basic.size()) != array.ndim()) return false;
  return std::ranges::all_of(key.basic, [](const Index& index) { return std::holds_alternative<int64_t>(index); });
}

}  // namespace

Array get_item(const Array& array, int64_t position) {
  if (array.ndim() != 1 || position < -array.size() || position >= array.size()) return array.at(position);
  return value_at(array, array.offset() + (position < 0 ? position + array.size() : position) * array.strides()[0]);
}

Array get_item(const Array& array, nb::handle key) {
  if (array.is_value() && !is_empty_tuple(key)) return get_item(array.copy(), key);  // as of NumPy's scalars, no view
  if (!PyTuple_Check(key.ptr())) {
    Index index;
    if (to_basic(key.ptr(), index)) {
      const int64_t* position = std::get_if<int64_t>(&index);
      return position ? get_item(array, *position) : array.index({&index, 1});
    }
  }
  const Key parts(key, array.device());
  if (!parts.has_arrays) {
    const Array part = array.index(parts.basic);
    const bool is_element = part.ndim() == 0 && parts.basic.size() == static_cast<size_t>(array.ndim());
    return is_element && !part.is_value() ? value_at(part, part.offset()) : part;
  }
  const Array own = array;  // NOLINT(performance-unnecessary-copy-initialization): threads may assign to it meanwhile
  Array part = without_gil([&] { return iruka::index(own, parts.any); });
  const bool has_ellipsis = std::ranges::any_of(
      parts.any, [](const AnyIndex& entry) { return std::holds_alternative<iruka::Ellipsis>(entry); });
  return has_ellipsis ? part : std::move(part).as_value();
}

void update_at(Array array, nb::handle key, const ElementwiseFunction& function, const Array* values) {
  const Key parts(key, array.device());
  std::vector<AnyIndex> entries = parts.any;
  if (!parts.has_arrays)
    for (const Index& index : parts.basic)
      entries.push_back(std::visit([](const auto& value) { return AnyIndex(value); }, index));
  GilRelease release;
  scatter_at(array, entries, function, values);
}

void set_item(Array array, nb::handle key, nb::handle value) {
  if (array.is_value())
    throw TypeError("a value, such as x[3] or x.sum(), does not support item assignment; x[3:4] and x[3, ...] do");
  const Key parts(key, array.device());
  if (!parts.has_arrays) {
    const Array target = array.index(parts.basic);
    if (names_one_element(parts, array) && has_axes(value))
      throw ValueError("setting an array element with a sequence: one element cannot be set to an array with axes");
    return assign_value(target, value);
  }
  array.check_writable("assignment destination");
  const FloatWatch floats;
  const Array values = to_values(value, array);
  without_gil([&] { assign_index(array, parts.any, values); });
  if (const unsigned raised = floats.raised()) report_cast_errors(raised, value, array.dtype(), array.device());
}

namespace {

void bind_taking(nb::module_& module) {
  module.def(
      "values_array",
      [](nb::handle values, nb::handle target) {
        const Array array = to_values(values, checked_array(target, "values_array"));
        return to_python(array.is_value() ? without_gil([&] { return array.copy(); }) : array);
      },
      nb::arg("values"), nb::arg("target"), "Values to be written into `target`, as an array that is cast.");
  module.def(
      "take",
      [](nb::handle x, nb::handle indices, nb::handle axis, nb::handle mode) {
        const Array from = operand(x, "take"), positions = to_indices(indices, from.device());
        std::optional<int64_t> along;
        if (!axis.is_none()) along = to_int64(axis, "take: axis");
        const IndexMode way = parse_index_mode(to_text(mode, "take: mode"));
        return make_array([&] { return iruka::take(from, positions, along, way); });
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("axis").none(), nb::arg("mode"));
  module.def(
      "repeat",
      [](nb::handle x, nb::handle repeats, nb::handle axis) {
        const Array from = operand(x, "repeat");
        std::optional<int64_t> along;
        if (!axis.is_none()) along = to_int64(axis, "repeat: axis");
        if (PyLong_CheckExact(repeats.ptr())) {
          const int64_t count = to_int64(repeats, "repeat: repeats");
          return make_array([&] { return iruka::repeat(from, count, along); });
        }
        const Array counts = operand(repeats, "repeat: repeats");
        ops::check_cast(counts.dtype(), Dtype::int64);
        return make_array([&] { return iruka::repeat(from, counts, along); });
      },
      nb::arg("x"), nb::arg("repeats"), nb::arg("axis").none());
  module.def(
      "put",
      [](nb::handle x, nb::handle indices, nb::handle values, nb::handle mode) {
        const Array to = operand(x, "put"), positions = to_indices(indices, to.device()), from = to_values(values, to);
        const IndexMode way = parse_index_mode(to_text(mode, "put: mode"));
        GilRelease release;
        iruka::put(to, positions, from, way);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("values"), nb::arg("mode"));
  module.def(
      "take_along_axis",
      [](nb::handle x, nb::handle indices, int64_t axis) {
        const Array from = operand(x, "take_along_axis"), positions = operand(indices, "take_along_axis: indices");
        return make_array([&] { return iruka::take_along_axis(from, positions, axis); });
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("axis"));
  module.def(
      "put_along_axis",
      [](nb::handle x, nb::handle indices, nb::handle values, int64_t axis) {
        const Array to = operand(x, "put_along_axis"), positions = operand(indices, "put_along_axis: indices"),
                    from = operand(values, "put_along_axis: values");
        GilRelease release;
        iruka::put_along_axis(to, positions, from, axis);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("values"), nb::arg("axis"));
}

void bind_finding(nb::module_& module) {
  module.def(
      "nonzero",
      [](nb::handle x) {
        const Array from = operand(x, "nonzero");
        Array found;
        {
          GilRelease release;
          found = iruka::nonzero(from);
        }
        nb::object tuple = nb::steal(PyTuple_New(from.ndim()));
        for (int axis = 0; axis < from.ndim(); ++axis)
          PyTuple_SET_ITEM(tuple.ptr(), axis, wrap(from.ndim() == 1 ? found.reshape({-1}) : found.at(axis)));
        return tuple;
      },
      nb::arg("x"), nb::sig("def nonzero(x: ndarray) -> tuple[ndarray, ...]"));
  module.def(
      "argwhere",
      [](nb::handle x) {
        const Array from = operand(x, "argwhere");
        return make_array([&] {
          const Array found = iruka::nonzero(from).transpose();
          return from.ndim() == 0 ? found.at(Slice{}, Slice{0, 0, {}}) : found;
        });
      },
      nb::arg("x"));
  module.def(
      "flatnonzero",
      [](nb::handle x) {
        const Array from = operand(x, "flatnonzero");
        return make_array([&] { return iruka::flatnonzero(from); });
      },
      nb::arg("x"));
  module.def("unravel", [](nb::handle positions, nb::handle shape) {
    const Array from = operand(positions, "unravel_index");
    const Dims extents = to_dims(shape, "unravel_index: shape");
    return make_array([&] { return unravel_index(from.astype(Dtype::int64, false), extents); });
  });
}

void bind_diagonals(nb::module_& module) {
  module.def("diagonal", [](nb::handle x, nb::handle offset, nb::handle axis1, nb::handle axis2) {
    return to_python(diagonal(operand(x, "diagonal"), to_int64(offset, "diagonal: offset"),
                              to_int64(axis1, "diagonal: axis1"), to_int64(axis2, "diagonal: axis2")));
  });
  module.def("tri", [](nb::handle rows, nb::handle columns, nb::handle k) {
    const int64_t height = to_int64(rows, "tri: N"), width = to_int64(columns, "tri: M"), above = to_int64(k, "tri: k");
    return make_array([&] { return tri(height, width, above); });
  });
  module.def("triangle", [](nb::handle x, nb::handle k, bool is_lower) {
    const Array from = operand(x, is_lower ? "tril" : "triu");
    const int64_t offset = to_int64(k, is_lower ? "tril: k" : "triu: k");
    return make_array([&] { return is_lower ? tril(from, offset) : triu(from, offset); });
  });
}

void bind_updates(nb::module_& module) {
  module.def(
      "scatter_at",
      [](nb::handle x, nb::handle key, const ElementwiseFunction& function, nb::handle values) {
        const Array to = operand(x, "at");
        std::optional<Array> second;
        if (!values.is_none()) second = as_array(values, to.device());
        update_at(to, key, function, second ? &*second : nullptr);
      },
      nb::arg("x"), nb::arg("indices"), nb::arg("function"), nb::arg("values").none(),
      "x[indices] = function(x[indices], values), index after index: what ufunc.at does.");
  module.def(
      "check_indices",
      [](nb::handle object) {
        Device& device = to_device(object, "check_indices: device");
        GilRelease release;
        check_indices(device);
      },
      nb::arg("device") = nb::none());
  module.def("set_immediate_index_check", &set_immediate_index_check, nb::arg("immediate"));
}

}  // namespace

void bind_indexing(nb::module_& module) {
  bind_taking(module);
  bind_finding(module);
  bind_diagonals(module);
  bind_updates(module);
}

namespace {

nb::object function_of(const char* name) { return package_attribute("iruka._numpy.indexing", name); }

}  // namespace

void bind_index_methods(nb::class_<Array>& type) {
  type.def(
          "take",
          [](nb::handle x, nb::handle indices, nb::handle axis, nb::handle out, nb::handle mode) {
            return function_of("take")(x, indices, axis, out, mode);
          },
          nb::arg("indices"), nb::arg("axis") = nb::none(), nb::arg("out") = nb::none(), nb::arg("mode") = "raise",
          nb::sig("def take(self, indices, axis: int | None = None, out: ndarray | None = None, mode: str = 'raise') "
                  "-> ndarray"),
          "Elements at indices, of the flattened array or along an axis.")
      .def(
          "put",
          [](nb::handle x, nb::handle indices, nb::handle values, nb::handle mode) {
            return function_of("put")(x, indices, values, mode);
          },
          nb::arg("indices"), nb::arg("values"), nb::arg("mode") = "raise",
          nb::sig("def put(self, indices, values, mode: str = 'raise') -> None"),
          "Sets elements of the flattened array; values repeat as needed.")
      .def(
          "repeat",
          [](nb::handle x, nb::handle repeats, nb::handle axis) { return function_of("repeat")(x, repeats, axis); },
          nb::arg("repeats"), nb::arg("axis") = nb::none(),
          nb::sig("def repeat(self, repeats, axis: int | None = None) -> ndarray"),
          "Each element, or each slice along an axis, as often as `repeats` says.")
      .def(
          "choose",
          [](nb::handle x, nb::handle choices, nb::handle out, nb::handle mode) {
            return function_of("choose")(x, choices, out, mode);
          },
          nb::arg("choices"), nb::arg("out") = nb::none(), nb::arg("mode") = "raise",
          nb::sig("def choose(self, choices, out: ndarray | None = None, mode: str = 'raise') -> ndarray"),
          "Of each element, the choice that it numbers.")
      .def(
          "compress",
          [](nb::handle x, nb::handle condition, nb::handle axis, nb::handle out) {
            return function_of("compress")(condition, x, axis, out);
          },
          nb::arg("condition"), nb::arg("axis") = nb::none(), nb::arg("out") = nb::none(),
          nb::sig("def compress(self, condition, axis: int | None = None, out: ndarray | None = None) -> ndarray"),
          "Slices along an axis where a condition holds.")
      .def(
          "nonzero", [](nb::handle x) { return function_of("nonzero")(x); },
          nb::sig("def nonzero(self) -> tuple[ndarray, ...]"), "Indices of the nonzero elements, one array an axis.")
      .def(
          "diagonal",
          [](nb::handle x, nb::handle offset, nb::handle axis1, nb::handle axis2) {
            return function_of("diagonal")(x, offset, axis1, axis2);
          },
          nb::arg("offset") = 0, nb::arg("axis1") = 0, nb::arg("axis2") = 1,
          nb::sig("def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray"),
          "Read-only view of a diagonal, as the last axis.")
      .def(
          "trace",
          [](nb::handle x, nb::handle offset, nb::handle axis1, nb::handle axis2, nb::handle dtype, nb::handle out) {
            return function_of("trace")(x, offset, axis1, axis2, dtype, out);
          },
          nb::arg("offset") = 0, nb::arg("axis1") = 0, nb::arg("axis2") = 1, nb::arg("dtype") = nb::none(),
          nb::arg("out") = nb::none(),
          nb::sig("def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, "
                  "out: ndarray | None = None) -> ndarray"),
          "Sum along a diagonal.")
      .def_prop_rw(
          "flat", [](nb::handle x) { return function_of("FlatIterator")(x); },
          [](nb::handle x, nb::handle values) {
            function_of("FlatIterator")(x).attr("__setitem__")(nb::ellipsis(), values);
          },
          nb::for_getter(nb::sig("def flat(self) -> iruka._numpy.indexing.FlatIterator")),
          nb::for_setter(nb::sig("def flat(self, values: object, /) -> None")),
          "The elements in C order as one axis: index, slice, assign, iterate.");
}

}  // namespace iruka::python
