// The first half of a call of an ElementwiseKernel: checks, types, shape, outputs. KernelLaunch is the second.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/kernel_launch.h"
#include "jit/resolve.h"

namespace iruka::jit {

class KernelCall {
 public:
  /// Checks everything that can be checked without running. Raises what ElementwiseKernel::call documents.
  KernelCall(ElementwiseKernel::State& kernel, std::span<const Argument> arguments, const CallOptions& options,
             const StageCall* stages = nullptr);
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  /// Raises DeviceError that names the kernel.
  void run() {
    launch_->prepare();
    launch_->run();
  }
  /// Whether run() needs no compilation, which may else go on in the background while something else computes the same.
  bool is_compiled() const { return launch_->is_compiled(); }
  void compile_in_background() const { launch_->compile_in_background(); }
  /// The outputs of run(), in order; given outputs are handles on the same memory.
  std::vector<Array> take_outputs() {
    for (size_t k = input_count(); k < given_; ++k) made_outputs_.push_back(arguments_[k].array());
    return std::move(made_outputs_);
  }
  std::string source() const { return launch_->source(); }
  std::string assembly() const { return launch_->assembly(); }
  KernelReport report() const { return launch_->report(); }

 private:
  size_t input_count() const { return kernel_.text.inputs.size(); }
  size_t parameter_count() const { return kernel_.text.parameter_count(); }
  std::string where(size_t k) const { return parameter_prefix(kernel_.text, k); }

  void make_outputs(const CallOptions& options);
  void check_stored(size_t k) const;
  void copy_overlapping_inputs();
  void bring_values();
  void describe();

  ElementwiseKernel::State& kernel_;
  std::span<const Argument> arguments_;
  size_t given_;  ///< arguments given: the inputs, or inputs and outputs
  Device* device_ = nullptr;
  std::optional<StreamScope> stream_;  ///< of the call's memory, copies and launches alike
  Dims shape_;
  Dtype types_[kMaxParameters];
  std::vector<Array> made_outputs_;  ///< all, or none if the call passed them
  std::vector<Array> input_copies_;  ///< copies of inputs that partly overlap an output
  std::vector<size_t> input_copy_index_;
  std::vector<std::vector<std::byte>> values_;  ///< of arrays by value that are copied
  Operand operands_[kMaxParameters];
  std::optional<KernelLaunch> launch_;
};

}  // namespace iruka::jit
