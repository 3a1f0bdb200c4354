#include "nn/files/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "iruka/device.h"
#include "iruka/file_error.h"

namespace iruka::nn {
namespace {

[[noreturn]] void raise_system_error(const std::string& where, const char* verb, int error, const std::string& path) {
  throw SystemFileError(where + ": cannot " + verb + ": " + std::generic_category().message(error), error, path);
}

}  // namespace

BufferHandle read_whole(const File& file, const std::string& where, const std::string& path) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) raise_system_error(where, "read", errno, path);
  if (S_ISDIR(status.st_mode)) throw SystemFileError(where + ": is a folder, not a file", EISDIR, path);
  if (!S_ISREG(status.st_mode)) throw FileError(where + ": is a device or pipe, not a file");
  const auto size = static_cast<size_t>(status.st_size);
  auto buffer = std::make_shared<Buffer>(cpu(), size);
  for (size_t done = 0; done < size;) {
    constexpr size_t kPiece = size_t{1} << 30;
    const ssize_t count = ::read(file.get(), static_cast<char*>(buffer->data()) + done, std::min(size - done, kPiece));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) raise_system_error(where, "read", errno, path);
    if (count == 0) throw FileError(where + ": became shorter while it was read");
    done += static_cast<size_t>(count);
  }
  return buffer;
}

Input Input::from_file(const std::string& function, const std::string& path) {
  if (path.find('\0') != std::string::npos) throw ValueError(function + ": the path holds a NUL byte");
  Input input;
  input.where_ = function + ": '" + path + "'";
  input.path_ = path;
  // Opening a pipe would wait for its writer.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) raise_system_error(input.where_, "open", errno, path);
  input.buffer_ = read_whole(file, input.where_, path);
  return input;
}

Input Input::from_bytes(const std::string& function, std::span<const uint8_t> bytes, const std::string& name,
                        const std::string& path) {
  Input input;
  input.where_ = name.empty() ? function : function + ": " + name;
  input.path_ = path;
  input.buffer_ = copied(bytes);
  return input;
}

BufferHandle copied(std::span<const uint8_t> bytes) {
  auto buffer = std::make_shared<Buffer>(cpu(), bytes.size());
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return buffer;
}

std::string in_quotes(std::string_view name) {
  constexpr size_t kLongest = 120;
  std::string text = "'";
  for (const char c : name.substr(0, kLongest)) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      text += c;
    }
  }
  return text + (name.size() > kLongest ? "...'" : "'");
}

void raise_value_error(const std::string& where, const std::string& problem) {
  throw ValueError(where + ": " + problem);
}

}  // namespace iruka::nn
