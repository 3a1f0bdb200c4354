// Scans on a GPU.
// 1. tiles: a dense axis is cut into tiles, one a block. GPUs start blocks in the order of their numbers (as other
//    libraries' scans rely on), so that none waits for one that has not begun. A block publishes its sum,
//    then looks back: at the sums of the tiles before it in its group of 32, of the groups before that in their group
//    of 32, and at the prefix that the group of groups before published. All are read at once by one warp, and added in
//    an order that the tile's number alone decides: the result does not depend on timing.
// 2. walk: a thread a column, where columns are many or the axis is short. Neighbouring threads read neighbours.
// What is neither goes to tiles by way of copies.
#include <algorithm>
#include <bit>

#include "core/device.h"
#include "core/layout.h"
#include "jit/program.h"
#include "ops/elementwise/cast_text.h"
#include "ops/kept.h"
#include "ops/reduce/reduction_text.h"
#include "ops/scan/scan.h"

namespace iruka::ops {
namespace {

constexpr int64_t kItemBytes = 128, kMostItems = 32;  ///< of a thread's run of elements
constexpr int64_t kGroup = 32;  ///< tiles of a group, groups of a group of groups: a warp's threads
constexpr int64_t kManyColumns = 16384, kShortAxis = 64;
constexpr int64_t kNear = 4;  ///< elements from one to the next of an axis that is read as it lies
constexpr int64_t kWalkThreads = 128;

constexpr const char* kShuffles = R"(
inline A shuffle_up(A value, int distance) {
  unsigned parts[sizeof(A) / 4];
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (unsigned k = 0; k < sizeof(A) / 4; ++k) parts[k] = __shfl_up_sync(0xffffffffu, parts[k], distance);
  memcpy(&value, parts, sizeof(A));
  return value;
}
inline A last_lane(A value) {
  unsigned parts[sizeof(A) / 4];
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (unsigned k = 0; k < sizeof(A) / 4; ++k) parts[k] = __shfl_sync(0xffffffffu, parts[k], 31);
  memcpy(&value, parts, sizeof(A));
  return value;
}
inline A warp_scan(A value, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const A before = shuffle_up(value, distance);
    if (lane >= distance) value = combine(before, value);
  }
  return value;
}
)";

// Sums that blocks publish for one another, eight bytes a word, each beside the flag that says it is there: what is
// seen of a word is all of it, so that nobody waits for an order of writes.
constexpr const char* kLookBack = R"(
constexpr int kParts = (sizeof(A) + 7) / 8;
struct Published { uint4 part[kParts]; };
inline void publish(const Arguments& a, ptrdiff_t slot, A value) {
  unsigned parts[kParts * 2] = {};
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    const uint4 word = {parts[2 * k], parts[2 * k + 1], 1, 0};
    iruka::publish_word(a.slots + slot * kParts + k, word);
  }
}
inline Published peek(const Arguments& a, ptrdiff_t slot) {
  Published seen;
#pragma unroll
  for (int k = 0; k < kParts; ++k) seen.part[k] = iruka::published_word(a.slots + slot * kParts + k);
  return seen;
}
inline A published(const Arguments& a, ptrdiff_t slot, Published seen) {
  unsigned parts[kParts * 2];
#pragma unroll
  for (int k = 0; k < kParts; ++k) {
    while (seen.part[k].z == 0) seen.part[k] = iruka::published_word(a.slots + slot * kParts + k);
    parts[2 * k] = seen.part[k].x, parts[2 * k + 1] = seen.part[k].y;
  }
  A value;
  memcpy(&value, parts, sizeof(A));
  return value;
}
// What stands before the tile, in the first warp's last thread. The other warps come along and look nowhere.
inline A look_back(const Arguments& a, ptrdiff_t row, ptrdiff_t tile, A own, int lane, bool looks) {
  const ptrdiff_t group = tile / 32, super = group / 32, before_super = super - 1;
  const ptrdiff_t tiles = row * a.tiles, groups = a.group_slots + row * a.groups + super * 32;
  const ptrdiff_t supers = a.super_slots + row * a.supers, in_tiles = tiles + group * 32 + lane;
  const bool is_last = looks && lane == 31, sees_tile = looks && lane < tile % 32;
  const bool sees_group = looks && lane < group % 32, sees_super = is_last && super > 0;
  if (is_last) publish(a, tiles + tile, own);
  Published tile_seen, group_seen, super_seen;
  if (sees_tile) tile_seen = peek(a, in_tiles);
  if (sees_group) group_seen = peek(a, groups + lane);
  if (sees_super) super_seen = peek(a, supers + before_super);
  const A in_group = warp_scan(sees_tile ? published(a, in_tiles, tile_seen) : start(), lane);
  const bool ends_group = tile % 32 == 31, ends_super = ends_group && group % 32 == 31;
  if (is_last && ends_group) publish(a, groups + group % 32, combine(in_group, own));
  const A of_groups = warp_scan(sees_group ? published(a, groups + lane, group_seen) : start(), lane);
  if (!is_last) return own;
  const A before = sees_super ? published(a, supers + before_super, super_seen) : start();
  if (ends_super) publish(a, supers + super, combine(before, combine(of_groups, combine(in_group, own))));
  return combine(before, combine(of_groups, in_group));
}
)";

