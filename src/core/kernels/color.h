// The arithmetic of colours for one pixel. Kernels include this file, and so do the CPU's loops
// (backend/cpu/color_lanes.h). Only explicit calls are fused multiply-adds, so that the answers are equal everywhere.
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

/// x^(-1 / kRoot) of a normal number, kRoot being 3, 5 or 12: bits as a logarithm, then steps of a series of third
/// order. Two of them come to 1e-7, one to 2e-5 of the cube root.
template <int kRoot, int kSteps> IRUKA_INLINE float inverse_root(float x) {
  constexpr float kPart = 1.0f / kRoot;
  constexpr float kSecond = kPart * (kPart + 1) / 2, kThird = kSecond * (kPart + 2) / 3;
  constexpr int kOne = kRoot == 3 ? 0x54a1f81a : kRoot == 5 ? 0x4c2b4bc3 : 0x44c357aa;
  float y = __int_as_float(kOne - int(float(__float_as_int(x)) * kPart));
  for (int step = 0; step < kSteps; step++) {
    const float squared = y * y, fourth = squared * squared;
    const float power = kRoot == 3 ? squared * y : kRoot == 5 ? fourth * y : fourth * (fourth * fourth);
    const float rest = fmaf(-x, power, 1.0f);
    y = fmaf(y, rest * fmaf(rest, fmaf(rest, kThird, kSecond), kPart), y);
  }
  return y;
}

/// sRGB's transfer function (IEC 61966-2-1): from values to light, and back.
IRUKA_INLINE float to_light(float value) {
  const float base = (value > 0.04045f ? value + 0.055f : 1.055f) * 0.94786730f, root = base * inverse_root<5, 2>(base);
  return value > 0.04045f ? root * root * root : value * 0.07739938f;
}
IRUKA_INLINE float from_light(float light) {
  const float x = light > 0.0031308f ? light : 1.0f, y = inverse_root<12, 2>(x), squared = y * y;
  const float power = x * (squared * squared * squared * y);
  return light > 0.0031308f ? fmaf(1.055f, power, -0.055f) : 12.92f * light;
}

/// CIE's function of lightness, and its inverse.
template <int kSteps> IRUKA_INLINE float lab_of(float t) {
  const float x = t > 0.00885645f ? t : 1.0f, inverse = inverse_root<3, kSteps>(x);
  return t > 0.00885645f ? x * (inverse * inverse) : fmaf(7.787037f, t, 0.13793103f);
}
IRUKA_INLINE float from_lab(float f) { return f > 0.20689655f ? f * f * f : (f - 0.13793103f) * 0.12841855f; }

/// a x + b y + c z
IRUKA_INLINE float weighted(float a, float x, float b, float y, float c, float z) {
  return fmaf(a, x, fmaf(b, y, c * z));
}

template <int kSteps>
IRUKA_INLINE void light_to_lab(float r, float g, float b, float* out, const ColorRange& range) {
  // Rows of sRGB's matrix to XYZ, divided by their sums, the white D65.
  const float x = lab_of<kSteps>(weighted(0.43395275f, r, 0.37621900f, g, 0.18982825f, b));
  const float y = lab_of<kSteps>(weighted(0.21267100f, r, 0.71516000f, g, 0.07216900f, b));
  const float z = lab_of<kSteps>(weighted(0.01775791f, r, 0.10947661f, g, 0.87276548f, b));
  out[0] = fmaf(116.0f, y, -16.0f) * range.light;
  out[1] = fmaf(500.0f * (x - y), range.chroma, range.chroma_zero);
  out[2] = fmaf(200.0f * (y - z), range.chroma, range.chroma_zero);
}
IRUKA_INLINE void rgb_to_lab(const float* in, float* out, const ColorRange& range) {
  const float inverse = 1.0f / range.most;
  light_to_lab<2>(to_light(in[0] * inverse), to_light(in[1] * inverse), to_light(in[2] * inverse), out, range);
}
IRUKA_INLINE void lab_to_rgb(const float* in, float* out, const ColorRange& range) {
  const float fy = fmaf(in[0], 1.0f / range.light, 16.0f) * 0.0086206897f;
  const float x = 0.950456f * from_lab(fmaf(in[1] - range.chroma_zero, 0.002f / range.chroma, fy));
  const float y = from_lab(fy);
  const float z = 1.088754f * from_lab(fmaf(in[2] - range.chroma_zero, -0.005f / range.chroma, fy));
  out[0] = from_light(weighted(3.240479f, x, -1.537150f, y, -0.498535f, z)) * range.most;
  out[1] = from_light(weighted(-0.969256f, x, 1.875991f, y, 0.041556f, z)) * range.most;
  out[2] = from_light(weighted(0.055648f, x, -0.204043f, y, 1.057311f, z)) * range.most;
}

