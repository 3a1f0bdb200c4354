#include "ops/sort/sort_cuda_text.h"

#include <algorithm>

namespace iruka::ops {
namespace {

// Memory of a block that a pass keeps keys and indices in, beside what it counts in.
constexpr int kExchangeBytes = 44 << 10;
// More, and their keys, indices and ranks leave the registers that two blocks of a multiprocessor have.
constexpr int kMostKeys = 20, kMostPairs = 14;

std::string number(int64_t value) { return std::to_string(value); }

std::string unsigned_type(int64_t bytes) {
  return bytes == 1   ? "unsigned char"
         : bytes == 2 ? "unsigned short"
         : bytes == 4 ? "unsigned int"
                      : "unsigned long long";
}

/// Bits of a real part's mantissa; 0 for integers.
int mantissa(Dtype dtype) {
  switch (real_dtype(dtype)) {
    case Dtype::float16:
      return 10;
    case Dtype::bfloat16:
      return 7;
    case Dtype::float32:
      return 23;
    case Dtype::float64:
      return 52;
    default:
      return 0;
  }
}

// The same keys as sort_keys.h's.
constexpr const char* kIntegerKeys = R"(
inline Key key(Bits bits) { return kIsBool ? Key(bits != 0) : Key(bits ^ (kIsSigned ? kSign : Bits(0))); }
inline Bits bits_of(Key key) { return Bits(key ^ (kIsSigned ? kSign : Bits(0))); }
inline Key equal_key(Bits bits) { return key(bits); }
)";

constexpr const char* kFloatKeys = R"(
constexpr Bits kNegativeNans = Bits((Bits(1) << kMantissa) - 1), kInfinityBits = Bits(~kNegativeNans & ~kSign);
inline bool is_nan(Bits bits) { return Bits(bits & Bits(~kSign)) > kInfinityBits; }
inline Bits key(Bits bits) { return Bits((bits & kSign ? Bits(~bits) : Bits(bits ^ kSign)) - kNegativeNans); }
inline Bits bits_of(Bits key) {
  const Bits shifted = Bits(key + kNegativeNans);
  return shifted & kSign ? Bits(shifted ^ kSign) : Bits(~shifted);
}
inline Bits equal_key(Bits bits) {
  if (is_nan(bits)) return Bits(~Bits(0));
  return key(bits == kSign ? Bits(0) : bits);
}
)";

constexpr const char* kComplexKeys = R"(
struct Element { Bits real, imaginary; };
inline Bits high_word(Element x) {
  const Bits last = Bits(~Bits(0));
  if (is_nan(x.real)) return is_nan(x.imaginary) ? last : Bits(last - 1);
  return is_nan(x.imaginary) ? Bits(last - 2) : equal_key(x.real);
}
inline Bits low_word(Element x) {
  if (is_nan(x.imaginary)) return is_nan(x.real) ? Bits(0) : equal_key(x.real);
  return equal_key(x.imaginary);
}
)";

