#include "pipeline/engine.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "core/thread_pool.h"
#include "iruka/error.h"
#include "pipeline/device_batch.h"

namespace iruka::pipeline {
namespace {
using Clock = std::chrono::steady_clock;
bool has_streams(const Options& options) { return options.device && options.device != &cpu(); }
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
}  // namespace

Positions::Positions(Source& source, const OrderOptions& options, const State& begin)
    : source_(source), options_(options), epoch_(begin.epoch), number_(begin.batch) {}

std::shared_ptr<BatchWork> Positions::next() { return source_.is_sequential() ? next_in_sequence() : next_of_order(); }

std::shared_ptr<BatchWork> Positions::next_of_order() {
  if (!order_) order_ = epoch_order(source_.size(), options_, epoch_);
  auto work = std::make_shared<BatchWork>();
  work->epoch = epoch_;
  work->number = number_;
  if (number_ >= order_->batches) {
    work->is_end = work->is_done = true;
    ++epoch_;
    number_ = 0;
    order_.reset();
    return work;
  }
  const int64_t begin = number_ * options_.batch_size;
  const int64_t end = std::min(begin + options_.batch_size, static_cast<int64_t>(order_->indices.size()));
  work->indices.assign(order_->indices.begin() + begin, order_->indices.begin() + end);
  work->padded = std::clamp<int64_t>(end - (std::ssize(order_->indices) - order_->padded), 0, end - begin);
  ++number_;
  return work;
}

/// The samples of the next batch. Raises ValueError for a source that gives more.
std::vector<GivenSample> Positions::given_next() {
  std::vector<GivenSample> given = source_.next(options_.batch_size);
  if (std::ssize(given) > options_.batch_size)
    throw ValueError("pipeline: the source's next(" + std::to_string(options_.batch_size) + ") gave " +
                     std::to_string(given.size()) + " samples, more than it was asked for");
  return given;
}

std::shared_ptr<BatchWork> Positions::next_in_sequence() {
  auto work = std::make_shared<BatchWork>();
  if (!has_begun_) {
    source_.begin(epoch_);
    has_begun_ = true;
    is_over_ = false;
    given_ = 0;
    for (int64_t k = 0; k < number_ && !is_over_; ++k) {  // a run that goes on
      const auto passed = std::ssize(given_next());
      given_ += passed;
      is_over_ = passed < options_.batch_size;
    }
  }
  work->epoch = epoch_;
  work->number = number_;
  if (!is_over_) work->given = given_next();
  const auto count = std::ssize(work->given);
  is_over_ = is_over_ || count < options_.batch_size;
  if (count == 0 ||
      (count < options_.batch_size && options_.last_batch == LastBatch::drop && !options_.pad_last_batch)) {
    work->given.clear();
    work->is_end = work->is_done = true;
    ++epoch_;
    number_ = 0;
    has_begun_ = false;
    return work;
  }
  work->indices.resize(static_cast<size_t>(count));
  std::iota(work->indices.begin(), work->indices.end(), given_);
  given_ += count;
  if (options_.last_batch == LastBatch::fill || options_.pad_last_batch) {
    work->padded = options_.batch_size - count;
    work->indices.resize(static_cast<size_t>(options_.batch_size), work->indices.back());
  }
  ++number_;
  return work;
}

/// A thread's turn to begin a batch, which ends when all samples of the batch are taken.
class Session::Turn final : public AllTaken {
 public:
  explicit Turn(Session& session) : session_(session) {}
  ~Turn() override { all_taken(); }
  void all_taken() override {
    if (is_over_.exchange(true)) return;
    const std::lock_guard lock(session_.mutex_);
    session_.has_turn_ = false;
    session_.wanted_.notify_all();
  }

