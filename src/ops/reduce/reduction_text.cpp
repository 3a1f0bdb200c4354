#include "ops/reduce/reduction_text.h"

#include "ops/elementwise/cast_text.h"

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

// Means count from a pivot, one of the elements: so they are small, and exact, whatever all elements have in common.
constexpr const char* kMoments = R"(
struct Moments {
  A pivot, mean;
  R squares;
  double n;
};
static inline Moments start_moments() { return {A(0), A(0), R(0), 0}; }
static inline Moments combine(Moments a, Moments b) {
  if (b.n == 0) return a;
  if (a.n == 0) return b;
  const double n = a.n + b.n, share = b.n / n;
  const A distance = (b.pivot - a.pivot) + (b.mean - a.mean);
  return {a.pivot, a.mean + distance * R(share), a.squares + b.squares + square_of(distance) * R(a.n * share), n};
}
)";

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
         ";\nstatic inline R square_of(A d) { return " + square + "; }\n" + kMoments;
}

std::string best_text(Start start) {
  std::string best = kBest;
  return best.replace(best.find("BEFORE"), 6, start == Start::highest ? "<" : ">");
}

}  // namespace iruka::ops
