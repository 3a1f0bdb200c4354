// Normal vectors whose elements depend on each other.
#include "core/once.h"
#include "iruka/kernel.h"
#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/random.h"
#include "ops/linalg/operands.h"
#include "ops/random/kernels.h"

namespace iruka::random {

Array covariance_rows(const Array& covariance) {
  ops::check_square("covariance_rows", covariance);
  const linalg::SvdResult parts = linalg::svd(covariance.astype(Dtype::float64, false));
  return multiply(sqrt(parts.s).expand_dims(-1), parts.vh);
}

Array Generator::multivariate_normal(const Array& mean, const Array& rows, const Dims& size) {
  const ElementwiseKernel& affine = made_once([] {
    return ElementwiseKernel("raw const float64 deviates, raw const float64 rows, raw const float64 mean, int64 n",
                             "float64 y", "y = affine(deviates, rows, mean, n, i);", "random_affine",
                             {.preamble = ops::random_header("affine")});
  });
  const int64_t n = mean.size();
  if (mean.ndim() != 1 || !(rows.shape() == Dims{n, n}))
    throw ShapeError("random.multivariate_normal: mean must be (n,) and rows (n, n), not " + to_string(mean.shape()) +
                     " and " + to_string(rows.shape()));
  Dims shape = size;
  shape.push_back(n);
  const Argument standard[] = {0.0, 1.0};
  const Array deviates = draw("normal", standard, {.size = shape, .dtype = Dtype::float64});
  const Array result = Array::empty(shape, Dtype::float64, deviates.device());
  const auto there = [&](const Array& x) { return x.astype(Dtype::float64, false).to_device(deviates.device()); };
  if (result.size() > 0) affine(deviates.ravel(), there(rows), there(mean), Scalar(n).typed(Dtype::int64), result);
  return result;
}

}  // namespace iruka::random
