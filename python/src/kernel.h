// What the bindings of both kinds of kernels share: arguments of a call, parameters as Python sees them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convert.h"
#include "fixed_list.h"
#include "iruka/reduction_kernel.h"
#include "iruka/staged_kernel.h"

namespace iruka::python {

/// What a call's arguments are matched with.
struct KernelParameters {
  const std::string& name;
  std::span<const Parameter> inputs, outputs;
};

/// The arguments of one call. Arrays are handles of their own, so that the call may use them without the GIL.
class KernelArguments {
 public:
  /// Raises TypeError for one that no kernel takes.
  KernelArguments(const KernelParameters& kernel, PyObject* positional);
  KernelArguments(const KernelArguments&) = delete;
  KernelArguments& operator=(const KernelArguments&) = delete;

  std::span<const Argument> span() const { return arguments_.span(); }
  /// Where the first array lies; the default device where there is none.
  Device& device() const;

 private:
  static constexpr size_t kInline = 16;

  FixedList<Array, kInline> arrays_;
  FixedList<Argument, kInline> arguments_;  ///< refer to arrays_
};

/// "file:line" of the innermost Python caller outside this package.
std::string calling_place();
/// Gives a kernel's warnings to Python, as iruka.errors.KernelWarning at that place. Raises what a filter makes of
/// them.
void emit_warnings(const std::vector<std::string>& warnings);
/// The same of a kernel being constructed, which is destroyed where that raises.
template <class Kernel>
void emit_warnings_of(Kernel& made) {
  try {
    emit_warnings(made.pop_warnings());
  } catch (...) {
    made.~Kernel();
    throw;
  }
}
/// options= of a kernel's constructor. Raises TypeError for what is no sequence of str.
std::vector<std::string> compiler_options_of(const std::string& kind, nb::handle options);
nb::tuple parameter_tuple(std::span<const Parameter> list);

inline constexpr const char *kCachedCodes =
                                "Texts generated so far, by the dtypes of the arrays; of several the first.",
                            *kCachedCode = "The first text generated. Raises ValueError before the first call.";
nb::dict codes_by_dtypes(const std::vector<GeneratedSource>& sources);
std::string first_code(const std::string& kernel, const std::vector<GeneratedSource>& sources);
/// Writes a text to a file of the cache folder and returns its path.
nb::object keep_source(const std::string& kernel, const std::string& text);

/// What makes two kernels equal: name, parameters, texts and options.
std::vector<std::string> parts_of(const ElementwiseKernel& kernel);
std::vector<std::string> parts_of(const ReductionKernel& kernel);
std::vector<std::string> parts_of(const StagedKernel& kernel);
/// The same of a list of parameters.
std::string parts_of(std::span<const Parameter> list);

/// Kernels are values: equal where their parts are, if they are of one Python type.
template <class Kernel>
void bind_comparison(nb::class_<Kernel>& type) {
  type.def(
      "__eq__",
      [](nb::handle self, nb::handle other) -> nb::object {
        if (!other.type().is(self.type())) return nb::borrow(Py_NotImplemented);
        return nb::bool_(parts_of(instance_of<Kernel>(self.ptr())) == parts_of(instance_of<Kernel>(other.ptr())));
      },
      nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"));
  type.def("__hash__", [](nb::handle self) {
    size_t hash = 0;
    for (const std::string& part : parts_of(instance_of<Kernel>(self.ptr())))
      hash = hash * 1000003 ^ std::hash<std::string>()(part);
    return static_cast<int64_t>(hash);
  });
}

/// __reduce__ of a kernel: the function and arguments that recreate it from its texts, `_arguments` and `kwargs`.
nb::object reduce_kernel(nb::handle self);

void bind_reduction_kernel(nb::module_& module);
void bind_staged_kernel(nb::module_& module);
void bind_raw_kernel(nb::module_& module);
void bind_kernel_dispatcher(nb::module_& module);
void bind_thread_dispatcher(nb::module_& module);

}  // namespace iruka::python