IRUKA_INLINE float larger(float a, float b) { return a > b ? a : b; }
IRUKA_INLINE float smaller(float a, float b) { return a < b ? a : b; }

IRUKA_INLINE void rgb_to_hsv(const float* in, float* out, const ColorRange& range) {
  const float r = in[0], g = in[1], b = in[2];
  const float value = larger(larger(r, g), b), span = value - smaller(smaller(r, g), b);
  const float part = 1.0f / (span > 0.0f ? span : 1.0f);
  const float place = value == r ? (g - b) * part : value == g ? fmaf(b - r, part, 2.0f) : fmaf(r - g, part, 4.0f);
  out[0] = (place < 0.0f ? place + 6.0f : place) * (range.turn / 6.0f);
  out[1] = value > 0.0f ? span / value * range.most : 0.0f;
  out[2] = value;
}
/// The channel whose hue is red's where `first` is 5, green's at 3, blue's at 1.
IRUKA_INLINE float channel_of_hue(float place, float first, float value, float chroma) {
  float k = place + first;
  k = k >= 6.0f ? k - 6.0f : k;
  const float ramp = smaller(smaller(k, 4.0f - k), 1.0f);
  return fmaf(-chroma, larger(ramp, 0.0f), value);
}
IRUKA_INLINE void hsv_to_rgb(const float* in, float* out, const ColorRange& range) {
  float place = in[0] * (6.0f / range.turn);
  place = fmaf(-6.0f, floorf(place * (1.0f / 6.0f)), place);
  const float value = in[2], chroma = value * (in[1] / range.most);
  out[0] = channel_of_hue(place, 5.0f, value, chroma);
  out[1] = channel_of_hue(place, 3.0f, value, chroma);
  out[2] = channel_of_hue(place, 1.0f, value, chroma);
}

IRUKA_INLINE float luma(const float* in) { return weighted(0.299f, in[0], 0.587f, in[1], 0.114f, in[2]); }

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
    out[1] = fmaf(in[2] - y, 0.56433409f, range.half);
    out[2] = fmaf(in[0] - y, 0.71326676f, range.half);
  } else if constexpr (kConversion == kYcbcrToRgb) {
    const float blue = in[1] - range.half, red = in[2] - range.half;
    out[0] = fmaf(1.402f, red, in[0]);
    out[1] = fmaf(-0.34413629f, blue, fmaf(-0.71413629f, red, in[0]));
    out[2] = fmaf(1.772f, blue, in[0]);
  } else {
    for (int c = 0; c < 3; c++) out[c] = in[c];
    if constexpr (kConversion == kRgbToRgba) out[3] = range.most;
  }
}

