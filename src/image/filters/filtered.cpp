#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/device.h"
#include "image/filters/run.h"
#include "image/geometry/run.h"
#include "image/outputs.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "iruka/picture_filters.h"

namespace iruka::image {
namespace {

/// A picture on its way through the windows of its filter.
struct Journey {
  std::vector<FilterStage> stages;
  PictureShape shape;
  Array picture, now, kept, out;

  void check_values() const {
    for (const FilterStage& stage : stages) {
      const auto count = std::ssize(stage.outside);
      if (count != 1 && count != shape.channels)
        throw ValueError("a filter: value has " + std::to_string(count) + " numbers for a picture of " +
                         std::to_string(shape.channels) + " channels");
    }
  }
  FilterRun run(size_t number) {
    const FilterStage& stage = stages[number];
    if (stage.reads_picture) kept = std::exchange(now, picture);
    const bool is_last = number + 1 == stages.size();
    FilterRun made{
        .stage = stage,
        .shape = shape,
        .source = std::move(now),
        .other = {},
        .result = is_last && out.valid() ? out : Array::empty(picture.shape(), stage.dtype, picture.device())};
    if (stage.difference != Filtering::Difference::none) made.other = stage.differs_from_picture ? picture : kept;
    now = made.result;
    return made;
  }
};

bool has_planes(const PictureShape& shape) { return shape.layout == Layout::chw && !shape.is_flat; }
bool has_dense_rows(const Array& array, const PictureShape& shape) {
  const int64_t item = array.itemsize();
  const Strides strides = strides_of(array, shape);
  const bool has_pixels = shape.layout == Layout::hwc && !shape.is_flat;
  const int64_t column = has_pixels ? shape.channels * item : item;
  return (strides.column == column || shape.width == 1) &&
         (!has_pixels || strides.channel == item || shape.channels == 1);
}

Filtering filtering_of(const FilterRun& run) {
  const bool is_planar = has_planes(run.shape);
  const Strides from = strides_of(run.source, run.shape), to = strides_of(run.result, run.shape);
  Filtering job;
  job.source = run.source.data();
  job.row_bytes = from.row;
  job.plane_bytes = from.channel;
  job.dtype = run.source.dtype();
  job.planes = is_planar ? run.shape.channels : 1;
  job.channels = is_planar ? 1 : run.shape.channels;
  job.height = run.shape.height;
  job.width = run.shape.width;
  job.window = run.stage.window;
  job.border = static_cast<int>(run.stage.border);
  job.outside = run.stage.outside;
  job.difference = run.stage.difference;
  if (run.other.valid()) {
    const Strides other = strides_of(run.other, run.shape);
    job.other = run.other.data();
    job.other_row = other.row;
    job.other_plane = other.channel;
  }
  job.result = run.result.data();
  job.result_dtype = run.result.dtype();
  job.result_row = to.row;
  job.result_plane = to.channel;
  return job;
}

void run_stages(std::span<const FilterRun> runs) {
  std::vector<FilterRun> for_kernels;
  std::vector<FilterRun> dense;     // which live until the end
  std::vector<Array> destinations;  // of dense results that are not where they belong, else invalid
  std::vector<Filtering> jobs;
  Filterings* loops = nullptr;
  dense.reserve(runs.size());
  for (const FilterRun& run : runs) {
    Filterings* const found = prefers_kernels() ? nullptr : run.source.device().find_service<Filterings>();
    if (!found) {
      for_kernels.push_back(run);
      continue;
    }
    loops = found;
    FilterRun made = run;
    const auto rows = [&](const Array& array) { return has_dense_rows(array, run.shape) ? array : array.copy(); };
    made.source = rows(run.source);
    if (run.other.valid()) made.other = rows(run.other);
    const bool is_direct = has_dense_rows(run.result, run.shape);
    if (!is_direct) made.result = Array::empty(run.result.shape(), run.result.dtype(), run.result.device());
    destinations.push_back(is_direct ? Array() : run.result);
    jobs.push_back(filtering_of(made));
    dense.push_back(std::move(made));
  }
  filter_by_kernel(for_kernels);
  if (loops) loops->run(jobs);
  for (size_t k = 0; k < dense.size(); ++k) {
    if (destinations[k].valid()) destinations[k].assign(dense[k].result);
  }
}

}  // namespace

std::vector<Array> filtered(std::span<const Array> pictures, const PictureFilter& filter, Layout layout,
                            std::span<const Array> outs) {
  const size_t count = pictures.size();
  if (!outs.empty() && outs.size() != count)
    throw ValueError("a filter: " + std::to_string(outs.size()) + " arrays to fill for " + std::to_string(count) +
                     " pictures");
  std::vector<Journey> journeys(count);
  const std::vector<Array> sources = apart_from(outs, pictures);
  size_t rounds = 0;
  for (size_t k = 0; k < count; ++k) {
    Journey& journey = journeys[k];
    journey.stages = filter_stages(filter, pictures[k].dtype());
    journey.shape = picture_shape(pictures[k].shape(), layout, "a filter");
    journey.picture = sources[k];
    journey.check_values();
    rounds = std::max(rounds, journey.stages.size());
    if (!outs.empty() && outs[k].valid()) {
      journey.out = outs[k];
      check_out("", journey.out, journey.picture.shape(), journey.stages.back().dtype, journey.picture);
    }
    journey.now = journey.picture;
  }
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<FilterRun> runs;
    for (Journey& journey : journeys) {
      if (round < journey.stages.size()) runs.push_back(journey.run(round));
    }
    run_stages(runs);
  }
  std::vector<Array> results;
  results.reserve(count);
  for (Journey& journey : journeys) results.push_back(std::move(journey.now));
  return results;
}

Array filtered(const Array& picture, const PictureFilter& filter, Layout layout) {
  return filtered({&picture, 1}, filter, layout).front();
}

std::vector<uint8_t> structuring_element(ElementShape shape, int64_t height, int64_t width) {
  if (height < 1 || width < 1 || height > (1 << 15) || width > (1 << 15))
    throw ValueError("structuring_element: sides are numbers from 1 to 32768, not (" + std::to_string(height) + ", " +
                     std::to_string(width) + ")");
  std::vector<uint8_t> made(static_cast<size_t>(height * width));
  const int64_t middle_y = height / 2, middle_x = width / 2;
  for (int64_t y = 0; y < height; ++y) {
    int64_t first = 0, end = width;
    if (shape == ElementShape::cross && y != middle_y) {
      first = middle_x;
      end = middle_x + 1;
    } else if (shape == ElementShape::ellipse) {
      const int64_t dy = y - middle_y;
      const double squares = static_cast<double>(middle_y * middle_y);
      const double part = middle_y ? static_cast<double>(middle_y * middle_y - dy * dy) / squares : 0;
      const auto reach = std::abs(dy) > middle_y
                             ? int64_t{-1}
                             : static_cast<int64_t>(std::nearbyint(static_cast<double>(middle_x) * std::sqrt(part)));
      first = std::max<int64_t>(middle_x - reach, 0);
      end = std::min(middle_x + reach + 1, width);
    }
    for (int64_t x = first; x < end; ++x) made[static_cast<size_t>(y * width + x)] = 1;
  }
  return made;
}

}  // namespace iruka::image
