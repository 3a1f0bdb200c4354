// Fourier transforms on the CPU. Three ways, by length:
//
// 1. direct: transforms side by side in the lanes of vectors (fft_lanes.h), on all threads. Real signals of an even
// length
//    are transformed as half as many complex numbers.
// 2. four_step, for lengths that leave the cache: the signal as a matrix of n1 rows and n2 columns; transforms of the
//    columns, powers of a root of unity, transforms of the rows, each side by side again.
// 3. Bluestein, for lengths with a large prime factor: a convolution with a chirp, by transforms of a better length.
#include "backend/cpu/fourier.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include "backend/cpu/fft_plan.h"
#include "backend/cpu/scratch.h"
#include "core/float_status.h"
#include "core/fork.h"
#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

/// Longer signals use four_step, because two buffers of eight lanes exceed the second-level cache.
constexpr int64_t kLongestDirect = 8192;
/// The fewest elements for which a further thread pays.
constexpr int64_t kGrain = 8192;

/// exp(-2 pi i k / n), accurate to the last place, because the angle is reduced to an octant first.
std::complex<double> root(int64_t k, int64_t n) {
  const int64_t eighths = 8 * (k % n);
  const int64_t octant = eighths / n;
  const double rest = static_cast<double>(eighths - octant * n) / static_cast<double>(n);  // of an octant, below 1
  const double angle = std::numbers::pi / 4 * (octant % 2 ? 1 - rest : rest);
  const double c = std::cos(angle), s = std::sin(angle);
  switch (octant) {
    case 0: return {c, -s};
    case 1: return {s, -c};
    case 2: return {-s, -c};
    case 3: return {-c, -s};
    case 4: return {-c, s};
    case 5: return {-s, c};
    case 6: return {s, c};
    default: return {c, s};
  }
}

/// Roots of one order, products of two tables' entries.
class Roots {
 public:
  explicit Roots(int64_t n) {
    while ((int64_t{1} << (2 * shift_)) < n) ++shift_;
    for (int64_t k = 0; k < int64_t{1} << shift_; ++k) fine_.push_back(root(k, n));
    for (int64_t k = 0; k << shift_ < n; ++k) coarse_.push_back(root(k << shift_, n));
  }
  /// 0 <= k < n
  std::complex<double> operator[](int64_t k) const {
    const std::complex<double> a = coarse_[static_cast<size_t>(k >> shift_)];
    const std::complex<double> b = fine_[static_cast<size_t>(k & ((int64_t{1} << shift_) - 1))];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  int shift_ = 0;
  std::vector<std::complex<double>> fine_, coarse_;
};

bool is_smooth(int64_t n) {
  for (int64_t p = 2; p <= kLargestRadix; ++p)
    while (n % p == 0) n /= p;
  return n == 1;
}

/// The least product of powers of 2, 3 and 5 that is at least n.
int64_t good_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t five = 1; five < 2 * n; five *= 5)
    for (int64_t three = five; three < 2 * n; three *= 3) {
      int64_t all = three;
      while (all < n) all *= 2;
      best = std::min(best, all);
    }
  return best;
}

/// A plan, its tables, and the roots that half spectra need.
template <class T>
struct Tables {
  FftPlan<T> plan;
  std::vector<std::vector<T>> storage;
  std::vector<T> real_roots;

  explicit Tables(int64_t n) {
    plan.length = n;
    int64_t rest = n, stride = 1;
    while (rest > 1) {
      const int64_t radix = next_radix(rest);
      rest /= radix;
      add_stage(radix, rest, stride);
      stride *= radix;
    }
    for (int64_t k = 0; k <= n; ++k) push(real_roots, root(k, 2 * n));
  }

