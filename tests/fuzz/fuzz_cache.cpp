// The disk cache's reader on arbitrary bytes: it gives back exactly what was written, or nothing.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "jit/cache.h"

using iruka::jit::CacheKey;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// A private folder that goes when the process ends.
struct ScratchFolder {
  ScratchFolder() {
    char name[] = "/tmp/iruka-fuzz-XXXXXX";
    require(::mkdtemp(name) != nullptr);
    path = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  std::string path;
};

void put_file(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  require(file >= 0 && ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(file);
}

/// Bytes that fail no check are those that encode_entry would have written.
void check_arbitrary(const CacheKey& key, std::string_view bytes) {
  const auto payload = iruka::jit::decode_entry(key, bytes);
  if (payload) require(iruka::jit::encode_entry(key, *payload) == bytes);
}

/// A good entry survives; the same with one byte changed, or cut short, does not.
void check_damaged(const CacheKey& key, std::string_view payload, size_t position, uint8_t change) {
  std::string entry = iruka::jit::encode_entry(key, payload);
  const auto whole = iruka::jit::decode_entry(key, entry);
  require(whole && *whole == payload);
  require(!iruka::jit::decode_entry(key, std::string_view(entry).substr(0, position % entry.size())));
  entry[position % entry.size()] ^= static_cast<char>(change | 1);
  require(!iruka::jit::decode_entry(key, entry));
}

/// The same through the file system: what cannot be read is deleted, and the next write works.
void check_on_disk(iruka::jit::DiskCache& cache, const CacheKey& key, std::string_view bytes) {
  const std::string path = cache.directory() + "/" + key.hex() + ".kernel";
  put_file(path, bytes);
  const bool good = iruka::jit::decode_entry(key, bytes).has_value();
  require(cache.read(key).has_value() == good);
  require(good || ::access(path.c_str(), F_OK) != 0);
  cache.write(key, bytes);
  require(cache.read(key) == std::string(bytes));
  cache.clear();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 20) return 0;
  CacheKey key;
  std::memcpy(&key.low, data, 8);
  std::memcpy(&key.high, data + 8, 8);
  const uint8_t change = data[16], mode = data[17];
  const size_t position = data[18] | data[19] << 8;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 20, size - 20);

  check_arbitrary(key, bytes);
  check_damaged(key, bytes, position, change);
  if (mode % 8 == 0) {  // the file system is slow: not every time
    static ScratchFolder folder;
    static iruka::jit::DiskCache cache(folder.path + "/cache", 1 << 20);
    check_on_disk(cache, key, bytes);
  }
  return 0;
}
