// Factorizations and what follows from them: inverse, equations, determinants, eigenvalues, singular values.
//
// The libraries expect column-major matrices and see a C-ordered matrix as its transpose, which is as good for
// most: inv(A') = inv(A)', det(A') = det(A), a Cholesky factor of the other triangle, a singular value decomposition
// with u and v exchanged. Where it is not, a transposed copy is made.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "core/device.h"
#include "core/once.h"
#include "iruka/indexing.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "ops/functions.h"
#include "ops/kernel_text.h"
#include "ops/linalg/operands.h"
#include "ops/permanent_cache.h"

namespace iruka {
namespace ops {

Dtype linalg_dtype(const char* function, Dtype dtype) {
  if (dtype == Dtype::float16 || dtype == Dtype::bfloat16)
    throw TypeError(std::string(function) + ": array type " + name(dtype) + " is unsupported in linalg");
  return is_inexact(dtype) ? dtype : Dtype::float64;
}

void check_matrices(const char* function, const Array& a) {
  if (a.ndim() < 2)
    throw linalg::LinAlgError(std::string(function) + ": " + std::to_string(a.ndim()) +
                              "-dimensional array given. Array must be at least two-dimensional");
}

void check_square(const char* function, const Array& a) {
  check_matrices(function, a);
  if (a.shape(a.ndim() - 1) != a.shape(a.ndim() - 2))
    throw linalg::LinAlgError(std::string(function) + ": Last 2 dimensions of the array must be square, not " +
                              to_string(a.shape()));
}

namespace {

using linalg::LinAlgError;

Dims batch_shape(const Array& a, std::initializer_list<int64_t> rest) {
  Dims shape(a.shape().begin(), a.ndim() - 2);
  for (int64_t extent : rest) shape.push_back(extent);
  return shape;
}

/// A C-ordered copy of the library's own.
Array working_copy(const Array& a, Dtype dtype) { return a.astype(dtype, true).contiguous(); }

Array new_info(const Array& a) { return Array::empty({std::max<int64_t>(1, batch_of(a))}, Dtype::int32, a.device()); }

/// Raises LinAlgError with `message` where a matrix failed. This waits for the device's work.
void check_info(const Array& info, const char* message) {
  constexpr int64_t kMany = 1024;  // a kernel takes less time than the copy
  if (!info.device().target().is_host && info.size() > kMany)
    return check_info(any(info).astype(Dtype::int32).reshape({1}), message);
  for (int32_t status : info.to_vector<int32_t>())
    if (status != 0) throw LinAlgError(message);
}

struct LuFactors {
  Array lu, pivots, info;
};

LuFactors factor(const Array& a) {
  const int64_t n = a.shape(a.ndim() - 1), batch = batch_of(a);
  LuFactors f{working_copy(a, linalg_dtype("lu", a.dtype())), Array::empty({batch * n}, Dtype::int32, a.device()),
              new_info(a)};
  f.info.fill(0);
  if (f.lu.size() > 0)
    a.device().service<LinearAlgebra>().factor_lu(f.lu.dtype(), n, batch, f.lu.data(),
                                                  static_cast<int32_t*>(f.pivots.data()),
                                                  static_cast<int32_t*>(f.info.data()));
  return f;
}

/// Whether a pivot of a matrix is only rounding error compared with the largest one.
template <class T>
bool has_lost_pivot(const LuFactors& f) {
  const int64_t n = f.lu.shape(f.lu.ndim() - 1);
  const auto* const elements = static_cast<const T*>(f.lu.data());
  for (int64_t matrix = 0; matrix < batch_of(f.lu); ++matrix) {
    double least = INFINITY, most = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double size = std::abs(elements[(matrix * n + k) * n + k]);
      least = std::min(least, size), most = std::max(most, size);
    }
    if (least <= 16 * static_cast<double>(n) * std::numeric_limits<decltype(std::abs(T()))>::epsilon() * most)
      return true;
  }
  return false;
}

/// Raises LinAlgError where LAPACK finds a matrix singular. The transposes have been factored; if a pivot is close to
/// 0, the matrix itself is factored as in NumPy, because rounding may give 0 in one of them alone.
void check_nonsingular(const LuFactors& f, const Array& a) {
  check_info(f.info, "Singular matrix");
  if (!a.device().target().is_host) return;  // looking at the pivots takes a copy of the factors
  const Dtype dtype = f.lu.dtype();
  const bool is_single = real_dtype(dtype) == Dtype::float32;
  const bool in_doubt = is_single
                            ? (is_complex(dtype) ? has_lost_pivot<std::complex<float>> : has_lost_pivot<float>)(f)
                            : (is_complex(dtype) ? has_lost_pivot<std::complex<double>> : has_lost_pivot<double>)(f);
  if (in_doubt) check_info(factor(matrix_transpose(a)).info, "Singular matrix");
}

/// What determinants need: factors of the matrices or, which suffices, of their transposes. Without info.
LuFactors factor_either_way(const Array& a) {
  const Dtype dtype = linalg_dtype("lu", a.dtype());
  const int64_t n = a.shape(a.ndim() - 1), batch = batch_of(a);
  const SmallMatrices* const small = small_system(a.device(), dtype, n, 0);
  if (batch == 0 || !small) return factor(a);
  const LuFactors f{
      Array::empty(a.shape(), dtype, a.device()), Array::empty({batch * n}, Dtype::int32, a.device()), {}};
  small->factor(a.astype(dtype, false).contiguous(), f.lu, f.pivots);
  return f;
}

Array solve_at_once(const SmallMatrices& small, const Array& a, const Array* b) {
  Array singular = Array::empty({1}, Dtype::int32, a.device());
  singular.fill(0);
  const Array x = small.solve(a, b, singular);
  check_info(singular, "Singular matrix");
  return x;
}

Array identity_like(const Array& a, Dtype dtype) {
  Array result = Array::empty(a.shape(), dtype, a.device());
  result.fill(0);
  diagonal(result, 0, -2, -1).fill(1);
  return result;
}

KernelOptions quiet() {
  KernelOptions options;
  options.diagnose_early = false;
  return options;
}

/// Zeros above or below the diagonal.
Array triangle(const Array& x, bool lower) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("T x, int64 rows, int64 columns, bool lower", "T y",
                             "const long long r = i / columns % rows, c = i % columns;\n"
                             "y = (lower ? c <= r : c >= r) ? x : T(0);",
                             "triangle", quiet());
  });
  return kernel(x, x.shape(x.ndim() - 2), x.shape(x.ndim() - 1), lower);
}

