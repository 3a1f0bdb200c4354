#include "image/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/file.h"
#include "iruka/file_error.h"

namespace iruka::image {
namespace {

[[noreturn]] void raise_file_error(const char* function, const char* rule, const std::string& path, int error) {
  throw SystemFileError(
      std::string(function) + ": cannot " + rule + " '" + path + "': " + std::generic_category().message(error), error,
      path);
}

/// Writes and closes the file. Returns 0 or errno.
int write_and_close(File& file, std::span<const uint8_t> bytes) {
  const int error = write_all(file, bytes.data(), bytes.size());
  return error ? error : file.close();
}

/// The target of a symbolic link, so that writing replaces the target and not the link.
std::string follow_links(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

/// A new file in the folder of `path`, under a short name that no other writer has and with the permissions of the
/// file that it will replace; or errno's reason in `error`.
int open_temporary(const std::string& path, std::optional<mode_t> mode, std::string& name, int& error) {
  static constinit std::atomic<uint64_t> counter{0};
  std::string stem = path.substr(0, path.find_last_of('/') + 1) + ".iruka-" + std::to_string(::getpid()) + "-";
  while (true) {
    name = stem + std::to_string(counter++) + ".tmp";
    int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ? 0600 : 0666);
    error = errno;
    if (descriptor >= 0 && mode) ::fchmod(descriptor, *mode);  // fails on file systems without permissions
    if (descriptor >= 0 || error != EEXIST) return descriptor;
  }
}

}  // namespace

FileBytes read_file(const char* function, const std::string& path) {
  if (path.find('\0') != std::string::npos) throw ValueError(std::string(function) + ": the path holds a NUL byte");
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) raise_file_error(function, "open", path, errno);
  struct stat status;
  if (::fstat(file.get(), &status) != 0) raise_file_error(function, "read", path, errno);
  // The buffer has one byte more than the file, so that the end is seen without growing it. A pipe has no size, so its
  // buffer grows.
  size_t capacity = std::max<size_t>(static_cast<size_t>(status.st_size) + 1, 4096);
  FileBytes bytes{std::make_unique_for_overwrite<uint8_t[]>(capacity), 0};
  while (true) {
    ssize_t count = ::read(file.get(), bytes.data.get() + bytes.size, capacity - bytes.size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) raise_file_error(function, "read", path, errno);
    if (count == 0) return bytes;
    bytes.size += static_cast<size_t>(count);
    if (bytes.size < capacity) continue;
    capacity *= 2;
    auto larger = std::make_unique_for_overwrite<uint8_t[]>(capacity);
    std::copy_n(bytes.data.get(), bytes.size, larger.get());
    bytes.data = std::move(larger);
  }
}

void write_file(const char* function, const std::string& path, std::span<const uint8_t> bytes) {
  if (path.find('\0') != std::string::npos) throw ValueError(std::string(function) + ": the path holds a NUL byte");
  struct stat status;
  std::optional<mode_t> mode;
  if (::stat(path.c_str(), &status) == 0) mode = status.st_mode & 07777;
  if (mode && !S_ISREG(status.st_mode)) {
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) raise_file_error(function, "write", path, errno);
    if (int error = write_and_close(file, bytes)) raise_file_error(function, "write", path, error);
    return;
  }
  std::string target = follow_links(path), temporary;
  int error = 0;
  File file(open_temporary(target, mode, temporary, error));
  if (!file.is_open()) raise_file_error(function, "write", path, error);
  error = write_and_close(file, bytes);
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  raise_file_error(function, "write", path, error);
}

}  // namespace iruka::image
