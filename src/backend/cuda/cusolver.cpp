// Linear algebra on a GPU: products by cuBLAS, factorizations by cuSOLVER. Both are declared here as their headers of
// CUDA 12 and 13 have them.
#include "backend/cuda/cusolver.h"

#include <algorithm>
#include <array>
#include <complex>
#include <mutex>
#include <string>
#include <vector>

#include "backend/cuda/cublas_lt.h"
#include "backend/cuda/vendor_library.h"
#include "core/once.h"
#include "core/precision.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {
namespace {

using Handle = void*;
constexpr int kTypes = 4;  // float32, float64, complex64, complex128: the letters S, D, C, Z

/// cudaDataType and cublasComputeType_t
struct DataType {
  int type, real_type, compute;
};
DataType data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return {2, 2, 68};
    case Dtype::bfloat16: return {14, 14, 68};
    case Dtype::float32: return {0, 0, 68};
    case Dtype::float64: return {1, 1, 70};
    case Dtype::complex64: return {4, 0, 68};
    case Dtype::complex128: return {5, 1, 70};
    default: throw TypeError(std::string("linear algebra does not support ") + name(dtype));
  }
}

/// The index of a dtype's letter in the tables.
size_t letter(Dtype dtype) { return static_cast<size_t>(dtype) - static_cast<size_t>(Dtype::float32); }

/// cublasOperation_t
int operation(Transpose transpose) { return transpose == Transpose::no ? 0 : transpose == Transpose::yes ? 1 : 2; }
/// cublasFillMode_t
int fill_mode(bool lower) { return lower ? 0 : 1; }

int narrow(int64_t extent) {
  if (extent > INT32_MAX) throw ValueError("linear algebra: extents must be below 2^31, not " + std::to_string(extent));
  return static_cast<int>(extent);
}

struct Cublas {
  VendorLibrary library{"cublas", 12, 13};
  int (*create)(Handle*);
  int (*set_stream)(Handle, CUstream);
  int (*gemm)(Handle, int, int, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int a_type,
              int64_t lda, long long a_stride, const void* b, int b_type, int64_t ldb, long long b_stride,
              const void* beta, void* c, int c_type, int64_t ldc, long long c_stride, int64_t batch, int compute,
              int algorithm);
  int (*set_pointer_mode)(Handle, int mode);
  int (*one_gemm[kTypes])(Handle, int, int, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                          int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc);
  int (*gemv[kTypes])(Handle, int, int64_t rows, int64_t columns, const void* alpha, const void* a, int64_t lda,
                      const void* x, int64_t x_step, const void* beta, void* y, int64_t y_step);
  int (*dot[kTypes])(Handle, int64_t n, const void* x, int64_t x_step, const void* y, int64_t y_step, void* result);
  int (*getrf_batched[kTypes])(Handle, int n, void* const* a, int lda, int* pivots, int* info, int batch);
  int (*getrs_batched[kTypes])(Handle, int operation, int n, int columns, const void* const* a, int lda,
                               const int* pivots, void* const* b, int ldb, int* info, int batch);

  Cublas() {
    library.find(create, "cublasCreate_v2");
    library.find(set_stream, "cublasSetStream_v2");
    library.find(gemm, "cublasGemmStridedBatchedEx_64");
    library.find(set_pointer_mode, "cublasSetPointerMode_v2");
    for (size_t k = 0; k < kTypes; ++k) {
      const std::string prefix = std::string("cublas") + "SDCZ"[k];
      library.find(one_gemm[k], (prefix + "gemm_v2_64").c_str());
      library.find(gemv[k], (prefix + "gemv_v2_64").c_str());
      library.find(dot[k], (prefix + (k < 2 ? "dot_v2_64" : "dotu_v2_64")).c_str());
      library.find(getrf_batched[k], (prefix + "getrfBatched").c_str());
      library.find(getrs_batched[k], (prefix + "getrsBatched").c_str());
    }
  }
};

