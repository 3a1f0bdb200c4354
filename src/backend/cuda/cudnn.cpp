// Each convolution, with what is added to its results, is a graph of operations, for which cuDNN's heuristics name
// engines; the first that fits becomes the plan. Declared as cudnn_graph.h of cuDNN 9 has them.
#include "backend/cuda/cudnn.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/vendor_library.h"
#include "core/once.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

using Handle = void*;
using Descriptor = void*;

/// cudnnBackendDescriptorType_t
enum class Kind : int {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engine_configuration = 3,
  heuristics = 4,
  plan = 5,
  forward = 10,
  backward_data = 12,
  pointwise_operation = 13,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
};

/// cudnnBackendAttributeType_t
enum class Type : int {
  handle = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  single = 4,
  twice = 5,
  pointer = 6,
  convolution_mode = 7,
  heuristics_mode = 8,
  nan_propagation = 10,
  numerical_note = 11,
  pointwise_mode = 14,
  descriptor = 15,
  behavior_note = 19,
};

/// cudnnBackendAttributeName_t
enum class Name : int {
  pointwise_mode = 0,
  pointwise_precision = 1,
  pointwise_nan_propagation = 2,
  convolution_type = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_behind = 104,
  convolution_before = 105,
  convolution_rank = 106,
  heuristics_mode = 200,
  heuristics_graph = 201,
  heuristics_results = 202,
  configuration_engine = 300,
  plan_handle = 400,
  plan_configuration = 401,
  plan_workspace = 402,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_weights = 703,
  forward_x = 704,
  forward_y = 705,
  backward_alpha = 706,
  backward_beta = 707,
  backward_convolution = 708,
  backward_weights = 709,
  backward_x = 710,
  backward_y = 711,
  operation_pointwise = 750,
  operation_x = 751,
  operation_b = 752,
  operation_y = 753,
  graph_handle = 800,
  graph_operations = 801,
  tensor_alignment = 900,
  tensor_type = 901,
  tensor_shape = 902,
  tensor_strides = 903,
  tensor_name = 906,
  tensor_is_virtual = 907,
  pack_names = 1000,
  pack_pointers = 1001,
  pack_workspace = 1003,
  engine_numerical_notes = 1303,
  engine_behavior_notes = 1305,
};

enum : int { kCrossCorrelation = 1, kAdd = 0, kRelu = 100, kPropagateNan = 1 };
/// cudnnBackendHeurMode_t
enum : int { kFallbackEngines = 2, kHeuristicsA = 3 };
/// cudnnBackendNumericalNote_t and cudnnBackendBehaviorNote_t
enum : int {
  kTensorCore = 0,
  kDownConvertsInputs = 1,
  kReducedPrecisionSum = 2,
  kNondeterministic = 4,
  kWinogradTile4 = 6,
  kWinogradTile13 = 8,
  kCompilesAtRunTime = 0,
};

/// cudnnDataType_t
int data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float32: return 0;
    case Dtype::float64: return 1;
    case Dtype::float16: return 2;
    case Dtype::bfloat16: return 9;
    default: throw TypeError(std::string("convolutions do not support ") + name(dtype));
  }
}

struct Cudnn {
  VendorLibrary library{"cudnn", 9, 9, {.package_13 = "-cu13", .product = "cuDNN 9", .has_parts = true}};
  int (*create)(Handle*);
  int (*set_stream)(Handle, CUstream);
  const char* (*status_text)(int);
  int (*create_descriptor)(Kind, Descriptor*);
  int (*destroy_descriptor)(Descriptor);
  int (*set_attribute)(Descriptor, Name, Type, int64_t count, const void* values);
  int (*get_attribute)(Descriptor, Name, Type, int64_t most, int64_t* count, void* values);
  int (*finalize)(Descriptor);
  int (*execute)(Handle, Descriptor plan, Descriptor pack);

  Cudnn() {
    library.find(create, "cudnnCreate");
    library.find(set_stream, "cudnnSetStream");
    library.find(status_text, "cudnnGetErrorString");
    library.find(create_descriptor, "cudnnBackendCreateDescriptor");
    library.find(destroy_descriptor, "cudnnBackendDestroyDescriptor");
    library.find(set_attribute, "cudnnBackendSetAttribute");
    library.find(get_attribute, "cudnnBackendGetAttribute");
    library.find(finalize, "cudnnBackendFinalize");
    library.find(execute, "cudnnBackendExecute");
  }
  void check(int status, const char* call) const {
    if (status != 0)
      throw DeviceError(std::string("cuda: ") + call + " failed with " + status_text(status) + " (" +
                        std::to_string(status) + ")");
  }
};

