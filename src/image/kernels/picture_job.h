// One picture of a launch, as the host writes it (image/geometry/by_kernel.cpp, image/filters/by_kernel.cpp) and
// kernels read it.
#pragma once

namespace iruka::image {

/// The inputs of outputs along an axis: core/resampling.h, AxisMap.
struct AxisTables {
  const int *start, *count;
  const void* weights;  ///< int16 or float32, (outputs, taps)
  long long taps;
};

/// Strides are in elements. Where a launch has one picture, its numbers are uniform.
struct PictureJob {
  long long end;       ///< threads of this picture and of those before it
  const void* source;  ///< the first element of the part that counts
  void* result;
  AxisTables rows, columns;
  const float* outside;  ///< the constant of each channel
  const float* numbers;  ///< of the steps: rows of means and of scales for all channels, or as color_pixel.h has them
  const float* const* lookups;  ///< tables of levels
  long long row, column, channel;
  long long result_row, result_column, result_channel;
  int result_height, result_width, channels;
  // Of a warp:
  int height, width;                 ///< of the part that counts
  float across_x, across_y, across;  ///< what places gain along a row
  const float* places;               ///< of the first output of each row: x, y and what divides them
  const float *map_y, *map_x;        ///< places by arrays
  long long map_line;
};

/// One picture of a launch of filters. Arrays are in C order.
struct FilterJob {
  long long end;               ///< as above
  const void *source, *other;  ///< `other`: what the result differs from, or null
  void* result;
  const void *outside, *weights;  ///< int or float: the constant of each channel, and a weight for each tap
  const int *tap_y, *tap_x;       ///< from the corner of the window
  int height, width, channels;
  int anchor_y, anchor_x, taps;
  int first_y, last_y, first_x, last_x;  ///< of the taps
  float scale;
};

}  // namespace iruka::image
