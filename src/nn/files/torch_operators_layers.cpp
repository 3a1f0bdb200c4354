// Products of matrices, convolutions, normalizations, pooling, attention.
#include <algorithm>
#include <cmath>
#include <functional>

#include "iruka/device.h"
#include "nn/files/torch_operators.h"

namespace iruka::nn {
namespace {

// Products.

std::string transposed_matrix(TorchCall& call, const TorchTensor& x) { return call.transposed(x.value, {1, 0}); }

Names linear(TorchCall& call) {
  const TorchTensor x = call.tensor("input"), weight = call.tensor("weight");
  const auto bias = call.optional_tensor("bias");
  if (weight.ndim() != 2) call.fail("a weight of " + std::to_string(weight.ndim()) + " axes is not known");
  if (x.ndim() == 2) {
    Names inputs{x.value, weight.value};
    if (bias) inputs.push_back(bias->value);
    return {call.emit("Gemm", inputs, {{"transB", int64_t{1}}})};
  }
  const std::string product = call.emit("MatMul", {x.value, transposed_matrix(call, weight)});
  return {bias ? call.emit("Add", {product, bias->value}) : product};
}

double factor(TorchCall& call, const char* name) { return call.number(name, Scalar(1)).as_double(); }

Names addmm(TorchCall& call) {
  const Names inputs{call.tensor("mat1").value, call.tensor("mat2").value, call.tensor("self").value};
  return {call.emit("Gemm", inputs, {{"alpha", factor(call, "alpha")}, {"beta", factor(call, "beta")}})};
}

Names baddbmm(TorchCall& call) {
  const TorchTensor shift = call.tensor("self");
  const Scalar alpha = call.number("alpha", Scalar(1)), beta = call.number("beta", Scalar(1));
  std::string product = call.emit("MatMul", {call.tensor("batch1").value, call.tensor("batch2").value});
  std::string more = shift.value;
  if (alpha.as_double() != 1) product = call.emit("Mul", {product, call.constant(alpha, shift.dtype)});
  if (beta.as_double() == 0) return {product};
  if (beta.as_double() != 1) more = call.emit("Mul", {more, call.constant(beta, shift.dtype)});
  return {call.emit("Add", {more, product})};
}

Names matmul(TorchCall& call) {
  const char* const second = call.has("mat2")    ? "mat2"
                             : call.has("other") ? "other"
                             : call.has("vec")   ? "vec"
                                                 : "tensor";
  return {call.emit("MatMul", {call.tensor("self").value, call.tensor(second).value})};
}

/// The products of all pairs of elements.
Names outer(TorchCall& call) {
  const std::string column = call.unsqueezed(call.operand("self", call.result().dtype), {1});
  return {call.emit("Mul", {column, call.operand("vec2", call.result().dtype)})};
}

Names einsum(TorchCall& call) {
  Names operands;
  for (const auto& x : call.tensors("tensors")) operands.push_back(x.value);
  return {call.emit("Einsum", operands, {{"equation", call.text("equation", "")}})};
}

// Windows.

/// One number for each spatial axis; one number stands for all.
Integers spatial(TorchCall& call, const char* name, int rank, int64_t otherwise) {
  Integers list = call.integers(name, Integers{otherwise});
  if (list.empty()) list = {otherwise};
  if (list.size() == 1) list.resize(static_cast<size_t>(rank), list[0]);
  if (std::ssize(list) != rank) {
    call.fail("the argument '" + std::string(name) + "' has " + std::to_string(list.size()) + " numbers for " +
              std::to_string(rank) + " axes");
  }
  return list;
}

/// Margins before all axes, then behind them.
Integers both_sides(const Integers& padding) {
  Integers pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

/// What `make` gives for x of shape (images, channels, ...), also where x has no axis of images.
Names in_batch(TorchCall& call, const TorchTensor& x, int rank, const std::function<Names(const std::string&)>& make) {
  if (x.ndim() == rank + 2) return make(x.value);
  if (x.ndim() != rank + 1) {
    call.fail("an input of " + std::to_string(x.ndim()) + " axes does not have channels and " + std::to_string(rank) +
              " spatial axes");
  }
  Names results = make(call.unsqueezed(x.value, {0}));
  for (std::string& result : results) result = call.squeezed(result, {0});
  return results;
}

/// "same" of a stride of 1: the odd margin is behind.
Integers same_margins(TorchCall& call, const TorchTensor& weight, int rank, const Integers& dilation) {
  Integers pads(2 * static_cast<size_t>(rank));
  for (int k = 0; k < rank; ++k) {
    const auto at = static_cast<size_t>(k);
    int64_t all = 0;
    if (weight.extent(k + 2) < 1 || __builtin_mul_overflow(dilation[at], weight.extent(k + 2) - 1, &all)) {
      call.fail("padding 'same' needs a weight of known size");
    }
    pads[at] = all / 2;
    pads[at + static_cast<size_t>(rank)] = all - all / 2;
  }
  return pads;
}

Names convolve(TorchCall& call, bool is_transposed) {
  const TorchTensor x = call.tensor("input"), weight = call.tensor("weight");
  const int rank = weight.ndim() - 2;
  if (rank < 1 || rank > 3) call.fail("a weight of " + std::to_string(weight.ndim()) + " axes is not known");
  const Integers dilation = spatial(call, "dilation", rank, 1);
  Attributes attributes{
      {"strides", spatial(call, "stride", rank, 1)}, {"dilations", dilation}, {"group", call.integer("groups", 1)}};
  if (call.is_text("padding")) {
    const std::string mode = call.text("padding", "");
    if (mode == "same") attributes["pads"] = same_margins(call, weight, rank, dilation);
    if (mode != "same" && mode != "valid") call.fail("padding '" + mode + "' is not known");
  } else {
    attributes["pads"] = both_sides(spatial(call, "padding", rank, 0));
  }
  const Integers more = spatial(call, "output_padding", rank, 0);
  if (is_transposed) attributes["output_padding"] = more;
  const auto bias = call.optional_tensor("bias");
  return in_batch(call, x, rank, [&](const std::string& batch) {
    Names inputs{batch, weight.value};
    if (bias) inputs.push_back(bias->value);
    return Names{call.emit(is_transposed ? "ConvTranspose" : "Conv", inputs, attributes)};
  });
}
Names conv(TorchCall& call) { return convolve(call, false); }
Names conv_transpose(TorchCall& call) { return convolve(call, true); }
Names convolution(TorchCall& call) { return convolve(call, call.flag("transposed", false)); }

Attributes window_attributes(TorchCall& call, int rank) {
  const Integers kernel = spatial(call, "kernel_size", rank, 1);
  const bool has_stride = call.has("stride") && !call.integers("stride").empty();
  return {{"kernel_shape", kernel},
          {"strides", has_stride ? spatial(call, "stride", rank, 1) : kernel},
          {"pads", both_sides(spatial(call, "padding", rank, 0))},
          {"ceil_mode", int64_t{call.flag("ceil_mode", false)}}};
}

/// The largest elements and, where they are used, their places in the plane of an image's channel.
Names max_pooled(TorchCall& call, const TorchTensor& x, int rank, const Attributes& attributes) {
  const bool wants_places = call.result_count() > 1 && call.is_used(1);
  return in_batch(call, x, rank, [&](const std::string& batch) {
    Names results = call.emit(wants_places ? 2 : 1, "MaxPool", {batch}, attributes);
    if (!wants_places) return results;
    std::string plane = call.emit("Shape", {batch}, {{"start", int64_t{2}}});
    plane = call.emit("ReduceProd", {plane}, {{"keepdims", int64_t{0}}});
    results[1] = call.emit("Mod", {results[1], plane});
    return results;
  });
}

Names max_pool(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int rank = rank_in(call.name());
  Attributes attributes = window_attributes(call, rank);
  attributes["dilations"] = spatial(call, "dilation", rank, 1);
  return max_pooled(call, x, rank, attributes);
}

Names avg_pool(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int rank = rank_in(call.name());
  Attributes attributes = window_attributes(call, rank);
  attributes["count_include_pad"] = int64_t{call.flag("count_include_pad", true)};
  double scale = 1;
  if (call.has("divisor_override")) {
    attributes["count_include_pad"] = int64_t{1};
    if (call.flag("ceil_mode", false)) call.fail("divisor_override with ceil_mode is not known");
    scale = 1 / static_cast<double>(call.integer("divisor_override"));
    for (int64_t extent : spatial(call, "kernel_size", rank, 1)) scale *= static_cast<double>(extent);
  }
  return in_batch(call, x, rank, [&](const std::string& batch) {
    const std::string y = call.emit("AveragePool", {batch}, attributes);
    return Names{scale == 1 ? y : call.emit("Mul", {y, call.constant(scale, x.dtype)})};
  });
}

/// The extents of the spatial axes of an adaptive pool's result; -1 keeps an axis, whose extent a run may decide.
Integers pooled_extents(TorchCall& call, const TorchTensor& x, int rank) {
  constexpr int64_t kMost = 1 << 24;
  const std::vector<TorchSize> wanted = call.sizes("output_size");
  if (std::ssize(wanted) != rank && wanted.size() != 1) {
    call.fail("the argument 'output_size' has " + std::to_string(wanted.size()) + " numbers for " +
              std::to_string(rank) + " axes");
  }
  if (x.ndim() < rank) call.fail("the input has " + std::to_string(x.ndim()) + " axes");
  const std::vector<Extent>& made = call.result().shape;
  Integers extents;
  for (int k = 0; k < rank; ++k) {
    const auto from_last = static_cast<size_t>(rank - k);
    const Extent& in = x.shape[x.shape.size() - from_last];
    const TorchSize& out = wanted[wanted.size() == 1 ? 0 : static_cast<size_t>(k)];
    const std::string symbol = made.size() >= from_last ? made[made.size() - from_last].symbol : "";
    const bool is_kept = !out.name.empty() && !in.symbol.empty() && symbol == in.symbol;
    if (!out.name.empty() && !is_kept) call.fail("a result's extent that is no number must be the input's");
    if (!is_kept && (out.value < 1 || out.value > kMost)) {
      call.fail("pooling an axis of " + (in.value < 0 ? "any extent" : std::to_string(in.value)) + " to " +
                std::to_string(out.value) + " is not known");
    }
    extents.push_back(is_kept || out.value == in.value ? -1 : out.value);
  }
  return extents;
}

bool is_all_of(const Integers& list, int64_t value) {
  return std::ranges::all_of(list, [&](int64_t each) { return each == value; });
}

Names adaptive_avg_pool(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int rank = rank_in(call.name());
  const Integers extents = pooled_extents(call, x, rank);
  if (is_all_of(extents, -1)) return {x.value};
  if (!is_all_of(extents, 1)) {
    return in_batch(call, x, rank, [&](const std::string& batch) {
      return Names{call.emit("AdaptiveAveragePool", {batch}, {{"output_size", extents}})};
    });
  }
  Integers axes;
  for (int axis = x.ndim() - rank; axis < x.ndim(); ++axis) axes.push_back(axis);
  return {call.emit("ReduceMean", {x.value, call.constant(axes)}, {{"keepdims", int64_t{1}}})};
}

/// The places of the largest elements are known of windows without overlaps alone.
Names adaptive_max_pool(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  const int rank = rank_in(call.name());
  const Integers extents = pooled_extents(call, x, rank);
  Integers kernel;
  for (int k = 0; k < rank; ++k) {
    const int64_t in = x.extent(x.ndim() - rank + k), given = extents[static_cast<size_t>(k)];
    const int64_t out = given < 0 ? in : given;
    if (in >= 1 && in % out == 0) kernel.push_back(in / out);
  }
  if (std::ssize(kernel) == rank) return max_pooled(call, x, rank, {{"kernel_shape", kernel}, {"strides", kernel}});
  if (call.result_count() > 1 && call.is_used(1)) {
    call.fail(
        "for the places of the largest elements the result's extents must divide the input's, which must be known");
  }
  return in_batch(call, x, rank, [&](const std::string& batch) {
    return Names{call.emit("AdaptiveMaxPool", {batch}, {{"output_size", extents}})};
  });
}

// Normalizations.

double epsilon_of(TorchCall& call) { return call.number("eps", Scalar(1e-5)).as_double(); }

/// The argument, or as many equal numbers.
std::string or_filled(TorchCall& call, const char* name, int64_t count, double number, Dtype dtype) {
  const auto given = call.optional_tensor(name);
  if (!given && count < 0) call.fail("the number of channels must be known");
  return given ? given->value : call.filled(count, Scalar(number), dtype);
}

int64_t channels_of(TorchCall& call, const TorchTensor& x) {
  if (x.ndim() < 2) call.fail("the input has " + std::to_string(x.ndim()) + " axes; two at least are needed");
  return x.extent(1);
}

Names normalized_by(TorchCall& call, const TorchTensor& x) {
  const int64_t channels = channels_of(call, x);
  const Names inputs{x.value, or_filled(call, "weight", channels, 1, x.dtype),
                     or_filled(call, "bias", channels, 0, x.dtype), call.tensor("running_mean").value,
                     call.tensor("running_var").value};
  return {call.emit("BatchNormalization", inputs, {{"epsilon", epsilon_of(call)}})};
}

/// A number for each channel, against x of shape (images, channels, ...).
std::string by_channel(TorchCall& call, const TorchTensor& x, const TorchTensor& numbers) {
  Integers axes;
  for (int axis = 2; axis < x.ndim(); ++axis) axes.push_back(axis - 1);
  return call.unsqueezed(numbers.value, axes);
}

/// By the mean and variance of each channel of the batch itself.
Names normalized_by_batch(TorchCall& call, const TorchTensor& x) {
  Integers axes;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (axis != 1) axes.push_back(axis);
  }
  const std::string over = call.constant(axes);
  std::string y = call.emit("Sub", {x.value, call.emit("ReduceMean", {x.value, over})});
  const std::string variance = call.emit("ReduceMean", {call.emit("Mul", {y, y}), over});
  const std::string epsilon = call.constant(call.number("eps", Scalar(1e-5)), x.dtype);
  y = call.emit("Div", {y, call.emit("Sqrt", {call.emit("Add", {variance, epsilon})})});
  if (const auto weight = call.optional_tensor("weight")) y = call.emit("Mul", {y, by_channel(call, x, *weight)});
  if (const auto bias = call.optional_tensor("bias")) y = call.emit("Add", {y, by_channel(call, x, *bias)});
  return {y};
}

Names batch_norm(TorchCall& call) {
  const TorchTensor x = call.tensor("input");
  const bool is_trained = call.flag("training", false);
  if (!call.has("running_mean")) return normalized_by_batch(call, x);
  if (is_trained) call.fail("it learns the statistics of each batch; call the module's eval() before it is exported");
  return normalized_by(call, x);
}

Names instance_norm(TorchCall& call) {
  const TorchTensor x = call.tensor("input");
  if (!call.flag("use_input_stats", true)) return normalized_by(call, x);
  for (const char* name : {"running_mean", "running_var"}) call.ignore(name);
  const int64_t channels = channels_of(call, x);
  const Names inputs{x.value, or_filled(call, "weight", channels, 1, x.dtype),
                     or_filled(call, "bias", channels, 0, x.dtype)};
  return {call.emit("InstanceNormalization", inputs, {{"epsilon", epsilon_of(call)}})};
}

/// The weight of a normalization over the last axes, of `shape`.
std::string weight_of_shape(TorchCall& call, const Integers& shape, Dtype dtype) {
  const auto given = call.optional_tensor("weight");
  if (given) return given->value;
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) call.fail("its shape is too large");
  }
  return call.reshaped(call.filled(count, Scalar(1.0), dtype), shape);
}

