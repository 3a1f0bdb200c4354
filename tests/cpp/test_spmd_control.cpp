// Elements as lanes: branches and loops that lanes take differently.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "spmd_usual.h"

namespace iruka::test {
namespace {

template <class F>
void check_usual(const Body<F>& body, int32_t t = 5) {
  check(kUsual, body, usual(t, 20));
}

// Branches.

TEST(SpmdBranches, TwoSides) {
  check_usual(BODY(USUAL, {
    if (x > 0) {
      z = x * 2;
      w = k;
    } else {
      z = 1 - x;
    }
  }));
}

TEST(SpmdBranches, OneSide) {
  check_usual(BODY(USUAL, {
    float y = x;
    if (k > 10) y = y * y + a[i];
    z = y;
    if (y < 0) w += 3;
  }));
}

TEST(SpmdBranches, Nested) {
  check_usual(BODY(USUAL, {
    int path = 1;
    if (x > 0) {
      path = 2;
      if (k > 10) {
        path = 3;
        if (k & 1)
          path += 10;
        else
          z = x;
        path *= 2;
      } else if (k > 5) {
        if (a[i] > x) path = 7;
      }
      path += 100;
    } else if (k == 0) {
      path = -1;
    }
    w = path;
  }));
}

TEST(SpmdBranches, Chains) {
  check_usual(BODY(USUAL, {
    if (k < 2)
      z = 1;
    else if (k < 4)
      z = x;
    else if (k < 6)
      z = a[i];
    else if (k < 8)
      w = 7;
    else if (x < 0)
      z += 2;
    else if (k == 15)
      w -= k;
    else
      z = b[k];
  }));
}

TEST(SpmdBranches, TernariesAndLogic) {
  check_usual(BODY(USUAL, {
    z = k > 10 ? x > 0 ? x : -x : k == 3 ? 100 : a[i] / 2;
    w = (k > 3 && x > 0) + 2 * (k < 7 || a[i] > 0) + 4 * !(x == 0 || (k & 1 && a[i] < 5));
  }));
}

TEST(SpmdBranches, ShortCircuitsGuardReads) {
  check_usual(BODY(USUAL, {
    w = 0;
    if (i + 1 < n && a[i + 1] > x) w += 1;
    if (i < 1 || a[i - 1] < x) w += 2;
    if (k < 20 && b[3 * k + 3] > 0 && (k == 0 || b[k - 1] < 0)) w += 4;
    z = i >= 4 && i + 4 < n ? a[i - 4] + a[i + 4] : x;
  }));
}

TEST(SpmdBranches, SidesOfUniformChoiceInsideDivergentOnes) {
  for (const int32_t t : {0, 3, 8})
    check_usual(BODY(USUAL,
                     {
                       w = k;
                       if (x > 0) {
                         if (t > 2)
                           w += 10;
                         else
                           w -= 10;
                         if (t == 8) z = x;
                       }
                       if (t == 3) {
                         if (k > 5) z = a[i];
                       } else {
                         w += t > 5 && k > 7 ? 1000 : 0;
                       }
                     }),
                t);
}

TEST(SpmdSwitches, DenseWithFallingThrough) {
  check_usual(BODY(USUAL, {
    w = 0;
    switch (k) {
      case 0: z = 1; break;
      case 1: z = x; [[fallthrough]];
      case 2: w += 2; [[fallthrough]];
      case 3: w += 3; break;
      case 4:
      case 5: {
        if (x > 0) break;
        w = 45;
      } break;
      case 7: z = a[i]; continue;
      case 8: return;
      default:
        z = -x;
        w -= 1;
        [[fallthrough]];
      case 20: w += 20;
    }
    w += 1000;
  }));
}

TEST(SpmdSwitches, SparseAndWide) {
  check({"int64 m, uint8 c", "int32 w, float32 z"},
        BODY((int64_t m, uint8_t c, int32_t& w, float& z),
             {
               switch (m) {
                 case -5: w = 1; break;
                 case 1000000007: w = 2; break;
                 case 1ll << 40: w = c; break;
                 case 0: w = 4; break;
                 default: w = 5;
               }
               switch (c) {
                 case 'a': z = 1; break;
                 case 200: z = 2; break;
                 case 255: z += w;
               }
             }),
        [](int64_t n) {
          auto m = integers<int64_t>(n, 1, 0, 4);
          const int64_t cases[] = {-5, 1000000007, int64_t{1} << 40, 0, 12};
          for (int64_t& value : m) value = cases[value];
          auto c = integers<uint8_t>(n, 2, 0, 3);
          for (uint8_t& value : c) value = "a\xC8\xFFz"[value];
          return operands(plain(m), plain(c), out<int32_t>(n), out<float>(n));
        });
}

TEST(SpmdSwitches, InLoops) {
  check_usual(BODY(USUAL, {
    w = 0;
    z = 0;
    for (int j = 0; j < 12; ++j) {
      switch ((b[j] + k) & 3) {
        case 0: continue;
        case 1: w += j; break;
        case 2:
          if (w > 20) goto out;
          [[fallthrough]];
        default: z += x;
      }
      w += 1;
    }
    z += 0.5f;
  out:
    w *= 2;
  }));
}

TEST(SpmdSwitches, OfAUniformValue) {
  for (const int32_t t : {0, 1, 2, 9})
    check_usual(BODY(USUAL,
                     {
                       switch (t) {
                         case 0: z = x; break;
                         case 1:
                           if (x > 0) break;
                           [[fallthrough]];
                         case 2: w = k; break;
                         default: w = b[k];
                       }
                     }),
                t);
}

// Loops.

TEST(SpmdLoops, OwnNumberOfRounds) {
  check_usual(BODY(USUAL, {
    int sum = 0;
    float product = 1;
    for (int j = 0; j < k; ++j) {
      sum += b[j] * j;
      product = product * 0.5f + x;
    }
    w = sum;
    z = product;
  }));
}

TEST(SpmdLoops, WhileAndDo) {
  check({"int32 k", "int32 steps, int64 most"},
        BODY((int32_t k, int32_t& steps, int64_t& most),
             {
               int64_t value = k;
               int count = 0;
               most = value;
               while (value != 1) {
                 value = value % 2 ? 3 * value + 1 : value / 2;
                 if (value > most) most = value;
                 ++count;
               }
               int64_t digits = k;
               do {
                 count += 1000;
                 digits /= 10;
               } while (digits > 0);
               steps = count;
             }),
        [](int64_t n) { return operands(plain(integers<int32_t>(n, 1, 1, 3000)), out<int32_t>(n), out<int64_t>(n)); });
}

TEST(SpmdLoops, BreakAndContinueByData) {
  check_usual(BODY(USUAL, {
    w = 0;
    for (int j = 0; j < 40; ++j) {
      if (b[j] < -30) continue;
      if (b[j] + k > 60) break;
      if ((j + k) % 3 == 0) continue;
      w += j;
    }
    z = w > 100 ? x : a[i];
  }));
}

TEST(SpmdLoops, ValuesThatLeaveWithTheirLane) {
  // The counter is one value for all lanes in the loop, and its own for each lane behind it.
  check_usual(BODY(USUAL, {
    int j = 0;
    float last = -1;
    for (;; ++j) {
      if (b[j & 63] > 3 * k - 30 || j > 50) break;
      last = b[j & 63];
    }
    w = j;
    z = last;
    while (j > k) j -= 3;
    w += 1000 * (j + 10);
  }));
}

TEST(SpmdLoops, ExitsToDifferentPlaces) {
  check_usual(BODY(USUAL, {
    int j = 0;
    for (;;) {
      if (b[j] == k) {
        z = j + 0.25f;
        w = 1;
        break;
      }
      if (b[j] > 40) {
        z = x;
        return;
      }
      if (++j == 30) goto none;
      if (j == t * 5) {
        w = -j;
        break;
      }
    }
    w += 7;
    return;
  none:
    w = 99;
  }));
}

TEST(SpmdLoops, UniformAndDivergentExitsOfOneLoop) {
  for (const int32_t t : {0, 1, 7, 19})
    check_usual(BODY(USUAL,
                     {
                       int j = 0;
                       for (; j < t; ++j) {
                         if (b[j] > k) break;
                         if (j == 15) break;
                       }
                       w = j;
                       int m = 0;
                       while (m < k) {
                         if (m == t) {
                           m += 100;
                           break;
                         }
                         ++m;
                       }
                       z = m;
                     }),
                t);
}

TEST(SpmdLoops, UniformLoopsInDivergentBranchesAndLoops) {
  check_usual(BODY(USUAL, {
    w = 0;
    if (x > 0)
      for (int j = 0; j < t; ++j) w += b[j + k] * j;
    for (int j = 0; j < k; ++j)
      for (int m = 0; m < t; ++m) w += (b[m] ^ j) & 15;
    z = 0;
    for (int m = 0; m < t; ++m) {
      if (k < m) continue;
      for (int j = k; j > m; j -= 2) z += j * x;
    }
  }));
}

TEST(SpmdLoops, NestedBreaks) {
  check_usual(BODY(USUAL, {
    w = 0;
    bool is_found = false;
    for (int y = 0; y < 8 && !is_found; ++y) {
      for (int j = 0; j < 8; ++j) {
        if (b[8 * y + j] < -45) break;
        if (b[8 * y + j] == 2 * k) {
          is_found = true;
          w += 500;
          break;
        }
        if (b[8 * y + j] < k - 10) continue;
        w += 1;
      }
      if (w > 30) break;
      w += 2;
    }
    z = is_found ? w : -w;
  }));
}

TEST(SpmdLoops, ReturnsFromTheMiddle) {
  check_usual(BODY(USUAL, {
    w = -1;
    for (int y = 0; y < 6; ++y) {
      for (int j = 0; j <= y; ++j) {
        for (int m = 0; m < 3; ++m) {
          z = y * 100 + j * 10 + m;
          if (b[y + j + m] - k > 20) return;
          if (m == k) {
            w = m;
            return;
          }
        }
        if (z > 200 + 20 * k) break;
      }
      if (k == 19 && y == 2) continue;
    }
    w = 5;
  }));
}

TEST(SpmdLoops, WithoutEndButAReturn) {
  check_usual(BODY(USUAL, {
    int j = k;
    while (true) {
      j = (j * 5 + 3) % 64;
      z += 1;
      if (b[j] > 10) {
        w = j;
        return;
      }
      if (z > 160) return;
    }
  }));
}

TEST(SpmdLoops, SomeLanesNeverEnter) {
  check_usual(BODY(USUAL, {
    w = 1;
    if (k > 12) {
      for (int j = 13; j < k; ++j) w = w * 2 % 1013;
    }
    for (int j = k; j > 17; --j) {
      int m = j;
      while (m > 15) {
        m -= 2;
        if (x < 0) break;
        z += 0.5f;
      }
      w += m;
    }
  }));
}

TEST(SpmdLoops, SeveralValuesGoAround) {
  check_usual(BODY(USUAL, {
    int p = 0;
    int q = 1;
    int before = -1;
    float y = x;
    for (int j = 0; j < k; ++j) {
      int next = (p + q) % 1000;
      before = p;
      p = q;
      q = next;
      float kept = y;
      y = j & 1 ? y / 2 + j : -kept;
    }
    w = p * 1000 + before;
    z = y;
  }));
}

TEST(SpmdLoops, RoundsOfOneLaneDoNotReachAnother) {
  // A lane that has left holds its values while others go on, also those that the loop would still change.
  check_usual(BODY(USUAL, {
    float value = x;
    int left = k;
    int product = 1;
    while (left > 0) {
      value += a[i] / 4;
      left -= 1 + (left & 1);
      product = product * (left + 2) % 997;
      if (value > 30 || value < -30) break;
    }
    z = value;
    w = product + 1000 * left;
  }));
}

TEST(SpmdLoops, FourDeep) {
  check_usual(BODY(USUAL, {
    w = 0;
    for (int p = 0; p < 3; ++p) {
      if (p == k % 4) continue;
      for (int q = p; q < 4; ++q)
        for (int r = 0; r < k % 5; ++r) {
          int s = r;
          while (s < 6) {
            w += b[p + q + s] > x ? 1 : 2;
            s += 1 + (b[s] & 1);
            if (w % 50 == 49) break;
            if (w > 300) return;
          }
          if (s > 6) break;
        }
    }
    z = w;
  }));
}

TEST(SpmdLoops, CountDownAndUnusualSteps) {
  check_usual(BODY(USUAL, {
    w = 0;
    for (int j = 20; j >= k; --j) w += b[j];
    for (unsigned j = 1; j < 1u << (k & 7); j <<= 1) w ^= (int)j;
    for (int j = 0; j * j < k; ++j) w += j;
    z = 0;
    for (float f = x; f < 20; f += 6.5f) z += f;
    for (uint8_t j = 250; j != (uint8_t)(k * 3); ++j) z += 1;
  }));
}

TEST(SpmdLoops, LoopsInLoopsInBranches) {
  check_usual(BODY(USUAL, {
    w = 0;
    for (int y = -2; y <= 2; ++y) {
      if (y + k < 0) continue;
      if (x > 0) {
        for (int j = -2; j <= 2; ++j) {
          if (i + j < 0 || i + j >= n) continue;
          if (a[i + j] > x) {
            for (int m = 0; m < y + 2; ++m) w += b[(m + k) & 63];
          } else if (y == j) {
            break;
          }
        }
      } else if (y == 1) {
        w += 1000;
      }
    }
    z = w;
  }));
}

// Jumps.

TEST(SpmdJumps, Forward) {
  check_usual(BODY(USUAL, {
    w = 0;
    if (k > 15) goto far;
    w += 1;
    if (x > 0) goto near;
    w += 10;
    if (k == 3) goto far;
  near:
    w += 100;
  far:
    w += 1000;
    z = x;
  }));
}

TEST(SpmdJumps, BackwardMakesALoop) {
  check_usual(BODY(USUAL, {
    int j = 0;
    w = 0;
  again:
    w += b[j];
    if (++j < k) goto again;
    if (w < 0 && j < 30) {
      w += 60;
      ++j;
      goto again;
    }
    z = j;
  }));
}

TEST(SpmdJumps, IntoALoopRunWithoutLanes) {
  KernelSpec spec = kUsual;
  spec.is_widened = false;
  check(spec,
        BODY(USUAL,
             {
               int j = k;
               w = 0;
               if (x > 0) goto middle;
             top:
               w += 3;
               if (w > 200) goto out;
             middle:
               w += b[j & 63] & 7;
               j = (j * 3 + 1) & 63;
               if (w % 11 != k % 11) goto top;
             out:
               z = j;
             }),
        usual(0, 20));
}

// What ends an element and not the process.

TEST(SpmdEnds, MissingReturnsAndTraps) {
  KernelSpec spec = kUsual;
  spec.preamble = "static inline int positive(int v) { if (v > 0) return v; }";
  check(spec,
        BODY_AND_MEANING("w = k; z = x; if (k == 3) __builtin_trap(); if (k != 3 && k > 0) w = positive(k) + t;", USUAL,
                         {
                           w = k > 0 && k != 3 ? k + t : k;
                           z = x;
                         }),
        usual(2, 20));
}

// Texts as people write them.

TEST(SpmdTexts, Mandelbrot) {
  check({"float32 cr, float32 ci, int32 most", "int32 w"},
        BODY((float cr, float ci, int32_t most, int32_t& w),
             {
               float re = 0, im = 0;
               int round = 0;
               while (round < most && re * re + im * im <= 4) {
                 float next = re * re - im * im + cr;
                 im = 2 * re * im + ci;
                 re = next;
                 ++round;
               }
               w = round;
             }),
        [](int64_t n) {
          std::vector<float> re = quarters<float>(n, 1), im = quarters<float>(n, 2);
          for (float& value : re) value /= 20;
          for (float& value : im) value /= 30;
          return operands(plain(re), plain(im), scalar(int32_t{60}), out<int32_t>(n));
        });
}

TEST(SpmdTexts, BinarySearch) {
  check({"int32 wanted, raw int32 sorted", "int32 place"},
        BODY((int32_t wanted, CArray<int32_t, 1>& sorted, int32_t& place),
             {
               int low = 0, high = sorted.size();
               while (low < high) {
                 int middle = low + (high - low) / 2;
                 if (sorted[middle] < wanted)
                   low = middle + 1;
                 else
                   high = middle;
               }
               place = low;
             }),
        [](int64_t n) {
          auto sorted = integers<int32_t>(n, 1, -1000, 1000);
          std::sort(sorted.begin(), sorted.end());
          return operands(plain(integers<int32_t>(n, 2, -1100, 1100)), raw(sorted), out<int32_t>(n));
        });
}

TEST(SpmdTexts, GreatestCommonDivisorsAndPrimes) {
  check({"uint32 p, uint32 q", "uint32 gcd, bool prime"},
        BODY((uint32_t p, uint32_t q, uint32_t& gcd, uint8_t& prime),
             {
               uint32_t u = p, v = q;
               while (v) {
                 uint32_t rest = u % v;
                 u = v;
                 v = rest;
               }
               gcd = u;
               prime = p > 1;
               for (uint32_t d = 2; d * d <= p; d++)
                 if (p % d == 0) {
                   prime = false;
                   break;
                 }
             }),
        [](int64_t n) {
          return operands(plain(integers<uint32_t>(n, 1, 0, 10000)), plain(integers<uint32_t>(n, 2, 0, 5000)),
                          out<uint32_t>(n), as_bool(plain(integers<uint8_t>(n, 3, 0, 1))));
        });
}

TEST(SpmdTexts, NewtonUntilItStands) {
  check({"float64 x", "float64 root, int32 rounds"},
        BODY((double x, double& root, int32_t& rounds),
             {
               double y = x > 1 ? x : 1;
               int count = 0;
               for (;;) {
                 double next = 0.5 * (y + x / y);
                 if (next >= y) break;
                 y = next;
                 count++;
               }
               root = y;
               rounds = count;
             }),
        [](int64_t n) {
          auto x = quarters<double>(n, 1);
          for (double& value : x) value = std::ldexp(std::abs(value) + 0.1, static_cast<int>(value));
          return operands(plain(x), out<double>(n), out<int32_t>(n));
        });
}

TEST(SpmdTexts, MeanOfAWindowWithBorders) {
  check({"raw float32 image, int32 width, int32 height", "float32 z"},
        BODY((CArray<float, 2> & image, int32_t width, int32_t height, float& z),
             {
               int x = i % width, y = i / width;
               float sum = 0;
               int count = 0;
               for (int dy = -1; dy <= 1; dy++)
                 for (int dx = -1; dx <= 1; dx++) {
                   int idx[] = {y + dy, x + dx};
                   if (idx[0] < 0 || idx[0] >= height || idx[1] < 0 || idx[1] >= width) continue;
                   sum += image[idx];
                   count++;
                 }
               z = sum / count;
             }),
        [](int64_t width) {
          const int64_t height = width % 5 + 1;
          return operands(raw<float, 2>(quarters<float>(width * height, 1), {height, width}),
                          scalar(static_cast<int32_t>(width)), scalar(static_cast<int32_t>(height)),
                          plain(quarters<float>(width * height, 2), {height, width}));
        });
}

// Interrupts.

std::atomic<int> questions{0};
bool at_the_first_question() noexcept { return ++questions >= 1; }

class SpmdInterrupts : public testing::Test {
 protected:
  void SetUp() override { set_interrupt_check(at_the_first_question); }
  void TearDown() override {
    set_interrupt_check(nullptr);
    set_thread_count(3);
  }

