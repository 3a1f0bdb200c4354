// Scans on a GPU.
// 1. tiles: a dense axis is cut into tiles, one a block. GPUs start blocks in the order of their numbers (as other
//    libraries' scans rely on), so that none waits for one that has not begun. A block publishes its sum,
//    then looks back: at the sums of the tiles before it in its group of 32, of the groups before that in their group
//    of 32, and at the prefix that the group of groups before published. All are read at once by one warp, and added in
//    an order that the tile's number alone decides: the result does not depend on timing.
// 2. walk: a thread a column, where columns are many or the axis is short. Neighbouring threads read neighbours.
// Other layouts are copied first and then use tiles.
#include <algorithm>
#include <bit>

#include "core/device.h"
#include "core/layout.h"
#include "jit/program.h"
#include "ops/elementwise/cast_text.h"
#include "ops/kernel_text.h"
#include "ops/program_cache.h"
#include "ops/reduce/reduction_text.h"
#include "ops/scan/scan.h"

namespace iruka::ops {
namespace {

constexpr int64_t kItemBytes = 128, kMostItems = 32;  ///< of a thread's run of elements
constexpr int64_t kGroup = 32;  ///< tiles of a group, groups of a group of groups: a warp's threads
constexpr int64_t kManyColumns = 16384, kShortAxis = 64;
constexpr int64_t kNear = 4;  ///< elements from one to the next of an axis that is read as it lies
constexpr int64_t kWalkThreads = 128;

bool is_sum(const ScanCall& call) {
  return call.operation == ScanOperation::add || call.operation == ScanOperation::multiply;
}

/// What is carried from element to element.
Dtype scan_accumulator(const ScanCall& call) {
  const Dtype input = call.x.dtype();
  return is_sum(call) ? summing_dtype(input) : computing_dtype(input);
}

/// The header's struct of an operation.
const char* operation_type(ScanOperation operation) {
  switch (operation) {
    case ScanOperation::add: return "Add";
    case ScanOperation::multiply: return "Multiply";
    case ScanOperation::minimum: return "Minimum";
    default: return "Maximum";
  }
}

/// The struct Types of kernels/cuda, except the constants of one form.
std::string types_text(const ScanCall& call, const std::string& constants) {
  const Dtype input = call.x.dtype(), output = call.result.dtype(), accumulator = scan_accumulator(call);
  const bool is_bool = input == Dtype::bool_, is_small = itemsize(accumulator) < 4;  // carried as int
  const std::string value = is_bool ? "(value != 0)"
                                    : cast_text(computing_dtype(input), accumulator,
                                                "(" + cast_text(input, computing_dtype(input), "value") + ")");
  const std::string result =
      is_bool && output == Dtype::bool_
          ? "value != 0"
          : cast_text(accumulator, output, is_small ? "(" + std::string(info(accumulator).c_type) + ")value" : "value");
  const std::string carried = is_small ? "int" : info(accumulator).c_type;
  const bool skips = call.skips_nan && is_inexact(input);
  std::string start;
  if (!is_sum(call))
    start = "static IRUKA_INLINE A start() { return " +
            start_text(call.operation == ScanOperation::minimum ? Start::highest : Start::lowest,
                       is_small ? Dtype::int32 : accumulator) +
            "; }\n";
  return std::string("struct Types : iruka::scan::") + operation_type(call.operation) + "<" + carried + "> {\n" +
         using_text("In", is_bool ? "unsigned char" : info(input).c_type) + using_text("A", carried) +
         using_text("Out", info(output).c_type) + constant_text("bool", "kSkipsNan", skips) + constants + start +
         "static IRUKA_INLINE A taken(In value) { return A(" + value + "); }\n" +
         "static IRUKA_INLINE Out finish(A value) { return " + result + "; }\n};\n";
}

/// Elements of a thread's run.
int64_t items_of(const ScanCall& call) {
  return std::min(kMostItems, kItemBytes / std::max<int64_t>(call.x.itemsize(), call.result.itemsize()));
}

}  // namespace

std::string scan_tiles_text(const ScanCall& call, int64_t threads, const ScanTiles& tiles) {
  constexpr int64_t kThreadsAtOnce = 1024;  ///< of a multiprocessor
  const std::string constants =
      constant_text("int", "kThreads", threads) + constant_text("int", "kItems", items_of(call)) +
      constant_text("bool", "kDense", tiles.is_dense) + constant_text("bool", "kAlignedIn", tiles.input_is_aligned) +
      constant_text("bool", "kAlignedOut", tiles.output_is_aligned) +
      constant_text("bool", "kLooksBack", tiles.looks_back);
  return include_text("scan", "cuda/tiles") + types_text(call, constants) +
         grid_entry_text("iruka::scan::scan_tiles<Types>", "iruka::scan::TileArguments", threads,
                         kThreadsAtOnce / threads);
}

std::string scan_walk_text(const ScanCall& call, int axes) {
  const std::string rank = std::to_string(axes);
  return include_text("scan", "cuda/walk") + types_text(call, constant_text("int", "kThreads", kWalkThreads)) +
         grid_entry_text("iruka::scan::scan_columns<Types, " + rank + ">", "iruka::scan::WalkArguments<" + rank + ">",
                         kWalkThreads);
}

namespace {

/// Everything that a text depends on.
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
  static constinit ProgramCache<TextKey> programs;
  return programs.get(key, [&] {
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
    device.fill(work.data(), 0, static_cast<size_t>(work.nbytes()));
  }
  block.push(tiles > 1 ? work.data() : nullptr);
  for (int64_t value : {n, tiles, groups, supers, rows * tiles, rows * (tiles + groups), x_row, out_row, x_stride})
    block.push(value);
  jit::GridRange range{rows * tiles};
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
  jit::GridRange range{loop.count()};
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

void scan_cuda(const ScanCall& call) {
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
