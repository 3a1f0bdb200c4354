// The layers of a perceptron for one point, whose values are in local arrays.
//
// The weights of a layer lie in groups of kGroup outputs: the biases of the group, then for each input the weights that
// lead from it to the group's outputs. The last group has the outputs that are left. Each layer begins at a multiple of
// 16 bytes. Four sums at once are what keeps the processor's multipliers busy, and 16 bytes are one load of a GPU.
#pragma once

#include "jit/kernels/activations.h"

// A GPU's registers have no addresses: loops over local arrays are unrolled there. On a CPU short code is as fast, and
// compiles sooner.
#ifdef __CUDA_ARCH__
#define IRUKA_UNROLL _Pragma("unroll")
#define IRUKA_UNROLL_SHORT _Pragma("unroll(kWidth <= 256 ? kWidth : 1)")
#else
#define IRUKA_UNROLL
#define IRUKA_UNROLL_SHORT
#endif

namespace iruka::nn {

inline constexpr int kGroup = 4;

/// Whether an argument of a network is a local array of kCount numbers, or something else, whose numbers are not known.
template <class T, int kCount> inline constexpr bool kFits = true;
template <class T, decltype(sizeof 0) kExtent, int kCount>
inline constexpr bool kFits<T (&)[kExtent], kCount> = kExtent == kCount;

/// Where the weights lie: in memory; among the arguments of a kernel, which a GPU's instructions take as constants; or
/// in the shared memory of a GPU's block.
enum class WeightsPlace { memory, arguments, shared };

template <WeightsPlace kPlace, class F> struct PlacedWeights {
  const F* at;
  IRUKA_INLINE F operator*() const { return *at; }
  IRUKA_INLINE F operator[](int k) const { return at[k]; }
  IRUKA_INLINE PlacedWeights operator+(int k) const { return {at + k}; }
};
template <WeightsPlace kPlace, class F> struct WeightsType {
  using Type = PlacedWeights<kPlace, F>;
};
template <class F> struct WeightsType<WeightsPlace::memory, F> {
  using Type = const F* __restrict__;
};
template <WeightsPlace kPlace, class F> using Weights = typename WeightsType<kPlace, F>::Type;

/// Where arrays by value lie. A CPU reads arguments as any other memory.
#ifdef __CUDA_ARCH__
inline constexpr WeightsPlace kByValue = WeightsPlace::arguments;
#else
inline constexpr WeightsPlace kByValue = WeightsPlace::memory;
#endif

/// A number of each of kPoints points, which share the loads of weights.
template <int kPoints, class F> struct Several {
  F at[kPoints];

  Several() = default;
  IRUKA_INLINE explicit Several(F value) {
    IRUKA_UNROLL
    for (int p = 0; p < kPoints; ++p) at[p] = value;
  }
};
template <class F> IRUKA_INLINE void multiply_add(F& sum, F weight, F value) { sum += weight * value; }
template <int kPoints, class F>
IRUKA_INLINE void multiply_add(Several<kPoints, F>& sum, F weight, const Several<kPoints, F>& value) {
  IRUKA_UNROLL
  for (int p = 0; p < kPoints; ++p) sum.at[p] += weight * value.at[p];
}

template <class Activation, class F, class W> IRUKA_INLINE F activated(F value, W parameters, int channel) {
  return Activation::apply(value, parameters, channel);
}
template <class Activation, int kPoints, class F, class W>
IRUKA_INLINE Several<kPoints, F> activated(Several<kPoints, F> values, W parameters, int channel) {
  IRUKA_UNROLL
  for (int p = 0; p < kPoints; ++p) values.at[p] = Activation::apply(values.at[p], parameters, channel);
  return values;
}

/// Whether so many products are written out. Weights that are constants take no loads then; other weights are loaded in
/// loops beyond `most`, as the instructions no longer fit the cache.
template <WeightsPlace kPlace> constexpr bool is_written_out(int products, int most) {
  return kPlace == WeightsPlace::arguments || products <= most;
}

/// The numbers of a layer's weights before output `first`, which begins a group.
template <int kIn> constexpr int group_offset(int first) { return first * (kIn + 1); }

/// Neighbouring numbers of the weights.
template <int kCount, class F> IRUKA_INLINE void load_weights(const F* from, F* to) {
#ifdef __CUDA_ARCH__
  if constexpr (kCount == 4 && sizeof(F) == 4) {
    const float4 four = __ldg((const float4*)from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    return;
  }
#endif
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) to[k] = from[k];
}
#ifdef __CUDA_ARCH__
template <int kCount, WeightsPlace kPlace, class F> IRUKA_INLINE void load_weights(PlacedWeights<kPlace, F> from,
                                                                                   F* to) {
  if constexpr (kPlace == WeightsPlace::shared && kCount == 4 && sizeof(F) == 4) {
    const float4 four = *(const float4*)from.at;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  } else {
    IRUKA_UNROLL
    for (int k = 0; k < kCount; ++k) to[k] = from[k];
  }
}
#endif

/// The sums of one group of kCount outputs.
template <int kIn, int kCount, class F, class W, class V> IRUKA_INLINE void sum_group(W group, const V* in, V* sum) {
  F bias[kCount];
  load_weights<kCount>(group, bias);
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) sum[k] = V(bias[k]);
#ifdef __CUDA_ARCH__
#pragma unroll
#else
#pragma clang loop unroll_count(kIn <= 4 ? 4 : 1)
#endif
  for (int c = 0; c < kIn; ++c) {
#ifdef __CUDA_ARCH__
    F weight[kCount];
    load_weights<kCount>(group + kCount * (c + 1), weight);
    IRUKA_UNROLL
    for (int k = 0; k < kCount; ++k) multiply_add(sum[k], weight[k], in[c]);
#else
    for (int k = 0; k < kCount; ++k) sum[k] += group[kCount * (c + 1) + k] * in[c];
#endif
  }
}

