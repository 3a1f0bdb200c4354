#include "jit/kernel_launch.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/thread_pool.h"
#include "jit/divider.h"
#include "jit/report.h"

namespace iruka::jit {
namespace {

/// In a smaller array a 32-bit index that wraps around leaves the array, even if it counts bytes. The margin is for
/// lanes that read a little ahead.
constexpr int64_t kSmallArrayBytes = (int64_t{1} << 32) - (1 << 20);
/// Work below this is not split among threads.
constexpr double kInlineNanoseconds = 20'000;
/// The first calls of a program are measured, then one call in this number.
constexpr uint32_t kMeasuredCalls = 4, kMeasureEvery = 16;
/// Calls that take this long are always measured, because reading the clock costs little in comparison.
constexpr double kAlwaysMeasured = 100'000;
/// Threads are woken at once for work that is expected to take this long. Shorter work begins on the calling thread,
/// and others join it after kInlineNanoseconds.
constexpr double kSharedAtOnce = 10 * kInlineNanoseconds;
/// Launches that are expected to take less are brief.
constexpr double kBriefNanoseconds = 2'000;
/// What a launch on the calling thread takes without any unit.
constexpr int64_t kLaunchNanoseconds = 100;
/// The shared memory of a GPU's block; on a CPU, a tile of this size already exceeds the first-level cache.
constexpr int64_t kMostTileBytes = 48 << 10;
/// Elements in the longest vectors that there are.
constexpr int64_t kMostLanes = 64;
/// Streaming stores write whole lines of the cache.
constexpr int64_t kLineBytes = 64;

/// Threads that share a launch.
int threads_for(const LaunchRange& range) {
  if (range.count <= range.grain) return 1;
  return static_cast<int>(std::min<int64_t>(thread_count(), (range.count + range.align - 1) / range.align));
}

/// Threads of a block that takes a batch: four elements each, or one where there are few.
int threads_for_batch(int64_t elements) {
  constexpr int64_t kWarp = 32, kFewest = 128;
  const int64_t most = std::min<int64_t>((elements + kWarp - 1) / kWarp * kWarp, kFewest);
  return static_cast<int>(std::clamp<int64_t>(elements / 4 / kWarp * kWarp, most, kMostStageThreads));
}

/// Makes the blocks smaller if some multiprocessors would have no block.
void spread_over(GridRange& range, int multiprocessors) {
  constexpr int kSmallest = 32;
  const int64_t per_thread = range.units_per_block / range.threads_per_block;
  while (range.threads_per_block > kSmallest &&
         range.count < 4 * int64_t{multiprocessors} * per_thread * range.threads_per_block)
    range.threads_per_block /= 2;
  range.units_per_block = per_thread * range.threads_per_block;
}

class Stopwatch {
 public:
  double nanoseconds() const { return std::chrono::duration<double, std::nano>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
};

constexpr LaunchPolicy kRanges{.has_grid = false, .streams = true, .most_bytes_in_large_tiles = 4};
constexpr LaunchPolicy kGrid{.has_grid = true, .streams = false, .most_bytes_in_large_tiles = 2};

}  // namespace

const Implementations<const LaunchPolicy> LaunchPolicy::implementations{"kernels", {&kRanges, &kGrid}};

void UnitCost::measured(const MeasuredWork& work) {
  const double now = static_cast<double>(work.nanoseconds) / static_cast<double>(work.units);
  value_.store(static_cast<float>(std::max({now, nanoseconds() / 2, 1e-3})), std::memory_order_relaxed);
}

bool Operand::is_c_contiguous() const {
  int64_t expected = itemsize(dtype);
  for (int axis = ndim - 1; size > 0 && axis >= 0; --axis) {
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

bool Operand::may_overlap(const Operand& other) const {
  if (size == 0 || other.size == 0) return false;
  const auto ends = [](const Operand& array, const char*& begin, const char*& end) {
    begin = static_cast<const char*>(array.data);
    end = begin + itemsize(array.dtype);
    for (int axis = 0; axis < array.ndim; ++axis) {
      const int64_t reach = (array.shape[axis] - 1) * array.strides[axis];
      (reach < 0 ? begin : end) += reach;
    }
  };
  const char *begin, *end, *other_begin, *other_end;
  ends(*this, begin, end);
  ends(other, other_begin, other_end);
  return begin < other_end && other_begin < end;
}

KernelLaunch::KernelLaunch(ElementwiseKernel::State& kernel, Device& device, const Dims& shape,
                           std::span<const Operand> operands, const StageCall* stages)
    : kernel_(kernel),
      input_count_(kernel.text.inputs.size()),
      device_(device),
      target_(device.target()),
      policy_(device.service<LaunchPolicy>()),
      shape_(shape),
      operands_(operands),
      stages_(stages),
      count_(count(shape)) {
  plan_loop();
  describe_operands();
}

std::string KernelLaunch::where(size_t k) const { return parameter_prefix(kernel_.text, k); }

void KernelLaunch::plan_loop() {
  LoopOperand operands[kMaxParameters];
  int inputs = 0;
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (!is_plain_array(k)) continue;
    operands[plain_count_++] = {operands_[k].shape, operands_[k].strides, operands_[k].ndim};
    if (k < input_count()) ++inputs;
  }
  loop_.emplace(shape_, std::span<const LoopOperand>(operands, static_cast<size_t>(plain_count_)));
  if (!kernel_.options.reduce_dims) return;
  if (!kernel_.text.sees_index && !has_slices() && loop_->rank() > 1)
    loop_->reorder_axes(inputs < plain_count_ ? inputs : 0);
  loop_->merge_axes();
}

Access KernelLaunch::plain_access(size_t k, int plain) const {
  if (count_ == 1) return Access::contiguous;  // one element is contiguous whatever its strides are
  const int64_t stride = loop_->stride(plain, loop_->rank() - 1);
  return stride == itemsize(operands_[k].dtype) ? Access::contiguous
         : stride == 0                          ? Access::broadcast
                                                : Access::strided;
}

void KernelLaunch::describe_operands() {
  int plain = 0;
  signature_.small_arrays = 1;
  signature_.operand_count = static_cast<uint8_t>(parameter_count());
  for (size_t k = 0; k < parameter_count(); ++k) {
    OperandSignature& operand = signature_.operands[k];
    const Operand& given = operands_[k];
    const Parameter& parameter = kernel_.text.parameter(k);
    operand = {.access = Access::unused, .dtype = given.dtype};
    if (!kernel_.text.mentions(k)) continue;
    if (is_scratch(k)) {
      operand.access = Access::scratch;
      operand.rank = static_cast<uint8_t>(shape_.size());
      if (count_ > kSmallArrayBytes / itemsize(operand.dtype)) signature_.small_arrays = 0;
    } else if (!is_array(k)) {
      operand.access = Access::scalar;
    } else if (parameter.is_by_value()) {
      operand.access = Access::by_value;
    } else if (is_plain_array(k)) {
      operand.access = plain_access(k, plain++);
    } else {
      operand.access = given.is_c_contiguous() ? Access::raw_contiguous : Access::raw_strided;
      operand.rank = static_cast<uint8_t>(given.ndim);
      operand.is_const = parameter.is_const && !(parameter.follows_array && given.writable);
      operand.is_separate = !policy_.has_grid && is_separate(k);
      if (given.size > std::numeric_limits<int32_t>::max() || given.nbytes() > kSmallArrayBytes)
        signature_.small_arrays = 0;
    }
  }
  signature_.rank = static_cast<uint8_t>(loop_->rank());
  signature_.indexer_rank = kernel_.text.sees_indexer ? static_cast<uint8_t>(std::max(shape_.size(), 1)) : 1;
  signature_.small_index = count_ < std::numeric_limits<int32_t>::max();
  signature_.form = choose_form();
  if (signature_.form == LoopForm::tiles)
    describe_tiles();
  else if (!policy_.has_grid && !has_slices())
    find_channels();
  if (target_.needs_alignment) check_alignment();
  signature_.pack = policy_.has_grid ? static_cast<uint8_t>(choose_pack()) : 0;
  if (!kernel_.text.sees_slice) return;
  if (has_slices())
    signature_.slicing = stages_->batch == stages_->slice ? kLoneSlice : kManySlices;
  else
    signature_.slicing = static_cast<uint8_t>(kGroups + 2 * stages_->groups.size() + stages_->begins_inside);
}

/// Whether a raw array's elements change only where the text writes to the array itself.
bool KernelLaunch::is_separate(size_t k) const {
  if (kernel_.text.is_stored(k)) return false;
  for (size_t other = 0; other < parameter_count(); ++other)
    if (kernel_.text.is_stored(other) && is_array(other) && operands_[k].may_overlap(operands_[other])) return false;
  return true;
}

/// Tells the emitter which operands lie a few elements apart: the step is then a constant, and channels of one array
/// are read and written together.
void KernelLaunch::find_channels() {
  constexpr int64_t kMostStep = 4;
  int plain_of[kMaxParameters];
  int plain = 0;
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (!is_plain_array(k)) continue;
    plain_of[k] = plain++;
    OperandSignature& operand = signature_.operands[k];
    const int64_t size = itemsize(operand.dtype), stride = loop_->stride(plain_of[k], loop_->rank() - 1);
    const int64_t step = stride / size;
    const bool is_near = step * size == stride && (step == -1 || (step > 1 && step <= kMostStep));
    if (operand.access != Access::strided || !is_near || is_complex(operand.dtype)) continue;
    operand.access = Access::interleaved;
    operand.step = static_cast<int8_t>(step);
    operand.leader = static_cast<uint8_t>(k);
    for (size_t leader = 0; leader < k && operand.leader == k; ++leader) {
      const auto channel = channel_of(k, plain_of[k], leader, plain_of[leader]);
      if (!channel) continue;
      operand.leader = static_cast<uint8_t>(leader);
      operand.channel = *channel;
    }
  }
}

/// The elements between the addresses of two operands that are channels of the same elements.
std::optional<int8_t> KernelLaunch::channel_of(size_t k, int plain, size_t leader, int leaders_plain) const {
  const OperandSignature &operand = signature_.operands[k], &other = signature_.operands[leader];
  if (other.access != Access::interleaved || other.leader != leader || other.step != operand.step ||
      other.dtype != operand.dtype || kernel_.text.is_stored(leader) != kernel_.text.is_stored(k) ||
      !std::equal(loop_->strides(plain), loop_->strides(plain) + loop_->rank(), loop_->strides(leaders_plain)))
    return std::nullopt;
  const int64_t size = itemsize(operand.dtype);
  const int64_t bytes = static_cast<char*>(operands_[k].data) - static_cast<char*>(operands_[leader].data) +
                        loop_->offset(plain) - loop_->offset(leaders_plain);
  if (bytes % size != 0 || std::abs(bytes) >= operand.step * size) return std::nullopt;
  return static_cast<int8_t>(bytes / size);
}

// 0. All stages: batches of slices.
// 1. One axis, and the outputs alone exceed the cache: use non-temporal stores.
// 2. One axis otherwise: a flat loop.
// 3. Several axes, and operands differ in the fast one: square tiles keep both in cache.
// 4. Several axes otherwise: the innermost in a loop of its own.
LoopForm KernelLaunch::choose_form() const {
  if (has_slices()) return LoopForm::slices;
  if (loop_->rank() == 1) return policy_.streams && wants_streaming() ? LoopForm::stream : LoopForm::flat;
  return wants_tiles() ? LoopForm::tiles : LoopForm::rows;
}

/// The address of the first element that the loop visits: a flipped axis begins at its other end.
bool KernelLaunch::begins_at_multiple_of(int64_t bytes, size_t k, int plain) const {
  return (reinterpret_cast<intptr_t>(operands_[k].data) + loop_->offset(plain)) % bytes == 0;
}

bool KernelLaunch::wants_streaming() const {
  if (!kernel_.text.elements.empty()) return false;  // elements that take no part have no result to collect
  int64_t bytes = 0;
  for (size_t k = input_count(); k < parameter_count(); ++k)
    if (is_plain_array(k)) bytes += operands_[k].nbytes();
  if (bytes == 0 || static_cast<size_t>(bytes) < target_.last_level_cache_bytes) return false;
  int plain = 0;
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (!is_plain_array(k)) continue;
    const int index = plain++;
    if (!kernel_.text.is_output(k)) continue;
    if (signature_.operands[k].access != Access::contiguous || !begins_at_multiple_of(kLineBytes, k, index))
      return false;
    // An output that is also read is in the cache already.
    for (size_t in = 0; in < input_count(); ++in)
      if (is_array(in) && operands_[in].may_overlap(operands_[k])) return false;
  }
  return true;
}

bool KernelLaunch::wants_tiles() const {
  constexpr int64_t kShortest = 16;
  const int inner_axis = loop_->rank() - 1, outer_axis = loop_->rank() - 2;
  if (loop_->extent(inner_axis) < kShortest || loop_->extent(outer_axis) < kShortest) return false;
  bool inner_fast = false, outer_fast = false;
  for (int k = 0; k < plain_count_; ++k) {
    const int64_t inner = std::abs(loop_->stride(k, inner_axis)), outer = std::abs(loop_->stride(k, outer_axis));
    if (inner == 0 || outer == 0) continue;
    (inner <= outer ? inner_fast : outer_fast) = true;
  }
  return inner_fast && outer_fast;
}

// Inputs that are dense along the outer axis of a tile are turned in a buffer.
void KernelLaunch::describe_tiles() {
  int64_t largest = 1, buffered = 0;
  int plain = 0;
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (!is_plain_array(k)) continue;
    OperandSignature& operand = signature_.operands[k];
    const int64_t size = itemsize(operand.dtype);
    largest = std::max(largest, size);
    if (operand.access == Access::strided && !kernel_.text.is_stored(k) &&
        loop_->stride(plain, loop_->rank() - 2) == size) {
      const int64_t edge = policy_.tile_edge(size) + 1;
      buffered += edge * edge * size;
      if (buffered <= kMostTileBytes) operand.access = Access::crosswise;
    }
    ++plain;
  }
  signature_.tile_edge = static_cast<uint8_t>(policy_.tile_edge(largest));
}

