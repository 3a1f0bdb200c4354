// PNG over libpng. As with libjpeg, an error jumps back to `guarded`, and no frame in between owns anything.
#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "image/codec.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

/// Deflate expands two bits to at most 258 bytes.
constexpr uint64_t kMaxExpansion = 1032;
constexpr int kMaxSide = 0x7fffffff;

struct ErrorState {
  std::jmp_buf jump;
  char message[200] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& error = *static_cast<ErrorState*>(png_get_error_ptr(png));
  std::snprintf(error.message, sizeof(error.message), "%s", message);
  std::longjmp(error.jump, 1);
}
void on_warning(png_structp, png_const_charp) {}

/// Runs `step`; false when libpng's error handler has jumped out of it. It must own nothing, because destructors do not
/// run.
template <class Step>
bool guarded(ErrorState& error, Step step) {
  static_assert(std::is_trivially_destructible_v<Step>);
  if (setjmp(error.jump) != 0) return false;
  step();
  return true;
}

/// The orientation in the file's eXIf chunk, which may follow the pixels; 1 without such a chunk.
int orientation_of(Bytes file) {
  auto u32 = [&](size_t at) {
    return uint32_t{file[at]} << 24 | uint32_t{file[at + 1]} << 16 | uint32_t{file[at + 2]} << 8 | file[at + 3];
  };
  for (size_t chunk = 8; chunk + 12 <= file.size();) {
    const size_t length = u32(chunk);
    if (length > file.size() - chunk - 12) return 1;
    if (starts_with(file.subspan(chunk + 4), "eXIf")) return exif_orientation(file.subspan(chunk + 8, length));
    chunk += 12 + length;
  }
  return 1;
}

class PngDecoder final : public Decoder {
 public:
  PngDecoder(Bytes bytes, const std::string& where) : Decoder(png_codec, bytes, where) {
    try {
      read_header();
    } catch (...) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw;
    }
  }
  ~PngDecoder() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  void check_plausible() const override {
    uint64_t raw = static_cast<uint64_t>(png_get_rowbytes(png_, info_)) * static_cast<uint64_t>(header_.height);
    check_bytes(raw / kMaxExpansion);
  }

  bool has_rows_in_order() const override { return true; }

  void decode(RowTarget& rows) override {
    int passes = 1;
    run([&, this] {
      png_set_expand(png_);
      if (header_.format.dtype == Dtype::uint16 && std::endian::native == std::endian::little) png_set_swap(png_);
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    if (passes > 1) {
      SourcePicture picture(rows);
      run([&, this] {
        for (int pass = 0; pass < passes; ++pass) {
          for (row_ = 0; row_ < header_.height; ++row_) {
            png_read_row(png_, picture.data() + row_ * picture.row_bytes(), nullptr);
          }
        }
        png_read_end(png_, nullptr);
      });
      return picture.finish();
    }
    const int64_t end = rows.window().y + rows.window().height;
    run([&, this] {
      for (row_ = 0; row_ < end; ++row_) {
        png_read_row(png_, rows.begin(row_), nullptr);
        rows.end(row_);
      }
      if (row_ == header_.height) png_read_end(png_, nullptr);
    });
  }

 private:
  template <class Step>
  void run(Step step) {
    if (!guarded(error_, step)) raise();
  }

  void read_header() {
    run([this] {
      png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error_, on_error, on_warning);
      if (png_) info_ = png_create_info_struct(png_);
    });
    if (!info_) throw OutOfMemoryError(where_ + ": no memory to decode a PNG");
    run([this] {
      png_set_read_fn(png_, this, [](png_structp png, png_bytep to, size_t count) {
        static_cast<PngDecoder*>(png_get_io_ptr(png))->take(to, count);
      });
      png_set_user_limits(png_, kMaxSide, kMaxSide);
      png_set_chunk_malloc_max(png_, bytes_.size());  // no chunk is longer than the file
      png_set_chunk_cache_max(png_, 128);
      png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
      skip_unused_chunks();
      png_read_info(png_, info_);
    });
    const int type = png_get_color_type(png_, info_);
    const bool colored = type & PNG_COLOR_MASK_COLOR;
    const bool alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
    const Color color = colored ? (alpha ? Color::rgba : Color::rgb) : alpha ? Color::gray_alpha : Color::gray;
    const Dtype dtype = png_get_bit_depth(png_, info_) == 16 ? Dtype::uint16 : Dtype::uint8;
    header_ = {
        png_get_image_height(png_, info_), png_get_image_width(png_, info_), {color, dtype}, orientation_of(bytes_)};
  }

  /// Texts, colour profiles and their compressed forms are never unpacked; orientation_of reads eXIf.
  void skip_unused_chunks() {
    static constexpr png_byte kUnused[] =
        "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0sBIT\0sCAL\0sPLT\0sRGB\0"
        "tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kUnused, sizeof(kUnused) / 5);
  }

  void take(png_bytep to, size_t count) {
    if (count > bytes_.size() - position_) {
      truncated_ = true;
      png_error(png_, "truncated");
    }
    std::memcpy(to, bytes_.data() + position_, count);
    position_ += count;
  }

  [[noreturn]] void raise() const {
    std::string place = "in the header";
    if (row_ >= header_.height && header_.height)
      place = "after the last row";
    else if (row_ >= 0)
      place = "in row " + std::to_string(row_) + " of " + std::to_string(header_.height);
    std::string total = size_text();
    if (truncated_) throw ValueError(where_ + ": truncated PNG: its " + total + " bytes end " + place);
    throw ValueError(where_ + ": damaged PNG near byte " + std::to_string(position_) + " of " + total + ", " + place +
                     ": " + error_.message);
  }

  size_t position_ = 0;
  bool truncated_ = false;
  ErrorState error_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int64_t row_ = -1;  ///< the row being read; -1 in the header
};

