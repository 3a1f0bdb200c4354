// CUDA's driver API, found at run time: a table of functions, and their errors as exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace iruka::cuda_backend {

// The driver's own types and constants, as its stable ABI has them (cuda.h of CUDA 12 and 13).
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUlinkState = struct CUlinkState_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUgraphNode = struct CUgraphNode_st*;

/// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNode {
  CUfunction function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1, block_x = 1, block_y = 1, block_z = 1, shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;       ///< in place of `function`
  CUcontext context = nullptr;  ///< null: the calling thread's
};

inline constexpr CUresult kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kNotFound = 500,
                          kNotReady = 600;
/// Streams that every context has: the one that waits for all others, and each thread's own.
inline const CUstream kLegacyStream = reinterpret_cast<CUstream>(uintptr_t{1});
inline const CUstream kPerThreadStream = reinterpret_cast<CUstream>(uintptr_t{2});

/// CUdevice_attribute
enum DeviceAttribute : int {
  kMostThreadsX = 2,
  kMostThreadsY = 3,
  kMostThreadsZ = 4,
  kMostBlocksX = 5,
  kMostBlocksY = 6,
  kMostBlocksZ = 7,
  kMultiprocessors = 16,
  kPciBus = 33,
  kPciDevice = 34,
  kClockKilohertz = 13,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kLevel2Bytes = 38,
  kThreadsPerMultiprocessor = 39,
  kPciDomain = 50,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kCooperativeLaunch = 95,
  kMostSharedBytesPerBlock = 97,  ///< with a function's consent; else kSharedBytesPerBlock
  kSharedBytesPerBlock = 8,
  kWarpSize = 10,
  kMostThreadsPerBlock = 1,
  kRegistersPerBlock = 12,
};
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
/// CUpointer_attribute
enum PointerAttribute : int { kMemoryType = 2, kDeviceOrdinal = 9 };
enum MemoryType : unsigned { kPageable = 0, kHostMemory = 1, kDeviceMemory = 2 };
/// CUevent_flags, CUstream_flags, CUstreamCaptureMode
enum : unsigned { kEventDefault = 0, kEventBlocking = 1, kEventNoTiming = 2, kStreamNonBlocking = 1 };
enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum CaptureStatus : int { kNotCapturing = 0, kCapturing = 1 };

// name, symbol in the library, parameters. Every function returns CUresult.
#define IRUKA_DRIVER_FUNCTIONS(F)                                                                                 \
  F(cuInit, "cuInit", (unsigned flags))                                                                           \
  F(cuDriverGetVersion, "cuDriverGetVersion", (int* version))                                                     \
  F(cuGetErrorName, "cuGetErrorName", (CUresult error, const char** text))                                        \
  F(cuGetErrorString, "cuGetErrorString", (CUresult error, const char** text))                                    \
  F(cuDeviceGetCount, "cuDeviceGetCount", (int* count))                                                           \
  F(cuDeviceGet, "cuDeviceGet", (CUdevice * device, int index))                                                   \
  F(cuDeviceGetName, "cuDeviceGetName", (char* name, int length, CUdevice device))                                \
  F(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, CUdevice device))                   \
  F(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int* can, CUdevice device, CUdevice peer))                   \
  F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))                 \
  F(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext context))                                                      \
  F(cuCtxGetCurrent, "cuCtxGetCurrent", (CUcontext * context))                                                    \
  F(cuCtxSynchronize, "cuCtxSynchronize", ())                                                                     \
  F(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", (CUcontext peer, unsigned flags))                             \
  F(cuMemGetInfo, "cuMemGetInfo_v2", (size_t* free_bytes, size_t* all_bytes))                                     \
  F(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr * memory, size_t bytes))                                            \
  F(cuMemFree, "cuMemFree_v2", (CUdeviceptr memory))                                                              \
  F(cuMemHostAlloc, "cuMemHostAlloc", (void** memory, size_t bytes, unsigned flags))                              \
  F(cuMemFreeHost, "cuMemFreeHost", (void* memory))                                                               \
  F(cuMemcpyAsync, "cuMemcpyAsync", (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))            \
  F(cuMemsetD8Async, "cuMemsetD8Async", (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))     \
  F(cuPointerGetAttributes, "cuPointerGetAttributes",                                                             \
    (unsigned count, int* attributes, void** values, CUdeviceptr pointer))                                        \
  F(cuStreamCreateWithPriority, "cuStreamCreateWithPriority", (CUstream * stream, unsigned flags, int priority))  \
  F(cuStreamGetFlags, "cuStreamGetFlags", (CUstream stream, unsigned* flags))                                     \
  F(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream stream))                                                     \
  F(cuStreamSynchronize, "cuStreamSynchronize", (CUstream stream))                                                \
  F(cuStreamQuery, "cuStreamQuery", (CUstream stream))                                                            \
  F(cuStreamWaitEvent, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))                     \
  F(cuStreamIsCapturing, "cuStreamIsCapturing", (CUstream stream, int* status))                                   \
  F(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2",                                                          \
    (CUstream stream, int* status, uint64_t* id, CUgraph* graph, const void** dependencies, size_t* count))       \
  F(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream stream, int mode))                                 \
  F(cuStreamEndCapture, "cuStreamEndCapture", (CUstream stream, CUgraph * graph))                                 \
  F(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int* mode))                          \
  F(cuGraphInstantiate, "cuGraphInstantiateWithFlags",                                                            \
    (CUgraphExec * executable, CUgraph graph, unsigned long long flags))                                          \
  F(cuGraphCreate, "cuGraphCreate", (CUgraph * graph, unsigned flags))                                            \
  F(cuGraphAddKernelNode, "cuGraphAddKernelNode_v2",                                                              \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode* dependencies, size_t count, const KernelNode* kernel)) \
  F(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2",                                          \
    (CUgraphExec executable, CUgraphNode node, const KernelNode* kernel))                                         \
  F(cuGraphLaunch, "cuGraphLaunch", (CUgraphExec executable, CUstream stream))                                    \
  F(cuGraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec executable))                                           \
  F(cuGraphDestroy, "cuGraphDestroy", (CUgraph graph))                                                            \
  F(cuEventCreate, "cuEventCreate", (CUevent * event, unsigned flags))                                            \
  F(cuEventRecord, "cuEventRecord", (CUevent event, CUstream stream))                                             \
  F(cuEventQuery, "cuEventQuery", (CUevent event))                                                                \
  F(cuEventSynchronize, "cuEventSynchronize", (CUevent event))                                                    \
  F(cuEventElapsedTime, "cuEventElapsedTime", (float* milliseconds, CUevent begin, CUevent end))                  \
  F(cuEventDestroy, "cuEventDestroy_v2", (CUevent event))                                                         \
  F(cuModuleLoadData, "cuModuleLoadData", (CUmodule * module, const void* image))                                 \
  F(cuModuleUnload, "cuModuleUnload", (CUmodule module))                                                          \
  F(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char* name))       \
  F(cuModuleGetGlobal, "cuModuleGetGlobal_v2",                                                                    \
    (CUdeviceptr * address, size_t* bytes, CUmodule module, const char* name))                                    \
  F(cuFuncGetAttribute, "cuFuncGetAttribute", (int* value, int attribute, CUfunction function))                   \
  F(cuFuncSetAttribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))                    \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                   \
    (int* blocks, CUfunction function, int threads, size_t shared_bytes))                                         \
  F(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel",                                                       \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,  \
     unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters))                                \
  F(cuLaunchKernel, "cuLaunchKernel",                                                                             \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,  \
     unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters, void** extra))                  \
  F(cuLaunchHostFunc, "cuLaunchHostFunc", (CUstream stream, void (*function)(void*), void* argument))             \
  F(cuLinkCreate, "cuLinkCreate_v2", (unsigned count, int* options, void** values, CUlinkState* state))           \
  F(cuLinkAddData, "cuLinkAddData_v2",                                                                            \
    (CUlinkState state, int type, void* data, size_t size, const char* name, unsigned count, int* options,        \
     void** values))                                                                                              \
  F(cuLinkComplete, "cuLinkComplete", (CUlinkState state, void** cubin, size_t* size))                            \
  F(cuLinkDestroy, "cuLinkDestroy", (CUlinkState state))

