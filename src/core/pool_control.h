// What users ask of the pool that a device's memory comes from.
#pragma once

#include "core/service.h"
#include "iruka/memory.h"

namespace iruka {

struct PoolControl {
  static constinit const Implementations<const PoolControl> implementations;

  PoolStatistics (*statistics)(Device& device);
  void (*set_limit)(Device& device, size_t bytes);  ///< 0: none
  void (*free_held)(Device& device);                ///< memory that no array uses, back to the system
};

}  // namespace iruka
