// Elements as lanes: what is one value for all lanes, what advances with them, and the loop's own index.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "spmd_testing.h"

namespace iruka::test {
namespace {

// Values that all lanes share.

TEST(SpmdUniform, ScalarsAndWhatComesOfThem) {
  for (const int32_t t : {0, 3, -7})
    check({"float32 x, float32 s, int32 t, float64 d", "float32 z, float64 w"},
          BODY((float x, float s, int32_t t, double d, float& z, double& w),
               {
                 float scale = s * t + 0.5f;
                 double offset = t > 0 ? d : -d;
                 for (int j = 0; j < t; ++j) offset += j;
                 z = x * scale;
                 w = x + offset;
               }),
          [t](int64_t n) {
            return operands(plain(quarters<float>(n, 1)), scalar(1.25f), scalar(t), scalar(2.5), out<float>(n),
                            out<double>(n));
          });
}

TEST(SpmdUniform, LoadsAtOnePlace) {
  check({"float32 x, raw float32 a, raw uint8 b, int32 t", "float32 z, int32 w"},
        BODY((float x, CArray<float, 1>& a, CArray<uint8_t, 1>& b, int32_t t, float& z, int32_t& w),
             {
               z = x + a[0] * a[a.size() - 1];
               int at = b[t];
               w = b[at % 5];
               if (x > 0) z += a[t];
               for (int j = 0; j < b[2]; ++j) z += a[j % 5] * x;
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), raw(quarters<float>(6, 2)),
                          raw(std::vector<uint8_t>{9, 4, 7, 3, 11, 0}), scalar(int32_t{4}), out<float>(n),
                          out<int32_t>(n));
        });
}

TEST(SpmdUniform, OneValueInTheLoopAndAnotherBehindIt) {
  check({"int32 k, raw int32 a", "int32 w, float32 z"},
        BODY((int32_t k, CArray<int32_t, 1>& a, int32_t& w, float& z),
             {
               int count = 0;
               int64_t square = 0;
               while (count < k) {
                 ++count;
                 square += 2 * count - 1;
               }
               w = count * 1000 + a[count] + (int)square;
               int j = 0;
               do {
                 j += 3;
                 if (a[j] > k) break;
               } while (j < 27);
               z = j * 0.5f;
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 1, 0, 19)), raw(integers<int32_t>(30, 2, -5, 25)), out<int32_t>(n),
                          out<float>(n));
        });
}

TEST(SpmdUniform, ChangedUnderAMask) {
  check({"int32 k, int32 t", "int32 w, int32 v"},
        BODY((int32_t k, int32_t t, int32_t& w, int32_t& v),
             {
               int u = t;
               if (k > 3) u = t + 1;
               w = u * 10;
               int m = 5;
               for (int j = 0; j < t; ++j) {
                 if (k == j) continue;
                 m += j;
               }
               v = m;
               if (k == 2)
                 u = 99;
               else
                 u = 98;
               w += u;
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 1, 0, 7)), scalar(int32_t{6}), out<int32_t>(n), out<int32_t>(n));
        });
}

// Values that advance by one step from lane to lane.

TEST(SpmdConsecutive, TheIndexInEveryType) {
  check({"", "float32 p, float64 q, int8 r, uint16 s, uint32 t, int64 u"},
        BODY((float& p, double& q, int8_t& r, uint16_t& s, uint32_t& t, int64_t& u),
             {
               p = i * 0.5f;
               q = (double)(n - i) / 4;
               r = (int8_t)(i * 3 - 1);
               s = (uint16_t)(i * i);
               t = (uint32_t)i * 2654435761u;
               u = i << 33 | i;
             }),
        [](int64_t n) {
          return operands(out<float>(n), out<double>(n), out<int8_t>(n), out<uint16_t>(n), out<uint32_t>(n),
                          out<int64_t>(n));
        });
}

