// The C++ interface of the picture formats: regions, sizes, headers, batches, given arrays, and conversions of pixels
// against the formulas in double precision. Files of other writers: tests/python/test_image_formats.py.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "error_of.h"
#include "image/pixel_format.h"
#include "image_testing.h"
#include "iruka/device.h"
#include "iruka/image.h"
#include "iruka/memory.h"

namespace {

using image_testing::Bytes;
using image_testing::samples;
using iruka::Array;
using iruka::Dims;
using iruka::Dtype;
using iruka::image::BatchItem;
using iruka::image::Color;
using iruka::image::ColorMode;
using iruka::image::imdecode;
using iruka::image::imencode;
using iruka::image::PictureInfo;
using iruka::image::PixelFormat;
using iruka::image::RowConverter;
using iruka::test::error_of;

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// Channels of 0 to 1: red, green, blue, alpha.
struct Light {
  double red, green, blue, alpha = 1;
};

Light light_of(Color color, const std::vector<double>& s) {
  switch (color) {
    case Color::gray: return {s[0], s[0], s[0]};
    case Color::gray_alpha: return {s[0], s[0], s[0], s[1]};
    case Color::rgb: return {s[0], s[1], s[2]};
    case Color::rgba: return {s[0], s[1], s[2], s[3]};
    case Color::cmyk: return {(1 - s[0]) * (1 - s[3]), (1 - s[1]) * (1 - s[3]), (1 - s[2]) * (1 - s[3])};
    default: return {s[0] * s[3], s[1] * s[3], s[2] * s[3]};
  }
}

std::vector<double> samples_of(Color color, const Light& p) {
  const double luma = 0.299 * p.red + 0.587 * p.green + 0.114 * p.blue;
  switch (color) {
    case Color::gray: return {luma};
    case Color::gray_alpha: return {luma, p.alpha};
    case Color::rgb: return {p.red, p.green, p.blue};
    case Color::bgr: return {p.blue, p.green, p.red};
    case Color::rgba: return {p.red, p.green, p.blue, p.alpha};
    default: return {luma, 0.5 + (p.blue - luma) / 1.772, 0.5 + (p.red - luma) / 1.402};
  }
}

template <class From, class To>
void compare_conversion(Color from, Color to) {
  constexpr int64_t width = 301;
  const PixelFormat source{from, sizeof(From) == 2 ? Dtype::uint16 : Dtype::uint8};
  const PixelFormat target{to, sizeof(To) == 2 ? Dtype::uint16 : Dtype::uint8};
  std::mt19937 random(3);
  std::vector<From> pixels(static_cast<size_t>(width * source.channels()));
  for (From& sample : pixels) sample = static_cast<From>(random() % 9 == 0 ? (random() % 2 ? -1 : 0) : random());
  const RowConverter convert(source, target);
  std::vector<uint16_t> scratch(static_cast<size_t>(width * convert.scratch_bytes()));
  std::memcpy(scratch.data(), pixels.data(), pixels.size() * sizeof(From));
  std::vector<To> got(static_cast<size_t>(width * target.channels()));
  convert(reinterpret_cast<uint8_t*>(scratch.data()), reinterpret_cast<uint8_t*>(got.data()), width);
  const double full = std::numeric_limits<To>::max(), unit = std::numeric_limits<From>::max();
  for (int64_t x = 0; x < width; ++x) {
    std::vector<double> in;
    for (int c = 0; c < source.channels(); ++c) in.push_back(pixels[x * source.channels() + c] / unit);
    const std::vector<double> want = samples_of(to, light_of(from, in));
    for (int c = 0; c < target.channels(); ++c) {
      // YCbCr's middle is 128 of 255, half a step above one half.
      const double middle = to == Color::ycbcr && c > 0 ? 0.5 : 0;
      ASSERT_NEAR(got[x * target.channels() + c], std::min(want[c] * full + middle, full), from == to ? 0.5 : 1.6)
          << "from " << static_cast<int>(from) << " to " << static_cast<int>(to) << " pixel " << x;
    }
  }
}

TEST(PixelFormats, EveryConversionIsItsFormula) {
  for (Color from : {Color::gray, Color::gray_alpha, Color::rgb, Color::rgba, Color::cmyk, Color::cmyk_light}) {
    for (Color to : {Color::gray, Color::gray_alpha, Color::rgb, Color::bgr, Color::rgba, Color::ycbcr}) {
      compare_conversion<uint8_t, uint8_t>(from, to);
      compare_conversion<uint16_t, uint8_t>(from, to);
      compare_conversion<uint8_t, uint16_t>(from, to);
      compare_conversion<uint16_t, uint16_t>(from, to);
    }
  }
}

/// A picture of all different colours.
Array gradient(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < height * width * channels; ++i) values.push_back(static_cast<uint8_t>(i * 7 + i / 50));
  return Array::from(std::span<const uint8_t>(values), {height, width, channels});
}

