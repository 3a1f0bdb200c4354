#include "core/fork.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <new>

#include "core/once.h"

namespace iruka {
namespace {

using Clock = std::chrono::steady_clock;
using fork_registry::Work;

/// How long fork() waits for work that was abandoned.
constexpr auto kLongestWaitForAbandoned = std::chrono::seconds(1);

/// Counts the running work. While the gate is closed, no other work begins.
class Gate {
 public:
  void enter(Work& work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_closed_; });
    add(work);
  }
  /// Adds work even while the gate is closed, because it is a part of work that fork() waits for already.
  void enter_beside(Work& work) {
    std::lock_guard lock(mutex_);
    add(work);
  }
  void leave(Work& work) {
    std::lock_guard lock(mutex_);
    remove(work);
  }
  void abandon(Work& work) {
    std::lock_guard lock(mutex_);
    const bool was_inside = work.is_inside;
    remove(work);
    work.is_abandoned = true;
    if (was_inside) add(work);
  }
  /// Waits until no work is under way, but for abandoned work only until `latest`.
  void close(Clock::time_point latest) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_closed_; });
    is_closed_ = true;
    changed_.wait_until(lock, latest, [this] { return inside_ == 0 && abandoned_ == 0; });
    changed_.wait(lock, [this] { return inside_ == 0; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    is_closed_ = false;
    changed_.notify_all();
  }
  /// In a child of fork(), where no other thread changes it.
  bool has_abandoned() const { return abandoned_ > 0; }

 private:
  int& count_of(const Work& work) { return work.is_abandoned ? abandoned_ : inside_; }
  void add(Work& work) {
    work.is_inside = true;
    ++count_of(work);
  }
  void remove(Work& work) {
    if (!work.is_inside) return;
    work.is_inside = false;
    if (--count_of(work) == 0) changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0, abandoned_ = 0;
  bool is_closed_ = false;
};

/// A function that each child runs.
struct Action {
  void (*run)();
  Action* next;
};

constinit std::mutex list_mutex;  ///< guards the two lists; fork() holds it
constinit fork_registry::Entry* entries = nullptr;
constinit Action* actions = nullptr;
constinit std::atomic<int> generation = 0;
constinit std::atomic<bool> has_lost_work = false;

alignas(Gate) std::byte gate_memory[sizeof(Gate)];
Gate& gate() {
  return *made_once([] { return new (gate_memory) Gate; });
}
thread_local Work* current_work = nullptr;  ///< the work of this thread that fork() waits for

bool try_lock_all() {
  for (fork_registry::Entry* entry = entries; entry; entry = entry->next) {
    if (entry->try_lock(entry->lock)) continue;
    for (fork_registry::Entry* taken = entries; taken != entry; taken = taken->next) taken->unlock(taken->lock);
    return false;
  }
  return true;
}

void unlock_all() {
  for (fork_registry::Entry* entry = entries; entry; entry = entry->next) entry->unlock(entry->lock);
  list_mutex.unlock();
}

// Takes all locks or none: a thread that holds one may be waiting for another one, or for the gate to open.
void before_fork() {
  constexpr int kTries = 100;
  const Clock::time_point latest = Clock::now() + kLongestWaitForAbandoned;
  while (true) {
    gate().close(latest);
    for (int tries = 0; tries < kTries; ++tries) {
      list_mutex.lock();
      if (try_lock_all()) return;
      list_mutex.unlock();
      sched_yield();
    }
    gate().open();
    usleep(100);
  }
}

void after_fork_in_parent() {
  unlock_all();
  gate().open();
}

void after_fork_in_child() {
  generation.fetch_add(1, std::memory_order_relaxed);
  unlock_all();
  if (gate().has_abandoned()) has_lost_work.store(true, std::memory_order_relaxed);
  new (gate_memory) Gate;  // its mutex may be held by a thread that waits to enter
  for (const Action* action = actions; action; action = action->next) action->run();
}

// Runs when the library is loaded, before a thread can fork at the same time.
const int is_installed = (gate(), pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child));

}  // namespace

namespace fork_registry {

void join(Entry& entry) {
  std::lock_guard lock(list_mutex);
  if (entry.has_joined.load(std::memory_order_relaxed)) return;
  entry.next = entries;
  entries = &entry;
  entry.has_joined.store(true, std::memory_order_release);
}

void leave(Entry& entry) {
  std::lock_guard lock(list_mutex);
  if (!entry.has_joined.exchange(false)) return;
  Entry** link = &entries;
  while (*link != &entry) link = &(*link)->next;
  *link = entry.next;
}

}  // namespace fork_registry

ForkGuard::ForkGuard() : outer_(current_work) {
  if (outer_) return;
  gate().enter(own_);
  current_work = &own_;
}

ForkGuard::ForkGuard(std::shared_ptr<ForkTicket> ticket) : ticket_(std::move(ticket)), outer_(current_work) {
  current_work = &ticket_->work_;
}

ForkGuard::~ForkGuard() {
  current_work = outer_;
  if (!outer_ && !ticket_) gate().leave(own_);
}

ForkTicket::ForkTicket() { gate().enter_beside(work_); }

ForkTicket::~ForkTicket() { gate().leave(work_); }

void ForkTicket::abandon() { gate().abandon(work_); }

bool lost_abandoned_work() { return has_lost_work.load(std::memory_order_relaxed); }

ForkGuardPause::ForkGuardPause() : work_(std::exchange(current_work, nullptr)) {
  if (work_) gate().leave(*work_);
}

ForkGuardPause::~ForkGuardPause() {
  if (work_) gate().enter(*work_);
  current_work = work_;
}

void in_child_of_fork(void (*action)()) {
  std::lock_guard lock(list_mutex);
  actions = new Action{action, actions};
}

int fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace iruka
