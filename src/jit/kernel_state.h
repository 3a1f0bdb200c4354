// What an ElementwiseKernel holds between calls.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "iruka/kernel.h"
#include "jit/emit.h"
#include "jit/includes.h"
#include "jit/program.h"
#include "jit/resolve.h"
#include "jit/signature.h"
#include "jit/trial.h"
#include "jit/warnings.h"

namespace iruka::jit {

/// The integer and bool scalars of a call, one after another, and behind them the layouts of its raw arrays. Scalars
/// that are too many leave nothing, and layouts that are too many leave the scalars.
class IntegerValues {
 public:
  void append_scalar(const void* bytes, size_t size) {
    append(bytes, size);
    if (overflows_) size_ = 0;
    scalars_ = size_;
  }
  /// Behind all scalars.
  void append_layout(const void* bytes, size_t size) {
    append(bytes, size);
    if (overflows_) size_ = scalars_;
  }
  bool empty() const { return size_ == 0; }
  bool has_layouts() const { return size_ > scalars_; }
  IntegerValues without_layouts() const {
    IntegerValues scalars = *this;
    scalars.size_ = scalars_;
    return scalars;
  }
  const char* data() const { return bytes_; }
  friend bool operator==(const IntegerValues& a, const IntegerValues& b) {
    return a.size_ == b.size_ && a.scalars_ == b.scalars_ && std::memcmp(a.bytes_, b.bytes_, a.size_) == 0;
  }

 private:
  void append(const void* bytes, size_t size) {
    overflows_ |= size_ + size > sizeof(bytes_);
    if (overflows_) return;
    std::memcpy(bytes_ + size_, bytes, size);
    size_ += size;
  }

  size_t size_ = 0, scalars_ = 0;
  bool overflows_ = false;
  char bytes_[248];
};

inline const IntegerValues kNoValues{};

/// A program for certain calls.
struct Variant {
  IntegerValues values;  ///< the values that it has as constants; none: for values without a variant
  std::shared_ptr<const Program> program;
  std::shared_ptr<Trial> trial;  ///< of lanes and the scalar path, until it ends; null if there is none
  int rival_lanes = 0;           ///< with which the trial's other program was compiled
  double lanes_per_scalar = 0;   ///< time of the lanes over that of the scalar path; 0: not measured
};
using VariantList = std::vector<Variant>;

/// The device's time of one launch, read by a later call. Of several threads, the first reads it.
class LaunchTiming {
 public:
  /// Nanoseconds of a finished launch, given once; else 0.
  double take() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !is_due_) return 0;
    try {
      if (!end_->is_done()) return 0;
      is_due_ = false;
      return elapsed_milliseconds(*begin_, *end_) * 1e6;
    } catch (const DeviceError&) {
      // The device has failed, which the launch reports, or another thread captures the stream.
      is_due_ = false;
      return 0;
    }
  }
  template <class Launch>
  void around(Device& device, Launch&& launch) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || is_due_ || device.is_capturing(device.current_stream())) return launch();
    if (!end_) begin_.emplace(device), end_.emplace(device);
    begin_->record();
    launch();
    end_->record();
    is_due_ = true;
  }

 private:
  std::mutex mutex_;
  std::optional<Event> begin_, end_;
  bool is_due_ = false;  ///< they are recorded and not read yet
};

/// What a unit of a launch costs on a CPU, in nanoseconds of one thread. Calls of a kernel may cost very different
/// times: the estimate rises at once, and falls by half at most with each measurement.
class UnitCost {
 public:
  /// 0 before the first measurement.
  double nanoseconds() const { return value_.load(std::memory_order_relaxed); }
  void measured(const MeasuredWork& work);

 private:
  std::atomic<float> value_{0};
};

/// The program of one signature, its measured cost, and its variants.
struct Specialisation {
  Device* device;
  uint64_t hash;
  std::string signature;  ///< Signature::bytes()
  uint64_t generation;
  std::shared_ptr<const Program> program;

