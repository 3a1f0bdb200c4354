#include "image/pixel_format.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace iruka::image {
namespace {

template <class T>
struct Pixel {
  T red, green, blue, alpha;
};

template <class T>
constexpr int64_t kFull = std::numeric_limits<T>::max();

template <Color color, class T>
Pixel<T> load(const T* p) {
  constexpr T full = std::numeric_limits<T>::max();
  if constexpr (color == Color::gray) {
    return {p[0], p[0], p[0], full};
  } else if constexpr (color == Color::gray_alpha) {
    return {p[0], p[0], p[0], p[1]};
  } else if constexpr (color == Color::rgb) {
    return {p[0], p[1], p[2], full};
  } else if constexpr (color == Color::rgba) {
    return {p[0], p[1], p[2], p[3]};
  } else {  // each colour is the product of the light that its ink and black transmit
    auto light = [](T sample) { return color == Color::cmyk ? kFull<T> - sample : int64_t{sample}; };
    auto product = [&](T ink) { return static_cast<T>((light(ink) * light(p[3]) + kFull<T> / 2) / kFull<T>); };
    return {product(p[0]), product(p[1]), product(p[2]), full};
  }
}

/// A weighted sum in 16-bit fixed point.
template <class T>
T weighted(const Pixel<T>& p, int64_t red, int64_t green, int64_t blue, int64_t offset) {
  return static_cast<T>((red * p.red + green * p.green + blue * p.blue + offset) >> 16);
}

template <class T>
T luma(const Pixel<T>& p) {
  return weighted(p, 19595, 38470, 7471, 32768);
}

template <Color color, class T>
void store(T* to, const Pixel<T>& p) {
  if constexpr (color == Color::gray || color == Color::gray_alpha) {
    to[0] = luma(p);
    if constexpr (color == Color::gray_alpha) to[1] = p.alpha;
  } else if constexpr (color == Color::ycbcr) {
    constexpr int64_t offset = ((kFull<T> / 2 + 1) << 16) + 32767;
    to[0] = luma(p);
    to[1] = weighted(p, -11059, -21709, 32768, offset);
    to[2] = weighted(p, 32768, -27439, -5329, offset);
  } else {
    to[0] = color == Color::bgr ? p.blue : p.red;
    to[1] = p.green;
    to[2] = color == Color::bgr ? p.red : p.blue;
    if constexpr (color == Color::rgba) to[3] = p.alpha;
  }
}

using ColorConverter = void (*)(const void* from, void* to, int64_t width);

template <class T, Color from, Color to>
void convert_colors(const void* source, void* target, int64_t width) {
  auto* in = static_cast<const T*>(source);
  auto* out = static_cast<T*>(target);
  for (int64_t x = 0; x < width; ++x, in += channel_count(from), out += channel_count(to)) {
    store<to>(out, load<from>(in));
  }
}

template <class T, Color from>
ColorConverter converter_to(Color to) {
  switch (to) {
    case Color::gray: return convert_colors<T, from, Color::gray>;
    case Color::gray_alpha: return convert_colors<T, from, Color::gray_alpha>;
    case Color::rgb: return convert_colors<T, from, Color::rgb>;
    case Color::bgr: return convert_colors<T, from, Color::bgr>;
    case Color::rgba: return convert_colors<T, from, Color::rgba>;
    case Color::ycbcr: return convert_colors<T, from, Color::ycbcr>;
    default: return nullptr;
  }
}

template <class T>
ColorConverter converter(Color from, Color to) {
  switch (from) {
    case Color::gray: return converter_to<T, Color::gray>(to);
    case Color::gray_alpha: return converter_to<T, Color::gray_alpha>(to);
    case Color::rgb: return converter_to<T, Color::rgb>(to);
    case Color::rgba: return converter_to<T, Color::rgba>(to);
    case Color::cmyk: return converter_to<T, Color::cmyk>(to);
    case Color::cmyk_light: return converter_to<T, Color::cmyk_light>(to);
    default: return nullptr;
  }
}

/// 16-bit samples to 8 bits, in place or elsewhere: `value * 255 / 65535` to nearest.
void narrow(const uint16_t* from, uint8_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>((from[i] * 255u + 32895) >> 16);
}

/// 8-bit samples to 16 bits, in place: from the last, whose place no earlier sample has.
void widen(uint8_t* samples, int64_t count) {
  for (int64_t i = count - 1; i >= 0; --i) {
    const auto wide = static_cast<uint16_t>(samples[i] * 257);
    std::memcpy(samples + 2 * i, &wide, sizeof(wide));
  }
}

template <int bits>
void unpack(const uint8_t* from, int scale, uint8_t* to, int64_t count) {
  constexpr int per_byte = 8 / bits, mask = (1 << bits) - 1;
  auto sample = [&](int byte, int64_t i) {
    return static_cast<uint8_t>((byte >> (8 - bits - i * bits) & mask) * scale);
  };
  const int64_t whole = count / per_byte;
  for (int64_t k = 0; k < whole; ++k, to += per_byte) {
    for (int i = 0; i < per_byte; ++i) to[i] = sample(from[k], i);
  }
  for (int64_t i = 0; i < count % per_byte; ++i) to[i] = sample(from[whole], i);
}

template <class T>
void divide_row(T* samples, int channels, int64_t width) {
  for (int64_t x = 0; x < width; ++x, samples += channels) {
    const int64_t alpha = samples[channels - 1];
    if (alpha == 0) continue;
    for (int c = 0; c < channels - 1; ++c) {
      samples[c] = static_cast<T>(std::min((samples[c] * kFull<T> + alpha / 2) / alpha, kFull<T>));
    }
  }
}

}  // namespace

RowConverter::RowConverter(PixelFormat from, PixelFormat to) : from_(from), to_(to) {
  if (from.color == to.color) return;
  convert_colors_ =
      to.dtype == Dtype::uint16 ? converter<uint16_t>(from.color, to.color) : converter<uint8_t>(from.color, to.color);
}

int64_t RowConverter::scratch_bytes() const {
  return from_.channels() * std::max<int64_t>(itemsize(from_.dtype), itemsize(to_.dtype));
}

void RowConverter::operator()(uint8_t* from, uint8_t* to, int64_t width) const {
  const int64_t samples = width * from_.channels();
  if (from_.dtype == Dtype::uint16 && to_.dtype == Dtype::uint8) {
    narrow(reinterpret_cast<const uint16_t*>(from), from, samples);
  } else if (from_.dtype == Dtype::uint8 && to_.dtype == Dtype::uint16) {
    widen(from, samples);
  }
  if (convert_colors_) {
    convert_colors_(from, to, width);
  } else {
    std::memcpy(to, from, static_cast<size_t>(width * to_.bytes()));
  }
}

void unpack_samples(const uint8_t* from, int bits, int scale, uint8_t* to, int64_t count) {
  switch (bits) {
    case 1: return unpack<1>(from, scale, to, count);
    case 2: return unpack<2>(from, scale, to, count);
    case 4: return unpack<4>(from, scale, to, count);
    default: return unpack<8>(from, scale, to, count);
  }
}

void divide_by_alpha(uint8_t* row, PixelFormat format, int64_t width) {
  if (format.dtype == Dtype::uint8) divide_row(row, format.channels(), width);
  if (format.dtype == Dtype::uint16) divide_row(reinterpret_cast<uint16_t*>(row), format.channels(), width);
}

}  // namespace iruka::image
