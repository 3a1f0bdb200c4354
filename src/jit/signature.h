// The signature of a call: everything that the generated source depends on, as a few bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "iruka/dtype.h"
#include "jit/grammar.h"

namespace iruka::jit {

/// How the loop accesses an argument.
enum class Access : uint8_t {
  unused,  ///< the text does not mention the parameter
  scalar,
  by_value,        ///< a small array among the arguments
  contiguous,      ///< plain array, innermost stride is the element size
  broadcast,       ///< plain array, innermost stride is zero
  interleaved,     ///< plain array whose elements lie `step` apart in another's memory or its own, as channels do
  strided,         ///< plain array, any other innermost stride
  crosswise,       ///< plain input of LoopForm::tiles whose second innermost stride is the element size
  raw_contiguous,  ///< raw array in C order without gaps
  raw_strided,
  scratch,  ///< an intermediate array that exists for a batch of slices at a time, in a thread's or a block's memory
};

/// The shape of the loop around the element function.
enum class LoopForm : uint8_t {
  flat,    ///< one merged axis
  stream,  ///< one merged axis; large aligned contiguous outputs use non-temporal stores
  rows,    ///< several axes; the innermost is an inner loop
  tiles,   ///< as rows, but the two innermost axes are split into square tiles: operands have different fast axes
  slices,  ///< batches of slices go through all stages, each by flat loops or rows
};

struct OperandSignature {
  Access access;
  Dtype dtype;
  uint8_t rank;         ///< of a raw array
  uint8_t is_const;     ///< of a raw array: its elements may not be written
  uint8_t is_separate;  ///< of a raw input: no output overlaps it
  int8_t step;          ///< of Access::interleaved, in elements
  uint8_t leader;       ///< of Access::interleaved: the operand from whose address this one's is computed
  int8_t channel;       ///< of Access::interleaved: elements from the leader's address
};

struct Signature {
  LoopForm form = LoopForm::flat;
  uint8_t rank = 1;          ///< merged axes of the loop
  uint8_t indexer_rank = 1;  ///< number of axes of `_ind`
  uint8_t small_index = 1;   ///< the loop has fewer than 2^31 elements
  uint8_t operand_count = 0;
  uint8_t tile_edge = 0;     ///< elements along each side of a tile, for LoopForm::tiles
  uint8_t small_arrays = 1;  ///< every raw array has fewer than 2^31 elements
  uint8_t pack = 0;  ///< elements that a thread of a grid loads and stores at once; 0: the entry loops over ranges
  /// What the text's `_slice` is like: 0: not used; kLoneSlice; kManySlices; more: kGroups + the number of groups of
  /// neighbouring axes that are all of slices or all across them, twice, and 1 where the first is of slices.
  uint8_t slicing = 0;
  OperandSignature operands[kMaxParameters];  // only the first operand_count are set

  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(this),
            offsetof(Signature, operands) + sizeof(OperandSignature) * operand_count};
  }
  uint64_t hash() const {
    uint64_t hash = 0x9e3779b97f4a7c15u, word = 0;
    const auto mix = [&hash](uint64_t piece) {
      hash = (hash ^ piece) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    };
    const std::string_view all = bytes();
    size_t at = 0;
    for (; at + sizeof(word) <= all.size(); at += sizeof(word)) {
      std::memcpy(&word, &all[at], sizeof(word));
      mix(word);
    }
    for (word = 0; at < all.size(); ++at) word = word << 8 | static_cast<uint8_t>(all[at]);
    mix(word);
    return hash;
  }
};
static_assert(std::is_trivially_copyable_v<Signature>);
static_assert(sizeof(OperandSignature) == 8 && offsetof(Signature, operands) == 9, "bytes() must have no padding");

/// Values of Signature::slicing.
inline constexpr uint8_t kLoneSlice = 1;   ///< a batch is one slice
inline constexpr uint8_t kManySlices = 2;  ///< a batch is several neighbouring slices
inline constexpr uint8_t kGroups = 4;      ///< elements come in C order, whatever the slices are

/// Elements a streamed loop writes at a time; ranges begin at multiples of it so that stores are aligned.
inline constexpr int64_t kStreamChunk = 1024;

}  // namespace iruka::jit
