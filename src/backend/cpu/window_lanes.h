// The loops of convolutions and pooling over vectors of channels. A source file for each instruction set includes this
// one, within a namespace of its own; so it uses no function of the standard library.
//
// A convolution multiplies a vector of weights, of neighbouring outputs, by one element of the source and adds it to
// the sums of one pixel. Registers hold the sums of a tile, a few pixels for a few vectors of outputs, while all
// elements of the windows are added up: so a window may have any margins, strides and steps.
#include <utility>

#include "backend/cpu/window_job.h"
#include "backend/cpu/window_math.h"

namespace iruka::cpu_backend::IRUKA_WINDOW_TARGET {
namespace {

#define IRUKA_WINDOW_INLINE inline __attribute__((always_inline))
#define IRUKA_WINDOW_LAMBDA __attribute__((always_inline))

#include "backend/cpu/vector_lanes.h"

/// The sums of a tile stay in registers beside the weights of a step.
constexpr int pixels_at_once(int vectors) {
  constexpr int kMany[] = {10, 10, 8, 6}, kFew[] = {10, 6};
  return IRUKA_WINDOW_REGISTERS >= 32 ? kMany[vectors - 1] : kFew[vectors - 1];
}
/// Pixels of a tile of two vectors of channels, whose sums stay in registers beside their weights.
constexpr int kChannelPixels = IRUKA_WINDOW_REGISTERS >= 32 ? 8 : 6;

template <ConvolutionFunction kFunction, class L, class T>
IRUKA_WINDOW_INLINE typename L::Vector function_of(typename L::Vector x, const T (&numbers)[2]) {
  using enum ConvolutionFunction;
  using Vector = typename L::Vector;
  const Vector zero{}, one = L::all(T(1)), a = L::all(numbers[0]), b = L::all(numbers[1]);
  if constexpr (kFunction == relu) return L::at_least(x, zero);
  if constexpr (kFunction == clip) return L::at_most(L::at_least(x, a), b);
  if constexpr (kFunction == leaky_relu) return x < zero ? a * x : x;
  if constexpr (kFunction == hard_sigmoid) return L::at_most(L::at_least(a * x + b, zero), one);
  if constexpr (kFunction == hard_swish)
    return x * L::at_most(L::at_least(x * L::all(T(1) / T(6)) + L::all(T(0.5)), zero), one);
  return x;
}

/// Finishes vectors of sums for `outputs` outputs, which may be fewer than they have lanes.
template <int kVectors, ConvolutionFunction kFunction, class L, class T>
struct Finish {
  const WindowResult<T> result;  // a copy, which no store can change
  const int64_t rest;            ///< outputs of the last vector

