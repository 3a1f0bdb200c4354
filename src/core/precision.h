// The precision that the calling thread's products and convolutions may have.
#pragma once

#include <utility>

#include "iruka/precision.h"

namespace iruka {

inline Precision& thread_precision() {
  static thread_local Precision precision = Precision::float32;
  return precision;
}

/// Sets it while the scope lives.
class PrecisionScope {
 public:
  explicit PrecisionScope(Precision precision) : before_(std::exchange(thread_precision(), precision)) {}
  ~PrecisionScope() { thread_precision() = before_; }
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  const Precision before_;
};

}  // namespace iruka
