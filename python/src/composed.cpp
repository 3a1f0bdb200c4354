#include "composed.h"

#include <vector>

#include "ops.h"

namespace iruka::python {

namespace {

nb::object python_value(const Argument& argument) {
  return argument.is_array() ? to_python(argument.array()) : from_scalar(argument.scalar());
}

nb::object or_none(const std::optional<Dims>& axes) { return axes ? nb::object(from_dims(*axes)) : nb::none(); }

/// Holds the GIL for functions of Python, whose own calls are not those of the function that is told of.
struct PythonScope {
  const GilHold hold;
  const ops::ListenerScope scope{nullptr};
};

}  // namespace

void Telling::called(const ElementwiseFunction& function, std::span<const Argument> inputs,
                     std::span<const Array> outputs) {
  const unsigned raised = floats_.raised();
  if (!raised) return;
  const PythonScope python;
  nb::list given, made;
  for (const Argument& input : inputs) given.append(python_value(input));
  for (const Array& output : outputs) made.append(to_python(output));
  std::vector<PyObject*> objects;
  for (nb::handle input : given) objects.push_back(input.ptr());
  report_ufunc_errors(function, raised, objects, nb::tuple(made).ptr(), nullptr, /*is_operator=*/false);
}

void Telling::reduced(const ReductionFunction& function, const Array& x, const ReductionOptions& options,
                      const Array& result) {
  const unsigned raised = floats_.raised();
  if (!raised && x.size() > 0) return;
  const PythonScope python;
  const nb::object dtype = options.dtype ? dtype_object(*options.dtype) : nb::none();
  const nb::object initial = options.initial ? from_scalar(*options.initial) : nb::none();
  const nb::object where = options.where ? to_python(*options.where) : nb::none();
  report_reduction_errors(function, x, options, raised, result,
                          nb::make_tuple(to_python(x), or_none(options.axes), dtype, initial, where));
}

void Telling::computed(const char* function, std::span<const Argument> inputs, const Array& result) {
  const unsigned raised = floats_.raised();
  if (!raised) return;
  const PythonScope python;
  nb::list given;
  for (const Argument& input : inputs) given.append(python_value(input));
  report_function_errors(function, raised, result, nb::tuple(given));
}

void Telling::varied(const Array& x, const std::optional<Dims>& axes, double correction, const Array& result) {
  const unsigned raised = floats_.raised();
  if (!raised) return;
  const PythonScope python;
  report_function_errors("variance", raised, result, nb::make_tuple(to_python(x), or_none(axes), correction));
}

void Telling::scanned(const Array& x, ScanOperation operation, int64_t axis, const ScanOptions& options,
                      const Array& result) {
  const unsigned raised = floats_.raised();
  if (!raised) return;
  const PythonScope python;
  const char* const name = operation == ScanOperation::add ? "add" : "multiply";
  if (operation != ScanOperation::add && operation != ScanOperation::multiply) return;
  const nb::object dtype = options.dtype ? dtype_object(*options.dtype) : nb::none();
  report_function_errors("scan", raised, result, nb::make_tuple(to_python(x), name, axis, dtype, options.skips_nan));
}

void Telling::cast(const Array& x, Dtype dtype) {
  const unsigned raised = floats_.raised();
  if (!raised) return;
  const PythonScope python;
  report_cast_errors(raised, to_python(x), dtype, x.device());
}

void Telling::warned(const char* message) {
  const PythonScope python;
  warn_caller(message);
}

OperandPair::OperandPair(nb::handle first, nb::handle second, const char* function) {
  if (!is_array(first.ptr()) && is_array(second.ptr())) {
    b = array_of(second.ptr());
    a = as_operand(first, function, b.device());
  } else {
    a = as_operand(first, function, default_device());
    b = as_operand(second, function, a.device());
  }
}

nb::list to_list(std::vector<Array> arrays) {
  nb::list list;
  for (Array& array : arrays) list.append(to_python(std::move(array)));
  return list;
}

nb::tuple to_tuple(std::vector<Array> arrays) { return nb::tuple(to_list(std::move(arrays))); }

std::optional<int64_t> optional_axis(nb::handle axis, const char* what) {
  if (axis.is_none()) return {};
  return to_int64(axis, what);
}

std::optional<Array> optional_array(nb::handle array, const char* what) {
  if (array.is_none()) return {};
  return checked_array(array, what);
}

std::optional<Dims> optional_axes(nb::handle axes) {
  if (axes.is_none()) return {};
  return to_dims(axes, "axis");
}

}  // namespace iruka::python
