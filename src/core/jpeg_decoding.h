// The service that decodes JPEGs straight into a device's memory: nvJPEG on a GPU. A device without it gets pictures
// that the CPU has decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/service.h"

namespace iruka {

/// A JPEG of 8 bits, Huffman-coded, grey or YCbCr, whose markers are complete, and where its pixels go.
struct JpegDecoding {
  enum class Color : uint8_t { gray, rgb, bgr };
  std::span<const uint8_t> bytes;  ///< the whole file
  int64_t height = 0, width = 0;   ///< as stored
  bool has_one_scan = false;       ///< sequential, of all components
  Color color = Color::rgb;
  void* result = nullptr;  ///< rows of uint8 without gaps, allocated for the current stream
  bool is_done = false;    ///< set by decode()
};

class JpegDecoders {
 public:
  /// Pictures that are decoded together: they keep all parts of an engine busy while the next ones are prepared.
  static constexpr size_t kMostTogether = 64;

  static constinit const Implementations<JpegDecoders> implementations;
  virtual ~JpegDecoders() = default;

  /// The library and what it decodes with, for people to read.
  virtual std::string name() = 0;
  /// Why the library cannot be used, and what to install; empty where it can.
  virtual const std::string& problem() = 0;
  /// Decodes those pictures that the library takes, in the order of the device's other work. The files' bytes are no
  /// longer needed when it returns.
  virtual void decode(std::span<JpegDecoding> pictures) = 0;
};

}  // namespace iruka
