// Generates the source for a kernel and a signature.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/signature.h"

namespace iruka::jit {

/// The work of a body for an element: only arithmetic; also calls; or loops, raw arrays, or much arithmetic.
enum class BodyWeight : uint8_t { light, medium, gather, heavy };

/// The user's texts and parameters, as the constructor took them.
struct KernelText {
  std::string name;
  std::vector<Parameter> inputs, outputs;
  std::string operation, preamble, loop_prep, after_loop;
  /// Whether the body uses the index or the indexer, which restricts how the loop may be reordered.
  bool sees_index = false;
  bool asserts = false;  ///< a failure names its element
  bool sees_indexer = false;
  BodyWeight weight = BodyWeight::heavy;

  const Parameter& parameter(size_t k) const { return k < inputs.size() ? inputs[k] : outputs[k - inputs.size()]; }
  size_t parameter_count() const { return inputs.size() + outputs.size(); }
  bool is_output(size_t k) const { return k >= inputs.size(); }
  /// Outputs, and plain inputs declared _non_const, are stored back.
  bool is_stored(size_t k) const { return is_output(k) || !parameter(k).is_const; }
};

inline constexpr const char* kEntryName = "iruka_entry";

/// A scalar argument's value that a specialised text holds as a constant; no value: read from the argument block.
using FixedValues = std::span<const std::optional<Scalar>>;

/// How a GPU distributes a kernel's elements.
struct GpuShape {
  int threads;         ///< of a block; the maximum, unless fixed
  int per_thread;      ///< elements
  bool fixed_threads;  ///< whether the source requires this number of threads
};
GpuShape gpu_shape(const KernelText& kernel, const Signature& signature);

/// Whether the argument block holds numbers that divide by the loop's extents.
bool has_dividers(const Signature& signature);

/// The whole text (without the prelude) for one signature. Entry: kEntryName(arguments, begin, end); [begin, end)
/// counts elements, or tiles for LoopForm::tiles. A GPU takes the argument block by value, and its first blocks the
/// first elements. The argument block is, in order: n; the loop's shape unless the loop is flat; where has_dividers(),
/// for each axis a multiplier, then for each axis a shift (unsigned); the indexer's shape when the body sees the
/// indexer; then for each parameter: a scalar's value; or a plain array's address and its byte strides (one for each
/// loop axis; none for a flat contiguous or broadcast one); or a raw array's address, size, shape and byte strides.
std::string emit_kernel(const KernelText& kernel, const Signature& signature, FixedValues fixed = {});

/// Only the element function, with raw arrays of any rank: enough for the compiler to find invalid C++.
std::string emit_check(const KernelText& kernel);

}  // namespace iruka::jit
