// A file's bytes in memory, and the pieces of error messages that all readers share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/file.h"
#include "iruka/memory.h"

namespace iruka::nn {

/// The bytes of a file in one buffer of the CPU's pool, of which arrays may be views.
class Input {
 public:
  /// `function` is what error messages name. Raises FileError, also for what is no regular file.
  static Input from_file(const std::string& function, const std::string& path);
  /// `name` is what the messages call the bytes. `path`: that of the file they are from, beside which others may lie.
  static Input from_bytes(const std::string& function, std::span<const uint8_t> bytes, const std::string& name = "",
                          const std::string& path = "");

  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(buffer_->data()), buffer_->bytes()}; }
  const BufferHandle& buffer() const { return buffer_; }
  const std::string& where() const { return where_; }  ///< the prefix of every message: "load_weights: 'net.pt'"
  const std::string& path() const { return path_; }    ///< empty where bytes were given

 private:
  BufferHandle buffer_;
  std::string where_, path_;
};

/// A buffer with all bytes of an open regular file. Raises FileError that names `path`.
BufferHandle read_whole(const File& file, const std::string& where, const std::string& path);
/// A buffer with a copy of `bytes`.
BufferHandle copied(std::span<const uint8_t> bytes);

/// A name from a file, for a message: in quotes, with escapes for what is not printable, and cut where it is long.
std::string in_quotes(std::string_view name);

[[noreturn]] void raise_value_error(const std::string& where, const std::string& problem);

}  // namespace iruka::nn