  /// Every kernel is stopped, on the pool and on the calling thread only; the next call is not affected.
  static void expect_stops(const char* text) {
    const LaneKernels kernels({"int32 k", "int32 z"}, text);
    const LaneKernels after({"int32 k", "int32 z"}, "z = k + 1;");
    for (const auto& [threads, n] : {std::pair<int, int64_t>{3, 300}, {1, 16}, {1, 5}}) {
      set_thread_count(threads);
      auto values = integers<int32_t>(n, 1, 0, 6);
      values[1] = 4;  // in every body a lane that stays
      const Array k = Array::from(std::span<const int32_t>(values), {n});
      for (size_t choice = 0; choice < kernels.kernels().size(); ++choice) {
        questions = 0;
        EXPECT_THROW(kernels.kernels()[choice](k), Interrupted) << kernels.kernels()[choice].name() << ": " << text;
        EXPECT_EQ(questions, 1);
        questions = -1000;
        auto expected = values;
        for (int32_t& value : expected) ++value;
        EXPECT_EQ(after.kernels()[choice](k).to_vector<int32_t>(), expected);
      }
    }
  }
};

TEST_F(SpmdInterrupts, EndALoopThatSomeLanesNeverLeave) {
  expect_stops("int j = k; while (j != 60) { j += 3; if (j > 57) j -= 50; if (k < 3) break; } z = j;");
}

TEST_F(SpmdInterrupts, EndALoopOfAllLanes) { expect_stops("unsigned u = k; while (true) u = u * 3 + 1; z = u;"); }

TEST_F(SpmdInterrupts, EndAnEndlessLoopInABranchInALoop) {
  expect_stops(
      "z = 0; for (int j = 0; j < k; ++j) { z += j; if (j == 3) { unsigned m = k;"
      "  while (m != 7) m = m * 5 + 8 & 0xFFFF; z += m; } }");
}

}  // namespace
}  // namespace iruka::test
