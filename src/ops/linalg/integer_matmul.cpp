// Matrix products of integers: tiles in vector registers on the CPU, tiles in shared memory on a GPU.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device.h"
#include "core/parallel.h"
#include "jit/program.h"
#include "ops/kernel_text.h"
#include "ops/linalg/operands.h"

// The resolvers of the clones run while the program is loaded, before ThreadSanitizer can be called.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define IRUKA_FOR_EVERY_X86 __attribute__((target_clones("avx2", "default")))
#else
#define IRUKA_FOR_EVERY_X86
#endif

namespace iruka::ops {
namespace {

// A panel of b, kPanelRows x kPanelBytes, is copied once for all rows of a and stays in the first-level cache; four
// rows of c, as wide as the panel, are accumulated beside it.
constexpr int64_t kPanelRows = 128, kPanelBytes = 128, kTileRows = 4;

/// c[4][width] += a[4][rows] b[rows][width]; the four rows of a are interleaved.
template <class T>
inline __attribute__((always_inline)) void add_tile(const T* a, const T* b, int64_t rows, T* c) {
  constexpr int64_t kWidth = kPanelBytes / static_cast<int64_t>(sizeof(T));
  constexpr int64_t kHalf = kWidth / 2;
  using Wrapping = decltype(T{} + 0U);  // a product of two uint16 does not fit the int that they are promoted to
  for (int64_t half = 0; half < kWidth; half += kHalf) {
    T sums[kTileRows][kHalf] = {};
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t r = 0; r < kTileRows; ++r)
        for (int64_t j = 0; j < kHalf; ++j)
          sums[r][j] = static_cast<T>(sums[r][j] + Wrapping{a[k * kTileRows + r]} * b[k * kWidth + half + j]);
    for (int64_t r = 0; r < kTileRows; ++r)
      for (int64_t j = 0; j < kHalf; ++j)
        c[r * kWidth + half + j] = static_cast<T>(c[r * kWidth + half + j] + sums[r][j]);
  }
}

// GCC does not accept this attribute on templates.
IRUKA_FOR_EVERY_X86 void add_tile_of(const uint8_t* a, const uint8_t* b, int64_t rows, uint8_t* c) {
  add_tile(a, b, rows, c);
}
IRUKA_FOR_EVERY_X86 void add_tile_of(const uint16_t* a, const uint16_t* b, int64_t rows, uint16_t* c) {
  add_tile(a, b, rows, c);
}
IRUKA_FOR_EVERY_X86 void add_tile_of(const uint32_t* a, const uint32_t* b, int64_t rows, uint32_t* c) {
  add_tile(a, b, rows, c);
}
IRUKA_FOR_EVERY_X86 void add_tile_of(const uint64_t* a, const uint64_t* b, int64_t rows, uint64_t* c) {
  add_tile(a, b, rows, c);
}

/// Elements [row, row + rows) x [column, column + columns) of `source`, `width` a row, the rest zeros.
template <class T>
void pack(const T* source, const StridedOperand& strides, int64_t row, int64_t rows, int64_t column, int64_t columns,
          int64_t width, T* packed) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = source + (row + r) * strides.row_stride + column * strides.column_stride;
    T* to = packed + r * width;
    for (int64_t c = 0; c < columns; ++c) to[c] = from[c * strides.column_stride];
    std::fill(to + columns, to + width, T(0));
  }
}

