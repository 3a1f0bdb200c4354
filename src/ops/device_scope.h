// Where a function of this library makes its new arrays.
#pragma once

#include "iruka/device.h"

namespace iruka::ops {

/// While it exists, the calling thread makes new arrays on `device`.
class DeviceScope {
 public:
  explicit DeviceScope(Device& device) : before_(set_default_device(&device)) {}
  ~DeviceScope() { set_default_device(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device* const before_;
};

}  // namespace iruka::ops
