// Elements as lanes: loads and stores of every kind, in arrays that end at inaccessible pages on either side.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "core/device.h"
#include "spmd_testing.h"

namespace iruka::test {
namespace {

/// Values whose short sums neither round nor overflow; of narrow integers they wrap.
template <class T>
std::vector<T> small(int64_t count, uint64_t seed) {
  if constexpr (std::is_floating_point_v<T>)
    return quarters<T>(count, seed);
  else
    return integers<T>(count, seed, std::is_signed_v<T> ? -1000 : 0, 1000);
}

std::vector<int32_t> shuffled(int64_t count) {
  std::vector<int32_t> places(static_cast<size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), std::mt19937_64(5));
  return places;
}

template <class T>
class SpmdElements : public testing::Test {};
using Numbers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(SpmdElements, Numbers);

TYPED_TEST(SpmdElements, Neighbours) {
  using T = TypeParam;
  check(
      few_lane_choices("T x, raw T a", "T z, raw T b"),
      BODY((T x, CArray<T, 1> & a, T & z, CArray<T, 1> & b),
           {
             z = x + a[i + 2];
             b[i + 1] = a[i] + a[i + 1];
           }),
      [](int64_t n) { return operands(plain(small<T>(n, 1)), raw(small<T>(n + 2, 2)), out<T>(n), raw_out<T>(n + 2)); });
}

TYPED_TEST(SpmdElements, UnderAMask) {
  using T = TypeParam;
  check(few_lane_choices("int32 k, T x, raw T a", "T z, raw T b"),
        BODY((int32_t k, T x, CArray<T, 1>& a, T& z, CArray<T, 1>& b),
             {
               if (k % 3 == 0) {
                 z = a[i] + x;
                 b[i] = x;
               } else if (k & 1) {
                 b[i] += a[k];
               }
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 3, 0, n - 1)), plain(small<T>(n, 1)), raw(small<T>(n, 2)),
                          out<T>(n), raw_out<T>(n));
        });
}

TYPED_TEST(SpmdElements, GatherAndScatter) {
  using T = TypeParam;
  check(few_lane_choices("int32 from, int32 to, raw T a", "raw T b, T z"),
        BODY((int32_t from, int32_t to, CArray<T, 1>& a, CArray<T, 1>& b, T& z),
             {
               b[to] = a[from];
               z = a[to];
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 4, 0, n - 1)), plain(shuffled(n)), raw(small<T>(n, 5)),
                          raw_out<T>(n), out<T>(n));
        });
}

template <class T>
class SpmdPixels : public testing::Test {};
using PixelTypes = testing::Types<uint8_t, uint16_t, float, double>;
TYPED_TEST_SUITE(SpmdPixels, PixelTypes);

template <class T>
auto pixels(int channels) {
  return [channels](int64_t n) { return operands(raw(small<T>(channels * n, 6)), raw_out<T>(channels * n)); };
}

TYPED_TEST(SpmdPixels, TwoChannels) {
  using T = TypeParam;
  check(few_lane_choices("raw T a", "raw T b"),
        BODY((CArray<T, 1> & a, CArray<T, 1> & b),
             {
               T re = a[2 * i], im = a[2 * i + 1];
               b[2 * i] = re + im;
               b[2 * i + 1] = im * 2;
             }),
        pixels<T>(2));
}

TYPED_TEST(SpmdPixels, ThreeChannels) {
  using T = TypeParam;
  check(few_lane_choices("raw T a", "raw T b"),
        BODY((CArray<T, 1> & a, CArray<T, 1> & b),
             {
               T red = a[3 * i], green = a[3 * i + 1], blue = a[3 * i + 2];
               b[3 * i] = blue;
               b[3 * i + 1] = green + red;
               b[3 * i + 2] = red;
             }),
        pixels<T>(3));
}

TYPED_TEST(SpmdPixels, FourChannels) {
  using T = TypeParam;
  check(few_lane_choices("raw T a", "raw T b"),
        BODY((CArray<T, 1> & a, CArray<T, 1> & b),
             {
               T alpha = a[4 * i + 3];
               for (int c = 0; c < 3; ++c) b[4 * i + c] = a[4 * i + 2 - c] + alpha;
               b[4 * i + 3] = alpha;
             }),
        pixels<T>(4));
}

