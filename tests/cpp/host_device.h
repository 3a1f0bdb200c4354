// A device of plain memory for tests of arrays: it counts its allocations and compiles nothing.
#pragma once

#include <cstring>
#include <string>

#include "core/device.h"
#include "core/pool.h"

namespace iruka::testing {

class HostDevice : public Device {
 public:
  const std::string& name() const override { return name_; }
  const TargetDescription& target() const override { return target_; }
  void* allocate(size_t bytes) override { return pool.allocate(bytes); }
  void release(void* memory, size_t bytes) noexcept override { pool.release(memory, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* to, int value, size_t bytes) override { std::memset(to, value, bytes); }
  void synchronize() override {}
  CompiledProgram compile(const ProgramSource&) override { throw DeviceError("host: compiles nothing"); }
  CompiledProgram check(const ProgramSource&) override { throw DeviceError("host: compiles nothing"); }
  std::string assembly(const ProgramSource&) override { throw DeviceError("host: compiles nothing"); }
  std::shared_ptr<const Module> load(std::string_view, const std::string&) override {
    throw DeviceError("host: loads nothing");
  }

  MemoryPool pool{"host"};

 private:
  std::string name_ = "host";
  TargetDescription target_;
};

}  // namespace iruka::testing
