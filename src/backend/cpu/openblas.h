// OpenBLAS, loaded at the first use: a table of BLAS and LAPACK functions for each element type.
#pragma once

#include <complex>
#include <cstdint>

#include "core/linear_algebra.h"

namespace iruka::cpu_backend {

/// BLAS and LAPACK functions by their Fortran names without the letter of the type; every argument is a pointer.
/// Fortran also passes the lengths of strings after the other arguments; they are 1 and not read.
template <class T>
struct Blas {
  using Integer = const int32_t*;
  using Text = const char*;
  void (*gemm)(Text, Text, Integer m, Integer n, Integer k, const T* alpha, const T* a, Integer lda, const T* b,
               Integer ldb, const T* beta, T* c, Integer ldc);
  void (*syrk)(Text triangle, Text, Integer n, Integer k, const T* alpha, const T* a, Integer lda, const T* beta, T* c,
               Integer ldc);
  T (*dot)(Integer n, const T* x, Integer incx, const T* y, Integer incy);  ///< only for real types
  void (*gemv)(Text, Integer m, Integer n, const T* alpha, const T* a, Integer lda, const T* x, Integer incx,
               const T* beta, T* y, Integer incy);
  void (*getrf)(Integer m, Integer n, T* a, Integer lda, int32_t* pivots, int32_t* info);
  void (*getrs)(Text, Integer n, Integer columns, const T* a, Integer lda, Integer pivots, T* b, Integer ldb,
                int32_t* info);
  void (*potrf)(Text, Integer n, T* a, Integer lda, int32_t* info);
  void (*geqrf)(Integer m, Integer n, T* a, Integer lda, T* tau, T* work, Integer lwork, int32_t* info);
  void (*orgqr)(Integer m, Integer n, Integer k, T* a, Integer lda, const T* tau, T* work, Integer lwork,
                int32_t* info);
  // Real and complex types take different arguments here.
  void* syevd;
  void* gesdd;
  void* geev;
};

/// An empty string if OpenBLAS can be loaded, else what is missing.
const char* openblas_problem();

/// The functions for T, with OpenBLAS set to the pool's number of threads. Raises DeviceError where it is missing.
template <class T>
const Blas<T>& blas();

extern template const Blas<float>& blas<float>();
extern template const Blas<double>& blas<double>();
extern template const Blas<std::complex<float>>& blas<std::complex<float>>();
extern template const Blas<std::complex<double>>& blas<std::complex<double>>();

LinearAlgebra& openblas();

}  // namespace iruka::cpu_backend
