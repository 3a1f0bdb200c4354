#include "backend/cpu/resample_pass.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "backend/cpu/scratch.h"
#include "backend/cpu/strips.h"
#include "core/thread_pool.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kVector = 16;  ///< elements of a period of constants
/// The block of outputs of a warp that is computed at once. What a row of it reads stays in the second-level cache for
/// the next row, however the picture is turned.
constexpr int64_t kWarpRows = 32, kWarpColumns = 1024;
/// The rows that become columns together, in so many bytes if these are enough for some rows.
constexpr int64_t kTurnedRows = 64, kFewTurnedRows = 16, kTurnedBytes = 1 << 18;

int64_t with_room(int64_t bytes) { return (bytes + kRowRoom + 63) & ~int64_t{63}; }

/// Copies a pixel to `count` places. What is written is copied again, by as much as stays in the cache.
void fill_pixels(const char* from, int64_t pixel, int64_t count, char* to) {
  constexpr int64_t kMostCopied = 4096;
  if (count <= 0) return;
  if (pixel == 1) {
    std::memset(to, *from, static_cast<size_t>(count));
    return;
  }
  const int64_t bytes = pixel * count;
  std::memcpy(to, from, static_cast<size_t>(pixel));
  for (int64_t done = pixel, ready = pixel; done < bytes; done += ready) {
    if (done < kMostCopied) ready = done;
    std::memcpy(to + done, to, static_cast<size_t>(std::min(ready, bytes - done)));
  }
}

/// 1 or -1 where each output is an input, and the next output the next input or the one before it; else 0.
int64_t direction_of(const AxisMap& axis) {
  if (!axis.selects || axis.first > 0 || axis.end < axis.out) return 0;
  if (axis.is_run) return 1;
  const auto is_next = [](int32_t a, int32_t b) { return b == a - 1; };
  return std::ranges::adjacent_find(axis.start, std::not_fn(is_next)) == axis.start.end() ? -1 : 0;
}

}  // namespace

class ResamplePass::Workspace {
 public:
  explicit Workspace(const ResamplePass& pass);

  int64_t line;        ///< bytes of a computed row
  int64_t stage_line;  ///< bytes of a staged row of a plane
  char* ring;          ///< (ring_rows_, planes) computed rows
  char* sources;       ///< source rows that are converted, or have no room behind their end
  int64_t source_line;
  char* stage;   ///< the rows of all planes
  char* turned;  ///< the same in the order of the result
  char* result;  ///< of row `first`
  int64_t first = 0, result_line;
  float* places;                      ///< of the pixels of a row: y, then x
  char* split;                        ///< planes of some pixels, for colours
  char* colors;                       ///< memory of these steps
  std::vector<int64_t> tags;          ///< which row each place of the ring has
  std::vector<const void*> pointers;  ///< to rows of the ring, for a sum
};

ResamplePass::Workspace::Workspace(const ResamplePass& pass) {
  const Resampling& job = pass.job_;
  const int64_t in = job.columns->in * job.channels, out = job.columns->out * job.all_channels();
  const int64_t computed = pass.kind_ == Kind::fixed ? 2 : 4;
  line = with_room(job.columns->out * job.channels * computed);
  source_line = with_room(in * std::max(bytes_of(pass.source_), pass.kind_ == Kind::real ? 4 : int64_t{1}));
  stage_line = with_room(job.columns->out * job.channels * pass.stage_bytes_);
  const int64_t ring_bytes = pass.ring_place_.rows() * job.planes * line, source_bytes = kRowsAtOnce * source_line;
  const int64_t stage_bytes = stage_line * job.planes * (pass.kind_ == Kind::warp ? kWarpRows : 1),
                turned_bytes = with_room(out * pass.stage_bytes_);
  const int64_t block_bytes = pass.turned_rows_ * pass.turned_line_;
  const int64_t places_bytes = pass.kind_ == Kind::warp ? with_room(2 * kWarpColumns * 4) : 0;
  const int64_t split_bytes = pass.colors_ ? with_room(ColorSteps::kPixels * pass.color_channels_ * 4) : 0;
  const int64_t color_bytes = pass.colors_ ? pass.colors_->scratch_bytes() : 0;
  ring = static_cast<char*>(scratch(static_cast<size_t>(ring_bytes + source_bytes + stage_bytes + turned_bytes +
                                                        block_bytes + places_bytes + split_bytes + color_bytes)));
  sources = ring + ring_bytes;
  stage = sources + source_bytes;
  turned = stage + stage_bytes;
  char* const block = turned + turned_bytes;
  result = pass.is_turned_ ? block : static_cast<char*>(job.result);
  result_line = pass.is_turned_ ? pass.turned_line_ : job.result_row;
  places = reinterpret_cast<float*>(block + block_bytes);
  split = block + block_bytes + places_bytes;
  colors = split + split_bytes;
  tags.assign(static_cast<size_t>(pass.ring_place_.rows()), -1);
  pointers.resize(static_cast<size_t>(job.rows->even_taps()));
}

