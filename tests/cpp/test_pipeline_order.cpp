// Random numbers of samples, and which samples a shard takes in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

#include "error_of.h"
#include "iruka/error.h"
#include "iruka/pipeline.h"

namespace {

using iruka::ValueError;
using iruka::pipeline::Distribution;
using iruka::pipeline::Draws;
using iruka::pipeline::epoch_order;
using iruka::pipeline::EpochOrder;
using iruka::pipeline::LastBatch;
using iruka::pipeline::OrderOptions;
using iruka::pipeline::SampleKey;
using iruka::test::error_of;
using Kind = Distribution::Kind;

constexpr SampleKey kKey{.seed = 42, .epoch = 3, .index = 7};

// The expected numbers are of a program in Python that follows the paper of Philox 4x32-10, with the counter (index's
// low word, block and index's high half-word, epoch, place). They must never change: runs are resumed across versions.

TEST(Draws, BitsAreThoseOfPhilox) {
  Draws draws(kKey, 5);
  for (const uint32_t expected : {0x8507084cu, 0x73cbed32u, 0x956a4d67u, 0xd64e056eu, 0x5553a765u, 0x910f38eau})
    EXPECT_EQ(draws.bits(), expected);
  Draws large({.seed = (uint64_t{1} << 63) + 5, .epoch = (int64_t{1} << 31) + 1, .index = (int64_t{1} << 40) + 9},
              0xFFFFFFFEu);
  for (const uint32_t expected : {0xd2200a42u, 0x09241367u, 0xcbebddc3u, 0x0fda2921u})
    EXPECT_EQ(large.bits(), expected);
}

TEST(Draws, NumbersAreThoseOfTheBits) {
  Draws uniform(kKey, 5), normal(kKey, 5), below(kKey, 5), wide(kKey, 5);
  for (const double expected : {0x1.0a0e109cf2fb4p-1, 0x1.2ad49af593815p-1, 0x1.554e9dc8879c6p-2})
    EXPECT_EQ(uniform.uniform(), expected);
  for (const double expected : {-1.0475058786344476, 0.7139845422298153, -1.3389144133741073})
    EXPECT_NEAR(normal.normal(), expected, 1e-14);
  for (const int64_t expected : {519, 583, 333, 895, 810, 618}) EXPECT_EQ(below.below(1000), expected);
  for (const int64_t expected :
       {3594614796125501682, 4037438612833124873, 2305665739109283159, 6196131050420686977})  // one was rejected
    EXPECT_EQ(wide.below(int64_t{3} << 61), expected);
}

TEST(Draws, EveryPartOfTheKeyChangesThem) {
  const auto first = [](const SampleKey& key, uint32_t place) { return Draws(key, place).uniform(); };
  std::set<double> numbers{first(kKey, 5), first(kKey, 6)};
  for (const SampleKey& other : {SampleKey{43, 3, 7}, SampleKey{42, 4, 7}, SampleKey{42, 3, 8},
                                 SampleKey{42, 3, 7 + (int64_t{1} << 32)}, SampleKey{42 + (uint64_t{1} << 32), 3, 7}})
    numbers.insert(first(other, 5));
  EXPECT_EQ(numbers.size(), 7u);
}

TEST(Draws, AreTheSameOnEveryThread) {
  const auto numbers = [] {
    std::vector<double> drawn;
    for (int64_t index = 0; index < 100; ++index) {
      Draws draws({.seed = 1, .epoch = 2, .index = index}, 3);
      drawn.insert(drawn.end(), {draws.uniform(), draws.normal(), static_cast<double>(draws.below(77))});
    }
    return drawn;
  };
  std::vector<std::vector<double>> made(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(made.size());
    for (auto& own : made) threads.emplace_back([&] { own = numbers(); });
  }
  for (const auto& own : made) EXPECT_EQ(own, numbers());
}

/// Pearson's sum for counts that are expected to be equal.
double chi_square(const std::vector<int64_t>& counts) {
  const double expected =
      static_cast<double>(std::reduce(counts.begin(), counts.end())) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int64_t count : counts) sum += std::pow(static_cast<double>(count) - expected, 2) / expected;
  return sum;
}

