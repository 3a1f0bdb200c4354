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
    if (width > 0 && *std::max_element(indices, indices + width) >= count) return false;
    switch (to_color) {
      case Color::gray: write<1>(indices, to, width, [](const Entry& e) { return std::array{e.red}; }); break;
      case Color::gray_alpha:
        write<2>(indices, to, width, [](const Entry& e) { return std::array{e.red, e.alpha}; });
        break;
      case Color::rgb:
        write<3>(indices, to, width, [](const Entry& e) { return std::array{e.red, e.green, e.blue}; });
        break;
      default: write<4>(indices, to, width, [](const Entry& e) { return std::array{e.red, e.green, e.blue, e.alpha}; });
    }
    return true;
  }

 private:
  template <size_t channels, class Pixel>
  void write(const uint8_t* indices, uint8_t* to, int64_t width, Pixel pixel) const {
    for (int64_t x = 0; x < width; ++x, to += channels) {
      const std::array<uint8_t, channels> samples = pixel(entries[indices[x]]);
      std::copy(samples.begin(), samples.end(), to);
    }
  }
};

}  // namespace iruka::image
