// A compiler's warnings, from the compiler to the user.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "jit/program.h"

namespace iruka::jit {

/// Warnings as bytes for a cache entry, and back. Empty means none.
std::string encode_warnings(std::span<const Diagnostic> warnings);
std::vector<Diagnostic> decode_warnings(std::string_view bytes);

/// Code, its warnings and the names of its name expressions as one cache entry, and back if the bytes are such an
/// entry.
std::string pack_code(std::span<const Diagnostic> warnings, const NamePairs& names, std::string_view code);
bool unpack_code(std::string_view entry, std::vector<Diagnostic>& warnings, NamePairs& names, std::string_view& code);

/// A kernel's warnings that were not reported yet. Thread-safe; checking for warnings is one load.
class PendingWarnings {
 public:
  /// Words each warning by `context`. Skips lines that an earlier compilation warned of, because two compilers word the
  /// same warning differently.
  void add(std::span<const Diagnostic> warnings, const ErrorContext& context);
  void add(std::vector<std::string> worded);
  std::vector<std::string> take();

 private:
  std::atomic<bool> has_any_{false};
  std::unordered_set<std::string> known_places_;
  std::vector<std::string> waiting_;
};

}  // namespace iruka::jit