IRUKA_INLINE int byte_of(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// The nearest integer, ties to even, of a product from 0 to 2^22.
IRUKA_INLINE float nearest_product(float a, float b) { return fmaf(a, b, 12582912.0f) - 12582912.0f; }

/// Hue as OpenCV has it: half degrees, by quotients of 12 bits of fraction. All sums are integers below 2^24, which
/// float32 holds.
IRUKA_INLINE void bytes_to_hsv(const int* in, int* out) {
  const float r = float(in[0]), g = float(in[1]), b = float(in[2]);
  const float value = larger(larger(r, g), b), span = value - smaller(smaller(r, g), b);
  const float brightest = larger(value, 1.0f), widest = larger(span, 1.0f);
  const float inverse = 1.0f / (brightest * widest);  // of both, because a division costs more than products
  const float per_value = nearest_product(1044480.0f, widest * inverse);
  const float per_span = nearest_product(122880.0f, brightest * inverse);
  const float place = value == r ? g - b : value == g ? fmaf(2.0f, span, b - r) : fmaf(4.0f, span, r - g);
  const float hue = fmaf(place, per_span, 2048.0f);
  out[0] = int((hue < 0.0f ? hue + 737280.0f : hue) * (1.0f / 4096.0f));
  out[1] = int(fmaf(span, per_value, 2048.0f) * (1.0f / 4096.0f));
  out[2] = int(value);
}

constexpr ColorRange kByteRange{255.0f, 128.0f, 180.0f, 2.55f, 1.0f, 128.0f};

/// The light of a level of uint8.
IRUKA_INLINE float byte_light(int level) { return to_light(float(level) * (1.0f / 255.0f)); }
IRUKA_INLINE void byte_light_to_lab(float r, float g, float b, int* out) {
  float made[3];
  light_to_lab<1>(r, g, b, made, kByteRange);
  for (int c = 0; c < 3; c++) out[c] = int(nearest_up_to(made[c], 255.0f));
}

/// A sum of bytes in fixed point of 16 bits. It is below 2^24, so that float32 holds it and all of its parts.
IRUKA_INLINE int fixed_sum(const int* in, float red, float green, float blue, float offset) {
  const float sum = fmaf(red, float(in[0]), fmaf(green, float(in[1]), fmaf(blue, float(in[2]), offset)));
  return int(sum * (1.0f / 65536.0f));
}
IRUKA_INLINE int byte_luma(const int* in) { return fixed_sum(in, 19595.0f, 38470.0f, 7471.0f, 32768.0f); }

/// A pixel of uint8. Grey and YCbCr are libjpeg's, in fixed point of 16 bits.
template <int kConversion> IRUKA_INLINE void convert_bytes(const int* in, int* out) {
  if constexpr (kConversion == kRgbToGray) {
    out[0] = byte_luma(in);
  } else if constexpr (kConversion == kRgbToYcbcr) {
    out[0] = byte_luma(in);
    out[1] = fixed_sum(in, -11059.0f, -21709.0f, 32768.0f, 8421375.0f);
    out[2] = fixed_sum(in, 32768.0f, -27439.0f, -5329.0f, 8421375.0f);
  } else if constexpr (kConversion == kYcbcrToRgb) {
    const int blue = in[1] - 128, red = in[2] - 128;
    out[0] = byte_of(in[0] + ((91881 * red + 32768) >> 16));
    out[1] = byte_of(in[0] + ((-22554 * blue - 46802 * red + 32768) >> 16));
    out[2] = byte_of(in[0] + ((116130 * blue + 32768) >> 16));
  } else if constexpr (kConversion == kRgbToHsv) {
    bytes_to_hsv(in, out);
  } else if constexpr (kConversion == kRgbToLab) {
    byte_light_to_lab(byte_light(in[0]), byte_light(in[1]), byte_light(in[2]), out);
  } else if constexpr (kConversion == kHsvToRgb || kConversion == kLabToRgb) {
    const float values[3] = {float(in[0]), float(in[1]), float(in[2])};
    float made[3];
    convert_floats<kConversion>(values, made, kByteRange);
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
  const float part = fmaf(t, fmaf(t, fmaf(t, fmaf(t, 0.32059890f, 0.41219859f), 0.57707802f), 0.96179669f), 2.8853901f);
  return fmaf(s, part, exponent);
}
/// 2^x; 0 and infinity where the result leaves float32's normal numbers by far.
IRUKA_INLINE float power_of_two(float x) {
  x = larger(smaller(x, 129.0f), -151.0f);
  const float whole = (x + 12582912.0f) - 12582912.0f, f = x - whole;
  float part = fmaf(f, 0.000015252734f, 0.00015403530f);
  part = fmaf(f, fmaf(f, fmaf(f, part, 0.0013333558f), 0.0096181291f), 0.05550411f);
  part = fmaf(f, fmaf(f, fmaf(f, part, 0.24022651f), 0.69314718f), 1.0f);
  const int n = int(whole), half = n >> 1;
  return part * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}
/// most * gain * (x / most)^gamma; 0 for numbers below 0 and NaN.
IRUKA_INLINE float gamma_of(float x, float most, float gain, float gamma) {
  const float part = x / most, power = power_of_two(gamma * binary_logarithm(part > 0.0f ? part : 1.0f));
  return part > 0.0f ? most * (gain * (part < 3.0e38f ? power : part)) : 0.0f;
}

}  // namespace iruka::image
