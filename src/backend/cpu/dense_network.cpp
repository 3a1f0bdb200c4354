// A layer is a convolution whose windows are one pixel: vectors of outputs, for a tile of points that goes through all
// layers while its numbers stay in the cache.
#include "backend/cpu/dense_network.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/cpu/blocks.h"
#include "backend/cpu/packed_weights.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/window_loops.h"
#include "core/once.h"
#include "core/parallel.h"

namespace iruka::cpu_backend {
namespace {

/// Points of a tile: a multiple of those that registers hold.
constexpr int64_t kPoints = 120;

/// Gives use(offset, stride, count) the runs along the last axis of `count` points from `first` on, in bytes.
template <class Use>
void for_runs(const DensePoints& points, int64_t first, int64_t count, Use&& use) {
  if (points.rank == 0) return use(0, 0, count);
  const int last = points.rank - 1;
  const int64_t stride = points.strides[last], extent = points.extents[last];
  while (count > 0) {
    int64_t rest = first / extent, offset = first % extent * stride;
    for (int axis = last - 1; axis >= 0; --axis) {
      offset += rest % points.extents[axis] * points.strides[axis];
      rest /= points.extents[axis];
    }
    const int64_t size = std::min(count, extent - first % extent);
    use(offset, stride, size);
    first += size, count -= size;
  }
}

template <class T>
class DensePlan {
 public:
  explicit DensePlan(const DenseNetwork& network) : network_(network), loops_(window_loops()) {
    const int64_t lanes = loops_.bytes / static_cast<int64_t>(sizeof(T));
    for (const DenseStep& step : network.steps) {
      widest_ = std::max({widest_, step.inputs, step.outputs});
      ranges_.push_back(ranges_of(step.outputs, lanes, most_vectors(loops_.bytes)));
      std::vector<T>& bias = biases_.emplace_back(static_cast<size_t>(divided(step.outputs, lanes) * lanes));
      if (step.bias) std::copy_n(static_cast<const T*>(step.bias), step.outputs, bias.begin());
    }
    sums_ = kPoints * most_vectors(loops_.bytes) * lanes + kSpareSums;
  }

  void run() const {
    ThreadPool::instance().run(divided(network_.count, kPoints), 1,
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t tile = begin; tile < end && !should_stop(); ++tile)
                                   run_tile(tile * kPoints, std::min(kPoints, network_.count - tile * kPoints));
                               },
                               {.alone = kAlone});
  }

 private:
  /// Numbers of a tile's points: where each point's begin, relative to `data`.
  struct Tile {
    T* data;
    int64_t places[kPoints + kSparePlaces];
  };

  static bool is_dense(const DensePoints& points) { return points.feature == static_cast<int64_t>(sizeof(T)); }
  static void find_places(const DensePoints& points, int64_t first, int64_t count, Tile& tile) {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    int64_t* place = tile.places;
    for_runs(points, first, count, [&](int64_t offset, int64_t stride, int64_t size) {
      for (int64_t k = 0; k < size; ++k) *place++ = offset / kSize + k * (stride / kSize);
    });
    std::fill_n(tile.places + count, kSparePlaces, tile.places[count - 1]);
    tile.data = static_cast<T*>(points.data);
  }
  static void use_memory(T* memory, int64_t width, Tile& tile) {
    for (int64_t k = 0; k < kPoints + kSparePlaces; ++k) tile.places[k] = std::min(k, kPoints - 1) * width;
    tile.data = memory;
  }
  /// Whether neighbouring points are neighbours in memory.
  static bool is_row(const Tile& tile, int64_t count) {
    for (int64_t k = 1; k < count; ++k)
      if (tile.places[k] != tile.places[k - 1] + 1) return false;
    return sizeof(T) == sizeof(float);
  }

