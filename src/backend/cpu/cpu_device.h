// The CPU as a device.
#pragma once

#include <string>

#include "core/device.h"
#include "core/pool.h"

namespace iruka::cpu_backend {

class CpuDevice final : public Device {
 public:
  CpuDevice();

  const std::string& name() const override { return name_; }
  const TargetDescription& target() const override;

  void* allocate(size_t bytes) override { return pool_.allocate(bytes); }
  void release(void* memory, size_t bytes) noexcept override { pool_.release(memory, bytes); }
  void copy(void* to, const void* from, size_t bytes) override;
  void fill(void* to, int value, size_t bytes) override;
  void synchronize() override {}

  CompiledProgram compile(const ProgramSource& source) override;
  CompiledProgram check(const ProgramSource& source) override;
  std::string assembly(const ProgramSource& source) override;
  std::shared_ptr<const Module> load(std::string_view code, const std::string& name) override;
  std::shared_ptr<const Module> load_beside(std::string_view code, const std::string& name,
                                            std::shared_ptr<const Module> variables) override;
  void launch(LaunchContext& context, const Function& function, std::span<const std::byte> arguments,
              const LaunchRange& range) override;
  /// Runs blocks that may wait for each other. `parameters` has one member, the arguments as launch() takes them.
  void launch_grid(LaunchContext& context, const Function& function, std::span<const ParameterBytes> parameters,
                   const LaunchGrid& grid) override;

  MemoryPool& pool() { return pool_; }

 private:
  const std::string name_ = "cpu";
  MemoryPool pool_;
};

/// The only one; never destroyed.
CpuDevice& cpu_device();

}  // namespace iruka::cpu_backend
