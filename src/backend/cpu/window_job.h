// What the loops of convolutions and pooling are given (window_lanes.h). All arrays have the channels last, so that
// the channels of a pixel are neighbours.
#pragma once

#include <cstdint>

#include "core/convolution_function.h"

namespace iruka::cpu_backend {

/// Elements of the source that follow each other, of which each is multiplied by a group of vectors of weights.
struct TapRun {
  int64_t offset;   ///< from the window's first place
  int64_t length;   ///< elements
  int64_t weights;  ///< the number of the first element's weights
};

/// What becomes of a sum, and where it goes.
template <class T>
struct WindowResult {
  T* data;            ///< of the result
  const T* residual;  ///< added, at the same places; or null
  const T* bias;      ///< with which sums begin, a number for each output and lanes beyond the last
  ConvolutionFunction function;
  T numbers[2];  ///< of the function
};

/// Pixels whose windows see the same runs.
template <class T>
struct PixelBlock {
  const T* source;
  const int64_t* places;   ///< where the window of each pixel begins in the source; kSparePlaces more behind the last
  const int64_t* results;  ///< where each pixel's first output lies in the result
  int64_t pixels;
  const TapRun* runs;
  const int64_t* ends;  ///< of the runs of each chunk, whose weights stay in the cache from pixel to pixel
  int64_t chunks;
  T* sums;  ///< memory for the sums between chunks: of `outputs` for each pixel and kSpareTiles tiles
};

/// Up to most_vectors() vectors of outputs, the last of which may have fewer outputs than lanes.
template <class T>
struct OutputBlock {
  int64_t vectors, outputs;
  const T* weights;  ///< (steps, vectors, lanes); a step is an element of a run
  WindowResult<T> result;
};

/// Vectors of outputs at once, by the size of the registers.
constexpr int64_t most_vectors(int64_t bytes) { return bytes >= 64 ? 4 : 2; }
/// What tiles may have beyond the last pixel: elements of sums, and places.
inline constexpr int64_t kSpareSums = 512, kSparePlaces = 16;

/// One channel by itself, for each channel: weights (taps, channels).
template <class T>
struct ChannelBlock {
  PixelBlock<T> pixels;  ///< without chunks and sums; a run is one tap, whose weights are a row
  int64_t taps, channels;
  const T* weights;
  WindowResult<T> result;
};

/// A row of pixels of few outputs: vectors of neighbouring pixels.
template <class T>
struct PlanarRow {
  const T* source;         ///< what the first pixel's window sees, with room for a vector behind the last pixel
  const int64_t* offsets;  ///< of the elements of a window: of each step
  int64_t steps, pixels, outputs;
  const T* weights;  ///< (outputs, steps)
  const T* bias;     ///< with which sums begin: of each output
  T* result;
  const T* residual;  ///< added, at the same places; or null
  int64_t output;     ///< elements from output to output of the result
  ConvolutionFunction function;
  T numbers[2];  ///< of the function
};

/// The columns of a row that a window sees.
template <class T>
struct PoolColumn {
  int64_t offset, count;  ///< elements from the row's beginning to the first one, and how many there are
  T divisor;              ///< of a mean
};
/// The largest or the mean of what each window of a row sees.
template <class T>
struct PoolRow {
  const T* source;  ///< the first row that the windows see
  int64_t planes, rows;
  int64_t step[3];  ///< elements between neighbours of each axis
  int64_t channels, pixels;
  const PoolColumn<T>* columns;  ///< of each pixel
  bool is_mean;
  T* result;
};

/// Functions of the elements of a vector of doubles, which take and give vectors of the loops' size.
struct VectorMath {
  void *exp, *expm1, *log1p, *tanh, *erf;
};

/// The loops of one instruction set.
template <class T>
struct WindowLoopsOf {
  void (*convolve)(const PixelBlock<T>&, const OutputBlock<T>&);
  void (*convolve_channels)(const ChannelBlock<T>&);
  void (*convolve_planar)(const PlanarRow<T>&);
  void (*pool)(const PoolRow<T>&);
  /// Replaces numbers by a costly function of them and its two numbers.
  void (*apply)(ConvolutionFunction, const T* numbers, T* data, int64_t count);
};
struct WindowLoops {
  int64_t bytes;  ///< of a vector
  /// to[column * to_line + row] = from[row * line + column], for numbers of 4 bytes.
  void (*turn)(const float* from, int64_t line, int64_t rows, int64_t columns, float* to, int64_t to_line);
  WindowLoopsOf<float> singles;
  WindowLoopsOf<double> doubles;
  /// What costly functions are made of. Called once, before their first use.
  void (*set_math)(void* single_exp, const VectorMath& doubles);
};
namespace baseline {
extern const WindowLoops loops;
}
#if defined(__x86_64__)
namespace avx2 {
extern const WindowLoops loops;
}
namespace avx512 {
extern const WindowLoops loops;
}
#endif

}  // namespace iruka::cpu_backend
