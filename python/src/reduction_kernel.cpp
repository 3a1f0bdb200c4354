// iruka.ReductionKernel.
#include "iruka/reduction_kernel.h"

#include "cuda.h"
#include "interop.h"
#include "kernel_binding.h"

namespace iruka::python {

namespace {

std::string text_argument(const char* what, nb::handle object) {
  return to_text(object, std::string("ReductionKernel: ") + what);
}

/// An expression, or a number as C++ writes it.
std::optional<std::string> identity_text(nb::handle identity) {
  if (identity.is_none()) return {};
  if (PyUnicode_Check(identity.ptr())) {
    std::string text = text_argument("identity", identity);
    if (text.find_first_not_of(" \t\r\n") == text.npos) return {};  // CuPy's word for none
    return text;
  }
  Scalar scalar;
  if (!to_scalar(identity.ptr(), scalar))
    throw TypeError("ReductionKernel: identity must be a str, a number or None, not " + describe(identity.type()));
  if (is_complex(scalar.dtype()))
    throw TypeError("ReductionKernel: give a complex identity as a str of C++, not " + describe(identity));
  if (kind(scalar.dtype()) == Kind::boolean) return scalar.as_bool() ? "true" : "false";
  std::string text = text_of(identity);
  if (text == "inf" || text == "-inf") return text[0] == '-' ? "-INFINITY" : "INFINITY";
  return text == "nan" ? "NAN" : text;
}

void construct(nb::pointer_and_handle<ReductionKernel> self, nb::handle in_params, nb::handle out_params,
               nb::handle map_expr, nb::handle reduce_expr, nb::handle post_map_expr, nb::handle identity,
               nb::handle name, nb::handle reduce_type, bool reduce_dims, nb::handle preamble,
               nb::handle compiler_options) {
  ReductionKernelOptions options;
  if (!reduce_type.is_none()) options.reduce_type = text_argument("reduce_type", reduce_type);
  options.reduce_dims = reduce_dims;
  options.preamble = text_argument("preamble", preamble);
  options.made_at = calling_place();
  options.options = compiler_options_of("ReductionKernel", compiler_options);
  std::string inputs = text_argument("in_params", in_params), outputs = text_argument("out_params", out_params);
  std::string map = text_argument("map_expr", map_expr), reduce = text_argument("reduce_expr", reduce_expr);
  std::string post_map = text_argument("post_map_expr", post_map_expr), kernel_name = text_argument("name", name);
  std::optional<std::string> start = identity_text(identity);
  {
    GilRelease release;  // a kernel whose types are all known is compiled here
    new (self.p)
        ReductionKernel(inputs, outputs, map, reduce, post_map, std::move(start), kernel_name, std::move(options));
  }
  self.h.attr("kwargs") = nb::dict();
  self.h.attr("_arguments") = nb::make_tuple(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity,
                                             name, reduce_type, reduce_dims, preamble, compiler_options);
  emit_warnings_of(*self.p);
}

std::string counted(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

[[noreturn]] void refuse_keyword(const ReductionKernel& kernel, const std::string& name) {
  const char* advice = name == "size" ? "; it reduces the elements of its arrays, whose shapes say how many there are"
                                      : "; a call takes out, axis, keepdims and stream";
  throw TypeError(kernel.name() + "() got an unexpected keyword argument '" + name + "'" + advice);
}

struct CallKeywords {
  nb::handle out = Py_None;
  ReductionAxes axes;
  std::optional<StreamHandle> stream;
};

CallKeywords parse_keywords(const ReductionKernel& kernel, PyObject* keywords) {
  CallKeywords given;
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (keywords && PyDict_Next(keywords, &position, &key, &value)) {
    const auto is = [&](const char* name) { return PyUnicode_CompareWithASCIIString(key, name) == 0; };
    if (is("axis")) {
      if (value != Py_None) given.axes.axes = to_dims(value, "axis");
    } else if (is("out")) {
      given.out = value;
    } else if (is("keepdims")) {
      const int is_true = PyObject_IsTrue(value);
      if (is_true < 0) throw nb::python_error();
      given.axes.keepdims = is_true;
    } else if (is("stream")) {
      given.stream = to_stream(value);
    } else {
      refuse_keyword(kernel, text_of(key));
    }
  }
  return given;
}

/// The arguments and what out= gives, as one tuple.
nb::tuple with_outputs(const ReductionKernel& kernel, PyObject* positional, nb::handle out) {
  const nb::tuple arguments = nb::borrow<nb::tuple>(positional);
  if (out.is_none()) return arguments;
  if (nb::len(arguments) > kernel.in_params().size())
    throw ValueError(kernel.name() + "(): cannot specify 'out' as both a positional and keyword argument");
  if (nb::len(arguments) < kernel.in_params().size())
    throw TypeError(kernel.name() + "(): takes " + counted(kernel.in_params().size(), "input") + " before out=, not " +
                    std::to_string(nb::len(arguments)));
  const nb::tuple outputs = nb::isinstance<nb::tuple>(out) ? nb::borrow<nb::tuple>(out) : nb::make_tuple(out);
  if (nb::len(outputs) != kernel.out_params().size())
    throw ValueError(kernel.name() + "(): out must be " + counted(kernel.out_params().size(), "array") + ", not " +
                     std::to_string(nb::len(outputs)));
  for (nb::handle output : outputs)
    if (!is_array(output.ptr()))
      throw TypeError(
          kernel.name() + "(): out must be an iruka.ndarray, not " + describe(output.type()) +
          (is_array_like(output.ptr()) ? "; give iruka.asarray(it), which shares its memory where it can" : ""));
  return nb::borrow<nb::tuple>(arguments + outputs);
}

/// Arguments and options of a call. A given stream is the current one meanwhile, so that outputs belong to it.
struct Call {
  CallKeywords keywords;
  nb::tuple positional;
  KernelArguments arguments;

  Call(const ReductionKernel& kernel, PyObject* positional, PyObject* keywords)
      : keywords(parse_keywords(kernel, keywords)),
        positional(with_outputs(kernel, positional, this->keywords.out)),
        arguments({kernel.name(), kernel.in_params(), kernel.out_params()}, this->positional.ptr()) {}

  /// What `make` gives of the arguments and axes, without the GIL.
  template <class Make>
  auto run(Make&& make) const {
    GilRelease release;
    std::optional<StreamScope> scope;
    if (keywords.stream) scope.emplace(arguments.device(), *keywords.stream);
    return make(arguments.span(), keywords.axes);
  }
};

PyObject* call_kernel(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const ReductionKernel& kernel = instance_of<ReductionKernel>(self);
    const Call call(kernel, positional, keywords);
    std::vector<Array> outputs =
        call.run([&](std::span<const Argument> list, const ReductionAxes& axes) { return kernel.call(list, axes); });
    emit_warnings(kernel.pop_warnings());
    return result_of(call.positional.ptr(), kernel.nin(), kernel.nout(), outputs);
  });
}

}  // namespace

