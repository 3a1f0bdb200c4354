// The thread pool: threads that share the elements of a loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/launch_context.h"
#include "iruka/device.h"

namespace iruka {

/// A loop body, called with ranges [begin, end). Not owned.
class LoopBody {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, LoopBody>)
  LoopBody(F&& function)  // NOLINT: a view of any callable
      : context_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* context, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(context_, begin, end); }

 private:
  void* context_;
  void (*call_)(void*, int64_t, int64_t);
};

struct LoopOptions {
  /// The calling thread begins alone, and other threads take part once so many nanoseconds have passed. They are not
  /// woken for a short loop, however costly its estimate was. Those that are awake still, because the last loop ended a
  /// moment ago, take part at once.
  int64_t alone = 0;
};

/// Loops run on the caller and on workers that start when first needed and then wait for more. Several threads may run
/// loops at once; a loop inside a loop runs on its own thread alone. A child of fork() gets workers of its own.
class ThreadPool {
 public:
  /// The process's pool: IRUKA_NUM_THREADS threads, else as many as the cores this process may use.
  static ThreadPool& instance();

  /// Calls `body` on ranges that cover [0, count) once and begin at multiples of `align`. Ranges start small and grow
  /// while they are fast, which balances costly bodies and keeps the overhead of cheap ones low. The first exception of
  /// `body` ends the loop and is rethrown. Raises Interrupted when the interrupt check says so, which the calling
  /// thread polls about every 50 ms, and DeviceError in a child that the check forked inside a loop of several threads.
  /// Returns how long the calling thread took for its ranges.
  MeasuredWork run(int64_t count, int64_t align, LoopBody body, LoopOptions options = {});

  /// Threads in a loop, the caller included.
  int thread_count() const { return thread_count_.load(std::memory_order_relaxed); }
  /// At least 1.
  void set_thread_count(int count);

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  struct Job;
  explicit ThreadPool(int threads) : thread_count_(threads) {}
  static void replace_after_fork();
  static const bool is_replaced_after_fork_;
  void publish(Job& job, int helpers);
  void withdraw(Job& job);
  void start_workers(int wanted);
  void work(int index);
  bool looks_for_a_job(uint32_t seen);
  Job* join_a_job(int index);
  static void leave(Job& job);
  void run_chunks(Job& job, bool on_caller);
  void share_if_due(Job& job, int64_t time);
  void wait_for_helpers(Job& job);

  std::atomic<int> thread_count_;
  std::mutex mutex_;        ///< guards jobs_ and started_
  std::vector<Job*> jobs_;  ///< loops that still have ranges to run
  int started_ = 0;
  std::atomic<uint32_t> epoch_{0};  ///< changes with every job; workers sleep on it
  std::atomic<int> sleepers_{0};
  std::atomic<int> awake_{0};    ///< workers that look for a job for a while before they sleep
  std::atomic<int> running_{0};  ///< loops that workers were called for
};

/// Loops that this thread runs inside of one share the interval of polls, so that a long sequence of short loops sees
/// an interrupt. Other loops begin an interval of their own, and short ones never poll.
class LoopSequence {
 public:
  LoopSequence();
  ~LoopSequence();
  LoopSequence(const LoopSequence&) = delete;
  LoopSequence& operator=(const LoopSequence&) = delete;

 private:
  const bool is_inner_;
};

/// Whether a loop in compiled code must stop now. The thread that launched also polls the interrupt check every 50 ms.
bool should_stop() noexcept;

/// For a body called directly, without the pool: raises Interrupted when should_stop() has said to stop meanwhile.
void throw_if_stopped();

}  // namespace iruka
