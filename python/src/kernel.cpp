// iruka.ElementwiseKernel. The call is a type slot of its own: a warm call on a few elements costs about a microsecond,
// and a general argument parser would double that.
#include "iruka/kernel.h"

#include <nanobind/stl/optional.h>

#include <string>
#include <vector>

#include "convert.h"
#include "cuda.h"
#include "interop.h"
#include "iruka/device.h"
#include "jit/grammar.h"
#include "kernel_binding.h"

namespace iruka::python {

namespace {

const Parameter* parameter_at(const KernelParameters& kernel, Py_ssize_t k) {
  const auto at = static_cast<size_t>(k), nin = kernel.inputs.size();
  if (at < nin) return &kernel.inputs[at];
  return at - nin < kernel.outputs.size() ? &kernel.outputs[at - nin] : nullptr;
}

[[noreturn]] void refuse_argument(const KernelParameters& kernel, Py_ssize_t k, PyObject* object) {
  const Parameter* parameter = parameter_at(kernel, k);
  std::string which = "argument " + std::to_string(k + 1);
  if (parameter) which += " (" + parameter->to_string() + ")";
  throw TypeError(kernel.name + "(): " + which + " has unsupported type " + describe(nb::handle(object).type()) +
                  (parameter && !parameter->is_const && is_array_like(object)
                       ? "; the kernel writes to it, so give iruka.asarray(it), which shares its memory where it can"
                       : "; a kernel takes scalars and what iruka.asarray makes an array of"));
}

void parse_keywords(const ElementwiseKernel& kernel, PyObject* keywords, CallOptions& options,
                    std::optional<StreamHandle>& stream) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(keywords, &position, &key, &value)) {
    std::string text = text_of(key);
    if (text == "size") {
      if (value != Py_None) options.size = to_int64(value, (kernel.name() + "(): size").c_str());
    } else if (text == "block_size") {
      options.block_size = to_int64(value, (kernel.name() + "(): block_size").c_str());
    } else if (text == "stream") {
      stream = to_stream(value);
    } else {
      throw TypeError(kernel.name() + "() got an unexpected keyword argument '" + text +
                      "'; a call takes size, block_size and stream");
    }
  }
}

/// The dtype of argument k in the body, if arrays alone decide it.
std::optional<Dtype> resolved_dtype(const KernelParameters& kernel, PyObject* positional, Py_ssize_t k) {
  const Parameter* parameter = parameter_at(kernel, k);
  if (!parameter || parameter->dtype) return parameter ? parameter->dtype : std::nullopt;
  std::optional<Dtype> resolved;
  for (Py_ssize_t other = 0; other < PyTuple_GET_SIZE(positional); other++) {
    const Parameter* same = parameter_at(kernel, other);
    PyObject* object = PyTuple_GET_ITEM(positional, other);
    if (!same || same->type != parameter->type || !is_array(object)) continue;
    if (!resolved || static_cast<size_t>(other) == kernel.inputs.size())
      resolved = array_of(object).dtype();  // given outputs resolve first
  }
  return resolved;
}

bool scalar_argument(const KernelParameters& kernel, PyObject* positional, Py_ssize_t k, Scalar& scalar) {
  PyObject* object = PyTuple_GET_ITEM(positional, k);
  bool inexact = false;
  if (is_huge_integer(object)) {
    std::optional<Dtype> dtype = resolved_dtype(kernel, positional, k);
    inexact = dtype && is_inexact(*dtype);
  }
  return to_scalar(object, scalar, inexact);
}

bool is_by_value(const KernelParameters& kernel, Py_ssize_t k) {
  const Parameter* parameter = parameter_at(kernel, k);
  return parameter && parameter->is_by_value();
}

Device& device_of_call(const KernelParameters& kernel, PyObject* positional) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(positional); k++) {
    PyObject* object = PyTuple_GET_ITEM(positional, k);
    if (is_array(object) && !is_by_value(kernel, k)) return array_of(object).device();
  }
  return default_device();
}

