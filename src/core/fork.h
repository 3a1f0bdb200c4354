// Makes fork() safe in a process with several threads.
//
// A child has only the thread that called fork(). A lock that another thread held at that moment stays locked in the
// child for ever, and a function's static variable that another thread was initialising blocks for ever, too. So fork()
// takes every registered lock first and waits for work that must not be cut in two.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace iruka {

namespace fork_registry {

/// A registered lock.
struct Entry {
  void* lock;
  bool (*try_lock)(void*);
  void (*unlock)(void*);
  Entry* next = nullptr;
  std::atomic<bool> has_joined{false};
};

void join(Entry& entry);
void leave(Entry& entry);

/// Work of one thread that fork() waits for. The gate that fork() closes guards both.
struct Work {
  bool is_inside = false;
  bool is_abandoned = false;
};

}  // namespace fork_registry

/// A lock that fork() takes before it forks; the order in which threads take several of them does not matter. It is
/// constant-initialised, so that it may be a function's static variable. It must live until the process ends or until
/// leave().
template <class Lock>
class ForkSafe {
 public:
  constexpr ForkSafe()
      : entry_{&lock_, [](void* lock) { return static_cast<Lock*>(lock)->try_lock(); },
               [](void* lock) { static_cast<Lock*>(lock)->unlock(); }} {}
  ForkSafe(const ForkSafe&) = delete;
  ForkSafe& operator=(const ForkSafe&) = delete;

  void lock() { joined().lock(); }
  bool try_lock() { return joined().try_lock(); }
  void unlock() { lock_.unlock(); }
  /// The lock itself, for a condition variable.
  Lock& joined() {
    if (!entry_.has_joined.load(std::memory_order_acquire)) fork_registry::join(entry_);
    return lock_;
  }
  /// The lock is about to be destroyed.
  void leave() { fork_registry::leave(entry_); }

 private:
  Lock lock_;
  fork_registry::Entry entry_;
};
using ForkSafeMutex = ForkSafe<std::mutex>;
static_assert(std::is_trivially_destructible_v<ForkSafeMutex>);

class ForkTicket;

/// While one lives on a thread, fork() waits. It guards work that takes locks which are not registered here, such as a
/// compilation.
class ForkGuard {
 public:
  ForkGuard();
  /// For a thread that continues another thread's work; that thread created the ticket.
  explicit ForkGuard(std::shared_ptr<ForkTicket> ticket);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 private:
  const std::shared_ptr<ForkTicket> ticket_;
  fork_registry::Work own_;
  fork_registry::Work* const outer_;
};

/// Work that moves to another thread: fork() waits from the moment the ticket is made until it is destroyed.
class ForkTicket {
 public:
  /// The calling thread has a ForkGuard.
  ForkTicket();
  ~ForkTicket();
  ForkTicket(const ForkTicket&) = delete;
  ForkTicket& operator=(const ForkTicket&) = delete;

  /// Says that the result is no longer needed, though the work may take long. From now on each fork() waits for it at
  /// most a second; in a child that was forked before its end, lost_abandoned_work() is true.
  void abandon();

 private:
  friend class ForkGuard;
  fork_registry::Work work_;
};

/// Whether this process was forked in the middle of abandoned work, so that locks which that work took may never be
/// free.
bool lost_abandoned_work();

/// Suspends this thread's ForkGuard while one lives: the thread waits for a lock that the forking thread may hold, so
/// fork() must not wait for it. It does nothing on a thread without a ForkGuard.
class ForkGuardPause {
 public:
  ForkGuardPause();
  ~ForkGuardPause();
  ForkGuardPause(const ForkGuardPause&) = delete;
  ForkGuardPause& operator=(const ForkGuardPause&) = delete;

 private:
  fork_registry::Work* const work_;
};

/// Registers `action`, which each child of fork() runs once its locks are free.
void in_child_of_fork(void (*action)());
/// How many forks lie between this process and the first one. An object that was made at a smaller number belongs to
/// the parent.
int fork_generation();

}  // namespace iruka
