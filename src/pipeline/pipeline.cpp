#include "iruka/pipeline.h"

#include <thread>
#include <utility>

#include "core/fork.h"
#include "iruka/error.h"
#include "pipeline/engine.h"

namespace iruka::pipeline {
namespace {

constexpr size_t kKeptFailures = 10000;
constexpr int64_t kMostSkipped = 100000;
constexpr int64_t kMostEpochs = int64_t{1} << 62;

void check(const Options& options) {
  if (options.threads < 0)
    throw ValueError("pipeline: threads is at least 1, or 0 for all, not " + std::to_string(options.threads));
  if (options.prefetch && *options.prefetch < 0)
    throw ValueError("pipeline: prefetch is a number of batches, not " + std::to_string(*options.prefetch));
}

}  // namespace

class Pipeline::Engine {
 public:
  Engine(std::shared_ptr<Source> source, Graph graph, const Options& options)
      : source_(std::move(source)), options_(options), maker_(*source_, std::move(graph), options) {
    check(options);
    state_.seed = options.order.seed;
    if (source_->is_sequential() && (options.order.shards > 1 || options.order.shuffle))
      throw ValueError("pipeline: a sequential source can be neither shuffled nor divided into shards: give it a " +
                       std::string("random-access source, or let the source do so"));
    epoch_batches(source_->is_sequential() ? 0 : source_->size(), options.order, 0);  // refuses bad options
  }
  ~Engine() {
    end_session();
    mutex_.leave();
  }

  std::optional<Batch> next() {
    const Use use(*this);
    while (true) {
      const std::shared_ptr<BatchWork> work = session()->take();
      if (!work) continue;
      if (work->error && is_interruption(work->error)) {  // the next call makes it again
        end_session();
        std::rethrow_exception(work->error);
      }
      if (work->is_end) {
        go_to(work->epoch + 1, 0);
        return std::nullopt;
      }
      if (work->error && work->indices.empty()) {  // a source has raised, which ends its epoch
        end_session();
        go_to(state().epoch + 1, 0);
        std::rethrow_exception(work->error);
      }
      go_to(work->epoch, work->number + 1);
      note(*work);
      if (work->error) std::rethrow_exception(work->error);
      if (work->batch.indices.empty()) {  // all of its samples were skipped
        skip(std::ssize(work->indices));
        if (!options_.gives_empty) continue;
      } else {
        skipped_ = 0;
      }
      return std::move(work->batch);
    }
  }

  void reset() {
    const Use use(*this);
    const State now = state();
    if (now.batch == 0) return;
    end_session();
    go_to(now.epoch + 1, 0);
  }

  void restore(const State& state) {
    const Use use(*this);
    if (state.seed != options_.order.seed)
      throw ValueError("pipeline: the state is of a pipeline with seed " + std::to_string(state.seed) + ", not " +
                       std::to_string(options_.order.seed));
    if (state.epoch < 0 || state.epoch > kMostEpochs || state.batch < 0)
      throw ValueError("pipeline: there is no batch " + std::to_string(state.batch) + " in epoch " +
                       std::to_string(state.epoch));
    if (!source_->is_sequential()) {
      const int64_t all = epoch_batches(source_->size(), options_.order, state.epoch);
      if (state.batch > all)
        throw ValueError("pipeline: the state is behind batch " + std::to_string(state.batch) + " of epoch " +
                         std::to_string(state.epoch) + ", which has " + std::to_string(all));
    }
    end_session();
    go_to(state.epoch, state.batch);
  }

  void stop() {
    const Use use(*this);
    end_session();
  }

  std::optional<int64_t> batches() const {
    if (source_->is_sequential()) return std::nullopt;
    return epoch_batches(source_->size(), options_.order, state().epoch);
  }

