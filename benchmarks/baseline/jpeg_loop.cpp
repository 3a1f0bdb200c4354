// The shortest loop that decodes a JPEG to RGB with libjpeg; benchmarks/codecs.py compiles it.
// clang-format off: jpeglib.h needs what cstdio declares
#include <cstdio>
#include <jpeglib.h>
// clang-format on

extern "C" void decode(const unsigned char* data, unsigned long size, unsigned char* out) {
  jpeg_decompress_struct info;
  jpeg_error_mgr error;
  info.err = jpeg_std_error(&error);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, data, size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    unsigned char* row = out + static_cast<size_t>(info.output_scanline) * info.output_width * 3;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}
