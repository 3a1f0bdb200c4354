#include "backend/cpu/filter_pass.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/cpu/resample_tables.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/strips.h"
#include "core/device.h"
#include "core/kernels/border.h"
#include "core/thread_pool.h"
#include "iruka/device.h"

namespace iruka::cpu_backend {
namespace {

constexpr int64_t kVector = 64;  ///< elements, and bytes, of the longest vectors
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
  const int64_t planes = pass.lines_;
  const auto row_of = [&](int64_t bytes) {
    return (bytes + pass.channels_ * 4 + kVector + kRowRoom + 63) & ~int64_t{63};
  };
  line = row_of(std::max(pass.whole_, pass.elements_ * (pass.is_bilateral() ? planes : 1)) * 4);
  padded = row_of(pass.whole_ * pass.work_bytes_);
  part = window.kind == Kind::box ? line : padded;
  ring_rows = int64_t{window.height} + 1;
  const bool needs_space = pass.has_sorted_columns() || (window.is_full && window.height > kDirect);
  const int64_t spaces = window.kind == Kind::box ? std::bit_width(static_cast<unsigned>(window.width))
                         : needs_space            ? int64_t{window.height}
                                                  : 0;
  const int64_t stages = pass.is_bilateral() ? planes : 1;
  const int64_t histograms = pass.has_histograms() ? pass.padded_ * kHistogram * 2 + 64 : 0;
  const int64_t space_bytes = histograms ? (histograms + 63) & ~int64_t{63} : spaces * part;
  const int64_t ring_bytes = ring_rows * planes * padded;
  ring = static_cast<char*>(scratch(static_cast<size_t>(ring_bytes + space_bytes + (stages + 3) * line)));
  space = ring + ring_bytes;
  middle = space + space_bytes;
  other = middle + line;
  turned = other + line;
  stage = turned + line;
  rows.resize(static_cast<size_t>(window.height * planes));
  taps.resize(std::max({pass.tap_y_.size(), static_cast<size_t>(window.width), size_t{2}}));
  results.resize(static_cast<size_t>(std::max(spaces, stages)));
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
  if (is_bilateral()) lines_ = job.planes * job.channels;
  if ((window_.kind == Kind::least || window_.kind == Kind::greatest) && !window_.is_full) {
    find_runs();
  } else {
    for (const FilterWindow::Tap& tap : window_.taps) {
      tap_y_.push_back(tap.y);
      tap_x_.push_back(tap.x);
      weights_.push_back(tap.weight);
      if (window_.kind == Kind::integer_sum) integer_weights_.push_back(static_cast<int16_t>(tap.weight));
    }
    tap_line_.resize(tap_y_.size());
  }
  if (window_.kind == Kind::box) division_ = division_by(window_.height * window_.width, window_.scale);
  find_border();
  if (has_columns_first()) find_beyond();
}

bool FilterPass::has_columns_first() const {
  switch (window_.kind) {
    case Kind::separable:
    case Kind::fixed:
    case Kind::integers:
    case Kind::box: return true;
    case Kind::least:
    case Kind::greatest: return window_.is_full;
    case Kind::median: return has_sorted_columns();
    default: return false;
  }
}

/// Neighbouring taps of a row become one, of the extremes of spans of neighbours. Spans are found from up to kDirect
/// shorter ones.
void FilterPass::find_runs() {
  std::vector<std::pair<int32_t, int32_t>> places;
  places.reserve(window_.taps.size());
  for (const FilterWindow::Tap& tap : window_.taps) places.emplace_back(tap.y, tap.x);
  std::ranges::sort(places);
  std::vector<int64_t> lengths;
  for (size_t k = 0; k < places.size(); ++k) {
    const auto [y, x] = places[k];
    if (k > 0 && places[k - 1] == std::pair(y, x - 1)) {
      ++lengths.back();
      continue;
    }
    tap_y_.push_back(y);
    tap_x_.push_back(x);
    lengths.push_back(1);
  }
  std::vector<int64_t> sorted = lengths;
  std::ranges::sort(sorted);
  spans_ = {1};
  for (const int64_t length : sorted) {
    while (kDirect * spans_.back() < length) spans_.push_back(kDirect * spans_.back());
    if (length != spans_.back()) spans_.push_back(length);
  }
  for (const int64_t length : lengths)
    tap_line_.push_back(static_cast<int32_t>(std::ranges::lower_bound(spans_, length) - spans_.begin()));
  lines_ = std::ssize(spans_);
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

/// Columns of constants.
void FilterPass::find_beyond() {
  beyond_ = outside_;
  outside_.resize(outside_.size() + kVector);  // room for the loops
  const std::vector<const void*> rows(static_cast<size_t>(window_.height), outside_.data());
  const int64_t channels = job_.planes * job_.channels;
  if (window_.kind == Kind::separable) {
    beyond_.resize(static_cast<size_t>(channels) * sizeof(float));
    conversions_.float_rows(reinterpret_cast<const float* const*>(rows.data()), window_.rows.data(), window_.height,
                            channels, reinterpret_cast<float*>(beyond_.data()));
  } else if (window_.kind == Kind::fixed || window_.kind == Kind::integers) {
    beyond_.resize(static_cast<size_t>(channels) * sizeof(uint16_t));
    loops_.integer_rows(reinterpret_cast<const uint8_t* const*>(rows.data()), window_.integer_rows.data(),
                        window_.height, channels, reinterpret_cast<uint16_t*>(beyond_.data()));
  } else if (window_.kind == Kind::box) {
    with_box_loops([&]<class T, class S>(const BoxLoops<T, S>& loops) {
      beyond_.resize(static_cast<size_t>(channels) * sizeof(S));
      loops.add_rows(reinterpret_cast<const T* const*>(rows.data()), window_.height, channels,
                     reinterpret_cast<S*>(beyond_.data()));
    });
  }
}

/// What lies before and behind the pixels of a padded row; `beyond` is a constant pixel.
void FilterPass::pad_ends(char* row, int64_t pixel_bytes, const char* beyond) const {
  const int64_t pixel = pixel_bytes;
  char* const first = row + window_.anchor_x * pixel;
  const auto put = [&](char* to, int64_t column) {
    std::memcpy(to, column < 0 ? beyond : first + column * pixel, static_cast<size_t>(pixel));
  };
  char* to = row;
  for (const int64_t column : left_) put(std::exchange(to, to + pixel), column);
  to = first + job_.width * pixel;
  for (const int64_t column : right_) put(std::exchange(to, to + pixel), column);
}

/// Where the first pixel of a row of columns is, aligned, in `memory`.
template <class S>
S* FilterPass::first_column(char* memory) const {
  const auto ahead = window_.anchor_x * channels_ * static_cast<int64_t>(sizeof(S));
  return reinterpret_cast<S*>(memory + (ahead + kVector - 1) / kVector * kVector);
}

/// Pads a row of columns, whose first pixel is given. Returns where it begins.
template <class S>
S* FilterPass::pad_columns(S* first, int64_t plane) const {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(S));
  S* const row = first - window_.anchor_x * channels_;
  pad_ends(reinterpret_cast<char*>(row), channels_ * kBytes, beyond_.data() + plane * kBytes);
  return row;
}

/// A pixel of a row, or one of constants where `column` is -1.
template <class T>
const T* FilterPass::pixel_of(const T* row, int64_t column, int64_t plane) const {
  return column < 0 ? reinterpret_cast<const T*>(outside_.data()) + plane : row + column * channels_;
}

/// Row `y`, which may be beyond the picture, of one plane: in the picture, if loops can read it with room behind its
/// end, else in `memory`.
const void* FilterPass::plain_row(int64_t plane, int64_t y, char* memory) const {
  const int64_t row = place_within(job_.border, y, job_.height);
  if (row < 0) {
    put_outside(memory, plane, job_.width);
    return memory;
  }
  const char* const from = source_row(plane, row);
  const char* const last = source_row(plane, job_.row_bytes < 0 ? 0 : job_.height - 1);
  if (source_ == work_ && last - from >= kVector) return from;
  conversions_.finish({.from = source_, .to = work_}, from, elements_, memory);
  return memory;
}

/// Row `y`, which may be beyond the picture, of one plane.
void FilterPass::pad_row(int64_t plane, int64_t y, char* to) const {
  const int64_t row = place_within(job_.border, y, job_.height);
  if (row < 0) return put_outside(to, plane, job_.width + window_.width - 1);
  char* const first = to + window_.anchor_x * channels_ * work_bytes_;
  conversions_.finish({.from = source_, .to = work_}, source_row(plane, row), elements_, first);
  pad_ends(to, channels_ * work_bytes_, outside_.data() + plane * work_bytes_);
}

/// The same of all channels, whose rows follow one another.
void FilterPass::find_bilateral_row(Workspace& space, int64_t y, char* to) const {
  const int64_t row = place_within(job_.border, y, job_.height), channels = job_.planes * job_.channels;
  if (job_.channels > 1 && row >= 0) {
    auto* const numbers = reinterpret_cast<float*>(space.turned);
    const auto line = space.padded / 4;
    conversions_.finish({.from = source_, .to = Sample::float32}, source_row(0, row), job_.width * channels, numbers);
    conversions_.split(numbers, job_.width, channels, 4, line, reinterpret_cast<float*>(to) + window_.anchor_x);
    for (int64_t c = 0; c < channels; ++c)
      pad_ends(to + c * space.padded, work_bytes_, outside_.data() + c * work_bytes_);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    if (row < 0)
      put_outside(to + c * space.padded, c, padded_);
    else
      pad_row(c, y, to + c * space.padded);
  }
}

/// Rows of extremes of spans of the neighbours in a padded row, behind it.
void FilterPass::find_spans(char* row, int64_t line) const {
  with_rank_loops([&]<class T>(const RankLoops<T>& loops) {
    const auto extreme = window_.kind == Kind::least ? loops.least : loops.greatest;
    for (size_t k = 1; k < spans_.size(); ++k, row += line) {
      const T* parts[kDirect];
      const int64_t length = spans_[k - 1], most = spans_[k] - length;
      int count = 0;
      for (int64_t x = 0; x < spans_[k]; x += length)
        parts[count++] = reinterpret_cast<const T*>(row) + std::min(x, most) * channels_;
      extreme(parts, count, padded_ - (spans_[k] - 1) * channels_, reinterpret_cast<T*>(row + line));
    }
  });
}

/// Finds the rows of the window of row `y`, of which all but the last are those of the row before.
void FilterPass::find_window(Workspace& space, int64_t plane, int64_t y) const {
  int64_t first = 0;
  if (space.window == y - 1) {
    first = window_.height - 1;
    space.left = space.rows.front();
    std::move(space.rows.begin() + lines_, space.rows.end(), space.rows.begin());
  }
  space.window = y;
  for (int64_t k = first; k < window_.height; ++k) {
    char* const memory = space.ring + space.next * lines_ * space.padded;
    if (++space.next == space.ring_rows) space.next = 0;
    const int64_t row = y - window_.anchor_y + k;
    if (has_columns_first()) {
      space.rows[static_cast<size_t>(k)] = plain_row(plane, row, memory);
      continue;
    }
    if (is_bilateral())
      find_bilateral_row(space, row, memory);
    else
      pad_row(plane, row, memory);
    if (!spans_.empty()) find_spans(memory, space.padded);
    for (int64_t c = 0; c < lines_; ++c) space.rows[static_cast<size_t>(k * lines_ + c)] = memory + c * space.padded;
  }
}

template <class T>
void FilterPass::set_tap_rows(Workspace& space) const {
  for (size_t k = 0; k < tap_y_.size(); ++k)
    space.taps[k] = static_cast<const T*>(space.rows[static_cast<size_t>(tap_y_[k] * lines_ + tap_line_[k])]) +
                    tap_x_[k] * channels_;
}

void FilterPass::sum_row(Workspace& space, int64_t plane, float* to) const {
  const auto* const taps = reinterpret_cast<const float* const*>(space.taps.data());
  if (window_.kind == Kind::sum) {
    set_tap_rows<float>(space);
    return conversions_.float_rows(taps, weights_.data(), static_cast<int>(weights_.size()), elements_, to);
  }
  const auto* const rows = reinterpret_cast<const float* const*>(space.rows.data());
  auto* const first = first_column<float>(space.middle);
  conversions_.float_rows(rows, window_.rows.data(), window_.height, elements_, first);
  const float* const middle = pad_columns(first, plane);
  for (int64_t k = 0; k < window_.width; ++k) space.taps[static_cast<size_t>(k)] = middle + k * channels_;
  conversions_.float_rows(taps, window_.columns.data(), window_.width, elements_, to);
}

/// A row of uint8, or of int16.
void FilterPass::integer_row(Workspace& space, int64_t plane, char* to) const {
  if (window_.kind == Kind::integer_sum) {
    set_tap_rows<uint8_t>(space);
    return loops_.integer_rows(reinterpret_cast<const uint8_t* const*>(space.taps.data()), integer_weights_.data(),
                               static_cast<int>(tap_y_.size()), elements_, reinterpret_cast<uint16_t*>(to));
  }
  const auto* const rows = reinterpret_cast<const uint8_t* const*>(space.rows.data());
  auto* const first = first_column<uint16_t>(space.middle);
  loops_.integer_rows(rows, window_.integer_rows.data(), window_.height, elements_, first);
  const uint16_t* const middle = pad_columns(first, plane);
  if (window_.kind == Kind::fixed)
    return loops_.fixed_columns(middle, integer_columns_.data(), static_cast<int>(integer_columns_.size()), channels_,
                                elements_, reinterpret_cast<uint8_t*>(to));
  loops_.integer_columns(reinterpret_cast<const int16_t*>(middle), window_.integer_columns.data(), window_.width,
                         channels_, elements_, reinterpret_cast<int16_t*>(to));
}

template <class Use>
void FilterPass::with_box_loops(Use&& use) const {
  if (work_ == Sample::uint16)
    use(loops_.word_boxes);
  else if (int64_t{window_.height} * window_.width * 255 <= UINT16_MAX)
    use(loops_.small_boxes);
  else
    use(loops_.byte_boxes);
}

/// Sums along columns are those of the row before, with one row more and one less.
template <class T, class S>
void FilterPass::box_row(Workspace& space, const BoxLoops<T, S>& loops, int64_t plane, int64_t y, T* to) const {
  const auto* const rows = reinterpret_cast<const T* const*>(space.rows.data());
  auto* const first = first_column<S>(space.middle);
  if (window_.height > 3 && space.previous == y - 1) {
    loops.slide(rows[window_.height - 1], static_cast<const T*>(space.left), elements_, first);
  } else {
    loops.add_rows(rows, window_.height, elements_, first);
  }
  const S* const sums = pad_columns(first, plane);
  space.previous = y;
  for (size_t k = 0; k < space.results.size(); ++k)
    space.results[k] = space.space + static_cast<int64_t>(k) * space.part;
  loops.across(sums, reinterpret_cast<S* const*>(space.results.data()), window_.width, channels_, elements_, division_,
               to);
}

/// The least or greatest values along the columns of a full window (van Herk 1992; Gil and Werman 1993): rows are cut
/// into blocks of the window's height; a window is the end of one block and the beginning of the next one.
template <class T>
T* FilterPass::extreme_columns(Workspace& space, const RankLoops<T>& loops, int64_t y) const {
  const auto extreme = window_.kind == Kind::least ? loops.least : loops.greatest;
  const auto* const rows = reinterpret_cast<const T* const*>(space.rows.data());
  T *const middle = first_column<T>(space.middle), *const begun = first_column<T>(space.other);
  const int height = window_.height;
  if (height <= kDirect) {
    extreme(rows, height, elements_, middle);
    return middle;
  }
  const auto ends = [&](int64_t k) { return first_column<T>(space.space + k * space.part); };
  const int64_t place = y - space.block;
  if (space.block == Workspace::kNoRow || place >= height) {
    space.block = y;
    std::memcpy(ends(height - 1), rows[height - 1], static_cast<size_t>(elements_) * sizeof(T));
    for (int64_t k = height - 2; k >= 0; --k) {
      const T* const two[] = {rows[k], ends(k + 1)};
      extreme(two, 2, elements_, ends(k));
    }
    return ends(0);
  }
  const T* const last = rows[height - 1];
  const T* const two[] = {begun, last};
  extreme(place == 1 ? two + 1 : two, place == 1 ? 1 : 2, elements_, begun);
  const T* const parts[] = {ends(place), begun};
  extreme(parts, 2, elements_, middle);
  return middle;
}

template <class Use>
void FilterPass::with_rank_loops(Use&& use) const {
  if (work_ == Sample::uint8)
    use(loops_.bytes);
  else if (work_ == Sample::uint16)
    use(loops_.words);
  else
    use(loops_.floats);
}

template <class T>
void FilterPass::median_row(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y, T* to) const {
  const auto* const rows = reinterpret_cast<const T* const*>(space.rows.data());
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (has_histograms()) return histogram_row(space, y, to);
  }
  if (!has_sorted_columns()) return loops.median(rows, window_.width, channels_, elements_, to);
  if (window_.width == 3 && channels_ <= kMostShifted) {
    const T *left[3], *right[3];
    for (int k = 0; k < 3; ++k) {
      left[k] = pixel_of(rows[k], left_.front(), plane);
      right[k] = pixel_of(rows[k], right_.front(), plane);
    }
    return loops.median_of_nine(rows, left, right, channels_, elements_, to);
  }
  T* sorted[kMostSorted];
  for (int64_t k = 0; k < window_.height; ++k) sorted[k] = first_column<T>(space.space + k * space.part);
  // In parts that stay in the fastest cache; what needs columns beyond the ends of the row comes last.
  constexpr int64_t kPart = 2048 / static_cast<int64_t>(sizeof(T));
  const int64_t ahead = window_.anchor_x * channels_, behind = (window_.width - 1) * channels_ - ahead;
  const auto medians = [&](int64_t begin, int64_t end) {
    const T* from[kMostSorted];
    for (int64_t k = 0; k < window_.height; ++k) from[k] = sorted[k] + begin - ahead;
    if (begin < end) loops.median_of_columns(from, window_.width, channels_, end - begin, to + begin);
  };
  int64_t made = std::min(ahead, elements_);
  for (int64_t begin = 0; begin < elements_; begin += kPart) {
    const int64_t end = std::min(begin + kPart, elements_);
    const T* from[kMostSorted];
    T* into[kMostSorted];
    for (int64_t k = 0; k < window_.height; ++k) from[k] = rows[k] + begin, into[k] = sorted[k] + begin;
    loops.sort_columns(from, window_.height, end - begin, into);
    if (end - behind > made) medians(std::exchange(made, end - behind), end - behind);
  }
  for (int64_t k = 0; k < window_.height; ++k) pad_columns(sorted[k], plane);
  medians(0, std::min(ahead, elements_));
  medians(made, elements_);
}

