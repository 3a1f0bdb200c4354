// One call of an ElementwiseKernel, step by step: types, shape, outputs, loop, signature, arguments, launch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/layout.h"
#include "jit/kernel_state.h"
#include "jit/launch_policy.h"
#include "jit/resolve.h"
#include "jit/specialise.h"

namespace iruka::jit {

/// How a call runs the text of a StagedKernel.
struct StageCall {
  int64_t slice = 1;          ///< elements of each slice
  int64_t batch = 0;          ///< of LoopForm::slices: elements of a batch, all of its slices
  bool has_scratch = false;   ///< whether intermediate arrays exist for a batch at a time; their arguments are scalars
  Dims groups{};              ///< extents of groups of axes that are all of slices or all across them, in turn
  bool begins_inside = true;  ///< whether the first group is of slices
  int64_t step = 0;           ///< of a stage that is launched
};

class KernelCall {
 public:
  /// Checks everything that can be checked without running. Raises what ElementwiseKernel::call documents.
  KernelCall(ElementwiseKernel::State& kernel, std::span<const Argument> arguments, const CallOptions& options,
             const StageCall* stages = nullptr);

  /// Raises DeviceError that names the kernel.
  void run() const {
    naming_kernel(kernel_.text.name, [this] { launch(); });
  }
  /// The outputs of run(), in order; given outputs are handles on the same memory.
  std::vector<Array> take_outputs() {
    for (size_t k = input_count(); k < given_; ++k) made_outputs_.push_back(arguments_[k].array());
    return std::move(made_outputs_);
  }
  const Signature& signature() const { return signature_; }
  Device& device() const { return *device_; }
  /// What ElementwiseKernel says for arguments like the call's.
  std::string source() const;
  std::string assembly() const;
  KernelReport report() const;

 private:
  bool is_array(size_t k) const { return k >= given_ || arguments_[k].is_array(); }
  const Array& array(size_t k) const;
  bool is_plain_array(size_t k) const {
    return !kernel_.text.parameter(k).raw && is_array(k) && kernel_.text.mentions(k);
  }
  bool is_scratch(size_t k) const { return stages_ && stages_->has_scratch && kernel_.text.is_intermediate(k); }
  bool has_slices() const { return !kernel_.text.stages.empty(); }
  size_t parameter_count() const { return parameter_count_; }
  size_t input_count() const { return input_count_; }
  std::string where(size_t k) const;

  void resolve_types();
  void make_outputs(const CallOptions& options);
  void check_stored(size_t k) const;
  void copy_overlapping_inputs();
  void plan_loop();
  LoopForm choose_form() const;
  int choose_pack() const;
  void check_alignment() const;
  bool allows_pack(int pack) const;
  bool wants_tiles() const;
  bool begins_at_multiple_of(int64_t bytes, size_t k, int plain) const;
  bool wants_streaming() const;
  void describe_operands();
  void describe_tiles();
  Access plain_access(size_t k, int plain) const;
  void pack(ArgumentBlock& block, IntegerValues& integers) const;
  void pack_scalar(ArgumentBlock& block, IntegerValues& integers, size_t k) const;
  void pack_raw(ArgumentBlock& block, const Array& array) const;
  void pack_dividers(ArgumentBlock& block) const;
  void pack_slices(ArgumentBlock& block) const;
  /// The bytes of a batch's array of this dtype, and of all its scratch arrays.
  int64_t scratch_bytes(Dtype dtype) const;
  int64_t scratch_bytes() const;
  void check_size(const ArgumentBlock& block) const;
  int64_t unit_count() const;
  void launch() const;
  void launch_over_grid(Specialisation& made, std::span<const std::byte> block, const IntegerValues& values) const;

  Specialisation& specialisation() const;
  /// The time of the lanes divided by that of the scalar path if calls like this were measured, else 0.
  double measured_ratio() const;
  void run_in_trial(const Choice& choice, std::span<const std::byte> block, LaunchRange range, double cost) const;
  bool may_fix(const IntegerValues& integers) const { return kernel_.may_fix_values && !integers.empty(); }

  ElementwiseKernel::State& kernel_;
  const size_t input_count_, parameter_count_;
  std::span<const Argument> arguments_;
  size_t given_;  ///< arguments given: the inputs, or inputs and outputs
  Device* device_ = nullptr;
  const TargetDescription* target_ = nullptr;
  const LaunchPolicy* policy_ = nullptr;
  const StageCall* stages_;            ///< null unless the text is a StagedKernel's
  std::optional<StreamScope> stream_;  ///< of the call's memory, copies and launches alike
  Dims shape_;
  int64_t count_ = 0;
  int plain_count_ = 0;
  std::vector<Array> made_outputs_;  ///< all, or none if the call passed them
  std::vector<Array> input_copies_;  ///< copies of inputs that partly overlap an output
  std::vector<int> input_copy_index_;
  std::optional<LoopLayout> loop_;
  Signature signature_;
};

}  // namespace iruka::jit