// A warp's elements lie in shared memory, where words of 16 bytes change places so that neither the order of memory nor
// a thread's own run of kItems elements meets a bank twice.
constexpr const char* kTiles = R"(
constexpr int kInWords = kItems * sizeof(In) / 16, kOutWords = kItems * sizeof(Out) / 16;
static_assert(kInWords > 0 && kOutWords > 0);
constexpr int kSegment = 32 * (kInWords > kOutWords ? kInWords : kOutWords);
template <int kWords> inline int place(int word) {
  const int owner = word / kWords;
  return owner * kWords + (word % kWords ^ owner / (8 / kWords) % kWords);
}
template <class T> inline T* element(uint4* segment, int e) {
  constexpr int per_word = 16 / sizeof(T);
  return (T*)(segment + place<kItems * sizeof(T) / 16>(e / per_word)) + e % per_word;
}
inline void fetch(const uint4* segment, int lane, In* value) {
#pragma unroll
  for (int w = 0; w < kInWords; ++w) {
    const uint4 word = segment[place<kInWords>(lane * kInWords + w)];
    memcpy(value + w * (16 / sizeof(In)), &word, 16);
  }
}
inline void load(const char* x, ptrdiff_t stride, ptrdiff_t left, uint4* segment, int lane) {
  const auto at = [=](int e) { return kDense ? ((const In*)x)[e] : *(const In*)(x + e * stride); };
  if (kAlignedIn && left >= 32 * kItems) {
    uint4 word[kInWords];
#pragma unroll
    for (int w = 0; w < kInWords; ++w) word[w] = ((const uint4*)x)[w * 32 + lane];
#pragma unroll
    for (int w = 0; w < kInWords; ++w) segment[place<kInWords>(w * 32 + lane)] = word[w];
  } else if (left >= 32 * kItems) {
    constexpr int kAtOnce = kItems < 8 ? kItems : 8;
#pragma unroll 1
    for (int e = lane; e < 32 * kItems; e += 32 * kAtOnce) {
      In value[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) value[k] = at(e + 32 * k);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) *element<In>(segment, e + 32 * k) = value[k];
    }
  } else {
#pragma unroll 4
    for (int e = lane; e < 32 * kItems; e += 32) *element<In>(segment, e) = e < left ? at(e) : In{};
  }
}
inline void store(Out* out, ptrdiff_t left, uint4* segment, int lane) {
  if (kAlignedOut && left >= 32 * kItems) {
#pragma unroll
    for (int w = 0; w < kOutWords; ++w)
      iruka::store_word((uint4*)out + w * 32 + lane, segment[place<kOutWords>(w * 32 + lane)]);
  } else {
#pragma unroll 4
    for (int e = lane; e < 32 * kItems; e += 32)
      if (e < left) out[e] = *element<Out>(segment, e);
  }
}
extern "C" __global__ void __launch_bounds__(kThreads, 1024 / kThreads) iruka_entry(
    const Arguments a, const ptrdiff_t begin, const ptrdiff_t) {
  __shared__ uint4 segments[kThreads / 32 * kSegment];
  __shared__ uint4 memory[(sizeof(A) * (kThreads / 32 + 1) + 15) / 16];
  A* const totals = (A*)memory;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const ptrdiff_t number = begin + blockIdx.x, row = number < a.tiles ? 0 : number / a.tiles, tile = number - row * a.tiles;
  const ptrdiff_t first = tile * (kThreads * kItems) + warp * (32 * kItems), left = a.n - first;
  uint4* const segment = segments + warp * kSegment;
  const ptrdiff_t stride = kDense ? sizeof(In) : a.x_stride;
  load(a.x + row * a.x_row + first * stride, stride, left, segment, lane);
  __syncwarp();
  In value[kItems];
  fetch(segment, lane, value);
  // Four sums at once: the other blocks wait for what this one publishes.
  constexpr int kRun = kItems / 4;
  A sums[4];
#pragma unroll
  for (int k = 0; k < kRun; ++k)
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const A next = map(value[u * kRun + k]);
      sums[u] = k > 0 ? combine(sums[u], next) : next;
    }
  const A sum = combine(combine(sums[0], sums[1]), combine(sums[2], sums[3]));
  const A scanned = warp_scan(sum, lane), exclusive = shuffle_up(scanned, 1);
  if (lane == 31) totals[warp] = scanned;
  __syncthreads();
  A prefix = start();
