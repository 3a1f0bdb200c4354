// The functions of the driver in software.
#include <cstdlib>
#include <cstring>
#include <thread>
#include <tuple>

#include "fake_driver_state.h"

using namespace iruka::testing::fake_driver;

namespace iruka::cuda_backend {
extern "C" {

CUresult fake_cuInit(unsigned) {
  if (const char* seconds = std::getenv("FAKE_DRIVER_SECONDS_TO_LOAD"))
    std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(seconds)));
  BEGIN("cuInit");
  return state().device_count > 0 ? kSuccess : kNoDevice;
}
CUresult fake_cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion");
  *version = 13000;
  return kSuccess;
}
CUresult fake_cuGetErrorName(CUresult error, const char** text) {
  *text = name_of(error);
  return *text ? kSuccess : kInvalidValue;
}
CUresult fake_cuGetErrorString(CUresult error, const char** text) {
  *text = error == kOutOfMemory ? "out of memory" : "an error that a test asked for, or its mistake";
  return kSuccess;
}
CUresult fake_cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount");
  *count = state().device_count;
  return kSuccess;
}
CUresult fake_cuDeviceGet(CUdevice* device, int index) {
  BEGIN("cuDeviceGet");
  *device = index;
  return index < state().device_count ? kSuccess : kInvalidValue;
}
CUresult fake_cuDeviceGetName(char* name, int length, CUdevice) {
  BEGIN("cuDeviceGetName");
  std::strncpy(name, "Device in software", static_cast<size_t>(length));
  return kSuccess;
}
CUresult fake_cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  BEGIN("cuDeviceGetAttribute");
  *value = attribute_of(attribute, device);
  return kSuccess;
}
CUresult fake_cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  BEGIN("cuDeviceCanAccessPeer");
  *can = 1;
  return kSuccess;
}
CUresult fake_cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device) + 1);
  return kSuccess;
}
CUresult fake_cuCtxSetCurrent(CUcontext context) {
  BEGIN("cuCtxSetCurrent");
  current_context = context;
  return kSuccess;
}
CUresult fake_cuCtxGetCurrent(CUcontext* context) {
  *context = current_context;
  return kSuccess;
}
CUresult fake_cuCtxSynchronize() {
  BEGIN("cuCtxSynchronize");
  for (const auto& [key, stream] : state().streams)
    if (stream.capture) return kCaptureUnsupported;
  wait(lock, [device = device_of_context()] { return is_idle(device); });
  return kSuccess;
}
CUresult fake_cuCtxEnablePeerAccess(CUcontext, unsigned) {
  BEGIN("cuCtxEnablePeerAccess");
  return kSuccess;
}
CUresult fake_cuMemGetInfo(size_t* free_bytes, size_t* all_bytes) {
  BEGIN("cuMemGetInfo");
  *all_bytes = state().device_bytes;
  *free_bytes = state().device_bytes - state().used_bytes[std::max(device_of_context(), 0)];
  return kSuccess;
}
CUresult fake_cuMemAlloc(CUdeviceptr* memory, size_t bytes) {
  BEGIN("cuMemAlloc");
  if (!current_context) return 201;  // CUDA_ERROR_INVALID_CONTEXT
  void* allocated = nullptr;
  const CUresult result = allocate(&allocated, bytes, device_of_context());
  *memory = reinterpret_cast<CUdeviceptr>(allocated);
  return result;
}
CUresult fake_cuMemFree(CUdeviceptr memory) {
  BEGIN("cuMemFree");
  return release(as_bytes(memory));
}
CUresult fake_cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  BEGIN("cuMemHostAlloc");
  if (device_of_context() >= kDevices) state().misuses.push_back("page-locked memory of a context that others destroy");
  return allocate(memory, bytes, -1);
}
CUresult fake_cuMemFreeHost(void* memory) {
  BEGIN("cuMemFreeHost");
  return release(static_cast<char*>(memory));
}
CUresult fake_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  BEGIN("cuMemcpyAsync");
  return copy(to, from, bytes, stream);
}
CUresult fake_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream handle) {
  BEGIN("cuMemsetD8Async");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (leaves(as_bytes(to), bytes)) return kInvalidValue;
  auto* target = const_cast<char*>(as_bytes(to));
  Work work;
  work.begin[0] = target, work.end[0] = target + bytes;
  work.run = [=] { std::memset(target, value, bytes); };
  push(*stream, std::move(work));
  return kSuccess;
}
CUresult pointer_attribute(void* value, int attribute, CUdeviceptr pointer) {
  const auto* found = find_allocation(as_bytes(pointer));
  if (!found) return kInvalidValue;
  const int device = found->second.device;
  if (attribute == kMemoryType) {
    *static_cast<unsigned*>(value) = device < 0 ? kHostMemory : kDeviceMemory;
  } else if (attribute == kDeviceOrdinal) {
    *static_cast<int*>(value) = std::max(device, 0);
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}
CUresult fake_cuPointerGetAttributes(unsigned count, int* attributes, void** values, CUdeviceptr pointer) {
  BEGIN("cuPointerGetAttributes");
  for (unsigned k = 0; k < count; ++k)
    if (pointer_attribute(values[k], attributes[k], pointer) != kSuccess) *static_cast<unsigned*>(values[k]) = 0;
  return kSuccess;
}

CUresult fake_cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  BEGIN("cuStreamCreateWithPriority");
  *stream = new_handle<CUstream>();
  state().streams[number(*stream)].is_blocking = !(flags & kStreamNonBlocking);
  return kSuccess;
}
CUresult fake_cuStreamGetFlags(CUstream handle, unsigned* flags) {
  BEGIN("cuStreamGetFlags");
  const Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  *flags = stream->is_blocking ? 0u : unsigned{kStreamNonBlocking};
  return kSuccess;
}
CUresult fake_cuStreamDestroy(CUstream handle) {
  BEGIN("cuStreamDestroy");
  if (!find_stream(handle)) return kInvalidHandle;
  state().streams.erase(number(handle));
  return kSuccess;
}
CUresult fake_cuStreamSynchronize(CUstream handle) {
  BEGIN("cuStreamSynchronize");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (stream->capture) return kCaptureUnsupported;
  wait(lock, [stream] { return stream->queue.empty(); });
  return kSuccess;
}
CUresult fake_cuStreamQuery(CUstream handle) {
  BEGIN("cuStreamQuery");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (stream->capture) return kCaptureUnsupported;
  return stream->queue.empty() ? kSuccess : kNotReady;
}
CUresult fake_cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned) {
  BEGIN("cuStreamWaitEvent");
  Stream* stream = find_stream(handle);
  const std::shared_ptr<Event> event = find_event(event_handle);
  if (!stream || !event) return kInvalidHandle;
  if (event->capture) {  // the stream joins that capture, whose works are in one order here
    stream->capture = event->capture;
    return kSuccess;
  }
  Work work;
  work.is_ready = [event, recorded = event->recorded] { return event->finished >= recorded; };
  work.run = [] {};
  push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuStreamIsCapturing(CUstream handle, int* status) {
  BEGIN("cuStreamIsCapturing");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  *status = stream->capture ? kCapturing : kNotCapturing;
  return kSuccess;
}
CUresult fake_cuStreamGetCaptureInfo(CUstream handle, int* status, uint64_t* id, CUgraph*, const void**, size_t*) {
  BEGIN("cuStreamGetCaptureInfo");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  *status = stream->capture ? kCapturing : kNotCapturing;
  if (id) *id = stream->capture;
  return kSuccess;
}
CUresult fake_cuThreadExchangeStreamCaptureMode(int* mode) {
  BEGIN("cuThreadExchangeStreamCaptureMode");
  static thread_local int own = kCaptureGlobal;
  std::swap(own, *mode);
  return kSuccess;
}
CUresult fake_cuStreamBeginCapture(CUstream handle, int) {
  BEGIN("cuStreamBeginCapture");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (is_legacy(key_of(handle))) return kCaptureUnsupported;
  if (stream->capture) return kInvalidValue;
  stream->capture = ++state().last_handle;
  stream->is_capture_origin = true;
  state().captures[stream->capture];
  return kSuccess;
}
CUresult fake_cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  BEGIN("cuStreamEndCapture");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!stream->capture || !stream->is_capture_origin) return kInvalidValue;
  const uint64_t capture = stream->capture;
  *graph = new_handle<CUgraph>();
  state().graphs[number(*graph)] = std::move(state().captures[capture]);
  state().captures.erase(capture);
  for (auto& [key, other] : state().streams)
    if (other.capture == capture) other.capture = 0, other.is_capture_origin = false;
  for (auto& [key, event] : state().events)
    if (event->capture == capture) event->capture = 0;
  return kSuccess;
}
CUresult fake_cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  BEGIN("cuGraphInstantiate");
  *executable = new_handle<CUgraphExec>();
  state().executables[number(*executable)] = state().graphs[number(graph)];
  return kSuccess;
}
CUresult fake_cuGraphCreate(CUgraph* graph, unsigned) {
  BEGIN("cuGraphCreate");
  *graph = new_handle<CUgraph>();
  state().graphs[number(*graph)];
  return kSuccess;
}
Work work_of(const KernelNode& kernel, Launch& launch) {
  LaunchHandler handler;
  {
    Lock lock(state().mutex);
    launch = {state().functions[number(kernel.function)],
              {{kernel.grid_x, kernel.grid_y, kernel.grid_z},
               {kernel.block_x, kernel.block_y, kernel.block_z},
               kernel.shared_bytes},
              nullptr};
    handler = state().handler;
  }
  Work work;
  if (handler) work.run = handler(launch, kernel.parameters);
  if (!work.run) work.run = [] {};
  return work;
}
CUresult fake_cuGraphAddKernelNode(CUgraphNode* node, CUgraph handle, const CUgraphNode*, size_t,
                                   const KernelNode* kernel) {
  Launch launch;
  Work work = work_of(*kernel, launch);
  BEGIN("cuGraphAddKernelNode");
  const auto graph = state().graphs.find(number(handle));
  if (graph == state().graphs.end()) return kInvalidHandle;
  graph->second.works.push_back(std::move(work));
  graph->second.nodes.push_back(std::move(launch));
  *node = reinterpret_cast<CUgraphNode>(graph->second.nodes.size());
  return kSuccess;
}
CUresult fake_cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const KernelNode* kernel) {
  Launch launch;
  Work work = work_of(*kernel, launch);
  BEGIN("cuGraphExecKernelNodeSetParams");
  const auto found = state().executables.find(number(executable));
  const size_t index = reinterpret_cast<uintptr_t>(node) - 1;
  if (found == state().executables.end() || index >= found->second.nodes.size()) return kInvalidHandle;
  found->second.works[index] = std::move(work);
  found->second.nodes[index] = std::move(launch);
  return kSuccess;
}
CUresult fake_cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  BEGIN("cuGraphLaunch");
  Stream* stream = find_stream(handle);
  const auto found = state().executables.find(number(executable));
  if (!stream || found == state().executables.end()) return kInvalidHandle;
  for (Launch launch : found->second.nodes) {
    launch.stream = handle;
    state().launches.push_back(std::move(launch));
  }
  const std::vector<Work> works = found->second.works;
  for (Work work : works) push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuGraphExecDestroy(CUgraphExec executable) {
  BEGIN("cuGraphExecDestroy");
  return state().executables.erase(number(executable)) ? kSuccess : kInvalidHandle;
}
CUresult fake_cuGraphDestroy(CUgraph graph) {
  BEGIN("cuGraphDestroy");
  return state().graphs.erase(number(graph)) ? kSuccess : kInvalidHandle;
}

