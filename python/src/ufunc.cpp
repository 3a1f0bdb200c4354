// iruka.ufunc: rows of the elementwise table as NumPy's ufuncs, with their keywords and methods.
#include "ufunc.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "array_slots.h"
#include "core/device.h"
#include "core/once.h"
#include "fixed_list.h"
#include "float_errors.h"
#include "interop.h"
#include "iruka/fold.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/elementwise/loop_types.h"
#include "public_names.h"

namespace iruka::python {

namespace {

constexpr int kMostInputs = 5, kMostOutputs = 2;

/// The keywords of a call; borrowed references, null if absent.
struct CallKeywords {
  PyObject *out = nullptr, *where = nullptr, *dtype = nullptr, *casting = nullptr, *order = nullptr,
           *signature = nullptr, *subok = nullptr;

  CallKeywords(const char* function, PyObject* keywords) {
    if (!keywords) return;
    const auto& names = made_once([] {
      const auto named = [](const char* name, PyObject* CallKeywords::* member) {
        return std::pair(PyUnicode_InternFromString(name), member);
      };
      return std::array{named("out", &CallKeywords::out),       named("where", &CallKeywords::where),
                        named("dtype", &CallKeywords::dtype),   named("casting", &CallKeywords::casting),
                        named("order", &CallKeywords::order),   named("signature", &CallKeywords::signature),
                        named("sig", &CallKeywords::signature), named("subok", &CallKeywords::subok)};
    });
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(keywords, &position, &key, &value)) {
      auto matches = [key](const auto& entry) { return entry.first == key; };
      const auto* found = std::find_if(std::begin(names), std::end(names), matches);
      if (found == std::end(names)) {  // not interned
        auto equals = [key](const auto& entry) { return PyUnicode_Compare(entry.first, key) == 0; };
        found = std::find_if(std::begin(names), std::end(names), equals);
      }
      if (found == std::end(names))
        throw TypeError(std::string(function) + "() got an unexpected keyword argument '" + text_of(key) + "'");
      if (this->*found->second) throw TypeError("cannot specify both 'sig' and 'signature'");
      this->*found->second = value;
    }
  }
};

/// 'dd->d' or a tuple of dtypes and None, one an argument.
std::vector<std::optional<Dtype>> to_signature(const ElementwiseFunction& function, nb::handle given) {
  std::vector<std::optional<Dtype>> signature;
  constexpr const char* kOnlyOne = "Use `dtype` or  fill the tuple with more than one 'None'.";
  if (PyTuple_Check(given.ptr())) {
    for (nb::handle entry : nb::borrow<nb::tuple>(given)) signature.push_back(to_optional_dtype(entry));
    if (signature.size() == 1) throw TypeError(kOnlyOne);
    return signature;
  }
  if (!PyUnicode_Check(given.ptr()))
    throw TypeError("the signature object to ufunc must be a string or a tuple, not " + describe(given.type()));
  const std::string text = to_text(given, "signature");
  const size_t arrow = text.find("->");
  if (text.size() == 1) throw TypeError(kOnlyOne);
  const size_t nin = static_cast<size_t>(function.nin()), nout = static_cast<size_t>(function.nout());
  if (arrow != nin || text.size() != nin + 2 + nout)
    throw ValueError(std::string("a type-string for ") + function.name() + ", " + std::to_string(nin) +
                     " typecode(s) before and " + std::to_string(nout) + " after the -> sign");
  for (size_t k = 0; k < text.size(); ++k) {
    if (k == arrow || k == arrow + 1) continue;
    const bool is_ours = text[k] == 'E';  // bfloat16, which has no character in NumPy
    signature.push_back(is_ours ? Dtype::bfloat16 : to_dtype(nb::str(std::string(1, text[k]).c_str())));
  }
  return signature;
}

/// The mask of a `where`; none for True. Arrays must be of bools, lists are made so.
std::optional<Array> to_mask(nb::handle where, Device& device) {
  if (!where.is_valid() || where.ptr() == Py_True) return {};
  Scalar scalar;
  if (to_scalar(where.ptr(), scalar)) {
    return filled({}, Scalar(scalar.as_bool()), Dtype::bool_, device);
  }
  if (!is_array_like(where.ptr())) throw TypeError("where must be an array of bools, not " + describe(where.type()));
  const bool is_list = PyList_Check(where.ptr()) || PyTuple_Check(where.ptr());
  Array mask = is_array(where.ptr()) ? array_of(where.ptr()) : as_array(where, device);
  if (is_list) return without_gil([&] { return mask.astype(Dtype::bool_, false); });
  ops::check_cast(mask.dtype(), Dtype::bool_);
  return mask;
}

/// The given outputs, None for one to be allocated; empty if none is given. Borrowed references.
class GivenOutputs {
 public:
  GivenOutputs(const ElementwiseFunction& function, PyObject* positional, PyObject* out) {
    const Py_ssize_t nin = function.nin(), nout = function.nout(), count = PyTuple_GET_SIZE(positional);
    for (Py_ssize_t k = nin; k < count; k++) add(PyTuple_GET_ITEM(positional, k));
    if (out && out != Py_None) {
      if (count > nin) throw TypeError("cannot specify 'out' as both a positional and keyword argument");
      if (!PyTuple_Check(out)) {
        if (nout > 1) throw TypeError("'out' must be a tuple of arrays");
        add(out);
      } else if (PyTuple_GET_SIZE(out) != nout) {
        throw ValueError("The 'out' tuple must have exactly one entry per ufunc output");
      } else {
        for (Py_ssize_t k = 0; k < nout; k++) add(PyTuple_GET_ITEM(out, k));
      }
    }
    if (!any_) count_ = 0;
    while (any_ && count_ < static_cast<size_t>(nout)) objects_[count_++] = Py_None;
  }