std::string keys_text(const SortVariant& variant) {
  const Dtype dtype = variant.dtype;
  const bool is_complex = kind(dtype) == Kind::complex;
  const int64_t bytes = itemsize(real_dtype(dtype));
  std::string text = "using Bits = " + unsigned_type(bytes) + ";\nusing Key = " + unsigned_type(variant.key_bytes()) +
                     ";\nusing Index = " + unsigned_type(std::max(variant.index_bytes(), 4)) +
                     ";\nusing Count = " + unsigned_type(variant.is_wide ? 8 : 4) +
                     ";\nconstexpr Bits kSign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));\n" +
                     "[[maybe_unused]] constexpr int kMantissa = " + number(mantissa(dtype)) +
                     ", kPasses = " + number(variant.passes()) + ", kItems = " + number(variant.items()) + ";\n" +
                     "[[maybe_unused]] constexpr bool kIsBool = " + (dtype == Dtype::bool_ ? "true" : "false") +
                     ", kIsSigned = " + (kind(dtype) == Kind::signed_integer ? "true" : "false") +
                     ", kHasIndex = " + (variant.has_index ? "true" : "false") + ";\n";
  text += mantissa(dtype) ? kFloatKeys : kIntegerKeys;
  if (is_complex) text += kComplexKeys;
  text += std::string("using X = ") + (is_complex ? "Element" : "Bits") + ";\ninline Key key_of(X x) { return Key(" +
          (variant.descending ? "~" : "") + "(";
  if (dtype == Dtype::complex64)
    text += "Key(high_word(x)) << 32 | low_word(x)";
  else if (dtype == Dtype::complex128)
    text += variant.word == 0 ? "low_word(x)" : "high_word(x)";
  else
    text += variant.has_index ? "equal_key(x)" : "key(x)";
  text += ")); }\n";
  // Only keys alone become elements again; with indices the function is named and not called.
  text += variant.has_index ? "inline X element_of(Key) { return X{}; }\n"
                            : std::string("inline X element_of(Key key) { return bits_of(Key(") +
                                  (variant.descending ? "~" : "") + "key)); }\n";
  return text;
}

constexpr const char* kShort = R"(
struct Arguments {
  const X* x;
  const long long* previous;
  void* out;
  ptrdiff_t rows, n;
  int slots_per_row;
};
constexpr int kThreads = 256, kSlots = 2048;
// Batcher's bitonic sort of every row of slots. Where keys are equal, places decide.
inline void exchange(Key* keys, Index* places, int low, int high, bool ascending) {
  const Key a = keys[low], b = keys[high];
  const bool is_after = a > b || (kHasIndex && a == b && places[low] > places[high]);
  if (is_after != ascending) return;
  keys[low] = b, keys[high] = a;
  if constexpr (kHasIndex) {
    const Index place = places[low];
    places[low] = places[high], places[high] = place;
  }
}
extern "C" __global__ void __launch_bounds__(kThreads) iruka_entry(const Arguments a, const ptrdiff_t begin, const ptrdiff_t) {
  __shared__ Key keys[kSlots];
  __shared__ Index places[kHasIndex ? kSlots : 1];
  const int thread = threadIdx.x, slots = a.slots_per_row;
  const ptrdiff_t first_row = begin + (ptrdiff_t)blockIdx.x * (kSlots / slots);
#pragma unroll 1
  for (int slot = thread; slot < kSlots; slot += kThreads) {
    const ptrdiff_t row = first_row + slot / slots;
    const int place = slot % slots;
    const bool exists = row < a.rows && place < a.n;
    Key found = (Key)~(Key)0;
    if (exists) found = key_of(a.x[row * a.n + (kHasIndex && a.previous ? (ptrdiff_t)a.previous[row * a.n + place] : place)]);
    keys[slot] = found;
    if constexpr (kHasIndex) places[slot] = (Index)place;
  }
#pragma unroll 1
  for (int size = 2; size <= slots; size *= 2)
#pragma unroll 1
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
#pragma unroll
      for (int k = thread; k < kSlots / 2; k += kThreads) {
        const int low = 2 * k - (k & (stride - 1));
        exchange(keys, places, low, low + stride, (low & (slots - 1) & size) == 0);
      }
    }
  __syncthreads();
#pragma unroll 1
  for (int slot = thread; slot < kSlots; slot += kThreads) {
    const ptrdiff_t row = first_row + slot / slots;
    const int place = slot % slots;
    if (row >= a.rows || place >= a.n) continue;
    if constexpr (kHasIndex) {
      const ptrdiff_t from = (ptrdiff_t)places[slot];
      ((long long*)a.out)[row * a.n + place] = a.previous ? a.previous[row * a.n + from] : (long long)from;
    } else {
      ((X*)a.out)[row * a.n + place] = element_of(keys[slot]);
    }
  }
}
)";

