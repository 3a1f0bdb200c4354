// The registry of codecs.
#include "image/codec.h"

namespace iruka::image {

std::span<const Codec* const> codecs() {
  static constexpr const Codec* kCodecs[] = {&jpeg_codec, &png_codec, &webp_codec, &tiff_codec,
                                             &bmp_codec,  &gif_codec, &pnm_codec};
  return kCodecs;
}

}  // namespace iruka::image
