// libFuzzer over the PNG decoder. Checksums are put right first, or no mutation would get past
// them. Seeds: tests/fuzz/seeds/png.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode_pictures.h"

namespace {

uint32_t read_u32(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

void put_checksums_right(std::vector<uint8_t>& file) {
  for (size_t chunk = 8; chunk + 12 <= file.size();) {
    size_t length = read_u32(&file[chunk]);
    if (length > file.size() - chunk - 12) return;
    auto sum = static_cast<uint32_t>(crc32(0, &file[chunk + 4], static_cast<uInt>(length + 4)));
    for (size_t i = 0; i < 4; ++i) file[chunk + 8 + length + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
    chunk += 12 + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  put_checksums_right(file);
  fuzz::decode_in_every_way(file);
  return 0;
}
