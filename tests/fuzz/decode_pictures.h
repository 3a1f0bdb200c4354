// What the fuzzers of picture decoders do with a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "iruka/image.h"

namespace fuzz {

inline std::optional<iruka::Array> picture_of(std::span<const uint8_t> file, iruka::image::DecodeOptions options) {
  options.max_pixels = 1 << 18;
  try {
    iruka::Array picture = iruka::image::imdecode(file, options);
    if (picture.size() <= 0) __builtin_trap();
    return picture;
  } catch (const iruka::Error&) {
    return {};
  }
}

/// Decodes in every colour mode, at 16 bits, as a part and at a part of the size. What decodes whole has a header, and
/// its parts are the whole's.
inline void decode_in_every_way(std::span<const uint8_t> file) {
  using iruka::image::ColorMode;
  for (ColorMode mode : {ColorMode::rgb, ColorMode::gray, ColorMode::rgba, ColorMode::bgr, ColorMode::ycbcr}) {
    picture_of(file, {.mode = mode});
  }
  picture_of(file, {.dtype = iruka::Dtype::uint16});
  picture_of(file, {.at_least = {{1, 1}}});
  const std::optional<iruka::Array> whole = picture_of(file, {.mode = ColorMode::unchanged});
  if (!whole) return;
  if (iruka::image::peek(file).shape != whole->shape()) __builtin_trap();
  const int64_t height = whole->shape(0), width = whole->shape(1);
  const iruka::image::Region part{height / 3, width / 3, height - height / 3, (width + 1) / 2};
  const auto cropped = picture_of(file, {.mode = ColorMode::unchanged, .region = part});
  if (!cropped) __builtin_trap();
  const int64_t pixel = whole->nbytes() / (height * width), row = part.width * pixel;
  for (int64_t y = 0; y < part.height; ++y) {
    const auto* want = static_cast<const char*>(whole->data()) + ((part.y + y) * width + part.x) * pixel;
    if (std::memcmp(static_cast<const char*>(cropped->data()) + y * row, want, static_cast<size_t>(row)) != 0) {
      __builtin_trap();
    }
  }
}

}  // namespace fuzz
