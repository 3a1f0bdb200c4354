// The interface of the codecs. A codec is one row of the registry and one file of src/image/codecs: it recognises its
// files, reads a header, decodes rows of pixels and, for some formats, encodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/pixel_format.h"
#include "image/row_target.h"
#include "iruka/image.h"
#include "iruka/picture_geometry.h"

namespace iruka::image {

using Bytes = std::span<const uint8_t>;

/// What a file says about its picture before a pixel is decoded.
struct Header {
  int64_t height = 0, width = 0;  ///< as stored, not yet upright
  PixelFormat format{};           ///< what mode `unchanged` gives
  int orientation = 1;            ///< EXIF's, 1 to 8
};

struct Codec;

/// One file being decoded. It refers to the file's bytes.
class Decoder {
 public:
  /// `where` is the prefix of every error message: "imdecode", or "imread: 'photo.jpg'".
  Decoder(const Codec& codec, Bytes bytes, const std::string& where) : codec_(codec), bytes_(bytes), where_(where) {}
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const Header& header() const { return header_; }
  const Codec& codec() const { return codec_; }
  /// Raises ValueError for a file that is too short for the pixels in its header. Called before memory is allocated.
  virtual void check_plausible() const {}
  /// The format of the rows that are best for a picture in format `wanted`.
  virtual PixelFormat row_format(PixelFormat wanted) const {
    return wanted == header_.format ? wanted : header_.format;
  }
  /// Whether decode() can divide the height and the width, rounded up, by `divisor` (2, 4 or 8) cheaply.
  virtual bool can_divide(int64_t) const { return false; }
  /// How a device's JPEG decoder may take the file (core/jpeg_decoding.h).
  enum class DeviceForm : uint8_t { none, many_scans, one_scan };
  virtual DeviceForm device_form() const { return DeviceForm::none; }
  /// Whether decode() gives rows from top to bottom, one after the other.
  virtual bool has_rows_in_order() const { return false; }
  /// Gives `rows` at least the rows of its window, once. Raises ValueError where data is damaged or missing.
  virtual void decode(RowTarget& rows) = 0;

 protected:
  std::string size_text() const { return std::to_string(bytes_.size()); }
  /// The byte at `offset`, or the integer of two or four bytes, least significant byte first.
  uint32_t u8(uint64_t offset) const;
  uint32_t u16(uint64_t offset) const { return u8(offset) | u8(offset + 1) << 8; }
  uint32_t u32(uint64_t offset) const { return u16(offset) | u16(offset + 2) << 16; }

  /// Raises ValueError: "damaged BMP: " and the reason.
  [[noreturn]] void raise_damaged(const std::string& reason) const;
  /// Raises ValueError: "this BMP has " and what cannot be decoded.
  [[noreturn]] void raise_unsupported(const std::string& what) const;
  /// Raises ValueError: "truncated BMP: its 20 bytes end " and where.
  [[noreturn]] void raise_truncated(const std::string& place) const;
  [[noreturn]] void raise_truncated_in_row(int64_t y) const;
  /// Raises ValueError where the file has fewer bytes than its pixels take at least.
  void check_bytes(uint64_t needed) const;
  /// Raises ValueError for a header without pixels.
  void check_sides(int64_t height, int64_t width) const;

  const Codec& codec_;
  const Bytes bytes_;
  const std::string where_;
  Header header_;
};

/// A picture ready to be written: rows of `width` pixels one after another, channels innermost: grey, grey + alpha, RGB
/// or RGBA.
struct Pixels {
  const uint8_t* data;
  int64_t width, height;
  int channels;
  Dtype dtype;  ///< one that the codec writes; 16 bits are in the host's byte order
  int64_t row_bytes() const { return width * channels * itemsize(dtype); }
};

/// What an encoder takes.
struct Encoder {
  std::vector<uint8_t> (*encode)(const Pixels& pixels, const EncodeOptions& options, const std::string& where);
  std::span<const Dtype> dtypes;
  bool has_alpha;  ///< 2 and 4 channels, beside 1 and 3
  int64_t longest_side;
};

struct Codec {
  const char* name;  ///< as in messages: "JPEG"
  /// Ends of file names and names for imencode, in lower case; the first one is the format's name in lower case.
  std::span<const std::string_view> extensions;
  bool (*probe)(Bytes bytes);
  std::unique_ptr<Decoder> (*open)(Bytes bytes, const std::string& where);
  const Encoder* encoder = nullptr;  ///< null for a format that is only read
};

template <class FormatDecoder>
std::unique_ptr<Decoder> open_as(Bytes bytes, const std::string& where) {
  return std::make_unique<FormatDecoder>(bytes, where);
}

/// The registry.
std::span<const Codec* const> codecs();

extern const Codec jpeg_codec, png_codec, webp_codec, tiff_codec, bmp_codec, gif_codec, pnm_codec;

inline bool starts_with(Bytes bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), signature.size()) == signature;
}

/// Raises ValueError when a header promises more pixels than `max_pixels`: this happens before memory is allocated.
void check_size(const std::string& where, const char* format, int64_t width, int64_t height, int64_t max_pixels);

/// How a file becomes the picture that the options ask for.
struct DecodePlan {
  std::unique_ptr<Decoder> decoder;
  PixelFormat wanted{};
  int orientation = 1;  ///< to be applied
  int64_t divisor = 1;
  Region window;                 ///< of the stored picture, whose sides are divided
  std::optional<Chain> chain{};  ///< to be applied to the upright picture
  Dims result_shape{};           ///< behind the chain
  Dtype result_dtype = Dtype::uint8;

  Dims stored_shape() const;   ///< of the window
  Dims upright_shape() const;  ///< of the result, before the chain
};
/// Reads the header. Raises what imdecode raises, but for damage behind the header.
DecodePlan plan_decoding(Bytes bytes, const DecodeOptions& options, const std::string& where);
/// The same for a file whose header is read already.
DecodePlan plan_decoding(std::unique_ptr<Decoder> decoder, const DecodeOptions& options, const std::string& where);
/// Without the chain. Into `out`, which fits and is in the CPU's memory, unless it is null.
Array decode_by_cpu(const DecodePlan& plan, const Array* out);
/// With the chain.
Array decode_with_chain(const DecodePlan& plan, const Array* out);
/// Raises what imdecode_into raises for an `out` that does not fit.
void check_out(const Array& out, const DecodePlan& plan, const std::string& where);

/// The size of a side that is divided, rounded up.
inline int64_t divided_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

/// imdecode for a source that errors call `where`; into `out` unless it is null (see imdecode_into).
Array decode(Bytes bytes, const DecodeOptions& options, const std::string& where, const Array* out = nullptr);
PictureInfo peek(Bytes bytes, const std::string& where);

/// The orientation tag of a TIFF-structured EXIF block, 1 to 8; 1 (upright) where there is none or it is damaged.
int exif_orientation(Bytes tiff);
/// A view of the picture rotated and mirrored upright, as EXIF's `orientation` says.
Array upright(const Array& picture, int orientation);
/// The same pixels in C order, in `out` unless it is null.
Array upright_copy(const Array& picture, int orientation, const Array* out);
/// The region of the stored picture that is `region` of the upright one.
Region stored_region(const Region& region, int64_t upright_height, int64_t upright_width, int orientation);
inline bool swaps_axes(int orientation) { return orientation >= 5; }

}  // namespace iruka::image