#pragma unroll
  for (int k = 0; k < kThreads / 32; ++k)
    if (k < warp) prefix = combine(prefix, totals[k]);
  if (kLooksBack) {
    A own = totals[0];
#pragma unroll
    for (int k = 1; k < kThreads / 32; ++k) own = combine(own, totals[k]);
    const A tile_prefix = look_back(a, row, tile, own, lane, warp == 0);
    if (thread == 31) totals[kThreads / 32] = tile_prefix;
    __syncthreads();
    prefix = combine(totals[kThreads / 32], prefix);
  }
  if (lane > 0) prefix = combine(prefix, exclusive);
  fetch(segment, lane, value);  // again, rather than registers kept while looking back
  __syncwarp();
#pragma unroll
  for (int w = 0; w < kOutWords; ++w) {
    Out result[16 / sizeof(Out)];
#pragma unroll
    for (int k = 0; k < int(16 / sizeof(Out)); ++k)
      prefix = combine(prefix, map(value[w * (16 / sizeof(Out)) + k])), result[k] = finish(prefix);
    uint4 word;
    memcpy(&word, result, 16);
    segment[place<kOutWords>(lane * kOutWords + w)] = word;
  }
  __syncwarp();
  store((Out*)(a.out + row * a.out_row) + first, left, segment, lane);
}
)";

constexpr const char* kWalk = R"(
extern "C" __global__ void __launch_bounds__(128) iruka_entry(
    const Arguments a, const ptrdiff_t begin, const ptrdiff_t end) {
  const ptrdiff_t column = begin + (ptrdiff_t)blockIdx.x * 128 + threadIdx.x;
  if (column >= end) return;
  const char* x = a.x;
  char* out = a.out;
  locate(a, column, x, out);
  A sum = start();
  ptrdiff_t k = 0;
#pragma unroll 1
  for (; k + 4 <= a.n; k += 4) {
    A value[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) value[u] = map(*(const In*)(x + (k + u) * a.x_stride));
#pragma unroll
    for (int u = 0; u < 4; ++u) sum = combine(sum, value[u]), *(Out*)(out + (k + u) * a.out_stride) = finish(sum);
  }
#pragma unroll 1
  for (; k < a.n; ++k) {
    sum = combine(sum, map(*(const In*)(x + k * a.x_stride)));
    *(Out*)(out + k * a.out_stride) = finish(sum);
  }
}
)";

bool is_sum(const ScanCall& call) {
  return call.operation == ScanOperation::add || call.operation == ScanOperation::multiply;
}

/// What is carried from element to element.
Dtype scan_accumulator(const ScanCall& call) {
  const Dtype input = call.x.dtype();
  return is_sum(call) ? summing_dtype(input) : computing_dtype(input);
}

std::string combine_text(ScanOperation operation, bool is_complex) {
  // A complex product with 1 would make NaN of infinities' other part.
  if (operation == ScanOperation::multiply && is_complex) return "is_start(a) ? b : is_start(b) ? a : a * b";
  switch (operation) {
    case ScanOperation::add:
      return "a + b";
    case ScanOperation::multiply:
      return "a * b";
    default:
      return std::string("(a == a) & ((b ") + (operation == ScanOperation::minimum ? "<" : ">") +
             " a) | (b != b)) ? b : a";
  }
}

std::string start_text(const ScanCall& call, Dtype accumulator) {
  if (call.operation == ScanOperation::add && kind(accumulator) >= Kind::floating)  // leaves -0.0 as it is
    return kind(accumulator) == Kind::complex ? "A(-0.0, -0.0)" : "A(-0.0)";
  if (call.operation == ScanOperation::multiply && kind(accumulator) == Kind::complex) return "A(1.0, -0.0)";
  if (itemsize(accumulator) < 4 && !is_sum(call))  // carried as int
    return call.operation == ScanOperation::minimum ? "0x7fffffff" : "-0x7fffffff";
  const Start start = call.operation == ScanOperation::add        ? Start::zero
                      : call.operation == ScanOperation::multiply ? Start::one
                      : call.operation == ScanOperation::minimum  ? Start::highest
                                                                  : Start::lowest;
  return ops::start_text(start, accumulator);
}

