// Chains of picture operations from C++: values, errors, batches, and a GPU's texts against the CPU's loops.
#include <gtest/gtest.h>

#include <cmath>

#include "emulated_cuda.h"
#include "error_of.h"
#include "iruka/device.h"
#include "iruka/picture_geometry.h"
#include "picture_samples.h"

namespace iruka::test {
namespace {

using namespace iruka::image;

const std::vector<Stage> kTraining{Resize{.height = 12, .width = 15},
                                   Crop{.height = 8, .width = 9},
                                   Flip{},
                                   Normalize{.mean = {120, 110, 100}, .deviation = {60, 55, 50}},
                                   ToLayout{Layout::chw},
                                   Cast{Dtype::float16}};

TEST(PictureGeometry, AChainIsOnePass) {
  const Chain chain(kTraining);
  EXPECT_EQ(chain.passes({20, 30, 3}, Dtype::uint8), 1);
  const auto [shape, dtype] = chain.result({20, 30, 3}, Dtype::uint8);
  EXPECT_EQ(shape, (Dims{3, 8, 9}));
  EXPECT_EQ(dtype, Dtype::float16);
  const Array made = chain(picture({20, 30, 3}, Dtype::uint8));
  EXPECT_EQ(made.shape(), shape);
  EXPECT_EQ(made.dtype(), dtype);
}

TEST(PictureGeometry, AChainHasTheBitsOfItsStages) {
  for (const Dtype dtype : {Dtype::uint8, Dtype::uint16, Dtype::float16, Dtype::float32}) {
    const Array source = picture({20, 30, 3}, dtype);
    Array step = source;
    Layout layout = Layout::hwc;
    for (const Stage& stage : kTraining) {
      step = Chain({stage}, layout)(step);
      if (const auto* const changed = std::get_if<ToLayout>(&stage)) layout = changed->layout;
    }
    EXPECT_EQ(bytes_of(Chain(kTraining)(source)), bytes_of(step)) << name(dtype);
  }
}

TEST(PictureGeometry, ResizingByTwoAveragesFourPixels) {
  const Array source = picture({6, 8}, Dtype::uint8);
  const auto from = source.to_vector<uint8_t>();
  const auto made = resize(source, {.height = 3, .width = 4, .filter = Filter::area}).to_vector<uint8_t>();
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 4; ++x) {
      const size_t at = 16 * y + 2 * x;
      const double mean = (from[at] + from[at + 1] + from[at + 8] + from[at + 9]) / 4.0;
      EXPECT_NEAR(made[4 * y + x], mean, 0.5) << y << " " << x;
    }
  }
}

TEST(PictureGeometry, AWarpByWholePixelsMovesThem) {
  const Array source = picture({5, 7, 2}, Dtype::float32);
  const Array made = warp(source, {.matrix = {1, 0, 2, 0, 1, -1, 0, 0, 1}, .value = {-3}});
  const auto from = source.to_vector<float>(), to = made.to_vector<float>();
  for (int64_t y = 0; y < 5; ++y) {
    for (int64_t x = 0; x < 7; ++x) {
      const bool is_inside = y >= 1 && x + 2 < 7;
      const auto at = static_cast<size_t>(2 * (7 * y + x));
      EXPECT_EQ(to[at], is_inside ? from[static_cast<size_t>(2 * (7 * (y - 1) + x + 2))] : -3);
    }
  }
}

TEST(PictureGeometry, PicturesOfABatchHaveChainsOfTheirOwn) {
  const std::vector<Array> pictures{picture({9, 8, 3}, Dtype::uint8), picture({30, 20, 3}, Dtype::uint8)};
  const std::vector<Chain> chains{Chain({Resize{.height = 4, .width = 4}}),
                                  Chain({Crop{.height = 4, .width = 4}, Flip{}, Cast{Dtype::uint16}})};
  const Array given = Array::empty({4, 4, 3}, Dtype::uint16, cpu());
  const std::vector<Array> outs{Array(), given};
  const std::vector<Array> made = apply_chains(chains, pictures, outs);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(bytes_of(made[0]), bytes_of(chains[0](pictures[0])));
  EXPECT_EQ(made[1].data(), given.data());
  EXPECT_EQ(bytes_of(given), bytes_of(chains[1](pictures[1])));
}

