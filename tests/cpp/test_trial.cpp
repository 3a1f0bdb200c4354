// Lanes whose gain is uncertain are measured against the scalar path; whichever runs, results are the same.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "iruka/iruka.h"
#include "jit/kernel_state.h"
#include "jit/trial.h"

namespace iruka {
namespace {

using Kind = KernelEvent::Kind;

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

// Lanes leave the loop in different rounds.
constexpr const char* kBody =
    "uint32_t state = (uint32_t)i; for (int k = 0; k < steps; k++) state = state * 1664525u + 1013904223u; z = state;";

ElementwiseKernel divergent(const std::string& name, std::vector<std::string> options = {}) {
  return {"int32 steps", "uint32 z", kBody, name, {.options = std::move(options)}};
}

ElementwiseKernel divergent_with_integer(const std::string& name) {
  return {"int32 steps, int32 more", "uint32 z", std::string(kBody) + " z += (uint32_t)more;", name};
}

Array uneven_steps() {
  std::vector<int32_t> steps(100'000);
  for (size_t k = 0; k < steps.size(); ++k) steps[k] = k % 64 == 0 ? 200 : static_cast<int32_t>(k % 3);
  return Array::from(std::span<const int32_t>(steps), {static_cast<int64_t>(steps.size())});
}

int64_t events(const std::string& kernel, std::initializer_list<Kind> kinds) {
  const auto history = kernel_history();
  return std::ranges::count_if(history, [&](const KernelEvent& event) {
    return event.kernel == kernel && std::ranges::find(kinds, event.kind) != kinds.end();
  });
}

int64_t choices(const std::string& kernel) { return events(kernel, {Kind::lanes_chosen, Kind::scalar_chosen}); }

/// Calls until `is_done`, or until a minute has passed.
template <class Call, class Condition>
bool call_until(Call&& call, Condition&& is_done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is_done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    for (int repeat = 0; repeat < 20; ++repeat) call();
    finish_background_compilation();
  }
  return true;
}

class TrialOfKernels : public ::testing::Test {
 protected:
  void SetUp() override { clear_cache(); }
};

TEST_F(TrialOfKernels, EndsWithOneOfTheTwoAndNeverChangesResults) {
  const ElementwiseKernel k = divergent("tried");
  const Array steps = uneven_steps();
  const auto expected = divergent("tried_scalar", {"--lanes=1"})(steps).to_vector<uint32_t>();
  EXPECT_TRUE(
      call_until([&] { ASSERT_EQ(k(steps).to_vector<uint32_t>(), expected); }, [] { return choices("tried") > 0; }));
  for (int repeat = 0; repeat < 50; ++repeat) ASSERT_EQ(k(steps).to_vector<uint32_t>(), expected);
  EXPECT_EQ(choices("tried"), 1);
  EXPECT_EQ(events("tried", {Kind::specialised}), 0);
  const Argument arguments[] = {steps};
  const KernelReport report = k.report(arguments);
  EXPECT_NE(report.to_string().find("were measured to take"), std::string::npos) << report.to_string();
  EXPECT_EQ(report.lanes == 1, events("tried", {Kind::scalar_chosen}) == 1);
  EXPECT_EQ(report.lanes == 1, !report.reason.empty());
}

TEST_F(TrialOfKernels, AskedForLanesAreNotTried) {
  const ElementwiseKernel eight = divergent("asked_for_eight", {"--lanes=8"}),
                          relaxed = divergent("relaxed", {"--use_fast_math"});
  const Array steps = uneven_steps();
  for (int repeat = 0; repeat < 300; ++repeat) {
    eight(steps);
    relaxed(steps);
  }
  finish_background_compilation();
  for (const char* name : {"asked_for_eight", "relaxed"})
    EXPECT_EQ(events(name, {Kind::scalar_compiled, Kind::lanes_compiled, Kind::lanes_chosen, Kind::scalar_chosen}), 0)
        << name;
}

TEST_F(TrialOfKernels, LanesThatAnEstimateRefusedAreTried) {
  // A table of 13 x 13 numbers for each element, whose loops over a row look as if LLVM would vectorise them.
  const char* const text = R"(
    int row[13];
    for (int j = 0; j <= 12; j++) row[j] = j;
    for (int k = 1; k <= 12; k++) {
      int corner = row[0];
      row[0] = k;
      for (int j = 1; j <= 12; j++) {
        int up = row[j], change = corner + (first[i * 12 + k - 1] != second[i * 12 + j - 1]);
        row[j] = min(min(up, row[j - 1]) + 1, change);
        corner = up;
      }
    }
    distance = row[12];)";
  const auto kernel = [&](const char* name, std::vector<std::string> options) {
    return ElementwiseKernel("raw uint8 first, raw uint8 second", "int32 distance", text, name,
                             {.options = std::move(options)});
  };
  constexpr int64_t kPairs = 20'000;
  std::vector<uint8_t> letters(12 * kPairs);
  for (size_t k = 0; k < letters.size(); ++k) letters[k] = static_cast<uint8_t>(k * k / 7 % 5);
  const Array first = Array::from(std::span<const uint8_t>(letters), {12 * kPairs});
  std::ranges::rotate(letters, letters.begin() + 5);
  const Array second = Array::from(std::span<const uint8_t>(letters), {12 * kPairs});
  const auto result_of = [&](const ElementwiseKernel& each) {
    const Array distance = Array::empty({kPairs}, Dtype::int32);
    const Argument arguments[] = {first, second, distance};
    each.call(arguments);
    return distance.to_vector<int32_t>();
  };
  const auto expected = result_of(kernel("edit_scalar", {"--lanes=1"}));
  const ElementwiseKernel tried = kernel("edit", {});
  EXPECT_TRUE(call_until([&] { ASSERT_EQ(result_of(tried), expected); }, [] { return choices("edit") > 0; }));
  const Array distance = Array::empty({kPairs}, Dtype::int32);
  const Argument arguments[] = {first, second, distance};
  const KernelReport report = tried.report(arguments);
  EXPECT_NE(report.to_string().find("were measured to take"), std::string::npos) << report.to_string();
  EXPECT_EQ(report.lanes == 1, events("edit", {Kind::scalar_chosen}) == 1);
}

TEST_F(TrialOfKernels, EachValueOfAnIntegerHasItsOwn) {
  const ElementwiseKernel k = divergent_with_integer("by_value");
  const Array steps = uneven_steps();
  const auto base = k(steps, 0).to_vector<uint32_t>();
  for (int32_t more : {1, 2}) {
    auto expected = base;
    for (uint32_t& value : expected) value += static_cast<uint32_t>(more);
    const auto call = [&] { ASSERT_EQ(k(steps, more).to_vector<uint32_t>(), expected); };
    EXPECT_TRUE(call_until(
        call, [&] { return choices("by_value") >= more && events("by_value", {Kind::specialised}) == more; }));
  }
}

TEST_F(TrialOfKernels, ValuesThatKeepChangingShareOne) {
  const ElementwiseKernel k = divergent_with_integer("changing");
  const Array steps = uneven_steps();
  int32_t more = 0;
  EXPECT_TRUE(call_until([&] { k(steps, ++more); }, [] { return choices("changing") > 0; }));
  EXPECT_EQ(events("changing", {Kind::specialised}), 0);
  const auto base = k(steps, 0).to_vector<uint32_t>(), moved = k(steps, 7).to_vector<uint32_t>();
  for (size_t at = 0; at < base.size(); ++at) ASSERT_EQ(moved[at], base[at] + 7);
}

TEST_F(TrialOfKernels, ThreadsMayTakePart) {
  const ElementwiseKernel k = divergent("shared_trial");
  const Array steps = uneven_steps();
  const auto expected = k(steps).to_vector<uint32_t>();
  std::atomic<int> wrong{0};
  const auto call_many = [&] {
    for (int repeat = 0; repeat < 20; ++repeat)
      if (k(steps).to_vector<uint32_t>() != expected) ++wrong;
  };
  const auto call = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(call_many);
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_TRUE(call_until(call, [] { return choices("shared_trial") > 0; }));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(choices("shared_trial"), 1);
}

TEST_F(TrialOfKernels, ForkWhileACallIsMeasured) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer does not support threads after fork()";
  const ElementwiseKernel k = divergent("forked_trial");
  const Array steps = uneven_steps();
  const auto expected = k(steps).to_vector<uint32_t>();
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) k(steps);
  });
  for (int round = 0; round < 8; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool same = true;
      const auto call = [&] { same &= k(steps).to_vector<uint32_t>() == expected; };
      const bool ended = call_until(call, [] { return choices("forked_trial") > 0; });
      _exit(same && ended ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  done = true;
  busy.join();
}

/// A trial of two programs that never run.
class TrialByNumbers : public ::testing::Test {
 protected:
  std::shared_ptr<const jit::Program> lanes = std::make_shared<jit::Program>(default_device(), nullptr, "", "kernel",
                                                                             std::vector<Diagnostic>()),
                                      scalar = std::make_shared<jit::Program>(default_device(), nullptr, "", "kernel",
                                                                              std::vector<Diagnostic>());
  jit::Trial trial{lanes, scalar};

  struct Outcome {
    std::shared_ptr<const jit::Program> program;
    double lanes_per_scalar;
    int calls;
  };
  /// Calls of `units` that take so long for a unit, until there is a verdict.
  std::optional<Outcome> run(double lanes_time, double scalar_time, int64_t units, int most_calls) {
    for (int call = 0; call < most_calls; ++call) {
      const auto measured = trial.try_begin(units);
      if (!measured) continue;
      const double time = &measured->program() == lanes.get() ? lanes_time : scalar_time;
      measured->add(time * static_cast<double>(units), units);
      if (const auto verdict = measured->verdict())
        return Outcome{verdict->program, verdict->lanes_per_scalar, call + 1};
    }
    return {};
  }
};

TEST_F(TrialByNumbers, TheScalarPathHasToWinByFivePercent) {
  const auto outcome = run(103, 100, 1000, 100);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->program, lanes);
  EXPECT_EQ(outcome->calls, 32);
  EXPECT_FALSE(trial.try_begin(1000)) << "it is over";
}