Names layer_norm(TorchCall& call) {
  const TorchTensor x = call.tensor("input");
  const Integers shape = call.integers("normalized_shape");
  Names inputs{x.value, weight_of_shape(call, shape, x.dtype)};
  if (const auto bias = call.optional_tensor("bias")) inputs.push_back(bias->value);
  const size_t count = call.is_used(1) || call.is_used(2) ? 3 : 1;
  return call.emit(count, "LayerNormalization", inputs, {{"axis", -std::ssize(shape)}, {"epsilon", epsilon_of(call)}});
}

Names rms_norm(TorchCall& call) {
  const TorchTensor x = call.tensor("input");
  const Integers shape = call.integers("normalized_shape");
  const double least = x.dtype == Dtype::float64    ? 0x1p-52
                       : x.dtype == Dtype::float16  ? 0x1p-10
                       : x.dtype == Dtype::bfloat16 ? 0x1p-7
                                                    : 0x1p-23;
  const double epsilon = call.number("eps", Scalar(least)).as_double();
  return {call.emit("RMSNormalization", {x.value, weight_of_shape(call, shape, x.dtype)},
                    {{"axis", -std::ssize(shape)}, {"epsilon", epsilon}})};
}

Names group_norm(TorchCall& call) {
  const TorchTensor x = call.tensor("input");
  const int64_t channels = channels_of(call, x);
  const Names inputs{x.value, or_filled(call, "weight", channels, 1, x.dtype),
                     or_filled(call, "bias", channels, 0, x.dtype)};
  for (const char* name : {"N", "C", "HxW"}) call.ignore(name);  // the input's extents
  return {call.emit(
      "GroupNormalization", inputs,
      {{"num_groups", call.integer(call.has("group") ? "group" : "num_groups")}, {"epsilon", epsilon_of(call)}})};
}