TEST(Draws, AreUniformWithinASampleAndAcrossSamples) {
  constexpr int kCount = 50000;
  constexpr double kBound = 27.9;  // of 9 degrees of freedom: passed by 999 of 1000 good generators
  std::vector<int64_t> below(10), within(10), across(10), pairs(100);
  Draws draws({}, 0);
  for (int k = 0; k < kCount; ++k) {
    ++below[static_cast<size_t>(draws.below(10))];
    const double number = draws.uniform();
    ASSERT_TRUE(number >= 0 && number < 1);
    ++within[static_cast<size_t>(10 * number)];
    const auto tenth = [&](int64_t index) {
      return static_cast<size_t>(10 * Draws({.seed = 9, .epoch = 0, .index = index}, 1).uniform());
    };
    ++across[tenth(k)];
    ++pairs[10 * tenth(k) + tenth(k + 1)];
  }
  EXPECT_LT(chi_square(below), kBound);
  EXPECT_LT(chi_square(within), kBound);
  EXPECT_LT(chi_square(across), kBound);
  EXPECT_LT(chi_square(pairs), 149);  // 99 degrees of freedom
}

TEST(Draws, NormalNumbersHaveTheBellsMoments) {
  constexpr int kCount = 100000;
  Draws draws({.seed = 4}, 2);
  double sum = 0, squares = 0, fourth = 0;
  for (int k = 0; k < kCount; ++k) {
    const double number = draws.normal();
    sum += number;
    squares += number * number;
    fourth += std::pow(number, 4);
  }
  // Five standard errors: 1, the square root of 2 and of 96, over that of the count.
  const double error = 5 / std::sqrt(kCount);
  EXPECT_NEAR(sum / kCount, 0, error);
  EXPECT_NEAR(squares / kCount, 1, 1.5 * error);
  EXPECT_NEAR(fourth / kCount, 3, 9.8 * error);
}

TEST(Draws, BelowOneIsZero) {
  Draws draws(kKey, 1);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(draws.below(1), 0);
}

TEST(Distributions, AreWhatTheyAreCalled) {
  struct Case {
    Distribution distribution;
    double low, high, mean, deviation;
  };
  const Case cases[] = {
      {{Kind::constant, 2.5}, 2.5, 2.5, 2.5, 0},
      {{Kind::uniform, 2, 4}, 2, 4, 3, std::sqrt(1.0 / 3)},
      {{Kind::normal, 3, 0.5}, 0, 6, 3, 0.5},
      {{Kind::log_uniform, 0.5, 2}, 0.5, 2, 1.5 / std::log(4), 0.425},
      {{Kind::bernoulli, 0.25}, 0, 1, 0.25, std::sqrt(0.1875)},
      {{Kind::integers, 3, 7}, 3, 6, 4.5, std::sqrt(1.25)},
      {{.kind = Kind::choice, .values = {1, 10, 5}}, 1, 10, 16.0 / 3, 3.7},
      {{.kind = Kind::choice, .values = {1, 10, 5}, .weights = {1, 0, 3}}, 1, 5, 4, std::sqrt(3)},
  };
  constexpr int kCount = 20000;
  for (const Case& each : cases) {
    SCOPED_TRACE(static_cast<int>(each.distribution.kind));
    each.distribution.check("test");
    Draws draws({.seed = 8}, 1);
    double sum = 0;
    for (int k = 0; k < kCount; ++k) {
      const double number = each.distribution.draw(draws);
      ASSERT_TRUE(number >= each.low && number <= each.high) << number;
      ASSERT_TRUE(each.distribution.kind != Kind::integers || number == std::floor(number)) << number;
      ASSERT_TRUE(each.distribution.weights.empty() || number != 10);
      sum += number;
    }
    EXPECT_NEAR(sum / kCount, each.mean, 5 * each.deviation / std::sqrt(kCount) + 1e-12);
  }
}

