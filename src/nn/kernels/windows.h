// Windows that move over up to three spatial axes: convolutions and pooling. Index is int, or int64_t for large arrays.
#pragma once

#include "jit/kernels/divide.h"

namespace iruka::nn {

/// A number that small indices are divided by, by a multiplication.
template <class Index> struct Divisor {
  Index number;
  int64_t factor;  ///< magic and, in the upper half, shift; 0 where the number is a constant of the text

  IRUKA_INLINE Index quotient(Index index) const {
    if (sizeof(Index) == 8 || factor == 0) return index / number;
    return Index(iruka_divide((unsigned)index, (unsigned)factor, (unsigned)(factor >> 32)));
  }
};

/// The number of a spatial axis as a constant: arrays that only constants index become registers, and others lie in a
/// GPU's memory.
template <int kNumber> struct Axis {
  constexpr operator int() const { return kNumber; }
};
template <class Use> IRUKA_INLINE void for_axes(Use&& use) { use(Axis<0>()), use(Axis<1>()), use(Axis<2>()); }

/// Axes that an array lacks are first, and have extent 1. What belongs to a network is constant in a kernel's text;
/// extents of arrays are its arguments.
template <class Index> struct Window {
  int rank;  ///< axes that the array has
  Index in[3], kernel[3], stride[3], dilation[3], before[3], behind[3], out[3];
  bool is_inside;             ///< whether no window reaches beyond the array
  Divisor<Index> extents[3];  ///< of the array that the kernel fills
  Divisor<Index> channels;    ///< where they are the fastest axis in memory; else 1, and each is an image

  constexpr Index in_size() const { return in[0] * in[1] * in[2]; }
  constexpr Index out_size() const { return out[0] * out[1] * out[2]; }
  constexpr Index kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// A place of three axes.
template <class Index> struct Place {
  Index at[3];
  Index image;       ///< the index along all axes before these
  bool is_inner[3];  ///< whether the window at it is known not to reach beyond an axis
  Index channel;     ///< the index along the axis behind these
};

/// The index in the windows' array of place `at` within a place's image.
template <class Index> IRUKA_INLINE Index index_of(const Window<Index>& window, const Place<Index>& place, Index at) {
  return (place.image * window.in_size() + at) * window.channels.number + place.channel;
}

/// The place that `rest` is of the array that the kernel fills, or that of row `rest`, for which `last` is 1.
template <class Index> IRUKA_INLINE Place<Index> place_of(const Window<Index>& window, Index rest, int last = 2) {
  const Index pixel = window.channels.quotient(rest), channel = rest - pixel * window.channels.number;
  Place<Index> place{{0, 0, 0}, pixel, {window.is_inside, window.is_inside, window.is_inside}, channel};
  const auto divide = [&](auto axis) {
    if (axis > last || axis < 3 - window.rank) return;
    const Index quotient = window.extents[axis].quotient(place.image);
    place.at[axis] = place.image - quotient * window.extents[axis].number;
    place.image = quotient;
  };
  divide(Axis<2>()), divide(Axis<1>()), divide(Axis<0>());
  return place;
}

#ifndef __CUDA_ARCH__
/// Calls `use(place, index)` for the elements of a row of the array that the kernel fills. Those whose windows do not
/// reach beyond it are a loop of their own, for vectors; no element depends on another.
template <class Index, class Use> IRUKA_INLINE void for_row(const Window<Index>& window, Index row, Use&& use) {
  const Place<Index> place = place_of(window, row, 1);
  const Index columns = window.extents[2].number, stride = window.stride[2], before = window.before[2];
  const Index room = window.in[2] - 1 + before - (window.kernel[2] - 1) * window.dilation[2];
  const Index first = before > 0 ? (before + stride - 1) / stride : 0, last = room < 0 ? 0 : room / stride + 1;
  const Index begin = first < columns ? first : columns, limited = last < columns ? last : columns;
  const Index end = limited > begin ? limited : begin;
  bool is_inner_row = true;
  for_axes([&](auto axis) {
    if (axis == 2) return;
    const Index at = place.at[axis] * window.stride[axis] - window.before[axis];
    is_inner_row &= at >= 0 && at + (window.kernel[axis] - 1) * window.dilation[axis] < window.in[axis];
  });
  const auto element = [&](Index column, bool is_inner, bool is_row) __attribute__((always_inline)) {
    use(Place<Index>{{place.at[0], place.at[1], column}, place.image, {is_row, is_row, is_inner}, 0},
        row * columns + column);
  };
  for (Index column = 0; column < begin; ++column) element(column, false, false);
  if (is_inner_row) {
    _Pragma("clang loop vectorize(assume_safety)") for (Index column = begin; column < end; ++column)
        element(column, true, true);
  } else {
    _Pragma("clang loop vectorize(assume_safety)") for (Index column = begin; column < end; ++column)
        element(column, true, window.is_inside);
  }
  for (Index column = end; column < columns; ++column) element(column, false, false);
}
#endif

template <class Index> IRUKA_INLINE Place<Index> place_in(Index flat, const Index (&extents)[3]) {
  Place<Index> place;
  place.at[2] = flat % extents[2];
  flat /= extents[2];
  place.at[1] = flat % extents[1];
  flat /= extents[1];
  place.at[0] = flat % extents[0];
  place.image = flat / extents[0];
  for_axes([&](auto axis) { place.is_inner[axis] = false; });
  place.channel = 0;
  return place;
}

/// Calls `use(input index, kernel index)` for every place within the array of the window at a place of the output.
template <class Index, class Use>
IRUKA_INLINE void for_window(const Window<Index>& window, const Place<Index>& to, Use&& use) {
  Index first[3];
  for_axes([&](auto axis) { first[axis] = to.at[axis] * window.stride[axis] - window.before[axis]; });
  for (Index a = 0; a < window.kernel[0]; ++a) {
    const Index x = first[0] + a * window.dilation[0];
    if (!to.is_inner[0] && (x < 0 || x >= window.in[0])) continue;
    for (Index b = 0; b < window.kernel[1]; ++b) {
      const Index y = first[1] + b * window.dilation[1];
      if (!to.is_inner[1] && (y < 0 || y >= window.in[1])) continue;
      for (Index c = 0; c < window.kernel[2]; ++c) {
        const Index z = first[2] + c * window.dilation[2];
        if (!to.is_inner[2] && (z < 0 || z >= window.in[2])) continue;
        use((x * window.in[1] + y) * window.in[2] + z, (a * window.kernel[1] + b) * window.kernel[2] + c);
      }
    }
  }
}

/// The element at a place of the matrix (images * channels, places of the kernel, places of the output) of what each
/// window sees.
template <class T, class Index, class X>
IRUKA_INLINE T window_element(const Window<Index>& window, const X& x, const Place<Index>& to) {
  const Place<Index> tap = place_in(to.image, window.kernel);
  Index from = tap.image;
  bool is_inside = true;
  for_axes([&](auto axis) {
    const Index at = to.at[axis] * window.stride[axis] - window.before[axis] + tap.at[axis] * window.dilation[axis];
    is_inside &= to.is_inner[axis] || (at >= 0 && at < window.in[axis]);
    from = from * window.in[axis] + at;
  });
  return is_inside ? T(x[from]) : T(0);
}

/// The element at a place of a convolution with `channels` inputs and `outputs` outputs a group.
template <class T, class Index, class X, class W>
IRUKA_INLINE T convolved(const Window<Index>& window, const X& x, const W& weights, Index groups, Index channels,
                         Index outputs, const Place<Index>& place) {
  const Index output = place.image % (groups * outputs), image = place.image / (groups * outputs);
  const Index group = output / outputs;
  T total = T(0);
  for (Index channel = 0; channel < channels; ++channel) {
    const Index from = ((image * groups + group) * channels + channel) * window.in_size();
    const Index weight = (output * channels + channel) * window.kernel_size();
    for_window(window, place, [&](Index at, Index tap) { total += T(x[from + at]) * T(weights[weight + tap]); });
  }
  return total;
}

/// The element at a place of what the columns (channels * places of the kernel, places of the input) add up to. The
/// window's input is the transposed convolution's output.
template <class T, class Index, class X>
IRUKA_INLINE T sum_of_columns(const Window<Index>& window, const X& columns, const Place<Index>& to) {
  const Index channel = to.image;
  T total = T(0);
  for (Index a = 0; a < window.kernel[0]; ++a) {
    const Index x = to.at[0] + window.before[0] - a * window.dilation[0];
    if (x < 0 || x % window.stride[0] != 0 || x / window.stride[0] >= window.out[0]) continue;
    for (Index b = 0; b < window.kernel[1]; ++b) {
      const Index y = to.at[1] + window.before[1] - b * window.dilation[1];
      if (y < 0 || y % window.stride[1] != 0 || y / window.stride[1] >= window.out[1]) continue;
      for (Index c = 0; c < window.kernel[2]; ++c) {
        const Index z = to.at[2] + window.before[2] - c * window.dilation[2];
        if (z < 0 || z % window.stride[2] != 0 || z / window.stride[2] >= window.out[2]) continue;
        const Index tap = (a * window.kernel[1] + b) * window.kernel[2] + c;
        const Index from =
            (x / window.stride[0] * window.out[1] + y / window.stride[1]) * window.out[2] + z / window.stride[2];
        total += columns[(channel * window.kernel_size() + tap) * window.out_size() + from];
      }
    }
  }
  return total;
}

/// The largest element of the window at a place and, unless `place` is null, its index; of NaNs the first.
template <class T, class Index, class X>
IRUKA_INLINE T largest(const Window<Index>& window, const X& x, const Place<Index>& to, T least, Index* place) {
  T found = least;
  bool is_first = true;
  for_window(window, to, [&](Index at, Index) {
    const Index from = index_of(window, to, at);
    const T value = x[from];
    if (is_first || value > found || (value != value && found == found)) {
      found = value;
      if (place) *place = from;
    }
    is_first = false;
  });
  return found;
}

/// The larger one; of NaNs the value.
template <class T> IRUKA_INLINE T larger(T value, T found) { return value > found || value != value ? value : found; }

/// The place of the array that is nearest to `at` along an axis.
template <class Index> IRUKA_INLINE Index nearest_inside(const Window<Index>& window, Index at, int axis) {
  return at < 0 ? Index(0) : at >= window.in[axis] ? window.in[axis] - 1 : at;
}

/// The same without an index, for windows without gaps that all see some element: places outside the array are moved to
/// its edge, which the window sees, too.
template <class T, class Index, class X>
IRUKA_INLINE T largest_at_edges(const Window<Index>& window, const X& x, const Place<Index>& to) {
  Index first[3];
  for_axes([&](auto axis) { first[axis] = to.at[axis] * window.stride[axis] - window.before[axis]; });
  const auto inside = [&](Index at, auto axis) { return to.is_inner[axis] ? at : nearest_inside(window, at, axis); };
  const auto element = [&](Index a, Index b, Index c) -> T {
    const Index row = inside(first[0] + a, Axis<0>()) * window.in[1] + inside(first[1] + b, Axis<1>());
    return x[index_of(window, to, row * window.in[2] + inside(first[2] + c, Axis<2>()))];
  };
  T found = element(0, 0, 0);
  for (Index a = 0; a < window.kernel[0]; ++a) {
    for (Index b = 0; b < window.kernel[1]; ++b) {
      for (Index c = 0; c < window.kernel[2]; ++c) {
        found = larger(element(a, b, c), found);
      }
    }
  }
  return found;
}

#ifndef __CUDA_ARCH__
/// The same for a row of the array that the kernel fills: the largest of the rows that the windows see, then, along
/// that row, of each window. Loops without conditions are made of vectors. `kernel[2]` is at most 64.
template <class T, class Index, class X, class Y>
IRUKA_INLINE void largest_along_row(const Window<Index>& window, const X& x, Y& y, Index row) {
  constexpr Index kColumns = 512;  // of the buffer
  const Place<Index> place = place_of(window, row, 1);
  const Index columns = window.extents[2].number, stride = window.stride[2], width = window.in[2];
  const Index at_once = (kColumns - window.kernel[2]) / stride + 1;
  for (Index begin = 0; begin < columns; begin += at_once) {
    const Index end = columns - begin < at_once ? columns : begin + at_once;
    const Index first = begin * stride - window.before[2];
    const Index count = (end - begin - 1) * stride + window.kernel[2];
    // Columns outside the array have the numbers of its edge, which the windows that see them see, too.
    const Index left = first < 0 ? -first : 0, right = first + count > width ? width - first : count;
    T largest[kColumns];
    for (Index a = 0; a < window.kernel[0]; ++a) {
      for (Index b = 0; b < window.kernel[1]; ++b) {
        const Index plane = nearest_inside(window, place.at[0] * window.stride[0] - window.before[0] + a, 0);
        const Index line = nearest_inside(window, place.at[1] * window.stride[1] - window.before[1] + b, 1);
        const Index from = ((place.image * window.in[0] + plane) * window.in[1] + line) * width + first;
        const bool is_first = a == 0 && b == 0;
        _Pragma("clang loop vectorize(assume_safety)") for (Index k = left; k < right; ++k) {
          const T value = x[from + k];
          largest[k] = is_first ? value : larger(value, largest[k]);
        }
      }
    }
    for (Index k = 0; k < left; ++k) largest[k] = largest[left];
    for (Index k = right; k < count; ++k) largest[k] = largest[right - 1];
    _Pragma("clang loop vectorize(assume_safety)") for (Index k = 0; k < end - begin; ++k) {
      T found = largest[k * stride];
      for (Index c = 1; c < window.kernel[2]; ++c) found = larger(largest[k * stride + c], found);
      y[row * columns + begin + k] = found;
    }
  }
}
#endif

/// How many places of a window count in its mean: those within the array, or also those in its margins.
template <class Index>
IRUKA_INLINE Index places_within(const Window<Index>& window, const Place<Index>& to, bool with_margins) {
  Index count = 1;
  for_axes([&](auto axis) {
    if (to.is_inner[axis]) {
      count *= window.kernel[axis];
      return;
    }
    const Index first = to.at[axis] * window.stride[axis] - window.before[axis];
    const Index least = with_margins ? -window.before[axis] : 0;
    const Index end = window.in[axis] + (with_margins ? window.behind[axis] : 0);
    Index along = 0;
    for (Index k = 0; k < window.kernel[axis]; ++k) {
      const Index at = first + k * window.dilation[axis];
      along += at >= least && at < end;
    }
    count *= along;
  });
  return count;
}

template <class T, class Index, class X>
IRUKA_INLINE T mean_of_window(const Window<Index>& window, const X& x, const Place<Index>& to, bool with_margins) {
  T total = T(0);
  for_window(window, to, [&](Index at, Index) { total += T(x[index_of(window, to, at)]); });
  return total / T(places_within(window, to, with_margins));
}

/// The mean or the largest of what element i of an adaptive pooling sees. `channels` as in Window.
template <class T, bool kIsMax, class X>
IRUKA_INLINE T adaptive(const X& x, const int64_t (&in)[3], const int64_t (&out)[3], int64_t channels, int64_t i) {
  const Place<int64_t> to = place_in(i / channels, out);
  int64_t begin[3], end[3];
  for_axes([&](auto axis) {
    begin[axis] = to.at[axis] * in[axis] / out[axis];
    end[axis] = ((to.at[axis] + 1) * in[axis] + out[axis] - 1) / out[axis];
  });
  const auto element = [&](int64_t a, int64_t b, int64_t c) -> T {
    return x[(((to.image * in[0] + a) * in[1] + b) * in[2] + c) * channels + i % channels];
  };
  T made = kIsMax ? element(begin[0], begin[1], begin[2]) : T(0);
  for (int64_t a = begin[0]; a < end[0]; ++a)
    for (int64_t b = begin[1]; b < end[1]; ++b)
      for (int64_t c = begin[2]; c < end[2]; ++c) {
        const T value = element(a, b, c);
        made = kIsMax ? larger(value, made) : made + value;
      }
  return kIsMax ? made : made / T((end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]));
}

/// (sum of |x|^p)^(1/p).
template <class T, class Index, class X>
IRUKA_INLINE T norm_of_window(const Window<Index>& window, const X& x, const Place<Index>& to, T p) {
  T total = T(0);
  for_window(window, to, [&](Index at, Index) { total += pow(fabs(T(x[index_of(window, to, at)])), p); });
  return pow(total, T(1) / p);
}

}  // namespace iruka::nn
