#include "nn/files/zip.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "iruka/device.h"
#include "iruka/error.h"
#include "nn/files/input.h"

namespace iruka::nn {
namespace {

constexpr uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr uint32_t kDirectorySignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr uint64_t kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20, kDirectoryEntrySize = 46, kLocalSize = 30;
constexpr uint64_t kMostEntries = 1 << 20;
constexpr uint64_t kAbsent32 = 0xffffffff;  ///< the number is in the extra field instead
constexpr uint16_t kEncrypted = 1 | 1 << 6 | 1 << 13;
/// Deflate expands two bits to at most 258 bytes.
constexpr uint64_t kLargestExpansion = 1032;
/// Weights hardly compress, so an archive may unpack to this many times its size, or to this many bytes.
constexpr uint64_t kHonestExpansion = 100, kAlwaysUnpacked = uint64_t{64} << 20;

}  // namespace

ZipArchive::ZipArchive(std::span<const uint8_t> bytes, const std::string& where) : bytes_(bytes), where_(where) {
  const Directory directory = find_directory();
  const uint64_t directory_end = directory.offset + directory.size;
  uint64_t at = directory.offset;
  entries_.reserve(directory.count);
  for (uint64_t i = 0; i < directory.count; ++i) {
    ZipEntry entry;
    at = read_entry(at, directory_end, entry);
    check_name(entry.name);
    locate_data(entry, directory.offset);
    if (!indices_.try_emplace(entry.name, entries_.size()).second) {
      refuse("the entry " + in_quotes(entry.name) + " occurs twice");
    }
    entries_.push_back(entry);
  }
  if (at != directory_end) refuse("its directory has bytes after the last entry");
  check_overlaps();
  check_unpacked_sizes();
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = indices_.find(name);
  return found == indices_.end() ? nullptr : &entries_[found->second];
}

/// The directory's place is at the end of the file, before a comment whose length stands there too.
ZipArchive::Directory ZipArchive::find_directory() const {
  constexpr uint64_t kLongestComment = 0xffff;
  const uint64_t size = bytes_.size();
  for (uint64_t comment = 0; comment <= kLongestComment && comment + kEndSize <= size; ++comment) {
    const uint64_t end = size - kEndSize - comment;
    if (number(end, 4) != kEndSignature || number(end + 20, 2) != comment) continue;
    if (number(end + 4, 2) != number(end + 6, 2)) refuse("it is a part of an archive in several files");
    Directory directory{number(end + 10, 2), number(end + 12, 4), number(end + 16, 4)};
    uint64_t limit = end;
    if (end >= kLocator64Size && number(end - kLocator64Size, 4) == kLocator64Signature) {
      find_directory64(end, directory);
      limit = end - kLocator64Size;
    }
    if (directory.offset > limit || directory.size > limit - directory.offset) {
      refuse("its directory lies outside the file's " + std::to_string(size) + " bytes");
    }
    if (directory.count > kMostEntries || directory.count > directory.size / kDirectoryEntrySize) {
      refuse("it claims " + std::to_string(directory.count) + " entries in a directory of " +
             std::to_string(directory.size) + " bytes; at most " + std::to_string(kMostEntries) + " are read");
    }
    return directory;
  }
  refuse("it has no directory at its end; it may be cut short at its " + std::to_string(size) + " bytes");
}

void ZipArchive::find_directory64(uint64_t end, Directory& directory) const {
  const uint64_t at = number(end - kLocator64Size + 8, 8);
  if (at > end - kLocator64Size || end - kLocator64Size - at < kEnd64Size || number(at, 4) != kEnd64Signature) {
    refuse("the place of its 64-bit directory is wrong");
  }
  directory = {number(at + 32, 8), number(at + 40, 8), number(at + 48, 8)};
}

/// Reads the entry of the directory at `at`; returns where the next one begins.
uint64_t ZipArchive::read_entry(uint64_t at, uint64_t directory_end, ZipEntry& entry) const {
  if (directory_end - at < kDirectoryEntrySize || number(at, 4) != kDirectorySignature) {
    refuse("its directory is damaged at byte " + std::to_string(at));
  }
  const uint64_t flags = number(at + 8, 2), method = number(at + 10, 2);
  const uint64_t name_size = number(at + 28, 2), extra_size = number(at + 30, 2), comment_size = number(at + 32, 2);
  const uint64_t next = at + kDirectoryEntrySize + name_size + extra_size + comment_size;
  if (next > directory_end) refuse("its directory is damaged at byte " + std::to_string(at));
  const auto name = bytes_.subspan(at + kDirectoryEntrySize, name_size);
  entry.name = {reinterpret_cast<const char*>(name.data()), name.size()};
  if (flags & kEncrypted) refuse("the entry " + in_quotes(entry.name) + " is encrypted");
  if (method != 0 && method != Z_DEFLATED) {
    refuse("the entry " + in_quotes(entry.name) + " is packed by method " + std::to_string(method) +
           "; stored (0) and deflate (8) can be read");
  }
  entry.deflated = method == Z_DEFLATED;
  entry.checksum = static_cast<uint32_t>(number(at + 16, 4));
  entry.stored_size = number(at + 20, 4);
  entry.size = number(at + 24, 4);
  entry.header = number(at + 42, 4);
  read_sizes64(bytes_.subspan(at + kDirectoryEntrySize + name_size, extra_size), entry);
  return next;
}

/// Takes from the extra field what does not fit into 32 bits.
void ZipArchive::read_sizes64(std::span<const uint8_t> extra, ZipEntry& entry) const {
  constexpr uint64_t kField64 = 1;
  const auto base = static_cast<uint64_t>(extra.data() - bytes_.data());
  for (uint64_t at = 0; at + 4 <= extra.size();) {
    const uint64_t id = number(base + at, 2), size = number(base + at + 2, 2);
    uint64_t next = at + 4;
    at = next + size;
    if (at > extra.size()) break;
    if (id != kField64) continue;
    for (uint64_t* value : {&entry.size, &entry.stored_size, &entry.header}) {
      if (*value != kAbsent32) continue;
      if (next + 8 > at) refuse("the entry " + in_quotes(entry.name) + " lacks its 64-bit sizes");
      *value = number(base + next, 8);
      next += 8;
    }
    return;
  }
}

void ZipArchive::locate_data(ZipEntry& entry, uint64_t directory) const {
  const std::string what = "the entry " + in_quotes(entry.name);
  if (entry.header > directory || directory - entry.header < kLocalSize) refuse(what + " lies outside the file");
  if (number(entry.header, 4) != kLocalSignature) refuse(what + " has no header at its place");
  const uint64_t flags = number(entry.header + 6, 2), method = number(entry.header + 8, 2);
  const uint64_t name_size = number(entry.header + 26, 2), extra_size = number(entry.header + 28, 2);
  entry.data = entry.header + kLocalSize + name_size + extra_size;
  if (entry.data > directory || directory - entry.data < entry.stored_size) {
    refuse(what + " of " + std::to_string(entry.stored_size) + " bytes lies outside the file");
  }
  const auto* const name = reinterpret_cast<const char*>(bytes_.data()) + entry.header + kLocalSize;
  if (std::string_view(name, name_size) != entry.name) refuse(what + " has another name in its own header");
  if (flags & kEncrypted) refuse(what + " is encrypted");
  if (method != (entry.deflated ? Z_DEFLATED : 0)) refuse(what + " is packed by another method in its own header");
  if (!entry.deflated && entry.size != entry.stored_size) refuse(what + " has two sizes");
}

void ZipArchive::check_name(std::string_view name) const {
  const bool leaves =
      name.empty() || name.front() == '/' || name.find('\\') != name.npos || name.find('\0') != name.npos;
  bool climbs = false;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    climbs |= name.substr(begin, end - begin) == "..";
    begin = end + 1;
  }
  if (leaves || climbs) refuse("the entry's name " + in_quotes(name) + " does not stay inside the archive");
}

