// An nvJPEG in software for Python's tests: libjpeg decodes, and the driver in software copies the pixels in the order
// of the stream. As the real one it refuses what the engine has no means for, and a batch with a damaged picture fails
// as a whole. FAKE_NVJPEG=kernels is a GPU without the engine, and FAKE_NVJPEG=none one on which it does not start.
#include <dlfcn.h>

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

// clang-format off: jpeglib.h needs what cstdio declares
#include <cstdio>
#include <jpeglib.h>
// clang-format on

namespace {

enum : int { kSuccess = 0, kBadJpeg = 3, kNotSupported = 4, kArchMismatch = 7, kInternalError = 8 };
enum : int { kHardware = 3, kLuma = 2, kRgb = 5, kBgr = 6 };

struct Handle {
  bool is_engine;
};
struct State {
  int pictures = 0, format = 0;
  std::atomic<bool> is_busy{false};
};
struct Bitstream {
  bool is_refused = true;
};
struct Image {
  unsigned char* planes[4];
  size_t row_bytes[4];
};

std::mutex mutex;
std::string notes;

void note(const std::string& text) {
  const std::lock_guard lock(mutex);
  notes += text + "\n";
}

struct ErrorManager : jpeg_error_mgr {
  std::jmp_buf jump;
};

/// Calls `use` with a decompressor that has read the header.
template <class Use>
bool with_header(const unsigned char* bytes, size_t length, Use use) {
  jpeg_decompress_struct info{};
  ErrorManager error;
  info.err = jpeg_std_error(&error);
  error.error_exit = [](j_common_ptr common) { std::longjmp(static_cast<ErrorManager*>(common->err)->jump, 1); };
  error.emit_message = [](j_common_ptr common, int level) {
    if (level < 0) common->err->error_exit(common);
  };
  bool is_good = false;
  if (setjmp(error.jump) == 0) {
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, static_cast<unsigned long>(length));
    jpeg_read_header(&info, TRUE);
    use(info);
    is_good = true;
  }
  jpeg_destroy_decompress(&info);
  return is_good;
}

bool decode(const unsigned char* bytes, size_t length, int format, std::vector<unsigned char>& to) {
  return with_header(bytes, length, [&](jpeg_decompress_struct& info) {
    info.out_color_space = format == kLuma ? JCS_GRAYSCALE : format == kRgb ? JCS_RGB : JCS_EXT_BGR;
    jpeg_start_decompress(&info);
    const size_t line = size_t{info.output_width} * (format == kLuma ? 1 : 3);
    to.resize(line * info.output_height);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = to.data() + info.output_scanline * line;
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
  });
}

int copy(const std::vector<unsigned char>& decoded, const Image& image, void* stream) {
  using Copy = int (*)(void*, const void*, size_t, void*);
  static const auto copy_async =
      reinterpret_cast<Copy>(dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuMemcpyAsync"));
  return copy_async(image.planes[0], decoded.data(), decoded.size(), stream) ? kInternalError : kSuccess;
}

/// A state that another thread uses at the same time is a misuse.
class Busy {
 public:
  explicit Busy(State& state) : state_(state) {
    if (state_.is_busy.exchange(true)) note("misuse: two threads use a state");
  }
  ~Busy() { state_.is_busy = false; }

 private:
  State& state_;
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvjpegCreateEx(int backend, void*, void*, unsigned flags, void** handle) {
  const char* const kind = std::getenv("FAKE_NVJPEG");
  const std::string wanted = kind ? kind : "engine";
  if (wanted == "none" || (wanted == "kernels" && backend == kHardware)) return kArchMismatch;
  *handle = new Handle{backend == kHardware};
  note("create " + std::to_string(backend) + " " + std::to_string(flags));
  return kSuccess;
}
int nvjpegJpegStateCreate(void*, void** state) {
  *state = new State;
  return kSuccess;
}
int nvjpegJpegStateDestroy(void* state) {
  delete static_cast<State*>(state);
  return kSuccess;
}
int nvjpegJpegStreamDestroy(void* bitstream) {
  delete static_cast<Bitstream*>(bitstream);
  return kSuccess;
}
int nvjpegJpegStreamCreate(void*, void** bitstream) {
  *bitstream = new Bitstream;
  return kSuccess;
}
int nvjpegJpegStreamParseHeader(void*, const unsigned char* bytes, size_t length, void* bitstream) {
  auto* const parsed = static_cast<Bitstream*>(bitstream);
  const bool is_good = with_header(bytes, length, [&](jpeg_decompress_struct& info) {
    parsed->is_refused = info.progressive_mode || info.arith_code || info.data_precision != 8 ||
                         (info.num_components != 1 && info.num_components != 3) || info.comp_info[0].h_samp_factor > 2;
  });
  return is_good ? kSuccess : kBadJpeg;
}
int nvjpegDecodeBatchedSupported(void*, void* bitstream, int* is_refused) {
  *is_refused = static_cast<Bitstream*>(bitstream)->is_refused;
  return kSuccess;
}
int nvjpegDecodeBatchedInitialize(void*, void* state, int pictures, int, int format) {
  static_cast<State*>(state)->pictures = pictures;
  static_cast<State*>(state)->format = format;
  return kSuccess;
}
int nvjpegDecodeBatched(void* handle, void* state, const unsigned char* const* bytes, const size_t* lengths,
                        Image* images, void* stream) {
  State& used = *static_cast<State*>(state);
  const Busy busy(used);
  note("batch " + std::to_string(used.pictures) + " " + std::to_string(used.format));
  if (!static_cast<Handle*>(handle)->is_engine) return kNotSupported;
  std::vector<std::vector<unsigned char>> decoded(static_cast<size_t>(used.pictures));
  for (size_t k = 0; k < decoded.size(); ++k) {
    if (!decode(bytes[k], lengths[k], used.format, decoded[k])) return kBadJpeg;
  }
  for (size_t k = 0; k < decoded.size(); ++k) {
    if (const int status = copy(decoded[k], images[k], stream)) return status;
  }
  return kSuccess;
}
int nvjpegDecode(void*, void* state, const unsigned char* bytes, size_t length, int format, Image* image,
                 void* stream) {
  const Busy busy(*static_cast<State*>(state));
  note("picture " + std::to_string(format));
  std::vector<unsigned char> decoded;
  return decode(bytes, length, format, decoded) ? copy(decoded, *image, stream) : int{kBadJpeg};
}

const char* fake_nvjpeg_notes() {
  const std::lock_guard lock(mutex);
  return notes.c_str();
}

}  // extern "C"
