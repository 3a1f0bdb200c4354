// Writes PNG files of every kind from samples, straight from the specification (no libpng), for tests.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace png_builder {

using Bytes = std::vector<uint8_t>;

inline void put_u32(Bytes& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

inline void put_chunk(Bytes& file, const std::string& type, const Bytes& data) {
  put_u32(file, static_cast<uint32_t>(data.size()));
  size_t start = file.size();
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), data.begin(), data.end());
  put_u32(file, static_cast<uint32_t>(crc32(0, file.data() + start, static_cast<uInt>(file.size() - start))));
}

inline Bytes deflated(const Bytes& data) {
  uLongf size = compressBound(data.size());
  Bytes out(size);
  compress2(out.data(), &size, data.data(), data.size(), 9);
  out.resize(size);
  return out;
}

/// One PNG. `samples` are in reading order, channels innermost, each below 2^depth.
struct Png {
  uint32_t width = 0, height = 0;
  int color_type = 0;  ///< 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
  int depth = 8;
  bool interlaced = false;
  std::vector<uint16_t> samples{};
  Bytes palette{};       ///< PLTE, RGB triples
  Bytes transparency{};  ///< tRNS as stored
  Bytes exif{};          ///< eXIf as stored
  Bytes raw{};           ///< replaces the filtered rows when not empty

  int channels() const { return color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1; }

  Bytes header() const {
    Bytes data;
    put_u32(data, width);
    put_u32(data, height);
    for (int value : {depth, color_type, 0, 0, interlaced ? 1 : 0}) data.push_back(static_cast<uint8_t>(value));
    return data;
  }

  /// The picture's rows, each behind a filter byte 0; interlaced: seven smaller pictures one after another (Adam7).
  Bytes rows() const {
    if (!raw.empty()) return raw;
    Bytes data;
    if (!interlaced) {
      append_pass(data, 0, 0, 1, 1);
    } else {
      constexpr int kPasses[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                     {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
      for (auto& pass : kPasses) append_pass(data, pass[0], pass[1], pass[2], pass[3]);
    }
    return data;
  }

  Bytes file() const {
    Bytes file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    put_chunk(file, "IHDR", header());
    if (!exif.empty()) put_chunk(file, "eXIf", exif);
    if (!palette.empty()) put_chunk(file, "PLTE", palette);
    if (!transparency.empty()) put_chunk(file, "tRNS", transparency);
    put_chunk(file, "IDAT", deflated(rows()));
    put_chunk(file, "IEND", {});
    return file;
  }

 private:
  void append_pass(Bytes& data, uint32_t x0, uint32_t y0, uint32_t dx, uint32_t dy) const {
    if (x0 >= width) return;
    for (uint32_t y = y0; y < height; y += dy) {
      data.push_back(0);
      uint32_t pending = 0;
      int bits = 0;
      for (uint32_t x = x0; x < width; x += dx) {
        size_t pixel = (size_t{y} * width + x) * static_cast<size_t>(channels());
        for (size_t c = 0; c < static_cast<size_t>(channels()); ++c) {
          pending = pending << depth | samples[pixel + c];
          for (bits += depth; bits >= 8; bits -= 8) data.push_back(static_cast<uint8_t>(pending >> (bits - 8)));
        }
      }
      if (bits > 0) data.push_back(static_cast<uint8_t>(pending << (8 - bits)));
    }
  }
};

}  // namespace png_builder