/// Views of GPUs' arrays are aligned; arrays that a C++ caller made of a buffer need not be.
void KernelLaunch::check_alignment() const {
  for (size_t k = 0; k < parameter_count(); ++k) {
    const Operand& operand = operands_[k];
    if (!operand.is_array() || operand.size == 0) continue;
    if (!is_aligned(operand.data, operand.dtype, Dims(operand.shape, operand.ndim),
                    Dims(operand.strides, operand.ndim)))
      throw ValueError(where(k) + "the array's elements are not aligned to " +
                       std::to_string(alignment(operand.dtype)) + " bytes, which " + device_.name() +
                       " needs: copy it");
  }
}

/// Elements that a GPU's thread loads at once: 16 bytes of the largest operand, or four of small ones, as far as
/// addresses and rows allow. Where none is contiguous, neighbours belong to neighbouring threads.
int KernelLaunch::choose_pack() const {
  if (kernel_.text.weight >= BodyWeight::gather || signature_.form == LoopForm::tiles) return 1;
  int64_t largest = 0, smallest = 16;
  for (int k = 0; k < signature_.operand_count; ++k) {
    if (signature_.operands[k].access != Access::contiguous) continue;
    largest = std::max(largest, itemsize(signature_.operands[k].dtype));
    smallest = std::min(smallest, itemsize(signature_.operands[k].dtype));
  }
  if (largest == 0) return 1;
  int64_t pack = std::max(16 / largest, std::min<int64_t>(4, 16 / smallest));
  // Each element of a pack is a copy of the body, and functions take the compiler long.
  if (kernel_.text.weight == BodyWeight::medium) pack = largest <= 2 || smallest == 1 ? 4 : largest <= 8 ? 2 : 1;
  while (pack > 1 && !allows_pack(static_cast<int>(pack))) pack /= 2;
  return static_cast<int>(pack);
}

