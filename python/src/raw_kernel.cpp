// iruka.RawKernel and iruka.RawModule. The call is a type slot, as ElementwiseKernel's, because it takes about a
// microsecond.
#include "iruka/raw_kernel.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "convert.h"
#include "cuda.h"
#include "device.h"
#include "iruka/error.h"
#include "kernel.h"
#include "public_names.h"
#include "raw_call.h"
#include "truth.h"

namespace iruka::python {
namespace {

PyObject* call_kernel(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const RawKernel& kernel = instance_of<RawKernel>(self);
    const RawCall call(kernel.name(), positional, keywords);
    const std::span given = call.arguments();
    RawArguments arguments(kernel.name(), given, given.size());
    for (size_t k = 0; k < given.size(); ++k) arguments.add_argument(k);
    call.launch(kernel, arguments);
    Py_RETURN_NONE;
  });
}

const PyType_Slot kKernelSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_kernel)}, {0, nullptr}};

std::vector<std::string> to_texts(nb::handle given, const std::string& what) {
  std::vector<std::string> texts;
  if (given.is_none()) return texts;
  if (PyUnicode_Check(given.ptr())) throw TypeError(what + " must be a tuple of str, not a str");
  for (nb::handle each : nb::iter(given)) texts.push_back(to_text(each, what));
  return texts;
}

/// Refuses what CuPy's keywords ask for beyond NVRTC.
void check_way(const char* kind, nb::handle backend, bool translate_cucomplex, bool jitify) {
  const std::string own = kind, named = to_text(backend, own + ": backend");
  if (named == "nvcc")
    throw ValueError(own +
                     ": backend='nvcc' is not supported; leave it out: NVRTC compiles for GPUs, Clang for the CPU");
  if (named != "nvrtc") throw ValueError(own + ": backend must be 'nvrtc', not '" + named + "'");
  if (translate_cucomplex)
    throw ValueError(own +
                     ": translate_cucomplex=True is not supported; write complex<float> and complex<double> (or "
                     "thrust::complex) for cuFloatComplex and cuDoubleComplex: they need no header");
  if (jitify)
    throw ValueError(own +
                     ": jitify=True is not supported; leave it out: options=('-I/folder',) gives headers, and the "
                     "kernel language has the integer types, math, complex and atomic functions without any");
}

RawOptions options_of(const char* kind, nb::handle options, bool cooperative, nb::handle name_expressions) {
  return {.options = to_texts(options, std::string(kind) + ": options"),
          .enable_cooperative_groups = cooperative,
          .name_expressions = to_texts(name_expressions, std::string(kind) + ": name_expressions"),
          .made_at = calling_place()};
}

void construct_kernel(nb::pointer_and_handle<RawKernel> self, nb::handle code, nb::handle name, nb::handle options,
                      nb::handle backend, Truth translate_cucomplex, Truth cooperative, Truth jitify) {
  check_way("RawKernel", backend, translate_cucomplex, jitify);
  std::string text = to_text(code, "RawKernel: code"), own_name = to_text(name, "RawKernel: name");
  RawOptions own = options_of("RawKernel", options, cooperative, nb::none());
  {
    GilRelease release;  // the code's headers are read
    new (self.p) RawKernel(std::move(text), std::move(own_name), std::move(own));
  }
  self.h.attr("_arguments") = nb::make_tuple(code, name, nb::tuple(nb::cast(self.p->options().options)));
}

void construct_module(nb::pointer_and_handle<RawModule> self, nb::handle code, nb::handle path, nb::handle options,
                      nb::handle backend, Truth translate_cucomplex, Truth cooperative, nb::handle name_expressions,
                      Truth jitify) {
  check_way("RawModule", backend, translate_cucomplex, jitify);
  if (code.is_none() == path.is_none()) throw TypeError("RawModule: exactly one of code and path must be given");
  RawOptions own = options_of("RawModule", options, cooperative, name_expressions);
  if (path.is_none()) {
    std::string text = to_text(code, "RawModule: code");
    GilRelease release;
    new (self.p) RawModule(std::move(text), std::move(own));
  } else {
    const nb::object named = nb::steal(PyOS_FSPath(path.ptr()));
    if (!named.is_valid()) throw nb::python_error();
    const std::string file = to_text(named, "RawModule: path");
    GilRelease release;
    new (self.p) RawModule(RawModule::from_file(file, std::move(own)));
  }
  nb::dict keywords;
  keywords["path"] = path;
  keywords["options"] = nb::tuple(nb::cast(self.p->options().options));
  keywords["enable_cooperative_groups"] = nb::bool_(cooperative);
  keywords["name_expressions"] =
      name_expressions.is_none() ? nb::object(nb::none()) : nb::tuple(nb::cast(self.p->options().name_expressions));
  self.h.attr("_arguments") = nb::make_tuple(code);
  self.h.attr("_keywords") = keywords;
}

