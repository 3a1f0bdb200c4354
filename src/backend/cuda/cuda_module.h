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
  CudaFunction(const CudaModule& module, std::string name, CUfunction handle)
      : Function(std::move(name)), module_(module), handle_(handle), graphs_(handle) {}

  FunctionAttributes attributes() const override;

  const CudaModule& module() const { return module_; }
  CUfunction handle() const { return handle_; }
  LaunchGraphs& graphs() const { return graphs_; }

 private:
  const CudaModule& module_;
  const CUfunction handle_;
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
  /// Called before a launch that may become part of a graph of the user's. A graph of ours keeps the module loaded; for
  /// one that another library captures, the code stays loaded as long as the process.
  void keep_for_graphs(CUstream stream) const;

 private:
  CudaDevice& device_;
  CUmodule handle_ = nullptr;
  bool asserts_ = false;
  mutable std::mutex mutex_;
  mutable std::map<std::string, CudaFunction> functions_;  ///< those that were asked for
  mutable std::atomic<bool> is_captured_{false};
};

}  // namespace iruka::cuda_backend
