// A convolution is divided into blocks: some rows of one image and group, for some of the outputs. Loops over vectors
// of outputs (window_lanes.h) compute the pixels of a block whose windows have the same taps inside of the image; so
// margins take no memory. Where that leaves too few pixels, or images are in C order, a block copies what it sees, with
// margins. Depthwise convolutions follow vectors of channels instead, and those of few outputs vectors of pixels.
#include "backend/cpu/convolution.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/packed_weights.h"
#include "backend/cpu/planar_convolution.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/window_loops.h"
#include "core/device.h"
#include "core/once.h"
#include "core/parallel.h"
#include "iruka/array.h"

namespace iruka::cpu_backend {
namespace {

/// What a block sees lies in the second-level cache, and so do the weights of a chunk: steps of one vector.
constexpr int64_t kBlockBytes = 160 << 10, kChunkSteps = 6144;
constexpr double kMostCopyBytes = 64 << 20;
/// Pixels for which it pays to read a block's weights, and those of which places are found at once.
constexpr int64_t kFewestPixels = 96, kMostPixels = 1536;

bool is_depthwise(int64_t channels, int64_t outputs, int64_t groups) {
  return groups > 1 && channels == groups && outputs == groups;
}

/// The weights of a depthwise convolution as (taps, outputs).
template <class T>
Array packed_by_taps(const Array& given) {
  const Array weights = given.contiguous();
  const int64_t outputs = weights.shape(0), taps = weights.size() / outputs;
  const Array made = Array::empty({taps, outputs}, weights.dtype(), cpu());
  const auto* const from = static_cast<const T*>(weights.data());
  auto* const to = static_cast<T*>(made.data());
  for (int64_t output = 0; output < outputs; ++output)
    for (int64_t tap = 0; tap < taps; ++tap) to[tap * outputs + output] = from[output * taps + tap];
  return made;
}

/// A row of pixels of a source, and what is copied of it: zeros stand for pixels outside of the row.
struct RowCopy {
  int64_t first, count;    ///< the place of the first pixel, and pixels
  int64_t width;           ///< pixels of the row
  int64_t pixel, channel;  ///< elements of the source from pixel to pixel and from channel to channel
  int64_t channels;        ///< that are copied
};
template <class T>
void copy_row(const WindowLoops& loops, const RowCopy& copy, const T* row, T* to) {
  const int64_t size = copy.channels;
  const int64_t before = std::clamp<int64_t>(-copy.first, 0, copy.count);
  const int64_t end = std::clamp(copy.width - copy.first, before, copy.count);
  std::fill_n(to, before * size, T(0));
  const T* const from = row + (copy.first + before) * copy.pixel;
  T* const inner = to + before * size;
  if (copy.channel == 1 && size == copy.pixel) {
    std::copy_n(from, (end - before) * size, inner);
  } else if (sizeof(T) == sizeof(float) && copy.pixel == 1) {
    loops.turn(reinterpret_cast<const float*>(from), copy.channel, size, end - before, reinterpret_cast<float*>(inner),
               size);
  } else {
    for (int64_t channel = 0; channel < size; ++channel) {
      const T* at = from + channel * copy.channel;
      for (int64_t q = 0; q < end - before; ++q, at += copy.pixel) inner[q * size + channel] = *at;
    }
  }
  std::fill_n(to + end * size, (copy.count - end) * size, T(0));
}

/// Writes `first`, `first + step`...; gives the place behind the last one.
int64_t* write_steps(int64_t* to, int64_t count, int64_t first, int64_t step) {
  for (int64_t k = 0; k < count; ++k) to[k] = first + k * step;
  return to + count;
}

/// Neighbouring places of an axis of the result whose windows have the same taps inside of the input.
struct AxisPart {
  int64_t first, count;
  int64_t tap, tap_end;
  int64_t end() const { return first + count; }
};

/// All images with their margins: no block copies more.
double bytes_with_margins(const Convolution& job) {
  double bytes = static_cast<double>(job.images * job.channels * itemsize(job.dtype));
  for (size_t axis = 0; axis < 3; ++axis)
    bytes *= static_cast<double>(job.in[axis] + job.before[axis] + job.behind[axis]);
  return bytes;
}

template <class T>
class ConvolutionPlan {
 public:
  ConvolutionPlan(const Convolution& job, const WindowLoops& loops, int threads)
      : job_(job),
        all_loops_(loops),
        loops_(loops_of<T>(loops)),
        channels_(job.channels / job.groups),
        outputs_(job.outputs / job.groups),
        is_depthwise_(is_depthwise(job.channels, job.outputs, job.groups)),
        groups_(is_depthwise_ ? 1 : job.groups),
        lanes_(loops.bytes / static_cast<int64_t>(sizeof(T))),
        ranges_(ranges_of(outputs_, lanes_, most_vectors(loops.bytes))),
        bias_(static_cast<size_t>(job.groups * padded_outputs())) {
    for (int64_t k = 0; job.bias && k < job.outputs; ++k)
      bias_[static_cast<size_t>(bias_place(k / outputs_) + k % outputs_)] = static_cast<const T*>(job.bias)[k];
    for (size_t axis = 0; axis < 3; ++axis) parts_[axis] = parts_of(axis);
    is_copied_ = !job.are_images_channels_last || has_wide_margins();
    pixel_ = is_copied_ && !is_depthwise_ ? channels_ : job.channels;
    choose_blocks(threads);
    if (!is_bounded()) return;
    line_ = is_copied_ ? seen(2, columns_) : job.in[2];
    plane_ = is_copied_ ? seen(1, rows_) * line_ : job.in[1] * line_;
    if (!is_copied_) return;
    for (size_t axis = 0; axis < 3; ++axis) parts_[axis] = {{0, job.out[axis], 0, job.kernel[axis]}};
  }

