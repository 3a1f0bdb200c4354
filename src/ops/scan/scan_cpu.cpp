// Scans on the CPU. A unit of work is a block of the axis times a strip of neighbouring columns. If there are few
// units, every block is first folded, the folds are scanned, and the blocks then start from them. How an axis is cut
// depends on its shape alone, never on the number of threads.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "core/float_status.h"
#include "core/layout.h"
#include "core/parallel.h"
#include "ops/elementwise/cast_text.h"
#include "ops/scan/scan.h"

namespace iruka::ops {
namespace {

constexpr int64_t kStrip = 512;            ///< columns side by side
constexpr int64_t kBlock = 4096;           ///< elements of a block, all columns together
constexpr int64_t kEnoughUnits = 64;       ///< keep any number of threads busy
constexpr int64_t kLong = 65536;           ///< the fewest elements of a unit that is split
constexpr int64_t kGrainElements = 32768;  ///< the fewest elements of a thread
constexpr int kStreams = 4;                ///< blocks scanned at once, so that additions overlap

/// The axes but the scanned one: the innermost of them, and the rest.
struct ScanWalk {
  LoopLayout loop;
  int64_t n, x_stride, out_stride, width, x_step, out_step, outer;
  const char* x;
  char* out;

  explicit ScanWalk(const ScanCall& call)
      : loop(columns_of(call)),
        n(call.x.shape(call.axis)),
        x_stride(call.x.strides()[call.axis]),
        out_stride(call.result.strides()[call.axis]),
        width(loop.extent(loop.rank() - 1)),
        x_step(loop.stride(0, loop.rank() - 1)),
        out_step(loop.stride(1, loop.rank() - 1)),
        outer(loop.count() / width),
        x(static_cast<const char*>(call.x.data()) + loop.offset(0)),
        out(static_cast<char*>(call.result.data()) + loop.offset(1)) {
    // Columns are faster where they are neighbours in memory and the axis is not; otherwise each column is a row of its
    // own.
    if (std::abs(out_step) <= std::abs(out_stride) || n == 1) return;
    width_of_rows = width;
    outer *= width;
    width = 1;
  }

  /// Bytes from the first element to where outer position `place` begins.
  void locate(int64_t place, int64_t& x_offset, int64_t& out_offset) const {
    x_offset = out_offset = 0;
    if (width_of_rows > 0) {
      x_offset = place % width_of_rows * x_step;
      out_offset = place % width_of_rows * out_step;
      place /= width_of_rows;
    }
    for (int axis = loop.rank() - 2; axis >= 0; --axis) {
      const int64_t at = place % loop.extent(axis);
      place /= loop.extent(axis);
      x_offset += at * loop.stride(0, axis);
      out_offset += at * loop.stride(1, axis);
    }
  }

