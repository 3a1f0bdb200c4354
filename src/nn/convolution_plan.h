// How a convolution of float32 numbers runs on a processor with vectors: which form of loops, and which part of the
// result a block of the grid computes.
#pragma once

#include <string>

#include "nn/operators/window.h"

namespace iruka::nn {

/// What src/nn/kernels/cpu/convolution.h describes.
struct Convolution {
  int32_t groups, channels, outputs;
  int32_t in[2], out[2], kernel[2], stride[2], dilation[2], before[2];
  int32_t rows, parts, phases[2], columns, plane, channel, vectors, in_row, is_direct;
};

/// Channels and outputs are those of one group.
struct ConvolutionSize {
  int64_t images, groups, channels, outputs;
};

/// The loops of a kernel, each with a header of its own in src/nn/kernels/cpu.
enum class ConvolutionForm : uint8_t { pixels, outputs, depthwise };

/// A form and the number of weights that are neighbours.
struct ConvolutionKind {
  ConvolutionForm form;
  int block;
  bool operator==(const ConvolutionKind&) const = default;
};

/// One launch: the extents of a convolution and its grid.
struct ConvolutionPlan {
  bool fits = false;  ///< else the kernels do not take it
  ConvolutionKind kind{};
  Convolution extents{};
  int64_t blocks = 0, bytes = 0;  ///< of the grid; of memory of each
};

/// `lanes`: floats of a vector; `threads`: that share the blocks. The result does not depend on them.
ConvolutionPlan convolution_plan(const Window& window, const ConvolutionSize& size, int lanes, int threads);

/// The header and the type of a kernel's loops.
struct ConvolutionText {
  std::string header, type;
};
ConvolutionText convolution_text(const ConvolutionKind& kind, int lanes);

/// Weights in the order in which a kind's loops read them: (groups, blocks of outputs, channels, places of the kernel,
/// block), with zeros for outputs beyond the last.
Array packed_weights(const Array& weights, int64_t groups, const ConvolutionKind& kind);

}  // namespace iruka::nn
