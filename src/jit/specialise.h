// Variants of a hot kernel: for integer arguments that stay the same in call after call, and the scalar path if it is
// faster than the lanes.
#pragma once

#include "jit/kernel_state.h"
#include "jit/report.h"

namespace iruka::jit {

/// The program of a call. It exists as long as the kernel.
struct Choice {
  const Program* program;
  const Variant* variant = nullptr;
  Trial::Measurement measurement = nullptr;  ///< not null: the call is measured and passed to note_trial()
};

/// The program for a call with `values` over `units`: the variant for them, or the generic one.
Choice choose_program(const Specialisation& specialisation, const IntegerValues& values, int64_t units);

/// The specialisation of a kernel for a signature, which is compiled or found on disk. Raises CompileError.
/// `cancelled`, unless null, ends the compiler.
Specialisation& make_specialisation(ElementwiseKernel::State& kernel, Device& device, const Signature& signature,
                                    std::shared_ptr<std::atomic<bool>> cancelled = nullptr);
/// Makes it in the background, unless the kernel does so already or its text does not compile.
void make_in_background(ElementwiseKernel::State& kernel, Device& device, const Signature& signature);

/// Adds `nanoseconds` of work done with `values`; once the same values were hot for long enough, a variant is compiled
/// in the background and used from then on. So is the scalar path, if the gain of lanes is uncertain.
void note_work(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
               const IntegerValues& values, double nanoseconds);

/// Ends a measured call of its variant's trial: if the trial has a winner, later calls run it.
void note_trial(const ElementwiseKernel::State& kernel, Specialisation& specialisation, const Choice& choice);

/// Ends compiling in the background, and compilers of other threads: see end_compilers_of_other_threads().
void end_compilation_on_other_threads();

/// What a trial has shown for calls with `values`.
MeasuredLanes measured_lanes(const Specialisation& specialisation, const IntegerValues& values);

}  // namespace iruka::jit