TEST(Distributions, RefuseNumbersThatTheyDoNotHave) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::pair<Distribution, const char*> cases[] = {
      {{Kind::constant, nan}, "at: the numbers of a distribution must be finite, not nan and 0"},
      {{Kind::uniform, 0, infinity}, "at: the numbers of a distribution must be finite, not 0 and inf"},
      {{Kind::uniform, 2, 1}, "at: a uniform distribution goes from low to high, not 2 and 1"},
      {{Kind::log_uniform, 0, 1}, "at: a logarithmic distribution goes from low to high, both positive, not 0 and 1"},
      {{Kind::normal, 0, -1}, "at: a normal distribution has a deviation of at least 0, not 0 and -1"},
      {{Kind::bernoulli, 1.5}, "at: a probability is 0 to 1, not 1.5"},
      {{Kind::integers, 3, 3}, "at: integers go from low to below high, not 3 and 3"},
      {{Kind::integers, 0.5, 3}, "at: integers go from low to below high, not 0.5 and 3"},
      {{Kind::integers, 0, 0x1p60}, "at: integers go from -2^53 to 2^53, not 0 and 1152921504606846976"},
      {{.kind = Kind::choice}, "at: there is nothing to choose from"},
      {{.kind = Kind::choice, .values = {1, nan}}, "at: the values to choose from must be finite, not nan"},
      {{.kind = Kind::choice, .values = {1, 2}, .weights = {1}}, "at: there are 2 values and 1 weights"},
      {{.kind = Kind::choice, .values = {1, 2}, .weights = {1, -1}}, "at: weights are finite and at least 0, not -1"},
      {{.kind = Kind::choice, .values = {1, 2}, .weights = {infinity, 1}},
       "at: weights are finite and at least 0, not inf"},
      {{.kind = Kind::choice, .values = {1, 2}, .weights = {0, 0}}, "at: the sum of the weights must be positive"},
  };
  for (const auto& [distribution, message] : cases)
    EXPECT_EQ(error_of<ValueError>([&] { distribution.check("at"); }), message);
}

/// What the header says of an order without shuffling, sample by sample.
EpochOrder plain_order(int64_t size, const OrderOptions& options, int64_t epoch) {
  const auto members = [&](int64_t part) {
    std::vector<int64_t> own;
    for (int64_t k = 0; k < size; ++k) {
      if (k >= size * part / options.shards && k < size * (part + 1) / options.shards) own.push_back(k);
    }
    return own;
  };
  size_t longest = 0;
  for (int64_t part = 0; part < options.shards; ++part) longest = std::max(longest, members(part).size());
  const int64_t part = options.stick_to_shard ? options.shard : (options.shard + epoch) % options.shards;
  EpochOrder order{.indices = members(part)};
  const auto batch = static_cast<size_t>(options.batch_size);
  const auto has_whole_batches = [&] { return order.indices.size() % batch == 0; };
  if (options.pad_last_batch) {
    if (order.indices.empty() && size > 0) order.indices.push_back(size * part / options.shards), ++order.padded;
    while (order.indices.size() < longest || !has_whole_batches())
      order.indices.push_back(order.indices.back()), ++order.padded;
  } else if (options.last_batch == LastBatch::drop) {
    while (!has_whole_batches()) order.indices.pop_back();
  } else if (options.last_batch == LastBatch::fill) {
    while (!has_whole_batches()) order.indices.push_back(order.indices.back()), ++order.padded;
  }
  order.batches = static_cast<int64_t>((order.indices.size() + batch - 1) / batch);
  return order;
}

template <class Check>
void for_all_orders(Check check) {
  for (int64_t size = 0; size <= 40; ++size) {
    for (const int64_t batch : {1, 3, 8, 64}) {
      for (const int64_t shards : {1, 2, 3, 7}) {
        for (const bool stick : {false, true}) {
          for (const bool pad : {false, true}) {
            for (const LastBatch last : {LastBatch::partial, LastBatch::drop, LastBatch::fill})
              check(size, OrderOptions{.batch_size = batch,
                                       .shards = shards,
                                       .stick_to_shard = stick,
                                       .pad_last_batch = pad,
                                       .last_batch = last});
          }
        }
      }
    }
  }
}

TEST(EpochOrder, IsThatOfAPlainLoop) {
  for_all_orders([](int64_t size, OrderOptions options) {
    for (options.shard = 0; options.shard < options.shards; ++options.shard) {
      for (const int64_t epoch : {0, 1, 5}) {
        const EpochOrder made = epoch_order(size, options, epoch), expected = plain_order(size, options, epoch);
        ASSERT_EQ(made.indices, expected.indices)
            << size << " by " << options.batch_size << ", shard " << options.shard;
        ASSERT_EQ(made.padded, expected.padded);
        ASSERT_EQ(made.batches, expected.batches) << size << " by " << options.batch_size;
      }
    }
  });
}

