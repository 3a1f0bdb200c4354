// repeat from C++: the GPU's method on an emulated device, and the C++ interface. Values over dtypes and layouts are
// compared with NumPy in test_repeat.py.
#include <gtest/gtest.h>

#include "emulated_cuda.h"
#include "iruka/indexing.h"
#include "iruka/ops.h"

namespace iruka {
namespace {

test::EmulatedCuda& gpu() {
  static auto& device = *new test::EmulatedCuda;
  return device;
}

Array counting(int64_t size) { return arange(0, size, 1, Dtype::int64); }

TEST(Repeat, OneCountAndOwnCounts) {
  const Array x = counting(3);
  EXPECT_EQ(repeat(x, 2).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(repeat(x, Array::from<int64_t>({2, 0, 1})).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 2}));
  EXPECT_EQ(repeat(x, Array::from<int8_t>({3})).shape(), (Dims{9}));
}

// Enough for several threads, each of which begins within a row and within a piece.
TEST(Repeat, RangesBeginAnywhere) {
  const int64_t rows = 7, pieces = 5000;
  const Array x = counting(rows * pieces).reshape({rows, pieces});
  std::vector<int64_t> counts, expected;
  for (int64_t k = 0; k < pieces; ++k) counts.push_back(k * k % 41);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < pieces; ++k)
      expected.insert(expected.end(), static_cast<size_t>(counts[static_cast<size_t>(k)]), row * pieces + k);
  const Array own = Array::from(std::span<const int64_t>(counts), {pieces});
  EXPECT_EQ(repeat(x, own, 1).to_vector<int64_t>(), expected);
  EXPECT_EQ(repeat(x, own, -1).shape(), (Dims{rows, static_cast<int64_t>(expected.size()) / rows}));
}

using RepeatOnGpu = test::EmulatedDeviceTest;

TEST_F(RepeatOnGpu, GivesTheSame) {
  const Array x = counting(24).reshape({4, 6}).astype(Dtype::float32), device = test::copy_to(gpu(), x);
  const Array own[] = {Array::from<int64_t>({2, 0, 3, 1}), Array::from<int64_t>({0, 0, 0, 0})};
  const auto expect_same = [](const Array& got, const Array& want) {
    EXPECT_EQ(&got.device(), &gpu());
    EXPECT_EQ(got.shape(), want.shape());
    if (want.size() > 0) {
      EXPECT_EQ(test::copy_to(cpu(), got).to_vector<float>(), want.to_vector<float>());
    }
  };
  for (int64_t count : {0, 1, 5}) {
    expect_same(repeat(device, count, 1), repeat(x, count, 1));
    expect_same(repeat(device.transpose(), count), repeat(x.transpose(), count));
  }
  for (const Array& counts : own) {
    expect_same(repeat(device, counts, 0), repeat(x, counts, 0));
    expect_same(repeat(device.transpose(), test::copy_to(gpu(), counts), 1), repeat(x.transpose(), counts, 1));
  }
  EXPECT_THROW(repeat(device, test::copy_to(gpu(), Array::from<int64_t>({1, -1, 1, 1})), 0), ValueError);
  EXPECT_THROW(repeat(device, test::copy_to(gpu(), Array::from<int64_t>({INT64_MAX, INT64_MAX, 0, 1})), 0), ShapeError);
}

TEST(Repeat, RefusesWhatCannotBe) {
  const Array x = counting(4);
  EXPECT_THROW(repeat(x, -1), ValueError);
  EXPECT_THROW(repeat(x, INT64_MAX / 2), ShapeError);
  EXPECT_THROW(repeat(x, Array::from<int64_t>({1, 2})), ShapeError);
  EXPECT_THROW(repeat(x, Array::from<int64_t>({1, 1, -1, 1})), ValueError);
  EXPECT_THROW(repeat(x, Array::from<int64_t>({INT64_MAX, INT64_MAX, 0, 1})), ShapeError);
  EXPECT_THROW(repeat(x, counting(4).reshape({2, 2})), ValueError);
  EXPECT_THROW(repeat(x, 1, 1), AxisError);
}

}  // namespace
}  // namespace iruka
