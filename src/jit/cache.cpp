#include "jit/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/fork.h"
#include "core/once.h"
#include "jit/program.h"

namespace iruka::jit {
namespace {

constexpr char kMagic[8] = {'I', 'R', 'U', 'K', 'A', 'J', 'I', 'T'};
constexpr uint32_t kFormat = 1;
constexpr std::string_view kSuffix = ".kernel";
constexpr std::string_view kTemporaryPrefix = ".tmp-";
constexpr size_t kKeyDigits = 32;
constexpr uint64_t kLargestEntry = 64u << 20;
constexpr time_t kStaleSeconds = 3600;
constexpr time_t kTouchSeconds = 600;

struct EntryHeader {
  char magic[8];
  uint32_t format;
  uint32_t reserved;
  uint64_t key_low, key_high;
  uint64_t payload_size;
  uint64_t checksum_low, checksum_high;
};
static_assert(sizeof(EntryHeader) == 56);

bool read_all(int descriptor, char* to, size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(descriptor, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

/// The content of an open file; nothing if it is larger than an entry may be, or if reading fails.
std::optional<std::string> contents(const File& file, uint64_t size) {
  if (size > kLargestEntry) return {};
  std::string bytes(size, '\0');
  if (!read_all(file.get(), bytes.data(), bytes.size())) return {};
  return bytes;
}

bool make_directories(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) return false;
    if (at == std::string::npos) return true;
  }
}

/// Whether only this user can write to the folder, because another user's kernel would run as code in this process.
bool is_private_directory(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

struct Listed {
  std::string name;
  uint64_t size;
  timespec used;
};

bool is_entry_name(std::string_view name) {
  return name.size() == kKeyDigits + kSuffix.size() && name.ends_with(kSuffix) &&
         name.find_first_not_of("0123456789abcdef") == kKeyDigits;
}

/// Lists the cache's own files, and deletes stale temporary files of crashed processes.
std::vector<Listed> list_entries(const std::string& directory) {
  std::vector<Listed> entries;
  DIR* folder = ::opendir(directory.c_str());
  if (!folder) return entries;
  const time_t now = ::time(nullptr);
  while (const dirent* item = ::readdir(folder)) {
    const std::string_view name = item->d_name;
    struct stat status;
    if (::fstatat(::dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
      continue;
    if (name.starts_with(kTemporaryPrefix) && now - status.st_mtime > kStaleSeconds) {
      ::unlinkat(::dirfd(folder), item->d_name, 0);
    } else if (is_entry_name(name)) {
      entries.push_back({std::string(name), static_cast<uint64_t>(status.st_size), status.st_mtim});
    }
  }
  ::closedir(folder);
  return entries;
}

}  // namespace

std::string CacheKey::hex() const {
  char text[33];
  snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
           static_cast<unsigned long long>(low));
  return text;
}

CacheKey hash_key(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

std::string encode_entry(const CacheKey& key, std::string_view payload) {
  const CacheKey checksum = hash_key(payload);
  EntryHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.key_low = key.low;
  header.key_high = key.high;
  header.payload_size = payload.size();
  header.checksum_low = checksum.low;
  header.checksum_high = checksum.high;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes.append(payload);
}

std::optional<std::string_view> decode_entry(const CacheKey& key, std::string_view bytes) {
  EntryHeader header;
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::string_view payload = bytes.substr(sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.format != kFormat || header.reserved != 0)
    return {};
  if (CacheKey{header.key_low, header.key_high} != key || header.payload_size != payload.size()) return {};
  if (hash_key(payload) != CacheKey{header.checksum_low, header.checksum_high}) return {};
  return payload;
}

DiskCache::DiskCache(std::string directory, uint64_t budget_bytes) : budget_(budget_bytes) {
  if (directory.empty() || !make_directories(directory) || !is_private_directory(directory)) return;
  directory_ = std::move(directory);
}

std::string DiskCache::path(const CacheKey& key) const { return directory_ + "/" + key.hex() + std::string(kSuffix); }

std::optional<std::string> DiskCache::read(const CacheKey& key) const {
  if (directory_.empty()) return {};
  const std::string name = path(key);
  File file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
    return {};
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  if (size > kLargestEntry) {
    ::unlink(name.c_str());
    return {};
  }
  const std::optional<std::string> bytes = contents(file, size);
  if (!bytes) return {};
  const std::optional<std::string_view> payload = decode_entry(key, *bytes);
  if (!payload) {
    ::unlink(name.c_str());
    return {};
  }
  if (::time(nullptr) - status.st_mtime > kTouchSeconds) ::futimens(file.get(), nullptr);
  return std::string(*payload);
}

void DiskCache::write(const CacheKey& key, std::string_view payload) {
  if (directory_.empty() || payload.size() + sizeof(EntryHeader) > std::min(budget_, kLargestEntry)) return;
  static constinit std::atomic<uint64_t> counter{0};
  const std::string temporary =
      directory_ + "/" + std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return;
  const std::string bytes = encode_entry(key, payload);
  if (write_all(file, bytes.data(), bytes.size()) || file.close() ||
      ::rename(temporary.c_str(), path(key).c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  // Listing a full folder takes longer than compiling a kernel, so one write in 64 does it, whichever process makes it,
  // and each sixteenth of the budget that one process writes.
  const uint64_t before = written_.fetch_add(bytes.size());
  const uint64_t step = std::max<uint64_t>(budget_ / 16, 1);
  if (key.low % 64 == 0 || before / step != (before + bytes.size()) / step) evict();
}

void DiskCache::evict() {
  if (directory_.empty()) return;
  std::vector<Listed> entries = list_entries(directory_);
  uint64_t total = 0;
  for (const Listed& entry : entries) total += entry.size;
  if (total <= budget_) return;
  std::ranges::sort(entries, [](const Listed& a, const Listed& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  // A little below the budget, so that the next write does not list the folder again.
  const uint64_t goal = budget_ - budget_ / 10;
  for (const Listed& entry : entries) {
    if (total <= goal) break;
    if (::unlink((directory_ + "/" + entry.name).c_str()) == 0 || errno == ENOENT) total -= entry.size;
  }
}

void DiskCache::clear() {
  if (directory_.empty()) return;
  for (const Listed& entry : list_entries(directory_)) ::unlink((directory_ + "/" + entry.name).c_str());
}

std::string DiskCache::default_directory() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string own = variable("IRUKA_CACHE_DIR"); !own.empty()) {
    std::error_code unknown;
    const std::filesystem::path absolute = std::filesystem::absolute(own, unknown);
    return unknown ? "" : absolute.string();
  }
  // The XDG specification says that a relative path is ignored.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/iruka";
  // A HOME that does not exist means that there is no home; it must not be created.
  struct stat status;
  const std::string home = variable("HOME");
  if (home.starts_with('/') && ::stat(home.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return home + "/.cache/iruka";
  return "";
}

uint64_t DiskCache::default_budget() {
  constexpr uint64_t kDefault = 512u << 20;
  const char* text = std::getenv("IRUKA_CACHE_SIZE");
  if (!text) return kDefault;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (end == text || errno != 0 || *text == '-') return kDefault;
  const int shift = *end == 'K' || *end == 'k'   ? 10
                    : *end == 'M' || *end == 'm' ? 20
                    : *end == 'G' || *end == 'g' ? 30
                                                 : 0;
  return value > (UINT64_MAX >> shift) ? UINT64_MAX : value << shift;
}

std::optional<std::string> read_shipped(const CacheKey& key) {
  const std::string& folder = made_once([] {
    Dl_info library{};
    const bool is_known = ::dladdr(reinterpret_cast<const void*>(&read_shipped), &library) && library.dli_fname;
    const std::string file = is_known ? library.dli_fname : "";
    // A relative name would change its meaning with the current directory.
    return std::string(file.starts_with('/') ? file.substr(0, file.rfind('/') + 1) + "kernels/" : "");
  });
  const char* setting = std::getenv("IRUKA_SHIPPED_KERNELS");
  if (folder.empty() || (setting && setting == std::string_view("0"))) return {};
  const File file(::open((folder + key.hex() + std::string(kSuffix)).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const std::optional<std::string> bytes = contents(file, static_cast<uint64_t>(status.st_size));
  const std::optional<std::string_view> payload = bytes ? decode_entry(key, *bytes) : std::nullopt;
  return payload ? std::optional<std::string>(*payload) : std::nullopt;
}

std::shared_ptr<DiskCache> disk_cache() {
  struct Current {
    std::shared_ptr<DiskCache> cache;
    std::string settings;
  };
  static constinit ForkSafeMutex mutex;
  Current& current = made_once([] { return Current(); });
  const std::string directory = DiskCache::default_directory();
  const uint64_t budget = DiskCache::default_budget();
  const std::string wanted = directory + "\n" + std::to_string(budget);
  std::lock_guard lock(mutex);
  if (!current.cache || current.settings != wanted) current = {std::make_shared<DiskCache>(directory, budget), wanted};
  return current.cache;
}

}  // namespace iruka::jit
