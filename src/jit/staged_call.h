// One call of a StagedKernel: slices, outputs, intermediate arrays, and the kernels to launch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/kernel_call.h"
#include "jit/staged_kernel.h"

namespace iruka::jit {

class StagedCall {
 public:
  /// Checks everything that can be checked without running. Raises what StagedKernel::call documents.
  StagedCall(StagedKernel::State& kernel, std::span<const Argument> arguments, const StagedCallOptions& options);

  /// Runs every stage. Returns the outputs, in order; given ones are handles on the same memory.
  std::vector<Array> run();

  /// Calls `visit` with a call of each kernel that run() launches, in order; of a repeated stage, with its first.
  template <class Visit>
  void for_each_kernel(Visit&& visit) {
    make_arguments();
    if (in_slices_) return visit(KernelCall(*kernel_.together, list_, options_, &stages_));
    for (const auto& apart : kernel_.apart) visit(KernelCall(*apart, list_, options_, &stages_));
  }

 private:
  size_t input_count() const { return kernel_.front.inputs.size(); }
  size_t intermediate_count() const { return kernel_.intermediates.size(); }
  /// The number of a parameter among those of the stages' kernels, where intermediates follow the inputs.
  size_t place_of(size_t k) const { return k < input_count() ? k : k + intermediate_count(); }
  Dtype intermediate_type(size_t k) const { return types_[kernel_.front.parameter_count() + k]; }
  std::string prefix(const StageText& stage) const;

  void find_counts();
  void find_slices(const std::optional<Dims>& axes);
  bool are_slices_inner() const;
  void choose_slices();
  int64_t slice_bytes() const;
  void make_outputs();
  void copy_overlapping_inputs();
  bool must_copy(size_t in, size_t out) const;
  void make_arguments();

  StagedKernel::State& kernel_;
  const std::span<const Argument> arguments_;
  Device* device_;
  std::optional<StreamScope> stream_;  ///< of copies, memory and launches alike
  Dtype types_[kMaxParameters];        ///< of inputs, outputs, intermediates
  Dims shape_;
  std::vector<int64_t> counts_;  ///< of each stage's runs
  StageCall stages_;
  bool in_slices_ = false;  ///< whether slices go through all stages one by one
  CallOptions options_;     ///< of the stages' calls
  std::vector<Array> outputs_, between_, copies_;
  std::vector<Argument> list_;  ///< of the stages' calls
};

}  // namespace iruka::jit
