// iruka.StagedKernel.
#include "iruka/staged_kernel.h"

#include "cuda.h"
#include "interop.h"
#include "kernel_binding.h"

namespace iruka::python {

namespace {

std::string text_argument(const char* what, nb::handle object) {
  return to_text(object, std::string("StagedKernel: ") + what);
}

/// A body; or a body, how many times it runs (a number or an input's name), and for how many elements.
Stage to_stage(nb::handle object, size_t number) {
  const std::string what = "stage " + std::to_string(number);
  if (PyUnicode_Check(object.ptr())) return {text_argument(what.c_str(), object)};
  const Py_ssize_t parts = PyTuple_Check(object.ptr()) ? PyTuple_GET_SIZE(object.ptr()) : 0;
  if (parts != 2 && parts != 3)
    throw TypeError("StagedKernel: " + what +
                    " must be a str, or a tuple of a str, how many times it runs and for how many elements, not " +
                    describe(object));
  const nb::handle body = PyTuple_GET_ITEM(object.ptr(), 0), count = PyTuple_GET_ITEM(object.ptr(), 1);
  std::string text = text_argument(what.c_str(), body);
  std::string elements;
  if (parts == 3) elements = text_argument((what + "'s elements").c_str(), PyTuple_GET_ITEM(object.ptr(), 2));
  if (PyUnicode_Check(count.ptr()))
    return {std::move(text), text_argument((what + "'s count").c_str(), count), std::move(elements)};
  return {std::move(text), to_int64(count.ptr(), ("StagedKernel: " + what + ": its count").c_str()),
          std::move(elements)};
}

void construct(nb::pointer_and_handle<StagedKernel> self, nb::handle in_params, nb::handle out_params,
               nb::handle intermediates, nb::handle stages, nb::handle name, nb::handle axis, nb::handle preamble,
               nb::handle compiler_options, bool reduce_dims, bool no_return, bool return_tuple) {
  StagedKernelOptions options;
  if (!axis.is_none()) options.axis = to_dims(axis.ptr(), "axis");
  options.preamble = text_argument("preamble", preamble);
  options.options = compiler_options_of("StagedKernel", compiler_options);
  options.reduce_dims = reduce_dims;
  options.no_return = no_return;
  options.return_tuple = return_tuple;
  options.made_at = calling_place();
  std::string inputs = text_argument("in_params", in_params), outputs = text_argument("out_params", out_params),
              between = text_argument("intermediates", intermediates), kernel_name = text_argument("name", name);
  const nb::tuple given = sequence_argument("StagedKernel: stages", "a sequence of bodies", stages);
  std::vector<Stage> list;
  for (nb::handle stage : given) list.push_back(to_stage(stage, list.size() + 1));
  {
    GilRelease release;  // a kernel whose types are all known is compiled here
    new (self.p) StagedKernel(inputs, outputs, between, std::move(list), kernel_name, std::move(options));
  }
  nb::dict keywords;
  keywords["axis"] = axis;
  keywords["preamble"] = preamble;
  keywords["options"] = compiler_options;
  keywords["reduce_dims"] = reduce_dims;
  keywords["no_return"] = no_return;
  keywords["return_tuple"] = return_tuple;
  self.h.attr("kwargs") = keywords;
  self.h.attr("_arguments") = nb::make_tuple(in_params, out_params, intermediates, given, name);
  emit_warnings_of(*self.p);
}

void parse_keywords(const StagedKernel& kernel, PyObject* keywords, StagedCallOptions& options,
                    std::optional<StreamHandle>& stream) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (keywords && PyDict_Next(keywords, &position, &key, &value)) {
    const auto is = [&](const char* name) { return PyUnicode_CompareWithASCIIString(key, name) == 0; };
    if (is("size")) {
      if (value != Py_None) options.size = to_int64(value, (kernel.name() + "(): size").c_str());
    } else if (is("axis")) {
      if (value != Py_None) options.axis = to_dims(value, "axis");
    } else if (is("stream")) {
      stream = to_stream(value);
    } else {
      throw TypeError(kernel.name() + "() got an unexpected keyword argument '" + text_of(key) +
                      "'; a call takes size, axis and stream");
    }
  }
}

/// Arguments and options of a call. A given stream is the current one meanwhile, so that outputs belong to it.
struct Call {
  KernelArguments arguments;
  StagedCallOptions options;
  std::optional<StreamHandle> stream;

