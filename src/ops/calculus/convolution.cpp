// Convolution and correlation of vectors, term by term.
#include "core/once.h"
#include "iruka/calculus.h"
#include "ops/checks.h"
#include "ops/functions.h"
#include "ops/kernel_text.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

const ElementwiseKernel& convolution_kernel() {
  return made_once([] {
    return ElementwiseKernel("raw const T x, raw const T y, int64 nx, int64 ny, int64 first", "raw T z",
                             "z[i] = convolve<T>(x, y, nx, ny, i + first);", "convolve",
                             {.preamble = header_text("calculus", "convolution", "calculus")});
  });
}

/// x is the longer vector.
Array convolved(const Array& x, const Array& y, ConvolutionMode mode) {
  if (x.dtype() == Dtype::bool_) return not_equal(convolved(x.astype(Dtype::int32), y.astype(Dtype::int32), mode), 0);
  const int64_t nx = x.size(), ny = y.size();
  int64_t first = 0, size = nx + ny - 1;
  if (mode == ConvolutionMode::same) first = (ny - 1) / 2, size = nx;
  if (mode == ConvolutionMode::valid) first = ny - 1, size = nx - ny + 1;
  const Array result = Array::empty({size}, x.dtype(), x.device());
  const auto typed = [](int64_t number) { return Argument(Scalar(number).typed(Dtype::int64)); };
  const Argument arguments[] = {x, y, typed(nx), typed(ny), typed(first), result};
  convolution_kernel().fill(arguments, {.size = size});
  return result;
}

/// Two vectors in their common dtype.
struct Vectors {
  Vectors(const Array& first, const Array& second) {
    check("a", first);
    check("v", second);
    const Dtype dtype = promote(first.dtype(), second.dtype());
    a = first.astype(dtype, false);
    v = second.astype(dtype, false);
  }
  static void check(const char* name, const Array& x) {
    check_one_axis(x);
    if (x.size() == 0) throw ValueError(std::string(name) + " cannot be empty");
  }

  Array a, v;
};

}  // namespace

ConvolutionMode parse_convolution_mode(const std::string& name) {
  if (name == "full") return ConvolutionMode::full;
  if (name == "same") return ConvolutionMode::same;
  if (name == "valid") return ConvolutionMode::valid;
  throw ValueError("mode must be one of 'valid', 'same', or 'full' (got '" + name + "')");
}

Array convolve(const Array& a, const Array& v, ConvolutionMode mode) {
  const Vectors both(with_axes_in_front(a, 1), with_axes_in_front(v, 1));
  return v.size() > a.size() ? convolved(both.v, both.a, mode) : convolved(both.a, both.v, mode);
}

Array correlate(const Array& a, const Array& v, ConvolutionMode mode) {
  Vectors both(a, v);
  both.v = conjugated(both.v);
  if (a.size() >= v.size()) return convolved(both.a, reversed(both.v, 0), mode);
  // The vectors change places and so does the direction; 'same' keeps the length of the longer one.
  return reversed(convolved(both.v, reversed(both.a, 0), mode), 0).copy();
}

}  // namespace iruka
