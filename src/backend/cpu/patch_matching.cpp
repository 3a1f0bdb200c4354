#include "backend/cpu/patch_matching.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/patch_job.h"
#include "backend/cpu/patch_trees.h"
#include "core/once.h"
#include "core/parallel.h"
#include "iruka/error.h"

namespace iruka::cpu_backend {
namespace {

/// Calls `use` with a value of the dtype's type.
template <class Use>
void with_type(Dtype dtype, Use&& use) {
  switch (dtype) {
    case Dtype::bool_:
    case Dtype::uint8: return use(uint8_t{});
    case Dtype::int8: return use(int8_t{});
    case Dtype::uint16: return use(uint16_t{});
    case Dtype::int16: return use(int16_t{});
    case Dtype::uint32: return use(uint32_t{});
    case Dtype::int32: return use(int32_t{});
    case Dtype::uint64: return use(uint64_t{});
    case Dtype::int64: return use(int64_t{});
    case Dtype::float32: return use(float{});
    default: return use(double{});
  }
}

/// The values of integer pictures: from `least` on, over a span. The border's zeros are among them.
struct Span {
  uint64_t least, size;
};

template <class T>
Span span_of(const PatchMatching& job) {
  T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
  if (job.border == Border::constant && job.patch > 1) least = most = 0;
  for (const auto& picture : {job.a, job.b}) {
    const auto* const values = static_cast<const T*>(picture.data);
    const auto [low, high] = std::minmax_element(values, values + picture.pixels() * job.channels);
    least = std::min(least, *low);
    most = std::max(most, *high);
  }
  return {static_cast<uint64_t>(least), static_cast<uint64_t>(most) - static_cast<uint64_t>(least)};
}

/// Memory for numbers, whose vectors may begin anywhere.
template <class T>
class Plane {
 public:
  Plane() = default;
  Plane(int64_t size, T value) : data_(new T[static_cast<size_t>(size)]) { std::fill_n(data_.get(), size, value); }
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

/// How a picture with its border lies in memory: rows of patches, with margins around them.
struct Layout {
  int64_t height, width;  ///< in patches
  int64_t rows, columns;  ///< with the border
  int64_t margin_rows, margin, line, size;

  Layout(const PatchMatching::Picture& picture, int64_t patch, int64_t lanes, int64_t margin_above)
      : height(picture.height),
        width(picture.width),
        rows(height + patch - 1),
        columns(width + patch - 1),
        margin_rows(margin_above),
        margin(lanes),
        line(divided(columns, lanes) * lanes + 3 * lanes + patch),
        size((rows + 2 * margin_rows) * line + 3 * lanes + patch) {}
  int64_t origin() const { return margin_rows * line + margin; }
};

/// Calls `use(row, column, source pixel)` for each pixel of the picture with its border; -1 stands for zeros.
template <class Use>
void each_pixel(const PatchMatching& job, const PatchMatching::Picture& picture, const Layout& layout, Use&& use) {
  std::vector<int64_t> columns(static_cast<size_t>(layout.columns));
  for (int64_t x = 0; x < layout.columns; ++x)
    columns[static_cast<size_t>(x)] = place_within(static_cast<int>(job.border), x - job.patch / 2, picture.width);
  parallel_for(layout.rows, std::max<int64_t>(1, (1 << 14) / layout.columns), [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end && !should_stop(); ++y) {
      const int64_t row = place_within(static_cast<int>(job.border), y - job.patch / 2, picture.height);
      for (int64_t x = 0; x < layout.columns; ++x) {
        const int64_t column = columns[static_cast<size_t>(x)];
        use(y, x, row < 0 || column < 0 ? -1 : row * picture.width + column);
      }
    }
  });
}

/// The sums of the patches' pixels, (height, width), of numbers with the layout's lines.
Plane<int32_t> patch_sums(const Layout& layout, const Plane<int32_t>& pixels, int64_t patch) {
  Plane<int32_t> sums(layout.height * layout.width, 0);
  std::vector<int32_t> columns(static_cast<size_t>(layout.columns));
  const auto add_row = [&](int64_t y, int32_t sign) {
    const int32_t* const row = pixels.data() + layout.origin() + y * layout.line;
    for (int64_t x = 0; x < layout.columns; ++x) columns[static_cast<size_t>(x)] += sign * row[x];
  };
  for (int64_t y = 0; y < layout.rows; ++y) {
    add_row(y, 1);
    const int64_t top = y - patch + 1;
    if (top < 0) continue;
    int32_t sum = 0;
    for (int64_t x = 0; x < layout.columns; ++x) {
      sum += columns[static_cast<size_t>(x)];
      if (x - patch + 1 < 0) continue;
      sums.data()[top * layout.width + x - patch + 1] = sum;
      sum -= columns[static_cast<size_t>(x - patch + 1)];
    }
    add_row(top, -1);
  }
  return sums;
}

/// Pixels of the first picture that a thread does at a time.
struct Block {
  int64_t y, x, rows, columns;
};

/// Divides the first picture into blocks of whole vectors.
class Blocks {
 public:
  Blocks(const PatchMatching& job, int64_t lanes, int64_t most_vectors)
      : height_(job.a.height), width_(job.a.width), lanes_(lanes), vectors_(divided(width_, lanes)) {
    const int64_t wanted = std::min(kBlocksPerThread, int64_t{4}) * ThreadPool::instance().thread_count();
    strips_ = divided(vectors_, most_vectors);
    const int64_t bands =
        std::max(divided(height_, most_rows(job)), std::min(divided(wanted, strips_), divided(height_, 8)));
    bands_ = std::max<int64_t>(1, bands);
  }
  /// Of a block, so that candidates stay in the nearest cache. Sums over rows of a patch begin anew in each block.
  static int64_t most_rows(const PatchMatching& job) { return std::max<int64_t>(32, job.patch); }
  int64_t count() const { return bands_ * strips_; }
  Block at(int64_t index) const {
    const int64_t band = index / strips_, strip = index % strips_;
    const int64_t y = height_ * band / bands_, x = vectors_ * strip / strips_ * lanes_;
    const int64_t y_end = height_ * (band + 1) / bands_, x_end = vectors_ * (strip + 1) / strips_ * lanes_;
    return {y, x, y_end - y, std::min(x_end, width_) - x};
  }