  Call(const StagedKernel& kernel, PyObject* positional, PyObject* keywords)
      : arguments({kernel.name(), kernel.in_params(), kernel.out_params()}, positional) {
    parse_keywords(kernel, keywords, options, stream);
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
    const StagedKernel& kernel = instance_of<StagedKernel>(self);
    const Call call(kernel, positional, keywords);
    std::vector<Array> outputs = call.run([&](auto list, const auto& options) { return kernel.call(list, options); });
    emit_warnings(kernel.pop_warnings());
    if (kernel.options().no_return) Py_RETURN_NONE;
    return result_of(positional, kernel.nin(), kernel.nout(), outputs, kernel.options().return_tuple);
  });
}

/// The stages as they are given: a body, or a body and how many times it runs.
nb::tuple stages_of(const StagedKernel& kernel) {
  nb::list stages;
  for (const Stage& stage : kernel.stages()) {
    const nb::object count = stage.count_name.empty() ? nb::cast(stage.count) : nb::cast(stage.count_name);
    if (!stage.elements.empty())
      stages.append(nb::make_tuple(stage.body, count, stage.elements));
    else if (!stage.count_name.empty() || stage.count != 1)
      stages.append(nb::make_tuple(stage.body, count));
    else
      stages.append(nb::cast(stage.body));
  }
  return nb::tuple(stages);
}

nb::object axis_of(const StagedKernel& kernel) {
  const std::optional<Dims>& axis = kernel.options().axis;
  if (!axis) return nb::none();
  if (axis->size() == 1) return nb::int_((*axis)[0]);
  nb::list axes;
  for (const int64_t each : *axis) axes.append(nb::int_(each));
  return nb::tuple(axes);
}

}  // namespace

std::vector<std::string> parts_of(const StagedKernel& kernel) {
  const StagedKernelOptions& options = kernel.options();
  std::vector<std::string> parts = {
      kernel.name(),
      parts_of(kernel.in_params()),
      parts_of(kernel.out_params()),
      parts_of(kernel.intermediates()),
      options.preamble,
      options.axis ? to_string(*options.axis) : "",
      {options.reduce_dims ? 'm' : '-', options.return_tuple ? 't' : '-', options.no_return ? 'n' : '-'}};
  for (const Stage& stage : kernel.stages()) {
    parts.push_back(stage.body);
    parts.push_back(stage.count_name.empty() ? std::to_string(stage.count) : "by " + stage.count_name);
    parts.push_back(stage.elements);
  }
  parts.push_back("options");
  parts.insert(parts.end(), options.options.begin(), options.options.end());
  return parts;
}