TEST(SpmdConsecutive, ThroughArithmeticThatBreaksTheStep) {
  check({"raw int32 a, int32 t", "int32 z, int32 w"},
        BODY((CArray<int32_t, 1> & a, int32_t t, int32_t& z, int32_t& w),
             {
               ptrdiff_t p = i * 2 + t;
               z = a[p >> 1] + a[i & 7] * 2 + a[i | 1] + a[i ^ 3] * 3 + a[i / 2] * 5 + a[i % 5] * 7;
               w = (int)(i - t) * 3 + (i > t) + 2 * (i == t) + 4 * ((i & 1) == 0) + 8 * (3 * i < 2 * t);
               w += (int)(i * -1 + n) % 9 + (int)(-i / 3);
             }),
        [](int64_t n) {
          return operands(raw(integers<int32_t>(n + 10, 1, -50, 50)), scalar(int32_t{11}), out<int32_t>(n),
                          out<int32_t>(n));
        });
}

TEST(SpmdConsecutive, NarrowIndicesThatWrapAround) {
  check({"raw float32 a, uint32 t, uint32 far", "float32 z, int64 w, float64 v"},
        BODY((CArray<float, 1> & a, uint32_t t, uint32_t far, float& z, int64_t& w, double& v),
             {
               uint8_t byte = (uint8_t)(i + t);
               int8_t small = (int8_t)i;
               uint16_t pair = (uint16_t)(i * 8191);
               z = a[byte] + a[small + 128] * 2 + a[pair >> 8] * 3;
               uint32_t wrapping = (uint32_t)i + far;
               w = (int64_t)wrapping + a.size();
               v = wrapping;
               if (wrapping < 256) z += a[wrapping] * 4;
               uint32_t before = (uint32_t)i - t;
               w += before > 1000000 ? -7 : (int64_t)a[before & 255];
               w += (int64_t)(wrapping / 3) + (wrapping >> 7);
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(256, 1)), scalar(uint32_t{5}), scalar(uint32_t{0xFFFFFFE9u}),
                          out<float>(n), out<int64_t>(n), out<double>(n));
        });
}

TEST(SpmdConsecutive, SignedIndicesThatWrapAround) {
  check({"int32 t", "int32 z, int64 w, bool v"},
        BODY_AND_MEANING("int j = (int)i + t; z = j; w = (long)j * 2; v = j + 1 > j && j > 5;",
                         (int32_t t, int32_t& z, int64_t& w, uint8_t& v),
                         {
                           z = static_cast<int32_t>(static_cast<uint32_t>(i) + static_cast<uint32_t>(t));
                           w = int64_t{z} * 2;
                           v = z != INT32_MAX && z > 5;
                         }),
        [](int64_t n) {
          return operands(scalar(int32_t{INT32_MAX - 13}), out<int32_t>(n), out<int64_t>(n), as_bool(out<uint8_t>(n)));
        });
}

TEST(SpmdConsecutive, ChosenAndCarriedAround) {
  for (const int32_t t : {0, 2})
    check({"raw float32 a, float32 x, int32 t", "float32 z, float32 w"},
          BODY((CArray<float, 1> & a, float x, int32_t t, float& z, float& w),
               {
                 ptrdiff_t j = t ? i : i + 4;
                 z = a[j];
                 ptrdiff_t m = x > 0 ? i : i + 8;
                 z += a[m] * 2;
                 float sum = 0;
                 for (ptrdiff_t p = i; p < i + 5; ++p) sum += a[p] * (p - i);
                 ptrdiff_t q = i;
                 for (int round = 0; round < 3; ++round) {
                   sum += a[q];
                   q += t;
                 }
                 const float* from = &a[i];
                 for (int round = 0; round < 4; ++round) sum += *from++;
                 w = sum;
               }),
          [t](int64_t n) {
            return operands(raw(quarters<float>(n + 8, 1)), plain(quarters<float>(n, 2)), scalar(t), out<float>(n),
                            out<float>(n));
          });
}

