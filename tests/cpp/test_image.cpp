// Pictures: every kind of PNG against files built from the specification, JPEG against Pillow's pixels, hostile files
// and the errors. Encoders and files: test_image_files.cpp.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "error_of.h"
#include "image_testing.h"
#include "iruka/device.h"
#include "iruka/image.h"
#include "png_builder.h"

namespace {

using image_testing::Bytes;
using iruka::Array;
using iruka::Dims;
using iruka::Dtype;
using iruka::image::ColorMode;
using iruka::image::DecodeOptions;
using iruka::image::imdecode;
using iruka::test::error_of;
using png_builder::Png;

constexpr ColorMode kModes[] = {ColorMode::rgb, ColorMode::gray, ColorMode::rgba, ColorMode::unchanged};

// One pixel by the specification, at 16 bits per sample for any depth of the file.
struct Pixel {
  int red, green, blue, alpha;
};

int scale_to_16(int sample, int depth) { return sample * (65535 / ((1 << depth) - 1)); }
int scale_to_8(int sample) { return (sample * 255 + 32767) / 65535; }

Pixel specified_pixel(const Png& png, size_t index) {
  int channels = png.channels();
  const uint16_t* s = &png.samples[index * static_cast<size_t>(channels)];
  auto wide = [&](int k) { return scale_to_16(s[k], png.depth); };
  auto key = [&](int k) { return png.transparency[2 * k] << 8 | png.transparency[2 * k + 1]; };
  bool has_key = !png.transparency.empty();
  switch (png.color_type) {
    case 0: return {wide(0), wide(0), wide(0), has_key && s[0] == key(0) ? 0 : 65535};
    case 2: {
      bool transparent = has_key && s[0] == key(0) && s[1] == key(1) && s[2] == key(2);
      return {wide(0), wide(1), wide(2), transparent ? 0 : 65535};
    }
    case 3: {
      const uint8_t* entry = &png.palette[3 * size_t{s[0]}];
      int alpha = s[0] < png.transparency.size() ? png.transparency[s[0]] : 255;
      return {entry[0] * 257, entry[1] * 257, entry[2] * 257, alpha * 257};
    }
    case 4: return {wide(0), wide(0), wide(0), wide(1)};
    default: return {wide(0), wide(1), wide(2), wide(3)};
  }
}

/// The samples that `mode` must give, as 16-bit numbers when the array is uint16 and else as 8-bit ones.
std::vector<int> specified(const Png& png, ColorMode mode, int& channels) {
  bool colored = png.color_type & 2;
  bool alpha = (png.color_type & 4) || !png.transparency.empty();
  bool wide = mode == ColorMode::unchanged && png.depth == 16;
  if (mode == ColorMode::unchanged)
    channels = (colored ? 3 : 1) + alpha;
  else
    channels = mode == ColorMode::gray ? 1 : mode == ColorMode::rgb ? 3 : 4;
  std::vector<int> values;
  for (size_t i = 0; i < size_t{png.width} * png.height; ++i) {
    Pixel p = specified_pixel(png, i);
    if (!wide) p = {scale_to_8(p.red), scale_to_8(p.green), scale_to_8(p.blue), scale_to_8(p.alpha)};
    if (channels >= 3)
      values.insert(values.end(), {p.red, p.green, p.blue});
    else if (colored)
      values.push_back(static_cast<int>(0.299 * p.red + 0.587 * p.green + 0.114 * p.blue + 0.5));
    else
      values.push_back(p.red);
    if (channels == 2 || channels == 4) values.push_back(p.alpha);
  }
  return values;
}

/// All kinds of PNG there are: colour types, depths, with and without tRNS, interlaced or not.
std::vector<Png> all_kinds(uint32_t width, uint32_t height) {
  std::vector<Png> kinds;
  std::mt19937 random(5);
  const std::vector<std::pair<int, std::vector<int>>> depths = {
      {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}};
  for (auto& [type, list] : depths) {
    for (int depth : list) {
      for (int variant = 0; variant < 4; ++variant) {
        Png png{.width = width, .height = height, .color_type = type, .depth = depth, .interlaced = variant % 2 == 1};
        for (size_t i = 0; i < size_t{width} * height * static_cast<size_t>(png.channels()); ++i) {
          png.samples.push_back(static_cast<uint16_t>(random() & ((1u << depth) - 1)));
        }
        bool transparent = variant >= 2;
        if (transparent && (type & 4)) continue;
        if (type == 3) {
          for (int i = 0; i < 3 << depth; ++i) png.palette.push_back(static_cast<uint8_t>(random()));
          if (transparent) png.transparency = {0, 77};
        } else if (transparent) {
          for (int c = 0; c < png.channels(); ++c) {
            uint16_t sample = png.samples[static_cast<size_t>(c)];  // the first pixel is the transparent one
            png.transparency.push_back(static_cast<uint8_t>(sample >> 8));
            png.transparency.push_back(static_cast<uint8_t>(sample));
          }
        }
        kinds.push_back(std::move(png));
      }
    }
  }
  return kinds;
}

std::string describe(const Png& png, ColorMode mode) {
  return "type " + std::to_string(png.color_type) + " depth " + std::to_string(png.depth) +
         (png.interlaced ? " interlaced" : "") + (png.transparency.empty() ? "" : " tRNS") + " mode " +
         std::to_string(static_cast<int>(mode));
}

TEST(Png, EveryKindDecodesAsSpecified) {
  for (auto [width, height] : {std::pair{13u, 11u}, {1u, 1u}, {3u, 20u}}) {
    for (const Png& png : all_kinds(width, height)) {
      Bytes file = png.file();
      for (ColorMode mode : kModes) {
        SCOPED_TRACE(describe(png, mode));
        int channels = 0;
        std::vector<int> want = specified(png, mode, channels);
        Array got = imdecode(file, {.mode = mode});
        Dims shape = channels == 1 ? Dims{height, width} : Dims{height, width, channels};
        ASSERT_EQ(got.shape(), shape);
        bool wide = mode == ColorMode::unchanged && png.depth == 16;
        ASSERT_EQ(got.dtype(), wide ? Dtype::uint16 : Dtype::uint8);
        int tolerance = mode == ColorMode::gray && (png.color_type & 2) ? 1 : 0;  // fixed-point luma
        std::vector<int> values = image_testing::samples(got);
        ASSERT_EQ(values.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(values[i], want[i], tolerance) << "sample " << i;
      }
    }
  }
}

TEST(Png, OpaqueFilesGetFullAlphaAndTransparentOnesLoseIt) {
  Png png{.width = 1, .height = 1, .color_type = 2, .samples = {10, 20, 30}};
  Array rgba = imdecode(png.file(), {.mode = ColorMode::rgba});
  EXPECT_EQ(image_testing::samples(rgba), (std::vector<int>{10, 20, 30, 255}));
  png = {.width = 1, .height = 1, .color_type = 6, .samples = {10, 20, 30, 0}};
  EXPECT_EQ(image_testing::samples(imdecode(png.file())), (std::vector<int>{10, 20, 30}));
}

TEST(Jpeg, PixelsAgreeWithPillow) {
  for (const auto& reference : image_testing::jpeg_references()) {
    SCOPED_TRACE(reference.name);
    Array rgb = imdecode(reference.file), gray = imdecode(reference.file, {.mode = ColorMode::gray});
    ASSERT_EQ(rgb.shape(), (Dims{18, 25, 3}));
    ASSERT_EQ(gray.shape(), (Dims{18, 25}));
    std::vector<int> got_rgb = image_testing::samples(rgb), got_gray = image_testing::samples(gray);
    for (size_t i = 0; i < got_rgb.size(); ++i) ASSERT_NEAR(got_rgb[i], reference.rgb[i], 1) << "sample " << i;
    for (size_t i = 0; i < got_gray.size(); ++i) ASSERT_NEAR(got_gray[i], reference.gray[i], 1) << "pixel " << i;
    Array rgba = imdecode(reference.file, {.mode = ColorMode::rgba});
    ASSERT_EQ(rgba.shape(), (Dims{18, 25, 4}));
    std::vector<int> got_rgba = image_testing::samples(rgba);
    for (size_t i = 0; i < got_rgb.size(); ++i) ASSERT_EQ(got_rgba[i / 3 * 4 + i % 3], got_rgb[i]);
    for (size_t i = 3; i < got_rgba.size(); i += 4) ASSERT_EQ(got_rgba[i], 255);
    Array unchanged = imdecode(reference.file, {.mode = ColorMode::unchanged});
    EXPECT_EQ(unchanged.ndim(), reference.name == "gray" ? 2 : 3);
  }
}

TEST(Jpeg, InkIsReadWithAndWithoutAdobesMarker) {
  // One colour: cyan 200, magenta 100, yellow 0, black 51 of 255 is (44, 124, 204).
  const int want[] = {44, 124, 204};
  for (bool adobe : {false, true}) {
    for (bool ycck : {false, true}) {
      if (ycck && !adobe) continue;  // only Adobe's marker identifies YCCK
      SCOPED_TRACE(std::string(adobe ? "Adobe " : "plain ") + (ycck ? "YCCK" : "CMYK"));
      std::array<uint8_t, 4> ink = {200, 100, 0, 51};
      if (adobe)
        for (uint8_t& sample : ink) sample = static_cast<uint8_t>(255 - sample);
      Bytes file = image_testing::cmyk_jpeg(16, 16, ink, ycck, adobe);
      std::vector<int> rgb = image_testing::samples(imdecode(file));
      ASSERT_EQ(rgb.size(), 16u * 16 * 3);
      for (size_t i = 0; i < rgb.size(); ++i) ASSERT_NEAR(rgb[i], want[i % 3], 2);
      std::vector<int> gray = image_testing::samples(imdecode(file, {.mode = ColorMode::gray}));
      for (int value : gray) ASSERT_NEAR(value, 0.299 * 44 + 0.587 * 124 + 0.114 * 204, 2);
      std::vector<int> rgba = image_testing::samples(imdecode(file, {.mode = ColorMode::rgba}));
      ASSERT_EQ(rgba.size(), 16u * 16 * 4);
      EXPECT_EQ(rgba[3], 255);
      EXPECT_EQ(imdecode(file, {.mode = ColorMode::unchanged}).shape(), (Dims{16, 16, 3}));
    }
  }
}

/// The place in the stored image of the upright image's (y, x), from the EXIF specification's table of orientations.
std::pair<int, int> stored_position(int orientation, int y, int x, int stored_height, int stored_width) {
  int bottom = stored_height - 1, right = stored_width - 1;
  switch (orientation) {
    case 2: return {y, right - x};
    case 3: return {bottom - y, right - x};
    case 4: return {bottom - y, x};
    case 5: return {x, y};
    case 6: return {bottom - x, y};
    case 7: return {bottom - x, right - y};
    case 8: return {x, right - y};
    default: return {y, x};
  }
}

TEST(Orientation, EveryTagTurnsThePictureUpright) {
  const int height = 3, width = 5;
  for (ColorMode mode : kModes) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      SCOPED_TRACE("orientation " + std::to_string(orientation) + " mode " + std::to_string(static_cast<int>(mode)));
      Png png{.width = width, .height = height, .color_type = 0};
      for (int i = 0; i < height * width; ++i) png.samples.push_back(static_cast<uint16_t>(10 * i));
      png.exif = image_testing::tiff_orientation(orientation, orientation % 2 == 0);
      Array upright = imdecode(png.file(), {.mode = mode});
      int rows = orientation >= 5 ? width : height, columns = orientation >= 5 ? height : width;
      ASSERT_EQ(upright.shape(0), rows);
      ASSERT_EQ(upright.shape(1), columns);
      ASSERT_TRUE(upright.is_c_contiguous());
      std::vector<int> values = image_testing::samples(upright);
      size_t channels = values.size() / static_cast<size_t>(rows * columns);
      for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
          auto [sy, sx] = stored_position(orientation, y, x, height, width);
          ASSERT_EQ(values[static_cast<size_t>(y * columns + x) * channels], 10 * (sy * width + sx));
        }
      }
      Array stored = imdecode(png.file(), {.mode = mode, .apply_orientation = false});
      EXPECT_EQ(stored.shape(0), height);
    }
  }
}

