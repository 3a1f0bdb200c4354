// Files beside a model that hold its tensors' bytes.
#pragma once

#include <map>
#include <string>

#include "core/file.h"
#include "iruka/memory.h"

namespace iruka::nn {

/// Reads each file once. Only regular files in the model's folder and below it are opened, and no symbolic link is
/// followed, so that a model cannot make a program read what lies elsewhere.
class ExternalFiles {
 public:
  /// `model_path` is empty where the model was given as bytes: no file is read then.
  ExternalFiles(const std::string& model_path, const std::string& where) : model_path_(model_path), where_(where) {}

  /// A buffer with all bytes of the file. Raises ValueError for a location outside the folder, FileError for a file
  /// that cannot be read.
  const BufferHandle& at(const std::string& location);

 private:
  BufferHandle read(const std::string& location) const;
  [[noreturn]] void refuse(const std::string& location, const std::string& problem) const;

  const std::string& model_path_;
  const std::string& where_;
  std::map<std::string, BufferHandle> files_;
};

}  // namespace iruka::nn
