// The structures of DLPack 1.0 (https://dmlc.github.io/dlpack), as far as arrays need them.
#pragma once

#include <cstdint>

namespace iruka::python::dlpack {

inline constexpr int32_t kCpu = 1;           // kDLCPU
inline constexpr int32_t kCuda = 2;          // kDLCUDA
inline constexpr int32_t kCudaManaged = 13;  // kDLCUDAManaged
inline constexpr int32_t kCudaHost = 3;      // kDLCUDAHost: pinned memory the CPU can read

enum TypeCode : uint8_t { kInt = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order
  uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};

inline constexpr uint64_t kReadOnly = 1;
inline constexpr uint64_t kCopied = 2;

}  // namespace iruka::python::dlpack
