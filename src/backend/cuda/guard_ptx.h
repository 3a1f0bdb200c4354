// The kernel language's fixed answers where PTX leaves them to the machine, put into the text NVRTC gives.
#pragma once

#include <string>
#include <string_view>

namespace iruka::cuda_backend {

/// `ptx` with these instructions guarded, each line by itself, in one pass:
/// - integer `div` and `rem` by zero give 0; a divisor that is a constant other than 0 is left alone. MIN / -1 needs no
///   guard: the machine's division works on magnitudes, which wraps to MIN with remainder 0, as the CPU's guard does;
/// - a remainder that shares its division with a quotient, r = x - q * y, likewise;
/// - a conversion of NaN to an integer gives 0 where PTX gives the top bit: from float64, and to 64 bits. PTX clamps
/// what
///   is out of range by itself;
/// - `trap` ends the thread and not the context.
/// It looks only at instructions that stand on a line of their own, as NVRTC writes them.
std::string guard_ptx(std::string_view ptx);

}  // namespace iruka::cuda_backend
