// A launch for a test of a device: without a kernel that would name itself in errors.
#pragma once

#include "core/device.h"

namespace iruka::test {

inline void launch_on(Device& device, const LoadedProgram& program, std::span<const std::byte> arguments,
                      const LaunchRange& range) {
  LaunchContext context("test");
  device.launch(context, program, arguments, range);
}

inline void launch_grid_on(Device& device, const LoadedProgram& program, std::span<const std::byte> arguments,
                           const LaunchGrid& grid) {
  LaunchContext context("test");
  device.launch_grid(context, program, arguments, grid);
}

}  // namespace iruka::test
