// Elements as lanes: atomic operations, which every lane does for itself.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>

#include "spmd_testing.h"

namespace iruka::test {
namespace {

/// Runs `text` over `x` and an array of counters with every choice of lanes; want(x, counters) are the counters after.
template <class T, class Want>
void check_counters(const char* text, const std::vector<T>& start, Want want, bool is_signed = true) {
  const LaneKernels kernels({"int32 x, _non_const raw T c", ""}, text);
  for (const int64_t n : {1, 3, 7, 8, 9, 16, 31, 64, 100, 20'011}) {
    const auto x = integers<int32_t>(n, 7, is_signed ? -20 : 0, 100);
    std::vector<T> expected = start;
    for (const int32_t value : x) want(value, expected);
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const Array counters = Array::from(std::span<const T>(start), {static_cast<int64_t>(start.size())});
      kernel.call(std::vector<Argument>{Array::from(std::span<const int32_t>(x), {n}), counters});
      ASSERT_EQ(counters.template to_vector<T>(), expected) << kernel.name() << ", " << n << " elements: " << text;
    }
  }
}

template <class T>
class SpmdAtomics : public testing::Test {};
using Numbers = testing::Types<int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(SpmdAtomics, Numbers);

TYPED_TEST(SpmdAtomics, SumsAndExtremes) {
  using T = TypeParam;
  check_counters<T>(
      "atomicAdd(&c[0], x); atomicSub(&c[1], 2 * x); atomicMin(&c[2], x * 3); atomicMax(&c[3], x + 5);"
      "atomicAdd(&c[4 + x % 5], 1);",
      {0, 100, 250, 7, 0, 0, 0, 0, 0},
      [](int32_t x, std::vector<T>& c) {
        c[0] += static_cast<T>(x);
        c[1] -= static_cast<T>(2 * x);
        c[2] = std::min(c[2], static_cast<T>(x * 3));
        c[3] = std::max(c[3], static_cast<T>(x + 5));
        c[static_cast<size_t>(4 + x % 5)] += 1;
      },
      false);
}

TYPED_TEST(SpmdAtomics, UnderDivergentControl) {
  using T = TypeParam;
  check_counters<T>(
      "if (x & 1) atomicAdd(&c[0], x); else if (x > 50) atomicMax(&c[1], x);"
      "for (int j = 0; j < x % 7; ++j) { atomicAdd(&c[2 + j], 1); if (x % 11 == j) break; }"
      "if (x < 90) return; atomicAdd(&c[9], 1);",
      std::vector<T>(10, T(3)),
      [](int32_t x, std::vector<T>& c) {
        if (x & 1)
          c[0] += static_cast<T>(x);
        else if (x > 50)
          c[1] = std::max(c[1], static_cast<T>(x));
        for (int j = 0; j < x % 7; ++j) {
          c[static_cast<size_t>(2 + j)] += 1;
          if (x % 11 == j) break;
        }
        if (x >= 90) c[9] += 1;
      },
      false);
}

template <class T>
class SpmdAtomicBits : public testing::Test {};
using Integers = testing::Types<int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(SpmdAtomicBits, Integers);

TYPED_TEST(SpmdAtomicBits, AndOrXorIncDec) {
  using T = TypeParam;
  check_counters<T>(
      "atomicOr(&c[0], 1 << (x & 15)); if (x > 20) atomicAnd(&c[1], ~(1 << x % 20)); atomicXor(&c[2 + (x & 1)], x);"
      "atomicInc(&c[4], 6); if (x % 3) atomicDec(&c[5], 12);",
      {0, 0xFFFFF, 5, 6, 0, 9},
      [](int32_t x, std::vector<T>& c) {
        c[0] |= T(1) << (x & 15);
        if (x > 20) c[1] &= ~(T(1) << x % 20);
        c[static_cast<size_t>(2 + (x & 1))] ^= static_cast<T>(x);
        c[4] = c[4] >= 6 ? 0 : c[4] + 1;
        if (x % 3) c[5] = c[5] == 0 ? 12 : c[5] - 1;
      },
      false);
}

TEST(SpmdAtomic, SmallAndComplexNumbers) {
  check_counters<int16_t>("atomicAdd(&c[x & 3], 1); atomicMin(&c[4], x);", {0, 0, 0, 0, 50},
                          [](int32_t x, std::vector<int16_t>& c) {
                            c[static_cast<size_t>(x & 3)] += 1;
                            c[4] = std::min(c[4], static_cast<int16_t>(x));
                          });
  check_counters<uint8_t>("atomicAdd(&c[x & 3], x);", {0, 0, 0, 0}, [](int32_t x, std::vector<uint8_t>& c) {
    c[static_cast<size_t>(x & 3)] += static_cast<uint8_t>(x);
  });
  using C = std::complex<float>;
  check_counters<C>("atomicAdd(&c[x & 1], complex<float>(x, 1)); if (x > 0) atomicSub(&c[2], complex<float>(1, x));",
                    {{0, 0}, {1, 2}, {0, 0}}, [](int32_t x, std::vector<C>& c) {
                      c[static_cast<size_t>(x & 1)] += C(static_cast<float>(x), 1);
                      if (x > 0) c[2] -= C(1, static_cast<float>(x));
                    });
}

TEST(SpmdAtomic, HalfPrecisionCountsToItsLimit) {
  const LaneKernels kernels({"int32 x, _non_const raw float16 c, _non_const raw bfloat16 d", ""},
                            "if (x) { atomicAdd(&c[0], 1); atomicAdd(&d[0], 1); } atomicMax(&c[1], x);");
  for (const int64_t n : {1, 5, 16, 40, 250}) {
    const auto x = integers<int32_t>(n, 3, 0, 9);
    const auto counted = static_cast<float>(n - std::count(x.begin(), x.end(), 0));
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const Array c = zeros({2}, Dtype::float16), d = zeros({1}, Dtype::bfloat16);
      kernel.call(std::vector<Argument>{Array::from(std::span<const int32_t>(x), {n}), c, d});
      EXPECT_EQ(c.astype(Dtype::float32).to_vector<float>(),
                (std::vector<float>{counted, static_cast<float>(*std::max_element(x.begin(), x.end()))}))
          << kernel.name();
      EXPECT_EQ(d.astype(Dtype::float32).to_vector<float>(), std::vector<float>{counted}) << kernel.name();
    }
  }
}

/// Old values that atomics returned to the elements, in any order.
template <class T>
void check_tickets(const char* text, T first, int64_t taken_every) {
  const LaneKernels kernels({"int32 x, _non_const raw T c", "T ticket"}, text);
  for (const int64_t n : {1, 2, 7, 8, 9, 33, 100, 5003}) {
    std::vector<int32_t> x(static_cast<size_t>(n));
    std::iota(x.begin(), x.end(), 0);
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const Array counter = Array::from<T>({first});
      Array tickets = Array::empty({n}, dtype_of<T>);
      tickets.assign(Array::from<T>({T(-1)}));
      kernel.call(std::vector<Argument>{Array::from(std::span<const int32_t>(x), {n}), counter, tickets});
      auto drawn = tickets.template to_vector<T>();
      std::vector<T> kept;
      for (int64_t k = 0; k < n; ++k) {
        if (k % taken_every == 0)
          kept.push_back(drawn[static_cast<size_t>(k)]);
        else
          ASSERT_EQ(drawn[static_cast<size_t>(k)], T(-1)) << kernel.name() << " " << k;
      }
      std::sort(kept.begin(), kept.end());
      for (size_t k = 0; k < kept.size(); ++k)
        ASSERT_EQ(kept[k], static_cast<T>(first + static_cast<T>(k))) << kernel.name() << " " << text;
      ASSERT_EQ(counter.template to_vector<T>()[0], static_cast<T>(first + static_cast<T>(kept.size())))
          << kernel.name();
    }
  }
}

