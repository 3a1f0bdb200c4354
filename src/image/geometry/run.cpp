#include "image/geometry/run.h"

#include <algorithm>
#include <atomic>

#include "core/device.h"
#include "iruka/device.h"

namespace iruka::image {
namespace {

constinit std::atomic<bool> kernels_are_preferred{false};

/// Behind the last byte of an array.
const void* end_of(const Array& array) {
  int64_t last = array.itemsize();
  for (int axis = 0; axis < array.ndim(); ++axis)
    last += std::max<int64_t>(array.strides()[axis], 0) * (array.shape(axis) - 1);
  return static_cast<const char*>(array.data()) + last;
}

/// The picture with rows, or planes of rows, that are dense.
Array with_dense_rows(const Array& picture, const PictureShape& shape) {
  const int64_t item = picture.itemsize();
  const Strides strides = strides_of(picture, shape);
  const bool has_pixels = shape.layout == Layout::hwc && !shape.is_flat;
  const int64_t column = has_pixels ? shape.channels * item : item;
  const bool is_dense =
      (strides.column == column || shape.width == 1) && (!has_pixels || strides.channel == item || shape.channels == 1);
  return is_dense ? picture : picture.copy();
}

/// Places of outputs at which the picture is sampled.
std::shared_ptr<const Warping> warping_of(const PassRun& run) {
  const PassPlan& plan = run.plan;
  if (!plan.warp) return nullptr;
  auto made = std::make_shared<Warping>();
  switch (plan.warp->filter) {
    case Filter::nearest: made->filter = Warping::Filter::nearest; break;
    case Filter::cubic: made->filter = Warping::Filter::cubic; break;
    default: made->filter = Warping::Filter::linear;
  }
  made->border = plan.warp->border;
  made->height = plan.height;
  made->width = plan.width;
  if (run.map_x.valid()) {
    made->map_y = static_cast<const float*>(run.map_y.data());
    made->map_x = static_cast<const float*>(run.map_x.data());
    made->map_line = run.map_x.shape(1);
    return made;
  }
  WarpNumbers numbers(*plan.warp, plan.rows.in);
  made->divides = numbers.divides;
  std::ranges::copy(numbers.column, made->column);
  made->rows = std::move(numbers.rows);
  return made;
}

Resampling resampling_of(const PassRun& run) {
  const PassPlan& plan = run.plan;
  const bool has_planes = plan.from.layout == Layout::chw && !plan.from.is_flat;
  const Strides from = strides_of(run.source, plan.from), to = strides_of(run.result, plan.to);
  const int64_t item = run.source.itemsize(), column = has_planes ? item : item * plan.from.channels;
  Resampling job;
  job.source = static_cast<const char*>(run.source.data()) + plan.y * from.row + plan.x * column;
  job.source_end = end_of(run.source);
  job.row_bytes = from.row;
  job.plane_bytes = has_planes ? from.channel : 0;
  job.source_dtype = plan.source_dtype;
  job.dtype = plan.dtype;
  job.planes = has_planes ? plan.from.channels : 1;
  job.channels = has_planes ? 1 : plan.from.channels;
  job.rows = axis_map(plan.rows);
  job.columns = axis_map(plan.columns);
  job.warp = warping_of(run);
  job.rounds_columns = plan.rounds_columns();
  job.outside = plan.outside;
  job.steps = plan.steps;
  for (PointStep& step : job.steps) {
    if (step.table.valid()) step.table = step.table.to_device(cpu());
  }
  job.result = run.result.data();
  job.result_dtype = plan.result_dtype;
  job.result_row = plan.is_transposed ? to.column : to.row;
  job.result_column = plan.is_transposed ? to.row : to.column;
  job.result_channel = to.channel;
  return job;
}

}  // namespace

Strides strides_of(const Array& array, const PictureShape& shape) {
  const Dims& s = array.strides();
  if (shape.is_flat) return {s[0], s[1], array.itemsize()};
  return shape.layout == Layout::hwc ? Strides{s[0], s[1], s[2]} : Strides{s[1], s[2], s[0]};
}

WarpNumbers::WarpNumbers(const Warp& warp, int64_t outputs) : divides(divides_places(warp)) {
  const std::array<double, 9>& m = warp.matrix;
  for (size_t k = 0; k < 3; ++k) column[k] = static_cast<float>(m[3 * k]);
  rows.reserve(static_cast<size_t>(3 * outputs));
  for (int64_t y = 0; y < outputs; ++y) {
    for (size_t k = 0; k < 3; ++k)
      rows.push_back(static_cast<float>(m[3 * k + 1] * static_cast<double>(y) + m[3 * k + 2]));
  }
}

bool prefers_kernels() { return kernels_are_preferred.load(std::memory_order_relaxed); }
void prefer_kernels(bool are_preferred) { kernels_are_preferred.store(are_preferred, std::memory_order_relaxed); }

int64_t stream_rows(const PassPlan& plan) {
  return std::min<int64_t>(plan.from.height, axis_map(plan.rows)->taps + ResamplingStream::kRowsBeside);
}

std::unique_ptr<ResamplingStream> stream_pass(const PassRun& run) {
  Resamplings* const loops = prefers_kernels() ? nullptr : run.source.device().find_service<Resamplings>();
  if (!loops || run.plan.warp) return nullptr;
  Resampling job = resampling_of(run);
  job.first_row = run.plan.y;
  job.kept_rows = run.source.shape(0);
  job.source = static_cast<const char*>(job.source) - run.plan.y * job.row_bytes;
  return loops->stream(job);
}

void run_passes(std::span<const PassRun> runs) {
  std::vector<Array> sources;  // which live until the end
  std::vector<Resampling> jobs;
  std::vector<PassRun> for_kernels;
  sources.reserve(runs.size());
  jobs.reserve(runs.size());
  Resamplings* loops = nullptr;
  for (const PassRun& run : runs) {
    Resamplings* const found = prefers_kernels() ? nullptr : run.source.device().find_service<Resamplings>();
    if (!found) {
      for_kernels.push_back(run);
      continue;
    }
    loops = found;
    PassRun dense = run;
    dense.source = with_dense_rows(run.source, run.plan.from);
    jobs.push_back(resampling_of(dense));
    sources.push_back(std::move(dense.source));
  }
  run_by_kernel(for_kernels);
  if (loops) loops->run(jobs);
}

}  // namespace iruka::image