ResamplePass::Kind ResamplePass::kind_of(const Resampling& job) {
  if (job.warp) return Kind::warp;
  if (job.rows->selects && job.columns->selects) return Kind::select;
  const bool has_integers = !job.rows->fixed.empty() && !job.columns->fixed.empty();
  return job.dtype == Dtype::uint8 && has_integers ? Kind::fixed : Kind::real;
}

Sample ResamplePass::stage_of(const Resampling& job, Kind kind) {
  const Sample source = sample_of(job.source_dtype);
  const bool copies = kind == Kind::select || (kind == Kind::warp && job.warp->filter == Warping::Filter::nearest);
  if (copies || (kind == Kind::warp && source == Sample::uint8)) return source;
  return kind == Kind::fixed ? Sample::uint8 : Sample::float32;
}

ResamplePass::ResamplePass(const Resampling& job)
    : job_(job),
      loops_(resample_loops()),
      kind_(kind_of(job)),
      source_(sample_of(job.source_dtype)),
      stage_(stage_of(job, kind_)),
      result_(sample_of(job.result_dtype)),
      stage_bytes_(bytes_of(stage_)),
      result_bytes_(bytes_of(result_)),
      source_place_(job.kept_rows) {
  const int64_t channels = job.result_channels();
  order_ = channels > 1 && job.result_channel == result_bytes_ ? Order::pixels : Order::planes;
  result_column_ = order_ == Order::pixels ? channels * result_bytes_ : result_bytes_;
  is_turned_ = job.result_column != result_column_;
  result_channel_ = !is_turned_               ? job.result_channel
                    : order_ == Order::pixels ? result_bytes_
                                              : job.columns->out * result_bytes_;
  if (kind_ == Kind::select && !job.columns->is_run && rows() > kRowsAtOnce)
    tables_ = column_tables(job.columns, job.channels * stage_bytes_, ColumnUse::select);
  if (kind_ == Kind::fixed || kind_ == Kind::real) {
    tables_ = column_tables(job.columns, job.channels, kind_ == Kind::fixed ? ColumnUse::fixed : ColumnUse::real);
    fixed_ = tables_->fixed;
    real_ = tables_->real;
    fixed_.rounds = real_.rounds = job.rounds_columns;
    ring_place_ = RingPlace(std::min<int64_t>(job.rows->in, job.rows->taps + 2 * kRowsAtOnce));
  }
  if (std::ranges::any_of(job.steps, &PointStep::is_color)) {
    const bool as_values = job.planes == 1 && (order_ == Order::pixels || channels == 1) &&
                           channels == job.all_channels() && ColorSteps::are_of_values(job.steps);
    color_channels_ = as_values ? 1 : job.all_channels();
    color_results_ = as_values ? 1 : channels;
    colors_ = std::make_unique<ColorSteps>(job, stage_, result_, as_values);
  } else {
    choose_steps();
  }
  fill_outside();
  const bool keeps_order = (job.planes == 1) == (order_ == Order::pixels) || channels == 1;
  // Warps between pixels write more than a pixel.
  const bool is_exact = kind_ != Kind::warp || job.warp->filter == Warping::Filter::nearest;
  is_direct_ = keeps_order && steps_.empty() && stage_ == result_ && is_exact && !colors_;
  if (!is_turned_) return;
  turns_source_ =
      is_direct_ && kind_ == Kind::select && direction_of(*job.rows) != 0 && direction_of(*job.columns) != 0;
  // An odd number of cache lines, so that rows do not compete for the same places in the cache.
  turned_line_ = with_room(job.columns->out * channels * result_bytes_) | 64;
  if (!turns_source_) turned_rows_ = std::clamp(kTurnedBytes / turned_line_, kFewTurnedRows, kTurnedRows);
}