const Cudnn& found_cudnn() {
  return made_once_locked([] { return Cudnn(); });
}

/// A descriptor of cuDNN: attributes are set, and it is finalized.
class Described {
 public:
  Described(const Cudnn& library, Kind kind) : library_(&library) {
    library.check(library.create_descriptor(kind, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Described(Described&& other) noexcept
      : library_(other.library_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Described& operator=(Described&&) = delete;
  ~Described() {
    if (descriptor_) library_->destroy_descriptor(descriptor_);
  }

  Descriptor get() const { return descriptor_; }
  void set(Name name, Type type, int64_t count, const void* values) {
    library_->check(library_->set_attribute(descriptor_, name, type, count, values), "cudnnBackendSetAttribute");
  }
  template <class T>
  void set(Name name, Type type, const T& value) {
    set(name, type, 1, &value);
  }
  void set(Name name, const std::vector<int64_t>& values) { set(name, Type::int64, std::ssize(values), values.data()); }
  void set(Name name, const Described& value) { set(name, Type::descriptor, value.get()); }
  /// Sets what newer versions may no longer know.
  template <class T>
  void try_to_set(Name name, Type type, const T& value) {
    library_->set_attribute(descriptor_, name, type, 1, &value);
  }
  void finalize() { library_->check(library_->finalize(descriptor_), "cudnnBackendFinalize"); }
  bool try_to_finalize() { return library_->finalize(descriptor_) == 0; }
  int64_t get(Name name, Type type, int64_t most, void* values) const {
    int64_t count = 0;
    library_->check(library_->get_attribute(descriptor_, name, type, most, &count, values), "cudnnBackendGetAttribute");
    return count;
  }

 private:
  const Cudnn* library_;
  Descriptor descriptor_ = nullptr;
};

/// The names of a graph's tensors.
enum class TensorName : int64_t { x = 1, weights, result, bias, residual, first_virtual };

/// A convolution's tensors that have memory, in the order of their names.
std::vector<std::pair<TensorName, const void*>> memory_of(const Convolution& job) {
  std::vector<std::pair<TensorName, const void*>> all{
      {TensorName::x, job.x}, {TensorName::weights, job.weights}, {TensorName::result, job.result}};
  if (job.bias) all.emplace_back(TensorName::bias, job.bias);
  if (job.residual) all.emplace_back(TensorName::residual, job.residual);
  return all;
}

/// The largest power of two, up to 16, of which all addresses are multiples.
int64_t alignment_of(const Convolution& job) {
  uintptr_t bits = 16;
  for (const auto& [name, memory] : memory_of(job)) bits |= reinterpret_cast<uintptr_t>(memory);
  return int64_t{1} << std::countr_zero(bits);
}

/// cuDNN has at least two spatial axes.
size_t first_axis(const Convolution& job) { return job.rank == 3 ? 0 : 1; }

/// Makes the operations of a graph.
class GraphWriter {
 public:
  GraphWriter(const Cudnn& library, Handle handle, const Convolution& job)
      : library_(library), handle_(handle), job_(job), alignment_(alignment_of(job)) {}

  /// The graph, finalized; nothing where cuDNN has no such graphs.
  bool write() {
    convolution();
    if (job_.residual) add(tensor(TensorName::residual, shape_of(job_.outputs, results())));
    if (job_.bias) add(tensor(TensorName::bias, shape_of(job_.outputs, {1, 1, 1}, 1)));
    if (job_.function == ConvolutionFunction::relu) pointwise(kRelu, nullptr);
    std::vector<Descriptor> operations;
    operations.reserve(operations_.size());
    for (const size_t place : operations_) operations.push_back(parts_[place]->get());
    Described& graph = part(Kind::operation_graph);
    graph.set(Name::graph_handle, Type::handle, handle_);
    graph.set(Name::graph_operations, Type::descriptor, std::ssize(operations), operations.data());
    return graph.try_to_finalize();
  }
  const Described& graph() const { return *parts_.back(); }
  std::vector<std::unique_ptr<Described>> take_parts() { return std::move(parts_); }

 private:
  Described& part(Kind kind) {
    parts_.push_back(std::make_unique<Described>(library_, kind));
    return *parts_.back();
  }
  Described& operation(Kind kind) {
    operations_.push_back(parts_.size());
    return part(kind);
  }

  Convolution::Spatial results() const { return job_.is_transposed ? job_.in : job_.out; }
  int compute_type() const { return data_type(job_.dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32); }

  std::vector<int64_t> shape_of(int64_t channels, const Convolution::Spatial& extents, int64_t images = 0) const {
    std::vector<int64_t> shape{images ? images : job_.images, channels};
    shape.insert(shape.end(), extents.begin() + static_cast<std::ptrdiff_t>(first_axis(job_)), extents.end());
    return shape;
  }
  std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) const {
    std::vector<int64_t> strides(shape.size());
    int64_t step = 1;
    if (job_.is_channels_last) strides[1] = step, step = shape[1];
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (job_.is_channels_last && axis == 1) continue;
      strides[axis] = step, step *= shape[axis];
    }
    return strides;
  }

  const Described& tensor(TensorName name, const std::vector<int64_t>& shape, bool is_virtual = false) {
    Described& made = part(Kind::tensor);
    made.set(Name::tensor_type, Type::data_type, is_virtual ? compute_type() : data_type(job_.dtype));
    made.set(Name::tensor_shape, shape);
    made.set(Name::tensor_strides, strides_of(shape));
    made.set(Name::tensor_name, Type::int64, name);
    made.set(Name::tensor_alignment, Type::int64, alignment_);
    if (is_virtual) made.set(Name::tensor_is_virtual, Type::boolean, is_virtual);
    made.finalize();
    return made;
  }
  /// The next operation's result: the last one's has memory, the others are virtual.
  const Described& next_result() {
    const bool is_last = --left_ == 0;
    const auto name =
        is_last ? TensorName::result : static_cast<TensorName>(static_cast<int64_t>(TensorName::first_virtual) + left_);
    return tensor(name, shape_of(job_.outputs, results()), !is_last);
  }

  void convolution() {
    const auto first = static_cast<std::ptrdiff_t>(first_axis(job_));
    const auto spatial = [&](const Convolution::Spatial& values) {
      return std::vector<int64_t>(values.begin() + first, values.end());
    };
    Described& how = part(Kind::convolution);
    how.set(Name::convolution_type, Type::data_type, compute_type());
    how.set(Name::convolution_mode, Type::convolution_mode, int{kCrossCorrelation});
    how.set(Name::convolution_rank, Type::int64, int64_t{3} - first);
    how.set(Name::convolution_strides, spatial(job_.stride));
    how.set(Name::convolution_dilations, spatial(job_.dilation));
    how.set(Name::convolution_before, spatial(job_.before));
    how.set(Name::convolution_behind, spatial(job_.behind));
    how.finalize();
    left_ = 1 + (job_.residual != nullptr) + (job_.bias != nullptr) + (job_.function == ConvolutionFunction::relu);
    // A transposed convolution is the gradient of one whose input is its result.
    const bool is_back = job_.is_transposed;
    const int64_t rows = is_back ? job_.channels : job_.outputs, columns = is_back ? job_.outputs : job_.channels;
    const Described& weights = tensor(TensorName::weights, shape_of(columns / job_.groups, job_.kernel, rows));
    const Described& x = tensor(TensorName::x, shape_of(job_.channels, is_back ? job_.out : job_.in));
    last_ = &next_result();
    const bool is_double = job_.dtype == Dtype::float64;
    const double numbers[] = {1, 0};
    const float singles[] = {1, 0};
    const Type type = is_double ? Type::twice : Type::single;
    const auto number = [&](int which) -> const void* {
      return is_double ? static_cast<const void*>(numbers + which) : singles + which;
    };
    Described& made = operation(is_back ? Kind::backward_data : Kind::forward);
    made.set(is_back ? Name::backward_alpha : Name::forward_alpha, type, 1, number(0));
    made.set(is_back ? Name::backward_beta : Name::forward_beta, type, 1, number(1));
    made.set(is_back ? Name::backward_convolution : Name::forward_convolution, how);
    made.set(is_back ? Name::backward_weights : Name::forward_weights, weights);
    made.set(is_back ? Name::backward_y : Name::forward_x, x);
    made.set(is_back ? Name::backward_x : Name::forward_y, *last_);
    made.finalize();
  }

  void add(const Described& other) { pointwise(kAdd, &other); }
  void pointwise(int mode, const Described* other) {
    Described& how = part(Kind::pointwise);
    how.set(Name::pointwise_mode, Type::pointwise_mode, mode);
    how.set(Name::pointwise_precision, Type::data_type, compute_type());
    how.try_to_set(Name::pointwise_nan_propagation, Type::nan_propagation, int{kPropagateNan});
    how.finalize();
    const Described& result = next_result();
    Described& made = operation(Kind::pointwise_operation);
    made.set(Name::operation_pointwise, how);
    made.set(Name::operation_x, *last_);
    if (other) made.set(Name::operation_b, *other);
    made.set(Name::operation_y, result);
    made.finalize();
    last_ = &result;
  }

  const Cudnn& library_;
  const Handle handle_;
  const Convolution& job_;
  const int64_t alignment_;
  std::vector<std::unique_ptr<Described>> parts_;
  std::vector<size_t> operations_;
  const Described* last_ = nullptr;
  int left_ = 0;
};

struct Plan {
  std::unique_ptr<const Described> descriptor;  ///< null where no engine fits
  size_t work_bytes = 0;
  // What the plan was made of, as nothing says that it has copies.
  std::vector<std::unique_ptr<Described>> graph;
  std::vector<Described> configurations;
};

/// Whether an engine computes as the convolution asks for.
bool is_allowed(const Described& engine, const Convolution& job) {
  int notes[32];
  const int64_t count = engine.get(Name::engine_numerical_notes, Type::numerical_note, std::size(notes), notes);
  const bool is_strict = job.dtype == Dtype::float32 && job.precision == Precision::float32;
  for (const int note : std::span(notes).first(static_cast<size_t>(std::min<int64_t>(count, std::ssize(notes))))) {
    if (note == kDownConvertsInputs || note == kReducedPrecisionSum || note == kNondeterministic) return false;
    if (is_strict && note == kTensorCore) return false;
    if (note >= kWinogradTile4 && note <= kWinogradTile13) return false;  // sums of numbers of very different sizes
  }
  const int64_t behaviors = engine.get(Name::engine_behavior_notes, Type::behavior_note, std::size(notes), notes);
  // Plans that compile own code, which must outlive launches and graphs.
  return std::ranges::count(notes, notes + std::min<int64_t>(behaviors, std::ssize(notes)), int{kCompilesAtRunTime}) ==
         0;
}

/// The first plan that cuDNN's heuristics name, that is allowed, and that needs a moderate amount of memory.
Plan plan_of(const Cudnn& library, Handle handle, const Convolution& job) {
  constexpr int64_t kMostWorkBytes = int64_t{2} << 30;
  GraphWriter writer(library, handle, job);
  if (!writer.write()) return {};
  for (const int mode : {kHeuristicsA, kFallbackEngines}) {
    Described heuristics(library, Kind::heuristics);
    heuristics.set(Name::heuristics_graph, writer.graph());
    heuristics.set(Name::heuristics_mode, Type::heuristics_mode, mode);
    if (!heuristics.try_to_finalize()) continue;
    int64_t count = 0;
    if (library.get_attribute(heuristics.get(), Name::heuristics_results, Type::descriptor, 0, &count, nullptr) != 0)
      continue;
    std::vector<Described> configurations;
    std::vector<Descriptor> found;
    for (int64_t k = 0; k < count; ++k) {
      configurations.emplace_back(library, Kind::engine_configuration);
      found.push_back(configurations.back().get());
    }
    int64_t given = 0;
    if (library.get_attribute(heuristics.get(), Name::heuristics_results, Type::descriptor, count, &given,
                              found.data()) != 0)
      continue;
    for (int64_t k = 0; k < std::min(count, given); ++k) {
      const Described engine(library, Kind::engine);
      Descriptor into = engine.get();
      configurations[static_cast<size_t>(k)].get(Name::configuration_engine, Type::descriptor, 1, &into);
      if (!is_allowed(engine, job)) continue;
      auto plan = std::make_unique<Described>(library, Kind::plan);
      plan->set(Name::plan_handle, Type::handle, handle);
      plan->set(Name::plan_configuration, configurations[static_cast<size_t>(k)]);
      if (!plan->try_to_finalize()) continue;
      int64_t bytes = 0;
      plan->get(Name::plan_workspace, Type::int64, 1, &bytes);
      if (bytes <= kMostWorkBytes)
        return {std::move(plan), static_cast<size_t>(bytes), writer.take_parts(), std::move(configurations)};
    }
  }
  return {};
}

class CudaConvolutions final : public Convolutions {
 public:
  explicit CudaConvolutions(CudaDevice& device) : device_(device) {}

  const std::string& problem() override {
    return problem_.get([&] {
      const Cudnn& library = found_cudnn();
      if (!library.library.problem().empty()) return library.library.problem();
      const ContextScope active = device_.activate();
      std::lock_guard lock(mutex_);
      const AllowedWhileCapturing allowed;
      if (handle_) return std::string();
      const int status = library.create(&handle_);
      if (status != 0) handle_ = nullptr;
      return status == 0 ? std::string()
                         : std::string("cudnnCreate failed with ") + library.status_text(status) +
                               ": this cuDNN may be for a newer version of CUDA than the driver's, or lack a part";
    });
  }

  bool supports(Dtype dtype, bool) const override {
    return dtype == Dtype::float32 || dtype == Dtype::float64 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
  }
  // Kernels for matrix units read channels as the fastest axis; those for strict float32 are faster without it.
  bool prefers_channels_last(Dtype dtype, Precision precision) const override {
    return dtype == Dtype::float16 || dtype == Dtype::bfloat16 ||
           (dtype == Dtype::float32 && precision == Precision::tf32);
  }

  bool applies(ConvolutionFunction function) const override { return function <= ConvolutionFunction::relu; }

  bool convolve(const Convolution& job) override {
    if (!problem().empty()) throw DeviceError("cuda: " + problem());
    const Cudnn& library = found_cudnn();
    const ContextScope active = device_.activate();
    std::lock_guard lock(mutex_);  // only one thread may use a handle at a time
    library.check(library.set_stream(handle_, device_.thread_stream()), "cudnnSetStream");
    const Plan& plan = find_plan(library, job);
    if (!plan.descriptor) return false;
    execute(library, plan, job);
    return true;
  }

 private:
  using Key = std::vector<int64_t>;
  static constexpr size_t kMostPlans = 512;
  struct Cached {
    Plan plan;
    uint64_t last_use;
  };

  static Key key_of(const Convolution& job) {
    const int64_t flags[] = {job.is_transposed, job.is_channels_last, job.bias != nullptr, job.residual != nullptr,
                             static_cast<int64_t>(job.function)};
    Key key{static_cast<int64_t>(job.dtype),
            static_cast<int64_t>(job.precision),
            alignment_of(job),
            job.rank,
            job.images,
            job.groups,
            job.channels,
            job.outputs};
    key.insert(key.end(), std::begin(flags), std::end(flags));
    for (const Convolution::Spatial* extents :
         {&job.in, &job.out, &job.kernel, &job.stride, &job.dilation, &job.before, &job.behind})
      key.insert(key.end(), extents->begin(), extents->end());
    return key;
  }

  const Plan& find_plan(const Cudnn& library, const Convolution& job) {
    const Key key = key_of(job);
    if (const auto found = plans_.find(key); found != plans_.end()) {
      found->second.last_use = ++last_use_;
      return found->second.plan;
    }
    const AllowedWhileCapturing allowed;
    Plan made = plan_of(library, handle_, job);
    if (plans_.size() >= kMostPlans)
      plans_.erase(std::ranges::min_element(plans_, {}, [](const auto& item) { return item.second.last_use; }));
    return plans_.emplace(key, Cached{std::move(made), ++last_use_}).first->second.plan;
  }

  void execute(const Cudnn& library, const Plan& plan, const Convolution& job) {
    const Scratch work(device_, plan.work_bytes);
    void* const work_memory = work.data();
    std::vector<int64_t> names;
    std::vector<const void*> pointers;
    for (const auto& [name, memory] : memory_of(job))
      names.push_back(static_cast<int64_t>(name)), pointers.push_back(memory);
    Described pack(library, Kind::variant_pack);
    pack.set(Name::pack_names, names);
    pack.set(Name::pack_pointers, Type::pointer, std::ssize(pointers), pointers.data());
    pack.set(Name::pack_workspace, Type::pointer, work_memory);
    pack.finalize();
    library.check(library.execute(handle_, plan.descriptor->get(), pack.get()), "cudnnBackendExecute");
  }

  CudaDevice& device_;
  std::mutex mutex_;
  Once<std::string> problem_;
  Handle handle_ = nullptr;
  std::map<Key, Cached> plans_;
  uint64_t last_use_ = 0;
};

}  // namespace

Convolutions& cuda_convolutions(CudaDevice& device) {
  static constinit Once<CudaConvolutions> made[kMostDevices];
  return made[device.index()].get([&] { return CudaConvolutions(device); });
}

}  // namespace iruka::cuda_backend
