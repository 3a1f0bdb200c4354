// The user's control over the pool of a device's memory.
#pragma once

#include "core/service.h"
#include "iruka/memory.h"

namespace iruka {

struct PoolControl {
  static constinit const Implementations<const PoolControl> implementations;

  PoolStatistics (*statistics)(Device& device);
  void (*set_limit)(Device& device, size_t bytes);  ///< 0: none
  void (*free_held)(Device& device);                ///< releases memory that no array uses to the system
};

}  // namespace iruka