  std::atomic<uint32_t> calls{0};
  LaunchTiming timing;  ///< where launches do not wait for their work
  UnitCost cost;

  std::atomic<const VariantList*> variants{nullptr};  ///< never changed once published; null while there are none
  std::vector<std::unique_ptr<const VariantList>> variant_lists;  ///< all that were ever published
  std::atomic<bool> variant_pending{false};
  std::mutex heat_mutex;  ///< guards the members below; only try_lock, so a fork under it is harmless
  IntegerValues last_values;
  double hot_nanoseconds = 0;       ///< of calls with these values
  double scalar_nanoseconds = 0;    ///< of calls with these scalars, whose layouts change
  double changing_nanoseconds = 0;  ///< of calls with other values than the one before

  Specialisation* next = nullptr;  ///< in its bucket; set before it is published

  /// The number of this call. Threads may get the same one, because an exact count would cost a locked instruction.
  uint32_t count_call() {
    const uint32_t number = calls.load(std::memory_order_relaxed);
    calls.store(number + 1, std::memory_order_relaxed);
    return number;
  }
};

/// Signature to specialisation. Reading takes no lock; an entry stays until the kernel is destroyed.
class SpecialisationTable {
 public:
  Specialisation* find(const Device& device, const Signature& signature, uint64_t hash) const;
  /// Publishes `made`, unless another thread was first; returns the one that is in the table.
  Specialisation* insert(std::unique_ptr<Specialisation> made);
  /// Signatures compiled since the last clear_cache(), oldest first.
  std::vector<Signature> signatures() const;

 private:
  static constexpr size_t kBuckets = 16;
  std::array<std::atomic<Specialisation*>, kBuckets> buckets_{};
  std::vector<std::unique_ptr<Specialisation>> owned_;
};

}  // namespace iruka::jit

namespace iruka {

struct ElementwiseKernel::State : std::enable_shared_from_this<ElementwiseKernel::State> {
  static State& of(const ElementwiseKernel& kernel) { return *kernel.state_; }

  jit::KernelText text;
  KernelOptions options;
  jit::Placeholders placeholders;
  /// Whether a variant with fixed integers computes the same bits.
  bool may_fix_values = true;
  /// Whether the texts may name integer types of 8 or 16 bits.
  bool may_name_narrow_types = false;
  jit::SpecialisationTable table;
  std::atomic<bool> is_made_in_background{false};  ///< a specialisation is, or could not be
  mutable jit::PendingWarnings warnings;
  std::shared_ptr<const jit::Includes> includes;  ///< null where the texts include nothing of the user's

  jit::ErrorContext error_context(const jit::Signature* signature) const;
  /// The source of a program with this text. `signature`: of the calls that run it; null if it is only checked.
  ProgramSource program_source(std::string body, const jit::Signature* signature) const;
};

namespace jit {

/// The state of a kernel with this text, whose parameters were checked. Reads the headers that its texts include.
std::shared_ptr<ElementwiseKernel::State> make_kernel_state(KernelText text, KernelOptions options);

/// Whether a text of the kernel may use the name. Macros may hide any name, so a text that defines one counts as using
/// it. `options`: the kernel's.
bool can_see(const ElementwiseKernel::State& state, const KernelOptions& options, std::string_view word);

/// The texts for all signatures so far.
std::vector<GeneratedSource> generated_sources(const ElementwiseKernel::State& state);

/// Texts of the kernels of one call, one after the other. Where there are several, a line that is a comment in C++ and
/// in assembly begins each.
std::string joined_stages(const std::vector<std::string>& texts);

/// "float32 x, raw float32 y".
std::string list_parameters(std::span<const Parameter> parameters);

/// Checks the texts of a kernel whose types are all concrete. Keeps the warnings. Raises CompileError.
void diagnose_early(const ElementwiseKernel::State& state);

}  // namespace jit
}  // namespace iruka
