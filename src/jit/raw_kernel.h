// What a RawKernel and a RawModule hold between calls.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "iruka/raw_kernel.h"
#include "jit/includes.h"
#include "jit/program.h"
#include "jit/raw_launch.h"
#include "jit/raw_signature.h"
#include "jit/raw_source.h"
#include "jit/warnings.h"

namespace iruka::jit {

/// Code and the module that is made of it on each device.
struct RawCode {
  std::string kind;  ///< "RawKernel" or "RawModule", for messages
  std::string code;
  std::string path;  ///< of the file; empty for code that was given
  RawOptions options;
  CodeKind code_kind = CodeKind::cuda;
  SplitOptions compiler;                     ///< of the options
  bool has_variables = false;                ///< that kernels share; they are the object's own
  std::shared_ptr<const Includes> includes;  ///< null where the code includes nothing of the user's
  PendingWarnings warnings;

  /// The module on a device. Where devices have grids, it has all kernels; elsewhere the variables alone, and the
  /// programs of load_for_blocks() use them.
  std::shared_ptr<const Program> module(Device& device);
  /// One kernel for blocks of so many threads, where devices have no grids.
  std::shared_ptr<const Program> load_for_blocks(Device& device, const std::string& name, const Dim3& threads);
  /// Raises CompileError for a kernel that does not compile, where devices have no grids.
  void check_for_blocks(Device& device, const std::string& name);
  /// The same for all name expressions.
  void check_names_for_blocks(Device& device);

 private:
  /// The names of a module: the name expressions, and the kernels that the code declares.
  std::vector<std::string> names(bool only_given) const;
  ProgramSource source(const GridLaunching& launching, const std::vector<std::string>& names,
                       const Dim3& threads) const;
  ErrorContext context(const std::string& kernel, const std::vector<std::string>& names) const;
  std::shared_ptr<const Program> build(Device& device, const std::vector<std::string>& names, const Dim3& threads,
                                       const std::string& kernel, std::shared_ptr<const Module> variables = nullptr);
  std::shared_ptr<const Program> load(Device& device);

  std::map<Device*, std::shared_ptr<const Program>> modules_;
};

/// A kernel that is ready for launches.
struct LoadedKernel {
  const Device* device;
  Dim3 threads;  ///< of the blocks that it serves; {0, 0, 0}: of all
  std::shared_ptr<const Program> program;
  const Function* function;
  RawSignature signature;
  LoadedKernel* next = nullptr;  ///< set before it is published
};

struct RawFunction {
  RawFunction(std::shared_ptr<RawCode> from, std::string its_name) : code(std::move(from)), name(std::move(its_name)) {}

  const std::shared_ptr<RawCode> code;
  const std::string name;

  /// Finding a kernel that is loaded takes no lock.
  const LoadedKernel& find(Device& device, const Dim3& threads);
  /// The kernel for the blocks that it was last loaded for, else for others.
  const LoadedKernel& find_any(Device& device);
  /// The most dynamic shared memory of a block that was allowed where devices have no grids.
  std::atomic<int> most_dynamic_bytes{kMostSharedBytes};

 private:
  std::unique_ptr<LoadedKernel> load(Device& device, const Dim3& threads);

  std::atomic<LoadedKernel*> first_{nullptr};
  std::vector<std::unique_ptr<LoadedKernel>> owned_;
};

/// The functions that a module was asked for, by their names. They hold the code, which does not hold them.
struct RawFunctions {
  std::map<std::string, std::shared_ptr<RawFunction>> by_name;
};

}  // namespace iruka::jit
