// One element of the result of a pass over a picture: the same arithmetic as the CPU's loops
// (backend/cpu/resample_*.h). Integers are exact, and sums of floats are fused multiply-adds in the order of the taps.
#pragma once

namespace iruka::image {

/// Numbers of element types in the texts of kernels, and of what a step does besides rounding to one of them.
enum Sample : int { kUint8, kUint16, kFloat16, kFloat32, kNormalize };

/// Where the elements of a picture are, in elements. Index is int, or int64_t for large arrays.
template <class Index> struct Picture {
  Index first, row, column, channel;
  int channels;
};

/// An element of the result by its place among rows and columns of the axis maps.
template <class Index> struct Element {
  Index y, x;
  int channel;
};
/// The element at index `at` of an array of the last two extents `middle` and `last`.
template <bool kHasPlanes, bool kIsTransposed, class Index>
IRUKA_INLINE Element<Index> element_at(Index at, Index middle, Index last) {
  const Index rest = at / last, third = at - rest * last, first = rest / middle, second = rest - first * middle;
  const Index row = kHasPlanes ? second : first, column = kHasPlanes ? third : second;
  return {kIsTransposed ? column : row, kIsTransposed ? row : column, int(kHasPlanes ? first : third)};
}

/// The nearest integer from 0 to `most`, ties to even; 0 for NaN.
IRUKA_INLINE float rounded(float value, float most) {
  value = value > 0.0f ? value : 0.0f;
  value = value < most ? value : most;
  return rintf(value);
}
template <int kSample> IRUKA_INLINE float rounded_to(float value) {
  if (kSample == kUint8) return rounded(value, 255.0f);
  if (kSample == kUint16) return rounded(value, 65535.0f);
  return kSample == kFloat16 ? float(float16(value)) : value;
}

/// The inputs of outputs along an axis.
template <class Starts, class Weights> struct Axis {
  const Starts& start;
  const Starts& count;
  const Weights& weights;
  int taps;  ///< for which an output has room in `weights`
};

/// A sum along a row as a number of 6 bits of fraction: directly, or by way of a uint8.
template <bool kRounds> IRUKA_INLINE int along_row(int sum) {
  const int least = kRounds ? 0 : -32768, most = kRounds ? 255 : 32767;
  sum >>= kRounds ? 14 : 8;
  return (sum < least ? least : sum > most ? most : sum) << (kRounds ? 6 : 0);
}

template <bool kRounds, class Index, class Source, class Rows, class Columns>
IRUKA_INLINE float fixed_sum(const Source& source, const Picture<Index>& picture, const Rows& rows,
                             const Columns& columns, const Element<Index>& to) {
  const Index y = rows.start[to.y], x = columns.start[to.x];
  const int down = rows.count[to.y], across = columns.count[to.x];
  int total = 1 << 19;
  for (int j = 0; j < down; ++j) {
    const Index from = picture.first + (y + j) * picture.row + x * picture.column + to.channel * picture.channel;
    int sum = kRounds ? 1 << 13 : 1 << 7;
    for (int k = 0; k < across; ++k)
      sum += int(source[from + k * picture.column]) * int(columns.weights[to.x * columns.taps + k]);
    total += along_row<kRounds>(sum) * int(rows.weights[to.y * rows.taps + j]);
  }
  total >>= 20;
  return float(total < 0 ? 0 : total > 255 ? 255 : total);
}

template <bool kRounds, class Index, class Source, class Rows, class Columns>
IRUKA_INLINE float float_sum(const Source& source, const Picture<Index>& picture, const Rows& rows,
                             const Columns& columns, const Element<Index>& to) {
  const Index y = rows.start[to.y], x = columns.start[to.x];
  const int down = rows.count[to.y], across = columns.count[to.x];
  float total = 0;
  for (int j = 0; j < down; ++j) {
    const Index from = picture.first + (y + j) * picture.row + x * picture.column + to.channel * picture.channel;
    float sum = 0;
    for (int k = 0; k < across; ++k)
      sum = fmaf(float(source[from + k * picture.column]), columns.weights[to.x * columns.taps + k], sum);
    if (kRounds) sum = rounded(sum, 255.0f);
    total = fmaf(sum, rows.weights[to.y * rows.taps + j], total);
  }
  return total;
}

/// How a pass computes its values.
enum Kind : int { kSelect, kFixed, kReal };

/// The value of an output that is no constant.
template <int kKind, bool kRounds, class Index, class Source, class Rows, class Columns>
IRUKA_INLINE float resampled(const Source& source, const Picture<Index>& picture, const Rows& rows,
                             const Columns& columns, const Element<Index>& to) {
  if constexpr (kKind == kSelect)
    return float(source[picture.first + Index(rows.start[to.y]) * picture.row +
                        Index(columns.start[to.x]) * picture.column + to.channel * picture.channel]);
  else if constexpr (kKind == kFixed)
    return fixed_sum<kRounds>(source, picture, rows, columns, to);
  else
    return float_sum<kRounds>(source, picture, rows, columns, to);
}

/// The steps behind resampling. `numbers` has a row of means and one of scales for each normalisation.
template <int... kSteps, class Numbers>
IRUKA_INLINE float stepped(float value, const Numbers& numbers, int channels, int channel) {
  const auto step = [&]<int kStep>() {
    if constexpr (kStep == kNormalize) {
      value = (value - numbers[channel]) * numbers[channel + channels];
      channel += 2 * channels;
    } else {
      value = rounded_to<kStep>(value);
    }
  };
  (step.template operator()<kSteps>(), ...);
  return value;
}

}  // namespace iruka::image
