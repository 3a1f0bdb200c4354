// repeat. On the CPU each thread copies a part of the result; a GPU copies a view, or gathers by computed indices.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/once.h"
#include "core/parallel.h"
#include "core/service.h"
#include "iruka/indexing.h"
#include "iruka/statistics.h"
#include "ops/index/index_plan.h"
#include "ops/sort/order_text.h"

namespace iruka {
namespace {

/// All pieces have one count: where piece k ends, and the piece at a place of the result.
struct EqualCounts {
  int64_t count, pieces;
  int64_t end(int64_t piece) const { return (piece + 1) * count; }
  int64_t piece_at(int64_t place) const { return place / count; }
  int64_t total() const { return pieces * count; }
};

/// Each piece has its own count: their running sums.
struct OwnCounts {
  const int64_t* ends;
  int64_t pieces;
  int64_t end(int64_t piece) const { return ends[piece]; }
  int64_t piece_at(int64_t place) const { return std::upper_bound(ends, ends + pieces, place) - ends; }
  int64_t total() const { return pieces ? ends[pieces - 1] : 0; }
};

Dims with_extent(Dims shape, int axis, int64_t extent) {
  shape[axis] = extent;
  return shape;
}

/// Writes one piece `count` times. `room`: how many pieces may be overwritten from `to` on, at least count.
struct PieceWriter {
  int64_t bytes;
  void operator()(char* to, const char* from, int64_t count, int64_t /*room*/) const {
    for (int64_t k = 0; k < count; ++k, to += bytes) std::memcpy(to, from, static_cast<size_t>(bytes));
  }
};

/// The same for small pieces, copied in whole blocks: a block may write past its piece, and the next piece overwrites
/// the excess. A loop over a few unpredictable steps would be slower.
template <size_t kBytes>
struct BlockWriter {
  static constexpr int64_t kPieces = 32 / kBytes;
  void operator()(char* to, const char* from, int64_t count, int64_t room) const {
    std::array<char, 32> block;
    for (size_t k = 0; k < block.size(); k += kBytes) std::memcpy(block.data() + k, from, kBytes);
    for (; count > 0 && room >= kPieces; count -= kPieces, room -= kPieces, to += block.size())
      std::memcpy(to, block.data(), block.size());
    for (int64_t k = 0; k < count; ++k, to += kBytes) std::memcpy(to, from, kBytes);
  }
};

template <class Use>
void with_writer(int64_t bytes, Use&& use) {
  switch (bytes) {
    case 1: return use(BlockWriter<1>());
    case 2: return use(BlockWriter<2>());
    case 4: return use(BlockWriter<4>());
    case 8: return use(BlockWriter<8>());
    case 16: return use(BlockWriter<16>());
    default: return use(PieceWriter{bytes});
  }
}

/// Fills places [begin, end) of the result, which consists of rows of `total` places.
template <class Counts, class Writer>
void fill_places(const Counts& counts, int64_t bytes, const char* from, char* to, int64_t begin, int64_t end,
                 const Writer& write) {
  const int64_t total = counts.total();
  while (begin < end) {
    const int64_t row = begin / total, last = std::min(end - row * total, total);
    int64_t place = begin % total;
    const char* source = from + row * counts.pieces * bytes;
    char* target = to + row * total * bytes;
    for (int64_t piece = counts.piece_at(place); place < last; ++piece) {
      const int64_t stop = std::min(counts.end(piece), last);
      write(target + place * bytes, source + piece * bytes, stop - place, last - place);
      place = stop;
    }
    begin = row * total + last;
  }
}

template <class Counts>
Array repeat_cpu(const Array& x, const Counts& counts, int axis) {
  const Array source = x.contiguous();
  Array result = Array::empty(with_extent(x.shape(), axis, counts.total()), x.dtype(), x.device());
  if (result.size() == 0) return result;
  int64_t bytes = x.itemsize();
  for (int k = axis + 1; k < x.ndim(); ++k) bytes *= x.shape(k);
  const char* from = static_cast<const char*>(source.data());
  char* to = static_cast<char*>(result.data());
  const int64_t grain = std::max<int64_t>(1, (1 << 17) / bytes);
  with_writer(bytes, [&](auto write) {
    parallel_for(result.nbytes() / bytes, grain,
                 [&](int64_t begin, int64_t end) { fill_places(counts, bytes, from, to, begin, end, write); });
  });
  return result;
}

Array repeat_equally_cpu(const Array& x, int64_t count, int axis) {
  return repeat_cpu(x, EqualCounts{count, x.shape(axis)}, axis);
}

Array repeat_to_ends_cpu(const Array& x, const Array& ends, int64_t /*total*/, int axis) {
  return repeat_cpu(x, OwnCounts{static_cast<const int64_t*>(ends.data()), x.shape(axis)}, axis);
}

/// Copies a view that has an axis of stride 0.
Array repeat_equally_cuda(const Array& x, int64_t count, int axis) {
  const Array one = x.expand_dims(axis + 1);
  Array result = Array::empty(with_extent(one.shape(), axis + 1, count), x.dtype(), x.device());
  if (result.size() > 0) result.assign(one);
  return result.reshape(with_extent(x.shape(), axis, x.shape(axis) * count));
}

/// The piece of each of `total` places, by bisection of the cumulative sums.
Array piece_indices(const Array& ends, int64_t total) {
  const ElementwiseKernel& kernel = made_once([&] {
    return ElementwiseKernel("raw const int64 ends, int64 count", "int64 piece",
                             "piece = count_first(count, [&](int64_t k) { return ends[k] <= i; });", "repeated_piece",
                             {.preamble = ops::order_text("search")});
  });
  Array pieces = Array::empty({total}, Dtype::int64, ends.device());
  if (total > 0) kernel(ends, Scalar(ends.size()).typed(Dtype::int64), pieces);
  return pieces;
}

Array repeat_to_ends_cuda(const Array& x, const Array& ends, int64_t total, int axis) {
  if (total == 0) return Array::empty(with_extent(x.shape(), axis, 0), x.dtype(), x.device());
  return take(x, piece_indices(ends, total), axis);
}

[[noreturn]] void raise_negative() { throw ValueError("repeats may not contain negative values."); }
[[noreturn]] void raise_too_many() { throw ShapeError("repeat: the result has more elements than 64 bits can count"); }

Array running_sums_cpu(const Array& counts) {
  Array ends = Array::empty(counts.shape(), Dtype::int64, counts.device());
  const Array dense = counts.contiguous();
  const auto* from = static_cast<const int64_t*>(dense.data());
  auto* to = static_cast<int64_t*>(ends.data());
  int64_t total = 0;
  for (int64_t k = 0; k < counts.size(); ++k) {
    if (from[k] < 0) raise_negative();
    if (__builtin_add_overflow(total, from[k], &total)) raise_too_many();
    to[k] = total;
  }
  return ends;
}

/// Waits for the GPU.
Array running_sums_cuda(const Array& counts) {
  if (counts.size() == 0) return counts;
  if (min(counts).item<int64_t>() < 0) raise_negative();
  if (sum(counts, {}, false, Dtype::float64).item<double>() > 0x1p62) raise_too_many();
  return scan(counts, ScanOperation::add, 0);
}

struct Repeating {
  static constinit const Implementations<const Repeating> implementations;

