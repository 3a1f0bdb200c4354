// Kernel-language text for conversions between dtypes, shared by every emitter of this folder.
#pragma once

#include <string>

#include "iruka/dtype.h"

namespace iruka::ops {

inline bool is_half(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

/// The type arithmetic is done in: float for float16 and bfloat16, else the dtype itself.
inline Dtype computing_dtype(Dtype dtype) { return is_half(dtype) ? Dtype::float32 : dtype; }

/// The dtype in which a sum or product is accumulated: float64 for float32, float32 for 16-bit floats, 64-bit integers.
inline Dtype summing_dtype(Dtype dtype) {
  switch (kind(dtype)) {
    case Kind::floating: return is_half(dtype) ? Dtype::float32 : Dtype::float64;
    case Kind::complex: return Dtype::complex128;
    case Kind::unsigned_integer: return Dtype::uint64;
    default: return Dtype::int64;
  }
}

/// `value`, an expression without side effects of type `from`, as `to`. To bool: whether nonzero. Complex to real:
/// the real part. Float to integer saturates and NaN gives 0, as everywhere in the kernel language.
std::string cast_text(Dtype from, Dtype to, const std::string& value);

}  // namespace iruka::ops