/// Types, start(), map(), combine() and finish().
std::string common_text(const ScanCall& call) {
  const Dtype input = call.x.dtype(), output = call.result.dtype(), accumulator = scan_accumulator(call);
  const bool is_bool = input == Dtype::bool_, is_small = itemsize(accumulator) < 4;
  const std::string value = is_bool ? "(value != 0)"
                                    : cast_text(computing_dtype(input), accumulator,
                                                "(" + cast_text(input, computing_dtype(input), "value") + ")");
  std::string text = std::string("using In = ") + (is_bool ? "unsigned char" : info(input).c_type) +
                     ";\nusing A = " + (is_small ? "int" : info(accumulator).c_type) +
                     ";\nusing Out = " + info(output).c_type + ";\n";
  text += "inline A start() { return " + start_text(call, accumulator) + "; }\n";
  const bool is_complex = kind(accumulator) == Kind::complex;
  if (is_complex) text += "inline bool is_start(A a) { return a.real() == 1 && a.imag() == 0 && 1 / a.imag() < 0; }\n";
  text += "inline A combine(A a, A b) { return " + combine_text(call.operation, is_complex) + "; }\n";
  const bool skips = call.skips_nan && kind(input) >= Kind::floating;
  text += std::string("inline A map(In value) { ") + (skips ? "if (value != value) return start(); " : "") +
          "return A(" + value + "); }\n";
  text += "inline Out finish(A value) { return " +
          (is_bool && output == Dtype::bool_
               ? "value != 0"
               : cast_text(accumulator, output,
                           is_small ? "(" + std::string(info(accumulator).c_type) + ")value" : "value")) +
          "; }\n";
  return text;
}

std::string define(const char* name, int64_t value) {
  return std::string("constexpr int ") + name + " = " + std::to_string(value) + ";\n";
}

/// Elements of a thread's run.
int64_t items_of(const ScanCall& call) {
  return std::min(kMostItems, kItemBytes / std::max<int64_t>(call.x.itemsize(), call.result.itemsize()));
}

}  // namespace

std::string scan_tiles_text(const ScanCall& call, int64_t threads, const ScanTiles& tiles) {
  return common_text(call) +
         "struct Arguments {\n  const char* x;\n  char* out;\n  uint4* slots;\n"
         "  ptrdiff_t n, tiles, groups, supers, group_slots, super_slots, x_row, out_row, x_stride;\n};\n" +
         define("kThreads", threads) + define("kItems", items_of(call)) + define("kDense", tiles.is_dense) +
         define("kAlignedIn", tiles.input_is_aligned) + define("kAlignedOut", tiles.output_is_aligned) +
         define("kLooksBack", tiles.looks_back) + kShuffles + kLookBack + kTiles;
}

std::string scan_walk_text(const ScanCall& call, int axes) {
  std::string text = common_text(call);
  const std::string rank = std::to_string(axes);
  text += "struct Arguments {\n  const char* x;\n  char* out;\n  ptrdiff_t n, x_stride, out_stride, extent[" + rank +
          "], x_step[" + rank + "], out_step[" + rank + "];\n};\n";
  text +=
      "inline void locate(const Arguments& a, ptrdiff_t column, const char*& x, char*& out) {\n#pragma unroll\n"
      "  for (int k = " +
      rank +
      " - 1; k >= 0; --k) {\n"
      "    const ptrdiff_t at = k > 0 ? column % a.extent[k] : column;\n    column /= a.extent[k];\n"
      "    x += at * a.x_step[k], out += at * a.out_step[k];\n  }\n}\n";
  text += kWalk;
  return text;
}

namespace {

/// What a text depends on.
struct TextKey {
  Device* device;
  ScanOperation operation;
  Dtype input, output;
  bool skips_nan;
  ScanTiles tiles;
  int64_t threads, rank;