bool KernelLaunch::allows_pack(int pack) const {
  const int rank = loop_->rank();
  if (rank > 1 && loop_->extent(rank - 1) % pack != 0) return false;
  int plain = 0;
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (!is_plain_array(k)) continue;
    const int operand = plain++;
    if (signature_.operands[k].access != Access::contiguous) continue;
    const int64_t bytes = std::min<int64_t>(16, pack * itemsize(signature_.operands[k].dtype));
    if (!begins_at_multiple_of(bytes, k, operand)) return false;
    for (int axis = 0; axis + 1 < rank; ++axis)
      if (loop_->stride(operand, axis) % bytes != 0) return false;
  }
  return true;
}

void KernelLaunch::pack_scalar(ArgumentBlock& block, IntegerValues& integers, size_t k) const {
  const Dtype dtype = signature_.operands[k].dtype;
  const Scalar& value = *operands_[k].scalar;
  if (is_integer(dtype) && (is_integer(value.dtype()) || value.dtype() == Dtype::bool_) && !value.fits(dtype))
    throw OverflowError(where(k) + value.to_string() + " does not fit " + name(dtype));
  if (value.kind() == Kind::complex && !is_complex(dtype))
    throw TypeError(where(k) + "cannot convert the complex number " + value.to_string() + " to " + name(dtype));
  alignas(16) std::byte bytes[16];
  value.store(dtype, bytes);
  const size_t size = static_cast<size_t>(itemsize(dtype));
  block.push_bytes(bytes, size, is_complex(dtype) ? size / 2 : size);
  if (!is_inexact(dtype)) integers.append_scalar(bytes, size);
}

