#include "nn/point_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/layout.h"
#include "core/thread_pool.h"
#include "nn/points.h"
#include "ops/views.h"

namespace iruka::nn {
namespace {

/// What a block's numbers take of a processor's cache; points that are not worth a copy; neighbours in memory that a
/// block has at least, which are several cache lines.
constexpr int64_t kBlockBytes = 256 << 10, kFewPoints = 32, kNeighbours = 64;
/// What those neighbours may take where points have many numbers.
constexpr int64_t kMostBytes = 8 << 20;
constexpr int64_t kFewestOfBlock = 1024, kBlocksPerThread = 3;

/// Whether a vector of a kernel is made of points that are neighbours in memory, with small gaps at most.
bool are_fast(const Array& x) {
  const Points points(x, 1);
  if (points.layout == PointLayout::packed) return true;
  if (points.view.ndim() != 1) return false;
  const int64_t step = points.view.strides()[0], width = x.shape(x.ndim() - 1) * x.itemsize();
  return step == x.itemsize() || (points.stride == x.itemsize() && step > 0 && step <= 2 * width);
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Pieces of 16 bytes need no call for a few of them.
void copy_bytes(const std::byte* from, std::byte* to, int64_t bytes) {
  constexpr int64_t kPiece = 16, kLong = 256;
  if (bytes >= kLong) return void(std::memcpy(to, from, static_cast<size_t>(bytes)));
  int64_t at = 0;
  for (; at + kPiece <= bytes; at += kPiece) std::memcpy(to + at, from + at, kPiece);
  for (; at < bytes; ++at) to[at] = from[at];
}

/// The innermost two axes of a loop, over `from` and `to`.
template <class T>
void copy_plane(const LoopLayout& loop, const std::byte* from, std::byte* to) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const int last = loop.rank() - 1;
  const int64_t count = loop.extent(last), step = loop.stride(0, last), to_step = loop.stride(1, last);
  const int64_t rows = last > 0 ? loop.extent(last - 1) : 1;
  for (int64_t row = 0; row < rows; ++row) {
    const std::byte* const source = last > 0 ? from + row * loop.stride(0, last - 1) : from;
    std::byte* const target = last > 0 ? to + row * loop.stride(1, last - 1) : to;
    if (step == kSize && to_step == kSize) {
      copy_bytes(source, target, count * kSize);
    } else {
      for (int64_t k = 0; k < count; ++k) {
        const T value = load<T>(source + k * step);
        std::memcpy(target + k * to_step, &value, sizeof(T));
      }
    }
  }
}

template <class T>
void copy_axes(const LoopLayout& loop, int axis, const std::byte* from, std::byte* to) {
  if (axis + 2 >= loop.rank()) return copy_plane<T>(loop, from, to);
  for (int64_t k = 0; k < loop.extent(axis); ++k)
    copy_axes<T>(loop, axis + 1, from + k * loop.stride(0, axis), to + k * loop.stride(1, axis));
}

/// Copies elements of the same dtype without a kernel, for which a first call would wait. Operand `far` of the two,
/// which is not in the cache, decides the order.
void copy_elements(const Array& from, const Array& to, int far) {
  const LoopOperand operands[] = {LoopOperand(&from.shape(), &from.strides()), LoopOperand(&to.shape(), &to.strides())};
  LoopLayout loop(from.shape(), operands);
  loop.reorder_axes(far);
  loop.merge_axes();
  const auto* const source = static_cast<const std::byte*>(from.data()) + loop.offset(0);
  auto* const target = static_cast<std::byte*>(to.data()) + loop.offset(1);
  switch (from.itemsize()) {
    case 1: return copy_axes<uint8_t>(loop, 0, source, target);
    case 2: return copy_axes<uint16_t>(loop, 0, source, target);
    case 4: return copy_axes<uint32_t>(loop, 0, source, target);
    default: return copy_axes<uint64_t>(loop, 0, source, target);
  }
}

/// A dense array of the block's shape: points one after the other where features are the fastest axis of the block's
/// memory, else features one after the other.
Array empty_like_block(const Array& block) {
  const int last = block.ndim() - 1;
  int64_t nearest = INT64_MAX;  // bytes from point to point
  for (int axis = 0; axis < last; ++axis)
    if (block.shape(axis) > 1) nearest = std::min(nearest, std::abs(block.strides()[axis]));
  if (block.shape(last) == 1 || std::abs(block.strides()[last]) < nearest)
    return Array::empty(block.shape(), block.dtype(), block.device());
  return ops::with_axis_at(Array::empty(ops::with_axis_at(block, last, 0).shape(), block.dtype(), block.device()), 0,
                           last);
}

class PointBlocks {
 public:
  PointBlocks(const Array& x, const Array& y) : x_(x), y_(y), loop_(layout_of(x, y)) {
    loop_.reorder_axes(1);
    loop_.merge_axes();
    size_ = Dims(loop_.rank(), 1);
    const Dims first(loop_.rank(), 0), all(loop_.extents(), loop_.rank());
    is_direct_ =
        loop_.count() <= kFewPoints || (are_fast(part(x_, 0, first, all)) && are_fast(part(y_, 1, first, all)));
    if (is_direct_)
      size_ = all;
    else
      choose_size();
    for (int axis = 0; axis < loop_.rank(); ++axis) count_ *= blocks(axis);
  }

