// Linear algebra on the CPU: calls of OpenBLAS, many small matrices side by side on the pool's threads.
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "backend/cpu/openblas.h"
#include "core/once.h"
#include "core/parallel.h"
#include "iruka/error.h"

namespace iruka::cpu_backend {
namespace {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

template <class F>
void with_type(Dtype dtype, F&& function) {
  switch (dtype) {
    case Dtype::float32: return function(float());
    case Dtype::float64: return function(double());
    case Dtype::complex64: return function(std::complex<float>());
    case Dtype::complex128: return function(std::complex<double>());
    default: throw TypeError(std::string("linear algebra does not support ") + name(dtype));
  }
}

/// Converts an extent to OpenBLAS's integer type.
int32_t narrow(int64_t extent) {
  if (extent > INT32_MAX) throw ValueError("linear algebra: extents must be below 2^31, not " + std::to_string(extent));
  return static_cast<int32_t>(extent);
}

/// OpenBLAS uses one thread below this number of multiplications; a batch of such matrices is divided between threads.
constexpr int64_t kOneThread = 1 << 18;
/// The fewest multiplications for which a further thread pays.
constexpr int64_t kGrain = 1 << 14;

/// Calls `body(first, last)` for ranges of a batch of matrices that cost `work` multiplications each. Ctrl-C is handled
/// between matrices, because a call of LAPACK cannot be interrupted.
template <class Body>
void for_matrices(int64_t batch, int64_t work, Body&& body) {
  if (batch == 1 || work > kOneThread) {
    const FloatScope floats;
    for (int64_t k = 0; k < batch && (k == 0 || !should_stop()); ++k) body(k, k + 1);
    return throw_if_stopped();
  }
  parallel_for(batch, std::max<int64_t>(1, kGrain / std::max<int64_t>(work, 1)), body);
}

/// LAPACK returns the size of the workspace it needs when called with length -1.
template <class T, class Call>
std::vector<T> workspace(Call&& call) {
  T size{};
  call(&size, -1);
  return std::vector<T>(
      static_cast<size_t>(std::max<double>(1, std::real(size) * (sizeof(Real<T>) == 4 ? 1.0001 : 1))));
}

/// Products with fewer multiplications are computed here, because a call of OpenBLAS costs more.
constexpr int64_t kSmallProduct = 1 << 9;
constexpr int64_t kMostSmallRows = 8;

/// The offset of an operand's element (row, column).
template <class T>
struct Elements {
  const T* first;
  int64_t row, column;
  Elements(const MatrixOperand& x, int64_t matrix)
      : first(static_cast<const T*>(x.data) + matrix * x.batch_stride),
        row(x.transpose == Transpose::no ? 1 : x.leading),
        column(x.transpose == Transpose::no ? x.leading : 1) {}
  const T& at(int64_t i, int64_t j) const { return first[i * row + j * column]; }
};

/// c = a b for a few rows; `fixed_m`, unless 0, is their number as a compile-time constant.
template <int64_t fixed_m, class T>
void multiply_small(const MatrixProduct& p, const Elements<T>& a, const Elements<T>& b, T* c) {
  const int64_t m = fixed_m ? fixed_m : p.m;
  for (int64_t j = 0; j < p.n; ++j) {
    T sums[kMostSmallRows] = {};
    for (int64_t l = 0; l < p.k; ++l) {
      const T factor = b.at(l, j);
      if (a.row == 1) {
        const T* const column = &a.at(0, l);
        for (int64_t i = 0; i < m; ++i) sums[i] += column[i] * factor;
      } else {
        for (int64_t i = 0; i < m; ++i) sums[i] += a.at(i, l) * factor;
      }
    }
    for (int64_t i = 0; i < m; ++i) c[j * m + i] = sums[i];
  }
}

template <class T>
bool is_small(const MatrixProduct& p) {
  const bool turns = p.a.transpose == Transpose::conjugate || p.b.transpose == Transpose::conjugate;
  return p.batch > 1 && !turns && !kIsComplex<T> && p.m <= kMostSmallRows && p.m * p.n * p.k <= kSmallProduct;
}

template <class T>
void multiply_small(const MatrixProduct& p, int64_t matrix) {
  const Elements<T> a(p.a, matrix), b(p.b, matrix);
  T* const c = static_cast<T*>(p.c) + matrix * p.m * p.n;
  switch (p.m) {
    case 2: return multiply_small<2>(p, a, b, c);
    case 3: return multiply_small<3>(p, a, b, c);
    case 4: return multiply_small<4>(p, a, b, c);
    case 8: return multiply_small<8>(p, a, b, c);
    default: return multiply_small<0>(p, a, b, c);
  }
}

/// Whether every b is the transpose of its a, so that the product is symmetric and half of it suffices.
bool is_symmetric(const MatrixProduct& p) {
  const auto is_turned = [](const MatrixOperand& x) { return x.transpose == Transpose::yes; };
  return p.a.data == p.b.data && p.a.leading == p.b.leading && (p.batch == 1 || p.a.batch_stride == p.b.batch_stride) &&
         p.m == p.n && p.m > 1 && p.k > 1 && is_turned(p.a) != is_turned(p.b) &&
         p.a.transpose != Transpose::conjugate && p.b.transpose != Transpose::conjugate;
}

template <class T>
void multiply_symmetric(const Blas<T>& f, const MatrixProduct& p, const T* a, T* c) {
  const int32_t n = narrow(p.n), k = narrow(p.k), lda = narrow(p.a.leading);
  const T alpha(1), beta(0);
  const char triangle = 'U', turned = static_cast<char>(p.a.transpose);
  f.syrk(&triangle, &turned, &n, &k, &alpha, a, &lda, &beta, c, &n);
  constexpr int64_t kTile = 32;  // so that no cache line of either triangle is loaded twice
  for (int64_t column = 0; column < p.n; column += kTile)
    for (int64_t row = 0; row <= column; row += kTile)
      for (int64_t j = column; j < std::min(p.n, column + kTile); ++j)
        for (int64_t i = row; i < std::min(j, row + kTile); ++i) c[i * p.n + j] = c[j * p.n + i];
}

template <class T>
void multiply_one(const Blas<T>& f, const MatrixProduct& p, const T* a, const T* b, T* c) {
  const int32_t m = narrow(p.m), n = narrow(p.n), k = narrow(p.k), one = 1;
  const int32_t lda = narrow(p.a.leading), ldb = narrow(p.b.leading);
  const T alpha(1), beta(0);
  const char ta = static_cast<char>(p.a.transpose), tb = static_cast<char>(p.b.transpose);
  if (is_symmetric(p)) return multiply_symmetric(f, p, a, c);
  if constexpr (!kIsComplex<T>) {
    if (m == 1 && n == 1) {  // gemv's threads would wait longer than they compute
      c[0] = f.dot(&k, a, ta == 'N' ? &lda : &one, b, tb == 'N' ? &one : &ldb);
      return;
    }
  }
  if (n == 1 && tb != 'C') {  // y = op(a) x
    const int32_t rows = ta == 'N' ? m : k, columns = ta == 'N' ? k : m;
    f.gemv(&ta, &rows, &columns, &alpha, a, &lda, b, tb == 'N' ? &one : &ldb, &beta, c, &one);
  } else if (m == 1 && ta != 'C' && tb != 'C') {  // the transposed product
    const char turned = tb == 'N' ? 'T' : 'N';
    const int32_t rows = tb == 'N' ? k : n, columns = tb == 'N' ? n : k;
    f.gemv(&turned, &rows, &columns, &alpha, b, &ldb, a, ta == 'N' ? &lda : &one, &beta, c, &one);
  } else {
    // The product is computed in groups of columns that take a fraction of a second, so that Ctrl-C is handled in
    // between.
    constexpr int64_t kMostWork = int64_t{1} << 33;
    const int64_t most = std::max<int64_t>(64, kMostWork / (p.m * p.k));
    const int64_t step = tb == 'N' ? p.b.leading : 1;
    for (int64_t column = 0; column < p.n && (column == 0 || !should_stop()); column += most) {
      const auto columns = static_cast<int32_t>(std::min(most, p.n - column));
      f.gemm(&ta, &tb, &m, &columns, &k, &alpha, a, &lda, b + column * step, &ldb, &beta, c + column * p.m, &m);
    }
  }
}

template <class T>
void eigh_of(bool vectors, bool lower, int64_t n64, int64_t batch, T* a, Real<T>* values, int32_t* info) {
  const Blas<T>& f = blas<T>();
  const int32_t n = narrow(n64);
  const char job = vectors ? 'V' : 'N', triangle = lower ? 'L' : 'U';
  const auto call = [&](T* matrix, Real<T>* w, T* work, int32_t lwork, Real<T>* rwork, int32_t lrwork, int32_t* iwork,
                        int32_t liwork, int32_t* status) {
    if constexpr (kIsComplex<T>) {
      reinterpret_cast<void (*)(const char*, const char*, const int32_t*, T*, const int32_t*, Real<T>*, T*,
                                const int32_t*, Real<T>*, const int32_t*, int32_t*, const int32_t*, int32_t*)>(f.syevd)(
          &job, &triangle, &n, matrix, &n, w, work, &lwork, rwork, &lrwork, iwork, &liwork, status);
    } else {
      reinterpret_cast<void (*)(const char*, const char*, const int32_t*, T*, const int32_t*, T*, T*, const int32_t*,
                                int32_t*, const int32_t*, int32_t*)>(f.syevd)(&job, &triangle, &n, matrix, &n, w, work,
                                                                              &lwork, iwork, &liwork, status);
    }
  };
  T size{};
  Real<T> rsize{};
  int32_t isize = 0, status = 0;
  call(a, values, &size, -1, &rsize, -1, &isize, -1, &status);
  const auto lwork = static_cast<int32_t>(std::real(size) * Real<T>(1.001)) + 1;
  const auto lrwork = static_cast<int32_t>(rsize * Real<T>(1.001)) + 1;
  for_matrices(batch, n64 * n64 * n64, [&](int64_t first, int64_t last) {
    std::vector<T> work(static_cast<size_t>(lwork));
    std::vector<Real<T>> rwork(static_cast<size_t>(lrwork));
    std::vector<int32_t> iwork(static_cast<size_t>(isize));
    for (int64_t k = first; k < last; ++k)
      call(a + k * n64 * n64, values + k * n64, work.data(), lwork, rwork.data(), lrwork, iwork.data(), isize,
           info + k);
  });
}

template <class T>
void svd_of(bool full, int64_t m64, int64_t n64, int64_t batch, T* a, Real<T>* s, T* u, T* vt, int32_t* info) {
  const Blas<T>& f = blas<T>();
  const int32_t m = narrow(m64), n = narrow(n64), least = std::min(m, n);
  const char job = !u ? 'N' : full ? 'A' : 'S';
  const int64_t u_size = m64 * (full ? m : least), vt_size = n64 * (full ? n : least);
  const int32_t ldvt = full ? n : least;
  const auto call = [&](int64_t k, T* work, int32_t lwork, Real<T>* rwork, int32_t* iwork, int32_t* status) {
    T *uk = u ? u + k * u_size : nullptr, *vtk = vt ? vt + k * vt_size : nullptr;
    if constexpr (kIsComplex<T>) {
      reinterpret_cast<void (*)(const char*, const int32_t*, const int32_t*, T*, const int32_t*, Real<T>*, T*,
                                const int32_t*, T*, const int32_t*, T*, const int32_t*, Real<T>*, int32_t*, int32_t*)>(
          f.gesdd)(&job, &m, &n, a + k * m64 * n64, &m, s + k * least, uk, &m, vtk, &ldvt, work, &lwork, rwork, iwork,
                   status);
    } else {
      reinterpret_cast<void (*)(const char*, const int32_t*, const int32_t*, T*, const int32_t*, T*, T*, const int32_t*,
                                T*, const int32_t*, T*, const int32_t*, int32_t*, int32_t*)>(f.gesdd)(
          &job, &m, &n, a + k * m64 * n64, &m, s + k * least, uk, &m, vtk, &ldvt, work, &lwork, iwork, status);
    }
  };
  T size{};
  int32_t status = 0;
  const int64_t least64 = least, most = std::max(m, n);
  // The length of rwork that LAPACK's documentation of zgesdd requires.
  const int64_t lrwork = kIsComplex<T> ? std::max<int64_t>({1, 7 * least64, 5 * least64 * least64 + 7 * least64,
                                                            2 * most * least64 + 2 * least64 * least64 + least64})
                                       : 1;
  std::vector<int32_t> asked(static_cast<size_t>(8 * least));
  std::vector<Real<T>> unused(1);
  call(0, &size, -1, unused.data(), asked.data(), &status);
  const auto lwork = static_cast<int32_t>(std::real(size) * Real<T>(1.001)) + 1;
  for_matrices(batch, m64 * n64 * least, [&](int64_t first, int64_t last) {
    std::vector<T> work(static_cast<size_t>(lwork));
    std::vector<Real<T>> rwork(static_cast<size_t>(lrwork));
    std::vector<int32_t> iwork(static_cast<size_t>(8 * least));
    for (int64_t k = first; k < last; ++k) call(k, work.data(), lwork, rwork.data(), iwork.data(), info + k);
  });
}

/// Converts LAPACK's result, which stores the vectors of a conjugate pair as real and imaginary parts.
template <class R>
void join_vectors(int64_t n, const R* real, const R* imaginary, const R* packed, std::complex<R>* vectors) {
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      if (!pair) {
        vectors[j * n + i] = packed[j * n + i];
      } else {
        vectors[j * n + i] = {packed[j * n + i], packed[(j + 1) * n + i]};
        vectors[(j + 1) * n + i] = {packed[j * n + i], -packed[(j + 1) * n + i]};
      }
    }
    j += pair;
  }
  (void)real;
}