Names softmax(TorchCall& call) {
  const TorchTensor x = call.tensor("self");
  if (call.flag("half_to_float", false)) call.ignore("half_to_float");
  call.ignore("dtype");
  const std::string converted = call.cast(x.value, x.dtype, call.result().dtype);
  if (x.ndim() == 0) call.fail("the input has no axes");
  return {call.emit(call.op(), {converted}, {{"axis", int64_t{call.axis("dim", x.ndim())}}})};
}

// Attention.

/// (batch, heads, length, width); an input without heads has one.
Names attention(TorchCall& call) {
  const TorchTensor q = call.tensor("query"), k = call.tensor("key"), v = call.tensor("value");
  const bool has_heads = q.ndim() == 4;
  if (call.number("dropout_p", Scalar(0.0)).as_double() != 0) {
    call.fail("it drops elements at random; call the module's eval() before it is exported");
  }
  call.flag("enable_gqa", false);
  if ((q.ndim() != 4 && q.ndim() != 3) || k.ndim() != q.ndim() || v.ndim() != q.ndim()) {
    call.fail("queries of " + std::to_string(q.ndim()) + " axes, keys of " + std::to_string(k.ndim()) +
              " and values of " + std::to_string(v.ndim()) + " are not known");
  }
  Names inputs;
  for (const TorchTensor* x : {&q, &k, &v}) {
    inputs.push_back(has_heads ? x->value : call.unsqueezed(x->value, {1}));
  }
  if (const auto mask = call.optional_tensor("attn_mask")) {
    inputs.push_back(!has_heads && mask->ndim() == 3 ? call.unsqueezed(mask->value, {1}) : mask->value);
  }
  Attributes attributes{{"is_causal", int64_t{call.flag("is_causal", false)}}};
  if (call.has("scale")) attributes["scale"] = call.number("scale").as_double();
  const std::string y = call.emit("Attention", inputs, attributes);
  return {has_heads ? y : call.squeezed(y, {1})};
}