  std::span<PyObject* const> objects() const { return {objects_, count_}; }

 private:
  void add(PyObject* object) {
    objects_[count_++] = object;
    any_ |= object != Py_None;
  }

  PyObject* objects_[kMostOutputs] = {};
  size_t count_ = 0;
  bool any_ = false;
};

Array output_array(PyObject* out) {
  if (std::optional<Array> target = given_output(out)) return *std::move(target);
  throw TypeError("return arrays must be of ArrayType, not " + describe(nb::handle(out).type()));
}

/// Outputs as they are returned, each what `output` gives of its number; a tuple when there are several.
template <class Output>
nb::object pack_outputs(size_t count, Output output) {
  if (count == 1) return output(0);
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t k = 0; k < count; k++)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(k), output(k).release().ptr());
  return tuple;
}

/// Arrays for the outputs of a call that gives some and not others.
std::vector<Array> missing_outputs(const ElementwiseFunction& function, std::span<const Argument> inputs,
                                   std::span<PyObject* const> outputs, const CallRules& rules) {
  const std::vector<Dtype> types = function.types(inputs, rules);
  std::vector<const Dims*> shapes;
  for (const Argument& input : inputs)
    if (input.is_array()) shapes.push_back(&input.array().shape());
  if (rules.where) shapes.push_back(&rules.where->shape());
  const Dims shape = iruka::broadcast_shapes(shapes);
  Device& device = device_among(outputs);
  std::vector<Array> made(outputs.size());
  GilRelease release;
  for (size_t k = 0; k < outputs.size(); k++)
    if (outputs[k] == Py_None) made[k] = Array::empty(shape, types[inputs.size() + k], device);
  return made;
}

void check_count(const ElementwiseFunction& function, Py_ssize_t count) {
  const int nin = function.nin(), all = nin + function.nout();
  if (count >= nin && count <= all) return;
  throw TypeError(std::string(function.name()) + "() takes from " + std::to_string(nin) + " to " + std::to_string(all) +
                  " positional arguments but " + std::to_string(count) + (count == 1 ? " was given" : " were given"));
}

void fill_rules(CallRules& rules, const ElementwiseFunction& function, const CallKeywords& given) {
  if (given.dtype) rules.dtype = to_optional_dtype(given.dtype);
  if (given.signature && given.signature != Py_None) rules.signature = to_signature(function, given.signature);
  if (given.casting) rules.casting = parse_casting(to_text(given.casting, "casting"));
  if (given.order) rules.order = to_order(given.order);
}

