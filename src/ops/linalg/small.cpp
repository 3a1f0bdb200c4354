// Small matrices on a GPU: equations and products of whole batches in one launch each, where libraries take one call
// for each step or a thread block for each matrix.
#include <algorithm>
#include <bit>
#include <tuple>

#include "jit/program.h"
#include "ops/kernel_text.h"
#include "ops/linalg/operands.h"
#include "ops/program_cache.h"

namespace iruka::ops {
namespace {

constexpr int64_t kLargestProduct = 16, kLargestSystem = 32, kProductThreads = 256;

const SmallMatrices* service_for(Device& device, Dtype dtype, std::initializer_list<int64_t> extents, int64_t largest) {
  const bool is_small = is_inexact(dtype) && itemsize(dtype) >= 4 &&
                        std::ranges::all_of(extents, [&](int64_t extent) { return extent > 0 && extent <= largest; });
  return is_small ? device.find_service<SmallMatrices>() : nullptr;
}

int64_t power_of_two(int64_t extent) {
  return extent == 0 ? 0 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
}

/// How a block takes systems, for extents up to powers of two: `group` threads each, as many systems as shared memory
/// has room for.
struct SystemBlocks {
  int64_t group, most_sides, matrices;
  SystemBlocks(Dtype dtype, int64_t n, int64_t sides) : group(power_of_two(n)), most_sides(power_of_two(sides)) {
    constexpr int64_t kThreads = 128, kSharedBytes = 40 << 10;
    const int64_t bytes = group * ((group + most_sides) | 1) * itemsize(dtype);
    matrices = std::clamp<int64_t>(int64_t(std::bit_floor(uint64_t(kSharedBytes / bytes))), 1, kThreads / group);
  }
  int threads() const { return static_cast<int>(group * matrices); }
};

/// `key` settles the text together with the device.
template <class MakeText>
const jit::Program& program_for(Device& device, const char* name, Dtype dtype, const Dims& key, MakeText make_text) {
  using Key = std::tuple<Device*, std::string, Dtype, std::vector<int64_t>>;
  static constinit ProgramCache<Key> programs;
  return programs.get({&device, name, dtype, {key.begin(), key.end()}}, [&] {
    const ProgramSource source{make_text(), "iruka_entry", {}, std::string("<") + name + ">"};
    return jit::build(device, source, {name, iruka::name(dtype), "", {}});
  });
}

void launch_systems(const Array& a, int64_t sides, const void* b, const Array& out, void* pivots, void* singular) {
  const int64_t n = a.shape(a.ndim() - 1), batch = batch_of(a);
  const SystemBlocks blocks(a.dtype(), n, sides);
  jit::ArgumentBlock block;
  block.push(static_cast<const void*>(a.data()));
  block.push(b);
  block.push(out.data());
  block.push(pivots);
  block.push(singular);
  for (int64_t value : {batch, n, sides}) block.push(value);
  jit::GridRange range{(batch + blocks.matrices - 1) / blocks.matrices};
  range.threads_per_block = blocks.threads();
  program_for(a.device(), "small_systems", a.dtype(), {blocks.group, blocks.most_sides}, [&] {
    return small_system_text(a.dtype(), n, sides);
  }).launch(block.bytes(), range);
}

}  // namespace

std::string small_product_text(Dtype dtype) {
  const std::string type = info(dtype).c_type;
  return include_text("linalg", "cuda/small_product") +
         grid_entry_text("iruka::linear_algebra::multiply_small<" + type + ", " + std::to_string(kProductThreads) + ">",
                         "iruka::linear_algebra::SmallProductArguments<" + type + ">", kProductThreads);
}

std::string small_system_text(Dtype dtype, int64_t n, int64_t sides) {
  const SystemBlocks blocks(dtype, n, sides);
  const std::string type = info(dtype).c_type;
  std::string call = "iruka::linear_algebra::solve_small<" + type;
  for (const int64_t constant : {blocks.group, blocks.most_sides, blocks.matrices})
    call += ", " + std::to_string(constant);
  return include_text("linalg", "cuda/small_system") +
         grid_entry_text(call + ">", "iruka::linear_algebra::SystemArguments<" + type + ">", blocks.threads());
}

const SmallMatrices* small_product(Device& device, Dtype dtype, int64_t m, int64_t n, int64_t k) {
  return service_for(device, dtype, {m, n, k}, kLargestProduct);
}

const SmallMatrices* small_system(Device& device, Dtype dtype, int64_t n, int64_t sides) {
  return service_for(device, dtype, {n, std::max<int64_t>(sides, 1)}, kLargestSystem);
}

namespace {

void multiply_small(const Array& c, const StridedProduct& p) {
  jit::ArgumentBlock block;
  block.push(p.a.data);
  block.push(p.b.data);
  block.push(p.c);
  for (int64_t value : {c.size(), p.m, p.n, p.k, p.a.row_stride, p.a.column_stride, p.a.batch_stride, p.b.row_stride,
                        p.b.column_stride, p.b.batch_stride})
    block.push(value);
  jit::GridRange range{(c.size() + kProductThreads - 1) / kProductThreads};
  range.threads_per_block = kProductThreads;
  program_for(c.device(), "small_matmul", c.dtype(), {}, [&] {
    return small_product_text(c.dtype());
  }).launch(block.bytes(), range);
}

Array solve_small(const Array& a, const Array* b, const Array& singular) {
  Dims shape = a.shape();
  if (b) shape[shape.size() - 1] = b->shape(b->ndim() - 1);
  const Array x = Array::empty(shape, a.dtype(), a.device());
  if (x.size() > 0) launch_systems(a, shape.back(), b ? b->data() : nullptr, x, nullptr, singular.data());
  return x;
}

void factor_small(const Array& a, const Array& lu, const Array& pivots) {
  launch_systems(a, 0, nullptr, lu, pivots.data(), nullptr);
}

constexpr SmallMatrices kCuda{multiply_small, solve_small, factor_small};

}  // namespace

const Implementations<const SmallMatrices> SmallMatrices::implementations{"small matrices", {nullptr, &kCuda}};

}  // namespace iruka::ops
