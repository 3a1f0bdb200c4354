// JPEG over libjpeg-turbo. libjpeg reports errors by a call that must not return; here that call jumps back to
// `guarded`, and no frame in between owns anything.
#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <type_traits>

// clang-format off: jpeglib.h needs what cstdio declares, jerror.h what jpeglib.h does
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "image/codec.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

/// A progressive file can demand a pass over the whole picture with every few bytes; no real encoder makes so many.
constexpr int kMaxScans = 256;

struct ErrorManager : jpeg_error_mgr {
  std::jmp_buf jump;
  enum class What : uint8_t { library, truncated, too_many_scans } what = What::library;
  char message[JMSG_LENGTH_MAX] = "";
};

ErrorManager& manager(void* info) { return *static_cast<ErrorManager*>(static_cast<jpeg_common_struct*>(info)->err); }

[[noreturn]] void jump_back(void* info, ErrorManager::What what) {
  manager(info).what = what;
  std::longjmp(manager(info).jump, 1);
}

[[noreturn]] void on_error(j_common_ptr info) {
  info->err->format_message(info, manager(info).message);
  jump_back(info, ErrorManager::What::library);
}

/// These warnings are errors here, because libjpeg leaves part of the picture grey. Its other warnings lose no pixel.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC: on_error(info);
    default: return;
  }
}

void use_error_manager(ErrorManager& error) {
  jpeg_std_error(&error);
  error.error_exit = on_error;
  error.emit_message = on_message;
  error.output_message = [](j_common_ptr) {};
}

/// Runs `step`; false when libjpeg's error handler has jumped out of it. It must own nothing, because destructors do
/// not run.
template <class Step>
bool guarded(ErrorManager& error, Step step) {
  static_assert(std::is_trivially_destructible_v<Step>);
  if (setjmp(error.jump) != 0) return false;
  step();
  return true;
}

[[noreturn]] void raise_library_error(const ErrorManager& error, const std::string& message) {
  if (error.msg_code == JERR_OUT_OF_MEMORY) throw OutOfMemoryError(message);
  throw ValueError(message);
}

/// JPEG's colours as libjpeg makes them from the file's.
J_COLOR_SPACE color_space(Color color) {
  switch (color) {
    case Color::gray: return JCS_GRAYSCALE;
    case Color::bgr: return JCS_EXT_BGR;
    case Color::rgba: return JCS_EXT_RGBA;
    case Color::ycbcr: return JCS_YCbCr;
    case Color::cmyk:
    case Color::cmyk_light: return JCS_CMYK;
    default: return JCS_RGB;
  }
}

class JpegDecoder final : public Decoder {
 public:
  JpegDecoder(Bytes bytes, const std::string& where) : Decoder(jpeg_codec, bytes, where) {
    use_error_manager(error_);
    info_.err = &error_;
    try {
      read_header();
    } catch (...) {
      jpeg_destroy_decompress(&info_);
      throw;
    }
    const Color color = info_.jpeg_color_space == JCS_GRAYSCALE ? Color::gray : Color::rgb;
    header_ = {info_.image_height, info_.image_width, {color, Dtype::uint8}, orientation()};
  }
  ~JpegDecoder() override { jpeg_destroy_decompress(&info_); }

  /// Huffman coding spends at least one bit on a block, so that a short file with a large picture in its header is
  /// refused before memory is allocated.
  void check_plausible() const override {
    if (info_.arith_code) return;
    uint64_t blocks = 0;
    for (int c = 0; c < info_.num_components; ++c) {
      blocks += static_cast<uint64_t>(info_.comp_info[c].width_in_blocks) * info_.comp_info[c].height_in_blocks;
    }
    check_bytes(blocks / 8);
  }

  PixelFormat row_format(PixelFormat wanted) const override {
    const J_COLOR_SPACE stored = info_.jpeg_color_space;
    Color color = wanted.color;
    if (stored == JCS_CMYK || stored == JCS_YCCK) {
      color = info_.saw_Adobe_marker ? Color::cmyk_light : Color::cmyk;
    } else if (color == Color::ycbcr && stored != JCS_YCbCr) {
      color = header_.format.color;
    }
    return {color, Dtype::uint8};
  }

  bool can_divide(int64_t) const override { return true; }
  bool has_rows_in_order() const override { return true; }

