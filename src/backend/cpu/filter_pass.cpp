#include "backend/cpu/filter_pass.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/cpu/resample_tables.h"
#include "backend/cpu/scratch.h"
#include "core/device.h"
#include "core/kernels/border.h"
#include "core/thread_pool.h"
#include "iruka/device.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kVector = 64;  ///< elements of the longest vectors
constexpr int kDirect = 8;       ///< rows of which the least value is found without van Herk's blocks

/// How sums of `area` bytes are divided by integers, so that quotients are rounded: for odd numbers, which have no
/// ties.
BoxDivision division_by(int64_t area, float scale) {
  BoxDivision made{.scale = scale};
  if (area % 2 == 0 || area * 255 + area / 2 > UINT16_MAX) return made;
  const int shift = static_cast<int>(std::bit_width(static_cast<uint64_t>(area))) - 1;
  const int64_t power = int64_t{1} << (16 + shift), factor = (power + area - 1) / area, error = factor * area - power;
  if (factor > UINT16_MAX || error * (area * 255 + area / 2) >= power) return made;
  made.factor = static_cast<uint16_t>(factor);
  made.shift = shift;
  made.half = static_cast<uint16_t>(area / 2);
  return made;
}

}  // namespace

const FilterLoops& filter_loops() {
#if defined(__x86_64__)
  // Not beyond IRUKA_CPU_LEVEL, which the target respects.
  const int64_t bytes = cpu().target().vector_bytes;
  if (bytes >= 64) return avx512::filter_loops;
  if (bytes >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::filter_loops;
#endif
  return baseline::filter_loops;
}

/// The memory of a thread that computes a strip.
class FilterPass::Workspace {
 public:
  static constexpr int64_t kNoRow = INT64_MIN / 2;

  explicit Workspace(const FilterPass& pass);

  int64_t line = 0;    ///< bytes of a row of any type
  int64_t padded = 0;  ///< bytes of a padded row of the picture
  int64_t part = 0;    ///< bytes of a row of `space`
  int64_t ring_rows;   ///< of the window, and the one that left it last
  char* ring;          ///< (ring_rows, channels of bilateral filters) padded rows
  char* space;         ///< of medians and of van Herk's blocks: a row for each of the window
  char* middle;        ///< what was computed along columns
  char* other;         ///< a second row of this kind
  char* stage;         ///< a row of results before their last conversion; one for each channel of bilateral filters
  char* turned;        ///< the same in the order of the result
  int64_t next = 0;    ///< the place of the ring that is filled next
  const void* left = nullptr;     ///< the row that left the window last
  std::vector<const void*> rows;  ///< of the window
  std::vector<const void*> taps;  ///< a pointer for each tap, or column of the window
  std::vector<void*> results;     ///< rows of `space`, or of `stage`
  int64_t window = kNoRow;        ///< the row whose window `rows` are
  int64_t previous = kNoRow;      ///< the row of `middle`, where the next one follows from it
  int64_t block = kNoRow;         ///< the first row of a block of van Herk's

  /// The same for the next plane.
  void clear() { window = previous = block = kNoRow; }
};

FilterPass::Workspace::Workspace(const FilterPass& pass) {
  const FilterWindow& window = pass.window_;
  const int64_t planes = pass.is_bilateral() ? pass.job_.planes * pass.job_.channels : 1;
  const auto row_of = [&](int64_t bytes) { return (bytes + pass.channels_ * 4 + kRowRoom + 63) & ~int64_t{63}; };
  line = row_of(std::max(pass.whole_, pass.elements_ * planes) * 4);
  padded = row_of(pass.whole_ * pass.work_bytes_);
  part = window.kind == Kind::box ? line : padded;
  ring_rows = int64_t{window.height} + 1;
  const bool needs_space = window.kind == Kind::median || (window.is_full && window.height > kDirect);
  const int64_t spaces = window.kind == Kind::box ? std::bit_width(static_cast<unsigned>(window.width))
                         : needs_space            ? window.height
                                                  : 0;
  const int64_t histograms = pass.has_histograms() ? pass.padded_ * kHistogram * 2 + 64 : 0;
  const int64_t space_bytes = histograms ? (histograms + 63) & ~int64_t{63} : spaces * part;
  const int64_t ring_bytes = ring_rows * planes * padded;
  ring = static_cast<char*>(scratch(static_cast<size_t>(ring_bytes + space_bytes + (planes + 3) * line)));
  space = ring + ring_bytes;
  middle = space + space_bytes;
  other = middle + line;
  turned = other + line;
  stage = turned + line;
  rows.resize(static_cast<size_t>(window.height * planes));
  taps.resize(std::max({pass.tap_y_.size(), static_cast<size_t>(window.width), size_t{2}}));
  results.resize(static_cast<size_t>(std::max(spaces, planes)));
}

FilterPass::FilterPass(const Filtering& job)
    : job_(job),
      window_(*job.window),
      loops_(filter_loops()),
      conversions_(resample_loops()),
      channels_(is_bilateral() ? 1 : job.channels),
      elements_(job.width * channels_),
      padded_((job.width + window_.width - 1) * channels_),
      whole_((padded_ + kVector - 1) / kVector * kVector),
      source_(sample_of(job.dtype)),
      work_(work_sample()),
      work_bytes_(bytes_of(work_)),
      integer_columns_(window_.integer_columns) {
  if (integer_columns_.size() % 2) integer_columns_.push_back(0);
  for (const FilterWindow::Tap& tap : window_.taps) {
    tap_y_.push_back(tap.y);
    tap_x_.push_back(tap.x);
    weights_.push_back(tap.weight);
    if (window_.kind == Kind::integer_sum) integer_weights_.push_back(static_cast<int16_t>(tap.weight));
  }
  if (window_.kind == Kind::box) division_ = division_by(window_.height * window_.width, window_.scale);
  find_border();
}

Sample FilterPass::work_sample() const {
  switch (window_.kind) {
    case Kind::sum:
    case Kind::separable:
    case Kind::bilateral: return Sample::float32;
    default: return source_ == Sample::float16 ? Sample::float32 : source_;
  }
}

void FilterPass::find_border() {
  for (int64_t x = -window_.anchor_x; x < 0; ++x) left_.push_back(place_within(job_.border, x, job_.width));
  for (int64_t k = 0; k < window_.width - 1 - window_.anchor_x; ++k)
    right_.push_back(place_within(job_.border, job_.width + k, job_.width));
  const auto channels = static_cast<size_t>(job_.planes * job_.channels);
  std::vector<float> values(channels);
  for (size_t c = 0; c < channels; ++c) values[c] = job_.outside[job_.outside.size() == 1 ? 0 : c];
  outside_.resize(channels * static_cast<size_t>(work_bytes_));
  conversions_.finish({.from = Sample::float32, .to = work_}, values.data(), static_cast<int64_t>(channels),
                      outside_.data());
}

int64_t FilterPass::row_work() const {
  const int64_t cost = window_.taps.empty() ? 1 : std::max<int64_t>(std::ssize(window_.taps) / 8, 1);
  const int64_t area = int64_t{window_.height} * window_.width;
  return job_.width * job_.channels * (window_.kind == Kind::median ? std::max<int64_t>(area / 2, 1) : cost);
}

void FilterPass::put_outside(char* to, int64_t channel, int64_t pixels) const {
  const auto bytes = static_cast<size_t>(channels_ * work_bytes_);
  const char* const value = outside_.data() + channel * work_bytes_;
  for (int64_t x = 0; x < pixels; ++x) std::memcpy(to + static_cast<size_t>(x) * bytes, value, bytes);
}

/// What lies before and behind the pixels of a padded row.
void FilterPass::pad_ends(char* row, int64_t channel) const {
  const int64_t pixel = channels_ * work_bytes_;
  char* const first = row + window_.anchor_x * pixel;
  const auto put = [&](char* to, int64_t column) {
    if (column < 0) return put_outside(to, channel, 1);
    std::memcpy(to, first + column * pixel, static_cast<size_t>(pixel));
  };
  char* to = row;
  for (const int64_t column : left_) put(std::exchange(to, to + pixel), column);
  to = first + job_.width * pixel;
  for (const int64_t column : right_) put(std::exchange(to, to + pixel), column);
}

/// Row `y`, which may be beyond the picture, of one plane.
void FilterPass::pad_row(int64_t plane, int64_t y, char* to) const {
  const int64_t row = place_within(job_.border, y, job_.height);
  if (row < 0) return put_outside(to, plane, job_.width + window_.width - 1);
  char* const first = to + window_.anchor_x * channels_ * work_bytes_;
  conversions_.finish({.from = source_, .to = work_}, source_row(plane, row), elements_, first);
  pad_ends(to, plane);
}

/// The same of all channels, whose rows follow one another.
void FilterPass::find_bilateral_row(Workspace& space, int64_t y, char* to) const {
  const int64_t row = place_within(job_.border, y, job_.height), channels = job_.planes * job_.channels;
  if (job_.channels > 1 && row >= 0) {
    auto* const numbers = reinterpret_cast<float*>(space.turned);
    const auto line = space.padded / 4;
    conversions_.finish({.from = source_, .to = Sample::float32}, source_row(0, row), job_.width * channels, numbers);
    conversions_.split(numbers, job_.width, channels, 4, line, reinterpret_cast<float*>(to) + window_.anchor_x);
    for (int64_t c = 0; c < channels; ++c) pad_ends(to + c * space.padded, c);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    if (row < 0)
      put_outside(to + c * space.padded, c, padded_);
    else
      pad_row(c, y, to + c * space.padded);
  }
}

/// Finds the rows of the window of row `y` in the ring, of which all but the last are those of the row before.
void FilterPass::find_window(Workspace& space, int64_t plane, int64_t y) const {
  const int64_t planes = is_bilateral() ? job_.planes * job_.channels : 1;
  int64_t first = 0;
  if (space.window == y - 1) {
    first = window_.height - 1;
    space.left = space.rows.front();
    std::move(space.rows.begin() + planes, space.rows.end(), space.rows.begin());
  }
  space.window = y;
  for (int64_t k = first; k < window_.height; ++k) {
    char* const memory = space.ring + space.next * planes * space.padded;
    if (++space.next == space.ring_rows) space.next = 0;
    if (is_bilateral())
      find_bilateral_row(space, y - window_.anchor_y + k, memory);
    else
      pad_row(plane, y - window_.anchor_y + k, memory);
    for (int64_t c = 0; c < planes; ++c) space.rows[static_cast<size_t>(k * planes + c)] = memory + c * space.padded;
  }
}

template <class T>
void FilterPass::set_tap_rows(Workspace& space) const {
  for (size_t k = 0; k < tap_y_.size(); ++k)
    space.taps[k] = static_cast<const T*>(space.rows[static_cast<size_t>(tap_y_[k])]) + tap_x_[k] * channels_;
}

void FilterPass::sum_row(Workspace& space, float* to) const {
  const auto* const taps = reinterpret_cast<const float* const*>(space.taps.data());
  if (window_.kind == Kind::sum) {
    set_tap_rows<float>(space);
    return conversions_.float_rows(taps, weights_.data(), static_cast<int>(weights_.size()), elements_, to);
  }
  const auto* const rows = reinterpret_cast<const float* const*>(space.rows.data());
  auto* const middle = reinterpret_cast<float*>(space.middle);
  conversions_.float_rows(rows, window_.rows.data(), window_.height, whole_, middle);
  for (int64_t k = 0; k < window_.width; ++k) space.taps[static_cast<size_t>(k)] = middle + k * channels_;
  conversions_.float_rows(taps, window_.columns.data(), window_.width, elements_, to);
}

/// A row of uint8, or of int16.
void FilterPass::integer_row(Workspace& space, char* to) const {
  if (window_.kind == Kind::integer_sum) {
    set_tap_rows<uint8_t>(space);
    return loops_.integer_rows(reinterpret_cast<const uint8_t* const*>(space.taps.data()), integer_weights_.data(),
                               static_cast<int>(tap_y_.size()), elements_, reinterpret_cast<uint16_t*>(to));
  }
  const auto* const rows = reinterpret_cast<const uint8_t* const*>(space.rows.data());
  auto* const middle = reinterpret_cast<uint16_t*>(space.middle);
  loops_.integer_rows(rows, window_.integer_rows.data(), window_.height, whole_, middle);
  if (window_.kind == Kind::fixed)
    return loops_.fixed_columns(middle, integer_columns_.data(), static_cast<int>(integer_columns_.size()), channels_,
                                elements_, reinterpret_cast<uint8_t*>(to));
  loops_.integer_columns(reinterpret_cast<const int16_t*>(middle), window_.integer_columns.data(), window_.width,
                         channels_, elements_, reinterpret_cast<int16_t*>(to));
}

/// Sums along columns are those of the row before, with one row more and one less.
template <class T, class S>
void FilterPass::box_row(Workspace& space, const BoxLoops<T, S>& loops, int64_t y, T* to) const {
  const auto* const rows = reinterpret_cast<const T* const*>(space.rows.data());
  auto* const sums = reinterpret_cast<S*>(space.middle);
  if (window_.height > 3 && space.previous == y - 1) {
    loops.slide(rows[window_.height - 1], static_cast<const T*>(space.left), whole_, sums);
  } else {
    loops.add_rows(rows, window_.height, whole_, sums);
  }
  space.previous = y;
  for (size_t k = 0; k < space.results.size(); ++k)
    space.results[k] = space.space + static_cast<int64_t>(k) * space.part;
  loops.across(sums, reinterpret_cast<S* const*>(space.results.data()), window_.width, channels_, elements_, division_,
               to);
}

/// The least or greatest values along the columns of a full window (van Herk 1992; Gil and Werman 1993): rows are cut
/// into blocks of the window's height; a window is the end of one block and the beginning of the next one.
template <class T>
const T* FilterPass::extreme_columns(Workspace& space, const RankLoops<T>& loops, int64_t y) const {
  const auto extreme = window_.kind == Kind::least ? loops.least : loops.greatest;
  const auto* const rows = reinterpret_cast<const T* const*>(space.rows.data());
  auto *const middle = reinterpret_cast<T*>(space.middle), *const begun = reinterpret_cast<T*>(space.other);
  const int height = window_.height;
  if (height == 1) return rows[0];
  if (height <= kDirect) {
    extreme(rows, height, whole_, middle);
    return middle;
  }
  const auto ends = [&](int64_t k) { return reinterpret_cast<T*>(space.space + k * space.part); };
  const int64_t place = y - space.block;
  if (space.block == Workspace::kNoRow || place >= height) {
    space.block = y;
    std::memcpy(ends(height - 1), rows[height - 1], static_cast<size_t>(whole_) * sizeof(T));
    for (int64_t k = height - 2; k >= 0; --k) {
      const T* const two[] = {rows[k], ends(k + 1)};
      extreme(two, 2, whole_, ends(k));
    }
    return ends(0);
  }
  const T* const last = rows[height - 1];
  const T* const two[] = {begun, last};
  extreme(place == 1 ? two + 1 : two, place == 1 ? 1 : 2, whole_, begun);
  const T* const parts[] = {ends(place), begun};
  extreme(parts, 2, whole_, middle);
  return middle;
}

template <class T>
void FilterPass::rank_row(Workspace& space, const RankLoops<T>& loops, int64_t y, T* to) const {
  if (window_.kind == Kind::median) {
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (has_histograms()) return histogram_row(space, y, to);
    }
    for (int64_t k = 0; k < window_.height; ++k) space.results[static_cast<size_t>(k)] = space.space + k * space.part;
    return loops.median(reinterpret_cast<const T* const*>(space.rows.data()), window_.width, channels_, elements_,
                        reinterpret_cast<T* const*>(space.results.data()), to);
  }
  const auto extreme = window_.kind == Kind::least ? loops.least : loops.greatest;
  if (!window_.is_full) {
    set_tap_rows<T>(space);
    return extreme(reinterpret_cast<const T* const*>(space.taps.data()), static_cast<int>(tap_y_.size()), elements_,
                   to);
  }
  const T* from = extreme_columns(space, loops, y);
  const int64_t width = window_.width;
  if (width <= kDirect) {
    const T* columns[kDirect];
    for (int64_t k = 0; k < width; ++k) columns[k] = from + k * channels_;
    return extreme(columns, static_cast<int>(width), elements_, to);
  }
  // Of 2, 4, 8, ... neighbours; two of these are the window.
  int64_t span = 1, count = padded_;
  for (; 2 * span <= width; span *= 2) {
    const T* const two[] = {from, from + span * channels_};
    count -= span * channels_;
    extreme(two, 2, count, reinterpret_cast<T*>(space.middle));
    from = reinterpret_cast<const T*>(space.middle);
  }
  const T* const two[] = {from, from + (width - span) * channels_};
  extreme(two, 2, elements_, to);
}

