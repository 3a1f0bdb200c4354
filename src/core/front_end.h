// The compiler front end that checks kernels' texts when a kernel is made, before its device is known.
#pragma once

#include <string>

#include "core/service.h"

namespace iruka {

/// Parses texts and checks types. A device has this service where its own compiler is the same front end: what the
/// front end refuses, such a device refuses, too. Other devices have compilers that may know more names.
struct FrontEnd {
  static constinit const Implementations<const FrontEnd> implementations;
  /// For texts of all devices: finding the default device would start its driver.
  static const FrontEnd& of_all_devices();

  /// What it depends on: part of the cache keys of the texts that it has checked.
  const std::string& (*fingerprint)();
  CompiledProgram (*check)(const ProgramSource& source);
};

}  // namespace iruka
