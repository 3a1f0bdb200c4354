// The peers of benchmarks/patch_matching.py: a plain box filter for each displacement, and the peak of the integer dot
// product. Compiled for this processor by the benchmark.
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#if defined(__AVX512VNNI__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {

/// Rows [first, end) of the field, one displacement after the other, with running sums over columns and rows. Pictures
/// have their borders.
void match_rows(const uint8_t* a, const uint8_t* b, int height, int width, int patch, int channels, int first, int end,
                int32_t* field) {
  const int line = width + patch - 1;
  std::vector<int32_t> least(static_cast<size_t>(end - first) * width, std::numeric_limits<int32_t>::max());
  std::vector<int32_t> squares(static_cast<size_t>(end - first + patch - 1) * line), columns(line);
  for (int dy = -(end - 1); dy < height - first; ++dy) {
    const int top = first > -dy ? first : -dy, bottom = end < height - dy ? end : height - dy;
    if (top >= bottom) continue;
    for (int dx = -(width - 1); dx < width; ++dx) {
      const int left = dx < 0 ? -dx : 0, right = dx > 0 ? width - dx : width;
      const int columns_end = right + patch - 1;
      for (int y = top; y < bottom + patch - 1; ++y) {
        const uint8_t* const p = a + static_cast<int64_t>(y) * line * channels;
        const uint8_t* const q = b + (static_cast<int64_t>(y + dy) * line + dx) * channels;
        int32_t* const row = squares.data() + static_cast<int64_t>(y - top) * line;
        for (int x = left; x < columns_end; ++x) {
          int32_t sum = 0;
          for (int c = 0; c < channels; ++c) {
            const int difference = p[x * channels + c] - q[x * channels + c];
            sum += difference * difference;
          }
          row[x] = sum;
        }
      }
      for (int x = left; x < columns_end; ++x) columns[x] = 0;
      for (int y = top; y < bottom + patch - 1; ++y) {
        const int32_t* const row = squares.data() + static_cast<int64_t>(y - top) * line;
        for (int x = left; x < columns_end; ++x) columns[x] += row[x];
        const int own = y - patch + 1;
        if (own < top) continue;
        int32_t sum = 0;
        for (int x = left; x < left + patch - 1; ++x) sum += columns[x];
        for (int x = left; x < right; ++x) {
          sum += columns[x + patch - 1];
          int32_t& nearest = least[static_cast<int64_t>(own - first) * width + x];
          if (sum < nearest) {
            nearest = sum;
            field[2 * (static_cast<int64_t>(own) * width + x)] = own + dy;
            field[2 * (static_cast<int64_t>(own) * width + x) + 1] = x + dx;
          }
          sum -= columns[x];
        }
        const int32_t* const oldest = squares.data() + static_cast<int64_t>(own - top) * line;
        for (int x = left; x < columns_end; ++x) columns[x] -= oldest[x];
      }
    }
  }
}

}  // namespace

/// Both pictures are of one size, with their borders.
extern "C" void match_by_boxes(const uint8_t* a, const uint8_t* b, int height, int width, int patch, int channels,
                               int threads, int32_t* field) {
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k)
    all.emplace_back(match_rows, a, b, height, width, patch, channels, height * k / threads, height * (k + 1) / threads,
                     field);
  for (std::thread& thread : all) thread.join();
}

namespace {

#if defined(__AVX512VNNI__)
using Words = __m512i;
constexpr int64_t kProducts = 64;
Words multiplied(Words sum, Words x, Words y) { return _mm512_dpbusd_epi32(sum, x, y); }
#elif defined(__AVX2__)
using Words = __m256i;
constexpr int64_t kProducts = 16;
Words multiplied(Words sum, Words x, Words y) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, y)); }
#else
using Words = int64_t;
constexpr int64_t kProducts = 0;
Words multiplied(Words sum, Words, Words) { return sum; }
#endif
constexpr int64_t kSums = 10;

/// Sums that stay in registers, and are independent of each other.
void multiply(int64_t rounds) {
  Words a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{}, x{}, y{};
  asm volatile("" : "+x"(x), "+x"(y));
  for (int64_t k = 0; k < rounds; ++k) {
    a = multiplied(a, x, y), b = multiplied(b, x, y), c = multiplied(c, x, y), d = multiplied(d, x, y);
    e = multiplied(e, x, y), f = multiplied(f, x, y), g = multiplied(g, x, y), h = multiplied(h, x, y);
    i = multiplied(i, x, y), j = multiplied(j, x, y);
    asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i), "+x"(j));
  }
}

}  // namespace

/// Products of bytes that `rounds` rounds of dot products are on all threads; 0 without an instruction for them.
extern "C" int64_t dot_products(int64_t rounds, int threads) {
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k) all.emplace_back(multiply, rounds);
  for (std::thread& thread : all) thread.join();
  return rounds * threads * kSums * kProducts;
}