  /// Every piece of the axis `count` times.
  Array (*equally)(const Array& x, int64_t count, int axis);
  /// Piece k up to place ends[k], of `total` places.
  Array (*to_ends)(const Array& x, const Array& ends, int64_t total, int axis);
  /// For int64 counts. Raises ValueError if one is negative.
  Array (*running_sums)(const Array& counts);
};
constexpr Repeating kCpu{repeat_equally_cpu, repeat_to_ends_cpu, running_sums_cpu};
constexpr Repeating kCuda{repeat_equally_cuda, repeat_to_ends_cuda, running_sums_cuda};
const Implementations<const Repeating> Repeating::implementations{"repeat", {&kCpu, &kCuda}};

/// x and the axis of it that is meant: without one, or for a single element, the flattened array's.
std::pair<Array, int> along_axis(const Array& x, std::optional<int64_t> named) {
  const Array from = named && x.ndim() > 0 ? x : x.reshape({-1});
  return {from, normalize_axis("repeat", named.value_or(0), from.ndim())};
}

}  // namespace

Array repeat(const Array& x, int64_t count, std::optional<int64_t> named) {
  const auto [from, axis] = along_axis(x, named);
  const int64_t pieces = from.shape(axis);
  if (count < 0 && pieces > 0) raise_negative();
  count = std::max<int64_t>(count, 0);
  if (int64_t total; __builtin_mul_overflow(pieces, count, &total)) raise_too_many();
  return x.device().service<Repeating>().equally(from, count, axis);
}

Array repeat(const Array& x, const Array& counts, std::optional<int64_t> named) {
  if (counts.ndim() > 1) throw ValueError("repeat: repeats must have one axis, not shape " + to_string(counts.shape()));
  if (!counts.device().target().is_host) ops::check_device("repeat: repeats", counts, x.device());
  if (counts.dtype() != Dtype::int64) return repeat(x, counts.astype(Dtype::int64), named);
  if (counts.size() == 1) return repeat(x, counts.item<int64_t>(), named);
  const auto [from, axis] = along_axis(x, named);
  const int64_t pieces = from.shape(axis);
  if (counts.size() != pieces)
    throw ShapeError("repeat: operands could not be broadcast together with shape (" + std::to_string(pieces) + ",) (" +
                     std::to_string(counts.size()) + ",)");
  const Array sums = counts.device().service<Repeating>().running_sums(counts);
  const int64_t total = pieces ? sums.at(-1).item<int64_t>() : 0;
  return x.device().service<Repeating>().to_ends(from, sums.to_device(x.device()), total, axis);
}

}  // namespace iruka