constexpr const char* kRadix = R"(
constexpr int kThreads = 384, kWarps = kThreads / 32, kDigits = 256;
// What comes before the thread's value in the block. Two barriers are passed.
inline Count before_thread(Count value, Count* warp_sums, int thread) {
  const int lane = thread % 32, warp = thread / 32;
  Count sum = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Count other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
  Count before = sum - value;
#pragma unroll
  for (int k = 0; k < kWarps; ++k)
    if (k < warp) before += warp_sums[k];
  __syncthreads();
  return before;
}
)";

constexpr const char* kHistogram = R"(
struct Arguments {
  const X* x;
  Count* histogram;
  unsigned *done, *moving;
  ptrdiff_t n, chunks;
};
constexpr int kChunk = 1 << 15;
// Counts the digits of all passes at once. The row's last block makes places of them: where each digit's keys begin; and
// tells the passes that move anything: where all keys share a digit, none moves.
extern "C" __global__ void __launch_bounds__(kThreads) iruka_entry(const Arguments a, const ptrdiff_t begin, const ptrdiff_t) {
  __shared__ unsigned counts[kPasses * kDigits];
  __shared__ Count warp_sums[kWarps];
  __shared__ bool is_last;
  __shared__ unsigned still;
  const int thread = threadIdx.x;
  const ptrdiff_t unit = begin + blockIdx.x, row = unit / a.chunks, first = (unit - row * a.chunks) * kChunk;
  const int count = (int)min((ptrdiff_t)kChunk, a.n - first);
  const X* const x = a.x + row * a.n + first;
  Count* const histogram = a.histogram + row * (kPasses * kDigits);
#pragma unroll 1
  for (int k = thread; k < kPasses * kDigits; k += kThreads) counts[k] = 0;
  __syncthreads();
#pragma unroll 4
  for (int k = thread; k < count; k += kThreads) {
    const Key key = key_of(x[k]);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) atomicAdd(counts + pass * kDigits + (int)(key >> 8 * pass & 255), 1u);
  }
  __syncthreads();
#pragma unroll 1
  for (int k = thread; k < kPasses * kDigits; k += kThreads)
    if (counts[k]) atomicAdd(histogram + k, (Count)counts[k]);
  __threadfence();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(a.done + row, 1u) == (unsigned)a.chunks - 1, still = 0;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    volatile Count* const own = histogram + pass * kDigits + thread;
    const Count found = thread < kDigits ? *own : (Count)0, before = before_thread(found, warp_sums, thread);
    if (thread < kDigits) *own = before;
    if (found == (Count)a.n) still |= 1u << pass;  // one thread at most
  }
  __syncthreads();
  // Of equal keys the last pass is made all the same: it brings them to their place.
  const unsigned all = (1u << kPasses) - 1, moving = all & ~still;
  if (thread == 0) a.moving[row] = moving ? moving : 1u << (kPasses - 1);
}
)";

// Onesweep, Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022.
constexpr const char* kPass = R"(
struct Arguments {
  const char *x, *previous;
  char *keys[2], *indices[2], *out;
  const Count* histogram;
  Count* status;
  unsigned* ticket;
  const unsigned* moving;
  ptrdiff_t n, tiles;
  int pass;
};
constexpr int kTile = kThreads * kItems;
constexpr Count kValue = (Count)~(Count)0 >> 2, kOwn = kValue + 1, kAll = kOwn * 2;
constexpr int kCountedBytes = kWarps * kDigits * (int)sizeof(unsigned);
constexpr int kExchanged = kTile * (int)(sizeof(Key) + (kHasIndex ? sizeof(Index) : 0));

// How many keys of the thread's digit lie before this tile: the sum of what the tiles before it publish, back to one
// that knows its own sum. Tiles begin in the order of their tickets, so none waits for one that has not begun.
inline Count look_back(const Arguments& a, ptrdiff_t row, ptrdiff_t tile, int digit, Count own) {
  volatile Count* const status = a.status + (row * a.tiles + tile) * kDigits + digit;
  if (tile == 0) {
    const Count before = a.histogram[(row * kPasses + a.pass) * kDigits + digit];
    *status = (before + own) | kAll;
    return before;
  }
  *status = own | kOwn;
  Count before = 0;
#pragma unroll 1
  for (ptrdiff_t back = 1;;) {
    const Count seen = status[-back * kDigits];
    if (seen == 0) continue;
    before += seen & kValue;
    if (seen & kAll) break;
    ++back;
  }
  *status = (before + own) | kAll;
  return before;
}

