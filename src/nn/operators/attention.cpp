// Scaled dot-product attention, with groups of heads, masks and keys of earlier calls.
#include <cmath>
#include <limits>

#include "iruka/indexing.h"
#include "iruka/linalg.h"
#include "iruka/ops.h"
#include "iruka/padding.h"
#include "iruka/rearranging.h"
#include "nn/files/onnx_tensor.h"
#include "nn/operators/operator.h"
#include "ops/functions.h"

namespace iruka::nn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// (batch, length, heads * width) as (batch, heads, length, width).
Array in_heads(const Call& call, const Array& x, const char* attribute) {
  if (x.ndim() == 4) return x;
  const int64_t heads = call.integer(attribute, 0);
  if (x.ndim() != 3 || heads < 1 || x.shape(2) % heads != 0) {
    call.fail("an array of shape " + to_string(x.shape()) + " does not make " + std::to_string(heads) + " heads");
  }
  return x.reshape({x.shape(0), x.shape(1), heads, x.shape(2) / heads}).transpose({0, 2, 1, 3});
}

/// 0 where a condition holds, else minus infinity.
Array bias_where(const Array& condition, Dtype dtype) {
  return where(condition, Scalar(0.0).typed(dtype), Scalar(-kInfinity).typed(dtype));
}

/// What masks add to products of queries and keys; not valid without any.
class Bias {
 public:
  Bias(const Call& call, int64_t queries, int64_t keys, int64_t before, Dtype dtype)
      : call_(call), queries_(queries), keys_(keys), before_(before), dtype_(dtype) {
    if (call.has(3)) add_mask(call[3]);
    const int64_t left = call.integer("left_window_size", -1), right = call.integer("right_window_size", -1);
    if (left < -1 || right < -1) call.fail("window sizes must be -1 or not negative");
    const bool is_causal = call.integer("is_causal", 0) != 0;
    if (is_causal) join(bias_where(greater(add(distances(), 1), 0), dtype));
    if (left >= 0) join(bias_where(ops::less_equal(distances(), left), dtype));
    if (right >= 0) join(bias_where(ops::greater_equal(distances(), -right), dtype));
    if (call.has(6)) join(bias_where(less(arange(0, keys, 1), lengths()), dtype));
  }

  const Array& array() const { return bias_; }

 private:
  void add_mask(const Array& mask) {
    if (mask.ndim() == 0) call_.fail("the mask has no axes");
    Array whole = mask;
    if (const int64_t missing = keys_ - mask.shape(mask.ndim() - 1); missing > 0) {
      std::vector<Margins<int64_t>> widths(static_cast<size_t>(mask.ndim()));
      widths.back().second = missing;
      const Scalar outside = mask.dtype() == Dtype::bool_ ? Scalar(false) : Scalar(-kInfinity);
      whole = pad(mask, widths, {.values = {{PadValue(outside), PadValue(outside)}}});
    }
    join(mask.dtype() == Dtype::bool_ ? bias_where(whole, dtype_) : whole.astype(dtype_, false));
  }
  void join(const Array& more) { bias_ = bias_.valid() ? add(bias_, more) : more; }

  /// The number of keys that count in each batch: (batch, 1, 1, 1).
  Array lengths() const { return call_[6].astype(Dtype::int64, false).reshape({-1, 1, 1, 1}); }
  /// How far each key lies before its query.
  Array distances() const {
    const Array places = arange(0, queries_, 1).reshape({-1, 1});
    const bool is_by_batch = call_.has(6) && !call_.has(4);
    const Array at = is_by_batch ? add(places, subtract(lengths(), queries_)) : add(places, before_);
    return subtract(at, arange(0, keys_, 1));
  }

  const Call& call_;
  const int64_t queries_, keys_, before_;
  const Dtype dtype_;
  Array bias_;
};

/// Rows without any key are 0.
Array softmax_of_rows(const Array& x) {
  const Dims last{x.ndim() - 1};
  const Array largest = max(x, last, true);
  const Array powers = exp(subtract(x, where(ops::isfinite(largest), largest, 0.0)));
  const Array total = sum(powers, last, true);
  return divide(powers, where(equal(total, 0), 1.0, total));
}

Results attention(const Call& call) {
  const Array &given_q = call[0], &given_k = call[1], &given_v = call[2];
  const Dtype dtype = given_q.dtype(), compute = compute_dtype(dtype);
  const Array q = in_heads(call, given_q, "q_num_heads");
  Array k = in_heads(call, given_k, "kv_num_heads"), v = in_heads(call, given_v, "kv_num_heads");
  if (call.has(4)) k = concatenate(std::vector{call[4], k}, 2);
  if (call.has(5)) v = concatenate(std::vector{call[5], v}, 2);
  const Array present_k = k, present_v = v;
  if (q.shape(1) != k.shape(1)) {
    if (k.shape(1) == 0 || v.shape(1) == 0 || q.shape(1) % k.shape(1) != 0 || q.shape(1) % v.shape(1) != 0)
      call.fail(std::to_string(q.shape(1)) + " heads do not share " + std::to_string(k.shape(1)) + " keys");
    k = repeat(k, q.shape(1) / k.shape(1), 1);
    v = repeat(v, q.shape(1) / v.shape(1), 1);
  }
  const double scale = call.number("scale", 1 / std::sqrt(static_cast<double>(q.shape(3))));
  const double root = std::sqrt(std::abs(scale));
  const auto scaled = [&](const Array& x, double by) { return multiply(x.astype(compute, false), by); };
  Array scores = matmul(scaled(q, std::copysign(root, scale)), scaled(k, root).swapaxes(2, 3));
  const int64_t mode = call.integer("qk_matmul_output_mode", 0), before = call.has(4) ? call[4].shape(2) : 0;
  Array shown = scores;
  const Bias bias(call, q.shape(2), k.shape(2), before, compute);
  const double cap = call.number("softcap", 0);
  const auto add_bias = [&] { scores = bias.array().valid() ? add(scores, bias.array()) : scores; };
  if (cap > 0) scores = multiply(tanh(divide(scores, cap)), cap);
  if (mode == 1) shown = scores;
  add_bias();
  if (mode == 2) shown = scores;
  Array weights = softmax_of_rows(scores);
  if (bias.array().valid() && bias.array().size() != 0) {
    const Array most = max(bias.array(), Dims{bias.array().ndim() - 1}, true);
    weights = where(equal(most, -kInfinity), 0.0, weights);
  }
  if (mode == 3) shown = weights;
  Array y = matmul(weights, v.astype(compute, false)).astype(dtype, false);
  if (given_q.ndim() == 3) y = y.transpose({0, 2, 1, 3}).reshape({y.shape(0), y.shape(2), -1});
  return {y, present_k, present_v, shown.astype(dtype, false)};
}

constexpr Operator kRows[] = {
    {"Attention", attention},
};

}  // namespace

std::span<const Operator> attention_operators() { return kRows; }

}  // namespace iruka::nn