void ResamplePass::choose_steps() {
  const int64_t channels = job_.all_channels();
  const bool has_planes = order_ == Order::planes;
  period_ = has_planes ? kVector : std::lcm(channels, kVector);
  if (stage_ == Sample::float32 && job_.dtype != Dtype::float32)
    steps_.push_back({.rounds = true, .sample = sample_of(job_.dtype)});
  const auto numbers = static_cast<size_t>(has_planes ? channels * kVector : period_);
  numbers_.resize(2 * numbers * job_.steps.size());
  float* next = numbers_.data();
  for (const PointStep& step : job_.steps) {
    if (step.kind == PointStep::Kind::round) {
      steps_.push_back({.rounds = true, .sample = sample_of(step.dtype)});
      continue;
    }
    const auto spread = [&](const std::vector<float>& values) {
      for (size_t k = 0; k < numbers; ++k) {
        const size_t channel = has_planes ? k / kVector : k % static_cast<size_t>(channels);
        next[k] = values[values.size() == 1 ? 0 : channel];
      }
      next += numbers;
      return next - numbers;
    };
    FinishStep made;
    made.mean = spread(step.mean);
    made.scale = spread(step.scale);
    steps_.push_back(made);
  }
  // The result is rounded anyway.
  if (!steps_.empty() && steps_.back().rounds && steps_.back().sample == result_) steps_.pop_back();
  if (!has_planes) return;
  const std::vector<FinishStep> first = steps_;
  for (int64_t c = 1; c < channels; ++c) {
    for (FinishStep step : first) {
      if (!step.rounds) step.mean += c * kVector, step.scale += c * kVector;
      steps_.push_back(step);
    }
  }
}

void ResamplePass::fill_outside() {
  const auto channels = static_cast<size_t>(job_.all_channels());
  std::vector<float> values(channels + kVector);
  for (size_t c = 0; c < channels; ++c) values[c] = job_.outside[job_.outside.size() == 1 ? 0 : c];
  outside_.resize(channels * static_cast<size_t>(stage_bytes_));
  loops_.finish({.from = Sample::float32, .to = stage_}, values.data(), static_cast<int64_t>(channels),
                outside_.data());
}

int64_t ResamplePass::row_work() const {
  const int64_t read = kind_ == Kind::select ? 0 : job_.columns->in * job_.rows->in / std::max<int64_t>(rows(), 1);
  return (job_.columns->out + read) * job_.all_channels();
}

char* ResamplePass::result_row(const Workspace& space, int64_t y) const {
  return space.result + (y - space.first) * space.result_line;
}

const char* ResamplePass::source_row(int64_t plane, int64_t row) const {
  if (job_.kept_rows > 0) row = source_place_(job_.first_row + row);
  return static_cast<const char*>(job_.source) + plane * job_.plane_bytes + row * job_.row_bytes;
}

