#include "core/regions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/device.h"
#include "image/geometry/run.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/kernel.h"
#include "iruka/ops.h"
#include "iruka/picture_regions.h"
#include "iruka/raw_kernel.h"
#include "iruka/statistics.h"
#include "ops/permanent_cache.h"

namespace iruka::image {
namespace {

/// A picture as bytes, of which those other than zero are foreground; rows are dense.
Array binary_picture(const Array& picture, const char* function) {
  if (picture.ndim() != 2)
    throw ShapeError(std::string(function) + ": a picture must have the axes (height, width), not shape " +
                     to_string(picture.shape()));
  if (is_complex(picture.dtype()))
    throw TypeError(std::string(function) + ": a picture must be real, not " + name(picture.dtype()));
  const Array bytes =
      picture.dtype() == Dtype::uint8 || picture.dtype() == Dtype::bool_ ? picture : picture.astype(Dtype::bool_);
  const bool is_dense = bytes.strides()[1] == 1 || bytes.shape(1) <= 1;
  const Array dense = is_dense ? bytes : bytes.copy();
  return dense.dtype() == Dtype::uint8 ? dense : dense.view(Dtype::uint8);
}
BinaryPicture as_binary(const Array& bytes) {
  return {.data = static_cast<const uint8_t*>(bytes.data()),
          .row_bytes = bytes.strides()[0],
          .height = bytes.shape(0),
          .width = bytes.shape(1)};
}
Regions* loops_of(const Array& bytes) { return prefers_kernels() ? nullptr : bytes.device().find_service<Regions>(); }

const ElementwiseKernel& kernel_of(const std::string& inputs, const std::string& outputs, const std::string& body) {
  static constinit ops::PermanentCache<std::string, ElementwiseKernel> kernels;
  return kernels.get(inputs + "|" + outputs + "|" + body, [&] {
    KernelOptions options;
    options.preamble = "#include \"image/kernels/regions.h\"\n";
    options.diagnose_early = false;
    return ElementwiseKernel(inputs, outputs, "using namespace iruka::image; " + body, "picture_regions", options);
  });
}

/// How far the nearest background pixel of each pixel's column is. Bands of the columns are scanned side by side.
Array column_distances(const Array& inside) {
  const int64_t height = inside.shape(0), width = inside.shape(1);
  const auto band = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(height))));
  const int64_t bands = (height + band - 1) / band;
  Device& device = inside.device();
  const Array columns = Array::empty(inside.shape(), Dtype::int32, device),
              above = Array::empty({bands, width}, Dtype::int32, device),
              below = Array::empty({bands, width}, Dtype::int32, device);
  const Argument find[] = {inside, height, width, band, above, below};
  kernel_of("raw const uint8 is_inside, int32 height, int32 width, int32 band", "raw int32 last, raw int32 first",
            "find_in_band(is_inside, last, first, height, width, band, i);")
      .fill(find, {.size = bands * width});
  const Argument pass[] = {bands, width, above, below};
  kernel_of("int32 bands, int32 width", "raw int32 last, raw int32 first",
            "pass_over_bands(last, first, bands, width, i);")
      .fill(pass, {.size = width});
  const Argument scan[] = {inside, above, below, height, width, band, columns};
  kernel_of(
      "raw const uint8 is_inside, raw const int32 above, raw const int32 below, int32 height, int32 width, int32 band",
      "raw int32 distances", "scan_band(is_inside, above, below, distances, height, width, band, i);")
      .fill(scan, {.size = bands * width});
  return columns;
}

const RawKernel& search_kernel(Metric metric) {
  static constinit ops::PermanentCache<Metric, RawKernel> kernels;
  return kernels.get(metric, [&] {
    const char* const names[] = {"kEuclidean", "kCityblock", "kChessboard"};
    const bool is_euclidean = metric == Metric::euclidean;
    return RawKernel(std::string("#include \"image/kernels/cuda/distance_rows.h\"\n") +
                         "extern \"C\" __global__ void nearest_in_rows(const int* columns, int* nearest, " +
                         (is_euclidean ? "float" : "int") +
                         "* result, int height, int width) {\n  iruka::image::search_rows<iruka::image::" +
                         names[static_cast<int>(metric)] + ">(columns, nearest, result, height, width, " +
                         (is_euclidean ? "INFINITY" : "0x7fffffff") + ");\n}\n",
                     "nearest_in_rows");
  });
}

