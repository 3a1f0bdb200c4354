// The thread pool and the device on it: coverage, balance, nesting, fork, exceptions, interrupts.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "compile_text.h"
#include "core/device.h"
#include "core/float_status.h"
#include "core/parallel.h"
#include "core/thread_pool.h"
#include "iruka/iruka.h"
#include "launch.h"

namespace iruka {
namespace {

/// Gives the pool a number of threads for one test.
class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }

 private:
  int before_;
};

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
// ThreadSanitizer ends a child of fork() that starts a thread.
#define SKIP_WHERE_FORK_CANNOT_START_THREADS() \
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer does not support threads after fork()"

void expect_covered(int64_t count, int64_t align) {
  std::vector<std::atomic<uint8_t>> seen(static_cast<size_t>(count));
  std::atomic<bool> aligned{true};
  ThreadPool::instance().run(count, align, [&](int64_t begin, int64_t end) {
    if (begin % align != 0 || end > count || begin >= end) aligned = false;
    for (int64_t k = begin; k < end; ++k) seen[static_cast<size_t>(k)].fetch_add(1);
  });
  EXPECT_TRUE(aligned);
  for (int64_t k = 0; k < count; ++k) ASSERT_EQ(seen[static_cast<size_t>(k)].load(), 1) << k << " of " << count;
}

TEST(ThreadPool, EveryElementRunsOnceInAlignedRanges) {
  for (const int threads : {1, 2, 5}) {
    const Threads use(threads);
    for (const int64_t align : {1, 3, 64}) {
      for (const int64_t count : {0, 1, 2, 63, 64, 65, 1000, 100003}) expect_covered(count, align);
    }
  }
}