 private:
  int64_t height_, width_, lanes_, vectors_, strips_ = 1, bands_ = 1;
};

/// Runs `body(block)` for all blocks on the threads, and reports after some of them.
template <class Body>
void run_blocks(const PatchMatching& job, const Blocks& blocks, Body&& body) {
  const auto run = [&](int64_t first, int64_t end) {
    ThreadPool::instance().run(end - first, 1,
                               [&](int64_t from, int64_t to) {
                                 for (int64_t k = first + from; k < first + to && !should_stop(); ++k)
                                   body(blocks.at(k));
                               },
                               {.alone = kAlone});
  };
  if (!job.progress) return run(0, blocks.count());
  using Clock = std::chrono::steady_clock;
  constexpr auto kInterval = std::chrono::milliseconds(100);
  int64_t step = ThreadPool::instance().thread_count(), done = 0;
  for (int64_t first = 0, end = 0; first < blocks.count(); first = end) {
    end = std::min(first + step, blocks.count());
    const auto begin = Clock::now();
    run(first, end);
    for (int64_t k = first; k < end; ++k) done += blocks.at(k).rows * blocks.at(k).columns;
    job.progress(done, job.a.pixels());
    if (Clock::now() - begin < kInterval / 2) step *= 2;
  }
}

/// The displacements of a block that lead to patches of the second picture, inside of the window.
Displacements displacements_of(const PatchMatching& job, const Block& block) {
  const int64_t dy = std::max(-job.window_y, -(block.y + block.rows - 1)),
                dx = std::max(-job.window_x, -(block.x + block.columns - 1));
  return {dy, std::min(job.window_y + 1, job.b.height - block.y) - dy, dx,
          std::min(job.window_x + 1, job.b.width - block.x)};
}

/// Calls `match` for a few rows of displacements at a time, in scan order or spread over all of them. Neighbouring
/// patches of a picture are alike, so that in scan order many are a little nearer than the one before, and each has to
/// be kept.
template <class Match>
void each_rows(const Displacements& all, int64_t rows, bool is_in_order, Match&& match) {
  if (all.dx >= all.dx_end || all.count <= 0) return;
  const int64_t groups = divided(all.count, rows);
  constexpr double kGoldenRatio = 0.618;
  int64_t step =
      is_in_order ? 1 : std::max<int64_t>(1, static_cast<int64_t>(kGoldenRatio * static_cast<double>(groups)));
  while (std::gcd(step, groups) != 1) ++step;  // so that each group is met once
  for (int64_t k = 0, group = groups / 2; k < groups && !should_stop(); ++k, group = (group + step) % groups) {
    const int64_t first = (is_in_order ? k : group) * rows;
    match({all.dy + first, std::min(rows, all.count - first), all.dx, all.dx_end});
  }
}

/// Writes one candidate of the pixel (y, x) of a block.
template <class Distance>
void write(const PatchMatching& job, const Block& block, int64_t y, int64_t x, int64_t k, bool is_found, int64_t label,
           Distance distance) {
  const int64_t own_y = block.y + y, own_x = block.x + x, place = (own_y * job.a.width + own_x) * job.kept + k,
                candidate = label + y * job.b.width + own_x;
  job.field[2 * place] = is_found ? static_cast<int32_t>(candidate / job.b.width) : -1;
  job.field[2 * place + 1] = is_found ? static_cast<int32_t>(candidate % job.b.width) : -1;
  static_cast<Distance*>(job.distances)[place] = distance;
}

/// Pictures whose values are bytes after `least` is subtracted.
class ByteMatching {
 public:
  ByteMatching(const PatchMatching& job, const PatchLoops& loops, uint64_t least)
      : job_(job),
        loops_(loops),
        planes_(std::max(divided(job.channels, loops.word_numbers), 4 / loops.word_numbers)),
        a_layout_(job.a, job.patch, loops.lanes, 0),
        b_layout_(job.b, job.patch, loops.lanes, kDisplacementRows),
        a_(a_layout_.size * planes_, 0),
        b_(b_layout_.size * planes_, 0),
        half_(b_layout_.size, kNoPatch),
        odd_(b_layout_.size, 0) {
    with_type(job.dtype, [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>) prepare<T>(static_cast<T>(least));
    });
  }

