// Variants of a hot kernel for integer arguments that stay the same call after call.
#pragma once

#include "jit/kernel_state.h"

namespace iruka::jit {

/// The program to run now: the variant for `values`, or the generic one. It lives as long as the kernel.
const Program& choose_program(const Specialisation& specialisation, const IntegerValues& values);

/// Adds `nanoseconds` of work done by the generic program with `values`; once the same values were hot for long enough,
/// a variant is compiled in the background and used from then on.
void note_work(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
               const IntegerValues& values, double nanoseconds);

}  // namespace iruka::jit