  /// Whether the memory of a block is bounded: windows may have places that are far from each other.
  bool is_bounded() const {
    return !is_copied_ || static_cast<double>(images_) * seen_bytes(rows_, columns_) <= kMostCopyBytes;
  }

  void run() const {
    const int64_t blocks = divided(job_.images, images_) * groups_ * job_.out[0] * divided(job_.out[1], rows_) *
                           divided(job_.out[2], columns_);
    ThreadPool::instance().run(blocks * shares_, 1,
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t unit = begin; unit < end && !should_stop(); ++unit) run_unit(unit);
                               },
                               {.alone = kAlone});
  }

 private:
  /// Rows or columns of the input that windows of `count` neighbouring pixels see.
  int64_t seen(size_t axis, int64_t count) const {
    return (count - 1) * job_.stride[axis] + (job_.kernel[axis] - 1) * job_.dilation[axis] + 1;
  }

  std::vector<AxisPart> parts_of(size_t axis) const {
    std::vector<AxisPart> parts;
    // The last window that ends inside of the input: those before it that begin inside have all taps.
    const int64_t room = job_.in[axis] + job_.before[axis] - seen(axis, 1);
    const int64_t last_whole = room < 0 ? -1 : std::min(room / job_.stride[axis], job_.out[axis] - 1);
    for (int64_t at = 0; at < job_.out[axis];) {
      const int64_t begin = at * job_.stride[axis] - job_.before[axis], step = job_.dilation[axis];
      const int64_t tap = places_before(0, begin, step, job_.kernel[axis]);
      const int64_t tap_end = places_before(job_.in[axis], begin, step, job_.kernel[axis]);
      const int64_t count = begin >= 0 && at <= last_whole ? last_whole + 1 - at : 1;
      if (!parts.empty() && parts.back().tap == tap && parts.back().tap_end == tap_end)
        parts.back().count += count;
      else
        parts.push_back({at, count, tap, tap_end});
      at += count;
    }
    return parts;
  }

  /// Whether so many windows reach into margins, or in so many ways, that blocks of whole windows, of a copy with
  /// margins, pay.
  bool has_wide_margins() const {
    double share = 1;
    for (size_t axis = 0; axis < 3; ++axis) {
      if (parts_[axis].size() > 3) return true;
      int64_t whole = 0;
      for (const AxisPart& part : parts_[axis])
        if (part.tap == 0 && part.tap_end == job_.kernel[axis]) whole += part.count;
      share *= static_cast<double>(whole) / static_cast<double>(job_.out[axis]);
    }
    return share < 0.6;
  }

