// Histograms: the bin of each element by a kernel, then a count of bins.
#include "core/once.h"
#include "iruka/calculus.h"
#include "iruka/device.h"
#include "iruka/histogram.h"
#include "iruka/ops.h"
#include "ops/checks.h"
#include "ops/count/bin_edges.h"
#include "ops/count/histogram.h"
#include "ops/functions.h"
#include "ops/kernel_text.h"
#include "ops/listener.h"
#include "ops/views.h"

namespace iruka {
namespace {

using namespace ops;

const ElementwiseKernel& even_bins_kernel() {
  return made_once([] {
    return ElementwiseKernel("T x, raw const E edges, float64 first, float64 scale, int32 n", "int32 y",
                             "y = even_bin(x, edges, first, scale, n);", "histogram",
                             {.preamble = header_text("count", "bins", "count")});
  });
}

const ElementwiseKernel& uneven_bins_kernel() {
  return made_once([] {
    return ElementwiseKernel("T x, raw const E edges, int32 n", "int32 y", "y = uneven_bin(x, edges, n);", "histogram",
                             {.preamble = header_text("count", "bins", "count")});
  });
}

/// The bin of each element, and the number of bins for one that is in none.
Array bin_numbers(const Array& x, const BinEdges& given) {
  Array edges = given.values;
  const auto n = static_cast<int32_t>(edges.size() - 1);
  const bool mixes_signs = is_integer(x.dtype()) && is_integer(edges.dtype()) && kind(x.dtype()) != kind(edges.dtype());
  if (mixes_signs) edges = edges.astype(promote(x.dtype(), edges.dtype()));  // C++ would compare both as unsigned
  const Scalar bins = Scalar(n).typed(Dtype::int32);
  const Array placed = edges.to_device(x.device());
  if (!given.is_even) return uneven_bins_kernel()(x, placed, bins);
  const double first = edges.at(0).item().as_double(), last = edges.at(-1).item().as_double();
  return even_bins_kernel()(x, placed, Scalar(first).typed(Dtype::float64),
                            Scalar(n / (last - first)).typed(Dtype::float64), bins);
}

/// The count of each bin; the elements outside all bins have the number `bins`.
Array counted(const Array& numbers, const Array* weights, int64_t bins) {
  const Array flat = numbers.contiguous().ravel();
  if (!weights) return cut(count_bins(flat, nullptr, bins + 1), 0, 0, bins);
  if (is_complex(weights->dtype())) {
    const Array re = real(*weights), im = imag(*weights);
    const Array sums = Array::empty({bins}, weights->dtype(), numbers.device()), parts = parts_of(sums);
    slice_at(parts, 1, 0).assign(counted(numbers, &re, bins));
    slice_at(parts, 1, 1).assign(counted(numbers, &im, bins));
    return sums;
  }
  // Integers of any size wrap from int64.
  const Array wide = weights->astype(is_integer(weights->dtype()) ? Dtype::int64 : Dtype::float64, false);
  return cut(count_bins(flat, &wide, bins + 1), 0, 0, bins).astype(weights->dtype(), false);
}

/// The elements and their weights along one axis.
struct Elements {
  Elements(const Array& given, const Array* given_weights) {
    if (is_complex(given.dtype())) throw TypeError("histogram: the elements must be real numbers");
    x = (given.dtype() == Dtype::bool_ ? given.astype(Dtype::uint8) : given).ravel();
    if (!given_weights) return;
    if (!(given_weights->shape() == given.shape())) throw ValueError("weights should have the same shape as a.");
    weights = given_weights->ravel();
  }
  const Array* weights_or_none() const { return weights.valid() ? &weights : nullptr; }