/// Medians of large windows: histograms of columns are those of the row before, with one row more and one less.
void FilterPass::histogram_row(Workspace& space, int64_t y, uint8_t* to) const {
  const auto* const rows = reinterpret_cast<const uint8_t* const*>(space.rows.data());
  const bool follows = space.previous == y - 1;
  auto* const histograms = reinterpret_cast<uint16_t*>(space.space);
  if (!follows) std::memset(histograms, 0, static_cast<size_t>(padded_ * kHistogram) * sizeof(uint16_t));
  for (int k = follows ? window_.height - 1 : 0; k < window_.height; ++k)
    loops_.count_row(rows[k], follows ? static_cast<const uint8_t*>(space.left) : nullptr, padded_, histograms);
  space.previous = y;
  loops_.median_by_histograms(histograms, window_.width, channels_, elements_, to);
}

void FilterPass::finish_floats(const float* from, char* to, int64_t elements) const {
  if (job_.result_dtype == Dtype::int16) return loops_.float_to_int16(from, elements, reinterpret_cast<int16_t*>(to));
  conversions_.finish({.from = Sample::float32, .to = sample_of(job_.result_dtype)}, from, elements, to);
}

/// Takes the difference from another picture, and converts what was computed in float32 for float16.
template <class T>
void FilterPass::finish_ranks(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y) const {
  auto* const stage = reinterpret_cast<T*>(space.stage);
  auto* const other = reinterpret_cast<T*>(space.turned);
  if (job_.difference != Filtering::Difference::none) {
    const char* const row = static_cast<const char*>(job_.other) + plane * job_.other_plane + y * job_.other_row;
    conversions_.finish({.from = source_, .to = work_}, row, elements_, other);
    if (job_.difference == Filtering::Difference::other_minus)
      loops.subtract(other, stage, elements_, stage);
    else
      loops.subtract(stage, other, elements_, stage);
  }
  conversions_.finish({.from = work_, .to = source_}, stage, elements_, result_row(plane, y));
}