// Only once the loop is unrolled do both sides of the choice turn out to be the same number.
TEST(SpmdBranches, ChoicesThatAreNone) {
  check({"float32 x", "float32 z, float32 w"},
        BODY((float x, float& z, float& w),
             {
               z = x;
               w = 1;
               for (int k = 0; k < 6; ++k) {
                 float pair[2] = {(float)k, 0.0f};
                 if (i == 0) {
                   pair[0] = 1.0f;
                   pair[1] = 0.0f;
                 }
                 w = z * pair[1] + w * pair[0];
                 z = z * pair[0] - pair[1] + 1.0f;
               }
             }),
        [](int64_t n) { return operands(plain(quarters<float>(n, 1)), out<float>(n), out<float>(n)); });
}

// The loop's index as rows and columns: both in one number, width * 10^6 + size.

std::vector<int64_t> widths_and_sizes(int64_t widest) {
  std::vector<int64_t> all;
  for (int64_t width = 1; width <= widest; ++width)
    for (const int64_t size : {int64_t{1}, width - 1, width, 2 * width + 3, 7 * width + 5, int64_t{333}})
      if (size > 0) all.push_back(width * 1'000'000 + size);
  for (const int64_t width : {1, 3, 17, 64, 100, 4999, 30'000}) all.push_back(width * 1'000'000 + 20'011);
  return all;
}

TEST(SpmdRows, RowAndColumnOfAScalarWidth) {
  check(
      {"int32 width, raw float32 a", "float32 z, int32 w"},
      BODY((int32_t width, CArray<float, 1>& a, float& z, int32_t& w),
           {
             int y = i / width, x = i % width;
             float sum = a[i];
             if (x > 0) sum += a[i - 1] * 2;
             if (x + 1 < width && i + 1 < n) sum += a[y * width + x + 1] * 4;
             if (y > 0) sum += a[(y - 1) * width + x] * 8;
             z = sum;
             w = y * 1000 + x;
           }),
      [](int64_t code) {
        const int64_t n = code % 1'000'000;
        return operands(scalar(static_cast<int32_t>(code / 1'000'000)), raw(quarters<float>(n, 1)), out<float>(n),
                        out<int32_t>(n));
      },
      widths_and_sizes(40));
}

TEST(SpmdRows, OtherTypesAndOffsets) {
  check(
      {"uint8 narrow, int64 wide, uint32 t, raw int32 table", "int64 z, int64 w, int32 v"},
      BODY((uint8_t narrow, int64_t wide, uint32_t t, CArray<int32_t, 1>& table, int64_t& z, int64_t& w, int32_t& v),
           {
             z = (i + 3) / wide * 100 + i % wide;
             w = ((uint32_t)i + t) / narrow * 1000 + ((uint32_t)i + t) % narrow;
             int column = (int)i % narrow;
             v = table[column] + ((int)i / narrow) * 7 + (int)(i / wide / 3) % 5;
           }),
      [](int64_t code) {
        const int64_t n = code % 1'000'000, width = code / 1'000'000;
        return operands(scalar(static_cast<uint8_t>(width > 255 ? 255 : width)), scalar(width), scalar(uint32_t{19}),
                        raw(integers<int32_t>(std::min<int64_t>(width, 255), 1, -50, 50)), out<int64_t>(n),
                        out<int64_t>(n), out<int32_t>(n));
      },
      widths_and_sizes(20));
}

TEST(SpmdRows, ConstantWidths) {
  check({"raw float32 a", "float32 z, int32 w"},
        BODY((CArray<float, 1> & a, float& z, int32_t& w),
             {
               int y = i / 10, x = i % 10;
               z = a[y * 10 + x] + (x ? a[i - 1] : 0);
               w = i / 16 * 100 + i % 16 + (unsigned)i % 3 * 10000;
             }),
        [](int64_t n) { return operands(raw(quarters<float>(n, 1)), out<float>(n), out<int32_t>(n)); });
}

// Nothing keeps the dividend from being negative, or from wrapping on the way.
TEST(SpmdRows, OffsetsOfTheBody) {
  for (const int64_t offset : {int64_t{-5}, int64_t{-1000}, (int64_t{1} << 32) - 7, (int64_t{1} << 31) - 3,
                               INT64_MAX - 3, INT64_MIN + 2, int64_t{1} << 40})
    check(
        {"int64 offset, int64 width", "int64 z, int64 w, int64 v"},
        BODY((int64_t offset, int64_t width, int64_t& z, int64_t& w, int64_t& v),
             {
               const int64_t place = (int64_t)((uint64_t)i + (uint64_t)offset);
               z = (int64_t)((uint64_t)(place / width) * 100u + (uint64_t)(place % width));
               const int small = (int)place;
               w = (int64_t)(small / (int)width) * 100 + small % (int)width;
               const uint32_t positive = (uint32_t)place;
               v = (int64_t)(positive / (uint32_t)width) * 100 + positive % (uint32_t)width;
             }),
        [offset](int64_t code) {
          const int64_t n = code % 1'000'000;
          return operands(scalar(offset), scalar(code / 1'000'000), out<int64_t>(n), out<int64_t>(n), out<int64_t>(n));
        },
        widths_and_sizes(20));
}

TEST(SpmdRows, DivisorsOf128Bits) {
  check({"float32 x, uint64 high, uint64 low", "int64 z"},
        BODY((float x, uint64_t high, uint64_t low, int64_t& z),
             {
               unsigned __int128 width = (unsigned __int128)high << 64 | low;
               z = (int64_t)((unsigned __int128)i / width) * 100 + (int64_t)((unsigned __int128)i % width) + (x > 0);
             }),
        [](int64_t rows) {
          return operands(plain(quarters<float>(rows * 19, 1), {rows, 19}, every_third), scalar(uint64_t{1}),
                          scalar(uint64_t{5}), plain(integers<int64_t>(rows * 19, 2, 0, 9), {rows, 19}, every_third));
        },
        {1, 2, 17});
}

TEST(SpmdRows, WidthsThatAreNone) {
  for (const int32_t width : {0, -1, -6})
    check({"int32 width", "int32 z, int64 w, int32 v"},
          BODY_AND_MEANING("z = (int)i % width; w = i / width; v = (i + 2) % width;",
                           (int32_t width, int32_t& z, int64_t& w, int32_t& v),
                           {
                             z = width ? static_cast<int32_t>(i % width) : 0;
                             w = width ? i / width : 0;
                             v = width ? static_cast<int32_t>((i + 2) % width) : 0;
                           }),
          [width](int64_t n) { return operands(scalar(width), out<int32_t>(n), out<int64_t>(n), out<int32_t>(n)); });
}

TEST(SpmdRows, DivisorsThatAreNotOneWidth) {
  check(
      {"int32 width, int32 k, int32 t", "int32 z, int64 w, int32 v"},
      BODY((int32_t width, int32_t k, int32_t t, int32_t& z, int64_t& w, int32_t& v),
           {
             int other = t > 2 ? width : 3;
             z = (int)i / other * 100 + (int)i % other;
             w = i / k + i % (k + width);
             if (k > 4) other = k;
             v = (int)(i % other) + (int)(i / width % 4) * 100;
           }),
      [](int64_t code) {
        const int64_t n = code % 1'000'000;
        return operands(scalar(static_cast<int32_t>(code / 1'000'000)), plain(integers<int32_t>(n, 1, 1, 9)),
                        scalar(static_cast<int32_t>(n % 5)), out<int32_t>(n), out<int64_t>(n), out<int32_t>(n));
      },
      widths_and_sizes(12));
}

TEST(SpmdRows, TheIndexDividedByItself) {
  check(
      {"int32 width", "int64 z, int64 w"},
      BODY((int32_t width, int64_t& z, int64_t& w),
           {
             z = i == 0 ? -1 : i % i * 10 + i / i;
             w = (i + width) / (i + 1) * 100 + (i + width) % (i + 1);
           }),
      [](int64_t code) {
        const int64_t n = code % 1'000'000;
        return operands(scalar(static_cast<int32_t>(code / 1'000'000)), out<int64_t>(n), out<int64_t>(n));
      },
      widths_and_sizes(12));
}

TEST(SpmdRows, WithinALoopAndABranch) {
  check(
      {"int32 width, int32 k, raw float32 a", "float32 z"},
      BODY((int32_t width, int32_t k, CArray<float, 1>& a, float& z),
           {
             z = 0;
             for (int d = 0; d < 3; ++d) {
               ptrdiff_t j = i + d;
               if (j % width == 0) continue;
               z += j / width;
             }
             if (k > 1) z += a[i / width] + a[i % width] * 100;
             if (i / width % 2 == 0) z = -z;
           }),
      [](int64_t code) {
        const int64_t n = code % 1'000'000, width = code / 1'000'000;
        return operands(scalar(static_cast<int32_t>(width)), plain(integers<int32_t>(n, 1, 0, 3)),
                        raw(quarters<float>(std::max(width, n), 2)), out<float>(n));
      },
      widths_and_sizes(20));
}

TEST(SpmdRows, TheIndexer) {
  check({"raw float32 a", "float32 z, int64 w"},
        BODY((CArray<float, 3> & a, float& z, int64_t& w),
             {
               const ptrdiff_t* at = _ind.get();
               z = a[_ind.get()] + (at[2] + 1 < a.shape()[2] ? a[{at[0], at[1], at[2] + 1}] : 50.0f);
               w = at[0] * 10000 + at[1] * 100 + at[2] + _ind.size() * 1000000;
             }),
        [](int64_t code) {
          const Dims shape = {code % 3 + 1, code % 4 + 1, code};
          const int64_t n = count(shape);
          return operands(raw<float, 3>(quarters<float>(n, 1), shape), plain(quarters<float>(n, 2), shape),
                          plain(integers<int64_t>(n, 3, 0, 9), shape));
        },
        {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 300, 1000});
}

// Every number of lanes that can be requested.

TEST(SpmdLanes, EveryNumberOfThem) {
  KernelSpec spec{"float32 x, uint8 k, int64 m, raw uint8 a", "float32 z, uint8 w, int64 v"};
  spec.lanes = {"--lanes=2", "--lanes=32", "--lanes=64", "--lanes=0"};
  check(spec,
        BODY((float x, uint8_t k, int64_t m, CArray<uint8_t, 1>& a, float& z, uint8_t& w, int64_t& v),
             {
               if (x > 0) z = x * k;
               int sum = 0;
               for (int j = 0; j < k % 9; ++j) {
                 if (a[(i + j) % n] > 200) break;
                 sum += a[3 * ((i + j) % n) + 1];
               }
               w = sum;
               v = m / (k % 4 + 1) + sum;
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), plain(integers<uint8_t>(n, 2, 0, 255)),
                          plain(integers<int64_t>(n, 3, -99, 99)), raw(integers<uint8_t>(3 * n, 4, 0, 255)),
                          out<float>(n), out<uint8_t>(n), out<int64_t>(n));
        });
}