TEST_F(TrialByNumbers, AClearCaseTakesHalfTheCalls) {
  const auto outcome = run(300, 100, 1000, 100);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->program, scalar);
  EXPECT_EQ(outcome->calls, 16);
  EXPECT_DOUBLE_EQ(outcome->lanes_per_scalar, 3);
}

TEST_F(TrialByNumbers, AClearCaseOfLongCallsTakesTheFewest) {
  const auto outcome = run(10e6, 30e6, 1000, 100);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->program, lanes);
  EXPECT_EQ(outcome->calls, 6);
}

TEST_F(TrialByNumbers, AHopelessSideIsComparedTwice) {
  const auto outcome = run(300, 60, 1000, 100);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->program, scalar);
  EXPECT_EQ(outcome->calls, 4);
}

TEST_F(TrialByNumbers, ShortCallsAreAddedUp) {
  EXPECT_FALSE(run(110, 100, 10, 100));
  EXPECT_EQ(run(110, 100, 10, 10'000)->program, scalar);
}

TEST_F(TrialByNumbers, OneCallAtATimeAndAnotherSizeIsNotCompared) {
  {
    const auto measured = trial.try_begin(1000);
    EXPECT_TRUE(measured);
    EXPECT_FALSE(trial.try_begin(1000));
  }
  EXPECT_FALSE(trial.try_begin(2000));
  EXPECT_FALSE(trial.try_begin(400));
  EXPECT_TRUE(trial.try_begin(1500));
  EXPECT_EQ(run(100, 120, 50'000, 60)->program, lanes) << "what is usual may change";
}

TEST_F(TrialByNumbers, SlicesOfACallAreComparedTogether) {
  // Two slices for each side in a place where the lanes lose, and two in a place ten times as heavy where they win.
  const double times[2][2] = {{30e3, 10e3}, {100e3, 300e3}};
  std::optional<jit::Trial::Verdict> verdict;
  int calls = 0;
  for (; !verdict && calls < 100; ++calls) {
    const auto measured = trial.try_begin(1000);
    ASSERT_TRUE(measured);
    for (const auto& place : {times[0], times[0], times[1], times[1]}) {
      measured->begin_pair();
      bool has_run[2] = {};
      for (int slice = 0; slice < 2; ++slice) {
        const bool is_scalar = &measured->program() == scalar.get();
        has_run[is_scalar] = true;
        measured->add_slice(place[is_scalar], 10);
        if (calls == 0 && slice == 0 && place == times[1]) break;  // as when a call is cancelled
      }
      EXPECT_TRUE(calls == 0 || (has_run[0] && has_run[1]));
    }
    verdict = measured->verdict();
  }
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->program, lanes);
  EXPECT_DOUBLE_EQ(verdict->lanes_per_scalar, 130. / 310.);
  EXPECT_LE(calls, 4);
}

TEST(SlicesOfACall, LieApartAndWithin) {
  for (const int64_t count : {int64_t{1}, int64_t{4097}, int64_t{1'000'003}, int64_t{1} << 40})
    for (const int64_t step : {1, 64, 1024})
      for (const int threads : {1, 2, 64})
        for (const double nanoseconds : {0., 1e4, 1e7, 1e9, 1e12}) {
          const jit::Slices slices(count, step, threads, nanoseconds);
          int64_t done = 0;
          for (int64_t pair = 0; pair < slices.pairs; ++pair) {
            EXPECT_GE(slices.begin(pair), done);
            EXPECT_EQ(slices.begin(pair) % step, 0);
            done = slices.begin(pair) + 2 * slices.units;
          }
          EXPECT_LE(done, count);
          EXPECT_EQ(slices.units % step, 0);
          EXPECT_LE(2 * slices.units * slices.pairs, count / 2) << "most is run by the lanes";
          if (slices.pairs > 0) {
            EXPECT_GE(slices.units, step * threads);
          }
        }
  EXPECT_EQ(jit::Slices(1 << 20, 64, 2, 5e6).pairs, 0) << "a short call";
  EXPECT_EQ(jit::Slices(1000, 64, 2, 1e10).pairs, 0) << "few units";
  EXPECT_EQ(jit::Slices(10'000, 64, 2, 1e10).pairs, 1) << "not many";
  EXPECT_GT(jit::Slices(1 << 20, 64, 2, 2e7).pairs, 1);
}

// Calls so long that both sides take slices of them: each element is computed once, to the same bits.

/// Elements that take many rounds, or few.
std::string uneven(const std::string& x) {
  return "uint32_t state = (uint32_t)" + x + "; int rounds = state % 64 == 0 ? 6000 : state % 3;" +
         "for (int k = 0; k < rounds; k++) state = state * 1664525u + 1013904223u;";
}

/// Calls `run(kernel)` until the trial of a kernel with `body` is over; its result is always that of the scalar path.
template <class Run>
void expect_same_in_trial(const char* inputs, const char* outputs, const std::string& body, const std::string& name,
                          Run&& run) {
  const ElementwiseKernel tried(inputs, outputs, body, name),
      scalar(inputs, outputs, body, name + "_scalar", {.options = {"--lanes=1"}});
  const auto expected = run(scalar);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (choices(name) == 0 && std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(run(tried) == expected) << name;
    finish_background_compilation();
  }
  EXPECT_EQ(choices(name), 1) << name;
  EXPECT_TRUE(run(tried) == expected) << name;
}

TEST_F(TrialOfKernels, LongCallsComputeEachElementOnce) {
  for (const int64_t count : {262'144, 300'007}) {
    const auto run = [&](const ElementwiseKernel& k) {
      const Array z = Array::from(std::span<const uint32_t>(std::vector<uint32_t>(count, 7)), {count});
      k(z);
      return z.to_vector<uint32_t>();
    };
    expect_same_in_trial("", "uint32 z", uneven("i") + " z += 1 + (state & 1);", "flat_" + std::to_string(count), run);
  }
}

TEST_F(TrialOfKernels, LongCallsOfASize) {
  const int64_t count = 300'007;
  const auto run = [&](const ElementwiseKernel& k) {
    const std::vector<uint32_t> zeros(count);
    const Array z = Array::from(std::span<const uint32_t>(zeros), {count}), counter = Array::from<uint32_t>({0});
    const Argument arguments[] = {z, counter};
    k.call(arguments, {.size = count});
    EXPECT_EQ(counter.to_vector<uint32_t>()[0], count);
    return z.to_vector<uint32_t>();
  };
  const std::string body = uneven("i") + " z[i] += state; atomicAdd(&counter[0], 1u);";
  expect_same_in_trial("", "raw uint32 z, raw uint32 counter", body, "sized", run);
}

TEST_F(TrialOfKernels, LongCallsPastTheCache) {
  const auto count = static_cast<int64_t>(default_device().target().last_level_cache_bytes / sizeof(uint32_t)) + 1021;
  const auto run = [&](const ElementwiseKernel& k) {
    const Array z = Array::empty({count}, Dtype::uint32);
    k(z);
    return z.to_vector<uint32_t>();
  };
  const std::string body =
      "uint32_t state = (uint32_t)i; int rounds = i % 64 == 0 ? 60 : i % 3;"
      "for (int k = 0; k < rounds; k++) state = state * 1664525u + 1013904223u; z = state;";
  expect_same_in_trial("", "uint32 z", body, "streamed", run);
}

TEST_F(TrialOfKernels, LongCallsOfRowsAndTiles) {
  std::vector<uint32_t> values(701 * 503);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<uint32_t>(k);
  const Array wide = Array::from(std::span<const uint32_t>(values), {701, 503});
  const Array part = wide.at(Slice{}, Slice{1, 500}), turned = wide.transpose();
  for (const auto& [name, x] : {std::pair{"rows", part}, std::pair{"tiles", turned}}) {
    const auto run = [&x](const ElementwiseKernel& k) {
      const Array z = Array::from(std::span<const uint32_t>(std::vector<uint32_t>(x.size(), 7)), x.shape());
      k(x, z);
      return z.to_vector<uint32_t>();
    };
    expect_same_in_trial("uint32 x", "uint32 z", uneven("x") + " z += state;", name, run);
  }
}

std::atomic<bool> cancels{false};

TEST_F(TrialOfKernels, ACancelledCallLeavesTheTrialInOrder) {
  const ElementwiseKernel k("", "uint32 z", uneven("i") + " z += state;", "cancelled");
  const int64_t count = 1'000'000;
  const auto run = [&] {
    const Array z = Array::from(std::span<const uint32_t>(std::vector<uint32_t>(count, 7)), {count});
    k(z);
    return z.to_vector<uint32_t>();
  };
  const auto expected = run();
  set_interrupt_check([]() noexcept { return cancels.load(); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (choices("cancelled") == 0 && std::chrono::steady_clock::now() < end) {
    cancels = !cancels;
    try {
      ASSERT_EQ(run(), expected);
    } catch (const Interrupted&) {  // where it takes 50 ms
    }
    finish_background_compilation();
  }
  set_interrupt_check(nullptr);
  EXPECT_EQ(choices("cancelled"), 1);
  EXPECT_EQ(run(), expected);
}

}  // namespace
TEST(UnitCost, RisesAtOnceAndFallsByHalves) {
  jit::UnitCost cost;
  EXPECT_EQ(cost.nanoseconds(), 0);
  cost.measured({.units = 100, .nanoseconds = 800});
  EXPECT_FLOAT_EQ(cost.nanoseconds(), 8);
  cost.measured({.units = 100, .nanoseconds = 100});
  EXPECT_FLOAT_EQ(cost.nanoseconds(), 4);
  cost.measured({.units = 100, .nanoseconds = 300});
  EXPECT_FLOAT_EQ(cost.nanoseconds(), 3);
  cost.measured({.units = 10, .nanoseconds = 1'000'000});
  EXPECT_FLOAT_EQ(cost.nanoseconds(), 100'000);
  for (int call = 0; call < 100; ++call) cost.measured({.units = 1000, .nanoseconds = 0});
  EXPECT_GT(cost.nanoseconds(), 0) << "0 would say that nothing was measured";
}

}  // namespace iruka
