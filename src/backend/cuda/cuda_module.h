// Machine code that the driver has loaded.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/launch_graphs.h"
#include "core/module.h"

namespace iruka::cuda_backend {

class CudaModule;

class CudaFunction final : public Function {
 public:
  /// The device must be current on the calling thread.
  CudaFunction(const CudaModule& module, std::string name, CUfunction handle);

  FunctionAttributes attributes() const override;
  std::optional<std::vector<ParameterPlace>> parameters() const override;
  void set_max_dynamic_shared_size_bytes(int bytes) const override;
  void set_preferred_shared_memory_carveout(int percent) const override;

  /// Raises ValueError that names the limit which `grid` exceeds, and DeviceError where the GPU has no cooperative
  /// launches. The device must be current on the calling thread.
  void check_grid(const LaunchGrid& grid) const;

  const CudaModule& module() const { return module_; }
  CUfunction handle() const { return handle_; }
  LaunchGraphs& graphs() const { return graphs_; }

 private:
  int attribute(FunctionAttribute which) const;
  void set_attribute(FunctionAttribute which, int value) const;
  [[noreturn]] void throw_excess(const LaunchGrid& grid) const;
  void check_cooperative(const LaunchGrid& grid) const;

  const CudaModule& module_;
  const CUfunction handle_;
  const unsigned max_threads_;
  const int static_shared_bytes_;
  mutable std::atomic<unsigned> max_dynamic_shared_bytes_;
  mutable LaunchGraphs graphs_;
};

class CudaModule final : public Module, public std::enable_shared_from_this<CudaModule> {
 public:
  /// Raises DeviceError where the driver refuses the code.
  CudaModule(CudaDevice& device, std::string_view code, const std::string& name);
  ~CudaModule() override;

  const Function& function(const std::string& name) const override;
  GlobalVariable global(const std::string& name) const override;

  CudaDevice& device() const { return device_; }
  CUmodule handle() const { return handle_; }
  bool asserts() const { return asserts_; }
  /// Called before a launch that may become part of a graph. A graph of this library keeps the module loaded; for a
  /// graph that another library captures, the code stays loaded until the process ends.
  void keep_for_graphs(CUstream stream) const;

 private:
  /// Empty if the driver cannot list them.
  std::vector<std::string> function_names() const;

  CudaDevice& device_;
  CUmodule handle_ = nullptr;
  bool asserts_ = false;
  mutable std::mutex mutex_;
  /// The functions that were requested so far.
  mutable std::map<std::string, std::unique_ptr<CudaFunction>> functions_;
  mutable std::atomic<bool> is_captured_{false};
};

}  // namespace iruka::cuda_backend