TYPED_TEST(SpmdPixels, SomeChannelsOfAnArrayThatEndsWithTheLastOne) {
  using T = TypeParam;
  check(few_lane_choices("raw T a, raw T b, raw T c, raw T d", "T z, raw T e"),
        BODY((CArray<T, 1> & a, CArray<T, 1> & b, CArray<T, 1> & c, CArray<T, 1> & d, T & z, CArray<T, 1> & e),
             {
               z = a[3 * i] + b[3 * i + 1] + b[3 * i] + c[2 * i] + d[4 * i + 1] + d[4 * i + 2];
               e[3 * i + 1] = z;
             }),
        [](int64_t n) {
          return operands(raw(small<T>(3 * n - 2, 1)), raw(small<T>(3 * n - 1, 2)), raw(small<T>(2 * n - 1, 3)),
                          raw(small<T>(4 * n - 1, 4)), out<T>(n), raw_out<T>(3 * n - 1));
        });
}

TYPED_TEST(SpmdPixels, UnderAMask) {
  using T = TypeParam;
  check(few_lane_choices("int32 k, raw T a", "raw T b, raw T c"),
        BODY((int32_t k, CArray<T, 1>& a, CArray<T, 1>& b, CArray<T, 1>& c),
             {
               if (k & 1) {
                 b[3 * i] = a[3 * i + 2];
                 b[3 * i + 1] = a[3 * i + 1];
                 b[3 * i + 2] = a[3 * i];
               } else if (k > 4) {
                 c[4 * i] = a[3 * i];
                 c[4 * i + 3] = a[3 * i + 2];
               }
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 2, 0, 9)), raw(small<T>(3 * n, 3)), raw_out<T>(3 * n),
                          raw_out<T>(4 * n));
        });
}

TYPED_TEST(SpmdPixels, InPlace) {
  using T = TypeParam;
  check(few_lane_choices("_non_const raw T a, _non_const raw T b, _non_const raw T c", ""),
        BODY((CArray<T, 1> & a, CArray<T, 1> & b, CArray<T, 1> & c),
             {
               T kept = a[3 * i];
               a[3 * i] = a[3 * i + 2];
               a[3 * i + 2] = kept;
               b[2 * i + 1] = b[2 * i] + b[2 * i + 1];
               c[4 * i] = c[4 * i + 1];
               c[4 * i + 1] = c[4 * i + 2];
               c[4 * i + 2] = c[4 * i + 3];
             }),
        [](int64_t n) { return operands(raw(small<T>(3 * n, 1)), raw(small<T>(2 * n, 2)), raw(small<T>(4 * n, 3))); });
}

TEST(SpmdMemory, PixelsOfThreeBytesToPlanesAndBack) {
  check({"raw uint8 a, raw float32 planes", "raw float32 b, raw uint8 c"},
        BODY((CArray<uint8_t, 1> & a, CArray<float, 2> & planes, CArray<float, 2> & b, CArray<uint8_t, 1> & c),
             {
               for (int k = 0; k < 3; ++k) {
                 b[{k, i}] = a[3 * i + k] * 0.5f;
                 c[3 * i + k] = (uint8_t)(planes[{k, i}] + 40);
               }
             }),
        [](int64_t n) {
          return operands(raw(integers<uint8_t>(3 * n, 1, 0, 255)), raw<float, 2>(quarters<float>(3 * n, 2), {3, n}),
                          raw<float, 2>(quarters<float>(3 * n, 3), {3, n}), raw_out<uint8_t>(3 * n));
        });
}

TEST(SpmdMemory, BlendsFourChannelPixels) {
  check({"raw uint8 over, raw uint8 under", "raw uint8 b"},
        BODY((CArray<uint8_t, 1> & over, CArray<uint8_t, 1> & under, CArray<uint8_t, 1> & b),
             {
               int alpha = over[4 * i + 3];
               for (int c = 0; c < 4; ++c)
                 b[4 * i + c] = (over[4 * i + c] * alpha + under[4 * i + c] * (255 - alpha) + 127) / 255;
             }),
        [](int64_t n) {
          return operands(raw(integers<uint8_t>(4 * n, 1, 0, 255)), raw(integers<uint8_t>(4 * n, 2, 0, 255)),
                          raw_out<uint8_t>(4 * n));
        });
}

TEST(SpmdMemory, DistancesBeyondFourChannels) {
  check({"raw float32 a, raw int16 b, int32 t", "float32 z, raw int16 c"},
        BODY((CArray<float, 1> & a, CArray<int16_t, 1> & b, int32_t t, float& z, CArray<int16_t, 1>& c),
             {
               z = a[5 * i + 2] + a[7 * i] + a[(ptrdiff_t)t * i + 1];
               c[9 * i] = b[6 * i + 5];
               c[9 * i + 4] = (int16_t)t;
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(11 * n, 1)), raw(small<int16_t>(6 * n, 2)), scalar(int32_t{11}),
                          out<float>(n), raw_out<int16_t>(9 * n - 4));
        });
}