  Profile profile() const {
    const std::lock_guard lock(mutex_);
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
  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  std::vector<Array> sample(int64_t epoch, int64_t index) const {
    if (source_->is_sequential()) throw TypeError("pipeline: a sequential source has no sample by number");
    if (index < 0 || index >= source_->size())
      throw IndexError("pipeline: there is no sample " + std::to_string(index) + " of " +
                       std::to_string(source_->size()));
    return maker_.sample({options_.order.seed, epoch, index});
  }
  int64_t samples() const { return source_->is_sequential() ? -1 : source_->size(); }
  const std::shared_ptr<Source>& source() const { return source_; }
  const Graph& graph() const { return maker_.graph(); }
  /// Whether the calling thread makes samples of this pipeline.
  bool is_within() const { return WorksFor::is_for(&maker_); }

 private:
  /// A call that changes where the pipeline is. A signal handler may make one inside another on the same thread.
  class Use {
   public:
    explicit Use(Engine& engine) : engine_(engine) {
      if (engine.is_within())
        throw ValueError("pipeline: its own functions and its source cannot take batches, reset or stop it");
      const std::lock_guard lock(engine.mutex_);
      if (engine.uses_ > 0 && engine.used_in_ == fork_generation() && engine.user_ != std::this_thread::get_id())
        throw ValueError("pipeline: another thread takes a batch of it; one thread at a time may do so");
      if (engine.used_in_ != fork_generation() && engine.user_ != std::this_thread::get_id()) engine.uses_ = 0;
      engine.user_ = std::this_thread::get_id();
      engine.used_in_ = fork_generation();
      ++engine.uses_;
    }
    ~Use() {
      const std::lock_guard lock(engine_.mutex_);
      --engine_.uses_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Engine& engine_;
  };

  static bool is_interruption(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const Interrupted&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  void go_to(int64_t epoch, int64_t batch) {
    const std::lock_guard lock(mutex_);
    state_.epoch = epoch;
    state_.batch = batch;
  }

  std::shared_ptr<Session> session() {
    {
      const std::lock_guard lock(mutex_);
      if (session_ && generation_ == fork_generation()) return session_;
    }
    end_session();
    auto begun = std::make_shared<Session>(*source_, maker_, options_, state());
    const std::lock_guard lock(mutex_);
    session_ = begun;
    generation_ = fork_generation();
    return begun;
  }

  void end_session() {
    std::shared_ptr<Session> ended;
    {
      const std::lock_guard lock(mutex_);
      ended = std::exchange(session_, nullptr);
    }
    if (!ended) return;
    if (generation_ != fork_generation()) {
      new std::shared_ptr<Session>(std::move(ended));  // NOLINT: its threads are the parent's, so that it stays
      return;
    }
    ended->stop();
    const std::lock_guard lock(mutex_);
    waited_ += ended->waited();
    idle_ += ended->idle();
  }

  /// Raises ValueError where too many samples in a row were left out.
  void skip(int64_t samples) {
    skipped_ += samples;
    if (!source_->is_sequential() || skipped_ < kMostSkipped) return;  // a sequence may have no end
    throw ValueError("pipeline: " + std::to_string(std::exchange(skipped_, 0)) +
                     " samples in a row failed; its report says why");
  }

  void note(BatchWork& work) {
    const std::lock_guard lock(mutex_);
    if (!work.error && !work.batch.indices.empty()) {
      samples_ += std::ssize(work.batch.indices) - work.batch.padded;
      made_ += 1;
    }
    failure_count_ += std::ssize(work.failures);
    for (Failure& failure : work.failures) {
      if (failures_.size() < kKeptFailures) failures_.push_back(std::move(failure));
    }
  }

  const std::shared_ptr<Source> source_;
  const Options options_;
  BatchMaker maker_;
  mutable ForkSafeMutex mutex_;  ///< guards what follows
  State state_;
  std::shared_ptr<Session> session_;
  int generation_ = 0;  ///< of the process that began the session
  std::thread::id user_;
  int used_in_ = 0, uses_ = 0;
  int64_t samples_ = 0, made_ = 0;
  int64_t skipped_ = 0;            ///< samples in a row
  double waited_ = 0, idle_ = 0;   ///< of sessions that have ended
  std::vector<Failure> failures_;  ///< the first ones
  int64_t failure_count_ = 0;
};

Pipeline::Pipeline(std::shared_ptr<Source> source, Graph graph, const Options& options)
    : engine_(std::make_unique<Engine>(std::move(source), std::move(graph), options)) {}
Pipeline::~Pipeline() {
  if (engine_->is_within()) std::thread([engine = std::move(engine_)]() mutable { engine.reset(); }).detach();
}
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
const std::shared_ptr<Source>& Pipeline::source() const { return engine_->source(); }
const Graph& Pipeline::graph() const { return engine_->graph(); }

}  // namespace iruka::pipeline
