// The preprocessing pipeline: samples of a source go through a graph of operations, each on its own, and come out in
// batches. A sample follows from (seed, epoch, index) alone, so that batches do not depend on threads, devices or where
// a run was resumed.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iruka/array.h"
#include "iruka/device.h"
#include "iruka/image.h"
#include "iruka/picture_geometry.h"

namespace iruka::pipeline {

/// What a sample follows from.
struct SampleKey {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t index = 0;  ///< in the source
};

/// The random numbers of a sample at one place of the graph: Philox 4x32-10 with the seed as its key, and the index,
/// the epoch and the place as its counter.
class IRUKA_API Draws {
 public:
  Draws(const SampleKey& key, uint32_t place) : key_(key), place_(place) {}
  uint32_t bits();
  double uniform();              ///< [0, 1), of 53 bits
  double normal();               ///< mean 0, deviation 1 (Box and Muller)
  int64_t below(int64_t count);  ///< 0 to count - 1, each as often as any other; count is at least 1

 private:
  SampleKey key_;
  uint32_t place_, drawn_ = 0;
};

/// How a number is drawn for each sample.
struct Distribution {
  enum class Kind : uint8_t { constant, uniform, normal, log_uniform, bernoulli, integers, choice };
  Kind kind = Kind::constant;
  /// constant: the value; uniform, log_uniform, integers: low and high (which integers do not reach); normal: mean and
  /// deviation; bernoulli: the probability of 1; choice: the values, and then as many weights or none.
  double first = 0, second = 0;
  std::vector<double> values{}, weights{};

  /// Raises ValueError for numbers that the kind does not have, naming `where`.
  void check(const std::string& where) const;
  double draw(Draws& draws) const;
};

/// A number of a stage: drawn for each sample, or the value of another node of the graph.
struct Parameter {
  Distribution distribution{};
  int input = -1;  ///< of the operation; none if negative
};

/// A value of a sample: an array, or a picture that is made once it is needed. A picture is the file or array that it
/// begins with, and the stages behind. Copies share what they hold.
class IRUKA_API Value {
 public:
  Value() = default;
  Value(Array array) : array_(std::move(array)) {}  // NOLINT: arrays are values
  static Value of_number(double number);
  /// A file that the operation `decode` reads.
  static Value of_file(std::string path);

  bool is_file() const { return !path_.empty(); }
  bool is_encoded() const { return decoding_ != nullptr; }
  const std::string& path() const { return path_; }
  const std::vector<image::Stage>& stages() const { return stages_; }

  /// The picture in the file, or in the array's bytes.
  Value decoded(const image::DecodeOptions& options, const std::string& where) const;
  /// The picture behind more stages, in the layout that the others leave. `layout` is that of an array in front of all
  /// stages; HWC unless it is given, and then an array that looks like CHW is refused.
  Value with(std::span<const image::Stage> stages, std::optional<image::Layout> layout = {}) &&;
  Value with(std::span<const image::Stage> stages, std::optional<image::Layout> layout = {}) const& {
    return Value(*this).with(stages, layout);
  }

  /// The shape and dtype of the array or the picture. Raises what making it would raise for its header.
  std::pair<Dims, Dtype> result() const;
  /// The height and width of the picture.
  std::pair<int64_t, int64_t> size() const;
  /// The array, or the picture, made on the CPU by the calling thread, or on another device that it is on already.
  Array array() const;
  /// The same, in memory that no source, function or other value has.
  Array own_array() const;
  /// The same, into an array of its shape and dtype.
  void into(const Array& out) const;
  /// The only element. Raises TypeError for more.
  double number() const;

  /// What a batch on a GPU needs to make many pictures at once.
  struct Encoded;
  const std::shared_ptr<const Encoded>& encoded() const { return decoding_; }
  const Array& start() const { return array_; }
  image::Layout layout() const { return layout_; }