template <class T>
void FilterPass::rank_row(Workspace& space, const RankLoops<T>& loops, int64_t plane, int64_t y, T* to) const {
  if (window_.kind == Kind::median) return median_row(space, loops, plane, y, to);
  const auto extreme = window_.kind == Kind::least ? loops.least : loops.greatest;
  if (!window_.is_full) {
    set_tap_rows<T>(space);
    return extreme(reinterpret_cast<const T* const*>(space.taps.data()), static_cast<int>(tap_y_.size()), elements_,
                   to);
  }
  const T* from = pad_columns(extreme_columns(space, loops, y), plane);
  const int64_t width = window_.width;
  if ((width == 3 || width == 5) && window_.anchor_x == width / 2 && channels_ <= kMostShifted) {
    const auto across = window_.kind == Kind::least ? loops.least_neighbor : loops.greatest_neighbor;
    return across(from + window_.anchor_x * channels_, window_.width, channels_, elements_, to);
  }
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
  const bool is_direct = job_.difference == Filtering::Difference::none && source_ == work_;
  rank_row<T>(space, loops, plane, y, reinterpret_cast<T*>(is_direct ? result_row(plane, y) : space.stage));
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
  StopCheck stops(row_work());
  for (int64_t k = begin; k < end && !stops(); ++k) {
    const int64_t plane = k / job_.height, y = k % job_.height;
    if (std::exchange(last_plane, plane) != plane) space.clear();
    find_window(space, plane, y);
    auto* const floats = reinterpret_cast<float*>(space.stage);
    char* const result = result_row(plane, y);
    switch (window_.kind) {
      case Kind::sum:
      case Kind::separable:
        if (job_.result_dtype == Dtype::float32) {
          sum_row(space, plane, reinterpret_cast<float*>(result));
        } else {
          sum_row(space, plane, floats);
          finish_floats(floats, result, elements_);
        }
        break;
      case Kind::fixed: integer_row(space, plane, result); break;
      case Kind::integer_sum:
      case Kind::integers: {
        const bool is_direct = job_.result_dtype == Dtype::int16;
        integer_row(space, plane, is_direct ? result : space.stage);
        const auto* const numbers = reinterpret_cast<const int16_t*>(space.stage);
        if (job_.result_dtype == Dtype::uint8)
          loops_.int16_to_uint8(numbers, elements_, reinterpret_cast<uint8_t*>(result));
        else if (!is_direct)
          loops_.int16_to_float(numbers, elements_, reinterpret_cast<float*>(result));
        break;
      }
      case Kind::bilateral: finish_bilateral(space, y); break;
      case Kind::box:
        with_box_loops([&]<class T, class S>(const BoxLoops<T, S>& loops) {
          box_row(space, loops, plane, y, reinterpret_cast<T*>(result));
        });
        break;
      default: with_rank_loops([&]<class T>(const RankLoops<T>& loops) { compute_row(space, loops, plane, y); });
    }
  }
}

}  // namespace iruka::cpu_backend
