// Random orders: permutations without a sort, and the gathers that apply them.
#include <algorithm>
#include <numeric>

#include "core/once.h"
#include "iruka/device.h"
#include "iruka/ops.h"
#include "ops/random/kernels.h"
#include "ops/random/philox.h"
#include "ops/sort/order_text.h"

namespace iruka::random {
namespace {

constexpr int64_t kExactOrder = 1024;  ///< above, one lane for a whole order takes a GPU too long
constexpr int kRounds = 24;

/// `headers`: what includes the helpers of `body`.
ElementwiseKernel order_kernel(const std::string& inputs, const std::string& output, const std::string& body,
                               const std::string& headers, const char* name) {
  KernelOptions options;
  options.preamble = headers;
  options.diagnose_early = false;
  return ElementwiseKernel(inputs, output, body, name, options);
}

/// One element of the loop is one row of `y`.
const ElementwiseKernel& exact_kernel() {
  const ElementwiseKernel& kernel = made_once([] {
    return order_kernel("uint64 seed, uint64 stream, int64 chosen", "raw T y",
                        "shuffle_row<T>(seed, stream, i, chosen, y);", ops::random_header("shuffle"),
                        "random_permuted_rows");
  });
  return kernel;
}

/// The order that exact_kernel() makes of a row 0, 1, ..., n-1, on the host: one thread of a GPU takes longer than all
/// of this and the copy. Lemire's rejections as in kernels/bounded.h.
std::vector<int64_t> exact_order(State state, int64_t n, int64_t chosen) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::array<uint32_t, 4> words{};
  for (int64_t k = 0; k < std::min(chosen, n - 1); ++k) {
    const auto block = static_cast<uint64_t>(k / 4);
    const auto place = static_cast<size_t>(k % 4);
    if (place == 0) words = ops::philox_block(state.key, state.drawn, block, 0);
    const auto left = static_cast<uint32_t>(n - k);
    uint64_t product = uint64_t{words[place]} * left;
    if (static_cast<uint32_t>(product) < left) {
      const uint32_t threshold = (0 - left) % left;
      for (uint32_t attempt = 1; attempt < 512 && static_cast<uint32_t>(product) < threshold; ++attempt)
        product = uint64_t{ops::philox_block(state.key, state.drawn, block, attempt)[place]} * left;
    }
    std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(k) + (product >> 32)]);
  }
  return order;
}

void permute_rows(const Array& matrix, State state, int64_t chosen) {
  const Argument arguments[] = {ops::typed(state.key), ops::typed(state.drawn), Scalar(chosen).typed(Dtype::int64),
                                matrix};
  CallOptions options;
  options.size = matrix.shape(0);
  exact_kernel().fill(arguments, options);
}

const ElementwiseKernel& bijection_kernel() {
  const ElementwiseKernel& kernel = made_once([] {
    std::string inputs = "uint64 items, int32 right_bits, int32 left_bits", keys;
    for (int pair = 0; pair < kRounds / 2; ++pair) {
      inputs += ", uint64 keys" + std::to_string(pair);
      keys += ", keys" + std::to_string(pair);
    }
    return order_kernel(inputs, "int64 y", "y = bijection(i, items, right_bits, left_bits" + keys + ");",
                        ops::random_header("bijection"), "random_permutation");
  });
  return kernel;
}

Array bijection(State state, int64_t n, int64_t chosen) {
  int bits = 2;
  while (n > int64_t{1} << bits) ++bits;
  std::vector<Argument> arguments = {ops::typed(static_cast<uint64_t>(n)), Scalar(bits - bits / 2).typed(Dtype::int32),
                                     Scalar(bits / 2).typed(Dtype::int32)};
  for (uint64_t block = 0; block < kRounds / 4; ++block) {
    const auto words = ops::philox_block(state.key, state.drawn, block, 0);
    for (size_t k = 0; k < 4; k += 2)
      arguments.push_back(ops::typed(static_cast<uint64_t>(words[k + 1]) << 32 | words[k]));
  }
  const Array order = Array::empty({chosen}, Dtype::int64);
  arguments.push_back(order);
  bijection_kernel().fill(arguments);
  return order;
}

const ElementwiseKernel& gather_kernel() {
  const ElementwiseKernel& kernel = made_once([] {
    return order_kernel("raw const T x, raw const int64 order, int64 inner", "T y",
                        "const long long row = inner == 1 ? i : i / inner;\ny = x[{order[row], i - row * inner}];", "",
                        "random_take_rows");
  });
  return kernel;
}

}  // namespace

Array Generator::permutation(int64_t n, std::optional<int64_t> chosen) {
  const int64_t entries = chosen.value_or(n);
  if (n < 0 || n > int64_t{1} << 62)
    throw ValueError("random.permutation: n must be in [0, 2**62], but is " + std::to_string(n));
  if (entries < 0 || entries > n)
    throw ValueError("random.permutation: " + std::to_string(entries) + " entries of " + std::to_string(n) +
                     " cannot be chosen without replacement");
  const State state = next();
  if (n > kExactOrder) return bijection(state, n, entries);
  const std::vector<int64_t> order = exact_order(state, n, entries);
  return Array::from(std::span(order).first(static_cast<size_t>(entries)), {entries});
}

Array Generator::permuted_rows(const Array& matrix) {
  if (matrix.ndim() != 2) throw ShapeError("random.permuted: expected 2 axes, not " + std::to_string(matrix.ndim()));
  const int64_t columns = matrix.shape(1);
  Array result = matrix.copy();
  if (columns <= kExactOrder) {
    const State state = next();
    if (columns > 1 && matrix.shape(0) > 0) permute_rows(result, state, columns - 1);
    return result;
  }
  for (int64_t row = 0; row < matrix.shape(0); ++row)
    result.at(row).assign(take_rows(matrix.at(row), permutation(columns)));
  return result;
}

Array take_rows(const Array& array, const Array& order) {
  if (array.ndim() == 0) throw ShapeError("random: an array without axes has no rows to take");
  Dims shape = order.shape(), rest = array.shape();
  int64_t inner = 1;
  for (int axis = 1; axis < rest.size(); ++axis) {
    shape.push_back(rest[axis]);
    inner *= rest[axis];
  }
  const Array result = Array::empty(shape, array.dtype(), array.device());
  if (result.size() == 0) return result;
  const Array rows = array.reshape({array.shape(0), inner}), indices = order.ravel();
  const Argument arguments[] = {rows, indices, Scalar(inner).typed(Dtype::int64), result};
  gather_kernel().fill(arguments);
  return result;
}

Array search_cumulative(const Array& cumulative, const Array& units) {
  const ElementwiseKernel& kernel = made_once([] {
    return order_kernel("raw const float64 cumulative, float64 unit", "int64 y",
                        "y = count_first(cumulative.size() - 1, [&](ptrdiff_t k) { return cumulative[k] <= unit; });",
                        ops::order_text("search"), "random_search");
  });
  return kernel(cumulative, units);
}

}  // namespace iruka::random