template <class T>
void eig_of(int64_t n64, int64_t batch, T* a, std::complex<Real<T>>* values, std::complex<Real<T>>* vectors,
            int32_t* info) {
  using R = Real<T>;
  const Blas<T>& f = blas<T>();
  const int32_t n = narrow(n64), one = 1;
  const char none = 'N', right = vectors ? 'V' : 'N';
  const auto size = static_cast<size_t>(n64);
  for_matrices(batch, n64 * n64 * n64, [&](int64_t first, int64_t last) {
    std::vector<R> scratch(2 * size);
    std::vector<T> packed(vectors && !kIsComplex<T> ? size * size : 1), work(1);
    for (int64_t k = first; k < last; ++k) {
      T* const matrix = a + k * n64 * n64;
      auto* const w = values + k * n64;
      const auto call = [&](T* memory, int32_t length) {
        if constexpr (kIsComplex<T>) {
          T* const v = vectors ? vectors + k * n64 * n64 : packed.data();
          reinterpret_cast<void (*)(const char*, const char*, const int32_t*, T*, const int32_t*, T*, T*,
                                    const int32_t*, T*, const int32_t*, T*, const int32_t*, R*, int32_t*)>(f.geev)(
              &none, &right, &n, matrix, &n, w, nullptr, &one, v, &n, memory, &length, scratch.data(), info + k);
        } else {
          reinterpret_cast<void (*)(const char*, const char*, const int32_t*, T*, const int32_t*, T*, T*, T*,
                                    const int32_t*, T*, const int32_t*, T*, const int32_t*, int32_t*)>(f.geev)(
              &none, &right, &n, matrix, &n, scratch.data(), scratch.data() + n, nullptr, &one, packed.data(), &n,
              memory, &length, info + k);
        }
      };
      if (k == first) work = workspace<T>(call);
      call(work.data(), static_cast<int32_t>(work.size()));
      if constexpr (!kIsComplex<T>) {
        for (int64_t j = 0; j < n64; ++j)
          w[j] = {scratch[static_cast<size_t>(j)], scratch[size + static_cast<size_t>(j)]};
        if (vectors) join_vectors(n64, scratch.data(), scratch.data() + n, packed.data(), vectors + k * n64 * n64);
      }
    }
  });
}

