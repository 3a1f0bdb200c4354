// Loaded code: modules, their functions and variables, and what a launch of a function runs over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iruka/function_attributes.h"

namespace iruka {

/// A range for the threads of a host: the function is called with ranges that cover [begin, begin + count) once.
struct LaunchRange {
  int64_t count = 0;
  int64_t align = 1;            ///< ranges begin at multiples of this
  int64_t grain = 1;            ///< fewer units than this are not worth another thread
  bool counts_elements = true;  ///< else a unit is a larger piece of work
  int64_t begin = 0;            ///< a multiple of `align`; if not 0, the launch continues a call
  int64_t alone = 0;            ///< nanoseconds for which the calling thread begins without others
};

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

/// A grid of thread blocks.
struct LaunchGrid {
  Dim3 blocks;
  Dim3 threads;                 ///< of each block
  unsigned shared_bytes = 0;    ///< of each block's dynamic shared memory
  bool is_cooperative = false;  ///< all blocks run at the same time, so that they can wait for each other
  bool operator==(const LaunchGrid&) const = default;
};

/// The bytes of one parameter of a function that is launched over a grid.
using ParameterBytes = std::span<const std::byte>;

/// The place of a parameter in the memory that a launch copies.
struct ParameterPlace {
  size_t offset, size;
  bool operator==(const ParameterPlace&) const = default;
};

/// A function of a module, which it does not outlive. Attributes and parameters are those of functions for a grid; the
/// implementations here are for devices that run ranges.
class Function {
 public:
  explicit Function(std::string name) : name_(std::move(name)) {}
  virtual ~Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const std::string& name() const { return name_; }
  virtual FunctionAttributes attributes() const;  ///< raises DeviceError where functions have none
  /// No value if the device does not know them.
  virtual std::optional<std::vector<ParameterPlace>> parameters() const { return {}; }
  /// Apply to all later launches. These raise ValueError for a value that the device does not allow, and DeviceError if
  /// functions have no attributes.
  virtual void set_max_dynamic_shared_size_bytes(int bytes) const;
  virtual void set_preferred_shared_memory_carveout(int percent) const;

 private:
  const std::string name_;
};

/// A variable of a module, in the memory of the module's device.
struct GlobalVariable {
  void* address = nullptr;
  size_t bytes = 0;
};

/// Loaded code: functions and variables by name. A device may unload it once the last handle is gone, and not while a
/// graph that was captured holds it.
class Module {
 public:
  /// `name` is for errors.
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  /// These raise DeviceError if the module has nothing of that name; the message lists what it has.
  virtual const Function& function(const std::string& name) const = 0;
  virtual GlobalVariable global(const std::string& name) const = 0;
  /// N where the compiler could not tell whether the option `--lanes=N` gives faster code; 0: it could.
  virtual int rival_lanes() const { return 0; }

 protected:
  /// `kind`: "function" or "variable"; `existing`: what the module has of that kind.
  [[noreturn]] void throw_missing(const std::string& kind, const std::string& name,
                                  const std::vector<std::string>& existing) const;

 private:
  const std::string name_;
};

}  // namespace iruka
