// Functions made of Python functions: their kernels by the types of a call's inputs.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "convert.h"

namespace iruka::python {

/// The types of a call's inputs as one number: of each its dtype, or the type of a Python number.
class InputTypes {
 public:
  static constexpr size_t kMost = 12;

  void add(Dtype dtype) { code_ = code_ << kBits | static_cast<uint64_t>(dtype); }
  /// A Python number that does not take the dtype of an array.
  void add_number(Dtype dtype) { code_ = code_ << kBits | kNumber | static_cast<uint64_t>(dtype); }
  bool operator==(const InputTypes&) const = default;

 private:
  static constexpr int kBits = 5;
  static constexpr uint64_t kNumber = 16;
  uint64_t code_ = 0;
};

/// The kernel for inputs of these types. NumPy's arrays stay on the host, so that only some kernels take them.
struct DispatchedKernel {
  InputTypes types;
  std::vector<Dtype> dtypes;  ///< of the kernel's own inputs, to which those of the call are cast, and of its outputs
  ElementwiseKernel kernel;
  bool on_host, takes_numpy;
  bool reports_failure;  ///< behind the inputs it takes an int64, to which it writes the first element that failed
};

/// Kernels of functions of core axes are made for axes of at most this length, which only broadcast arrays exceed. It
/// is _LONGEST of _guvectorize.py, whose class makes kernels for longer ones.
constexpr int64_t kLongestCoreAxis = int64_t{1} << 48;

/// The axes of each argument that the function of one element gets, by numbers: inputs, then outputs.
struct CoreAxes {
  std::vector<std::vector<int>> arguments;
  std::vector<int64_t> extents;  ///< of the different axes; -1 where the arguments decide
};

/// Kernels are added and never removed, so that one in use stays where it is.
struct KernelDispatcher {
  vectorcallfunc vectorcall;
  size_t nin;
  /// The dtypes are given: Python's numbers take the dtype of the arrays, as in NumPy. Else those of the outputs of a
  /// function of core axes are not known without outputs.
  bool has_signatures;
  std::optional<CoreAxes> core;
  std::deque<DispatchedKernel> kernels{};
};

}  // namespace iruka::python
