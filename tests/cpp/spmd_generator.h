// Random kernels for the differential test of the SPMD path: everything follows from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "iruka/iruka.h"

namespace iruka::testing {

/// What a parameter is to the body, and so what its elements must be.
enum class Role : uint8_t {
  input,        ///< plain
  changed,      ///< plain and _non_const: read and written back
  scalar,       ///< any value
  count,        ///< int32 scalar, 0 to kLargestCount
  width,        ///< scalar, the row length by which the body splits its index
  samples,      ///< raw, some elements for each element of the loop
  table,        ///< raw, `length` elements for any loop
  image,        ///< raw 2-d, `width` columns and a row for each started row of the loop
  permutation,  ///< raw, 0 to n - 1 in random order
  counters,     ///< raw, `length` elements that begin at 0 and are changed only by atomics
  output,       ///< plain
  places,       ///< raw, some elements for each element of the loop, which no other element touches
};
inline constexpr int kLargestCount = 7;
/// Elements of samples and places beyond those that belong to the loop's elements.
inline constexpr int kExtraElements = 3;

enum class Flavour : uint8_t { tame, wide, special };  ///< small numbers; all magnitudes; also NaN, infinities, limits

/// The memory layout of an array. The last three are for plain arrays, two of them only for inputs.
enum class Layout : uint8_t { contiguous, stepped, reversed, padded, transposed, broadcast, broadcast_rows };

struct GeneratedParameter {
  std::string name;
  Dtype dtype = Dtype::float32;
  Role role = Role::input;
  Flavour flavour = Flavour::tame;
  Layout layout = Layout::contiguous;
  int length = 0;       ///< table, counters: elements
  int per_element = 1;  ///< samples, places: elements for each element of the loop
  int64_t value = 0;    ///< count, width
  int same_as = -1;     ///< an output that is given the array of this input
};

/// A kernel, and the calls to make of it.
struct GeneratedKernel {
  uint64_t seed = 0;
  std::string inputs, outputs;  ///< parameter lists
  std::string preamble, loop_prep, body;
  std::vector<GeneratedParameter> parameters;  ///< in the order of a call
  std::vector<Dims> shapes;                    ///< of the loops to run
  bool all_raw = false;                        ///< the call gives size=
  int lanes = 0;                               ///< --lanes of the path that is held against --lanes=1

  /// All that is needed to read and repeat it.
  std::string describe() const;
};

GeneratedKernel generate_kernel(uint64_t seed);

}  // namespace iruka::testing
