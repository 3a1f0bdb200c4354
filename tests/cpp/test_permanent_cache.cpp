// Values that are kept by key: one a key, found again, made by many threads at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ops/permanent_cache.h"

namespace iruka::ops {
namespace {

TEST(PermanentCache, FindsWhatItHoldsAndNothingElse) {
  static constinit PermanentCache<int, std::string> kept;
  EXPECT_EQ(kept.find(3), nullptr);
  std::vector<int> keys(500);
  std::iota(keys.begin(), keys.end(), 0);
  std::ranges::shuffle(keys, std::mt19937(7));
  for (const int key : keys) kept.get(key * 2, [&] { return std::to_string(key); });
  for (const int key : keys) {
    ASSERT_NE(kept.find(key * 2), nullptr);
    EXPECT_EQ(*kept.find(key * 2), std::to_string(key));
    EXPECT_EQ(kept.find(key * 2 + 1), nullptr);
  }
}

TEST(PermanentCache, MakesNothingForAKeyThatItHolds) {
  static constinit PermanentCache<std::pair<int, bool>, int> kept;
  int made = 0;
  const int& first = kept.get({1, false}, [&] { return ++made; });
  const int& second = kept.get({1, false}, [&] { return ++made; });
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(kept.get({1, true}, [&] { return ++made; }), 2);
}

TEST(PermanentCache, HoldsNothingWhereMakingFails) {
  static constinit PermanentCache<int, int> kept;
  EXPECT_THROW(kept.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(kept.find(1), nullptr);
  EXPECT_EQ(kept.get(1, [] { return 5; }), 5);
}

TEST(PermanentCache, ThreadsAgreeOnOneValueAKey) {
  static constinit PermanentCache<int, int> kept;
  constexpr int kThreads = 8, kKeys = 300;
  std::vector<std::vector<const int*>> seen(kThreads);
  std::atomic<int> number{0};
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int key = 0; key < kKeys; ++key) seen[t].push_back(&kept.get(key ^ 85, [&] { return number.fetch_add(1); }));
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(seen[t], seen[0]);
  for (int key = 0; key < kKeys; ++key) EXPECT_EQ(kept.find(key ^ 85), seen[0][key]);
}

}  // namespace
}  // namespace iruka::ops
