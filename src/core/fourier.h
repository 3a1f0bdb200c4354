// The service for Fourier transforms: our own code on the CPU, cuFFT on a GPU.
#pragma once

#include <cstdint>

#include "core/service.h"
#include "iruka/dims.h"

namespace iruka {

enum class FourierKind : uint8_t { complex, real_to_complex, complex_to_real };

/// Transforms along the middle axis of dense C-ordered arrays: (outer, length, inner) for complex kinds; a real side
/// has `length` elements there, a side of half a spectrum length / 2 + 1. The input is not changed.
struct FourierTransform {
  FourierKind kind;
  bool is_double;
  bool forward;  ///< exp(-2 pi i jk / length), else its inverse without the factor 1 / length
  int64_t length, outer = 1, inner = 1;
  const void* in = nullptr;
  void* out = nullptr;
  Dims earlier = {};  ///< of axes between `outer` and `length` that are transformed too; `inner` is 1 then
};

class FourierLibrary {
 public:
  static constinit const Implementations<FourierLibrary> implementations;
  virtual ~FourierLibrary() = default;
  /// Runs in the order of the device's other work. Results are multiplied by `scale`.
  virtual void transform(const FourierTransform& job, double scale) = 0;
  /// Whether transform() supports a `scale` other than 1.
  virtual bool scales() const = 0;
  /// Whether this job over one axis is fastest without a transposition, if `inner` is over 1; its memory is not set
  /// yet.
  virtual bool prefers_columns(const FourierTransform& job) const = 0;
  /// The largest number of axes that one job can transform.
  virtual int most_axes() const = 0;
  /// Whether complex_to_real jobs overwrite their input, and read the imaginary parts of elements that must be real.
  virtual bool overwrites_input() const { return false; }
  /// The alignment that inputs need, in bytes.
  virtual size_t alignment() const { return 1; }
};

}  // namespace iruka
