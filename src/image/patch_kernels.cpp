#include "image/patch_kernels.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/device.h"
#include "image/patch_search.h"
#include "image/patch_tiles.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/raw_kernel.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

constexpr int64_t kThreads = 128, kTile = 32;
/// Words of a patch that the registers of a thread hold.
constexpr int64_t kMostWords = 64;
/// Threads that keep a GPU busy.
constexpr int64_t kWantedThreads = 1 << 18;

/// What the kernels' texts depend on.
struct ByteKind {
  Dtype dtype;
  int64_t patch, planes, kept;
  bool has_window;
  auto operator<=>(const ByteKind&) const = default;
};

/// As in kernels/nearest_bytes.h.
struct ByteMatching {
  const void *a, *b, *a_squares, *b_squares;
  int32_t height, width, b_height, b_width;
  int32_t window_y, window_x;
  int32_t parts;
};

std::string number(int64_t value) { return std::to_string(value); }

constexpr const char* kHeader = "#include \"image/kernels/nearest_bytes.h\"\nusing namespace iruka::image;\n";

const RawKernel& match_kernel(const ByteKind& kind) {
  static constinit ops::PermanentCache<ByteKind, RawKernel> kernels;
  return kernels.get(kind, [&] {
    return RawKernel(match_bytes_text(kind.patch, kind.planes, kind.kept, kind.has_window), "image_match_bytes");
  });
}

/// Words of a picture with its border, (pixels, planes).
Array words_of(const Array& picture, const ByteKind& kind, int64_t channels) {
  static constinit ops::PermanentCache<ByteKind, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get({kind.dtype, 0, kind.planes, 0, false}, [&] {
    return ElementwiseKernel("raw const T picture, int32 channels, int32 centre", "int32 word",
                             "word = word_of<" + number(kind.planes) + ">(&picture[0], channels, centre, i);",
                             "image_patch_words", {.preamble = kHeader, .diagnose_early = false});
  });
  const Array words = Array::empty({picture.size() / channels * kind.planes}, Dtype::int32, picture.device());
  const int64_t centre = kind.dtype == Dtype::uint8 ? 128 : 0;
  kernel(picture, Scalar(channels), Scalar(centre), words);
  return words;
}

/// |patch|^2 of each pixel; what the mask does not allow is too far away.
Array squares_of(const Array& words, const ByteKind& kind, int64_t height, int64_t width, const Array& mask) {
  static constinit ops::PermanentCache<ByteKind, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get({Dtype::int8, kind.patch, kind.planes, 0, mask.valid()}, [&] {
    const std::string squares =
        "patch_squares<" + number(kind.patch) + ", " + number(kind.planes) + ">(&words[0], width, i)";
    return ElementwiseKernel(
        mask.valid() ? "raw const int32 words, int32 width, bool is_allowed" : "raw const int32 words, int32 width",
        "int32 sum", "sum = " + (mask.valid() ? "is_allowed ? " + squares + " : kBlocked" : squares) + ";",
        "image_patch_squares", {.preamble = kHeader, .diagnose_early = false});
  });
  const Array squares = Array::empty({height * width}, Dtype::int32, words.device());
  mask.valid() ? kernel(words, Scalar(width), mask.reshape({height * width}), squares)
               : kernel(words, Scalar(width), squares);
  return squares;
}

