// What the calls and constructors of all kernels over whole arrays share.
#pragma once

#include <cstddef>
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
  /// Where the first array lies that is not by value; the default device where there is none.
  Device& device() const { return *device_; }

 private:
  static constexpr size_t kInline = 16;

  Device* device_;
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
/// `list` as a tuple, which a later change of a list does not reach. Raises TypeError, "`what` must be `expected`", for
/// a str and for what is no sequence.
nb::tuple sequence_argument(const std::string& what, const char* expected, nb::handle list);
/// options= of a kernel's constructor. Raises TypeError for what is no sequence of str.
std::vector<std::string> compiler_options_of(const std::string& kind, nb::handle options);
/// What a call gives Python: the outputs among the arguments where they are given, else `outputs`; as a tuple if there
/// are several, or if `as_tuple`.
PyObject* result_of(PyObject* positional, int nin, int nout, std::vector<Array>& outputs, bool as_tuple = false);

void bind_reduction_kernel(nb::module_& module);
void bind_staged_kernel(nb::module_& module);
void bind_raw_kernel(nb::module_& module);
void bind_kernel_dispatcher(nb::module_& module);
void bind_thread_dispatcher(nb::module_& module);

}  // namespace iruka::python