void warn_of_uninitialised() {
  warn_caller("'where' used without 'out', expect unitialized memory in output. If this is intentional, use out=None.",
              PyExc_UserWarning);
}

/// function(x, y, out=..., where=..., ...), also function(x, y, out).
PyObject* call_ufunc(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const auto& function = instance_of<ElementwiseFunction>(self);
    check_count(function, PyTuple_GET_SIZE(positional));
    const CallKeywords given(function.name(), keywords);
    const GivenOutputs given_outputs(function, positional, given.out);
    const std::span<PyObject* const> outputs = given_outputs.objects();
    const std::span<PyObject* const> inputs{&PyTuple_GET_ITEM(positional, 0), static_cast<size_t>(function.nin())};
    if (PyObject* result = call_override(self, "__call__", inputs, outputs, positional, keywords)) return result;
    FixedList<Operand, kMostInputs> operands(inputs.size());
    FixedList<Argument, ops::kMaxArguments> arguments(inputs.size() + outputs.size());
    if (outputs.empty())
      if (PyObject* result = compare_with_no_number(function, inputs)) return result;
    const HugeInteger huge = huge_integer_rule(function, inputs);
    for (size_t k = 0; k < inputs.size(); k++) {
      Operand& operand = operands.add();
      if (!operand.take(inputs[k], false, huge, inputs))
        throw TypeError(std::string(function.name()) + "(): argument " + std::to_string(k + 1) +
                        " is neither an array nor a scalar but " + describe(nb::handle(inputs[k]).type()));
      operand.add_to(arguments);
    }
    CallRules rules;
    if (keywords) fill_rules(rules, function, given);
    std::optional<Array> mask;
    if (given.where) mask = to_mask(given.where, device_among(inputs));
    if (mask) {
      rules.where = &*mask;
      if (!given.out && outputs.empty()) warn_of_uninitialised();
    }
    FixedList<Array, kMostOutputs> targets(outputs.size());
    std::vector<Array> made;
    if (std::ranges::find(outputs, Py_None) != outputs.end())
      made = missing_outputs(function, arguments.span(), outputs, rules);
    for (size_t k = 0; k < outputs.size(); k++)
      arguments.add(targets.add(outputs[k] == Py_None ? made[k] : output_array(outputs[k])));
    const UfuncWatch floats(function, arguments.span());
    nb::object packed;
    if (outputs.empty()) {
      std::vector<Array> results = without_gil([&] { return function.call(arguments.span(), rules); });
      packed = pack_outputs(results.size(), [&](size_t k) { return to_result(std::move(results[k])); });
    } else {
      without_gil([&] { function.fill(arguments.span(), rules); });
      packed = pack_outputs(outputs.size(), [&](size_t k) {
        return outputs[k] == Py_None ? to_result(std::move(made[k])) : nb::borrow(outputs[k]);
      });
    }
    if (const unsigned raised = floats.raised())
      report_ufunc_errors(function, raised, inputs, packed.ptr(), keywords, /*is_operator=*/false);
    return packed.release().ptr();
  });
}

// Methods.

Array operand_array(nb::handle object, const char* method) {
  Operand operand;
  PyObject* const others[] = {object.ptr()};
  if (!operand.take(object.ptr(), false))
    throw TypeError(std::string(method) + ": expected an array, not " + describe(object.type()));
  const Argument argument = operand.argument();
  return argument.is_array() ? argument.array() : as_array(object, device_among(others));
}

int64_t single_axis(nb::handle axis, const Array& x, const char* method) {
  if (axis.is_none()) {
    if (x.ndim() == 1) return 0;
    throw ValueError(std::string(method) + " does not allow multiple axes");
  }
  const Dims axes = to_dims(axis, "axis");
  if (axes.size() != 1) throw ValueError(std::string(method) + " does not allow multiple axes");
  return axes[0];
}

