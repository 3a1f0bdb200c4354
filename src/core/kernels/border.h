// What lies beyond the ends of a picture: one rule for kernels, for the CPU's loops and for the host.
#pragma once

#ifndef IRUKA_INLINE  // outside of kernels: a copy in each file, which are compiled for different processors
#define IRUKA_INLINE inline __attribute__((always_inline))
#endif

namespace iruka {

/// By NumPy's names. The numbers are those of image::Border.
enum BorderRule : int { kConstantBorder, kEdgeBorder, kReflectBorder, kSymmetricBorder, kWrapBorder };

/// The place within [0, extent) that stands for any place, or -1 for a constant.
template <class Integer> IRUKA_INLINE Integer place_within(int rule, Integer place, Integer extent) {
  if (place >= 0 && place < extent) return place;
  if (rule == kConstantBorder) return -1;
  if (rule == kEdgeBorder || extent == 1) return place < 0 ? 0 : extent - 1;
  const long long size = extent, mirrored_end = rule == kSymmetricBorder ? 2 * size - 1 : 2 * size - 2;
  const long long period = rule == kWrapBorder ? size : rule == kSymmetricBorder ? 2 * size : mirrored_end;
  const long long rest = (long long)place % period, at = rest < 0 ? rest + period : rest;
  return (Integer)(at < size ? at : mirrored_end - at);
}

}  // namespace iruka
