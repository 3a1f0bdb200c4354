// A block is some rows of the results of one image and group. It copies what its windows see, each channel a plane with
// margins, and with each remainder of a stride apart, so that the elements that neighbouring pixels need for one place
// of the kernel are neighbours.
#include "backend/cpu/planar_convolution.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/window_loops.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

/// The copy of a block lies in the second-level cache.
constexpr int64_t kCopyBytes = 160 << 10;
constexpr double kMostCopyBytes = 64 << 20;
/// Columns of a block where one row of all channels is too large.
constexpr int64_t kFewestColumns = 256;

template <class T>
class PlanarPlan {
 public:
  explicit PlanarPlan(const Convolution& job)
      : job_(is_pointwise(job) ? with_long_row(job) : job),
        loops_(window_loops()),
        channels_(job.channels / job.groups),
        outputs_(job.outputs / job.groups),
        in_size_(job.in[0] * job.in[1] * job.in[2]),
        out_size_(job.out[0] * job.out[1] * job.out[2]),
        phases_(std::min(job.stride[2], reach(2))),
        bias_(static_cast<size_t>(job.outputs)) {
    if (job.bias) std::copy_n(static_cast<const T*>(job.bias), job.outputs, bias_.begin());
    choose_blocks();
    if (!is_bounded()) return;
    row_ = phases_ * line_;
    channel_ = job.kernel[0] * seen_rows(rows_) * row_;
    find_offsets();
    for (int64_t k = 0; is_pointwise(job) && !job.are_images_channels_last && k < channels_; ++k)
      planes_.push_back(k * in_size_);
  }

  /// Whether the memory of a block is bounded: windows may have places that are far from each other.
  bool is_bounded() const { return copy_bytes(rows_, columns_) <= kMostCopyBytes; }

