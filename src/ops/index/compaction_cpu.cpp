// Compaction on the CPU in two passes: the first counts each chunk's true bytes, the second writes their positions.
#include <bit>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "ops/index/index_plan.h"
#include "ops/index/index_walk.h"

namespace iruka::ops {
namespace {

/// The mask bytes of one step of a pass.
constexpr int64_t kChunk = 1 << 15, kWord = 8;
constexpr uint64_t kOnes = 0x0101010101010101;

/// Eight mask bytes, each 0 or 1.
uint64_t truths(const uint8_t* mask) {
  uint64_t word;
  std::memcpy(&word, mask, sizeof(word));
  constexpr uint64_t kLow = 0x7f * kOnes;
  return (((word & kLow) + kLow) | word) >> 7 & kOnes;
}

/// The number of true bytes, computed by a product, because the oldest x86-64 processors have no popcnt.
int64_t count_truths(uint64_t word) { return static_cast<int64_t>(word * kOnes >> 56); }

int64_t count_true(const uint8_t* mask, int64_t count) {
  int64_t total = 0, k = 0;
  for (; k + kWord <= count; k += kWord) total += count_truths(truths(mask + k));
  for (; k < count; ++k) total += mask[k] != 0;
  return total;
}

/// The place of each chunk's first position; the last entry is the total.
std::vector<int64_t> chunk_starts(const Array& mask) {
  const int64_t size = mask.size(), chunks = (size + kChunk - 1) / kChunk;
  const auto* bytes = static_cast<const uint8_t*>(mask.data());
  std::vector<int64_t> starts(static_cast<size_t>(chunks) + 1);
  parallel_for(chunks, 4, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      starts[static_cast<size_t>(k) + 1] = count_true(bytes + k * kChunk, std::min(kChunk, size - k * kChunk));
  });
  for (int64_t k = 0; k < chunks; ++k) starts[static_cast<size_t>(k) + 1] += starts[static_cast<size_t>(k)];
  return starts;
}

/// Bit b for byte b.
size_t bits_of(uint64_t word) { return word * 0x0102040810204080 >> 56; }

/// For eight bits, the indices of those that are set, in order; the rest is 0.
struct SetBits {
  uint8_t of[256][kWord];
  constexpr SetBits() : of() {
    for (int bits = 0; bits < 256; ++bits)
      for (int b = 0, count = 0; b < kWord; ++b)
        if (bits >> b & 1) of[bits][count++] = static_cast<uint8_t>(b);
  }
};
constexpr SetBits kSetBits;

/// Calls put(place, position) for every true byte. Eight at a time if there is space: `put` may then be called for a
/// place whose position comes later, but never at or after `end`. Another thread may have changed the mask since it was
/// counted: true bytes without a place are left out, places without a true byte take the chunk's first position.
template <class Put>
void for_each_true(const uint8_t* mask, int64_t begin, int64_t size, int64_t place, int64_t end, Put&& put) {
  int64_t k = begin;
  for (; k + kWord <= begin + size; k += kWord) {
    uint64_t word = truths(mask + k);
    if (word == 0) continue;
    const bool is_single = (word & (word - 1)) == 0;
    if (!is_single && place + kWord <= end) {
      const uint8_t* order = kSetBits.of[bits_of(word)];
      for (int b = 0; b < kWord; ++b) put(place + b, k + order[b]);
      place += count_truths(word);
    } else {
      for (; word != 0 && place < end; word &= word - 1) put(place++, k + std::countr_zero(word) / 8);
    }
  }
  for (; k < begin + size; ++k)
    if (mask[k] && place < end) put(place++, k);
  while (place < end) put(place++, begin);
}

template <class Put>
void compact(const Array& mask, const std::vector<int64_t>& starts, Put&& put) {
  const auto* bytes = static_cast<const uint8_t*>(mask.data());
  const int64_t size = mask.size(), chunks = static_cast<int64_t>(starts.size()) - 1;
  parallel_for(chunks, 4, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const auto chunk = static_cast<size_t>(k);
      for_each_true(bytes, k * kChunk, std::min(kChunk, size - k * kChunk), starts[chunk], starts[chunk + 1], put);
    }
  });
}

}  // namespace

Array true_positions_cpu(const Array& mask) {
  const std::vector<int64_t> starts = chunk_starts(mask);
  Array result = Array::empty({starts.back()}, Dtype::int64, mask.device());
  auto* out = static_cast<int64_t*>(result.data());
  compact(mask, starts, [out](int64_t place, int64_t position) { out[place] = position; });
  return result;
}

Array compress_cpu(const Array& x, const Array& mask) {
  const std::vector<int64_t> starts = chunk_starts(mask);
  Array result = Array::empty({starts.back()}, x.dtype(), x.device());
  const char* from = static_cast<const char*>(x.data());
  char* to = static_cast<char*>(result.data());
  const int64_t bytes = x.itemsize();
  with_piece_size(bytes, [&](auto copy) {
    compact(mask, starts, [=](int64_t place, int64_t position) { copy(to + place * bytes, from + position * bytes); });
  });
  return result;
}

}  // namespace iruka::ops