  void gather(const Tile& from, int64_t stride, int64_t width, int64_t count, T* to) const {
    if (is_row(from, count))
      return loops_.turn(reinterpret_cast<const float*>(from.data + from.places[0]), stride, width, count,
                         reinterpret_cast<float*>(to), width);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t f = 0; f < width; ++f) to[k * width + f] = from.data[from.places[k] + f * stride];
  }
  void scatter(const T* from, int64_t width, int64_t count, const Tile& to, int64_t stride) const {
    if (is_row(to, count))
      return loops_.turn(reinterpret_cast<const float*>(from), width, count, width,
                         reinterpret_cast<float*>(to.data + to.places[0]), stride);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t f = 0; f < width; ++f) to.data[to.places[k] + f * stride] = from[k * width + f];
  }

  void run_tile(int64_t first, int64_t count) const {
    constexpr auto kSize = static_cast<int64_t>(sizeof(T));
    T* const sums = static_cast<T*>(scratch(static_cast<size_t>(sums_ + 2 * kPoints * widest_) * sizeof(T)));
    T* buffers[] = {sums + sums_, sums + sums_ + kPoints * widest_};
    Tile x, y, result;
    find_places(network_.x, first, count, x);
    find_places(network_.y, first, count, result);
    if (!is_dense(network_.x)) {
      const int64_t width = network_.steps.front().inputs;
      gather(x, network_.x.feature / kSize, width, count, buffers[0]);
      use_memory(buffers[0], width, x);
      std::swap(buffers[0], buffers[1]);
    }
    for (size_t k = 0; k < network_.steps.size(); ++k) {
      const DenseStep& step = network_.steps[k];
      const bool is_result = k + 1 == network_.steps.size() && is_dense(network_.y) && !is_costly(step.function);
      if (is_result)
        y = result;
      else
        use_memory(buffers[0], step.outputs, y);
      run_step(k, x, y, count, sums);
      if (is_costly(step.function)) {
        const T numbers[] = {static_cast<T>(step.numbers[0]), static_cast<T>(step.numbers[1])};
        loops_of<T>(loops_).apply(step.function, numbers, y.data, count * step.outputs);
      }
      std::swap(buffers[0], buffers[1]);
      x = y;
    }
    if (!is_dense(network_.y) || is_costly(network_.steps.back().function))
      scatter(y.data, network_.steps.back().outputs, count, result, network_.y.feature / kSize);
  }

  void run_step(size_t number, const Tile& x, const Tile& y, int64_t count, T* sums) const {
    const DenseStep& step = network_.steps[number];
    const TapRun run{0, step.inputs, 0};
    const int64_t end = 1, lanes = loops_.bytes / static_cast<int64_t>(sizeof(T));
    const PixelBlock<T> block{x.data, x.places, y.places, count, &run, &end, 1, sums};
    const auto* weights = static_cast<const T*>(step.weights);
    const ConvolutionFunction function = is_costly(step.function) ? ConvolutionFunction::none : step.function;
    for (const OutputRange& range : ranges_[number]) {
      loops_of<T>(loops_).convolve(block, {range.vectors,
                                           range.outputs,
                                           weights,
                                           {y.data + range.first,
                                            nullptr,
                                            biases_[number].data() + range.first,
                                            function,
                                            {static_cast<T>(step.numbers[0]), static_cast<T>(step.numbers[1])}}});
      weights += step.inputs * range.vectors * lanes;
    }
  }

  const DenseNetwork& network_;
  const WindowLoops& loops_;
  std::vector<std::vector<OutputRange>> ranges_;
  std::vector<std::vector<T>> biases_;  ///< with zeros behind them, so that whole vectors are read
  int64_t widest_ = 1, sums_ = 0;
};

class CpuDenseNetworks final : public DenseNetworks {
 public:
  Array packed(const Array& weights) const override { return packed_by_outputs(weights, 1); }
  void run(const DenseNetwork& network) override {
    network.dtype == Dtype::float32 ? DensePlan<float>(network).run() : DensePlan<double>(network).run();
  }
};

}  // namespace

DenseNetworks& cpu_dense_networks() {
  return made_once_locked([] { return CpuDenseNetworks(); });
}

}  // namespace iruka::cpu_backend