template <class T>
void FilterPass::compute_row(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y) const {
  char* const result = result_row(plane, y);
  if (window_.kind == Kind::box) {
    if constexpr (std::is_same_v<T, uint16_t>) {
      box_row<uint16_t, uint32_t>(space, loops_.word_boxes, y, reinterpret_cast<T*>(result));
    } else if constexpr (std::is_same_v<T, uint8_t>) {
      if (int64_t{window_.height} * window_.width * 255 <= UINT16_MAX)
        box_row<uint8_t, uint16_t>(space, loops_.small_boxes, y, reinterpret_cast<T*>(result));
      else
        box_row<uint8_t, uint32_t>(space, loops_.byte_boxes, y, reinterpret_cast<T*>(result));
    }
    return;
  }
  const bool is_direct = job_.difference == Filtering::Difference::none && source_ == work_;
  rank_row<T>(space, loops, y, reinterpret_cast<T*>(is_direct ? result : space.stage));
  if (!is_direct) finish_ranks<T>(space, loops, plane, y);
}

void FilterPass::finish_bilateral(Workspace& space, int64_t y) const {
  const int64_t channels = job_.planes * job_.channels;
  for (int64_t c = 0; c < channels; ++c) space.results[static_cast<size_t>(c)] = space.stage + c * space.line;
  loops_.bilateral({.rows = reinterpret_cast<const float* const*>(space.rows.data()),
                    .channels = static_cast<int>(channels),
                    .taps = static_cast<int>(tap_y_.size()),
                    .tap_y = tap_y_.data(),
                    .tap_x = tap_x_.data(),
                    .exponents = weights_.data(),
                    .center_y = window_.anchor_y,
                    .center_x = window_.anchor_x,
                    .scale = window_.scale,
                    .pixels = job_.width,
                    .results = reinterpret_cast<float* const*>(space.results.data())});
  if (job_.channels == 1) {
    for (int64_t c = 0; c < channels; ++c)
      finish_floats(reinterpret_cast<const float*>(space.stage + c * space.line), result_row(c, y), job_.width);
    return;
  }
  conversions_.join(space.stage, job_.width, channels, 4, space.line / 4, space.turned);
  finish_floats(reinterpret_cast<const float*>(space.turned), result_row(0, y), job_.width * channels);
}

