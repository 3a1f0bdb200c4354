#include "ops/elementwise/cast_text.h"

namespace iruka::ops {

std::string cast_text(Dtype from, Dtype to, const std::string& value) {
  if (from == to) return value;
  const std::string type = info(to).c_type;
  if (is_complex(from)) {
    const Dtype part = real_dtype(from);
    const std::string re = value + ".real()", im = value + ".imag()";
    if (to == Dtype::bool_) return "(" + re + " != 0 || " + im + " != 0)";
    if (!is_complex(to)) return cast_text(part, to, re);
    const Dtype to_part = real_dtype(to);
    return type + "(" + cast_text(part, to_part, re) + ", " + cast_text(part, to_part, im) + ")";
  }
  if (is_half(from)) return cast_text(Dtype::float32, to, "static_cast<float>(" + value + ")");
  if (to == Dtype::bool_) return "(" + value + " != 0)";
  if (is_complex(to)) return type + "(" + cast_text(from, real_dtype(to), value) + ", 0)";
  // A 32-bit integer is converted to 16 bits through double, which represents it exactly, so it is rounded once.
  if (is_half(to) && from != Dtype::float32 && from != Dtype::float64)
    return "static_cast<" + type + ">(static_cast<double>(" + value + "))";
  // The language's own cast does the same but for 8 and 16 bits on a GPU.
  if (kind(from) == Kind::floating && is_integer(to)) return "iruka::saturate<" + type + ">(" + value + ")";
  return "static_cast<" + type + ">(" + value + ")";
}

}  // namespace iruka::ops
