// The registry of codecs.
#include "image/codec.h"

namespace iruka::image {

std::span<const Codec* const> codecs() {
  static constexpr const Codec* kCodecs[] = {&jpeg_codec, &png_codec};
  return kCodecs;
}

}  // namespace iruka::image