/// Computes up to kRowsAtOnce rows of all planes into their places of the ring.
void ResamplePass::compute_rows(Workspace& space, const int64_t* wanted, int count) const {
  const int64_t in = job_.columns->in * job_.channels, bytes = in * bytes_of(source_);
  const int64_t computed = kind_ == Kind::fixed ? 2 : 4, before = job_.columns->first * job_.channels * computed;
  for (int64_t plane = 0; plane < job_.planes; ++plane) {
    const void* rows[kRowsAtOnce];
    void* results[kRowsAtOnce];
    for (int k = 0; k < count; ++k) {
      const char* from = source_row(plane, wanted[k]);
      char* const own = space.sources + k * space.source_line;
      if (kind_ == Kind::real && source_ != Sample::float32) {
        loops_.finish({.from = source_, .to = Sample::float32}, from, in, own);
        from = own;
      } else if (static_cast<const char*>(job_.source_end) - from < bytes + kRowRoom) {
        std::memcpy(own, from, static_cast<size_t>(bytes));
        from = own;
      }
      rows[k] = from;
      const int64_t place = ring_place_(wanted[k]);
      results[k] = space.ring + (place * job_.planes + plane) * space.line + before;
      space.tags[static_cast<size_t>(place)] = wanted[k];
    }
    if (kind_ == Kind::fixed)
      loops_.fixed_columns(fixed_, reinterpret_cast<const uint8_t* const*>(rows),
                           reinterpret_cast<int16_t* const*>(results), count);
    else
      loops_.float_columns(real_, reinterpret_cast<const float* const*>(rows), reinterpret_cast<float* const*>(results),
                           count);
  }
}

/// Computes the rows that output row `y` needs and, to compute several at once, some of the outputs behind it.
void ResamplePass::find_rows(Workspace& space, int64_t y, const Outputs& outputs) const {
  const AxisMap& axis = *job_.rows;
  const auto has = [&](int64_t row) { return space.tags[static_cast<size_t>(ring_place_(row))] == row; };
  const auto start_of = [&](int64_t output) { return int64_t{axis.start[static_cast<size_t>(output)]}; };
  const auto end_of = [&](int64_t output) { return start_of(output) + axis.count[static_cast<size_t>(output)]; };
  int64_t wanted[kRowsAtOnce];
  int count = 0;
  for (int64_t row = start_of(y); row < end_of(y); ++row) {
    if (has(row)) continue;
    wanted[count++] = row;
    if (count == kRowsAtOnce) compute_rows(space, wanted, std::exchange(count, 0));
  }
  if (count == 0) return;
  const int64_t first = start_of(y);
  for (int64_t later = y + outputs.direction; later != outputs.end && count < kRowsAtOnce; later += outputs.direction) {
    if (start_of(later) < first || end_of(later) > first + ring_place_.rows()) break;
    const int64_t behind = std::min(end_of(later), outputs.available);
    for (int64_t row = start_of(later); row < behind && count < kRowsAtOnce; ++row) {
      if (!has(row) && std::find(wanted, wanted + count, row) == wanted + count) wanted[count++] = row;
    }
  }
  compute_rows(space, wanted, count);
}

/// The row of each plane as sums of rows of the ring, with constants where there are no columns.
void ResamplePass::stage_row(Workspace& space, int64_t y) const {
  const AxisMap& axis = *job_.rows;
  const AxisMap& columns = *job_.columns;
  const auto output = static_cast<size_t>(y);
  const int64_t computed = kind_ == Kind::fixed ? 2 : 4, before = columns.first * job_.channels;
  const int64_t elements = (columns.end - columns.first) * job_.channels;
  const int count = axis.count[output], even = count + count % 2;
  for (int64_t plane = 0; plane < job_.planes; ++plane) {
    for (int k = 0; k < count; ++k) {
      const int64_t place = ring_place_(axis.start[output] + k);
      space.pointers[static_cast<size_t>(k)] =
          space.ring + (place * job_.planes + plane) * space.line + before * computed;
    }
    if (even > count) space.pointers[static_cast<size_t>(count)] = space.pointers[static_cast<size_t>(count - 1)];
    char* const row =
        is_direct_ ? result_row(space, y) + plane * result_channel_ : space.stage + plane * space.stage_line;
    if (kind_ == Kind::fixed) {
      loops_.fixed_rows(reinterpret_cast<const int16_t* const*>(space.pointers.data()),
                        axis.fixed.data() + y * axis.even_taps(), even, elements,
                        reinterpret_cast<uint8_t*>(row) + before);
    } else {
      loops_.float_rows(reinterpret_cast<const float* const*>(space.pointers.data()),
                        axis.weights.data() + y * axis.taps, count, elements, reinterpret_cast<float*>(row) + before);
    }
  }
}

