// libFuzzer over the JPEG decoder, in every colour mode. Seeds: tests/fuzz/seeds/jpeg.
#include <cstddef>
#include <cstdint>

#include "iruka/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using iruka::image::ColorMode;
  for (ColorMode mode : {ColorMode::rgb, ColorMode::gray, ColorMode::rgba, ColorMode::unchanged}) {
    try {
      iruka::Array picture = iruka::image::imdecode({data, size}, {.mode = mode, .max_pixels = 1 << 18});
      if (picture.size() <= 0) __builtin_trap();
    } catch (const iruka::Error&) {
    }
  }
  return 0;
}
