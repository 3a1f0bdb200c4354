// The service for exact patch matching by compiled loops. Other devices have kernels (src/image).
#pragma once

#include <cstdint>
#include <functional>

#include "core/kernels/border.h"
#include "core/patch_sweep.h"
#include "core/service.h"
#include "iruka/dtype.h"
#include "iruka/patch_matching.h"

namespace iruka {

using image::Border;

/// Two pictures with their channels last, dense. A patch of `patch` x `patch` pixels begins patch / 2 pixels above and
/// to the left of its pixel.
struct PatchMatching {
  struct Picture {
    const void* data = nullptr;
    int64_t height = 0, width = 0;
    int64_t pixels() const { return height * width; }
  };
  Dtype dtype = Dtype::uint8;  ///< an integer's, float32 or float64
  int64_t channels = 1, patch = 1;
  Picture a, b;
  Border border = Border::edge;
  int64_t kept = 1;                    ///< candidates of a pixel that are wanted
  const bool* mask = nullptr;          ///< the pixels of b that may be candidates; null: all
  int64_t window_y = 0, window_x = 0;  ///< the largest displacements
  int32_t* field = nullptr;            ///< (a.height, a.width, kept, 2): y and x in b; -1 where there is none
  void* distances = nullptr;           ///< (a.height, a.width, kept): int64, or the dtype of floats
  std::function<void(int64_t, int64_t)> progress{};  ///< pixels of a that are done, and all
};

class PatchMatchings {
 public:
  static constinit const Implementations<PatchMatchings> implementations;
  virtual ~PatchMatchings() = default;

  /// Finds the nearest patches of all that are allowed. Distances of integers are less than 2^61.
  virtual void match(const PatchMatching& job) = 0;
  /// Whether approximate() takes such pictures, wherever their elements are: bytes, without a window, and patches of
  /// not too many bytes.
  virtual bool can_approximate(const PatchMatching& job) const = 0;
  /// Finds near patches by trees that `seed` chooses and iterations of propagation.
  virtual void approximate(const PatchMatching& job, uint64_t seed, int64_t iterations) = 0;
  /// Sweeps along all segments of pictures of this dtype. False for a dtype that it does not have.
  virtual bool sweep(Dtype dtype, const PatchSweep& job) = 0;
};

}  // namespace iruka