void ResamplePass::run_selection(Workspace& space, int64_t y) const {
  const AxisMap& columns = *job_.columns;
  const auto pixel = static_cast<int>(job_.channels * stage_bytes_);
  const int64_t row = job_.rows->start[static_cast<size_t>(y)], bytes = columns.in * pixel;
  for (int64_t plane = 0; plane < job_.planes; ++plane) {
    const char* from = source_row(plane, row);
    if (static_cast<const char*>(job_.source_end) - from < bytes + kRowRoom) {
      std::memcpy(space.sources, from, static_cast<size_t>(bytes));
      from = space.sources;
    }
    char* const to =
        is_direct_ ? result_row(space, y) + plane * result_channel_ : space.stage + plane * space.stage_line;
    const int64_t pixels = columns.end - columns.first;
    const int32_t* const start = columns.start.data() + columns.first;
    if (columns.is_run)
      std::memcpy(to + columns.first * pixel, from + int64_t{*start} * pixel, static_cast<size_t>(pixels * pixel));
    else if (tables_ && tables_->selected.count > 0)
      loops_.select_bytes(tables_->selected, from, to + columns.first * pixel);
    else
      loops_.select(start, pixels, pixel, from, to + columns.first * pixel);
  }
}

/// Some pixels from column `first` on of output row `y`, in the rows of all planes at `stage`.
void ResamplePass::warp_block(Workspace& space, int64_t y, char* stage, int64_t plane_bytes, int64_t first,
                              int64_t pixels) const {
  const Warping& warp = *job_.warp;
  const int64_t row = job_.rows->start[static_cast<size_t>(y)];
  const int32_t* const start = job_.columns->start.data() + first;
  float *const places_y = space.places, *const places_x = places_y + kWarpColumns;
  if (warp.map_x) {
    for (int64_t x = 0; x < pixels; ++x) {
      places_y[x] = warp.map_y[row * warp.map_line + start[x]];
      places_x[x] = warp.map_x[row * warp.map_line + start[x]];
    }
  } else {
    WarpPlaces places{.divides = warp.divides, .start = start};
    std::copy_n(warp.rows.data() + 3 * row, 3, places.row);
    std::copy_n(warp.column, 3, places.column);
    loops_.places(places, pixels, places_y, places_x);
  }
  const int64_t pixel = job_.channels * stage_bytes_;
  for (int64_t plane = 0; plane < job_.planes; ++plane) {
    loops_.warp({.filter = static_cast<WarpRow::Filter>(warp.filter),
                 .border = static_cast<BorderRule>(warp.border),
                 .sample = source_,
                 .source = source_row(plane, 0),
                 .source_end = static_cast<const char*>(job_.source_end),
                 .row_bytes = job_.row_bytes,
                 .height = static_cast<int32_t>(warp.height),
                 .width = static_cast<int32_t>(warp.width),
                 .channels = static_cast<int>(job_.channels),
                 .y = places_y,
                 .x = places_x,
                 .pixels = pixels,
                 .outside = outside_.data() + plane * pixel,
                 .result = stage + plane * plane_bytes + first * pixel});
  }
}