TEST(SpmdAtomic, OldValuesGoToTheLaneThatAsked) {
  check_tickets<int32_t>("ticket = atomicAdd(&c[0], 1);", 5, 1);
  check_tickets<uint64_t>("if (x % 3 == 0) ticket = atomicAdd(&c[0], 1);", 0, 3);
  check_tickets<float>("if (x % 2 == 0) ticket = atomicAdd(&c[0], 1);", 2.5f, 2);
  check_tickets<double>("ticket = atomicAdd(&c[0], 1);", 0, 1);
  check_tickets<int64_t>("if (x % 5 == 0) ticket = atomicInc(&c[0], 1000000);", 1, 5);
}

TEST(SpmdAtomic, OnWhatBelongsToTheElement) {
  const LaneKernels kernels(
      {"int32 x, float32 y", "int32 z, float32 w"},
      "int own = 5; if (x > 3) atomicAdd(&own, x); int m[4] = {1, 2, 3, 4}; atomicMax(&m[x & 3], 3);"
      "atomicSub(&z, x); z += own * 100 + m[0] + m[x & 3] * 10; w = 0; atomicAdd(&w, y); if (x & 1) atomicExch(&w, "
      "8);");
  for (const int64_t n : {1, 5, 8, 16, 33, 200}) {
    const auto x = integers<int32_t>(n, 1, 0, 9);
    const auto y = quarters<float>(n, 2);
    std::vector<int32_t> z(x.size(), 7);
    std::vector<float> w(x.size());
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      Array given = Array::from(std::span<const int32_t>(z), {n}), other = Array::from(std::span<const float>(w), {n});
      kernel(Array::from(std::span<const int32_t>(x), {n}), Array::from(std::span<const float>(y), {n}), given, other);
      const auto got = given.to_vector<int32_t>();
      const auto exchanged = other.to_vector<float>();
      for (size_t k = 0; k < x.size(); ++k) {
        const int32_t own = x[k] > 3 ? 5 + x[k] : 5, place = x[k] & 3;
        const int32_t largest = std::max(place + 1, 3), first = place == 0 ? largest : 1;
        ASSERT_EQ(got[k], 7 - x[k] + own * 100 + first + largest * 10) << kernel.name() << " " << k;
        ASSERT_EQ(exchanged[k], x[k] & 1 ? 8 : y[k]) << kernel.name() << " " << k;
      }
    }
  }
}