  IRUKA_WINDOW_INLINE Finish(const WindowResult<T>& to, int64_t outputs)
      : result(to), rest(outputs - (kVectors - 1) * L::count) {}
  /// The sums of a pixel whose results begin at `place`; `sum` gives a vector by its number.
  template <class Sum>
  IRUKA_WINDOW_INLINE void operator()(int64_t place, Sum&& sum) const {
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA {
      const int64_t at = place + v.value * L::count;
      const bool is_whole = v.value + 1 < kVectors || rest == L::count;
      auto made = sum(v);
      if (result.residual) made += is_whole ? L::load(result.residual + at) : L::load_first(result.residual + at, rest);
      made = function_of<kFunction, L>(made, result.numbers);
      is_whole ? L::store(made, result.data + at) : L::store_first(made, result.data + at, rest);
    });
  }
};

/// Calls `use` with the function as a constant.
template <class Use>
IRUKA_WINDOW_INLINE void with_function(ConvolutionFunction function, Use&& use) {
  repeat<static_cast<int>(ConvolutionFunction::hard_swish) + 1>([&](auto k) IRUKA_WINDOW_LAMBDA {
    if (static_cast<int>(function) == k.value) use(k);
  });
}

/// The sums (pixels, vectors, lanes) of a tile in memory.
template <int kVectors, class L, class T>
__attribute__((noinline)) void finish_memory(const T* sums, const WindowResult<T>& result, const int64_t* places,
                                             int64_t pixels, int64_t outputs) {
  with_function(result.function, [&](auto function) IRUKA_WINDOW_LAMBDA {
    const Finish<kVectors, static_cast<ConvolutionFunction>(function.value), L, T> finish(result, outputs);
    for (int64_t p = 0; p < pixels; ++p, sums += kVectors * L::count)
      finish(places[p], [&](auto v) IRUKA_WINDOW_LAMBDA { return L::load(sums + v.value * L::count); });
  });
}

/// One chunk's products for a tile of kPixels pixels, of which `count` are wanted.
template <class T, int kVectors, int kPixels>
__attribute__((noinline)) void add_up_tile(const PixelBlock<T>& block, const OutputBlock<T>& part, int64_t first,
                                           int64_t count, int64_t chunk, T* sums) {
  using L = Lanes<T, IRUKA_WINDOW_BYTES>;
  using Vector = typename L::Vector;
  Vector total[kVectors * kPixels];
  if (chunk == 0) {
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA {
      const Vector bias = L::load(part.result.bias + v.value * L::count);
      repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA { total[p.value * kVectors + v.value] = bias; });
    });
  } else {
    repeat<kVectors * kPixels>([&](auto k)
                                   IRUKA_WINDOW_LAMBDA { total[k.value] = L::load(sums + k.value * L::count); });
  }
  const T* begin[kPixels];
  repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA { begin[p.value] = block.source + block.places[first + p.value]; });
  const auto step = [&](int64_t at, const T* from) IRUKA_WINDOW_LAMBDA {
    Vector weight[kVectors];
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA { weight[v.value] = L::load(from + v.value * L::count); });
    repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA {
      const Vector element = L::all(begin[p.value][at]);
      repeat<kVectors>([&](auto v)
                           IRUKA_WINDOW_LAMBDA { total[p.value * kVectors + v.value] += element * weight[v.value]; });
    });
  };
  constexpr int kSteps = 4;
  for (int64_t run = chunk == 0 ? 0 : block.ends[chunk - 1]; run < block.ends[chunk]; ++run) {
    int64_t at = block.runs[run].offset;
    const int64_t end = at + block.runs[run].length;
    const T* weights = part.weights + block.runs[run].weights * (kVectors * L::count);
    for (; at + kSteps <= end; at += kSteps, weights += kSteps * kVectors * L::count)
      repeat<kSteps>([&](auto k) IRUKA_WINDOW_LAMBDA { step(at + k.value, weights + k.value * kVectors * L::count); });
    for (; at < end; ++at, weights += kVectors * L::count) step(at, weights);
  }
  using enum ConvolutionFunction;
  const bool is_last = chunk + 1 == block.chunks;
  const auto finish = [&](auto function) IRUKA_WINDOW_LAMBDA {
    const Finish<kVectors, static_cast<ConvolutionFunction>(function.value), L, T> last(part.result, part.outputs);
    const int64_t* const places = block.results + first;
    repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA {
      if (p.value < count)
        last(places[p.value], [&](auto v) IRUKA_WINDOW_LAMBDA { return total[p.value * kVectors + v.value]; });
    });
  };
  // Usual functions need no way through memory.
  if (is_last && part.result.function == relu) return finish(Number<static_cast<int>(relu)>());
  if (is_last && part.result.function == none) return finish(Number<static_cast<int>(none)>());
  if (is_last && part.result.function == clip) return finish(Number<static_cast<int>(clip)>());
  if (is_last && part.result.function == hard_swish) return finish(Number<static_cast<int>(hard_swish)>());
  repeat<kVectors * kPixels>([&](auto k) IRUKA_WINDOW_LAMBDA { L::store(total[k.value], sums + k.value * L::count); });
  if (is_last) finish_memory<kVectors, L>(sums, part.result, block.results + first, count, part.outputs);
}