TEST(SpmdMemory, FromTheEndToTheBeginning) {
  check({"raw float32 a, raw uint8 p", "raw float32 b, raw uint8 q"},
        BODY((CArray<float, 1> & a, CArray<uint8_t, 1> & p, CArray<float, 1> & b, CArray<uint8_t, 1> & q),
             {
               b[n - 1 - i] = a[n - 1 - i] * 2;
               if (a[i] > 0) b[2 * n - 1 - i] = a[i];
               for (int c = 0; c < 3; ++c) q[3 * (n - 1 - i) + c] = p[3 * (n - 1 - i) + 2 - c];
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(n, 1)), raw(small<uint8_t>(3 * n, 2)), raw_out<float>(2 * n),
                          raw_out<uint8_t>(3 * n));
        });
}

TEST(SpmdMemory, IndicesOfEveryType) {
  check({"int8 p, uint8 q, int16 r, uint32 s, int64 t, raw float32 a, raw uint8 b", "float32 z, int32 w"},
        BODY((int8_t p, uint8_t q, int16_t r, uint32_t s, int64_t t, CArray<float, 1>& a, CArray<uint8_t, 1>& b,
              float& z, int32_t& w),
             {
               z = a[p + 128] + a[q] * 2 + a[r & 255] + a[s % 256] + a[t];
               w = b[p + 128] | b[q] << 8 | b[r & 255] << 16;
             }),
        [](int64_t n) {
          return operands(plain(wild<int8_t>(n, 1)), plain(wild<uint8_t>(n, 2)), plain(wild<int16_t>(n, 3)),
                          plain(wild<uint32_t>(n, 4)), plain(integers<int64_t>(n, 5, 0, 255)),
                          raw(quarters<float>(256, 6)), raw(small<uint8_t>(256, 7)), out<float>(n), out<int32_t>(n));
        });
}

// Each sum wraps in its own type, before it becomes an index.
TEST(SpmdMemory, NarrowIndicesWrap) {
  check(
      {"uint8 p, uint16 q, int8 r, raw float32 a, raw float64 b", "float32 z, float64 w, float32 v"},
      BODY((uint8_t p, uint16_t q, int8_t r, CArray<float, 1>& a, CArray<double, 1>& b, float& z, double& w, float& v),
           {
             z = a[p] * 0.5f + a[(uint8_t)(p + 1)] - a[(uint8_t)(p - 3)];
             uint16_t next = q + 1, last = q - 2;
             w = b[next % 512] - b[last % 512] + b[(uint8_t)(q + 7)];
             const float* middle = &a[128];
             v = middle[(int8_t)(r + 1)] - middle[r] + a[(uint8_t)r] - a[(uint8_t)(r + 1)];
           }),
      [](int64_t n) {
        return operands(plain(wild<uint8_t>(n, 1)), plain(wild<uint16_t>(n, 2)), plain(wild<int8_t>(n, 3)),
                        raw(quarters<float>(256, 4)), raw(quarters<double>(512, 5)), out<float>(n), out<double>(n),
                        out<float>(n));
      });
}

TEST(SpmdMemory, DeadLanesMayHoldAnyIndex) {
  check({"int32 k, int64 m, raw float32 a, raw uint8 b, int32 size", "float32 z, raw float32 c, uint8 w"},
        BODY((int32_t k, int64_t m, CArray<float, 1>& a, CArray<uint8_t, 1>& b, int32_t size, float& z,
              CArray<float, 1>& c, uint8_t& w),
             {
               if (k >= 0 && k < size) z = a[k];
               if (m >= 0 && m < n) c[m / 2 * 2 == m ? i : n + i] = z;
               w = (uint64_t)m < (uint64_t)size && k < 0 ? b[m] : 3;
               for (int64_t j = m; j >= 0 && j < size; j += 5) z += a[j];
             }),
        [](int64_t n) {
          auto k = wild<int32_t>(n, 1);
          auto m = wild<int64_t>(n, 2);
          for (size_t j = 0; j < k.size(); ++j) {
            if (j % 3 == 0) k[j] = static_cast<int32_t>(j * 7 % 23);
            if (j % 4 < 2) m[j] = static_cast<int64_t>(j * 5 % 19);
          }
          return operands(plain(k), plain(m), raw(quarters<float>(20, 3)), raw(small<uint8_t>(20, 4)),
                          scalar(int32_t{20}), out<float>(n), raw_out<float>(2 * n), out<uint8_t>(n));
        });
}