 private:
  Array array_;
  std::string path_;
  std::shared_ptr<const Encoded> decoding_;
  std::vector<image::Stage> stages_;
  image::Layout layout_ = image::Layout::hwc;
  bool has_layout_ = false;  ///< which was given
};

/// A step of the graph. It is called for many samples at a time, from many threads.
class IRUKA_API Operation {
 public:
  virtual ~Operation() = default;
  virtual std::string name() const = 0;  ///< in reports, errors and profiles
  virtual int outputs() const { return 1; }
  /// At least so many inputs.
  virtual size_t inputs() const { return 1; }
  /// The operations that it consists of.
  virtual std::vector<const std::shared_ptr<const Operation>*> parts() const { return {}; }
  /// Whether it calls a function of the user's, with arrays.
  virtual bool calls_functions() const { return false; }
  /// May move from the inputs.
  virtual std::vector<Value> run(std::span<Value> inputs, const SampleKey& key, uint32_t place) const = 0;
};
using OperationHandle = std::shared_ptr<const Operation>;

/// Decodes a file or an array of a file's bytes.
IRUKA_API OperationHandle decode(const image::DecodeOptions& options = {});
/// A number of a stage that a parameter replaces: "rotate.angle" of stages[stage]; `element` counts the numbers of a
/// field that has several.
struct Binding {
  size_t stage = 0;
  std::string field;
  int element = 0;
  Parameter parameter;
};
/// Applies stages to a picture. Fields: resize.size, crop.at, pad.margins, flip.horizontal, flip.vertical,
/// rotate.angle, brightness.factor, contrast.factor, contrast.center, saturation.factor, hue.degrees, gamma.gamma,
/// gamma.gain, normalize.mean, normalize.std, crop.size, warp.matrix. Raises ValueError for others.
/// `layout`: of an array in front of all stages, here and below: see Value::with.
IRUKA_API OperationHandle stages(std::vector<image::Stage> stages, std::vector<Binding> bindings = {},
                                 std::optional<image::Layout> layout = {});
enum class Rounding : uint8_t { down, nearest };  ///< nearest: ties away from zero
/// The part of (height, width) at y = position_y * (rows - height), rounded, 0 <= position <= 1, and so for x.
IRUKA_API OperationHandle crop_at(int64_t height, int64_t width, Parameter y, Parameter x,
                                  Rounding rounding = Rounding::down, std::optional<image::Layout> layout = {});
struct RandomResizedCrop {
  std::optional<image::Resize> resize;  ///< without roi; absent: the part keeps its size
  double least_area = 0.08, most_area = 1, least_ratio = 3.0 / 4, most_ratio = 4.0 / 3;
  int64_t attempts = 10;
};
/// A part of random area and proportions (width over height), resized: Szegedy et al., "Going deeper with convolutions"
/// (2015), with torchvision's details: after `attempts` parts that do not fit, the largest of allowed proportions in
/// the centre.
IRUKA_API OperationHandle random_resized_crop(const RandomResizedCrop& options,
                                              std::optional<image::Layout> layout = {});
/// One of several lists of operations of one input and output, with these probabilities (0 where they sum to less than
/// 1: none of them).
IRUKA_API OperationHandle one_of(std::vector<std::vector<OperationHandle>> choices, std::vector<double> probabilities);
/// Numbers drawn for each sample: an array of float32 (a number where `shape` is absent).
IRUKA_API OperationHandle draw(Distribution distribution, std::optional<Dims> shape = {},
                               std::optional<uint64_t> seed = {});
/// A value that is the same for all samples.
IRUKA_API OperationHandle constant(Array value);
/// Calls a function with arrays, which it may change. It must be safe to call from several threads.
using Function = std::function<std::vector<Array>(std::span<const Array> inputs, const SampleKey& key, Draws& draws)>;
IRUKA_API OperationHandle function(std::string name, Function function, int outputs = 1);

/// A condition of a node: the value, one number, is not 0, or is 0.
struct Guard {
  int condition;
  bool is_true = true;
  bool operator==(const Guard&) const = default;
};

/// Operations and the values that they take and give. Values are numbered: those of the source, then the outputs of
/// each node. A node with guards is run for the samples alone for which all of them hold, in order; its values are
/// there for nodes with the same guards, and for select().
class IRUKA_API Graph {
 public:
  explicit Graph(int inputs) : inputs_(inputs), values_(inputs) {}
  /// The number of the node's first output. Nodes of one `place` draw the same numbers; by default each has its own.
  /// Raises ValueError for values that there are not, or not for all samples, and for fewer than the operation needs.
  int add(OperationHandle operation, std::vector<int> inputs, std::optional<uint32_t> place = {},
          std::vector<Guard> guards = {});
  /// The value of `if_true` where the condition is not 0, else that of `if_false`. These may be of nodes that have
  /// `guards` and the condition.
  int select(int condition, int if_true, int if_false, const std::vector<Guard>& guards = {});
  void set_outputs(std::vector<int> values);

