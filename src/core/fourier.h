// What a device's library of Fourier transforms does: our own on the CPU, cuFFT on a GPU.
#pragma once

#include <cstdint>

namespace iruka {

enum class FourierKind : uint8_t { complex, real_to_complex, complex_to_real };

/// Transforms along the middle axis of dense C-ordered arrays: (outer, length, inner) for complex kinds; a real side
/// has `length` elements there, a side of half a spectrum length / 2 + 1. The input is left as it is.
struct FourierTransform {
  FourierKind kind;
  bool is_double;
  bool forward;  ///< exp(-2 pi i jk / length), else its inverse without the factor 1 / length
  int64_t length, outer, inner;
  const void* in;
  void* out;
};

class FourierLibrary {
 public:
  virtual ~FourierLibrary() = default;
  /// In the order of the device's other work. Results are multiplied by `scale`.
  virtual void transform(const FourierTransform& job, double scale) = 0;
  /// Whether `scale` may be other than 1.
  virtual bool scales() const = 0;
  /// Whether `inner` may be over 1.
  virtual bool takes_columns(FourierKind kind, int64_t length) const = 0;
};

}  // namespace iruka
