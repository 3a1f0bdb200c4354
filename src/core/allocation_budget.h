// A bound on the memory that the calling thread takes for new arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace iruka {

/// The bytes that new buffers of the calling thread may still take from pools.
inline size_t& thread_allocation_budget() {
  static thread_local size_t left = SIZE_MAX;
  return left;
}

/// Lets the thread's buffers take `bytes` in all while the scope lives; Buffer's constructor raises OutOfMemoryError
/// for more. Memory that is given back does not count again.
class AllocationBudgetScope {
 public:
  explicit AllocationBudgetScope(size_t bytes)
      : given_(bytes), before_(std::exchange(thread_allocation_budget(), bytes)) {}
  ~AllocationBudgetScope() { thread_allocation_budget() = before_; }
  AllocationBudgetScope(const AllocationBudgetScope&) = delete;
  AllocationBudgetScope& operator=(const AllocationBudgetScope&) = delete;

  size_t taken() const { return given_ - thread_allocation_budget(); }

 private:
  const size_t given_, before_;
};

}  // namespace iruka
