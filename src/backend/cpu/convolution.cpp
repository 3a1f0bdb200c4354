// A convolution is divided into blocks: some rows of one image and group, for some of the outputs. A block copies what
// its windows see into memory of its own, with margins, unless all windows lie inside the image; then loops over
// vectors of outputs (window_lanes.h) compute it. Depthwise convolutions follow vectors of channels instead.
#include "backend/cpu/convolution.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/scratch.h"
#include "backend/cpu/window_loops.h"
#include "core/device.h"
#include "core/once.h"
#include "core/parallel.h"
#include "iruka/array.h"

namespace iruka::cpu_backend {
namespace {

/// The copy of a block lies in the second-level cache, and so do the weights of a chunk.
constexpr int64_t kCopyBytes = 160 << 10, kChunkBytes = 256 << 10;
/// Pixels for which it pays to read a block's weights.
constexpr int64_t kFewestPixels = 96;
/// Blocks for each thread, so that threads end together; shorter loops are not shared.
constexpr int64_t kBlocksPerThread = 12, kAlone = 20'000;

int64_t divided(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// Outputs of a group that one call of the loops computes.
struct OutputRange {
  int64_t first, outputs, vectors;
};

/// As many vectors at once as registers hold.
std::vector<OutputRange> ranges_of(int64_t outputs, int64_t lanes, int64_t most) {
  const int64_t vectors = divided(outputs, lanes), blocks = divided(vectors, most);
  std::vector<OutputRange> ranges;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = vectors * block / blocks, end = vectors * (block + 1) / blocks;
    ranges.push_back({first * lanes, std::min(end * lanes, outputs) - first * lanes, end - first});
  }
  return ranges;
}

bool is_depthwise(int64_t channels, int64_t groups) { return groups > 1 && channels == groups; }

/// The weights of a depthwise convolution as (taps, outputs), of others as (groups, ranges, steps, vectors, lanes) with
/// zeros for outputs beyond the last; a step is a tap and a channel of it.
template <class T>
Array packed_as(const Array& given, int64_t groups, int64_t bytes) {
  const Array weights = given.contiguous();
  const auto* const from = static_cast<const T*>(weights.data());
  const int64_t all = weights.shape(0), channels = weights.shape(1), outputs = all / groups;
  const int64_t taps = channels == 0 || all == 0 ? 0 : weights.size() / (all * channels), steps = taps * channels;
  if (is_depthwise(channels * groups, groups)) {
    Array made = Array::empty({taps, all}, weights.dtype(), cpu());
    auto* const to = static_cast<T*>(made.data());
    for (int64_t output = 0; output < all; ++output)
      for (int64_t tap = 0; tap < taps; ++tap) to[tap * all + output] = from[output * taps + tap];
    return made;
  }
  const int64_t lanes = bytes / static_cast<int64_t>(sizeof(T));
  const std::vector<OutputRange> ranges = ranges_of(outputs, lanes, most_vectors(bytes));
  Array made = Array::empty({groups, steps, divided(outputs, lanes) * lanes}, weights.dtype(), cpu());
  auto* to = static_cast<T*>(made.data());
  for (int64_t group = 0; group < groups; ++group) {
    for (const OutputRange& range : ranges) {
      const int64_t width = range.vectors * lanes;
      const T* const first = from + (group * outputs + range.first) * steps;
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t channel = 0; channel < channels; ++channel)
          for (int64_t k = 0; k < width; ++k)
            *to++ = k < range.outputs ? first[k * steps + channel * taps + tap] : T(0);
    }
  }
  return made;
}

/// A row of pixels of a source, and what is copied of it: zeros stand for pixels outside of the row.
struct RowCopy {
  int64_t first, count;     ///< the place of the first pixel, and pixels
  int64_t width;            ///< pixels of the row
  int64_t pixel, channel;   ///< elements of the source from pixel to pixel and from channel to channel
  int64_t channels, each;   ///< channels that are copied, and how often
};
template <class T>
void copy_row(const WindowLoops& loops, const RowCopy& copy, const T* row, T* to) {
  const int64_t size = copy.channels * copy.each;
  const int64_t before = std::clamp<int64_t>(-copy.first, 0, copy.count);
  const int64_t end = std::clamp(copy.width - copy.first, before, copy.count);
  std::fill_n(to, before * size, T(0));
  const T* const from = row + (copy.first + before) * copy.pixel;
  T* const inner = to + before * size;
  if (copy.each == 1 && copy.channel == 1 && copy.channels == copy.pixel) {
    std::copy_n(from, (end - before) * size, inner);
  } else if (sizeof(T) == sizeof(float) && copy.each == 1 && copy.pixel == 1) {
    loops.turn(reinterpret_cast<const float*>(from), copy.channel, size, end - before, reinterpret_cast<float*>(inner),
               size);
  } else {
    for (int64_t channel = 0; channel < size; ++channel) {
      const T* at = from + channel / copy.each * copy.channel;
      for (int64_t q = 0; q < end - before; ++q, at += copy.pixel) inner[q * size + channel] = *at;
    }
  }
  std::fill_n(to + end * size, (copy.count - end) * size, T(0));
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
        is_depthwise_(is_depthwise(job.channels, job.groups)),
        lanes_(loops.bytes / static_cast<int64_t>(sizeof(T))),
        ranges_(ranges_of(outputs_, lanes_, most_vectors(loops.bytes))),
        bias_(static_cast<size_t>(job.groups * padded_outputs())) {
    for (int64_t k = 0; job.bias && k < job.outputs; ++k)
      bias_[static_cast<size_t>(bias_place(k / outputs_) + k % outputs_)] = static_cast<const T*>(job.bias)[k];
    is_direct_ = job.are_images_channels_last && !(is_depthwise_ && outputs_ > 1) &&
                 (is_inside(0) && is_inside(1) && is_inside(2));
    // The groups of a depthwise convolution are done together.
    groups_ = is_depthwise_ ? 1 : job.groups;
    copied_ = is_depthwise_ ? job.channels : channels_;
    each_ = is_depthwise_ ? outputs_ : 1;
    pixel_ = is_direct_ ? job.channels : copied_ * each_;
    choose_rows(threads);
    line_ = is_direct_ ? job.in[2] : seen(2, columns_);
    plane_ = is_direct_ ? job.in[1] * line_ : seen(1, rows_) * line_;
    find_runs();
  }

  void run() const {
    const int64_t plane = divided(job_.out[1], rows_) * divided(job_.out[2], columns_);
    const int64_t units = job_.images * groups_ * job_.out[0] * plane * shares_;
    ThreadPool::instance().run(units, 1,
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t unit = begin; unit < end && !should_stop(); ++unit) run_unit(unit);
                               },
                               {.alone = kAlone});
  }

 private:
  int64_t reach(size_t axis) const { return (job_.kernel[axis] - 1) * job_.dilation[axis] + 1; }
  bool is_inside(size_t axis) const {
    return job_.before[axis] == 0 && (job_.out[axis] - 1) * job_.stride[axis] + reach(axis) <= job_.in[axis];
  }
  /// Rows or columns of the input that windows of `count` neighbouring pixels see.
  int64_t seen(size_t axis, int64_t count) const { return (count - 1) * job_.stride[axis] + reach(axis); }
  int64_t copy_size(int64_t rows, int64_t columns) const {
    return is_direct_ ? 0 : job_.kernel[0] * seen(1, rows) * seen(2, columns) * pixel_;
  }

  /// As many rows as the copy may have, or a part of one; fewer where threads would have no blocks else.
  void choose_rows(int threads) {
    const auto fits = [&](int64_t rows, int64_t columns) {
      return copy_size(rows, columns) * static_cast<int64_t>(sizeof(T)) <= kCopyBytes;
    };
    const int64_t wanted = threads > 1 ? threads * kBlocksPerThread : 1;
    const int64_t planes = std::max<int64_t>(1, job_.images * groups_ * job_.out[0]);
    columns_ = job_.out[2];
    rows_ = std::clamp<int64_t>(divided(16 * kFewestPixels, columns_), 1, job_.out[1]);
    while (rows_ > 1 && !fits(rows_, columns_)) --rows_;
    const int64_t fewest = std::max<int64_t>(1, kFewestPixels / columns_);
    rows_ = std::min(rows_, std::max(fewest, job_.out[1] / divided(wanted, planes)));
    rows_ = divided(job_.out[1], divided(job_.out[1], rows_));
    while (rows_ == 1 && columns_ > kFewestPixels && (!fits(1, columns_) || columns_ > 16 * kFewestPixels))
      columns_ = divided(columns_, 2);
    const int64_t blocks = planes * divided(job_.out[1], rows_) * divided(job_.out[2], columns_);
    shares_ = is_depthwise_ ? 1 : std::clamp<int64_t>(divided(wanted, blocks), 1, std::ssize(ranges_));
  }

  /// What a window sees, in the order of weights, in chunks of which the weights stay in the cache.
  void find_runs() {
    const bool is_joined = job_.dilation[2] == 1 && pixel_ == channels_ && !is_depthwise_;
    const int64_t length = is_joined ? job_.kernel[2] * channels_ : channels_;
    const int64_t most = kChunkBytes / (ranges_[0].vectors * lanes_ * static_cast<int64_t>(sizeof(T)));
    int64_t steps = 0;
    const auto add = [&](int64_t offset) {
      for (int64_t first = 0; first < length;) {
        if (steps == most) ends_.push_back(std::ssize(runs_)), steps = 0;
        const int64_t count = is_depthwise_ ? length : std::min(length - first, most - steps);
        runs_.push_back({offset + first, count});
        first += count, steps += is_depthwise_ ? 0 : count;
      }
    };
    for (int64_t a = 0; a < job_.kernel[0]; ++a) {
      const int64_t from = (is_direct_ ? a * job_.dilation[0] : a) * plane_;
      for (int64_t b = 0; b < job_.kernel[1]; ++b) {
        for (int64_t c = 0; c < (is_joined ? 1 : job_.kernel[2]); ++c)
          add((from + b * job_.dilation[1] * line_ + c * job_.dilation[2]) * pixel_);
      }
    }
    ends_.push_back(std::ssize(runs_));
  }

  /// One block of pixels.
  struct Block {
    int64_t image, group, plane, row, column, rows, columns;
  };
  Block block_of(int64_t number) const {
    const auto take = [&](int64_t count) {
      const int64_t rest = number % count;
      number /= count;
      return rest;
    };
    const int64_t column = take(divided(job_.out[2], columns_)) * columns_;
    const int64_t row = take(divided(job_.out[1], rows_)) * rows_;
    const int64_t plane = take(job_.out[0]), group = take(groups_);
    return {number, group, plane, row, column, std::min(rows_, job_.out[1] - row),
            std::min(columns_, job_.out[2] - column)};
  }

  void run_unit(int64_t unit) const {
    const Block block = block_of(unit / shares_);
    const int64_t share = unit % shares_, count = std::ssize(ranges_);
    const int64_t pixels = block.rows * block.columns;
    const int64_t sums = pixels * ranges_.back().vectors * lanes_ + kSpareSums;
    const int64_t copy = copy_size(rows_, columns_);
    T* const memory = static_cast<T*>(
        scratch(static_cast<size_t>(sums + copy) * sizeof(T) + static_cast<size_t>(pixels + kSparePlaces) * sizeof(int64_t) + 64));
    auto* const places = reinterpret_cast<int64_t*>(memory + divided(sums + copy, 16) * 16);
    find_places(block, places);
    const PixelBlock<T> work{is_direct_ ? direct_source(block) : copied(block, memory + sums),
                             places, pixels, runs_.data(), ends_.data(), std::ssize(ends_), memory};
    if (is_depthwise_) {
      loops_.convolve_channels({work, std::ssize(runs_), job_.outputs, static_cast<const T*>(job_.weights), result(block, 0)});
      return;
    }
    const auto* weights = static_cast<const T*>(job_.weights);
    const int64_t steps = channels_ * job_.kernel[0] * job_.kernel[1] * job_.kernel[2];
    weights += block.group * steps * padded_outputs();
    for (int64_t k = 0; k < count; ++k) {
      const OutputRange& range = ranges_[static_cast<size_t>(k)];
      if (k * shares_ / count == share) {
        loops_.convolve(work, {range.vectors, range.outputs, weights, result(block, range.first)});
      }
      weights += steps * range.vectors * lanes_;
    }
  }

  /// Biases begin anew for each group, with zeros behind them, so that whole vectors are read.
  int64_t padded_outputs() const { return divided(outputs_, lanes_) * lanes_; }
  int64_t bias_place(int64_t group) const { return group * (is_depthwise_ ? outputs_ : padded_outputs()); }

  /// Where the sums of a block go, from an output of its group on.
  WindowResult<T> result(const Block& block, int64_t output) const {
    const int64_t row = (block.image * job_.out[0] + block.plane) * job_.out[1] + block.row;
    const int64_t at = (row * job_.out[2] + block.column) * job_.outputs + block.group * outputs_ + output;
    const auto* const residual = static_cast<const T*>(job_.residual);
    return {static_cast<T*>(job_.result) + at,
            residual ? residual + at : nullptr,
            bias_.data() + bias_place(block.group) + output,
            job_.outputs,
            job_.function,
            {static_cast<T>(job_.numbers[0]), static_cast<T>(job_.numbers[1])}};
  }

  void find_places(const Block& block, int64_t* places) const {
    for (int64_t row = 0; row < block.rows; ++row) {
      int64_t place = row * job_.stride[1] * line_ * pixel_;
      for (int64_t column = 0; column < block.columns; ++column, place += job_.stride[2] * pixel_) *places++ = place;
    }
    std::fill_n(places, kSparePlaces, places[-1]);
  }

  /// The first element of a row of the input.
  const T* row_of(const Block& block, int64_t plane, int64_t row) const {
    const auto* const x = static_cast<const T*>(job_.x);
    const int64_t at = (plane * job_.in[1] + row) * job_.in[2], size = job_.in[0] * job_.in[1] * job_.in[2];
    const int64_t channel = is_depthwise_ ? 0 : block.group * channels_, images = block.image * size * job_.channels;
    return x + images + (job_.are_images_channels_last ? at * job_.channels + channel : channel * size + at);
  }

  const T* direct_source(const Block& block) const {
    return row_of(block, block.plane * job_.stride[0], block.row * job_.stride[1]) +
           block.column * job_.stride[2] * job_.channels;
  }

  /// The rows that the block's windows see, with zeros for margins.
  const T* copied(const Block& block, T* memory) const {
    const int64_t rows = seen(1, block.rows), columns = seen(2, block.columns);
    const bool is_last = job_.are_images_channels_last;
    const RowCopy copy{block.column * job_.stride[2] - job_.before[2],
                       columns,
                       job_.in[2],
                       is_last ? job_.channels : 1,
                       is_last ? 1 : job_.in[0] * job_.in[1] * job_.in[2],
                       copied_,
                       each_};
    for (int64_t a = 0; a < job_.kernel[0]; ++a) {
      const int64_t plane = block.plane * job_.stride[0] - job_.before[0] + a * job_.dilation[0];
      for (int64_t k = 0; k < rows; ++k) {
        const int64_t row = block.row * job_.stride[1] - job_.before[1] + k;
        T* const to = memory + (a * plane_ + k * line_) * pixel_;
        if (plane < 0 || plane >= job_.in[0] || row < 0 || row >= job_.in[1])
          std::fill_n(to, columns * pixel_, T(0));
        else
          copy_row(all_loops_, copy, row_of(block, plane, row), to);
      }
    }
    return memory;
  }

  const Convolution& job_;
  const WindowLoops& all_loops_;
  const WindowLoopsOf<T>& loops_;
  const int64_t channels_, outputs_;  ///< of a group
  const bool is_depthwise_;
  const int64_t lanes_;
  const std::vector<OutputRange> ranges_;
  std::vector<T> bias_;
  bool is_direct_ = false;                      ///< the windows are read from the input itself
  int64_t groups_ = 1, copied_ = 1, each_ = 1;  ///< blocks for each image; channels in a copy, and how often
  int64_t pixel_ = 1;                           ///< elements from pixel to pixel of what the windows are read from
  int64_t rows_ = 1, columns_ = 1, shares_ = 1;  ///< of a block of pixels; blocks that share its outputs
  int64_t line_ = 1, plane_ = 1;                 ///< pixels from row to row, and from plane to plane, of the same
  std::vector<TapRun> runs_;
  std::vector<int64_t> ends_;
};

class CpuConvolutions final : public Convolutions {
 public:
  const std::string& problem() override { return problem_; }
  bool prefers_channels_last(Dtype, Precision) const override { return true; }
  bool applies(ConvolutionFunction) const override { return true; }
  bool takes_any_order() const override { return true; }
  Array packed(const Array& weights, int64_t groups) const override {
    const int64_t bytes = window_loops().bytes;
    if (weights.dtype() == Dtype::float32) return packed_as<float>(weights, groups, bytes);
    return weights.dtype() == Dtype::float64 ? packed_as<double>(weights, groups, bytes) : Array();
  }
  bool convolve(const Convolution& job) override {
    if (job.is_transposed) return false;
    if (job.dtype == Dtype::float32)
      ConvolutionPlan<float>(job, window_loops(), thread_count()).run();
    else if (job.dtype == Dtype::float64)
      ConvolutionPlan<double>(job, window_loops(), thread_count()).run();
    else
      return false;
    return true;
  }

 private:
  const std::string problem_;
};

}  // namespace

Convolutions& cpu_convolutions() {
  return made_once_locked([] { return CpuConvolutions(); });
}

}  // namespace iruka::cpu_backend
