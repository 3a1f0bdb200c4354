// Histograms of pictures and equalisation.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/device.h"
#include "core/picture_levels.h"
#include "image/geometry/plan.h"
#include "image/geometry/run.h"
#include "image/outputs.h"
#include "image/picture_moments.h"
#include "iruka/error.h"
#include "iruka/histogram.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/picture_statistics.h"
#include "iruka/statistics.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

constexpr int64_t kMostSmall = int64_t{1} << 30;  ///< elements that are counted by int

int64_t levels_of(Dtype dtype) { return dtype == Dtype::uint8 ? 256 : 65536; }

PictureShape shape_of_integers(const char* function, const Array& picture, Layout layout) {
  if (picture.dtype() != Dtype::uint8 && picture.dtype() != Dtype::uint16)
    throw TypeError(std::string(function) + ": pictures are uint8 or uint16, not " + name(picture.dtype()));
  return picture_shape(picture.shape(), layout, function);
}

/// A picture in tiles of one size, of which the last ones are cut.
struct Tiling {
  PictureShape shape;
  int64_t tile_height, tile_width, rows, columns;

  bool has_planes() const { return shape.layout == Layout::chw && !shape.is_flat; }
  Dims counts() const { return {shape.channels, rows, columns}; }
};
Tiling one_tile(const PictureShape& shape) {
  return {.shape = shape, .tile_height = shape.height, .tile_width = shape.width, .rows = 1, .columns = 1};
}

/// Strides in bytes.
struct Strides {
  int64_t row, column, channel;
};
Strides strides_of(const Array& picture, const Tiling& tiling) {
  const Dims& s = picture.strides();
  if (tiling.shape.is_flat) return {s[0], s[1], 0};
  return tiling.has_planes() ? Strides{s[1], s[2], s[0]} : Strides{s[0], s[1], s[2]};
}

/// A device's own loops, or null.
PictureLevels* loops_of(Device& device) { return prefers_kernels() ? nullptr : device.find_service<PictureLevels>(); }

const ElementwiseKernel& kernel_of(const std::string& inputs, const std::string& outputs, const std::string& body) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(inputs + "|" + outputs + "|" + body, [&] {
    KernelOptions options;
    options.preamble = "#include \"image/kernels/equalize.h\"\nusing namespace iruka::image;\n";
    options.options = {"--fmad=false"};  // as OpenCV's loops
    options.diagnose_early = false;
    return ElementwiseKernel(inputs, outputs, body, "equalize_picture", options);
  });
}

/// The parameters and arguments of a kernel over the values of tiles, and the text that makes a Tiling of them.
struct TilingText {
  std::string parameters, text, arguments;
  std::vector<Argument> values;
};
TilingText tiling_text(const Tiling& tiling, const Array& picture) {
  const std::string index = picture.size() < kMostSmall ? "int32" : "int64";
  TilingText made;
  for (const char* each : {"height", "width", "channels", "tile_height", "tile_width", "tile_rows", "tile_columns"})
    made.parameters += ", " + index + " " + each;
  made.text = "using Index = " + std::string(index == "int32" ? "int" : "int64_t") +
              ";\nconst Tiling<Index> tiling{height, width, channels, tile_height, tile_width, tile_rows, "
              "tile_columns};\n";
  made.arguments =
      std::string(tiling.has_planes() ? "true" : "false") + ", " + std::to_string(levels_of(picture.dtype()));
  for (const int64_t each : {tiling.shape.height, tiling.shape.width, tiling.shape.channels, tiling.tile_height,
                             tiling.tile_width, tiling.rows, tiling.columns})
    made.values.emplace_back(each);
  return made;
}

/// Threads that are neighbours count in tables of their own, because a flat picture has one value, and atomic
/// operations at one place are done one after the other.
Array count_by_kernel(const Tiling& tiling, const Array& picture, const Dims& dims) {
  constexpr int64_t kMostTables = 64, kMostCounts = int64_t{1} << 22, kLeastUses = 2;
  int64_t places = 1;
  for (const int64_t extent : dims) places *= extent;
  int64_t tables = 1;
  while (2 * tables <= kMostTables && 2 * tables * places <= kMostCounts &&
         2 * tables * places * kLeastUses <= picture.size())
    tables *= 2;
  Dims all{tables};
  for (const int64_t extent : dims) all.push_back(extent);
  Array counts = Array::empty(all, Dtype::int64, picture.device());
  counts.fill(Scalar(int64_t{0}));
  const TilingText text = tiling_text(tiling, picture);
  const std::string body =
      text.text +
      "const Index table = Index(i) & (tables - 1);\natomicAdd((unsigned long long*)&counts[table * "
      "places + count_place<" +
      text.arguments + ">(tiling, Index(i), int(picture))], 1ULL);";
  std::vector<Argument> arguments{picture, tables, places};
  arguments.insert(arguments.end(), text.values.begin(), text.values.end());
  arguments.emplace_back(counts);
  kernel_of(std::string(name(picture.dtype())) + " picture, int32 tables, int64 places" + text.parameters,
            "raw int64 counts", body)
      .fill(arguments);
  return tables > 1 ? reduce(sum, counts, {.axes = Dims{0}}) : counts.at(0);
}

