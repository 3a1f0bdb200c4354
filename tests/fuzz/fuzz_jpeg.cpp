// libFuzzer over the JPEG decoder, and over what decides whether a GPU decodes. Seeds: tests/fuzz/seeds/jpeg.
#include <cstddef>
#include <cstdint>

#include "decode_pictures.h"
#include "image/codec.h"
#include "iruka/picture_geometry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::decode_in_every_way({data, size});
  try {
    iruka::image::plan_decoding({data, size}, {.max_pixels = 1 << 18}, "fuzz").decoder->device_form();
  } catch (const iruka::Error&) {
  }
  const iruka::image::Chain chain({iruka::image::Resize{.height = 3, .width = 5}});
  const auto small = fuzz::picture_of({data, size}, {.chain = &chain, .reducing_gap = 1});
  if (small && (small->shape(0) != 3 || small->shape(1) != 5)) __builtin_trap();
  return 0;
}