  auto operator<=>(const TextKey&) const = default;
};

template <class Text>
const jit::Program& program_for(const TextKey& key, Text text) {
  auto& programs = made_once([] { return Kept<TextKey, std::shared_ptr<const jit::Program>>(); });
  return *programs.get(key, [&] {
    return jit::build(*key.device, {text(), "iruka_entry", {}, "<scan>"}, {"scan", name(key.input), "", {}});
  });
}

TextKey key_of(const ScanCall& call) {
  return {&call.x.device(), call.operation, call.x.dtype(), call.result.dtype(), call.skips_nan, {}, 0, 0};
}

bool is_aligned(const void* address, int64_t row_stride, int64_t bytes) {
  return (reinterpret_cast<uint64_t>(address) | static_cast<uint64_t>(row_stride)) % static_cast<uint64_t>(bytes) == 0;
}

void run_tiles(const ScanCall& call, int64_t rows, int64_t x_row, int64_t out_row) {
  Device& device = call.x.device();
  const int64_t n = call.x.shape(call.axis), per_thread = items_of(call);
  const auto wanted = static_cast<uint64_t>((n + per_thread - 1) / per_thread);
  const int64_t threads = static_cast<int64_t>(std::clamp<uint64_t>(std::bit_ceil(wanted), 32, 256));
  const int64_t tiles = (n + threads * per_thread - 1) / (threads * per_thread);
  const int64_t groups = (tiles + kGroup - 1) / kGroup, supers = (groups + kGroup - 1) / kGroup;
  const int64_t x_stride = call.x.strides()[call.axis];
  const bool is_dense = x_stride == call.x.itemsize();
  const ScanTiles form{is_dense, is_dense && is_aligned(call.x.data(), x_row, 16),
                       is_aligned(call.result.data(), out_row, 16), tiles > 1};
  const Dtype accumulator = scan_accumulator(call);
  jit::ArgumentBlock block;
  block.push(call.x.data());
  block.push(call.result.data());
  Array work;
  const int64_t slots = rows * (tiles + groups + supers);
  if (tiles > 1) {
    const int64_t words = slots * ((itemsize(accumulator) + 7) / 8);
    work = Array::empty({words * 16}, Dtype::uint8, device);
    device.fill(work.data(), 0, static_cast<size_t>(work.nbytes()), nullptr);
  }
  block.push(tiles > 1 ? work.data() : nullptr);
  for (int64_t value : {n, tiles, groups, supers, rows * tiles, rows * (tiles + groups), x_row, out_row, x_stride})
    block.push(value);
  LaunchRange range{rows * tiles};
  range.counts_elements = false;
  range.threads_per_block = static_cast<int>(threads);
  TextKey key = key_of(call);
  key.tiles = form, key.threads = threads;
  program_for(key, [&] { return scan_tiles_text(call, threads, form); }).launch(block.bytes(), range);
}

void run_walk(const ScanCall& call, const LoopLayout& loop) {
  jit::ArgumentBlock block;
  block.push(static_cast<const char*>(call.x.data()) + loop.offset(0));
  block.push(static_cast<char*>(call.result.data()) + loop.offset(1));
  for (int64_t value : {call.x.shape(call.axis), call.x.strides()[call.axis], call.result.strides()[call.axis]})
    block.push(value);
  for (int axis = 0; axis < loop.rank(); ++axis) block.push(loop.extent(axis));
  for (int operand : {0, 1})
    for (int axis = 0; axis < loop.rank(); ++axis) block.push(loop.stride(operand, axis));
  LaunchRange range{loop.count()};
  range.counts_elements = false;
  range.units_per_block = kWalkThreads;
  range.threads_per_block = static_cast<int>(kWalkThreads);
  TextKey key = key_of(call);
  key.rank = loop.rank();
  program_for(key, [&] { return scan_walk_text(call, loop.rank()); }).launch(block.bytes(), range);
}

/// The array with its axis last.
Array axis_last(const Array& x, int axis) {
  Dims order;
  for (int k = 0; k < x.ndim(); ++k)
    if (k != axis) order.push_back(k);
  order.push_back(axis);
  return x.transpose(order);
}

}  // namespace

void scan_on_gpu(const ScanCall& call) {
  const LoopLayout loop = columns_of(call);
  const int64_t n = call.x.shape(call.axis);
  const int64_t stride = call.x.strides()[call.axis];
  const bool near = loop.count() == 1 || (stride > 0 && stride <= kNear * call.x.itemsize());
  const bool dense = near && call.result.strides()[call.axis] == call.result.itemsize();
  const bool even = loop.rank() == 1 && loop.offset(0) == 0 && loop.offset(1) == 0;
  if (dense && even && n > kShortAxis) return run_tiles(call, loop.count(), loop.stride(0, 0), loop.stride(1, 0));
  if (n <= kShortAxis || loop.count() >= kManyColumns) return run_walk(call, loop);
  const Array x = axis_last(call.x, call.axis).copy();
  Array result = Array::empty(x.shape(), call.result.dtype(), x.device());
  const int64_t x_row = n * x.itemsize(), out_row = n * result.itemsize();
  run_tiles({x, result, call.operation, x.ndim() - 1, call.skips_nan}, x.size() / n, x_row, out_row);
  axis_last(call.result, call.axis).assign(result);
}

}  // namespace iruka::ops
