// The layers of a perceptron for one point, whose values are in local arrays.
//
// The weights of a layer lie in groups of kGroup outputs: the biases of the group, then for each input the weights that
// lead from it to the group's outputs. The last group has the outputs that are left. Each layer begins at a multiple of
// 16 bytes. Four sums at once are what keeps the processor's multipliers busy, and 16 bytes are one load of a GPU.
#pragma once

#include "nn/kernels/activations.h"

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

/// Weights among the arguments of a kernel, which a GPU's instructions take as constants.
template <class F> struct ArgumentWeights {
  const F* at;
  IRUKA_INLINE F operator*() const { return *at; }
  IRUKA_INLINE F operator[](int k) const { return at[k]; }
  IRUKA_INLINE ArgumentWeights operator+(int k) const { return {at + k}; }
};
template <bool kInArguments, class F> struct WeightsType {
  using Type = const F* __restrict__;
};
template <class F> struct WeightsType<true, F> {
  using Type = ArgumentWeights<F>;
};
template <bool kInArguments, class F> using Weights = typename WeightsType<kInArguments, F>::Type;

/// What kInArguments is for a network whose weights are an array by value.
#ifdef __CUDA_ARCH__
inline constexpr bool kByValue = true;
#else
inline constexpr bool kByValue = false;
#endif

/// Whether so many products are written out. As constants, weights cost an instruction no load; beyond some thousand,
/// the instructions no longer fit the cache.
template <bool kInArguments> constexpr bool is_written_out(int products, int most) {
  return products <= (kInArguments ? 2048 : most);
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
template <int kCount, class F> IRUKA_INLINE void load_weights(ArgumentWeights<F> from, F* to) {
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) to[k] = from[k];
}

/// The sums of one group of kCount outputs.
template <int kIn, int kCount, class W, class F> IRUKA_INLINE void sum_group(W group, const F* in, F* sum) {
  load_weights<kCount>(group, sum);
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
    for (int k = 0; k < kCount; ++k) sum[k] += weight[k] * in[c];
#else
    for (int k = 0; k < kCount; ++k) sum[k] += group[kCount * (c + 1) + k] * in[c];
#endif
  }
}

template <class Activation, int kIn, int kCount, class W, class F>
IRUKA_INLINE void dense_group(W weights, W parameters, int first, const F* in, F* out) {
  F sum[kCount];
  sum_group<kIn, kCount>(weights + group_offset<kIn>(first), in, sum);
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) out[first + k] = Activation::apply(sum[k], parameters, first + k);
}

/// One fully connected layer.
template <class Activation, int kIn, int kOut, bool kInArguments, class F>
inline void dense(Weights<kInArguments, F> weights, Weights<kInArguments, F> parameters, const F* in, F* out) {
  constexpr int kWhole = kOut / kGroup * kGroup;
#ifdef __CUDA_ARCH__
  // Where loops stay, `out` lies in memory.
  constexpr int kUnrolled = is_written_out<kInArguments>(kIn * kOut, 1024) ? kOut : 1;
#pragma unroll(kUnrolled)
#else
#pragma clang loop unroll(disable)
#endif
  for (int first = 0; first < kWhole; first += kGroup)
    dense_group<Activation, kIn, kGroup>(weights, parameters, first, in, out);
  if constexpr (kOut > kWhole) dense_group<Activation, kIn, kOut - kWhole>(weights, parameters, kWhole, in, out);
}

#ifdef __CUDA_ARCH__
/// Adds what kCount hidden values from `first` on give to all sums of a layer.
template <int kHidden, int kOut, int kCount, class W, class F>
IRUKA_INLINE void add_hidden(W weights, int first, const F* hidden, F* sum) {
  IRUKA_UNROLL
  for (int r = 0; r < kOut; r += kGroup) {
    constexpr int kRest = kOut % kGroup;
    IRUKA_UNROLL
    for (int h = 0; h < kCount; ++h) {
      F weight[kGroup];
      if (kRest == 0 || r + kGroup <= kOut) {
        load_weights<kGroup>(weights + group_offset<kHidden>(r) + kGroup * (first + h + 1), weight);
        IRUKA_UNROLL
        for (int k = 0; k < kGroup; ++k) sum[r + k] += weight[k] * hidden[h];
      } else if constexpr (kRest > 0) {
        load_weights<kRest>(weights + group_offset<kHidden>(r) + kRest * (first + h + 1), weight);
        IRUKA_UNROLL
        for (int k = 0; k < kRest; ++k) sum[r + k] += weight[k] * hidden[h];
      }
    }
  }
}

