#include "backend/cpu/compiler/container.h"

#include <cstdint>
#include <cstring>

#include "llvm/Support/xxhash.h"

namespace iruka::cpu_backend {
namespace {

struct Header {
  char magic[8];
  uint64_t bytes;
  uint64_t hash;
  uint32_t lanes;
  uint32_t rival_lanes;
  BlockProperties block;
};
static_assert(sizeof(Header) == 48);
constexpr char kMagic[8] = {'i', 'r', 'u', 'k', 'a', 'o', 'b', '2'};

uint64_t hash(std::string_view bytes) { return llvm::xxh3_64bits(llvm::StringRef(bytes.data(), bytes.size())); }

/// Of all that the other fields of the header do not limit.
uint64_t checksum(std::string_view object, const BlockProperties& block) {
  return hash(object) ^ hash({reinterpret_cast<const char*>(&block), sizeof(block)});
}

}  // namespace

std::string pack_object(const PackedObject& packed) {
  const std::string_view object = packed.object;
  Header header{{},
                object.size(),
                checksum(object, packed.block),
                static_cast<uint32_t>(packed.lanes),
                static_cast<uint32_t>(packed.rival_lanes),
                packed.block};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::string code(reinterpret_cast<const char*>(&header), sizeof(header));
  code += object;
  return code;
}

std::optional<PackedObject> unpack_object(std::string_view code) {
  Header header;
  if (code.size() < sizeof(header)) return {};
  std::memcpy(&header, code.data(), sizeof(header));
  const std::string_view object = code.substr(sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.bytes != object.size() || header.lanes < 1 ||
      header.lanes > 64 || header.rival_lanes > 64 || header.hash != checksum(object, header.block)) {
    return {};
  }
  return PackedObject{object, static_cast<int>(header.lanes), static_cast<int>(header.rival_lanes), header.block};
}

}  // namespace iruka::cpu_backend