TEST(SpmdMemory, ASideThatNoLaneTakesReadsNothing) {
  check(
      {"float32 x, int32 k, int64 far, raw float32 a, raw float64 b", "float32 z, raw float32 c"},
      BODY((float x, int32_t k, int64_t far, CArray<float, 1>& a, CArray<double, 1>& b, float& z, CArray<float, 1>& c),
           {
             z = x;
             if (x > 1000) {
               z = a[far] + a[i + far];
               c[far + i] = x;
               c[far] = 1;
             }
             if (k < 0) z += (float)b[k * far];
             for (int j = 100; j < k; ++j) z += a[far + j] + (float)b[(int64_t)k * j * far];
             float rest = x;
             while (rest > 1000) {
               z += a[far * 3];
               rest -= 1;
             }
             c[i] = z;
           }),
      [](int64_t n) {
        return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, 100)), scalar(int64_t{1} << 40),
                        raw(quarters<float>(1, 3)), raw(quarters<double>(1, 4)), out<float>(n), raw_out<float>(n));
      });
}

TEST(SpmdMemory, OneLaneReadsWhatWouldFaultInOthers) {
  check({"int32 k, raw float32 a", "float32 z"},
        BODY((int32_t k, CArray<float, 1>& a, float& z),
             {
               if (i % 7 == 3) {
                 z = a[(int64_t)(i / 7) * (k + 1)];
                 if (k == 1) z += a[0];
               } else {
                 z = k;
               }
             }),
        [](int64_t n) {
          auto k = integers<int32_t>(n, 1, 1'000'000, 2'000'000'000);
          for (size_t j = 3; j < k.size(); j += 7) k[j] = j % 2;
          return operands(plain(k), raw(quarters<float>(std::max<int64_t>(1, 2 * (n / 7) + 1), 2)), out<float>(n));
        });
}

TEST(SpmdMemory, EdgesOfAConsecutiveAccess) {
  check({"raw float32 a, raw uint8 p, int32 t", "float32 z, raw uint8 b"},
        BODY((CArray<float, 1> & a, CArray<uint8_t, 1> & p, int32_t t, float& z, CArray<uint8_t, 1>& b),
             {
               z = 0;
               if (i + 3 < n) z += a[i + 3];
               if (i >= 2) z += a[i - 2] * 4;
               if (i + t < n) b[i + t] = p[i + t];
               if (i > n / 2) b[n + i - n / 2 - 1] = p[i] + 1;
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(n, 1)), raw(small<uint8_t>(n, 2)), scalar(int32_t{5}), out<float>(n),
                          raw_out<uint8_t>(n + n / 2 + 1));
        });
}

TEST(SpmdMemory, WindowsWithClampedAndSkippedBorders) {
  check(
      {"raw float32 a, int32 radius", "float32 clamped, float32 mean"},
      BODY((CArray<float, 1> & a, int32_t radius, float& clamped, float& mean),
           {
             float sum = 0, inside = 0;
             int count = 0;
             for (int d = -radius; d <= radius; d++) {
               ptrdiff_t j = i + d < 0 ? 0 : i + d >= n ? n - 1 : i + d;
               sum += a[j];
               if (i + d < 0 || i + d >= n) continue;
               inside += a[i + d];
               count++;
             }
             clamped = sum;
             mean = inside / count;
           }),
      [](int64_t n) { return operands(raw(quarters<float>(n, 1)), scalar(int32_t{3}), out<float>(n), out<float>(n)); });
}

TEST(SpmdMemory, LoopsThatEndWithTheArray) {
  check({"int32 k, raw int32 a, raw int32 first", "int32 z, int32 w"},
        BODY((int32_t k, CArray<int32_t, 1>& a, CArray<int32_t, 1>& first, int32_t& z, int32_t& w),
             {
               int sum = 0;
               for (int j = 0; j < k; ++j) sum = sum * 3 % 1001 + a[j];
               z = sum;
               w = 0;
               for (int j = first[i]; j < first[i + 1]; ++j) w += a[j];
             }),
        [](int64_t n) {
          auto k = integers<int32_t>(n, 1, 0, 30);
          std::vector<int32_t> first = integers<int32_t>(n + 1, 3, 0, 30);
          std::sort(first.begin(), first.end());
          const int32_t most = std::max(*std::max_element(k.begin(), k.end()), first.back());
          return operands(plain(k), raw(small<int32_t>(most, 2)), raw(first), out<int32_t>(n), out<int32_t>(n));
        });
}

