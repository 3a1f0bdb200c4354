// The threads behind a pipeline.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "pipeline/batch_maker.h"

namespace iruka::pipeline {

/// Where batches are made from.
class Positions {
 public:
  Positions(Source& source, const OrderOptions& options, const State& begin);
  /// The next batch, or the end of the epoch. Called by one thread at a time.
  std::shared_ptr<BatchWork> next();

 private:
  std::shared_ptr<BatchWork> next_of_order();
  std::shared_ptr<BatchWork> next_in_sequence();
  std::vector<GivenSample> given_next();

  Source& source_;
  const OrderOptions options_;
  int64_t epoch_, number_;
  std::optional<EpochOrder> order_;  ///< of epoch_
  bool has_begun_ = false;           ///< a sequential source's epoch
  bool is_over_ = false;             ///< it has given its last sample
  int64_t given_ = 0;                ///< samples of this epoch, of a sequential source
};

/// Threads that make batches ahead. At any time one of them begins a batch; while the last samples of a batch are made,
/// the next one begins.
class Session {
 public:
  Session(Source& source, const BatchMaker& maker, const Options& options, const State& begin);
  ~Session() { stop(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The oldest batch, or the end of an epoch; null for a session that was stopped, as a signal handler may do while
  /// this waits. Raises Interrupted: the batch is there for the next call.
  std::shared_ptr<BatchWork> take();
  /// Waits for the threads, which take no sample any more.
  void stop();
  double waited() const;
  double idle() const;

 private:
  class Turn;
  void start();
  void drive(BatchStream* stream);
  std::shared_ptr<BatchWork> begin();
  std::shared_ptr<BatchWork> make_here();
  std::shared_ptr<BatchWork> take_made();
  std::shared_ptr<BatchWork> wait_for_front(std::unique_lock<std::mutex>& lock);
  void make(BatchWork& work, AllTaken& taken, BatchStream* stream);
  bool is_full() const;
  void note_idle();
  bool makes_ahead() const { return prefetch_ > 0 && !options_.is_serial; }
  std::shared_ptr<BatchWork> begin_next(std::unique_lock<std::mutex>& lock);

  const Source& source_;
  const BatchMaker& maker_;
  const Options options_;
  const int prefetch_;
  Positions positions_;
  mutable std::mutex mutex_;
  std::condition_variable made_, wanted_;
  std::deque<std::shared_ptr<BatchWork>> queue_;  ///< in order; begun, and not taken
  bool has_turn_ = false;                         ///< a thread begins a batch
  bool waits_for_consumer_ = false;               ///< a sequential source's epoch ends with the queue
  std::shared_ptr<BatchWork> begun_;              ///< by the caller of take(), until it is made
  double waited_ = 0, idle_ = 0;                  ///< seconds
  std::optional<std::chrono::steady_clock::time_point> idle_since_;  ///< all that may be made ahead is made
  bool took_end_ = false;                                            ///< of an epoch, by the last take()
  std::stop_source stop_;
  std::deque<BatchStream> streams_;  ///< of a GPU: one for each thread
  std::vector<std::thread> threads_;
};

}  // namespace iruka::pipeline