  void run() const {
    run_blocks(job_, Blocks(job_, loops_.lanes, loops_.most_vectors), [&](const Block& block) { match(block); });
  }

 private:
  /// Words, and the sums of squares of patches.
  template <class T>
  void prepare(T least) {
    Plane<int32_t> a_squares(a_layout_.size, 0), b_squares(b_layout_.size, 0);
    // |a - b|^2 is |a|^2 + |b|^2 - 2ab of numbers from -128 on. Those of b are from 0 on in products, which adds 256 a.
    fill<T>(job_.a, a_layout_, a_, a_squares, least, 128, [](int32_t v) { return v * v + 256 * v; });
    fill<T>(job_.b, b_layout_, b_, b_squares, least, 0, [](int32_t v) { return (v - 128) * (v - 128); });
    a_sums_ = patch_sums(a_layout_, a_squares, job_.patch);
    const Plane<int32_t> b_sums = patch_sums(b_layout_, b_squares, job_.patch);
    for (int64_t y = 0; y < job_.b.height; ++y)
      for (int64_t x = 0; x < job_.b.width; ++x) {
        const int64_t pixel = y * job_.b.width + x, place = b_layout_.origin() + y * b_layout_.line + x;
        if (job_.mask && !job_.mask[pixel]) continue;
        half_.data()[place] = b_sums.data()[pixel] >> 1;
        odd_.data()[place] = b_sums.data()[pixel] & 1;
      }
  }

  template <class T, class Square>
  void fill(const PatchMatching::Picture& picture, const Layout& layout, const Plane<int32_t>& words,
            const Plane<int32_t>& squares, T least, int32_t centre, Square&& square) {
    const int64_t bits = 32 / loops_.word_numbers;
    const uint32_t mask = bits == 8 ? 0xff : 0xffff;
    each_pixel(job_, picture, layout, [&](int64_t y, int64_t x, int64_t pixel) {
      const int64_t place = layout.origin() + y * layout.line + x;
      const T* const values = static_cast<const T*>(picture.data) + std::max<int64_t>(pixel, 0) * job_.channels;
      for (int64_t c = 0; c < job_.channels; ++c) {
        const auto from_least = static_cast<uint64_t>(pixel < 0 ? T(0) : values[c]) - static_cast<uint64_t>(least);
        const int32_t value = static_cast<int32_t>(from_least & 0xff) - centre;
        squares.data()[place] += square(value);
        words.data()[c / loops_.word_numbers * layout.size + place] |=
            static_cast<int32_t>((static_cast<uint32_t>(value) & mask) << (c % loops_.word_numbers * bits));
      }
    });
  }

