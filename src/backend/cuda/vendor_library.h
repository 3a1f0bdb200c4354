// A library of CUDA beside the driver, opened at its first use: functions by name, and what to install where it is
// missing.
#pragma once

#include <string>
#include <type_traits>

#include "backend/cuda/cuda_device.h"

namespace iruka::cuda_backend {

class VendorLibrary {
 public:
  /// What sets a library apart from most.
  struct Traits {
    const char* package_13 = "";               ///< the end of its package's name for CUDA 13
    const char* product = "the CUDA toolkit";  ///< what else it is a part of
    /// It loads libraries of its own version by name. One that the process has loaded is taken, because those of two
    /// versions would meet.
    bool has_parts = false;
  };
  /// `name` as "cublas"; `version_12` and `version_13` are the numbers of its file in CUDA 12 and 13.
  VendorLibrary(const char* name, int version_12, int version_13, const Traits& traits);
  VendorLibrary(const char* name, int version_12, int version_13)
      : VendorLibrary(name, version_12, version_13, Traits()) {}

  template <class F>
  void find(F& function, const char* symbol) {
    function = reinterpret_cast<F>(find(symbol));
  }
  /// What is missing; empty where the library and all functions were found.
  const std::string& problem() const { return problem_; }
  /// Raises DeviceError that names what is missing.
  void check_found() const;

 private:
  void* find(const char* symbol);

  void* handle_ = nullptr;
  std::string problem_;
};

/// Raises DeviceError where a library's status is not 0.
void check_status(int status, const char* call, const CudaDevice& device);

/// Device memory for one call, released in the order of the stream.
class Scratch {
 public:
  Scratch(CudaDevice& device, size_t bytes) : device_(device), bytes_(bytes) {
    if (bytes) data_ = device.allocate(bytes);
  }
  ~Scratch() {
    if (data_) device_.release(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T = void>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  CudaDevice& device_;
  size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace iruka::cuda_backend
