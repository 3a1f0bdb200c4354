// The service that turns matrices by compiled loops: for orders of axes in memory, for which no kernel is compiled.
#pragma once

#include <cstdint>

#include "core/service.h"

namespace iruka {

class Turning {
 public:
  static constinit const Implementations<Turning> implementations;
  virtual ~Turning() = default;

  /// `count` dense matrices (rows, columns) of numbers of `itemsize` bytes become (columns, rows). False for an
  /// itemsize that it does not have.
  virtual bool turn(const void* from, void* to, int64_t itemsize, int64_t count, int64_t rows, int64_t columns) = 0;
};

}  // namespace iruka