/// What variants have as constants of the loop's shape and of raw arrays. The strides of a contiguous array follow from
/// its shape. The shape of a vector counts where the text may ask for it: loops are then as long as the vector.
void KernelLaunch::note_layouts(IntegerValues& integers) const {
  const auto append = [&](const int64_t* numbers, int count) {
    integers.append_layout(numbers, sizeof(int64_t) * static_cast<size_t>(count));
  };
  if (kernel_.text.sees_indexer) {
    const int64_t one = 1;
    append(shape_.empty() ? &one : shape_.data(), signature_.indexer_rank);
  }
  for (size_t k = 0; k < parameter_count(); ++k) {
    if (!fixes_layout(kernel_.text, signature_.operands[k])) continue;
    append(operands_[k].shape, operands_[k].ndim);
    if (signature_.operands[k].access == Access::raw_strided) append(operands_[k].strides, operands_[k].ndim);
  }
}

void KernelLaunch::pack_raw(ArgumentBlock& block, const Operand& array) const {
  block.push(array.data);
  block.push(array.size);
  const int64_t zero = 0;
  const size_t bytes = sizeof(int64_t) * static_cast<size_t>(std::max(array.ndim, 1));
  block.push_bytes(array.ndim ? array.shape : &zero, bytes, alignof(int64_t));
  block.push_bytes(array.ndim ? array.strides : &zero, bytes, alignof(int64_t));
}