// All loads are under way before the first is waited for. `place` is the thread's first one in the tile.
inline void load_elements(const Arguments& a, ptrdiff_t base, ptrdiff_t first, int place, int count, Key* keys, Index* indices) {
  const X* const x = (const X*)a.x + base;
  const long long* const previous = (const long long*)a.previous + base + first;
  X found[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = place + 32 * k;
    if constexpr (kHasIndex) {
      indices[k] = (Index)(first + at);
      if (a.previous && at < count) indices[k] = (Index)previous[at];
    }
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = place + 32 * k;
    found[k] = X{};
    if (at < count) found[k] = x[kHasIndex ? (ptrdiff_t)indices[k] : first + at];
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k)
    if (place + 32 * k < count) keys[k] = key_of(found[k]);
}

inline void load_keys(const Key* from, const Index* from_index, int place, int count, Key* keys, Index* indices) {
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = place + 32 * k;
    if (at >= count) continue;
    keys[k] = from[at];
    if constexpr (kHasIndex) indices[k] = from_index[at];
  }
}

template <bool kIsLast> inline void store(char* keys, char* indices, ptrdiff_t to, Key key, Index index) {
  if constexpr (!kIsLast) ((Key*)keys)[to] = key;
  if constexpr (kIsLast && !kHasIndex) ((X*)keys)[to] = element_of(key);
  if constexpr (kHasIndex) {
    if constexpr (kIsLast) ((long long*)indices)[to] = (long long)index;
    else ((Index*)indices)[to] = index;
  }
}

// The lanes that agree on a bit of the digit. The compiler tests the bit twice unless told how.
inline unsigned agreeing_lanes(unsigned digit, unsigned bit) {
  unsigned lanes;
#ifdef __CUDA_ARCH__
  asm volatile(
      "{ .reg .pred p;\n and.b32 %0, %1, %2;\n setp.ne.u32 p, %0, 0;\n vote.sync.ballot.b32 %0, p, 0xffffffff;\n"
      " @!p not.b32 %0, %0;\n}"
      : "=r"(lanes)
      : "r"(digit), "r"(bit));
#else
  lanes = __ballot_sync(0xffffffffu, (digit & bit) != 0) ^ (digit & bit ? 0u : 0xffffffffu);
#endif
  return lanes;
}
inline unsigned same_lanes(unsigned digit) {
  unsigned same = agreeing_lanes(digit, 1u);
#pragma unroll
  for (unsigned bit = 2; bit < 256; bit *= 2) same &= agreeing_lanes(digit, bit);
  return same;
}