nb::object get_function(nb::handle self, nb::handle name) {
  const RawModule& module = instance_of<RawModule>(self.ptr());
  nb::object kernel = nb::cast(module.get_function(to_text(name, "RawModule.get_function: name")));
  kernel.attr("_module") = self;
  return kernel;
}

nb::object reduce_kernel_or_module(nb::handle self) {
  const nb::object module = nb::getattr(self, "_module", nb::none());
  if (!module.is_none())
    return nb::make_tuple(module.type().attr("get_function"), nb::make_tuple(module, self.attr("name")));
  nb::dict keywords;
  if (nb::hasattr(self, "_keywords"))
    keywords = nb::borrow<nb::dict>(self.attr("_keywords"));
  else
    keywords["enable_cooperative_groups"] = self.attr("enable_cooperative_groups");
  return nb::make_tuple(package_attribute("iruka._kernel", "remade"),
                        nb::make_tuple(self.type(), self.attr("_arguments"), keywords), self.attr("__dict__"));
}

/// What makes two kernels or modules equal.
template <class Raw>
nb::tuple identity_of(const Raw& raw) {
  const RawOptions& options = raw.options();
  nb::object name = nb::none();
  if constexpr (std::is_same_v<Raw, RawKernel>) name = nb::cast(raw.name());
  return nb::make_tuple(name, nb::bytes(raw.code().data(), raw.code().size()), raw.file_path(),
                        nb::tuple(nb::cast(options.options)), options.enable_cooperative_groups,
                        nb::tuple(nb::cast(options.name_expressions)));
}

template <class Raw>
nb::object is_equal(const Raw& a, nb::handle other) {
  if (!nb::isinstance<Raw>(other)) return nb::borrow(Py_NotImplemented);
  return nb::bool_(identity_of(a).equal(identity_of(nb::cast<const Raw&>(other))));
}

/// The code as Python has it: None where a file was given.
template <class Raw>
nb::object code_of(const Raw& raw) {
  if (!raw.file_path().empty()) return nb::none();
  return nb::cast(raw.code());
}

template <class Raw>
nb::object path_of(const Raw& raw) {
  if (raw.file_path().empty()) return nb::none();
  return nb::cast(raw.file_path());
}

/// Compiles on the default device; the warnings go to `log_stream`, or to Python's.
template <class Raw>
void compile(const Raw& raw, nb::handle log_stream) {
  without_gil([&] {
    raw.compile(default_device());
    return 0;
  });
  const std::vector<std::string> warnings = raw.pop_warnings();
  if (log_stream.is_none()) return emit_warnings(warnings);
  for (const std::string& warning : warnings) log_stream.attr("write")(warning + "\n");
}

nb::object get_global(const RawModule& module, nb::handle name) {
  const std::string text = to_text(name, "RawModule.get_global: name");
  nb::object bytes = to_python(without_gil([&] { return module.get_global(text, default_device()); }));
  emit_warnings(module.pop_warnings());
  return package_attribute("iruka._array", "Memory")(bytes);
}

FunctionAttributes attributes_of(const RawKernel& kernel) {
  return without_gil([&] { return kernel.attributes(default_device()); });
}

struct Attribute {
  const char* name;
  int FunctionAttributes::* member;
  const char* documentation;
};
constexpr Attribute kAttributes[] = {
    {"max_threads_per_block", &FunctionAttributes::max_threads_per_block, "The most threads of a block."},
    {"shared_size_bytes", &FunctionAttributes::shared_size_bytes, "Static shared memory of a block."},
    {"const_size_bytes", &FunctionAttributes::const_size_bytes, "Constant memory of the module."},
    {"local_size_bytes", &FunctionAttributes::local_size_bytes, "Local memory of a thread."},
    {"num_regs", &FunctionAttributes::num_regs, "Registers of a thread; 0 on the CPU."},
    {"ptx_version", &FunctionAttributes::ptx_version, "90 for 9.0; 0 on the CPU."},
    {"binary_version", &FunctionAttributes::binary_version, "90 for 9.0; 0 on the CPU."},
    {"cache_mode_ca", &FunctionAttributes::cache_mode_ca, "Whether it was compiled with -Xptxas --dlcm=ca."},
};

