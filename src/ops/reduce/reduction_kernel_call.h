// One call of a ReductionKernel: types, elements, a plan, outputs, the launches of its stages. Calls whose arguments
// have the same dtypes and layouts share a plan.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/kernel_call.h"
#include "jit/warnings.h"
#include "ops/reduce/reduction_kernel_plan.h"
#include "ops/reduce/reduction_kernel_text.h"

namespace iruka {

namespace ops {

/// What a plan depends on besides the kernel: the device, the axes, and each parameter's dtype and layout, as numbers.
class PlanKey {
 public:
  void add(int64_t number) { size_ < kMost ? void(numbers_[size_++] = number) : void(overflows_ = true); }
  void add(const Dims& dims) {
    add(dims.size());
    for (const int64_t number : dims) add(number);
  }
  /// Whether there were too many numbers. Such a plan is used once.
  bool overflows() const { return overflows_; }
  size_t hash() const;
  friend bool operator==(const PlanKey& a, const PlanKey& b);

 private:
  static constexpr size_t kMost = 61;

  size_t size_ = 0;
  bool overflows_ = false;
  int64_t numbers_[kMost];
};

/// What dtypes, layouts and axes decide.
struct ReductionPlan {
  struct View {
    Dims shape, strides;
    int64_t offset;  ///< bytes from the array's first element
  };
  struct Stage {
    ElementwiseKernel::State* kernel;
    ReductionStage stage;
    ReductionSizes sizes;
    jit::StageCall strips;  ///< of a stage in passes
  };

  PlanKey key;
  Dims shape;               ///< of all plain inputs together
  Dims order;               ///< its axes, kept ones first
  Dims index_shape;         ///< its extents, reduced axes first, as texts see them
  Dims result;              ///< the outputs' shape
  int64_t length = 1;       ///< elements of each output
  bool is_copied = false;   ///< whether views are of contiguous copies with the axes in `order`
  Dims steps;               ///< of the views' kept axes: how far the number of the output moves
  std::vector<View> views;  ///< of plain array inputs: few kept axes, then few reduced ones, the innermost last
  std::vector<Stage> stages;
};

/// The kernels of a ReductionKernel's stages, made when a call needs them, and its latest plans. Thread-safe.
class StageKernels {
 public:
  /// `types`: the dtype of each parameter.
  ElementwiseKernel::State& find(const ReductionTexts& texts, const ReductionStage& stage, const Dtype* types);
  /// Every text generated so far, with the dtypes of the user's arrays; those of the oldest stage first.
  std::vector<GeneratedSource> generated_sources() const;

  /// Null if there is none.
  std::shared_ptr<const ReductionPlan> find_plan(const PlanKey& key) const;
  void keep_plan(std::shared_ptr<const ReductionPlan> plan);

 private:
  struct Entry {
    std::shared_ptr<ElementwiseKernel::State> kernel;
    std::vector<Dtype> array_dtypes;
    size_t number;  ///< of entries made before
  };

  // A mutex guards both.
  std::map<std::string, Entry> entries_;  ///< by all that their texts depend on
  std::array<std::shared_ptr<const ReductionPlan>, 16> plans_;
};

}  // namespace ops

struct ReductionKernel::State {
  ops::ReductionTexts texts;
  jit::KernelText front;  ///< name and parameters, as calls are checked by them
  jit::Placeholders placeholders;
  bool sees_order = false;  ///< whether a text uses an element's index
  ops::StageKernels stages;
  jit::PendingWarnings warnings;  ///< of all stages
};

namespace ops {

class ReductionCall {
 public:
  /// Checks everything that can be checked without running. Raises what ReductionKernel::call documents.
  ReductionCall(ReductionKernel::State& state, std::span<const Argument> arguments, const ReductionAxes& axes);

  /// Launches every stage. Returns the outputs, in order; given ones are handles on the same memory.
  std::vector<Array> run();

  /// Calls `visit` with the kernel of each stage and a call of it, in the order of the launches.
  template <class Visit>
  void for_each_stage(Visit&& visit) {
    make_views();
    Array from, to;
    std::vector<Argument> list;
    for (const ReductionPlan::Stage& each : plan_->stages) {
      from = std::exchange(to, each.stage.finishes ? Array() : partial_results(each));
      list_arguments(list, each, from, to);
      jit::KernelCall call(*each.kernel, list, CallOptions{.size = each.sizes.units()},
                           each.stage.in_passes ? &each.strips : nullptr);
      visit(*each.kernel, call);
    }
  }

 private:
  size_t input_count() const { return texts_.inputs.size(); }
  bool is_element(size_t k) const { return arguments_[k].is_array() && texts_.inputs[k].has_elements(); }

  void take_elements();
  void find_plan(const ReductionAxes& axes);
  void make_outputs();
  void make_views();
  Array partial_results(const ReductionPlan::Stage& each) const;
  void list_arguments(std::vector<Argument>& list, const ReductionPlan::Stage& each, const Array& from,
                      const Array& to) const;

  ReductionKernel::State& state_;
  const ReductionTexts& texts_;
  const std::span<const Argument> arguments_;
  Device* device_;
  std::optional<StreamScope> stream_;  ///< of copies, memory and launches alike
  Dtype types_[jit::kMaxParameters];   ///< of each parameter
  std::vector<Array> elements_;        ///< plain array inputs; then their views
  std::shared_ptr<const ReductionPlan> plan_;
  std::vector<Array> outputs_;
};

}  // namespace ops
}  // namespace iruka