void FilterPass::run(int64_t begin, int64_t end) const {
  Workspace space(*this);
  int64_t last_plane = -1;
  for (int64_t k = begin; k < end && !should_stop(); ++k) {
    const int64_t plane = k / job_.height, y = k % job_.height;
    if (std::exchange(last_plane, plane) != plane) space.clear();
    find_window(space, plane, y);
    auto* const floats = reinterpret_cast<float*>(space.stage);
    char* const result = result_row(plane, y);
    switch (window_.kind) {
      case Kind::sum:
      case Kind::separable:
        if (job_.result_dtype == Dtype::float32) {
          sum_row(space, reinterpret_cast<float*>(result));
        } else {
          sum_row(space, floats);
          finish_floats(floats, result, elements_);
        }
        break;
      case Kind::fixed: integer_row(space, result); break;
      case Kind::integer_sum:
      case Kind::integers: {
        const bool is_direct = job_.result_dtype == Dtype::int16;
        integer_row(space, is_direct ? result : space.stage);
        const auto* const numbers = reinterpret_cast<const int16_t*>(space.stage);
        if (job_.result_dtype == Dtype::uint8)
          loops_.int16_to_uint8(numbers, elements_, reinterpret_cast<uint8_t*>(result));
        else if (!is_direct)
          loops_.int16_to_float(numbers, elements_, reinterpret_cast<float*>(result));
        break;
      }
      case Kind::bilateral: finish_bilateral(space, y); break;
      default:
        if (work_ == Sample::uint8)
          compute_row<uint8_t>(space, loops_.bytes, plane, y);
        else if (work_ == Sample::uint16)
          compute_row<uint16_t>(space, loops_.words, plane, y);
        else
          compute_row<float>(space, loops_.floats, plane, y);
    }
  }
}

}  // namespace iruka::cpu_backend
