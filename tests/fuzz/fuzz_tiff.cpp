// libFuzzer over the TIFF decoder. Seeds: tests/fuzz/seeds/tiff.
#include <cstddef>
#include <cstdint>

#include "decode_pictures.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::decode_in_every_way({data, size});
  return 0;
}
