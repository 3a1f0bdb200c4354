// The layers of a perceptron on tensor cores, for the 16 points of a warp at a time. Factors are numbers of tf32, which
// has 10 bits of mantissa; sums are float32.
//
// The weights of a layer are padded with zeros to whole groups of kFeatures inputs and outputs. First are the biases,
// then, for each group of inputs and each of outputs, 64 weights in the order in which the instructions take them
// (src/nn/tensor_perceptron.cpp has the formula).
//
// The sums of a layer are the factors of the next one without a move between lanes. An instruction that multiplies by 8
// features takes feature t and feature t + 4 from a lane that has the sums 2 t and 2 t + 1. The order of a product's
// terms is free, so the weights of inputs 2 t and 2 t + 1 stand where the instruction looks for t and t + 4.
#pragma once

#include "jit/kernels/activations.h"

namespace iruka::nn {

inline constexpr int kFeatures = 8, kWarpPoints = 16, kWarp = 32;

constexpr int feature_groups(int width) { return (width + kFeatures - 1) / kFeatures; }
constexpr int padded(int width) { return feature_groups(width) * kFeatures; }

/// kWidth numbers of each point of a warp. With g and t the quotient and remainder of a lane's number by 4, the lane
/// has of each group the features 2 t and 2 t + 1 of point g, then those of point g + 8.
template <int kWidth, class T = float> struct WarpPoints {
  static constexpr int kGroups = feature_groups(kWidth);
  T at[kGroups][4];
};

/// The first of a lane's features in each group, and its first point.
IRUKA_INLINE int lane_feature() { return 2 * (threadIdx.x % 4); }
IRUKA_INLINE int lane_point() { return threadIdx.x % kWarp / 4; }
/// The feature of a number in WarpPoints::at.
IRUKA_INLINE int feature_of(int group, int k) { return kFeatures * group + lane_feature() + k % 2; }

/// Calls `use(group, k)` for all numbers of a lane.
template <int kWidth, class Use> IRUKA_INLINE void each_number(Use&& use) {
#pragma unroll
  for (int group = 0; group < feature_groups(kWidth); ++group)
#pragma unroll
    for (int k = 0; k < 4; ++k) use(group, k);
}

/// To the nearest number of tf32.
IRUKA_INLINE float rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}
template <int kWidth> IRUKA_INLINE void round_to_tf32(WarpPoints<kWidth>& values) {
  each_number<kWidth>([&](int group, int k) { values.at[group][k] = rounded_to_tf32(values.at[group][k]); });
}

/// Zeros for the features beyond kWidth, as they are factors of the next layer's padding: infinity times 0 is NaN.
template <int kWidth> IRUKA_INLINE void clear_padding(WarpPoints<kWidth>& values) {
  if constexpr (kWidth % kFeatures > 0) {
    constexpr int kLast = kWidth / kFeatures;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (feature_of(kLast, k) >= kWidth) values.at[kLast][k] = 0;
  }
}

/// sum += in * weights for 8 inputs and 8 outputs, of which each lane gives two weights.
IRUKA_INLINE void multiply_8(float (&sum)[4], const float (&in)[4], float2 weight) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint(in[0])), "r"(__float_as_uint(in[2])), "r"(__float_as_uint(in[1])),
        "r"(__float_as_uint(in[3])), "r"(__float_as_uint(weight.x)), "r"(__float_as_uint(weight.y)));
}

/// The products of one warp.
template <int kIn, int kOut>
IRUKA_INLINE void multiply_by_warp(const float* weights, const WarpPoints<kIn>& in, WarpPoints<kOut>& sum) {
  const float2* const of_lane = (const float2*)weights + threadIdx.x % kWarp;
#pragma unroll
  for (int group = 0; group < in.kGroups; ++group)
#pragma unroll
    for (int r = 0; r < sum.kGroups; ++r)
      multiply_8(sum.at[r], in.at[group], of_lane[(group * sum.kGroups + r) * kWarp]);
}