void KernelLaunch::pack_values(ArgumentBlock& block, const Operand& array) const {
  const auto bytes = static_cast<size_t>(array.nbytes()), size = static_cast<size_t>(itemsize(array.dtype));
  if (array.dtype != Dtype::bool_)
    return block.push_bytes(array.data, bytes, is_complex(array.dtype) ? size / 2 : size);
  for (int64_t k = 0; k < array.size; ++k) block.push(static_cast<const uint8_t*>(array.data)[k] != 0);
}

void KernelLaunch::pack_dividers(ArgumentBlock& block) const {
  uint32_t magic[kMaxRank], shift[kMaxRank];
  const int rank = loop_->rank();
  for (int axis = 0; axis < rank; ++axis) {
    const Divider divider(loop_->extent(axis));
    magic[axis] = divider.magic;
    shift[axis] = divider.shift;
  }
  for (const uint32_t* values : {magic, shift})
    block.push_bytes(values, sizeof(uint32_t) * static_cast<size_t>(rank), alignof(uint32_t));
}

int64_t KernelLaunch::scratch_bytes(Dtype dtype) const {
  return (stages_->batch * stages_->words * itemsize(dtype) + kLineBytes - 1) / kLineBytes * kLineBytes;
}

int64_t KernelLaunch::scratch_bytes() const {
  int64_t bytes = 0;
  for (size_t k = 0; k < input_count(); ++k)
    if (signature_.operands[k].access == Access::scratch) bytes += scratch_bytes(signature_.operands[k].dtype);
  return bytes;
}

void KernelLaunch::pack_slices(ArgumentBlock& block) const {
  if (has_slices()) {
    const Divider divider(stages_->batch == stages_->slice ? 1 : stages_->slice);
    block.push(stages_->batch);
    block.push(stages_->slice);
    block.push(divider.magic);
    block.push(divider.shift);
    block.push(scratch_bytes());
  } else if (kernel_.text.sees_slice) {
    block.push_bytes(stages_->groups.data(), sizeof(int64_t) * static_cast<size_t>(stages_->groups.size()),
                     alignof(int64_t));
  }
  if (kernel_.text.sees_step && !has_slices()) block.push(stages_->step);
}

