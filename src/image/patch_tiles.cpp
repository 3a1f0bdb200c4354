#include "image/patch_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "core/device.h"
#include "iruka/cuda.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/raw_kernel.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

// As in kernels/nearest_tiles.h.
constexpr int64_t kTileRows = 64, kTileColumns = 64, kWarps = 4, kWarp = 32, kSlack = 64, kNoScore = -(1 << 28);
constexpr int64_t kVector = 4;  ///< words that a lane loads together
/// Of a patch, so that scores are larger than kNoScore.
constexpr int64_t kMostBytes = 2048;

std::string number(int64_t value) { return std::to_string(value); }
int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

constexpr const char* kHeader = "#include \"image/kernels/nearest_tiles.h\"\nusing namespace iruka::image;\n";

/// What the kernels' texts depend on.
struct Kind {
  int64_t patch, channels;
  bool has_mask;
  auto operator<=>(const Kind&) const = default;
  bool has_copy() const { return channels > 2 && patch > 4; }
  std::string text() const { return "TileKind<" + number(patch) + ", " + number(channels) + ">"; }
};

/// As in kernels/nearest_tiles.h.
struct TileMatching {
  const void *a, *b, *squares, *halves, *steps;
  void* nearest;
  int32_t height, width, b_height, b_width, a_line, b_line, a_plane, b_plane, a_copy, b_copy, columns, band, step;
};

/// A picture in words with its border.
struct Words {
  Array words;
  int64_t rows, line, planes;
  int64_t plane() const { return rows * line; }
  int64_t size() const { return planes * plane(); }  ///< without the copy
};

ElementwiseKernel made_kernel(const Kind& kind, const char* inputs, const char* outputs, const std::string& body,
                              const char* name) {
  return {inputs,
          outputs,
          "using Kind = " + kind.text() + ";\n" + body,
          name,
          {.preamble = kHeader, .diagnose_early = false}};
}

Words words_of(const Array& picture, const Kind& kind, const PatchOptions& options, bool is_signed) {
  static constinit ops::PermanentCache<std::pair<int64_t, Border>, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get({kind.channels, options.border}, [&] {
    return made_kernel({1, kind.channels, false},
                       "raw const T picture, int32 height, int32 width, int32 channels, int32 before, int32 rows, "
                       "int32 line, int32 flip",
                       "raw int32 words",
                       "const int word = tile_word<Kind, " + number(static_cast<int64_t>(options.border)) +
                           ">({height, width, channels, before, rows, line, flip}, &picture[0], i);\nwords[i] = "
                           "word;\nif (i > 0 && i - 1 + n < words.size()) words[i - 1 + n] = word;",
                       "image_patch_tile_words");
  });
  const int64_t height = picture.shape(0), width = picture.shape(1), rows = height + options.patch - 1,
                line = rounded_up(width, kTileColumns) + rounded_up(options.patch, kVector) + kSlack,
                planes = (kind.channels + 3) / 4;
  const int64_t size = planes * rows * line;
  const Words result{Array::empty({kind.has_copy() ? 2 * size : size}, Dtype::int32, picture.device()), rows, line,
                     planes};
  const int64_t flip = is_signed == (picture.dtype() == Dtype::int8) ? 0 : 128;
  const Argument arguments[] = {
      picture,      Scalar(height), Scalar(width), Scalar(kind.channels), Scalar(options.patch / 2),
      Scalar(rows), Scalar(line),   Scalar(flip),  result.words};
  kernel.fill(arguments, {.size = size});
  return result;
}

/// What sums of products lack, for each patch of b in whole tiles: (b_height, columns).
struct Terms {
  Array squares, halves, steps;
  int64_t columns;
};

Terms terms_of(const Words& b, const Array& picture, const Array& mask, const Kind& kind) {
  static constinit ops::PermanentCache<Kind, ElementwiseKernel> kernels, finishing;
  const ElementwiseKernel& kernel = kernels.get({kind.patch, kind.channels, false}, [&] {
    return made_kernel(kind, "raw const int32 words, int32 rows, int32 line, int32 columns",
                       "raw int32 squares, raw int32 sums",
                       "patch_terms<Kind>(&words[0], rows, line, i / columns, i % columns, &squares[i], &sums[i]);",
                       "image_patch_tile_terms");
  });
  const ElementwiseKernel& finish = finishing.get({1, 1, mask.valid()}, [&] {
    return made_kernel({1, 1, mask.valid()},
                       "raw const int32 squares, raw const bool mask, int32 b_height, int32 b_width, int32 columns",
                       "raw int32 halves, raw int32 steps",
                       std::string("finish_terms(&squares[0], ") + (mask.valid() ? "&mask[0]" : "(const bool*)0") +
                           ", b_height, b_width, columns, i, &halves[0], &steps[0]);",
                       "image_patch_tile_steps");
  });
  const int64_t height = picture.shape(0), columns = rounded_up(picture.shape(1), kTileColumns);
  const auto empty = [&] { return Array::empty({height * columns}, Dtype::int32, picture.device()); };
  const Terms terms{empty(), empty(), empty(), columns};
  const Argument first[] = {b.words, Scalar(b.rows), Scalar(b.line), Scalar(columns), terms.squares, terms.steps};
  kernel.fill(first, {.size = height * columns});
  const Array allowed = mask.valid() ? mask : Array::empty({1}, Dtype::bool_, picture.device());
  const Argument second[] = {terms.squares,   allowed,      Scalar(height), Scalar(picture.shape(1)),
                             Scalar(columns), terms.halves, terms.steps};
  finish.fill(second, {.size = height * columns});
  return terms;
}