  DeviceForm device_form() const override {
    const bool is_known = info_.jpeg_color_space == JCS_GRAYSCALE || info_.jpeg_color_space == JCS_YCbCr;
    if (!is_known || info_.data_precision != 8 || info_.arith_code || !has_end()) return DeviceForm::none;
    const bool has_one_scan = !info_.progressive_mode && info_.comps_in_scan == info_.num_components;
    return has_one_scan ? DeviceForm::one_scan : DeviceForm::many_scans;
  }

  /// Rows and columns far from the window are not computed. Those near it are, because the interpolation of chroma
  /// needs its neighbours.
  void decode(RowTarget& rows) override {
    const Region& window = rows.window();
    const int64_t margin = 2 * info_.max_h_samp_factor * DCTSIZE, margin_y = 2 * info_.max_v_samp_factor * DCTSIZE;
    info_.out_color_space = color_space(rows.source().color);
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(rows.divisor());
    run([&, this] {
      jpeg_start_decompress(&info_);
      const int64_t width = info_.output_width, end = window.y + window.height;
      if (window.width + 2 * margin < width) {
        auto first = static_cast<JDIMENSION>(std::max<int64_t>(window.x - margin, 0));
        auto count = static_cast<JDIMENSION>(std::min(window.x + window.width + margin, width) - first);
        jpeg_crop_scanline(&info_, &first, &count);
        rows.set_columns(first, count);
      }
      if (window.y > margin_y) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(window.y - margin_y));
      while (info_.output_scanline < end) {
        const int64_t y = info_.output_scanline;
        JSAMPROW row = rows.begin(y);
        jpeg_read_scanlines(&info_, &row, 1);
        rows.end(y);
      }
      if (end == info_.output_height) jpeg_finish_decompress(&info_);
    });
  }

 private:
  template <class Step>
  void run(Step step) {
    if (!guarded(error_, step)) raise();
  }

  void read_header() {
    run([this] {
      jpeg_create_decompress(&info_);
      connect_source();
      jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
      jpeg_read_header(&info_, TRUE);
    });
  }

  void connect_source() {
    source_.next_input_byte = bytes_.data();
    source_.bytes_in_buffer = bytes_.size();
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.fill_input_buffer = [](j_decompress_ptr info) -> boolean {
      jump_back(info, ErrorManager::What::truncated);
    };
    source_.skip_input_data = [](j_decompress_ptr info, long count) {
      if (count <= 0) return;
      jpeg_source_mgr& source = *info->src;
      if (static_cast<size_t>(count) > source.bytes_in_buffer) jump_back(info, ErrorManager::What::truncated);
      source.next_input_byte += count;
      source.bytes_in_buffer -= static_cast<size_t>(count);
    };
    info_.src = &source_;
    progress_.progress_monitor = [](j_common_ptr info) {
      if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) {
        jump_back(info, ErrorManager::What::too_many_scans);
      }
    };
    info_.progress = &progress_;
  }

  /// Whether markers follow one another from the first scan to the end of the picture. Devices do not report data that
  /// is missing, so that files cut short are left to libjpeg.
  bool has_end() const {
    const uint8_t* at = source_.next_input_byte;
    const uint8_t* const end = at + source_.bytes_in_buffer;
    while (at + 1 < end) {
      at = static_cast<const uint8_t*>(std::memchr(at, 0xFF, static_cast<size_t>(end - at - 1)));
      if (!at) return false;
      const uint8_t marker = at[1];
      if (marker == 0xD9) return true;  // EOI
      if (marker == 0xFF) {             // filling
        ++at;
        continue;
      }
      at += 2;
      const bool is_data = marker == 0 || (marker >= 0xD0 && marker <= 0xD7);  // a stuffed byte, RST
      if (is_data) continue;
      const std::ptrdiff_t length = end - at < 2 ? end - at + 1 : at[0] << 8 | at[1];
      if (length > end - at) return false;
      at += length;
    }
    return false;
  }

  /// Reads the markers that libjpeg saved with the header; it frees them at the end of the picture.
  int orientation() const {
    static constexpr char kExif[6] = {'E', 'x', 'i', 'f', 0, 0};
    for (jpeg_saved_marker_ptr marker = info_.marker_list; marker; marker = marker->next) {
      if (marker->data_length < sizeof(kExif) || std::memcmp(marker->data, kExif, sizeof(kExif)) != 0) continue;
      return exif_orientation({marker->data + sizeof(kExif), marker->data_length - sizeof(kExif)});
    }
    return 1;
  }

  std::string place() const {
    if (info_.output_height == 0) return "in the header";
    return "in row " + std::to_string(info_.output_scanline) + " of " + std::to_string(info_.output_height);
  }

  [[noreturn]] void raise() const {
    std::string total = size_text();
    switch (error_.what) {
      case ErrorManager::What::truncated:
        throw ValueError(where_ + ": truncated JPEG: its " + total + " bytes end " + place());
      case ErrorManager::What::too_many_scans:
        throw ValueError(where_ + ": this JPEG has more than " + std::to_string(kMaxScans) + " scans");
      case ErrorManager::What::library: break;
    }
    size_t at = info_.src ? bytes_.size() - source_.bytes_in_buffer : 0;
    raise_library_error(error_, where_ + ": damaged or unsupported JPEG near byte " + std::to_string(at) + " of " +
                                    total + ", " + place() + ": " + error_.message);
  }

  ErrorManager error_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

