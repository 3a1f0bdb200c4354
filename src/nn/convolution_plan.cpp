#include "nn/convolution_plan.h"

#include <algorithm>
#include <cstdlib>

#include "ops/views.h"

namespace iruka::nn {
namespace {

/// A block's copy of its input should lie in the second-level cache.
constexpr int64_t kWantedBytes = 160 << 10, kMostBytes = 227 << 10;
constexpr int64_t kMostRows = 64;
/// Blocks of the grid for each thread, so that threads end together.
constexpr int64_t kBlocksPerThread = 12;

int64_t divided(int64_t count, int64_t size) { return (count + size - 1) / size; }

double product(std::initializer_list<int64_t> factors) {
  double all = 1;
  for (const int64_t factor : factors) all *= static_cast<double>(factor);
  return all;
}

/// How many sums of vectors of pixels registers hold.
struct PixelRegisters {
  int block, most;  ///< outputs at once, vectors at once
};
PixelRegisters pixel_registers(int block, int lanes) {
  return {block, std::min(block == 1 ? 6 : 8, (lanes >= 16 ? 24 : 12) / block)};
}
int pixel_block(int64_t outputs, int lanes) { return outputs == 1 ? 1 : outputs <= 4 || lanes < 16 ? 4 : 8; }

/// The numbers of src/nn/kernels/cpu/convolution_outputs.h.
struct OutputRegisters {
  int64_t most, strip = 96, beyond = 16;
  explicit OutputRegisters(int lanes) : most(lanes >= 16 ? 4 : 2) {}
};

/// Whether the kernel's 32-bit places of an axis, those in its margins included, do not overflow.
bool are_places_small(const Window& window, size_t axis) {
  const int64_t reach = window.kernel[axis] * window.dilation[axis];
  const int64_t steps = (window.out[axis] + 1) * window.stride[axis];
  return window.in[axis] + std::abs(window.before[axis]) + std::abs(window.behind[axis]) + 2 * reach + steps <
         INT32_MAX / 2;
}

/// Whether all windows lie inside of the image.
bool is_without_margins(const Convolution& conv) {
  const auto is_inside = [&](size_t axis) {
    const int64_t reach = int64_t{conv.kernel[axis] - 1} * conv.dilation[axis];
    return conv.before[axis] == 0 && (conv.out[axis] - int64_t{1}) * conv.stride[axis] + reach < conv.in[axis];
  };
  return is_inside(0) && is_inside(1);
}

/// Vectors of outputs waste no lanes where rows are short, but sums must be turned around, and one vector alone keeps
/// few sums in registers. The numbers are products that an element costs, fitted to times of 40 layers.
ConvolutionForm form_of(const Convolution& conv, int lanes) {
  if (conv.channels == 1 && conv.outputs < 4 && conv.stride[1] <= 2) return ConvolutionForm::depthwise;
  const double steps = product({conv.channels, conv.kernel[0], conv.kernel[1]});
  const int64_t block = pixel_block(conv.outputs, lanes), reach = (conv.kernel[1] - 1) * conv.dilation[1];
  const int64_t columns = conv.out[1] + reach / conv.stride[1];
  const double in_rows = product({conv.out[0], divided(conv.out[1], lanes)});
  const double through = static_cast<double>(divided((conv.out[0] - 1) * columns + conv.out[1], lanes));
  const double by_pixels = product({divided(conv.outputs, block), block, lanes}) * std::min(in_rows, through);
  const double by_outputs = product({divided(conv.outputs, lanes), lanes, conv.out[0], conv.out[1]});
  const double of_one_vector = conv.outputs <= lanes ? 1.25 : 1;
  return by_outputs * of_one_vector * (1.05 * steps + 28) < by_pixels * (1.1 * steps + 25) ? ConvolutionForm::outputs
                                                                                           : ConvolutionForm::pixels;
}

/// The most rows of which `bytes` are wanted, and fewer where threads would have no blocks else; then as many in each
/// block. 0: even one row is too large.
template <class Bytes>
int64_t rows_of(const Convolution& conv, int64_t planes, int64_t wanted_blocks, int64_t wanted_bytes, Bytes&& bytes) {
  int64_t rows = std::min<int64_t>(conv.out[0], kMostRows);
  while (rows > 1 && bytes(rows) > static_cast<double>(wanted_bytes)) --rows;
  if (rows < 1 || bytes(rows) > static_cast<double>(kMostBytes)) return 0;
  const int64_t least = divided(OutputRegisters(16).strip, std::max(conv.out[1], 1));
  const int64_t shared = conv.out[0] / std::max<int64_t>(1, divided(wanted_blocks, planes));
  rows = std::min(rows, std::max({least, shared, int64_t{1}}));
  return divided(conv.out[0], divided(conv.out[0], rows));
}

void plan_pixels(ConvolutionPlan& plan, const Window& window, int64_t planes, int lanes, int64_t wanted_blocks) {
  Convolution& conv = plan.extents;
  const PixelRegisters registers = pixel_registers(plan.kind.block, lanes);
  int64_t quotient[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const int32_t reach = (conv.kernel[axis] - 1) * conv.dilation[axis];
    conv.phases[axis] = std::min(reach + 1, conv.stride[axis]);
    quotient[axis] = reach / conv.stride[axis];
  }
  const int64_t columns = conv.out[1] + quotient[1], in_row = divided(conv.out[1], lanes);
  const bool has_rows = in_row * lanes <= columns;
  const auto vectors = [&](int64_t rows) {
    return has_rows ? rows * in_row : divided((rows - 1) * columns + conv.out[1], lanes);
  };
  const auto bytes = [&](int64_t rows) {
    return 4 * (product({conv.channels, conv.phases[0], conv.phases[1], rows + quotient[0], columns}) +
                product({2 + registers.block * vectors(rows), lanes}) +
                product({conv.channels, conv.kernel[0], conv.kernel[1]}));
  };
  const int64_t rows = rows_of(conv, planes, wanted_blocks, kWantedBytes, bytes);
  plan.fits = rows > 0;
  if (!plan.fits) return;
  plan.bytes = static_cast<int64_t>(bytes(rows));
  conv.rows = static_cast<int32_t>(rows), conv.columns = static_cast<int32_t>(columns);
  conv.plane = static_cast<int32_t>((rows + quotient[0]) * columns);
  conv.channel = conv.plane * conv.phases[0] * conv.phases[1];
  conv.vectors = static_cast<int32_t>(vectors(rows)), conv.in_row = has_rows ? static_cast<int32_t>(in_row) : 0;
  conv.is_direct = window.is_pointwise() ? 1 : 0;
}

void plan_outputs(ConvolutionPlan& plan, int64_t planes, int lanes, int64_t wanted_blocks) {
  Convolution& conv = plan.extents;
  const OutputRegisters registers(lanes);
  const int64_t reach[] = {int64_t{conv.kernel[0] - 1} * conv.dilation[0],
                           int64_t{conv.kernel[1] - 1} * conv.dilation[1]};
  const int64_t columns = int64_t{conv.out[1] - 1} * conv.stride[1] + reach[1] + 1;
  const int64_t vectors = divided(conv.outputs, lanes),
                steps = int64_t{conv.channels} * conv.kernel[0] * conv.kernel[1];
  conv.is_direct = is_without_margins(conv) ? 1 : 0;
  const auto seen = [&](int64_t rows) { return (rows - 1) * conv.stride[0] + reach[0] + 1; };
  const auto bytes = [&](int64_t rows) {
    const double copy = conv.is_direct ? 0 : product({conv.channels, seen(rows), columns});
    return 4 * (product({(registers.strip + registers.beyond) * registers.most + registers.strip, lanes}) +
                static_cast<double>(steps) + product({rows, conv.out[1]}) + copy);
  };
  // Each block reads all of its weights, so that those beyond the cache should be read by few blocks.
  const bool has_many_weights = steps * conv.outputs * 4 > (int64_t{1} << 20);
  const int64_t most_parts = divided(vectors, registers.most);
  const int64_t rows =
      rows_of(conv, planes * most_parts, wanted_blocks, has_many_weights ? kMostBytes : kWantedBytes, bytes);
  plan.fits = rows > 0;
  if (!plan.fits) return;
  plan.bytes = static_cast<int64_t>(bytes(rows));
  conv.rows = static_cast<int32_t>(rows), conv.columns = static_cast<int32_t>(columns);
  conv.channel = static_cast<int32_t>(seen(rows) * columns);
  const int64_t blocks = planes * divided(conv.out[0], rows);
  conv.parts = static_cast<int32_t>(std::clamp<int64_t>(divided(wanted_blocks, blocks), 1, most_parts));
}

}  // namespace

ConvolutionPlan convolution_plan(const Window& window, const ConvolutionSize& size, int lanes, int threads) {
  ConvolutionPlan plan;
  const bool fits = window.rank <= 2 && are_places_small(window, 1) && are_places_small(window, 2) &&
                    product({size.images, size.groups, size.outputs, window.out[1], window.out[2]}) < INT32_MAX &&
                    product({size.images, size.groups, size.channels, window.in[1], window.in[2]}) < INT32_MAX &&
                    product({size.outputs, size.channels, window.kernel[1], window.kernel[2]}) < INT32_MAX;
  if (!fits) return plan;
  Convolution& conv = plan.extents;
  conv.groups = static_cast<int32_t>(size.groups), conv.channels = static_cast<int32_t>(size.channels);
  conv.outputs = static_cast<int32_t>(size.outputs), conv.parts = 1;
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto take = [&](const Spatial& values) { return static_cast<int32_t>(values[axis + 1]); };
    conv.in[axis] = take(window.in), conv.out[axis] = take(window.out), conv.kernel[axis] = take(window.kernel);
    conv.stride[axis] = take(window.stride), conv.dilation[axis] = take(window.dilation),
    conv.before[axis] = take(window.before);
  }
  const int64_t planes = std::max<int64_t>(1, size.images * size.groups);
  const int64_t wanted_blocks = threads > 1 ? threads * kBlocksPerThread : 1;
  plan.kind.form = form_of(conv, lanes);
  if (plan.kind.form == ConvolutionForm::depthwise) {
    plan.kind.block = 1;
    constexpr int64_t kPixels = 1 << 14;
    const auto bytes = [&](int64_t rows) { return rows * conv.out[1] > kPixels ? kWantedBytes + 1.0 : 0; };
    conv.rows = static_cast<int32_t>(rows_of(conv, planes, wanted_blocks, kWantedBytes, bytes));
    plan.fits = conv.rows > 0;
  }
  if (plan.kind.form == ConvolutionForm::outputs) {
    plan.kind.block = lanes;
    plan_outputs(plan, planes, lanes, wanted_blocks);
    if (!plan.fits) plan.kind.form = ConvolutionForm::pixels;  // needs less memory
  }
  if (plan.kind.form == ConvolutionForm::pixels) {
    plan.kind.block = pixel_block(size.outputs, lanes);
    plan_pixels(plan, window, planes, lanes, wanted_blocks);
  }
  if (!plan.fits) return plan;
  plan.blocks = size.images * size.groups * divided(conv.out[0], conv.rows) * conv.parts;
  plan.fits = plan.blocks < INT32_MAX;
  return plan;
}

