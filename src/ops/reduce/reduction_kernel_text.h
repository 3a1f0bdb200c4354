// The texts that run a ReductionKernel: bodies of ElementwiseKernels whose elements are units of the reduction's work.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iruka/reduction_kernel.h"
#include "jit/kernel_state.h"
#include "ops/reduce/reduction_kernel_plan.h"

namespace iruka::ops {

/// The user's texts and parameters.
struct ReductionTexts {
  std::vector<Parameter> inputs, outputs;
  std::string name, map_expr, reduce_expr, post_map_expr;
  std::optional<std::string> identity;
  ReductionKernelOptions options;
  std::shared_ptr<const jit::Includes> includes;  ///< null where the texts include nothing of the user's

  const Parameter& parameter(size_t k) const { return k < inputs.size() ? inputs[k] : outputs[k - inputs.size()]; }
  size_t parameter_count() const { return inputs.size() + outputs.size(); }
};

/// How a parameter is accessed. The values are letters, because they are part of a key.
enum class Reach : char {
  scalar = 's',
  raw = 'r',
  output = 'o',
  dense = 'd',   ///< elements along the fast axis are contiguous
  same = 'b',    ///< one element along the fast axis
  flat = 'f',    ///< by columns that have lanes: lines are contiguous
  second = '2',  ///< every second element along the fast axis, as the real parts of complex numbers
  third = '3',   ///< every third, as a channel of an image
  fourth = '4',
  strided = 'g',
};

/// Everything a stage's text depends on except the user's text and the dtypes.
struct ReductionStage {
  bool in_warps = false;          ///< as in ReductionSizes
  bool joins = false;             ///< whether it reads partial results, not the inputs
  bool finishes = false;          ///< whether it writes the outputs, not partial results
  bool by_columns = false;        ///< whether neighbouring units are neighbouring outputs, not parts of one output
  bool in_passes = false;         ///< by columns: whether a strip of units goes through its rows in passes
  bool has_column_lanes = false;  ///< whether a strip is all columns of one line, then of the next one
  int lanes = 1;                  ///< neighbouring units that share the elements of a block
  bool is_sorted = false;         ///< in passes: whether the kept axes are in another order than those of the outputs
  int kept_axes = 1;
  int outer_axes = 0;        ///< reduced axes except the innermost
  int index_axes = 0;        ///< of `_in_ind`; 0: one, over all elements
  int result_axes = 0;       ///< of `_out_ind`; 0: one, over all outputs
  std::vector<Reach> reach;  ///< of each parameter

  std::string key() const;
  bool reads_lines() const { return outer_axes > 0 && !joins; }
};

/// Calls `visit` with the name and the member of each size that the stage's text takes as a scalar, in order. The text
/// has the others as constants.
template <class Visit>
void for_each_size(const ReductionStage& stage, Visit&& visit) {
  visit("_reduce_outputs", &ReductionSizes::outputs);
  visit("_reduce_n", &ReductionSizes::n);
  if (stage.by_columns) visit("_reduce_inner", &ReductionSizes::inner);
  if (stage.reads_lines()) visit("_reduce_outer", &ReductionSizes::outer);
  if (!stage.finishes) {
    visit("_reduce_blocks", &ReductionSizes::blocks);
    visit("_reduce_length", &ReductionSizes::length);
  }
  if (!stage.finishes && stage.reads_lines()) {
    visit("_reduce_groups", &ReductionSizes::groups);
    visit("_reduce_group_length", &ReductionSizes::group_length);
  }
  if (stage.joins) visit("_reduce_elements", &ReductionSizes::elements);
  if (stage.in_passes) visit("_reduce_passes", &ReductionSizes::passes);
  if (stage.in_passes && !stage.has_column_lanes) {
    visit("_reduce_strips", &ReductionSizes::strips);
    visit("_reduce_width", &ReductionSizes::width);
  }
  if (stage.has_column_lanes) visit("_reduce_lanes", &ReductionSizes::lanes);
}

/// Independent accumulators of a unit, so that loads overlap.
inline constexpr int kReductionChains = 4;
/// Bytes that a value of the reduce_type may have.
inline constexpr int kMostReductionBytes = 64;

/// The name in generated source of an array whose elements, or results, have a name in the user's texts.
std::string hidden_name(const Parameter& parameter);
/// The reduce_type as a C++ type.
std::string reduce_type_of(const ReductionTexts& texts);

/// The kernel of a stage. Its inputs are, in order: the parameters; unless it only maps, the partial results to read;
/// unless it finishes, those to write (uint64, the second extent is the number of lanes); then int64: the sizes, the
/// extents of `_in_ind` and of `_out_ind` where they have axes; then, in passes, the values of a strip (uint64). In
/// passes it is a text of LoopForm::slices: a slice is a strip, and a step a pass. `types`: the dtype of each
/// parameter.
std::shared_ptr<ElementwiseKernel::State> reduction_stage_kernel(const ReductionTexts& texts,
                                                                 const ReductionStage& stage,
                                                                 const std::vector<Dtype>& types);

}  // namespace iruka::ops
