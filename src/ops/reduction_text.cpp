#include "ops/reduction_text.h"

#include "ops/cast_text.h"

namespace iruka::ops {
namespace {

constexpr const char* kBest = R"(
struct Best {
  C value;
  long long index;
};
template <class V> static inline auto beats(V b, V a) { return (b BEFORE a) | ((b != b) & (a == a)); }
static inline bool ties(C a, C b) { return (a == b) | ((a != a) & (b != b)); }
static inline Best combine(Best a, Best b) {
  return beats(b.value, a.value) | (ties(b.value, a.value) & (b.index < a.index)) ? b : a;
}
static inline Best start_best() { return {start(), 0x7fffffffffffffffll}; }
)";

}  // namespace

std::string computing_type(Dtype dtype) {
  return dtype == Dtype::bool_ ? "unsigned char" : info(computing_dtype(dtype)).c_type;
}

std::string start_text(Start start, Dtype accumulator) {
  if (start == Start::zero) return "A(0)";
  if (start == Start::one) return "A(1)";
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

std::string best_text(Start start) {
  std::string best = kBest;
  return best.replace(best.find("BEFORE"), 6, start == Start::highest ? "<" : ">");
}

}  // namespace iruka::ops
