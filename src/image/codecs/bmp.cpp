// Windows and OS/2 bitmaps: palettes of 1, 4 and 8 bits, run-length coded ones too, 16, 24 and 32 bits with any masks.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "image/codec.h"
#include "image/palette.h"
#include "iruka/device.h"

namespace iruka::image {
namespace {

enum Compression : uint32_t { kRgb = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kAlphaBitFields = 6 };
constexpr uint64_t kFileHeader = 14;

/// One channel of a pixel of 16 or 32 bits.
struct Mask {
  uint32_t bits = 0;
  uint8_t sample(uint32_t pixel) const {
    if (bits == 0) return 255;
    const int shift = std::countr_zero(bits);
    const uint64_t maximum = bits >> shift;
    return static_cast<uint8_t>((uint64_t{(pixel & bits) >> shift} * 255 + maximum / 2) / maximum);
  }
};

class BmpDecoder final : public Decoder {
 public:
  BmpDecoder(Bytes bytes, const std::string& where) : Decoder(bmp_codec, bytes, where) {
    const uint32_t header_size = u32(14);
    const bool core = header_size == 12;
    if (!core && (header_size < 40 || header_size > 4096)) {
      raise_damaged("its header has a size of " + std::to_string(header_size));
    }
    const int64_t width = core ? int64_t{u16(18)} : static_cast<int32_t>(u32(18));
    const int64_t height = core ? int64_t{u16(20)} : static_cast<int32_t>(u32(22));
    top_down_ = height < 0;
    bits_ = u16(core ? 24 : 28);
    if (!core) compression_ = u32(30);
    check_sides(std::abs(height), width);
    check_coding();
    pixels_ = u32(10);
    uint64_t palette_at = kFileHeader + header_size;
    if (bits_ > 8) read_masks(header_size, palette_at);
    Color color = masks_[3].bits ? Color::rgba : Color::rgb;
    if (bits_ <= 8) {
      read_palette(palette_at, core ? 3 : 4, core ? 0 : u32(46));
      color = palette_.color();
    }
    header_ = {std::abs(height), width, {color, Dtype::uint8}};
    row_bytes_ = (width * bits_ + 31) / 32 * 4;
  }

  /// The last row may lack its padding.
  void check_plausible() const override {
    if (is_run_length_coded()) return;
    check_bytes(pixels_ + static_cast<uint64_t>(row_bytes_ * (header_.height - 1) + (header_.width * bits_ + 7) / 8));
  }

  void decode(RowTarget& rows) override {
    if (is_run_length_coded()) return decode_runs(rows);
    const Region& window = rows.window();
    const int64_t width = header_.width;
    std::vector<uint8_t> indices(bits_ <= 8 ? static_cast<size_t>(width) : 0);
    for (int64_t y = window.y; y < window.y + window.height; ++y) {
      const int64_t stored = top_down_ ? y : header_.height - 1 - y;
      const uint8_t* from = bytes_.data() + pixels_ + stored * row_bytes_;
      uint8_t* to = rows.begin(y);
      if (bits_ <= 8) {
        unpack_samples(from, bits_, 1, indices.data(), width);
        look_up(indices, to, y);
      } else if (bits_ == 24) {
        for (int64_t x = 0; x < width; ++x, from += 3, to += 3) std::reverse_copy(from, from + 3, to);
      } else {
        unpack(from, to);
      }
      rows.end(y);
    }
  }

 private:
  bool is_run_length_coded() const { return compression_ == kRle8 || compression_ == kRle4; }

  void check_coding() const {
    const bool palette = bits_ == 1 || bits_ == 4 || bits_ == 8, masks = bits_ == 16 || bits_ == 32;
    const std::string depth = std::to_string(bits_) + " bits per pixel";
    switch (compression_) {
      case kRgb:
        if (palette || masks || bits_ == 24) return;
        break;
      case kRle8:
      case kRle4:
        if (bits_ == (compression_ == kRle8 ? 8 : 4) && !top_down_) return;
        break;
      case kBitFields:
      case kAlphaBitFields:
        if (masks) return;
        break;
      default: break;
    }
    raise_unsupported(depth + " in compression " + std::to_string(compression_));
  }

  /// Masks lie in longer headers or behind one of 40 bytes.
  void read_masks(uint32_t header_size, uint64_t& palette_at) {
    masks_ = bits_ == 16 ? std::array<Mask, 4>{{{0x7c00}, {0x3e0}, {0x1f}, {0}}}
                         : std::array<Mask, 4>{{{0xff0000}, {0xff00}, {0xff}, {0}}};
    if (compression_ == kRgb) return;
    const bool alpha = compression_ == kAlphaBitFields || header_size >= 56;
    for (size_t i = 0; i < (alpha ? 4u : 3u); ++i) {
      const uint32_t bits = u32(kFileHeader + 40 + 4 * i);
      const uint32_t ones = bits ? bits >> std::countr_zero(bits) : 0;
      if ((ones & (ones + 1)) != 0 || (bits == 0 && i < 3)) raise_damaged("a channel's mask has gaps or no bits");
      masks_[i].bits = bits;
    }
    palette_at += header_size == 40 ? (alpha ? 16 : 12) : 0;
  }

