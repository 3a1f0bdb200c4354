// Lanes whose gain is uncertain are measured against the scalar path; whichever runs, results are the same.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "iruka/iruka.h"
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
                          relaxed = divergent("relaxed", {"--use_fast_math"}),
                          plain("float32 x", "float32 z", "z = 0; for (int k = 0; k < 50; k++) z = z * x + k;",
                                "plain");
  const Array steps = uneven_steps(), x = Array::from(std::span<const float>(std::vector<float>(100'000)), {100'000});
  for (int repeat = 0; repeat < 300; ++repeat) {
    eight(steps);
    relaxed(steps);
    plain(x);
  }
  finish_background_compilation();
  for (const char* name : {"asked_for_eight", "relaxed", "plain"})
    EXPECT_EQ(events(name, {Kind::rival, Kind::lanes_chosen, Kind::scalar_chosen}), 0) << name;
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

/// A trial of two programs that nobody runs.
class TrialByNumbers : public ::testing::Test {
 protected:
  std::shared_ptr<const jit::Program> lanes = std::make_shared<jit::Program>(default_device(), nullptr),
                                      scalar = std::make_shared<jit::Program>(default_device(), nullptr);
  jit::Trial trial{lanes, scalar, 2, 4};

  /// Calls of `units` that take so long for a unit, until there is a verdict.
  std::optional<jit::Trial::Verdict> run(double lanes_time, double scalar_time, int64_t units, int most_calls) {
    for (int call = 0; call < most_calls; ++call) {
      const auto seat = trial.enter(units);
      if (!seat) continue;
      const double time = &seat->program() == lanes.get() ? lanes_time : scalar_time;
      if (auto verdict = seat->add(time * static_cast<double>(units), units)) return verdict;
    }
    return {};
  }
};

TEST_F(TrialByNumbers, TheScalarPathHasToWinByFivePercent) {
  EXPECT_EQ(run(103, 100, 1000, 8)->program, lanes);
  EXPECT_FALSE(trial.enter(1000)) << "it is over";
}

TEST_F(TrialByNumbers, AClearCaseTakesHalfTheCalls) {
  const auto verdict = run(300, 100, 1000, 4);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->program, scalar);
  EXPECT_DOUBLE_EQ(verdict->lanes_per_scalar, 3);
}

TEST_F(TrialByNumbers, AClearCaseOfLongCallsTakesTheFewest) {
  jit::Trial many(lanes, scalar, 2, 16);
  for (int call = 0; call < 4; ++call) {
    const auto seat = many.enter(1000);
    ASSERT_TRUE(seat);
    EXPECT_EQ(seat->add(&seat->program() == lanes.get() ? 1e9 : 9e9, 1000).has_value(), call == 3);
  }
}

TEST_F(TrialByNumbers, ShortCallsAreAddedUp) {
  EXPECT_FALSE(run(110, 100, 10, 8));
  EXPECT_EQ(run(110, 100, 10, 1000)->program, scalar);
}

TEST_F(TrialByNumbers, OneCallAtATimeAndAnotherSizeIsNotCompared) {
  {
    const auto seat = trial.enter(1000);
    EXPECT_TRUE(seat);
    EXPECT_FALSE(trial.enter(1000));
  }
  EXPECT_FALSE(trial.enter(2000));
  EXPECT_FALSE(trial.enter(400));
  EXPECT_TRUE(trial.enter(1500));
  EXPECT_EQ(run(100, 120, 50'000, 24)->program, lanes) << "what is usual may change";
}

}  // namespace
}  // namespace iruka
