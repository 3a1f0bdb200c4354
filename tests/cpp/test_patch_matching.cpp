// Patch matching: kernels, which GPUs use, beside the CPU's loops and a plain loop; and what NVRTC says of the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/patch_matching.h"
#include "image/patch_kernels.h"
#include "image/patch_search.h"
#include "image/patch_tiles.h"
#include "iruka/device.h"
#include "iruka/ops.h"
#include "iruka/patch_matching.h"
#include "nvrtc_testing.h"

namespace iruka::test {
namespace {

using image::NearestPatches;
using image::PatchOptions;

struct Case {
  int64_t height, width, b_height, b_width, channels, patch, k;
  bool has_mask, has_window;
};

template <class T>
Array random_picture(std::mt19937& random, int64_t height, int64_t width, int64_t channels) {
  std::vector<T> values(static_cast<size_t>(height * width * channels));
  for (T& value : values) value = static_cast<T>(random() % 6);
  return Array::from(std::span<const T>(values), {height, width, channels});
}

/// The distance of two patches by the edge's rule, with a plain loop.
double distance(const std::vector<double>& a, const Case& c, int64_t y, int64_t x, const std::vector<double>& b,
                int64_t b_y, int64_t b_x) {
  double sum = 0;
  const int64_t before = c.patch / 2;
  for (int64_t dy = -before; dy < c.patch - before; ++dy)
    for (int64_t dx = -before; dx < c.patch - before; ++dx)
      for (int64_t channel = 0; channel < c.channels; ++channel) {
        const auto at = [&](const std::vector<double>& picture, int64_t row, int64_t column, int64_t h, int64_t w) {
          row = std::clamp<int64_t>(row + dy, 0, h - 1);
          column = std::clamp<int64_t>(column + dx, 0, w - 1);
          return picture[static_cast<size_t>((row * w + column) * c.channels + channel)];
        };
        const double difference = at(a, y, x, c.height, c.width) - at(b, b_y, b_x, c.b_height, c.b_width);
        sum += difference * difference;
      }
  return sum;
}

/// The field of k neighbours, by sorting all.
std::vector<int32_t> plain_field(const Array& a, const Array& b, const Case& c, const std::vector<bool>& mask,
                                 const PatchOptions& options) {
  const auto as_doubles = [](const Array& picture) { return picture.astype(Dtype::float64).to_vector<double>(); };
  const std::vector<double> first = as_doubles(a), second = as_doubles(b);
  std::vector<int32_t> field;
  for (int64_t y = 0; y < c.height; ++y)
    for (int64_t x = 0; x < c.width; ++x) {
      std::vector<std::pair<double, int64_t>> all;
      for (int64_t k = 0; k < c.b_height * c.b_width; ++k) {
        const int64_t b_y = k / c.b_width, b_x = k % c.b_width;
        if (c.has_mask && !mask[static_cast<size_t>(k)]) continue;
        if (options.window && (std::abs(b_y - y) > options.window->first || std::abs(b_x - x) > options.window->second))
          continue;
        all.emplace_back(distance(first, c, y, x, second, b_y, b_x), k);
      }
      std::sort(all.begin(), all.end());
      for (size_t k = 0; k < static_cast<size_t>(c.k); ++k) {
        field.push_back(k < all.size() ? static_cast<int32_t>(all[k].second / c.b_width) : -1);
        field.push_back(k < all.size() ? static_cast<int32_t>(all[k].second % c.b_width) : -1);
      }
    }
  return field;
}

template <class T>
void compare(const Case& c, unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const Array a = random_picture<T>(random, c.height, c.width, c.channels),
              b = random_picture<T>(random, c.b_height, c.b_width, c.channels);
  PatchOptions options;
  options.patch = c.patch;
  options.k = c.k;
  std::vector<bool> mask(static_cast<size_t>(c.b_height * c.b_width), true);
  Array allowed;
  if (c.has_mask) {
    std::vector<uint8_t> bytes;
    for (size_t k = 0; k < mask.size(); ++k) {
      mask[k] = random() % 2 || k < static_cast<size_t>(c.k);
      bytes.push_back(mask[k]);
    }
    allowed = Array::from(std::span<const uint8_t>(bytes), {c.b_height, c.b_width}).astype(Dtype::bool_);
    options.mask = allowed;
  }
  if (c.has_window) options.window = {3, 2};
  const std::vector<int32_t> expected = plain_field(a, b, c, mask, options);
  const NearestPatches by_loops = image::nnf(a, b, options),
                       by_kernels = image::match_by_kernels(a, b, allowed, options),
                       plain = image::search_all_patches(a, b, allowed, options);
  for (const NearestPatches* found : {&by_loops, &by_kernels, &plain}) {
    EXPECT_EQ(found->field.to_vector<int32_t>(), expected);
    EXPECT_EQ(found->distances.dtype(), by_loops.distances.dtype());
    EXPECT_EQ(found->distances.shape(), by_loops.distances.shape());
    EXPECT_EQ(found->distances.astype(Dtype::float64).template to_vector<double>(),
              by_loops.distances.astype(Dtype::float64).template to_vector<double>());
  }
}

constexpr Case kCases[] = {
    {9, 13, 7, 11, 3, 3, 1, false, false},   {6, 5, 12, 9, 1, 3, 2, false, false}, {7, 8, 9, 6, 4, 2, 1, true, false},
    {8, 9, 6, 14, 5, 3, 3, true, true},      {5, 21, 9, 20, 2, 1, 8, false, true}, {1, 1, 3, 3, 3, 4, 1, false, false},
    {12, 12, 12, 12, 3, 7, 1, false, false}, {3, 3, 4, 5, 3, 9, 2, false, false},
};

TEST(PatchMatching, KernelsAndLoopsEqualAPlainLoop) {
  unsigned seed = 1;
  for (const Case& c : kCases) {
    compare<uint8_t>(c, seed++);
    compare<int8_t>(c, seed++);
    compare<uint16_t>(c, seed++);
    compare<float>(c, seed++);
    compare<double>(c, seed++);
  }
}

TEST(PatchMatching, FloatsAreRoundedAlikeByKernelsAndLoops) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const int64_t patch : {1, 2, 3, 5}) {
    std::vector<float> values(2 * 11 * 19 * 3);
    for (float& value : values) value = normal(random);
    const Array both = Array::from(std::span<const float>(values), {2, 11, 19, 3});
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const Array a = both.at(0).astype(dtype), b = both.at(1).astype(dtype);
      PatchOptions options;
      options.patch = patch;
      options.k = 2;
      const NearestPatches loops = image::nnf(a, b, options), kernels = image::match_by_kernels(a, b, Array(), options);
      EXPECT_EQ(loops.field.to_vector<int32_t>(), kernels.field.to_vector<int32_t>());
      EXPECT_EQ(loops.distances.astype(Dtype::float64).to_vector<double>(),
                kernels.distances.astype(Dtype::float64).to_vector<double>());
    }
  }
}

