// libFuzzer over zip archives: every entry is unpacked, and the archive is read as a file of weights. Seeds:
// tests/fuzz/seeds/zip.
#include "iruka/error.h"
#include "nn/files/zip.h"
#include "nn_values.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace iruka::nn;
  constexpr uint64_t kLargest = 1 << 20;
  const std::string where = "fuzz";
  try {
    const ZipArchive archive({data, size}, where);
    for (const ZipEntry& entry : archive.entries()) {
      if (entry.size > kLargest) continue;
      try {
        if (archive.unpack(entry)->bytes() != entry.size) __builtin_trap();
      } catch (const iruka::Error&) {
      }
    }
    bytes_of_elements(load_weights({data, size}));
  } catch (const iruka::Error&) {
  }
  return 0;
}