  void match(const Block& block) const {
    const int64_t vectors = divided(block.columns, loops_.lanes), line = vectors * loops_.lanes,
                  plane = line * block.rows;
    const Plane<int32_t> least(plane, kNoScore / 2), scores(plane * job_.kept, kNoScore),
        labels(plane * job_.kept, kNoLabel);
    const TilePlace at{block.rows,     vectors,        block.y,        block.x,       a_layout_.line,
                       a_layout_.size, b_layout_.line, b_layout_.size, job_.b.height, job_.b.width,
                       planes_,        job_.patch,     job_.kept,      line,          plane};
    const int64_t b = b_layout_.origin();
    const ByteTile tile{at,
                        a_.data() + a_layout_.origin() + block.y * a_layout_.line + block.x,
                        b_.data() + b,
                        half_.data() + b,
                        odd_.data() + b,
                        least.data(),
                        scores.data(),
                        labels.data()};
    each_rows(displacements_of(job_, block), kDisplacementRows, false,
              [&](const Displacements& by) { loops_.bytes(tile, by); });
    for (int64_t y = 0; y < block.rows; ++y)
      for (int64_t x = 0; x < block.columns; ++x)
        for (int64_t k = 0; k < job_.kept; ++k) {
          const int64_t place = k * plane + y * line + x, pixel = (block.y + y) * job_.a.width + block.x + x;
          const int32_t label = labels.data()[place];
          const bool is_found = label != kNoLabel;
          write<int64_t>(
              job_, block, y, x, k, is_found, label,
              is_found ? int64_t{a_sums_.data()[pixel]} - scores.data()[place] : std::numeric_limits<int64_t>::max());
        }
  }

  const PatchMatching& job_;
  const PatchLoops& loops_;
  const int64_t planes_;
  const Layout a_layout_, b_layout_;
  const Plane<int32_t> a_, b_, half_, odd_;
  Plane<int32_t> a_sums_;
};

/// Pictures as numbers T. `least` is subtracted from integers.
template <class T, class Label, class Distance>
class NumberMatching {
 public:
  using Match = void (*)(const NumberTile<T, Label>&, const Displacements&);

  NumberMatching(const PatchMatching& job, int64_t vector_words, Match match, T farthest, uint64_t least)
      : job_(job),
        match_(match),
        lanes_(vector_words * 4 / int64_t{sizeof(T)}),
        farthest_(farthest),
        a_layout_(job.a, job.patch, kNumberVectors * lanes_, 0),
        b_layout_(job.b, job.patch, kNumberVectors * lanes_, 0),
        a_(a_layout_.size * job.channels, T(0)),
        b_(b_layout_.size * job.channels, T(0)),
        blocked_(b_layout_.size, farthest) {
    with_type(job.dtype, [&]<class From>(From) {
      fill<From>(job.a, a_layout_, a_, least);
      fill<From>(job.b, b_layout_, b_, least);
    });
    for (int64_t y = 0; y < job.b.height; ++y)
      for (int64_t x = 0; x < job.b.width; ++x)
        if (!job.mask || job.mask[y * job.b.width + x])
          blocked_.data()[b_layout_.origin() + y * b_layout_.line + x] = T(0);
  }

  void run() const {
    run_blocks(job_, Blocks(job_, lanes_, kNumberVectors), [&](const Block& block) { match(block); });
  }

 private:
  template <class From>
  void fill(const PatchMatching::Picture& picture, const Layout& layout, const Plane<T>& planes, uint64_t least) {
    each_pixel(job_, picture, layout, [&](int64_t y, int64_t x, int64_t pixel) {
      const From* const values = static_cast<const From*>(picture.data) + std::max<int64_t>(pixel, 0) * job_.channels;
      for (int64_t c = 0; c < job_.channels; ++c) {
        const From value = pixel < 0 ? From(0) : values[c];
        T& to = planes.data()[c * layout.size + layout.origin() + y * layout.line + x];
        if constexpr (std::is_integral_v<From>)
          to = static_cast<T>(static_cast<uint64_t>(value) - least);
        else
          to = static_cast<T>(value);
      }
    });
  }