/// The same for 8 inputs and 64 outputs by the four warps of a warpgroup, which share the loads of weights. Hopper
/// (sm_90a) has the instruction. `weights`: where they are in shared memory, as a descriptor.
IRUKA_INLINE void multiply_64(float (*sum)[4], const float (&in)[4], unsigned long long weights) {
#define IRUKA_SUM(r) "+f"(sum[r][0]), "+f"(sum[r][1]), "+f"(sum[r][2]), "+f"(sum[r][3])
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, 1, 1, 1;"
      : IRUKA_SUM(0), IRUKA_SUM(1), IRUKA_SUM(2), IRUKA_SUM(3), IRUKA_SUM(4), IRUKA_SUM(5), IRUKA_SUM(6), IRUKA_SUM(7)
      : "r"(__float_as_uint(in[0])), "r"(__float_as_uint(in[2])), "r"(__float_as_uint(in[1])),
        "r"(__float_as_uint(in[3])), "l"(weights));
#undef IRUKA_SUM
}

/// The products of a warpgroup, where kOut is a multiple of 64 and the weights are in shared memory.
template <int kIn, int kOut>
IRUKA_INLINE void multiply_by_warpgroup(const float* weights, const WarpPoints<kIn>& in, WarpPoints<kOut>& sum) {
  // In units of 16 bytes: where the weights begin, from 4 inputs to the next 4, from 8 outputs to the next 8.
  const unsigned long long first =
      __cvta_generic_to_shared(weights) >> 4 | (unsigned long long)8 << 16 | (unsigned long long)16 << 32;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int r = 0; r < sum.kGroups; r += 8)
#pragma unroll
    for (int group = 0; group < in.kGroups; ++group)
      multiply_64(&sum.at[r], in.at[group], first + (group * sum.kGroups + r) * 16);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int r = 0; r < sum.kGroups; ++r)  // the compiler sees that the wait gives the sums
    asm volatile("" : "+f"(sum.at[r][0]), "+f"(sum.at[r][1]), "+f"(sum.at[r][2]), "+f"(sum.at[r][3]));
}

template <class Activation, int kWidth>
IRUKA_INLINE void activate(const float* parameters, WarpPoints<kWidth>& values) {
  each_number<kWidth>([&](int group, int k) {
    values.at[group][k] = Activation::apply(values.at[group][k], parameters, feature_of(group, k));
  });
  clear_padding(values);
}

/// One fully connected layer. The instructions cut the values to tf32; the weights of layers behind the first one make
/// up for what that takes from their mean.
template <class Activation, int kIn, int kOut, bool kByWarpgroups>
IRUKA_INLINE void dense(const float* weights, const float* parameters, const WarpPoints<kIn>& in,
                        WarpPoints<kOut>& out) {
#pragma unroll
  for (int r = 0; r < out.kGroups; ++r) {
    const float2 bias = *(const float2*)(weights + feature_of(r, 0));
    out.at[r][0] = out.at[r][2] = bias.x;
    out.at[r][1] = out.at[r][3] = bias.y;
  }
  if constexpr (kByWarpgroups)
    multiply_by_warpgroup(weights + padded(kOut), in, out);
  else
    multiply_by_warp(weights + padded(kOut), in, out);
  activate<Activation>(parameters, out);
}

/// `combine` of the four lanes that have the features of a point.
template <class Combine> IRUKA_INLINE float of_point(float value, Combine&& combine) {
  value = combine(value, __shfl_xor_sync(~0u, value, 1));
  return combine(value, __shfl_xor_sync(~0u, value, 2));
}

/// Of all numbers of a point together; subtracting the largest avoids overflow.
template <int kWidth> IRUKA_INLINE void softmax(WarpPoints<kWidth>& values) {
  const auto larger = [](float a, float b) { return b > a ? b : a; };
  const auto add = [](float a, float b) { return a + b; };
#pragma unroll
  for (int half = 0; half < 4; half += 2) {  // a point each
    float largest = -kInfinity<float>, sum = 0;
    const auto each = [&](auto&& use) {
      each_number<kWidth>([&](int group, int k) {
        if (k / 2 == half / 2 && feature_of(group, k) < kWidth) use(values.at[group][k]);
      });
    };
    each([&](float& value) { largest = larger(largest, value); });
    largest = of_point(largest, larger);
    each([&](float& value) { sum += value = exp(value - largest); });
    sum = of_point(sum, add);
    each([&](float& value) { value /= sum; });
  }
  clear_padding(values);
}

