// Generates the source text of a kernel for one signature.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/signature.h"

namespace iruka::jit {

/// How much a body does for an element: arithmetic; also calls; a gather of the array library; or loops, raw arrays or
/// much arithmetic.
enum class BodyWeight : uint8_t { light, medium, gather, heavy };

/// A body that runs for all elements of a slice before the next one begins.
struct StageText {
  std::string body;
  std::string file;                         ///< names the body in diagnostics: "stage 2"
  int64_t count = 1;                        ///< how many times it runs
  std::optional<size_t> count_parameter{};  ///< the input that gives that number instead
  /// C++ for a number: the body runs for the elements of each slice with a smaller _J. Empty: for all.
  std::string elements{};
  std::vector<bool> uses{};  ///< whether the texts mention each parameter
};

/// The user's texts and parameters, as passed to the constructor.
struct KernelText {
  std::string name;
  std::vector<Parameter> inputs, outputs;
  std::string operation, preamble, loop_prep, after_loop;
  std::string operation_file = "operation";  ///< names the operation in diagnostics
  std::string elements{};                    ///< of a stage, as in StageText
  /// A text of LoopForm::slices has stages in place of an operation.
  std::vector<StageText> stages{};
  bool is_staged = false;    ///< whether its bodies are stages, which see their slice and step
  size_t intermediates = 0;  ///< the last so many inputs are intermediate arrays
  std::vector<bool> uses{};  ///< whether a text mentions each parameter; empty: they count as mentioned
  std::vector<std::string>
      must_write{};         ///< variables; of intermediates the first text that uses them: "stage 2: rows"
  bool sees_slice = false;  ///< whether a body uses _slice, _J or _i
  bool sees_step = false;   ///< whether a body uses _step
  /// Whether the body uses the index or the indexer, which restricts how the loop may be reordered.
  bool sees_index = false;
  bool asserts = false;  ///< whether the body calls assert(), whose failure reports the element
  bool sees_indexer = false;
  bool sees_shapes = false;  ///< whether a text may ask for the shape or the size of a raw array
  BodyWeight weight = BodyWeight::heavy;

  const Parameter& parameter(size_t k) const { return k < inputs.size() ? inputs[k] : outputs[k - inputs.size()]; }
  size_t parameter_count() const { return inputs.size() + outputs.size(); }
  bool is_output(size_t k) const { return k >= inputs.size(); }
  bool is_intermediate(size_t k) const { return k < inputs.size() && k >= inputs.size() - intermediates; }
  bool mentions(size_t k) const { return uses.empty() || uses[k]; }
  /// Outputs, and plain inputs declared _non_const, are stored back.
  bool is_stored(size_t k) const { return is_output(k) || !parameter(k).is_const; }
};

inline constexpr const char *kEntryName = "iruka_entry", *kStagesEntryName = "iruka_stages_entry";

/// The operation or the stages: names in diagnostics, bodies, and numbers of elements.
struct BodyText {
  const std::string &file, &body, &elements;
  std::string elements_file() const { return file + "'s elements"; }
};
std::vector<BodyText> bodies_of(const KernelText& kernel);

/// The function that emit_kernel() defines.
inline const char* entry_name(const KernelText& kernel) {
  return kernel.stages.empty() ? kEntryName : kStagesEntryName;
}

struct FixedLayout {
  Dims shape, strides;
};
/// What a specialised text holds as constants. Other arguments are read from the argument block.
struct FixedValues {
  std::vector<std::optional<Scalar>> scalars{};       ///< of each parameter
  std::vector<std::optional<FixedLayout>> layouts{};  ///< of each parameter that is a raw array
  Dims indexer{};                                     ///< the shape that _ind has; empty: not fixed
};

/// How a GPU distributes a kernel's elements.
struct GpuShape {
  int threads;         ///< threads of a block; the maximum, unless fixed
  int per_thread;      ///< elements of a thread
  bool fixed_threads;  ///< whether the source requires this number of threads
};
/// Threads of the largest block that takes a batch of slices: each may then use 128 registers.
inline constexpr int kMostStageThreads = 512;
GpuShape gpu_shape(const KernelText& kernel, const Signature& signature);

/// Whether variants have the shape and the strides of a raw array as constants.
bool fixes_layout(const KernelText& kernel, const OperandSignature& array);

/// Whether the argument block holds multipliers and shifts for divisions by the loop's extents.
bool has_dividers(const Signature& signature);

/// The complete text, without the prelude, for one signature. It defines entry_name()(arguments, begin, end), where
/// [begin, end) counts elements, tiles for LoopForm::tiles, or batches for LoopForm::slices. On a GPU the argument
/// block is passed by value, and the first blocks take the first elements. The argument block contains, in order: n;
/// the loop's shape unless the loop is flat; where has_dividers(), for each axis a multiplier, then for each axis a
/// shift (unsigned); the indexer's shape when the body uses the indexer; then for each parameter: a scalar's value; or
/// a plain array's address and its byte strides (one for each loop axis; none for a flat contiguous or broadcast one);
/// or a raw array's address, size, shape and byte strides; or the shape of a scratch array and its place in the batch's
/// memory. At the end come: for LoopForm::slices the elements of a batch, those of a slice, a multiplier and a shift
/// for divisions by the latter, and the bytes of a batch's scratch memory; for other loops the extents of the groups of
/// Signature::slicing, and the number of the step where the text uses it.
std::string emit_kernel(const KernelText& kernel, const Signature& signature, const FixedValues& fixed = {});

/// The element function alone, with raw arrays of any rank: enough for the compiler to find invalid C++.
std::string emit_check(const KernelText& kernel);

}  // namespace iruka::jit
