// Elements as lanes: loads that leave a loop although only some of its rounds execute them, from arrays that end at
// inaccessible pages on either side; and loops that become straight code, also those that lanes leave early.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "spmd_testing.h"

namespace iruka::test {
namespace {

/// Places inside of `count` elements and far outside, where nobody reads.
std::vector<int32_t> places(int64_t n, int64_t count) {
  std::vector<int32_t> made = integers<int32_t>(n, 7, -2 * count - 3, 2 * count + 3);
  constexpr int32_t kFar[] = {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), -1};
  for (size_t k = 0; k < made.size(); k += 5) made[k] = kFar[k / 5 % 3];
  return made;
}

template <class T>
class SpmdInvariantLoads : public testing::Test {};
using Numbers = testing::Types<int8_t, uint16_t, int32_t, int64_t, float, double>;
TYPED_TEST_SUITE(SpmdInvariantLoads, Numbers);

TYPED_TEST(SpmdInvariantLoads, OnlyWhereTheAddressIsInside) {
  using T = TypeParam;
  for (const int64_t count : {1, 2, 37})
    check(few_lane_choices("int32 at, int32 rounds, raw T a", "T z"),
          BODY((int32_t at, int32_t rounds, CArray<T, 1>& a, T& z),
               {
                 z = 0;
                 for (int k = 0; k < rounds; ++k) {
                   if (at >= 0 && at < a.size()) z += a[at];
                   if (k % 2 && at > 0 && at <= a.size()) z += a[at - 1];
                 }
               }),
          [count](int64_t n) {
            return operands(plain(places(n, count)), plain(integers<int32_t>(n, 3, 0, 5)),
                            raw(integers<T>(count, 2, 0, 9)), out<T>(n));
          });
}

TYPED_TEST(SpmdInvariantLoads, ArraysWithoutElements) {
  using T = TypeParam;
  check(few_lane_choices("int32 at, raw T a", "T z"),
        BODY((int32_t at, CArray<T, 1>& a, T& z),
             {
               z = 1;
               for (int k = 0; k < at; ++k) {
                 if (at < a.size()) z += a[at];
               }
             }),
        [](int64_t n) { return operands(plain(integers<int32_t>(n, 3, 0, 9)), raw(std::vector<T>()), out<T>(n)); });
}

TYPED_TEST(SpmdInvariantLoads, SeveralIndices) {
  using T = TypeParam;
  for (const Layout layout : {c_order, fortran_order, padded_rows})
    check(few_lane_choices("int32 y, int32 x, int32 rounds, raw T a", "T z"),
          BODY((int32_t y, int32_t x, int32_t rounds, CArray<T, 2>& a, T& z),
               {
                 z = 0;
                 for (int k = 0; k < rounds; ++k) {
                   if (y < 0 || x < 0 || y >= a.shape()[0] || x >= a.shape()[1]) continue;
                   z += a[{y, x}];
                   if (z > 20) break;
                 }
               }),
          [layout](int64_t n) {
            return operands(plain(places(n, 5)), plain(places(n, 7)), plain(integers<int32_t>(n, 3, 0, 5)),
                            raw<T, 2>(integers<T>(35, 2, 0, 9), {5, 7}, layout), out<T>(n));
          });
}

TEST(SpmdInvariantLoads, BehindTestsWithConstants) {
  // A compiler takes from such tests what it may assume of the address, which holds behind them alone.
  check(few_lane_choices("int32 p, int32 rounds, raw int32 a, raw int32 b", "int32 z"),
        BODY((int32_t p, int32_t rounds, CArray<int32_t, 1>& a, CArray<int32_t, 2>& b, int32_t& z),
             {
               z = 0;
               for (int k = 0; k < rounds; ++k) {
                 const int x = p;
                 if (x >= 0 && x < 7) z += b[{2, x}] + a[x];
                 if (x > -8 && x <= 0) z ^= *(const int32_t*)((const char*)&a[7] + x * 4);
                 if (unsigned(x) < 5) z += b[{x % 3, unsigned(x)}];
               }
             }),
        [](int64_t n) {
          std::vector<int32_t> p = places(n, 7);
          constexpr int32_t kWrapping[] = {0x40000001, -0x40000000, 0x40000000, 0x20000003, INT32_MIN + 1};
          for (size_t k = 3; k < p.size(); k += 7) p[k] = kWrapping[k / 7 % 5];
          return operands(plain(p), plain(integers<int32_t>(n, 3, 0, 4)), raw(wild<int32_t>(8, 2)),
                          raw<int32_t, 2>(integers<int32_t>(21, 4, -9, 9), {3, 7}), out<int32_t>(n));
        });
}

TEST(SpmdInvariantLoads, LoopsThatWriteToTheArray) {
  check(few_lane_choices("int32 at, raw float32 a", "float32 z, raw float32 b"),
        BODY((int32_t at, CArray<float, 1>& a, float& z, CArray<float, 1>& b),
             {
               z = 0;
               for (int k = 0; k < 4; ++k) {
                 if (at > 0) z += a[at] + b[i];
                 b[i] = z + 1;
               }
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 3, 0, n - 1)), raw(quarters<float>(n, 2)), out<float>(n),
                          raw_out<float>(n));
        });
}

TEST(SpmdInvariantLoads, PatchesThatAreLeftEarly) {
  check(few_lane_choices("int32 width, raw float32 a, raw float32 b", "int32 found"),
        BODY((int32_t width, CArray<float, 1>& a, CArray<float, 1>& b, int32_t& found),
             {
               float least = 1e9f;
               found = -1;
               const int x = int(i % width);
               for (int k = 0; k + 2 < b.size(); ++k) {
                 float sum = 0;
                 for (int d = -1; d <= 1 && sum < least; ++d) {
                   const int at = x + d < 0 ? 0 : x + d >= width ? width - 1 : x + d;
                   const float difference = a[at] - b[k + 1 + d];
                   sum += difference * difference;
                 }
                 if (sum < least) {
                   least = sum;
                   found = k;
                 }
               }
             }),
        [](int64_t n) {
          return operands(scalar(int32_t{29}), raw(quarters<float>(29, 2)), raw(quarters<float>(40, 4)),
                          out<int32_t>(n));
        });
}

