// PNG over libpng. As with libjpeg, an error jumps back to `guarded`, and no frame in between owns anything.
#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "image/codec.h"
#include "iruka/device.h"

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

Array to_gray(const Array& rgb) {
  int64_t height = rgb.shape(0), width = rgb.shape(1);
  Array gray = new_picture(height, width, 1, Dtype::uint8);
  auto* from = static_cast<const uint8_t*>(rgb.data());
  auto* to = static_cast<uint8_t*>(gray.data());
  for (int64_t i = 0; i < height * width; ++i, from += 3) to[i] = luma(from[0], from[1], from[2]);
  return gray;
}

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, const std::string& where) : bytes_(bytes), where_(where) {}
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Array decode(const DecodeOptions& options) {
    read_header();
    check_size(where_, "PNG", width_, height_, options.max_pixels);
    check_plausible();
    bool colored = color_type_ & PNG_COLOR_MASK_COLOR;
    bool convert_to_gray = options.mode == ColorMode::gray && colored;
    choose_transforms(convert_to_gray ? ColorMode::rgb : options.mode);
    int channels = png_get_channels(png_, info_);
    Dtype dtype = png_get_bit_depth(png_, info_) == 16 ? Dtype::uint16 : Dtype::uint8;
    Array picture = new_picture(height_, width_, channels, dtype);
    read_rows(static_cast<uint8_t*>(picture.data()), picture.nbytes() / height_);
    if (convert_to_gray) picture = to_gray(picture);
    return options.apply_orientation ? upright(picture, orientation()) : picture;
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
        auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
        reader.take(to, count);
      });
      png_set_user_limits(png_, kMaxSide, kMaxSide);
      png_set_chunk_malloc_max(png_, bytes_.size());  // no chunk is longer than the file
      png_set_chunk_cache_max(png_, 128);
      png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
      skip_unused_chunks();
      png_read_info(png_, info_);
      width_ = png_get_image_width(png_, info_);
      height_ = png_get_image_height(png_, info_);
      color_type_ = png_get_color_type(png_, info_);
      bit_depth_ = png_get_bit_depth(png_, info_);
    });
  }

  /// Texts, colour profiles and their compressed forms are never unpacked.
  void skip_unused_chunks() {
    static constexpr png_byte kUnused[] =
        "bKGD\0cHRM\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0sBIT\0sCAL\0sPLT\0sRGB\0"
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

  /// Refuses a file that is too short for the pixels of its header, before memory is allocated.
  void check_plausible() {
    uint64_t raw = static_cast<uint64_t>(png_get_rowbytes(png_, info_)) * static_cast<uint64_t>(height_);
    if (raw / kMaxExpansion <= bytes_.size()) return;
    throw ValueError(where_ + ": truncated PNG: " + std::to_string(bytes_.size()) + " bytes cannot hold the " +
                     std::to_string(width_) + " x " + std::to_string(height_) + " pixels that the header promises");
  }

  /// Sets libpng's conversions of samples; png_get_channels and png_get_bit_depth return the resulting format.
  void choose_transforms(ColorMode mode) {
    run([=, this] {
      bool has_alpha = (color_type_ & PNG_COLOR_MASK_ALPHA) || png_get_valid(png_, info_, PNG_INFO_tRNS);
      bool colored = color_type_ & PNG_COLOR_MASK_COLOR;
      png_set_expand(png_);
      if (bit_depth_ == 16) {
        if (mode != ColorMode::unchanged)
          png_set_scale_16(png_);
        else if (std::endian::native == std::endian::little)
          png_set_swap(png_);
      }
      if ((mode == ColorMode::rgb || mode == ColorMode::rgba) && !colored) png_set_gray_to_rgb(png_);
      if ((mode == ColorMode::rgb || mode == ColorMode::gray) && has_alpha) png_set_strip_alpha(png_);
      if (mode == ColorMode::rgba && !has_alpha) png_set_add_alpha(png_, 255, PNG_FILLER_AFTER);
      passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
  }

  void read_rows(uint8_t* pixels, int64_t row_bytes) {
    run([=, this] {
      for (int pass = 0; pass < passes_; ++pass) {
        for (row_ = 0; row_ < height_; ++row_) png_read_row(png_, pixels + row_ * row_bytes, nullptr);
      }
      png_read_end(png_, info_);
    });
  }

  int orientation() {
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 count = 0;
    png_bytep exif = nullptr;
    bool found = false;
    run([&, this] { found = png_get_eXIf_1(png_, info_, &count, &exif) & PNG_INFO_eXIf; });
    if (found) return exif_orientation({exif, count});
#endif
    return 1;
  }

  [[noreturn]] void raise() const {
    std::string place = "in the header";
    if (row_ >= height_)
      place = "after the last row";
    else if (row_ >= 0)
      place = "in row " + std::to_string(row_) + " of " + std::to_string(height_);
    std::string total = std::to_string(bytes_.size());
    if (truncated_) throw ValueError(where_ + ": truncated PNG: its " + total + " bytes end " + place);
    throw ValueError(where_ + ": damaged PNG near byte " + std::to_string(position_) + " of " + total + ", " + place +
                     ": " + error_.message);
  }

  std::span<const uint8_t> bytes_;
  const std::string& where_;
  size_t position_ = 0;
  bool truncated_ = false;
  ErrorState error_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int64_t width_ = 0, height_ = 0;
  int64_t row_ = -1;  ///< the row being read; -1 in the header
  int color_type_ = 0, bit_depth_ = 0, passes_ = 1;
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
                   8 * pixels.sample_bytes, kColorTypes[pixels.channels - 1], PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (pixels.sample_bytes == 2 && std::endian::native == std::endian::little) png_set_swap(png_);
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

}  // namespace

Array decode_png(std::span<const uint8_t> bytes, const DecodeOptions& options, const std::string& where) {
  return Reader(bytes, where).decode(options);
}

std::vector<uint8_t> encode_png(const Pixels& pixels, int compression, const std::string& where) {
  return Writer(where).encode(pixels, compression);
}

}  // namespace iruka::image