/// All pixels of a block for one block of outputs, in tiles of two sizes, so that few pixels are computed twice.
template <class T, int kVectors>
void add_up(const PixelBlock<T>& block, const OutputBlock<T>& part) {
  constexpr int kPixels = pixels_at_once(kVectors), kLine = kVectors * Lanes<T, IRUKA_WINDOW_BYTES>::count;
  const int64_t tiles = (block.pixels + kPixels - 1) / kPixels;
  const int64_t spare = tiles * kPixels - block.pixels, smaller = spare < tiles ? spare : tiles;
  for (int64_t chunk = 0; chunk < block.chunks; ++chunk) {
    int64_t first = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const bool is_smaller = tile < smaller;
      const int64_t left = block.pixels - first, size = is_smaller ? kPixels - 1 : kPixels;
      const auto run = is_smaller ? add_up_tile<T, kVectors, kPixels - 1> : add_up_tile<T, kVectors, kPixels>;
      run(block, part, first, left < size ? left : size, chunk, block.sums + first * kLine);
      first += size;
    }
  }
}

/// Groups of kVectors vectors of channels from `channel` on for one tile of pixels; gives the channel behind them.
template <class T, int kBytes, int kVectors, ConvolutionFunction kFunction>
IRUKA_WINDOW_INLINE int64_t convolve_channels(const ChannelBlock<T>& block, int64_t first, int64_t count,
                                              int64_t channel) {
  using L = Lanes<T, kBytes>;
  using Vector = typename L::Vector;
  constexpr int kGroup = kVectors * L::count;
  const T* begin[kChannelPixels];
  repeat<kChannelPixels>(
      [&](auto p) IRUKA_WINDOW_LAMBDA { begin[p.value] = block.pixels.source + block.pixels.places[first + p.value]; });
  for (; channel + kGroup <= block.channels; channel += kGroup) {
    Vector total[kVectors * kChannelPixels];
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA {
      const Vector bias = L::load(block.result.bias + channel + v.value * L::count);
      repeat<kChannelPixels>([&](auto p) IRUKA_WINDOW_LAMBDA { total[p.value * kVectors + v.value] = bias; });
    });
    for (int64_t tap = 0; tap < block.taps; ++tap) {
      const TapRun& run = block.pixels.runs[tap];
      const int64_t at = run.offset + channel;
      const T* const weights = block.weights + run.weights * block.channels + channel;
      Vector weight[kVectors];
      repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA { weight[v.value] = L::load(weights + v.value * L::count); });
      repeat<kChannelPixels>([&](auto p) IRUKA_WINDOW_LAMBDA {
        repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA {
          total[p.value * kVectors + v.value] += L::load(begin[p.value] + at + v.value * L::count) * weight[v.value];
        });
      });
    }
    WindowResult<T> result = block.result;
    result.data += channel;
    if (result.residual) result.residual += channel;
    const Finish<kVectors, kFunction, L, T> finish(result, kGroup);
    repeat<kChannelPixels>([&](auto p) IRUKA_WINDOW_LAMBDA {
      if (p.value < count)
        finish(block.pixels.results[first + p.value],
               [&](auto v) IRUKA_WINDOW_LAMBDA { return total[p.value * kVectors + v.value]; });
    });
  }
  return channel;
}

/// kVectors vectors of pixels from `pixel` on, for kOutputs outputs from `output` on. `rest`: pixels of the last
/// vector.
template <ConvolutionFunction kFunction, int kOutputs, int kVectors, class L, class T>
IRUKA_WINDOW_INLINE void convolve_planar_tile(const PlanarRow<T>& row, int64_t output, int64_t pixel, int64_t rest) {
  using Vector = typename L::Vector;
  Vector total[kOutputs * kVectors];
  const T* weights[kOutputs];
  repeat<kOutputs>([&](auto o) IRUKA_WINDOW_LAMBDA {
    weights[o.value] = row.weights + (output + o.value) * row.steps;
    const Vector bias = L::all(row.bias[output + o.value]);
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA { total[o.value * kVectors + v.value] = bias; });
  });
  const T* const source = row.source + pixel;
  for (int64_t step = 0; step < row.steps; ++step) {
    const T* const from = source + row.offsets[step];
    Vector x[kVectors];
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA { x[v.value] = L::load(from + v.value * L::count); });
    repeat<kOutputs>([&](auto o) IRUKA_WINDOW_LAMBDA {
      const Vector weight = L::all(weights[o.value][step]);
      repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA { total[o.value * kVectors + v.value] += x[v.value] * weight; });
    });
  }
  repeat<kOutputs>([&](auto o) IRUKA_WINDOW_LAMBDA {
    repeat<kVectors>([&](auto v) IRUKA_WINDOW_LAMBDA {
      const int64_t at = (output + o.value) * row.output + pixel + v.value * L::count;
      const bool is_whole = v.value + 1 < kVectors || rest == L::count;
      Vector made = total[o.value * kVectors + v.value];
      if (row.residual) made += is_whole ? L::load(row.residual + at) : L::load_first(row.residual + at, rest);
      made = function_of<kFunction, L>(made, row.numbers);
      is_whole ? L::store(made, row.result + at) : L::store_first(made, row.result + at, rest);
    });
  });
}

