#include "jit/specialise.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/fork.h"
#include "core/once.h"
#include "core/process_end.h"
#include "core/signal_mask.h"
#include "jit/compile_thread.h"
#include "jit/history.h"

namespace iruka::jit {
namespace {

// A variant costs one compilation, some 15 ms on another core. It is worth that once a kernel has used as much with
// the same values in at least two calls; kernels whose values keep changing stop asking after a few variants.
constexpr double kHotNanoseconds = 20e6;
constexpr size_t kMostVariants = 8;
constexpr int kMostLayouts = 4;  ///< of the variants, so that layouts which change leave some to scalars

/// Publishing is rare, so one mutex serves all kernels.
constinit ForkSafeMutex publishing;

bool holds_integer(const OperandSignature& operand) {
  return operand.access == Access::scalar && (is_integer(operand.dtype) || operand.dtype == Dtype::bool_);
}

FixedValues unpack(const KernelText& kernel, const Signature& signature, const IntegerValues& values) {
  const size_t count = kernel.parameter_count();
  FixedValues fixed{.scalars = std::vector<std::optional<Scalar>>(count),
                    .layouts = std::vector<std::optional<FixedLayout>>(count)};
  const char* at = values.data();
  const auto dims = [&at](int rank) {
    Dims made(rank);
    std::memcpy(made.data(), at, sizeof(int64_t) * static_cast<size_t>(rank));
    at += sizeof(int64_t) * static_cast<size_t>(rank);
    return made;
  };
  for (size_t k = 0; k < count; ++k) {
    const OperandSignature& operand = signature.operands[k];
    if (!holds_integer(operand)) continue;
    fixed.scalars[k] = Scalar::load(operand.dtype, at);
    at += itemsize(operand.dtype);
  }
  if (!values.has_layouts()) return fixed;
  if (kernel.sees_indexer) fixed.indexer = dims(signature.indexer_rank);
  for (size_t k = 0; k < count; ++k) {
    const OperandSignature& operand = signature.operands[k];
    if (!fixes_layout(kernel, operand)) continue;
    FixedLayout layout{.shape = dims(operand.rank), .strides = {}};
    const bool is_contiguous = operand.access == Access::raw_contiguous;
    layout.strides = is_contiguous ? c_strides(layout.shape, itemsize(operand.dtype)) : dims(operand.rank);
    // A division by a constant zero has no meaning.
    if (iruka::count(layout.shape) != 0) fixed.layouts[k] = layout;
  }
  return fixed;
}

/// Adds `variant`, or replaces the one for the same values.
void publish(Specialisation& specialisation, Variant variant) {
  std::lock_guard lock(publishing);
  const VariantList* old = specialisation.variants.load(std::memory_order_acquire);
  auto list = std::make_unique<VariantList>(old ? *old : VariantList{});
  const auto found = std::ranges::find(*list, variant.values, &Variant::values);
  if (found != list->end())
    *found = std::move(variant);
  else
    list->push_back(std::move(variant));
  specialisation.variant_lists.push_back(std::move(list));
  specialisation.variants.store(specialisation.variant_lists.back().get(), std::memory_order_release);
}

/// A variant to compile, or a specialisation. Holds its kernel alive.
struct Job {
  std::shared_ptr<ElementwiseKernel::State> kernel;
  Device* device;
  Specialisation* specialisation;  ///< of the variant; null: it is to be made
  Signature signature;
  IntegerValues values;
  std::shared_ptr<std::atomic<bool>> cancelled =
      std::make_shared<std::atomic<bool>>(false);  ///< ends its compilers early

  void run() const {
    if (specialisation)
      make_variant();
    else
      make_first();
  }

  /// What keeps other threads from asking for the same.
  std::atomic<bool>& pending() const {
    return specialisation ? specialisation->variant_pending : kernel->is_made_in_background;
  }

