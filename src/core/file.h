// A file descriptor that closes itself, and a write that completes.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace iruka {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// Closes the file now, because a full disk may be reported only here. Returns 0 or errno.
  int close() {
    const int result = ::close(std::exchange(descriptor_, -1));
    return result == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int descriptor_;
};

/// Writes all `size` bytes, in several calls if needed. Returns 0 or errno.
inline int write_all(const File& file, const void* bytes, size_t size) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(file.get(), from, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    from += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

}  // namespace iruka
