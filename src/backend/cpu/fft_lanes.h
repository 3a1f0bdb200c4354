// Transforms of one length side by side: each lane of a vector computes one transform. Included by a source file for
// each instruction set, within a namespace of its own; so it uses no function of the standard library.  Stockham's
// algorithm: a stage of radix p takes element q + s (j + m r) of one buffer, r = 0..p-1, and writes the p-point
// transform, times powers of a root of unity, to q + s (p j + r) of the other. The result needs no reordering.
#include "backend/cpu/fft_plan.h"

namespace iruka::cpu_backend::IRUKA_FFT_TARGET {
namespace {

template <class V>
struct Pair {
  V re, im;
};
template <class V>
inline Pair<V> operator+(const Pair<V>& a, const Pair<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
inline Pair<V> operator-(const Pair<V>& a, const Pair<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class T>
inline Pair<V> times(const Pair<V>& a, T re, T im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
/// a times -i
template <class V>
inline Pair<V> turned(const Pair<V>& a) {
  return {a.im, -a.re};
}

template <class T, class V>
inline void butterfly(Pair<V> (&a)[2]) {
  const Pair<V> sum = a[0] + a[1];
  a[1] = a[0] - a[1];
  a[0] = sum;
}

template <class T, class V>
inline void butterfly(Pair<V> (&a)[3]) {
  constexpr T kCos = T(-0.5L), kSin = T(0.866025403784438646763723170752936183L);
  const Pair<V> sum = a[1] + a[2], difference = turned(a[1] - a[2]);
  const Pair<V> middle = {a[0].re + sum.re * kCos, a[0].im + sum.im * kCos};
  const Pair<V> side = {difference.re * kSin, difference.im * kSin};
  a[0] = a[0] + sum;
  a[1] = middle + side;
  a[2] = middle - side;
}

template <class T, class V>
inline void butterfly(Pair<V> (&a)[4]) {
  const Pair<V> s = a[0] + a[2], d = a[0] - a[2], t = a[1] + a[3], e = turned(a[1] - a[3]);
  a[0] = s + t;
  a[1] = d + e;
  a[2] = s - t;
  a[3] = d - e;
}

template <class T, class V>
inline void butterfly(Pair<V> (&a)[5]) {
  constexpr T kCos1 = T(0.309016994374947424102293417182819059L), kSin1 = T(0.951056516295153572116439333379382143L);
  constexpr T kCos2 = T(-0.809016994374947424102293417182819059L), kSin2 = T(0.587785252292473129168705954639072769L);
  const Pair<V> s1 = a[1] + a[4], d1 = turned(a[1] - a[4]), s2 = a[2] + a[3], d2 = turned(a[2] - a[3]);
  const Pair<V> m1 = {a[0].re + s1.re * kCos1 + s2.re * kCos2, a[0].im + s1.im * kCos1 + s2.im * kCos2};
  const Pair<V> m2 = {a[0].re + s1.re * kCos2 + s2.re * kCos1, a[0].im + s1.im * kCos2 + s2.im * kCos1};
  const Pair<V> n1 = {d1.re * kSin1 + d2.re * kSin2, d1.im * kSin1 + d2.im * kSin2};
  const Pair<V> n2 = {d1.re * kSin2 - d2.re * kSin1, d1.im * kSin2 - d2.im * kSin1};
  a[0] = a[0] + s1 + s2;
  a[1] = m1 + n1;
  a[2] = m2 + n2;
  a[3] = m2 - n2;
  a[4] = m1 - n1;
}

template <int P, class T, class V>
void run_stage(const FftStage<T>& stage, const Pair<V>* x, Pair<V>* y) {
  const int64_t s = stage.stride, m = stage.count;
  for (int64_t j = 0; j < m; ++j) {
    const T* w = stage.twiddles + j * (P - 1) * 2;
    for (int64_t q = 0; q < s; ++q) {
      Pair<V> a[P];
      for (int r = 0; r < P; ++r) a[r] = x[q + s * (j + m * r)];
      butterfly<T>(a);
      Pair<V>* const to = y + q + s * P * j;
      to[0] = a[0];
      for (int r = 1; r < P; ++r) to[s * r] = times(a[r], w[2 * r - 2], w[2 * r - 1]);
    }
  }
}

/// Any odd radix up to kLargestRadix.
template <class T, class V>
void run_odd_stage(const FftStage<T>& stage, const Pair<V>* x, Pair<V>* y) {
  const int64_t s = stage.stride, m = stage.count, p = stage.radix, half = p / 2;
  Pair<V> sums[kLargestRadix / 2 + 1], differences[kLargestRadix / 2 + 1];
  for (int64_t j = 0; j < m; ++j) {
    const T* w = stage.twiddles + j * (p - 1) * 2;
    for (int64_t q = 0; q < s; ++q) {
      const Pair<V> first = x[q + s * j];
      Pair<V> total = first;
      for (int64_t r = 1; r <= half; ++r) {
        const Pair<V> a = x[q + s * (j + m * r)], b = x[q + s * (j + m * (p - r))];
        sums[r] = a + b;
        differences[r] = turned(a - b);
        total = total + sums[r];
      }
      Pair<V>* const to = y + q + s * p * j;
      to[0] = total;
      for (int64_t k = 1; k <= half; ++k) {
        Pair<V> even = first, odd = {first.re - first.re, first.im - first.im};
        for (int64_t r = 1, at = k; r <= half; ++r, at = at + k < p ? at + k : at + k - p) {
          const T cosine = stage.roots[2 * at], sine = -stage.roots[2 * at + 1];
          even.re += sums[r].re * cosine, even.im += sums[r].im * cosine;
          odd.re += differences[r].re * sine, odd.im += differences[r].im * sine;
        }
        to[s * k] = times(even + odd, w[2 * k - 2], w[2 * k - 1]);
        to[s * (p - k)] = times(even - odd, w[2 * (p - k) - 2], w[2 * (p - k) - 1]);
      }
    }
  }
}

/// Runs all stages; returns the buffer with the result.
template <class T, class V>
Pair<V>* run_stages(const FftPlan<T>& plan, Pair<V>* x, Pair<V>* y) {
  for (int k = 0; k < plan.stages; ++k) {
    const FftStage<T>& stage = plan.stage[k];
    switch (stage.radix) {
      case 2: run_stage<2>(stage, x, y); break;
      case 3: run_stage<3>(stage, x, y); break;
      case 4: run_stage<4>(stage, x, y); break;
      case 5: run_stage<5>(stage, x, y); break;
      default: run_odd_stage(stage, x, y);
    }
    Pair<V>* const swap = x;
    x = y, y = swap;
  }
  return x;
}

template <class V, class T>
inline void set_lane(V& value, int lane, T element) {
  if constexpr (sizeof(V) == sizeof(T)) {
    value = element;
  } else {
    value[lane] = element;
  }
}
template <class T, class V>
inline T get_lane(const V& value, int lane) {
  if constexpr (sizeof(V) == sizeof(T)) {
    return value;
  } else {
    return value[lane];
  }
}

/// Real and imaginary part of element `index` in all lanes; unused lanes read the first lane's value.
template <int W, class T, class V>
inline Pair<V> load(const FftSide<T>& side, int64_t index, int lanes) {
  Pair<V> value;
  const T* const p = side.data + index * side.step;
  if (lanes == W && side.lane == 2 && side.imaginary == 1) {  // constants let the compiler shuffle whole vectors
    for (int l = 0; l < W; ++l) set_lane(value.re, l, p[2 * l]), set_lane(value.im, l, p[2 * l + 1]);
    return value;
  }
  if (lanes == W) {
    for (int l = 0; l < W; ++l) set_lane(value.re, l, p[l * side.lane]);
    for (int l = 0; l < W; ++l) set_lane(value.im, l, side.imaginary ? p[l * side.lane + side.imaginary] : T(0));
    return value;
  }
  for (int l = 0; l < W; ++l) {
    const int64_t lane = l < lanes ? l * side.lane : 0;
    set_lane(value.re, l, p[lane]);
    set_lane(value.im, l, side.imaginary ? p[lane + side.imaginary] : T(0));
  }
  return value;
}

template <int W, class T, class V>
inline void store(const FftSide<T>& side, int64_t index, int lanes, Pair<V> value) {
  T* const p = const_cast<T*>(side.data) + index * side.step;
  if (lanes == W && side.lane == 2 && side.imaginary == 1) {
    for (int l = 0; l < W; ++l) p[2 * l] = get_lane<T>(value.re, l), p[2 * l + 1] = get_lane<T>(value.im, l);
    return;
  }
  for (int l = 0; l < (lanes == W ? W : lanes); ++l) {
    p[l * side.lane] = get_lane<T>(value.re, l);
    if (side.imaginary) p[l * side.lane + side.imaginary] = get_lane<T>(value.im, l);
  }
}

/// Computes half a spectrum from the transform of even elements as real and odd ones as imaginary parts.
template <int W, class T, class V>
void store_half_spectrum(const FftLanes<T>& job, const Pair<V>* z, int64_t half) {
  for (int64_t k = 0; k <= half; ++k) {
    const Pair<V> a = z[k == half ? 0 : k], c = z[k == 0 ? 0 : half - k], b = {c.re, -c.im};
    const Pair<V> even = a + b, odd = times(turned(a - b), job.real_roots[2 * k], job.real_roots[2 * k + 1]);
    const T scale = job.scale * T(0.5);
    store<W>(job.out, k, job.lanes, Pair<V>{(even.re + odd.re) * scale, (even.im + odd.im) * scale});
  }
}

/// The inverse of the step above; swapping the parts makes the transform an inverse one.
template <int W, class T, class V>
void load_half_spectrum(const FftLanes<T>& job, Pair<V>* z, int64_t half) {
  for (int64_t k = 0; k < half; ++k) {
    Pair<V> a = load<W, T, V>(job.in, k, job.lanes), c = load<W, T, V>(job.in, half - k, job.lanes);
    if (k == 0) a.im = V{}, c.im = V{};  // these imaginary parts are 0 for real signals
    const Pair<V> b = {c.re, -c.im};
    const Pair<V> even = a + b, odd = times(a - b, job.real_roots[2 * k], -job.real_roots[2 * k + 1]);
    z[k] = {even.im + odd.re, even.re - odd.im};  // even + i odd, swapped
  }
}

template <class T, class V>
void run_lanes(const FftPlan<T>& plan, const FftLanes<T>& job, void* memory) {
  constexpr int W = static_cast<int>(sizeof(V) / sizeof(T));  // NOLINT(bugprone-sizeof-expression): V may be T
  const int64_t n = plan.length;
  auto* const x = static_cast<Pair<V>*>(memory);
  Pair<V>* const y = x + n + 1;
  if (job.form == FftForm::from_half_spectrum) {
    load_half_spectrum<W>(job, x, n);
  } else {
    for (int64_t k = 0; k < n; ++k) {
      const bool is_mirrored = job.form == FftForm::mirrored && k > n / 2;
      Pair<V> value = load<W, T, V>(job.in, is_mirrored ? n - k : k, job.lanes);
      if (is_mirrored) value.im = -value.im;
      if (job.form == FftForm::mirrored && k == 0) value.im = V{};
      x[k] = job.inverse ? Pair<V>{value.im, value.re} : value;
    }
  }
  const Pair<V>* const z = run_stages(plan, x, y);
  if (job.form == FftForm::to_half_spectrum) return store_half_spectrum<W>(job, z, n);
  for (int64_t k = 0; k < job.kept; ++k) {
    Pair<V> value = {z[k].re * job.scale, z[k].im * job.scale};
    if (job.turns) {  // four-step: times root^(k * lane)
      const T *base = job.turns + 2 * k, *lanes = job.lane_turns + 2 * kMostLanes * k;
      Pair<V> turn;
      for (int l = 0; l < W; ++l) set_lane(turn.re, l, lanes[l]), set_lane(turn.im, l, lanes[kMostLanes + l]);
      turn = times(turn, base[0], base[1]);
      value = {value.re * turn.re - value.im * turn.im, value.re * turn.im + value.im * turn.re};
    }
    store<W>(job.out, k, job.lanes, job.inverse ? Pair<V>{value.im, value.re} : value);
  }
}

}  // namespace

// NOLINTBEGIN(misc-definitions-in-headers): one source file of each namespace includes this one
void run_fft(const FftPlan<float>& plan, const FftLanes<float>& job, void* memory) {
  job.lanes > 2 ? run_lanes<float, FftVector<float>>(plan, job, memory)
                : run_each(run_lanes<float, float>, plan, job, memory);
}
void run_fft(const FftPlan<double>& plan, const FftLanes<double>& job, void* memory) {
  job.lanes > 1 ? run_lanes<double, FftVector<double>>(plan, job, memory)
                : run_each(run_lanes<double, double>, plan, job, memory);
}
// NOLINTEND(misc-definitions-in-headers)

}  // namespace iruka::cpu_backend::IRUKA_FFT_TARGET