namespace {

constexpr const char* kDocumentation = R"(Several C++ bodies over one index space, one after the other.

Each stage runs for all elements before the next one begins, and sees what the stages before have written. in_params
and out_params are those of ElementwiseKernel. intermediates lists arrays of the index space's shape ('float32 rows,
T sums'), which exist during a call only: each stage sees them as raw parameters (`rows[i]`, `rows[{y, x}]`). A raw
output that a call does not pass has the index space's shape, too.

stages is a sequence of bodies. A tuple (body, count) is a stage that runs count times, with a barrier after each;
count is a number, or the name of an integer input. Beside the names of ElementwiseKernel's bodies, a body sees
`_step`, the number of the repetition, from 0. A tuple (body, count, elements) is a stage for the elements of each
slice whose `_J` is less than elements, a C++ expression of scalars, `n`, `_step` and `_slice.size()`.

axis (an int or a tuple of ints) promises that stages exchange values only along these axes. The others then make
independent slices, each of which goes through all stages at once, with its intermediates in the processor's cache or
a GPU's shared memory. By default all axes are one slice. In a body, `_J` is the element's place in its slice,
`_slice.size()` the number of a slice's elements, `_slice[k]` the index `i` of element k of the slice, and `_i` the
slice's number.

preamble, options, reduce_dims, no_return and return_tuple are ElementwiseKernel's. A call takes the inputs, then
optionally the outputs to fill, size= if every array is raw, axis= in place of the kernel's, and stream=. Plain inputs
that share memory with an output keep their values from before the call.

Raises ValueError for malformed parameters, names and stages, AxisError and IndexError for axes, and what
ElementwiseKernel raises; an iruka.errors.CompileError names the stage. Warns of iruka.errors.KernelWarning as
ElementwiseKernel does, and of an intermediate that is read before a stage has written to it.

    >>> smooth = iruka.StagedKernel('float32 x', 'float32 y', 'float32 left', [
    ...     'left[i] = _J > 0 ? x : 0;',
    ...     'y = _J + 1 < _slice.size() ? left[i] + left[i + 1] : left[i];'], 'smooth', axis=-1)
    >>> smooth(iruka.arange(8, dtype='float32').reshape(2, 4))
    array([[ 1.,  3.,  5.,  3.],
           [ 5., 11., 13.,  7.]], dtype=float32))";

const PyType_Slot kKernelSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_kernel)}, {0, nullptr}};

}  // namespace

void bind_staged_kernel(nb::module_& module) {
  using Kernel = StagedKernel;
  nb::class_<Kernel> type(module, "StagedKernel", nb::type_slots(kKernelSlots), nb::dynamic_attr(),
                          nb::is_weak_referenceable(), kDocumentation);
  type.def("__init__", construct, nb::arg("in_params").none(), nb::arg("out_params").none(),
           nb::arg("intermediates").none(), nb::arg("stages").none(), nb::arg("name") = "staged_kernel", nb::kw_only(),
           nb::arg("axis") = nb::none(), nb::arg("preamble") = "", nb::arg("options") = nb::make_tuple(),
           nb::arg("reduce_dims") = true, nb::arg("no_return") = false, nb::arg("return_tuple") = false,
           nb::sig("def __init__(self, in_params: str, out_params: str, intermediates: str, "
                   "stages: typing.Iterable[str | tuple[str, int | str] | tuple[str, int | str, str]], name: str = "
                   "'staged_kernel', *, "
                   "axis: int | tuple[int, ...] | None = None, preamble: str = '', options: tuple[str, ...] = (), "
                   "reduce_dims: bool = True, no_return: bool = False, return_tuple: bool = False) -> None"));
  type.def_prop_ro("stages", stages_of,
                   nb::sig("def stages(self) -> tuple[str | tuple[str, int | str] | tuple[str, int | str, str], ...]"),
                   "The bodies; with counts and elements where they are given.")
      .def_prop_ro("axis", axis_of, nb::sig("def axis(self) -> int | tuple[int, ...] | None"),
                   "The axes along which stages exchange values; None: all.")
      .def_prop_ro(
          "intermediates", [](const Kernel& k) { return parameter_tuple(k.intermediates()); },
          nb::sig("def intermediates(self) -> tuple[ParameterInfo, ...]"), "Arrays between the stages.");
  bind_value(type);
  bind_description(type);
  bind_index_space_options(type);
  bind_inspection<Call>(
      type, "(self, *args, size: int | None = None, axis: int | tuple[int, ...] | None = None, stream=None)",
      "The C++ text made for arguments like these; where stages are launched one by one, one text after the other.",
      "How many elements run side by side for arguments like these, in the stage with the most, or why they do not, by "
      "the lines of the stages.");
}

}  // namespace iruka::python
