// Pictures written and read back: arrays of every layout, files, and what is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "error_of.h"
#include "image_testing.h"
#include "iruka/file_error.h"
#include "iruka/image.h"

namespace {

namespace fs = std::filesystem;
using image_testing::Bytes;
using image_testing::samples;
using iruka::Array;
using iruka::Dims;
using iruka::Dtype;
using iruka::Slice;
using iruka::image::ColorMode;
using iruka::image::imdecode;
using iruka::image::imencode;
using iruka::image::imread;
using iruka::image::imwrite;
using iruka::test::error_of;

const std::string kFormats = "'jpeg', 'jpg', 'jpe', 'jfif', 'png', 'webp', 'tiff' or 'tif'";

template <class T>
Array random_picture(const Dims& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<size_t>(iruka::count(shape)));
  for (T& value : values) value = static_cast<T>(random());
  return Array::from(std::span<const T>(values), shape);
}

/// A smooth picture, which JPEG keeps well.
Array smooth_picture(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> values;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c) {
        double phase = 0.1 * static_cast<double>(x + c) + 0.07 * static_cast<double>(y);
        values.push_back(static_cast<uint8_t>(127 + 100 * std::sin(phase)));
      }
    }
  }
  Dims shape = channels == 1 ? Dims{height, width} : Dims{height, width, channels};
  return Array::from(std::span<const uint8_t>(values), shape);
}

TEST(RoundTrip, PngKeepsEverySample) {
  for (int compression : {0, 1, 6, 9}) {
    for (int64_t channels : {1, 2, 3, 4}) {
      Dims shape = channels == 1 ? Dims{17, 23} : Dims{17, 23, channels};
      Array bytes = random_picture<uint8_t>(shape, 1), words = random_picture<uint16_t>(shape, 2);
      for (const Array& picture : {bytes, words}) {
        Array back = imdecode(imencode("png", picture, {.compression = compression}), {.mode = ColorMode::unchanged});
        ASSERT_EQ(back.shape(), shape);
        ASSERT_EQ(back.dtype(), picture.dtype());
        ASSERT_EQ(samples(back), samples(picture));
      }
    }
  }
  Array column = random_picture<uint8_t>({5, 6, 1}, 3);
  EXPECT_EQ(imdecode(imencode("png", column), {.mode = ColorMode::unchanged}).shape(), (Dims{5, 6}));
}

TEST(RoundTrip, JpegStaysNear) {
  for (int64_t channels : {1, 3}) {
    Array picture = smooth_picture(64, 80, channels);
    std::vector<int> want = samples(picture);
    size_t last_size = 0;
    for (int quality : {50, 80, 95, 100}) {
      Bytes file = imencode(quality == 80 ? "jpg" : "JPEG", picture, {.quality = quality});
      EXPECT_GT(file.size(), last_size);
      last_size = file.size();
      std::vector<int> got = samples(imdecode(file, {.mode = ColorMode::unchanged}));
      ASSERT_EQ(got.size(), want.size());
      double sum = 0;
      for (size_t i = 0; i < got.size(); ++i) sum += std::abs(got[i] - want[i]);
      EXPECT_LT(sum / static_cast<double>(got.size()), quality >= 95 ? 1.5 : 4.0);
    }
  }
}

TEST(RoundTrip, ViewsOfEveryStrideAreWrittenAsTheyRead) {
  Array base = random_picture<uint8_t>({12, 20, 3}, 4);
  const Slice backwards{.step = -1}, every_second{.step = 2}, middle{.start = 3, .stop = 9};
  const Array views[] = {base.transpose({1, 0, 2}), base.at(backwards, every_second),
                         base.at(middle, middle, backwards), base.at(Slice{}, Slice{}, 1).transpose(),
                         base.at(0).broadcast_to({5, 20, 3})};
  for (const Array& view : views) {
    Array back = imdecode(imencode("png", view), {.mode = ColorMode::unchanged});
    ASSERT_EQ(back.shape(), view.shape());
    ASSERT_EQ(samples(back), samples(view));
  }
}

TEST(Encode, RefusesWhatAFormatCannotHold) {
  Array picture = smooth_picture(4, 4, 3);
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imencode("text", picture); }),
            "imencode: the format must be " + kFormats + ", not 'text'");
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imencode("jpeg", picture, {.quality = 0}); }),
            "imencode: quality must be 1 to 100, not 0");
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imencode("png", picture, {.compression = 10}); }),
            "imencode: compression must be 0 to 9, not 10");
  EXPECT_EQ(error_of<iruka::TypeError>([&] { imencode("png", Array::from<float>({1, 2})); }),
            "imencode: a PNG holds uint8 or uint16, not float32; scale to 0..255 and convert with astype");
  EXPECT_EQ(error_of<iruka::TypeError>([&] { imencode("jpg", random_picture<uint16_t>({2, 2}, 1)); }),
            "imencode: a JPEG holds uint8, not uint16; scale to 0..255 and convert with astype");
  EXPECT_EQ(error_of<iruka::ShapeError>([&] { imencode("png", Array::from<uint8_t>({1, 2})); }),
            "imencode: a picture is (height, width) or (height, width, channels), not of shape (2,)");
  EXPECT_EQ(error_of<iruka::ShapeError>([&] { imencode("png", random_picture<uint8_t>({2, 2, 5}, 1)); }),
            "imencode: a picture has 1 to 4 channels, not shape (2, 2, 5)");
  EXPECT_EQ(error_of<iruka::ShapeError>([&] { imencode("jpeg", random_picture<uint8_t>({2, 2, 4}, 1)); }),
            "imencode: a JPEG has 1 or 3 channels and no alpha, not shape (2, 2, 4)");
  EXPECT_EQ(error_of<iruka::ShapeError>([&] { imencode("png", random_picture<uint8_t>({0, 2, 3}, 1)); }),
            "imencode: a picture without pixels, of shape (0, 2, 3), cannot be written");
  EXPECT_EQ(error_of<iruka::ShapeError>([&] { imencode("jpeg", random_picture<uint8_t>({1, 65501}, 1)); }),
            "imencode: a side may have 65500 pixels at most, not shape (1, 65501)");
  EXPECT_EQ(imdecode(imencode("png", random_picture<uint8_t>({1, 1200000}, 1))).shape(), (Dims{1, 1200000, 3}));
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "iruka-image-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (auto& entry : fs::directory_iterator(folder_)) list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    return list;
  }
  fs::path folder_;
};