void ResamplePass::run_warps(Workspace& space, int64_t begin, int64_t end) const {
  const AxisMap& columns = *job_.columns;
  char* const stage = space.stage;
  const int64_t plane_bytes = is_direct_ ? result_channel_ : space.stage_line;
  for (int64_t first = begin; first < end && !should_stop(); first += kWarpRows) {
    const int64_t last = std::min(first + kWarpRows, end);
    const auto stage_of_row = [&](int64_t y) {
      return is_direct_ ? result_row(space, y) : stage + (y - first) * job_.planes * space.stage_line;
    };
    for (int64_t x = columns.first; x < columns.end; x += kWarpColumns) {
      for (int64_t y = first; y < last; ++y) {
        if (job_.rows->start[static_cast<size_t>(y)] != AxisMap::kOutside)
          warp_block(space, y, stage_of_row(y), plane_bytes, x, std::min(kWarpColumns, columns.end - x));
      }
    }
    for (int64_t y = first; y < last; ++y) {
      space.stage = stage_of_row(y);
      const bool is_outside = job_.rows->start[static_cast<size_t>(y)] == AxisMap::kOutside;
      put_outside(space.stage, plane_bytes, 0, is_outside ? columns.out : columns.first);
      put_outside(space.stage, plane_bytes, is_outside ? columns.out : columns.end, columns.out);
      if (!is_direct_) finish_row(space, y);
    }
  }
  space.stage = stage;
}

/// Changes the order of channels where the result has another one, and applies the steps.
void ResamplePass::finish_row(Workspace& space, int64_t y) const {
  if (colors_) return color_row(space, y, space.stage, space.stage_line);
  const int64_t pixels = job_.columns->out, channels = job_.all_channels(), count = pixels * channels;
  const auto itemsize = static_cast<int>(stage_bytes_);
  const bool has_planes = order_ == Order::planes;
  const char* from = space.stage;
  int64_t line = space.stage_line;
  if (job_.planes == 1 && has_planes && channels > 1) {
    line = pixels * itemsize;
    loops_.split(space.stage, pixels, channels, itemsize, pixels, space.turned);
    from = space.turned;
  } else if (job_.planes > 1 && !has_planes) {
    loops_.join(space.stage, pixels, channels, itemsize, space.stage_line / itemsize, space.turned);
    from = space.turned;
  }
  Finish finish{.from = stage_, .to = result_, .period = period_};
  finish.step_count = static_cast<int>(has_planes ? std::ssize(steps_) / channels : std::ssize(steps_));
  finish.steps = steps_.data();
  if (!has_planes) return loops_.finish(finish, from, count, result_row(space, y));
  for (int64_t c = 0; c < channels; ++c, finish.steps += finish.step_count)
    loops_.finish(finish, from + c * line, pixels, result_row(space, y) + c * result_channel_);
}

/// Whether rows of the source are rows for colours as they are.
bool ResamplePass::reads_source() const {
  const AxisMap& columns = *job_.columns;
  return colors_ && kind_ == Kind::select && columns.is_run && columns.first == 0 && columns.end == columns.out;
}

/// Applies the steps that see whole pixels to a row, whose planes begin at `from`, part by part.
void ResamplePass::color_row(Workspace& space, int64_t y, const char* from, int64_t plane_bytes) const {
  const bool is_dense = order_ == Order::pixels || color_results_ == 1;
  if (job_.planes == 1 && is_dense && colors_->has_pixel_step())
    return colors_->run_pixels(from, job_.columns->out, result_row(space, y));
  const bool splits = job_.planes == 1 && color_channels_ > 1, as_values = color_channels_ < job_.channels;
  const int64_t count = job_.columns->out * (as_values ? job_.channels : 1);
  const int64_t column = as_values ? result_bytes_ : result_column_;
  const auto itemsize = static_cast<int>(stage_bytes_), result = static_cast<int>(result_bytes_);
  const bool joins = order_ == Order::pixels && color_results_ > 1;
  for (int64_t x = 0; x < count; x += ColorSteps::kPixels) {
    const int64_t pixels = std::min(ColorSteps::kPixels, count - x);
    Planes planes{const_cast<char*>(from) + x * itemsize, plane_bytes};
    if (splits) {
      loops_.split(from + x * color_channels_ * itemsize, pixels, color_channels_, itemsize, pixels, space.split);
      planes = {space.split, pixels * itemsize};
    }
    char* const to = result_row(space, y) + x * column;
    const Planes made = colors_->run(planes, pixels, {to, result_channel_}, !joins, space.colors);
    if (joins) loops_.join(made.first, pixels, color_results_, result, made.stride / result, to);
  }
}