  int64_t width_of_rows = 0;  ///< the inner extent, where its columns are walked one by one
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

/// The initial value of an operation, which leaves the first element unchanged (-0.0 too), and its combination.
struct Add {
  template <class A>
  static A start() {
    if constexpr (is_complex<A>)
      return A(-0.0, -0.0);
    else
      return std::numeric_limits<A>::is_integer ? A(0) : A(-0.0);
  }
  /// Sums of integers wrap: this file is compiled with -fwrapv, beyond which Clang's sanitizer asks for the attribute.
  template <class A>
  __attribute__((no_sanitize("signed-integer-overflow"))) static A combine(A a, A b) {
    return a + b;
  }
};
struct Multiply {
  template <class A>
  static A start() {
    if constexpr (is_complex<A>)
      return A(1, -0.0);
    else
      return A(1);
  }
  /// A complex product with 1 would turn the other part of an infinity into NaN.
  template <class A>
  static bool is_start(A a) {
    return a.real() == 1 && a.imag() == 0 && std::signbit(a.imag());
  }
  template <class A>
  static A combine(A a, A b) {
    if constexpr (is_complex<A>)
      if (is_start(a) || is_start(b)) return is_start(a) ? b : a;
    if constexpr (is_complex<A>)  // as in NumPy, without C's special cases for infinities
      return A(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else if constexpr (std::is_integral_v<A>)
      return A(uint64_t(a) * uint64_t(b));  // wraps
    else
      return a * b;
  }
};
template <bool kLargest>
struct Extreme {
  template <class A>
  static A start() {
    using Limits = std::numeric_limits<A>;
    if constexpr (is_complex<A>) {
      const auto infinity = std::numeric_limits<typename A::value_type>::infinity();
      return kLargest ? A(-infinity, -infinity) : A(infinity, infinity);
    } else {
      if constexpr (Limits::has_infinity)
        return kLargest ? -Limits::infinity() : Limits::infinity();
      else
        return kLargest ? Limits::lowest() : Limits::max();
    }
  }
  template <class A>
  static A combine(A a, A b) {
    if constexpr (is_complex<A>) {
      if (a != a) return a;
      if (b != b) return b;
      const bool before = a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
      return before == kLargest ? b : a;
    } else {
      return (kLargest ? b > a : b < a) || b != b ? (a != a ? a : b) : a;
    }
  }
};

template <class In, class A, class Out, class Operation, bool kSkipsNan>
struct Scan {
  const ScanWalk& walk;
  int64_t strips = 1, blocks = 1, block = 1;
  std::vector<A> folds{};

  static A load(const char* p) {
    if constexpr (std::is_same_v<In, bool>) return *reinterpret_cast<const uint8_t*>(p) != 0;  // any byte but 0 is true
    const In x = *reinterpret_cast<const In*>(p);
    if constexpr (kSkipsNan)
      if (x != x) return Operation::template start<A>();
    return static_cast<A>(x);
  }
  static void store(char* p, A value) { *reinterpret_cast<Out*>(p) = static_cast<Out>(value); }
  static A combine(A a, A b) { return Operation::combine(a, b); }

  void run() {
    strips = (walk.width + kStrip - 1) / kStrip;
    const int64_t units = walk.outer * strips, strip = std::min(walk.width, kStrip);
    block = walk.n;
    if (units < kEnoughUnits && walk.n * strip > kLong) {
      block = std::max<int64_t>(kBlock / strip, 16);
      blocks = (walk.n + block - 1) / block;
    }
    if (blocks > 1) fold_blocks();
    const int64_t groups = walk.width == 1 ? (blocks + kStreams - 1) / kStreams : blocks;
    const int64_t elements = std::max<int64_t>(1, walk.n * strip / groups);
    parallel_for(units * groups, kGrainElements / elements, [&](int64_t begin, int64_t end) {
      if (walk.width == 1 && blocks == 1) return scan_rows(begin, end);
      for (int64_t unit = begin; unit < end; ++unit)
        walk.width == 1 ? scan_streams(unit / groups, unit % groups) : scan_strip(unit / groups, unit % groups);
    });
  }

  struct Place {
    const char* x;
    char* out;
    int64_t width;
    A* folds;
  };
  Place place_of(int64_t unit) {
    int64_t x_offset, out_offset;
    const int64_t column = unit % strips * kStrip;
    walk.locate(unit / strips, x_offset, out_offset);
    A* const own_folds = folds.empty() ? nullptr : folds.data() + (unit / strips * blocks * walk.width + column);
    return {walk.x + x_offset + column * walk.x_step, walk.out + out_offset + column * walk.out_step,
            std::min(walk.width - column, kStrip), own_folds};
  }

  void fold_blocks() {
    folds.assign(static_cast<size_t>(walk.outer * blocks * walk.width), Operation::template start<A>());
    // Fold k is the start of block k + 1, so the last block's fold is not needed.
    parallel_for(walk.outer * strips * (blocks - 1), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const Place place = place_of(k / (blocks - 1));
        const int64_t b = k % (blocks - 1);
        fold(place.x + b * block * walk.x_stride, place.width, place.folds + (b + 1) * walk.width);
      }
    });
    for (int64_t outer = 0; outer < walk.outer; ++outer) {
      A* row = folds.data() + outer * blocks * walk.width;
      for (int64_t k = walk.width; k < blocks * walk.width; ++k) row[k] = combine(row[k - walk.width], row[k]);
    }
  }