TEST(ThreadPool, SeveralThreadsTakePartAndTheCallerIsOne) {
  const Threads use(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  ThreadPool::instance().run(300, 1, [&](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_TRUE(ids.count(std::this_thread::get_id()));
}

TEST(ThreadPool, OthersJoinTheCallerAfterAWhile) {
  const Threads use(3);
  for (const bool is_long : {false, true}) {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    const auto sleep = [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    };
    const int64_t hour = int64_t{3600} * 1'000'000'000;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // workers of earlier loops fall asleep
    const MeasuredWork work =
        ThreadPool::instance().run(is_long ? 300 : 20, 1, sleep, {.alone = is_long ? 5'000'000 : hour});
    EXPECT_EQ(ids.size(), is_long ? 3u : 1u);
    EXPECT_TRUE(ids.count(std::this_thread::get_id()));
    EXPECT_GE(work.units, is_long ? 5 : 20);
    EXPECT_LE(work.units, is_long ? 299 : 20);
    EXPECT_GE(work.nanoseconds, 1'000'000 * work.units / 300);
  }
}

TEST(ThreadPool, WorkersThatAreAwakeJoinAtOnce) {
  const Threads use(2);
  const int64_t hour = int64_t{3600} * 1'000'000'000;
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> has_joined{false};
  const auto work = [&](int64_t, int64_t) {
    if (std::this_thread::get_id() != caller) has_joined = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  // A busy machine may stop the worker between two loops, but not each time.
  for (int k = 0; k < 10'000 && !has_joined; ++k) {
    ThreadPool::instance().run(20, 1, [](int64_t, int64_t) {});
    ThreadPool::instance().run(20, 1, work, {.alone = hour});
  }
  EXPECT_TRUE(has_joined);
}

/// How often the other threads of this process have gone to sleep.
int64_t sleeps_of_others() {
  int64_t sleeps = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("voluntary_ctxt_switches:")) sleeps += std::stoll(line.substr(line.find(':') + 1));
    }
  }
  return sleeps;
}

TEST(ThreadPool, ALoopWakesNoMoreWorkersThanItNeeds) {
  const Threads use(std::max(16, thread_count()));
  const auto fall_asleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  ThreadPool::instance().run(64, 1,
                             [](int64_t, int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  fall_asleep();
  constexpr int kLoops = 20;
  const int64_t before = sleeps_of_others();
  for (int k = 0; k < kLoops; ++k) {
    ThreadPool::instance().run(2, 1, [](int64_t, int64_t) {});
    fall_asleep();
  }
  EXPECT_LE(sleeps_of_others() - before, 5 * kLoops);  // one worker a loop, not fifteen
}

TEST(ThreadPool, CostlyElementsAreBalanced) {
  const Threads use(4);
  std::mutex mutex;
  std::map<std::thread::id, int> shares;
  ThreadPool::instance().run(64, 1, [&](int64_t begin, int64_t end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * (end - begin)));
    std::lock_guard lock(mutex);
    shares[std::this_thread::get_id()] += static_cast<int>(end - begin);
  });
  EXPECT_EQ(shares.size(), 4u);
  for (const auto& [id, share] : shares) EXPECT_LE(share, 32);
}

/// Flush-to-zero, denormals-are-zero, rounding upwards: modes that another library may have set in this thread.
class OddFloats {
 public:
  OddFloats() { _mm_setcsr(kOdd); }
  ~OddFloats() { _mm_setcsr(before_); }
  static constexpr unsigned kOdd = 0x1F80 | 0x8040 | _MM_ROUND_UP;

 private:
  const unsigned before_ = _mm_getcsr();
};

TEST(FloatState, IsTheSameOnEveryThreadAndComesBack) {
  const Threads use(3);
  const OddFloats odd;
  const auto expect_default = [](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(_mm_getcsr() & ~0x3Fu, 0x1F80u);
    _mm_setcsr(OddFloats::kOdd);  // a body's own state goes no further
  };
  for (int round = 0; round < 2; ++round) {
    ThreadPool::instance().run(3, 1, [&](int64_t begin, int64_t end) { expect_default(begin, end); });
    EXPECT_EQ(_mm_getcsr(), OddFloats::kOdd);
    parallel_for(1, 8, expect_default);
    EXPECT_EQ(_mm_getcsr(), OddFloats::kOdd);
  }
}

TEST(FloatState, HasTheFlagsOfAllThreads) {
  const Threads use(3);
  const auto caller = std::this_thread::get_id();
  const auto divide = [caller](int64_t begin, int64_t end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(end - begin));
    volatile double by = std::this_thread::get_id() == caller ? 1 : 0, x = 1;
    x = x / by;
  };
  const unsigned before = _mm_getcsr();
  take_float_flags();
  ThreadPool::instance().run(100, 1, [](int64_t, int64_t) {});
  EXPECT_EQ(take_float_flags(), 0u);
  ThreadPool::instance().run(100, 1, divide);
  EXPECT_EQ(take_float_flags(), kFloatDivideByZero);
  EXPECT_EQ(take_float_flags(), 0u) << "taken";
  parallel_for(1, 8, [](int64_t, int64_t) {
    volatile double huge = 1e300;
    huge = huge * huge;
  });
  EXPECT_EQ(take_float_flags(), kFloatOverflow);
  EXPECT_EQ((_mm_getcsr() ^ before) & (kFloatDivideByZero | kFloatOverflow), 0u) << "the caller's own";
}

TEST(FloatState, IsTheCallersAgainWithItsFlags) {
  const unsigned mine = _mm_getcsr();
  for (const unsigned before : {0x1F80u, 0x1FA0u, 0x1F82u, 0x1FBDu, OddFloats::kOdd, OddFloats::kOdd | 0x3Fu}) {
    take_float_flags();
    _mm_setcsr(before);
    unsigned inside = 0;
    parallel_for(1, 8, [&](int64_t, int64_t) { inside = _mm_getcsr(); });
    const unsigned nothing_raised = take_float_flags();
    parallel_for(1, 8, [](int64_t, int64_t) {
      volatile double x = 1, by = 0;
      x = x / by;
    });
    const unsigned after = _mm_getcsr();
    _mm_setcsr(mine);
    EXPECT_EQ(inside & ~0x3Fu, 0x1F80u) << before;
    EXPECT_EQ(nothing_raised, 0u) << before << ": a flag of the caller's is none of the loop's";
    EXPECT_EQ(take_float_flags(), kFloatDivideByZero) << before << ": the caller's own flag hides none";
    EXPECT_EQ(after, before);
  }
}