std::vector<std::string> parts_of(const ReductionKernel& kernel) {
  const ReductionKernelOptions& options = kernel.options();
  std::vector<std::string> parts = {kernel.name(),
                                    parts_of(kernel.in_params()),
                                    parts_of(kernel.out_params()),
                                    kernel.map_expr(),
                                    kernel.reduce_expr(),
                                    kernel.post_map_expr(),
                                    kernel.identity() ? "is " + *kernel.identity() : "",
                                    options.reduce_type,
                                    options.preamble,
                                    options.reduce_dims ? "m" : "-"};
  parts.insert(parts.end(), options.options.begin(), options.options.end());
  return parts;
}

namespace {

constexpr const char* kDocumentation = R"(A reduction as three strings of C++, run over whole arrays in one pass.

map_expr gives a value for an element. It may use plain inputs by name, raw ones as a CArray, `_J`, the element's
index along the reduction, and `_in_ind.size()`, the number of all elements. reduce_expr combines two values, `a`
and `b`, in any order. post_map_expr assigns the outputs (`y = sqrt(a)`); it may use the reduced value as `a`,
scalars and raw arrays. identity, a number or C++, is the result of a reduction over no elements; combining it
with a value must give that value. With None, such a reduction is a ValueError. Values have reduce_type, by
default the first output's type: a dtype's name, or a type of the preamble of up to 64 bytes. Parameters are those
of ElementwiseKernel. With reduce_dims=False, `_in_ind.get()` is an element's index along each axis, reduced axes
first.

A call takes the inputs, as ElementwiseKernel does, which broadcast together, then optionally the outputs to fill, or
out=; axis= (an int, a tuple, None for all), keepdims= and stream=. It returns the output, or a tuple of several. The
order in which values are combined depends only on shapes, layouts and the device, so that results are the same on
every run.

Raises ValueError for malformed parameters or names, TypeError for arguments that do not fit, AxisError and
IndexError for axes, ShapeError for an output of another shape, and iruka.errors.CompileError, with the line and a
caret. Warns of iruka.errors.KernelWarning as ElementwiseKernel does.