nb::dict attribute_dict(const RawKernel& kernel) {
  const FunctionAttributes attributes = attributes_of(kernel);
  nb::dict all;
  for (const Attribute& each : kAttributes) all[each.name] = attributes.*each.member;
  all["max_dynamic_shared_size_bytes"] = attributes.max_dynamic_shared_size_bytes;
  all["preferred_shared_memory_carveout"] = attributes.preferred_shared_memory_carveout;
  return all;
}

int to_int(nb::handle value, const char* what) {
  const int64_t wide = to_int64(value, what);
  return static_cast<int>(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX));  // which no device allows
}

/// What both classes say of how they were made.
template <class Raw>
void bind_origin(nb::class_<Raw>& type) {
  type.def_prop_ro("code", code_of<Raw>, nb::sig("def code(self) -> str | None"),
                   "The code; None where a file was given.")
      .def_prop_ro("file_path", path_of<Raw>, nb::sig("def file_path(self) -> str | None"),
                   "The file; None where code was given.")
      .def_prop_ro(
          "options", [](const Raw& raw) { return nb::tuple(nb::cast(raw.options().options)); },
          nb::sig("def options(self) -> tuple[str, ...]"), "Compiler options.")
      .def_prop_ro(
          "backend", [](const Raw&) { return "nvrtc"; }, "As in CuPy.")
      .def_prop_ro(
          "enable_cooperative_groups", [](const Raw& raw) { return raw.options().enable_cooperative_groups; },
          "Whether all blocks of a launch run at the same time.")
      .def("__eq__", is_equal<Raw>, nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const Raw& raw) { return nb::hash(identity_of(raw)); })
      .def("__reduce__", reduce_kernel_or_module, nb::sig("def __reduce__(self) -> tuple"));
  bind_public_names(type);
}

constexpr const char* kKernelDocumentation =
    R"(A __global__ function of CUDA C++, launched over a grid of blocks of threads.

kernel(grid, block, args, *, shared_mem=0, stream=None): grid and block are an int or tuples of up to three, args is
a tuple. It runs on the device of the arrays, else on the default device: GPUs, and the CPU, where a block's threads
are lanes. name may have template arguments: 'scale<float>'. options are compiler options. With
enable_cooperative_groups all blocks run at the same time. backend must be 'nvrtc'; translate_cucomplex and jitify
must be false.

Arguments are checked against the function's parameters. A pointer takes an array of its type, None, or an address;
a pointer to void, char, unsigned char or a structure takes any array. Numbers become the parameter's type. A
structure is a structured NumPy scalar, bytes or a ctypes.Structure. NumPy arrays are used in place on the CPU.

Raises TypeError for arguments of the wrong number or type, OverflowError for integers that do not fit, ValueError
for grids that the device does not allow, read-only arrays for pointers that are not const, and arrays of several
devices, and iruka.errors.CompileError, with the line and a caret. docs/raw_kernels.md says more.

    >>> add = iruka.RawKernel(r'''
    ... extern "C" __global__ void add(const float* x, float* y, int n) {
    ...   int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i < n) y[i] += x[i];
    ... }''', 'add')
    >>> x, y = iruka.ones(5, 'float32'), iruka.arange(5, dtype='float32')
    >>> add((1,), (128,), (x, y, 5))
    >>> y
    array([1., 2., 3., 4., 5.], dtype=float32))";

constexpr const char* kModuleDocumentation = R"(CUDA C++ with several kernels and variables, or PTX or machine code.

Either code or path is given; path names a file of CUDA C++, PTX or machine code (cubin). name_expressions are the
instances of templates, as C++ names them: 'scale<float>'. Other keywords are RawKernel's.

Raises TypeError unless exactly one of code and path is given, iruka.errors.FileError for a file that cannot be
read.)";

}  // namespace

