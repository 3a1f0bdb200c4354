"""The functions of CuPy's cuda.runtime that programs use."""

from __future__ import annotations

from .. import _core
from .._core import Device
from ..errors import DeviceError
from ._stream import _has_no_gpu, current_gpu as _current_gpu

CUDARuntimeError = DeviceError

streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = range(3)

#: The driver's numbers (CUdevice_attribute) by the names of CUDA's runtime.
_ATTRIBUTES = {
    "MaxThreadsPerBlock": 1,
    "MaxBlockDimX": 2,
    "MaxBlockDimY": 3,
    "MaxBlockDimZ": 4,
    "MaxGridDimX": 5,
    "MaxGridDimY": 6,
    "MaxGridDimZ": 7,
    "MaxSharedMemoryPerBlock": 8,
    "TotalConstantMemory": 9,
    "WarpSize": 10,
    "MaxPitch": 11,
    "MaxRegistersPerBlock": 12,
    "ClockRate": 13,
    "TextureAlignment": 14,
    "GpuOverlap": 15,
    "MultiProcessorCount": 16,
    "KernelExecTimeout": 17,
    "Integrated": 18,
    "CanMapHostMemory": 19,
    "ComputeMode": 20,
    "ConcurrentKernels": 31,
    "EccEnabled": 32,
    "PciBusId": 33,
    "PciDeviceId": 34,
    "TccDriver": 35,
    "MemoryClockRate": 36,
    "GlobalMemoryBusWidth": 37,
    "L2CacheSize": 38,
    "MaxThreadsPerMultiProcessor": 39,
    "AsyncEngineCount": 40,
    "UnifiedAddressing": 41,
    "PciDomainId": 50,
    "ComputeCapabilityMajor": 75,
    "ComputeCapabilityMinor": 76,
    "StreamPrioritiesSupported": 78,
    "GlobalL1CacheSupported": 79,
    "LocalL1CacheSupported": 80,
    "MaxSharedMemoryPerMultiprocessor": 81,
    "MaxRegistersPerMultiprocessor": 82,
    "ManagedMemory": 83,
    "IsMultiGpuBoard": 84,
    "MultiGpuBoardGroupID": 85,
    "HostNativeAtomicSupported": 86,
    "SingleToDoublePrecisionPerfRatio": 87,
    "PageableMemoryAccess": 88,
    "ConcurrentManagedAccess": 89,
    "ComputePreemptionSupported": 90,
    "CanUseHostPointerForRegisteredMem": 91,
    "CooperativeLaunch": 95,
    "MaxSharedMemoryPerBlockOptin": 97,
    "MaxBlocksPerMultiprocessor": 106,
    "ReservedSharedMemoryPerBlock": 111,
}

#: The properties that getDeviceProperties() reads from attributes; the driver has functions for the others.
_PROPERTIES = {
    "warpSize": "WarpSize",
    "maxThreadsPerBlock": "MaxThreadsPerBlock",
    "maxThreadsPerMultiProcessor": "MaxThreadsPerMultiProcessor",
    "sharedMemPerBlock": "MaxSharedMemoryPerBlock",
    "sharedMemPerBlockOptin": "MaxSharedMemoryPerBlockOptin",
    "sharedMemPerMultiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "regsPerBlock": "MaxRegistersPerBlock",
    "regsPerMultiprocessor": "MaxRegistersPerMultiprocessor",
    "totalConstMem": "TotalConstantMemory",
    "clockRate": "ClockRate",
    "memoryClockRate": "MemoryClockRate",
    "memoryBusWidth": "GlobalMemoryBusWidth",
    "asyncEngineCount": "AsyncEngineCount",
    "concurrentKernels": "ConcurrentKernels",
    "integrated": "Integrated",
    "pciBusID": "PciBusId",
    "pciDeviceID": "PciDeviceId",
    "pciDomainID": "PciDomainId",
}


def device_attributes(device: Device) -> dict[str, int]:
    """Device.attributes: the driver's attributes of a GPU, by the names of CUDA's runtime."""
    return {name: _core.cuda_attribute(device, number) for name, number in _ATTRIBUTES.items()}


def getDeviceCount() -> int:
    """GPUs of this process. Raises DeviceError that says what is missing where none can be used."""
    if not _core.cuda_is_available():
        raise DeviceError(f"cuda: no GPU can be used: {_core.cuda_unavailable_reason()}")
    return _core.cuda_device_count()


def getDevice() -> int:
    """The number of the GPU that the calling thread uses."""
    return _current_gpu().id


def setDevice(device: int) -> None:
    """Makes a GPU the calling thread's default device."""
    Device(device).use()


def getDeviceProperties(device: int) -> dict:
    """Name (bytes, as CuPy has it), sizes and limits of a GPU, by the names of cudaDeviceProp."""
    gpu = Device(device)
    properties = _core.cuda_properties(gpu)
    properties["name"] = properties["name"].encode()
    del properties["freeGlobalMem"], properties["pciBusId"]
    return properties | {name: _core.cuda_attribute(gpu, _ATTRIBUTES[a]) for name, a in _PROPERTIES.items()}


def deviceSynchronize() -> None:
    """Waits until all work of the current GPU is done; without one there is none."""
    if not _has_no_gpu():
        _current_gpu().synchronize()


def memGetInfo() -> tuple[int, int]:
    """Bytes of the current GPU that are free, and all of them."""
    return _current_gpu().mem_info


def driverGetVersion() -> int:
    """The newest CUDA that the driver serves: 13000 for 13.0."""
    return _core.cuda_driver_version()


def runtimeGetVersion() -> int:
    """The version of the CUDA compiler in use, NVRTC: 13000 for 13.0. Raises DeviceError where it is missing."""
    major, minor = _core.cuda_nvrtc_version().split(".")[:2]
    return int(major) * 1000 + int(minor) * 10
