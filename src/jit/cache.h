// The disk cache of compiled kernels. Every failure is a miss: nothing is printed and nothing is thrown.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace iruka::jit {

/// 128 bits of XXH3 over everything that a compiled kernel depends on.
struct CacheKey {
  uint64_t low = 0, high = 0;
  std::string hex() const;
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};
CacheKey hash_key(std::string_view text);

/// One entry as bytes on disk: magic, format, key, payload size, checksum, payload.
std::string encode_entry(const CacheKey& key, std::string_view payload);
/// The payload, or nothing when the bytes are truncated, damaged, of another format or another key.
std::optional<std::string_view> decode_entry(const CacheKey& key, std::string_view bytes);

/// Files of one folder, checksummed, published by rename, evicted least recently used first.
class DiskCache {
 public:
  /// Makes the folder (mode 0700) when it is missing. A folder that cannot be used, or that another user could write,
  /// gives an empty cache, and so does an empty name.
  DiskCache(std::string directory, uint64_t budget_bytes);

  const std::string& directory() const { return directory_; }  ///< empty when unusable
  std::optional<std::string> read(const CacheKey& key) const;
  void write(const CacheKey& key, std::string_view payload);
  /// Deletes this cache's files and nothing else.
  void clear();
  /// Deletes the least recently used entries until the folder holds at most the budget.
  void evict();

  /// IRUKA_CACHE_DIR, else XDG_CACHE_HOME/iruka, else HOME/.cache/iruka, else nothing.
  static std::string default_directory();
  /// IRUKA_CACHE_SIZE in bytes (suffix K, M or G), else 512 MiB.
  static uint64_t default_budget();

 private:
  std::string path(const CacheKey& key) const;

  std::string directory_;
  uint64_t budget_;
  std::atomic<uint64_t> written_{0};
};

/// The code of a kernel that was compiled for this processor when the library was built, from the folder `kernels` next
/// to the library's file. Nothing if there is none, or with IRUKA_SHIPPED_KERNELS=0.
std::optional<std::string> read_shipped(const CacheKey& key);

/// The cache in use; follows the environment variables when they change.
std::shared_ptr<DiskCache> disk_cache();

}  // namespace iruka::jit