struct Cusolver {
  VendorLibrary library{"cusolver", 11, 12};
  int (*create)(Handle*);
  int (*set_stream)(Handle, CUstream);
  int (*create_parameters)(void**);
  int (*getrf_size[kTypes])(Handle, int m, int n, void* a, int lda, int* length);
  int (*getrf[kTypes])(Handle, int m, int n, void* a, int lda, void* work, int* pivots, int* info);
  int (*getrs[kTypes])(Handle, int operation, int n, int columns, const void* a, int lda, const int* pivots, void* b,
                       int ldb, int* info);
  int (*potrf_size)(Handle, void* parameters, int fill, int64_t n, int type, const void* a, int64_t lda, int compute,
                    size_t* bytes, size_t* host_bytes);
  int (*potrf)(Handle, void* parameters, int fill, int64_t n, int type, void* a, int64_t lda, int compute, void* work,
               size_t bytes, void* host_work, size_t host_bytes, int* info);
  int (*potrf_batched[kTypes])(Handle, int fill, int n, void* const* a, int lda, int* info, int batch);
  int (*geqrf_size[kTypes])(Handle, int m, int n, void* a, int lda, int* length);
  int (*geqrf[kTypes])(Handle, int m, int n, void* a, int lda, void* tau, void* work, int length, int* info);
  int (*orgqr_size[kTypes])(Handle, int m, int n, int k, const void* a, int lda, const void* tau, int* length);
  int (*orgqr[kTypes])(Handle, int m, int n, int k, void* a, int lda, const void* tau, void* work, int length,
                       int* info);
  int (*syevd_size)(Handle, void* parameters, int job, int fill, int64_t n, int type, const void* a, int64_t lda,
                    int value_type, const void* values, int compute, size_t* bytes, size_t* host_bytes);
  int (*syevd)(Handle, void* parameters, int job, int fill, int64_t n, int type, void* a, int64_t lda, int value_type,
               void* values, int compute, void* work, size_t bytes, void* host_work, size_t host_bytes, int* info);
  int (*gesvd_size)(Handle, void* parameters, signed char job_u, signed char job_vt, int64_t m, int64_t n, int type,
                    const void* a, int64_t lda, int value_type, const void* s, int u_type, const void* u, int64_t ldu,
                    int vt_type, const void* vt, int64_t ldvt, int compute, size_t* bytes, size_t* host_bytes);
  int (*gesvd)(Handle, void* parameters, signed char job_u, signed char job_vt, int64_t m, int64_t n, int type, void* a,
               int64_t lda, int value_type, void* s, int u_type, void* u, int64_t ldu, int vt_type, void* vt,
               int64_t ldvt, int compute, void* work, size_t bytes, void* host_work, size_t host_bytes, int* info);
  int (*create_jacobi)(void**);
  int (*jacobi_size[kTypes])(Handle, int job, int m, int n, const void* a, int lda, const void* s, const void* u,
                             int ldu, const void* v, int ldv, int* length, void* jacobi, int batch);
  int (*jacobi[kTypes])(Handle, int job, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v, int ldv,
                        void* work, int length, int* info, void* jacobi, int batch);

  Cusolver() {
    library.find(create, "cusolverDnCreate");
    library.find(set_stream, "cusolverDnSetStream");
    library.find(create_parameters, "cusolverDnCreateParams");
    for (size_t k = 0; k < kTypes; ++k) {
      const std::string prefix = std::string("cusolverDn") + "SDCZ"[k];
      const std::string q = prefix + (k < 2 ? "orgqr" : "ungqr");
      library.find(getrf_size[k], (prefix + "getrf_bufferSize").c_str());
      library.find(getrf[k], (prefix + "getrf").c_str());
      library.find(getrs[k], (prefix + "getrs").c_str());
      library.find(potrf_batched[k], (prefix + "potrfBatched").c_str());
      library.find(geqrf_size[k], (prefix + "geqrf_bufferSize").c_str());
      library.find(geqrf[k], (prefix + "geqrf").c_str());
      library.find(orgqr_size[k], (q + "_bufferSize").c_str());
      library.find(orgqr[k], q.c_str());
      library.find(jacobi_size[k], (prefix + "gesvdjBatched_bufferSize").c_str());
      library.find(jacobi[k], (prefix + "gesvdjBatched").c_str());
    }
    library.find(create_jacobi, "cusolverDnCreateGesvdjInfo");
    library.find(potrf_size, "cusolverDnXpotrf_bufferSize");
    library.find(potrf, "cusolverDnXpotrf");
    library.find(syevd_size, "cusolverDnXsyevd_bufferSize");
    library.find(syevd, "cusolverDnXsyevd");
    library.find(gesvd_size, "cusolverDnXgesvd_bufferSize");
    library.find(gesvd, "cusolverDnXgesvd");
  }
};

