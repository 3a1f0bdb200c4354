// Helpers of the picture tests: reference files, damaged files, pixels as numbers.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

// clang-format off: jpeglib.h needs what cstdio declares, jerror.h what jpeglib.h does
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include "iruka/array.h"

namespace image_testing {

using Bytes = std::vector<uint8_t>;

/// Every sample in C order.
inline std::vector<int> samples(const iruka::Array& picture) {
  auto widen = [](const auto& values) { return std::vector<int>(values.begin(), values.end()); };
  if (picture.dtype() == iruka::Dtype::uint16) return widen(picture.to_vector<uint16_t>());
  return widen(picture.to_vector<uint8_t>());
}

struct JpegReference {
  std::string name;
  Bytes file, rgb, gray;
};

inline Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::strtol(text.substr(i, 2).c_str(), nullptr, 16)));
  }
  return bytes;
}

inline const std::vector<JpegReference>& jpeg_references() {
  static const std::vector<JpegReference> references = [] {
    const struct {
      const char *name, *file, *rgb, *gray;
    } texts[] = {
#include "image_references.inc"
    };
    std::vector<JpegReference> list;
    for (auto& text : texts) list.push_back({text.name, from_hex(text.file), from_hex(text.rgb), from_hex(text.gray)});
    return list;
  }();
  return references;
}

/// A JPEG of one colour in ink, stored as CMYK or YCCK.
inline Bytes cmyk_jpeg(int width, int height, std::array<uint8_t, 4> ink, bool ycck, bool adobe_marker) {
  jpeg_compress_struct info;
  jpeg_error_mgr error;
  info.err = jpeg_std_error(&error);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, ycck ? JCS_YCCK : JCS_CMYK);
  jpeg_set_quality(&info, 100, TRUE);
  info.write_Adobe_marker = adobe_marker;
  jpeg_start_compress(&info, TRUE);
  Bytes row;
  for (int x = 0; x < width; ++x) row.insert(row.end(), ink.begin(), ink.end());
  JSAMPROW pointer = row.data();
  for (int y = 0; y < height; ++y) jpeg_write_scanlines(&info, &pointer, 1);
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes file(memory, memory + size);
  std::free(memory);
  return file;
}

/// A TIFF block whose only entry is the orientation.
inline Bytes tiff_orientation(int value, bool big_endian) {
  Bytes bytes;
  auto put = [&](uint32_t number, int size) {
    for (int i = 0; i < size; ++i) {
      bytes.push_back(static_cast<uint8_t>(number >> 8 * (big_endian ? size - 1 - i : i)));
    }
  };
  bytes.assign(2, big_endian ? 'M' : 'I');
  put(42, 2);
  put(8, 4);       // where the directory starts
  put(1, 2);       // its number of entries
  put(0x0112, 2);  // orientation
  put(3, 2);       // a 16-bit number
  put(1, 4);       // one of them
  put(static_cast<uint32_t>(value), 2);
  put(0, 2);
  put(0, 4);  // no further directory
  return bytes;
}

/// The JPEG with an EXIF marker behind its start.
inline Bytes with_exif(const Bytes& jpeg, const Bytes& tiff) {
  Bytes marker = {0xff, 0xe1, 0, static_cast<uint8_t>(8 + tiff.size()), 'E', 'x', 'i', 'f', 0, 0};
  marker.insert(marker.end(), tiff.begin(), tiff.end());
  Bytes file = jpeg;
  file.insert(file.begin() + 2, marker.begin(), marker.end());
  return file;
}

/// The JPEG with another size written into its frame header (SOF0 or SOF2).
inline Bytes with_size(Bytes jpeg, int width, int height) {
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    if (jpeg[i] != 0xff || (jpeg[i + 1] != 0xc0 && jpeg[i + 1] != 0xc2)) continue;
    jpeg[i + 5] = static_cast<uint8_t>(height >> 8);
    jpeg[i + 6] = static_cast<uint8_t>(height);
    jpeg[i + 7] = static_cast<uint8_t>(width >> 8);
    jpeg[i + 8] = static_cast<uint8_t>(width);
    return jpeg;
  }
  return jpeg;
}

}  // namespace image_testing
