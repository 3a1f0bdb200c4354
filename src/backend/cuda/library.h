// Shared libraries of CUDA, wherever they were installed.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace iruka::cuda_backend {

/// Folders that may contain CUDA's libraries, best first: folders of CUDA_PATH and CUDA_HOME, of Python packages named
/// nvidia-*, and of the toolkit's usual place.
std::vector<std::string> library_folders();

/// Opens the first of `names` that is found: in library_folders(), then where the system looks. Null if none is.
void* open_library(std::span<const std::string> names);

/// Adds folders that hold Python packages ("site-packages") to those searched for nvidia-*.
void add_package_folders(std::vector<std::string> folders);

}  // namespace iruka::cuda_backend
