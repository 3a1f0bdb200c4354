#include "pipeline/batch_maker.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>

#include "core/thread_pool.h"
#include "iruka/error.h"
#include "ops/device_scope.h"
#include "pipeline/device_batch.h"
#include "pipeline/value.h"

namespace iruka::pipeline {
namespace {

constexpr uint32_t kReplacementPlace = 0xFFFFFFFEu;  // no node's
constexpr int kMostReplacements = 16;

/// Adds the time of its life to a counter.
class Timed {
 public:
  explicit Timed(StageCounter& counter) : counter_(counter), begin_(std::chrono::steady_clock::now()) {}
  ~Timed() {
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin_;
    counter_.calls.fetch_add(1, std::memory_order_relaxed);
    counter_.nanoseconds.fetch_add(time.count(), std::memory_order_relaxed);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  StageCounter& counter_;
  const std::chrono::steady_clock::time_point begin_;
};

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an error of unknown type";
  }
}

/// The shape of so many samples of one shape.
Dims batch_shape(int64_t samples, const Dims& shape) {
  Dims dims{samples};
  for (const int64_t extent : shape) dims.push_back(extent);
  return dims;
}

/// Whether a sample with these values meets all guards.
bool holds(std::span<const Guard> guards, std::span<const Value> values) {
  return std::ranges::all_of(guards, [&](const Guard& guard) {
    return (values[static_cast<size_t>(guard.condition)].number() != 0) == guard.is_true;
  });
}

/// Where each output of a graph is. Raises ValueError for outputs that there are not.
std::vector<Device*> devices_of(const Graph& graph, const Options& options, Device& device) {
  std::vector<Device*> devices(graph.outputs().size(), &device);
  for (const int output : options.cpu_outputs) {
    if (output < 0 || output >= std::ssize(devices))
      throw ValueError("pipeline: there is no output " + std::to_string(output) + " of " +
                       std::to_string(devices.size()) + " that could stay on the CPU");
    devices[static_cast<size_t>(output)] = &cpu();
  }
  return devices;
}

}  // namespace

/// A sample of a batch while it is made.
struct BatchMaker::Sample {
  int64_t position = 0;
  SampleKey key;
  int64_t index = 0;            ///< of the sample that is in the batch: the key's, or its replacement's
  std::vector<Value> values{};  ///< the outputs, until they are made
  std::vector<std::pair<size_t, Making>> waiting{};  ///< outputs and their values, which a device makes together
  const std::string* stage = nullptr;                ///< that runs, or that has failed
  std::exception_ptr error{};

  void forget_values() {
    waiting.clear();
    values.clear();
  }
};

/// The memory of a batch. The first sample that knows its shape decides that of the batch; samples of other shapes or
/// dtypes get arrays of their own.
class BatchMaker::Outputs {
 public:
  Outputs(std::span<Device* const> devices, int64_t samples) : samples_(samples) {
    for (Device* const device : devices)
      all_.push_back(
          {.device = device, .dense = {}, .shape = {}, .own = std::vector<Array>(static_cast<size_t>(samples))});
  }

  Array slot(size_t output, int64_t position, const Dims& shape, Dtype dtype) {
    Output& own = all_[output];
    Array& place = own.own[static_cast<size_t>(position)];
    {
      const std::lock_guard lock(mutex_);
      if (!own.dense.valid()) {
        own.dense = Array::empty(batch_shape(samples_, shape), dtype, *own.device);
        own.shape = shape;
      }
      if (own.shape == shape && own.dense.dtype() == dtype) return place = own.dense.at(position);
      own.is_uneven = true;
    }
    return place = Array::empty(shape, dtype, *own.device);
  }