/// Puts some computed rows, from `first` on, into their places of the result.
void ResamplePass::turn_rows(const char* from, int64_t line, int64_t first, int64_t count) const {
  const int64_t planes = order_ == Order::planes ? job_.result_channels() : 1;
  for (int64_t plane = 0; plane < planes; ++plane)
    loops_.turn({.from = from + plane * result_channel_,
                 .line = line,
                 .rows = count,
                 .pixels = job_.columns->out,
                 .bytes = result_column_,
                 .to = static_cast<char*>(job_.result) + first * job_.result_row + plane * job_.result_channel,
                 .row = job_.result_row,
                 .column = job_.result_column});
}

void ResamplePass::turn_source(int64_t begin, int64_t end) const {
  const AxisMap &rows = *job_.rows, &columns = *job_.columns;
  const int64_t down = direction_of(rows), across = direction_of(columns), pixel = job_.channels * stage_bytes_;
  const int64_t last = columns.out - 1;
  for (int64_t first = begin; first < end && !should_stop(); first += kTurnedRows) {
    for (int64_t plane = 0; plane < job_.planes; ++plane) {
      // Pixels from the left to the right, so that the first one may be the last one of its column of the result.
      char* const to = static_cast<char*>(job_.result) + first * job_.result_row + plane * job_.result_channel;
      const int32_t left = across > 0 ? columns.start.front() : columns.start.back();
      loops_.turn({.from = source_row(plane, rows.start[static_cast<size_t>(first)]) + left * pixel,
                   .line = down * job_.row_bytes,
                   .rows = std::min(kTurnedRows, end - first),
                   .pixels = columns.out,
                   .bytes = pixel,
                   .to = across > 0 ? to : to + last * job_.result_column,
                   .row = job_.result_row,
                   .column = across * job_.result_column});
    }
  }
}

/// Constants of the rows of all planes at `stage`, from one column to another.
void ResamplePass::put_outside(char* stage, int64_t plane_bytes, int64_t begin, int64_t end) const {
  const int64_t pixel = job_.channels * stage_bytes_;
  for (int64_t plane = 0; plane < job_.planes; ++plane)
    fill_pixels(outside_.data() + plane * pixel, pixel, end - begin, stage + plane * plane_bytes + begin * pixel);
}

void ResamplePass::run_row(Workspace& space, int64_t y, const Outputs& outputs) const {
  const AxisMap& columns = *job_.columns;
  char* const stage = is_direct_ ? result_row(space, y) : space.stage;
  const int64_t plane_bytes = is_direct_ ? result_channel_ : space.stage_line;
  const int64_t start = job_.rows->start[static_cast<size_t>(y)];
  if (start == AxisMap::kOutside) {
    put_outside(stage, plane_bytes, 0, columns.out);
  } else if (reads_source()) {
    const int64_t first = columns.start.front() * job_.channels * stage_bytes_;
    return color_row(space, y, source_row(0, start) + first, job_.plane_bytes);
  } else {
    if (kind_ == Kind::select) {
      run_selection(space, y);
    } else {
      find_rows(space, y, outputs);
      stage_row(space, y);
    }
    put_outside(stage, plane_bytes, 0, columns.first);
    put_outside(stage, plane_bytes, columns.end, columns.out);
  }
  if (!is_direct_) finish_row(space, y);
}

void ResamplePass::run(int64_t begin, int64_t end) const {
  if (turns_source_) return turn_source(begin, end);
  Workspace space(*this);
  if (!is_turned_) return run_rows(space, begin, end);
  const bool is_reversed = goes_back(begin, end);
  for (int64_t done = 0; done < end - begin && !should_stop(); done += turned_rows_) {
    const int64_t count = std::min(turned_rows_, end - begin - done);
    space.first = is_reversed ? end - done - count : begin + done;
    run_rows(space, space.first, space.first + count);
    turn_rows(space.result, space.result_line, space.first, count);
  }
}

