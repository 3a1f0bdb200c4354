// Rows sorted on a GPU.
// 1. Short rows, padded to a power of two: as many as fit one block's shared memory, by a bitonic sort.
// 2. Longer ones: a radix sort of 8 bits a pass, all rows in one launch a pass. A first launch counts the digits.
#include <algorithm>
#include <bit>

#include "core/device.h"
#include "jit/program.h"
#include "ops/sort/sort_cuda_text.h"
#include "ops/sort/sort_rows.h"

namespace iruka::ops {
namespace {

constexpr int64_t kDigits = 256;
/// From this length on, counts leave no room for the two bits of a tile's status in 32 bits.
constexpr int64_t kWideLength = int64_t{1} << 30;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Rows {
  const Array& x;
  const Array* previous;
  const Array& out;
  int64_t n = x.shape(x.ndim() - 1), rows = x.size() / n;
};

void launch(const std::string& text, const Rows& rows, const jit::ArgumentBlock& arguments, int64_t units,
            int64_t units_per_block, int threads) {
  Device& device = rows.x.device();
  const ProgramSource source{text, "iruka_entry", {}, "<sort>"};
  jit::GridRange range{units};
  range.units_per_block = units_per_block;
  range.threads_per_block = threads;
  jit::build(device, source, {"sort", name(rows.x.dtype()), "", {}})->launch(arguments.bytes(), range);
}

void* data_of(const Array* array) { return array ? array->data() : nullptr; }

void sort_short(const SortVariant& variant, const Rows& rows) {
  const auto slots = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(rows.n)));
  jit::ArgumentBlock block;
  for (void* pointer : {rows.x.data(), data_of(rows.previous), rows.out.data()}) block.push(pointer);
  for (int64_t value : {rows.rows, rows.n}) block.push(value);
  block.push(slots);
  launch(sort_short_rows_text(variant), rows, block, rows.rows, kShortSlots / slots, kShortThreads);
}

/// Zeroed memory of one sort: digits' places for each row, what tiles publish in each pass, tickets, and for each row
/// how many of its chunks are counted and which passes move anything.
struct Counters {
  int passes;
  int64_t count_bytes, tiles, histogram, status, words;
  Array memory;

  Counters(const SortVariant& variant, const Rows& rows)
      : passes(variant.passes()),
        count_bytes(variant.is_wide ? 8 : 4),
        tiles(ceil_divide(rows.n, int64_t{kRadixThreads} * variant.items())),
        histogram(rows.rows * passes * kDigits * count_bytes),
        status(rows.rows * tiles * kDigits * count_bytes),
        words((2 * rows.rows + passes) * 4),
        memory(Array::empty({histogram + status * passes + words}, Dtype::uint8, rows.x.device())) {
    memory.device().fill(memory.data(), 0, static_cast<size_t>(memory.size()));
  }
  char* at(int64_t offset) const { return static_cast<char*>(memory.data()) + offset; }
  char* status_of(int pass) const { return at(histogram + status * pass); }
  char* ticket_of(int pass) const { return at(histogram + status * passes + 4 * pass); }
  char* counted() const { return ticket_of(passes); }
  char* moving(const Rows& rows) const { return counted() + 4 * rows.rows; }
};

void count_digits(const SortVariant& variant, const Rows& rows, const Counters& counters) {
  const int64_t chunks = ceil_divide(rows.n, kCountedElements);
  jit::ArgumentBlock block;
  block.push(rows.x.data());
  block.push(counters.at(0));
  block.push(counters.counted());
  block.push(counters.moving(rows));
  for (int64_t value : {rows.n, chunks}) block.push(value);
  launch(sort_histogram_text(variant), rows, block, rows.rows * chunks, 1, kRadixThreads);
}

// Each row skips the passes that move nothing, without the host's knowing which: so the kernel finds its buffers.
void sort_long(const SortVariant& variant, const Rows& rows) {
  const Counters counters(variant, rows);
  count_digits(variant, rows, counters);
  const int passes = counters.passes;
  const auto make = [&](int64_t bytes, bool wanted) {
    return Array::empty({wanted ? rows.x.size() * bytes : 0}, Dtype::uint8, rows.x.device());
  };
  // Passes alternate between two buffers; the last writes to `out`, which is one of them if there are only keys.
  const bool has_index = variant.has_index;
  const Array keys[2] = {make(variant.key_bytes(), passes > 2 && has_index), make(variant.key_bytes(), passes > 1)};
  const Array indices[2] = {make(variant.index_bytes(), passes > 2), make(variant.index_bytes(), passes > 1)};
  const std::string text = sort_pass_text(variant);
  for (int pass = 0; pass < passes; ++pass) {
    jit::ArgumentBlock block;
    for (void* pointer : {rows.x.data(), data_of(rows.previous), has_index ? keys[0].data() : rows.out.data(),
                          keys[1].data(), indices[0].data(), indices[1].data(), rows.out.data()})
      block.push(pointer);
    block.push(counters.at(0));
    block.push(counters.status_of(pass));
    block.push(counters.ticket_of(pass));
    block.push(counters.moving(rows));
    for (int64_t value : {rows.n, counters.tiles}) block.push(value);
    block.push(pass);
    launch(text, rows, block, rows.rows * counters.tiles, 1, kRadixThreads);
  }
}

void sort_any(SortVariant variant, const Rows& rows) {
  variant.is_wide = rows.n >= kWideLength;
  rows.n <= kShortSlots ? sort_short(variant, rows) : sort_long(variant, rows);
}

}  // namespace

void sort_rows_cuda(const Array& x, const Array& out, const RowOrder& order) {
  sort_any({x.dtype(), 0, false, order.descending}, {x, nullptr, out});
}

void argsort_rows_cuda(const Array& x, int word, const Array* previous, const Array& out, const RowOrder& order) {
  sort_any({x.dtype(), word, true, order.descending}, {x, previous, out});
}

}  // namespace iruka::ops
