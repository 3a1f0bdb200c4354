// Casts of floats to integers of 8 and 16 bits, for devices whose compiler makes them by way of 32 bits, which wraps.
#pragma once

#include <optional>
#include <string>

#include "core/service.h"

namespace iruka {

/// A front end that knows the types of all expressions spells such casts out. Devices without this service have a
/// compiler that saturates.
struct NarrowCasts {
  static constinit const Implementations<const NarrowCasts> implementations;

  /// Of the front end: part of the keys of what is compiled from its texts.
  const std::string& (*fingerprint)();
  /// The source's text with casts that saturate; nothing where the front end cannot judge it.
  std::optional<std::string> (*saturate)(const ProgramSource& source);
};

}  // namespace iruka
