// The second half of a call: loop, signature, arguments, launch. What it is given was checked before, by KernelCall or
// by the Python module.
#pragma once

#include <optional>
#include <span>

#include "core/layout.h"
#include "jit/kernel_state.h"
#include "jit/launch_policy.h"
#include "jit/specialise.h"

namespace iruka::jit {

/// How a call runs the text of a StagedKernel.
struct StageCall {
  int64_t slice = 1;          ///< elements of each slice
  int64_t batch = 0;          ///< of LoopForm::slices: elements of a batch, all of its slices
  bool has_scratch = false;   ///< whether intermediate arrays exist for a batch at a time; their arguments are scalars
  int64_t words = 1;          ///< of scratch: items of its dtype that an element has
  Dims groups{};              ///< extents of groups of axes that are all of slices or all across them, in turn
  bool begins_inside = true;  ///< whether the first group is of slices
  int64_t step = 0;           ///< of a stage that is launched
};

/// An argument of a launch: a number, or memory and its layout. It owns nothing.
struct Operand {
  Operand() {}  // NOLINT: a list of operands is not cleared before it is filled
  Operand(const Scalar& value, Dtype dtype) : Operand(static_cast<void*>(nullptr), dtype) { scalar = &value; }
  /// An array without axes.
  Operand(void* element, Dtype dtype)
      : scalar(nullptr),
        data(element),
        shape(nullptr),
        strides(nullptr),
        size(1),
        ndim(0),
        dtype(dtype),
        writable(true) {}
  explicit Operand(const Array& array)
      : scalar(nullptr),
        data(array.data()),
        shape(array.shape().data()),
        strides(array.strides().data()),
        size(array.size()),
        ndim(array.ndim()),
        dtype(array.dtype()),
        writable(array.writable()) {}

  bool is_array() const { return !scalar; }
  int64_t nbytes() const { return size * itemsize(dtype); }
  bool is_c_contiguous() const;
  /// Whether the bytes from the first to the last of both have any in common.
  bool may_overlap(const Operand& other) const;

  const Scalar* scalar;            ///< null: an array
  void* data;                      ///< of the first element
  const int64_t *shape, *strides;  ///< strides in bytes
  int64_t size;
  int ndim;
  Dtype dtype;  ///< in the kernel, also of a number
  bool writable;
};

class KernelLaunch {
 public:
  /// `operands`: of all parameters, as the kernel takes them. Plain arrays broadcast to `shape`; outputs have it. Both
  /// are read until prepare(), or until the text is written.
  KernelLaunch(ElementwiseKernel::State& kernel, Device& device, const Dims& shape, std::span<const Operand> operands,
               const StageCall* stages = nullptr);

  /// Packs the arguments. Raises OverflowError and TypeError for numbers that their parameters do not hold.
  void prepare();
  /// Whether run() is expected to take at most two microseconds, without compiling or other threads.
  bool is_brief() const;
  /// Raises CompileError, and DeviceError that names the kernel.
  void run() {
    naming_kernel(kernel_.text.name, [this] { launch(); });
  }

  /// Whether run() needs no compilation.
  bool is_compiled() const { return kernel_.table.find(device_, signature_, signature_.hash()) != nullptr; }
  void compile_in_background() const { make_in_background(kernel_, device_, signature_); }

  const Signature& signature() const { return signature_; }
  /// What ElementwiseKernel says for arguments like the launch's.
  std::string source() const;
  std::string assembly() const;
  KernelReport report() const;

 private:
  bool is_array(size_t k) const { return operands_[k].is_array(); }
  bool is_plain_array(size_t k) const {
    return kernel_.text.parameter(k).has_elements() && is_array(k) && kernel_.text.mentions(k);
  }
  bool is_scratch(size_t k) const { return stages_ && stages_->has_scratch && kernel_.text.is_intermediate(k); }
  bool has_slices() const { return !kernel_.text.stages.empty(); }
  size_t parameter_count() const { return operands_.size(); }
  size_t input_count() const { return input_count_; }
  std::string where(size_t k) const;

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
  void find_channels();
  bool is_separate(size_t k) const;
  std::optional<int8_t> channel_of(size_t k, int plain, size_t leader, int leaders_plain) const;
  Access plain_access(size_t k, int plain) const;
  void pack(ArgumentBlock& block, IntegerValues& integers) const;
  void pack_scalar(ArgumentBlock& block, IntegerValues& integers, size_t k) const;
  void note_layouts(IntegerValues& integers) const;
  void pack_raw(ArgumentBlock& block, const Operand& array) const;
  void pack_values(ArgumentBlock& block, const Operand& array) const;
  void pack_dividers(ArgumentBlock& block) const;
  void pack_slices(ArgumentBlock& block) const;
  /// The bytes of a batch's array of this dtype, and of all its scratch arrays.
  int64_t scratch_bytes(Dtype dtype) const;
  int64_t scratch_bytes() const;
  void check_size() const;
  int64_t unit_count() const;
  void launch();
  void launch_over_grid(Specialisation& made, const IntegerValues& values) const;

  Specialisation& specialisation() const;
  /// What a trial of calls like this has shown.
  MeasuredLanes measured_lanes() const;
  void run_in_trial(const Choice& choice, LaunchRange range, double cost) const;
  bool may_fix(const IntegerValues& integers) const { return kernel_.may_fix_values && !integers.empty(); }

  ElementwiseKernel::State& kernel_;
  const size_t input_count_;
  Device& device_;
  const TargetDescription& target_;
  const LaunchPolicy& policy_;
  const Dims& shape_;
  const std::span<const Operand> operands_;
  const StageCall* const stages_;  ///< null unless the text is a StagedKernel's
  const int64_t count_;
  int plain_count_ = 0;
  std::optional<LoopLayout> loop_;
  Signature signature_;
  ArgumentBlock block_;
  IntegerValues integers_;
  Specialisation* found_ = nullptr;
};

}  // namespace iruka::jit