TEST(PictureGeometry, ErrorsNameTheRuleAndTheValues) {
  const Array source = picture({9, 8, 3}, Dtype::uint8);
  const auto message = [&](auto&& call) { return error_of<Error>(call); };
  EXPECT_NE(message([&] { resize(source, {.height = 0, .width = 3}); }).find("(0, 3)"), std::string::npos);
  EXPECT_NE(message([&] { Chain({Crop{.height = 10, .width = 1}})(source); }).find("(9, 8)"), std::string::npos);
  EXPECT_NE(message([&] { resize(source.astype(Dtype::int32), {.height = 3, .width = 3}); }).find("int32"),
            std::string::npos);
  EXPECT_NE(message([&] { Chain({Cast{Dtype::complex64}}); }).find("complex64"), std::string::npos);
  const std::vector<Chain> chains(2, Chain({Flip{}}));
  EXPECT_NE(message([&] { apply_chains(chains, std::vector<Array>(3, source)); }).find("2 chains for 3"),
            std::string::npos);
}

class PictureGeometryOnAGpu : public EmulatedDeviceTest {};

TEST_F(PictureGeometryOnAGpu, KernelsHaveTheBitsOfTheLoops) {
  const std::vector<double> matrix{0.9, 0.2, 1.5, -0.1, 1.1, 2.25, 0.002, 0.001, 1};
  Warp turned{.height = 11, .width = 14, .value = {7}};
  std::copy(matrix.begin(), matrix.end(), turned.matrix.begin());
  Warp mirrored = turned;
  mirrored.filter = Filter::cubic;
  mirrored.border = Border::reflect;
  const Pad margins{.top = 1, .bottom = 2, .left = 3, .right = 0, .value = {5}};
  const std::vector<std::vector<Stage>> chains{
      kTraining,
      {Resize{.height = 7, .width = 31, .filter = Filter::lanczos3}, margins, Transpose{}},
      {Resize{.height = 33, .width = 10, .filter = Filter::area, .convention = Convention::opencv}, ToLayout{}},
      {Resize{.height = 5, .width = 6, .filter = Filter::nearest}, Normalize{.mean = {3}, .deviation = {2}}},
      {turned, Flip{.horizontal = true, .vertical = true}},
      {mirrored, Cast{Dtype::float32}},
      {PyramidDown{}}};
  for (const Dtype dtype : {Dtype::uint8, Dtype::float16, Dtype::float32}) {
    const Array source = picture({21, 17, 3}, dtype);
    const Array there = copy_to(emulated_cuda(), source);
    for (size_t k = 0; k < chains.size(); ++k) {
      const Chain chain(chains[k]);
      EXPECT_EQ(bytes_of(chain(source)), bytes_of(chain(there))) << name(dtype) << " chain " << k;
    }
  }
}

TEST_F(PictureGeometryOnAGpu, RemapsHaveTheBitsOfTheLoops) {
  const Array source = picture({21, 17, 3}, Dtype::uint8);
  Array map_y = picture({9, 5}, Dtype::float32), map_x = picture({5, 9}, Dtype::float32).transpose();
  for (Array* const map : {&map_y, &map_x}) {
    Array scaled = map->copy();
    for (int64_t k = 0; k < scaled.size(); ++k)
      static_cast<float*>(scaled.data())[k] = scaled.to_vector<float>()[static_cast<size_t>(k)] / 10 - 2;
    *map = scaled;
  }
  const Array want = remap(source, map_y, map_x);
  Device& gpu = emulated_cuda();
  EXPECT_EQ(bytes_of(want), bytes_of(remap(copy_to(gpu, source), copy_to(gpu, map_y), copy_to(gpu, map_x))));
}

}  // namespace
}  // namespace iruka::test