// What is read behind a condition may lie outside of the array where the condition does not hold.
TEST(SpmdMemory, NeighboursThatAreComparedOneAfterTheOther) {
  check({"raw uint8 text, raw uint8 pattern, raw int16 numbers, int32 width, int32 taps",
         "int32 z, int32 w, raw int32 c"},
        BODY((CArray<uint8_t, 1> & text, CArray<uint8_t, 1> & pattern, CArray<int16_t, 1> & numbers, int32_t width,
              int32_t taps, int32_t& z, int32_t& w, CArray<int32_t, 1>& c),
             {
               z = 0;
               for (int k = 0; k < width; ++k)
                 if (text[i * width + k] == 1 && text[i * width + k + 1] == 2 && text[i * width + k + 2] != 0) ++z;
               for (int k = width - 1; k >= 0; --k)
                 if (numbers[i * width + k] > 0 && numbers[i * width + k - 1] < numbers[i * width + k]) z += 100;
               int count = 0;
               for (int k = 0; k <= width - taps; ++k) {
                 int j = 0;
                 for (; j < taps; ++j)
                   if (text[i * width + k + j] != pattern[j]) break;
                 if (j == taps) ++count;
               }
               w = count;
               for (int64_t k = 2; k < width; k += 3)
                 if (text[k] == 1 && numbers[i * width + k] > pattern[0]) c[i] += numbers[i * width + k];
             }),
        [](int64_t n) {
          constexpr int32_t kWidth = 19;
          auto text = integers<uint8_t>(n * kWidth, 1, 0, 2);
          text.back() = 0;  // nothing lies behind it
          auto numbers = integers<int16_t>(n * kWidth, 2, -3, 3);
          numbers.front() = -1;  // nothing lies in front of it
          return operands(raw(text), raw(std::vector<uint8_t>{1, 2, 1}), raw(numbers), scalar(kWidth),
                          scalar(int32_t{3}), out<int32_t>(n), out<int32_t>(n), raw_out<int32_t>(n));
        });
}

TEST(SpmdMemory, InputsAreReadBetweenStores) {
  check({"raw float32 a", "raw float32 b"},
        BODY((CArray<float, 1> & a, CArray<float, 1> & b),
             {
               b[2 * i] = a[2 * i] + a[2 * i + 1];
               b[2 * i + 1] = a[2 * i] * 2;
               b[2 * i] += a[2 * i + 1] + b[2 * i + 1];
             }),
        [](int64_t n) { return operands(raw(quarters<float>(2 * n, 1)), raw_out<float>(2 * n)); });
}

TEST(SpmdMemory, PointersIntoArrays) {
  check({"float32 x, raw float32 a, raw float32 b, raw uint8 bytes", "float32 z, uint32 w"},
        BODY((float x, CArray<float, 1>& a, CArray<float, 1>& b, CArray<uint8_t, 1>& bytes, float& z, uint32_t& w),
             {
               const float* p = x > 0 ? &a[i] : &b[n - 1 - i];
               z = *p;
               const float* end = &a[0] + i;
               for (const float* q = end - (i < 4 ? i : 4); q != end; ++q) z += *q;
               uint32_t word = 0;
               __builtin_memcpy(&word, &bytes[4 * i], 4);
               w = word * 2654435761u;
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), raw(quarters<float>(n, 2)), raw(quarters<float>(n, 3)),
                          raw(wild<uint8_t>(4 * n, 4)), out<float>(n), out<uint32_t>(n));
        });
}

TEST(SpmdMemory, ChannelsInFrontOfTheFirstPixel) {
  check({"raw float32 a, raw uint8 p", "float32 z, int32 w"},
        BODY((CArray<float, 1> & a, CArray<uint8_t, 1> & p, float& z, int32_t& w),
             {
               z = a[3 * i] + a[3 * i + 1];
               if (i > 0) z += a[3 * i - 1] * 2 + a[3 * i - 3] * 4;
               w = i > 1 ? p[4 * i - 5] - p[4 * i - 8] : p[4 * i];
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(3 * n - 1, 1)), raw(small<uint8_t>(4 * n, 2)), out<float>(n),
                          out<int32_t>(n));
        });
}

TEST(SpmdMemory, PixelsOfTwoPicturesInOneArray) {
  check({"raw float32 a, int32 t", "raw float32 b"},
        BODY((CArray<float, 1> & a, int32_t t, CArray<float, 1>& b),
             {
               b[2 * i] = a[2 * i + 2 * n] - a[2 * i + 1];
               b[2 * i + 2 * n + 1] = a[2 * i] + a[2 * i + 2 * n + 1];
               if (t > 2) b[2 * i + 1] = a[2 * i];
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(4 * n, 1)), scalar(static_cast<int32_t>(n % 5)), raw_out<float>(4 * n));
        });
}

TEST(SpmdMemory, StoresInLoops) {
  check({"float32 x, int32 k, int32 t", "raw float32 b, raw int32 c"},
        BODY((float x, int32_t k, int32_t t, CArray<float, 1>& b, CArray<int32_t, 1>& c),
             {
               for (int j = 0; j < t; ++j)
                 if (x > j) b[j * n + i] = x - j;
               for (int j = 0; j < k; ++j) {
                 c[i] += j;
                 c[n + 8 * i + j] = c[i];
                 if (j > 3 && x < 0) return;
               }
               b[i] = k;
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, 8)), scalar(int32_t{4}),
                          raw_out<float>(4 * n), raw_out<int32_t>(9 * n));
        });
}

