// Gather and scatter on a GPU: kernels that move words of 1 to 16 bytes and report an index out of bounds.
#include "ops/index/index_kernels.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "core/device.h"
#include "core/fork.h"
#include "core/layout.h"
#include "core/once.h"
#include "jit/program.h"
#include "ops/kernel_text.h"
#include "ops/permanent_cache.h"

namespace iruka {
namespace ops {
namespace {

Dtype word_dtype(int64_t bytes) {
  switch (bytes) {
    case 1: return Dtype::uint8;
    case 2: return Dtype::uint16;
    case 4: return Dtype::uint32;
    case 8: return Dtype::uint64;
    default: return Dtype::complex128;
  }
}

Array view_of(const Array& x, Dtype dtype, Dims shape, Dims strides) {
  return Array(x.buffer(), dtype, std::move(shape), std::move(strides), x.offset());
}

Dims dims_of(const int64_t* values, int size) { return Dims(values, size); }

/// The largest word that a piece, and everything that leads to one, is a multiple of.
int64_t word_bytes(const IndexPlan& plan, const LoopLayout& loop, const Array& other, int other_operand) {
  const int last = loop.rank() - 1;
  const int64_t item = plan.base.itemsize();
  for (size_t k = 0; k < plan.operands.size(); ++k)
    if (loop.stride(static_cast<int>(k) + 1, last) != 0) return item;
  if (loop.stride(0, last) != item || loop.stride(other_operand, last) != item) return item;
  uint64_t all = 16 | static_cast<uint64_t>(loop.extent(last) * item) | reinterpret_cast<uint64_t>(plan.base.data()) |
                 reinterpret_cast<uint64_t>(other.data());
  for (const IndexOperand& operand : plan.operands) all |= static_cast<uint64_t>(operand.stride);
  for (int axis = 0; axis < last; ++axis)
    all |= static_cast<uint64_t>(loop.stride(0, axis)) | static_cast<uint64_t>(loop.stride(other_operand, axis));
  return std::max(item, int64_t{1} << std::countr_zero(all));
}

/// Never held while a device is waited for.
constinit ForkSafeMutex reports_mutex;

/// The record that kernels write; kernels/cuda/report.h depends on the order of its members.
struct ReportWords {
  int64_t errors = 0;     ///< so far; kernels alone write it, so that none is lost
  int64_t raised = 0;     ///< of them, written by the host: the next one is described by what follows
  int64_t described = 0;  ///< how many there were with the one that is described
  int64_t kind = 0, index = 0, axis = 0, extent = 0;
};
constexpr int64_t kBadBins = 2;  ///< a kind
constexpr int64_t kReportWords = sizeof(ReportWords) / sizeof(int64_t);

/// A thread's own stream has one handle for all threads.
struct Launcher {
  std::thread::id thread;
  StreamHandle stream;

