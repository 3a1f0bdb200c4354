// Filters of pictures from C++: values, batches, errors, and a GPU's texts against the CPU's loops.
#include <gtest/gtest.h>

#include "emulated_cuda.h"
#include "error_of.h"
#include "iruka/device.h"
#include "iruka/picture_filters.h"
#include "iruka/picture_regions.h"
#include "picture_samples.h"

namespace iruka::test {
namespace {

using namespace iruka::image;

TEST(PictureFilters, ACorrelationSumsItsWindow) {
  const Array source = picture({6, 7}, Dtype::uint8);
  const Correlation filter{.height = 1, .width = 3, .weights = {-1, 0, 2}, .dtype = Dtype::int16};
  const auto from = source.to_vector<uint8_t>();
  const auto made = filtered(source, filter).to_vector<int16_t>();
  for (size_t y = 0; y < 6; ++y) {
    for (size_t x = 1; x < 6; ++x)
      EXPECT_EQ(made[7 * y + x], 2 * from[7 * y + x + 1] - from[7 * y + x - 1]) << y << " " << x;
    EXPECT_EQ(made[7 * y], from[7 * y + 1]) << y;  // its neighbour is reflected
  }
}

TEST(PictureFilters, PicturesOfABatchHaveAnySizes) {
  const std::vector<Array> pictures{picture({9, 8, 3}, Dtype::uint8), picture({1, 1, 3}, Dtype::float16)};
  const Array given = Array::empty({1, 1, 3}, Dtype::float16, cpu());
  const std::vector<Array> outs{Array(), given};
  const std::vector<Array> made = filtered(pictures, Gaussian{}, Layout::hwc, outs);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(bytes_of(made[0]), bytes_of(filtered(pictures[0], Gaussian{})));
  EXPECT_EQ(made[1].data(), given.data());
}

TEST(PictureFilters, BlocksAreReduced) {
  const Array blocks = block_view(picture({5, 7}, Dtype::uint8), {2, 3}, 9);
  EXPECT_EQ(blocks.shape(), (Dims{3, 3, 2, 3}));
  const auto last = blocks.at(2, 2).to_vector<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(last.begin() + 1, last.end()), (std::vector<uint8_t>(5, 9)));
}

TEST(PictureFilters, ErrorsNameTheRuleAndTheValues) {
  const Array source = picture({9, 8, 3}, Dtype::uint8);
  const auto message = [&](const PictureFilter& filter) { return error_of<Error>([&] { filtered(source, filter); }); };
  EXPECT_NE(message(Median{.size = 4}).find("not 4"), std::string::npos);
  EXPECT_NE(message(Correlation{.height = 2, .width = 2, .weights = {1}}).find("1 weights"), std::string::npos);
  EXPECT_NE(message(Morphology{.height = 2, .width = 2, .element = {1}}).find("(2, 2)"), std::string::npos);
  EXPECT_NE(message(Box{.beyond = {.value = {}}}).find("value"), std::string::npos);
  EXPECT_NE(error_of<Error>([&] { connected_components(source.at(0), {.connectivity = 5}); }).find("not 5"),
            std::string::npos);
}

class PictureFiltersOnAGpu : public EmulatedDeviceTest {};

TEST_F(PictureFiltersOnAGpu, KernelsHaveTheBitsOfTheLoops) {
  const Beyond constant{.border = Border::constant, .value = {3, 4, 5}};
  const std::vector<PictureFilter> filters{
      Correlation{.height = 2, .width = 3, .weights = {0.5, -0.25, 1.5, 0, 0.125, -0.7}, .beyond = constant},
      Correlation{.height = 1, .width = 3, .weights = {-1, 0, 2}, .dtype = Dtype::int16},
      Separable{.column = {0.3, 0.7}, .row = {0.1, -0.9, 0.4}, .beyond = {.border = Border::wrap}},
      Gaussian{.sigma_y = 1.2, .sigma_x = 0.7, .beyond = constant},
      Box{.height = 4, .width = 3, .beyond = {.border = Border::symmetric}},
      Median{.size = 3},
      Median{.size = 7, .beyond = constant},
      Bilateral{.size = 5, .sigma_color = 40, .sigma_space = 2},
      Derivative{.kind = Derivative::Kind::sobel},
      Derivative{.kind = Derivative::Kind::laplacian, .size = 5},
      Morphology{.operation = Morphology::Operation::open, .height = 3, .width = 9},
      Morphology{.operation = Morphology::Operation::gradient,
                 .element = structuring_element(ElementShape::cross, 3, 3)}};
  for (const Dtype dtype : {Dtype::uint8, Dtype::float16, Dtype::float32}) {
    const Array source = picture({21, 17, 3}, dtype);
    const Array there = copy_to(emulated_cuda(), source);
    for (size_t k = 0; k < filters.size(); ++k)
      EXPECT_EQ(bytes_of(filtered(source, filters[k])), bytes_of(filtered(there, filters[k])))
          << name(dtype) << " filter " << k;
  }
}

// Distances are found by a raw kernel, which the CPU runs in tests/python/test_image_regions.py.
TEST_F(PictureFiltersOnAGpu, ComponentsAreTheSame) {
  Array source = picture({33, 41}, Dtype::uint8);
  for (uint8_t& byte : std::span(static_cast<uint8_t*>(source.data()), static_cast<size_t>(source.size())))
    byte = byte < 150;
  const Array there = copy_to(emulated_cuda(), source);
  for (const int connectivity : {4, 8}) {
    const ComponentOptions options{.connectivity = connectivity, .has_statistics = true};
    const Components want = connected_components(source, options), got = connected_components(there, options);
    EXPECT_EQ(want.count, got.count);
    EXPECT_EQ(bytes_of(want.labels), bytes_of(got.labels));
    EXPECT_EQ(bytes_of(want.boxes), bytes_of(got.boxes));
    EXPECT_EQ(bytes_of(want.centroids), bytes_of(got.centroids));
  }
}

}  // namespace
}  // namespace iruka::test