NearestPatches match_bytes(const Array& a, const Array& b, const Array& mask, const PatchOptions& options,
                           const ByteKind& kind) {
  Device& device = a.device();
  const int64_t height = a.shape(0), width = a.shape(1), pixels = height * width, candidates = b.shape(0) * b.shape(1),
                channels = a.ndim() == 3 ? a.shape(2) : 1;
  const Array a_words = words_of(bordered(a, options.patch, options.border), kind, channels),
              b_words = words_of(bordered(b, options.patch, options.border), kind, channels),
              a_squares = squares_of(a_words, kind, height, width, Array()),
              b_squares = squares_of(b_words, kind, b.shape(0), b.shape(1), mask);
  constexpr int64_t kUnlimited = int64_t{1} << 30, kMostParts = 64;
  const auto [window_y, window_x] = options.window.value_or(std::pair{kUnlimited, kUnlimited});
  const int64_t parts =
      std::clamp<int64_t>(kWantedThreads / pixels, 1, std::min(kMostParts, (candidates + kTile - 1) / kTile));
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  const ByteMatching job{a_words.data(),
                         b_words.data(),
                         a_squares.data(),
                         b_squares.data(),
                         narrow(height),
                         narrow(width),
                         narrow(b.shape(0)),
                         narrow(b.shape(1)),
                         narrow(std::min(window_y, kUnlimited)),
                         narrow(std::min(window_x, kUnlimited)),
                         narrow(parts)};
  const Array distances = Array::empty({parts * options.k * pixels}, Dtype::int32, device),
              labels = Array::empty(distances.shape(), Dtype::int32, device);
  const RawArgument arguments[] = {job, distances, labels};
  match_kernel(kind).launch({.grid = {(pixels + kThreads - 1) / kThreads, parts, 1}, .block = {kThreads, 1, 1}},
                            arguments);
  Dims shape{height, width};
  if (options.k > 1) shape.push_back(options.k);
  Dims field_shape = shape;
  field_shape.push_back(2);
  NearestPatches result{Array::empty(field_shape, Dtype::int32, device), Array::empty(shape, Dtype::int64, device)};
  static constinit ops::PermanentCache<int64_t, ElementwiseKernel> kernels;
  const ElementwiseKernel& merge = kernels.get(options.k, [&] {
    return ElementwiseKernel(
        "raw const int32 distances, raw const int32 labels, raw const int32 squares, int32 height, "
        "int32 width, int32 b_width, int32 parts",
        "raw int32 field, raw int64 result",
        "const ByteMatching job{nullptr, nullptr, &squares[0], nullptr, height, width, 0, b_width, 0, 0, "
        "parts};\nmerge_parts<" +
            number(options.k) + ">(job, &distances[0], &labels[0], i, &field[0], &result[0]);",
        "image_merge_patches", {.preamble = kHeader, .diagnose_early = false});
  });
  const Argument merged[] = {distances,          labels,        a_squares,    Scalar(height),  Scalar(width),
                             Scalar(b.shape(1)), Scalar(parts), result.field, result.distances};
  merge.fill(merged, {.size = pixels});
  if (options.progress) options.progress(pixels, pixels);
  return result;
}

}  // namespace

std::string match_bytes_text(int64_t patch, int64_t planes, int64_t kept, bool has_window) {
  const std::string list = number(patch) + ", " + number(planes) + ", " + number(kept) + ", " + number(kThreads) +
                           ", " + number(kTile) + (has_window ? ", true" : ", false");
  return kHeader + std::string("extern \"C\" __global__ void __launch_bounds__(") + number(kThreads) +
         ") image_match_bytes(ByteMatching job, int* distances, int* labels) {\n"
         "  __shared__ __align__(16) int tile[" +
         number(kTile) + " * patch_line(" + number(patch * patch * planes) + ")];\n  match_part<" + list +
         ">(job, blockIdx.x, blockIdx.y, threadIdx.x, tile, [] { __syncthreads(); }, distances, labels);\n}\n";
}

NearestPatches match_by_kernels(const Array& a, const Array& b, const Array& mask, const PatchOptions& options) {
  if (fits_tiles(a, options) && has_fast_tiles(a)) return match_by_tiles(a, b, mask, options);
  const int64_t planes = ((a.ndim() == 3 ? a.shape(2) : 1) + 3) / 4;
  if (itemsize(a.dtype()) == 1 && options.patch * options.patch * planes <= kMostWords)
    return match_bytes(a, b, mask, options, {a.dtype(), options.patch, planes, options.k, options.window.has_value()});
  return search_all_patches(a, b, mask, options);
}

}  // namespace iruka::image