const char* real_name(Dtype dtype) { return name(real_dtype(dtype)); }

/// Sign and logarithm, or the product itself, of the diagonal, whose sign pivots may have changed.
ElementwiseKernel make_determinant_kernel(Dtype dtype, bool logarithm) {
  const std::string type = name(dtype), factors = "raw const " + type + " lu, raw const int32 pivots, int64 extent";
  KernelOptions options = quiet();
  options.preamble = header_text("linalg", "determinant", "linear_algebra");
  if (!logarithm)
    return {factors, type + " result", "find_determinant(lu, pivots, extent, i, result);", "det", options};
  return {factors, type + " sign, " + real_name(dtype) + " logarithm",
          "find_sign_and_logarithm(lu, pivots, extent, i, sign, logarithm);", "slogdet", options};
}

/// The kernel for a dtype that linalg_dtype() gives, made at its first use.
const ElementwiseKernel& determinant_kernel(Dtype dtype, bool logarithm) {
  static constinit PermanentCache<std::pair<Dtype, bool>, ElementwiseKernel> kernels;
  return kernels.get({dtype, logarithm}, [&] { return make_determinant_kernel(dtype, logarithm); });
}

std::vector<Array> determinants(const char* function, const Array& a, bool logarithm) {
  check_square(function, a);
  linalg_dtype(function, a.dtype());
  const LuFactors f = factor_either_way(a);
  const Argument arguments[] = {f.lu, f.pivots, a.shape(a.ndim() - 1)};
  CallOptions options;
  options.size = batch_of(a);
  const Dims shape(a.shape().begin(), a.ndim() - 2);
  std::vector<Array> results = determinant_kernel(f.lu.dtype(), logarithm).call(arguments, options);
  for (Array& result : results) result = result.reshape(shape);
  return results;
}

}  // namespace
}  // namespace ops

