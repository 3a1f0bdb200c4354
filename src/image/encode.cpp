// imencode and imwrite: they choose the codec and check the array.
#include <algorithm>
#include <cctype>

#include "image/codec.h"
#include "image/file.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

/// "a, b or c", each item in `quote`s.
template <class Items, class Text>
std::string list(const Items& items, Text text) {
  std::string all;
  for (size_t i = 0; i < items.size(); ++i) {
    all += (i == 0 ? "" : i + 1 == items.size() ? " or " : ", ") + text(items[i]);
  }
  return all;
}

/// Endings of the files that can be written, as one list.
std::string writable_endings(const char* quote_before, const char* quote_after) {
  std::vector<std::string_view> endings;
  for (const Codec* codec : codecs()) {
    if (codec->encoder) endings.insert(endings.end(), codec->extensions.begin(), codec->extensions.end());
  }
  return list(endings, [&](std::string_view ending) { return quote_before + std::string(ending) + quote_after; });
}

const Codec& writable_codec(const std::string& where, std::string ending) {
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Codec* codec : codecs()) {
    if (!std::ranges::count(codec->extensions, std::string_view(ending))) continue;
    if (codec->encoder) return *codec;
    throw ValueError(where + ": " + codec->name + " is only read; the format must be " + writable_endings("'", "'"));
  }
  throw ValueError(where + ": the format must be " + writable_endings("'", "'") + ", not '" + ending + "'");
}

/// What follows the last dot of the file's name, or "".
std::string extension(const std::string& path) {
  size_t name = path.find_last_of('/') + 1;  // npos + 1 is 0
  size_t dot = path.find_last_of('.');
  return dot == std::string::npos || dot < name ? "" : path.substr(dot + 1);
}

void check_range(const std::string& where, const char* option, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw ValueError(where + ": " + option + " must be " + std::to_string(low) + " to " + std::to_string(high) +
                   ", not " + std::to_string(value));
}

void check_dtype(const std::string& where, const Array& picture, const Codec& codec) {
  if (!picture.valid()) throw ValueError(where + ": the array is a default-constructed Array, which has no elements");
  const std::span<const Dtype> dtypes = codec.encoder->dtypes;
  if (std::ranges::count(dtypes, picture.dtype())) return;
  throw TypeError(where + ": a " + codec.name + " holds " + list(dtypes, [](Dtype d) { return std::string(name(d)); }) +
                  ", not " + name(picture.dtype()) + "; scale to 0..255 and convert with astype");
}

/// Checks that `picture` is one that the codec can hold; it must be C-contiguous.
Pixels pixels_of(const std::string& where, const Array& picture, const Codec& codec) {
  const Encoder& encoder = *codec.encoder;
  std::string shape = "shape " + to_string(picture.shape());
  if (picture.ndim() != 2 && picture.ndim() != 3) {
    throw ShapeError(where + ": a picture is (height, width) or (height, width, channels), not of " + shape);
  }
  int64_t channels = picture.ndim() == 3 ? picture.shape(2) : 1;
  if (channels < 1 || channels > 4) throw ShapeError(where + ": a picture has 1 to 4 channels, not " + shape);
  if (picture.size() == 0) throw ShapeError(where + ": a picture without pixels, of " + shape + ", cannot be written");
  if (!encoder.has_alpha && channels != 1 && channels != 3) {
    throw ShapeError(where + ": a " + codec.name + " has 1 or 3 channels and no alpha, not " + shape);
  }
  if (std::max(picture.shape(0), picture.shape(1)) > encoder.longest_side) {
    throw ShapeError(where + ": a side may have " + std::to_string(encoder.longest_side) + " pixels at most, not " +
                     shape);
  }
  return {static_cast<const uint8_t*>(picture.data()), picture.shape(1), picture.shape(0), static_cast<int>(channels),
          picture.dtype()};
}

std::vector<uint8_t> encode(const Codec& codec, const Array& picture, const EncodeOptions& options,
                            const std::string& where) {
  check_range(where, "quality", options.quality, 1, 100);
  check_range(where, "compression", options.compression, 0, 9);
  check_dtype(where, picture, codec);
  Array rows = picture.contiguous();
  return codec.encoder->encode(pixels_of(where, rows, codec), options, where);
}

}  // namespace

std::vector<uint8_t> imencode(const std::string& format, const Array& picture, const EncodeOptions& options) {
  return encode(writable_codec("imencode", format), picture, options, "imencode");
}

void imwrite(const std::string& path, const Array& picture, const EncodeOptions& options) {
  std::string where = "imwrite: '" + path + "'";
  std::string ending = extension(path);
  if (ending.empty()) throw ValueError(where + ": the name must end in " + writable_endings(".", ""));
  write_file("imwrite", path, encode(writable_codec(where, ending), picture, options, where));
}

}  // namespace iruka::image