  /// Elements of the input that a block of one image sees.
  int64_t seen_size(int64_t rows, int64_t columns) const {
    return job_.kernel[0] * seen(1, rows) * seen(2, columns) * pixel_;
  }

  double seen_bytes(int64_t rows, int64_t columns) const {
    return static_cast<double>(job_.kernel[0]) * static_cast<double>(seen(1, rows)) *
           static_cast<double>(seen(2, columns)) * static_cast<double>(pixel_) * sizeof(T);
  }

  /// Images of a block: each thread has one, and their copies are bounded.
  int64_t most_images(int threads) const {
    const double bytes = std::max(1.0, seen_bytes(rows_, columns_));
    const auto in_memory = static_cast<int64_t>(std::min(kMostCopyBytes / bytes, static_cast<double>(job_.images)));
    return std::max<int64_t>(1, std::min(in_memory, divided(job_.images, threads)));
  }

  /// As many rows as the cache may hold of the input, a part of one, or several small images; fewer where threads would
  /// have no blocks else.
  void choose_blocks(int threads) {
    const auto fits = [&](int64_t rows, int64_t columns) { return seen_bytes(rows, columns) <= kBlockBytes; };
    const int64_t wanted = threads > 1 ? threads * kBlocksPerThread : 1;
    const int64_t planes = std::max<int64_t>(1, job_.images * groups_ * job_.out[0]);
    columns_ = job_.out[2];
    rows_ = std::clamp<int64_t>(divided(kMostPixels, columns_), 1, job_.out[1]);
    while (rows_ > 1 && !fits(rows_, columns_)) --rows_;
    const int64_t fewest = std::max<int64_t>(1, kFewestPixels / columns_);
    rows_ = std::min(rows_, std::max(fewest, job_.out[1] / divided(wanted, planes)));
    rows_ = divided(job_.out[1], divided(job_.out[1], rows_));
    while (rows_ == 1 && columns_ > kFewestPixels && (!fits(1, columns_) || columns_ > kMostPixels))
      columns_ = divided(columns_, 2);
    const int64_t pixels = rows_ * columns_;
    if (job_.out[0] == 1 && rows_ == job_.out[1] && columns_ == job_.out[2] && pixels < kFewestPixels)
      images_ = std::clamp<int64_t>(2 * kFewestPixels / pixels, 1, most_images(threads));
    const int64_t blocks = divided(planes, images_) * divided(job_.out[1], rows_) * divided(job_.out[2], columns_);
    shares_ = is_depthwise_ ? 1 : std::clamp<int64_t>(divided(wanted, blocks), 1, std::ssize(ranges_));
  }

  /// One block of pixels.
  struct Block {
    int64_t image, images, group, plane, row, rows, column, columns;
    int64_t pixels() const { return images * rows * columns; }
  };
  Block block_of(int64_t number) const {
    const int64_t column = take(number, divided(job_.out[2], columns_)) * columns_;
    const int64_t row = take(number, divided(job_.out[1], rows_)) * rows_;
    const int64_t plane = take(number, job_.out[0]), group = take(number, groups_), image = number * images_;
    return {image, std::min(images_, job_.images - image), group,  plane,
            row,   std::min(rows_, job_.out[1] - row),     column, std::min(columns_, job_.out[2] - column)};
  }

  /// What a thread needs for a block.
  struct Memory {
    T *sums, *copy;
    int64_t *places, *results;
  };
  Memory memory_of(const Block& block) const {
    const int64_t sums = divided(block.pixels() * ranges_.back().vectors * lanes_ + kSpareSums, 16) * 16;
    const int64_t copy = is_copied_ ? divided(block.images * seen_size(rows_, columns_), 16) * 16 : 0;
    const int64_t places = block.pixels() + kSparePlaces;
    auto* const memory = static_cast<T*>(
        scratch(static_cast<size_t>(sums + copy) * sizeof(T) + static_cast<size_t>(2 * places) * sizeof(int64_t)));
    auto* const numbers = reinterpret_cast<int64_t*>(memory + sums + copy);
    return {memory, memory + sums, numbers, numbers + places};
  }

