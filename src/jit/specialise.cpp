#include "jit/specialise.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <thread>

namespace iruka::jit {
namespace {

// A variant costs one compilation, some 15 ms on another core. It is worth that once a kernel has used as much with
// the same values in at least two calls; kernels whose values keep changing stop asking after a few variants.
constexpr double kHotNanoseconds = 20e6;
constexpr size_t kMostVariants = 8;

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

  void add(std::function<void()> job) {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    jobs_.push_back(std::move(job));
    if (!running_) {
      running_ = true;
      std::thread([this] { work(); }).detach();
    }
    changed_.notify_all();
  }

  void finish() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return (jobs_.empty() && !busy_) || stopping_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
      if (stopping_) break;
      std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      job();
      job = nullptr;  // what it holds goes before anyone who waits goes on
      lock.lock();
      busy_ = false;
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
    jobs_.clear();
    running_ = busy_ = false;
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<std::function<void()>> jobs_;
  bool running_ = false, busy_ = false, stopping_ = false;
};

bool holds_integer(const OperandSignature& operand) {
  return operand.access == Access::scalar && (is_integer(operand.dtype) || operand.dtype == Dtype::bool_);
}

/// Calls `visit(k, offset)` for each integer scalar, with its place in the argument block.
template <class Visit>
void each_integer(const KernelText& kernel, const Signature& signature, Visit&& visit) {
  size_t at = sizeof(int64_t);
  if (signature.rank > 1) at += sizeof(int64_t) * signature.rank;
  if (kernel.sees_indexer) at += sizeof(int64_t) * signature.indexer_rank;
  for (size_t k = 0; k < kernel.parameter_count(); ++k) {
    const OperandSignature& operand = signature.operands[k];
    if (operand.access == Access::scalar) {
      const size_t size = static_cast<size_t>(itemsize(operand.dtype));
      const size_t align = kind(operand.dtype) == Kind::complex ? size / 2 : size;
      at = (at + align - 1) & ~(align - 1);
      if (holds_integer(operand)) visit(k, at);
      at += size;
      continue;
    }
    at = (at + 7) & ~size_t{7};
    if (operand.access >= Access::raw_contiguous) {
      at += sizeof(int64_t) * (2 + 2 * std::max<size_t>(operand.rank, 1));
    } else {
      at += sizeof(int64_t) * (1 + (signature.rank > 1 || operand.access == Access::strided ? signature.rank : 0));
    }
  }
}

std::vector<std::optional<Scalar>> unpack(const KernelText& kernel, const Signature& signature, const std::string& values) {
  std::vector<std::optional<Scalar>> fixed(kernel.parameter_count());
  size_t at = 0;
  for (size_t k = 0; k < kernel.parameter_count(); ++k) {
    if (!holds_integer(signature.operands[k])) continue;
    fixed[k] = Scalar::load(signature.operands[k].dtype, values.data() + at);
    at += static_cast<size_t>(itemsize(signature.operands[k].dtype));
  }
  return fixed;
}

void compile_variant(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
                     const std::string& values) {
  try {
    const std::string text = emit_kernel(kernel.text, signature, unpack(kernel.text, signature, values));
    auto program = build(*specialisation.device, kernel.program_source(text), kernel.blame(&signature), KernelEvent::Kind::specialised);
    std::lock_guard lock(specialisation.variants_mutex);
    specialisation.variants.push_back({values, std::move(program)});
    specialisation.has_variants.store(true, std::memory_order_release);
  } catch (const Error&) {
    // The generic program goes on; nobody asked for a variant, so nobody is told.
  }
  specialisation.pending_variants.fetch_sub(1);
}

}  // namespace

std::string integer_values(const KernelText& kernel, const Signature& signature, std::span<const std::byte> block) {
  std::string values;
  each_integer(kernel, signature, [&](size_t k, size_t at) {
    values.append(reinterpret_cast<const char*>(block.data()) + at, static_cast<size_t>(itemsize(signature.operands[k].dtype)));
  });
  return values;
}

const Program& choose_program(Specialisation& specialisation, const std::string& values) {
  if (specialisation.has_variants.load(std::memory_order_acquire)) {
    std::lock_guard lock(specialisation.variants_mutex);
    for (const Variant& variant : specialisation.variants)
      if (variant.values == values) return *variant.program;
  }
  return *specialisation.program;
}

void note_work(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
               const std::string& values, double nanoseconds) {
  {
    std::lock_guard lock(specialisation.variants_mutex);
    if (specialisation.last_values != values) {
      specialisation.last_values = values;
      specialisation.hot_nanoseconds = 0;
    } else {
      specialisation.hot_nanoseconds += nanoseconds;
    }
    if (specialisation.hot_nanoseconds < kHotNanoseconds || specialisation.pending_variants.load() > 0 ||
        specialisation.variants.size() >= kMostVariants ||
        std::ranges::find(specialisation.variants, values, &Variant::values) != specialisation.variants.end())
      return;
    specialisation.hot_nanoseconds = 0;
    specialisation.pending_variants.fetch_add(1);
  }
  BackgroundCompiler::instance().add([state = kernel.shared_from_this(), &specialisation, signature, values] {
    compile_variant(*state, specialisation, signature, values);
  });
}

Specialisation* SpecialisationTable::find(const Device& device, const Signature& signature, uint64_t hash) const {
  const uint64_t generation = cache_generation();
  for (Specialisation* at = buckets_[hash % kBuckets].load(std::memory_order_acquire); at; at = at->next)
    if (at->hash == hash && at->device == &device && at->generation == generation && at->signature == signature.bytes()) return at;
  return nullptr;
}

Specialisation* SpecialisationTable::insert(std::unique_ptr<Specialisation> made) {
  std::lock_guard lock(mutex_);
  std::atomic<Specialisation*>& bucket = buckets_[made->hash % kBuckets];
  for (Specialisation* at = bucket.load(); at; at = at->next)
    if (at->device == made->device && at->generation == made->generation && at->signature == made->signature) return at;
  made->next = bucket.load();
  bucket.store(made.get(), std::memory_order_release);
  owned_.push_back(std::move(made));
  return owned_.back().get();
}

std::vector<Signature> SpecialisationTable::signatures() const {
  std::lock_guard lock(mutex_);
  std::vector<Signature> all;
  for (const auto& made : owned_) {
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