/// The tiles of tensor cores, whose products are loops here, beside the CPU's loops.
template <class T>
void compare_tiles(const Case& c, unsigned seed, image::Border border) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", patch " + std::to_string(c.patch));
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<size_t>((c.height * c.width + c.b_height * c.b_width) * c.channels));
  const unsigned levels = seed % 3 == 0 ? 2 : 256;  // few levels give many equal distances
  for (T& value : values) value = static_cast<T>(random() % levels);
  const auto split = c.height * c.width * c.channels;
  const Array a = Array::from(std::span<const T>(values).first(static_cast<size_t>(split)),
                              {c.height, c.width, c.channels}),
              b = Array::from(std::span<const T>(values).subspan(static_cast<size_t>(split)),
                              {c.b_height, c.b_width, c.channels});
  PatchOptions options;
  options.patch = c.patch;
  options.border = border;
  Array allowed;
  if (c.has_mask) {
    std::vector<uint8_t> bytes(static_cast<size_t>(c.b_height * c.b_width));
    for (uint8_t& byte : bytes) byte = random() % 3 == 0;
    bytes.back() = 1;
    options.mask = allowed = Array::from(std::span<const uint8_t>(bytes), {c.b_height, c.b_width}).astype(Dtype::bool_);
  }
  ASSERT_TRUE(image::fits_tiles(a, options));
  const NearestPatches loops = image::nnf(a, b, options), tiles = image::match_by_tiles(a, b, allowed, options);
  EXPECT_EQ(loops.field.to_vector<int32_t>(), tiles.field.to_vector<int32_t>());
  EXPECT_EQ(loops.distances.to_vector<int64_t>(), tiles.distances.to_vector<int64_t>());
  EXPECT_EQ(loops.field.shape(), tiles.field.shape());
}