const Cublas& cublas() {
  const Cublas& found = made_once_locked([] { return Cublas(); });
  found.library.check_found();
  return found;
}

const Cusolver& cusolver() {
  const Cusolver& found = made_once_locked([] { return Cusolver(); });
  found.library.check_found();
  return found;
}

/// Up to this extent, factorizations of a whole batch in one launch are faster than one after another.
constexpr int64_t kLargestBatched = 256;

class CudaLinearAlgebra final : public LinearAlgebra {
 public:
  explicit CudaLinearAlgebra(CudaDevice& device) : device_(device) {}

  void multiply(const MatrixProduct& p) override {
    const Cublas& f = cublas();
    const Entered entered(*this, f);
    const DataType type = data_type(p.dtype);
    // One and zero as float, double and their complex numbers: cuBLAS reads as many bytes as the type has.
    static constexpr std::complex<float> kOneSingle{1}, kZeroSingle{};
    static constexpr std::complex<double> kOneDouble{1}, kZeroDouble{};
    const bool is_double = type.compute == 70;
    const void* one = is_double ? static_cast<const void*>(&kOneDouble) : &kOneSingle;
    const void* zero = is_double ? static_cast<const void*>(&kZeroDouble) : &kZeroSingle;
    const bool is_vector = p.m == 1 || p.n == 1;  // bound by memory
    const bool is_tf32 = p.dtype == Dtype::float32 && thread_precision() == Precision::tf32 && !is_vector;
    if (p.batch == 1 && p.dtype >= Dtype::float32 && !is_tf32) return multiply_one(f, p, one, zero);
    constexpr int kDefaultAlgorithm = -1, kFastTf32 = 77;
    check_status(f.gemm(blas_, operation(p.a.transpose), operation(p.b.transpose), p.m, p.n, p.k, one, p.a.data,
                        type.type, p.a.leading, p.a.batch_stride, p.b.data, type.type, p.b.leading, p.b.batch_stride,
                        zero, p.c, data_type(p.result_dtype).type, p.m, p.m * p.n, p.batch,
                        is_tf32 ? kFastTf32 : type.compute, kDefaultAlgorithm),
                 "cublasGemmStridedBatchedEx", device_);
  }

  bool multiply_layer(const MatrixProduct& p, const void* bias, bool has_relu) override {
    return layers_.multiply(device_, p, bias, has_relu);
  }

  void factor_lu(Dtype dtype, int64_t n, int64_t batch, void* a, int32_t* pivots, int32_t* info) override {
    const int extent = narrow(n);
    if (batch > 1 && n <= kLargestBatched) {
      const Cublas& f = cublas();
      const Entered entered(*this, f);
      const Pointers matrices(device_, a, n * n * itemsize(dtype), batch);
      check_status(f.getrf_batched[letter(dtype)](blas_, extent, matrices.data(), extent, pivots, info, narrow(batch)),
                   "cublasgetrfBatched", device_);
      return;
    }
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    int length = 0;
    check_status(f.getrf_size[letter(dtype)](solver_, extent, extent, a, extent, &length), "cusolverDngetrf_bufferSize",
                 device_);
    const Scratch work(device_, static_cast<size_t>(length * itemsize(dtype)));
    for (int64_t k = 0; k < batch; ++k)
      check_status(f.getrf[letter(dtype)](solver_, extent, extent, at(dtype, a, k * n * n), extent, work.data(),
                                          pivots + k * n, info + k),
                   "cusolverDngetrf", device_);
  }