/// How often each value occurs in each tile: int64 (channels, rows, columns, levels).
Array tile_counts(const Tiling& tiling, const Array& picture) {
  Device& device = picture.device();
  const int64_t levels = levels_of(picture.dtype());
  Dims dims = tiling.counts();
  dims.push_back(levels);
  PictureLevels* const loops = loops_of(device);
  if (!loops) return count_by_kernel(tiling, picture, dims);
  Array counts = Array::empty(dims, Dtype::int64, device);
  counts.fill(Scalar(int64_t{0}));
  const PictureShape& shape = tiling.shape;
  const auto [row, column, channel] = strides_of(picture, tiling);
  std::vector<LevelCount> jobs;
  auto* next = static_cast<int64_t*>(counts.data());
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t y = 0; y < tiling.rows; ++y) {
      for (int64_t x = 0; x < tiling.columns; ++x, next += levels) {
        const int64_t top = y * tiling.tile_height, left = x * tiling.tile_width;
        jobs.push_back({.source = static_cast<const char*>(picture.data()) + c * channel + top * row + left * column,
                        .rows = std::min(tiling.tile_height, shape.height - top),
                        .columns = std::min(tiling.tile_width, shape.width - left),
                        .row_bytes = row,
                        .column_bytes = column,
                        .is_wide = levels > 256,
                        .counts = next});
      }
    }
  }
  loops->count(jobs);
  return counts;
}

/// By the kernel, whose element is one of `counts`.
Array table_of(const Array& counts, Dtype dtype, const std::string& function, const std::string& parameters,
               const std::vector<Argument>& arguments) {
  const Array table = Array::empty(counts.shape(), dtype, counts.device());
  std::vector<Argument> all = arguments;
  all.emplace_back(table);
  kernel_of(parameters, std::string(name(dtype)) + " made", "made = " + function + ";").fill(all);
  return table;
}

Array equalized(const Array& picture, Layout layout, const Array* out) {
  const PictureShape shape = shape_of_integers("equalize", picture, layout);
  const int64_t levels = levels_of(picture.dtype());
  const Array counts = tile_counts(one_tile(shape), picture).reshape({shape.channels, levels});
  const Array sums = scan(counts, ScanOperation::add, 1);
  const Array table = table_of(counts, picture.dtype(), "equalized_level<" + std::to_string(levels) + ">(sums, i)",
                               "raw const int64 sums", {sums});
  const Chain chain({Lookup{table}}, layout);
  if (!out) return chain(picture);
  chain.into(*out, picture);
  return *out;
}

/// The tables (channels, rows, columns, levels) of tiles.
Array clahe_tables(const Tiling& tiling, const Array& picture, double clip_limit) {
  Array counts = tile_counts(tiling, picture);
  const int64_t levels = levels_of(picture.dtype()), area = tiling.tile_height * tiling.tile_width;
  const std::string count = std::to_string(levels);
  if (clip_limit > 0) {
    const double wanted = clip_limit * static_cast<double>(area) / static_cast<double>(levels);
    const int64_t limit = std::max<int64_t>(static_cast<int64_t>(std::min(wanted, static_cast<double>(area))), 1);
    const Array above = table_of(counts, Dtype::int64, "count > limit ? count - limit : 0", "int64 count, int64 limit",
                                 {counts, Scalar(limit)});
    const Array excess = reduce(sum, above, {.axes = Dims{3}, .keepdims = true});
    counts = table_of(counts, Dtype::int64, "clipped_count<" + count + ">(count, limit, excess, i)",
                      "int64 count, int64 limit, int64 excess", {counts, Scalar(limit), excess});
  }
  const Array sums = scan(counts, ScanOperation::add, 3);
  return table_of(sums, picture.dtype(), "nearest_level(double(float(sums) * scale), " + count + ")",
                  "int64 sums, float32 scale",
                  {sums, Scalar(static_cast<double>(static_cast<float>(levels - 1) / static_cast<float>(area)))});
}

