// What the system says of a file that it does not open, read or write.
#pragma once

#include <string>
#include <system_error>

#include "iruka/error.h"

namespace iruka {

/// A FileError with errno's number and the path (Python: iruka.errors.FileError, which is a FileNotFoundError, a
/// PermissionError and so on, too, as the number says).
class IRUKA_API SystemFileError : public FileError {
 public:
  SystemFileError(const std::string& message, int number, std::string path)
      : FileError(message), number_(number), path_(std::move(path)) {}

  int number() const { return number_; }  ///< of errno
  const std::string& path() const { return path_; }

 private:
  int number_;
  std::string path_;
};

}  // namespace iruka
