// The first picture of a TIFF, in memory, over libtiff: strips and tiles, planes together or apart.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>

#include "image/codec.h"
#include "image/palette.h"
#include "iruka/device.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

using namespace std::string_view_literals;

/// The only compressions that are read; libtiff has more, which few files use. A byte gives `expansion` bytes at most;
/// 0 stands for no bound.
struct Compression {
  uint16_t tag;
  uint64_t expansion;
};
constexpr Compression kCompressions[] = {
    {COMPRESSION_NONE, 1},       {COMPRESSION_CCITTRLE, 0},  {COMPRESSION_CCITTFAX3, 0},
    {COMPRESSION_CCITTFAX4, 0},  {COMPRESSION_LZW, 2731},    {COMPRESSION_JPEG, 4096},
    {COMPRESSION_DEFLATE, 1032}, {COMPRESSION_PACKBITS, 64}, {COMPRESSION_ADOBE_DEFLATE, 1032},
    {COMPRESSION_ZSTD, 65536}};
constexpr int kMostSamples = 16;

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, CloseTiff>;

/// A file in memory, and what libtiff says about it. Reading uses `bytes`, writing `output`.
struct MemoryFile {
  Bytes bytes;
  std::vector<uint8_t> output;
  uint64_t position = 0;
  bool out_of_memory = false;
  bool warnings_are_errors = false;  ///< while pixels are decoded, because libtiff fills gaps with guesses
  char message[200] = "";            ///< the first error, or ""

  TiffHandle open(const char* mode, tmsize_t most_memory) {
    std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
    if (!options) throw std::bad_alloc();
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_memory);
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, this);
    return TiffHandle(TIFFClientOpenExt(
        "memory", mode, this, read, write, seek, [](thandle_t) { return 0; }, size, nullptr, nullptr, options.get()));
  }

 private:
  static MemoryFile& of(thandle_t handle) { return *static_cast<MemoryFile*>(handle); }

  static int on_error(TIFF*, void* file, const char*, const char* format, va_list arguments) {
    auto& message = static_cast<MemoryFile*>(file)->message;
    if (!message[0]) std::vsnprintf(message, sizeof(message), format, arguments);
    return 1;
  }
  static int on_warning(TIFF* tiff, void* file, const char* place, const char* format, va_list arguments) {
    return static_cast<MemoryFile*>(file)->warnings_are_errors ? on_error(tiff, file, place, format, arguments) : 1;
  }

  uint64_t end() const { return std::max<uint64_t>(bytes.size(), output.size()); }
  static toff_t size(thandle_t handle) { return of(handle).end(); }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    MemoryFile& file = of(handle);
    file.position = whence == SEEK_SET ? offset : (whence == SEEK_CUR ? file.position : file.end()) + offset;
    return file.position;
  }
  static tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
    MemoryFile& file = of(handle);
    if (count <= 0 || file.position >= file.bytes.size()) return 0;
    const uint64_t taken = std::min<uint64_t>(static_cast<uint64_t>(count), file.bytes.size() - file.position);
    std::memcpy(to, file.bytes.data() + file.position, taken);
    file.position += taken;
    return static_cast<tmsize_t>(taken);
  }
  static tmsize_t write(thandle_t handle, void* from, tmsize_t count) {
    MemoryFile& file = of(handle);
    const uint64_t after = file.position + static_cast<uint64_t>(count);
    try {
      if (after > file.output.size()) file.output.resize(after);
    } catch (const std::bad_alloc&) {
      file.out_of_memory = true;
      return 0;
    }
    std::memcpy(file.output.data() + file.position, from, static_cast<size_t>(count));
    file.position = after;
    return count;
  }
};

class TiffDecoder final : public Decoder {
 public:
  TiffDecoder(Bytes bytes, const std::string& where) : Decoder(tiff_codec, bytes, where) {
    file_.bytes = bytes;
    const auto most_memory = std::max<uint64_t>(uint64_t{128} << 20, 16 * bytes.size());
    tiff_ = file_.open("rm", static_cast<tmsize_t>(most_memory));
    if (!tiff_) raise("in the header");
    const auto height = tag<uint32_t>(TIFFTAG_IMAGELENGTH), width = tag<uint32_t>(TIFFTAG_IMAGEWIDTH);
    check_sides(height, width);
    header_.height = height;
    header_.width = width;
    bits_ = tag<uint16_t>(TIFFTAG_BITSPERSAMPLE);
    samples_ = tag<uint16_t>(TIFFTAG_SAMPLESPERPIXEL);
    apart_ = samples_ > 1 && tag<uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    const auto orientation = tag<uint16_t>(TIFFTAG_ORIENTATION);
    if (orientation >= 1 && orientation <= 8) header_.orientation = orientation;
    if (samples_ < 1 || samples_ > kMostSamples) raise_unsupported(std::to_string(samples_) + " samples per pixel");
    check_compression();
    header_.format.dtype = sample_dtype();
    choose_colors();
    choose_layout();
  }

