// The arithmetic of colours for one pixel. Kernels include this file, and so do the CPU's loops
// (backend/cpu/color_lanes.h). Neither fuses multiplications with additions, so that the answers are equal everywhere.
#pragma once

namespace iruka::image {

/// Conversions, by the numbers of iruka::ColorConversion.
enum ColorConversion : int {
  kReorder,
  kGrayToRgb,
  kRgbToGray,
  kRgbToHsv,
  kHsvToRgb,
  kRgbToLab,
  kLabToRgb,
  kRgbToYcbcr,
  kYcbcrToRgb,
  kRgbToRgba,
  kRgbaToRgb
};

/// What the values of a dtype mean.
struct ColorRange {
  float most;         ///< the value of white
  float half;         ///< of Cb and Cr without colour
  float turn;         ///< of a hue of 360 degrees
  float light;        ///< of L* = 1
  float chroma;       ///< of a* = 1
  float chroma_zero;  ///< of a* = 0
};

/// The nearest integer, ties to even, of a number up to `most`, which is below 2^22; negative numbers and NaN become 0.
IRUKA_INLINE float nearest_up_to(float value, float most) {
  value = value > 0.0f ? value : 0.0f;
  value = value < most ? value : most;
  return (value + 12582912.0f) - 12582912.0f;
}

/// x^(-1 / kRoot) of a normal number, to 1e-7: bits as a logarithm, then two steps of a series of third order.
template <int kRoot> IRUKA_INLINE float inverse_root(float x) {
  constexpr float kPart = 1.0f / kRoot;
  constexpr float kFirst = kPart, kSecond = kFirst * (kPart + 1) / 2, kThird = kSecond * (kPart + 2) / 3;
  float y = __int_as_float((kRoot == 3 ? 0x54a1f81a : 0x4c2b4bc3) - int(float(__float_as_int(x)) * kPart));
  for (int step = 0; step < 2; step++) {
    const float squared = y * y, power = kRoot == 3 ? squared * y : squared * squared * y, rest = 1.0f - x * power;
    y = y + y * (rest * (kFirst + rest * (kSecond + rest * kThird)));
  }
  return y;
}
IRUKA_INLINE float cube_root(float x) {
  const float inverse = inverse_root<3>(x);
  return x * (inverse * inverse);
}

/// sRGB's transfer function (IEC 61966-2-1): from values to light, and back.
IRUKA_INLINE float to_light(float value) {
  const float base = (value > 0.04045f ? value + 0.055f : 1.055f) * 0.94786730f, root = base * inverse_root<5>(base);
  return value > 0.04045f ? root * root * root : value * 0.07739938f;
}
IRUKA_INLINE float from_light(float light) {
  const float root = cube_root(light > 0.0031308f ? light : 1.0f);
  return light > 0.0031308f ? 1.055f * (root * sqrtf(sqrtf(root))) - 0.055f : 12.92f * light;
}

/// CIE's function of lightness, and its inverse.
IRUKA_INLINE float lab_of(float t) {
  const float root = cube_root(t > 0.00885645f ? t : 1.0f);
  return t > 0.00885645f ? root : 7.787037f * t + 0.13793103f;
}
IRUKA_INLINE float from_lab(float f) {
  return f > 0.20689655f ? f * f * f : (f - 0.13793103f) * 0.12841855f;
}

IRUKA_INLINE void rgb_to_lab(const float* in, float* out, const ColorRange& range) {
  const float inverse = 1.0f / range.most;
  const float r = to_light(in[0] * inverse), g = to_light(in[1] * inverse), b = to_light(in[2] * inverse);
  // Rows of sRGB's matrix to XYZ, divided by their sums, the white D65.
  const float x = lab_of(0.43395275f * r + 0.37621900f * g + 0.18982825f * b);
  const float y = lab_of(0.21267100f * r + 0.71516000f * g + 0.07216900f * b);
  const float z = lab_of(0.01775791f * r + 0.10947661f * g + 0.87276548f * b);
  out[0] = (116.0f * y - 16.0f) * range.light;
  out[1] = (500.0f * (x - y)) * range.chroma + range.chroma_zero;
  out[2] = (200.0f * (y - z)) * range.chroma + range.chroma_zero;
}
IRUKA_INLINE void lab_to_rgb(const float* in, float* out, const ColorRange& range) {
  const float fy = (in[0] * (1.0f / range.light) + 16.0f) * 0.0086206897f;
  const float x = 0.950456f * from_lab(fy + (in[1] - range.chroma_zero) * (0.002f / range.chroma));
  const float y = from_lab(fy);
  const float z = 1.088754f * from_lab(fy - (in[2] - range.chroma_zero) * (0.005f / range.chroma));
  out[0] = from_light(3.240479f * x - 1.537150f * y - 0.498535f * z) * range.most;
  out[1] = from_light(-0.969256f * x + 1.875991f * y + 0.041556f * z) * range.most;
  out[2] = from_light(0.055648f * x - 0.204043f * y + 1.057311f * z) * range.most;
}

IRUKA_INLINE float larger(float a, float b) { return a > b ? a : b; }
IRUKA_INLINE float smaller(float a, float b) { return a < b ? a : b; }

IRUKA_INLINE void rgb_to_hsv(const float* in, float* out, const ColorRange& range) {
  const float r = in[0], g = in[1], b = in[2];
  const float value = larger(larger(r, g), b), span = value - smaller(smaller(r, g), b);
  const float part = 1.0f / (span > 0.0f ? span : 1.0f);
  const float place = value == r ? (g - b) * part : value == g ? 2.0f + (b - r) * part : 4.0f + (r - g) * part;
  out[0] = (place < 0.0f ? place + 6.0f : place) * (range.turn / 6.0f);
  out[1] = value > 0.0f ? span / value * range.most : 0.0f;
  out[2] = value;
}
/// The channel whose hue is red's where `first` is 5, green's at 3, blue's at 1.
IRUKA_INLINE float channel_of_hue(float place, float first, float value, float chroma) {
  float k = place + first;
  k = k >= 6.0f ? k - 6.0f : k;
  const float ramp = smaller(smaller(k, 4.0f - k), 1.0f);
  return value - chroma * larger(ramp, 0.0f);
}
IRUKA_INLINE void hsv_to_rgb(const float* in, float* out, const ColorRange& range) {
  float place = in[0] * (6.0f / range.turn);
  place = place - 6.0f * floorf(place * (1.0f / 6.0f));
  const float value = in[2], chroma = value * (in[1] / range.most);
  out[0] = channel_of_hue(place, 5.0f, value, chroma);
  out[1] = channel_of_hue(place, 3.0f, value, chroma);
  out[2] = channel_of_hue(place, 1.0f, value, chroma);
}

IRUKA_INLINE float luma(const float* in) { return 0.299f * in[0] + 0.587f * in[1] + 0.114f * in[2]; }

/// A pixel of dtypes other than uint8, in float32.
template <int kConversion> IRUKA_INLINE void convert_floats(const float* in, float* out, const ColorRange& range) {
  if constexpr (kConversion == kGrayToRgb) {
    out[0] = out[1] = out[2] = in[0];
  } else if constexpr (kConversion == kRgbToGray) {
    out[0] = luma(in);
  } else if constexpr (kConversion == kRgbToHsv) {
    rgb_to_hsv(in, out, range);
  } else if constexpr (kConversion == kHsvToRgb) {
    hsv_to_rgb(in, out, range);
  } else if constexpr (kConversion == kRgbToLab) {
    rgb_to_lab(in, out, range);
  } else if constexpr (kConversion == kLabToRgb) {
    lab_to_rgb(in, out, range);
  } else if constexpr (kConversion == kRgbToYcbcr) {
    const float y = luma(in);
    out[0] = y;
    out[1] = (in[2] - y) * 0.56433409f + range.half;
    out[2] = (in[0] - y) * 0.71326676f + range.half;
  } else if constexpr (kConversion == kYcbcrToRgb) {
    const float blue = in[1] - range.half, red = in[2] - range.half;
    out[0] = in[0] + 1.402f * red;
    out[1] = in[0] - 0.34413629f * blue - 0.71413629f * red;
    out[2] = in[0] + 1.772f * blue;
  } else {
    for (int c = 0; c < 3; c++) out[c] = in[c];
    if constexpr (kConversion == kRgbToRgba) out[3] = range.most;
  }
}

IRUKA_INLINE int byte_of(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Hue as OpenCV has it: half degrees, by quotients of 12 bits of fraction.
IRUKA_INLINE void bytes_to_hsv(const int* in, int* out) {
  const int r = in[0], g = in[1], b = in[2];
  const int top = r > g ? r : g, value = top > b ? top : b;
  const int low = r < g ? r : g, span = value - (low < b ? low : b);
  const int per_value = int(nearest_up_to(1044480.0f / float(value > 0 ? value : 1), 1044480.0f));
  const int per_span = int(nearest_up_to(122880.0f / float(span > 0 ? span : 1), 122880.0f));
  const int place = value == r ? g - b : value == g ? b - r + 2 * span : r - g + 4 * span;
  const int hue = (place * per_span + 2048) >> 12;
  out[0] = hue < 0 ? hue + 180 : hue;
  out[1] = (span * per_value + 2048) >> 12;
  out[2] = value;
}

/// A pixel of uint8. Grey and YCbCr are libjpeg's, in fixed point of 16 bits.
template <int kConversion> IRUKA_INLINE void convert_bytes(const int* in, int* out) {
  if constexpr (kConversion == kRgbToGray) {
    out[0] = (19595 * in[0] + 38470 * in[1] + 7471 * in[2] + 32768) >> 16;
  } else if constexpr (kConversion == kRgbToYcbcr) {
    out[0] = (19595 * in[0] + 38470 * in[1] + 7471 * in[2] + 32768) >> 16;
    out[1] = (-11059 * in[0] - 21709 * in[1] + 32768 * in[2] + 8421375) >> 16;
    out[2] = (32768 * in[0] - 27439 * in[1] - 5329 * in[2] + 8421375) >> 16;
  } else if constexpr (kConversion == kYcbcrToRgb) {
    const int blue = in[1] - 128, red = in[2] - 128;
    out[0] = byte_of(in[0] + ((91881 * red + 32768) >> 16));
    out[1] = byte_of(in[0] + ((-22554 * blue - 46802 * red + 32768) >> 16));
    out[2] = byte_of(in[0] + ((116130 * blue + 32768) >> 16));
  } else if constexpr (kConversion == kRgbToHsv) {
    bytes_to_hsv(in, out);
  } else if constexpr (kConversion == kHsvToRgb || kConversion == kRgbToLab || kConversion == kLabToRgb) {
    const float values[3] = {float(in[0]), float(in[1]), float(in[2])};
    const ColorRange range{255.0f, 128.0f, 180.0f, 2.55f, 1.0f, 128.0f};
    float made[3];
    convert_floats<kConversion>(values, made, range);
    for (int c = 0; c < 3; c++) out[c] = int(nearest_up_to(made[c], 255.0f));
  } else if constexpr (kConversion == kGrayToRgb) {
    out[0] = out[1] = out[2] = in[0];
  } else {
    for (int c = 0; c < 3; c++) out[c] = in[c];
    if constexpr (kConversion == kRgbToRgba) out[3] = 255;
  }
}

/// The binary logarithm of a positive number: a series of (m - 1) / (m + 1).
IRUKA_INLINE float binary_logarithm(float x) {
  const float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
  const int bits = __float_as_int(scaled) - 0x3f3504f3;
  const float exponent = float(bits >> 23) - (x < 1.17549435e-38f ? 23.0f : 0.0f);
  const float m = __int_as_float((bits & 0x7fffff) + 0x3f3504f3), s = (m - 1.0f) / (m + 1.0f), t = s * s;
  return exponent + s * (2.8853901f + t * (0.96179669f + t * (0.57707802f + t * (0.41219859f + t * 0.32059890f))));
}
/// 2^x; 0 and infinity where the result leaves float32's normal numbers by far.
IRUKA_INLINE float power_of_two(float x) {
  x = larger(smaller(x, 129.0f), -151.0f);
  const float whole = (x + 12582912.0f) - 12582912.0f, f = x - whole;
  const float part =
      1.0f + f * (0.69314718f +
                  f * (0.24022651f +
                       f * (0.05550411f +
                            f * (0.0096181291f + f * (0.0013333558f + f * (0.00015403530f + f * 0.000015252734f))))));
  const int n = int(whole), half = n >> 1;
  return part * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}
/// most * gain * (x / most)^gamma; 0 for numbers below 0 and NaN.
IRUKA_INLINE float gamma_of(float x, float most, float gain, float gamma) {
  const float part = x / most, power = power_of_two(gamma * binary_logarithm(part > 0.0f ? part : 1.0f));
  return part > 0.0f ? most * (gain * (part < 3.0e38f ? power : part)) : 0.0f;
}

}  // namespace iruka::image