  void solve_lu(Dtype dtype, Transpose transpose, int64_t n, int64_t columns, int64_t batch, const void* lu,
                const int32_t* pivots, void* b) override {
    const int extent = narrow(n), sides = narrow(columns);
    if (batch > 1 && n <= kLargestBatched) {
      const Cublas& f = cublas();
      const Entered entered(*this, f);
      const Pointers matrices(device_, const_cast<void*>(lu), n * n * itemsize(dtype), batch);
      const Pointers targets(device_, b, n * columns * itemsize(dtype), batch);
      int status = 0;
      check_status(f.getrs_batched[letter(dtype)](blas_, operation(transpose), extent, sides, matrices.data(), extent,
                                                  pivots, targets.data(), extent, &status, narrow(batch)),
                   "cublasgetrsBatched", device_);
      return;
    }
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    const Scratch info(device_, sizeof(int));
    for (int64_t k = 0; k < batch; ++k)
      check_status(f.getrs[letter(dtype)](solver_, operation(transpose), extent, sides,
                                          at(dtype, const_cast<void*>(lu), k * n * n), extent, pivots + k * n,
                                          at(dtype, b, k * n * columns), extent, info.data<int>()),
                   "cusolverDngetrs", device_);
  }

  bool prefers_lower() const override { return true; }  // potrf takes half as long as for an upper triangle
  void factor_cholesky(Dtype dtype, bool lower, int64_t n, int64_t batch, void* a, int32_t* info) override {
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    const int extent = narrow(n), fill = fill_mode(lower);
    if (batch > 1 && n <= kLargestBatched) {
      const Pointers matrices(device_, a, n * n * itemsize(dtype), batch);
      check_status(f.potrf_batched[letter(dtype)](solver_, fill, extent, matrices.data(), extent, info, narrow(batch)),
                   "cusolverDnpotrfBatched", device_);
      return;
    }
    const int type = data_type(dtype).type;
    size_t bytes = 0, host_bytes = 0;
    check_status(f.potrf_size(solver_, parameters_, fill, n, type, a, n, type, &bytes, &host_bytes),
                 "cusolverDnXpotrf_bufferSize", device_);
    const Scratch work(device_, bytes);
    std::vector<std::byte> host(host_bytes);
    for (int64_t k = 0; k < batch; ++k)
      check_status(f.potrf(solver_, parameters_, fill, n, type, at(dtype, a, k * n * n), n, type, work.data(), bytes,
                           host.data(), host_bytes, info + k),
                   "cusolverDnXpotrf", device_);
  }

  void factor_qr(Dtype dtype, int64_t m, int64_t n, int64_t batch, void* a, void* tau) override {
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    const int rows = narrow(m), columns = narrow(n);
    int length = 0;
    check_status(f.geqrf_size[letter(dtype)](solver_, rows, columns, a, rows, &length), "cusolverDngeqrf_bufferSize",
                 device_);
    const Scratch work(device_, static_cast<size_t>(length * itemsize(dtype))), info(device_, sizeof(int));
    for (int64_t k = 0; k < batch; ++k)
      check_status(f.geqrf[letter(dtype)](solver_, rows, columns, at(dtype, a, k * m * n), rows,
                                          at(dtype, tau, k * std::min(m, n)), work.data(), length, info.data<int>()),
                   "cusolverDngeqrf", device_);
  }

  void form_q(Dtype dtype, int64_t m, int64_t columns, int64_t reflectors, int64_t batch, void* a,
              const void* tau) override {
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    const int rows = narrow(m), width = narrow(columns), count = narrow(reflectors);
    int length = 0;
    check_status(f.orgqr_size[letter(dtype)](solver_, rows, width, count, a, rows, tau, &length),
                 "cusolverDnorgqr_bufferSize", device_);
    const Scratch work(device_, static_cast<size_t>(length * itemsize(dtype))), info(device_, sizeof(int));
    for (int64_t k = 0; k < batch; ++k)
      check_status(f.orgqr[letter(dtype)](solver_, rows, width, count, at(dtype, a, k * m * columns), rows,
                                          at(dtype, const_cast<void*>(tau), k * reflectors), work.data(), length,
                                          info.data<int>()),
                   "cusolverDnorgqr", device_);
  }