  void match(const Block& block) const {
    const int64_t vectors = divided(block.columns, lanes_), line = vectors * lanes_, plane = line * block.rows;
    const Plane<T> distances(plane * job_.kept, farthest_), scratch(scratch_size(job_.patch, lanes_), T(0));
    const Plane<Label> labels(plane * job_.kept, 0);
    const TilePlace at{block.rows,     vectors,        block.y,        block.x,       a_layout_.line,
                       a_layout_.size, b_layout_.line, b_layout_.size, job_.b.height, job_.b.width,
                       job_.channels,  job_.patch,     job_.kept,      line,          plane};
    const int64_t b = b_layout_.origin();
    const NumberTile<T, Label> tile{at,
                                    a_.data() + a_layout_.origin() + block.y * a_layout_.line + block.x,
                                    b_.data() + b,
                                    blocked_.data() + b,
                                    farthest_,
                                    distances.data(),
                                    labels.data(),
                                    scratch.data()};
    each_rows(displacements_of(job_, block), 1, true, [&](const Displacements& by) { match_(tile, by); });
    for (int64_t y = 0; y < block.rows; ++y)
      for (int64_t x = 0; x < block.columns; ++x)
        for (int64_t k = 0; k < job_.kept; ++k) {
          const int64_t place = k * plane + y * line + x;
          const T distance = distances.data()[place];
          const bool is_found = distance < farthest_;
          Distance written = static_cast<Distance>(distance);
          if (!is_found && std::is_integral_v<Distance>) written = std::numeric_limits<Distance>::max();
          write<Distance>(job_, block, y, x, k, is_found, int64_t{labels.data()[place]}, written);
        }
  }

  const PatchMatching& job_;
  const Match match_;
  const int64_t lanes_;
  const T farthest_;
  const Layout a_layout_, b_layout_;
  const Plane<T> a_, b_, blocked_;
};

/// Whether labels have 32 bits in all blocks.
bool has_short_labels(const PatchMatching& job) {
  const int64_t rows = job.b.height + 2 * Blocks::most_rows(job);
  return rows * job.b.width + job.a.width < kNoLabel;
}

void match_integers(const PatchMatching& job) {
  Span span{};
  with_type(job.dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) span = span_of<T>(job);
  });
  const PatchLoops& loops = patch_loops();
  const int64_t numbers = job.patch * job.patch * job.channels;
  const bool has_labels = has_short_labels(job);
  if (span.size <= 255 && numbers <= kMostPatchBytes && job.patch <= loops.most_patch && has_labels)
    return ByteMatching(job, loops, span.least).run();
  // The largest distance, which doubles tell well enough.
  const double largest = static_cast<double>(span.size) * static_cast<double>(span.size) * static_cast<double>(numbers);
  constexpr double kOfInt32 = 0x1p30, kOfDouble = 0x1p53;
  if (largest < kOfInt32 && has_labels)
    NumberMatching<int32_t, int32_t, int64_t>(job, loops.lanes, loops.integers, int32_t{1} << 30, span.least).run();
  else if (largest < kOfDouble)
    NumberMatching<double, int64_t, int64_t>(job, loops.lanes, loops.exact_doubles,
                                             std::numeric_limits<double>::infinity(), span.least)
        .run();
  else
    NumberMatching<int64_t, int64_t, int64_t>(job, loops.lanes, loops.long_integers, int64_t{1} << 62, span.least)
        .run();
}

class CpuPatchMatchings final : public PatchMatchings {
 public:
  void match(const PatchMatching& job) override {
    const PatchLoops& loops = patch_loops();
    if (job.dtype == Dtype::float32 && !has_short_labels(job))
      throw ValueError("nnf: b of float32 must have fewer than 2^31 pixels, not " + std::to_string(job.b.pixels()));
    if (job.dtype == Dtype::float32)
      NumberMatching<float, int32_t, float>(job, loops.lanes, loops.floats, std::numeric_limits<float>::infinity(), 0)
          .run();
    else if (job.dtype == Dtype::float64)
      NumberMatching<double, int64_t, double>(job, loops.lanes, loops.doubles, std::numeric_limits<double>::infinity(),
                                              0)
          .run();
    else
      match_integers(job);
  }

  bool can_approximate(const PatchMatching& job) const override {
    const bool is_everywhere =
        job.window_y >= std::max(job.a.height, job.b.height) && job.window_x >= std::max(job.a.width, job.b.width);
    return itemsize(job.dtype) == 1 && is_everywhere && job.patch * job.patch * job.channels <= kMostPatchBytes;
  }
  void approximate(const PatchMatching& job, uint64_t seed, int64_t iterations) override {
    match_by_trees(job, seed, iterations);
  }

  bool sweep(Dtype dtype, const PatchSweep& job) override {
    if (dtype != Dtype::uint8 && dtype != Dtype::bool_) return false;
    ThreadPool::instance().run(job.segments, 1,
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t k = begin; k < end && !should_stop(); ++k)
                                   patch_loops().sweep(job, k, k + 1);
                               },
                               {.alone = kAlone});
    return true;
  }
};

}  // namespace

PatchMatchings& cpu_patch_matchings() {
  return made_once_locked([] { return CpuPatchMatchings(); });
}

}  // namespace iruka::cpu_backend