TEST(SpmdLanes, WithoutOptimisation) {
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    KernelSpec spec = few_lane_choices("float32 x, int32 k, raw float32 a", "float32 z");
    spec.options.push_back(level);
    spec.is_report_checked = false;
    check(spec,
          BODY((float x, int32_t k, CArray<float, 1>& a, float& z),
               {
                 float m[4] = {x, 1, 2, 3};
                 for (int j = 0; j < k; ++j) {
                   if (a[j] > x) continue;
                   m[j & 3] += a[(i + j) % n];
                 }
                 z = m[k & 3] + m[0];
               }),
          [](int64_t n) {
            return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, 9)),
                            raw(quarters<float>(std::max<int64_t>(n, 9), 3)), out<float>(n));
          });
  }
}

TEST(SpmdLanes, OtherNumbersAreErrors) {
  for (const char* option :
       {"--lanes=3", "--lanes=128", "--lanes=-1", "--lanes=", "--lanes=8x", "--lanes", "--lanes=four", "--lanes= 8"}) {
    try {
      ElementwiseKernel("float32 x", "float32 z", "z = x;", "wrong", {.options = {option}})(Array::from<float>({1}));
      ADD_FAILURE() << option << " was taken";
    } catch (const CompileError& error) {
      EXPECT_NE(std::string(error.what()).find(option), std::string::npos) << error.what();
    }
  }
}