/// One file of each format that holds gradient(9, 13, 3).
std::vector<std::pair<std::string, Bytes>> lossless_files() {
  const Array picture = gradient(9, 13, 3);
  const Bytes pixels = picture.to_vector<uint8_t>();
  Bytes ppm = bytes_of("P6 13 9 255\n");
  ppm.insert(ppm.end(), pixels.begin(), pixels.end());
  Bytes bmp = bytes_of("BM");
  auto put = [&](uint32_t value, int size) {
    for (int i = 0; i < size; ++i) bmp.push_back(static_cast<uint8_t>(value >> 8 * i));
  };
  put(54 + 9 * 40, 4);
  put(0, 4);
  put(54, 4);
  put(40, 4);
  put(13, 4);
  put(9, 4);
  put(1, 2);
  put(24, 2);
  for (int i = 0; i < 6; ++i) put(0, 4);
  for (int y = 8; y >= 0; --y) {
    for (int x = 0; x < 13; ++x) {
      for (int c = 2; c >= 0; --c) bmp.push_back(pixels[static_cast<size_t>((y * 13 + x) * 3 + c)]);
    }
    put(0, 1);
  }
  return {{"PNG", imencode("png", picture)},
          {"WebP", imencode("webp", picture, {.lossless = true})},
          {"TIFF", imencode("tiff", picture)},
          {"BMP", bmp},
          {"PNM", ppm}};
}

TEST(Formats, AllAreReadByTheirFirstBytes) {
  const std::vector<int> want = samples(gradient(9, 13, 3));
  for (const auto& [format, file] : lossless_files()) {
    SCOPED_TRACE(format);
    EXPECT_EQ(samples(imdecode(file)), want);
    const PictureInfo info = iruka::image::peek(file);
    EXPECT_EQ(info.format, format);
    EXPECT_EQ(info.shape, (Dims{9, 13, 3}));
    EXPECT_EQ(info.dtype, Dtype::uint8);
    EXPECT_EQ(info.orientation, 1);
  }
}

TEST(Formats, ARegionIsTheCroppedPicture) {
  for (const auto& [format, file] : lossless_files()) {
    for (ColorMode mode : {ColorMode::rgb, ColorMode::gray, ColorMode::ycbcr}) {
      const Array part = imdecode(file, {.mode = mode, .region = {{2, 3, 4, 5}}});
      const iruka::Slice rows{.start = 2, .stop = 6}, columns{.start = 3, .stop = 8};
      EXPECT_EQ(samples(part), samples(imdecode(file, {.mode = mode}).at(rows, columns))) << format;
    }
  }
}

TEST(Formats, AJpegIsDecodedSmallerWhereThatIsLargeEnough) {
  const Bytes file = imencode("jpeg", gradient(41, 67, 3));
  const struct {
    int64_t height, width;
    Dims shape;
  } cases[] = {{41, 67, {41, 67, 3}}, {22, 1, {41, 67, 3}}, {21, 34, {21, 34, 3}}, {11, 17, {11, 17, 3}},
               {12, 17, {21, 34, 3}}, {1, 9, {6, 9, 3}},    {100, 1, {41, 67, 3}}};
  for (const auto& one : cases) {
    EXPECT_EQ(imdecode(file, {.at_least = {{one.height, one.width}}}).shape(), one.shape);
  }
  EXPECT_EQ(imdecode(file, {.region = {{3, 5, 20, 30}}, .at_least = {{10, 15}}}).shape(), (Dims{11, 16, 3}));
}

