// Matrix products of booleans on the CPU: rows of the second matrix as bits, 64 columns a word.
#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "ops/linalg/operands.h"

namespace iruka::ops {
namespace {

constexpr int64_t kWordBits = 64;
constexpr int64_t kGrain = 1 << 14;  ///< elements to pack, or words to combine, per thread

using Words = std::vector<uint64_t>;

/// The rows of a matrix one after another, each from a word of its own.
Words pack_rows(const uint8_t* x, const StridedOperand& strides, int64_t rows, int64_t columns, int64_t words) {
  Words packed(static_cast<size_t>(rows * words));
  parallel_for(rows, kGrain / columns + 1, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last && (r == first || !should_stop()); ++r)
      for (int64_t c = 0; c < columns; ++c) {
        const uint64_t bit = x[r * strides.row_stride + c * strides.column_stride] != 0;
        packed[static_cast<size_t>(r * words + c / kWordBits)] |= bit << (c % kWordBits);
      }
  });
  return packed;
}

/// Rows [first, last) of one matrix: the rows of b that a's row names, joined by or.
void multiply_rows(const StridedProduct& p, const uint8_t* a, const Words& b, int64_t words, uint8_t* c, int64_t first,
                   int64_t last) {
  Words sum(static_cast<size_t>(words));
  for (int64_t row = first; row < last && (row == first || !should_stop()); ++row) {
    std::fill(sum.begin(), sum.end(), 0);
    for (int64_t k = 0; k < p.k; ++k) {
      if (!a[row * p.a.row_stride + k * p.a.column_stride]) continue;
      const uint64_t* const other = b.data() + k * words;
      for (int64_t w = 0; w < words; ++w) sum[static_cast<size_t>(w)] |= other[w];
    }
    for (int64_t column = 0; column < p.n; ++column)
      c[row * p.n + column] = sum[static_cast<size_t>(column / kWordBits)] >> (column % kWordBits) & 1;
  }
}

}  // namespace

void multiply_bools_cpu(Device&, const StridedProduct& p) {
  const int64_t words = (p.n + kWordBits - 1) / kWordBits;
  for (int64_t matrix = 0; matrix < p.batch; ++matrix) {
    const auto* const a = static_cast<const uint8_t*>(p.a.data) + matrix * p.a.batch_stride;
    const Words b = pack_rows(static_cast<const uint8_t*>(p.b.data) + matrix * p.b.batch_stride, p.b, p.k, p.n, words);
    auto* const c = static_cast<uint8_t*>(p.c) + matrix * p.m * p.n;
    parallel_for(p.m, std::max<int64_t>(1, kGrain / (p.k * words + p.n)),
                 [&](int64_t first, int64_t last) { multiply_rows(p, a, b, words, c, first, last); });
  }
}

}  // namespace iruka::ops