/// All pixels of a row for kOutputs outputs.
template <ConvolutionFunction kFunction, int kOutputs, class T>
void convolve_planar_outputs(const PlanarRow<T>& row, int64_t output) {
  using L = Lanes<T, IRUKA_WINDOW_BYTES>;
  constexpr int kMost = IRUKA_WINDOW_REGISTERS >= 32 || kOutputs == 1 ? 4 : 2;
  int64_t pixel = 0;
  for (; pixel + kMost * L::count <= row.pixels; pixel += kMost * L::count)
    convolve_planar_tile<kFunction, kOutputs, kMost, L>(row, output, pixel, L::count);
  const int64_t left = row.pixels - pixel, vectors = (left + L::count - 1) / L::count;
  repeat<kMost>([&](auto v) IRUKA_WINDOW_LAMBDA {
    if (vectors == v.value + 1)
      convolve_planar_tile<kFunction, kOutputs, v.value + 1, L>(row, output, pixel, left - v.value * L::count);
  });
}

template <class T>
void convolve_planar(const PlanarRow<T>& row) {
  with_function(row.function, [&](auto function) IRUKA_WINDOW_LAMBDA {
    constexpr auto kFunction = static_cast<ConvolutionFunction>(function.value);
    int64_t output = 0;
    for (; output + 4 <= row.outputs; output += 4) convolve_planar_outputs<kFunction, 4>(row, output);
    for (; output < row.outputs; ++output) convolve_planar_outputs<kFunction, 1>(row, output);
  });
}

/// Vectors of channels from `channel` on for kPixels pixels whose windows are `step` elements apart.
template <class T, int kBytes, bool kIsMean, int kPixels>
IRUKA_WINDOW_INLINE int64_t pool_channels(const PoolRow<T>& row, const PoolColumn<T>& column, int64_t step, T* to,
                                          int64_t channel) {
  using L = Lanes<T, kBytes>;
  using Vector = typename L::Vector;
  constexpr int64_t kRun = 512;
  for (; channel + L::count <= row.channels; channel += L::count) {
    const T* const first = row.source + column.offset + channel;
    Vector made[kPixels];
    repeat<kPixels>([&](auto p)
                        IRUKA_WINDOW_LAMBDA { made[p.value] = kIsMean ? Vector{} : L::load(first + p.value * step); });
    for (int64_t a = 0; a < row.planes; ++a) {
      for (int64_t b = 0; b < row.rows; ++b) {
        const T* from = first + a * row.step[0] + b * row.step[1];
        for (int64_t c = 0; c < column.count;) {
          const int64_t end = kIsMean && column.count - c > kRun ? c + kRun : column.count;
          Vector sum[kPixels]{};  // of a run of the row, so that sums of large windows stay exact
          for (; c < end; ++c, from += row.step[2]) {
            repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA {
              const Vector value = L::load(from + p.value * step);
              if constexpr (kIsMean)
                sum[p.value] += value;
              else
                made[p.value] = value > made[p.value] || value != value ? value : made[p.value];
            });
          }
          if constexpr (kIsMean) repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA { made[p.value] += sum[p.value]; });
        }
      }
    }
    repeat<kPixels>([&](auto p) IRUKA_WINDOW_LAMBDA {
      const Vector result = kIsMean ? made[p.value] / L::all(column.divisor) : made[p.value];
      L::store(result, to + p.value * row.channels + channel);
    });
  }
  return channel;
}