TEST(ThreadPool, NestedLoopsRunInline) {
  const Threads use(3);
  std::atomic<int64_t> total{0};
  ThreadPool::instance().run(50, 1, [&](int64_t begin, int64_t end) {
    const auto outer = std::this_thread::get_id();
    for (int64_t k = begin; k < end; ++k) {
      ThreadPool::instance().run(100, 1, [&](int64_t b, int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += e - b;
      });
    }
  });
  EXPECT_EQ(total, 5000);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  const Threads use(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        ThreadPool::instance().run(1000, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 6 * 200 * 1000);
}

TEST(ThreadPool, TheThreadCountMayChangeWhileLoopsRun) {
  std::atomic<bool> done{false};
  std::thread changer([&] {
    for (int k = 0; !done; ++k) set_thread_count(1 + k % 5);
  });
  const int before = thread_count();
  for (int k = 0; k < 300; ++k) expect_covered(997, 1);
  done = true;
  changer.join();
  set_thread_count(before);
  EXPECT_THROW(set_thread_count(0), ValueError);
}

TEST(ThreadPool, TheFirstExceptionReachesTheCaller) {
  const Threads use(3);
  for (int k = 0; k < 50; ++k) {
    EXPECT_THROW(ThreadPool::instance().run(10000, 1,
                                            [&](int64_t begin, int64_t) {
                                              if (begin >= 100) throw ValueError("from a body");
                                            }),
                 ValueError);
  }
  expect_covered(1000, 1);
}

TEST(ThreadPool, AChildOfForkHasItsOwnWorkers) {
  SKIP_WHERE_FORK_CANNOT_START_THREADS();
  const Threads use(3);
  expect_covered(100000, 1);
  for (int k = 0; k < 5; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::atomic<int64_t> total{0};
      std::mutex mutex;
      std::set<std::thread::id> ids;
      ThreadPool::instance().run(100, 1, [&](int64_t begin, int64_t end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        total += end - begin;
        std::lock_guard lock(mutex);
        ids.insert(std::this_thread::get_id());
      });
      _exit(total == 100 && ids.size() == 3 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST(ThreadPool, ForkWhileOtherThreadsRunLoops) {
  SKIP_WHERE_FORK_CANNOT_START_THREADS();
  const Threads use(3);
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) ThreadPool::instance().run(1000, 1, [](int64_t, int64_t) {});
  });
  for (int k = 0; k < 20; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::atomic<int64_t> total{0};
      ThreadPool::instance().run(1000, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      _exit(total == 1000 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  done = true;
  busy.join();
}

std::atomic<int> checks{0};
std::atomic<bool> asked_elsewhere{false};
std::thread::id main_thread;

/// Interrupts at the third question.
bool third_time() noexcept {
  if (std::this_thread::get_id() != main_thread) asked_elsewhere = true;
  return ++checks >= 3;
}

class Interrupts : public testing::Test {
 protected:
  void SetUp() override {
    checks = 0;
    asked_elsewhere = false;
    main_thread = std::this_thread::get_id();
    set_interrupt_check(third_time);
  }
  void TearDown() override {
    set_interrupt_check(nullptr);
    EXPECT_FALSE(asked_elsewhere);
  }
};

TEST_F(Interrupts, StopALongLoop) {
  for (const int threads : {1, 3}) {
    const Threads use(threads);
    checks = 0;
    std::atomic<int64_t> ran{0};
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(ThreadPool::instance().run(100000, 1,
                                            [&](int64_t begin, int64_t end) {
                                              std::this_thread::sleep_for(std::chrono::milliseconds(end - begin));
                                              ran += end - begin;
                                            }),
                 Interrupted);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_LT(ran, 100000);
    EXPECT_EQ(checks, 3);
  }
}

/// A handler's loop, which the check runs at the second question, is the one that the third question stops.
TEST_F(Interrupts, StopALoopOfAHandler) {
  static std::atomic<bool> has_stopped;
  static constexpr auto sleep = [](int64_t begin, int64_t end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(end - begin));
  };
  for (const int threads : {1, 3}) {
    const Threads use(threads);
    checks = 0;
    has_stopped = false;
    set_interrupt_check([]() noexcept {
      if (++checks != 2) return checks == 3;
      try {
        ThreadPool::instance().run(100000, 1, sleep);
      } catch (const Interrupted&) {
        has_stopped = true;
      }
      return has_stopped.load();
    });
    EXPECT_THROW(ThreadPool::instance().run(100000, 1, sleep), Interrupted);
    EXPECT_TRUE(has_stopped);
  }
}

TEST_F(Interrupts, StopSequencesOfShortLoops) {
  const auto run = [] {
    ThreadPool::instance().run(1, 1,
                               [](int64_t, int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
  };
  for (int loop = 0; loop < 20; ++loop) run();
  EXPECT_EQ(checks, 0) << "loops of their own";
  const auto run_sequence = [&] {
    const LoopSequence outer;
    for (int loop = 0; loop < 1000; ++loop) {
      const LoopSequence inner;
      run();
    }
  };
  EXPECT_THROW(run_sequence(), Interrupted);
  for (int loop = 0; loop < 20; ++loop) run();
  EXPECT_EQ(checks, 3) << "loops after the sequence";
}

TEST_F(Interrupts, StopEndlessKernels) {
  const auto compiled =
      cpu().compile(test::program(test::loop_text("int", "int", "int", "while (true) { z = z * 3 + 1; }")));
  ASSERT_TRUE(compiled.ok) << test::errors(compiled.diagnostics);
  const auto module = cpu().load(compiled.code, "test");
  std::vector<int> values(1000);
  struct {
    const int *a, *b;
    int* z;
  } arguments{values.data(), values.data(), values.data()};
  const auto bytes = std::as_bytes(std::span(&arguments, 1));
  for (const int64_t grain : {1, 100000}) {  // on the pool, and directly
    const Threads use(3);
    checks = 0;
    EXPECT_THROW(test::launch_on(cpu(), module->function("iruka_entry"), bytes, {1000, 1, grain}), Interrupted);
    EXPECT_GE(checks, 3);
  }
  // The next launch is not affected.
  set_interrupt_check(nullptr);
  const auto quick = cpu().compile(test::program(test::loop_text("int", "int", "int", "z = a + 1;")));
  const auto next = cpu().load(quick.code, "test");
  std::fill(values.begin(), values.end(), 4);
  test::launch_on(cpu(), next->function("iruka_entry"), bytes, {1000, 1, 1});
  EXPECT_EQ(values, std::vector<int>(1000, 5));
}

// Other scopes of the thread, and other threads, are not concerned.
TEST(StopScopes, EndTheWorkOfTheirThread) {
  const ElementwiseKernel endless("int32 x", "int32 y", "y = x; while (y != 7) y = y * 4 + 2;", "endless");
  const ElementwiseKernel quick("int32 x", "int32 y", "y = x + 1;", "quick");
  for (const int64_t size : {1, 100'000}) {
    const Array x = Array::from(std::span<const int32_t>(std::vector<int32_t>(static_cast<size_t>(size))), {size});
    std::stop_source source, other;
    const StopScope outer(other.get_token());
    std::thread asking([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      source.request_stop();
    });
    {
      const StopScope scope(source.get_token());
      const auto start = std::chrono::steady_clock::now();
      EXPECT_THROW(endless(x), Interrupted);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    }
    asking.join();
    EXPECT_EQ(quick(x).to_vector<int32_t>(), std::vector<int32_t>(static_cast<size_t>(size), 1));
    other.request_stop();
    std::thread elsewhere([&] { EXPECT_EQ(quick(x).to_vector<int32_t>()[0], 1); });
    elsewhere.join();
    EXPECT_THROW(endless(x), Interrupted);
  }
}

TEST_F(Interrupts, StopNestedLoopsOfKnownLength) {
  const char* bodies[] = {
      "float s = 0; for (int j = 0; j < a; ++j) for (int l = 0; l < a; ++l) s += (float)(j ^ l); z = (int)s;",
      "unsigned s = b; for (int j = 0; j < 100000; ++j) for (int l = 0; l < 1000000; ++l) s = (s ^ l) * 2654435761u; z "
      "= s;",
      "unsigned s = b; for (int j = 0; j < a; ++j) for (int l = 0; l < a; ++l)"
      "  for (int m = 0; m < 3; ++m) s = (s ^ m) * 2654435761u + l; z = s;",
  };
  std::vector<int> values(3, 1'000'000);
  std::vector<int> results(3);
  struct {
    const int *a, *b;
    int* z;
  } arguments{values.data(), values.data(), results.data()};
  for (const char* body : bodies) {
    const auto compiled = cpu().compile(test::program(test::loop_text("int", "int", "int", body)));
    ASSERT_TRUE(compiled.ok) << test::errors(compiled.diagnostics);
    const auto module = cpu().load(compiled.code, "test");
    for (const int64_t grain : {1, 100}) {  // on the pool, and directly
      const Threads use(2);
      checks = 0;
      const auto start = std::chrono::steady_clock::now();
      EXPECT_THROW(test::launch_on(cpu(), module->function("iruka_entry"), std::as_bytes(std::span(&arguments, 1)),
                                   {3, 1, grain}),
                   Interrupted);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << body;
    }
  }
}

/// Ends of the ranges that a launch over `range` makes, by their beginnings.
std::map<int64_t, int64_t> ranges_of(const LaunchRange& range) {
  const auto compiled =
      cpu().compile(test::program("extern \"C\" void iruka_entry(const unsigned char* block, long begin, long end) { "
                                  "(*(long* const*)block)[begin] = end; }"));
  const auto module = cpu().load(compiled.code, "test");
  std::vector<int64_t> ends(static_cast<size_t>(range.count), -1);
  int64_t* const block = ends.data();
  test::launch_on(cpu(), module->function("iruka_entry"), std::as_bytes(std::span(&block, 1)), range);
  std::map<int64_t, int64_t> ranges;
  for (size_t k = 0; k < ends.size(); ++k) {
    if (ends[k] >= 0) ranges[static_cast<int64_t>(k)] = ends[k];
  }
  return ranges;
}

TEST(CpuDevice, GrainCountsUnits) {
  const Threads use(2);
  const std::map<int64_t, int64_t> whole = {{0, 2048}};
  EXPECT_EQ(ranges_of({2048, 1, 2048}), whole);
  EXPECT_EQ(ranges_of({2048, 1024, 2048}), whole);
  EXPECT_EQ(ranges_of({2048, 4096, 1}), whole);
  EXPECT_GT(ranges_of({2049, 1, 2048}).size(), 1u);
  const auto ranges = ranges_of({100 * 1024, 1024, 2048});
  EXPECT_GT(ranges.size(), 1u);
  int64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    EXPECT_EQ(begin, covered);
    EXPECT_EQ(begin % 1024, 0);
    covered = end;
  }
  EXPECT_EQ(covered, 100 * 1024);
}

TEST(CpuDevice, LaunchesOverAPart) {
  const Threads use(2);
  const auto compiled =
      cpu().compile(test::program("extern \"C\" void iruka_entry(const unsigned char* block, long begin, long end) {"
                                  "  for (long k = begin; k < end; ++k) ++(*(int* const*)block)[k]; }"));
  const auto module = cpu().load(compiled.code, "test");
  for (const int64_t grain : {1, 100'000}) {  // on the pool, and directly
    std::vector<int> runs(10'000), expected(10'000);
    std::fill(expected.begin() + 2048, expected.begin() + 7001, 1);
    int* const block = runs.data();
    test::launch_on(cpu(), module->function("iruka_entry"), std::as_bytes(std::span(&block, 1)),
                    {4953, 1024, grain, true, 2048});
    EXPECT_EQ(runs, expected);
  }
}

TEST(CpuDevice, CopiesAndFillsOfAnySize) {
  const Threads use(3);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5000}, (size_t{9} << 20) + 7}) {
    std::vector<unsigned char> from(bytes + 1), to(bytes + 1, 9);
    for (size_t k = 0; k < bytes; ++k) from[k] = static_cast<unsigned char>(k * 31 >> 3);
    cpu().copy(to.data(), from.data(), bytes);
    EXPECT_TRUE(std::equal(from.begin(), from.begin() + static_cast<long>(bytes), to.begin()));
    EXPECT_EQ(to[bytes], 9);
    cpu().fill(to.data(), 0xAB, bytes);
    EXPECT_EQ(std::count(to.begin(), to.begin() + static_cast<long>(bytes), 0xAB), static_cast<long>(bytes));
    EXPECT_EQ(to[bytes], 9);
  }
}

TEST(CpuDevice, NamesAndTarget) {
  EXPECT_EQ(device_name(cpu()), "cpu");
  EXPECT_EQ(&device("cpu"), &cpu());
  EXPECT_THROW(device("cuda:0"), DeviceError);
  EXPECT_THROW(device("tpu"), DeviceError);
  EXPECT_EQ(cpu().target().name, "cpu");
  EXPECT_GE(cpu().target().vector_bytes, 16);
  EXPECT_GT(cpu().target().last_level_cache_bytes, 0u);
}

}  // namespace
}  // namespace iruka
