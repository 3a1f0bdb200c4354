#include "ops/count/histogram.h"

#include <algorithm>
#include <vector>

#include "core/once.h"
#include "core/parallel.h"
#include "core/service.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "jit/program.h"
#include "ops/index/index_plan.h"
#include "ops/kernel_text.h"

namespace iruka::ops {
namespace {

/// The fewest elements of a piece with its own counters, the most counters of all pieces, the most pieces.
constexpr int64_t kPiece = 1 << 17, kMostCounters = 1 << 21, kMostPieces = 64;
/// Few bins get several counters each, so that equal neighbours do not wait for one another.
constexpr int64_t kFewBins = 512, kCopies = 4;

constexpr int64_t kFewIndices = 4096;  ///< a plain loop is faster for fewer

struct Weights {
  const char* data;
  int64_t stride;
};

/// The counters C are uint64_t where integers wrap.
template <class I, class C, bool kWeighted>
void count(const Array& indices, Weights weights, int64_t bins, C* out) {
  const int64_t n = indices.size(), stride = n > 1 ? indices.strides()[0] : 0;
  const int64_t copies = bins <= kFewBins && !kWeighted ? kCopies : 1, counters = bins * copies;
  const int64_t pieces = std::clamp<int64_t>(std::min(n / kPiece, kMostCounters / counters), 1, kMostPieces);
  const int64_t length = (n + pieces - 1) / pieces;
  const char* const data = static_cast<const char*>(indices.data());
  std::vector<C> all(static_cast<size_t>(pieces * counters));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      C* const own = all.data() + piece * counters;
      const int64_t last = std::min(n, (piece + 1) * length);
      for (int64_t k = piece * length; k < last; ++k) {
        const I index = *reinterpret_cast<const I*>(data + k * stride);
        if constexpr (kWeighted)
          own[index] += *reinterpret_cast<const C*>(weights.data + k * weights.stride);
        else
          ++own[index + (copies > 1 ? (k & (kCopies - 1)) * bins : 0)];
      }
    }
  });
  std::fill_n(out, bins, C(0));
  for (int64_t k = 0; k < pieces * copies; ++k)
    for (int64_t bin = 0; bin < bins; ++bin) out[bin] += all[static_cast<size_t>(k * bins + bin)];
}

template <class I>
void count_indices(const Array& indices, const Array* weights, int64_t bins, const Array& result) {
  if (!weights) return count<I, uint64_t, false>(indices, {}, bins, static_cast<uint64_t*>(result.data()));
  const Weights given{static_cast<const char*>(weights->data()), weights->strides()[0]};
  if (weights->dtype() == Dtype::int64)
    count<I, uint64_t, true>(indices, given, bins, static_cast<uint64_t*>(result.data()));
  else
    count<I, double, true>(indices, given, bins, static_cast<double*>(result.data()));
}

void count_cpu(const Array& indices, const Array* weights, int64_t bins, const Array& result) {
  (indices.dtype() == Dtype::int32 ? count_indices<int32_t> : count_indices<int64_t>)(indices, weights, bins, result);
}

// Each block counts in shared memory and adds its counters to the global ones.
constexpr int64_t kSharedBins = 4096, kPerBlock = 1 << 16, kBlockThreads = 256;
void count_in_shared_memory(const Array& indices, int64_t bins, const Array& result) {
  jit::ArgumentBlock block;
  block.push(indices.data());
  block.push(result.data());
  for (const int64_t value : {indices.strides()[0], indices.size(), bins}) block.push(value);
  jit::GridRange range{(indices.size() + kPerBlock - 1) / kPerBlock};
  range.threads_per_block = kBlockThreads;
  jit::build(indices.device(), {count_bins_text(indices.dtype()), "iruka_entry", {}, "<count_bins>"},
             {"count_bins", "", "", {}})
      ->launch(block.bytes(), range);
}

void count_cuda(const Array& indices, const Array* weights, int64_t bins, const Array& result) {
  const ElementwiseKernel& counting = made_once([&] {
    return ElementwiseKernel("I index, int64 bins", "raw int64 y",
                             "if (index >= 0 && index < bins) atomicAdd(&y[index], 1);", "count_bins");
  });
  const ElementwiseKernel& weighing = made_once([&] {
    return ElementwiseKernel("I index, W weight, int64 bins", "raw W y",
                             "if (index >= 0 && index < bins) atomicAdd(&y[index], weight);", "weigh_bins");
  });
  Array(result).fill(0);
  if (weights)
    weighing(indices, *weights, bins, result);
  else if (bins <= kSharedBins)
    count_in_shared_memory(indices, bins, result);
  else
    counting(indices, bins, result);
}

struct Counting {
  static constinit const Implementations<const Counting> implementations;
  /// Adds count_bins() of some indices and bins to `result`.
  void (*count)(const Array& indices, const Array* weights, int64_t bins, const Array& result);
};
constexpr Counting kCpu{count_cpu}, kCuda{count_cuda};
const Implementations<const Counting> Counting::implementations{"counting", {&kCpu, &kCuda}};

}  // namespace

std::string count_bins_text(Dtype index) {
  return include_text("count", "cuda/block_counters") +
         grid_entry_text(std::string("iruka::counting::count_bins<") + info(index).c_type + ", " +
                             std::to_string(kBlockThreads) + ", " + std::to_string(kSharedBins) + ", " +
                             std::to_string(kPerBlock) + ">",
                         "iruka::counting::CountArguments", kBlockThreads);
}

std::pair<int64_t, int64_t> index_range(const Array& indices) {
  const int64_t n = indices.size();
  if (n == 0) return {0, -1};
  if (n > kFewIndices || !indices.device().target().is_host)
    return {min(indices).item().as_int64(), max(indices).item().as_int64()};
  int64_t smallest = INT64_MAX, largest = INT64_MIN;
  const char* p = static_cast<const char*>(indices.data());
  for (int64_t k = 0; k < n; ++k, p += indices.strides()[0]) {
    const int64_t index =
        indices.dtype() == Dtype::int32 ? *reinterpret_cast<const int32_t*>(p) : *reinterpret_cast<const int64_t*>(p);
    smallest = std::min(smallest, index), largest = std::max(largest, index);
  }
  return {smallest, largest};
}

Array count_bins(const Array& indices, const Array* weights, int64_t bins) {
  Array result = Array::empty({bins}, weights ? weights->dtype() : Dtype::int64, indices.device());
  if (indices.size() == 0 || bins == 0) {
    if (bins > 0) result.fill(0);
    return result;
  }
  indices.device().service<Counting>().count(indices, weights, bins, result);
  return result;
}

Array digitize_gpu(const Array& x, const Array& edges, const Array& bins, bool right) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("T x, raw const T edges, raw const E bins, I n, bool right, raw _non_const int64 report",
                             "int64 bin", "bin = digitize(x, edges, bins, n, right, &report[0], i, _ind.size());",
                             "digitize",
                             {.preamble = header_text("count", "cuda/digitize", "count"), .diagnose_early = false});
  });
  const int64_t n = edges.size();
  const Array report = bad_index_report(x.device());
  Array result = kernel(x, edges, bins, Scalar(n).typed(n < INT32_MAX ? Dtype::int32 : Dtype::int64),
                        Scalar(right).typed(Dtype::bool_), report);
  expect_report(x.device());
  return result;
}

}  // namespace iruka::ops
