// Forks of a process whose threads hold locks, wait for one another and make things for the first time.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "core/fork.h"
#include "core/once.h"
#include "core/pool.h"

namespace iruka {
namespace {

constinit std::array<ForkSafeMutex, 6> mutexes;
std::atomic<int> in_child{0};

/// Forks; the child ends with what `body` returns, or is killed after some seconds: -1.
template <class Body>
int in_a_child(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Threads that run `body(k)` again and again while it lives.
class Busy {
 public:
  template <class Body>
  Busy(int count, Body body) {
    for (int k = 0; k < count; ++k)
      threads_.emplace_back([this, k, body] {
        while (!stop_.load()) body(k);
      });
  }
  ~Busy() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

/// A thread that runs `body`, and lasts as long as this: ThreadSanitizer finds that a child leaks one that has ended.
class Lasting {
 public:
  template <class Body>
  explicit Lasting(Body body)
      : thread_([this, body = std::move(body)]() mutable {
          body();
          while (!may_end_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }) {}
  ~Lasting() {
    may_end_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> may_end_{false};
  std::thread thread_;
};

int use_all_locks() {
  for (ForkSafeMutex& mutex : mutexes) std::lock_guard lock(mutex);
  const ForkGuard work;
  return 0;
}

TEST(Fork, ChildrenFindAllLocksFree) {
  const Busy busy(3, [](int k) {
    thread_local std::mt19937 random(static_cast<unsigned>(k));
    const size_t outer = random() % 5, inner = outer + 1 + random() % (5 - outer);
    {
      std::lock_guard first(mutexes[outer]);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      std::lock_guard second(mutexes[inner]);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  for (int k = 0; k < 300; ++k) ASSERT_EQ(in_a_child(use_all_locks), 0) << k;
}

// A thread may hold a lock around such work, or inside it.
TEST(Fork, ChildrenFindNoWorkUnderWay) {
  static std::atomic<int> under_way{0};
  const Busy busy(2, [](int k) {
    const auto work = [] {
      const ForkGuard here;
      ++under_way;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      std::lock_guard inside(mutexes[1]);
      --under_way;
    };
    std::unique_lock around(mutexes[0], std::defer_lock);
    if (k == 0) around.lock();
    work();
    if (k == 0) around.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  for (int k = 0; k < 100; ++k)
    ASSERT_EQ(in_a_child([] { return under_way.load() == 0 ? use_all_locks() : 1; }), 0) << k;
}

TEST(Fork, WaitsForAThreadThatCarriesOn) {
  std::atomic<bool> is_done{false};
  std::optional<Lasting> other;
  {
    const ForkGuard work;
    other.emplace([&, ticket = std::make_shared<ForkTicket>()]() mutable {
      const ForkGuard same(std::move(ticket));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const ForkGuard nested;  // though fork() waits by now
      is_done = true;
    });
  }
  EXPECT_EQ(in_a_child([&] { return is_done ? use_all_locks() : 1; }), 0);
}

TEST(Fork, WaitsForAbandonedWorkThatEndsSoon) {
  std::atomic<bool> is_done{false};
  std::optional<Lasting> other;
  std::weak_ptr<ForkTicket> work;
  {
    const ForkGuard here;
    auto ticket = std::make_shared<ForkTicket>();
    work = ticket;
    other.emplace([&, ticket = std::move(ticket)]() mutable {
      const ForkGuard same(std::move(ticket));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      is_done = true;
    });
  }
  work.lock()->abandon();
  EXPECT_EQ(in_a_child([&] { return is_done && !lost_abandoned_work() ? use_all_locks() : 1; }), 0);
}

TEST(Fork, LeavesAbandonedWorkThatGoesOn) {
  std::mutex theirs;
  std::atomic<bool> was_abandoned{false}, goes_on{false};
  std::unique_lock lock(theirs);
  const auto ticket = std::make_shared<ForkTicket>();
  std::thread other([&] {
    const ForkGuard same(ticket);
    {
      const ForkGuardPause asking;
      while (!was_abandoned) std::this_thread::yield();
    }
    goes_on = true;
    std::lock_guard mine(theirs);
  });
  ticket->abandon();
  was_abandoned = true;
  while (!goes_on) std::this_thread::yield();
  EXPECT_FALSE(lost_abandoned_work());
  EXPECT_EQ(in_a_child([] {
              const auto of_a_grandchild = [] { return lost_abandoned_work() ? use_all_locks() : 2; };
              return lost_abandoned_work() ? in_a_child(of_a_grandchild) + use_all_locks() : 1;
            }),
            0);
  EXPECT_FALSE(lost_abandoned_work());
  lock.unlock();
  other.join();
}

// The forking thread holds a foreign lock, such as Python's, and a thread inside such work waits for it.
TEST(Fork, GoesOnWhileWorkWaitsForTheForkingThread) {
  std::mutex theirs;
  std::condition_variable started;
  bool has_started = false;
  std::unique_lock lock(theirs);
  std::thread other([&] {
    const ForkGuard work;
    std::unique_lock mine(theirs, std::defer_lock);
    {
      const ForkGuardPause asking;
      mine.lock();
      has_started = true;
      started.notify_all();
      mine.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      mine.lock();
    }
  });
  started.wait(lock, [&] { return has_started; });
  EXPECT_EQ(in_a_child(use_all_locks), 0);
  lock.unlock();
  other.join();
}

TEST(Fork, WhatIsMadeOnceCanBeMadeInAChild) {
  struct Slow {
    Slow() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
    int value = 3;
  };
  const auto once = [] { return made_once([] { return Slow(); }).value; };
  const auto alone = [] { return made_once_locked([] { return Slow(); }).value; };
  const Lasting other([&] { EXPECT_EQ(once() + alone(), 6); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(in_a_child([&] { return once() - 3; }), 0);
  EXPECT_EQ(in_a_child([&] { return alone() - 3; }), 0);
}

TEST(Fork, ThreadsMakeOneThing) {
  static std::atomic<int> made{0};
  struct Counted {
    Counted() { ++made; }
  };
  std::array<const Counted*, 4> found;
  std::vector<std::thread> threads;
  for (size_t k = 0; k < found.size(); ++k)
    threads.emplace_back([&found, k] { found[k] = &made_once_locked([] { return Counted(); }); });
  for (std::thread& thread : threads) thread.join();
  // Four lambdas of one place in the code are one type.
  for (const Counted* one : found) EXPECT_EQ(one, found[0]);
  EXPECT_EQ(made, 1);
}

TEST(Fork, ChildrenRunWhatTheyWereGiven) {
  static const int before = fork_generation();
  in_child_of_fork([] { ++in_child; });
  EXPECT_EQ(in_a_child([] { return in_child == 1 && fork_generation() == before + 1 ? 0 : 1; }), 0);
  EXPECT_EQ(in_a_child([] { return in_a_child([] { return in_child == 2 ? 0 : 1; }); }), 0);
  EXPECT_EQ(in_child, 0);
  EXPECT_EQ(fork_generation(), before);
}

TEST(Fork, PoolsMayCome) {
  const Busy busy(2, [](int) {
    MemoryPool pool("short");
    pool.release(pool.allocate(100), 100);
  });
  for (int k = 0; k < 200; ++k)
    ASSERT_EQ(in_a_child([] {
                MemoryPool pool("own");
                void* const memory = pool.allocate(1000);
                pool.release(memory, 1000);
                return use_all_locks();
              }),
              0);
}

}  // namespace
}  // namespace iruka