 private:
  void make_first() const {
    try {
      make_specialisation(*kernel, *device, signature, cancelled);
    } catch (const CompileError&) {
      return;  // a call that needs it says why
    } catch (...) {
      // Memory may be short, or a disk full: a later call tries again.
    }
    pending().store(false, std::memory_order_release);
  }

  void make_variant() const {
    try {
      const bool is_fixed = !values.empty();
      ProgramSource source = kernel->program_source(
          is_fixed ? emit_kernel(kernel->text, signature, unpack(kernel->text, signature, values))
                   : emit_kernel(kernel->text, signature),
          &signature);
      source.cancelled = cancelled;
      auto program = is_fixed ? compile(source, KernelEvent::Kind::specialised) : specialisation->program;
      const int rival = program->rival_lanes();
      auto trial = rival > 0 ? make_trial(program, source) : nullptr;
      publish(*specialisation, {values, std::move(program), std::move(trial), rival});
    } catch (...) {
      // The generic program stays in use. The user did not request a variant, so this is not an error.
    }
    pending().store(false, std::memory_order_release);
  }

  std::shared_ptr<const Program> compile(const ProgramSource& source, KernelEvent::Kind kind) const {
    return build(*specialisation->device, source, kernel->error_context(&signature), kind);
  }

  /// A trial of `program` against its version with other lanes; null if that does not compile.
  std::shared_ptr<Trial> make_trial(const std::shared_ptr<const Program>& program, ProgramSource source) const {
    const int rival = program->rival_lanes();
    source.options.push_back("--lanes=" + std::to_string(rival));
    try {
      if (rival > 1) return std::make_shared<Trial>(compile(source, KernelEvent::Kind::lanes_compiled), program);
      return std::make_shared<Trial>(program, compile(source, KernelEvent::Kind::scalar_compiled));
    } catch (...) {
      return nullptr;
    }
  }
};

/// One thread that compiles in the background, started when first needed and ended before the process is torn down.
class BackgroundCompiler {
 public:
  static BackgroundCompiler& instance() {
    return made_once([] { return BackgroundCompiler(); });
  }

  /// False when no thread can be had.
  bool add(Job job) {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    if (!std::exchange(stops_at_end_, true)) {
      at_process_end(EndStep::background_compilation, []() noexcept {
        instance().stop();
        return true;
      });
    }
    if (!running_) {
      try {
        const SignalsBlocked blocked;
        std::thread([this] { work(); }).detach();
      } catch (const std::system_error&) {
        return false;
      }
      running_ = true;
    }
    jobs_.push_back(std::move(job));
    changed_.notify_all();
    return true;
  }

  void stop() {
    std::unique_lock lock(mutex_.joined());
    stopping_ = true;
    jobs_.clear();
    if (current_) current_->cancelled->store(true, std::memory_order_relaxed);
    changed_.notify_all();
    idle_.wait(lock, [this] { return !running_; });
  }

  void finish() {
    std::unique_lock lock(mutex_.joined());
    idle_.wait(lock, [this] { return (jobs_.empty() && !is_busy_) || stopping_; });
  }

  /// In a child of fork() the thread does not exist; the next job starts a new one.
  void after_fork() {
    new (&changed_) std::condition_variable;
    new (&idle_) std::condition_variable;
    if (current_) current_->pending().store(false);
    for (const Job& job : jobs_) job.pending().store(false);
    current_.reset();
    jobs_.clear();
    running_ = is_busy_ = false;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_.joined());
    while (true) {
      changed_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
      if (stopping_) break;
      current_ = std::move(jobs_.front());
      jobs_.pop_front();
      is_busy_ = true;
      lock.unlock();
      current_->run();
      lock.lock();
      std::optional<Job> over = std::exchange(current_, std::nullopt);
      lock.unlock();
      over.reset();  // it may be its kernel's last handle, and unloading programs takes long on a GPU
      lock.lock();
      is_busy_ = false;
      idle_.notify_all();
    }
    running_ = false;
    idle_.notify_all();
  }

  ForkSafeMutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Job> jobs_;
  std::optional<Job> current_;  ///< the job that runs; a child of fork() discards it
  bool is_busy_ = false;        ///< while a job runs or is destroyed
  bool running_ = false, stopping_ = false, stops_at_end_ = false;
};

const bool is_registered = [] {
  in_child_of_fork([] { BackgroundCompiler::instance().after_fork(); });
  return true;
}();

const Variant* find_variant(const VariantList* list, const IntegerValues& values) {
  if (!list) return nullptr;
  const auto found = std::ranges::find(*list, values, &Variant::values);
  return found == list->end() ? nullptr : &*found;
}

/// The variant for the values, for their scalars alone, or for any.
const Variant* find_variant_or_general(const Specialisation& specialisation, const IntegerValues& values) {
  const VariantList* list = specialisation.variants.load(std::memory_order_acquire);
  const Variant* found = find_variant(list, values);
  if (!found && list && values.has_layouts()) found = find_variant(list, values.without_layouts());
  return found ? found : find_variant(list, kNoValues);
}

/// Adds the time to that of the calls with `values`, of those with their scalars alone if layouts change, or of calls
/// with changing values. `is_full` forbids a variant for scalars, `is_full_of_layouts` one for layouts. Returns the
/// values for which a variant is to be made now, if any.
std::optional<IntegerValues> add_heat(Specialisation& specialisation, const IntegerValues& values, bool is_full,
                                      bool is_full_of_layouts, double nanoseconds) {
  std::unique_lock lock(specialisation.heat_mutex, std::try_to_lock);
  if (!lock) return {};
  const IntegerValues scalars = values.without_layouts();
  const bool is_same = specialisation.last_values == values;
  const bool has_same_scalars = !scalars.empty() && specialisation.last_values.without_layouts() == scalars;
  if (!is_same) {
    specialisation.last_values = values;
    specialisation.hot_nanoseconds = 0;
  }
  if (!has_same_scalars) specialisation.scalar_nanoseconds = 0;
  if (specialisation.calls.load(std::memory_order_relaxed) < 2) return {};
  const bool is_hot = is_same && !(values.has_layouts() ? is_full_of_layouts : is_full);
  const bool are_scalars_hot = !is_hot && has_same_scalars && !is_full;
  double& heat = is_hot            ? specialisation.hot_nanoseconds
                 : are_scalars_hot ? specialisation.scalar_nanoseconds
                                   : specialisation.changing_nanoseconds;
  heat += nanoseconds;
  if (heat < kHotNanoseconds) return {};
  heat = 0;
  return is_hot ? values : are_scalars_hot ? scalars : kNoValues;
}

}  // namespace

Choice choose_program(const Specialisation& specialisation, const IntegerValues& values, int64_t units) {
  const Variant* variant = find_variant_or_general(specialisation, values);
  if (!variant) return {specialisation.program.get()};
  return {variant->program.get(), variant, variant->trial ? variant->trial->try_begin(units) : nullptr};
}

void note_work(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
               const IntegerValues& values, double nanoseconds) {
  const VariantList* list = specialisation.variants.load(std::memory_order_acquire);
  const bool is_full = list && list->size() >= kMostVariants;
  const bool is_full_of_layouts = list && std::ranges::count_if(*list, [](const Variant& each) {
                                            return each.values.has_layouts();
                                          }) >= kMostLayouts;
  const bool wants_general = specialisation.program->rival_lanes() > 0 && !find_variant(list, kNoValues);
  if ((is_full && !wants_general) || find_variant(list, values)) return;
  const std::optional<IntegerValues> hot =
      add_heat(specialisation, values, is_full, is_full || is_full_of_layouts, nanoseconds);
  if (!hot || (!hot->empty() && find_variant(list, *hot)) || (hot->empty() && !wants_general) ||
      specialisation.variant_pending.exchange(true))
    return;
  if (!BackgroundCompiler::instance().add(
          {kernel.shared_from_this(), specialisation.device, &specialisation, signature, *hot}))
    specialisation.variant_pending.store(false);
}

