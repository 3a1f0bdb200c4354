#include "ops/reduce/reduction_text.h"

#include "ops/elementwise/cast_text.h"
#include "ops/reduce/kernel_texts.h"

namespace iruka::ops {
namespace {

}  // namespace

std::string computing_type(Dtype dtype) {
  return dtype == Dtype::bool_ ? "unsigned char" : info(computing_dtype(dtype)).c_type;
}

std::string start_text(Start start, Dtype accumulator) {
  if (start == Start::zero) return "A(0)";
  if (start == Start::one) return "A(1)";
  if (start == Start::ones) return accumulator == Dtype::bool_ ? "A(1)" : "A(~A(0))";
  const bool highest = start == Start::highest;
  const std::string infinity = start == Start::nan ? "NAN" : highest ? "INFINITY" : "-INFINITY";
  if (kind(accumulator) == Kind::complex) return "A(" + infinity + ", " + infinity + ")";
  if (kind(accumulator) == Kind::floating) return "A(" + infinity + ")";
  if (accumulator == Dtype::bool_) return highest ? "A(1)" : "A(0)";
  if (kind(accumulator) == Kind::unsigned_integer) return highest ? "A(~A(0))" : "A(0)";
  const std::string most = "A((1ull << (sizeof(A) * 8 - 1)) - 1)";
  return highest ? most : "A(-" + most + " - 1)";
}

std::string output_text(Dtype accumulator, Dtype output) {
  if (accumulator == Dtype::bool_ && output == Dtype::bool_) return "(value != 0)";
  return cast_text(computing_dtype(accumulator), output, "value");
}

std::string moments_text(Dtype accumulator) {
  const char* square = kind(accumulator) == Kind::complex ? "d.real() * d.real() + d.imag() * d.imag()" : "d * d";
  return std::string("using R = ") + info(real_dtype(accumulator)).c_type +
         ";\nstatic inline R square_of(A d) { return " + square + "; }\n" + kernels::moments;
}

std::string best_text(Start start) {
  std::string best = kernels::best;
  return best.replace(best.find("BEFORE"), 6, start == Start::highest ? "<" : ">");
}

}  // namespace iruka::ops
