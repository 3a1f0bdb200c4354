// The floating-point state in which elements are computed, and the exceptions that computing them raises.
#pragma once

#include <immintrin.h>

namespace iruka {

/// Exceptions of IEEE 754, by their bits in x86's MXCSR. That a result is inexact is not told.
enum FloatFlag : unsigned {
  kFloatInvalid = 1,
  kFloatDivideByZero = 4,
  kFloatOverflow = 8,
  kFloatUnderflow = 16,
};

/// The exceptions raised within a FloatScope of this thread since they were last taken, and by the workers of the loops
/// that it waited for. So a caller that takes them before and after an operation has those of all its launches.
unsigned take_float_flags();
/// Adds to what take_float_flags() gives next on this thread.
void add_float_flags(unsigned flags);

/// While it lives, this thread computes as IEEE 754 asks by default: round to nearest even, subnormals kept, no traps.
/// Then the state found before comes back, whatever was done to it meanwhile. Every way into elements holds one: the
/// thread pool, parallel_for(), a launch on the CPU. They may nest.
class FloatScope {
 public:
  FloatScope() : before_(_mm_getcsr()) {
    const unsigned wanted = kDefault | (before_ & kUntold);
    if (before_ != wanted) _mm_setcsr(wanted);
    stay_inside();
  }
  ~FloatScope() {
    stay_inside();
    const unsigned after = _mm_getcsr();
    if (after != before_) _mm_setcsr(before_);
    if (after & kTold) add_float_flags(after & kTold);
  }
  FloatScope(const FloatScope&) = delete;
  FloatScope& operator=(const FloatScope&) = delete;

 private:
  /// The compiler knows nothing of the state: what it reads and writes within the scope must not leave it.
  static void stay_inside() { asm volatile("" ::: "memory"); }

  static constexpr unsigned kDefault = 0x1F80;
  static constexpr unsigned kTold = kFloatInvalid | kFloatDivideByZero | kFloatOverflow | kFloatUnderflow;
  /// Subnormal operand and inexact result. A thread that has computed anything carries the latter, and a processor takes
  /// 100 ns to be given back a flag that was cleared: these stay.
  static constexpr unsigned kUntold = 2 | 32;
  const unsigned before_;
};

}  // namespace iruka