  void check_plausible() const override {
    if (compression_->expansion == 0) return;
    const auto row = static_cast<uint64_t>(apart_ ? samples_ : 1) * static_cast<uint64_t>(row_bytes_);
    if (!by_libtiff_) check_bytes(static_cast<uint64_t>(header_.height) * row / compression_->expansion);
  }

  PixelFormat row_format(PixelFormat) const override { return {stored_color_, header_.format.dtype}; }

  void decode(RowTarget& rows) override {
    file_.warnings_are_errors = true;
    const Region& window = rows.window();
    const int64_t end = window.y + window.height;
    const Array memory = Array::empty({band_bytes()}, Dtype::uint8, cpu());
    auto* band = static_cast<uint8_t*>(memory.data());
    std::memset(band, 0, static_cast<size_t>(band_bytes()));  // tiles outside the window stay so
    // Rows of a strip are decoded from its first one.
    for (int64_t y = window.y / unit_rows_ * unit_rows_; y < end;) {
      const int64_t first = y / band_rows_ * band_rows_;
      read_band(band, first, rows.window());
      for (const int64_t last = std::min(first + band_rows_, end); y < last; ++y) {
        uint8_t* to = rows.begin(y);
        convert_row(band + (y - first) * row_bytes_, to, y);
        rows.end(y);
      }
    }
  }

 private:
  template <class T>
  T tag(uint32_t name) const {
    T value{};
    TIFFGetFieldDefaulted(tiff_.get(), name, &value);
    return value;
  }

  void check_compression() {
    const auto used = tag<uint16_t>(TIFFTAG_COMPRESSION);
    compression_ = std::ranges::find(kCompressions, used, &Compression::tag);
    if (compression_ == std::end(kCompressions) || !TIFFIsCODECConfigured(used)) {
      raise_unsupported("compression " + std::to_string(used));
    }
  }

  Dtype sample_dtype() const {
    const auto kind = tag<uint16_t>(TIFFTAG_SAMPLEFORMAT);
    const bool is_unsigned = kind == SAMPLEFORMAT_UINT || kind == SAMPLEFORMAT_VOID;
    if (is_unsigned && (bits_ == 1 || bits_ == 2 || bits_ == 4 || bits_ == 8)) return Dtype::uint8;
    if (is_unsigned && bits_ == 16) return Dtype::uint16;
    if (kind == SAMPLEFORMAT_IEEEFP && bits_ == 32) return Dtype::float32;
    const char* kinds[] = {"samples", "unsigned samples", "signed samples", "float samples"};
    raise_unsupported(std::string(kinds[kind < 4 ? kind : 0]) + " of " + std::to_string(bits_) + " bits");
  }