 private:
  Session& session_;
  std::atomic<bool> is_over_{false};
};

Session::Session(Source& source, const BatchMaker& maker, const Options& options, const State& begin)
    : source_(source),
      maker_(maker),
      options_(options),
      prefetch_(options.prefetch.value_or(has_streams(options) ? 4 : 2)),
      positions_(source, options.order, begin) {
  if (!makes_ahead()) return;
  try {
    start();
  } catch (...) {
    stop();
    throw;
  }
}

void Session::start() {
  const bool is_on_gpu = has_streams(options_);
  // One begins a batch, one ends another; a single one where no two samples may be made at once. A GPU's decoder holds
  // its thread, and one more keeps the engine busy.
  const int most = options_.threads == 1 ? 1 : is_on_gpu ? 3 : 2;
  const int count = std::clamp(prefetch_, 1, most);
  for (int k = 0; k < count; ++k) {
    BatchStream* const stream = is_on_gpu ? &streams_.emplace_back(*options_.device) : nullptr;
    threads_.emplace_back([this, stream] { drive(stream); });
  }
}

void Session::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
    wanted_.notify_all();
    made_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

double Session::waited() const {
  const std::lock_guard lock(mutex_);
  return waited_;
}

double Session::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

bool Session::is_full() const {
  const auto batches = std::ranges::count_if(queue_, [](const auto& work) { return !work->is_end; });
  const int64_t most = std::max(prefetch_, 1);
  // Epochs may have no batches, but an end.
  return batches >= most || std::ssize(queue_) >= 2 * most || waits_for_consumer_;
}

/// From now on the threads wait for the consumer, if they have made all that may be made ahead.
void Session::note_idle() {
  const auto is_made = [](const auto& work) { return work->is_done; };
  if (!idle_since_ && is_full() && std::ranges::all_of(queue_, is_made)) idle_since_ = Clock::now();
}

/// The next batch, or the error of a source in its place, which ends the epoch.
std::shared_ptr<BatchWork> Session::begin() {
  try {
    return positions_.next();
  } catch (...) {
    auto work = std::make_shared<BatchWork>();
    work->error = std::current_exception();
    work->is_done = true;
    return work;
  }
}

/// Null when the session ends.
std::shared_ptr<BatchWork> Session::begin_next(std::unique_lock<std::mutex>& lock) {
  wanted_.wait(lock, [&] { return stop_.stop_requested() || (!has_turn_ && !is_full()); });
  if (stop_.stop_requested()) return nullptr;
  has_turn_ = true;
  lock.unlock();
  std::shared_ptr<BatchWork> work = begin();
  lock.lock();
  waits_for_consumer_ = source_.is_sequential() && work->is_done;
  queue_.push_back(work);
  if (work->is_done) {
    made_.notify_all();
    note_idle();
  }
  return work;
}

/// On the stream, where there is one.
void Session::make(BatchWork& work, AllTaken& taken, BatchStream* stream) {
  if (!stream) return maker_.make(work, taken);
  const StreamScope scope = stream->begin();
  maker_.make(work, taken);
  work.made = stream->made();
  work.stream = stream;
}

void Session::drive(BatchStream* stream) {
  const StopScope scope(stop_.get_token());
  const WorksFor works(&maker_);
  while (true) {
    std::unique_lock lock(mutex_);
    const std::shared_ptr<BatchWork> work = begin_next(lock);
    if (!work) return;
    lock.unlock();
    std::exception_ptr error;
    try {
      Turn turn(*this);  // which ends without the lock
      if (!work->is_done) make(*work, turn, stream);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) work->error = error;
    work->is_done = true;
    made_.notify_all();
    note_idle();
  }
}

/// What was begun remains until it is made, so that an interruption loses nothing.
std::shared_ptr<BatchWork> Session::make_here() {
  const WorksFor works(&maker_);
  if (!begun_) begun_ = begin();
  Turn turn(*this);
  if (!begun_->is_done) maker_.make(*begun_, turn);
  return std::exchange(begun_, nullptr);
}

/// Null when the session was stopped.
std::shared_ptr<BatchWork> Session::wait_for_front(std::unique_lock<std::mutex>& lock) {
  const LoopSequence polls;
  while (!stop_.stop_requested()) {
    if (!queue_.empty() && queue_.front()->is_done) return queue_.front();
    if (queue_.empty() && waits_for_consumer_) {
      waits_for_consumer_ = false;
      wanted_.notify_all();
    }
    made_.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();  // a signal handler may ask for the next batch
    const bool stops = should_stop();
    if (stops) throw_if_stopped();
    lock.lock();
  }
  return nullptr;
}

std::shared_ptr<BatchWork> Session::take() {
  const auto since = Clock::now();
  std::shared_ptr<BatchWork> work = makes_ahead() ? take_made() : make_here();
  const std::lock_guard lock(mutex_);
  waited_ += seconds_since(since);
  return work;
}

/// Null when the session was stopped.
std::shared_ptr<BatchWork> Session::take_made() {
  std::unique_lock lock(mutex_);
  if (idle_since_ && !took_end_) idle_ += seconds_since(*idle_since_);  // between epochs a program does other things
  idle_since_.reset();
  std::shared_ptr<BatchWork> work = wait_for_front(lock);
  if (!work) return nullptr;
  if (work->stream) {
    lock.unlock();  // the driver may wait
    work->stream->publish(work->batch, *work->made);
    lock.lock();
  }
  queue_.pop_front();
  wanted_.notify_all();
  took_end_ = work->is_end;
  idle_since_.reset();
  note_idle();
  return work;
}

}  // namespace iruka::pipeline