/// The samples of a shard without those that repeat.
std::vector<int64_t> own_of(const EpochOrder& order) {
  return {order.indices.begin(), order.indices.end() - order.padded};
}

TEST(EpochOrder, ShuffledShardsAreDisjointAndTogetherTheWhole) {
  for_all_orders([](int64_t size, OrderOptions options) {
    if (options.last_batch == LastBatch::drop && !options.pad_last_batch) return;
    options.shuffle = true;
    options.seed = 11;
    for (const int64_t epoch : {0, 4}) {
      std::vector<int64_t> all;
      for (options.shard = 0; options.shard < options.shards; ++options.shard) {
        const EpochOrder made = epoch_order(size, options, epoch);
        OrderOptions plain = options;
        plain.shuffle = false;
        const EpochOrder expected = plain_order(size, plain, epoch);
        ASSERT_EQ(made.padded, expected.padded);
        ASSERT_EQ(made.batches, expected.batches);
        std::vector<int64_t> own = own_of(made);
        all.insert(all.end(), own.begin(), own.end());
        std::ranges::sort(own);
        if (options.stick_to_shard) {
          ASSERT_EQ(own, own_of(expected));
        }
        for (const int64_t index : made.indices) ASSERT_TRUE(index >= 0 && index < size);
      }
      std::ranges::sort(all);
      std::vector<int64_t> whole(static_cast<size_t>(size));
      std::iota(whole.begin(), whole.end(), int64_t{0});
      ASSERT_EQ(all, whole);
    }
  });
}

TEST(EpochOrder, PaddedShardsHaveEquallyManyBatches) {
  for (int64_t size = 1; size <= 12; ++size) {
    std::set<int64_t> batches;
    for (int64_t shard = 0; shard < 5; ++shard) {
      const EpochOrder order =
          epoch_order(size, {.batch_size = 2, .shard = shard, .shards = 5, .pad_last_batch = true}, 0);
      batches.insert(order.batches);
      EXPECT_EQ(std::ssize(order.indices), 2 * order.batches);
    }
    EXPECT_EQ(batches.size(), 1u) << size;
  }
}

TEST(EpochOrder, ShufflesByTheSeedAndTheEpoch) {
  // Fisher and Yates by the program in Python above, at the place 0xFFFFFFFF.
  const OrderOptions options{.shuffle = true, .seed = 42};
  EXPECT_EQ(epoch_order(10, options, 0).indices, (std::vector<int64_t>{2, 1, 0, 4, 3, 9, 5, 8, 7, 6}));
  EXPECT_EQ(epoch_order(10, options, 1).indices, (std::vector<int64_t>{5, 6, 9, 1, 3, 2, 4, 8, 7, 0}));
  EXPECT_NE(epoch_order(10, {.shuffle = true, .seed = 43}, 0).indices, epoch_order(10, options, 0).indices);
}

TEST(EpochOrder, EverySampleComesToEveryPlace) {
  constexpr int64_t kSize = 10, kEpochs = 5000;
  std::vector<int64_t> first(kSize), last(kSize);
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto order = epoch_order(kSize, {.shuffle = true, .seed = 1}, epoch).indices;
    ++first[static_cast<size_t>(order.front())];
    ++last[static_cast<size_t>(order.back())];
  }
  EXPECT_LT(chi_square(first), 27.9);
  EXPECT_LT(chi_square(last), 27.9);
}

TEST(EpochOrder, RefusesOptionsThatThereAreNot) {
  const auto message = [](const OrderOptions& options) {
    return error_of<ValueError>([&] { epoch_order(5, options, 0); });
  };
  EXPECT_EQ(message({.batch_size = 0}), "pipeline: batch_size is at least 1, not 0");
  EXPECT_EQ(message({.shard = 2, .shards = 2}), "pipeline: shard_id is 0 to num_shards - 1, not 2 of 2");
  EXPECT_EQ(message({.shard = -1}), "pipeline: shard_id is 0 to num_shards - 1, not -1 of 1");
  EXPECT_EQ(message({.shards = 0}), "pipeline: shard_id is 0 to num_shards - 1, not 0 of 0");
}

}  // namespace