  void fold(const char* x, int64_t width, A* sums) {
    if (width == 1) {
      A lane[kStreams];
      std::fill(lane, lane + kStreams, Operation::template start<A>());
      int64_t k = 0;
      for (; k + kStreams <= block; k += kStreams)
        for (int l = 0; l < kStreams; ++l) lane[l] = combine(lane[l], load(x + (k + l) * walk.x_stride));
      for (; k < block; ++k) lane[0] = combine(lane[0], load(x + k * walk.x_stride));
      *sums = combine(combine(lane[0], lane[1]), combine(lane[2], lane[3]));
      return;
    }
    for (int64_t k = 0; k < block; ++k, x += walk.x_stride)
      for (int64_t j = 0; j < width; ++j) sums[j] = combine(sums[j], load(x + j * walk.x_step));
  }

  void scan_strip(int64_t unit, int64_t b) {
    const Place place = place_of(unit);
    A sums[kStrip];
    if (blocks > 1)
      std::copy_n(place.folds + b * walk.width, place.width, sums);
    else
      std::fill_n(sums, place.width, Operation::template start<A>());
    const char* x = place.x + b * block * walk.x_stride;
    char* out = place.out + b * block * walk.out_stride;
    const bool dense = walk.x_step == sizeof(In) && walk.out_step == sizeof(Out);
    for (int64_t k = std::min(block, walk.n - b * block); k > 0; --k, x += walk.x_stride, out += walk.out_stride) {
      if (dense)
        step(x, out, place.width, sizeof(In), sizeof(Out), sums);
      else
        step(x, out, place.width, walk.x_step, walk.out_step, sums);
    }
  }
  static inline __attribute__((always_inline)) void step(const char* __restrict x, char* __restrict out, int64_t width,
                                                         int64_t x_step, int64_t out_step, A* __restrict sums) {
    for (int64_t j = 0; j < width; ++j) {
      sums[j] = combine(sums[j], load(x + j * x_step));
      store(out + j * out_step, sums[j]);
    }
  }

  /// Several sequences of `n` elements at once, from given starts.
  template <int kCount>
  void scan_together(const char* const* x, char* const* out, int64_t n, A* sums) {
    if (walk.x_stride == sizeof(In) && walk.out_stride == sizeof(Out))
      together<kCount>(x, out, n, sizeof(In), sizeof(Out), sums);
    else
      together<kCount>(x, out, n, walk.x_stride, walk.out_stride, sums);
  }
  template <int kCount>
  static inline __attribute__((always_inline)) void together(const char* const* x, char* const* out, int64_t n,
                                                             int64_t x_stride, int64_t out_stride, A* starts) {
    A sums[kCount];
    const char* from[kCount];
    char* to[kCount];
    for (int s = 0; s < kCount; ++s) sums[s] = starts[s], from[s] = x[s], to[s] = out[s];
    for (int64_t k = 0; k < n; ++k)
#pragma GCC unroll 4
      for (int s = 0; s < kCount; ++s) {
        sums[s] = combine(sums[s], load(from[s] + k * x_stride));
        store(to[s] + k * out_stride, sums[s]);
      }
  }

  void scan_streams(int64_t unit, int64_t group) {
    const Place place = place_of(unit);
    const char* x[kStreams];
    char* out[kStreams];
    A sums[kStreams];
    const int64_t first = group * kStreams, last = std::min(blocks, first + kStreams);
    for (int64_t b = first; b < last; ++b) {
      x[b - first] = place.x + b * block * walk.x_stride;
      out[b - first] = place.out + b * block * walk.out_stride;
      sums[b - first] = place.folds[b];
    }
    if (last == first + kStreams && last * block <= walk.n) return scan_together<kStreams>(x, out, block, sums);
    for (int64_t b = first; b < last; ++b)
      scan_together<1>(x + b - first, out + b - first, std::min(block, walk.n - b * block), sums + b - first);
  }

