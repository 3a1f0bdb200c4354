// Variants of a hot kernel for integer arguments that stay the same call after call.
#pragma once

#include <span>

#include "jit/kernel_state.h"

namespace iruka::jit {

/// The integer and bool scalars of a signature, cut out of an argument block one after another; "" when there are none.
std::string integer_values(const KernelText& kernel, const Signature& signature, std::span<const std::byte> block);

/// The program to run now: the variant for `values`, or the generic one. It lives as long as the kernel.
const Program& choose_program(Specialisation& specialisation, const std::string& values);

/// Adds `nanoseconds` of work done by the generic program with `values`; once the same values were hot for long enough,
/// a variant is compiled in the background and used from then on.
void note_work(ElementwiseKernel::State& kernel, Specialisation& specialisation, const Signature& signature,
               const std::string& values, double nanoseconds);

}  // namespace iruka::jit
