#include "backend/cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "core/fork.h"
#include "core/once.h"

namespace iruka::cuda_backend {
namespace {

namespace fs = std::filesystem;

constinit ForkSafeMutex folders_mutex;

std::vector<std::string>& package_folders() {
  return made_once([] { return std::vector<std::string>(); });
}

/// nvidia/cuda_nvrtc/lib (CUDA 12) and nvidia/cu13/lib, newest first.
void add_packages(const fs::path& site, std::vector<std::string>& folders) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator at(site / "nvidia", error), end; !error && at != end; at.increment(error)) {
    const fs::path lib = at->path() / "lib";
    if (fs::is_directory(lib, error)) found.push_back(lib.string());
  }
  std::ranges::sort(found, std::greater());
  folders.insert(folders.end(), found.begin(), found.end());
}

void add_toolkit(const fs::path& root, std::vector<std::string>& folders) {
  for (const char* sub : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
    folders.push_back((root / sub).string());
}

}  // namespace

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* root = std::getenv(variable); root && *root) add_toolkit(root, folders);
  {
    std::lock_guard lock(folders_mutex);
    for (const std::string& site : package_folders()) add_packages(site, folders);
  }
  add_toolkit("/usr/local/cuda", folders);
  return folders;
}

void* open_library(std::span<const std::string> names) {
  std::error_code error;
  for (const std::string& folder : library_folders())
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      if (!fs::exists(path, error)) continue;
      if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    }
  for (const std::string& name : names)
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

void add_package_folders(std::vector<std::string> folders) {
  std::lock_guard lock(folders_mutex);
  package_folders() = std::move(folders);
}

}  // namespace iruka::cuda_backend