const RawKernel& match_kernel(const Kind& kind) {
  static constinit ops::PermanentCache<Kind, RawKernel> kernels;
  return kernels.get(kind, [&] { return RawKernel(match_tiles_text(kind.patch, kind.channels), "image_match_tiles"); });
}

/// Rows of a that a warp walks: few in small pictures, so that there are walks for all warps of a GPU.
int64_t band_of(int64_t height) {
  constexpr int64_t kMost = 64;
  const int64_t bands = (height + kMost - 1) / kMost;
  return (height + bands - 1) / bands;
}

void match(const Words& a, const Words& b, const Terms& terms, const Array& nearest, const Array& first,
           const Array& second, const Kind& kind) {
  const int64_t height = first.shape(0), width = first.shape(1), band = band_of(height);
  const int64_t displacements = band - 1 + second.shape(0), b_tiles = terms.columns / kTileColumns;
  // Neighbouring displacements give candidates that are alike, of which each may be a little nearer than the last one.
  constexpr double kGoldenRatio = 0.618;
  int64_t step = std::max<int64_t>(1, static_cast<int64_t>(kGoldenRatio * static_cast<double>(displacements)));
  while (std::gcd(step, displacements) != 1) ++step;
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  const TileMatching job{a.words.data(),
                         b.words.data(),
                         terms.squares.data(),
                         terms.halves.data(),
                         terms.steps.data(),
                         nearest.data(),
                         narrow(height),
                         narrow(width),
                         narrow(second.shape(0)),
                         narrow(second.shape(1)),
                         narrow(a.line),
                         narrow(b.line),
                         narrow(a.plane()),
                         narrow(b.plane()),
                         narrow(a.size()),
                         narrow(b.size()),
                         narrow(terms.columns),
                         narrow(band),
                         narrow(step)};
  const int64_t tiles = (width + kTileRows - 1) / kTileRows * ((height + band - 1) / band);
  constexpr int64_t kMostBlocks = 65535;
  const int64_t groups = std::min(kMostBlocks, (displacements * b_tiles + kWarps - 1) / kWarps);
  const RawArgument arguments[] = {job};
  match_kernel(kind).launch({.grid = {tiles, groups, 1}, .block = {kWarps * kWarp, 1, 1}}, arguments);
}

NearestPatches result_of(const Words& a, const Array& nearest, const Array& first, const Array& second,
                         const Kind& kind) {
  static constinit ops::PermanentCache<Kind, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get(kind, [&] {
    return made_kernel(kind,
                       "raw const int32 words, raw const uint64 nearest, int32 rows, int32 line, int32 width, int32 "
                       "b_width, int32 numbers",
                       "raw int32 field, raw int64 distances",
                       "write_nearest<Kind>(&words[0], rows, line, width, b_width, numbers, nearest[i], i, &field[0], "
                       "&distances[0]);",
                       "image_patch_tile_result");
  });
  const int64_t height = first.shape(0), width = first.shape(1);
  const NearestPatches result{Array::empty({height, width, 2}, Dtype::int32, first.device()),
                              Array::empty({height, width}, Dtype::int64, first.device())};
  const Argument arguments[] = {a.words,
                                nearest,
                                Scalar(a.rows),
                                Scalar(a.line),
                                Scalar(width),
                                Scalar(second.shape(1)),
                                Scalar(kind.patch * kind.patch * kind.channels),
                                result.field,
                                result.distances};
  kernel.fill(arguments, {.size = height * width});
  return result;
}

}  // namespace

bool fits_tiles(const Array& a, const PatchOptions& options) {
  const int64_t channels = a.ndim() == 3 ? a.shape(2) : 1;
  return itemsize(a.dtype()) == 1 && options.k == 1 && !options.window && channels <= kMostBytes &&
         options.patch * options.patch * channels <= kMostBytes;
}

bool has_fast_tiles(const Array& a) {
  constexpr int kComputeMajor = 75, kOldest = 8;  // the driver's number of an attribute; a compute capability
  const char* const setting = std::getenv("IRUKA_PATCH_TILES");
  if (setting && std::string_view(setting) == "0") return false;
  return cuda::device_index(a.device()) >= 0 && cuda::attribute(a.device(), kComputeMajor) >= kOldest;
}

std::string match_tiles_text(int64_t patch, int64_t channels) {
  return std::string("#include \"image/kernels/cuda/tile_walk.h\"\nusing namespace iruka::image;\n") +
         std::string("extern \"C\" __global__ void __launch_bounds__(") + number(kWarps * kWarp) +
         ", 2) image_match_tiles(TileMatching job) {\n  match_tiles<" + Kind{patch, channels, false}.text() +
         ">(job);\n}\n";
}

NearestPatches match_by_tiles(const Array& a, const Array& b, const Array& mask, const PatchOptions& options) {
  const Kind kind{options.patch, a.ndim() == 3 ? a.shape(2) : 1, false};
  const Words a_words = words_of(a, kind, options, true), b_words = words_of(b, kind, options, false);
  const Terms terms = terms_of(b_words, b, mask, kind);
  const uint64_t none = static_cast<uint64_t>(static_cast<uint32_t>(kNoScore) ^ 0x80000000U) << 32;
  Array nearest = Array::empty({a.shape(0) * a.shape(1)}, Dtype::uint64, a.device());
  nearest.fill(Scalar(none));
  match(a_words, b_words, terms, nearest, a, b, kind);
  NearestPatches result = result_of(a_words, nearest, a, b, kind);
  if (options.progress) options.progress(a.shape(0) * a.shape(1), a.shape(0) * a.shape(1));
  return result;
}

}  // namespace iruka::image
