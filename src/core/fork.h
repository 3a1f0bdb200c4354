// What fork() finds, so that its child may go on: every lock free, no work of other threads half done.
//
// A child has the thread that forked alone. A lock that another thread held stays locked there for ever, and so does a
// function's own static that another thread was making.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace iruka {

namespace fork_registry {

/// A lock as fork() sees it.
struct Entry {
  void* lock;
  bool (*try_lock)(void*);
  void (*unlock)(void*);
  Entry* next = nullptr;
  std::atomic<bool> has_joined{false};
};

void join(Entry& entry);
void leave(Entry& entry);

}  // namespace fork_registry

/// A lock that fork() holds, whatever other locks are held around or inside it. As a constant it is made without code,
/// so that a function may have one of its own. It lives as long as the process, or until leave().
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

/// Work that fork() waits for while it lives: what takes locks that are not ours, as compilers do.
class ForkWaits {
 public:
  ForkWaits();
  /// On a thread that carries on with such work of another one, which gave it the ticket.
  explicit ForkWaits(std::shared_ptr<void> ticket);
  ~ForkWaits();
  ForkWaits(const ForkWaits&) = delete;
  ForkWaits& operator=(const ForkWaits&) = delete;

  /// Within such work: fork() waits for the ticket, too.
  static std::shared_ptr<void> make_ticket();

 private:
  const std::shared_ptr<void> ticket_;
};

/// Within such work: lets fork() have its way while it lives, as this thread waits for a lock that the forking one may
/// hold. Nothing where there is no such work.
class ForkMayGoOn {
 public:
  ForkMayGoOn();
  ~ForkMayGoOn();
  ForkMayGoOn(const ForkMayGoOn&) = delete;
  ForkMayGoOn& operator=(const ForkMayGoOn&) = delete;

 private:
  const int depth_;
};

/// Has each child of fork() run `action` once its locks are free.
void in_child_of_fork(void (*action)());
/// Grows by one in each child of fork(): what was made at another number belongs to the parent.
int fork_generation();

/// A value that is made at its first use. Threads may make one at the same time; the first stays.
template <class T>
class Once {
 public:
  template <class Make>
  T& get(Make&& make) {
    if (T* const found = find()) return *found;
    T* const made = new T(std::forward<Make>(make)());
    T* first = nullptr;
    if (value_.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *first;
  }
  /// Null as long as there is none.
  T* find() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<T*> value_{nullptr};
};

/// What `make` gives, made once for the place in the code where it stands, and kept for calls made at exit too. In
/// place of a function's own static, which takes a lock while it is made.
template <class Make>
requires std::is_class_v<Make>
auto& made_once(Make make) {
  static constinit Once<std::invoke_result_t<Make>> value;
  return value.get(make);
}
/// The same of what two threads must not make at the same time.
template <class Make>
requires std::is_class_v<Make>
auto& made_alone(Make make) {
  static constinit Once<std::invoke_result_t<Make>> value;
  static constinit ForkSafeMutex making;
  if (auto* const found = value.find()) return *found;
  std::lock_guard lock(making);
  return value.get(make);
}

}  // namespace iruka