/// The object in out=, also in a tuple of one; None where there is none.
nb::object single_out(nb::handle out) {
  if (!PyTuple_Check(out.ptr())) return nb::borrow(out);
  if (nb::len(out) != 1) throw ValueError("The 'out' tuple must have exactly one entry");
  return nb::borrow<nb::tuple>(out)[0];
}

/// The result itself, or written into `out`, which is returned then.
nb::object into_out(const ElementwiseFunction& function, Array result, nb::handle out) {
  if (out.is_none()) return to_result(std::move(result));
  Array target = output_array(out.ptr());
  ops::check_out(function.name(), target, result.shape(), result.device());
  warn_of_discarded_imaginary(result.dtype(), target.dtype());
  without_gil([&] { target.assign(result); });  // methods cast into any output, as NumPy's do
  return nb::borrow(out);
}

/// The loop's dtype where only an output is given: both choose it, as in NumPy. Where it has no loop, x is cast to it.
std::optional<Dtype> loop_dtype(const ElementwiseFunction& function, nb::handle dtype, Array& x, nb::handle out) {
  if (!dtype.is_none() || out.is_none() || !is_array(out.ptr())) return to_optional_dtype(dtype);
  const Dtype common = promote(x.dtype(), array_of(out.ptr()).dtype());
  if (common == x.dtype() || std::string_view(function.name()).starts_with("logical_")) return {};
  if (std::strchr(function.row().loops, ops::character_of_dtype(common))) return common;
  x = without_gil([&] { return x.astype(common); });
  return {};
}

nb::object no_value() { return numpy_attribute("_NoValue"); }

/// Lets objects of other libraries take over a method; an invalid object when there is none.
nb::object overridden(nb::handle self, const char* method, nb::handle array, nb::handle out, nb::tuple positional,
                      nb::dict keywords) {
  PyObject* const inputs[] = {array.ptr()};
  const nb::object target = single_out(out);
  PyObject* const outputs[] = {target.ptr()};
  if (is_plain_operand(array.ptr()) && is_plain_operand(target.ptr())) return {};
  return nb::steal(call_override(self.ptr(), method, inputs, outputs, positional, keywords));
}

nb::object reduce_method(nb::handle self, nb::handle array, nb::handle axis, nb::handle dtype, nb::handle out,
                         bool keepdims, nb::handle initial, nb::handle where) {
  const auto& function = instance_of<ElementwiseFunction>(self.ptr());
  nb::dict keywords;
  keywords["axis"] = axis, keywords["dtype"] = dtype, keywords["keepdims"] = keepdims;
  if (!out.is_none()) keywords["out"] = out;
  if (!initial.is(no_value())) keywords["initial"] = initial;
  if (where.ptr() != Py_True) keywords["where"] = where;
  if (nb::object result = overridden(self, "reduce", array, out, nb::make_tuple(array), keywords)) return result;
  const nb::object target = single_out(out);
  Array x = operand_array(array, "reduce");
  FoldRules rules;
  rules.dtype = loop_dtype(function, dtype, x, target);
  rules.keepdims = keepdims;
  Scalar scalar;
  if (initial.is_none()) {
    rules.has_identity = false;
  } else if (!initial.is(no_value())) {
    if (is_array(initial.ptr())) {
      scalar = item_of(array_of(initial.ptr()));
    } else if (!to_scalar(initial.ptr(), scalar, takes_any_integer(x.dtype()))) {
      throw TypeError("reduce: initial must be a scalar, not " + describe(initial.type()));
    }
    rules.initial = scalar;
  }
  const std::optional<Array> mask = to_mask(where, x.device());
  if (mask) rules.where = &*mask;
  const std::optional<Dims> axes = reduction_axes(function.name(), x, axis);
  Array result;
  const FloatWatch floats;
  {
    GilRelease release;
    result = fold(function, x, axes, rules);
  }
  if (const unsigned raised = floats.raised()) {
    report_method_errors(function, "reduce", raised, result, nb::make_tuple(array), keywords);
  }
  if (rules.initial) warn_of_discarded_imaginary(rules.initial->dtype(), result.dtype());
  return into_out(function, std::move(result), target);
}