TEST(Orientation, JpegTagsAreReadInBothByteOrdersAndDamagedOnesIgnored) {
  Bytes plain = image_testing::jpeg_references()[1].file;
  for (bool big_endian : {false, true}) {
    Bytes turned = image_testing::with_exif(plain, image_testing::tiff_orientation(6, big_endian));
    EXPECT_EQ(imdecode(turned).shape(), (Dims{25, 18, 3}));
    EXPECT_EQ(imdecode(turned, {.apply_orientation = false}).shape(), (Dims{18, 25, 3}));
  }
  Bytes tiff = image_testing::tiff_orientation(6, false);
  for (size_t size = 0; size <= tiff.size(); ++size) {  // a block cut short never reads outside itself
    Bytes cut(tiff.begin(), tiff.begin() + static_cast<ptrdiff_t>(size));
    Array picture = imdecode(image_testing::with_exif(plain, cut));
    EXPECT_TRUE(picture.shape(0) == 18 || picture.shape(0) == 25);
  }
  for (int value : {0, 9, 60000}) {
    Bytes odd = image_testing::with_exif(plain, image_testing::tiff_orientation(value, true));
    EXPECT_EQ(imdecode(odd).shape(), (Dims{18, 25, 3}));
  }
}

/// Small files of many kinds, each valid.
std::vector<Bytes> small_files() {
  std::vector<Bytes> files;
  for (const auto& reference : image_testing::jpeg_references()) files.push_back(reference.file);
  files.push_back(image_testing::cmyk_jpeg(9, 9, {1, 2, 3, 4}, true, true));
  for (const Png& png : all_kinds(5, 4)) files.push_back(png.file());
  return files;
}

