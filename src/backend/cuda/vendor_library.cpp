#include "backend/cuda/vendor_library.h"

#include <dlfcn.h>

#include "backend/cuda/library.h"
#include "iruka/error.h"

namespace iruka::cuda_backend {

VendorLibrary::VendorLibrary(const char* name, int version_12, int version_13, const Traits& traits) {
  const std::string file = std::string("lib") + name + ".so.";
  std::vector<std::string> names;
  // A library of a newer major version than the driver's does not run.
  if (driver_version() >= 13000) names.push_back(file + std::to_string(version_13));
  names.push_back(file + std::to_string(version_12));
  for (size_t k = 0; traits.has_parts && !handle_ && k < names.size(); ++k)
    handle_ = dlopen(names[k].c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!handle_) handle_ = open_library(names);
  if (!handle_)
    problem_ = names.front() +
               " was not found in CUDA_PATH, in Python packages or by the system: `pip install nvidia-" + name +
               (driver_version() >= 13000 ? traits.package_13 : "-cu12") + "`, or install " + traits.product;
}

void* VendorLibrary::find(const char* symbol) {
  void* const found = handle_ ? dlsym(handle_, symbol) : nullptr;
  if (handle_ && !found) problem_ = std::string("the library that was found has no ") + symbol + ": it is too old";
  return found;
}

void VendorLibrary::check_found() const {
  if (!problem_.empty()) throw DeviceError("cuda: " + problem_);
}

void check_status(int status, const char* call, const CudaDevice& device) {
  if (status != 0) throw DeviceError(device.name() + ": " + call + " failed with status " + std::to_string(status));
}

}  // namespace iruka::cuda_backend