void map_by_kernel(const Tiling& tiling, const Array& picture, const Array& tables, const Array& result) {
  const TilingText text = tiling_text(tiling, picture);
  const std::string dtype = name(picture.dtype());
  const std::string body =
      text.text + "made = interpolated_level<" + text.arguments + ">(tiling, tables, Index(i), int(picture));";
  std::vector<Argument> arguments{picture, tables};
  arguments.insert(arguments.end(), text.values.begin(), text.values.end());
  arguments.emplace_back(result);
  kernel_of(dtype + " picture, raw const " + dtype + " tables" + text.parameters, dtype + " made", body)
      .fill(arguments);
}

void map_levels(const Tiling& tiling, const Array& picture, const Array& tables, const Array& result) {
  PictureLevels* const loops = loops_of(picture.device());
  if (!loops) return map_by_kernel(tiling, picture, tables, result);
  const Strides from = strides_of(picture, tiling), to = strides_of(result, tiling);
  const int64_t table_bytes = tables.nbytes() / tiling.shape.channels;
  for (int64_t c = 0; c < tiling.shape.channels; ++c)
    loops->map({.source = static_cast<const char*>(picture.data()) + c * from.channel,
                .result = static_cast<char*>(result.data()) + c * to.channel,
                .rows = tiling.shape.height,
                .columns = tiling.shape.width,
                .row_bytes = from.row,
                .column_bytes = from.column,
                .result_row = to.row,
                .result_column = to.column,
                .is_wide = picture.dtype() == Dtype::uint16,
                .tables = static_cast<const char*>(tables.data()) + c * table_bytes,
                .tile_height = tiling.tile_height,
                .tile_width = tiling.tile_width,
                .tile_rows = tiling.rows,
                .tile_columns = tiling.columns});
}

Array clahe_of(const Array& picture, const Clahe& options, Layout layout, const Array* out) {
  const PictureShape shape = shape_of_integers("clahe", picture, layout);
  constexpr int64_t kMostTiles = 1 << 12;
  if (options.rows < 1 || options.columns < 1 || options.rows > kMostTiles || options.columns > kMostTiles)
    throw ValueError("clahe: tiles are (rows, columns) from 1 to " + std::to_string(kMostTiles) + ", not (" +
                     std::to_string(options.rows) + ", " + std::to_string(options.columns) + ")");
  if (std::isnan(options.clip_limit)) throw ValueError("clahe: the clip limit is NaN");
  // Like OpenCV, which adds a whole row or column of tiles where only the other axis needs more pixels.
  const bool is_whole = shape.height % options.rows == 0 && shape.width % options.columns == 0;
  const int64_t bottom = is_whole ? 0 : options.rows - shape.height % options.rows;
  const int64_t right = is_whole ? 0 : options.columns - shape.width % options.columns;
  const Array whole =
      is_whole ? picture : Chain({Pad{.bottom = bottom, .right = right, .border = Border::reflect}}, layout)(picture);
  const auto tiles_of = [&](const PictureShape& size) {
    return Tiling{.shape = size,
                  .tile_height = (shape.height + bottom) / options.rows,
                  .tile_width = (shape.width + right) / options.columns,
                  .rows = options.rows,
                  .columns = options.columns};
  };
  const Array tables = clahe_tables(tiles_of(picture_shape(whole.shape(), layout, "clahe")), whole, options.clip_limit);
  const Array result = out ? *out : Array::empty(picture.shape(), picture.dtype(), picture.device());
  map_levels(tiles_of(shape), picture, tables, result);
  return result;
}

/// The sums of the values of each channel, and of their squares: int64 (channels,), which are exact.
std::pair<Array, Array> level_sums(const Array& picture, const PictureShape& shape) {
  const int64_t levels = levels_of(picture.dtype()), item = itemsize(picture.dtype());
  const Tiling tiling = one_tile(shape);
  const auto [row, column, channel] = strides_of(picture, tiling);
  PictureLevels* const loops = loops_of(picture.device());
  const bool has_pixels = column == shape.channels * item && (channel == item || shape.channels == 1);
  if (loops && picture.size() > 0 && (has_pixels || column == item)) {
    const auto nothing = [&] {
      Array made = Array::empty({shape.channels}, Dtype::int64, picture.device());
      made.fill(Scalar(int64_t{0}));
      return made;
    };
    const Array sums = nothing(), squares = nothing();
    const int64_t planes = has_pixels ? 1 : shape.channels;
    std::vector<LevelSums> jobs;
    jobs.reserve(static_cast<size_t>(planes));
    for (int64_t c = 0; c < planes; ++c)
      jobs.push_back({.source = static_cast<const char*>(picture.data()) + c * channel,
                      .rows = shape.height,
                      .pixels = shape.width,
                      .channels = has_pixels ? shape.channels : 1,
                      .row_bytes = row,
                      .is_wide = levels > 256,
                      .sums = static_cast<int64_t*>(sums.data()) + c,
                      .squares = static_cast<int64_t*>(squares.data()) + c});
    loops->add_up(jobs);
    return {sums, squares};
  }
  const Array counts = tile_counts(tiling, picture).reshape({shape.channels, levels});
  const auto sum_of = [&](const std::string& value) {
    return reduce(
        sum, table_of(counts, Dtype::int64, "count * " + value, "int64 count, int64 levels", {counts, Scalar(levels)}),
        {.axes = Dims{1}});
  };
  return {sum_of("(i % levels)"), sum_of("((i % levels) * (i % levels))")};
}

}  // namespace