constexpr TorchOperator kRows[] = {
    {"_adaptive_avg_pool2d", adaptive_avg_pool},
    {"_adaptive_avg_pool3d", adaptive_avg_pool},
    {"_log_softmax", softmax, "LogSoftmax"},
    {"_native_batch_norm_legit", batch_norm},
    {"_native_batch_norm_legit_no_training", batch_norm},
    {"_safe_softmax", softmax, "Softmax"},
    {"_scaled_dot_product_flash_attention_for_cpu", attention},
    {"_softmax", softmax, "Softmax"},
    {"adaptive_avg_pool1d", adaptive_avg_pool},
    {"adaptive_avg_pool2d", adaptive_avg_pool},
    {"adaptive_avg_pool3d", adaptive_avg_pool},
    {"adaptive_max_pool1d", adaptive_max_pool},
    {"adaptive_max_pool2d", adaptive_max_pool},
    {"adaptive_max_pool3d", adaptive_max_pool},
    {"addmm", addmm},
    {"avg_pool1d", avg_pool},
    {"avg_pool2d", avg_pool},
    {"avg_pool3d", avg_pool},
    {"baddbmm", baddbmm},
    {"batch_norm", batch_norm},
    {"bmm", matmul},
    {"conv1d", conv},
    {"conv2d", conv},
    {"conv3d", conv},
    {"conv_transpose1d", conv_transpose},
    {"conv_transpose2d", conv_transpose},
    {"conv_transpose3d", conv_transpose},
    {"convolution", convolution},
    {"dot", matmul},
    {"einsum", einsum},
    {"group_norm", group_norm},
    {"instance_norm", instance_norm},
    {"layer_norm", layer_norm},
    {"linear", linear},
    {"log_softmax", softmax, "LogSoftmax"},
    {"matmul", matmul},
    {"max_pool1d", max_pool},
    {"max_pool1d_with_indices", max_pool},
    {"max_pool2d", max_pool},
    {"max_pool2d_with_indices", max_pool},
    {"max_pool3d", max_pool},
    {"max_pool3d_with_indices", max_pool},
    {"mm", matmul},
    {"mv", matmul},
    {"native_group_norm", group_norm},
    {"native_layer_norm", layer_norm},
    {"outer", outer},
    {"rms_norm", rms_norm},
    {"scaled_dot_product_attention", attention},
    {"softmax", softmax, "Softmax"},
};

}  // namespace

std::span<const TorchOperator> torch_layer_operators() { return kRows; }

}  // namespace iruka::nn
