// Elements as lanes: local arrays and structures, tables, helper functions.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "spmd_usual.h"

namespace iruka::test {
namespace {

template <class F>
void check_usual(const Body<F>& body, const char* preamble = "", bool is_widened = true) {
  KernelSpec spec = kUsual;
  spec.preamble = preamble;
  spec.is_widened = is_widened;
  check(spec, body, usual(6, 15));
}

// Arrays.

TEST(SpmdLocals, ConstantIndices) {
  check_usual(BODY(USUAL, {
    float m[4] = {x, x + 1, 2};
    int idx[] = {k / 4, k % 4};
    m[3] = m[0] * m[1];
    if (k > 7) m[2] = m[3];
    z = m[2] + m[1];
    w = b[idx[0] * 4 + idx[1]] * idx[1];
  }));
}

TEST(SpmdLocals, IndicesByData) {
  check_usual(BODY(USUAL, {
    float m[16];
    for (int j = 0; j < 16; ++j) m[j] = x + j * 2;
    m[k] = -1;
    m[(k * 7 + 3) & 15] += 100;
    z = m[k ^ 1] + m[15 - k];
    uint8_t bytes[16] = {};
    bytes[k] = 200;
    bytes[(k + 5) & 15] += 100;
    w = bytes[k] + 1000 * bytes[5] + bytes[(int)(x * 4) & 15];
  }));
}

TEST(SpmdLocals, IndicesByLoops) {
  check_usual(BODY(USUAL, {
    int sums[20];
    for (int j = 0; j < t; ++j) sums[j] = b[j + k] + (j ? sums[j - 1] : 0);
    w = 0;
    for (int j = t - 1; j >= 0; --j) w = w * 2 + (sums[j] & 1);
    float m[16];
    for (int j = 0; j <= k; ++j) m[j] = x * j;
    z = 0;
    for (int j = k; j >= 0; j -= 2) z += m[j];
    z += m[i & 3 & k];
  }));
}

TEST(SpmdLocals, WrittenBySomeLanes) {
  check_usual(BODY(USUAL, {
    int m[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (x > 0) {
      m[k & 7] = 50;
      m[2] = k;
      for (int j = 0; j < k; ++j) m[j & 7] += j;
    } else if (k > 8) {
      m[t] = 9;
    }
    for (int j = 0; j < k; ++j) {
      if (b[j] > 30) break;
      m[3] += 1;
      m[j / 2] -= 1;
    }
    w = 0;
    for (int j = 0; j < 8; ++j) w = w * 3 + m[j];
    z = m[t] + m[(k + 1) & 7];
  }));
}

TEST(SpmdLocals, OfEveryElementSize) {
  check({"int32 k, float64 x, int64 m", "float64 z, int64 w"},
        BODY((int32_t k, double x, int64_t m, double& z, int64_t& w),
             {
               int8_t p[5];
               int16_t q[7];
               int64_t r[3] = {m, m * 2, -1};
               double s[6];
               bool f[4] = {k > 1, k > 2, k > 3, false};
               for (int j = 0; j < 5; ++j) p[j] = (int8_t)(k * j);
               for (int j = 0; j < 7; ++j) q[j] = (int16_t)(p[j % 5] * 100);
               for (int j = 0; j < 6; ++j) s[j] = x / (j + 1);
               r[k % 3] += q[k % 7];
               f[k & 3] = !f[(k + 1) & 3];
               s[k % 6] = r[(k + 1) % 3];
               z = s[0] + s[(k + 2) % 6];
               w = r[0] + p[k % 5] + f[0] * 1000 + f[k / 8] * 2000;
             }),
        [](int64_t n) {
          return operands(plain(integers<int32_t>(n, 1, 0, 15)), plain(quarters<double>(n, 2)),
                          plain(integers<int64_t>(n, 3, -1000000000000, 1000000000000)), out<double>(n),
                          out<int64_t>(n));
        });
}

TEST(SpmdLocals, BeginAnewInEveryRound) {
  check_usual(BODY(USUAL, {
    w = 0;
    for (int j = 0; j < k; ++j) {
      int m[4] = {};
      m[(j + k) & 3] = j;
      if (b[j] > 0) m[j & 3] += 10;
      w += m[0] + 2 * m[1] + 3 * m[k & 3];
      if (w > 300) break;
    }
    z = 0;
    for (int y = 0; y < 2; ++y) {
      float line[3] = {x, x};
      for (int j = 0; j < 3; ++j) line[(j + k) % 3] += j + y;
      z += line[1] * 2 - line[k % 3];
    }
  }));
}

TEST(SpmdLocals, CopiedAndOfTwoDimensions) {
  check_usual(BODY(USUAL, {
    struct Row {
      int at[4];
    };
    Row rows[3];
    for (int y = 0; y < 3; ++y)
      for (int j = 0; j < 4; ++j) rows[y].at[j] = b[4 * y + j] + k;
    Row kept = rows[k % 3];
    rows[k % 3] = rows[(k + 1) % 3];
    if (x > 0) rows[0] = kept;
    float m[3][5] = {{x}, {1, x}};
    m[k % 3][k % 5] += 4;
    m[1][k % 5] += m[k % 3][2];
    w = rows[0].at[0] + 10 * rows[1].at[k & 3] + 100 * kept.at[2];
    z = m[0][0] + m[1][1] * 2 + m[2][k % 5] * 4 + m[k % 3][4];
  }));
}

TEST(SpmdLocals, SortedInPlace) {
  check_usual(BODY(USUAL, {
    float m[7];
    for (int j = 0; j < 7; ++j) m[j] = b[(k + 3 * j) & 63] + x;
    for (int j = 1; j < 7; ++j) {
      float value = m[j];
      int place = j;
      while (place > 0 && m[place - 1] > value) {
        m[place] = m[place - 1];
        --place;
      }
      m[place] = value;
    }
    z = m[3];
    w = (int)(m[0] * 4) + 1000 * (int)m[6];
  }));
}

TEST(SpmdLocals, SortedByInsertionAndBySelection) {
  check_usual(BODY(USUAL, {
    int m[9];
    for (int j = 0; j < 9; ++j) {
      int value = b[(j * 5 + k) % 15], at = j;
      while (at > 0 && m[at - 1] > value) {
        m[at] = m[at - 1];
        at--;
      }
      m[at] = value;
    }
    w = m[4] + 1000 * m[k % 9];
    float s[7] = {x, 1, -x, 2.5f, x * 2, 0, 7};
    for (int j = 0; j < 4; ++j) {
      int least = j;
      for (int l = j + 1; l < 7; ++l)
        if (s[l] < s[least]) least = l;
      float t = s[j];
      s[j] = s[least];
      s[least] = t;
    }
    z = s[3] + 100 * s[6];
  }));
}

TEST(SpmdLocals, PlacesThatOtherPlacesName) {
  check_usual(BODY(USUAL, {
    int order[6] = {3, 5, 1, 0, 2, 4};
    for (int j = 0; j < 6; ++j) {
      int other = (j * k + 1) % 6, t = order[j];
      order[j] = order[other];
      order[other] = t;
    }
    w = order[order[order[k % 6]]];
    order[order[k % 6]] = order[order[t % 6]] + 10;
    for (int j = 0; j < 6; ++j) w = w * 7 + order[j];
    uint8_t ring[5] = {1, 2, 3, 4, 5};
    int at = k % 5;
    for (int j = 0; j < k; ++j) {
      ring[at] += ring[(at + 4) % 5];
      at = at == 4 ? 0 : at + 1;
    }
    z = ring[at] + ring[4 - at] * x;
    float m[6] = {1, 2, x};
    int first = k % 4;
    m[first + 2] = m[first + 1] + m[first];
    m[5 - first] -= 1;
    z += m[3] * 3 + m[5] + m[first + 1];
  }));
}

TEST(SpmdLocals, HistogramAndStack) {
  check_usual(BODY(USUAL, {
    unsigned char counts[16] = {0};
    for (int j = 0; j < 24; ++j) counts[(b[j] + k * j) & 15]++;
    int best = 0;
    for (int j = 1; j < 16; ++j)
      if (counts[j] > counts[best]) best = j;
    int stack[12];
    int height = 0;
    stack[height++] = k;
    int visited = 0;
    while (height > 0 && visited < 40) {
      int node = stack[--height];
      visited += 1 + (node & 1);
      if (node > 3 && height < 10) {
        stack[height++] = node / 2;
        stack[height++] = node - 3;
      }
    }
    w = best * 100 + counts[best];
    z = visited;
  }));
}

// Structures, references, pointers.

TEST(SpmdLocals, Structures) {
  check_usual(BODY(USUAL, {
    struct Particle {
      float place;
      int8_t kind;
      double mass;
      int links[3];
    };
    Particle one = {x, (int8_t)k, 0.5, {1, 2, 3}};
    Particle all[4] = {};
    all[k & 3] = one;
    all[1].links[k % 3] += 7;
    if (x > 1) {
      all[2].place = x * 2;
      one.mass += k;
    }
    Particle& chosen = all[(k + 1) & 3];
    chosen.mass += one.mass;
    z = all[0].place + all[2].place + (float)(all[1].mass * 2) + (float)all[k & 3].mass;
    w = all[1].links[0] + 10 * all[k & 3].links[2] + 100 * chosen.kind;
  }));
}

TEST(SpmdLocals, PointersToOneOfSeveral) {
  check_usual(BODY(USUAL, {
    float p = x, q = x * 2, r[3] = {1, 2, 3};
    float* chosen = k & 1 ? &p : k & 2 ? &q : &r[k % 3];
    *chosen += 10;
    const float* from = x > 0 ? &a[i] : r;
    const float* both = k > 7 ? &q : from;
    z = p + q * 2 + r[0] + r[1] * 3 + r[2] * 5 + *both;
    int m[6] = {0, 1, 2, 3, 4, 5};
    int* at = m;
    for (int j = 0; j < k; ++j) at = at == m + 5 ? m : at + 1;
    *at = -100;
    w = (int)(at - m) + m[0] + m[3] + *(m + k % 6);
  }));
}

TEST(SpmdLocals, RowsThatAreExchanged) {
  check_usual(BODY(USUAL, {
    int first[12], second[10], *above = first, *here = second;
    for (int j = 0; j < 10; ++j) above[j] = j * k;
    for (int p = 0; p < t; ++p) {
      here[0] = p + k;
      for (int j = 1; j < 10; ++j)
        here[j] = b[j + p] == b[k] ? above[j - 1] : 1 + (above[j] < here[j - 1] ? above[j] : here[j - 1]);
      int* row = above;
      above = here;
      here = row;
    }
    w = above[9] + 100 * above[k % 10] + 10000 * here[3];
    uint8_t rows[3][8] = {};
    for (int p = 0; p < k; ++p) {
      uint8_t *to = rows[p % 3], *from = rows[(p + 2) % 3];
      for (int j = 0; j < t && j < 8; ++j) to[j] = (uint8_t)(from[7 - j] + j + p);
    }
    z = rows[0][k & 7] + rows[1][3] + rows[2][t & 7];
  }));
}

TEST(SpmdLocals, PointersThatWalkOrAreChosen) {
  check_usual(BODY(USUAL, {
    float m[20], *end = m;
    for (int j = 0; j < k; ++j)
      if (b[j] & 1) *end++ = x + j;
    z = 0;
    for (const float* p = m; p < end; ++p) z = z * 0.5f + *p;
    int one[4] = {1, 2, 3, 4}, other[6] = {5, 6, 7, 8, 9, 10};
    int* chosen = k & 1 ? one + (k & 2) : &other[k % 5];
    *chosen += k;
    chosen[1] -= b[k];
    w = one[k & 3] + 100 * other[k % 6] + chosen[x > 0];
    struct Point {
      float a;
      float b;
    } points[5] = {{x, 1}, {2, x}}, *at = k > 3 ? points : points + 1;
    while (at < points + 4) {
      at[1].a = at->a + at->b;
      (at + 1)->b = at->a - k;
      ++at;
    }
    z += at->a + points[k % 5].b;
  }));
}

TEST(SpmdLocals, BitsSeenAsAnotherType) {
  check_usual(BODY(USUAL, {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    uint8_t bytes[4];
    __builtin_memcpy(bytes, &bits, 4);
    bytes[k & 3] ^= 0x40;
    uint16_t halves[2];
    __builtin_memcpy(halves, bytes, 4);
    halves[0] += k;
    float back;
    __builtin_memcpy(&back, halves, 4);
    z = back;
    w = bytes[3] * 256 + bytes[k & 3] + (int)(bits >> 9);
  }));
}

TEST(SpmdLocals, FilledAndCopiedWhole) {
  check_usual(BODY(USUAL, {
    int16_t m[24];
    __builtin_memset(m, k & 1 ? 0x11 : 0x22, sizeof(m));
    int16_t copy[24];
    if (x > 0) m[k] = 7;
    __builtin_memcpy(copy, m, sizeof(m));
    m[5] = 3;
    __builtin_memcpy(copy + 4, m + k, 8);
    w = 0;
    for (int j = 0; j < 24; ++j) w = (w * 5 + copy[j]) & 0xFFFFF;
    z = copy[k] + m[(k + 5) % 24];
  }));
}

TEST(SpmdLocals, FilledByLengthsOfTheirOwn) {
  KernelSpec spec = kUsual;
  spec.is_report_checked = false;
  check(spec,
        BODY(USUAL,
             {
               int m[16] = {};
               __builtin_memcpy(m, &b[t], k * 4);
               __builtin_memset(m + 1, -1, k / 4 * 4);
               if (x > 0) __builtin_memmove(m + 2, m, (k < 12 ? k : 12) * 4);
               w = 0;
               for (int j = 0; j < 16; ++j) w = (w * 3 + m[j]) & 0xFFFFF;
               z = m[k];
             }),
        usual(6, 15));
}

TEST(SpmdLocals, TooLargeForSeveralLanes) {
  const LaneKernels kernels(
      {.in = "int32 k, raw int32 b", .out = "int32 w", .is_widened = false},
      "int m[200000]; for (int j = 0; j < 8; ++j) m[j * 24000 + k] = b[j]; w = m[(k & 7) * 24000 + k] + m[k];");
  const auto k = integers<int32_t>(1000, 1, 0, 15), b = integers<int32_t>(8, 2, -50, 50);
  for (const ElementwiseKernel& kernel : kernels.kernels()) {
    const auto w =
        kernel(Array::from(std::span<const int32_t>(k), {1000}), Array::from(std::span<const int32_t>(b), {8}));
    const auto got = w.to_vector<int32_t>();
    for (size_t e = 0; e < got.size(); ++e)
      ASSERT_EQ(got[e], b[static_cast<size_t>(k[e] & 7)] + b[0]) << kernel.name() << " " << e;
  }
}

TEST(SpmdLocals, NotAlwaysWritten) {
  check_usual(BODY(USUAL, {
    float y = 0;
    int m[4];
    if (x > 0) {
      y = x * 2;
      m[k & 3] = k;
    }
    bool is_set = false;
    bool was_set = true;
    for (int j = 0; j < k; ++j) {
      was_set = is_set;
      is_set |= b[j] > 20;
      if (was_set != is_set) break;
    }
    z = x > 0 ? y : -1;
    w = (x > 0 ? m[k & 3] : 5) + 100 * is_set + 1000 * was_set;
  }));
}

// Tables.

PREAMBLE(
    kTables, __constant__ float kWeights[8] = {0.5f, 1, 2, 4, 8, 16, -1, 0};
    constexpr uint8_t kNext[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    const int kGrid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}; struct Entry {
      int16_t key;
      double value;
    };
    static const Entry kEntries[4] = {{1, 0.25}, {-2, 4}, {300, -8.5}, {7, 1e10}};)

TEST(SpmdTables, ConstantOnesByData) {
  check_usual(BODY(USUAL,
                   {
                     static const int small[5] = {10, 20, 30, 40, 50};
                     const float line[4] = {1.5f, 2.5f, 3.5f, 4.5f};
                     z = kWeights[k & 7] * x + line[k >> 2] + kWeights[t] + (float)kEntries[k & 3].value;
                     int state = k;
                     for (int j = 0; j < t; ++j) state = kNext[state] + (j & 1);
                     w = state + small[k % 5] * 100 + kGrid[k % 3][k & 3] + kEntries[3 - (k & 3)].key;
                   }),
              kTables);
}

TEST(SpmdTables, OnlyReadWhereTheIndexFits) {
  check({"int32 m", "float32 z, int32 w"},
        BODY((int32_t m, float& z, int32_t& w),
             {
               static const float table[3] = {1, 2, 4};
               z = m >= 0 && m < 3 ? table[m] : -1;
               w = 0;
               if ((unsigned)m < 16) w = "0123456789abcdef"[m];
             }),
        [](int64_t n) {
          auto m = wild<int32_t>(n, 1);
          for (size_t j = 0; j < m.size(); j += 2) m[j] = static_cast<int32_t>(j % 19) - 1;
          return operands(plain(m), out<float>(n), out<int32_t>(n));
        });
}

// Helpers.

PREAMBLE(
    kHelpers,
    __device__ int first_above(const int* values, int count, int limit) {
      for (int j = 0; j < count; ++j)
        if (values[j] > limit) return j;
      return -1;
    } __device__ float middle(float p, float q, float r) {
      if (p > q) {
        float kept = p;
        p = q;
        q = kept;
      }
      if (q > r) q = r;
      return p > q ? p : q;
    } __device__ void rotate(float* m, int by, int& turns) {
      for (; by > 0; --by) {
        float kept = m[0];
        m[0] = m[1];
        m[1] = m[2];
        m[2] = kept;
        turns++;
      }
    } template <int N>
    struct Ring {
      int at[N];
      int next;
      void push(int value) {
        at[next] = value;
        next = (next + 1) % N;
      }
      int sum() const {
        int all = 0;
        for (int j = 0; j < N; ++j) all += at[j];
        return all;
      }
    };
    __device__ float bilinear(CArray<float, 1>& a, float place) {
      int last = a.size() - 1;
      int low = (int)place;
      if (low < 0) return a[0];
      if (low >= last) return a[last];
      float part = place - low;
      return a[low] * (1 - part) + a[low + 1] * part;
    } struct Hit {
      bool is_hit;
      float distance;
      int index;
    };
    __device__ Hit nearest(const CArray<float, 1>& a, float x, int count) {
      Hit best = {false, 1e9f, -1};
      for (int j = 0; j < count; ++j) {
        float distance = a[j] > x ? a[j] - x : x - a[j];
        if (distance > 20) continue;
        if (distance < best.distance) best = {true, distance, j};
        if (distance == 0) return best;
      }
      return best;
    } template <class F>
    __device__ int count_if(int from, int to, F f) {
      int count = 0;
      for (int j = from; j < to; ++j) count += f(j);
      return count;
    })

TEST(SpmdHelpers, WithEarlyReturnsAndPointers) {
  check_usual(BODY(USUAL,
                   {
                     int m[10];
                     for (int j = 0; j < 10; ++j) m[j] = b[k + j];
                     w = first_above(m, k < 10 ? k : 10, 20) * 100 + first_above(&b[0], 64, 3 * k - 10);
                     float turned[3] = {x, 1, 2};
                     if (k > 4) rotate(turned, k % 4, w);
                     z = turned[0] + middle(x, turned[1] * 3, b[k]);
                   }),
              kHelpers);
}

TEST(SpmdHelpers, ObjectsLambdasAndResultsOfSeveralValues) {
  check_usual(BODY(USUAL,
                   {
                     Ring<4> ring = {};
                     for (int j = 0; j < k; ++j)
                       if (b[j] > 0) ring.push(b[j]);
                     auto above = [&](int j) { return b[j] > k; };
                     w = ring.sum() + 1000 * count_if(0, k, above) + ring.at[ring.next];
                     Hit hit = nearest(a, x, k < n ? k : (int)n);
                     z = hit.is_hit ? hit.distance + hit.index : -1;
                     if (x < 0)
                       z += bilinear(a, x * k + k);
                     else
                       z += bilinear(a, k * 0.75f);
                   }),
              kHelpers);
}

PREAMBLE(
    kRecursive,
    __device__ int fibonacci(int j) { return j < 2 ? j : fibonacci(j - 1) + fibonacci(j - 2); } int is_odd(int j);
    __device__ int is_even(int j) { return j == 0 ? 1 : is_odd(j - 1); } __device__ int is_odd(int j) {
      return j == 0 ? 0 : is_even(j - 1) + 2;
    })

TEST(SpmdHelpers, RecursionRunsWithoutLanes) {
  check_usual(BODY(USUAL,
                   {
                     w = fibonacci(k);
                     z = x > 0 ? is_even(k) : -x;
                   }),
              kRecursive, false);
}

// Whether these are widened is the compiler's choice; their answers are not.

PREAMBLE(
    kKept, __noinline__ float halved(float y, int m) {
      for (int j = 0; j < m; ++j) y = y * 0.5f + j;
      return y;
    })

TEST(SpmdHelpers, ThatAreNotToBeInlined) {
  KernelSpec spec = kUsual;
  spec.preamble = kKept;
  spec.is_report_checked = false;
  check(spec,
        BODY(USUAL,
             {
               z = x > 0 ? halved(x, k) : 3;
               if (k > 3) z += halved(z, t);
             }),
        usual(6, 15));
}

PREAMBLE(
    kBehindPointers,
    __noinline__ float summed(float* m, int count) {
      float sum = 0;
      for (int j = 0; j < count; ++j) {
        sum += m[j];
        m[j] = sum;
      }
      return sum;
    } int deeper(int* path, int at, int depth) {
      path[depth] = at;
      if (depth == 3 || at % 5 == 0) return depth;
      return deeper(path, at / 2 + depth, depth + 1);
    })

TEST(SpmdHelpers, ThatGetLocalsAndAreNotInlined) {
  KernelSpec spec = kUsual;
  spec.preamble = kBehindPointers;
  spec.is_report_checked = false;
  check(spec,
        BODY(USUAL,
             {
               float m[16];
               for (int j = 0; j < 16; ++j) m[j] = x + j;
               z = k > 3 ? summed(m, k) : m[k];
               z += m[t] + m[k / 2];
             }),
        usual(6, 15));
  check(spec,
        BODY(USUAL,
             {
               int path[4] = {};
               w = deeper(path, k + t, 0);
               w += 10 * path[1] + 1000 * path[w & 3];
             }),
        usual(6, 15));
}

PREAMBLE(
    kChoices, __device__ int add(int p, int q) { return p + q; } __device__ int multiply(int p, int q) {
      return p * q;
    } __device__ int larger(int p, int q) { return p > q ? p : q; })

TEST(SpmdHelpers, CalledThroughPointers) {
  KernelSpec spec = kUsual;
  spec.preamble = kChoices;
  spec.is_report_checked = false;
  check(spec,
        BODY(USUAL,
             {
               int (*const all[])(int, int) = {add, multiply, larger};
               int (*chosen)(int, int) = x > 0 ? add : multiply;
               w = chosen(k, t) * 100 + all[k % 3](k, 5);
               z = k > 7 ? all[2](k, 10) : 1;
             }),
        usual(6, 15));
}

}  // namespace
}  // namespace iruka::test