 private:
  static int64_t next_radix(int64_t n) {
    for (int64_t p : {4, 2, 3, 5})
      if (n % p == 0) return p;
    int64_t p = 7;
    while (n % p != 0) p += 2;
    return p;
  }
  static void push(std::vector<T>& table, std::complex<double> value) {
    table.push_back(static_cast<T>(value.real()));
    table.push_back(static_cast<T>(value.imag()));
  }
  void add_stage(int64_t radix, int64_t count, int64_t stride) {
    std::vector<T> twiddles, roots;
    for (int64_t j = 0; j < count; ++j)
      for (int64_t r = 1; r < radix; ++r) push(twiddles, root(j * r, radix * count));
    for (int64_t r = 0; r < radix; ++r) push(roots, root(r, radix));
    storage.push_back(std::move(twiddles));
    const T* first = storage.back().data();
    storage.push_back(std::move(roots));
    plan.stage[plan.stages++] = {radix, count, stride, first, storage.back().data()};
  }
};

/// A cache of the objects for a few dozen lengths; one more displaces the shortest, which is the quickest to make.
template <class Made>
std::shared_ptr<const Made> cached(int64_t length) {
  constexpr size_t kMost = 64;
  static constinit ForkSafeMutex mutex;
  auto& kept = made_once([] { return std::map<int64_t, std::shared_ptr<const Made>>(); });
  {
    std::lock_guard lock(mutex);
    if (const auto found = kept.find(length); found != kept.end()) return found->second;
  }
  auto made = std::make_shared<const Made>(length);
  std::lock_guard lock(mutex);
  if (kept.size() >= kMost) kept.erase(kept.begin());
  return kept.emplace(length, std::move(made)).first->second;
}

/// Many transforms: lane b has its first element at b % inner * inner_step + b / inner * outer_step.
template <class T>
struct Side {
  const T* data;
  int64_t step, inner_step, outer_step, imaginary;

  FftSide<T> from(int64_t batch, int64_t inner) const {
    return {data + batch % inner * inner_step + batch / inner * outer_step, step, inner > 1 ? inner_step : outer_step,
            imaginary};
  }
};

template <class T>
struct Batch {
  FftForm form;
  bool inverse;
  int64_t outer, inner;
  Side<T> in, out;
  int64_t kept;
  double scale;
};

bool has_avx2() {
#if defined(__x86_64__)
  return made_once([] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); });
#else
  return false;
#endif
}

template <class T>
void run_lanes(const FftPlan<T>& plan, const FftLanes<T>& job, void* memory) {
#if defined(__x86_64__)
  if (has_avx2()) return avx2::run_fft(plan, job, memory);
#endif
  baseline::run_fft(plan, job, memory);
}

/// The factors between the steps of four_step.
template <class T>
struct Turns {
  Roots roots;                ///< element k of lane b: to the power k b
  std::vector<T> lane_turns;  ///< of lanes 0..7, for each k
};

template <class T>
void run_batch(const Tables<T>& tables, const Batch<T>& batch, const Turns<T>* turns = nullptr) {
  const int64_t width = kMostLanes * 4 / static_cast<int64_t>(sizeof(T)), n = tables.plan.length;
  const bool joins_rows = batch.inner == 1;
  const int64_t across = joins_rows ? batch.outer : batch.inner;
  const int64_t groups = (across + width - 1) / width, units = joins_rows ? groups : groups * batch.outer;
  const size_t bytes = static_cast<size_t>(2 * (n + 1) * 2 * width) * sizeof(T);
  parallel_for(units, std::max<int64_t>(1, kGrain / (n * width)), [&](int64_t begin, int64_t end) {
    void* const memory = scratch(bytes);
    std::vector<T> first(turns ? static_cast<size_t>(2 * n) : 0);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t at = unit % groups * width, lane = joins_rows ? at : unit / groups * batch.inner + at;
      FftLanes<T> job{batch.form,
                      batch.inverse,
                      static_cast<int>(std::min(width, across - at)),
                      batch.in.from(lane, batch.inner),
                      batch.out.from(lane, batch.inner),
                      batch.kept,
                      static_cast<T>(batch.scale),
                      tables.real_roots.data(),
                      nullptr,
                      nullptr};
      if (turns) {
        for (int64_t k = 0; k < n; ++k) {
          const std::complex<double> turn = turns->roots[k * at];
          first[static_cast<size_t>(2 * k)] = static_cast<T>(turn.real());
          first[static_cast<size_t>(2 * k + 1)] = static_cast<T>(turn.imag());
        }
        job.turns = first.data(), job.lane_turns = turns->lane_turns.data();
      }
      run_lanes(tables.plan, job, memory);
    }
  });
}

