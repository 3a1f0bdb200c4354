// A sweep of PatchMatch by compiled loops.
#pragma once

#include <cstdint>

namespace iruka {

/// A sweep of PatchMatch (core/kernels/patch_search.h) over pictures of bytes with their borders, dense.
struct PatchSweep {
  /// Bytes that may be read behind the pictures.
  static constexpr int64_t kRoom = 64;

  int64_t patch = 1, channels = 1, kept = 1;
  const void *a = nullptr, *b = nullptr;
  int32_t sizes[7] = {};  ///< the numbers of SearchSizes
  const bool* mask = nullptr;
  const int32_t* before = nullptr;
  int32_t *labels = nullptr, *distances = nullptr;
  uint64_t seed = 0;
  int64_t sweep = 0, segment = 1, segments = 0;
};

}  // namespace iruka