/// An array of another library, or a list, as functions take them; not where the body writes, which a copy would hide.
Array foreign_argument(const KernelParameters& kernel, PyObject* positional, Py_ssize_t k, Device& device) {
  PyObject* object = PyTuple_GET_ITEM(positional, k);
  const Parameter* parameter = parameter_at(kernel, k);
  if (!parameter || !parameter->is_const || !is_array_like(object)) refuse_argument(kernel, k, object);
  return as_array(object, parameter->is_by_value() ? cpu() : device);
}

}  // namespace

KernelArguments::KernelArguments(const KernelParameters& kernel, PyObject* positional)
    : device_(&device_of_call(kernel, positional)),
      arrays_(static_cast<size_t>(PyTuple_GET_SIZE(positional))),
      arguments_(static_cast<size_t>(PyTuple_GET_SIZE(positional))) {
  const Py_ssize_t count = PyTuple_GET_SIZE(positional);
  for (Py_ssize_t k = 0; k < count; k++) {
    PyObject* object = PyTuple_GET_ITEM(positional, k);
    if (is_array(object)) {
      arguments_.add(arrays_.add(array_of(object)));
    } else if (Scalar scalar; scalar_argument(kernel, positional, k, scalar)) {
      arguments_.add(scalar);
    } else {
      arguments_.add(arrays_.add(foreign_argument(kernel, positional, k, *device_)));
    }
  }
}

namespace {

/// Arguments and options of a call. A given stream is the current one meanwhile, so that outputs belong to it.
struct Call {
  KernelArguments arguments;
  CallOptions options;
  std::optional<StreamHandle> stream;

  Call(const ElementwiseKernel& kernel, PyObject* positional, PyObject* keywords)
      : arguments({kernel.name(), kernel.in_params(), kernel.out_params()}, positional) {
    if (keywords && PyDict_GET_SIZE(keywords)) parse_keywords(kernel, keywords, options, stream);
  }

  /// What `make` gives of the arguments and options, without the GIL.
  template <class Make>
  auto run(Make&& make) const {
    GilRelease release;
    std::optional<StreamScope> scope;
    if (stream) scope.emplace(arguments.device(), *stream);
    return make(arguments.span(), options);
  }
};

PyObject* call_kernel(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const ElementwiseKernel& kernel = instance_of<ElementwiseKernel>(self);
    const Call call(kernel, positional, keywords);
    const bool given = PyTuple_GET_SIZE(positional) == kernel.nin() + kernel.nout();
    std::vector<Array> outputs = call.run([&](auto list, const CallOptions& options) {
      if (!given) return kernel.call(list, options);
      kernel.fill(list, options);
      return std::vector<Array>();
    });
    emit_warnings(kernel.pop_warnings());
    if (kernel.options().no_return) Py_RETURN_NONE;
    return result_of(positional, kernel.nin(), kernel.nout(), outputs, kernel.options().return_tuple);
  });
}

}  // namespace

PyObject* result_of(PyObject* positional, int nin, int nout, std::vector<Array>& outputs, bool as_tuple) {
  const bool given = PyTuple_GET_SIZE(positional) == nin + nout;
  const auto output = [&](int k) {
    return given ? Py_NewRef(PyTuple_GET_ITEM(positional, nin + k)) : wrap(std::move(outputs[static_cast<size_t>(k)]));
  };
  if (nout == 1 && !as_tuple) return output(0);
  nb::object tuple = nb::steal(PyTuple_New(nout));
  if (!tuple.is_valid()) throw nb::python_error();
  for (int k = 0; k < nout; k++) PyTuple_SET_ITEM(tuple.ptr(), k, output(k));
  return tuple.release().ptr();
}

nb::object reduce_kernel(nb::handle self) {
  return nb::make_tuple(package_attribute("iruka._kernel", "remade"),
                        nb::make_tuple(self.type(), self.attr("_arguments"), self.attr("kwargs")),
                        self.attr("__dict__"));
}

nb::dict codes_by_dtypes(const std::vector<GeneratedSource>& sources) {
  nb::dict codes;
  for (const GeneratedSource& source : sources) {
    nb::list dtypes;
    for (Dtype dtype : source.array_dtypes) dtypes.append(dtype_object(dtype));
    const nb::tuple key(dtypes);
    if (!codes.contains(key)) codes[key] = nb::str(source.text.c_str(), source.text.size());
  }
  return codes;
}