  /// What the samples at these positions, in order, are.
  Batch::Output result(size_t output, const std::vector<int64_t>& positions) {
    Output& own = all_[output];
    std::vector<Array> arrays;
    arrays.reserve(positions.size());
    for (const int64_t position : positions) arrays.push_back(own.own[static_cast<size_t>(position)]);
    const auto alike = [&](const Array& array) {
      return array.shape() == arrays.front().shape() && array.dtype() == arrays.front().dtype();
    };
    if (!std::ranges::all_of(arrays, alike)) return {.dense = {}, .arrays = std::move(arrays)};
    if (!own.is_uneven && std::ssize(positions) == samples_) return {.dense = own.dense, .arrays = {}};
    const Array& first = arrays.front();
    const Array dense = Array::empty(batch_shape(std::ssize(positions), first.shape()), first.dtype(), *own.device);
    for (size_t k = 0; k < arrays.size(); ++k) dense.at(static_cast<int64_t>(k)).assign(arrays[k]);
    return {.dense = dense, .arrays = {}};
  }
  /// Makes the sample at `to` the same as the one at `from`.
  void copy(int64_t from, int64_t to) {
    for (size_t k = 0; k < all_.size(); ++k) {
      const Array made = all_[k].own[static_cast<size_t>(from)];
      slot(k, to, made.shape(), made.dtype()).assign(made);
    }
  }
  size_t count() const { return all_.size(); }

 private:
  struct Output {
    Device* device;
    Array dense;
    Dims shape;
    bool is_uneven = false;
    std::vector<Array> own;  ///< of each sample
  };
  const int64_t samples_;
  std::mutex mutex_;
  std::vector<Output> all_;
};

thread_local const WorksFor* WorksFor::innermost = nullptr;

bool WorksFor::is_for(const void* pipeline) {
  for (const WorksFor* work = innermost; work; work = work->outer_) {
    if (work->pipeline_ == pipeline) return true;
  }
  return false;
}

BatchMaker::BatchMaker(const Source& source, Graph graph, const Options& options)
    : source_(source),
      graph_(std::move(graph)),
      options_(options),
      device_(options.device ? *options.device : cpu()),
      is_on_cpu_(&device_ == &cpu()),
      output_devices_(devices_of(graph_, options, device_)) {
  if (graph_.outputs().empty()) throw ValueError("pipeline: the graph has no outputs");
  if (graph_.inputs() != source_.values())
    throw ValueError("pipeline: the source gives " + std::to_string(source_.values()) + " values and the graph takes " +
                     std::to_string(graph_.inputs()));
  names_.push_back("source");
  for (const Graph::Node& node : graph_.nodes()) {
    names_.push_back(node.operation->name());
    calls_functions_ |= node.operation->calls_functions();
  }
  names_.push_back("pixels");
  counters_ = std::make_unique<StageCounter[]>(names_.size());
  std::vector<bool> is_needed(static_cast<size_t>(graph_.values()), false);  // by later nodes
  for (const int output : graph_.outputs()) is_needed[static_cast<size_t>(output)] = true;
  is_last_use_.resize(graph_.nodes().size());
  for (size_t node = graph_.nodes().size(); node-- > 0;) {
    const std::vector<int>& inputs = graph_.nodes()[node].inputs;
    for (const Guard& guard : graph_.nodes()[node].guards) is_needed[static_cast<size_t>(guard.condition)] = true;
    is_last_use_[node].resize(inputs.size());
    for (size_t k = inputs.size(); k-- > 0;) {
      is_last_use_[node][k] = !is_needed[static_cast<size_t>(inputs[k])];
      is_needed[static_cast<size_t>(inputs[k])] = true;
    }
  }
}

std::vector<StageTime> BatchMaker::times() const {
  std::vector<StageTime> times;
  times.reserve(names_.size());
  for (size_t k = 0; k < names_.size(); ++k)
    times.push_back({names_[k], counters_[k].calls.load(std::memory_order_relaxed),
                     static_cast<double>(counters_[k].nanoseconds.load(std::memory_order_relaxed)) * 1e-9});
  return times;
}

std::vector<Value> BatchMaker::evaluate(const SampleKey& key, const GivenSample* given,
                                        const std::string** stage) const {
  const ops::DeviceScope scope(device_);  // of the arrays that functions make
  std::vector<Value> values;
  *stage = &names_.front();
  {
    const Timed timed(counters_[0]);
    if (given && given->error) std::rethrow_exception(given->error);
    values = given ? given->values : source_.sample(key.index);
    if (std::ssize(values) != graph_.inputs())
      throw ValueError("the source gave " + std::to_string(values.size()) + " values, not " +
                       std::to_string(graph_.inputs()));
  }
  values.reserve(static_cast<size_t>(graph_.values()));
  std::vector<Value> inputs;
  for (size_t number = 0; number < graph_.nodes().size(); ++number) {
    const Graph::Node& node = graph_.nodes()[number];
    *stage = &names_[number + 1];
    if (!holds(node.guards, values)) {
      values.resize(values.size() + static_cast<size_t>(node.operation->outputs()));
      continue;
    }
    inputs.clear();
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      Value& value = values[static_cast<size_t>(node.inputs[k])];
      is_last_use_[number][k] ? inputs.push_back(std::move(value)) : inputs.push_back(value);
    }
    const Timed timed(counters_[number + 1]);
    for (Value& made : node.operation->run(inputs, key, node.place)) values.push_back(std::move(made));
  }
  std::vector<Value> outputs;
  for (const int output : graph_.outputs()) outputs.push_back(values[static_cast<size_t>(output)]);
  return outputs;
}