Specialisation& make_specialisation(ElementwiseKernel::State& kernel, Device& device, const Signature& signature,
                                    std::shared_ptr<std::atomic<bool>> cancelled) {
  auto made = std::make_unique<Specialisation>();
  made->device = &device;
  made->hash = signature.hash();
  made->signature = signature.bytes();
  made->generation = cache_generation();
  const ErrorContext context = kernel.error_context(&signature);
  ProgramSource source = kernel.program_source(emit_kernel(kernel.text, signature), &signature);
  source.cancelled = std::move(cancelled);
  made->program = build(device, source, context);
  kernel.warnings.add(made->program->warnings(), context);
  return *kernel.table.insert(std::move(made));
}

void make_in_background(ElementwiseKernel::State& kernel, Device& device, const Signature& signature) {
  if (kernel.is_made_in_background.exchange(true)) return;
  if (!BackgroundCompiler::instance().add({kernel.shared_from_this(), &device, nullptr, signature, kNoValues}))
    kernel.is_made_in_background.store(false);
}

void note_trial(const ElementwiseKernel::State& kernel, Specialisation& specialisation, const Choice& choice) {
  auto verdict = choice.measurement->verdict();
  if (!verdict) return;
  publish(specialisation, {choice.variant->values, std::move(verdict->program), nullptr, choice.variant->rival_lanes,
                           verdict->lanes_per_scalar});
  const bool is_scalar = Trial::is_scalar_faster(verdict->lanes_per_scalar);
  record_event(is_scalar ? KernelEvent::Kind::scalar_chosen : KernelEvent::Kind::lanes_chosen, kernel.text.name,
               specialisation.device->name(), verdict->milliseconds);
}

void end_compilation_on_other_threads() {
  BackgroundCompiler::instance().stop();
  end_compilers_of_other_threads();
}

MeasuredLanes measured_lanes(const Specialisation& specialisation, const IntegerValues& values) {
  const Variant* variant = find_variant_or_general(specialisation, values);
  return variant ? MeasuredLanes{variant->lanes_per_scalar, variant->rival_lanes} : MeasuredLanes{};
}

Specialisation* SpecialisationTable::find(const Device& device, const Signature& signature, uint64_t hash) const {
  const uint64_t generation = cache_generation();
  for (Specialisation* at = buckets_[hash % kBuckets].load(std::memory_order_acquire); at; at = at->next)
    if (at->hash == hash && at->device == &device && at->generation == generation && at->signature == signature.bytes())
      return at;
  return nullptr;
}

Specialisation* SpecialisationTable::insert(std::unique_ptr<Specialisation> made) {
  std::lock_guard lock(publishing);
  std::atomic<Specialisation*>& bucket = buckets_[made->hash % kBuckets];
  for (Specialisation* at = bucket.load(); at; at = at->next)
    if (at->device == made->device && at->generation == made->generation && at->signature == made->signature) return at;
  // Owned before other threads can find it, because push_back may fail.
  owned_.push_back(std::move(made));
  Specialisation* const added = owned_.back().get();
  added->next = bucket.load();
  bucket.store(added, std::memory_order_release);
  return added;
}

std::vector<Signature> SpecialisationTable::signatures() const {
  std::lock_guard lock(publishing);
  std::vector<Signature> all;
  for (const auto& made : owned_) {
    if (made->generation != cache_generation()) continue;
    Signature signature;
    std::memcpy(static_cast<void*>(&signature), made->signature.data(), made->signature.size());
    all.push_back(signature);
  }
  return all;
}

}  // namespace iruka::jit

namespace iruka {

void finish_background_compilation() { jit::BackgroundCompiler::instance().finish(); }

}  // namespace iruka