void KernelLaunch::pack(ArgumentBlock& block, IntegerValues& integers) const {
  const int rank = loop_->rank();
  block.push(count_);
  if (rank > 1) block.push_bytes(loop_->extents(), sizeof(int64_t) * static_cast<size_t>(rank), alignof(int64_t));
  if (has_dividers(signature_)) pack_dividers(block);
  if (kernel_.text.sees_indexer) {
    const int64_t one = 1;
    const int64_t* const shape = shape_.empty() ? &one : shape_.data();
    block.push_bytes(shape, sizeof(int64_t) * signature_.indexer_rank, alignof(int64_t));
  }
  int plain = 0;
  int64_t place = 0;  // in the batch's memory
  for (size_t k = 0; k < parameter_count(); ++k) {
    switch (signature_.operands[k].access) {
      case Access::unused: break;
      case Access::scratch: {
        const int64_t one = 1;
        block.push_bytes(shape_.empty() ? &one : shape_.data(),
                         sizeof(int64_t) * static_cast<size_t>(std::max(shape_.size(), 1)), alignof(int64_t));
        block.push(place);
        place += scratch_bytes(signature_.operands[k].dtype);
        break;
      }
      case Access::scalar: pack_scalar(block, integers, k); break;
      case Access::by_value: pack_values(block, operands_[k]); break;
      case Access::raw_contiguous:
      case Access::raw_strided: pack_raw(block, operands_[k]); break;
      default:
        block.push(static_cast<char*>(operands_[k].data) + loop_->offset(plain));
        if (rank > 1 || signature_.operands[k].access == Access::strided)
          block.push_bytes(loop_->strides(plain), sizeof(int64_t) * static_cast<size_t>(rank), alignof(int64_t));
        ++plain;
    }
  }
  if (stages_) pack_slices(block);
  note_layouts(integers);
}

/// Raises ValueError here, because the compiler's own message would come late and not name the arrays.
void KernelLaunch::check_size() const {
  const size_t bytes = block_.bytes().size(), most = target_.most_argument_bytes;
  if (bytes > most)
    throw ValueError("kernel '" + kernel_.text.name + "': its arguments take " + std::to_string(bytes) + " bytes, " +
                     device_.name() + " takes at most " + std::to_string(most) +
                     ": give fewer arrays, arrays with fewer axes, or raw ones in place of those by value");
}

int64_t KernelLaunch::unit_count() const {
  if (signature_.form == LoopForm::slices) return (count_ + stages_->batch - 1) / stages_->batch;
  if (signature_.form != LoopForm::tiles) return count_;
  const int rank = loop_->rank();
  const auto tiles = [edge = signature_.tile_edge](int64_t extent) { return (extent + edge - 1) / edge; };
  int64_t units = tiles(loop_->extent(rank - 1)) * tiles(loop_->extent(rank - 2));
  for (int axis = 0; axis < rank - 2; ++axis) units *= loop_->extent(axis);
  return units;
}

Specialisation& KernelLaunch::specialisation() const {
  if (found_) return *found_;
  return make_specialisation(kernel_, device_, signature_);
}

std::string KernelLaunch::source() const { return emit_kernel(kernel_.text, signature_); }

std::string KernelLaunch::assembly() const {
  const ProgramSource program = kernel_.program_source(source(), &signature_);
  build(device_, program, kernel_.error_context(&signature_));  // words an error as a call would
  return jit::assembly(device_, program);
}

KernelReport KernelLaunch::report() const {
  return jit::report(device_, kernel_.program_source(source(), &signature_), kernel_.error_context(&signature_),
                     measured_lanes());
}

MeasuredLanes KernelLaunch::measured_lanes() const {
  const Specialisation* found = kernel_.table.find(device_, signature_, signature_.hash());
  if (!found) return {};
  ArgumentBlock block;
  IntegerValues integers;
  pack(block, integers);
  return jit::measured_lanes(*found, may_fix(integers) ? integers : kNoValues);
}

/// Runs a short call with the program whose turn it is. Runs a long call with lanes, except for the slices that are
/// compared.
void KernelLaunch::run_in_trial(const Choice& choice, LaunchRange range, double cost) const {
  const std::span<const std::byte> block = block_.bytes();
  Trial& trial = *choice.measurement;
  const int threads = threads_for(range);
  const int64_t step = std::max(range.align, range.counts_elements ? kMostLanes : 1);
  const Slices slices(range.count, step, threads, cost / threads);
  if (slices.pairs == 0) {
    const Stopwatch time;
    trial.program().launch(block, range);
    return trial.add(time.nanoseconds(), range.count);
  }
  const int64_t all = range.count;
  const auto launch = [&](const Program& program, int64_t end) {
    range.count = end - range.begin;
    program.launch(block, range);
    range.begin = end;
  };
  const LoopSequence sequence;
  for (int64_t pair = 0; pair < slices.pairs; ++pair) {
    launch(*choice.program, slices.begin(pair));
    trial.begin_pair();
    for (int slice = 0; slice < 2; ++slice) {
      const Stopwatch time;
      launch(trial.program(), range.begin + slices.units);
      trial.add_slice(time.nanoseconds(), slices.units);
    }
  }
  launch(*choice.program, all);
}

