// The base class of vectorized Python functions: a call whose arguments have the types of a kernel goes straight to
// it. Everything else is the work of the Python class: new kernels, lists, arrays on several devices.
#include "kernel_dispatcher.h"

#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatched_call.h"
#include "kernel.h"

namespace iruka::python {

namespace {

/// Reads out=. False for an empty tuple.
bool read_out(PyObject* const* value, GivenArguments& given) {
  if (*value == Py_None) return true;
  given.outputs = {value, 1};
  given.returned = *value;
  if (!PyTuple_CheckExact(*value)) return true;
  given.outputs = {PySequence_Fast_ITEMS(*value), static_cast<size_t>(PyTuple_GET_SIZE(*value))};
  if (given.outputs.size() == 1) given.returned = given.outputs.front();
  return !given.outputs.empty();
}

/// The inputs and outputs of a call; false where there are not as many, or other keywords.
bool read_arguments(size_t nin, std::span<PyObject* const> positional, PyObject* names, GivenArguments& given) {
  if (positional.size() < nin) return false;
  given.inputs = positional.first(nin);
  given.outputs = positional.subspan(nin);
  if (given.outputs.size() == 1) given.returned = given.outputs.front();
  if (!names || PyTuple_GET_SIZE(names) == 0) return true;
  return given.outputs.empty() && PyTuple_GET_SIZE(names) == 1 &&
         PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out") == 0 &&
         read_out(positional.data() + positional.size(), given);
}

PyObject* call_dispatcher(PyObject* self, PyObject* const* arguments, size_t flagged_count, PyObject* names) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const KernelDispatcher& dispatcher = instance_of<KernelDispatcher>(self);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged_count));
    GivenArguments given;
    if (!dispatcher.kernels.empty() && read_arguments(dispatcher.nin, {arguments, count}, names, given))
      if (PyObject* result = DispatchedCall(dispatcher, given).result()) return result;
    const nb::object method = nb::getattr(self, "call");
    return PyObject_Vectorcall(method.ptr(), arguments, count, names);
  });
}

/// The slot of a class whose instances are called without tuples once they were initialised.
PyObject* call_with_tuple(PyObject* self, PyObject* positional, PyObject* keywords) {
  return guarded<>(static_cast<PyObject*>(nullptr), [&] {
    instance_of<KernelDispatcher>(self);
    return PyVectorcall_Call(self, positional, keywords);
  });
}

/// Calls of the instances of this derived class pass no tuples. Before Python 3.12, classes made in Python do not
/// inherit this.
void enable_vectorcall(PyTypeObject* type, ptrdiff_t offset) {
  if (type->tp_call != call_with_tuple || !PyType_IS_GC(type)) return;
  type->tp_vectorcall_offset = offset;
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
}

/// A dtype, or the type of a Python number.
void add_type(InputTypes& types, const nb::object& type) {
  if (type.is(&PyBool_Type))
    types.add_number(Dtype::bool_);
  else if (type.is(&PyLong_Type))
    types.add_number(Dtype::int64);
  else if (type.is(&PyFloat_Type))
    types.add_number(Dtype::float64);
  else if (type.is(&PyComplex_Type))
    types.add_number(Dtype::complex128);
  else
    types.add(to_dtype(type));
}

void add_kernel(KernelDispatcher& self, const std::vector<nb::object>& inputs, const std::vector<nb::object>& dtypes,
                const ElementwiseKernel& kernel, bool on_host, bool takes_numpy, bool reports_failure) {
  InputTypes types;
  for (const nb::object& input : inputs) add_type(types, input);
  std::vector<Dtype> all;
  all.reserve(dtypes.size());
  for (const nb::object& dtype : dtypes) all.push_back(to_dtype(dtype));
  self.kernels.push_back({types, std::move(all), kernel, on_host, takes_numpy, reports_failure});
}

/// Pairs of inputs and outputs by axes as parse_layout gives them: names, or ints where the extent is fixed.
CoreAxes core_axes_of(nb::handle layout) {
  CoreAxes core{};
  std::map<std::pair<int64_t, std::string>, int> numbers;  // by the fixed extent, or -1 and the name
  for (nb::handle side : layout) {
    for (nb::handle names : side) {
      std::vector<int>& axes = core.arguments.emplace_back();
      for (nb::handle name : names) {
        const bool is_fixed = PyLong_Check(name.ptr());
        const int64_t extent = is_fixed ? nb::cast<int64_t>(name) : -1;
        const auto [place, is_new] =
            numbers.try_emplace({extent, is_fixed ? "" : text_of(name)}, static_cast<int>(numbers.size()));
        if (is_new) core.extents.push_back(extent);
        axes.push_back(place->second);
      }
    }
  }
  return core;
}

void construct(nb::pointer_and_handle<KernelDispatcher> self, size_t nin, bool has_signatures, nb::handle layout) {
  auto* const made =
      new (self.p) KernelDispatcher{.vectorcall = call_dispatcher, .nin = nin, .has_signatures = has_signatures};
  if (!layout.is_none()) made->core = core_axes_of(layout);
  enable_vectorcall(Py_TYPE(self.h.ptr()),
                    reinterpret_cast<char*>(&made->vectorcall) - reinterpret_cast<char*>(self.h.ptr()));
}

const PyType_Slot kSlots[] = {{Py_tp_call, reinterpret_cast<void*>(call_with_tuple)}, {0, nullptr}};

}  // namespace

void bind_kernel_dispatcher(nb::module_& module) {
  nb::class_<KernelDispatcher>(module, "KernelDispatcher", nb::type_slots(kSlots),
                               "Calls the kernel for the arguments' types, else the method `call` of a derived class.")
      .def("__init__", construct, nb::arg("nin"), nb::arg("has_signatures"), nb::arg("layout") = nb::none())
      .def("add_kernel", add_kernel, nb::arg("inputs"), nb::arg("dtypes"), nb::arg("kernel"), nb::arg("on_host"),
           nb::arg("takes_numpy"), nb::arg("reports_failure"),
           "From here on, calls with inputs of these types go straight to the kernel: dtypes, or bool, int, float and\n"
           "complex for Python's numbers. They are cast to `dtypes`, which are those of the kernel's inputs and\n"
           "outputs. One that reports failures takes an int64 array of one element behind the inputs, for the least\n"
           "number of an element that failed; then the method `call` is called.");
}

}  // namespace iruka::python
