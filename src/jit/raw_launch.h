// How each kind of device compiles and launches kernels over a grid of thread blocks.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/service.h"
#include "iruka/function_attributes.h"
#include "jit/program.h"
#include "jit/raw_arguments.h"

namespace iruka::jit {

struct GridLaunching {
  static constinit const Implementations<const GridLaunching> implementations;

  /// A GPU's module has all kernels of a text for blocks of any size, and may be PTX or machine code. Otherwise there
  /// is a program for each kernel and size of blocks, which runs over a range of blocks.
  bool has_grid;
  /// The text for kernels of that name: all that has_grid asks for, else one, or none for a module of the variables
  /// alone.
  std::string (*text)(std::string_view code, std::string_view macros, std::span<const std::string> names,
                      const Dim3& threads);
  /// Raises ValueError that names `kernel` for a grid beyond the device's limits, if a launch does not.
  void (*check)(const std::string& kernel, const LaunchGrid& grid);
  void (*launch)(const Program& program, const Function& function, RawValues& values, const LaunchGrid& grid);
};

/// The most bytes of a block's shared memory, dynamic memory included, where a block's memory is the host's.
inline constexpr int kMostSharedBytes = 227 << 10;
inline constexpr int kMostThreadsPerBlock = 1024;

}  // namespace iruka::jit