  void scan_rows(int64_t begin, int64_t end) {
    const char* x[kStreams];
    char* out[kStreams];
    for (int64_t row = begin; row < end;) {
      const int count = end - row >= kStreams ? kStreams : 1;
      A sums[kStreams];
      for (int s = 0; s < count; ++s) {
        const Place place = place_of(row + s);
        x[s] = place.x, out[s] = place.out, sums[s] = Operation::template start<A>();
      }
      count == kStreams ? scan_together<kStreams>(x, out, walk.n, sums) : scan_together<1>(x, out, walk.n, sums);
      row += count;
    }
  }
};

template <class In, class A, class Out, class Operation>
void run(const ScanWalk& walk, bool skips_nan) {
  if constexpr (!std::numeric_limits<In>::is_integer) {
    if (skips_nan) return Scan<In, A, Out, Operation, true>{walk}.run();
  }
  Scan<In, A, Out, Operation, false>{walk}.run();
}

/// Sums and products: integers in 64 bits, floats in float64.
template <class In, class A, class Out = A>
void run_sum(const ScanWalk& walk, const ScanCall& call) {
  call.operation == ScanOperation::add ? run<In, A, Out, Add>(walk, call.skips_nan)
                                       : run<In, A, Out, Multiply>(walk, call.skips_nan);
}
template <class T>
void run_extreme(const ScanWalk& walk, const ScanCall& call) {
  call.operation == ScanOperation::minimum ? run<T, T, T, Extreme<false>>(walk, call.skips_nan)
                                           : run<T, T, T, Extreme<true>>(walk, call.skips_nan);
}

bool is_sum(const ScanCall& call) {
  return call.operation == ScanOperation::add || call.operation == ScanOperation::multiply;
}

template <class In, class A, class Out = A>
void run_any(const ScanWalk& walk, const ScanCall& call) {
  is_sum(call) ? run_sum<In, A, Out>(walk, call) : run_extreme<In>(walk, call);
}

}  // namespace

void scan_cpu(const ScanCall& call) {
  if (is_half(call.x.dtype())) {
    const Array wide = Array::empty(call.x.shape(), Dtype::float32, call.x.device());
    scan_cpu({call.x.astype(Dtype::float32), wide, call.operation, call.axis, call.skips_nan});
    return Array(call.result).assign(wide);
  }
  const FloatScope floats;  // folds are combined between the loops
  const ScanWalk walk(call);
  switch (call.x.dtype()) {
    case Dtype::bool_: return is_sum(call) ? run_sum<bool, int64_t>(walk, call) : run_extreme<uint8_t>(walk, call);
    case Dtype::int8: return run_any<int8_t, int64_t>(walk, call);
    case Dtype::int16: return run_any<int16_t, int64_t>(walk, call);
    case Dtype::int32: return run_any<int32_t, int64_t>(walk, call);
    case Dtype::int64: return run_any<int64_t, int64_t>(walk, call);
    case Dtype::uint8: return run_any<uint8_t, uint64_t>(walk, call);
    case Dtype::uint16: return run_any<uint16_t, uint64_t>(walk, call);
    case Dtype::uint32: return run_any<uint32_t, uint64_t>(walk, call);
    case Dtype::uint64: return run_any<uint64_t, uint64_t>(walk, call);
    case Dtype::float32: return run_any<float, double, float>(walk, call);
    case Dtype::float64: return run_any<double, double>(walk, call);
    case Dtype::complex64: return run_any<std::complex<float>, std::complex<double>, std::complex<float>>(walk, call);
    case Dtype::complex128: return run_any<std::complex<double>, std::complex<double>>(walk, call);
    default: throw TypeError(std::string("scan: no loop for ") + name(call.x.dtype()));
  }
}

}  // namespace iruka::ops