TEST(SpmdMemory, BlocksCopiedWhole) {
  check({"raw float32 a, raw uint8 p, int32 k", "raw float32 b, raw uint8 q"},
        BODY((CArray<float, 1> & a, CArray<uint8_t, 1> & p, int32_t k, CArray<float, 1>& b, CArray<uint8_t, 1>& q),
             {
               __builtin_memcpy(&b[4 * i], &a[4 * i], 16);
               if (k > 0) __builtin_memcpy(&q[5 * i], &p[5 * i], 5);
               if (k > 2) __builtin_memset(&b[4 * i + 1], 0, 8);
             }),
        [](int64_t n) {
          return operands(raw(quarters<float>(4 * n, 1)), raw(wild<uint8_t>(5 * n, 2)),
                          plain(integers<int32_t>(n, 3, 0, 4)), raw_out<float>(4 * n), raw_out<uint8_t>(5 * n));
        });
}

TEST(SpmdMemory, BlocksOfTheirOwnLengths) {
  KernelSpec spec{"raw uint8 p, int32 k", "raw uint8 q"};
  spec.is_report_checked = false;
  check(spec,
        BODY((CArray<uint8_t, 1> & p, int32_t k, CArray<uint8_t, 1>& q),
             {
               __builtin_memcpy(&q[4 * i], &p[5 * i + 1], k);
               if (k > 1) __builtin_memset(&q[4 * i], k, k - 1);
             }),
        [](int64_t n) {
          return operands(raw(wild<uint8_t>(5 * n, 2)), plain(integers<int32_t>(n, 3, 0, 4)), raw_out<uint8_t>(4 * n));
        });
}

TEST(SpmdMemory, PointersThatMayBeNull) {
  check({"float32 x, int32 k, raw float32 a, raw float32 b", "float32 z"},
        BODY((float x, int32_t k, CArray<float, 1>& a, CArray<float, 1>& b, float& z),
             {
               const float* p = nullptr;
               if (x > 0)
                 p = &a[i];
               else if (k > 5)
                 p = &b[k];
               z = p ? *p : -1;
               const float* both[2] = {&a[0], &b[0]};
               z += both[k & 1][k];
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, 9)),
                          raw(quarters<float>(n + 10, 3)), raw(quarters<float>(10, 4)), out<float>(n));
        });
}

TEST(SpmdMemory, BytesOfOneElementFromNeighboursThatOverlap) {
  check({"raw uint8 a", "uint32 z"},
        BODY((CArray<uint8_t, 1> & a, uint32_t& z),
             { z = a[i] | a[i + 1] << 8 | a[i + 2] << 16 | (uint32_t)a[i + 3] << 24; }),
        [](int64_t n) { return operands(raw(wild<uint8_t>(n + 3, 1)), out<uint32_t>(n)); });
}

TEST(SpmdMemory, BoolsAreAnyByteAndAreStoredAsOneOrZero) {
  check({"bool p, raw bool a, int32 k", "bool z, raw bool b, int32 w"},
        BODY((bool p, CArray<uint8_t, 1>& a, int32_t k, uint8_t& z, CArray<uint8_t, 1>& b, int32_t& w),
             {
               bool flag = a[k] != 0;
               z = p != flag;
               if (flag) b[i] = p && k > 2;
               w = p ? k : flag ? -k : 0;
             }),
        [](int64_t n) {
          return operands(as_bool(plain(integers<uint8_t>(n, 1, 0, 1))), as_bool(raw(integers<uint8_t>(5, 2, 0, 1))),
                          plain(integers<int32_t>(n, 3, 0, 4)), as_bool(plain(integers<uint8_t>(n, 4, 0, 1))),
                          as_bool(raw(integers<uint8_t>(n, 5, 0, 1))), out<int32_t>(n));
        });
}

TEST(SpmdMemory, ReadsWhatItWroteItself) {
  check({"_non_const raw int32 a, int32 k", "raw int32 b, int32 z"},
        BODY((CArray<int32_t, 1> & a, int32_t k, CArray<int32_t, 1>& b, int32_t& z),
             {
               a[i] += k;
               int first = a[i];
               b[3 * i + k] = first;
               if (k > 0) a[i] = b[3 * i + k] * 2;
               b[3 * i + 2 - k] = a[i];
               z = b[3 * i] ^ b[3 * i + 1] ^ b[3 * i + 2];
             }),
        [](int64_t n) {
          return operands(raw(small<int32_t>(n, 1)), plain(integers<int32_t>(n, 2, 0, 2)), raw_out<int32_t>(3 * n),
                          out<int32_t>(n));
        });
}

