// Palettes of 8-bit colours.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "image/pixel_format.h"

namespace iruka::image {

struct Palette {
  struct Entry {
    uint8_t red, green, blue, alpha = 255;
  };
  std::array<Entry, 256> entries{};
  int count = 0;  ///< entries that the file has; larger indices are damage
  bool has_alpha = false;

  bool is_gray() const {
    return std::all_of(entries.begin(), entries.begin() + count,
                       [](const Entry& e) { return e.red == e.green && e.red == e.blue; });
  }

  /// Grey where all colours are.
  Color color() const {
    if (is_gray()) return has_alpha ? Color::gray_alpha : Color::gray;
    return has_alpha ? Color::rgba : Color::rgb;
  }

  /// Writes the colours of `width` indices as `to_color`, which is color(); false where one is not below `count`.
  bool look_up(const uint8_t* indices, uint8_t* to, int64_t width, Color to_color) const {
    const int channels = channel_count(to_color);
    const bool alpha = to_color == Color::gray_alpha || to_color == Color::rgba;
    int largest = 0;
    for (int64_t x = 0; x < width; ++x, to += channels) {
      const Entry& entry = entries[indices[x]];
      largest = std::max<int>(largest, indices[x]);
      to[0] = entry.red;
      if (channels >= 3) {
        to[1] = entry.green;
        to[2] = entry.blue;
      }
      if (alpha) to[channels - 1] = entry.alpha;
    }
    return largest < count;
  }
};

}  // namespace iruka::image