  struct Node {
    OperationHandle operation;
    std::vector<int> inputs;
    int first_output;
    uint32_t place;
    std::vector<Guard> guards;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int>& outputs() const { return outputs_; }
  int inputs() const { return inputs_; }
  int values() const { return values_; }

 private:
  void check(int value, std::span<const Guard> guards) const;
  int append(OperationHandle operation, std::vector<int> inputs, std::optional<uint32_t> place,
             std::vector<Guard> guards);
  int inputs_, values_;
  std::vector<Node> nodes_;
  std::vector<int> outputs_;
};

/// A sample of a sequential source, or why there is none.
struct GivenSample {
  std::vector<Value> values{};
  std::exception_ptr error{};
};

/// Where samples come from. sample() is called from several threads.
class IRUKA_API Source {
 public:
  virtual ~Source() = default;
  virtual int64_t size() const = 0;
  virtual int values() const = 0;
  virtual std::vector<Value> sample(int64_t index) const = 0;
  /// A file's path, or "sample 7": in reports.
  virtual std::string describe(int64_t index) const;
  /// What making the sample costs, in any unit, such as the bytes of a file: costly samples of a batch go first.
  virtual int64_t cost(int64_t index) const;
  /// For samples that exist one after the other alone: the samples of the next batch, fewer at the end of the epoch.
  /// They are asked for in order, by one thread at a time. A source that is_sequential() has no size.
  virtual bool is_sequential() const { return false; }
  /// Whether sample() calls functions of another language.
  virtual bool calls_functions() const { return false; }
  virtual std::vector<GivenSample> next(int64_t count);  ///< at most `count`
  /// A new epoch begins.
  virtual void begin(int64_t epoch);
};
/// Files and their labels, an int64 each; the values are the file and the label. Without labels, the file alone.
IRUKA_API std::shared_ptr<Source> files(std::vector<std::string> paths, std::vector<int64_t> labels = {});
/// Arrays whose first axis counts the samples; the values are an element of each, which are views. Raises ValueError
/// for arrays of unequal length, of no axis or no sample.
IRUKA_API std::shared_ptr<Source> arrays(std::vector<Array> arrays);
/// The files with these extensions (those of pictures by default), in upper or lower case, in a folder and the folders
/// below it, sorted by folder, and by name in each. Links are followed, but for those to a folder around them. Raises
/// SystemFileError, beginning with `function`, for folders that cannot be read.
IRUKA_API std::vector<std::string> list_files(const std::string& path, std::vector<std::string> extensions = {},
                                              const std::string& function = "list_files");
/// The files in each of the folders of a folder, as list_files gives them; the folders' names, sorted, are the classes.
/// Raises SystemFileError for folders that cannot be read.
struct Folder {
  std::vector<std::string> paths;
  std::vector<int64_t> labels;
  std::vector<std::string> classes;
};
IRUKA_API Folder list_folder(const std::string& path, const std::vector<std::string>& extensions = {});

enum class LastBatch : uint8_t { partial, drop, fill };
enum class OnError : uint8_t { raise, skip, replace };

/// Which samples a shard takes in an epoch, and in which order.
struct OrderOptions {
  bool shuffle = false;
  uint64_t seed = 0;
  int64_t batch_size = 1;
  int64_t shard = 0, shards = 1;
  /// A shard keeps its part of the source; else the parts move by one each epoch. Shuffled sources are shuffled as a
  /// whole first, unless shards keep their parts.
  bool stick_to_shard = false;
  /// All shards have equally many batches; the last sample is repeated, or a neighbour's where a shard has none.
  bool pad_last_batch = false;
  LastBatch last_batch = LastBatch::partial;
};
/// The numbers of a shard's samples in an epoch: part k of n has those from floor(size k / n). `padded` counts the
/// repeated ones at the end.
struct EpochOrder {
  std::vector<int64_t> indices;
  int64_t padded = 0;
  int64_t batches = 0;
};
IRUKA_API EpochOrder epoch_order(int64_t size, const OrderOptions& options, int64_t epoch);
/// EpochOrder::batches alone.
IRUKA_API int64_t epoch_batches(int64_t size, const OrderOptions& options, int64_t epoch);

struct Options {
  OrderOptions order;
  Device* device = nullptr;  ///< null: the CPU
  /// Outputs, by their numbers, that are made on the CPU and stay there, whatever the device: labels, say.
  std::vector<int> cpu_outputs{};
  int threads = 0;  ///< at most so many of the pool's for a batch; 0: all. 1: never two samples at a time
  /// Batches that are made before they are asked for; 0: next() makes its batch itself. Unless given 2, and 4 on a GPU,
  /// where a batch is taken long before it is used.
  std::optional<int> prefetch{};
  OnError on_error = OnError::raise;
  /// next() gives a batch without samples or outputs where all samples were left out; else it goes on with the next
  /// one.
  bool gives_empty = false;
  bool is_serial = false;  ///< next() makes the samples of its batch one after the other
  /// What a thread holds while it makes samples of a batch by functions, of the source or the graph: a language's state
  /// of the thread, which would else be made for each call.
  std::function<std::shared_ptr<void>()> enter_thread{};
};

/// A sample that is not in its batch, or not its own.
struct Failure {
  int64_t epoch = 0, index = 0;
  std::string sample;  ///< Source::describe()
  std::string stage;
  std::string message;
  std::exception_ptr error;  ///< null where next() raised it
  int64_t replaced_by = -1;
};

struct Batch {
  int64_t epoch = 0, number = 0;
  std::vector<int64_t> indices;  ///< of the samples
  int64_t padded = 0;            ///< samples at the end that repeat the last one
  /// Of each output: one array whose first axis counts the samples, or an array for each where their shapes differ.
  struct Output {
    Array dense;
    std::vector<Array> arrays;
  };
  std::vector<Output> outputs;
};

/// Where a pipeline is: the next call gives batch `batch` of `epoch`.
struct State {
  uint64_t seed = 0;
  int64_t epoch = 0, batch = 0;
};

struct StageTime {
  std::string stage;
  int64_t calls = 0;
  double seconds = 0;  ///< summed over threads
};
struct Profile {
  int64_t samples = 0, batches = 0;  ///< that next() gave
  std::vector<StageTime> stages;
  double waited = 0;  ///< the consumer, for batches
  double idle = 0;    ///< the pipeline, for the consumer, where all batches that may be made ahead were made
};

/// Batches one after the other, made ahead on other threads. One thread at a time calls next(), reset(), restore() and
/// stop(), and no function or source of the pipeline itself does: they raise ValueError for others. Any thread may call
/// the const ones. A pipeline whose last owner is one of its own functions ends behind that function.
class IRUKA_API Pipeline {
 public:
  /// Raises ValueError for options that no pipeline has.
  Pipeline(std::shared_ptr<Source> source, Graph graph, const Options& options);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// The next batch; nothing at the end of an epoch, once, and then the first one of the next epoch. Raises the error
  /// of a sample under OnError::raise, and goes on behind its batch. Raises Interrupted, which loses no batch, and
  /// ValueError where 100,000 samples of a sequential source, which may have no end, failed in a row.
  std::optional<Batch> next();
  /// The sample `index` as it is in `epoch`: its outputs, made by the calling thread.
  std::vector<Array> sample(int64_t epoch, int64_t index) const;
  /// Ends the epoch: the next batch is the first one of the next epoch, or of this one if none was taken.
  void reset();

  State state() const;
  /// Raises ValueError for a state of another seed, or of batches that there are not.
  void restore(const State& state);
  /// Batches of the epoch that state() is in; absent for a sequential source.
  std::optional<int64_t> batches() const;
  int64_t samples() const;  ///< of the source; -1 for a sequential one
  std::vector<Failure> failures() const;
  int64_t failure_count() const;
  Profile profile() const;
  /// Stops the threads. The pipeline can be used afterwards and starts them again.
  void stop();
  const std::shared_ptr<Source>& source() const;
  const Graph& graph() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace iruka::pipeline