namespace linalg {

using namespace ops;

Array inv(const Array& a) {
  check_square("inv", a);
  const Dtype dtype = linalg_dtype("inv", a.dtype());
  const int64_t n = a.shape(a.ndim() - 1);
  if (const SmallMatrices* const small = small_system(a.device(), dtype, n, n))
    return solve_at_once(*small, a.astype(dtype, false).contiguous(), nullptr);
  LuFactors f = factor(a);
  check_nonsingular(f, a);
  Array result = identity_like(f.lu, f.lu.dtype());
  if (result.size() > 0)
    a.device().service<LinearAlgebra>().solve_lu(result.dtype(), Transpose::no, n, n, batch_of(a), f.lu.data(),
                                                 static_cast<const int32_t*>(f.pivots.data()), result.data());
  return result;
}

Array solve(const Array& a, const Array& b) {
  check_square("solve", a);
  if (&a.device() != &b.device())
    throw DeviceError("solve: the arrays are on " + device_name(a.device()) + " and " + device_name(b.device()));
  if (b.ndim() == 0) throw LinAlgError("solve: 0-dimensional array given. Array must be at least one-dimensional");
  if (b.ndim() == 1) return solve(a, b.expand_dims(1)).squeeze(-1);
  const int64_t n = a.shape(a.ndim() - 1), columns = b.shape(b.ndim() - 1);
  if (b.shape(b.ndim() - 2) != n)
    throw ShapeError("solve: Input operand 1 has a mismatch in its core dimension 0 (size " +
                     std::to_string(b.shape(b.ndim() - 2)) + " is different from " + std::to_string(n) + ")");
  const Dtype dtype = promote(linalg_dtype("solve", a.dtype()), linalg_dtype("solve", b.dtype()));
  const Dims batch_a(a.shape().begin(), a.ndim() - 2), batch_b(b.shape().begin(), b.ndim() - 2);
  const Dims* both[] = {&batch_a, &batch_b};
  Dims shape_a = broadcast_shapes(both), shape_b = shape_a;
  for (int64_t extent : {n, n}) shape_a.push_back(extent);
  for (int64_t extent : {n, columns}) shape_b.push_back(extent);
  if (const SmallMatrices* const small = small_system(a.device(), dtype, n, columns); small && columns > 0) {
    const Array sides = b.astype(dtype, false).broadcast_to(shape_b).contiguous();
    return solve_at_once(*small, a.astype(dtype, false).broadcast_to(shape_a).contiguous(), &sides);
  }
  const Array systems = a.astype(dtype, false).broadcast_to(shape_a);
  LuFactors f = factor(systems);
  check_nonsingular(f, systems);
  const Array x = working_copy(matrix_transpose(b.broadcast_to(shape_b)), dtype);
  if (x.size() > 0)
    a.device().service<LinearAlgebra>().solve_lu(dtype, Transpose::yes, n, columns, batch_of(x), f.lu.data(),
                                                 static_cast<const int32_t*>(f.pivots.data()), x.data());
  return matrix_transpose(x);
}

Array det(const Array& a) { return determinants("det", a, false)[0]; }

LogDeterminant slogdet(const Array& a) {
  std::vector<Array> parts = determinants("slogdet", a, true);
  return {parts[0], parts[1]};
}

Array cholesky(const Array& a, bool upper) {
  check_square("cholesky", a);
  // To a column-major library a lower triangle of ours is an upper one, unless it is transposed.
  const bool is_turned = !upper && a.size() > 0 && a.device().service<LinearAlgebra>().prefers_lower();
  const Array factor = working_copy(is_turned ? matrix_transpose(a) : a, linalg_dtype("cholesky", a.dtype()));
  if (factor.size() == 0) return factor;
  const Array info = new_info(a);
  a.device().service<LinearAlgebra>().factor_cholesky(factor.dtype(), upper || is_turned, a.shape(a.ndim() - 1),
                                                      batch_of(a), factor.data(), static_cast<int32_t*>(info.data()));
  check_info(info, "Matrix is not positive definite");
  return triangle(is_turned ? matrix_transpose(factor) : factor, !upper);
}

QrResult qr(const Array& a, QrMode mode) {
  check_matrices("qr", a);
  const Dtype dtype = linalg_dtype("qr", a.dtype());
  const int64_t m = a.shape(a.ndim() - 2), n = a.shape(a.ndim() - 1), least = std::min(m, n), batch = batch_of(a);
  const Array reflectors = working_copy(matrix_transpose(a), dtype);
  const Array tau = Array::empty(batch_shape(a, {least}), dtype, a.device());
  const bool empty = reflectors.size() == 0;
  LinearAlgebra* const library = empty ? nullptr : &a.device().service<LinearAlgebra>();
  if (library) library->factor_qr(dtype, m, n, batch, reflectors.data(), tau.data());
  if (mode == QrMode::raw) return {reflectors, tau};
  const int64_t columns = mode == QrMode::complete ? m : least;
  const Array packed = matrix_transpose(reflectors);
  QrResult result;
  result.r = Array::empty(batch_shape(a, {columns, n}), dtype, a.device());
  result.r.fill(0);
  const Index rows[] = {Ellipsis{}, Slice{0, least, 1}, Slice{}};
  if (!empty) result.r.index(rows).assign(triangle(packed.index(rows), false));
  if (mode == QrMode::r) return result;
  if (empty) {
    result.q = Array::empty(batch_shape(a, {m, columns}), dtype, a.device());
    result.q.fill(0);
    if (result.q.size() > 0) diagonal(result.q, 0, -2, -1).fill(1);
    return result;
  }
  const Array q = Array::empty(batch_shape(a, {columns, m}), dtype, a.device());
  const Index first[] = {Ellipsis{}, Slice{0, least, 1}, Slice{}};
  q.index(first).assign(reflectors.index(first));
  library->form_q(dtype, m, columns, least, batch, q.data(), tau.data());
  result.q = matrix_transpose(q);
  return result;
}

namespace {

/// The whole decomposition of small m x n matrices, columns one after the other in `copy`, by a library's Jacobi
/// rotations: into `s`, `left` (U's columns, one after the other) and `right` (those of V's conjugate transpose).
void svd_jacobi(const Array& copy, bool vectors, const Array& s, Array& left, Array& right) {
  const int64_t n = copy.shape(copy.ndim() - 2), m = copy.shape(copy.ndim() - 1);
  left = Array::empty(batch_shape(copy, {m, m}), copy.dtype(), copy.device());
  const Array v = Array::empty(batch_shape(copy, {n, n}), copy.dtype(), copy.device()), info = new_info(copy);
  // The library does not report infinities and NaN, and it overwrites the copy, so they are found first.
  const ElementwiseKernel& unfit = made_once([&] {
    return ElementwiseKernel("raw const T a, int32 like, int64 count", "int32 found",
                             "int any = 0;\nfor (long long k = 0; k < count; ++k) { const T x = a[i * count + k]; any "
                             "|= !(x - x == T(0)); }\n"
                             "found = any;",
                             "svd_unfit", quiet());
  });
  const Array found = unfit(copy, info, m * n);
  copy.device().service<LinearAlgebra>().svd_jacobi(copy.dtype(), vectors, m, n, batch_of(copy), copy.data(), s.data(),
                                                    left.data(), v.data(), static_cast<int32_t*>(info.data()));
  check_info(ElementwiseFunction("bitwise_or")(info, found), "SVD did not converge");
  right = matrix_transpose(v);
  if (vectors) right = conjugated(right);
}

}  // namespace

SvdResult svd(const Array& a, bool full, bool vectors) {
  check_matrices("svd", a);
  const Dtype dtype = linalg_dtype("svd", a.dtype());
  const int64_t m = a.shape(a.ndim() - 2), n = a.shape(a.ndim() - 1), least = std::min(m, n);
  const int64_t rows = full ? n : least, columns = full ? m : least;
  SvdResult result;
  result.s = Array::empty(batch_shape(a, {least}), real_dtype(dtype), a.device());
  const auto make = [&](int64_t height, int64_t width) {
    return vectors ? Array::empty(batch_shape(a, {height, width}), dtype, a.device()) : Array();
  };
  if (a.size() == 0) {
    if (vectors) result.u = identity_like(make(m, columns), dtype), result.vh = identity_like(make(rows, n), dtype);
    return result;
  }
  // The library needs at least as many rows as columns: a tall matrix is transposed, a wide one is not copied.
  const bool tall = m > n;
  const Array copy = working_copy(tall ? matrix_transpose(a) : a, dtype);
  Array left, right;
  if (std::max(m, n) <= a.device().service<LinearAlgebra>().most_jacobi()) {
    svd_jacobi(copy, vectors, result.s, left, right);
    const Index first[] = {Ellipsis{}, Slice{0, tall ? columns : rows, 1}, Slice{}};
    left = left.index(first);
  } else {
    left = tall ? make(columns, m) : make(rows, n), right = tall ? make(n, rows) : make(m, columns);
    const Array info = new_info(a);
    a.device().service<LinearAlgebra>().svd(dtype, full, std::max(m, n), least, batch_of(a), copy.data(),
                                            result.s.data(), vectors ? left.data() : nullptr,
                                            vectors ? right.data() : nullptr, static_cast<int32_t*>(info.data()));
    check_info(info, "SVD did not converge");
  }
  if (vectors) result.u = tall ? matrix_transpose(left) : right, result.vh = tall ? matrix_transpose(right) : left;
  return result;
}

EigenResult eigh(const Array& a, bool lower, bool vectors) {
  check_square("eigh", a);
  const Dtype dtype = linalg_dtype("eigh", a.dtype());
  const Array columns = working_copy(matrix_transpose(a), dtype);
  const int64_t n = a.shape(a.ndim() - 1);
  EigenResult result;
  result.values = Array::empty(batch_shape(a, {n}), real_dtype(dtype), a.device());
  if (a.size() > 0) {
    const Array info = new_info(a);
    a.device().service<LinearAlgebra>().eigh(dtype, vectors, lower, n, batch_of(a), columns.data(),
                                             result.values.data(), static_cast<int32_t*>(info.data()));
    check_info(info, "Eigenvalues did not converge");
  }
  if (vectors) result.vectors = matrix_transpose(columns);
  return result;
}

EigenResult eig(const Array& a, bool vectors) {
  check_square("eig", a);
  if (is_inexact(a.dtype()) && !all(ElementwiseFunction("isfinite")(a)).item().as_bool())
    throw LinAlgError("eig: Array must not contain infs or NaNs");
  const Dtype dtype = linalg_dtype("eig", a.dtype());
  const Dtype complex = real_dtype(dtype) == Dtype::float32 ? Dtype::complex64 : Dtype::complex128;
  const Array columns = working_copy(matrix_transpose(a.to_device(cpu())), dtype);
  const int64_t n = a.shape(a.ndim() - 1);
  EigenResult result;
  result.values = Array::empty(batch_shape(a, {n}), complex, cpu());
  if (vectors) result.vectors = Array::empty(batch_shape(a, {n, n}), complex, cpu());
  if (a.size() > 0) {
    const Array info = new_info(columns);
    cpu().service<LinearAlgebra>().eig(dtype, n, batch_of(a), columns.data(), result.values.data(),
                                       vectors ? result.vectors.data() : nullptr, static_cast<int32_t*>(info.data()));
    check_info(info, "Eigenvalues did not converge");
  }
  result.values = result.values.to_device(a.device());
  if (vectors) result.vectors = matrix_transpose(result.vectors.to_device(a.device()));
  return result;
}

}  // namespace linalg
}  // namespace iruka
