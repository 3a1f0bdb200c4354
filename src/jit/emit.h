// Generates the source text of a kernel for one signature.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/signature.h"

namespace iruka::jit {

/// How much a body does for an element: arithmetic; also calls; a gather of the array library; or loops, raw arrays or
/// much arithmetic.
enum class BodyWeight : uint8_t { light, medium, gather, heavy };

/// The user's texts and parameters, as passed to the constructor.
struct KernelText {
  std::string name;
  std::vector<Parameter> inputs, outputs;
  std::string operation, preamble, loop_prep, after_loop;
  /// Whether the body uses the index or the indexer, which restricts how the loop may be reordered.
  bool sees_index = false;
  bool asserts = false;  ///< whether the body calls assert(), whose failure reports the element
  bool sees_indexer = false;
  BodyWeight weight = BodyWeight::heavy;

  const Parameter& parameter(size_t k) const { return k < inputs.size() ? inputs[k] : outputs[k - inputs.size()]; }
  size_t parameter_count() const { return inputs.size() + outputs.size(); }
  bool is_output(size_t k) const { return k >= inputs.size(); }
  /// Outputs, and plain inputs declared _non_const, are stored back.
  bool is_stored(size_t k) const { return is_output(k) || !parameter(k).is_const; }
};

inline constexpr const char* kEntryName = "iruka_entry";

/// The values of scalar arguments that a specialised text holds as constants. Arguments without a value are read from
/// the argument block.
using FixedValues = std::span<const std::optional<Scalar>>;

/// How a GPU distributes a kernel's elements.
struct GpuShape {
  int threads;         ///< threads of a block; the maximum, unless fixed
  int per_thread;      ///< elements of a thread
  bool fixed_threads;  ///< whether the source requires this number of threads
};
GpuShape gpu_shape(const KernelText& kernel, const Signature& signature);

/// Whether the argument block holds multipliers and shifts for divisions by the loop's extents.
bool has_dividers(const Signature& signature);

/// The complete text, without the prelude, for one signature. It defines kEntryName(arguments, begin, end), where
/// [begin, end) counts elements, or tiles for LoopForm::tiles. On a GPU the argument block is passed by value, and the
/// first blocks take the first elements. The argument block contains, in order: n; the loop's shape unless the loop is
/// flat; where has_dividers(), for each axis a multiplier, then for each axis a shift (unsigned); the indexer's shape
/// when the body uses the indexer; then for each parameter: a scalar's value; or a plain array's address and its byte
/// strides (one for each loop axis; none for a flat contiguous or broadcast one); or a raw array's address, size, shape
/// and byte strides.
std::string emit_kernel(const KernelText& kernel, const Signature& signature, FixedValues fixed = {});

/// The element function alone, with raw arrays of any rank: enough for the compiler to find invalid C++.
std::string emit_check(const KernelText& kernel);

}  // namespace iruka::jit