TEST(SpmdShortLoops, NestsOfLoopsThatLanesLeave) {
  check(few_lane_choices("int32 k, float32 x", "float32 z, int32 rounds"),
        BODY((int32_t k, float x, float& z, int32_t& rounds),
             {
               z = x;
               rounds = 0;
               for (int a = 0; a < 3; ++a) {
                 for (long long b = -1; b <= 1; ++b) {
                   if (a + b == k) continue;
                   for (unsigned c = 0; c < 4; ++c) {
                     if (z > 30) break;
                     z = z * 1.25f + float(c);
                     ++rounds;
                   }
                   if (rounds == 7 * k) break;
                 }
                 if (rounds > 20) break;
               }
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 3, -2, 5)), plain(quarters<float>(n, 1)), out<float>(n),
                          out<int32_t>(n));
        });
}

TEST(SpmdShortLoops, LocalArraysThatAreWrittenInTurn) {
  check(few_lane_choices("int32 x", "int32 z"),
        BODY((int32_t x, int32_t& z),
             {
               int one[3];
               int two[3];
               for (int s = 0; s < 3; ++s) one[s] = x + s;
               for (unsigned t = 1; t < 8; ++t) {
                 int* const from = t % 2 ? one : two;
                 int* const to = t % 2 ? two : one;
                 for (int s = 0; s < 3; ++s) to[s] = from[2 - s] * 3 + s;
               }
               z = two[0] ^ two[1] ^ two[2];
             }),
        [](int64_t n) { return operands(plain(integers<int32_t>(n, 4, -50, 50)), out<int32_t>(n)); });
}

TEST(SpmdShortLoops, LocalArraysInNestsOfLoops) {
  check(few_lane_choices("int32 k, int32 x", "int32 z"),
        BODY((int32_t k, int32_t x, int32_t& z),
             {
               int sums[3][4] = {};
               for (int row = 0; row < 3; ++row)
                 for (int column = 0; column < 4; ++column) sums[row][column] = x * row + (column == k ? 100 : column);
               z = 0;
               for (int column = 3; column >= 0; --column)
                 for (int row = 0; row < 3; ++row) {
                   if (sums[row][column] % 7 == 3) break;
                   z = z * 3 + sums[row][column];
                 }
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 3, -1, 5)), plain(integers<int32_t>(n, 4, -50, 50)),
                          out<int32_t>(n));
        });
}

TEST(SpmdAddresses, SeveralIndicesNearClampedBorders) {
  for (const Layout layout : {c_order, fortran_order, padded_rows, reversed})
    check(few_lane_choices("int32 offset, raw float64 a", "float64 z, float64 w"),
          BODY((int32_t offset, CArray<double, 2>& a, double& z, double& w),
               {
                 const int width = int(a.shape()[1]);
                 int y = int(i / width);
                 int x = int(i % width) + offset;
                 y = y < 0 ? 0 : y > 4 ? 4 : y;
                 const int clamped = x < 0 ? 0 : x >= width ? width - 1 : x;
                 z = a[{y, clamped}];
                 w = 0;
                 for (int u = clamped; u <= clamped + 2 && u < width; ++u) w += a[{y, u}] * (u + 1);
               }),
          [layout](int64_t n) {
            return operands(scalar(int32_t{-2}), raw<double, 2>(quarters<double>(5 * 37, 2), {5, 37}, layout),
                            out<double>(n), out<double>(n));
          });
}

TEST(SpmdAddresses, SumsInBytesThatWrapAround) {
  check(few_lane_choices("uint32 at, raw int32 a", "int32 z"),
        BODY((uint32_t at, CArray<int32_t, 1>& a, int32_t& z),
             {
               // The offset is a multiple of 4 that has wrapped around in 32 bits.
               const uint32_t bytes = at * 4u + 0xFFFFFFF0u + 20u;
               z = *(const int32_t*)((const char*)&a[0] + bytes % 64u);
             }),
        [](int64_t n) { return operands(plain(wild<uint32_t>(n, 3)), raw(wild<int32_t>(16, 2)), out<int32_t>(n)); });
}

TEST(SpmdAddresses, NarrowSumsInBytesWithNegativeConstants) {
  check(few_lane_choices("uint8 q, int16 s, int32 rounds, raw int32 a", "int32 z"),
        BODY((uint8_t q, int16_t s, int32_t rounds, CArray<int32_t, 1>& a, int32_t& z),
             {
               z = 0;
               for (int k = 0; k < rounds; ++k) {
                 const int from_unsigned = (int(q % 16) - 8) * 4;
                 const int from_signed = (int(s) % 4 - 3) * 4;
                 z += *(const int32_t*)((const char*)&a[8] + from_unsigned) + from_unsigned;
                 z += *(const int32_t*)((const char*)&a[8] + from_signed) * 3;
               }
               z -= *(const int32_t*)((const char*)&a[8] + (int(q % 4) * 4 - 12));
             }),
        [](int64_t n) {
          return operands(plain(wild<uint8_t>(n, 3)), plain(wild<int16_t>(n, 5)), plain(integers<int32_t>(n, 3, 0, 3)),
                          raw(integers<int32_t>(16, 2, -999, 999)), out<int32_t>(n));
        });
}

}  // namespace
}  // namespace iruka::test
