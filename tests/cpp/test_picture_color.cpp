// Colours of pictures from C++: values, errors, statistics, and a GPU's texts against the CPU's loops.
#include <gtest/gtest.h>

#include <cmath>

#include "emulated_cuda.h"
#include "error_of.h"
#include "iruka/device.h"
#include "iruka/picture_geometry.h"
#include "iruka/picture_statistics.h"
#include "picture_samples.h"

namespace iruka::test {
namespace {

using namespace iruka::image;

TEST(PictureColor, GreyIsLibjpegs) {
  const Array source = picture({5, 7, 3}, Dtype::uint8);
  const auto from = source.to_vector<uint8_t>();
  const Array made = Chain({ConvertColor{ColorSpace::rgb, ColorSpace::gray}})(source);
  EXPECT_EQ(made.shape(), (Dims{5, 7}));
  const auto to = made.to_vector<uint8_t>();
  for (size_t k = 0; k < to.size(); ++k)
    EXPECT_EQ(to[k], (19595 * from[3 * k] + 38470 * from[3 * k + 1] + 7471 * from[3 * k + 2] + 32768) >> 16);
}

TEST(PictureColor, StagesAreOnePass) {
  const Chain chain({Resize{.height = 12, .width = 15}, Saturation{1.5}, ConvertColor{ColorSpace::rgb, ColorSpace::lab},
                     Gamma{2}, Normalize{.mean = {1, 2, 3}, .deviation = {4}}, ToLayout{}});
  EXPECT_EQ(chain.passes({20, 30, 3}, Dtype::uint8), 1);
  const auto [shape, dtype] = chain.result({20, 30, 3}, Dtype::uint8);
  EXPECT_EQ(shape, (Dims{3, 12, 15}));
  EXPECT_EQ(dtype, Dtype::float32);
}

TEST(PictureColor, StatisticsOfKnownPictures) {
  const Array source = picture({6, 4, 2}, Dtype::uint8);
  const auto counts = histogram(source).to_vector<int64_t>();
  ASSERT_EQ(counts.size(), 512u);
  const auto values = source.to_vector<uint8_t>();
  for (size_t c = 0; c < 2; ++c) {
    double sum = 0;
    for (size_t k = c; k < values.size(); k += 2) sum += values[k];
    EXPECT_NEAR(channel_moments(source).mean.to_vector<double>()[c], sum / 24, 1e-12);
    for (size_t level = 0; level < 256; ++level) {
      int64_t times = 0;
      for (size_t k = c; k < values.size(); k += 2) times += values[k] == level;
      EXPECT_EQ(counts[256 * c + level], times);
    }
  }
  const Array other = Chain({Brightness{0}})(source);
  double squares = 0;
  for (const uint8_t value : values) squares += value * value;
  EXPECT_NEAR(psnr(source, other), 10 * std::log10(255.0 * 255 / (squares / 48)), 1e-10);
  EXPECT_NEAR(ssim(picture({16, 16}, Dtype::uint8), picture({16, 16}, Dtype::uint8)), 1, 1e-12);
}

TEST(PictureColor, ErrorsNameTheRuleAndTheValues) {
  const Array source = picture({9, 8, 3}, Dtype::uint8);
  const auto message = [&](auto&& call) { return error_of<Error>(call); };
  const auto names = [&](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const Chain from_gray({ConvertColor{ColorSpace::gray, ColorSpace::rgb}});
  EXPECT_TRUE(names(message([&] { from_gray(source); }), "'gray' has 1 channels, not 3"));
  EXPECT_TRUE(names(message([&] { Chain({Gamma{-2}}); }), "-2"));
  EXPECT_TRUE(names(message([&] { Chain({Lookup{}}); }), "no table"));
  EXPECT_TRUE(names(message([&] { Chain({ColorMatrix{.matrix = {1, 2}, .outputs = 3}}); }), "2 numbers for 3"));
  EXPECT_TRUE(names(message([&] { clahe(source, {.rows = 0}); }), "(0, 8)"));
  EXPECT_TRUE(names(message([&] { equalize(source.astype(Dtype::float32)); }), "float32"));
}

class PictureColorOnAGpu : public EmulatedDeviceTest {};

TEST_F(PictureColorOnAGpu, KernelsHaveTheBitsOfTheLoops) {
  std::vector<std::vector<Stage>> chains;
  for (const ColorSpace space :
       {ColorSpace::bgr, ColorSpace::rgba, ColorSpace::gray, ColorSpace::hsv, ColorSpace::lab, ColorSpace::ycbcr})
    chains.push_back({ConvertColor{ColorSpace::rgb, space}, Flip{}, ConvertColor{space, ColorSpace::rgb}});
  chains.push_back({Resize{.height = 9, .width = 11}, Saturation{1.5}, Hue{40}, ToLayout{}});
  chains.push_back({Brightness{1.25}, Contrast{0.5}, Gamma{0.5, 1.5}, Normalize{.mean = {3}, .deviation = {2}}});
  chains.push_back({ColorMatrix{.matrix = {1, 0.5, 0.25, -1, 2, 0.125}, .outputs = 2, .offset = {3, -4}}, Transpose{}});
  for (const Dtype dtype : {Dtype::uint8, Dtype::uint16, Dtype::float16, Dtype::float32}) {
    const Array source = picture({21, 17, 3}, dtype, is_integer(dtype) ? 255 : 1);
    const Array there = copy_to(emulated_cuda(), source);
    for (size_t k = 0; k < chains.size(); ++k) {
      const Chain chain(chains[k]);
      EXPECT_EQ(bytes_of(chain(source)), bytes_of(chain(there))) << name(dtype) << " chain " << k;
    }
  }
}

TEST_F(PictureColorOnAGpu, PicturesOfAnySizesHaveTheBitsOfTheLoops) {
  const Array levels = picture({3, 256}, Dtype::uint16), values = picture({65536}, Dtype::float32);
  std::vector<double> mixes;
  for (int k = 0; k < 5 * 7; ++k) mixes.push_back((k * 11 % 17 - 6) / 16.0);
  const Stage mix = ColorMatrix{.matrix = mixes, .outputs = 5, .offset = {1, 2, 3, 4, 5}};
  const Stage resize = Resize{.height = 9, .width = 11}, rotate = Rotate{.degrees = 30, .expands = true, .value = {9}};
  for (const bool is_on_gpu : {false, true}) {
    const auto table = [&](const Array& host) { return is_on_gpu ? copy_to(emulated_cuda(), host) : host; };
    const auto compare = [&](const std::vector<Stage>& stages, int64_t channels) {
      std::vector<Array> here, there;
      for (int64_t k = 0; k < 5; ++k) {
        here.push_back(picture({12 + 3 * k, 20 - k, channels}, Dtype::uint8));
        there.push_back(copy_to(emulated_cuda(), here.back()));
      }
      const Chain chain(stages);
      const std::vector<Array> expected = apply_chains({&chain, 1}, here, {});
      const std::vector<Array> made = apply_chains({&chain, 1}, there, {});
      for (size_t k = 0; k < here.size(); ++k) EXPECT_EQ(bytes_of(expected[k]), bytes_of(made[k])) << k;
    };
    compare({resize, Lookup{table(levels)}, Lookup{table(values)}, Normalize{}, ToLayout{}}, 3);
    compare({rotate, Lookup{table(levels)}, ConvertColor{}, Transpose{}}, 3);
    compare({resize, Gamma{0.5}, mix}, 7);
    compare({rotate, mix, Brightness{2}, ToLayout{}}, 7);
  }
}

}  // namespace
}  // namespace iruka::test