template <int kHidden, int kOut, class W, class F> IRUKA_INLINE void load_biases(W weights, F* sum) {
  constexpr int kWhole = kOut / kGroup * kGroup;
  IRUKA_UNROLL
  for (int r = 0; r < kWhole; r += kGroup) load_weights<kGroup>(weights + group_offset<kHidden>(r), sum + r);
  if constexpr (kOut > kWhole) load_weights<kOut - kWhole>(weights + group_offset<kHidden>(kWhole), sum + kWhole);
}

/// One group of the first layer, and what it adds to the second.
template <class Activation, int kIn, int kHidden, int kOut, int kCount, class W, class F>
IRUKA_INLINE void hidden_group(W weights, W parameters, W next, int first, const F* in, F* sum) {
  F hidden[kCount];
  sum_group<kIn, kCount>(weights + group_offset<kIn>(first), in, hidden);
  IRUKA_UNROLL
  for (int k = 0; k < kCount; ++k) hidden[k] = Activation::apply(hidden[k], parameters, first + k);
  add_hidden<kHidden, kOut, kCount>(next, first, hidden, sum);
}
#endif

/// Two layers. On a GPU the second consumes each group of hidden values at once, so that none is stored.
template <class First, class Second, int kIn, int kHidden, int kOut, bool kInArguments, class F>
inline void dense_pair(Weights<kInArguments, F> weights, Weights<kInArguments, F> parameters,
                       Weights<kInArguments, F> next, Weights<kInArguments, F> next_parameters, const F* in, F* out) {
#ifdef __CUDA_ARCH__
  constexpr int kWhole = kHidden / kGroup * kGroup,
                kUnrolled = is_written_out<kInArguments>(kIn * kHidden, 256) ? kHidden : 1;
  load_biases<kHidden, kOut>(next, out);
#pragma unroll(kUnrolled)
  for (int first = 0; first < kWhole; first += kGroup)
    hidden_group<First, kIn, kHidden, kOut, kGroup>(weights, parameters, next, first, in, out);
  if constexpr (kHidden > kWhole)
    hidden_group<First, kIn, kHidden, kOut, kHidden - kWhole>(weights, parameters, next, kWhole, in, out);
  IRUKA_UNROLL
  for (int k = 0; k < kOut; ++k) out[k] = Second::apply(out[k], next_parameters, k);
#else
  F hidden[kHidden];
  dense<First, kIn, kHidden, kInArguments>(weights, parameters, in, hidden);
  dense<Second, kHidden, kOut, kInArguments>(next, next_parameters, hidden, out);
#endif
}

template <class Activation, int kWidth, bool kInArguments, class F>
inline void activate(Weights<kInArguments, F> parameters, F* values) {
  IRUKA_UNROLL
  for (int k = 0; k < kWidth; ++k) values[k] = Activation::apply(values[k], parameters, k);
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

/// The features of a point: neighbours, or `stride` bytes apart.
template <int kWidth, class T, class F> IRUKA_INLINE void load_point(const T* from, F* to) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4 && kWidth % 4 == 0) {
    if (((uintptr_t)from & 15) == 0) {
      IRUKA_UNROLL
      for (int c = 0; c < kWidth; c += 4) {
        const uint4 word = *(const uint4*)(from + c);
        to[c] = F(__builtin_bit_cast(T, word.x)), to[c + 1] = F(__builtin_bit_cast(T, word.y));
        to[c + 2] = F(__builtin_bit_cast(T, word.z)), to[c + 3] = F(__builtin_bit_cast(T, word.w));
      }
      return;
    }
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
    if (((uintptr_t)to & 15) == 0) {
      IRUKA_UNROLL
      for (int c = 0; c < kWidth; c += 4)
        iruka::store_word((uint4*)(to + c), uint4{__float_as_uint(from[c]), __float_as_uint(from[c + 1]),
                                                  __float_as_uint(from[c + 2]), __float_as_uint(from[c + 3])});
      return;
    }
  }
#endif
  IRUKA_UNROLL
  for (int c = 0; c < kWidth; ++c) to[c] = from[c];
}
template <int kWidth, class F> IRUKA_INLINE void store_point(const F* from, F* to, ptrdiff_t stride) {
  IRUKA_UNROLL
  for (int c = 0; c < kWidth; ++c) *(F*)((char*)to + c * stride) = from[c];
}

}  // namespace iruka::nn

#undef IRUKA_UNROLL
#undef IRUKA_UNROLL_SHORT
