// Windows that move over up to three spatial axes: convolutions and pooling. Index is int, or int64_t for large arrays.
#pragma once

namespace iruka::nn {

/// Axes that an array lacks have extent 1.
template <class Index> struct Window {
  Index in[3], kernel[3], stride[3], dilation[3], before[3], behind[3], out[3];
  bool is_inside;  ///< whether no window reaches beyond the array

  constexpr Index in_size() const { return in[0] * in[1] * in[2]; }
  constexpr Index out_size() const { return out[0] * out[1] * out[2]; }
  constexpr Index kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// A place of three axes.
template <class Index> struct Place {
  Index at[3];
};
template <class Index> IRUKA_INLINE Place<Index> place_in(Index flat, const Index (&extents)[3]) {
  Place<Index> place;
  place.at[2] = flat % extents[2];
  flat /= extents[2];
  place.at[1] = flat % extents[1];
  place.at[0] = flat / extents[1];
  return place;
}

/// Calls `use(input index, kernel index)` for every place of a window within the array.
template <class Index, class Use>
IRUKA_INLINE void for_window(const Window<Index>& window, Index output, Use&& use) {
  const Place<Index> to = place_in(output, window.out);
  Index first[3];
  for (int axis = 0; axis < 3; ++axis) first[axis] = to.at[axis] * window.stride[axis] - window.before[axis];
  for (Index a = 0; a < window.kernel[0]; ++a) {
    const Index x = first[0] + a * window.dilation[0];
    if (!window.is_inside && (x < 0 || x >= window.in[0])) continue;
    for (Index b = 0; b < window.kernel[1]; ++b) {
      const Index y = first[1] + b * window.dilation[1];
      if (!window.is_inside && (y < 0 || y >= window.in[1])) continue;
      for (Index c = 0; c < window.kernel[2]; ++c) {
        const Index z = first[2] + c * window.dilation[2];
        if (!window.is_inside && (z < 0 || z >= window.in[2])) continue;
        use((x * window.in[1] + y) * window.in[2] + z, (a * window.kernel[1] + b) * window.kernel[2] + c);
      }
    }
  }
}

/// Element i of the matrix (images * channels, places of the kernel, places of the output) of what each window sees.
template <class T, class Index, class X>
IRUKA_INLINE T window_element(const Window<Index>& window, const X& x, Index i) {
  const Place<Index> to = place_in(i % window.out_size(), window.out);
  i /= window.out_size();
  const Place<Index> tap = place_in(i % window.kernel_size(), window.kernel);
  Index from = i / window.kernel_size();
  for (int axis = 0; axis < 3; ++axis) {
    const Index at = to.at[axis] * window.stride[axis] - window.before[axis] + tap.at[axis] * window.dilation[axis];
    if (!window.is_inside && (at < 0 || at >= window.in[axis])) return T(0);
    from = from * window.in[axis] + at;
  }
  return x[from];
}

/// Element i of a convolution with `channels` inputs and `outputs` outputs a group.
template <class T, class Index, class X, class W>
IRUKA_INLINE T convolved(const Window<Index>& window, const X& x, const W& weights, Index groups, Index channels,
                         Index outputs, Index i) {
  const Index place = i % window.out_size(), output = i / window.out_size() % (groups * outputs);
  const Index image = i / window.out_size() / (groups * outputs), group = output / outputs;
  T total = T(0);
  for (Index channel = 0; channel < channels; ++channel) {
    const Index from = ((image * groups + group) * channels + channel) * window.in_size();
    const Index weight = (output * channels + channel) * window.kernel_size();
    for_window(window, place, [&](Index at, Index tap) { total += T(x[from + at]) * T(weights[weight + tap]); });
  }
  return total;
}

/// Element i of what the columns (channels * places of the kernel, places of the input) add up to. The window's input
/// is the transposed convolution's output.
template <class T, class Index, class X>
IRUKA_INLINE T sum_of_columns(const Window<Index>& window, const X& columns, Index i) {
  const Place<Index> to = place_in(i % window.in_size(), window.in);
  const Index channel = i / window.in_size();
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

/// The largest element of window i and, unless `place` is null, its index; of NaNs the first.
template <class T, class Index, class X>
IRUKA_INLINE T largest(const Window<Index>& window, const X& x, Index i, T least, Index* place) {
  const Index from = i / window.out_size() * window.in_size();
  T found = least;
  bool is_first = true;
  for_window(window, i % window.out_size(), [&](Index at, Index) {
    const T value = x[from + at];
    if (is_first || value > found || (value != value && found == found)) {
      found = value;
      if (place) *place = from + at;
    }
    is_first = false;
  });
  return found;
}

/// How many places of window i count in its mean: those within the array, or also those in its margins.
template <class Index> IRUKA_INLINE Index places_within(const Window<Index>& window, Index i, bool with_margins) {
  const Place<Index> to = place_in(i % window.out_size(), window.out);
  Index count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const Index first = to.at[axis] * window.stride[axis] - window.before[axis];
    const Index least = with_margins ? -window.before[axis] : 0;
    const Index end = window.in[axis] + (with_margins ? window.behind[axis] : 0);
    Index along = 0;
    for (Index k = 0; k < window.kernel[axis]; ++k) {
      const Index at = first + k * window.dilation[axis];
      along += at >= least && at < end;
    }
    count *= along;
  }
  return count;
}

template <class T, class Index, class X>
IRUKA_INLINE T mean_of_window(const Window<Index>& window, const X& x, Index i, bool with_margins) {
  const Index from = i / window.out_size() * window.in_size();
  T total = T(0);
  for_window(window, i % window.out_size(), [&](Index at, Index) { total += T(x[from + at]); });
  return total / T(places_within(window, i, with_margins));
}

/// The mean or the largest of what element i of an adaptive pooling sees.
template <class T, bool kIsMax, class X>
IRUKA_INLINE T adaptive(const X& x, const int64_t (&in)[3], const int64_t (&out)[3], int64_t i) {
  const Place<int64_t> to = place_in(i % (out[0] * out[1] * out[2]), out);
  const int64_t from = i / (out[0] * out[1] * out[2]) * (in[0] * in[1] * in[2]);
  int64_t begin[3], end[3];
  for (int axis = 0; axis < 3; ++axis) {
    begin[axis] = to.at[axis] * in[axis] / out[axis];
    end[axis] = ((to.at[axis] + 1) * in[axis] + out[axis] - 1) / out[axis];
  }
  T made = kIsMax ? T(x[from + (begin[0] * in[1] + begin[1]) * in[2] + begin[2]]) : T(0);
  for (int64_t a = begin[0]; a < end[0]; ++a)
    for (int64_t b = begin[1]; b < end[1]; ++b)
      for (int64_t c = begin[2]; c < end[2]; ++c) {
        const T value = x[from + (a * in[1] + b) * in[2] + c];
        made = !kIsMax ? made + value : value > made || value != value ? value : made;
      }
  return kIsMax ? made : made / T((end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]));
}

/// (sum of |x|^p)^(1/p).
template <class T, class Index, class X>
IRUKA_INLINE T norm_of_window(const Window<Index>& window, const X& x, Index i, T p) {
  const Index from = i / window.out_size() * window.in_size();
  T total = T(0);
  for_window(window, i % window.out_size(), [&](Index at, Index) { total += pow(fabs(T(x[from + at])), p); });
  return pow(total, T(1) / p);
}

}  // namespace iruka::nn