TEST(Formats, GivenArraysAreFilled) {
  for (const auto& [format, file] : lossless_files()) {
    const Array out = Array::empty({9, 13}, Dtype::uint16, iruka::cpu());
    iruka::image::imdecode_into(out, file, {.mode = ColorMode::gray, .dtype = Dtype::uint16});
    EXPECT_EQ(samples(out), samples(imdecode(file, {.mode = ColorMode::gray, .dtype = Dtype::uint16}))) << format;
  }
  const Bytes file = lossless_files()[0].second;
  const Array small = Array::empty({9, 12, 3}, Dtype::uint8, iruka::cpu());
  EXPECT_EQ(error_of<iruka::ShapeError>([&] { iruka::image::imdecode_into(small, file); }),
            "imdecode: out has shape (9, 12, 3), and the picture (9, 13, 3)");
  EXPECT_EQ(error_of<iruka::ValueError>([&] { iruka::image::imdecode_into(Array(), file); }),
            "imdecode: out is a default-constructed Array, which has no elements");
}

TEST(Formats, ABatchHasEachFilesOwnError) {
  const auto files = lossless_files();
  std::vector<std::span<const uint8_t>> batch;
  const Bytes nothing = bytes_of("no picture");
  for (int round = 0; round < 20; ++round) {
    for (const auto& [format, file] : files) batch.push_back(file);
    batch.push_back(nothing);
    batch.push_back(std::span(files[0].second).first(40));
  }
  const std::vector<int> want = samples(gradient(9, 13, 3));
  const std::vector<BatchItem> items = iruka::image::imdecode_batch(batch);
  ASSERT_EQ(items.size(), batch.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (i % 7 < 5) {
      ASSERT_FALSE(items[i].error);
      ASSERT_EQ(samples(items[i].picture), want);
    } else {
      ASSERT_TRUE(items[i].error);
      ASSERT_FALSE(items[i].picture.valid());
      const std::string message = error_of<iruka::ValueError>([&] { std::rethrow_exception(items[i].error); });
      EXPECT_TRUE(message.starts_with("imdecode_batch: file " + std::to_string(i) + ": ")) << message;
    }
  }
  const std::vector<std::string> paths = {"none.png"};
  const std::vector<BatchItem> missing = iruka::image::imread_batch(paths);
  EXPECT_EQ(error_of<iruka::FileError>([&] { std::rethrow_exception(missing[0].error); }),
            "imread_batch: cannot open 'none.png': No such file or directory");
}

TEST(Formats, TiffAndWebpKeepEverySample) {
  std::mt19937 random(1);
  for (int64_t channels : {1, 2, 3, 4}) {
    const Dims shape = channels == 1 ? Dims{300, 211} : Dims{300, 211, channels};
    std::vector<float> floats(static_cast<size_t>(iruka::count(shape)));
    for (float& value : floats) value = static_cast<float>(random()) / 1e6f - 1000;
    const Array picture = Array::from(std::span<const float>(floats), shape);
    const Array words = Array::from(std::span<const float>(floats), shape).astype(Dtype::int32).astype(Dtype::uint16);
    for (int compression : {0, 9}) {
      const Array back =
          imdecode(imencode("tif", picture, {.compression = compression}), {.mode = ColorMode::unchanged});
      EXPECT_EQ(back.shape(), shape);
      EXPECT_EQ(back.to_vector<float>(), floats);
      const Bytes file = imencode("TIFF", words, {.compression = compression});
      EXPECT_EQ(samples(imdecode(file, {.mode = ColorMode::unchanged})), samples(words));
    }
    const Array bytes = words.astype(Dtype::uint8);
    const Array webp = imdecode(imencode("webp", bytes, {.lossless = true}), {.mode = ColorMode::rgba});
    const Array png = imdecode(imencode("png", bytes), {.mode = ColorMode::rgba});
    EXPECT_EQ(samples(webp), samples(png));
  }
}

TEST(Formats, AFileCutAnywhereLeavesNoMemory) {
  const size_t used = iruka::memory_statistics().used_bytes;
  for (const auto& [format, file] : lossless_files()) {
    for (size_t size = 0; size < file.size(); ++size) {
      try {
        imdecode(std::span(file).first(size));
        EXPECT_GE(size + 4, file.size()) << format;  // padding and directories' ends may be missing
      } catch (const iruka::ValueError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("imdecode: "));
      }
    }
  }
  EXPECT_EQ(iruka::memory_statistics().used_bytes, used);
}

}  // namespace