TEST(Hostile, AFileCutAnywhereIsAnError) {
  for (const Bytes& file : small_files()) {
    size_t used = iruka::memory_statistics().used_bytes;
    for (size_t size = 0; size < file.size(); ++size) {
      Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
      try {
        imdecode(cut);
        FAIL() << "cut to " << size << " of " << file.size() << " bytes";
      } catch (const iruka::ValueError& error) {
        ASSERT_TRUE(std::string(error.what()).starts_with("imdecode: ")) << error.what();
      }
    }
    EXPECT_EQ(iruka::memory_statistics().used_bytes, used);
  }
}

TEST(Hostile, TruncationSaysWhatAndWhere) {
  Bytes jpeg = image_testing::jpeg_references()[1].file;
  std::string size = std::to_string(jpeg.size() - 200);
  jpeg.resize(jpeg.size() - 200);
  std::string message = error_of<iruka::ValueError>([&] { imdecode(jpeg); });
  EXPECT_TRUE(message.starts_with("imdecode: truncated JPEG: its " + size + " bytes end in row ")) << message;
  EXPECT_TRUE(message.ends_with(" of 18")) << message;
  jpeg.resize(30);
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imdecode(jpeg); }),
            "imdecode: truncated JPEG: its 30 bytes end in the header");
  Bytes png = Png{.width = 2, .height = 2, .samples = {1, 2, 3, 4}}.file();
  png.resize(png.size() - 12);
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imdecode(png); }),
            "imdecode: truncated PNG: its " + std::to_string(png.size()) + " bytes end after the last row");
}