void ZipArchive::check_overlaps() const {
  std::vector<const ZipEntry*> sorted;
  sorted.reserve(entries_.size());
  for (const ZipEntry& entry : entries_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->header < b->header; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const ZipEntry &before = *sorted[i - 1], &after = *sorted[i];
    if (before.data + before.stored_size <= after.header) continue;
    refuse("the entries " + in_quotes(before.name) + " and " + in_quotes(after.name) + " overlap");
  }
}

void ZipArchive::check_unpacked_sizes() const {
  const uint64_t most = std::max(kAlwaysUnpacked, bytes_.size() * kHonestExpansion);
  uint64_t total = 0;
  for (const ZipEntry& entry : entries_) {
    if (!entry.deflated) continue;
    if (entry.size / kLargestExpansion > entry.stored_size) {
      refuse("the entry " + in_quotes(entry.name) + " claims to unpack from " + std::to_string(entry.stored_size) +
             " to " + std::to_string(entry.size) + " bytes, which deflate cannot do");
    }
    total += entry.size;
    if (total > most) {
      refuse("its entries unpack to more than " + std::to_string(most) + " bytes, which is not how weights compress");
    }
  }
}

BufferHandle ZipArchive::unpack(const ZipEntry& entry) const {
  const std::span<const uint8_t> from = stored(entry);
  if (!entry.deflated) return copied(from);
  auto buffer = std::make_shared<Buffer>(cpu(), entry.size);
  z_stream stream{};
  constexpr int kRawDeflate = -15;
  if (inflateInit2(&stream, kRawDeflate) != Z_OK) throw OutOfMemoryError(where_ + ": no memory to unpack an entry");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, inflateEnd);
  auto* to = static_cast<uint8_t*>(buffer->data());
  uint64_t read = 0, written = 0;
  uLong checksum = crc32(0, nullptr, 0);
  int status = Z_OK;
  // zlib counts in 32 bits.
  constexpr uint64_t kPiece = uint64_t{1} << 30;
  while (status == Z_OK) {
    const uint64_t input = std::min(from.size() - read, kPiece), output = std::min(entry.size - written, kPiece);
    stream.next_in = const_cast<uint8_t*>(from.data() + read);
    stream.avail_in = static_cast<uInt>(input);
    uint8_t nothing = 0;
    stream.next_out = output ? to + written : &nothing;
    stream.avail_out = static_cast<uInt>(output);
    status = ::inflate(&stream, Z_NO_FLUSH);
    const uint64_t unpacked = output - stream.avail_out;
    checksum = crc32(checksum, to + written, static_cast<uInt>(unpacked));
    read += input - stream.avail_in;
    written += unpacked;
    if (unpacked == 0 && input == stream.avail_in) break;
  }
  if (status != Z_STREAM_END || written != entry.size || read != from.size() || checksum != entry.checksum) {
    refuse("the entry " + in_quotes(entry.name) + " is damaged: it does not unpack to the " +
           std::to_string(entry.size) + " bytes of its checksum");
  }
  return buffer;
}

uint64_t ZipArchive::number(uint64_t at, int size) const {
  uint64_t value = 0;
  for (int i = size; i-- > 0;) value = value << 8 | bytes_[at + static_cast<uint64_t>(i)];
  return value;
}

void ZipArchive::refuse(const std::string& problem) const {
  raise_value_error(where_, "damaged zip archive: " + problem);
}

}  // namespace iruka::nn