  void run_unit(int64_t unit) const {
    const Block block = block_of(unit / shares_);
    const Memory memory = memory_of(block);
    if (is_copied_) copy_rows(block, memory.copy);
    for (const AxisPart& plane : parts_[0]) {
      if (block.plane < plane.first || block.plane >= plane.end()) continue;
      for (const AxisPart& row : parts_[1]) {
        for (const AxisPart& column : parts_[2]) run_part(block, memory, plane, row, column, unit % shares_);
      }
    }
  }

  /// The pixels of a block whose windows have the same taps inside of the input.
  void run_part(const Block& block, const Memory& memory, const AxisPart& plane, const AxisPart& row,
                const AxisPart& column, int64_t share) const {
    const int64_t pixels = find_places(block, row, column, memory);
    if (pixels == 0) return;
    std::vector<TapRun> runs;
    std::vector<int64_t> ends;
    find_runs(plane, row, column, runs, ends);
    const PixelBlock<T> work{is_copied_ ? memory.copy : row_of(block.image, block.group, 0, 0),
                             memory.places,
                             memory.results,
                             pixels,
                             runs.data(),
                             ends.data(),
                             std::ssize(ends),
                             memory.sums};
    const auto* weights = static_cast<const T*>(job_.weights);
    if (is_depthwise_) return loops_.convolve_channels({work, std::ssize(runs), job_.outputs, weights, result(0, 0)});
    const int64_t steps = channels_ * job_.kernel[0] * job_.kernel[1] * job_.kernel[2], count = std::ssize(ranges_);
    weights += block.group * steps * padded_outputs();
    for (int64_t k = 0; k < count; ++k) {
      const OutputRange& range = ranges_[static_cast<size_t>(k)];
      if (k * shares_ / count == share)
        loops_.convolve(work, {range.vectors, range.outputs, weights, result(block.group, range.first)});
      weights += steps * range.vectors * lanes_;
    }
  }

  /// Biases begin anew for each group, with zeros behind them, so that whole vectors are read.
  int64_t padded_outputs() const { return divided(outputs_, lanes_) * lanes_; }
  int64_t bias_place(int64_t group) const { return group * (is_depthwise_ ? outputs_ : padded_outputs()); }

  /// Where sums go, from an output of a group on.
  WindowResult<T> result(int64_t group, int64_t output) const {
    const int64_t at = group * outputs_ + output;
    const auto* const residual = static_cast<const T*>(job_.residual);
    return {static_cast<T*>(job_.result) + at,
            residual ? residual + at : nullptr,
            bias_.data() + bias_place(group) + output,
            job_.function,
            {static_cast<T>(job_.numbers[0]), static_cast<T>(job_.numbers[1])}};
  }

  /// Where the windows of the block's pixels in these parts begin, and their results; gives how many there are.
  int64_t find_places(const Block& block, const AxisPart& row_part, const AxisPart& column_part,
                      const Memory& memory) const {
    const int64_t row = std::max(block.row, row_part.first), row_end = std::min(block.row + block.rows, row_part.end());
    const int64_t column = std::max(block.column, column_part.first);
    const int64_t column_end = std::min(block.column + block.columns, column_part.end());
    if (row >= row_end || column >= column_end) return 0;
    // The source begins at the block's copy, or at the image.
    const int64_t image_size = is_copied_ ? seen_size(rows_, columns_) : in_size() * job_.channels;
    const auto begin = [&](size_t axis, int64_t at, int64_t first) {
      return is_copied_ ? (at - first) * job_.stride[axis] : at * job_.stride[axis] - job_.before[axis];
    };
    const int64_t plane = is_copied_ ? 0 : begin(0, block.plane, 0) * plane_;
    int64_t *places = memory.places, *results = memory.results;
    for (int64_t image = 0; image < block.images; ++image) {
      for (int64_t r = row; r < row_end; ++r) {
        const int64_t place =
            image * image_size + (plane + begin(1, r, block.row) * line_ + begin(2, column, block.column)) * pixel_;
        const int64_t line = ((block.image + image) * job_.out[0] + block.plane) * job_.out[1] + r;
        places = write_steps(places, column_end - column, place, job_.stride[2] * pixel_);
        results = write_steps(results, column_end - column, (line * job_.out[2] + column) * job_.outputs, job_.outputs);
      }
    }
    std::fill_n(places, kSparePlaces, places[-1]);
    return places - memory.places;
  }

