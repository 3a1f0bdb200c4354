#include "iruka/pipeline.h"

#include <utility>

#include "core/fork.h"
#include "iruka/error.h"
#include "pipeline/engine.h"

namespace iruka::pipeline {
namespace {

constexpr size_t kKeptFailures = 10000;

void check(const Options& options) {
  if (options.threads < 0)
    throw ValueError("pipeline: threads is at least 1, or 0 for all, not " + std::to_string(options.threads));
  if (options.prefetch < 0)
    throw ValueError("pipeline: prefetch is a number of batches, not " + std::to_string(options.prefetch));
}

}  // namespace

class Pipeline::Engine {
 public:
  Engine(std::shared_ptr<Source> source, Graph graph, const Options& options)
      : source_(std::move(source)), options_(options), maker_(source_, std::move(graph), options) {
    check(options);
    state_.seed = options.order.seed;
    if (source_->is_sequential()) {
      if (options.order.shards > 1 || options.order.shuffle)
        throw ValueError("pipeline: a sequential source can be neither shuffled nor divided into shards: give it a " +
                         std::string("random-access source, or let the source do so"));
    } else {
      batches_ = epoch_order(source_->size(), options.order, 0).batches;
    }
  }
  ~Engine() {
    stop();
    mutex_.leave();
  }

  std::optional<Batch> next() {
    while (true) {
      const std::shared_ptr<BatchWork> work = session().take();
      if (work->is_end) {
        state_ = {.seed = state_.seed, .epoch = work->epoch + 1, .batch = 0};
        batches_.reset();
        return std::nullopt;
      }
      if (work->error && work->indices.empty()) {  // a sequential source has raised, which ends its epoch
        stop();
        state_ = {.seed = state_.seed, .epoch = state_.epoch + 1, .batch = 0};
        std::rethrow_exception(work->error);
      }
      state_.batch = work->number + 1;
      note(*work);
      if (work->error) std::rethrow_exception(work->error);
      if (work->batch.indices.empty()) continue;  // all of its samples were skipped
      return std::move(work->batch);
    }
  }

  void reset() {
    if (state_.batch == 0) return;
    stop();
    state_ = {.seed = state_.seed, .epoch = state_.epoch + 1, .batch = 0};
    batches_.reset();
  }

  void restore(const State& state) {
    if (state.seed != options_.order.seed)
      throw ValueError("pipeline: the state is of a pipeline with seed " + std::to_string(state.seed) + ", not " +
                       std::to_string(options_.order.seed));
    if (state.epoch < 0 || state.batch < 0)
      throw ValueError("pipeline: there is no batch " + std::to_string(state.batch) + " in epoch " +
                       std::to_string(state.epoch));
    if (!source_->is_sequential()) {
      const int64_t all = epoch_order(source_->size(), options_.order, state.epoch).batches;
      if (state.batch > all)
        throw ValueError("pipeline: the state is behind batch " + std::to_string(state.batch) + " of epoch " +
                         std::to_string(state.epoch) + ", which has " + std::to_string(all));
    }
    stop();
    state_ = state;
    batches_.reset();
  }

  /// Kept for the calls that print it.
  std::optional<int64_t> batches() {
    if (source_->is_sequential()) return std::nullopt;
    if (!batches_) batches_ = epoch_order(source_->size(), options_.order, state_.epoch).batches;
    return batches_;
  }

  void stop() {
    if (!session_) return;
    if (generation_ != fork_generation()) {
      session_.release();  // NOLINT: its threads are the parent's
      return;
    }
    waited_ += session_->waited();
    idle_ += session_->idle();
    session_.reset();
  }

  Profile profile() const {
    Profile profile{.samples = samples_, .batches = made_, .stages = maker_.times()};
    const bool is_own = session_ && generation_ == fork_generation();
    profile.waited = waited_ + (is_own ? session_->waited() : 0);
    profile.idle = idle_ + (is_own ? session_->idle() : 0);
    return profile;
  }

  std::vector<Failure> failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }
  int64_t failure_count() const {
    const std::lock_guard lock(mutex_);
    return failure_count_;
  }
  std::vector<Array> sample(int64_t epoch, int64_t index) const {
    if (source_->is_sequential()) throw TypeError("pipeline: a sequential source has no sample by number");
    if (index < 0 || index >= source_->size())
      throw IndexError("pipeline: there is no sample " + std::to_string(index) + " of " +
                       std::to_string(source_->size()));
    return maker_.sample({options_.order.seed, epoch, index});
  }
  const State& state() const { return state_; }
  int64_t samples() const { return source_->is_sequential() ? -1 : source_->size(); }

 private:
  Session& session() {
    if (session_ && generation_ != fork_generation()) session_.release();  // NOLINT: its threads are the parent's
    if (!session_) {
      session_ = std::make_unique<Session>(*source_, maker_, options_, state_);
      generation_ = fork_generation();
    }
    return *session_;
  }

  void note(BatchWork& work) {
    samples_ += std::ssize(work.batch.indices) - work.batch.padded;
    made_ += 1;
    const std::lock_guard lock(mutex_);
    failure_count_ += std::ssize(work.failures);
    for (Failure& failure : work.failures) {
      if (failures_.size() < kKeptFailures) failures_.push_back(std::move(failure));
    }
  }

  const std::shared_ptr<Source> source_;
  const Options options_;
  BatchMaker maker_;
  State state_;
  std::optional<int64_t> batches_;
  std::unique_ptr<Session> session_;
  int generation_ = 0;
  int64_t samples_ = 0, made_ = 0;
  double waited_ = 0, idle_ = 0;
  mutable ForkSafeMutex mutex_;
  std::vector<Failure> failures_;  ///< the first ones
  int64_t failure_count_ = 0;
};

Pipeline::Pipeline(std::shared_ptr<Source> source, Graph graph, const Options& options)
    : engine_(std::make_unique<Engine>(std::move(source), std::move(graph), options)) {}
Pipeline::~Pipeline() = default;
std::optional<Batch> Pipeline::next() { return engine_->next(); }
std::vector<Array> Pipeline::sample(int64_t epoch, int64_t index) const { return engine_->sample(epoch, index); }
void Pipeline::reset() { engine_->reset(); }
State Pipeline::state() const { return engine_->state(); }
void Pipeline::restore(const State& state) { engine_->restore(state); }
std::optional<int64_t> Pipeline::batches() const { return engine_->batches(); }
int64_t Pipeline::samples() const { return engine_->samples(); }
std::vector<Failure> Pipeline::failures() const { return engine_->failures(); }
int64_t Pipeline::failure_count() const { return engine_->failure_count(); }
Profile Pipeline::profile() const { return engine_->profile(); }
void Pipeline::stop() { engine_->stop(); }

}  // namespace iruka::pipeline