TEST(PatchMatching, TilesOfTensorCoresEqualLoops) {
  constexpr Case kTiles[] = {
      {7, 9, 6, 11, 3, 3, 1, false, false},    {70, 67, 5, 130, 3, 7, 1, false, false},
      {3, 65, 66, 3, 3, 8, 1, true, false},    {9, 8, 7, 66, 1, 3, 1, true, false},
      {9, 8, 7, 66, 1, 7, 1, false, false},    {9, 8, 7, 66, 1, 21, 1, false, false},
      {11, 5, 9, 12, 2, 5, 1, false, false},   {11, 5, 9, 12, 2, 9, 1, true, false},
      {6, 13, 8, 9, 4, 4, 1, false, false},    {6, 13, 8, 9, 4, 5, 1, false, false},
      {6, 13, 8, 9, 4, 12, 1, false, false},   {6, 13, 8, 9, 6, 2, 1, false, false},
      {6, 13, 8, 9, 9, 9, 1, true, false},     {1, 1, 1, 1, 3, 1, 1, false, false},
      {1, 200, 1, 129, 3, 1, 1, false, false}, {5, 4, 4, 5, 3, 17, 1, false, false},
  };
  unsigned seed = 1;
  for (const Case& c : kTiles) {
    const auto border = static_cast<image::Border>(seed % 5);
    compare_tiles<uint8_t>(c, seed++, border);
    compare_tiles<int8_t>(c, seed++, border);
  }
}

class PatchKernelsForGpus : public NvrtcTest {};

TEST_F(PatchKernelsForGpus, MatchBytesByDotProducts) {
  for (const auto& [patch, planes, kept, has_window] :
       {std::tuple{3, 1, 1, false}, std::tuple{3, 1, 8, true}, std::tuple{7, 1, 1, false}, std::tuple{2, 3, 2, true}}) {
    const Nvrtc::Output output = Nvrtc::find()->compile(image::match_bytes_text(patch, planes, kept, has_window), 90);
    ASSERT_TRUE(output.ok) << output.log;
    EXPECT_NE(output.ptx.find("dp4a"), std::string::npos);
    EXPECT_EQ(output.ptx.find(".local"), std::string::npos) << "arrays must be registers";
  }
}

TEST_F(PatchKernelsForGpus, MatchTilesByTensorCores) {
  for (const auto& [patch, channels, shape] :
       {std::tuple{3, 3, "m16n8k16"}, std::tuple{7, 3, "m16n8k32"}, std::tuple{8, 4, "m16n8k32"},
        std::tuple{7, 1, "m16n8k16"}, std::tuple{21, 1, "m16n8k32"}, std::tuple{4, 9, "m16n8k16"}}) {
    const Nvrtc::Output output = Nvrtc::find()->compile(image::match_tiles_text(patch, channels), 80);
    ASSERT_TRUE(output.ok) << output.log;
    EXPECT_NE(output.ptx.find("mma.sync.aligned." + std::string(shape) + ".row.col.s32.s8.u8.s32"), std::string::npos);
    EXPECT_EQ(output.ptx.find(".local"), std::string::npos) << "sums must be registers";
  }
}

TEST_F(PatchKernelsForGpus, SearchOfEveryKind) {
  for (const char* types : {"unsigned char, int, 3, 3>, 1", "float, float, 5, 1>, 2", "double, double, 2, 4>, 1",
                            "unsigned short, long long, 3, 3>, 8"}) {
    const std::string text =
        std::string(
            "#include \"core/kernels/patch_search.h\"\n#include \"image/kernels/reconstruct.h\"\n"
            "using namespace iruka::image;\nusing Search = PatchSearch<PlainDistance<") +
        types +
        ">;\nextern \"C\" __global__ void step(Search search, int sweep) {\n"
        "  search.begin(threadIdx.x, 7);\n  search.search_all(threadIdx.x, 7);\n"
        "  search.sweep(threadIdx.x, 64, sweep, true, false);\n}\n"
        "extern \"C\" __global__ void rebuild(Rebuilding job, const int* field, const float* b, float* to) {\n"
        "  to[threadIdx.x] = mean_of_patches<iruka::kReflectBorder>(job, field, b, threadIdx.x);\n}\n";
    const Nvrtc::Output output = Nvrtc::find()->compile(text, 90);
    EXPECT_TRUE(output.ok) << output.log;
  }
}

}  // namespace
}  // namespace iruka::test
