// What the calls of vectorize and guvectorize share: the kernels by dtypes, and arguments that need no Python.
#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "convert.h"
#include "fixed_list.h"
#include "typed_argument.h"

namespace iruka::python {

/// A kernel for arrays of these dtypes. NumPy's arrays stay on the host, so that only some kernels take them.
struct DispatchedKernel {
  std::vector<Dtype> dtypes;  ///< of the inputs; where there are core dimensions, also of the outputs
  ElementwiseKernel kernel;
  bool on_host, takes_numpy;
  bool reports_failure;  ///< behind the inputs it takes an int64, to which it writes the first element that failed
};

/// The axes of each argument that the function of one element gets, by numbers: inputs, then outputs.
struct CoreAxes {
  std::vector<std::vector<int>> arguments;
  size_t nin;
  size_t count;  ///< of different axes
};

/// Kernels are added and never removed, so that one in use stays where it is.
struct KernelDispatcher {
  /// The dtypes are given: Python's numbers take the dtype of the arrays, as in NumPy. Else those of the outputs of a
  /// function of core axes are not known without outputs.
  bool has_signatures;
  std::optional<CoreAxes> core;
  std::deque<DispatchedKernel> kernels{};
};

/// The arguments of a call that needs no Python.
class DispatchedCall {
 protected:
  DispatchedCall(const KernelDispatcher& dispatcher, PyObject* positional)
      : dispatcher_(dispatcher), positional_(positional), arrays_(count() + 1), arguments_(count() + 1) {}

  static constexpr size_t kMost = 8;
  static constexpr int64_t kNotFailed = std::numeric_limits<int64_t>::max();

  size_t count() const { return static_cast<size_t>(PyTuple_GET_SIZE(positional_)); }
  PyObject* given(size_t k) const { return PyTuple_GET_ITEM(positional_, static_cast<Py_ssize_t>(k)); }

  /// Reads the dtypes of so many arguments. False where one is no array or number.
  bool read_types(size_t count);
  /// Finds the kernel for the dtypes of so many arguments.
  bool find_kernel(size_t count);
  /// Whether the arrays lie where the kernel runs. NumPy's lie on the host.
  bool is_for_device(const DispatchedKernel& kernel, size_t count);
  /// An argument that is an array; null where its memory cannot be shared.
  const Array* take_array(PyObject* object);
  /// Adds an array for the number of the first element that failed, where the kernel takes one.
  void add_failure();
  bool has_failed() const;
  PyObject* delivered(Array output) const;
  PyObject* delivered(std::vector<Array> outputs) const;

  const KernelDispatcher& dispatcher_;
  PyObject* positional_;
  const DispatchedKernel* found_ = nullptr;
  Device* device_ = nullptr;
  bool is_all_numpy_ = false;
  TypedArgument operands_[kMost];
  FixedList<Array, kMost + 1> arrays_;
  FixedList<Argument, kMost + 1> arguments_;  ///< refer to arrays_
  std::optional<Array> failure_;
};

/// A call of guvectorize's functions; null where it is the work of the Python class.
PyObject* call_generalized(const KernelDispatcher& dispatcher, PyObject* positional);

}  // namespace iruka::python