  Array x, weights;
};

Array safe_doubles(const Array& weights) {
  check_cast(weights.dtype(), Dtype::float64);
  return weights.astype(Dtype::float64, false);
}

void check_length(const Array& weights, const Array& x) {
  if (!(weights.shape() == x.shape())) throw ValueError("The weights and list don't have the same length.");
}

}  // namespace

Histogram histogram(const Array& given, const Bins& bins, const HistogramOptions& options) {
  const Elements elements(given, options.weights);
  const Array &x = elements.x, *const weights = elements.weights_or_none();
  const BinEdges edges = bin_edges(x, bins, options.range, weights != nullptr);
  const int64_t count = edges.values.size() - 1;
  Array counts;
  if (count < 1) {
    counts = Array::empty({0}, weights ? weights->dtype() : Dtype::int64, x.device());
  } else {
    counts = counted(bin_numbers(x, edges), weights, count);
  }
  if (options.density) {
    const Array widths = diff(edges.values).astype(Dtype::float64, false).to_device(x.device());
    counts = divide(divide(counts, widths), sum(counts));
  }
  return {counts, edges.values.to_device(x.device())};
}

Array histogram_bin_edges(const Array& given, const Bins& bins, const HistogramOptions& options) {
  const Elements elements(given, options.weights);
  return bin_edges(elements.x, bins, options.range, options.weights != nullptr).values.to_device(given.device());
}

HistogramDD histogramdd(std::span<const Array> coordinates, std::span<const Bins> bins,
                        std::span<const BinRange> ranges, bool density, const Array* weights) {
  if (coordinates.empty()) throw ValueError("histogramdd: at least one coordinate is needed");
  if (bins.size() != coordinates.size())
    throw ValueError("The dimension of bins must be equal to the dimension of the sample x.");
  if (!ranges.empty() && ranges.size() != coordinates.size())
    throw ValueError("range argument must have one entry per dimension");
  std::vector<BinEdges> edges;
  Array number, inside;
  Dims shape;
  for (size_t k = 0; k < coordinates.size(); ++k) {
    const Array& x = coordinates[k];
    if (x.ndim() != 1 || x.size() != coordinates[0].size())
      throw ValueError("histogramdd: the coordinates must be arrays of one axis and one length");
    edges.push_back(bin_edges_of_coordinate(static_cast<int>(k), x, bins[k], ranges.empty() ? BinRange() : ranges[k]));
    const int64_t extent = std::max<int64_t>(edges.back().values.size() - 1, 0);
    const Array own = bin_numbers(x, edges.back()), fits = less(own, extent);
    number = k == 0 ? own.astype(Dtype::int64) : add(multiply(number, extent), own);
    inside = k == 0 ? fits : logical_and(inside, fits);
    shape.push_back(extent);
  }
  const int64_t total = count(shape);
  number = where(inside, number, total);
  Array doubles;
  if (weights) {
    doubles = safe_doubles(*weights);
    check_length(doubles, number);
  }
  HistogramDD result;
  result.counts = counted(number, weights ? &doubles : nullptr, total).astype(Dtype::float64, false).reshape(shape);
  Device& device = number.device();
  if (density) {
    const Array whole = sum(result.counts);
    for (size_t k = 0; k < edges.size(); ++k) {
      const Array widths = diff(edges[k].values).to_device(device);
      const Dims along = along_axis(shape.size(), static_cast<int>(k), widths.size());
      result.counts = divide(result.counts, widths.reshape(along));
    }
    result.counts = divide(result.counts, whole);
  }
  for (const BinEdges& own : edges) result.edges.push_back(own.values.to_device(device));
  return result;
}

HistogramDD histogram2d(const Array& x, const Array& y, const Bins& bins_x, const Bins& bins_y,
                        std::span<const BinRange> ranges, bool density, const Array* weights) {
  if (x.ndim() != 1 || !(x.shape() == y.shape())) throw ValueError("x and y must have the same length.");
  const Dtype dtype = promote(x.dtype(), y.dtype());
  const Array coordinates[] = {x.astype(dtype, false), y.astype(dtype, false)};
  const Bins bins[] = {bins_x, bins_y};
  return histogramdd(coordinates, bins, ranges, density, weights);
}

Array bincount(const Array& given, const Array* given_weights, int64_t least) {
  check_one_axis(given);
  if (is_inexact(given.dtype())) check_cast(given.dtype(), Dtype::int64);
  if (least < 0) throw ValueError("'minlength' must not be negative");
  const bool is_narrow = given.itemsize() < 4 || given.dtype() == Dtype::int32;
  const Array x = given.astype(is_narrow ? Dtype::int32 : Dtype::int64, false);
  const auto [smallest, largest] = index_range(x);
  if (smallest < 0) throw ValueError("'list' argument must have no negative elements");
  Array weights;
  if (given_weights) {
    weights = safe_doubles(*given_weights);
    check_length(weights, x);
  }
  return count_bins(x, given_weights && x.size() > 0 ? &weights : nullptr, std::max(least, largest + 1));
}

}  // namespace iruka