/// Bytes from one point to the next, and from one feature to the next.
struct PointStrides {
  ptrdiff_t point, feature;
};

/// Calls `use(number, address)` for a lane's numbers of the points first, first + 1..., of which there are `count`.
template <int kWidth, class T, class Points, class Use>
IRUKA_INLINE void each_address(T* from, PointStrides strides, ptrdiff_t first, ptrdiff_t count, Points& points,
                               Use&& use) {
  const ptrdiff_t behind = count - first - lane_point();
  const int left = behind < kWarpPoints ? (int)behind : kWarpPoints;
  char* const of_lane = (char*)from + (first + lane_point()) * strides.point + lane_feature() * strides.feature;
  each_number<kWidth>([&](int group, int k) {
    const int point = k / 2 * 8, feature = kFeatures * group + k % 2;
    if (point < left && lane_feature() + feature < kWidth)
      use(points.at[group][k], (T*)(of_lane + point * strides.point + feature * strides.feature));
  });
}
template <int kWidth, class T>
IRUKA_INLINE void load_points(const T* from, PointStrides strides, ptrdiff_t first, ptrdiff_t count,
                              WarpPoints<kWidth, T>& points) {
  each_number<kWidth>([&](int group, int k) { points.at[group][k] = T(0); });
  each_address<kWidth>((T*)from, strides, first, count, points, [](T& number, const T* at) { number = *at; });
}
template <int kWidth>
IRUKA_INLINE void store_points(const WarpPoints<kWidth>& points, float* to, PointStrides strides, ptrdiff_t first,
                               ptrdiff_t count) {
  each_address<kWidth>(to, strides, first, count, points, [](float number, float* at) { *at = number; });
}

/// Copies the weights into a block's shared memory; all of its threads wait for that.
template <int kCount> IRUKA_INLINE void share_tensor_weights(const float* from, float* to) {
  const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
  for (int k = 4 * threadIdx.x; k < kCount; k += 4 * blockDim.x)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + 4 * k),
                 "l"(__cvta_generic_to_global(from + k))
                 : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // for the instructions of warpgroups
#endif
  __syncthreads();
}

/// The points of a block's warps, then those that lie behind the points of all blocks, and so on. network(in, out)
/// computes; all warps of a block call it equally often. Where points have few numbers, the next ones are loaded
/// meanwhile.
template <int kIn, int kOut, class T, class Network>
IRUKA_INLINE void points_of_block(const T* x, PointStrides x_strides, float* y, PointStrides y_strides, ptrdiff_t count,
                                  Network&& network) {
  constexpr bool kIsAhead = kIn <= 32;
  const ptrdiff_t of_block = blockDim.x / kWarp * kWarpPoints, step = gridDim.x * of_block,
                  of_warp = threadIdx.x / kWarp * kWarpPoints;
  WarpPoints<kIn, T> next;
  if (kIsAhead) load_points<kIn>(x, x_strides, blockIdx.x * of_block + of_warp, count, next);
#pragma unroll 1
  for (ptrdiff_t begin = blockIdx.x * of_block; begin < count; begin += step) {
    const ptrdiff_t first = begin + of_warp;
    if (!kIsAhead) load_points<kIn>(x, x_strides, first, count, next);
    WarpPoints<kIn> in;
    WarpPoints<kOut> out;
    each_number<kIn>([&](int group, int k) { in.at[group][k] = float(next.at[group][k]); });
    if (kIsAhead) load_points<kIn>(x, x_strides, first + step, count, next);
    network(in, out);
    store_points<kOut>(out, y, y_strides, first, count);
  }
}

}  // namespace iruka::nn