template <class Activation, int kIn, int kCount, class F, class W, class V>
IRUKA_INLINE void dense_group(W weights, W parameters, int first, const V* in, V* out) {
  V sum[kCount];
  sum_group<kIn, kCount, F>(weights + group_offset<kIn>(first), in, sum);
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) out[first + k] = activated<Activation>(sum[k], parameters, first + k);
}

/// One fully connected layer of one point, where V is F, or of several.
template <class Activation, int kIn, int kOut, WeightsPlace kPlace, class F, class V>
inline void dense(Weights<kPlace, F> weights, Weights<kPlace, F> parameters, const V* in, V* out) {
  constexpr int kWhole = kOut / kGroup * kGroup;
#ifdef __CUDA_ARCH__
  // Where loops stay, `out` lies in memory.
  constexpr int kUnrolled = is_written_out<kPlace>(kIn * kOut, 1024) ? kOut : 1;
#pragma unroll(kUnrolled)
#else
#pragma clang loop unroll(disable)
#endif
  for (int first = 0; first < kWhole; first += kGroup)
    dense_group<Activation, kIn, kGroup, F>(weights, parameters, first, in, out);
  if constexpr (kOut > kWhole) dense_group<Activation, kIn, kOut - kWhole, F>(weights, parameters, kWhole, in, out);
}

#ifdef __CUDA_ARCH__
/// Adds what kCount hidden values from `first` on give to all sums of a layer.
template <int kHidden, int kOut, int kCount, class F, class W, class V>
IRUKA_INLINE void add_hidden(W weights, int first, const V* hidden, V* sum) {
  IRUKA_UNROLL
  for (int r = 0; r < kOut; r += kGroup) {
    constexpr int kRest = kOut % kGroup;
    IRUKA_UNROLL
    for (int h = 0; h < kCount; ++h) {
      F weight[kGroup];
      if (kRest == 0 || r + kGroup <= kOut) {
        load_weights<kGroup>(weights + group_offset<kHidden>(r) + kGroup * (first + h + 1), weight);
        IRUKA_UNROLL
        for (int k = 0; k < kGroup; ++k) multiply_add(sum[r + k], weight[k], hidden[h]);
      } else if constexpr (kRest > 0) {
        load_weights<kRest>(weights + group_offset<kHidden>(r) + kRest * (first + h + 1), weight);
        IRUKA_UNROLL
        for (int k = 0; k < kRest; ++k) multiply_add(sum[r + k], weight[k], hidden[h]);
      }
    }
  }
}