nb::object accumulate_method(nb::handle self, nb::handle array, nb::handle axis, nb::handle dtype, nb::handle out) {
  const auto& function = instance_of<ElementwiseFunction>(self.ptr());
  nb::dict keywords;
  keywords["axis"] = axis, keywords["dtype"] = dtype;
  if (!out.is_none()) keywords["out"] = out;
  if (nb::object result = overridden(self, "accumulate", array, out, nb::make_tuple(array), keywords)) return result;
  const nb::object target = single_out(out);
  Array x = operand_array(array, "accumulate");
  if (x.ndim() == 0) throw TypeError("cannot accumulate on a scalar");
  const int64_t along = single_axis(axis, x, "accumulate");
  const std::optional<Dtype> loop = loop_dtype(function, dtype, x, target);
  Array result;
  const FloatWatch floats;
  {
    GilRelease release;
    result = accumulate(function, x, along, loop);
  }
  if (const unsigned raised = floats.raised())
    report_method_errors(function, "accumulate", raised, result, nb::make_tuple(array), keywords);
  return into_out(function, std::move(result), target);
}

nb::object reduceat_method(nb::handle self, nb::handle array, nb::handle indices, nb::handle axis, nb::handle dtype,
                           nb::handle out) {
  const auto& function = instance_of<ElementwiseFunction>(self.ptr());
  nb::dict keywords;
  keywords["axis"] = axis, keywords["dtype"] = dtype;
  if (!out.is_none()) keywords["out"] = out;
  if (nb::object result = overridden(self, "reduceat", array, out, nb::make_tuple(array, indices), keywords))
    return result;
  const nb::object target = single_out(out);
  Array x = operand_array(array, "reduceat");
  if (x.ndim() == 0) throw TypeError("cannot reduceat on a scalar");
  Array starts = operand_array(indices, "reduceat: indices");
  starts = without_gil([&] { return starts.to_device(x.device()); });
  if (starts.ndim() != 1)
    throw ValueError("reduceat: indices must have one axis, not " + std::to_string(starts.ndim()));
  if (!is_integer(starts.dtype()) && starts.size() > 0)
    throw TypeError(std::string("reduceat: indices must be integers, not ") + name(starts.dtype()));
  const int64_t along = single_axis(axis, x, "reduceat");
  const std::optional<Dtype> loop = loop_dtype(function, dtype, x, target);
  Array result;
  const FloatWatch floats;
  {
    GilRelease release;
    result = fold_segments(function, x, starts.astype(Dtype::int64, false), along, loop);
  }
  if (const unsigned raised = floats.raised())
    report_method_errors(function, "reduceat", raised, result, nb::make_tuple(array, indices), keywords);
  return into_out(function, std::move(result), target);
}

/// The dtype of a number given to `at`: the array's where it has a place there, else, as in NumPy, its own.
Dtype dtype_at(const ElementwiseFunction& function, const Scalar& scalar, Dtype target) {
  if (!scalar.weak() || function.row().signature[1] != 'T') return scalar.dtype();
  const Dtype dtype = promote_weak(target, scalar);
  if (is_inexact(dtype)) {
    const Array like = Array::empty({}, target, cpu());
    const Argument inputs[] = {like, scalar.typed(dtype)};
    return ops::loop_types(function.row(), inputs, {}).types[1];
  }
  return is_integer(scalar.dtype()) && is_integer(dtype) && !scalar.fits(dtype) ? scalar.dtype() : dtype;
}

