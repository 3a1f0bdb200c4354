// Kernel-language text for conversions between dtypes, shared by every emitter of this folder.
#pragma once

#include <string>

#include "iruka/dtype.h"

namespace iruka::ops {

/// The type arithmetic is done in: float for float16 and bfloat16, else the dtype itself.
inline Dtype computing_dtype(Dtype dtype) {
  return dtype == Dtype::float16 || dtype == Dtype::bfloat16 ? Dtype::float32 : dtype;
}
inline bool is_half(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

/// `value`, an expression without side effects of type `from`, as `to`. To bool: whether nonzero. Complex to real:
/// the real part. Float to integer saturates and NaN gives 0, as everywhere in the kernel language.
std::string cast_text(Dtype from, Dtype to, const std::string& value);

}  // namespace iruka::ops