class Writer {
 public:
  explicit Writer(const std::string& where) : where_(where) {
    use_error_manager(error_);
    info_.err = &error_;
    destination_.writer = this;
    destination_.init_destination = [](j_compress_ptr info) { of(info).grow(); };
    destination_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
      of(info).grow();
      return TRUE;
    };
    destination_.term_destination = [](j_compress_ptr) {};
  }
  ~Writer() { jpeg_destroy_compress(&info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  std::vector<uint8_t> encode(const Pixels& pixels, int quality) {
    run([=, this] {
      jpeg_create_compress(&info_);
      info_.dest = &destination_;
      info_.image_width = static_cast<JDIMENSION>(pixels.width);
      info_.image_height = static_cast<JDIMENSION>(pixels.height);
      info_.input_components = pixels.channels;
      info_.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_set_defaults(&info_);
      jpeg_set_quality(&info_, quality, TRUE);
      jpeg_start_compress(&info_, TRUE);
      while (info_.next_scanline < info_.image_height) {
        auto row = const_cast<JSAMPROW>(pixels.data + info_.next_scanline * pixels.row_bytes());
        jpeg_write_scanlines(&info_, &row, 1);
      }
      jpeg_finish_compress(&info_);
    });
    output_.resize(output_.size() - destination_.free_in_buffer);
    return std::move(output_);
  }

 private:
  struct Destination : jpeg_destination_mgr {
    Writer* writer;
  };
  static Writer& of(j_compress_ptr info) { return *static_cast<Destination*>(info->dest)->writer; }

  /// Called when the buffer is full or missing. The exception must be handled before the jump over libjpeg's frames.
  void grow() {
    size_t used = output_.size();
    bool grown = true;
    try {
      output_.resize(std::max<size_t>(2 * used, size_t{1} << 16));
    } catch (const std::bad_alloc&) {
      grown = false;
    }
    if (!grown) ERREXIT1(&info_, JERR_OUT_OF_MEMORY, 0);
    destination_.next_output_byte = output_.data() + used;
    destination_.free_in_buffer = output_.size() - used;
  }

  template <class Step>
  void run(Step step) {
    if (!guarded(error_, step)) raise_library_error(error_, where_ + ": cannot write this JPEG: " + error_.message);
  }

  const std::string& where_;
  ErrorManager error_{};
  Destination destination_{};
  jpeg_compress_struct info_{};
  std::vector<uint8_t> output_;
};

std::vector<uint8_t> encode_jpeg(const Pixels& pixels, const EncodeOptions& options, const std::string& where) {
  return Writer(where).encode(pixels, options.quality);
}

constexpr std::string_view kExtensions[] = {"jpeg", "jpg", "jpe", "jfif"};
constexpr Dtype kDtypes[] = {Dtype::uint8};
constexpr Encoder kEncoder{encode_jpeg, kDtypes, false, JPEG_MAX_DIMENSION};

}  // namespace

constinit const Codec jpeg_codec{"JPEG", kExtensions, [](Bytes bytes) { return starts_with(bytes, "\xff\xd8\xff"); },
                                 open_as<JpegDecoder>, &kEncoder};

}  // namespace iruka::image