class Writer {
 public:
  explicit Writer(const std::string& where) : where_(where) {}
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::vector<uint8_t> encode(const Pixels& pixels, int compression) {
    static constexpr int kColorTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                          PNG_COLOR_TYPE_RGB_ALPHA};
    run([this] {
      png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error_, on_error, on_warning);
      if (png_) info_ = png_create_info_struct(png_);
    });
    if (!info_) throw OutOfMemoryError(where_ + ": no memory to encode a PNG");
    run([=, this] {
      png_set_write_fn(
          png_, this,
          [](png_structp png, png_bytep from, size_t count) {
            if (!static_cast<Writer*>(png_get_io_ptr(png))->append(from, count)) png_error(png, "out of memory");
          },
          [](png_structp) {});
      png_set_user_limits(png_, kMaxSide, kMaxSide);
      png_set_compression_level(png_, compression);
      png_set_IHDR(png_, info_, static_cast<png_uint_32>(pixels.width), static_cast<png_uint_32>(pixels.height),
                   pixels.dtype == Dtype::uint16 ? 16 : 8, kColorTypes[pixels.channels - 1], PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (pixels.dtype == Dtype::uint16 && std::endian::native == std::endian::little) png_set_swap(png_);
      for (int64_t y = 0; y < pixels.height; ++y) png_write_row(png_, pixels.data + y * pixels.row_bytes());
      png_write_end(png_, info_);
    });
    return std::move(output_);
  }

 private:
  bool append(const uint8_t* from, size_t count) noexcept {
    try {
      output_.insert(output_.end(), from, from + count);
      return true;
    } catch (const std::bad_alloc&) {
      out_of_memory_ = true;
      return false;
    }
  }

  template <class Step>
  void run(Step step) {
    if (guarded(error_, step)) return;
    std::string message = where_ + ": cannot write this PNG: " + error_.message;
    if (out_of_memory_) throw OutOfMemoryError(message);
    throw ValueError(message);
  }

  const std::string& where_;
  ErrorState error_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool out_of_memory_ = false;
  std::vector<uint8_t> output_;
};

std::vector<uint8_t> encode_png(const Pixels& pixels, const EncodeOptions& options, const std::string& where) {
  return Writer(where).encode(pixels, options.compression);
}

constexpr std::string_view kExtensions[] = {"png"};
constexpr Dtype kDtypes[] = {Dtype::uint8, Dtype::uint16};
constexpr Encoder kEncoder{encode_png, kDtypes, true, kMaxSide};

}  // namespace

constinit const Codec png_codec{"PNG", kExtensions, [](Bytes bytes) { return starts_with(bytes, "\x89PNG\r\n\x1a\n"); },
                                open_as<PngDecoder>, &kEncoder};

}  // namespace iruka::image