// Variables that live as long as a block of elements.

TEST(SpmdBlocks, VariablesThatAreOnlyRead) {
  KernelSpec spec{"float32 x, int32 k, float32 s", "float32 z"};
  spec.loop_prep = "const float scale = s * 2; float table[4] = {1, s, 3, s + 4}; int last = 3;";
  check(spec,
        BODY_AND_MEANING("if (k > last) z = x * scale; else z = table[k] - x;", (float x, int32_t k, float s, float& z),
                         {
                           const float table[4] = {1, s, 3, s + 4};
                           z = k > 3 ? x * (s * 2) : table[k] - x;
                         }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, 5)), scalar(2.5f),
                          out<float>(n));
        });
}

TEST(SpmdBlocks, VariablesThatElementsChange) {
  const LaneKernels kernels(
      {.in = "int32 x, _non_const raw int64 total",
       .out = "int32 z",
       .loop_prep = "long sum = 0; int largest = -1000000; int count = 0;",
       .after_loop = "atomicAdd(&total[0], sum); atomicMax(&total[1], largest); atomicAdd(&total[2], count);"},
      "z = x * 2; if (x % 3 == 0) continue; sum += x; if (x > largest) largest = x; count++;");
  for (const int64_t n : {1, 2, 7, 8, 9, 16, 33, 64, 20'011}) {
    const auto x = integers<int32_t>(n, 1, -1000, 1000);
    std::vector<int64_t> expected = {0, -5000, 0};
    std::vector<int32_t> doubled;
    for (const int32_t value : x) {
      doubled.push_back(value * 2);
      if (value % 3 == 0) continue;
      expected[0] += value, expected[1] = std::max<int64_t>(expected[1], value), ++expected[2];
    }
    if (expected[2] == 0) expected[1] = -1'000'000;
    expected[1] = std::max<int64_t>(expected[1], -5000);
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const Array total = Array::from<int64_t>({0, -5000, 0});
      const Array z = kernel(Array::from(std::span<const int32_t>(x), {n}), total);
      EXPECT_EQ(z.to_vector<int32_t>(), doubled) << kernel.name();
      EXPECT_EQ(total.to_vector<int64_t>(), expected) << kernel.name() << ", " << n << " elements";
    }
  }
}

