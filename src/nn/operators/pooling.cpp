// Pooling: the largest, the mean or the norm of what each window sees.
#include "core/pooling.h"

#include "iruka/ops.h"
#include "nn/channels_last.h"
#include "nn/operators/window.h"
#include "nn/step_memory.h"

namespace iruka::nn {
namespace {

Window pooling_window(const Call& call, const Array& x) {
  const auto kernel = call.integers("kernel_shape");
  if (!kernel) call.fail("kernel_shape is left out");
  const Window window = window_of(call, x, *kernel);
  if (window.in_size() == 0) call.fail("there are no elements to pool in an input of shape " + to_string(x.shape()));
  return window;
}

std::string typed(const Array& x) { return std::string("raw const ") + name(x.dtype()) + " x"; }
std::string typed_result(const Array& x) { return std::string("raw ") + name(x.dtype()) + " y"; }

/// An input as kernels take it: in C order, or with the channels last where it lies so.
struct Images {
  explicit Images(const Array& x) {
    if (is_taken_channels_last(x) && !x.device().target().is_host) channels_last = x.shape(1);
    array = channels_last ? channels_behind(x) : x.contiguous();
  }
  Array array;
  std::optional<int64_t> channels_last;
};

enum class Mean : uint8_t { none, of_elements, of_places };

/// The largest elements of windows, or means, by the device's compiled loops. Nothing where it has none for them: they
/// take the channels last.
std::optional<Array> pooled_by_loops(const Window& window, const Array& x, Mean mean) {
  Poolings* const loops = x.device().find_service<Poolings>();
  if (!loops || !is_taken_channels_last(x)) return {};
  Pooling job;
  job.dtype = x.dtype(), job.is_mean = mean != Mean::none, job.counts_margins = mean == Mean::of_places;
  job.images = x.shape(0), job.channels = x.shape(1);
  job.in = window.in, job.out = window.out, job.kernel = window.kernel, job.stride = window.stride;
  job.dilation = window.dilation, job.before = window.before, job.behind = window.behind;
  const Array result = empty_result(window.shape(job.images, job.channels, window.out), x.dtype(), x.device(), true);
  job.x = x.data(), job.result = result.data();
  if (!loops->pool(job)) return {};
  return result;
}

/// The pooling of x by a text that computes an element, and one that computes a row.
Array pooled(const Window& window, const Array& x, const std::string& body, const char* kernel_name,
             const std::string& row_body = "") {
  const Images images(x);
  return window.fill({kernel_name, typed(x), typed_result(x), body, false, row_body}, {images.array},
                     window.shape(x.shape(0), x.shape(1), window.out), images.channels_last);
}

Results max_pool(const Call& call) {
  const Array& x = call[0];
  const Window window = pooling_window(call, x);
  const std::string type = info(x.dtype()).c_type;
  const std::string least = is_inexact(x.dtype()) ? type + "(-INFINITY)" : type + "(0)";
  if (!call.wants(1)) {
    if (auto made = pooled_by_loops(window, x, Mean::none)) return {*std::move(made)};
    // Margins narrower than the window leave each window some element.
    bool has_element = window.dilation == Spatial{1, 1, 1};
    for (size_t axis = 0; axis < 3; ++axis) {
      has_element &= window.before[axis] < window.kernel[axis] &&
                     (window.out[axis] - 1) * window.stride[axis] - window.before[axis] < window.in[axis];
    }
    const std::string value = has_element ? "largest_at_edges<" + type + ", Index>(window, x, to)"
                                          : "largest<" + type + ", Index>(window, x, to, " + least + ", nullptr)";
    const bool has_row_body = has_element && window.kernel[2] <= 64 && window.stride[2] <= 64;
    const std::string row_body = "largest_along_row<" + type + ", Index>(window, x, y, Index(i));";
    return {pooled(window, x, "y[at] = " + value + ";", "max_pool", has_row_body ? row_body : "")};
  }
  // storage_order 1: the first spatial axis is the fastest in the indices.
  std::string place = "place";
  if (call.integer("storage_order", 0)) {
    place =
        "place / window.in_size() * window.in_size() + (from.at[2] * window.in[1] + from.at[1]) * window.in[0] + "
        "from.at[0]";
    if (window.rank < 3) place = "place / window.in_size() * window.in_size() + from.at[2] * window.in[1] + from.at[1]";
  }
  const Dims shape = window.shape(x.shape(0), x.shape(1), window.out);
  const Array indices = Array::empty(shape, Dtype::int64, x.device());
  const Array y = window.fill(
      {"max_pool_indices", typed(x), "raw int64 places, " + typed_result(x),
       "Index place = 0; y[at] = largest<" + type + ", Index>(window, x, to, " + least +
           ", &place); const auto from = place_in(place, window.in); places[at] = " + place + "; (void)from;"},
      {x.contiguous(), indices}, shape);
  return {y, indices};
}

/// A pooling of floats by a text of `window`, x and the place `to`.
Results float_pool(const Call& call, const std::string& body, const char* kernel_name) {
  const Array x = call[0].astype(compute_dtype(call[0].dtype()), false);
  const std::string type = std::string("using T = ") + info(x.dtype()).c_type + "; ";
  return {
      pooled(pooling_window(call, x), x, type + "y[at] = " + body + ";", kernel_name).astype(call[0].dtype(), false)};
}

Results average_pool(const Call& call) {
  const bool counts_margins = call.integer("count_include_pad", 0) != 0;
  const Mean mean = counts_margins ? Mean::of_places : Mean::of_elements;
  if (auto made = pooled_by_loops(pooling_window(call, call[0]), call[0], mean)) return {*std::move(made)};
  const char* const with_margins = counts_margins ? "true" : "false";
  return float_pool(call, std::string("mean_of_window<T>(window, x, to, ") + with_margins + ")", "average_pool");
}

Results lp_pool(const Call& call) {
  return float_pool(call, "norm_of_window<T>(window, x, to, T(" + std::to_string(call.integer("p", 2)) + "))",
                    "lp_pool");
}

Dims spatial_axes(const Call& call) {
  Dims axes;
  for (int axis = 2; axis < call[0].ndim(); ++axis) axes.push_back(axis);
  return axes;
}

/// One window that is the whole image.
Window whole(const Array& x) {
  Window window;
  window.rank = x.ndim() - 2;
  for (int axis = 2; axis < x.ndim(); ++axis) {
    const auto k = static_cast<size_t>(axis + 3 - x.ndim());
    window.in[k] = window.kernel[k] = x.shape(axis);
  }
  return window;
}

std::optional<Array> pooled_as_a_whole(const Array& x, Mean mean) {
  return x.ndim() > 2 && x.ndim() <= 5 ? pooled_by_loops(whole(x), x, mean) : std::nullopt;
}

Results global_average_pool(const Call& call) {
  const Array& x = call[0];
  if (auto made = pooled_as_a_whole(x, Mean::of_elements)) return {*std::move(made)};
  return {mean(x.astype(compute_dtype(x.dtype()), false), spatial_axes(call), true).astype(x.dtype(), false)};
}
Results global_max_pool(const Call& call) {
  if (auto made = pooled_as_a_whole(call[0], Mean::none)) return {*std::move(made)};
  return {max(call[0], spatial_axes(call), true)};
}
Results global_lp_pool(const Call& call) {
  const Array& x = call[0];
  const auto p = static_cast<double>(call.integer("p", 2));
  return {power(sum(power(absolute(x), p), spatial_axes(call), true), 1 / p).astype(x.dtype(), false)};
}

/// torch's adaptive pooling: element o of an axis sees elements from o * in / out up to (o + 1) * in / out, rounded
/// outwards.
template <bool kIsMax>
Results adaptive_pool(const Call& call) {
  const Array& x = call[0];
  const std::vector<int64_t> size = call.integers("output_size").value_or(std::vector<int64_t>());
  const auto rank = static_cast<int>(size.size());
  if (rank < 1 || rank > 3 || x.ndim() != rank + 2) {
    call.fail("an output of " + std::to_string(rank) + " axes does not fit an input of shape " + to_string(x.shape()));
  }
  Dims shape{x.shape(0), x.shape(1)};
  Spatial in{1, 1, 1}, out{1, 1, 1};
  for (int k = 0; k < rank; ++k) {
    const size_t axis = 3 - static_cast<size_t>(rank) + static_cast<size_t>(k);
    in[axis] = x.shape(k + 2), out[axis] = size[static_cast<size_t>(k)];
    if (in[axis] == 0) call.fail("there are no elements to pool in an input of shape " + to_string(x.shape()));
    if (out[axis] < 0) out[axis] = in[axis];  // -1: as many as there are
    shape.push_back(out[axis]);
  }
  const std::string type = name(x.dtype()), c_type = info(compute_dtype(x.dtype())).c_type;
  const auto& kernel = kernel_of(
      "windows", "raw const " + type + " x, int64 a, int64 b, int64 c, int64 p, int64 q, int64 r, int64 channels",
      "raw " + type + " y",
      "const int64_t in[3] = {a, b, c}, out[3] = {p, q, r};\ny[i] = iruka::nn::adaptive<" + c_type + ", " +
          (kIsMax ? "true" : "false") + ">(x, in, out, channels, int64_t(i));",
      kIsMax ? "adaptive_max_pool" : "adaptive_average_pool");
  const Images images(x);
  const Dims in_memory = images.channels_last ? shape_with_channels_behind(shape) : shape;
  const Array y =
      filled_by(kernel, {images.array, in[0], in[1], in[2], out[0], out[1], out[2], images.channels_last.value_or(1)},
                in_memory, x.dtype(), x.device());
  return {images.channels_last ? channels_in_front(y) : y};
}

constexpr Operator kRows[] = {
    {"AdaptiveAveragePool", adaptive_pool<false>},
    {"AdaptiveMaxPool", adaptive_pool<true>},
    {"AveragePool", average_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalLpPool", global_lp_pool},
    {"GlobalMaxPool", global_max_pool},
    {"LpPool", lp_pool},
    {"MaxPool", max_pool},
};

}  // namespace

std::span<const Operator> pooling_operators() { return kRows; }

}  // namespace iruka::nn
