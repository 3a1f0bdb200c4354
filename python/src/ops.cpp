// Array functions: creation, joining, promotion of dtypes.
#include "ops.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "device.h"
#include "float_errors.h"
#include "interop.h"
#include "ops/checks.h"
#include "ops/create/joining.h"

namespace iruka::python {

Array as_operand(nb::handle object, const char* function, Device& device) {
  if (!is_array_like(object.ptr())) {
    Scalar scalar;
    if (!to_scalar(object.ptr(), scalar)) {
      throw TypeError(std::string(function) + ": expected an array, not " + describe(object.type()));
    }
  }
  return as_array(object, device);
}

std::vector<Array> arrays_of(nb::handle sequence, const char* function) {
  std::vector<Array> arrays;
  if (is_array(sequence.ptr()) && array_of(sequence.ptr()).ndim() == 0) {
    throw TypeError(std::string(function) + ": expected a sequence of arrays, not one without axes");
  }
  const nb::object items = nb::steal(PySequence_List(sequence.ptr()));
  if (!items.is_valid()) throw nb::python_error();
  const std::span<PyObject* const> objects(PySequence_Fast_ITEMS(items.ptr()), nb::len(items));
  for (PyObject* item : objects) arrays.push_back(as_operand(item, function, device_among(objects)));
  return arrays;
}

Scalar scalar_of(nb::handle object, const char* function, bool inexact) {
  Scalar scalar;
  if (is_array(object.ptr()) && array_of(object.ptr()).ndim() == 0) return item_of(array_of(object.ptr()));
  if (!to_scalar(object.ptr(), scalar, inexact)) {
    throw TypeError(std::string(function) + ": expected a scalar, not " + describe(object));
  }
  return scalar;
}

namespace {

/// NumPy's result is at least int64, even if the bounds are of a smaller type.
Dtype arange_dtype(std::initializer_list<Scalar> bounds) {
  Dtype dtype = Dtype::int64;
  for (const Scalar& bound : bounds) dtype = bound.weak() ? promote_weak(dtype, bound) : promote(dtype, bound.dtype());
  return dtype;
}

Array arange(nb::handle start, nb::handle stop, nb::handle step, nb::handle dtype) {
  Scalar first = stop.is_none() ? Scalar(0) : scalar_of(start, "arange");
  Scalar last = scalar_of(stop.is_none() ? start : stop, "arange");
  Scalar by = step.is_none() ? Scalar(1) : scalar_of(step, "arange");
  if (by.as_complex() == 0.0) {
    PyErr_SetString(package_attribute("iruka.errors", "ZeroDivisionError").ptr(), "arange: step must not be 0");
    throw nb::python_error();
  }
  Dtype type = dtype.is_none() ? arange_dtype({first, last, by}) : to_dtype(dtype);
  for (const Scalar& bound : {first, last, by})
    if (bound.kind() == Kind::complex && !is_complex(type))
      throw TypeError(std::string("arange: ") + bound.to_string() + " is not a valid bound for a range of " +
                      name(type));
  GilRelease release;
  return iruka::arange(first, last, by, type);
}

void bind_creation(nb::module_& module) {
  module.def(
      "as_array",
      [](nb::handle object, nb::handle device) {
        return to_python(as_operand(object, "asarray", to_device(device, "asarray: device")));
      },
      nb::arg("object").none(), nb::arg("device") = nb::none());
  module.def(
      "array_of_numbers",
      [](nb::handle list) -> nb::object {
        std::optional<Array> array = from_numbers(list.ptr());
        if (!array) return nb::none();
        Device& device = default_device();
        if (&device == &array->device()) return to_python(*std::move(array));
        return make_mutable_array([&] { return array->to_device(device); });
      },
      nb::arg("list"), nb::sig("def array_of_numbers(list: object) -> ndarray | None"),
      "An array of nested lists or tuples of Python's numbers; None for others.");
  module.def(
      "empty",
      [](nb::handle shape, nb::handle dtype) {
        Dims extents = to_dims(shape, "empty: shape");
        Dtype type = to_dtype(dtype);
        return make_mutable_array([&] { return iruka::empty(extents, type); });  // a full pool waits for its device
      },
      nb::arg("shape"), nb::arg("dtype").none());
  module.def(
      "zeros",
      [](nb::handle shape, nb::handle dtype) {
        Dims extents = to_dims(shape, "zeros: shape");
        Dtype type = to_dtype(dtype);
        return make_mutable_array([&] { return iruka::zeros(extents, type); });
      },
      nb::arg("shape"), nb::arg("dtype").none());
  module.def(
      "ones",
      [](nb::handle shape, nb::handle dtype) {
        Dims extents = to_dims(shape, "ones: shape");
        Dtype type = to_dtype(dtype);
        return make_mutable_array([&] { return iruka::ones(extents, type); });
      },
      nb::arg("shape"), nb::arg("dtype").none());
  module.def(
      "full",
      [](nb::handle shape, nb::handle value, nb::handle dtype) {
        Dims extents = to_dims(shape, "full: shape");
        std::optional<Dtype> type = to_optional_dtype(dtype);
        Scalar scalar = scalar_of(value, "full", type && is_inexact(*type));
        if (type) warn_of_discarded_imaginary(scalar.dtype(), *type);
        const FloatWatch floats;
        nb::object result = make_mutable_array([&] { return iruka::full(extents, scalar, type); });
        const unsigned raised = floats.raised();
        if (raised && type) report_cast_errors(raised, value, *type, array_of(result.ptr()).device());
        return result;
      },
      nb::arg("shape"), nb::arg("value"), nb::arg("dtype").none());
  module.def(
      "arange",
      [](nb::handle start, nb::handle stop, nb::handle step, nb::handle dtype) {
        return to_python(arange(start, stop, step, dtype));
      },
      nb::arg("start"), nb::arg("stop").none(), nb::arg("step").none(), nb::arg("dtype").none());
  module.def(
      "linspace",
      [](double start, double stop, int64_t count, bool endpoint, nb::handle dtype) {
        Dtype type = to_dtype(dtype);
        return make_array([&] { return iruka::linspace(start, stop, count, endpoint, type); });
      },
      nb::arg("start"), nb::arg("stop"), nb::arg("count"), nb::arg("endpoint"), nb::arg("dtype").none());
  module.def(
      "eye",
      [](int64_t rows, nb::handle columns, int64_t k, nb::handle dtype) {
        std::optional<int64_t> width;
        if (!columns.is_none()) width = to_int64(columns, "eye: M");
        Dtype type = to_dtype(dtype);
        return make_array([&] { return iruka::eye(rows, width, k, type); });
      },
      nb::arg("rows"), nb::arg("columns").none(), nb::arg("k"), nb::arg("dtype").none());
}

nb::tuple shape_of(const ops::Joint& joint) { return from_dims(ops::joined_shape(joint.parts, joint.axis)); }

void bind_joining(nb::module_& module) {
  module.def("concatenate", [](nb::handle sequence, int64_t axis) {
    std::vector<Array> arrays = arrays_of(sequence, "concatenate");
    GilRelease release;
    return iruka::concatenate(arrays, axis);
  });
  module.def("stack", [](nb::handle sequence, int64_t axis) {
    std::vector<Array> arrays = arrays_of(sequence, "stack");
    GilRelease release;
    return iruka::stack(arrays, axis);
  });
  // The shapes of the results, which are not made.
  module.def("concatenate_shape", [](nb::handle sequence, int64_t axis) {
    return from_dims(ops::joined_shape(arrays_of(sequence, "concatenate"), axis));
  });
  module.def("stack_shape", [](nb::handle sequence, int64_t axis) {
    return shape_of(ops::stack_joint(arrays_of(sequence, "stack"), axis));
  });
  module.def("vstack_shape",
             [](nb::handle sequence) { return shape_of(ops::vstack_joint(arrays_of(sequence, "vstack"))); });
  module.def("hstack_shape",
             [](nb::handle sequence) { return shape_of(ops::hstack_joint(arrays_of(sequence, "hstack"))); });
  module.def("result_type", [](nb::args objects) {
    std::vector<Argument> arguments;
    std::vector<Operand> operands(objects.size());
    std::vector<Array> stand_ins;
    stand_ins.reserve(objects.size());
    for (size_t k = 0; k < objects.size(); k++) {
      if (operands[k].take(nb::handle(objects[k]).ptr(), false)) {
        arguments.push_back(operands[k].argument());
      } else {
        stand_ins.push_back(Array::empty({0}, to_dtype(objects[k])));  // a dtype counts as an array of it
        arguments.push_back(Argument(stand_ins.back()));
      }
    }
    return dtype_object(iruka::result_type(arguments));
  });
  module.def("promote_types",
             [](nb::handle a, nb::handle b) { return dtype_object(promote(to_dtype(a), to_dtype(b))); });
  module.def(
      "dtype_of", [](nb::handle object) { return dtype_object(to_dtype(object)); },
      "The numpy.dtype of anything dtype-like. Raises TypeError for one that arrays cannot have.");
  module.def("check_out_device",
             [](const Array& out, const Array& result) { ops::check_device("out", out, result.device()); });
  module.def("broadcast_shapes", [](nb::args shapes) {
    std::vector<Dims> dims;
    dims.reserve(shapes.size());
    for (nb::handle shape : shapes) dims.push_back(to_dims(shape, "broadcast_shapes: shape"));
    std::vector<const Dims*> pointers;
    pointers.reserve(dims.size());
    for (const Dims& d : dims) pointers.push_back(&d);
    return from_dims(iruka::broadcast_shapes(pointers));
  });
}

}  // namespace

void bind_ops(nb::module_& module) {
  bind_creation(module);
  bind_joining(module);
}

}  // namespace iruka::python