  static Launcher current(const Device& device) { return {std::this_thread::get_id(), device.current_stream()}; }
  bool operator==(const Launcher&) const = default;
};

struct Report {
  Array words;
  uint64_t launches = 0, read_launches = 0;  ///< that may have written, and those of them whose errors were read
  Launcher launcher{};                       ///< of the last one
  bool is_one_launcher = true;               ///< made all launches that were not read
  int64_t raised = 0;
};

std::map<Device*, Report>& reports() {
  return made_once([] { return std::map<Device*, Report>(); });
}

std::atomic<bool>& is_immediate() {
  return made_once([] {
    const char* text = std::getenv("IRUKA_CHECK_INDICES");
    return std::atomic<bool>(text && *text && std::string_view(text) != "0");
  });
}

/// A check on the host: no index is within an axis without elements.
void check_empty_axes(const IndexPlan& plan) {
  for (const IndexOperand& operand : plan.operands)
    if (operand.extent == 0 && operand.own.size() > 0)
      raise_out_of_bounds(operand.own.contiguous().reshape({-1}).at(0).item().as_int64(), operand.axis, 0);
}

/// Where no element moves, no kernel looks at the indices.
void check_unused_indices(IndexPlan plan) {
  for (IndexOperand& operand : plan.operands) operand.own = operand.own.to_device(cpu());
  check_bounds_cpu(plan);
}

ElementwiseKernel copy_kernel(const IndexTexts& texts, bool is_gather) {
  KernelOptions options;
  options.diagnose_early = false;
  options.reduce_dims = false;
  options.preamble = texts.preamble;
  if (is_gather)
    return ElementwiseKernel("raw const W x" + texts.parameters, "W y", texts.prepare + "y = *(const W*)element;",
                             "gather", options);
  return ElementwiseKernel("raw _non_const W x, W value" + texts.parameters, "",
                           texts.prepare + "*(W*)element = value;", "scatter", options);
}

/// Kernels by the parameters of their source.
const ElementwiseKernel& kernel_for(const IndexPlan& plan, bool has_axes, bool is_gather) {
  static constinit PermanentCache<std::tuple<size_t, IndexMode, bool, bool>, ElementwiseKernel> kernels;
  return kernels.get({plan.operands.size(), plan.mode, has_axes, is_gather},
                     [&] { return copy_kernel(index_texts(plan, has_axes), is_gather); });
}

}  // namespace

IndexTexts index_texts(const IndexPlan& plan, bool has_axes) {
  IndexTexts texts;
  texts.preamble = include_text("index", plan.mode == IndexMode::raise  ? "cuda/place_raise"
                                         : plan.mode == IndexMode::wrap ? "cuda/place_wrap"
                                                                        : "cuda/place_clip");
  texts.prepare = std::string("char* element = (char*)&x[") + (has_axes ? "_ind.get()" : "0") + "];\n";
  for (size_t k = 0; k < plan.operands.size(); ++k) {
    const std::string id = std::to_string(k);
    // A placeholder for each, because the indices may have different integer types.
    const std::string type(1, static_cast<char>('A' + k % 22));
    texts.parameters += ", " + type + " p" + id + ", int64 extent" + id + ", int64 stride" + id + ", int64 axis" + id;
    texts.prepare +=
        "element += iruka_place_of(p" + id + ", extent" + id + ", axis" + id + ", &report[0]) * stride" + id + ";\n";
  }
  texts.parameters += ", raw _non_const int64 report";
  return texts;
}

IndexCall::IndexCall(const IndexPlan& plan, const Array& other, bool joins_words) : plan_(plan) {
  check_empty_axes(plan);
  std::vector<LoopOperand> operands{{&plan.shape(), &plan.base.strides()}};
  for (const IndexOperand& operand : plan.operands) operands.push_back({&plan.shape(), &operand.positions.strides()});
  operands.push_back({&other.shape(), &other.strides()});
  LoopLayout loop(plan.shape(), operands);
  loop.merge_axes();
  const int rank = loop.rank(), last = rank - 1, other_operand = static_cast<int>(operands.size()) - 1;
  const int64_t item = plan.base.itemsize(), word = joins_words ? word_bytes(plan, loop, other, other_operand) : item;
  const Dtype dtype = joins_words ? word_dtype(word) : plan.base.dtype();
  Dims shape = dims_of(loop.extents(), rank);
  const auto strides_of = [&](int operand) { return dims_of(loop.strides(operand), rank); };
  Dims base_strides = strides_of(0), other_strides = strides_of(other_operand);
  if (word > item) {
    shape[last] = shape[last] * item / word;
    base_strides[last] = other_strides[last] = word;
  }
  for (int64_t stride : base_strides) has_axes_ |= stride != 0;
  base_ = has_axes_ ? view_of(plan.base, dtype, shape, base_strides) : view_of(plan.base, dtype, {1}, {word});
  other_ = view_of(other, joins_words ? dtype : other.dtype(), shape, other_strides);
  for (size_t k = 0; k < plan.operands.size(); ++k) {
    const Array& positions = plan.operands[k].positions;
    positions_.push_back(view_of(positions, positions.dtype(), shape, strides_of(static_cast<int>(k) + 1)));
  }
  report_ = bad_index_report(plan.base.device());
}

std::vector<Argument> IndexCall::arguments(bool is_gather) const {
  std::vector<Argument> list{Argument(base_)};
  if (!is_gather) list.emplace_back(other_);
  for (size_t k = 0; k < positions_.size(); ++k) {
    const IndexOperand& operand = plan_.operands[k];
    list.emplace_back(positions_[k]);
    for (int64_t value : {operand.extent, operand.stride, int64_t{operand.axis}})
      list.emplace_back(Scalar(value).typed(Dtype::int64));
  }
  list.emplace_back(report_);
  if (is_gather) list.emplace_back(other_);
  return list;
}

void IndexCall::run(const ElementwiseKernel& kernel, bool is_gather) const {
  kernel.fill(arguments(is_gather));
  expect_report(plan_.base.device());
}

Array gather_cuda(const IndexPlan& plan) {
  Array result = Array::empty(plan.shape(), plan.base.dtype(), plan.base.device());
  if (result.size() == 0) return check_unused_indices(plan), result;
  const IndexCall call(plan, result);
  call.run(kernel_for(plan, call.has_axes(), true), true);
  return result;
}

void scatter_cuda(const IndexPlan& plan, const Array& values) {
  if (plan.base.size() == 0) return check_unused_indices(plan);
  const IndexCall call(plan, values);
  call.run(kernel_for(plan, call.has_axes(), false), false);
}

Array bad_index_report(Device& device) {
  {
    std::lock_guard lock(reports_mutex);
    if (const Array& words = reports()[&device].words; words.valid()) return words;
  }
  Array words = Array::empty({kReportWords}, Dtype::int64, device);
  words.fill(0);
  device.synchronize_stream(device.current_stream());  // other streams may be the next to write
  std::lock_guard lock(reports_mutex);
  Array& first = reports()[&device].words;
  if (!first.valid()) first = std::move(words);
  return first;
}

void expect_report(Device& device) {
  {
    std::lock_guard lock(reports_mutex);
    Report& report = reports()[&device];
    const Launcher launcher = Launcher::current(device);
    report.is_one_launcher =
        report.launches == report.read_launches || (report.is_one_launcher && report.launcher == launcher);
    report.launcher = launcher;
    ++report.launches;  // after the launch: a thread that read the report before would not find its error
  }
  if (is_immediate()) check_indices(device);
}

namespace {

[[noreturn]] void raise_reported(const ReportWords& words, int64_t raised_before) {
  if (words.described <= raised_before)
    throw IndexError(
        "an index is out of bounds, or bins are not monotonic; the details are lost, because two kernels reported "
        "errors at "
        "the same time");
  if (words.kind == kBadBins) throw ValueError("bins must be monotonically increasing or decreasing");
  raise_out_of_bounds(words.index, words.axis, words.extent);
}

}  // namespace

}  // namespace ops

// Several threads may do this at once. Each raises errors that were not raised when it began.
void check_indices(Device& device) {
  if (device.target().is_host) return;  // it raises where the mistake is
  ops::Report before;
  {
    std::lock_guard lock(ops::reports_mutex);
    const auto found = ops::reports().find(&device);
    if (found == ops::reports().end()) return;
    before = found->second;
  }
  if (before.launches == before.read_launches) return;
  ops::ReportWords words;
  if (!before.is_one_launcher || before.launcher != ops::Launcher::current(device)) device.synchronize();
  device.copy(&words, before.words.data(), sizeof(words));  // waits for the calling thread's stream
  const bool has_error = words.errors > before.raised;
  if (has_error) {
    device.copy(static_cast<char*>(before.words.data()) + offsetof(ops::ReportWords, raised), &words.errors,
                sizeof(words.errors));
    device.synchronize_stream(device.current_stream());  // other streams may be the next to write
  }
  {
    std::lock_guard lock(ops::reports_mutex);
    ops::Report& now = ops::reports()[&device];
    now.read_launches = std::max(now.read_launches, before.launches);
    now.raised = std::max(now.raised, words.errors);
  }
  if (has_error) ops::raise_reported(words, before.raised);
}

bool set_immediate_index_check(bool immediate) { return ops::is_immediate().exchange(immediate); }

}  // namespace iruka