  /// What a window sees, in chunks whose weights stay in the cache from tile to tile.
  void find_runs(const AxisPart& plane, const AxisPart& row, const AxisPart& column, std::vector<TapRun>& runs,
                 std::vector<int64_t>& ends) const {
    const bool is_joined = job_.dilation[2] == 1 && pixel_ == channels_ && !is_depthwise_;
    const int64_t columns = column.tap_end - column.tap, size = is_depthwise_ ? 1 : channels_;
    const int64_t length = is_joined ? columns * channels_ : size;
    const int64_t steps = (plane.tap_end - plane.tap) * (row.tap_end - row.tap) * columns * size;
    const int64_t most = kChunkSteps / ranges_.back().vectors;
    const int64_t chunk = is_depthwise_ ? steps : divided(steps, std::max<int64_t>(1, divided(steps, most)));
    int64_t left = chunk;
    const auto add = [&](int64_t offset, int64_t weights) {
      for (int64_t first = 0; first < length;) {
        if (left == 0) ends.push_back(std::ssize(runs)), left = chunk;
        const int64_t count = std::min(length - first, left);
        runs.push_back({offset + first, count, weights + first});
        first += count, left -= count;
      }
    };
    for (int64_t a = plane.tap; a < plane.tap_end; ++a) {
      const int64_t from = (is_copied_ ? a : a * job_.dilation[0]) * plane_;
      for (int64_t b = row.tap; b < row.tap_end; ++b) {
        for (int64_t c = column.tap; c < (is_joined ? std::min(column.tap + 1, column.tap_end) : column.tap_end); ++c)
          add((from + b * job_.dilation[1] * line_ + c * job_.dilation[2]) * pixel_,
              ((a * job_.kernel[1] + b) * job_.kernel[2] + c) * size);
      }
    }
    ends.push_back(std::ssize(runs));
  }

  int64_t in_size() const { return job_.in[0] * job_.in[1] * job_.in[2]; }

  /// The first element of a row of the input.
  const T* row_of(int64_t image, int64_t group, int64_t plane, int64_t row) const {
    const int64_t at = (plane * job_.in[1] + row) * job_.in[2], channel = is_depthwise_ ? 0 : group * channels_;
    return static_cast<const T*>(job_.x) + image * in_size() * job_.channels +
           (job_.are_images_channels_last ? at * job_.channels + channel : channel * in_size() + at);
  }

  /// The rows that the block's windows see, with zeros for margins.
  void copy_rows(const Block& block, T* to) const {
    const int64_t rows = seen(1, block.rows);
    const bool is_last = job_.are_images_channels_last;
    const RowCopy copy{block.column * job_.stride[2] - job_.before[2],
                       seen(2, block.columns),
                       job_.in[2],
                       is_last ? job_.channels : 1,
                       is_last ? 1 : in_size(),
                       is_depthwise_ ? job_.channels : channels_};
    for (int64_t image = 0; image < block.images; ++image, to += seen_size(rows_, columns_)) {
      for (int64_t a = 0; a < job_.kernel[0]; ++a) {
        const int64_t plane = block.plane * job_.stride[0] - job_.before[0] + a * job_.dilation[0];
        for (int64_t k = 0; k < rows; ++k) {
          const int64_t row = block.row * job_.stride[1] - job_.before[1] + k;
          T* const line = to + (a * plane_ + k * line_) * pixel_;
          if (plane < 0 || plane >= job_.in[0] || row < 0 || row >= job_.in[1])
            std::fill_n(line, copy.count * pixel_, T(0));
          else
            copy_row(all_loops_, copy, row_of(block.image + image, block.group, plane, row), line);
        }
      }
    }
  }

