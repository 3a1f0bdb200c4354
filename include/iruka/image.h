// Reading and writing pictures: JPEG, PNG, WebP, TIFF, BMP, GIF (first frame) and PNM. A picture is an array (height,
// width, channels) or (height, width).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "iruka/array.h"
#include "iruka/device.h"

namespace iruka::image {

class Chain;  // iruka/picture_geometry.h

/// What the channels of a decoded picture are. `unchanged` keeps what the file holds (grey, grey + alpha, RGB, RGBA).
/// `ycbcr` is JPEG's full-range YCbCr.
enum class ColorMode : uint8_t { rgb, gray, rgba, unchanged, bgr, ycbcr };

/// A rectangle of pixels.
struct Region {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

struct PictureSize {
  int64_t height = 0, width = 0;
};

struct DecodeOptions {
  ColorMode mode = ColorMode::rgb;
  int64_t max_pixels = int64_t{1} << 28;  ///< of the whole picture in the file
  bool apply_orientation = true;          ///< turn the picture upright by its EXIF tag, as OpenCV does
  /// uint8 or uint16; by default uint8, and the file's own dtype under `unchanged`.
  std::optional<Dtype> dtype = std::nullopt;
  /// Decodes this part of the upright picture alone: the same pixels as cropping the whole one.
  std::optional<Region> region = std::nullopt;
  /// A JPEG is decoded at 1/8, 1/4 or 1/2 of its size where the result (of `region`) is at least so large. The size of
  /// the whole picture and both ends of the region are divided, ends outwards. Other formats keep their size.
  std::optional<PictureSize> at_least = std::nullopt;
  /// Where the picture goes; null: the CPU. A GPU's own decoder (jpeg_decoder) takes the JPEGs of mode `rgb`, `bgr`,
  /// `gray` and, where the file has these, `unchanged`. Its pixels differ by a few levels from those of the CPU, which
  /// decodes all other pictures.
  Device* device = nullptr;
  /// Applied to each picture; what it cuts off at first is not decoded. The bits are those of a call behind decoding.
  const Chain* chain = nullptr;
  /// With a chain that begins with a resize, or with a crop and a resize, that averages: a JPEG is decoded at 1/8, 1/4
  /// or 1/2 of its size where it remains at least so many times as large as the resize makes it. 0: at full size.
  double reducing_gap = 0;
};
/// A new array, on the CPU and uint8 unless the options say otherwise. Grey has shape (height, width). Alpha is
/// dropped, not blended, under `rgb`, `bgr`, `gray` and `ycbcr`; grey from colour is Rec. 601 luma. Raises ValueError
/// for bytes that are no picture, are damaged or cut short, or have more than `max_pixels` pixels, and for a region
/// outside the picture.
IRUKA_API Array imdecode(std::span<const uint8_t> bytes, const DecodeOptions& options = {});
/// The same into an array of the picture's shape and dtype, C-contiguous, on any device. Raises ShapeError, TypeError
/// or ValueError for an array that does not fit. After an error its contents are undefined.
IRUKA_API void imdecode_into(const Array& out, std::span<const uint8_t> bytes, const DecodeOptions& options = {});
/// The same from a file. Raises FileError for one that cannot be read.
IRUKA_API Array imread(const std::string& path, const DecodeOptions& options = {});
IRUKA_API void imread_into(const Array& out, const std::string& path, const DecodeOptions& options = {});

/// What a file says of its picture.
struct PictureInfo {
  std::string format;   ///< "JPEG", "PNG", "WebP", "TIFF", "BMP", "GIF" or "PNM"
  Dims shape;           ///< the upright picture's under mode `unchanged`
  Dtype dtype;          ///< the samples' under mode `unchanged`
  int orientation = 1;  ///< the EXIF tag, 1 (upright as stored) to 8
};
/// Reads the header alone and no pixel, so that a picture may be damaged all the same. Raises as imdecode and imread
/// do.
IRUKA_API PictureInfo peek(std::span<const uint8_t> bytes);
IRUKA_API PictureInfo peek_file(const std::string& path);

/// One picture of a batch, or the error that imdecode or imread would have raised for it.
struct BatchItem {
  Array picture;             ///< invalid where there is an error
  std::exception_ptr error;  ///< null where there is a picture
};
/// Decodes on all threads, or by a GPU as DecodeOptions::device says: what it decodes is ready in the order of the
/// current stream. A bad file is its item's error; only an interruption, or a device that fails, ends the batch.
IRUKA_API std::vector<BatchItem> imdecode_batch(std::span<const std::span<const uint8_t>> files,
                                                const DecodeOptions& options = {});
IRUKA_API std::vector<BatchItem> imread_batch(std::span<const std::string> paths, const DecodeOptions& options = {});

/// What decodes JPEGs into a device's memory.
struct JpegDecoderInfo {
  std::string name;     ///< "libjpeg", "nvJPEG (hardware engine)" or "nvJPEG (kernels)"
  std::string problem;  ///< why it is libjpeg on a GPU, and what to install; else empty
};
IRUKA_API JpegDecoderInfo jpeg_decoder(Device& device);

struct EncodeOptions {
  int quality = 95;       ///< JPEG and lossy WebP, 1..100
  int compression = 6;    ///< PNG and TIFF, 0..9
  bool lossless = false;  ///< WebP
};
/// `format` is "jpeg", "png", "webp" or "tiff", or an ending of such files. The array is uint8 (PNG, TIFF: also uint16,
/// TIFF: also float32), 2-d or 3-d with 1 to 4 channels (grey, grey + alpha, RGB, RGBA; a JPEG has no alpha, a WebP
/// no grey, so that it gets three equal channels). Raises ValueError, ShapeError or TypeError for anything else.
IRUKA_API std::vector<uint8_t> imencode(const std::string& format, const Array& picture,
                                        const EncodeOptions& options = {});
/// The format follows the extension. Written to a temporary name and renamed, so that no half picture is left. Raises
/// FileError with the system's reason.
IRUKA_API void imwrite(const std::string& path, const Array& picture, const EncodeOptions& options = {});

}  // namespace iruka::image