std::string first_code(const std::string& kernel, const std::vector<GeneratedSource>& sources) {
  if (sources.empty()) throw ValueError(kernel + ": no code yet; call the kernel first");
  return sources.front().text;
}

nb::object keep_source(const std::string& kernel, const std::string& text) {
  return package_attribute("iruka._kernel", "keep_source")(kernel, text);
}

nb::tuple sequence_argument(const std::string& what, const char* expected, nb::handle list) {
  const bool is_text = PyUnicode_Check(list.ptr());
  if (is_text || !(Py_TYPE(list.ptr())->tp_iter || PySequence_Check(list.ptr())))
    throw TypeError(what + " must be " + expected + ", not " + (is_text ? "a str" : describe(list)));
  PyObject* const tuple = PySequence_Tuple(list.ptr());
  if (!tuple) throw nb::python_error();
  return nb::steal<nb::tuple>(tuple);
}

std::vector<std::string> compiler_options_of(const std::string& kind, nb::handle options) {
  std::vector<std::string> list;
  for (nb::handle option : sequence_argument(kind + ": options", "a tuple of str", options))
    list.push_back(to_text(option, kind + ": an option"));
  return list;
}

nb::tuple parameter_tuple(std::span<const Parameter> list) {
  nb::list items;
  for (const Parameter& parameter : list) items.append(nb::cast(parameter));
  return nb::tuple(items);
}

std::string parts_of(std::span<const Parameter> list) {
  std::string text;
  for (const Parameter& parameter : list) {
    text += parameter.raw ? "raw " : "";
    text += !parameter.is_const ? "_non_const " : parameter.follows_array ? "" : "const ";
    text += parameter.type + " " + parameter.name + "[" + std::to_string(parameter.extent) + "], ";
  }
  return text;
}

std::vector<std::string> parts_of(const ElementwiseKernel& kernel) {
  const KernelOptions& options = kernel.options();
  std::vector<std::string> parts = {
      kernel.name(),
      parts_of(kernel.in_params()),
      parts_of(kernel.out_params()),
      kernel.operation(),
      options.preamble,
      options.loop_prep,
      options.after_loop,
      {options.reduce_dims ? 'm' : '-', options.return_tuple ? 't' : '-', options.no_return ? 'n' : '-'}};
  parts.insert(parts.end(), options.options.begin(), options.options.end());
  return parts;
}

namespace {

/// The innermost Python frame outside this package, None where there is none, and how many frames there are to it.
std::pair<nb::object, int> calling_frame() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  int level = 1;
  while (frame.is_valid()) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    if (!text_of(code.attr("co_filename")).starts_with(imported.package_folder + "/")) break;
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
    ++level;
  }
  return {frame, level};
}

}  // namespace

std::string calling_place() {
  const nb::object frame = calling_frame().first;
  if (!frame.is_valid()) return "";
  auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
  return text_of(code.attr("co_filename")) + ":" + std::to_string(PyFrame_GetLineNumber(raw));
}

void emit_warnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  const nb::object category = package_attribute("iruka.errors", "KernelWarning");
  const int level = calling_frame().second;
  for (const std::string& warning : warnings)
    if (PyErr_WarnEx(category.ptr(), warning.c_str(), level) != 0) throw nb::python_error();
}