std::vector<Array> BatchMaker::sample(const SampleKey& key) const {
  const WorksFor works(this);
  const std::string* stage = nullptr;
  const std::vector<Value> values = evaluate(key, nullptr, &stage);
  std::vector<Array> arrays;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!is_made_on_cpu(k)) {
      arrays.push_back(values[k].own_array().to_device(device_));
      continue;
    }
    Making making(values[k]);
    arrays.push_back(Array::empty(making.shape(), making.dtype(), cpu()));
    making.make(&arrays.back());
  }
  return arrays;
}

void BatchMaker::make_sample(BatchWork& work, Sample& sample, Outputs& outputs) const {
  const auto position = static_cast<size_t>(sample.position);
  try {
    sample.values = evaluate(sample.key, work.given.empty() ? nullptr : &work.given[position], &sample.stage);
    sample.stage = &names_.back();
    const Timed timed(counters_[names_.size() - 1]);
    for (size_t k = 0; k < sample.values.size(); ++k) {
      Making making(sample.values[k]);
      if (!is_made_on_cpu(k)) {
        sample.waiting.emplace_back(k, std::move(making));
        continue;
      }
      const Array slot = outputs.slot(k, sample.position, making.shape(), making.dtype());
      making.make(&slot);
    }
  } catch (const Interrupted&) {
    throw;
  } catch (...) {
    sample.error = std::current_exception();
  }
  if (is_on_cpu_ || sample.error) sample.forget_values();
}

void BatchMaker::make_by_device(std::vector<Sample>& samples, Outputs& outputs) const {
  const Timed timed(counters_[names_.size() - 1]);
  std::vector<Making*> values;
  std::vector<Array> outs;
  std::vector<Sample*> owners;
  for (Sample& sample : samples) {
    if (sample.error) continue;
    try {
      for (auto& [output, making] : sample.waiting) {
        outs.push_back(outputs.slot(output, sample.position, making.shape(), making.dtype()));
        values.push_back(&making);
        owners.push_back(&sample);
      }
    } catch (...) {
      sample.error = std::current_exception();
    }
  }
  std::vector<std::exception_ptr> errors(values.size());
  make_on_device(device_, values, outs, errors);
  for (size_t k = 0; k < errors.size(); ++k) {
    if (errors[k] && !owners[k]->error) owners[k]->error = errors[k];
  }
  for (Sample& sample : samples) sample.forget_values();
}