ConvolutionText convolution_text(const ConvolutionKind& kind, int lanes) {
  const std::string width = std::to_string(lanes), folder = "nn/kernels/cpu/";
  switch (kind.form) {
    case ConvolutionForm::outputs: return {folder + "convolution_outputs.h", "OutputConvolution<" + width + ">"};
    case ConvolutionForm::depthwise: return {folder + "convolution_depthwise.h", "DepthwiseConvolution<" + width + ">"};
    default: break;
  }
  const PixelRegisters registers = pixel_registers(kind.block, lanes);
  return {folder + "convolution_pixels.h", "PixelConvolution<" + width + ", " + std::to_string(registers.block) + ", " +
                                               std::to_string(registers.most) + ">"};
}

Array packed_weights(const Array& given, int64_t groups, const ConvolutionKind& kind) {
  const Array weights = given.contiguous();
  const int64_t block = kind.block, outputs = weights.shape(0) / groups;
  const int64_t steps = weights.shape(1) * extent_between(weights, 2, weights.ndim()), blocks = divided(outputs, block);
  const Array made = Array::empty({groups, blocks, steps, block}, Dtype::float32, cpu());
  const auto* from = static_cast<const float*>(weights.data());
  auto* to = static_cast<float*>(made.data());
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t first = 0; first < blocks * block; first += block) {
      for (int64_t k = 0; k < steps; ++k) {
        for (int64_t b = 0; b < block; ++b) {
          *to++ = first + b < outputs ? from[(group * outputs + first + b) * steps + k] : 0;
        }
      }
    }
  }
  return made;
}

}  // namespace iruka::nn