void distances_by_kernel(const Array& bytes, Metric metric, const Array& result) {
  const int64_t height = bytes.shape(0), width = bytes.shape(1);
  const Array columns = column_distances(bytes.contiguous());
  // A warp for several groups of 32 pixels each; blocks that fill a GPU take the rows in turn.
  constexpr int64_t kWarp = 32, kMostWarps = 8, kMostBlocks = 2048, kGroupsOfWarp = 4;
  const int64_t groups = (width + kWarp - 1) / kWarp, blocks = std::min(height, kMostBlocks);
  const int64_t warps = std::clamp<int64_t>(groups / kGroupsOfWarp, 1, kMostWarps);
  const Array nearest = Array::empty({blocks, groups}, Dtype::int32, bytes.device());
  const RawArgument arguments[] = {columns, nearest, result, height, width};
  search_kernel(metric).launch({.grid = {blocks}, .block = {warps * kWarp}}, arguments);
}

/// What is known of each component of a picture of labels.
void add_statistics_by_kernel(const Array& labels, int64_t width, Components& made) {
  Device& device = labels.device();
  const int64_t rows = made.count + 1;
  Array sums = Array::empty({rows, 3}, Dtype::uint64, device), ends = Array::empty({rows, 4}, Dtype::int32, device);
  sums.fill(0);
  ends.at(Slice{}, Slice{0, 2}).fill(std::numeric_limits<int32_t>::max());
  ends.at(Slice{}, Slice{2, 4}).fill(-1);
  constexpr int64_t kStrip = 128;  // as in kernels/regions.h
  const int64_t height = labels.size() / width, strips = (height + kStrip - 1) / kStrip;
  const Argument add[] = {labels, height, width, sums, ends};
  kernel_of("raw const int32 labels, int32 height, int32 width", "raw uint64 sums, raw int32 ends",
            "add_strip(&labels[0], (unsigned long long*)&sums[0], &ends[0], height, width, i);")
      .fill(add, {.size = strips * width});
  made.areas = Array::empty({rows}, Dtype::int64, device);
  made.boxes = Array::empty({rows, 4}, Dtype::int32, device);
  made.centroids = Array::empty({rows, 2}, Dtype::float64, device);
  const Argument finish[] = {sums, ends, made.areas, made.boxes, made.centroids};
  kernel_of("raw const uint64 sums, raw const int32 ends", "raw int64 areas, raw int32 boxes, raw float64 centroids",
            "finish_statistics((const unsigned long long*)&sums[0], &ends[0], (long long*)&areas[0], &boxes[0], "
            "&centroids[0], i);")
      .fill(finish, {.size = rows});
}

/// Fills `made`.
void label_by_kernel(const Array& bytes, bool has_diagonals, bool has_statistics, Components& made) {
  const int64_t width = bytes.shape(1), count = bytes.size();
  Device& device = bytes.device();
  const Array parents = Array::empty({count}, Dtype::int32, device), flat = made.labels.reshape({count});
  const Array inside = bytes.contiguous().reshape({count});
  const Argument begin[] = {inside, width, parents};
  kernel_of("raw const uint8 is_inside, int32 width", "int32 parent",
            "parent = first_of_run(&is_inside[0], width, int(i));")
      .fill(begin);
  const Argument join[] = {inside, width, parents};
  kernel_of("raw const uint8 is_inside, int32 width", "raw int32 parents",
            std::string("join_neighbours<") + (has_diagonals ? "true" : "false") +
                ">(&is_inside[0], &parents[0], width, int(i));")
      .fill(join, {.size = count});
  const Array roots = Array::empty({count}, Dtype::int32, device), firsts = Array::empty({count}, Dtype::int32, device);
  const Argument find[] = {parents, roots, firsts};
  kernel_of("raw const int32 parents", "int32 root, int32 is_first",
            "root = parents[i] < 0 ? -1 : first_of(&parents[0], int(i)); is_first = root == int(i);")
      .fill(find);
  const Array numbers = scan(firsts, ScanOperation::add, 0, {.dtype = Dtype::int32});
  const Argument number[] = {roots, numbers, flat};
  kernel_of("int32 root, raw const int32 numbers", "int32 label", "label = root < 0 ? 0 : numbers[root];").fill(number);
  made.count = static_cast<int64_t>(numbers.at(count - 1).item<int32_t>());
  if (has_statistics) add_statistics_by_kernel(flat, width, made);
}

