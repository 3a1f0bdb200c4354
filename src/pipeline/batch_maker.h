// Makes the samples of a batch, straight into its memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "iruka/pipeline.h"
#include "pipeline/device_batch.h"

namespace iruka::pipeline {

/// A batch that is being made, or the end of an epoch.
struct BatchWork {
  int64_t epoch = 0, number = 0;
  std::vector<int64_t> indices{};    ///< that were to be made; those that are lie in the batch
  std::vector<GivenSample> given{};  ///< the samples of a sequential source
  int64_t padded = 0;                ///< samples at the end that repeat the last one, or the first where all do
  bool is_end = false;

  Batch batch{};
  std::vector<Failure> failures{};
  std::exception_ptr error{};     ///< raised where the batch was to come
  BatchStream* stream = nullptr;  ///< of a GPU, on which another thread makes the batch
  std::optional<Event> made{};    ///< in this stream
  bool is_done = false;
};

/// Called once, when the last sample of a batch was taken by a thread: the next batch may begin.
class AllTaken {
 public:
  virtual ~AllTaken() = default;
  virtual void all_taken() = 0;
};

/// Times of threads, in nanoseconds.
struct StageCounter {
  std::atomic<int64_t> calls{0}, nanoseconds{0};
};

/// While one lives, the calling thread works for a pipeline: it takes samples of the source or calls functions.
class WorksFor {
 public:
  explicit WorksFor(const void* pipeline) : pipeline_(pipeline), outer_(innermost) { innermost = this; }
  ~WorksFor() { innermost = outer_; }
  WorksFor(const WorksFor&) = delete;
  WorksFor& operator=(const WorksFor&) = delete;
  /// Whether the calling thread works for it.
  static bool is_for(const void* pipeline);

 private:
  static thread_local const WorksFor* innermost;
  const void* const pipeline_;
  const WorksFor* const outer_;
};

class BatchMaker {
 public:
  BatchMaker(const Source& source, Graph graph, const Options& options);

  /// Fills work.batch, work.failures and, under OnError::raise, work.error. Raises Interrupted, behind which it may be
  /// called again for the same work, and errors of devices.
  void make(BatchWork& work, AllTaken& taken) const;
  /// The outputs of one sample, by the calling thread.
  std::vector<Array> sample(const SampleKey& key) const;
  std::vector<StageTime> times() const;
  const Graph& graph() const { return graph_; }

 private:
  struct Sample;
  class Outputs;
  bool is_made_on_cpu(size_t output) const { return output_devices_[output] == &cpu(); }
  void note_failure(BatchWork& work, const Sample& sample) const;
  void replace(BatchWork& work, Sample& sample, const Sample* good, Outputs& outputs, Failure& failure) const;
  std::vector<Value> evaluate(const SampleKey& key, const GivenSample* given, const std::string** stage) const;
  void make_sample(BatchWork& work, Sample& sample, Outputs& outputs) const;
  void report_failed(BatchWork& work, std::vector<Sample>& samples, Outputs& outputs) const;
  void make_by_device(std::vector<Sample>& samples, Outputs& outputs) const;
  void repeat_last(std::vector<Sample>& samples, int64_t count, Outputs& outputs) const;
  void finish(BatchWork& work, std::vector<Sample>& samples, Outputs& outputs) const;
  void run_samples(std::vector<Sample>& samples, BatchWork& work, Outputs& outputs, AllTaken& taken) const;

  const Source& source_;
  const Graph graph_;
  const Options options_;
  Device& device_;  ///< of the batches
  const bool is_on_cpu_;
  const std::vector<Device*> output_devices_;
  bool calls_functions_ = false;
  std::vector<std::vector<bool>> is_last_use_;  ///< of each node's inputs
  std::vector<std::string> names_;              ///< of the source, of each node, and of making the outputs
  std::unique_ptr<StageCounter[]> counters_;    ///< of each name
};

}  // namespace iruka::pipeline