template <class T, bool kIsMean, int kPixels>
IRUKA_WINDOW_INLINE void pool_tile(const PoolRow<T>& row, const PoolColumn<T>& column, int64_t step, T* to) {
  int64_t channel = pool_channels<T, IRUKA_WINDOW_BYTES, kIsMean, kPixels>(row, column, step, to, 0);
  channel = pool_channels<T, 16, kIsMean, kPixels>(row, column, step, to, channel);
  pool_channels<T, sizeof(T), kIsMean, kPixels>(row, column, step, to, channel);
}

/// Neighbours whose windows see as many columns are done together.
template <class T, bool kIsMean>
void pool_pixels(const PoolRow<T>& row) {
  constexpr int kTogether = 4;
  for (int64_t pixel = 0; pixel < row.pixels;) {
    const PoolColumn<T>& column = row.columns[pixel];
    T* const to = row.result + pixel * row.channels;
    const int64_t step = pixel + 1 < row.pixels ? row.columns[pixel + 1].offset - column.offset : 0;
    bool are_alike = pixel + kTogether <= row.pixels;
    for (int64_t k = 1; are_alike && k < kTogether; ++k) {
      const PoolColumn<T>& other = row.columns[pixel + k];
      are_alike =
          other.count == column.count && other.divisor == column.divisor && other.offset == column.offset + k * step;
    }
    are_alike ? pool_tile<T, kIsMean, kTogether>(row, column, step, to) : pool_tile<T, kIsMean, 1>(row, column, 0, to);
    pixel += are_alike ? kTogether : 1;
  }
}

template <class T>
void convolve(const PixelBlock<T>& block, const OutputBlock<T>& part) {
  repeat<static_cast<int>(most_vectors(IRUKA_WINDOW_BYTES))>([&](auto v) IRUKA_WINDOW_LAMBDA {
    if (part.vectors == v.value + 1) add_up<T, v.value + 1>(block, part);
  });
}

template <class T>
void convolve(const ChannelBlock<T>& block) {
  with_function(block.result.function, [&](auto function) IRUKA_WINDOW_LAMBDA {
    constexpr auto kFunction = static_cast<ConvolutionFunction>(function.value);
    for (int64_t first = 0; first < block.pixels.pixels; first += kChannelPixels) {
      const int64_t left = block.pixels.pixels - first, count = left < kChannelPixels ? left : kChannelPixels;
      int64_t channel = convolve_channels<T, IRUKA_WINDOW_BYTES, 2, kFunction>(block, first, count, 0);
      channel = convolve_channels<T, IRUKA_WINDOW_BYTES, 1, kFunction>(block, first, count, channel);
      channel = convolve_channels<T, 16, 1, kFunction>(block, first, count, channel);
      convolve_channels<T, sizeof(T), 1, kFunction>(block, first, count, channel);
    }
  });
}

template <class T>
void pool(const PoolRow<T>& row) {
  row.is_mean ? pool_pixels<T, true>(row) : pool_pixels<T, false>(row);
}

/// `kFunction` of a vector.
template <ConvolutionFunction kFunction, class V, class T>
IRUKA_WINDOW_INLINE V costly(V x, const T* numbers) {
  using enum ConvolutionFunction;
  if constexpr (kFunction == torch_hard_swish) return nn::Hardswish::apply(x, numbers, 0);
  if constexpr (kFunction == tanh) return nn::Tanh::apply(x, numbers, 0);
  if constexpr (kFunction == sigmoid) return nn::Sigmoid::apply(x, numbers, 0);
  if constexpr (kFunction == silu) return nn::Silu::apply(x, numbers, 0);
  if constexpr (kFunction == gelu) return nn::Gelu::apply(x, numbers, 0);
  if constexpr (kFunction == gelu_tanh) return nn::GeluTanh::apply(x, numbers, 0);
  if constexpr (kFunction == elu) return nn::Elu::apply(x, numbers, 0);
  if constexpr (kFunction == softplus) return nn::Softplus::apply(x, numbers, 0);
}