/// The largest divisor of n that is at most its square root.
int64_t balanced_divisor(int64_t n) {
  auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % divisor != 0) --divisor;
  return divisor;
}

/// One complex transform of a long signal, from and to any stride.
template <class T>
void four_step(int64_t n, bool inverse, const FftSide<T>& in, const FftSide<T>& out, double scale) {
  const int64_t n1 = balanced_divisor(n), n2 = n / n1;
  const auto columns = cached<Tables<T>>(n1), rows = cached<Tables<T>>(n2);
  Turns<T> turns{Roots(n), std::vector<T>(static_cast<size_t>(2 * kMostLanes * n1))};
  for (int64_t k = 0; k < n1; ++k)
    for (int l = 0; l < kMostLanes; ++l) {
      const std::complex<double> turn = root(k * l, n);
      turns.lane_turns[static_cast<size_t>(2 * kMostLanes * k + l)] = static_cast<T>(turn.real());
      turns.lane_turns[static_cast<size_t>(2 * kMostLanes * k + kMostLanes + l)] = static_cast<T>(turn.imag());
    }
  const std::unique_ptr<T[]> between(new T[static_cast<size_t>(2 * n)]);
  // The inverse is the forward transform with parts swapped: on the way in here, on the way out below.
  FftSide<T> swapped = in;
  if (inverse) swapped.data = in.data + in.imaginary, swapped.imaginary = -in.imaginary;
  run_batch<T>(*columns,
               {FftForm::plain,
                false,
                1,
                n2,
                {swapped.data, in.step * n2, in.step, 0, swapped.imaginary},
                {between.get(), 2 * n2, 2, 0, 1},
                n1,
                1.0},
               &turns);
  FftSide<T> target = out;
  if (inverse) target.data = out.data + out.imaginary, target.imaginary = -out.imaginary;
  run_batch<T>(*rows, {FftForm::plain,
                       false,
                       n1,
                       1,
                       {between.get(), 2, 0, 2 * n2, 1},
                       {target.data, out.step * n1, 0, out.step, target.imaginary},
                       n2,
                       scale});
}

template <class T>
void complex_rows(int64_t n, bool inverse, int64_t rows, const T* in, T* out, double scale);

/// A chirp exp(-pi i k^2 / n), and the transform of its conjugate, for the convolution.
template <class T>
struct Chirp {
  int64_t length;
  std::vector<T> chirp, spectrum;

  explicit Chirp(int64_t n) : length(good_length(2 * n - 1)), spectrum(static_cast<size_t>(2 * length)) {
    for (int64_t k = 0; k < n; ++k) {
      const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<uint64_t>(k) %
                                               static_cast<uint64_t>(2 * n));
      const std::complex<double> value = root(square, 2 * n);
      chirp.push_back(static_cast<T>(value.real()));
      chirp.push_back(static_cast<T>(value.imag()));
      for (int64_t at : {k, k == 0 ? int64_t{0} : length - k}) {
        spectrum[static_cast<size_t>(2 * at)] = static_cast<T>(value.real());
        spectrum[static_cast<size_t>(2 * at + 1)] = static_cast<T>(-value.imag());
      }
    }
    const std::vector<T> signal = spectrum;
    complex_rows<T>(length, false, 1, signal.data(), spectrum.data(), 1.0 / static_cast<double>(length));
  }
};

/// b = a c for complex numbers; the last factor may be conjugated.
template <class T>
void multiply(const T* a, const T* c, T* b, int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    const T re = a[2 * k] * c[2 * k] - a[2 * k + 1] * c[2 * k + 1];
    b[2 * k + 1] = a[2 * k] * c[2 * k + 1] + a[2 * k + 1] * c[2 * k];
    b[2 * k] = re;
  }
}

template <class T>
void swap_parts(T* values, int64_t count, double scale) {
  for (int64_t k = 0; k < count; ++k) {
    const T re = values[2 * k] * static_cast<T>(scale);
    values[2 * k] = values[2 * k + 1] * static_cast<T>(scale);
    values[2 * k + 1] = re;
  }
}

