// A call of a function that vectorize or guvectorize made, without Python: the arguments have the types of a kernel.
#pragma once

#include <limits>
#include <span>

#include "fixed_list.h"
#include "interrupts.h"
#include "jit/kernel_launch.h"
#include "kernel_dispatcher.h"

namespace iruka::python {

/// Inputs and outputs as Python gave them.
struct GivenArguments {
  std::span<PyObject* const> inputs, outputs;
  PyObject* returned = nullptr;  ///< what a call with outputs returns; null: a tuple of them
};

/// Small launches cost less than a microsecond: operands refer to the memory of Python's objects, outputs are made by
/// NumPy, and the GIL is given away only for launches that are not brief.
class DispatchedCall final : GilKeeper {
 public:
  DispatchedCall(const KernelDispatcher& dispatcher, const GivenArguments& given)
      : dispatcher_(dispatcher), given_(given) {}
  DispatchedCall(const DispatchedCall&) = delete;
  DispatchedCall& operator=(const DispatchedCall&) = delete;

  /// The result; null where the call is the work of the Python class: new types, other objects, shapes that do not fit,
  /// outputs to cast, elements for which the function raises.
  PyObject* result();

  static constexpr size_t kMostInputs = InputTypes::kMost, kMostOutputs = 4;

 private:
  static constexpr int64_t kNotFailed = std::numeric_limits<int64_t>::max();
  static constexpr size_t kMost = kMostInputs + kMostOutputs + 1;
  static constexpr int kMostAxes = 8, kMostWideRank = 12;
  /// Larger outputs are memory of the pool, and larger casts and copies work of all threads.
  static constexpr int64_t kSmallBytes = 32 << 10;
  /// Copies of so many bytes take less time than an object of Python.
  static constexpr size_t kMostKeptBytes = 4 << 10;

  struct Element {
    alignas(16) std::byte bytes[16];
  };
  struct HeldShape {
    Dims shape, strides;
  };

  size_t nin() const { return given_.inputs.size(); }
  size_t nout() const { return found_->dtypes.size() - nin(); }
  bool is_generalized() const { return dispatcher_.core.has_value(); }
  /// The number of the first failed element lies behind the kernel's inputs, among which are raw outputs.
  size_t failure_place() const { return nin() + (is_generalized() ? nout() : 0); }
  jit::Operand& output(size_t k) {
    const size_t place = nin() + k;
    return operands_[place + (found_->reports_failure && place >= failure_place())];
  }
  std::span<const int> core_axes(size_t k) const;
  Dims full_shape(size_t k) const;

  bool read_inputs();
  bool read_array(PyObject* object, jit::Operand& operand);
  bool find_kernel();
  InputTypes input_types() const;
  bool is_for(const DispatchedKernel& kernel) const;
  void hold_memory() override;
  bool convert_inputs();
  bool replace_by_copy(size_t k);
  bool match_shapes();
  bool widen_inputs();
  bool take_outputs();
  bool separate_inputs_from(const jit::Operand& output);
  bool make_outputs();
  void keep_values_of_outputs();
  void bring_back_outputs();
  void launch();
  PyObject* delivered();
  PyObject* delivered(size_t k);

  const KernelDispatcher& dispatcher_;
  const GivenArguments& given_;
  const DispatchedKernel* found_ = nullptr;
  Device* device_ = nullptr;  ///< of the arrays of Iruka; of the kernel once that is found
  bool has_numpy_ = false, gives_numpy_ = false;
  size_t read_outputs_ = 0;  ///< given outputs that are operands
  size_t held_ = 0;          ///< inputs, then given outputs, whose memory and shapes are held
  int64_t first_failed_ = kNotFailed;
  Dims loop_;                                    ///< without core axes
  int64_t extents_[kMostAxes];                   ///< of core axes
  jit::Operand operands_[kMost];                 ///< inputs, outputs, and the number of the first failed element
  Element elements_[kMost];                      ///< numbers as arrays without axes, and results that become numbers
  int64_t wide_[kMostInputs][2][kMostWideRank];  ///< shapes and strides of broadcast inputs
  FixedList<Scalar, kMostInputs> numbers_{0};
  FixedList<Array, kMost> arrays_{0};
  FixedList<nb::object, kMost> objects_{0};
  FixedList<BufferHandle, kMost> buffers_{0};  ///< of arguments that are held
  FixedList<HeldShape, kMost> shapes_{0};      ///< of arguments that are held
  /// Given outputs with their values from before the call: copies, or null for those whose bytes are in kept_.
  FixedList<nb::object, kMostOutputs> before_{0};
  std::byte kept_[kMostKeptBytes];
  Array* made_arrays_[kMostOutputs];        ///< of new outputs that are not NumPy's
  nb::object* made_objects_[kMostOutputs];  ///< of those that are; null: the element behind the operand
};

}  // namespace iruka::python