namespace {

std::string text_argument(const char* what, nb::handle object) {
  return to_text(object, std::string("ElementwiseKernel: ") + what);
}

/// Reads CuPy's other keywords into `options`; an unknown one is a TypeError.
void read_further_keywords(const nb::kwargs& keywords, KernelOptions& options) {
  for (auto [key, value] : keywords) {
    std::string name = text_of(key);
    if (name == "options") {
      options.options = compiler_options_of("ElementwiseKernel", value);
    } else if (name == "loop_prep") {
      options.loop_prep = text_argument("loop_prep", value);
    } else if (name == "after_loop") {
      options.after_loop = text_argument("after_loop", value);
    } else if (name == "diagnose_early") {  // false for texts that Iruka has translated
      options.diagnose_early = nb::cast<bool>(value);
    } else {
      throw TypeError("ElementwiseKernel() got an unexpected keyword argument '" + name + "'");
    }
  }
}

void construct(nb::pointer_and_handle<ElementwiseKernel> self, nb::handle in_params, nb::handle out_params,
               nb::handle operation, nb::handle name, bool reduce_dims, nb::handle preamble, bool no_return,
               bool return_tuple, nb::handle doc, nb::kwargs keywords) {
  KernelOptions options;
  options.reduce_dims = reduce_dims;
  options.preamble = text_argument("preamble", preamble);
  options.no_return = no_return;
  options.return_tuple = return_tuple;
  options.made_at = calling_place();
  read_further_keywords(keywords, options);
  std::string inputs = text_argument("in_params", in_params), outputs = text_argument("out_params", out_params);
  std::string body = text_argument("operation", operation), kernel_name = text_argument("name", name);
  {
    GilRelease release;  // a kernel whose types are all known is compiled here
    new (self.p) ElementwiseKernel(inputs, outputs, body, kernel_name, std::move(options));
  }
  self.h.attr("__doc__") = doc;
  self.h.attr("kwargs") = keywords;
  self.h.attr("_arguments") =
      nb::make_tuple(in_params, out_params, operation, name, reduce_dims, preamble, no_return, return_tuple, doc);
  emit_warnings_of(*self.p);
}

nb::object parameter_dtype(const Parameter& parameter) {
  return parameter.dtype ? dtype_object(*parameter.dtype) : nb::none();
}

void bind_parameter(nb::module_& module) {
  nb::class_<Parameter>(module, "ParameterInfo", "One parameter of a kernel.")
      .def_ro("name", &Parameter::name, "The name in the body.")
      .def_ro("type", &Parameter::type, "Type as written: 'float32', or a placeholder's letter.")
      .def_prop_ro("dtype", parameter_dtype, nb::sig("def dtype(self) -> numpy.dtype | None"),
                   "Its numpy.dtype; None for a placeholder.")
      .def_prop_ro(
          "ctype", [](const Parameter& p) { return p.dtype ? std::string(info(*p.dtype).c_type) : p.type; },
          "The C++ type in the body; for a placeholder its letter.")
      .def_ro("raw", &Parameter::raw, "Whether the body uses the whole array.")
      .def_prop_ro(
          "extent", [](const Parameter& p) { return p.is_by_value() ? std::optional(p.extent) : std::nullopt; },
          nb::sig("def extent(self) -> int | None"), "Elements of a small array by value; None for anything else.")
      .def_ro("is_const", &Parameter::is_const,
              "Whether it is an input without `_non_const`. To a raw one that does not say const the body may\n"
              "write where the array is writable.")
      .def("__repr__", [](const Parameter& p) { return "<ParameterInfo " + p.to_string() + ">"; });
}

std::string remark_text(const Remark& remark) {
  std::string place = remark.file.empty() ? "" : " " + remark.file + ":" + std::to_string(remark.line);
  if (!place.empty() && remark.column > 0) place += ":" + std::to_string(remark.column);
  return std::string(name(remark.kind)) + place + ": " + remark.message;
}

void bind_report(nb::module_& module) {
  nb::class_<Remark>(module, "Remark", "One thing to know about the code that was made of a kernel.")
      .def_prop_ro(
          "kind", [](const Remark& r) { return name(r.kind); },
          "'not_widened', 'note', 'gather', 'scatter', 'divergent_branch', 'divergent_loop', 'per_lane', 'interleaved' "
          "or "
          "'spill'.")
      .def_ro("file", &Remark::file,
              "'operation', 'preamble', 'loop_prep' or 'after_loop'; another name, or '', for other text.")
      .def_ro("line", &Remark::line, "Line of that text, from 1; 0 where it is not known.")
      .def_ro("column", &Remark::column, "Column of that line in bytes, from 1; 0 where it is not known.")
      .def_ro("message", &Remark::message, "What is to say.")
      .def("__repr__", [](const Remark& r) { return "<Remark " + remark_text(r) + ">"; });
  nb::class_<KernelReport>(module, "KernelReport", "How a kernel runs for given dtypes and layouts; print it.")
      .def_ro("kernel", &KernelReport::kernel, "The kernel's name.")
      .def_ro("device", &KernelReport::device, "Name of the device that the code is for.")
      .def_ro("lanes", &KernelReport::lanes, "How many elements run side by side; 1 where the body was not widened.")
      .def_ro("reason", &KernelReport::reason, "Why the body was not widened; '' where it was.")
      .def_prop_ro(
          "remarks", [](const KernelReport& r) { return nb::tuple(nb::cast(r.remarks)); },
          nb::sig("def remarks(self) -> tuple[Remark, ...]"),
          "The remarks, in the order of the kernel's texts; one of each kind at a place.")
      .def("__str__", &KernelReport::to_string)
      .def("__repr__", &KernelReport::to_string);
}

constexpr const char* kDocumentation = R"(The body of a loop as a string of C++, run over whole arrays.

in_params and out_params are comma-separated `[raw] [const|_non_const] TYPE NAME`; TYPE is a NumPy dtype name or a
one-letter placeholder whose dtype the arguments decide. In operation, a plain parameter is the current element,
a raw one is a CArray, and an input `TYPE NAME[EXTENT]` is a small array whose elements are passed by value; `i` is the element's index, `n` and `_ind.size()` the number of elements. preamble
holds helper functions, loop_prep and after_loop run before and after the elements, options go to the compiler.
reduce_dims merges axes if layouts allow; no_return and return_tuple change what a call returns.

A call takes the inputs, then optionally the outputs to fill, and size= if every array is raw; block_size= and
stream= are accepted for compatibility with CuPy. Inputs are arrays, scalars, and objects that iruka.asarray
converts. Tensors on the device, and NumPy arrays on the CPU, are used without a copy. Arrays broadcast and are
never cast; scalars are cast to the parameter's type.

Raises ValueError for malformed parameters or names, TypeError for arguments that do not fit, and
iruka.errors.CompileError, with the line and a caret, for a body that is invalid C++; without a line for one that takes
too long to compile (option --compile-timeout=SECONDS), and for faults that only the machine code shows, at the first
call: all local variables together take more than 1 MiB. Gives an iruka.errors.KernelWarning, once, for valid C++ that is probably a
mistake: an output that is never written, a statement without effect. Ctrl-C stops a kernel that runs on the CPU,
whichever thread called it.