template <int kHidden, int kOut, class W, class V> IRUKA_INLINE void load_biases(W weights, V* sum) {
  IRUKA_UNROLL
  for (int k = 0; k < kOut; ++k) {
    const int first = k / kGroup * kGroup;  // of the group, whose biases come first
    sum[k] = V(weights[group_offset<kHidden>(first) + k - first]);
  }
}

/// One group of the first layer, and what it adds to the second.
template <class Activation, int kIn, int kHidden, int kOut, int kCount, class F, class W, class V>
IRUKA_INLINE void hidden_group(W weights, W parameters, W next, int first, const V* in, V* sum) {
  V hidden[kCount];
  sum_group<kIn, kCount, F>(weights + group_offset<kIn>(first), in, hidden);
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) hidden[k] = activated<Activation>(hidden[k], parameters, first + k);
  add_hidden<kHidden, kOut, kCount, F>(next, first, hidden, sum);
}
#endif

/// Two layers. On a GPU the second consumes each group of hidden values at once, so that none is stored.
template <class First, class Second, int kIn, int kHidden, int kOut, WeightsPlace kPlace, class F, class V>
inline void dense_pair(Weights<kPlace, F> weights, Weights<kPlace, F> parameters, Weights<kPlace, F> next,
                       Weights<kPlace, F> next_parameters, const V* in, V* out) {
#ifdef __CUDA_ARCH__
  constexpr int kWhole = kHidden / kGroup * kGroup;
  constexpr int kUnrolled = is_written_out<kPlace>(kIn * kHidden * (sizeof(V) / sizeof(F)), 256) ? kHidden : 1;
  load_biases<kHidden, kOut>(next, out);
#pragma unroll(kUnrolled)
  for (int first = 0; first < kWhole; first += kGroup)
    hidden_group<First, kIn, kHidden, kOut, kGroup, F>(weights, parameters, next, first, in, out);
  if constexpr (kHidden > kWhole)
    hidden_group<First, kIn, kHidden, kOut, kHidden - kWhole, F>(weights, parameters, next, kWhole, in, out);
  IRUKA_UNROLL
  for (int k = 0; k < kOut; ++k) out[k] = activated<Second>(out[k], next_parameters, k);
#else
  F hidden[kHidden];
  dense<First, kIn, kHidden, kPlace, F>(weights, parameters, in, hidden);
  dense<Second, kHidden, kOut, kPlace, F>(next, next_parameters, hidden, out);
#endif
}

template <class Activation, int kWidth, WeightsPlace kPlace, class F, class V>
inline void activate(Weights<kPlace, F> parameters, V* values) {
  IRUKA_UNROLL
  for (int k = 0; k < kWidth; ++k) values[k] = activated<Activation>(values[k], parameters, k);
}

/// Of all numbers of a point together; subtracting the largest avoids overflow.
template <int kWidth, class F> inline void softmax(F* values) {
  F largest = values[0], sum = 0;
  IRUKA_UNROLL_SHORT
  for (int k = 1; k < kWidth; ++k) largest = values[k] > largest ? values[k] : largest;
  IRUKA_UNROLL_SHORT
  for (int k = 0; k < kWidth; ++k) {
    values[k] = exp(values[k] - largest);
    sum += values[k];
  }
  IRUKA_UNROLL_SHORT
  for (int k = 0; k < kWidth; ++k) values[k] /= sum;
}
template <int kWidth, int kPoints, class F> inline void softmax(Several<kPoints, F>* values) {
  IRUKA_UNROLL
  for (int p = 0; p < kPoints; ++p) {
    F of_point[kWidth];
    IRUKA_UNROLL_SHORT
    for (int k = 0; k < kWidth; ++k) of_point[k] = values[k].at[p];
    softmax<kWidth>(of_point);
    IRUKA_UNROLL_SHORT
    for (int k = 0; k < kWidth; ++k) values[k].at[p] = of_point[k];
  }
}

