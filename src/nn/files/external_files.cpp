#include "nn/files/external_files.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "iruka/file_error.h"
#include "nn/files/input.h"

namespace iruka::nn {

const BufferHandle& ExternalFiles::at(const std::string& location) {
  const auto found = files_.find(location);
  if (found != files_.end()) return found->second;
  return files_.emplace(location, read(location)).first->second;
}

/// Opens one folder after the other, so that a link put in between while this runs is not followed either.
BufferHandle ExternalFiles::read(const std::string& location) const {
  if (model_path_.empty())
    refuse(location, "the model was given as bytes, so there is no folder to look in; give the path");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    parts.push_back(location.substr(begin, end - begin));
    begin = end + 1;
    if (parts.back().empty() || parts.back() == "." || parts.back() == ".." || location.find('\0') != location.npos) {
      refuse(location, "a location is a path inside the model's folder, without '..', '.' and a leading '/'");
    }
  }
  const size_t slash = model_path_.find_last_of('/');
  const std::string folder = slash == model_path_.npos ? "." : model_path_.substr(0, slash + 1);
  const std::string path = (slash == model_path_.npos ? "" : folder) + location;
  auto opened = std::make_unique<File>(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  for (size_t i = 0; i < parts.size(); ++i) {
    // Opening a pipe would wait for its writer.
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    const int next = ::openat(opened->get(), parts[i].c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | kind);
    const int error = errno;
    if (next < 0 && (error == ELOOP || error == ENOTDIR)) {
      refuse(location, "'" + parts[i] + "' is a symbolic link or no folder, and links are not followed");
    }
    if (next < 0) {
      throw SystemFileError(
          where_ + ": cannot open its data " + in_quotes(location) + ": " + std::generic_category().message(error),
          error, path);
    }
    opened = std::make_unique<File>(next);
  }
  return read_whole(*opened, where_ + ": its data " + in_quotes(location), path);
}

void ExternalFiles::refuse(const std::string& location, const std::string& problem) const {
  raise_value_error(where_, "its tensors' data are in " + in_quotes(location) + ", which is not read: " + problem);
}

}  // namespace iruka::nn
