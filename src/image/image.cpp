// imdecode, imread, imencode and imwrite: they choose the codec and check files and arrays.
#include "iruka/image.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "image/codec.h"
#include "image/file.h"
#include "iruka/device.h"

namespace iruka::image {
namespace {

enum class Format : uint8_t { png, jpeg };

Format parse_format(const std::string& where, std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "png") return Format::png;
  if (name == "jpg" || name == "jpeg") return Format::jpeg;
  throw ValueError(where + ": the format must be 'png', 'jpeg' or 'jpg', not '" + name + "'");
}

/// What follows the last dot of the file's name, or "".
std::string extension(const std::string& path) {
  size_t name = path.find_last_of('/') + 1;  // npos + 1 is 0
  size_t dot = path.find_last_of('.');
  return dot == std::string::npos || dot < name ? "" : path.substr(dot + 1);
}

bool starts_with(std::span<const uint8_t> bytes, std::string_view signature) {
  return bytes.size() >= signature.size() && std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

Array decode(std::span<const uint8_t> bytes, const DecodeOptions& options, const std::string& where) {
  if (starts_with(bytes, "\xff\xd8\xff")) return decode_jpeg(bytes, options, where);
  if (starts_with(bytes, "\x89PNG\r\n\x1a\n")) return decode_png(bytes, options, where);
  throw ValueError(where + ": neither a JPEG nor a PNG (" + std::to_string(bytes.size()) + " bytes)");
}

void check_range(const std::string& where, const char* option, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw ValueError(where + ": " + option + " must be " + std::to_string(low) + " to " + std::to_string(high) +
                   ", not " + std::to_string(value));
}

/// Checks that `picture` is one that `format` can hold; it must be C-contiguous.
Pixels pixels_of(const std::string& where, const Array& picture, Format format) {
  std::string shape = "shape " + to_string(picture.shape());
  if (picture.ndim() != 2 && picture.ndim() != 3) {
    throw ShapeError(where + ": a picture is (height, width) or (height, width, channels), not of " + shape);
  }
  int64_t channels = picture.ndim() == 3 ? picture.shape(2) : 1;
  if (channels < 1 || channels > 4) throw ShapeError(where + ": a picture has 1 to 4 channels, not " + shape);
  if (picture.size() == 0) throw ShapeError(where + ": a picture without pixels, of " + shape + ", cannot be written");
  if (format == Format::jpeg && channels != 1 && channels != 3) {
    throw ShapeError(where + ": a JPEG has 1 or 3 channels and no alpha, not " + shape);
  }
  int64_t limit = format == Format::jpeg ? 65500 : INT32_MAX;
  if (std::max(picture.shape(0), picture.shape(1)) > limit) {
    throw ShapeError(where + ": a side may have " + std::to_string(limit) + " pixels at most, not " + shape);
  }
  return {static_cast<const uint8_t*>(picture.data()), picture.shape(1), picture.shape(0), static_cast<int>(channels),
          static_cast<int>(picture.itemsize())};
}

void check_dtype(const std::string& where, const Array& picture, Format format) {
  if (!picture.valid()) throw ValueError(where + ": the array is a default-constructed Array, which has no elements");
  Dtype dtype = picture.dtype();
  if (dtype == Dtype::uint8 || (dtype == Dtype::uint16 && format == Format::png)) return;
  const char* rule = format == Format::png ? ": a PNG holds uint8 or uint16, not " : ": a JPEG holds uint8, not ";
  throw TypeError(where + rule + name(dtype) + "; scale to 0..255 and convert with astype");
}

std::vector<uint8_t> encode(Format format, const Array& picture, const EncodeOptions& options,
                            const std::string& where) {
  check_range(where, "quality", options.quality, 1, 100);
  check_range(where, "compression", options.compression, 0, 9);
  check_dtype(where, picture, format);
  Array rows = picture.contiguous();
  Pixels pixels = pixels_of(where, rows, format);
  return format == Format::png ? encode_png(pixels, options.compression, where)
                               : encode_jpeg(pixels, options.quality, where);
}

}  // namespace

void check_size(const std::string& where, const char* format, int64_t width, int64_t height, int64_t max_pixels) {
  if (width <= max_pixels / height) return;
  throw ValueError(where + ": this " + format + " holds " + std::to_string(width) + " x " + std::to_string(height) +
                   " pixels, more than max_pixels = " + std::to_string(max_pixels));
}

Array new_picture(int64_t height, int64_t width, int channels, Dtype dtype) {
  return Array::empty(channels == 1 ? Dims{height, width} : Dims{height, width, channels}, dtype, cpu());
}

Array imdecode(std::span<const uint8_t> bytes, const DecodeOptions& options) {
  return decode(bytes, options, "imdecode");
}

Array imread(const std::string& path, const DecodeOptions& options) {
  FileBytes file = read_file("imread", path);
  return decode({file.data.get(), file.size}, options, "imread: '" + path + "'");
}

std::vector<uint8_t> imencode(const std::string& format, const Array& picture, const EncodeOptions& options) {
  return encode(parse_format("imencode", format), picture, options, "imencode");
}

void imwrite(const std::string& path, const Array& picture, const EncodeOptions& options) {
  std::string where = "imwrite: '" + path + "'";
  std::string ending = extension(path);
  if (ending.empty()) throw ValueError(where + ": the name must end in .png, .jpg or .jpeg");
  write_file("imwrite", path, encode(parse_format(where, ending), picture, options, where));
}

}  // namespace iruka::image