template <class T>
Array on_device(const std::vector<T>& values, const Dims& shape, Device& device) {
  Array host = Array::empty(shape, dtype_of<T>, cpu());
  std::memcpy(host.data(), values.data(), values.size() * sizeof(T));
  return host.to_device(device);
}
void set_statistics(const std::vector<ComponentStatistics>& statistics, Device& device, Components& made) {
  std::vector<int64_t> areas;
  std::vector<int32_t> boxes;
  std::vector<double> centroids;
  for (const ComponentStatistics& each : statistics) {
    areas.push_back(each.area);
    const int64_t box[] = {each.top, each.left, each.bottom - each.top + 1, each.right - each.left + 1};
    for (const int64_t number : box) boxes.push_back(static_cast<int32_t>(number));
    const auto area = static_cast<double>(each.area);  // 0 / 0 is NaN
    centroids.push_back(static_cast<double>(each.sum_y) / area);
    centroids.push_back(static_cast<double>(each.sum_x) / area);
  }
  const int64_t rows = std::ssize(statistics);
  made.areas = on_device(areas, {rows}, device);
  made.boxes = on_device(boxes, {rows, 4}, device);
  made.centroids = on_device(centroids, {rows, 2}, device);
}

}  // namespace

Array distance_transform(const Array& picture, Metric metric) {
  const Array bytes = binary_picture(picture, "distance_transform");
  const Dtype dtype = metric == Metric::euclidean ? Dtype::float32 : Dtype::int32;
  const Array result = Array::empty(bytes.shape(), dtype, bytes.device());
  if (result.size() == 0) return result;
  static_assert(static_cast<int>(Metric::chessboard) == static_cast<int>(DistanceMetric::chessboard));
  if (Regions* const loops = loops_of(bytes))
    loops->distances(as_binary(bytes), static_cast<DistanceMetric>(metric), result.data());
  else
    distances_by_kernel(bytes, metric, result);
  return result;
}

Components connected_components(const Array& picture, const ComponentOptions& options) {
  if (options.connectivity != 4 && options.connectivity != 8)
    throw ValueError("connected_components: connectivity must be 4 or 8, not " + std::to_string(options.connectivity));
  const Array bytes = binary_picture(picture, "connected_components");
  if (bytes.size() > std::numeric_limits<int32_t>::max())
    throw ShapeError("connected_components: a picture of shape " + to_string(bytes.shape()) + " has too many pixels");
  Components made;
  made.labels = Array::empty(bytes.shape(), Dtype::int32, bytes.device());
  const bool has_diagonals = options.connectivity == 8;
  Regions* const loops = loops_of(bytes);
  if (!loops && bytes.size() > 0) {
    label_by_kernel(bytes, has_diagonals, options.has_statistics, made);
    return made;
  }
  std::vector<ComponentStatistics> statistics(1);
  std::vector<ComponentStatistics>* const wanted = options.has_statistics ? &statistics : nullptr;
  if (bytes.size() > 0)
    made.count = loops->label(as_binary(bytes), has_diagonals, static_cast<int32_t*>(made.labels.data()), wanted);
  if (wanted) set_statistics(statistics, bytes.device(), made);
  return made;
}

}  // namespace iruka::image
