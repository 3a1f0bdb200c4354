// What an ElementwiseKernel holds between calls.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "core/device.h"
#include "iruka/kernel.h"
#include "jit/emit.h"
#include "jit/program.h"
#include "jit/signature.h"

namespace iruka::jit {

/// A specialised program and the integer values it holds, packed one after another as in the argument block.
struct Variant {
  std::string values;
  std::shared_ptr<const Program> program;
};

/// One signature's program, what is known of its cost, and its variants for fixed integer arguments.
struct Specialisation {
  Device* device;
  uint64_t hash;
  std::string signature;  ///< Signature::bytes()
  uint64_t generation;
  std::shared_ptr<const Program> program;

  std::atomic<uint32_t> calls{0};
  std::atomic<float> nanoseconds_per_unit{0};  ///< 0: not measured yet

  std::atomic<bool> has_variants{false};
  std::atomic<int> pending_variants{0};
  std::mutex variants_mutex;  ///< guards what follows
  std::vector<Variant> variants;
  std::string last_values;
  double hot_nanoseconds = 0;

  Specialisation* next = nullptr;  ///< in its bucket; set before it is published
};

/// Signature to specialisation. Reading takes no lock; an entry stays until the kernel goes.
class SpecialisationTable {
 public:
  Specialisation* find(const Device& device, const Signature& signature, uint64_t hash) const;
  /// Publishes `made`, unless another thread was first; returns the one that is in the table.
  Specialisation* insert(std::unique_ptr<Specialisation> made);
  /// Signatures seen so far, oldest first.
  std::vector<Signature> signatures() const;

 private:
  static constexpr size_t kBuckets = 16;
  std::array<std::atomic<Specialisation*>, kBuckets> buckets_{};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Specialisation>> owned_;
};

}  // namespace iruka::jit

namespace iruka {

struct ElementwiseKernel::State : std::enable_shared_from_this<ElementwiseKernel::State> {
  jit::KernelText text;
  KernelOptions options;
  /// For each parameter: the index of its placeholder letter, -1 for a concrete type.
  std::vector<int> placeholder;
  int placeholder_count = 0;
  /// Whether a variant with fixed integers computes the same bits.
  bool may_fix_values = true;
  jit::SpecialisationTable table;

  jit::Blame blame(const jit::Signature* signature) const;
  ProgramSource program_source(std::string body) const;
};

}  // namespace iruka
