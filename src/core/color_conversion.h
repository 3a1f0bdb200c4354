// Conversions of colours, as core/kernels/color.h computes them. Loops that are compiled for one instruction set
// include this file, so that it has no function of the standard library.
#pragma once

#include <cstdint>

namespace iruka {

/// By the numbers of core/kernels/color.h.
enum class ColorConversion : uint8_t {
  reorder,
  gray_to_rgb,
  rgb_to_gray,
  rgb_to_hsv,
  hsv_to_rgb,
  rgb_to_lab,
  lab_to_rgb,
  rgb_to_ycbcr,
  ycbcr_to_rgb,
  rgb_to_rgba,
  rgba_to_rgb
};
constexpr int inputs_of(ColorConversion conversion) {
  return conversion == ColorConversion::gray_to_rgb ? 1 : conversion == ColorConversion::rgba_to_rgb ? 4 : 3;
}
constexpr int outputs_of(ColorConversion conversion) {
  return conversion == ColorConversion::rgb_to_gray ? 1 : conversion == ColorConversion::rgb_to_rgba ? 4 : 3;
}

/// Whether values only move, whatever they mean, and white is added.
constexpr bool only_moves(ColorConversion conversion) {
  return conversion == ColorConversion::reorder || conversion == ColorConversion::gray_to_rgb ||
         conversion == ColorConversion::rgb_to_rgba || conversion == ColorConversion::rgba_to_rgb;
}

/// What the values of a dtype mean, by the members of core/kernels/color.h.
struct ColorRange {
  float most, half, turn, light, chroma, chroma_zero;
};

}  // namespace iruka