  /// Sets the colours that rows have and those of mode `unchanged`.
  void choose_colors() {
    uint16_t photometric = samples_ >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    TIFFGetField(tiff_.get(), TIFFTAG_PHOTOMETRIC, &photometric);
    const bool is_float = header_.format.dtype == Dtype::float32;
    int colors = 1;
    switch (photometric) {
      case PHOTOMETRIC_MINISWHITE:
        zero_is_white_ = true;
        if (is_float) raise_unsupported("float samples of which 0 is white");
        break;
      case PHOTOMETRIC_MINISBLACK: break;
      case PHOTOMETRIC_RGB: colors = 3; break;
      case PHOTOMETRIC_PALETTE: return read_palette();
      case PHOTOMETRIC_SEPARATED:
        if (tag<uint16_t>(TIFFTAG_INKSET) != INKSET_CMYK || is_float) raise_unsupported("inks other than CMYK");
        colors = 4;
        break;
      case PHOTOMETRIC_YCBCR:
        colors = 3;
        if (bits_ != 8) raise_unsupported("YCbCr of " + std::to_string(bits_) + " bits");
        if (compression_->tag == COMPRESSION_JPEG && !apart_) {
          TIFFSetField(tiff_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        } else {
          by_libtiff_ = true;
        }
        break;
      default: raise_unsupported("photometric interpretation " + std::to_string(photometric));
    }
    if (samples_ < colors) raise_damaged("it has " + std::to_string(samples_) + " samples per pixel for its colours");
    read_alpha(colors);
    channels_ = colors + (has_alpha_ ? 1 : 0);
    static constexpr Color kColors[] = {Color::gray, Color::gray_alpha, Color::rgb, Color::rgba};
    stored_color_ = colors == 4 ? Color::cmyk : kColors[channels_ - 1];
    header_.format.color = colors == 4 ? Color::rgb : stored_color_;
  }

  /// A first extra sample is alpha if the file says so.
  void read_alpha(int colors) {
    uint16_t count = 0;
    const uint16_t* kinds = nullptr;
    if (colors == 4 || by_libtiff_ || samples_ == colors) return;
    if (!TIFFGetField(tiff_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds) || count == 0) return;
    has_alpha_ = kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA;
    divide_by_alpha_ = kinds[0] == EXTRASAMPLE_ASSOCALPHA && header_.format.dtype != Dtype::float32;
  }

  /// Colours have 16 bits, except in files whose writers took 8.
  void read_palette() {
    const uint16_t* colors[3] = {};
    if (bits_ > 8 || !TIFFGetField(tiff_.get(), TIFFTAG_COLORMAP, &colors[0], &colors[1], &colors[2])) {
      raise_damaged("it has no palette for " + std::to_string(bits_) + " bits");
    }
    is_palette_ = true;
    channels_ = 1;
    palette_.count = 1 << bits_;
    uint16_t largest = 0;
    for (const uint16_t* color : colors) largest = std::max(largest, *std::max_element(color, color + palette_.count));
    const int shift = largest > 255 ? 8 : 0;
    for (int i = 0; i < palette_.count; ++i) {
      auto sample = [&](int c) { return static_cast<uint8_t>(colors[c][i] >> shift); };
      palette_.entries[static_cast<size_t>(i)] = {sample(0), sample(1), sample(2)};
    }
    stored_color_ = header_.format.color = palette_.color();
  }

  /// Sets how the file is cut. A band is a row of tiles or a strip; where planes are not apart, rows of strips are
  /// decoded one by one, and bands have one row.
  void choose_layout() {
    TIFF* tiff = tiff_.get();
    tiled_ = TIFFIsTiled(tiff);
    if (tiled_) {
      tile_width_ = tag<uint32_t>(TIFFTAG_TILEWIDTH);
      band_rows_ = tag<uint32_t>(TIFFTAG_TILELENGTH);
      if (tile_width_ < 1 || band_rows_ < 1) raise_damaged("its tiles are empty");
      tiles_across_ = (header_.width + tile_width_ - 1) / tile_width_;
      unit_rows_ = band_rows_;
    } else {
      unit_rows_ = std::clamp<int64_t>(tag<uint32_t>(TIFFTAG_ROWSPERSTRIP), 1, header_.height);
      if (apart_ || by_libtiff_) band_rows_ = unit_rows_;
    }
    if (by_libtiff_) {
      row_bytes_ = 4 * (tiled_ ? tile_width_ * tiles_across_ : header_.width);
      TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);  // orientation is applied elsewhere
    } else if (tiled_) {
      const int64_t tile_bits = tile_width_ * bits_ * (apart_ ? 1 : samples_);
      if (tile_bits % 8 != 0 || TIFFTileRowSize(tiff) != tile_bits / 8) raise_unsupported("tiles of broken bytes");
      row_bytes_ = tile_bits / 8 * tiles_across_;
    } else {
      row_bytes_ = (header_.width * bits_ * (apart_ ? 1 : samples_) + 7) / 8;
      if (TIFFScanlineSize(tiff) != row_bytes_) raise_unsupported("rows of unexpected length");
    }
    // Tiles may be larger than a small picture; beyond that a band has no more than its picture.
    const double allowed = 64e6 + 16.0 * static_cast<double>(header_.width) * static_cast<double>(header_.height);
    const double needed = static_cast<double>(row_bytes_) * static_cast<double>(band_rows_) * planes();
    if (needed > allowed) raise_unsupported("strips or tiles much larger than the picture");
  }

  int planes() const { return apart_ && !by_libtiff_ ? channels_ : 1; }
  int64_t plane_bytes() const { return band_rows_ * row_bytes_; }
  int64_t band_bytes() const { return planes() * plane_bytes(); }

