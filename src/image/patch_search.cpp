#include "image/patch_search.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iruka/creation.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/padding.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

/// Pixels of a segment, along which candidates are handed on.
constexpr int64_t kSegment = 64;

/// What a kernel's text depends on.
struct SearchKind {
  Dtype dtype;
  int64_t patch, channels, kept;
  bool is_first;  ///< whether it makes the first candidates, else sweeps
  auto operator<=>(const SearchKind&) const = default;
};

/// The dtype in which distances are summed.
Dtype sum_dtype(Dtype dtype, int64_t numbers) {
  if (is_inexact(dtype)) return dtype;
  return itemsize(dtype) == 1 && numbers * 255 * 255 < (int64_t{1} << 31) ? Dtype::int32 : Dtype::int64;
}

const ElementwiseKernel& kernel_of(const SearchKind& kind) {
  static constinit ops::PermanentCache<SearchKind, ElementwiseKernel> kernels;
  return kernels.get(kind, [&] {
    const auto number = [](int64_t value) { return std::to_string(value); };
    const Dtype sum = sum_dtype(kind.dtype, kind.patch * kind.patch * kind.channels);
    const std::string search =
        "PatchSearch<" + std::string(info(kind.dtype).c_type) + ", " + info(sum).c_type + ", " + number(kind.patch) +
        ", " + number(kind.channels) + ", " + number(kind.kept) +
        "> search{{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6]}, &a[0], &b[0], &mask[0], "
        "&before[0], &labels[0], &distances[0], seed};\n";
    const std::string call = kind.is_first
                                 ? "search.begin(i, farthest);"
                                 : "search.sweep<" + number(kSegment) + ">(i, sweep, is_row, is_backward);";
    const std::string type = name(kind.dtype), distance = name(sum);
    return ElementwiseKernel("raw const " + type + " a, raw const " + type +
                                 " b, raw const bool mask, raw const int32 before, int32 sizes[7], uint64 seed, " +
                                 distance + " farthest, int32 sweep, bool is_row, bool is_backward",
                             "raw int32 labels, raw " + distance + " distances", search + call,
                             kind.is_first ? "image_patch_search_begin" : "image_patch_search",
                             {.preamble = "#include \"image/kernels/patch_search.h\"\nusing namespace iruka::image;\n",
                              .diagnose_early = false});
  });
}

Array with_border(const Array& picture, const PatchOptions& options) {
  static constexpr PadMode kModes[] = {PadMode::edge, PadMode::reflect, PadMode::constant, PadMode::wrap};
  if (options.patch == 1) return picture;
  const Margins<int64_t> margins{options.patch / 2, options.patch - 1 - options.patch / 2};
  std::vector<Margins<int64_t>> widths{margins, margins};
  if (picture.ndim() == 3) widths.emplace_back(0, 0);
  return pad(picture, widths, {.mode = kModes[static_cast<size_t>(options.border)]}).contiguous();
}

/// Labels as y and x.
Array field_of(const Array& labels, Dims shape, int64_t width) {
  static constinit ops::PermanentCache<int, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get(0, [] {
    return ElementwiseKernel("raw const int32 labels, int32 width", "raw int32 field",
                             "field[2 * i] = labels[i] < 0 ? -1 : labels[i] / width;\n"
                             "field[2 * i + 1] = labels[i] < 0 ? -1 : labels[i] % width;",
                             "image_patch_field");
  });
  shape.push_back(2);
  const Array field = Array::empty(shape, Dtype::int32, labels.device());
  const Argument arguments[] = {labels, Scalar(width), field};
  kernel.fill(arguments, {.size = labels.size()});
  return field;
}

/// int64, the largest where there is no candidate.
Array distances_of(const Array& labels, const Array& distances, const Dims& shape) {
  static constinit ops::PermanentCache<int, ElementwiseKernel> kernels;
  const ElementwiseKernel& kernel = kernels.get(0, [] {
    return ElementwiseKernel("int32 label, T distance", "int64 wide",
                             "wide = label < 0 ? 0x7fffffffffffffffLL : (long long)distance;", "image_patch_distances");
  });
  const Array wide = Array::empty(shape, Dtype::int64, labels.device());
  kernel(labels.reshape(shape), distances.reshape(shape), wide);
  return wide;
}

/// The largest number that distances may have, or infinity.
Scalar farthest_of(Dtype dtype) {
  if (is_inexact(dtype)) return {std::numeric_limits<double>::infinity()};
  return dtype == Dtype::int32 ? Scalar(int64_t{std::numeric_limits<int32_t>::max()})
                               : Scalar(std::numeric_limits<int64_t>::max());
}

}  // namespace

NearestPatches search_patches(const Array& a, const Array& b, const Array& mask, const PatchOptions& options) {
  Device& device = a.device();
  const int64_t height = a.shape(0), width = a.shape(1), channels = a.ndim() == 3 ? a.shape(2) : 1;
  SearchKind kind{a.dtype(), options.patch, channels, options.k, true};
  const Dtype sum = sum_dtype(a.dtype(), options.patch * options.patch * channels);
  const Array padded_a = with_border(a, options), padded_b = with_border(b, options);
  const Array labels = Array::empty({height * width * options.k}, Dtype::int32, device),
              distances = Array::empty(labels.shape(), sum, device);
  Array before = Array::empty({1}, Dtype::int32, device);
  const Array allowed = mask.valid() ? mask : Array::empty({1}, Dtype::bool_, device);
  const auto window = options.window.value_or(std::pair<int64_t, int64_t>{std::numeric_limits<int32_t>::max(),
                                                                          std::numeric_limits<int32_t>::max()});
  constexpr int64_t kUnlimited = int64_t{1} << 30;
  const int32_t sizes[7] = {static_cast<int32_t>(height),
                            static_cast<int32_t>(width),
                            static_cast<int32_t>(b.shape(0)),
                            static_cast<int32_t>(b.shape(1)),
                            static_cast<int32_t>(std::min(window.first, kUnlimited)),
                            static_cast<int32_t>(std::min(window.second, kUnlimited)),
                            mask.valid() ? 1 : 0};
  const Array numbers = Array::from(std::span<const int32_t>(sizes), {7});
  const Scalar farthest = farthest_of(sum);
  const auto run = [&](int64_t sweep, int64_t size) {
    const bool is_row = sweep % 2 == 0, is_backward = sweep % 4 >= 2;
    const Argument arguments[] = {padded_a, padded_b,      allowed, before,      numbers, Scalar(options.seed),
                                  farthest, Scalar(sweep), is_row,  is_backward, labels,  distances};
    kernel_of(kind).fill(arguments, {.size = size});
  };
  const int64_t sweeps = 2 * options.iterations, pixels = height * width;
  run(0, pixels);
  kind.is_first = false;
  for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
    if (options.progress) options.progress(pixels * sweep / sweeps, pixels);
    before = labels.copy();
    const bool is_row = sweep % 2 == 0;
    const int64_t lines = is_row ? height : width, length = is_row ? width : height;
    run(sweep, lines * ((length + kSegment - 1) / kSegment));
  }
  Dims shape{height, width};
  if (options.k > 1) shape.push_back(options.k);
  NearestPatches result;
  result.field = field_of(labels, shape, b.shape(1));
  result.distances = is_inexact(sum) ? distances.reshape(shape) : distances_of(labels, distances, shape);
  if (options.progress) options.progress(pixels, pixels);
  return result;
}

}  // namespace iruka::image