void at_method(nb::handle self, nb::handle array, nb::handle indices, nb::handle values) {
  const auto& function = instance_of<ElementwiseFunction>(self.ptr());
  PyObject* const inputs[] = {array.ptr(), values.ptr()};
  const nb::tuple all = values.is_none() ? nb::make_tuple(array, indices) : nb::make_tuple(array, indices, values);
  if (nb::object done = nb::steal(call_override(self.ptr(), "at", inputs, {}, all, nb::dict()))) return;
  if (!is_array(array.ptr())) throw TypeError("first operand must be array");
  const Array target = array_of(array.ptr());
  Array operand;
  if (!values.is_none()) {
    Scalar scalar;
    if (to_scalar(values.ptr(), scalar, is_inexact(target.dtype()))) {
      operand = filled({}, scalar, dtype_at(function, scalar, target.dtype()), target.device());
    } else {
      operand = operand_array(values, "at");
    }
    warn_of_discarded_imaginary(operand.dtype(), target.dtype());
  }
  FixedList<Argument, 2> arguments(2);
  arguments.add(target);
  if (operand.valid()) arguments.add(operand);
  const UfuncWatch floats(function, arguments.span());
  update_at(target, indices, function, operand.valid() ? &operand : nullptr);
  // Its operands are gone.
  if (const unsigned raised = floats.raised())
    report_ufunc_errors(function, raised, {&inputs[0], 1}, array.ptr(), nullptr, false);
}

nb::object outer_method(nb::handle self, const nb::args& arguments, const nb::kwargs& keywords) {
  const auto& function = instance_of<ElementwiseFunction>(self.ptr());
  if (function.nin() != 2) throw ValueError("outer product only supported for binary functions");
  if (arguments.size() != 2) throw TypeError("exactly two arguments expected");
  PyObject* const inputs[] = {nb::handle(arguments[0]).ptr(), nb::handle(arguments[1]).ptr()};
  if (PyObject* result = call_override(self.ptr(), "outer", inputs, {}, arguments, keywords)) return nb::steal(result);
  const Array first = operand_array(arguments[0], "outer"), second = operand_array(arguments[1], "outer");
  Dims shape = first.shape();
  for (int k = 0; k < second.ndim(); ++k) shape.push_back(1);
  const nb::tuple pair = nb::make_tuple(make_array([&] { return first.reshape(shape); }), to_python(second));
  PyObject* result = call_ufunc(self.ptr(), pair.ptr(), keywords.ptr());
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

nb::object identity_of(const ElementwiseFunction& function) {
  const FoldTraits traits = fold_traits(function.name());
  return traits.identity ? from_scalar(*traits.identity) : nb::none();
}

}  // namespace

HugeInteger huge_integer_rule(const ElementwiseFunction& function, std::span<PyObject* const> inputs) {
  if (std::none_of(inputs.begin(), inputs.end(), is_huge_integer)) return HugeInteger::refused;
  const auto is_float = [](PyObject* object) {
    Operand operand;
    if (is_huge_integer(object) || !operand.take(object, false)) return false;
    const Argument argument = operand.argument();
    return is_inexact(argument.is_array() ? argument.array().dtype() : argument.scalar().dtype());
  };
  const ElementwiseFunction::Row& row = function.row();
  const bool computes_in_floats = !std::strpbrk(row.loops, "?bBhHiIlL");
  if (computes_in_floats || std::any_of(inputs.begin(), inputs.end(), is_float)) return HugeInteger::as_float;
  return row.rule == ops::Rule::compare ? HugeInteger::as_infinity : HugeInteger::refused;
}

PyObject* compare_with_no_number(const ElementwiseFunction& function, std::span<PyObject* const> inputs) {
  const auto is_no_number = [](PyObject* object) {
    return object == Py_None || PyUnicode_Check(object) || PyBytes_Check(object);
  };
  if (function.row().rule != ops::Rule::compare) return nullptr;
  if (std::none_of(inputs.begin(), inputs.end(), is_no_number)) return nullptr;
  const std::string_view name = function.name();
  const auto array = std::find_if(inputs.begin(), inputs.end(), is_array);
  if ((name != "equal" && name != "not_equal") || array == inputs.end()) return nullptr;
  const Array x = array_of(*array);
  return wrap_result(filled(x.shape(), Scalar(name == "not_equal"), Dtype::bool_, x.device()));
}

nb::object ufunc_named(const char* name) { return package_attribute("iruka._functions", "elementwise")[name]; }

const PyType_Slot kUfuncSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_ufunc)}, {0, nullptr}};