    >>> add = iruka.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = x + y;', 'add')
    >>> add(iruka.arange(3, dtype='float32'), 1)
    array([1., 2., 3.], dtype=float32))";

const PyType_Slot kKernelSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_kernel)}, {0, nullptr}};

}  // namespace

void bind_kernel(nb::module_& module) {
  module.def(
      "is_cpp_name", [](const std::string& text) { return jit::is_identifier(text); }, nb::arg("text"),
      "Whether the text is an identifier of C++, as the name of a kernel is, and no keyword.");
  bind_parameter(module);
  bind_report(module);
  nb::class_<ElementwiseKernel> type(module, "ElementwiseKernel", nb::type_slots(kKernelSlots), nb::dynamic_attr(),
                                     nb::is_weak_referenceable(), kDocumentation);
  type.def(
      "__init__", construct, nb::arg("in_params").none(), nb::arg("out_params").none(), nb::arg("operation").none(),
      nb::arg("name") = "kernel", nb::arg("reduce_dims") = true, nb::arg("preamble") = "", nb::arg("no_return") = false,
      nb::arg("return_tuple") = false, nb::arg("doc") = "", nb::arg("kwargs"),
      nb::sig("def __init__(self, in_params: str, out_params: str, operation: str, name: str = 'kernel', "
              "reduce_dims: bool = True, preamble: str = '', no_return: bool = False, return_tuple: bool = False, "
              "doc: str = '', *, options: tuple[str, ...] = (), loop_prep: str = '', after_loop: str = '') -> None"));
  type.def_prop_ro("operation", [](const ElementwiseKernel& k) { return k.operation(); }, "The body.");
  bind_value(type);
  bind_description(type);
  bind_index_space_options(type);
  bind_inspection<Call>(
      type, "(self, *args, size: int | None = None)", "The C++ text made for arguments like these.",
      "How many elements run side by side for arguments like these, or why they do not, by the body's "
      "lines.");
}

}  // namespace iruka::python
