// The floating-point state in which elements are computed, and the exceptions that computing them raises.
#pragma once

#include <immintrin.h>

namespace iruka {

/// Exceptions of IEEE 754, by their bits in x86's MXCSR. Inexact results are not reported.
enum FloatFlag : unsigned {
  kFloatInvalid = 1,
  kFloatDivideByZero = 4,
  kFloatOverflow = 8,
  kFloatUnderflow = 16,
};

/// The exceptions raised within a FloatScope of this thread since they were last taken, and by the workers of the loops
/// that it waited for. A caller that takes them before and after an operation gets those of all its launches.
unsigned take_float_flags();
/// Adds flags to the next result of take_float_flags() on this thread.
void add_float_flags(unsigned flags);

/// While it lives, this thread computes with the defaults of IEEE 754: round to nearest even, subnormals kept, no
/// traps. Afterwards the previous state is restored. All code that computes elements runs inside of one: the thread
/// pool, parallel_for(), a launch on the CPU. Scopes may nest.
class FloatScope {
 public:
  FloatScope() : before_(_mm_getcsr()) {
    const unsigned wanted = kDefault | (before_ & kIgnored);
    if (before_ != wanted) _mm_setcsr(wanted);
    compiler_barrier();
  }
  ~FloatScope() {
    compiler_barrier();
    const unsigned after = _mm_getcsr();
    if (after != before_) _mm_setcsr(before_);
    if (after & kReported) add_float_flags(after & kReported);
  }
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;

 private:
  /// The compiler does not model this state; the barrier keeps it from moving memory accesses out of the scope.
  static void compiler_barrier() { asm volatile("" ::: "memory"); }

  static constexpr unsigned kDefault = 0x1F80;
  static constexpr unsigned kReported = kFloatInvalid | kFloatDivideByZero | kFloatOverflow | kFloatUnderflow;
  /// The flags for subnormal operands and inexact results are not cleared: nearly every computation sets the latter
  /// again, and setting a cleared flag takes a processor 100 ns.
  static constexpr unsigned kIgnored = 2 | 32;
  const unsigned before_;
};

}  // namespace iruka