template <class T>
void bluestein(int64_t n, bool inverse, int64_t rows, const T* in, T* out, double scale) {
  const auto chirp = cached<Chirp<T>>(n);
  const int64_t m = chirp->length, together = std::clamp<int64_t>((1 << 20) / m, 1, rows);
  std::vector<T> padded(static_cast<size_t>(2 * m * together)), spectra(padded.size());
  for (int64_t row = 0; row < rows; row += together) {
    const int64_t count = std::min(together, rows - row);
    parallel_for(count, std::max<int64_t>(1, kGrain / m), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* const signal = padded.data() + 2 * m * r;
        std::copy_n(in + 2 * n * (row + r), 2 * n, signal);
        if (inverse) swap_parts(signal, n, 1);
        multiply(signal, chirp->chirp.data(), signal, n);
        std::fill(signal + 2 * n, signal + 2 * m, T(0));
      }
    });
    complex_rows(m, false, count, padded.data(), spectra.data(), 1.0);
    parallel_for(count, std::max<int64_t>(1, kGrain / m), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        multiply(&spectra[2 * m * r], chirp->spectrum.data(), &spectra[2 * m * r], m);
    });
    complex_rows(m, true, count, spectra.data(), padded.data(), 1.0);
    parallel_for(count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T* const target = out + 2 * n * (row + r);
        multiply(padded.data() + 2 * m * r, chirp->chirp.data(), target, n);
        if (inverse) swap_parts(target, n, scale);
        if (!inverse)
          for (int64_t k = 0; k < 2 * n; ++k) target[k] *= static_cast<T>(scale);
      }
    });
  }
}

/// Dense rows; `out` is not `in`.
template <class T>
void complex_rows(int64_t n, bool inverse, int64_t rows, const T* in, T* out, double scale) {
  if (!is_smooth(n)) return bluestein(n, inverse, rows, in, out, scale);
  if (n <= kLongestDirect)
    return run_batch<T>(*cached<Tables<T>>(n),
                        {FftForm::plain, inverse, rows, 1, {in, 2, 0, 2 * n, 1}, {out, 2, 0, 2 * n, 1}, n, scale});
  for (int64_t row = 0; row < rows; ++row)
    four_step<T>(n, inverse, {in + 2 * n * row, 2, 0, 1}, {out + 2 * n * row, 2, 0, 1}, scale);
}

/// Direct transforms of any kind along the middle axis.
template <class T>
void direct(const FourierTransform& job, double scale) {
  const int64_t n = job.length, half = n / 2, inner = job.inner, spectrum = half + 1;
  const auto *in = static_cast<const T*>(job.in), *out = static_cast<const T*>(job.out);
  const Side<T> whole_in{in, 2 * inner, 2, 2 * inner * n, 1}, whole_out{out, 2 * inner, 2, 2 * inner * n, 1};
  const Side<T> half_in{in, 2 * inner, 2, 2 * inner * spectrum, 1},
      half_out{out, 2 * inner, 2, 2 * inner * spectrum, 1};
  const Side<T> pairs_in{in, 2 * inner, 1, inner * n, inner}, pairs_out{out, 2 * inner, 1, inner * n, inner};
  const Side<T> real_in{in, inner, 1, inner * n, 0}, real_out{out, inner, 1, inner * n, 0};
  const bool even = n % 2 == 0;
  Batch<T> batch{FftForm::plain, !job.forward, job.outer, inner, whole_in, whole_out, n, scale};
  if (job.kind == FourierKind::real_to_complex) {
    batch.inverse = false, batch.out = half_out, batch.kept = spectrum;
    batch.in = even ? pairs_in : real_in;
    if (even) batch.form = FftForm::to_half_spectrum;
  } else if (job.kind == FourierKind::complex_to_real) {
    batch.inverse = true, batch.in = half_in, batch.out = even ? pairs_out : real_out, batch.kept = even ? half : n;
    batch.form = even ? FftForm::from_half_spectrum : FftForm::mirrored;
  }
  const bool halved = even && job.kind != FourierKind::complex;
  run_batch<T>(*cached<Tables<T>>(halved ? half : n), batch);
}