const Layout kLayouts[] = {c_order, fortran_order, padded_rows, every_third, reversed};

TEST(SpmdMemory, RawArraysOfAnyLayout) {
  for (const Layout layout : kLayouts) {
    check(few_lane_choices("raw float32 a, raw int16 b", "raw float32 c, float32 z"),
          BODY((CArray<float, 2> & a, CArray<int16_t, 3> & b, CArray<float, 2> & c, float& z),
               {
                 ptrdiff_t columns = a.shape()[1];
                 int y = i / columns, x = i % columns;
                 int down[] = {y > 0 ? y - 1 : 0, x};
                 z = a[{y, x}] + a[down] + a[i];
                 c[{y, x}] = b[{y, x % 2, x / 2}] + (x > 0 ? a[{y, x - 1}] : 100.0f);
               }),
          [layout](int64_t rows) {
            return operands(raw<float, 2>(quarters<float>(rows * 6, 1), {rows, 6}, layout),
                            raw<int16_t, 3>(small<int16_t>(rows * 6, 2), {rows, 2, 3}, layout),
                            raw<float, 2>(quarters<float>(rows * 6, 3), {rows, 6}, layout),
                            plain(quarters<float>(rows * 6, 4), {rows, 6}));
          },
          {1, 2, 3, 4, 5, 6, 7, 11, 23, 1001});
  }
}

TEST(SpmdMemory, PlainArraysOfAnyLayout) {
  std::vector<std::pair<Layout, Layout>> pairs;
  for (const Layout layout : kLayouts)
    pairs.insert(pairs.end(), {{c_order, layout}, {layout, c_order}, {layout, layout}});
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto [first, second] = pairs[k];
    const int64_t columns = k % 2 ? 19 : 5;
    check(few_lane_choices("float32 x, uint8 k", "float32 z, uint8 w"),
          BODY((float x, uint8_t k, float& z, uint8_t& w),
               {
                 if (k > 50)
                   z = x * 2;
                 else
                   w = k + 1;
               }),
          [=](int64_t rows) {
            const int64_t n = rows * columns;
            return operands(plain(quarters<float>(n, 1), {rows, columns}, first),
                            plain(integers<uint8_t>(n, 2, 0, 100), {rows, columns}, second),
                            plain(quarters<float>(n, 3), {rows, columns}, second),
                            plain(integers<uint8_t>(n, 4, 0, 100), {rows, columns}, first));
          },
          {1, 2, 17, 40, 301});
  }
}

TEST(SpmdMemory, PlainArraysThatBroadcast) {
  check({"float32 row, float32 column, int16 one, float64 all", "float64 z, int16 w"},
        BODY((float row, float column, int16_t one, double all, double& z, int16_t& w),
             {
               z = row * column + all;
               if (row > column) w = one;
             }),
        [](int64_t columns) {
          return operands(plain(quarters<float>(columns, 1), {columns}), plain(quarters<float>(7, 2), {7, 1}),
                          plain(small<int16_t>(1, 3), {1, 1}), plain(quarters<double>(7 * columns, 4), {7, columns}),
                          plain(quarters<double>(7 * columns, 5), {7, columns}),
                          plain(small<int16_t>(7 * columns, 6), {7, columns}));
        });
}

TEST(SpmdMemory, OutputsThatArePassedOver) {
  check({"float32 x, int32 k", "float32 z, uint8 w, float64 v, int64 u"},
        BODY((float x, int32_t k, float& z, uint8_t& w, double& v, int64_t& u),
             {
               if (k == 0) continue;
               if (k == 1) {
                 z = x;
               }
               if (k == 2) {
                 w += k;
                 return;
               }
               if (k == 3)
                 v -= x;
               else
                 u += k;
             }),
        [](int64_t n) {
          return operands(plain(quarters<float>(n, 1)), plain(integers<int32_t>(n, 2, 0, 4)), out<float>(n),
                          out<uint8_t>(n), out<double>(n), out<int64_t>(n));
        });
}