void bind_raw_kernel(nb::module_& module) {
  nb::class_<RawKernel> kernel(module, "RawKernel", nb::type_slots(kKernelSlots), nb::dynamic_attr(),
                               nb::is_weak_referenceable(), kKernelDocumentation);
  kernel.def("__init__", construct_kernel, nb::arg("code").none(), nb::arg("name").none(),
             nb::arg("options") = nb::make_tuple(), nb::arg("backend").none() = "nvrtc", nb::kw_only(),
             nb::arg("translate_cucomplex") = false, nb::arg("enable_cooperative_groups") = false,
             nb::arg("jitify") = false,
             nb::sig("def __init__(self, code: str, name: str, options: tuple[str, ...] = (), backend: str = 'nvrtc', "
                     "*, translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, "
                     "jitify: bool = False) -> None"));
  bind_origin(kernel);
  kernel.def_prop_ro(
            "name", [](const RawKernel& k) { return k.name(); }, "The function's name, as it was given.")
      .def_prop_ro(
          "kernel",
          [](nb::handle self) {
            compile(instance_of<RawKernel>(self.ptr()), nb::none());
            return nb::borrow(self);
          },
          nb::sig("def kernel(self) -> RawKernel"), "The kernel itself, compiled for the default device.")
      .def("compile", compile<RawKernel>, nb::arg("log_stream") = nb::none(),
           nb::sig("def compile(self, log_stream=None) -> None"),
           "Compiles for the default device; log_stream.write gets the warnings. Raises iruka.errors.CompileError.")
      .def_prop_ro("attributes", attribute_dict, nb::sig("def attributes(self) -> dict[str, int]"),
                   "All attributes on the default device.")
      .def_prop_rw(
          "max_dynamic_shared_size_bytes",
          [](const RawKernel& k) { return attributes_of(k).max_dynamic_shared_size_bytes; },
          [](const RawKernel& k, nb::handle bytes) {
            const int value = to_int(bytes, "max_dynamic_shared_size_bytes");
            const GilRelease release;
            k.set_max_dynamic_shared_size_bytes(default_device(), value);
          },
          nb::for_getter(nb::sig("def max_dynamic_shared_size_bytes(self) -> int")),
          nb::for_setter(nb::sig("def max_dynamic_shared_size_bytes(self, bytes: int, /) -> None")),
          "The most dynamic shared memory of a block. Raises ValueError for more than the device has.")
      .def_prop_rw(
          "preferred_shared_memory_carveout",
          [](const RawKernel& k) { return attributes_of(k).preferred_shared_memory_carveout; },
          [](const RawKernel& k, nb::handle percent) {
            const int value = to_int(percent, "preferred_shared_memory_carveout");
            const GilRelease release;
            k.set_preferred_shared_memory_carveout(default_device(), value);
          },
          nb::for_getter(nb::sig("def preferred_shared_memory_carveout(self) -> int")),
          nb::for_setter(nb::sig("def preferred_shared_memory_carveout(self, percent: int, /) -> None")),
          "Percent of the memory that shared memory and cache divide; -1 leaves it to the device.")
      .def("__repr__", [](const RawKernel& k) { return "<" + k.to_string() + ">"; });
  for (const Attribute& each : kAttributes)
    kernel.def_prop_ro(
        each.name, [member = each.member](const RawKernel& k) { return attributes_of(k).*member; }, each.documentation);

  nb::class_<RawModule> raw_module(module, "RawModule", nb::dynamic_attr(), nb::is_weak_referenceable(),
                                   kModuleDocumentation);
  raw_module.def("__init__", construct_module, nb::arg("code").none() = nb::none(), nb::kw_only(),
                 nb::arg("path").none() = nb::none(), nb::arg("options") = nb::make_tuple(),
                 nb::arg("backend").none() = "nvrtc", nb::arg("translate_cucomplex") = false,
                 nb::arg("enable_cooperative_groups") = false, nb::arg("name_expressions").none() = nb::none(),
                 nb::arg("jitify") = false,
                 nb::sig("def __init__(self, code: str | None = None, *, path: str | os.PathLike[str] | None = None, "
                         "options: tuple[str, ...] = (), backend: str = 'nvrtc', translate_cucomplex: bool = False, "
                         "enable_cooperative_groups: bool = False, name_expressions: collections.abc.Sequence[str] | "
                         "None = None, jitify: bool = False) -> None"));
  bind_origin(raw_module);
  raw_module
      .def_prop_ro(
          "name_expressions", [](const RawModule& m) { return nb::tuple(nb::cast(m.options().name_expressions)); },
          nb::sig("def name_expressions(self) -> tuple[str, ...]"), "The instances of templates.")
      .def("compile", compile<RawModule>, nb::arg("log_stream") = nb::none(),
           nb::sig("def compile(self, log_stream=None) -> None"),
           "Compiles for the default device; log_stream.write gets the warnings. Raises iruka.errors.CompileError.")
      .def("get_function", get_function, nb::arg("name").none(),
           nb::sig("def get_function(self, name: str) -> RawKernel"),
           "The kernel of that name, or of one of the name expressions.")
      .def("get_global", get_global, nb::arg("name").none(), nb::sig("def get_global(self, name: str)"),
           "The memory of a `__device__` or `__constant__` variable on the default device, for ndarray's memptr=.\n\n"
           "Raises iruka.errors.DeviceError if there is none.")
      .def("__repr__", [](const RawModule& m) {
        return m.file_path().empty() ? std::string("<RawModule>") : "<RawModule of '" + m.file_path() + "'>";
      });
}

}  // namespace iruka::python