/// Decodes in every mode; anything but a picture or an iruka::Error fails the test by leaving.
void survive(const Bytes& file) {
  for (ColorMode mode : kModes) {
    try {
      Array picture = imdecode(file, {.mode = mode, .max_pixels = 1 << 20});
      ASSERT_GT(picture.size(), 0);
    } catch (const iruka::ValueError& error) {
      ASSERT_TRUE(std::string(error.what()).starts_with("imdecode: "));
    }
  }
}

TEST(Hostile, FlippedBitsNeverCrashLeakOrPrint) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  std::mt19937 random(2026);
  size_t used = iruka::memory_statistics().used_bytes;
  for (const Bytes& original : small_files()) {
    for (int round = 0; round < 120; ++round) {
      Bytes file = original;
      for (unsigned flips = 1 + random() % 8; flips > 0; --flips) file[random() % file.size()] ^= 1 << random() % 8;
      survive(file);
    }
  }
  EXPECT_EQ(iruka::memory_statistics().used_bytes, used);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Hostile, DamagedChunksWithRightChecksumsNeverCrash) {
  std::mt19937 random(7);
  for (Png png : all_kinds(5, 4)) {
    for (int round = 0; round < 40; ++round) {
      Png damaged = png;
      damaged.raw = png.rows();
      switch (random() % 5) {
        case 0: damaged.raw[random() % damaged.raw.size()] = static_cast<uint8_t>(random()); break;
        case 1: damaged.raw.resize(1 + random() % damaged.raw.size()); break;
        case 2: damaged.raw.resize(damaged.raw.size() + 1 + random() % 5000, 9); break;
        case 3: damaged.palette.resize(random() % 900, 3); break;
        default: damaged.transparency.resize(random() % 300, 1);
      }
      if (random() % 3 == 0) damaged.color_type = static_cast<int>(random() % 8);
      if (random() % 3 == 0) damaged.depth = 1 << random() % 6;
      survive(damaged.file());
    }
  }
}

