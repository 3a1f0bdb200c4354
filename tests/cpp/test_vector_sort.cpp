// Sorting and selection by each instruction set that this processor has, compared with std::sort.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "ops/sort/vector_sort.h"
#include "ops/sort/vector_sort_table.h"

namespace {

using namespace iruka::ops;

template <class T>
class VectorSort : public ::testing::Test {};
using Numbers = ::testing::Types<int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(VectorSort, Numbers);

/// Numbers of several distributions, the limits of T among them.
template <class T>
std::vector<std::vector<T>> samples(size_t n) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(n);
  const std::vector<T> extremes{Limits::lowest(),
                                Limits::max(),
                                T(0),
                                T(1),
                                Limits::has_infinity ? Limits::infinity() : Limits::max(),
                                Limits::has_infinity ? -Limits::infinity() : Limits::lowest()};
  const std::vector<std::function<T(size_t)>> makers{
      [&](size_t) { return static_cast<T>(static_cast<int64_t>(random())); },
      [&](size_t) { return static_cast<T>(random() % 3); },
      [&](size_t) { return extremes[random() % extremes.size()]; },
      [](size_t) { return T(7); },
      [](size_t i) { return static_cast<T>(i); },
      [n](size_t i) { return static_cast<T>(n - i); },
      [n](size_t i) { return static_cast<T>(std::min(i, n - i)); },
  };
  std::vector<std::vector<T>> result;
  for (const auto& make : makers) {
    auto& sample = result.emplace_back(n);
    for (size_t i = 0; i < n; ++i) sample[i] = make(i);
  }
  return result;
}

constexpr size_t kLengths[] = {0,  1,  2,  3,   7,   8,   15,  16,  17,  31,   33,
                               63, 64, 65, 127, 128, 129, 255, 257, 513, 1000, 20'011};

TYPED_TEST(VectorSort, SortsAsStdSort) {
  using T = TypeParam;
  for (const VectorSortTable* table : vector_sort_tables())
    for (const size_t n : kLengths)
      for (auto sample : samples<T>(n)) {
        auto expected = sample;
        std::sort(expected.begin(), expected.end());
        sample.push_back(T(42));  // stays where it is
        std::get<VectorSorts<T>>(*table).sort(sample.data(), n);
        ASSERT_EQ(sample.back(), T(42));
        sample.pop_back();
        ASSERT_EQ(sample, expected) << n;
      }
}

TYPED_TEST(VectorSort, SelectsTheRank) {
  using T = TypeParam;
  for (const VectorSortTable* table : vector_sort_tables())
    for (const size_t n : kLengths)
      for (const auto& sample : samples<T>(n))
        for (const size_t k : {size_t{0}, n / 3, n / 2, n - 1}) {
          if (n == 0) continue;
          auto selected = sample, expected = sample;
          std::sort(expected.begin(), expected.end());
          std::get<VectorSorts<T>>(*table).select(selected.data(), k, n);
          const auto at = selected.begin() + static_cast<int64_t>(k);
          ASSERT_EQ(*at, expected[k]) << n << " " << k;
          ASSERT_TRUE(std::all_of(selected.begin(), at, [&](T x) { return x <= *at; })) << n << " " << k;
          ASSERT_TRUE(std::all_of(at, selected.end(), [&](T x) { return x >= *at; })) << n << " " << k;
          std::sort(selected.begin(), selected.end());
          ASSERT_EQ(selected, expected) << "some number was lost";
        }
}

TEST(VectorSortPairs, TakeTheirValuesAlong) {
  for (const size_t n : kLengths)
    for (const auto& sample : samples<uint64_t>(n)) {
      if (n == 0) continue;
      auto keys = sample, ordered = sample;
      std::vector<uint64_t> values(n), seen(n, 0);
      for (size_t i = 0; i < n; ++i) values[i] = i;
      const size_t k = n / 2;
      vector_select_pairs(keys.data(), values.data(), static_cast<int64_t>(k), static_cast<int64_t>(n));
      std::sort(ordered.begin(), ordered.end());
      ASSERT_EQ(keys[k], ordered[k]) << n;
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(keys[i], sample[values[i]]) << n;
        ASSERT_EQ(seen[values[i]]++, 0u) << n;
        ASSERT_TRUE(i < k ? keys[i] <= keys[k] : keys[i] >= keys[k]) << n;
      }
    }
}

TEST(VectorSortDispatch, TakesTheBestThatTheProcessorHas) {
  std::vector<double> x{3, -1, 2, -0.0, 5};
  vector_select(x.data(), 2, 5);
  EXPECT_EQ(x[2], 2);
  vector_sort(x.data(), 5);
  EXPECT_EQ(x, (std::vector<double>{-1, 0, 2, 3, 5}));
}

}  // namespace