void bind_ufunc(nb::module_& module) {
  nb::class_<ElementwiseFunction> type(
      module, "ufunc", nb::type_slots(kUfuncSlots), nb::dynamic_attr(),
      "A function of every element: f(x, ..., out=None, where=True, casting='same_kind', order='K', dtype=None, "
      "signature=None). Inputs are arrays, scalars or anything array-like; they broadcast and promote as in NumPy 2.");
  type.def(nb::init<const char*>(), nb::arg("name"))
      .def_prop_ro("nin", &ElementwiseFunction::nin, "Number of inputs.")
      .def_prop_ro("nout", &ElementwiseFunction::nout, "Number of outputs.")
      .def_prop_ro(
          "nargs", [](const ElementwiseFunction& f) { return f.nin() + f.nout(); }, "Inputs and outputs together.")
      .def_prop_ro(
          "ntypes", [](const ElementwiseFunction& f) { return f.loops().size(); }, "Number of loops.")
      .def_prop_ro("types", &ElementwiseFunction::loops, nb::sig("def types(self) -> list[str]"),
                   "The loops in NumPy's notation, 'dd->d'; E is bfloat16.")
      .def_prop_ro("identity", identity_of, nb::sig("def identity(self) -> object"),
                   "What the function makes of no elements; None where nothing is.")
      .def_prop_ro(
          "signature", [](const ElementwiseFunction&) { return nb::none(); }, nb::sig("def signature(self) -> None"),
          "None: no function here is a generalised one.")
      .def_prop_ro("_name", &ElementwiseFunction::name)
      .def_prop_ro("_documentation", &ElementwiseFunction::documentation)
      .def("__repr__", [](const ElementwiseFunction& f) { return "<ufunc '" + std::string(f.name()) + "'>"; })
      .def(
          "__reduce__",
          [](const ElementwiseFunction& f) {
            return nb::make_tuple(package_attribute("iruka._functions", "ufunc_named"), nb::make_tuple(f.name()));
          },
          nb::sig("def __reduce__(self) -> tuple"));
  bind_public_names(type);
  type.def("reduce", reduce_method, nb::arg("array"), nb::arg("axis").none() = 0, nb::arg("dtype") = nb::none(),
           nb::arg("out") = nb::none(), nb::arg("keepdims") = false, nb::arg("initial").none() = no_value(),
           nb::arg("where") = true,
           nb::sig("def reduce(self, array, axis: int | tuple[int, ...] | None = 0, dtype=None, out=None, "
                   "keepdims: bool = False, initial=..., where=True) -> ndarray"),
           "Folds axes away: f(...f(f(x0, x1), x2)..., xn). Raises ValueError for an empty axis without identity, and "
           "for several axes of a function whose operands may not change places.")
      .def("accumulate", accumulate_method, nb::arg("array"), nb::arg("axis").none() = 0, nb::arg("dtype") = nb::none(),
           nb::arg("out") = nb::none(),
           nb::sig("def accumulate(self, array, axis: int = 0, dtype=None, out=None) -> ndarray"),
           "Every step of reduce along one axis.")
      .def(
          "reduceat", reduceat_method, nb::arg("array"), nb::arg("indices"), nb::arg("axis").none() = 0,
          nb::arg("dtype") = nb::none(), nb::arg("out") = nb::none(),
          nb::sig("def reduceat(self, array, indices, axis: int = 0, dtype=None, out=None) -> ndarray"),
          "reduce of x[indices[k]:indices[k + 1]] along one axis; x[indices[k]] where that is empty. Raises IndexError "
          "for an index outside the axis.")
      .def("outer", outer_method, nb::sig("def outer(self, A, B, /, **kwargs) -> ndarray"),
           "The function of every pair of elements, of shape A.shape + B.shape.")
      .def("at", at_method, nb::arg("a"), nb::arg("indices"), nb::arg("b") = nb::none(),
           nb::sig("def at(self, a, indices, b=None, /) -> None"),
           "a[indices] = f(a[indices], b) in place, where an element that is named twice changes twice. Elements "
           "are visited one by one.");
  module.def("elementwise_names", &elementwise_names, "Names of every elementwise function.");
}

}  // namespace iruka::python