TEST(SpmdMemory, OutputsThatFillTheCache) {
  const auto size = static_cast<int64_t>(cpu().target().last_level_cache_bytes / 9 + 77);
  const std::vector<uint8_t> x = wild<uint8_t>(size, 1);
  const Array in = Array::from(std::span<const uint8_t>(x), {size});
  const LaneKernels kernels(few_lane_choices("uint8 x", "float64 z, uint8 w"),
                            "{ z = x * 0.5; if (x > 100) z += i; w = x + 1; }");
  for (const ElementwiseKernel& kernel : kernels.kernels()) {
    const std::vector<Array> made = kernel.call(std::vector<Argument>{in});
    const auto *z = static_cast<const double*>(made[0].data()), *end = z + size;
    const auto* w = static_cast<const uint8_t*>(made[1].data());
    for (const auto* at = z; at != end; ++at) {
      const uint8_t value = x[static_cast<size_t>(at - z)];
      ASSERT_EQ(*at, value * 0.5 + (value > 100 ? static_cast<double>(at - z) : 0)) << kernel.name() << " " << at - z;
      ASSERT_EQ(w[at - z], static_cast<uint8_t>(value + 1)) << kernel.name() << " " << at - z;
    }
  }
}

// What follows has no single right answer, or needs two threads on the same lines of memory.

TEST(SpmdMemory, OfSeveralStoresToOnePlaceOneStays) {
  const LaneKernels kernels({"int32 k, raw int32 first", "raw int32 z, raw int32 last"},
                            "{ z[k] = i; if (k & 1) z[k + 10] = i; if (first[i % 5] == k) last[0] = i; }");
  for (const ElementwiseKernel& kernel : kernels.kernels())
    for (int64_t n = 1; n < 70; ++n) {
      const auto k = integers<int32_t>(n, 1, 0, 9);
      const std::vector<int32_t> wanted = {1, 4, 7, 2, 3};
      const Array z = Array::from(std::span<const int32_t>(std::vector<int32_t>(20, -1)), {20});
      const Array last = Array::from<int32_t>({-1});
      kernel(Array::from(std::span<const int32_t>(k), {n}), Array::from(std::span<const int32_t>(wanted), {5}), z,
             last);
      const auto written = z.to_vector<int32_t>();
      for (int32_t place = 0; place < 20; ++place) {
        const int32_t from = place % 10;
        const bool is_hit = std::count(k.begin(), k.end(), from) > 0 && (place < 10 || (from & 1));
        const int32_t element = written[static_cast<size_t>(place)];
        if (is_hit)
          ASSERT_TRUE(element >= 0 && element < n && k[static_cast<size_t>(element)] == from) << kernel.name() << place;
        else
          ASSERT_EQ(element, -1) << kernel.name() << place;
      }
      const int32_t element = last.to_vector<int32_t>()[0];
      bool is_written = false;
      for (size_t j = 0; j < k.size(); ++j) is_written |= wanted[j % 5] == k[j];
      if (is_written)
        ASSERT_EQ(k[static_cast<size_t>(element)], wanted[static_cast<size_t>(element) % 5]) << kernel.name();
      else
        ASSERT_EQ(element, -1) << kernel.name();
    }
}

/// Two halves of a loop, which different threads run, write the even and the odd elements of one array.
template <class T>
void check_shared_lines(const char* text) {
  const LaneKernels kernels(few_lane_choices("raw int32 half", "raw T z"), text);
  constexpr int64_t kSize = 50'001;
  const Array half = Array::from<int32_t>({static_cast<int32_t>(kSize)});
  for (const ElementwiseKernel& kernel : kernels.kernels())
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Array z = zeros({kSize}, dtype_of<T>);
      const Argument arguments[] = {half, z};
      kernel.call(arguments, {.size = 2 * kSize});
      const auto written = z.to_vector<T>();
      for (size_t k = 0; k < written.size(); ++k)
        ASSERT_EQ(written[k], static_cast<T>(k % 100 + 1)) << kernel.name() << ", " << name(dtype_of<T>) << " " << k;
    }
}

TEST(SpmdMemory, MaskedStoresLeaveOtherThreadsElementsAlone) {
  const char* text =
      "ptrdiff_t place = i < half[0] ? i : i - half[0]; if (place % 2 == i / half[0]) z[place] = place % 100 + 1;";
  check_shared_lines<uint8_t>(text);
  check_shared_lines<int16_t>(text);
  check_shared_lines<float>(text);
  check_shared_lines<double>(text);
}

TEST(SpmdMemory, StoresOfSomeChannelsLeaveTheOthersAlone) {
  const char* text =
      "ptrdiff_t pixel = i % half[0] / 4; int c = i / half[0]; "
      "if (i % 4 == 0 && 4 * pixel + 3 < half[0]) { z[4 * pixel + c] = (4 * pixel + c) % 100 + 1; "
      "z[4 * pixel + 2 + c] = (4 * pixel + 2 + c) % 100 + 1; } else if (c == 0 && i == half[0] - 1) z[i] = i % 100 + "
      "1;";
  check_shared_lines<uint8_t>(text);
  check_shared_lines<float>(text);
}

}  // namespace
}  // namespace iruka::test