template <class T>
void apply(ConvolutionFunction function, const T* numbers, T* data, int64_t count) {
  using V = nn::MathVector<T>;
  constexpr int kFirst = static_cast<int>(ConvolutionFunction::hard_swish) + 1, kLanes = sizeof(V) / sizeof(T);
  repeat<static_cast<int>(ConvolutionFunction::softplus) + 1 - kFirst>([&](auto k) IRUKA_WINDOW_LAMBDA {
    constexpr auto kFunction = static_cast<ConvolutionFunction>(kFirst + k.value);
    if (function != kFunction) return;
    int64_t at = 0;
    for (; at + kLanes <= count; at += kLanes) {
      V x;
      __builtin_memcpy(&x, data + at, sizeof x);
      x = costly<kFunction>(x, numbers);
      __builtin_memcpy(data + at, &x, sizeof x);
    }
    if (at == count) return;
    T rest[kLanes]{};
    for (int64_t lane = 0; at + lane < count; ++lane) rest[lane] = data[at + lane];
    V x;
    __builtin_memcpy(&x, rest, sizeof x);
    x = costly<kFunction>(x, numbers);
    __builtin_memcpy(rest, &x, sizeof x);
    for (int64_t lane = 0; at + lane < count; ++lane) data[at + lane] = rest[lane];
  });
}

void set_math(void* single_exp, const VectorMath& doubles) { nn::single_exp = single_exp, nn::double_math = doubles; }

/// Four rows of four numbers become columns.
IRUKA_WINDOW_INLINE void turn_tile(const float* const (&from)[4], float* to, int64_t line) {
  using L = Lanes<float, 16>;
  const auto a = L::load(from[0]), b = L::load(from[1]), c = L::load(from[2]), d = L::load(from[3]);
  const auto lower = __builtin_shufflevector(a, b, 0, 4, 1, 5), upper = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const auto next_lower = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const auto next_upper = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  L::store(__builtin_shufflevector(lower, next_lower, 0, 1, 4, 5), to);
  L::store(__builtin_shufflevector(lower, next_lower, 2, 3, 6, 7), to + line);
  L::store(__builtin_shufflevector(upper, next_upper, 0, 1, 4, 5), to + 2 * line);
  L::store(__builtin_shufflevector(upper, next_upper, 2, 3, 6, 7), to + 3 * line);
}

/// to[column * to_line + row] = from[row * line + column]
void turn(const float* from, int64_t line, int64_t rows, int64_t columns, float* to, int64_t to_line) {
  const auto turn_rest = [&](int64_t row, int64_t row_end, int64_t column) {
    for (; column < columns; ++column)
      for (int64_t r = row; r < row_end; ++r) to[column * to_line + r] = from[r * line + column];
  };
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    const float* const first = from + row * line;
    int64_t column = 0;
    for (; column + 4 <= columns; column += 4) {
      const float* const at = first + column;
      turn_tile({at, at + line, at + 2 * line, at + 3 * line}, to + column * to_line + row, to_line);
    }
    turn_rest(row, row + 4, column);
  }
  int64_t column = 0;
  if (row == 0 && rows == 3 && to_line == 3) {  // the fourth number is overwritten by the next column's first one
    for (; column + 5 <= columns; column += 4) {
      const float* const at = from + column;
      turn_tile({at, at + line, at + 2 * line, at}, to + column * to_line, to_line);
    }
  }
  turn_rest(row, rows, column);
}

}  // namespace

// NOLINTBEGIN(misc-definitions-in-headers): one source file of each namespace includes this one
const WindowLoops loops{IRUKA_WINDOW_BYTES,
                        turn,
                        {convolve<float>, convolve<float>, convolve_planar<float>, pool<float>, apply<float>},
                        {convolve<double>, convolve<double>, convolve_planar<double>, pool<double>, apply<double>},
                        set_math};
// NOLINTEND(misc-definitions-in-headers)

}  // namespace iruka::cpu_backend::IRUKA_WINDOW_TARGET
