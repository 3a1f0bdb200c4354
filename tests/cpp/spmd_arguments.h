// The arrays of one call of a generated kernel: in memory where stray reads fault and stray writes are seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spmd_generator.h"

namespace iruka::testing {

/// Memory between pages that cannot be touched, used again from call to call.
class GuardedPool {
 public:
  static constexpr size_t kSlotBytes = size_t{192} << 10;
  GuardedPool() = default;
  ~GuardedPool();
  GuardedPool(const GuardedPool&) = delete;
  GuardedPool& operator=(const GuardedPool&) = delete;
  /// The slot `k`: kSlotBytes bytes, an inaccessible page before and after.
  char* slot(size_t k);

 private:
  std::vector<char*> slots_;
};

/// What one call is given. The same kernel, shape and seed give the same contents.
class CallArguments {
 public:
  /// Slots from `first_slot` on are used. The arrays are valid until the pool's slots are used again.
  CallArguments(const GeneratedKernel& kernel, const Dims& shape, uint64_t seed, GuardedPool& pool, size_t first_slot);

  /// As ElementwiseKernel's call(), report() and assembly() take them.
  std::vector<Argument> arguments() const;
  CallOptions options() const { return {.size = all_raw_ ? std::optional(count_) : std::nullopt}; }
  /// The first element, of any array, that differs from `other`'s, in words. Any NaN equals any NaN.
  std::optional<std::string> difference(const CallArguments& other) const;
  /// Whether a call changed two elements of an array to two values. `untouched`: the same before the call.
  bool wrote_different_values(const CallArguments& untouched) const;

 private:
  struct Item {
    const GeneratedParameter* parameter;
    Array view;  ///< invalid for a scalar
    Scalar scalar;
    char* memory;  ///< what is filled and compared: the view's elements and some around them
    int64_t elements = 0;
    int64_t first = 0;  ///< the view's first element in it
  };
  void add(const GeneratedParameter& parameter, uint64_t seed, size_t slot);
  Dims array_shape(const GeneratedParameter& parameter) const;
  void place(Item& item, const Dims& shape, char* slot, uint64_t placement);

  std::vector<Item> items_;
  Dims shape_;
  int64_t count_;
  int64_t width_ = 1;
  bool all_raw_;
  GuardedPool& pool_;
};

}  // namespace iruka::testing