  void run() const {
    const int64_t blocks =
        job_.images * job_.groups * job_.out[0] * divided(job_.out[1], rows_) * divided(job_.out[2], columns_);
    ThreadPool::instance().run(blocks, 1,
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t block = begin; block < end && !should_stop(); ++block) run_block(block);
                               },
                               {.alone = kAlone});
  }

 private:
  /// Whether windows are single elements that follow each other.
  static bool is_pointwise(const Convolution& job) {
    for (size_t axis = 0; axis < 3; ++axis)
      if (job.kernel[axis] != 1 || job.stride[axis] != 1 || job.before[axis] != 0 || job.in[axis] != job.out[axis])
        return false;
    return true;
  }
  /// The job with all pixels of an image as one row.
  static Convolution with_long_row(Convolution job) {
    job.in = job.out = {1, 1, job.in[0] * job.in[1] * job.in[2]};
    return job;
  }

  int64_t reach(size_t axis) const { return (job_.kernel[axis] - 1) * job_.dilation[axis] + 1; }
  int64_t seen_rows(int64_t rows) const { return (rows - 1) * job_.stride[1] + reach(1); }
  /// Elements of a remainder's row: whole vectors may be read from each pixel.
  int64_t line_of(int64_t columns) const {
    return columns + (reach(2) - 1) / job_.stride[2] + loops_.bytes / static_cast<int64_t>(sizeof(T));
  }
  double copy_bytes(int64_t rows, int64_t columns) const {
    return static_cast<double>(channels_ * job_.kernel[0]) * static_cast<double>(seen_rows(rows)) *
           static_cast<double>(phases_) * static_cast<double>(line_of(columns)) * sizeof(T);
  }

  void choose_blocks() {
    const auto fits = [&](int64_t rows, int64_t columns) { return copy_bytes(rows, columns) <= kCopyBytes; };
    const int64_t wanted = thread_count() > 1 ? thread_count() * kBlocksPerThread : 1;
    const int64_t planes = std::max<int64_t>(1, job_.images * job_.groups * job_.out[0]);
    columns_ = job_.out[2];
    rows_ = std::max<int64_t>(1, job_.out[1] / divided(wanted, planes));
    // Rows that neighbouring blocks copy, too, are few.
    rows_ = std::min(std::max(rows_, 4 * reach(1)), job_.out[1]);
    while (rows_ > 1 && !fits(rows_, columns_)) rows_ = divided(rows_, 2);
    while (columns_ > kFewestColumns && !fits(rows_, columns_)) columns_ = divided(columns_, 2);
    line_ = line_of(columns_);
  }

  /// Where the element for each channel and place of the kernel lies.
  void find_offsets() {
    for (int64_t channel = 0; channel < channels_; ++channel) {
      for (int64_t a = 0; a < job_.kernel[0]; ++a) {
        for (int64_t b = 0; b < job_.kernel[1]; ++b) {
          for (int64_t c = 0; c < job_.kernel[2]; ++c) {
            const int64_t right = c * job_.dilation[2];
            offsets_.push_back(channel * channel_ + (a * seen_rows(rows_) + b * job_.dilation[1]) * row_ +
                               right % job_.stride[2] * line_ + right / job_.stride[2]);
          }
        }
      }
    }
  }

  void run_block(int64_t number) const {
    const int64_t column = take(number, divided(job_.out[2], columns_)) * columns_;
    const int64_t row = take(number, divided(job_.out[1], rows_)) * rows_;
    const int64_t plane = take(number, job_.out[0]), group = take(number, job_.groups), image = number;
    const int64_t rows = std::min(rows_, job_.out[1] - row), columns = std::min(columns_, job_.out[2] - column);
    const T* source = direct_source(image, group, column, columns);
    const std::vector<int64_t>& offsets = source ? planes_ : offsets_;
    if (!source) {
      T* const copy = static_cast<T*>(scratch(static_cast<size_t>(channels_ * channel_) * sizeof(T)));
      copy_block(image, group, plane, row, rows, column, columns, copy);
      source = copy;
    }
    const int64_t first = group * outputs_, output = image * job_.outputs + first;
    const auto* const residual = static_cast<const T*>(job_.residual);
    for (int64_t k = 0; k < rows; ++k) {
      const int64_t at = output * out_size_ + (plane * job_.out[1] + row + k) * job_.out[2] + column;
      loops_of<T>(loops_).convolve_planar({source + k * job_.stride[1] * row_,
                                           offsets.data(),
                                           std::ssize(offsets),
                                           columns,
                                           outputs_,
                                           static_cast<const T*>(job_.weights) + first * std::ssize(offsets_),
                                           bias_.data() + first,
                                           static_cast<T*>(job_.result) + at,
                                           residual ? residual + at : nullptr,
                                           out_size_,
                                           job_.function,
                                           {static_cast<T>(job_.numbers[0]), static_cast<T>(job_.numbers[1])}});
    }
  }

  /// The images themselves, where they are planes and windows single elements; null near the end of the array, behind
  /// which vectors would reach.
  const T* direct_source(int64_t image, int64_t group, int64_t column, int64_t columns) const {
    if (planes_.empty()) return nullptr;
    const int64_t lanes = loops_.bytes / static_cast<int64_t>(sizeof(T));
    const int64_t at = (image * job_.channels + group * channels_) * in_size_ + column;
    const int64_t end = at + planes_.back() + divided(columns, lanes) * lanes;
    return end <= job_.images * job_.channels * in_size_ ? static_cast<const T*>(job_.x) + at : nullptr;
  }

  void copy_block(int64_t image, int64_t group, int64_t plane, int64_t row, int64_t rows, int64_t column,
                  int64_t columns, T* to) const {
    for (int64_t a = 0; a < job_.kernel[0]; ++a) {
      const int64_t from_plane = plane * job_.stride[0] - job_.before[0] + a * job_.dilation[0];
      for (int64_t k = 0; k < seen_rows(rows); ++k) {
        const int64_t from_row = row * job_.stride[1] - job_.before[1] + k;
        T* const line = to + (a * seen_rows(rows_) + k) * row_;
        const bool is_inside = from_plane >= 0 && from_plane < job_.in[0] && from_row >= 0 && from_row < job_.in[1];
        if (!is_inside) {
          for (int64_t channel = 0; channel < channels_; ++channel) std::fill_n(line + channel * channel_, row_, T(0));
          continue;
        }
        const int64_t at = (from_plane * job_.in[1] + from_row) * job_.in[2], channel = group * channels_;
        const T* const x = static_cast<const T*>(job_.x) + image * in_size_ * job_.channels;
        for (int64_t phase = 0; phase < phases_; ++phase)
          copy_line(job_.are_images_channels_last ? x + at * job_.channels + channel : x + channel * in_size_ + at,
                    column * job_.stride[2] - job_.before[2] + phase, columns, line + phase * line_);
      }
    }
  }

  /// The columns `first`, `first` + stride... of a row of all channels.
  void copy_line(const T* row, int64_t first, int64_t columns, T* to) const {
    const int64_t stride = job_.stride[2], count = columns + (reach(2) - 1) / stride;
    const auto before = [&](int64_t column) {
      return std::clamp<int64_t>(column <= first ? 0 : divided(column - first, stride), 0, count);
    };
    const int64_t begin = before(0), end = before(job_.in[2]);
    for (int64_t channel = 0; channel < channels_; ++channel) {
      std::fill_n(to + channel * channel_, begin, T(0));
      std::fill_n(to + channel * channel_ + end, line_ - end, T(0));
    }
    if (end <= begin) return;
    if (job_.are_images_channels_last) {
      const int64_t step = stride * job_.channels;
      turn(row + (first + begin * stride) * job_.channels, step, end - begin, to + begin);
      return;
    }
    for (int64_t channel = 0; channel < channels_; ++channel) {
      const T* from = row + channel * in_size_ + first + begin * stride;
      T* const line = to + channel * channel_;
      if (stride == 1)
        std::copy_n(from, end - begin, line + begin);
      else
        for (int64_t k = begin; k < end; ++k, from += stride) line[k] = *from;
    }
  }

  void turn(const T* from, int64_t step, int64_t pixels, T* to) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      loops_.turn(from, step, pixels, channels_, to, channel_);
    } else {
      for (int64_t pixel = 0; pixel < pixels; ++pixel)
        for (int64_t channel = 0; channel < channels_; ++channel)
          to[channel * channel_ + pixel] = from[pixel * step + channel];
    }
  }

  const Convolution job_;
  const WindowLoops& loops_;
  const int64_t channels_, outputs_;  ///< of a group
  const int64_t in_size_, out_size_;  ///< elements of a channel
  const int64_t phases_;              ///< remainders of columns, divided by their stride, that windows see
  std::vector<T> bias_;
  std::vector<int64_t> offsets_, planes_;     ///< of a window's elements in a copy, and in images that need none
  int64_t rows_ = 1, columns_ = 1;            ///< of a block
  int64_t line_ = 1, row_ = 1, channel_ = 1;  ///< elements of a copy: of a remainder's row, of a row, of a channel
};

}  // namespace

bool is_planar(int64_t outputs, int64_t channels, int64_t groups, int64_t lanes) {
  const bool follows_channels = outputs == 1 && channels == 1 && groups >= lanes;  // vectors of which are full
  return 2 * outputs <= lanes && !follows_channels;
}

bool convolve_planar(const Convolution& job) {
  const auto run = [](const auto& plan) {
    if (plan.is_bounded()) plan.run();
    return plan.is_bounded();
  };
  return job.dtype == Dtype::float32 ? run(PlanarPlan<float>(job)) : run(PlanarPlan<double>(job));
}

}  // namespace iruka::cpu_backend
