#include "jit/specialise.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace iruka::jit {
namespace {

// A variant costs one compilation, some 15 ms on another core. It is worth that once a kernel has used as much with
// the same values in at least two calls; kernels whose values keep changing stop asking after a few variants.
constexpr double kHotNanoseconds = 20e6;
constexpr size_t kMostVariants = 8;

/// Publishing is rare, so one mutex serves all kernels.
std::mutex& publishing() {
  static std::mutex& mutex = *[] {
    auto* made = new std::mutex;
    hold_across_fork(*made);
    return made;
  }();
  return mutex;
}

bool holds_integer(const OperandSignature& operand) {
  return operand.access == Access::scalar && (is_integer(operand.dtype) || operand.dtype == Dtype::bool_);
}

std::vector<std::optional<Scalar>> unpack(const KernelText& kernel, const Signature& signature, const IntegerValues& values) {
  std::vector<std::optional<Scalar>> fixed(kernel.parameter_count());
  size_t at = 0;
  for (size_t k = 0; k < kernel.parameter_count(); ++k) {
    if (!holds_integer(signature.operands[k])) continue;
    fixed[k] = Scalar::load(signature.operands[k].dtype, values.data() + at);
    at += static_cast<size_t>(itemsize(signature.operands[k].dtype));
  }
  return fixed;
}

/// A variant to compile. Holds its kernel alive.
struct Job {
  std::shared_ptr<ElementwiseKernel::State> kernel;
  Specialisation* specialisation;
  Signature signature;
  IntegerValues values;

  void run() const {
    try {
      const std::string text = emit_kernel(kernel->text, signature, unpack(kernel->text, signature, values));
      auto program = build(*specialisation->device, kernel->program_source(text), kernel->blame(&signature), KernelEvent::Kind::specialised);
      publish({values, std::move(program)});
    } catch (...) {
      // The generic program goes on; nobody asked for a variant, so nobody is told.
    }
    specialisation->variant_pending.store(false, std::memory_order_release);
  }

  void publish(Variant variant) const {
    std::lock_guard lock(publishing());
    const VariantList* old = specialisation->variants.load(std::memory_order_acquire);
    auto list = std::make_unique<VariantList>(old ? *old : VariantList{});
    list->push_back(std::move(variant));
    specialisation->variant_lists.push_back(std::move(list));
    specialisation->variants.store(specialisation->variant_lists.back().get(), std::memory_order_release);
  }
};

/// One thread that compiles in the background, started when first needed and ended before the process is torn down.
class BackgroundCompiler {
 public:
  static BackgroundCompiler& instance() {
    static BackgroundCompiler* only = [] {
      auto* made = new BackgroundCompiler;
      std::atexit([] { instance().stop(); });
      pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); }, [] { instance().after_fork(); });
      return made;
    }();
    return *only;
  }

  /// False when no thread can be had.
  bool add(Job job) {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    if (!running_) {
      try {
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

  void finish() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return (jobs_.empty() && !current_) || stopping_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
      if (stopping_) break;
      current_ = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      current_->run();
      lock.lock();
      current_.reset();
      idle_.notify_all();
    }
    running_ = false;
    idle_.notify_all();
  }

  void stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    jobs_.clear();
    changed_.notify_all();
    idle_.wait(lock, [this] { return !running_; });
  }

  // The thread did not come along into the child; the next job starts another.
  void after_fork() {
    new (&changed_) std::condition_variable;
    new (&idle_) std::condition_variable;
    if (current_) current_->specialisation->variant_pending.store(false);
    for (const Job& job : jobs_) job.specialisation->variant_pending.store(false);
    current_.reset();
    jobs_.clear();
    running_ = false;
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Job> jobs_;
  std::optional<Job> current_;
  bool running_ = false, stopping_ = false;
};

const Variant* find_variant(const Specialisation& specialisation, const IntegerValues& values) {
  const VariantList* list = specialisation.variants.load(std::memory_order_acquire);
  if (!list) return nullptr;
  const auto found = std::ranges::find(*list, values, &Variant::values);
  return found == list->end() ? nullptr : &*found;
}

/// Adds to the heat of `values`; true when it is time for a variant.
bool is_hot(Specialisation& specialisation, const IntegerValues& values, double nanoseconds) {
  std::unique_lock lock(specialisation.heat_mutex, std::try_to_lock);
  if (!lock) return false;
  if (!(specialisation.last_values == values)) {
    specialisation.last_values = values;
    specialisation.hot_nanoseconds = 0;
    return false;
  }
  specialisation.hot_nanoseconds += nanoseconds;
  if (specialisation.hot_nanoseconds < kHotNanoseconds) return false;
  specialisation.hot_nanoseconds = 0;
  return true;
}

}  // namespace

const Program& choose_program(const Specialisation& specialisation, const IntegerValues& values) {
  const Variant* variant = find_variant(specialisation, values);
  return variant ? *variant->program : *specialisation.program;
}

void note_work(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
               const IntegerValues& values, double nanoseconds) {
  const VariantList* list = specialisation.variants.load(std::memory_order_acquire);
  if ((list && list->size() >= kMostVariants) || find_variant(specialisation, values)) return;
  if (!is_hot(specialisation, values, nanoseconds) || specialisation.variant_pending.exchange(true)) return;
  if (!BackgroundCompiler::instance().add({kernel.shared_from_this(), &specialisation, signature, values}))
    specialisation.variant_pending.store(false);
}

Specialisation* SpecialisationTable::find(const Device& device, const Signature& signature, uint64_t hash) const {
  const uint64_t generation = cache_generation();
  for (Specialisation* at = buckets_[hash % kBuckets].load(std::memory_order_acquire); at; at = at->next)
    if (at->hash == hash && at->device == &device && at->generation == generation && at->signature == signature.bytes()) return at;
  return nullptr;
}

Specialisation* SpecialisationTable::insert(std::unique_ptr<Specialisation> made) {
  std::lock_guard lock(publishing());
  std::atomic<Specialisation*>& bucket = buckets_[made->hash % kBuckets];
  for (Specialisation* at = bucket.load(); at; at = at->next)
    if (at->device == made->device && at->generation == made->generation && at->signature == made->signature) return at;
  made->next = bucket.load();
  bucket.store(made.get(), std::memory_order_release);
  owned_.push_back(std::move(made));
  return owned_.back().get();
}

std::vector<Signature> SpecialisationTable::signatures() const {
  std::lock_guard lock(publishing());
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
