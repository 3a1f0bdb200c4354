// Zip archives in memory, stored or deflated entries. Every place and size is checked against the file before use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "iruka/memory.h"

namespace iruka::nn {

struct ZipEntry {
  std::string_view name;
  uint64_t header = 0;       ///< where the entry begins in the file
  uint64_t data = 0;         ///< where its bytes begin
  uint64_t stored_size = 0;  ///< how many they are in the file
  uint64_t size = 0;         ///< how many they are unpacked
  uint32_t checksum = 0;
  bool deflated = false;
};

/// The archive's bytes must live longer than this does. Checksums of stored entries are not compared, because
/// torch.save() can be told to leave them out.
class ZipArchive {
 public:
  /// Raises ValueError, prefixed by `where`: entries that overlap or leave the file, encryption, other methods than
  /// deflate, names that occur twice or leave the folder, and more unpacked bytes than honest data has.
  ZipArchive(std::span<const uint8_t> bytes, const std::string& where);

  std::span<const ZipEntry> entries() const { return entries_; }
  /// Null where the archive has no entry of this name.
  const ZipEntry* find(std::string_view name) const;
  /// The bytes of an entry as they are in the file.
  std::span<const uint8_t> stored(const ZipEntry& entry) const { return bytes_.subspan(entry.data, entry.stored_size); }
  /// A buffer with the entry's unpacked bytes.
  BufferHandle unpack(const ZipEntry& entry) const;

 private:
  struct Directory {
    uint64_t count, size, offset;
  };
  Directory find_directory() const;
  void find_directory64(uint64_t end, Directory& directory) const;
  uint64_t read_entry(uint64_t at, uint64_t directory_end, ZipEntry& entry) const;
  void read_sizes64(std::span<const uint8_t> extra, ZipEntry& entry) const;
  void locate_data(ZipEntry& entry, uint64_t directory) const;
  void check_name(std::string_view name) const;
  void check_overlaps() const;
  void check_unpacked_sizes() const;

  uint64_t number(uint64_t at, int size) const;
  [[noreturn]] void refuse(const std::string& problem) const;

  std::span<const uint8_t> bytes_;
  const std::string& where_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, size_t> indices_;
};

}  // namespace iruka::nn