  void read_palette(uint64_t at, uint32_t entry_bytes, uint32_t used) {
    const uint32_t most = 1u << bits_;
    // The pixels may begin before the palette is complete.
    const uint64_t room = pixels_ > at ? (pixels_ - at) / entry_bytes : 0;
    palette_.count = static_cast<int>(std::min<uint64_t>(used == 0 || used > most ? most : used, room));
    for (int i = 0; i < palette_.count; ++i, at += entry_bytes) {
      palette_.entries[static_cast<size_t>(i)] = {static_cast<uint8_t>(u8(at + 2)), static_cast<uint8_t>(u8(at + 1)),
                                                  static_cast<uint8_t>(u8(at))};
    }
  }

  void look_up(const std::vector<uint8_t>& indices, uint8_t* to, int64_t y) const {
    if (palette_.look_up(indices.data(), to, header_.width, header_.format.color)) return;
    raise_damaged("row " + std::to_string(y) + " has an index outside the palette of " +
                  std::to_string(palette_.count) + " colours");
  }

  void unpack(const uint8_t* from, uint8_t* to) const {
    const int channels = header_.format.channels(), size = bits_ / 8;
    for (int64_t x = 0; x < header_.width; ++x, from += size, to += channels) {
      const uint32_t low = from[0] | from[1] << 8;
      const uint32_t pixel = size == 2 ? low : low | uint32_t{from[2]} << 16 | uint32_t{from[3]} << 24;
      for (int c = 0; c < channels; ++c) to[c] = masks_[static_cast<size_t>(c)].sample(pixel);
    }
  }

  uint8_t coded_byte(uint64_t& at, int64_t y) const {
    if (at >= bytes_.size()) raise_truncated_in_row(std::min(y, header_.height - 1));
    return bytes_[at++];
  }

  /// Runs of equal indices, sequences of different ones, and moves; places that none of them reaches have index 0.
  void decode_runs(RowTarget& rows) {
    const int64_t width = header_.width, height = header_.height;
    const int per_byte = bits_ == 4 ? 2 : 1;
    Array memory = Array::empty({height, width}, Dtype::uint8, cpu());
    auto* indices = static_cast<uint8_t*>(memory.data());
    std::memset(indices, 0, static_cast<size_t>(height * width));
    int64_t x = 0, y = 0;  // y counts from the bottom
    auto put = [&](uint8_t byte, int i) {
      const int value = bits_ == 8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15;
      if (x >= width || y >= height) raise_damaged("a run leaves row " + std::to_string(height - 1 - y));
      indices[y * width + x++] = static_cast<uint8_t>(value);
    };
    for (uint64_t at = pixels_;;) {
      const uint8_t count = coded_byte(at, y), value = coded_byte(at, y);
      if (count > 0) {
        for (int i = 0; i < count; ++i) put(value, i);
      } else if (value == 0) {  // end of row
        x = 0;
        ++y;
      } else if (value == 1) {  // end of picture
        break;
      } else if (value == 2) {
        x += coded_byte(at, y);
        y += coded_byte(at, y);
      } else {
        uint8_t byte = 0;
        for (int i = 0; i < value; ++i) {
          if (i % per_byte == 0) byte = coded_byte(at, y);
          put(byte, i);
        }
        if ((value + per_byte - 1) / per_byte % 2 == 1) coded_byte(at, y);  // sequences fill words of two bytes
      }
    }
    const Region& window = rows.window();
    for (int64_t row = window.y; row < window.y + window.height; ++row) {
      const uint8_t* from = indices + (height - 1 - row) * width;
      look_up({from, from + width}, rows.begin(row), row);
      rows.end(row);
    }
  }

  bool top_down_ = false;
  int bits_ = 0;
  uint32_t compression_ = kRgb;
  uint64_t pixels_ = 0;  ///< where they begin
  int64_t row_bytes_ = 0;
  std::array<Mask, 4> masks_{};
  Palette palette_;
};

/// "BM" alone begins some texts, so the size of the second header is checked, too.
bool probe(Bytes bytes) {
  return starts_with(bytes, "BM") && (bytes.size() < 18 || (bytes[16] == 0 && bytes[17] == 0));
}

constexpr std::string_view kExtensions[] = {"bmp", "dib"};

}  // namespace

constinit const Codec bmp_codec{"BMP", kExtensions, probe, open_as<BmpDecoder>};

}  // namespace iruka::image