ChannelMoments moments_of_levels(const Array& picture, Layout layout) {
  const PictureShape shape = shape_of_integers("channel_moments", picture, layout);
  const int64_t pixels = shape.height * shape.width;
  const auto [sums, squares] = level_sums(picture, shape);
  const Array mean =
      table_of(sums, Dtype::float64, "double(sum) / double(pixels)", "int64 sum, int64 pixels", {sums, Scalar(pixels)});
  const Array deviation = table_of(sums, Dtype::float64, "level_deviation(sum, squares, pixels)",
                                   "int64 sum, int64 squares, int64 pixels", {sums, squares, Scalar(pixels)});
  return {mean, deviation};
}

Array equalize(const Array& picture, Layout layout) { return equalized(picture, layout, nullptr); }
void equalize_into(const Array& out, const Array& picture, Layout layout) { equalized(picture, layout, &out); }

Array clahe(const Array& picture, const Clahe& options, Layout layout) {
  return clahe_of(picture, options, layout, nullptr);
}
void clahe_into(const Array& out, const Array& picture, const Clahe& options, Layout layout) {
  check_out("clahe: ", out, picture.shape(), picture.dtype(), picture);
  clahe_of(out.may_overlap(picture) ? picture.copy() : picture, options, layout, &out);
}

Array histogram(const Array& picture, std::optional<int64_t> bins, std::optional<std::pair<double, double>> range,
                Layout layout) {
  const Dtype dtype = picture.dtype();
  if (!is_integer(dtype) || itemsize(dtype) > 2 || dtype == Dtype::int8 || dtype == Dtype::int16) {
    check_picture_dtype("histogram", dtype);
    if (!bins) throw ValueError("histogram: pictures of floats need a number of bins");
  }
  const PictureShape shape = picture_shape(picture.shape(), layout, "histogram");
  if (!bins && range) throw ValueError("histogram: a range needs a number of bins");
  const auto counts_of_levels = [&] {
    return tile_counts(one_tile(shape), picture).reshape({shape.channels, levels_of(dtype)});
  };
  if (!bins) {
    const Array counts = counts_of_levels();
    return shape.is_flat ? counts.at(0) : counts;
  }
  const double most = dtype == Dtype::uint8 ? 256 : dtype == Dtype::uint16 ? 65536 : 1;
  const std::pair<double, double> ends = range.value_or(std::pair{0.0, most});
  if (!(ends.first < ends.second))
    throw ValueError("histogram: the range must rise, but is from " + std::to_string(ends.first) + " to " +
                     std::to_string(ends.second));
  HistogramOptions options{.range = std::pair{Scalar(ends.first), Scalar(ends.second)}};
  std::vector<Array> made;
  made.reserve(static_cast<size_t>(shape.channels));
  if (is_integer(dtype) && shape.height * shape.width >= levels_of(dtype)) {
    const Array counts = counts_of_levels(), values = arange(levels_of(dtype)).to_device(picture.device());
    for (int64_t c = 0; c < shape.channels; ++c) {
      const Array weights = counts.at(c);
      options.weights = &weights;
      made.push_back(iruka::histogram(values, *bins, options).counts);
    }
  } else {
    const Array planes = shape.is_flat           ? picture.reshape({1, shape.height, shape.width})
                         : layout == Layout::chw ? picture
                                                 : picture.transpose({2, 0, 1});
    for (int64_t c = 0; c < shape.channels; ++c) made.push_back(iruka::histogram(planes.at(c), *bins, options).counts);
  }
  return shape.is_flat ? made.front() : stack(made);
}

}  // namespace iruka::image