CUresult fake_cuEventCreate(CUevent* event, unsigned flags) {
  BEGIN("cuEventCreate");
  *event = new_handle<CUevent>();
  auto made = std::make_shared<Event>();
  made->has_timing = !(flags & kEventNoTiming);
  state().events[number(*event)] = std::move(made);
  return kSuccess;
}
CUresult fake_cuEventRecord(CUevent event_handle, CUstream handle) {
  BEGIN("cuEventRecord");
  Stream* stream = find_stream(handle);
  const std::shared_ptr<Event> event = find_event(event_handle);
  if (!stream || !event) return kInvalidHandle;
  event->capture = stream->capture;
  if (stream->capture) return kSuccess;
  Work work;
  work.run = [event, recorded = ++event->recorded] {
    event->finished = recorded;
    event->time = std::chrono::steady_clock::now();
  };
  push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuEventQuery(CUevent handle) {
  BEGIN("cuEventQuery");
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return kInvalidHandle;
  if (event->capture) return kCaptureUnsupported;
  return event->finished == event->recorded ? kSuccess : kNotReady;
}
CUresult fake_cuEventSynchronize(CUevent handle) {
  BEGIN("cuEventSynchronize");
  const std::shared_ptr<Event> event = find_event(handle);
  if (!event) return kInvalidHandle;
  if (event->capture) return kCaptureUnsupported;
  wait(lock, [&] { return event->finished == event->recorded; });
  return kSuccess;
}
CUresult fake_cuEventElapsedTime(float* milliseconds, CUevent begin_handle, CUevent end_handle) {
  BEGIN("cuEventElapsedTime");
  const std::shared_ptr<Event> begin = find_event(begin_handle), end = find_event(end_handle);
  if (!begin || !end || !begin->has_timing || !end->has_timing || !begin->recorded || !end->recorded)
    return kInvalidHandle;
  if (begin->finished != begin->recorded || end->finished != end->recorded) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return kSuccess;
}
CUresult fake_cuEventDestroy(CUevent handle) {
  BEGIN("cuEventDestroy");
  if (!find_event(handle)) return kInvalidHandle;
  state().events.erase(number(handle));
  return kSuccess;
}

// Real drivers may wait for the GPU where they load code, and do where they unload it.
CUresult fake_cuModuleLoadData(CUmodule* module, const void*) {
  BEGIN("cuModuleLoadData");
  wait(lock, [device = device_of_context()] { return is_idle(device); });
  *module = new_handle<CUmodule>();
  state().modules[number(*module)] = state().function_names;
  return kSuccess;
}
CUresult fake_cuModuleUnload(CUmodule module) {
  BEGIN("cuModuleUnload");
  wait(lock, [device = device_of_context()] { return is_idle(device); });
  state().modules.erase(number(module));
  return kSuccess;
}
CUresult fake_cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  BEGIN("cuModuleGetFunction");
  const std::vector<std::string>& names = state().modules[number(module)];
  if (!names.empty() && std::ranges::find(names, name) == names.end()) return kNotFound;
  *function = new_handle<CUfunction>();
  state().functions[number(*function)] = name;
  return kSuccess;
}
CUresult fake_cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  BEGIN("cuModuleGetFunctionCount");
  *count = static_cast<unsigned>(state().modules[number(module)].size());
  return kSuccess;
}
CUresult fake_cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  BEGIN("cuModuleEnumerateFunctions");
  const std::vector<std::string>& names = state().modules[number(module)];
  for (unsigned k = 0; k < count && k < names.size(); ++k) {
    functions[k] = new_handle<CUfunction>();
    state().functions[number(functions[k])] = names[k];
  }
  return kSuccess;
}
CUresult fake_cuFuncGetName(const char** name, CUfunction function) {
  BEGIN("cuFuncGetName");
  const auto found = state().functions.find(number(function));
  if (found == state().functions.end()) return kInvalidHandle;
  *name = found->second.c_str();
  return kSuccess;
}
CUresult fake_cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule, const char* name) {
  BEGIN("cuModuleGetGlobal");
  const auto found = state().globals.find(name);
  if (found == state().globals.end()) return kNotFound;
  std::tie(*address, *bytes) = found->second;
  return kSuccess;
}
CUresult fake_cuFuncGetAttribute(int* value, int attribute, CUfunction) {
  BEGIN("cuFuncGetAttribute");
  *value = state().function_attributes[attribute];
  return kSuccess;
}
CUresult fake_cuFuncSetAttribute(CUfunction, int attribute, int value) {
  BEGIN("cuFuncSetAttribute");
  state().function_attributes[attribute] = value;
  state().last_function_attribute = {attribute, value};
  return kSuccess;
}
CUresult fake_cuFuncGetParamInfo(CUfunction, size_t index, size_t* offset, size_t* size) {
  BEGIN("cuFuncGetParamInfo");
  if (index >= state().parameters.size()) return kInvalidValue;
  *offset = state().parameters[index].offset;
  *size = state().parameters[index].size;
  return kSuccess;
}
CUresult fake_cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, size_t) {
  BEGIN("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = state().blocks_per_multiprocessor;
  return kSuccess;
}
static CUresult launch_kernel(const char* name, CUfunction function, const LaunchGrid& grid, CUstream handle,
                              void** parameters) {
  LaunchHandler handler;
  Launch launch;
  {
    BEGIN(name);
    if (!find_stream(handle)) return kInvalidHandle;
    launch = {state().functions[number(function)], grid, handle};
    state().launches.push_back(launch);
    handler = state().handler;
  }
  Work work;
  if (handler) work.run = handler(launch, parameters);
  if (!work.run) work.run = [] {};
  Lock lock(state().mutex);
  if (Stream* stream = find_stream(handle)) push(*stream, std::move(work));
  return kSuccess;
}
CUresult fake_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                             void** parameters, void**) {
  const LaunchGrid grid{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  return launch_kernel("cuLaunchKernel", function, grid, stream, parameters);
}
CUresult fake_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                        CUstream stream, void** parameters) {
  const LaunchGrid grid{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, /*is_cooperative=*/true};
  return launch_kernel("cuLaunchCooperativeKernel", function, grid, stream, parameters);
}
CUresult fake_cuLaunchHostFunc(CUstream handle, void (*function)(void*), void* argument) {
  BEGIN("cuLaunchHostFunc");
  Stream* stream = find_stream(handle);
  if (!stream) return kInvalidHandle;
  const auto is_over = std::make_shared<bool>(false);
  Work call, end;
  call.run = [=] {
    std::thread([=] {  // which takes its time, and locks of its own
      function(argument);
      Lock lock(state().mutex);
      *is_over = true;
      drain();
    })
        .detach();
  };
  end.is_ready = [is_over] { return *is_over; };
  end.run = [] {};
  push(*stream, std::move(call));
  push(*stream, std::move(end));
  return kSuccess;
}
CUresult fake_cuLinkCreate(unsigned count, int* options, void** values, CUlinkState* link) {
  BEGIN("cuLinkCreate");
  *link = new_handle<CUlinkState>();
  state().links[number(*link)];
  state().assembled.clear();
  for (unsigned k = 0; k < count; ++k)
    state().assembled += "option " + std::to_string(options[k]) + ": " + std::to_string(number(values[k])) + "\n";
  return kSuccess;
}
CUresult fake_cuLinkAddData(CUlinkState link, int, void* data, size_t size, const char*, unsigned, int*, void**) {
  BEGIN("cuLinkAddData");
  state().links[number(link)].assign(static_cast<const char*>(data), size);
  state().assembled += state().links[number(link)];
  return kSuccess;
}
CUresult fake_cuLinkComplete(CUlinkState link, void** cubin, size_t* size) {
  BEGIN("cuLinkComplete");
  std::string& text = state().links[number(link)];
  *cubin = text.data();
  *size = text.size();
  return kSuccess;
}
CUresult fake_cuLinkDestroy(CUlinkState link) {
  BEGIN("cuLinkDestroy");
  return state().links.erase(number(link)) ? kSuccess : kInvalidHandle;
}

}  // extern "C"
}  // namespace iruka::cuda_backend