    >>> l2norm = iruka.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')
    >>> l2norm(iruka.arange(10, dtype='float32').reshape(2, 5), axis=1)
    array([ 5.477226 , 15.9687195], dtype=float32))";

const PyType_Slot kKernelSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_kernel)}, {0, nullptr}};

}  // namespace

void bind_reduction_kernel(nb::module_& module) {
  using Kernel = ReductionKernel;
  nb::class_<Kernel> type(module, "ReductionKernel", nb::type_slots(kKernelSlots), nb::dynamic_attr(),
                          nb::is_weak_referenceable(), kDocumentation);
  type.def("__init__", construct, nb::arg("in_params").none(), nb::arg("out_params").none(), nb::arg("map_expr").none(),
           nb::arg("reduce_expr").none(), nb::arg("post_map_expr").none(), nb::arg("identity").none(),
           nb::arg("name") = "reduce_kernel", nb::arg("reduce_type") = nb::none(), nb::arg("reduce_dims") = true,
           nb::arg("preamble") = "", nb::arg("options") = nb::make_tuple(),
           nb::sig("def __init__(self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, "
                   "post_map_expr: str, identity: str | int | float | None, name: str = 'reduce_kernel', "
                   "reduce_type: str | None = None, reduce_dims: bool = True, preamble: str = '', "
                   "options: tuple[str, ...] = ()) -> None"));
  type.def_prop_ro(
          "map_expr", [](const Kernel& k) { return k.map_expr(); }, "What an element becomes.")
      .def_prop_ro(
          "reduce_expr", [](const Kernel& k) { return k.reduce_expr(); }, "What two values become.")
      .def_prop_ro(
          "post_map_expr", [](const Kernel& k) { return k.post_map_expr(); }, "What the outputs become.")
      .def_prop_ro(
          "identity", [](const Kernel& k) { return k.identity().value_or(""); }, "The identity as C++; '' for none.")
      .def_prop_ro(
          "reduce_type",
          [](const Kernel& k) {
            const Parameter& first = k.out_params().front();
            if (!k.options().reduce_type.empty()) return k.options().reduce_type;
            return first.dtype ? std::string(info(*first.dtype).c_type) : first.type;
          },
          "The type of mapped values.")
      .def_prop_ro(
          "reduce_dims", [](const Kernel& k) { return k.options().reduce_dims; },
          "Whether `_in_ind` and `_out_ind` have one axis, not those of the arrays.");
  bind_value(type);
  bind_description(type);
  bind_inspection<Call>(
      type, "(self, *args, out=None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, stream=None)",
      "The C++ text made for arguments like these; of several stages, one text after the other.",
      "How the stage that reads the inputs runs for arguments like these: how many of its units (parts of outputs, or "
      "outputs) run side by side, or why they do not, by the lines of the texts.");
}

}  // namespace iruka::python
