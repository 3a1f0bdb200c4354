// Random counts over categories: one element of the loop draws a whole row, category after category.
#include "core/once.h"
#include "iruka/ops.h"
#include "ops/random/kernels.h"
#include "ops/random/philox.h"

namespace iruka::random {
namespace {

ElementwiseKernel counts_kernel(const char* inputs, const char* body, const std::string& distribution) {
  KernelOptions options;
  options.preamble = ops::random_header(distribution);
  options.diagnose_early = false;
  options.options = {ops::kFewerLanes};
  return ElementwiseKernel(std::string("uint64 seed, uint64 stream, ") + inputs, "raw int64 counts", body,
                           "random_" + distribution, options);
}

/// shape, then one more axis.
Dims with_axis(Dims shape, int64_t extent) {
  shape.push_back(extent);
  return shape;
}

Dims leading(const Dims& shape) { return Dims(shape.begin(), shape.size() - 1); }

void check_probabilities(const Array& probabilities) {
  if (probabilities.ndim() == 0) throw ValueError("random.multinomial: pvals must have at least one axis");
  if (probabilities.size() == 0) return;
  const double low = min(probabilities).item<double>(), high = max(probabilities).item<double>();
  if (!(low >= 0 && high <= 1))
    throw ValueError("random.multinomial: pvals must be in [0, 1], but reach from " + Scalar(low).to_string() + " to " +
                     Scalar(high).to_string());
  const Array all_but_last = probabilities.at(Ellipsis{}, Slice{{}, -1, {}});
  const double most = all_but_last.size() ? max(sum(all_but_last, Dims{-1})).item<double>() : 0;
  if (most > 1 + 1e-12)
    throw ValueError("random.multinomial: sum(pvals[..., :-1]) must not exceed 1, but is " + Scalar(most).to_string());
}

}  // namespace

Array Generator::multinomial(const Array& trials, const Array& pvals, const std::optional<Dims>& size) {
  const ElementwiseKernel& kernel = made_once([] {
    return counts_kernel(
        "raw const int64 trials, raw const float64 pvals",
        "draw_multinomial(Draws<double>{seed, stream, (unsigned long long)i, 0}, i, trials, pvals, counts);",
        "multinomial");
  });
  const Array probabilities = pvals.astype(Dtype::float64, false);
  check_probabilities(probabilities);
  if (is_inexact(trials.dtype()))
    throw TypeError(std::string("random.multinomial: n must be integers, not ") + name(trials.dtype()));
  if (trials.size() && min(trials).item<int64_t>() < 0)
    throw ValueError("random.multinomial: n must not be negative, but is " + min(trials).item().to_string());
  const int64_t categories = probabilities.shape(probabilities.ndim() - 1);
  const Dims rows_shape = leading(probabilities.shape());
  const Dims* shapes[] = {&trials.shape(), &rows_shape};
  const Dims common = broadcast_shapes(shapes);
  const Dims shape = size.value_or(common);
  ops::check_broadcast("random.multinomial", common, shape);
  const Array counts = zeros(with_axis(shape, categories), Dtype::int64);
  const State state = next();
  if (counts.size() == 0) return counts;
  const int64_t rows = count(shape);
  const Array n = trials.astype(Dtype::int64, false).broadcast_to(shape).reshape({rows});
  const Array p = rows_shape.size() == 0
                      ? probabilities.broadcast_to({rows, categories})
                      : probabilities.broadcast_to(with_axis(shape, categories)).reshape({rows, categories});
  const Array table = counts.reshape({rows, categories});
  const Argument arguments[] = {ops::typed(state.key), ops::typed(state.drawn), n, p, table};
  CallOptions options;
  options.size = rows;
  kernel.fill(arguments, options);
  return counts;
}

Array Generator::multivariate_hypergeometric(const Array& colors, int64_t taken, const Dims& size) {
  const ElementwiseKernel& kernel = made_once([] {
    return counts_kernel(
        "raw const int64 colors, int64 taken, int64 total",
        "draw_colors(Draws<double>{seed, stream, (unsigned long long)i, 0}, i, colors, taken, total, counts);",
        "multivariate_hypergeometric");
  });
  const std::string function = "random.multivariate_hypergeometric: ";
  if (colors.ndim() != 1 || is_inexact(colors.dtype()))
    throw ValueError(function + "colors must be one axis of integers, not " + name(colors.dtype()) + " of shape " +
                     to_string(colors.shape()));
  const int64_t total = colors.size() ? sum(colors).item<int64_t>() : 0;
  if (colors.size() &&
      (min(colors).item<int64_t>() < 0 || max(colors).item().as_double() > 1e9 || total >= 1'000'000'000))
    throw ValueError(function + "colors must not be negative and sum to less than 10**9, but sum to " +
                     std::to_string(total));
  if (taken < 0 || taken > total)
    throw ValueError(function + "nsample must be in [0, " + std::to_string(total) + "], but is " +
                     std::to_string(taken));
  const Array counts = zeros(with_axis(size, colors.size()), Dtype::int64);
  const State state = next();
  if (counts.size() == 0) return counts;
  const Array kinds = colors.astype(Dtype::int64, false), table = counts.reshape({count(size), colors.size()});
  const Argument arguments[] = {ops::typed(state.key),
                                ops::typed(state.drawn),
                                kinds,
                                Scalar(taken).typed(Dtype::int64),
                                Scalar(total).typed(Dtype::int64),
                                table};
  CallOptions options;
  options.size = count(size);
  kernel.fill(arguments, options);
  return counts;
}

}  // namespace iruka::random