  void eigh(Dtype dtype, bool vectors, bool lower, int64_t n, int64_t batch, void* a, void* values,
            int32_t* info) override {
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    const DataType type = data_type(dtype);
    const int job = vectors ? 1 : 0, fill = fill_mode(lower);
    size_t bytes = 0, host_bytes = 0;
    check_status(f.syevd_size(solver_, parameters_, job, fill, n, type.type, a, n, type.real_type, values, type.type,
                              &bytes, &host_bytes),
                 "cusolverDnXsyevd_bufferSize", device_);
    const Scratch work(device_, bytes);
    std::vector<std::byte> host(host_bytes);
    for (int64_t k = 0; k < batch; ++k)
      check_status(f.syevd(solver_, parameters_, job, fill, n, type.type, at(dtype, a, k * n * n), n, type.real_type,
                           at(real_dtype(dtype), values, k * n), type.type, work.data(), bytes, host.data(), host_bytes,
                           info + k),
                   "cusolverDnXsyevd", device_);
  }

  void svd(Dtype dtype, bool full, int64_t m, int64_t n, int64_t batch, void* a, void* s, void* u, void* vt,
           int32_t* info) override {
    if (m < n) throw ValueError("cuda: svd: a matrix needs at least as many rows as columns");
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    const DataType type = data_type(dtype);
    const signed char job = !u ? 'N' : full ? 'A' : 'S';
    const int64_t u_size = m * (full ? m : n);
    const auto one = [&](int64_t k) {
      return std::array<void*, 4>{at(dtype, a, k * m * n), at(real_dtype(dtype), s, k * n),
                                  u ? at(dtype, u, k * u_size) : nullptr, vt ? at(dtype, vt, k * n * n) : nullptr};
    };
    size_t bytes = 0, host_bytes = 0;
    const auto first = one(0);
    check_status(f.gesvd_size(solver_, parameters_, job, job, m, n, type.type, first[0], m, type.real_type, first[1],
                              type.type, first[2], m, type.type, first[3], n, type.type, &bytes, &host_bytes),
                 "cusolverDnXgesvd_bufferSize", device_);
    const Scratch work(device_, bytes);
    std::vector<std::byte> host(host_bytes);
    for (int64_t k = 0; k < batch; ++k) {
      const auto [matrix, values, left, right] = one(k);
      check_status(
          f.gesvd(solver_, parameters_, job, job, m, n, type.type, matrix, m, type.real_type, values, type.type, left,
                  m, type.type, right, n, type.type, work.data(), bytes, host.data(), host_bytes, info + k),
          "cusolverDnXgesvd", device_);
    }
  }

  int64_t most_jacobi() const override { return 32; }
  void svd_jacobi(Dtype dtype, bool vectors, int64_t m, int64_t n, int64_t batch, void* a, void* s, void* u, void* v,
                  int32_t* info) override {
    const Cusolver& f = cusolver();
    const Entered entered(*this, f);
    if (!jacobi_) check_status(f.create_jacobi(&jacobi_), "cusolverDnCreateGesvdjInfo", device_);
    const int rows = narrow(m), columns = narrow(n), count = narrow(batch);
    int length = 0;
    check_status(f.jacobi_size[letter(dtype)](solver_, vectors, rows, columns, a, rows, s, u, rows, v, columns, &length,
                                              jacobi_, count),
                 "cusolverDngesvdjBatched_bufferSize", device_);
    const Scratch work(device_, static_cast<size_t>(length) * static_cast<size_t>(itemsize(dtype)));
    check_status(f.jacobi[letter(dtype)](solver_, vectors, rows, columns, a, rows, s, u, rows, v, columns, work.data(),
                                         length, info, jacobi_, count),
                 "cusolverDngesvdjBatched", device_);
  }

  void eig(Dtype, int64_t, int64_t, void*, void*, void*, int32_t*) override {
    throw DeviceError("cuda: eigenvalues of general matrices are computed on the CPU");
  }

 private:
  /// Lends a library's handle to one thread at a time, in the device's context and with the thread's stream.
  class Entered {
   public:
    Entered(CudaLinearAlgebra& owner, const Cublas& f) : Entered(owner) {
      if (!owner.blas_) check_status(f.create(&owner.blas_), "cublasCreate", owner.device_);
      check_status(f.set_stream(owner.blas_, owner.device_.thread_stream()), "cublasSetStream", owner.device_);
    }
    Entered(CudaLinearAlgebra& owner, const Cusolver& f) : Entered(owner) {
      if (!owner.solver_) check_status(f.create(&owner.solver_), "cusolverDnCreate", owner.device_);
      if (!owner.parameters_)
        check_status(f.create_parameters(&owner.parameters_), "cusolverDnCreateParams", owner.device_);
      check_status(f.set_stream(owner.solver_, owner.device_.thread_stream()), "cusolverDnSetStream", owner.device_);
    }