/// All samples, costly ones first, on all threads. Each thread takes the next one when it is done.
void BatchMaker::run_samples(std::vector<Sample>& samples, BatchWork& work, Outputs& outputs, AllTaken& taken) const {
  std::vector<size_t> queue(samples.size());
  std::iota(queue.begin(), queue.end(), size_t{0});
  std::vector<int64_t> costs;
  costs.reserve(samples.size());
  for (const Sample& sample : samples) costs.push_back(work.given.empty() ? source_.cost(sample.key.index) : 0);
  std::ranges::stable_sort(queue, [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  std::atomic<size_t> next{0};
  const auto take_all = [&] {
    const WorksFor works(this);
    const bool calls_functions = calls_functions_ || (work.given.empty() && source_.calls_functions());
    const auto held = calls_functions && options_.enter_thread ? options_.enter_thread() : nullptr;
    for (size_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < queue.size();) {
      if (k + 1 == queue.size()) taken.all_taken();
      throw_if_stopped();
      make_sample(work, samples[queue[k]], outputs);
    }
  };
  // Functions on a GPU belong to the stream of the calling thread.
  if (options_.is_serial || (calls_functions_ && !is_on_cpu_)) return take_all();
  ThreadPool& pool = ThreadPool::instance();
  const int64_t threads = options_.threads > 0 ? std::min(options_.threads, pool.thread_count()) : pool.thread_count();
  pool.run(std::min<int64_t>(threads, std::ssize(samples)), 1, [&](int64_t, int64_t) { take_all(); });
}

void BatchMaker::make(BatchWork& work, AllTaken& taken) const {
  work.batch = {};
  work.failures.clear();
  const auto count = std::ssize(work.indices);
  Outputs outputs(output_devices_, count);
  std::vector<Sample> samples;
  samples.reserve(work.indices.size());
  for (int64_t k = 0; k < std::max<int64_t>(count - work.padded, 1); ++k) {
    const int64_t index = work.indices[static_cast<size_t>(k)];
    samples.push_back(
        {.position = k, .key = {.seed = options_.order.seed, .epoch = work.epoch, .index = index}, .index = index});
  }
  run_samples(samples, work, outputs, taken);
  if (!is_on_cpu_) make_by_device(samples, outputs);
  report_failed(work, samples, outputs);
  repeat_last(samples, count, outputs);
  finish(work, samples, outputs);
}

void BatchMaker::note_failure(BatchWork& work, const Sample& sample) const {
  std::string name = "sample " + std::to_string(sample.key.index);
  try {
    if (work.given.empty()) name = source_.describe(sample.key.index);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the number names it
  }
  work.failures.push_back({.epoch = work.epoch,
                           .index = sample.key.index,
                           .sample = std::move(name),
                           .stage = sample.stage ? *sample.stage : names_.front(),
                           .message = message_of(sample.error),
                           .error = options_.on_error == OnError::raise ? nullptr : sample.error});
}

/// Notes the samples that failed, and replaces them.
void BatchMaker::report_failed(BatchWork& work, std::vector<Sample>& samples, Outputs& outputs) const {
  const WorksFor works(this);
  const auto good = std::ranges::find_if(samples, [](const Sample& sample) { return !sample.error; });
  for (Sample& sample : samples) {
    if (!sample.error) continue;
    note_failure(work, sample);
    if (options_.on_error == OnError::replace)
      replace(work, sample, good == samples.end() ? nullptr : &*good, outputs, work.failures.back());
  }
}

/// Fills the batch with copies of its last sample, or of that one's error.
void BatchMaker::repeat_last(std::vector<Sample>& samples, int64_t count, Outputs& outputs) const {
  for (auto position = std::ssize(samples); position < count; ++position) {
    const Sample& last = samples.back();
    if (!last.error) outputs.copy(last.position, position);
    samples.push_back({.position = position, .key = last.key, .index = last.index, .error = last.error});
  }
}

/// By `good`, which may be null, where a source gives its samples in sequence, else by a sample that is drawn.
void BatchMaker::replace(BatchWork& work, Sample& sample, const Sample* good, Outputs& outputs,
                         Failure& failure) const {
  if (!work.given.empty()) {
    if (!good) return;
    outputs.copy(good->position, sample.position);
    sample.index = good->index;
    sample.error = nullptr;
  }
  Draws draws(sample.key, kReplacementPlace);
  for (int attempt = 0; sample.error && attempt < kMostReplacements; ++attempt) {
    std::vector<Sample> other(1);
    other[0].position = sample.position;
    other[0].key = sample.key;
    other[0].key.index = draws.below(source_.size());
    make_sample(work, other[0], outputs);
    if (!is_on_cpu_) make_by_device(other, outputs);
    if (other[0].error) continue;
    sample.index = other[0].key.index;
    sample.error = nullptr;
  }
  if (!sample.error) failure.replaced_by = sample.index;
}

void BatchMaker::finish(BatchWork& work, std::vector<Sample>& samples, Outputs& outputs) const {
  Batch& batch = work.batch;
  batch.epoch = work.epoch;
  batch.number = work.number;
  std::vector<int64_t> positions;
  for (const Sample& sample : samples) {
    if (sample.error) {
      if (options_.on_error == OnError::raise && !work.error) work.error = sample.error;
      continue;
    }
    positions.push_back(sample.position);
    batch.indices.push_back(sample.index);
    if (sample.position >= std::ssize(samples) - work.padded) ++batch.padded;
  }
  if (work.error || positions.empty()) return;
  for (size_t k = 0; k < outputs.count(); ++k) batch.outputs.push_back(outputs.result(k, positions));
}

}  // namespace iruka::pipeline