TEST(Hostile, RandomBytesAreNoPicture) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Bytes bytes(random() % 600);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    EXPECT_THROW(imdecode(bytes), iruka::ValueError);
    Bytes jpeg = {0xff, 0xd8, 0xff}, png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    jpeg.insert(jpeg.end(), bytes.begin(), bytes.end());
    png.insert(png.end(), bytes.begin(), bytes.end());
    EXPECT_THROW(imdecode(jpeg), iruka::ValueError);
    EXPECT_THROW(imdecode(png), iruka::ValueError);
  }
  EXPECT_EQ(error_of<iruka::ValueError>([] { imdecode({}); }),
            "imdecode: no JPEG, PNG, WebP, TIFF, BMP, GIF or PNM (0 bytes)");
}

TEST(Hostile, HugeSizesAreRefusedBeforeMemoryIsTaken) {
  size_t allocations = iruka::memory_statistics().allocations;
  Png png{.width = 0x7fffffff, .height = 0x7fffffff, .color_type = 6, .depth = 16, .raw = {0}};
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imdecode(png.file()); }),
            "imdecode: this PNG holds 2147483647 x 2147483647 pixels, more than max_pixels = 268435456");
  png.width = png.height = 16000;  // allowed by max_pixels, but not by the file's size
  std::string message = error_of<iruka::ValueError>([&] { imdecode(png.file()); });
  EXPECT_NE(message.find("cannot hold the 16000 x 16000 pixels"), std::string::npos) << message;
  Bytes jpeg = image_testing::with_size(image_testing::jpeg_references()[1].file, 65500, 65500);
  EXPECT_NE(error_of<iruka::ValueError>([&] { imdecode(jpeg); }).find("65500 x 65500 pixels, more than max_pixels"),
            std::string::npos);
  jpeg = image_testing::with_size(jpeg, 16000, 16000);
  message = error_of<iruka::ValueError>([&] { imdecode(jpeg); });
  EXPECT_NE(message.find("cannot hold the 16000 x 16000 pixels"), std::string::npos) << message;
  png.width = 0;
  EXPECT_THROW(imdecode(png.file()), iruka::ValueError);
  EXPECT_EQ(iruka::memory_statistics().allocations, allocations);
  Bytes small = Png{.width = 2, .height = 2, .samples = {1, 2, 3, 4}}.file();
  EXPECT_EQ(imdecode(small, {.max_pixels = 4}).shape(), (Dims{2, 2, 3}));
  EXPECT_THROW(imdecode(small, {.max_pixels = 3}), iruka::ValueError);
}

TEST(Hostile, AJpegOfEndlessScansIsStopped) {
  // The first scan of a progressive file again and again: each costs libjpeg a pass over the picture.
  ASSERT_EQ(image_testing::jpeg_references()[4].name, "progressive");
  Bytes file = image_testing::jpeg_references()[4].file;
  size_t start = 0, end = 0;
  while (file[start] != 0xff || file[start + 1] != 0xda) ++start;
  for (end = start + 2; file[end] != 0xff || file[end + 1] == 0;) ++end;
  const Bytes scan(file.begin() + static_cast<ptrdiff_t>(start), file.begin() + static_cast<ptrdiff_t>(end));
  file.resize(end);
  for (int i = 0; i < 2000; ++i) file.insert(file.end(), scan.begin(), scan.end());
  file.insert(file.end(), {0xff, 0xd9});
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imdecode(file); }), "imdecode: this JPEG has more than 256 scans");
}

TEST(Hostile, ManyThreadsDecodeGoodAndBadFilesAtOnce) {
  const std::vector<Bytes> files = small_files();
  std::vector<std::vector<int>> want;
  for (const Bytes& file : files) want.push_back(image_testing::samples(imdecode(file)));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (size_t k = 0; k < files.size(); ++k) {
        const size_t i = (k * 7 + t) % files.size();
        EXPECT_EQ(image_testing::samples(imdecode(files[i])), want[i]);
        Bytes cut(files[i].begin(), files[i].begin() + static_cast<ptrdiff_t>(random() % files[i].size()));
        EXPECT_THROW(imdecode(cut), iruka::ValueError);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
