// Files that are decoded together, into the memory of any device.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "image/codec.h"
#include "image/file.h"

namespace iruka::image {

/// A file of a batch, and what becomes of it.
struct FileToDecode {
  std::string where;               ///< the prefix of errors
  Bytes bytes{};                   ///< the contents
  const char* read_for = nullptr;  ///< the function that names `path` in errors; null where the bytes are there
  const std::string* path = nullptr;
  const DecodeOptions* options = nullptr;
  const Array* out = nullptr;        ///< on the device, to be filled
  std::optional<DecodePlan> plan{};  ///< for the options, where it is made already
  FileBytes file{};                  ///< what was read
  BatchItem item{};                  ///< the result
};

/// Fills the items, on all threads. A GPU's decoder gets the files that it takes, and the CPU the others; chains that
/// differ in numbers alone are launched together. The options' own device is not looked at.
void decode_files(Device& device, std::span<FileToDecode> files);

/// A uint8 picture (height, width[, channels]) on any device at 1 / divisor of its size, rounded up: means of pixels,
/// as libjpeg's reduced transforms give them (jidctred.c). The last pixels are repeated beyond the picture's ends.
Array reduced_by_means(const Array& picture, int64_t divisor);

}  // namespace iruka::image