  const Convolution& job_;
  const WindowLoops& all_loops_;
  const WindowLoopsOf<T>& loops_;
  const int64_t channels_, outputs_;  ///< of a group
  const bool is_depthwise_;
  const int64_t groups_;  ///< blocks for each image: the groups of a depthwise convolution are done together
  const int64_t lanes_;
  const std::vector<OutputRange> ranges_;
  std::vector<T> bias_;
  std::vector<AxisPart> parts_[3];
  bool is_copied_ = false;                       ///< windows see a copy of the block's input, with margins
  int64_t pixel_ = 1;                            ///< elements from pixel to pixel of what windows see
  int64_t line_ = 1, plane_ = 1;                 ///< pixels from row to row, and from plane to plane, of the same
  int64_t images_ = 1, rows_ = 1, columns_ = 1;  ///< of a block
  int64_t shares_ = 1;                           ///< blocks that share the outputs of the same pixels
};

class CpuConvolutions final : public Convolutions {
 public:
  const std::string& problem() override { return problem_; }
  bool supports(Dtype dtype, bool is_transposed) const override {
    return !is_transposed && (dtype == Dtype::float32 || dtype == Dtype::float64);
  }
  bool prefers_channels_last(Dtype, Precision) const override { return true; }
  bool applies(ConvolutionFunction) const override { return true; }
  bool takes_any_order() const override { return true; }
  Array packed(const Array& weights, int64_t groups) const override {
    const int64_t outputs = weights.shape(0), channels = weights.shape(1);
    const int64_t lanes = window_loops().bytes / weights.itemsize();
    if (weights.size() == 0 || is_planar(outputs / groups, channels, groups, lanes)) return weights.contiguous();
    if (!is_depthwise(channels * groups, outputs, groups)) return packed_by_outputs(weights, groups);
    return weights.dtype() == Dtype::float32 ? packed_by_taps<float>(weights) : packed_by_taps<double>(weights);
  }
  bool gives_channels_last(const Convolution& job) const override {
    return !is_planar(job.outputs / job.groups, job.channels / job.groups, job.groups,
                      window_loops().bytes / itemsize(job.dtype));
  }
  bool accepts(const Convolution& job) const override {
    if (!gives_channels_last(job) || bytes_with_margins(job) <= kMostCopyBytes) return true;
    return job.dtype == Dtype::float32 ? is_bounded<float>(job) : is_bounded<double>(job);
  }
  bool convolve(const Convolution& job) override {
    Convolution plain = job;
    if (is_costly(job.function)) plain.function = ConvolutionFunction::none;
    if (!run(plain)) return false;
    if (is_costly(job.function)) job.dtype == Dtype::float32 ? apply<float>(job) : apply<double>(job);
    return true;
  }

 private:
  bool run(const Convolution& job) const {
    if (!gives_channels_last(job)) return convolve_planar(job);
    return job.dtype == Dtype::float32 ? run<float>(job) : run<double>(job);
  }
  /// The function of all results.
  template <class T>
  static void apply(const Convolution& job) {
    constexpr int64_t kChunk = 1024;  // takes as long as a thread needs to take part
    const int64_t count = job.images * job.outputs * job.out[0] * job.out[1] * job.out[2];
    const T numbers[] = {static_cast<T>(job.numbers[0]), static_cast<T>(job.numbers[1])};
    auto* const data = static_cast<T*>(job.result);
    ThreadPool::instance().run(divided(count, kChunk), 1,
                               [&](int64_t begin, int64_t end) {
                                 const int64_t first = begin * kChunk, last = std::min(end * kChunk, count);
                                 loops_of<T>(window_loops()).apply(job.function, numbers, data + first, last - first);
                               },
                               {.alone = kAlone});
  }
  template <class T>
  static bool is_bounded(const Convolution& job) {
    return ConvolutionPlan<T>(job, window_loops(), thread_count()).is_bounded();
  }
  template <class T>
  static bool run(const Convolution& job) {
    ConvolutionPlan<T>(job, window_loops(), thread_count()).run();
    return true;
  }

  const std::string problem_;
};

}  // namespace

Convolutions& cpu_convolutions() {
  return made_once_locked([] { return CpuConvolutions(); });
}

}  // namespace iruka::cpu_backend