// Those that drivers for CUDA 12.4 and later have.
#define IRUKA_NEWER_DRIVER_FUNCTIONS(F)                                                                          \
  F(cuFuncGetName, "cuFuncGetName", (const char** name, CUfunction function))                                    \
  F(cuFuncGetParamInfo, "cuFuncGetParamInfo", (CUfunction function, size_t index, size_t* offset, size_t* size)) \
  F(cuModuleGetFunctionCount, "cuModuleGetFunctionCount", (unsigned* count, CUmodule module))                    \
  F(cuModuleEnumerateFunctions, "cuModuleEnumerateFunctions", (CUfunction * functions, unsigned count, CUmodule module))

/// The driver's functions. Newer ones are null if the driver is older. Tests replace them.
struct Driver {
#define IRUKA_DRIVER_MEMBER(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  IRUKA_DRIVER_FUNCTIONS(IRUKA_DRIVER_MEMBER)
  IRUKA_NEWER_DRIVER_FUNCTIONS(IRUKA_DRIVER_MEMBER)
#undef IRUKA_DRIVER_MEMBER
};

/// The driver's functions, initialised. Raises DeviceError that names what is missing; tries only once in a process.
const Driver& driver();
/// The message that driver() would raise; empty if a GPU can be used.
const std::string& driver_problem();
/// 13000 for CUDA 13.0.
int driver_version();
/// Puts `other` in the place of the system's driver; null: back to the system's. For tests, before any device is made.
void replace_driver(const Driver* other);

/// "CUDA_ERROR_INVALID_VALUE (1): invalid argument"
std::string describe(CUresult error);
/// Whether the driver refused the call because a stream is being captured for a graph.
inline bool is_capture_error(CUresult error) { return error >= 900 && error <= 908; }
/// Whether every later call for the same GPU fails as well, because of a kernel's error or the hardware.
bool is_lasting(CUresult error);
/// What can be done about work that a capture refuses.
inline constexpr const char* kCaptureAdvice =
    "a stream is being captured for a graph, so its work is recorded and not run; wait for the GPU and read results "
    "before "
    "begin_capture() or after end_capture()";
/// CUDA's own setting: each launch waits for its kernel, so that an error names the right one.
bool launches_block();

/// Raises OutOfMemoryError or DeviceError unless `result` is success. The message names the call, its subject (mostly a
/// device's name), and advice.
void check(CUresult result, const char* call, const std::string& subject = {});

/// The memory that contains an address. Type 0: unknown to the driver, such as pageable memory.
struct MemoryPlace {
  unsigned type;  ///< MemoryType
  int device;
};
MemoryPlace place_of(const void* memory);

}  // namespace iruka::cuda_backend