TEST(SpmdAtomic, CompareAndSwapInLoops) {
  check_counters<int32_t>(
      "int old = c[0]; while (true) { int seen = atomicCAS(&c[0], old, old + x); if (seen == old) break; old = seen; }",
      {0}, [](int32_t x, std::vector<int32_t>& c) { c[0] += x; });
  check_counters<float>(
      "int* bits = (int*)&c[0]; int old = *bits, seen; do { seen = old;"
      "  old = atomicCAS(bits, seen, __float_as_int(__int_as_float(seen) + x)); } while (old != seen);",
      {0.5f}, [](int32_t x, std::vector<float>& c) { c[0] += static_cast<float>(x); });
}

TEST(SpmdAtomic, OneElementAtATimeHoldsALock) {
  // A lane that fails tries again only after the others have completed their iteration.
  check_counters<int32_t>(
      "bool done = false; while (!done) { if (atomicCAS(&c[0], 0, 1) == 0) {"
      "  volatile int* sum = &c[1]; *sum = *sum + x; __threadfence(); atomicExch(&c[0], 0); done = true; } }",
      {0, 0}, [](int32_t x, std::vector<int32_t>& c) { c[1] += x; });
}

// The lane that holds the lock would wait for the others, which wait for the lock.
TEST(SpmdAtomic, LoopsThatWaitForALockStayScalar) {
  for (const char* take : {"while (atomicCAS(&c[0], 0, 1) != 0) {}", "while (atomicExch(&c[0], 1) == 1) {}"}) {
    const std::string text =
        std::string(take) + " volatile int* sum = &c[1]; *sum = *sum + x; __threadfence(); atomicExch(&c[0], 0);";
    const LaneKernels kernels({.in = "int32 x, _non_const raw int32 c", .out = "", .is_widened = false}, text.c_str());
    const auto x = integers<int32_t>(1000, 7, -20, 100);
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const Array counters = zeros({2}, Dtype::int32);
      const Array values = Array::from(std::span<const int32_t>(x), {1000});
      kernel.call(std::vector<Argument>{values, counters});
      EXPECT_EQ(kernel.report(std::vector<Argument>{values, counters}).lanes, 1);
      EXPECT_EQ(counters.to_vector<int32_t>(), (std::vector<int32_t>{0, std::accumulate(x.begin(), x.end(), 0)}));
    }
  }
}

TEST(SpmdAtomic, ExchangeLosesNothing) {
  const LaneKernels kernels({"int32 x, _non_const raw int32 c", "int32 got"},
                            "if (x % 4 != 1) got = atomicExch(&c[x & 1], x); else got = -2;");
  for (const int64_t n : {1, 6, 8, 17, 64, 3001}) {
    std::vector<int32_t> x(static_cast<size_t>(n));
    std::iota(x.begin(), x.end(), 0);
    for (const ElementwiseKernel& kernel : kernels.kernels()) {
      const Array c = Array::from<int32_t>({-10, -11});
      const auto got = kernel(Array::from(std::span<const int32_t>(x), {n}), c).to_vector<int32_t>();
      std::multiset<int32_t> put = {-10, -11}, found;
      for (int32_t k = 0; k < n; ++k) {
        if (k % 4 != 1)
          put.insert(k), found.insert(got[static_cast<size_t>(k)]);
        else
          ASSERT_EQ(got[static_cast<size_t>(k)], -2);
      }
      for (const int32_t rest : c.to_vector<int32_t>()) found.insert(rest);
      ASSERT_EQ(found, put) << kernel.name() << ", " << n << " elements";
    }
  }
}

}  // namespace
}  // namespace iruka::test