TEST_F(Files, AreWrittenWholeAndReadBack) {
  Array picture = random_picture<uint8_t>({30, 40, 3}, 5);
  imwrite(path("a.png"), picture);
  imwrite(path("a.png"), picture);  // over the old one
  imwrite(path("b.JPG"), smooth_picture(8, 8, 1));
  EXPECT_EQ(samples(imread(path("a.png"))), samples(picture));
  EXPECT_EQ(imread(path("b.JPG"), {.mode = ColorMode::unchanged}).shape(), (Dims{8, 8}));
  EXPECT_EQ(names(), (std::vector<std::string>{"a.png", "b.JPG"}));
  struct stat status;
  ASSERT_EQ(::stat(path("a.png").c_str(), &status), 0);
  mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
}

TEST_F(Files, ALinkStaysALink) {
  Array picture = random_picture<uint8_t>({3, 4}, 6);
  imwrite(path("real.png"), random_picture<uint8_t>({1, 1}, 6));
  fs::create_symlink("real.png", path("link.png"));
  imwrite(path("link.png"), picture);
  EXPECT_TRUE(fs::is_symlink(path("link.png")));
  EXPECT_EQ(samples(imread(path("real.png"), {.mode = ColorMode::gray})), samples(picture));
}

TEST_F(Files, ErrorsNameTheFileAndTheReason) {
  Array picture = smooth_picture(4, 4, 3);
  EXPECT_EQ(error_of<iruka::FileError>([&] { imread(path("none.png")); }),
            "imread: cannot open '" + path("none.png") + "': No such file or directory");
  EXPECT_EQ(error_of<iruka::FileError>([&] { imread(folder_.string()); }),
            "imread: cannot read '" + folder_.string() + "': Is a directory");
  EXPECT_EQ(error_of<iruka::FileError>([&] { imwrite(path("no/where.png"), picture); }),
            "imwrite: cannot write '" + path("no/where.png") + "': No such file or directory");
  try {
    imread(path("none.png"));
    ADD_FAILURE() << "a missing file was read";
  } catch (const iruka::SystemFileError& error) {
    EXPECT_EQ(error.number(), ENOENT);
    EXPECT_EQ(error.path(), path("none.png"));
  }
  fs::create_directory(path("folder.png"));
  EXPECT_EQ(error_of<iruka::FileError>([&] { imwrite(path("folder.png"), picture); }),
            "imwrite: cannot write '" + path("folder.png") + "': Is a directory");
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imwrite(path("a.txt"), picture); }),
            "imwrite: '" + path("a.txt") + "': the format must be " + kFormats + ", not 'txt'");
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imwrite(path("a"), picture); }),
            "imwrite: '" + path("a") + "': the name must end in .jpeg, .jpg, .jpe, .jfif, .png, .webp, .tiff or .tif");
  std::ofstream(path("text.png")) << "no picture";
  EXPECT_EQ(error_of<iruka::ValueError>([&] { imread(path("text.png")); }),
            "imread: '" + path("text.png") + "': no JPEG, PNG, WebP, TIFF, BMP, GIF or PNM (10 bytes)");
  EXPECT_EQ(names(), (std::vector<std::string>{"folder.png", "text.png"}));
}

TEST_F(Files, AFolderThatRefusesKeepsTheOldPicture) {
  Array old = random_picture<uint8_t>({3, 4}, 7);
  imwrite(path("a.png"), old);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const bool root = ::geteuid() == 0;  // root may write anywhere, so it steps down to try
  ASSERT_TRUE(!root || ::seteuid(65534) == 0);
  std::string message = error_of<iruka::FileError>([&] { imwrite(path("a.png"), smooth_picture(9, 9, 3)); });
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  EXPECT_EQ(message, "imwrite: cannot write '" + path("a.png") + "': Permission denied");
  EXPECT_EQ(names(), (std::vector<std::string>{"a.png"}));
  EXPECT_EQ(samples(imread(path("a.png"), {.mode = ColorMode::gray})), samples(old));
}

TEST_F(Files, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  fs::create_symlink("/dev/full", path("full.png"));
  EXPECT_EQ(error_of<iruka::FileError>([&] { imwrite(path("full.png"), smooth_picture(9, 9, 3)); }),
            "imwrite: cannot write '" + path("full.png") + "': No space left on device");
}

TEST_F(Files, APipeIsReadToItsEnd) {
  Array picture = random_picture<uint8_t>({100, 100, 3}, 8);
  Bytes file = imencode("png", picture);
  ASSERT_GT(file.size(), 20000u);  // more than one read
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream pipe(path("pipe"), std::ios::binary);
    pipe.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  });
  EXPECT_EQ(samples(imread(path("pipe"))), samples(picture));
  writer.join();
}

}  // namespace