  /// Reads the band whose first row is `first`; of tiles those that meet the window.
  void read_band(uint8_t* band, int64_t first, const Region& window) {
    TIFF* tiff = tiff_.get();
    const auto row = static_cast<uint32_t>(first);
    const int64_t count = std::min(band_rows_, header_.height - first);
    if (tiled_) return read_tiles(band, first, window);
    if (by_libtiff_) {
      check(TIFFReadRGBAStripExt(tiff, row, reinterpret_cast<uint32_t*>(band), 1) == 1, first);
      return turn_over(band, row_bytes_, count);
    }
    if (!apart_) return check(TIFFReadScanline(tiff, band, row, 0) == 1, first);
    for (int plane = 0; plane < planes(); ++plane) {
      const uint32_t strip = TIFFComputeStrip(tiff, row, static_cast<uint16_t>(plane));
      const tmsize_t size = count * row_bytes_;
      check(TIFFReadEncodedStrip(tiff, strip, band + plane * plane_bytes(), size) == size, first);
    }
  }

  void read_tiles(uint8_t* band, int64_t first, const Region& window) {
    TIFF* tiff = tiff_.get();
    const int64_t tile_row = row_bytes_ / tiles_across_, size = tile_row * band_rows_;
    const Array memory = Array::empty({size}, Dtype::uint8, cpu());
    auto* tile = static_cast<uint8_t*>(memory.data());
    const auto row = static_cast<uint32_t>(first);
    const int64_t last = (window.x + window.width - 1) / tile_width_;
    for (int plane = 0; plane < planes(); ++plane) {
      for (int64_t i = window.x / tile_width_; i <= last; ++i) {
        const auto column = static_cast<uint32_t>(i * tile_width_);
        if (by_libtiff_) {
          check(TIFFReadRGBATileExt(tiff, column, row, reinterpret_cast<uint32_t*>(tile), 1) == 1, first);
          turn_over(tile, tile_row, band_rows_);
        } else {
          const uint32_t index = TIFFComputeTile(tiff, column, row, 0, static_cast<uint16_t>(plane));
          check(TIFFReadEncodedTile(tiff, index, tile, size) == size, first);
        }
        uint8_t* to = band + plane * plane_bytes() + i * tile_row;
        for (int64_t y = 0; y < band_rows_; ++y) {
          std::memcpy(to + y * row_bytes_, tile + y * tile_row, static_cast<size_t>(tile_row));
        }
      }
    }
  }

  /// libtiff's own conversion gives rows from the last to the first.
  static void turn_over(uint8_t* rows, int64_t row_bytes, int64_t count) {
    for (int64_t y = 0; y < count / 2; ++y) {
      std::swap_ranges(rows + y * row_bytes, rows + (y + 1) * row_bytes, rows + (count - 1 - y) * row_bytes);
    }
  }

  /// The packed samples of a row, whose first plane is at `row`, as pixels.
  void convert_row(const uint8_t* row, uint8_t* to, int64_t y) {
    const int64_t width = header_.width;
    if (by_libtiff_) {
      auto* pixels = reinterpret_cast<const uint32_t*>(row);
      for (int64_t x = 0; x < width; ++x, to += 3) {
        to[0] = TIFFGetR(pixels[x]);
        to[1] = TIFFGetG(pixels[x]);
        to[2] = TIFFGetB(pixels[x]);
      }
    } else if (is_palette_) {
      indices_.resize(static_cast<size_t>(width));
      gather_small(row, indices_.data(), 1);
      if (!palette_.look_up(indices_.data(), to, width, stored_color_)) raise_damaged("an index outside the palette");
    } else if (bits_ < 8) {
      gather_small(row, to, 255 / ((1 << bits_) - 1));
    } else {
      gather(row, plane_bytes(), static_cast<size_t>(bits_ / 8), to);
    }
    if (zero_is_white_) invert(to);
    if (divide_by_alpha_) divide_by_alpha(to, {stored_color_, header_.format.dtype}, width);
    if (file_.message[0]) raise_in_row(y);
  }

  /// Samples of 1 to 8 bits, scaled.
  void gather_small(const uint8_t* row, uint8_t* to, int scale) {
    const int64_t count = header_.width * (apart_ ? 1 : samples_);
    unpacked_.resize(static_cast<size_t>(count * planes()));
    for (int plane = 0; plane < planes(); ++plane) {
      unpack_samples(row + plane * plane_bytes(), bits_, scale, unpacked_.data() + plane * count, count);
    }
    gather(unpacked_.data(), count, 1, to);
  }

  /// The samples of `size` bytes that make a pixel, from one plane or several.
  void gather(const uint8_t* row, int64_t plane, size_t size, uint8_t* to) const {
    if (!apart_ && samples_ == channels_) {
      std::memcpy(to, row, size * static_cast<size_t>(header_.width * channels_));
      return;
    }
    const size_t step = size * static_cast<size_t>(apart_ ? 1 : samples_);
    const size_t pixel = size * static_cast<size_t>(channels_);
    for (int c = 0; c < channels_; ++c) {
      const uint8_t* from = apart_ ? row + c * plane : row + static_cast<size_t>(c) * size;
      uint8_t* target = to + static_cast<size_t>(c) * size;
      for (int64_t x = 0; x < header_.width; ++x, from += step, target += pixel) std::memcpy(target, from, size);
    }
  }

