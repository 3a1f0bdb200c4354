// WebP over libwebp; of an animation the first frame, on the canvas that its header describes.
#include <webp/decode.h>
#include <webp/encode.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "image/codec.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

using namespace std::string_view_literals;

/// A chunk's contents, without its header of a name and a size.
struct Chunk {
  std::string_view name;
  Bytes data;
};

class WebpDecoder final : public Decoder {
 public:
  WebpDecoder(Bytes bytes, const std::string& where) : Decoder(webp_codec, bytes, where) {
    const uint64_t end = uint64_t{u32(4)} + 8;
    if (end > bytes_.size()) raise_truncated("before the " + std::to_string(end) + " that the header promises");
    bool alpha = false;
    frame_ = bytes_;
    for (uint64_t at = 12; at + 8 <= end;) {
      const Chunk chunk = chunk_at(at, end);
      if (chunk.name == "VP8X") read_canvas(chunk.data, alpha);
      if (chunk.name == "ANMF" && frame_.size() == bytes_.size()) read_frame(chunk.data);
      if (chunk.name == "EXIF") {
        const size_t prefix = starts_with(chunk.data, "Exif\0\0"sv) ? 6 : 0;
        header_.orientation = exif_orientation(chunk.data.subspan(prefix));
      }
      at += 8 + (chunk.data.size() + 1) / 2 * 2;
    }
    WebPBitstreamFeatures features;
    check(WebPGetFeatures(frame_.data(), frame_.size(), &features));
    check_sides(features.height, features.width);
    if (features.has_animation) raise_damaged("the animation has no frame");
    height_ = features.height;
    width_ = features.width;
    if (header_.height == 0) {
      header_.height = height_;
      header_.width = width_;
    }
    if (left_ + width_ > header_.width || top_ + height_ > header_.height) raise_damaged("a frame leaves the canvas");
    alpha = alpha || features.has_alpha || !covers_canvas();
    header_.format = {alpha ? Color::rgba : Color::rgb, Dtype::uint8};
  }

  PixelFormat row_format(PixelFormat wanted) const override {
    const Color color = wanted.color;
    const bool direct = color == Color::rgb || color == Color::bgr || color == Color::rgba;
    return {direct ? color : header_.format.color, Dtype::uint8};
  }

  void decode(RowTarget& rows) override {
    SourcePicture picture(rows);
    const auto size = static_cast<size_t>(picture.row_bytes() * header_.height);
    if (!covers_canvas()) std::memset(picture.data(), 0, size);
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) throw ValueError(where_ + ": libwebp has another version than its headers");
    const Color color = rows.source().color;
    const int64_t offset = top_ * picture.row_bytes() + left_ * rows.source().bytes();
    config.output.colorspace = color == Color::rgba ? MODE_RGBA : color == Color::bgr ? MODE_BGR : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = picture.data() + offset;
    config.output.u.RGBA.stride = static_cast<int>(picture.row_bytes());
    config.output.u.RGBA.size = size - static_cast<size_t>(offset);
    const VP8StatusCode status = WebPDecode(frame_.data(), frame_.size(), &config);
    WebPFreeDecBuffer(&config.output);
    check(status);
    picture.finish();
  }

 private:
  uint32_t u24(uint64_t offset) const { return u16(offset) | u8(offset + 2) << 16; }
  bool covers_canvas() const { return width_ == header_.width && height_ == header_.height; }

  Chunk chunk_at(uint64_t at, uint64_t end) const {
    const uint64_t size = u32(at + 4);
    if (size > end - at - 8) raise_damaged("a chunk leaves the file");
    return {{reinterpret_cast<const char*>(bytes_.data()) + at, 4}, bytes_.subspan(at + 8, size)};
  }

  void read_canvas(Bytes data, bool& alpha) {
    if (data.size() < 10) raise_damaged("its VP8X chunk is too short");
    const auto at = static_cast<uint64_t>(data.data() - bytes_.data());
    alpha = data[0] & 0x10;
    header_.width = u24(at + 4) + 1;
    header_.height = u24(at + 7) + 1;
  }

  void read_frame(Bytes data) {
    if (data.size() < 16) raise_damaged("its ANMF chunk is too short");
    const auto at = static_cast<uint64_t>(data.data() - bytes_.data());
    left_ = 2 * u24(at);
    top_ = 2 * u24(at + 3);
    frame_ = data.subspan(16);
  }

  void check(VP8StatusCode status) const {
    switch (status) {
      case VP8_STATUS_OK: return;
      case VP8_STATUS_OUT_OF_MEMORY: throw OutOfMemoryError(where_ + ": no memory to decode a WebP");
      case VP8_STATUS_NOT_ENOUGH_DATA:
      case VP8_STATUS_SUSPENDED: raise_truncated("before the last pixel");
      case VP8_STATUS_UNSUPPORTED_FEATURE: raise_unsupported("a feature unknown to libwebp");
      default: raise_damaged("its pixels cannot be decoded");
    }
  }

  Bytes frame_;                                          ///< the file, or the chunks of an animation's first frame
  int64_t height_ = 0, width_ = 0, top_ = 0, left_ = 0;  ///< the frame's place on the canvas
};

