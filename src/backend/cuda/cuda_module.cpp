#include "backend/cuda/cuda_module.h"

#include <new>

namespace iruka::cuda_backend {
namespace {

bool is_within(const Dim3& value, const Dim3& most) {
  // A value of 0 wraps around to the largest.
  return value.x - 1 < most.x && value.y - 1 < most.y && value.z - 1 < most.z;
}

uint64_t product(const Dim3& value) { return uint64_t{value.x} * value.y * value.z; }

std::string text(const Dim3& value) {
  return std::to_string(value.x) + " x " + std::to_string(value.y) + " x " + std::to_string(value.z);
}

}  // namespace

CudaFunction::CudaFunction(const CudaModule& module, std::string name, CUfunction handle)
    : Function(std::move(name)),
      module_(module),
      handle_(handle),
      max_threads_(static_cast<unsigned>(attribute(kMaxThreadsPerBlock))),
      static_shared_bytes_(attribute(kSharedSizeBytes)),
      max_dynamic_shared_bytes_(static_cast<unsigned>(attribute(kMaxDynamicSharedSizeBytes))),
      graphs_(handle) {}

int CudaFunction::attribute(FunctionAttribute which) const {
  int value = 0;
  check(driver().cuFuncGetAttribute(&value, which, handle_), "cuFuncGetAttribute", name());
  return value;
}

void CudaFunction::set_attribute(FunctionAttribute which, int value) const {
  const ContextScope active = module_.device().activate();
  const AllowedWhileCapturing allowed;
  check(driver().cuFuncSetAttribute(handle_, which, value), "cuFuncSetAttribute", name());
  graphs_.destroy();  // a graph keeps the attributes of the time when it was made
}

FunctionAttributes CudaFunction::attributes() const {
  const ContextScope active = module_.device().activate();
  const AllowedWhileCapturing allowed;
  return {.max_threads_per_block = attribute(kMaxThreadsPerBlock),
          .shared_size_bytes = attribute(kSharedSizeBytes),
          .const_size_bytes = attribute(kConstSizeBytes),
          .local_size_bytes = attribute(kLocalSizeBytes),
          .num_regs = attribute(kNumRegs),
          .ptx_version = attribute(kPtxVersion),
          .binary_version = attribute(kBinaryVersion),
          .cache_mode_ca = attribute(kCacheModeCa),
          .max_dynamic_shared_size_bytes = attribute(kMaxDynamicSharedSizeBytes),
          .preferred_shared_memory_carveout = attribute(kPreferredSharedMemoryCarveout)};
}

std::optional<std::vector<ParameterPlace>> CudaFunction::parameters() const {
  if (!driver().cuFuncGetParamInfo) return {};
  const ContextScope active = module_.device().activate();
  const AllowedWhileCapturing allowed;
  std::vector<ParameterPlace> places;
  for (ParameterPlace place{};; places.push_back(place)) {
    const CUresult result = driver().cuFuncGetParamInfo(handle_, places.size(), &place.offset, &place.size);
    if (result == kInvalidValue) return places;  // there are no more
    check(result, "cuFuncGetParamInfo", name());
  }
}

void CudaFunction::set_max_dynamic_shared_size_bytes(int bytes) const {
  const CudaDevice& device = module_.device();
  const int most = device.grid_limits().shared_bytes - static_shared_bytes_;
  if (bytes < 0 || bytes > most)
    throw ValueError("max_dynamic_shared_size_bytes: '" + name() + "' cannot have " + std::to_string(bytes) +
                     " bytes of dynamic shared memory; a block on " + device.name() + " has 0 to " +
                     std::to_string(most) + ", beside the function's " + std::to_string(static_shared_bytes_) +
                     " static bytes");
  set_attribute(kMaxDynamicSharedSizeBytes, bytes);
  max_dynamic_shared_bytes_.store(static_cast<unsigned>(bytes), std::memory_order_relaxed);
}

void CudaFunction::set_preferred_shared_memory_carveout(int percent) const {
  if (percent < -1 || percent > 100)
    throw ValueError("preferred_shared_memory_carveout: " + std::to_string(percent) +
                     " is not a percentage of 0 to 100, nor -1, which leaves the choice to the driver");
  set_attribute(kPreferredSharedMemoryCarveout, percent);
}

void CudaFunction::check_grid(const LaunchGrid& grid) const {
  const GridLimits& most = module_.device().grid_limits();
  if (!is_within(grid.blocks, most.blocks) || !is_within(grid.threads, most.threads) ||
      product(grid.threads) > max_threads_ ||
      grid.shared_bytes > max_dynamic_shared_bytes_.load(std::memory_order_relaxed))
    throw_excess(grid);
  if (grid.is_cooperative) check_cooperative(grid);
}

void CudaFunction::throw_excess(const LaunchGrid& grid) const {
  const CudaDevice& device = module_.device();
  const GridLimits& most = device.grid_limits();
  const std::string launch = device.name() + ": '" + name() + "' cannot be launched ";
  if (!is_within(grid.blocks, most.blocks))
    throw ValueError(launch + "over " + text(grid.blocks) + " blocks; a grid has 1 to " + text(most.blocks));
  if (!is_within(grid.threads, most.threads))
    throw ValueError(launch + "with blocks of " + text(grid.threads) + " threads; a block has 1 to " +
                     text(most.threads));
  if (product(grid.threads) > max_threads_)
    throw ValueError(launch + "with blocks of " + text(grid.threads) + " = " + std::to_string(product(grid.threads)) +
                     " threads; its blocks have at most " + std::to_string(max_threads_));
  throw ValueError(launch + "with " + std::to_string(grid.shared_bytes) +
                   " bytes of dynamic shared memory; its blocks have at most " +
                   std::to_string(max_dynamic_shared_bytes_.load(std::memory_order_relaxed)) +
                   ", which max_dynamic_shared_size_bytes can raise to " +
                   std::to_string(most.shared_bytes - static_shared_bytes_));
}

void CudaFunction::check_cooperative(const LaunchGrid& grid) const {
  const CudaDevice& device = module_.device();
  if (!device.grid_limits().is_cooperative) throw DeviceError(device.name() + ": this GPU has no cooperative launches");
  int per_multiprocessor = 0;
  check(driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &per_multiprocessor, handle_, static_cast<int>(product(grid.threads)), grid.shared_bytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", name());
  const auto most =
      static_cast<uint64_t>(per_multiprocessor) * static_cast<uint64_t>(device.attribute(kMultiprocessors));
  if (product(grid.blocks) > most)
    throw ValueError(device.name() + ": '" + name() + "' cannot be launched cooperatively over " + text(grid.blocks) +
                     " = " + std::to_string(product(grid.blocks)) + " blocks of " +
                     std::to_string(product(grid.threads)) + " threads and " + std::to_string(grid.shared_bytes) +
                     " bytes of dynamic shared memory; the GPU runs at most " + std::to_string(most) +
                     " of them at the same time");
}

CudaModule::CudaModule(CudaDevice& device, std::string_view code, const std::string& name)
    : Module(name), device_(device) {
  const ForkGuardPause paused;  // the driver may wait for the GPU, and the GPU for a function that needs Python's lock
  const ContextScope active = device.activate();
  const AllowedWhileCapturing allowed;
  check(driver().cuModuleLoadData(&handle_, code.data()), "cuModuleLoadData", device.name());
  try {
    asserts_ = device.assertions().add(handle_);
  } catch (...) {
    driver().cuModuleUnload(handle_);
    throw;
  }
}

CudaModule::~CudaModule() {
  const ContextScope active = device_.try_to_activate();
  if (!active.is_active()) return;  // at exit the driver has already released the module
  const AllowedWhileCapturing allowed;
  for (auto& [name, function] : functions_) function->graphs().destroy();
  if (!is_captured_.load(std::memory_order_relaxed)) device_.unload_later(handle_);
}

const Function& CudaModule::function(const std::string& name) const {
  const ForkGuardPause paused;  // the driver may load the function's code only now
  const ContextScope active = device_.activate();
  const AllowedWhileCapturing allowed;
  CUfunction handle = nullptr;
  const CUresult result = driver().cuModuleGetFunction(&handle, handle_, name.c_str());
  if (result == kNotFound) throw_missing("function", name, function_names());
  check(result, "cuModuleGetFunction", name);
  auto made = std::make_unique<CudaFunction>(*this, name, handle);
  const std::lock_guard lock(mutex_);
  return *functions_.try_emplace(name, std::move(made)).first->second;
}

std::vector<std::string> CudaModule::function_names() const {
  const Driver& api = driver();
  unsigned count = 0;
  if (!api.cuFuncGetName || !api.cuModuleEnumerateFunctions || !api.cuModuleGetFunctionCount ||
      api.cuModuleGetFunctionCount(&count, handle_) != kSuccess)
    return {};
  std::vector<CUfunction> functions(count);
  if (api.cuModuleEnumerateFunctions(functions.data(), count, handle_) != kSuccess) return {};
  std::vector<std::string> names;
  for (const CUfunction function : functions)
    if (const char* name = nullptr; api.cuFuncGetName(&name, function) == kSuccess) names.emplace_back(name);
  return names;
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
  const bool is_legacy = stream == nullptr || stream == kLegacyStream;  // this stream cannot be captured
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
  loaded.check_grid(grid);
  const KernelLaunch launch(parameters, grid);
  const CUstream used = thread_stream();
  if (module.asserts())
    assertions_.note_launch(module.handle(), context.kernel(), may_capture(used) ? nullptr : own_name(used));
  if (!launches_block() && loaded.graphs().launch(launch, used)) return;
  module.keep_for_graphs(used);
  const Dim3 &blocks = grid.blocks, &threads = grid.threads;
  if (grid.is_cooperative)
    cuda_backend::check(
        driver().cuLaunchCooperativeKernel(loaded.handle(), blocks.x, blocks.y, blocks.z, threads.x, threads.y,
                                           threads.z, grid.shared_bytes, used, launch.pointers()),
        "cuLaunchCooperativeKernel", name_);
  else
    cuda_backend::check(driver().cuLaunchKernel(loaded.handle(), blocks.x, blocks.y, blocks.z, threads.x, threads.y,
                                                threads.z, grid.shared_bytes, used, launch.pointers(), nullptr),
                        "cuLaunchKernel", name_);
  if (!launches_block() || may_capture(used)) return;
  cuda_backend::check(driver().cuStreamSynchronize(used), "cuStreamSynchronize", name_);
  throw_if_asserted(used);
}

}  // namespace iruka::cuda_backend