/// A launch returns before its work is done, so events measure the work and a later call reads them.
void KernelLaunch::launch_over_grid(Specialisation& made, const IntegerValues& values) const {
  const std::span<const std::byte> block = block_.bytes();
  const Choice choice = values.empty() ? Choice{made.program.get()} : choose_program(made, values, count_);
  const GpuShape shape = gpu_shape(kernel_.text, signature_);
  GridRange range;
  range.count = unit_count();
  range.threads_per_block = shape.threads;
  range.units_per_block = signature_.form == LoopForm::tiles ? 1 : int64_t{shape.threads} * shape.per_thread;
  if (has_slices()) {
    range.units_per_block = 1;
    range.threads_per_block = threads_for_batch(stages_->batch);
    range.shared_bytes = static_cast<unsigned>(scratch_bytes());
  } else if (!shape.fixed_threads) {
    spread_over(range, target_.multiprocessors);
  }
  const uint32_t calls = values.empty() ? 1 : made.count_call();
  if (values.empty() || (calls >= kMeasuredCalls && calls % kMeasureEvery != 0)) {
    choice.program->launch(block, range);
    return;
  }
  const double earlier = made.timing.take();
  if (earlier > 0)
    note_work(kernel_, made, signature_, values, calls < kMeasuredCalls ? earlier : earlier * kMeasureEvery);
  made.timing.around(device_, [&] { choice.program->launch(block, range); });
}

void KernelLaunch::prepare() {
  pack(block_, integers_);
  check_size();
  found_ = kernel_.table.find(device_, signature_, signature_.hash());
}

bool KernelLaunch::is_brief() const {
  if (count_ == 0) return true;
  if (!found_ || policy_.has_grid) return false;
  const double unit_cost = found_->cost.nanoseconds();
  return unit_cost > 0 && unit_cost * static_cast<double>(unit_count()) < kBriefNanoseconds;
}

void KernelLaunch::launch() {
  if (count_ == 0) return;
  const std::span<const std::byte> block = block_.bytes();
  const IntegerValues& values = may_fix(integers_) ? integers_ : kNoValues;
  Specialisation& made = specialisation();
  if (policy_.has_grid) return launch_over_grid(made, values);
  const double unit_cost = made.cost.nanoseconds();
  const uint32_t calls = made.count_call();
  const int64_t units = unit_count(), align = signature_.form == LoopForm::stream ? kStreamChunk : 1;
  const double expected = unit_cost * static_cast<double>(units);
  const double grain = unit_cost > 0 ? std::clamp(kInlineNanoseconds / unit_cost, 1.0, 1e15) : 1;
  const LaunchRange range{.count = units,
                          .align = align,
                          .grain = std::max(align, static_cast<int64_t>(grain)),
                          .counts_elements = signature_.form != LoopForm::tiles && !has_slices(),
                          .alone = expected < kSharedAtOnce ? static_cast<int64_t>(kInlineNanoseconds) : 0};

  const bool may_vary = !values.empty() || made.program->rival_lanes() > 0;
  const Choice choice = may_vary ? choose_program(made, values, units) : Choice{made.program.get()};
  if (choice.measurement) {  // the cost of a unit stays, so that both sides use the same number of threads
    run_in_trial(choice, range, expected);
    return note_trial(kernel_, made, choice);
  }
  const bool always = expected > kAlwaysMeasured || calls < kMeasuredCalls;
  if (!always && calls % kMeasureEvery != 0) return void(choice.program->launch(block, range));
  const Stopwatch time;
  MeasuredWork work = choice.program->launch(block, range);
  const double elapsed = time.nanoseconds();
  if (work.units == 0) work = {units, std::max(static_cast<int64_t>(elapsed) - kLaunchNanoseconds, int64_t{0})};
  made.cost.measured(work);
  if (may_vary) note_work(kernel_, made, signature_, values, always ? elapsed : elapsed * kMeasureEvery);
}

}  // namespace iruka::jit
