// Casts of floats to integers of 8 and 16 bits, for devices whose compiler goes through 32 bits, which wraps around.
#pragma once

#include <optional>
#include <string>

#include "core/service.h"

namespace iruka {

/// The front end knows the types of all expressions and rewrites such casts. Devices without this service have a
/// compiler that saturates.
struct NarrowCasts {
  static constinit const Implementations<const NarrowCasts> implementations;

  /// The version of the front end, which is part of the cache keys of the texts it has rewritten.
  const std::string& (*fingerprint)();
  /// The source with saturating casts, also in its headers; nothing where the front end cannot parse it.
  std::optional<ProgramSource> (*saturate)(const ProgramSource& source);
};

}  // namespace iruka
