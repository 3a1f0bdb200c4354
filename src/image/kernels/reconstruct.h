// A picture that is rebuilt from patches of another one.
#pragma once

#include "core/kernels/border.h"

namespace iruka::image {

/// Sizes of the field and of the picture that patches come from.
struct Rebuilding {
  int height, width, b_height, b_width, channels, patch;
};

/// The mean of what the patches that cover place `i`, of (height, width, channels), lay there.
template <int kBorder, class T>
IRUKA_INLINE double mean_of_patches(const Rebuilding& job, const int* field, const T* b, ptrdiff_t i) {
  const int channel = int(i % job.channels), x = int(i / job.channels % job.width),
            y = int(i / job.channels / job.width);
  double sum = 0;
  int count = 0;
  for (int dy = 0; dy < job.patch; dy++) {
    for (int dx = 0; dx < job.patch; dx++) {
      // A patch begins patch / 2 pixels before its own pixel.
      const int own_y = y - dy + job.patch / 2, own_x = x - dx + job.patch / 2;
      if (own_y < 0 || own_y >= job.height || own_x < 0 || own_x >= job.width) continue;
      const int* const at = field + 2 * (ptrdiff_t(own_y) * job.width + own_x);
      if (at[0] < 0) continue;
      const int b_y = place_within(kBorder, at[0] + y - own_y, job.b_height);
      const int b_x = place_within(kBorder, at[1] + x - own_x, job.b_width);
      if (b_y >= 0 && b_x >= 0) sum += double(b[(ptrdiff_t(b_y) * job.b_width + b_x) * job.channels + channel]);
      count++;
    }
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace iruka::image
