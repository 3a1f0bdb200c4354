#include "core/fork.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <condition_variable>
#include <new>

namespace iruka {
namespace {

/// Lets work in until fork() closes it, and tells when all have left.
class Gate {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_closed_; });
    ++inside_;
  }
  /// Beside one that is inside.
  void enter_too() {
    std::lock_guard lock(mutex_);
    ++inside_;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0) changed_.notify_all();
  }
  void close() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_closed_; });
    is_closed_ = true;
    changed_.wait(lock, [this] { return inside_ == 0; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    is_closed_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool is_closed_ = false;
};

/// What to run in a child.
struct Action {
  void (*run)();
  Action* next;
};

constinit std::mutex list_mutex;  ///< of the two lists; fork() holds it
constinit fork_registry::Entry* entries = nullptr;
constinit Action* actions = nullptr;
constinit std::atomic<int> generation = 0;

alignas(Gate) std::byte gate_memory[sizeof(Gate)];
Gate& gate() {
  static Gate* const made = new (gate_memory) Gate;
  return *made;
}
thread_local int depth = 0;  ///< of this thread's work that fork() waits for

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

// All or none: who holds a lock may wait for another one, or for the gate, in any order.
void before_fork() {
  constexpr int kTries = 100;
  while (true) {
    gate().close();
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
  new (gate_memory) Gate;  // its mutex may be held by a thread that waits to enter
  for (const Action* action = actions; action; action = action->next) action->run();
}

// When the library is loaded: later, a thread might fork while another one did this.
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

ForkWaits::ForkWaits() {
  if (depth++ == 0) gate().enter();
}

ForkWaits::ForkWaits(std::shared_ptr<void> ticket) : ticket_(std::move(ticket)) { ++depth; }

ForkWaits::~ForkWaits() {
  if (--depth == 0 && !ticket_) gate().leave();
}

std::shared_ptr<void> ForkWaits::make_ticket() {
  gate().enter_too();
  return {&gate(), [](void*) { gate().leave(); }};
}

ForkMayGoOn::ForkMayGoOn() : depth_(std::exchange(depth, 0)) {
  if (depth_ > 0) gate().leave();
}

ForkMayGoOn::~ForkMayGoOn() {
  if (depth_ > 0) gate().enter();
  depth = depth_;
}

void in_child_of_fork(void (*action)()) {
  std::lock_guard lock(list_mutex);
  actions = new Action{action, actions};
}

int fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace iruka