class OpenBlas final : public LinearAlgebra {
 public:
  void multiply(const MatrixProduct& p) override {
    with_type(p.dtype, [&]<class T>(T) {
      const Blas<T>& f = blas<T>();
      for_matrices(p.batch, p.m * p.n * p.k, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last && is_small<T>(p); ++i) multiply_small<T>(p, i);
        for (int64_t i = first; i < last && !is_small<T>(p); ++i)
          multiply_one(f, p, static_cast<const T*>(p.a.data) + i * p.a.batch_stride,
                       static_cast<const T*>(p.b.data) + i * p.b.batch_stride, static_cast<T*>(p.c) + i * p.m * p.n);
      });
    });
  }

  void factor_lu(Dtype dtype, int64_t n, int64_t batch, void* a, int32_t* pivots, int32_t* info) override {
    with_type(dtype, [&]<class T>(T) {
      const Blas<T>& f = blas<T>();
      const int32_t extent = narrow(n);
      for_matrices(batch, n * n * n, [&](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k)
          f.getrf(&extent, &extent, static_cast<T*>(a) + k * n * n, &extent, pivots + k * n, info + k);
      });
    });
  }

  void solve_lu(Dtype dtype, Transpose transpose, int64_t n, int64_t columns, int64_t batch, const void* lu,
                const int32_t* pivots, void* b) override {
    with_type(dtype, [&]<class T>(T) {
      const Blas<T>& f = blas<T>();
      const int32_t extent = narrow(n), sides = narrow(columns);
      const char kind = static_cast<char>(transpose);
      for_matrices(batch, n * n * columns, [&](int64_t first, int64_t last) {
        int32_t status = 0;
        for (int64_t k = first; k < last; ++k)
          f.getrs(&kind, &extent, &sides, static_cast<const T*>(lu) + k * n * n, &extent, pivots + k * n,
                  static_cast<T*>(b) + k * n * columns, &extent, &status);
      });
    });
  }

  void factor_cholesky(Dtype dtype, bool lower, int64_t n, int64_t batch, void* a, int32_t* info) override {
    with_type(dtype, [&]<class T>(T) {
      const Blas<T>& f = blas<T>();
      const int32_t extent = narrow(n);
      const char triangle = lower ? 'L' : 'U';
      for_matrices(batch, n * n * n, [&](int64_t first, int64_t last) {
        for (int64_t k = first; k < last; ++k)
          f.potrf(&triangle, &extent, static_cast<T*>(a) + k * n * n, &extent, info + k);
      });
    });
  }

  void factor_qr(Dtype dtype, int64_t m, int64_t n, int64_t batch, void* a, void* tau) override {
    with_type(dtype, [&]<class T>(T) {
      const Blas<T>& f = blas<T>();
      const int32_t rows = narrow(m), columns = narrow(n);
      const int64_t least = std::min(m, n);
      for_matrices(batch, m * n * least, [&](int64_t first, int64_t last) {
        int32_t status = 0;
        const auto call = [&](int64_t k, T* work, int32_t length) {
          f.geqrf(&rows, &columns, static_cast<T*>(a) + k * m * n, &rows, static_cast<T*>(tau) + k * least, work,
                  &length, &status);
        };
        std::vector<T> work = workspace<T>([&](T* size, int32_t length) { call(first, size, length); });
        for (int64_t k = first; k < last; ++k) call(k, work.data(), static_cast<int32_t>(work.size()));
      });
    });
  }

  void form_q(Dtype dtype, int64_t m, int64_t columns, int64_t reflectors, int64_t batch, void* a,
              const void* tau) override {
    with_type(dtype, [&]<class T>(T) {
      const Blas<T>& f = blas<T>();
      const int32_t rows = narrow(m), width = narrow(columns), count = narrow(reflectors);
      for_matrices(batch, m * columns * reflectors, [&](int64_t first, int64_t last) {
        int32_t status = 0;
        const auto call = [&](int64_t k, T* work, int32_t length) {
          f.orgqr(&rows, &width, &count, static_cast<T*>(a) + k * m * columns, &rows,
                  static_cast<const T*>(tau) + k * reflectors, work, &length, &status);
        };
        std::vector<T> work = workspace<T>([&](T* size, int32_t length) { call(first, size, length); });
        for (int64_t k = first; k < last; ++k) call(k, work.data(), static_cast<int32_t>(work.size()));
      });
    });
  }

  void eigh(Dtype dtype, bool vectors, bool lower, int64_t n, int64_t batch, void* a, void* values,
            int32_t* info) override {
    with_type(dtype, [&]<class T>(T) {
      eigh_of(vectors, lower, n, batch, static_cast<T*>(a), static_cast<Real<T>*>(values), info);
    });
  }

  void svd(Dtype dtype, bool full, int64_t m, int64_t n, int64_t batch, void* a, void* s, void* u, void* vt,
           int32_t* info) override {
    with_type(dtype, [&]<class T>(T) {
      svd_of(full, m, n, batch, static_cast<T*>(a), static_cast<Real<T>*>(s), static_cast<T*>(u), static_cast<T*>(vt),
             info);
    });
  }

  void eig(Dtype dtype, int64_t n, int64_t batch, void* a, void* values, void* vectors, int32_t* info) override {
    with_type(dtype, [&]<class T>(T) {
      using C = std::complex<Real<T>>;
      eig_of(n, batch, static_cast<T*>(a), static_cast<C*>(values), static_cast<C*>(vectors), info);
    });
  }
};

}  // namespace

LinearAlgebra& openblas() {
  return made_once([] { return OpenBlas(); });
}

}  // namespace iruka::cpu_backend