/// Whether rows of the result are in the opposite order of those of the source.
bool ResamplePass::goes_back(int64_t begin, int64_t end) const {
  return job_.rows->start[static_cast<size_t>(end - 1)] < job_.rows->start[static_cast<size_t>(begin)];
}

void ResamplePass::run_rows(Workspace& space, int64_t begin, int64_t end) const {
  if (kind_ == Kind::warp) return run_warps(space, begin, end);
  // In the order of the rows of the source, so that those in the ring serve several outputs.
  const bool is_reversed = goes_back(begin, end);
  const Outputs outputs{is_reversed ? begin - 1 : end, is_reversed ? -1 : 1, job_.rows->in};
  StopCheck stops(row_work());
  for (int64_t y = is_reversed ? end - 1 : begin; y != outputs.end && !stops(); y += outputs.direction)
    run_row(space, y, outputs);
}

/// Outputs are computed as soon as their last row is there, but not before a few more are, which are computed with it.
class ResamplePass::Stream final : public ResamplingStream {
 public:
  explicit Stream(const Resampling& job) : job_(job), pass_(job_), space_(pass_) {
    const AxisMap& rows = *job_.rows;
    const bool is_reversed = rows.first < rows.end && start_of(rows.end - 1) < start_of(rows.first);
    outputs_ = {is_reversed ? rows.first - 1 : rows.end, is_reversed ? -1 : 1, 0};
    next_ = is_reversed ? rows.end - 1 : rows.first;
    last_ = job_.first_row;
    for (int64_t y = rows.first; y < rows.end; ++y) last_ = std::max(last_, job_.first_row + end_of(y));
  }

  /// Whether outputs are rows of the result that read the source from its first row to its last.
  bool has_rows_in_order() const {
    if (pass_.is_turned_) return false;
    int64_t start = 0, end = 0;
    for (int64_t y = next_; y != outputs_.end; y += outputs_.direction) {
      if (start_of(y) < start || end_of(y) < end) return false;
      start = start_of(y), end = end_of(y);
    }
    return true;
  }
  void put_constant_rows() {
    const AxisMap& rows = *job_.rows;
    for (int64_t y = 0; y < rows.out; ++y) {
      if (y < rows.first || y >= rows.end) pass_.run_row(space_, y, outputs_);
    }
  }

 private:
  int64_t run(int64_t end) override {
    outputs_.available = std::min(end - job_.first_row, job_.rows->in);
    const int64_t ready = end < last_ ? outputs_.available - kRowsAtOnce : job_.rows->in;
    for (; next_ != outputs_.end && end_of(next_) <= ready; next_ += outputs_.direction)
      pass_.run_row(space_, next_, outputs_);
    if (next_ == outputs_.end) return INT64_MAX;
    return std::min(last_, job_.first_row + end_of(next_) + 2 * kRowsAtOnce);
  }

  int64_t start_of(int64_t y) const { return job_.rows->start[static_cast<size_t>(y)]; }
  int64_t end_of(int64_t y) const { return start_of(y) + job_.rows->count[static_cast<size_t>(y)]; }

  const Resampling job_;
  const ResamplePass pass_;
  Workspace space_;  ///< memory that the thread lends: no other pass may run on it meanwhile
  Outputs outputs_{};
  int64_t next_ = 0;  ///< output
  int64_t last_ = 0;  ///< behind the last row that counts
};

std::unique_ptr<ResamplingStream> ResamplePass::stream(const Resampling& job) {
  if (job.warp || job.rows->out == 0 || job.columns->out == 0 || job.all_channels() == 0) return nullptr;
  auto made = std::make_unique<Stream>(job);
  if (!made->has_rows_in_order()) return nullptr;
  made->put_constant_rows();
  return made;
}

}  // namespace iruka::cpu_backend
