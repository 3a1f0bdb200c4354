#include "ops/sort_cuda_text.h"

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
  unsigned* done;
  ptrdiff_t n, chunks;
};
constexpr int kChunk = 1 << 15;
// Counts the digits of all passes at once. The row's last block makes places of them: where each digit's keys begin.
extern "C" __global__ void __launch_bounds__(kThreads) iruka_entry(const Arguments a, const ptrdiff_t begin, const ptrdiff_t) {
  __shared__ unsigned counts[kPasses * kDigits];
  __shared__ Count warp_sums[kWarps];
  __shared__ bool is_last;
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
  if (thread == 0) is_last = atomicAdd(a.done + row, 1u) == (unsigned)a.chunks - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    volatile Count* const own = histogram + pass * kDigits + thread;
    const Count before = before_thread(thread < kDigits ? *own : (Count)0, warp_sums, thread);
    if (thread < kDigits) *own = before;
  }
}
)";

// Onesweep, Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022.
constexpr const char* kPass = R"(
struct Arguments {
  const char *from, *from_index;
  char *to, *to_index;
  const Count* histogram;
  Count* status;
  unsigned* ticket;
  ptrdiff_t n, tiles;
  int pass, is_first, is_last;
};
constexpr int kTile = kThreads * kItems;
constexpr Count kValue = (Count)~(Count)0 >> 2, kOwn = kValue + 1, kAll = kOwn * 2;
constexpr int kCountedBytes = 2 * kWarps * kDigits * (int)sizeof(unsigned);
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
  const X* const x = (const X*)a.from + base;
  const long long* const previous = (const long long*)a.from_index + base + first;
  X found[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = place + 32 * k;
    if constexpr (kHasIndex) {
      indices[k] = (Index)(first + at);
      if (a.from_index && at < count) indices[k] = (Index)previous[at];
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

inline void load_keys(const Arguments& a, ptrdiff_t begin, int place, int count, Key* keys, Index* indices) {
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = place + 32 * k;
    if (at >= count) continue;
    keys[k] = ((const Key*)a.from)[begin + at];
    if constexpr (kHasIndex) indices[k] = ((const Index*)a.from_index)[begin + at];
  }
}

inline void store(const Arguments& a, ptrdiff_t to, Key key, Index index) {
  if constexpr (kHasIndex) {
    if (a.is_last) {
      ((long long*)a.to_index)[to] = (long long)index;
    } else {
      ((Key*)a.to)[to] = key;
      ((Index*)a.to_index)[to] = index;
    }
  } else if (a.is_last) {
    ((X*)a.to)[to] = element_of(key);
  } else {
    ((Key*)a.to)[to] = key;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2) iruka_entry(const Arguments a, const ptrdiff_t, const ptrdiff_t) {
  __shared__ uint4 memory[((kCountedBytes > kExchanged ? kCountedBytes : kExchanged) + 15) / 16];
  __shared__ ptrdiff_t bases[kDigits];
  __shared__ unsigned starts[kDigits];
  __shared__ Count warp_sums[kWarps];
  __shared__ unsigned shared_ticket;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, shift = 8 * a.pass;
  unsigned* const lanes_of = (unsigned*)memory + warp * kDigits;  // of the warp, those whose key has the digit
  unsigned* const counters = (unsigned*)memory + (kWarps + warp) * kDigits;
  if (thread == 0) shared_ticket = atomicAdd(a.ticket, 1u);
#pragma unroll 1
  for (int k = thread; k < 2 * kWarps * kDigits; k += kThreads) ((unsigned*)memory)[k] = 0;
  __syncthreads();
  const ptrdiff_t row = shared_ticket / (unsigned)a.tiles, tile = shared_ticket - row * a.tiles, first = tile * kTile;
  const int count = (int)min((ptrdiff_t)kTile, a.n - first);
  Key keys[kItems];
  Index indices[kItems];
  unsigned ranks[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) keys[k] = (Key)~(Key)0, indices[k] = 0;  // what fills up the last tile comes last
  const int place = warp * kItems * 32 + lane;
  if (a.is_first) load_elements(a, row * a.n, first, place, count, keys, indices);
  else load_keys(a, row * a.n + first, place, count, keys, indices);
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int digit = (int)(keys[k] >> shift & 255);
    atomicOr(lanes_of + digit, 1u << lane);
    __syncwarp();
    const unsigned same = ((volatile unsigned*)lanes_of)[digit], before = ((volatile unsigned*)counters)[digit];
    __syncwarp();
    ranks[k] = before + __popc(same & ((1u << lane) - 1));
    if (same >> lane == 1) {
      counters[digit] = before + __popc(same);
      lanes_of[digit] = 0;
    }
    __syncwarp();
  }
  __syncthreads();
  unsigned total = 0;
  if (thread < kDigits) {
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      unsigned* const counter = (unsigned*)memory + (kWarps + w) * kDigits + thread;
      const unsigned own = *counter;
      *counter = total;
      total += own;
    }
  }
  const unsigned start = (unsigned)before_thread(total, warp_sums, thread);
  if (thread < kDigits) {
    const unsigned filling = thread == kDigits - 1 ? kTile - count : 0;
    bases[thread] = row * a.n + (ptrdiff_t)look_back(a, row, tile, thread, total - filling) - start;
    starts[thread] = start;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int digit = (int)(keys[k] >> shift & 255);
    ranks[k] += starts[digit] + counters[digit];
  }
  __syncthreads();
  Key* const sorted = (Key*)memory;
  Index* const sorted_indices = (Index*)(sorted + kTile);
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    sorted[ranks[k]] = keys[k];
    if constexpr (kHasIndex) sorted_indices[ranks[k]] = indices[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int at = k * kThreads + thread;
    if (at >= count) break;
    const Key key = sorted[at];
    Index index = 0;
    if constexpr (kHasIndex) index = sorted_indices[at];
    store(a, bases[(int)(key >> shift & 255)] + at, key, index);
  }
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
