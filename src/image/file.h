// Reads and writes whole files; errors quote the system's message.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace iruka::image {

struct FileBytes {
  std::unique_ptr<uint8_t[]> data;
  size_t size = 0;
};

/// Raises FileError, which names `function`, `path` and the system's message.
FileBytes read_file(const char* function, const std::string& path);

/// Writes a file beside `path` and renames it, so that `path` is the old file or the whole new one. A `path` that is
/// a device or a pipe is written to directly. Raises FileError.
void write_file(const char* function, const std::string& path, std::span<const uint8_t> bytes);

}  // namespace iruka::image
