// Array functions: rows of the tables as callables, creation, joining.
#include "ops.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "cuda.h"
#include "device.h"
#include "float_errors.h"
#include "interop.h"
#include "ops/checks.h"
#include "ops/create/joining.h"
#include "truth.h"

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

namespace {

/// Whether the results are positions: of argmin and argmax.
bool is_selection(const ReductionFunction& function) { return std::string_view(function.name()).starts_with("arg"); }

/// An `out` is as ops::check_out() says; that of an index is of bools or integers that int64 holds.
void check_out(const ReductionFunction& function, const Array& out, const Array& result) {
  ops::check_out(function.name(), out, result.shape(), result.device());
  if (is_selection(function) && !can_cast(out.dtype(), Dtype::int64, Casting::safe))
    throw TypeError(std::string(function.name()) + ": out holds " + name(out.dtype()) +
                    ", which cannot be cast to int64 by the rule 'safe'");
}

Array out_array(const char* function, nb::handle out) {
  if (std::optional<Array> target = given_output(out)) return *std::move(target);
  throw TypeError(std::string(function) + ": out must be an iruka.ndarray, not " + describe(out.type()));
}

Scalar scalar_of(nb::handle object, const char* function, bool inexact = false) {
  Scalar scalar;
  if (is_array(object.ptr()) && array_of(object.ptr()).ndim() == 0) return item_of(array_of(object.ptr()));
  if (!to_scalar(object.ptr(), scalar, inexact)) {
    throw TypeError(std::string(function) + ": expected a scalar, not " + describe(object));
  }
  return scalar;
}

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

// Each reduction takes NumPy's parameters for it and no others, so there is a class for each list of parameters.
struct MeanFunction : ReductionFunction {
  using ReductionFunction::ReductionFunction;
};
struct SelectionFunction : ReductionFunction {
  using ReductionFunction::ReductionFunction;
};
struct TruthFunction : ReductionFunction {
  using ReductionFunction::ReductionFunction;
};
struct PositionFunction : ReductionFunction {
  using ReductionFunction::ReductionFunction;
};
struct CountFunction : ReductionFunction {
  using ReductionFunction::ReductionFunction;
};

/// A class of reductions in Python; `call` and what follows it define its __call__.
template <class Function, class... Arguments>
void bind_reduction(nb::module_& module, const char* name, const char* documentation, const Arguments&... call) {
  nb::class_<Function>(module, name, nb::dynamic_attr(), documentation)
      .def(nb::init<const char*>(), nb::arg("name"))
      .def_prop_ro("_documentation", [](const Function& f) { return f.documentation(); })
      .def(
          "__reduce__",
          [](const Function& f) {
            return nb::make_tuple(package_attribute("iruka._functions", "reduction_named"), nb::make_tuple(f.name()));
          },
          nb::sig("def __reduce__(self) -> tuple"))
      .def("__repr__", [](const Function& f) { return "<iruka reduction '" + std::string(f.name()) + "'>"; })
      .def("__call__", call...);
}

nb::object fold(const ReductionFunction& function, nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out,
                bool keepdims, nb::handle initial, nb::handle where) {
  return reduce(function, as_operand(a, function.name()), axis, dtype, out, keepdims, initial, where);
}

void bind_rows(nb::module_& module) {
  const auto a = nb::arg("a");
  const auto axis = nb::arg("axis") = nb::none();
  const auto dtype = nb::arg("dtype") = nb::none();
  const auto out = nb::arg("out") = nb::none();
  const auto keepdims = nb::arg("keepdims") = false;
  const auto initial = nb::arg("initial") = nb::none();
  const auto where = nb::arg("where") = nb::none();
  const nb::handle none = Py_None;
  bind_reduction<ReductionFunction>(
      module, "ReductionFunction", "A function that folds axes away.",
      [](const ReductionFunction& f, nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, Truth keepdims,
         nb::handle initial, nb::handle where) { return fold(f, a, axis, dtype, out, keepdims, initial, where); },
      a, axis, dtype, out, keepdims, initial, where,
      nb::sig("def __call__(self, a, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None,"
              " keepdims: bool = False, initial=None, where=None) -> ndarray"));
  bind_reduction<MeanFunction>(
      module, "MeanFunction", "A function that folds axes away, without an initial value.",
      [none](const MeanFunction& f, nb::handle a, nb::handle axis, nb::handle dtype, nb::handle out, Truth keepdims,
             nb::handle where) { return fold(f, a, axis, dtype, out, keepdims, none, where); },
      a, axis, dtype, out, keepdims, nb::kw_only(), where,
      nb::sig("def __call__(self, a, axis: int | tuple[int, ...] | None = None, dtype=None, out: ndarray | None = None,"
              " keepdims: bool = False, *, where=None) -> ndarray"));
  bind_reduction<SelectionFunction>(
      module, "SelectionFunction", "A function that folds axes away and takes no dtype.",
      [none](const SelectionFunction& f, nb::handle a, nb::handle axis, nb::handle out, Truth keepdims,
             nb::handle initial, nb::handle where) { return fold(f, a, axis, none, out, keepdims, initial, where); },
      a, axis, out, keepdims, initial, where,
      nb::sig("def __call__(self, a, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, "
              "keepdims: bool = False, initial=None, where=None) -> ndarray"));
  bind_reduction<TruthFunction>(
      module, "TruthFunction", "A function that folds the truth of elements along axes.",
      [none](const TruthFunction& f, nb::handle a, nb::handle axis, nb::handle out, Truth keepdims, nb::handle where) {
        return fold(f, a, axis, none, out, keepdims, none, where);
      },
      a, axis, out, keepdims, nb::kw_only(), where,
      nb::sig("def __call__(self, a, axis: int | tuple[int, ...] | None = None, out: ndarray | None = None, "
              "keepdims: bool = False, *, where=None) -> ndarray"));
  bind_reduction<PositionFunction>(
      module, "PositionFunction", "A function that finds an element's position, flat or along an axis.",
      [none](const PositionFunction& f, nb::handle a, nb::handle axis, nb::handle out, Truth keepdims) {
        return fold(f, a, axis, none, out, keepdims, none, none);
      },
      a, axis, out, nb::kw_only(), keepdims,
      nb::sig("def __call__(self, a, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) "
              "-> ndarray"));
  bind_reduction<CountFunction>(
      module, "CountFunction", "A function that counts elements along axes.",
      [none](const CountFunction& f, nb::handle a, nb::handle axis, Truth keepdims) {
        return fold(f, a, axis, none, none, keepdims, none, none);
      },
      a, axis, nb::kw_only(), keepdims,
      nb::sig(
          "def __call__(self, a, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False) -> ndarray"));
  module.def("reduction_names", &reduction_names, "Names of every reduction.");
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

std::optional<Dims> reduction_axes(const char* function, const Array& array, nb::handle axis) {
  if (axis.is_none()) return {};
  const Dims axes = to_dims(axis, "axis");
  if (PyTuple_Check(axis.ptr()) && array.ndim() == 0)
    for (const int64_t named : axes) normalize_axis(function, named, 0);
  return axes;
}

ReductionCall::ReductionCall(const char* function, const Array& array, nb::handle axis, nb::handle dtype, bool keepdims,
                             nb::handle initial, nb::handle where)
    : options{.axes = reduction_axes(function, array, axis), .keepdims = keepdims, .dtype = to_optional_dtype(dtype)} {
  if (!initial.is_none())
    options.initial = scalar_of(initial, function, takes_any_integer(options.dtype.value_or(array.dtype())));
  if (where.is_none() || where.ptr() == Py_True) return;
  mask_ = as_operand(where, function);
  Scalar number;
  if (PyList_Check(where.ptr()) || PyTuple_Check(where.ptr()) || to_scalar(where.ptr(), number))  // numbers are bools
    mask_ = without_gil([&] { return mask_->astype(Dtype::bool_, false); });
  options.where = &*mask_;
}

/// NumPy's warnings about empty slices. On a GPU only for empty arrays, because others would have to wait for it.
void warn_of_nothing(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                     unsigned raised, const Array& result) {
  const std::string_view name = function.name();
  const char* message = nullptr;
  if (name == "mean" && result.size() > 0) {
    const bool may_lack = options.where && is_host(x.device()) && (raised & kFloatInvalid);
    const bool lacks = may_lack && without_gil([&] {
                         const Array counted = options.where->broadcast_to(x.shape());
                         return !all(ReductionFunction("any")(counted, options.axes)).item().as_bool();
                       });
    if (x.size() == 0 || lacks) message = "Mean of empty slice";
  } else if ((name == "nanmin" || name == "nanmax") && any_nan(result)) {
    message = "All-NaN slice encountered";
  }
  if (message) warn_caller(message);
}

void report_reduction_errors(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                             unsigned raised, const Array& result, const nb::tuple& arguments) {
  warn_of_nothing(function, x, options, raised, result);
  if (options.initial) warn_of_discarded_imaginary(options.initial->dtype(), result.dtype());
  if (raised) report_function_errors(function.name(), raised, result, arguments);
}

nb::object reduce(const ReductionFunction& function, Array array, nb::handle axis, nb::handle dtype, nb::handle out,
                  bool keepdims, nb::handle initial, nb::handle where) {
  if (is_selection(function) && PyTuple_Check(axis.ptr()))
    throw TypeError(std::string(function.name()) + ": axis must be an integer or None, not a tuple");
  ReductionCall call(function.name(), array, axis, dtype, keepdims, initial, where);
  std::optional<Array> target;
  if (!out.is_none()) target = out_array(function.name(), out);
  const bool is_mean = std::string_view(function.name()) == "mean";
  if (target && dtype.is_none() && !is_mean && (function.takes_dtype() || call.options.initial))
    call.options.dtype = promote(array.dtype(), target->dtype());
  const FloatWatch floats;
  Array result = without_gil([&] {
    Array reduced = iruka::reduce(function, array, call.options);
    if (!target && reduced.buffer() == array.buffer()) reduced = reduced.copy();
    return reduced;
  });
  const unsigned raised = floats.raised();
  report_reduction_errors(function, array, call.options, raised, result,
                          nb::make_tuple(to_python(array), axis, dtype, initial, where));
  if (!target) return to_result(std::move(result));
  check_out(function, *target, result);
  warn_of_discarded_imaginary(result.dtype(), target->dtype());
  {
    GilRelease release;
    target->assign(result);
  }
  return nb::borrow(out);
}

void bind_ops(nb::module_& module) {
  bind_rows(module);
  bind_creation(module);
  bind_joining(module);
}

}  // namespace iruka::python