   private:
    explicit Entered(CudaLinearAlgebra& owner) : active_(owner.device_.activate()), lock_(owner.mutex_) {}
    ContextScope active_;  ///< first: in a child of fork() it raises, and the mutex may never be free
    std::unique_lock<std::mutex> lock_;
  };

  /// Addresses of the matrices of a batch, in the device's memory.
  class Pointers {
   public:
    Pointers(CudaDevice& device, void* first, int64_t bytes, int64_t batch)
        : memory_(device, static_cast<size_t>(batch) * sizeof(void*)) {
      std::vector<void*> addresses(static_cast<size_t>(batch));
      for (int64_t k = 0; k < batch; ++k) addresses[static_cast<size_t>(k)] = static_cast<char*>(first) + k * bytes;
      device.copy(memory_.data(), addresses.data(), addresses.size() * sizeof(void*));
    }
    void** data() const { return memory_.data<void*>(); }

   private:
    Scratch memory_;
  };

  /// One product. With one row or column, memory bandwidth limits it, and functions for vectors use more of that.
  void multiply_one(const Cublas& f, const MatrixProduct& p, const void* one, const void* zero) {
    const size_t type = letter(p.dtype);
    const bool is_a_plain = p.a.transpose == Transpose::no, is_b_plain = p.b.transpose == Transpose::no;
    const int64_t a_step = is_a_plain ? p.a.leading : 1, b_step = is_b_plain ? 1 : p.b.leading;
    const auto transposed = [](bool yes) { return operation(yes ? Transpose::yes : Transpose::no); };
    if (p.m == 1 && p.n == 1) {
      constexpr int kHost = 0, kDevice = 1;  // the memory that receives a single number
      check_status(f.set_pointer_mode(blas_, kDevice), "cublasSetPointerMode", device_);
      const int status = f.dot[type](blas_, p.k, p.a.data, a_step, p.b.data, b_step, p.c);
      check_status(f.set_pointer_mode(blas_, kHost), "cublasSetPointerMode", device_);
      return check_status(status, "cublasdot", device_);
    }
    if (p.m == 1)
      return check_status(f.gemv[type](blas_, transposed(is_b_plain), is_b_plain ? p.k : p.n, is_b_plain ? p.n : p.k,
                                       one, p.b.data, p.b.leading, p.a.data, a_step, zero, p.c, 1),
                          "cublasgemv", device_);
    if (p.n == 1)
      return check_status(f.gemv[type](blas_, transposed(!is_a_plain), is_a_plain ? p.m : p.k, is_a_plain ? p.k : p.m,
                                       one, p.a.data, p.a.leading, p.b.data, b_step, zero, p.c, 1),
                          "cublasgemv", device_);
    check_status(f.one_gemm[type](blas_, operation(p.a.transpose), operation(p.b.transpose), p.m, p.n, p.k, one,
                                  p.a.data, p.a.leading, p.b.data, p.b.leading, zero, p.c, p.m),
                 "cublasgemm", device_);
  }

  static void* at(Dtype dtype, void* first, int64_t element) {
    return static_cast<char*>(first) + element * itemsize(dtype);
  }

  CudaDevice& device_;
  LayerProducts layers_;
  std::mutex mutex_;
  Handle blas_ = nullptr, solver_ = nullptr;
  void* parameters_ = nullptr;
  void* jacobi_ = nullptr;  ///< gesvdjInfo_t: tolerance, number of sweeps, sorted values
};

}  // namespace

LinearAlgebra& cuda_linear_algebra(CudaDevice& device) {
  static constinit Once<CudaLinearAlgebra> made[kMostDevices];
  return made[device.index()].get([&] { return CudaLinearAlgebra(device); });
}

}  // namespace iruka::cuda_backend