template <bool kIsLast> inline void store_all(const Key* sorted, const Index* sorted_indices, const ptrdiff_t* bases,
                                              int count, int shift, char* keys, char* indices) {
  const int thread = threadIdx.x;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = k * kThreads + thread;
    if (at >= count) break;
    const Key key = sorted[at];
    Index index = 0;
    if constexpr (kHasIndex) index = sorted_indices[at];
    store<kIsLast>(keys, indices, bases[(int)(key >> shift & 255)] + at, key, index);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2) iruka_entry(const Arguments a, const ptrdiff_t, const ptrdiff_t) {
  __shared__ uint4 memory[((kCountedBytes > kExchanged ? kCountedBytes : kExchanged) + 15) / 16];
  __shared__ ptrdiff_t bases[kDigits];
  __shared__ Count warp_sums[kWarps];
  __shared__ unsigned shared_ticket;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, shift = 8 * a.pass;
  unsigned* const counters = (unsigned*)memory + warp * kDigits;  // of the warp: its keys that have the digit
  if (thread == 0) shared_ticket = atomicAdd(a.ticket, 1u);
#pragma unroll 1
  for (int k = thread; k < kWarps * kDigits; k += kThreads) ((unsigned*)memory)[k] = 0;
  unsigned moving = a.moving[0];  // on its way while the ticket is
  __syncthreads();
  const ptrdiff_t row = shared_ticket / (unsigned)a.tiles, tile = shared_ticket - row * a.tiles, first = tile * kTile;
  if (row > 0) moving = a.moving[row];
  if (!(moving >> a.pass & 1)) return;
  const unsigned after = moving >> a.pass >> 1;
  const bool is_first = !(moving & ((1u << a.pass) - 1));
  const bool is_turned = __popc(after) & 1;
  const int count = (int)min((ptrdiff_t)kTile, a.n - first);
  Key keys[kItems];
  Index indices[kItems];
  unsigned ranks[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) keys[k] = (Key)~(Key)0, indices[k] = 0;  // what fills up the last tile comes last
  const int place = warp * kItems * 32 + lane;
  if (is_first) {
    load_elements(a, row * a.n, first, place, count, keys, indices);
  } else {
    const ptrdiff_t begin = row * a.n + first;
    load_keys((const Key*)(is_turned ? a.keys[0] : a.keys[1]) + begin,
              (const Index*)(is_turned ? a.indices[0] : a.indices[1]) + begin, place, count, keys, indices);
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const unsigned digit = (unsigned)(keys[k] >> shift & 255);
    const unsigned same = same_lanes(digit), before = ((volatile unsigned*)counters)[digit];
    __syncwarp();
    ranks[k] = before + __popc(same & ((1u << lane) - 1));
    if (same >> lane == 1) ((volatile unsigned*)counters)[digit] = before + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  unsigned total = 0;
  if (thread < kDigits) {
#pragma unroll
    for (int w = 0; w < kWarps; ++w) total += ((volatile unsigned*)memory)[w * kDigits + thread];
  }
  const unsigned start = (unsigned)before_thread(total, warp_sums, thread);
  if (thread < kDigits) {
    unsigned next = start;  // from counts to where the warp's keys of the digit begin
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      volatile unsigned* const counter = (unsigned*)memory + w * kDigits + thread;
      const unsigned own = *counter;
      *counter = next;
      next += own;
    }
    const unsigned filling = thread == kDigits - 1 ? kTile - count : 0;
    bases[thread] = row * a.n + (ptrdiff_t)look_back(a, row, tile, thread, total - filling) - start;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) ranks[k] += counters[(int)(keys[k] >> shift & 255)];
  __syncthreads();
  Key* const sorted = (Key*)memory;
  Index* const sorted_indices = (Index*)(sorted + kTile);
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    sorted[ranks[k]] = keys[k];
    if constexpr (kHasIndex) sorted_indices[ranks[k]] = indices[k];
  }
  __syncthreads();
  if (after)
    store_all<false>(sorted, sorted_indices, bases, count, shift, is_turned ? a.keys[1] : a.keys[0],
                     is_turned ? a.indices[1] : a.indices[0]);
  else
    store_all<true>(sorted, sorted_indices, bases, count, shift, a.out, a.out);
}
)";

}  // namespace

int SortVariant::key_bytes() const { return kind(dtype) == Kind::complex ? 8 : static_cast<int>(itemsize(dtype)); }

int SortVariant::items() const {
  return std::min(has_index ? kMostPairs : kMostKeys, kExchangeBytes / (kRadixThreads * (key_bytes() + index_bytes())));
}

std::string sort_short_rows_text(const SortVariant& variant) { return keys_text(variant) + kShort; }
std::string sort_histogram_text(const SortVariant& variant) { return keys_text(variant) + kRadix + kHistogram; }
std::string sort_pass_text(const SortVariant& variant) { return keys_text(variant) + kRadix + kPass; }

}  // namespace iruka::ops