/// Columns [column, column + width) of c, all rows.
template <class T>
void multiply_panel(const StridedProduct& p, const T* a, const T* b, T* c, int64_t column, int64_t first_row,
                    int64_t last_row) {
  constexpr int64_t kWidth = kPanelBytes / static_cast<int64_t>(sizeof(T));
  const int64_t columns = std::min(kWidth, p.n - column);
  const StridedOperand turned{p.a.data, p.a.column_stride, p.a.row_stride, 0};
  alignas(64) T panel[kPanelRows * kWidth], left[kPanelRows * kTileRows], tile[kTileRows * kWidth];
  for (int64_t k = 0; k < p.k && (k == 0 || !should_stop()); k += kPanelRows) {
    const int64_t depth = std::min(kPanelRows, p.k - k);
    pack(b, p.b, k, depth, column, columns, kWidth, panel);
    for (int64_t row = first_row; row < last_row; row += kTileRows) {
      const int64_t rows = std::min(kTileRows, last_row - row);
      pack(a, turned, k, depth, row, rows, kTileRows, left);
      T* const target = c + row * p.n + column;
      for (int64_t r = 0; r < kTileRows; ++r)
        for (int64_t j = 0; j < kWidth; ++j)
          tile[r * kWidth + j] = k > 0 && r < rows && j < columns ? target[r * p.n + j] : T(0);
      add_tile_of(left, panel, depth, tile);
      for (int64_t r = 0; r < rows; ++r) std::copy_n(tile + r * kWidth, columns, target + r * p.n);
    }
  }
}

template <class T>
void multiply_on_cpu(const StridedProduct& p) {
  constexpr int64_t kWidth = kPanelBytes / static_cast<int64_t>(sizeof(T)), kRows = 256, kGrain = 1 << 16;
  const int64_t panels = (p.n + kWidth - 1) / kWidth, bands = (p.m + kRows - 1) / kRows;
  const int64_t work = std::min(kRows, p.m) * kWidth * p.k;
  parallel_for(p.batch * bands * panels, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t matrix = unit / (bands * panels), band = unit / panels % bands, panel = unit % panels;
      multiply_panel(p, static_cast<const T*>(p.a.data) + matrix * p.a.batch_stride,
                     static_cast<const T*>(p.b.data) + matrix * p.b.batch_stride,
                     static_cast<T*>(p.c) + matrix * p.m * p.n, panel * kWidth, band * kRows,
                     std::min(p.m, (band + 1) * kRows));
    }
  });
}

/// Sums of bools' products are whether any is true.
const char* element_type(const StridedProduct& p) {
  return p.is_logical      ? "bool"
         : p.itemsize == 1 ? "unsigned char"
         : p.itemsize == 2 ? "unsigned short"
         : p.itemsize == 4 ? "unsigned int"
                           : "unsigned long long";
}

}  // namespace

void multiply_integers_cuda(Device& device, const StridedProduct& p) {
  const ProgramSource source{integer_product_text(element_type(p)), "iruka_entry", {}, "<matmul>"};
  const auto program = jit::build(device, source, {"matmul", element_type(p), "", {}});
  const int64_t tiles_m = (p.m + kIntegerTile - 1) / kIntegerTile, tiles_n = (p.n + kIntegerTile - 1) / kIntegerTile;
  jit::ArgumentBlock block;
  block.push(p.a.data);
  block.push(p.b.data);
  block.push(p.c);
  for (int64_t value : {p.m, p.n, p.k, p.a.row_stride, p.a.column_stride, p.a.batch_stride, p.b.row_stride,
                        p.b.column_stride, p.b.batch_stride, tiles_m, tiles_n})
    block.push(value);
  jit::GridRange range{p.batch * tiles_m * tiles_n};
  range.threads_per_block = kIntegerThreads;
  program->launch(block.bytes(), range);
}

std::string integer_product_text(const std::string& c_type) {
  return include_text("linalg", "cuda/integer_product") +
         grid_entry_text("iruka::linear_algebra::multiply_integers<" + c_type + ">",
                         "iruka::linear_algebra::ProductArguments<" + c_type + ">", kIntegerThreads);
}

void multiply_integers_cpu(Device&, const StridedProduct& p) {
  switch (p.itemsize) {
    case 1: return multiply_on_cpu<uint8_t>(p);
    case 2: return multiply_on_cpu<uint16_t>(p);
    case 4: return multiply_on_cpu<uint32_t>(p);
    default: return multiply_on_cpu<uint64_t>(p);
  }
}

}  // namespace iruka::ops