/// The features of a point: neighbours, or `stride` bytes apart. On a GPU, neighbours of 4 bytes each begin at a
/// multiple of 16 bytes where their number is one of 4.
template <int kWidth, class T, class F> IRUKA_INLINE void load_point(const T* from, F* to) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4 && kWidth % 4 == 0) {
    IRUKA_UNROLL
    for (int c = 0; c < kWidth; c += 4) {
      const uint4 word = *(const uint4*)(from + c);
      to[c] = F(__builtin_bit_cast(T, word.x)), to[c + 1] = F(__builtin_bit_cast(T, word.y));
      to[c + 2] = F(__builtin_bit_cast(T, word.z)), to[c + 3] = F(__builtin_bit_cast(T, word.w));
    }
    return;
  }
#endif
  IRUKA_UNROLL
  for (int c = 0; c < kWidth; ++c) to[c] = F(from[c]);
}
template <int kWidth, class T, class F> IRUKA_INLINE void load_point(const T* from, ptrdiff_t stride, F* to) {
  IRUKA_UNROLL
  for (int c = 0; c < kWidth; ++c) to[c] = F(*(const T*)((const char*)from + c * stride));
}
template <int kWidth, class F> IRUKA_INLINE void store_point(const F* from, F* to) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(F) == 4 && kWidth % 4 == 0) {
    IRUKA_UNROLL
    for (int c = 0; c < kWidth; c += 4)
      iruka::store_word((uint4*)(to + c), uint4{__float_as_uint(from[c]), __float_as_uint(from[c + 1]),
                                                __float_as_uint(from[c + 2]), __float_as_uint(from[c + 3])});
    return;
  }
#endif
  IRUKA_UNROLL
  for (int c = 0; c < kWidth; ++c) to[c] = from[c];
}
template <int kWidth, class F> IRUKA_INLINE void store_point(const F* from, F* to, ptrdiff_t stride) {
  IRUKA_UNROLL
  for (int c = 0; c < kWidth; ++c) *(F*)((char*)to + c * stride) = from[c];
}

#ifdef __CUDA_ARCH__
/// Copies the weights into a block's shared memory; all of its threads wait for that.
template <int kCount, class F> IRUKA_INLINE void share_weights(const F* from, F* to) {
  for (int k = threadIdx.x; k < kCount; k += blockDim.x) to[k] = from[k];
  __syncthreads();
}

/// Element i of n takes the points i, i + n, i + 2 n..., of which there are `count`, kPoints at a time. Neighbouring
/// threads have neighbouring points. load(point, in) and store(out, point) move a point's numbers, network(in, out)
/// computes.
template <int kPoints, int kIn, int kOut, class F, class Load, class Network, class Store>
IRUKA_INLINE void several_points(ptrdiff_t i, ptrdiff_t n, ptrdiff_t count, Load&& load, Network&& network,
                                 Store&& store) {
#pragma unroll 1
  for (ptrdiff_t first = i; first < count; first += kPoints * n) {
    Several<kPoints, F> in[kIn], out[kOut];
    IRUKA_UNROLL
    for (int p = 0; p < kPoints; ++p) {
      const ptrdiff_t point = first + p * n;
      F of_point[kIn];
      load(point < count ? point : count - 1, of_point);
      IRUKA_UNROLL
      for (int c = 0; c < kIn; ++c) in[c].at[p] = of_point[c];
    }
    network(in, out);
    IRUKA_UNROLL
    for (int p = 0; p < kPoints; ++p) {
      const ptrdiff_t point = first + p * n;
      F of_point[kOut];
      IRUKA_UNROLL
      for (int c = 0; c < kOut; ++c) of_point[c] = out[c].at[p];
      if (point < count) store(of_point, point);
    }
  }
}
#endif

}  // namespace iruka::nn

#undef IRUKA_UNROLL
#undef IRUKA_UNROLL_SHORT