/// Half a spectrum of a real row from the transform z of its pairs.
template <class T>
void join_halves(const T* z, T* out, int64_t half, double scale) {
  const Roots roots(2 * half);
  parallel_for(half + 1, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t a = k == half ? 0 : k, b = k == 0 ? 0 : half - k;
      const std::complex<double> w = roots[k], x(z[2 * a], z[2 * a + 1]), y(z[2 * b], -z[2 * b + 1]);
      const std::complex<double> value = 0.5 * scale * ((x + y) + std::complex<double>(0, -1) * w * (x - y));
      out[2 * k] = static_cast<T>(value.real()), out[2 * k + 1] = static_cast<T>(value.imag());
    }
  });
}

template <class T>
void split_halves(const T* in, T* z, int64_t half) {
  const Roots roots(2 * half);
  parallel_for(half, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t b = half - k;
      const std::complex<double> w = std::conj(roots[k]);
      const std::complex<double> x(in[2 * k], k ? in[2 * k + 1] : T(0)), y(in[2 * b], k ? -in[2 * b + 1] : T(0));
      const std::complex<double> value = (x + y) + std::complex<double>(0, 1) * w * (x - y);
      z[2 * k] = static_cast<T>(value.real()), z[2 * k + 1] = static_cast<T>(value.imag());
    }
  });
}

/// Transforms by four_step or Bluestein, one row at a time.
template <class T>
void row_by_row(const FourierTransform& job, double scale) {
  const int64_t n = job.length, half = n / 2, rows = job.outer;
  const T* in = static_cast<const T*>(job.in);
  T* out = static_cast<T*>(job.out);
  if (job.kind == FourierKind::complex) return complex_rows(n, !job.forward, rows, in, out, scale);
  const bool even = n % 2 == 0, to_complex = job.kind == FourierKind::real_to_complex;
  std::vector<T> spectrum(static_cast<size_t>(even ? n : 2 * n)), signal(even ? 0 : spectrum.size());
  for (int64_t row = 0; row < rows; ++row) {
    const T* const from = in + row * (to_complex ? n : 2 * (half + 1));
    T* const to = out + row * (to_complex ? 2 * (half + 1) : n);
    if (even && to_complex) {
      complex_rows(half, false, 1, from, spectrum.data(), 1.0);
      join_halves(spectrum.data(), to, half, scale);
    } else if (even) {
      split_halves(from, spectrum.data(), half);
      complex_rows(half, true, 1, spectrum.data(), to, scale);
    } else if (to_complex) {
      for (int64_t k = 0; k < n; ++k) signal[2 * k] = from[k], signal[2 * k + 1] = 0;
      complex_rows(n, false, 1, signal.data(), spectrum.data(), scale);
      std::copy_n(spectrum.data(), 2 * (half + 1), to);
    } else {
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = k <= half ? k : n - k;
        signal[2 * k] = from[2 * at];
        signal[2 * k + 1] = k == 0 ? T(0) : k <= half ? from[2 * at + 1] : -from[2 * at + 1];
      }
      complex_rows(n, true, 1, signal.data(), spectrum.data(), scale);
      for (int64_t k = 0; k < n; ++k) to[k] = spectrum[2 * k];
    }
  }
}

bool is_direct(FourierKind kind, int64_t length) {
  const bool halved = length % 2 == 0 && kind != FourierKind::complex;
  const int64_t computed = halved ? length / 2 : length;
  return computed <= kLongestDirect && is_smooth(computed);
}

class CpuFourier final : public FourierLibrary {
 public:
  void transform(const FourierTransform& job, double scale) override {
    const FloatScope floats;
    const bool fits = is_direct(job.kind, job.length);
    if (job.is_double) return fits ? direct<double>(job, scale) : row_by_row<double>(job, scale);
    fits ? direct<float>(job, scale) : row_by_row<float>(job, scale);
  }
  bool scales() const override { return true; }
  bool prefers_columns(const FourierTransform& job) const override { return is_direct(job.kind, job.length); }
  int most_axes() const override { return 1; }
};

}  // namespace

FourierLibrary& fourier() {
  return made_once([] { return CpuFourier(); });
}

}  // namespace iruka::cpu_backend