  int64_t count() const { return count_; }
  bool is_direct() const { return is_direct_; }

  /// The points of a block, not copied.
  std::pair<Array, Array> block(int64_t number) const {
    Dims first(loop_.rank(), 0), extents = size_;
    for (int axis = loop_.rank() - 1; axis >= 0; number /= blocks(axis--)) {
      first[axis] = number % blocks(axis) * size_[axis];
      extents[axis] = std::min(size_[axis], loop_.extent(axis) - first[axis]);
    }
    return {part(x_, 0, first, extents), part(y_, 1, first, extents)};
  }

  void run(int64_t number, const PointRun& run) const {
    auto [x, y] = block(number);
    if (is_direct_) return run(x, y);
    if (!are_fast(x)) {
      Array copy = empty_like_block(x);
      copy_elements(x, copy, 0);
      x = std::move(copy);
    }
    if (are_fast(y)) return run(x, y);
    const Array made = empty_like_block(y);
    run(x, made);
    copy_elements(made, y, 1);
  }

 private:
  static LoopLayout layout_of(const Array& x, const Array& y) {
    const Array x_points = ops::slice_at(x, x.ndim() - 1, 0), y_points = ops::slice_at(y, y.ndim() - 1, 0);
    const LoopOperand operands[] = {LoopOperand(&x_points.shape(), &x_points.strides()),
                                    LoopOperand(&y_points.shape(), &y_points.strides())};
    return {x_points.shape(), operands};
  }

  /// The points of an operand from `first` on.
  Array part(const Array& array, int operand, const Dims& first, const Dims& extents) const {
    Dims shape = extents, strides(loop_.strides(operand), loop_.rank());
    int64_t offset = array.offset() + loop_.offset(operand);
    for (int axis = 0; axis < loop_.rank(); ++axis) offset += first[axis] * strides[axis];
    const int last = array.ndim() - 1;
    shape.push_back(array.shape(last)), strides.push_back(array.strides()[last]);
    return array.view(array.dtype(), std::move(shape), std::move(strides), offset);
  }

  int64_t blocks(int axis) const { return (loop_.extent(axis) + size_[axis] - 1) / size_[axis]; }

  /// First whole cache lines of both arrays, then as many neighbours of y as the cache holds.
  void choose_size() {
    const int64_t bytes = x_.shape(x_.ndim() - 1) * x_.itemsize() + y_.shape(y_.ndim() - 1) * y_.itemsize();
    const int64_t threads = ThreadPool::instance().thread_count();
    const int64_t share = loop_.count() / (threads > 1 ? kBlocksPerThread * threads : 1);
    const int64_t fewest = std::clamp<int64_t>(kMostBytes / bytes, 1, kNeighbours);
    const int64_t most = std::max(fewest, std::min(kBlockBytes / bytes, std::max(kFewestOfBlock, share)));
    int64_t points = 1;
    const auto grow = [&](int axis, int64_t wanted) {
      const int64_t others = points / size_[axis];
      size_[axis] = std::max(size_[axis], std::min({wanted, loop_.extent(axis), most / others}));
      points = others * size_[axis];
    };
    int nearest = loop_.rank() - 1;
    for (int axis = nearest; axis >= 0; --axis) {
      const int64_t stride = std::abs(loop_.stride(0, axis));
      if (stride > 0 && stride < std::abs(loop_.stride(0, nearest))) nearest = axis;
    }
    grow(nearest, kNeighbours);
    for (int axis = loop_.rank() - 1; axis >= 0; --axis) grow(axis, loop_.extent(axis));
    for (int axis = 0; axis < loop_.rank(); ++axis)
      size_[axis] = (loop_.extent(axis) + blocks(axis) - 1) / blocks(axis);
  }

  const Array &x_, &y_;
  LoopLayout loop_;         ///< over the points of x and y
  Dims size_;               ///< of a block
  bool is_direct_ = false;  ///< nothing is copied, and there is one block
  int64_t count_ = 1;
};

}  // namespace

void run_in_blocks(const Array& x, const Array& y, const PointRun& run) {
  const PointBlocks blocks(x, y);
  if (blocks.count() == 1) return blocks.run(0, run);
  ThreadPool::instance().run(blocks.count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end && !should_stop(); ++block) blocks.run(block, run);
  });
}

BlockOfPoints::BlockOfPoints(const Array& all_x, const Array& all_y) : x(all_x), y(all_y) {
  if (x.size() == 0) return;
  const PointBlocks blocks(all_x, all_y);
  std::tie(x, y) = blocks.block(0);
  if (blocks.is_direct()) return;
  if (!are_fast(x)) x = empty_like_block(x);
  if (!are_fast(y)) y = empty_like_block(y);
}

}  // namespace iruka::nn
