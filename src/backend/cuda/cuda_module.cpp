#include "backend/cuda/cuda_module.h"

#include <new>

namespace iruka::cuda_backend {
namespace {

constexpr CUresult kNotFound = 500;

/// CUfunction_attribute
enum FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kSharedSizeBytes = 1,
  kConstSizeBytes = 2,
  kLocalSizeBytes = 3,
  kNumRegs = 4,
  kPtxVersion = 5,
  kBinaryVersion = 6,
  kCacheModeCa = 7,
  kMaxDynamicSharedSizeBytes = 8,
  kPreferredSharedMemoryCarveout = 9,
};

}  // namespace

FunctionAttributes CudaFunction::attributes() const {
  const ContextScope active = module_.device().activate();
  const auto get = [&](FunctionAttribute which) {
    int value = 0;
    check(driver().cuFuncGetAttribute(&value, which, handle_), "cuFuncGetAttribute", name());
    return value;
  };
  return {.max_threads_per_block = get(kMaxThreadsPerBlock),
          .shared_size_bytes = get(kSharedSizeBytes),
          .const_size_bytes = get(kConstSizeBytes),
          .local_size_bytes = get(kLocalSizeBytes),
          .num_regs = get(kNumRegs),
          .ptx_version = get(kPtxVersion),
          .binary_version = get(kBinaryVersion),
          .cache_mode_ca = get(kCacheModeCa),
          .max_dynamic_shared_size_bytes = get(kMaxDynamicSharedSizeBytes),
          .preferred_shared_memory_carveout = get(kPreferredSharedMemoryCarveout)};
}

CudaModule::CudaModule(CudaDevice& device, std::string_view code, const std::string& name)
    : Module(name), device_(device) {
  const ForkMayGoOn loading;  // the driver may wait for the GPU, and the GPU for a function that needs Python's lock
  const ContextScope active = device.activate();
  const AllowedWhileCapturing allowed;
  check(driver().cuModuleLoadData(&handle_, code.data()), "cuModuleLoadData", device.name());
  asserts_ = device.assertions().add(handle_);
}

CudaModule::~CudaModule() {
  const ContextScope active = device_.try_to_activate();
  if (!active.is_active()) return;  // the driver is gone at exit, and the module with it
  const AllowedWhileCapturing allowed;
  for (auto& [name, function] : functions_) function.graphs().destroy();
  if (!is_captured_.load(std::memory_order_relaxed)) device_.unload_later(handle_);
}

const Function& CudaModule::function(const std::string& name) const {
  const ForkMayGoOn loading;  // the driver may load a function's code here only
  const ContextScope active = device_.activate();
  const AllowedWhileCapturing allowed;
  CUfunction handle = nullptr;
  const CUresult result = driver().cuModuleGetFunction(&handle, handle_, name.c_str());
  if (result == kNotFound) throw_missing("function", name, {});
  check(result, "cuModuleGetFunction", name);
  const std::lock_guard lock(mutex_);
  return functions_.try_emplace(name, *this, name, handle).first->second;
}

GlobalVariable CudaModule::global(const std::string& name) const {
  const ContextScope active = device_.activate();
  const AllowedWhileCapturing allowed;
  CUdeviceptr address = 0;
  size_t bytes = 0;
  const CUresult result = driver().cuModuleGetGlobal(&address, &bytes, handle_, name.c_str());
  if (result == kNotFound) throw_missing("variable", name, {});
  check(result, "cuModuleGetGlobal", name);
  return {reinterpret_cast<void*>(address), bytes};
}

void CudaModule::keep_for_graphs(CUstream stream) const {
  const bool is_legacy = stream == nullptr || stream == kLegacyStream;  // which cannot be captured
  if (is_legacy || is_captured_.load(std::memory_order_relaxed) || !may_capture(stream)) return;
  if (!device_.keep_for_graph(stream, shared_from_this())) is_captured_.store(true, std::memory_order_relaxed);
}

void CudaDevice::unload_later(CUmodule module) noexcept {
  std::lock_guard lock(dropped_mutex_);
  try {
    dropped_.modules.push_back(module);
  } catch (const std::bad_alloc&) {  // it stays loaded
  }
}

std::shared_ptr<const Module> CudaDevice::load(std::string_view code, const std::string& name) {
  check_not_forked();
  give_back_dropped();
  return std::make_shared<CudaModule>(*this, code, name);
}

void CudaDevice::launch_grid(LaunchContext& context, const Function& function,
                             std::span<const ParameterBytes> parameters, const LaunchGrid& grid) {
  const auto& loaded = static_cast<const CudaFunction&>(function);
  const CudaModule& module = loaded.module();
  const ContextScope active = activate();
  const KernelLaunch launch(parameters, grid);
  const CUstream used = thread_stream();
  if (module.asserts())
    assertions_.note_launch(module.handle(), context.kernel(), may_capture(used) ? nullptr : own_name(used));
  if (!launches_block() && loaded.graphs().launch(launch, used)) return;
  module.keep_for_graphs(used);
  const Dim3 &blocks = grid.blocks, &threads = grid.threads;
  const CUresult result = driver().cuLaunchKernel(loaded.handle(), blocks.x, blocks.y, blocks.z, threads.x, threads.y,
                                                  threads.z, grid.shared_bytes, used, launch.pointers(), nullptr);
  cuda_backend::check(result, "cuLaunchKernel", name_);
  if (!launches_block() || may_capture(used)) return;
  cuda_backend::check(driver().cuStreamSynchronize(used), "cuStreamSynchronize", name_);
  throw_if_asserted(used);
}

}  // namespace iruka::cuda_backend