  /// Alpha, the second sample of two, stays.
  void invert(uint8_t* row) const {
    const bool wide = header_.format.dtype == Dtype::uint16;
    for (int64_t x = 0; x < header_.width; ++x) {
      const int64_t i = x * channels_;
      if (wide) {
        auto& sample = reinterpret_cast<uint16_t*>(row)[i];
        sample = static_cast<uint16_t>(65535 - sample);
      } else {
        row[i] = static_cast<uint8_t>(255 - row[i]);
      }
    }
  }

  void check(bool done, int64_t y) const {
    if (!done || file_.message[0]) raise_in_row(y);
  }
  [[noreturn]] void raise_in_row(int64_t y) const {
    raise("near row " + std::to_string(y) + " of " + std::to_string(header_.height));
  }
  [[noreturn]] void raise(const std::string& place) const {
    raise_damaged(place + " (" + size_text() + " bytes): " + (file_.message[0] ? file_.message : "data is missing"));
  }

  MemoryFile file_;
  TiffHandle tiff_;
  int bits_ = 0, samples_ = 0, channels_ = 0;
  const Compression* compression_ = nullptr;
  bool apart_ = false;  ///< each sample has a plane of its own
  bool tiled_ = false, is_palette_ = false, zero_is_white_ = false, has_alpha_ = false, divide_by_alpha_ = false;
  bool by_libtiff_ = false;  ///< subsampled YCbCr, which libtiff converts to RGB
  Color stored_color_ = Color::gray;
  int64_t tile_width_ = 0, tiles_across_ = 1, row_bytes_ = 0;
  int64_t unit_rows_ = 1;  ///< of a strip or tile
  int64_t band_rows_ = 1;  ///< that are in memory at once
  Palette palette_;
  std::vector<uint8_t> indices_, unpacked_;
};

std::vector<uint8_t> encode_tiff(const Pixels& pixels, const EncodeOptions& options, const std::string& where) {
  MemoryFile file;
  const int64_t row_bytes = pixels.row_bytes();
  const bool big = static_cast<double>(row_bytes) * static_cast<double>(pixels.height) > 4e9;
  const TiffHandle handle = file.open(big ? "w8" : "w", 0);
  TIFF* tiff = handle.get();
  const bool is_float = pixels.dtype == Dtype::float32, alpha = pixels.channels % 2 == 0;
  const auto rows = static_cast<uint32_t>(std::clamp<int64_t>((int64_t{1} << 18) / row_bytes, 1, pixels.height));
  const uint16_t alpha_kind = EXTRASAMPLE_UNASSALPHA;
  bool done =
      tiff && TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<uint32_t>(pixels.width)) &&
      TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<uint32_t>(pixels.height)) &&
      TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * itemsize(pixels.dtype))) &&
      TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, pixels.channels) &&
      TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, is_float ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT) &&
      TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, pixels.channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK) &&
      TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows) &&
      TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE) &&
      TIFFSetField(tiff, TIFFTAG_PREDICTOR, is_float ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL) &&
      TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, options.compression);
  if (done && alpha) done = TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha_kind);
  for (int64_t y = 0; done && y < pixels.height; y += rows) {
    const tmsize_t size = std::min<int64_t>(rows, pixels.height - y) * row_bytes;
    void* from = const_cast<uint8_t*>(pixels.data + y * row_bytes);
    done = TIFFWriteEncodedStrip(tiff, static_cast<uint32_t>(y / rows), from, size) == size;
  }
  if (done && TIFFFlush(tiff)) return std::move(file.output);
  if (file.out_of_memory) throw OutOfMemoryError(where + ": no memory to encode a TIFF");
  throw ValueError(where + ": cannot write this TIFF: " + file.message);
}

constexpr std::string_view kExtensions[] = {"tiff", "tif"};
constexpr Dtype kDtypes[] = {Dtype::uint8, Dtype::uint16, Dtype::float32};
constexpr Encoder kEncoder{encode_tiff, kDtypes, true, INT32_MAX};

/// Both byte orders, with offsets of 32 bits and of 64.
bool probe(Bytes bytes) {
  for (std::string_view signature : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (starts_with(bytes, signature)) return true;
  }
  return false;
}

}  // namespace

constinit const Codec tiff_codec{"TIFF", kExtensions, probe, open_as<TiffDecoder>, &kEncoder};

}  // namespace iruka::image