struct Picture : WebPPicture {
  Picture() { valid = WebPPictureInit(this); }
  ~Picture() { WebPPictureFree(this); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  bool valid;
};

/// Grey as three equal channels, which is all that WebP has.
std::vector<uint8_t> colored(const Pixels& pixels) {
  const bool alpha = pixels.channels == 2;
  const PixelFormat from{alpha ? Color::gray_alpha : Color::gray, Dtype::uint8};
  const PixelFormat to{alpha ? Color::rgba : Color::rgb, Dtype::uint8};
  std::vector<uint8_t> scratch(pixels.data, pixels.data + pixels.height * pixels.row_bytes());
  std::vector<uint8_t> colors(static_cast<size_t>(pixels.height * pixels.width * to.bytes()));
  RowConverter(from, to)(scratch.data(), colors.data(), pixels.height * pixels.width);
  return colors;
}

std::vector<uint8_t> encode_webp(const Pixels& pixels, const EncodeOptions& options, const std::string& where) {
  std::vector<uint8_t> output, colors;
  WebPConfig config;
  Picture picture;
  if (!picture.valid || !WebPConfigInit(&config)) {
    throw ValueError(where + ": libwebp has another version than its headers");
  }
  if (options.lossless) WebPConfigLosslessPreset(&config, 6);
  config.exact = options.lossless;  // colours under transparent pixels, too
  config.quality = static_cast<float>(options.lossless ? 75 : options.quality);
  picture.use_argb = options.lossless;
  picture.width = static_cast<int>(pixels.width);
  picture.height = static_cast<int>(pixels.height);
  picture.custom_ptr = &output;
  picture.writer = [](const uint8_t* data, size_t size, const WebPPicture* writing) -> int {
    auto& bytes = *static_cast<std::vector<uint8_t>*>(writing->custom_ptr);
    try {
      bytes.insert(bytes.end(), data, data + size);
    } catch (const std::bad_alloc&) {
      return 0;
    }
    return 1;
  };
  if (pixels.channels <= 2) colors = colored(pixels);
  const uint8_t* from = colors.empty() ? pixels.data : colors.data();
  const bool alpha = pixels.channels % 2 == 0;
  const auto stride = static_cast<int>(pixels.width * (alpha ? 4 : 3));
  const bool imported =
      alpha ? WebPPictureImportRGBA(&picture, from, stride) : WebPPictureImportRGB(&picture, from, stride);
  if (imported && WebPEncode(&config, &picture)) return output;
  const WebPEncodingError error = picture.error_code;
  if (!imported || error == VP8_ENC_ERROR_OUT_OF_MEMORY || error == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY ||
      error == VP8_ENC_ERROR_BAD_WRITE) {
    throw OutOfMemoryError(where + ": no memory to encode a WebP");
  }
  throw ValueError(where + ": cannot write this WebP: libwebp's error " + std::to_string(error));
}

constexpr std::string_view kExtensions[] = {"webp"};
constexpr Dtype kDtypes[] = {Dtype::uint8};
constexpr Encoder kEncoder{encode_webp, kDtypes, true, WEBP_MAX_DIMENSION};

bool probe(Bytes bytes) {
  return starts_with(bytes, "RIFF") && bytes.size() >= 12 && starts_with(bytes.subspan(8), "WEBP");
}

}  // namespace

constinit const Codec webp_codec{"WebP", kExtensions, probe, open_as<WebpDecoder>, &kEncoder};

}  // namespace iruka::image
