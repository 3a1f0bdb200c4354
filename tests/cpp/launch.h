// A launch for a test of a device: without a kernel that would name itself in errors.
#pragma once

#include "core/device.h"

namespace iruka::test {

inline void launch_on(Device& device, const Function& function, std::span<const std::byte> arguments,
                      const LaunchRange& range) {
  LaunchContext context("test");
  device.launch(context, function, arguments, range);
}

inline void launch_grid_on(Device& device, const Function& function, std::span<const ParameterBytes> parameters,
                           const LaunchGrid& grid) {
  LaunchContext context("test");
  device.launch_grid(context, function, parameters, grid);
}

}  // namespace iruka::test
