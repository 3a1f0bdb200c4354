#include "core/thread_pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <utility>

#include "core/float_status.h"
#include "core/fork.h"
#include "core/signal_mask.h"
#include "iruka/device.h"
#include "iruka/error.h"

namespace iruka {
namespace {

constexpr int64_t kCheckNanoseconds = 50'000'000;
// Ranges grow until one takes this long, far more than the cost of a range and far less than a user notices.
constexpr int64_t kShortRange = 50'000, kLongRange = 400'000;
constexpr int kSpins = 2000;  // about the time a sleeping thread takes to wake
/// While a loop runs that has no more ranges to give, another will follow soon: about one or two milliseconds.
constexpr int kSpinsInLoop = 20 * kSpins;

std::atomic<InterruptCheck> the_check{nullptr};

int64_t nanoseconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int64_t now() { return nanoseconds(CLOCK_MONOTONIC); }
/// The processor's time of this thread, without that in which others had its core.
int64_t thread_time() { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

void sleep_on(std::atomic<uint32_t>& word, uint32_t value, int64_t nanoseconds) {
  const timespec limit{static_cast<time_t>(nanoseconds / 1'000'000'000),
                       static_cast<long>(nanoseconds % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds > 0 ? &limit : nullptr, nullptr, 0);
}

void wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

int usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  // The machine has more cores than a cpu_set_t holds.
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

int default_thread_count() {
  if (const char* text = std::getenv("IRUKA_NUM_THREADS")) {
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && count >= 1 && count <= 4096) return static_cast<int>(count);
  }
  return usable_cores();
}

/// This thread's part in a loop.
struct ThreadState {
  std::atomic<bool>* stop = nullptr;  ///< the running loop's, null outside loops
  bool has_helpers = false;           ///< other threads run parts of that loop
  bool on_worker = false;
  bool stopped = false;  ///< a body that was called directly has stopped early
  int64_t last_check = 0;
  bool in_sequence = false;                ///< a LoopSequence began the interval
  const std::stop_token* token = nullptr;  ///< of the innermost StopScope
};
thread_local ThreadState state;

/// Calls the interrupt check outside of the running loop, because a signal handler may launch kernels of its own. In a
/// child that the handler forked, the loop stops where helpers had a part in it.
bool ask(InterruptCheck check) {
  const int generation = fork_generation();
  ThreadState outer = std::exchange(state, ThreadState{.token = state.token});
  const bool stops = check();
  outer.last_check = now();
  state = outer;
  if (generation == fork_generation() || !state.stop || !state.has_helpers) return stops;
  state.stop->store(true, std::memory_order_relaxed);
  return true;
}

/// Polls the stop token, and the interrupt check when it is due. Called only on the thread that launched.
bool interrupted() {
  if (state.token && state.token->stop_requested()) return true;
  const InterruptCheck check = the_check.load(std::memory_order_relaxed);
  if (!check) return false;
  return now() - state.last_check >= kCheckNanoseconds && ask(check);
}

std::atomic<ThreadPool*> the_pool{nullptr};

}  // namespace

struct ThreadPool::Job {
  Job(int64_t count, int64_t align, int helpers, LoopBody body)
      : units((count + align - 1) / align), count(count), align(align), threads(helpers + 1), body(body) {}

  const int64_t units;  ///< of `align` elements
  const int64_t count, align;
  const int threads;
  const int generation = fork_generation();
  const LoopBody body;
  int64_t share_at = 0;          ///< when the caller, still alone, calls for helpers
  bool is_shared = false;        ///< helpers were called
  int64_t shared_since = 0;      ///< the caller's thread_time() behind that
  MeasuredWork work;             ///< the caller's
  std::atomic<int64_t> next{0};  ///< the first unit that no thread has taken
  std::atomic<bool> stop{false};
  bool interrupted = false;          ///< written by the caller alone
  std::atomic<uint32_t> helpers{0};  ///< workers in the loop; the caller sleeps on it
  std::atomic<bool> has_error{false};
  std::exception_ptr error;              ///< written by the thread that set has_error
  std::atomic<unsigned> float_flags{0};  ///< of the helpers that have finished

  int threads_now() const { return is_shared ? threads : 1; }

  /// Whether this process was forked inside the loop, so that parts of it were left to threads of the parent.
  bool is_cut_by_fork() const { return is_shared && generation != fork_generation(); }

  /// Takes up to `wanted` units; less near the end, so that the threads finish together.
  bool take(int64_t wanted, int64_t& begin, int64_t& end) {
    int64_t first = next.load(std::memory_order_relaxed);
    int64_t last;
    const int64_t parts = 2 * threads_now();
    do {
      if (first >= units || stop.load(std::memory_order_relaxed)) return false;
      const int64_t fair = std::max<int64_t>(1, (units - first) / parts);
      last = first + std::min(wanted, fair);
    } while (!next.compare_exchange_weak(first, last, std::memory_order_relaxed));
    begin = first * align;
    end = std::min(count, last * align);
    return true;
  }
};

ThreadPool& ThreadPool::instance() {
  ThreadPool* pool = the_pool.load(std::memory_order_acquire);
  if (pool) return *pool;
  // Never destroyed: workers may still run while the process ends.
  auto* const made = new ThreadPool(default_thread_count());
  if (the_pool.compare_exchange_strong(pool, made, std::memory_order_acq_rel)) return *made;
  delete made;  // it has no workers yet
  return *pool;
}

const bool ThreadPool::is_replaced_after_fork_ = [] {
  in_child_of_fork(replace_after_fork);
  return true;
}();

/// A child of fork() has none of the workers, and the old pool's lock may be held by one of them for ever.
void ThreadPool::replace_after_fork() {
  if (ThreadPool* old = the_pool.load(std::memory_order_relaxed)) {
    the_pool.store(new ThreadPool(old->thread_count()), std::memory_order_release);
  }
  state = ThreadState{.token = state.token};
}

void ThreadPool::set_thread_count(int count) { thread_count_.store(std::max(1, count), std::memory_order_relaxed); }

MeasuredWork ThreadPool::run(int64_t count, int64_t align, LoopBody body, LoopOptions options) {
  if (count <= 0) return {};
  if (state.stop) {
    body(0, count);
    return {};
  }
  align = std::max<int64_t>(1, align);
  const int64_t units = (count + align - 1) / align;
  const int helpers = static_cast<int>(std::min<int64_t>(thread_count(), units)) - 1;
  Job job(count, align, helpers, body);
  const int64_t begin = now();
  if (!state.in_sequence) state.last_check = begin;
  // Workers that still look for work cost no more than a line of the cache.
  const bool are_awake = helpers > 0 && awake_.load(std::memory_order_relaxed) >= helpers;
  job.share_at = are_awake ? begin : begin + options.alone;
  run_chunks(job, /*on_caller=*/true);
  if (job.is_shared) {
    if (!job.is_cut_by_fork()) {  // else the lock may be held by a thread that is not here
      withdraw(job);
      wait_for_helpers(job);
      running_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (job.is_cut_by_fork())
      throw DeviceError(
          "fork() made this process inside a loop whose other threads stayed in the parent: its result "
          "is incomplete here");
    add_float_flags(job.float_flags.load(std::memory_order_relaxed));
  }
  if (job.has_error.load(std::memory_order_acquire)) std::rethrow_exception(job.error);
  if (job.interrupted) throw Interrupted("the kernel was interrupted");
  return job.work;
}

/// Calls for helpers when the caller has been alone for long enough. A child that was forked inside the loop goes on
/// alone, because this pool is its parent's.
void ThreadPool::share_if_due(Job& job, int64_t time) {
  if (job.is_shared || job.threads == 1 || time < job.share_at || job.generation != fork_generation()) return;
  if (job.next.load(std::memory_order_relaxed) >= job.units) return;
  job.is_shared = state.has_helpers = true;
  publish(job, job.threads - 1);
  job.shared_since = thread_time();
}

void ThreadPool::publish(Job& job, int helpers) {
  int started;
  {
    std::lock_guard lock(mutex_);
    if (started_ < helpers) start_workers(helpers);
    started = started_;
    jobs_.push_back(&job);
  }
  running_.fetch_add(1, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) {
    // Workers beyond the thread count sleep on the same word; if there are any, all must be woken.
    wake(epoch_, started >= thread_count() ? INT_MAX : helpers);
  }
}

void ThreadPool::withdraw(Job& job) {
  std::lock_guard lock(mutex_);
  jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
}

void ThreadPool::start_workers(int wanted) {
  const SignalsBlocked blocked;
  struct Start {
    ThreadPool* pool;
    int index;
  };
  while (started_ < wanted) {
    auto start = std::make_unique<Start>(this, started_ + 1);
    pthread_t thread;
    const auto main = [](void* argument) -> void* {
      const std::unique_ptr<Start> own(static_cast<Start*>(argument));
      own->pool->work(own->index);
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, main, start.get()) != 0) break;  // the loop works with fewer threads, too
    (void)start.release();                                                // the thread deletes it
    pthread_detach(thread);
    ++started_;
  }
}

void ThreadPool::work(int index) {
  state.on_worker = true;
  while (true) {
    const uint32_t seen = epoch_.load(std::memory_order_seq_cst);
    if (Job* job = join_a_job(index)) {
      run_chunks(*job, /*on_caller=*/false);
      job->float_flags.fetch_or(take_float_flags(), std::memory_order_relaxed);
      leave(*job);
      continue;
    }
    if (looks_for_a_job(seen)) continue;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (epoch_.load(std::memory_order_seq_cst) == seen) sleep_on(epoch_, seen, 0);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

/// Whether a job is published while this worker stays awake.
bool ThreadPool::looks_for_a_job(uint32_t seen) {
  awake_.fetch_add(1, std::memory_order_relaxed);
  int idle = 0, all = 0;
  while (epoch_.load(std::memory_order_relaxed) == seen && idle < kSpins && all < kSpinsInLoop) {
    idle += running_.load(std::memory_order_relaxed) == 0;
    ++all;
    _mm_pause();
  }
  awake_.fetch_sub(1, std::memory_order_relaxed);
  return epoch_.load(std::memory_order_relaxed) != seen;
}

ThreadPool::Job* ThreadPool::join_a_job(int index) {
  if (index >= thread_count()) return nullptr;
  std::lock_guard lock(mutex_);
  for (Job* job : jobs_) {
    const auto inside = static_cast<int>(job->helpers.load(std::memory_order_relaxed));
    const bool has_work =
        job->next.load(std::memory_order_relaxed) < job->units && !job->stop.load(std::memory_order_relaxed);
    if (!has_work || inside + 1 >= job->threads) continue;
    job->helpers.fetch_add(1, std::memory_order_relaxed);
    return job;
  }
  return nullptr;
}

void ThreadPool::leave(Job& job) {
  // The job may be destroyed now; waking an address on which no thread sleeps is harmless.
  std::atomic<uint32_t>& helpers = job.helpers;
  if (helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) wake(helpers, 1);
}

void ThreadPool::run_chunks(Job& job, bool on_caller) {
  state.stop = &job.stop;
  state.has_helpers = !on_caller;
  int64_t begin, end, before = now();
  if (on_caller) share_if_due(job, before);
  int64_t wanted = std::clamp<int64_t>(job.units / (32 * job.threads_now()), 1, 256);
  while (job.take(wanted, begin, end)) {
    try {
      const FloatScope floats;  // for each range, so that one body's changes of the state do not reach the next
      job.body(begin, end);
    } catch (...) {
      if (!job.has_error.exchange(true, std::memory_order_acq_rel)) job.error = std::current_exception();
      job.stop.store(true, std::memory_order_relaxed);
    }
    const int64_t after = now(), spent = after - before;
    before = after;
    if (spent < kShortRange)
      wanted *= 4;
    else if (spent < kLongRange / 2)
      wanted *= 2;
    else if (spent > 2 * kLongRange)
      wanted = std::max<int64_t>(1, wanted / 2);
    wanted = std::min<int64_t>(wanted, job.units);
    if (!on_caller) continue;
    job.work.units += end - begin;
    if (!job.is_shared) job.work.nanoseconds += spent;
    if (interrupted()) {
      job.interrupted = true;
      job.stop.store(true, std::memory_order_relaxed);
    }
    share_if_due(job, after);
  }
  state.stop = nullptr;
  if (on_caller && job.is_shared) job.work.nanoseconds += thread_time() - job.shared_since;
  if (on_caller && state.stopped) {
    state.stopped = false;
    job.interrupted = true;
  }
}

void ThreadPool::wait_for_helpers(Job& job) {
  int spins = 0;
  while (const uint32_t inside = job.helpers.load(std::memory_order_acquire)) {
    if (job.is_cut_by_fork()) return;
    if (++spins < kSpins) {
      _mm_pause();
      continue;
    }
    sleep_on(job.helpers, inside, kCheckNanoseconds);
    if (!job.interrupted && interrupted()) {
      job.interrupted = true;
      job.stop.store(true, std::memory_order_relaxed);
    }
  }
}

LoopSequence::LoopSequence() : is_inner_(std::exchange(state.in_sequence, true)) {
  if (!is_inner_) state.last_check = now();
}

LoopSequence::~LoopSequence() { state.in_sequence = is_inner_; }

bool should_stop() noexcept {
  if (state.stop && state.stop->load(std::memory_order_relaxed)) return true;
  if (state.on_worker) return false;
  if (state.stopped) return true;
  if (!interrupted()) return false;
  state.stopped = true;
  if (state.stop) state.stop->store(true, std::memory_order_relaxed);
  return true;
}

void throw_if_stopped() {
  if (!state.stopped || state.stop) return;
  state.stopped = false;
  throw Interrupted("the kernel was interrupted");
}

StopScope::StopScope(std::stop_token token) : token_(std::move(token)), before_(std::exchange(state.token, &token_)) {}

StopScope::~StopScope() { state.token = before_; }

void set_interrupt_check(InterruptCheck check) { the_check.store(check, std::memory_order_relaxed); }

int thread_count() { return ThreadPool::instance().thread_count(); }

void set_thread_count(int count) {
  if (count < 1) throw ValueError("set_thread_count: the count must be at least 1, not " + std::to_string(count));
  ThreadPool::instance().set_thread_count(count);
}

}  // namespace iruka