// Arrays that are read and written by the same element.

TEST(SpmdInPlace, OneArrayAsInputAndOutput) {
  const LaneKernels kernels({"float32 x, int32 k", "float32 z"}, "if (k > 2) z = x * 2 + k; else if (k == 0) z += x;");
  for (const int64_t n : usual_sizes()) {
    const auto k = integers<int32_t>(n, 2, 0, 5);
    auto expected = quarters<float>(n, 1);
    const auto before = expected;
    for (size_t j = 0; j < k.size(); ++j)
      if (k[j] > 2 || k[j] == 0) expected[j] = expected[j] * 2 + static_cast<float>(k[j]);
    for (const ElementwiseKernel& kernel : kernels.kernels())
      for (const bool is_reversed : {false, true}) {
        Array x = Array::from(std::span<const float>(before), {n}), ks = Array::from(std::span<const int32_t>(k), {n});
        const Array all = x;
        if (is_reversed) x = x.at(Slice{{}, {}, -1}), ks = ks.at(Slice{{}, {}, -1});
        kernel(x, ks, x);
        ASSERT_EQ(all.to_vector<float>(), expected) << kernel.name() << ", " << n << " elements";
      }
  }
}

TEST(SpmdInPlace, InputsThatAreChanged) {
  check({"_non_const float32 x, _non_const uint8 k, float32 y", "float32 z"},
        BODY((float& x, uint8_t& k, float y, float& z),
             {
               if (y > 0) x += y;
               k = k > 100 ? k - 100 : k;
               while (x > 20) {
                 x -= 3;
                 k++;
               }
               z -= x;
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), plain(wild<uint8_t>(n, 2)), plain(quarters<float>(n, 3)),
                          out<float>(n));
        });
}

}  // namespace
}  // namespace iruka::test
