// What kernels include from the user's folders. Iruka finds and reads these files itself and gives compilers their
// content, so that all devices see the bytes that cache keys hash, and no compiler reads the disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"

namespace iruka::jit {

/// The headers of a kernel, as they were when it was made.
struct Includes {
  /// In them, names of found files are whole paths; null where none is found. A path ends in a space if the kernel
  /// language has a header of that name.
  HeaderFiles files;
  std::vector<std::shared_ptr<const std::string>> originals;  ///< of `files`, as they were read
  std::vector<std::string> folders;                           ///< in the order in which they are searched
  std::vector<std::string> refused;  ///< sentences about files that were found but not taken: "'/a/x.h' cannot be read"
  /// What compilers read in place of a name in the texts; both with their quotes or angle brackets.
  std::map<std::string, std::string, std::less<>> names;

  /// `text` with whole paths.
  std::string with_paths(std::string_view text) const;
  /// The original of a file; null if it is none of `files`.
  const std::string* text_of(std::string_view path) const;
};

/// Follows `#include` and `__has_include` from `texts` through the folders of `options` (`-I`), with the rules of C++
/// compilers: a name in quotes is searched for in the folder of the file that includes it first, and an absolute path
/// needs no folder. Conditions are not evaluated: a file counts even if no compiler reaches its `#include`.
/// Null if the texts include nothing that a compiler could find on the disk.
std::shared_ptr<const Includes> read_includes(std::span<const std::string* const> texts,
                                              const std::vector<std::string>& options);

/// The name in error messages where a file is not named by the text: `#include MACRO`.
inline constexpr std::string_view kUnnamedFile = "a file that is not named";

}  // namespace iruka::jit
